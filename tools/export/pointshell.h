/* Point shells as tables and point clouds. */
#ifndef TOOLS_EXPORT_POINTSHELL_H
#define TOOLS_EXPORT_POINTSHELL_H

#include "base/context.h"

enum tool_pointshell_format {
    TOOL_SHELL_CSV, /* points, normals, area, level, parent */
    TOOL_SHELL_OBJ, /* vertices with normals, and a point element for each */
    TOOL_SHELL_PLY, /* text: vertices with normals, area, radius, level */
    TOOL_SHELL_VTU, /* a vertex cell for each point; normal, area, radius, level, parent */
    TOOL_SHELL_VTK, /* the same as legacy VTK in text */
};

/* Writes the point shell in the file. The radius of a point is that of its largest sphere, 0 in the last level. Ends
 * the process on failure. */
void tool_export_pointshell(sp_context *context, enum tool_pointshell_format format, const char *path,
                            const char *target);

#endif
