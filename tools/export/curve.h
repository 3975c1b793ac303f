/* Export of the points of a curve of periodic motions as CSV. Ends the process on failure. */
#ifndef TOOLS_EXPORT_CURVE_H
#define TOOLS_EXPORT_CURVE_H

#include "tools/common/tool.h"

/* Returns true if the only file is a curve. */
bool tool_export_is_curve(sp_context *context, int count, const char *const *paths);
void tool_export_curve(sp_context *context, const char *path, const char *target);

#endif
