/* Messages and result of pointshell. */
#ifndef TOOLS_POINTSHELL_REPORT_H
#define TOOLS_POINTSHELL_REPORT_H

#include "formats/file.h"
#include "pointshell/pointshell.h"

/* motion: NULL if the points do not deform. */
void pointshell_say(const sp_level *level, const sp_pointshell *pointshell, const sp_pointshell_report *report,
                    const sp_pointshell_motion_report *motion);

/* The member `result`, with warnings. */
json_t *pointshell_result(const sp_level *level, const sp_pointshell *pointshell, const sp_pointshell_report *report,
                          const sp_pointshell_motion_report *motion);

#endif
