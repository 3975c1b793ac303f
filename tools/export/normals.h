/* Errors of the normals of a deformed point shell (thesis §3.6.2–3.6.3, Figure 3.7), for comparison only. */
#ifndef TOOLS_EXPORT_NORMALS_H
#define TOOLS_EXPORT_NORMALS_H

#include "base/context.h"

typedef struct tool_normals_choice {
    const char *target, *frames; /* as tool_trajectory_choose takes them */
    int64_t every;
    bool partial;
} tool_normals_choice;

/* Writes a table: a line for each frame of the trajectory, the angles in degrees. The shell must have tangents, whose
 * normals are exact. Ends the process on failure. */
void tool_export_normals(sp_context *context, const char *pointshell_path, const char *trajectory_path,
                         const tool_normals_choice *choice);

#endif
