/* Pointshells as tables and point clouds. */
#ifndef TOOLS_EXPORT_SHELL_H
#define TOOLS_EXPORT_SHELL_H

#include "base/context.h"

/* Writes the pointshell in the file as CSV (points, normals, area, level, parent), or as OBJ: vertices with normals and a point element for
 * each. Ends the process on failure. */
void tool_export_shell(sp_context *context, const char *path, const char *target, bool obj);

#endif
