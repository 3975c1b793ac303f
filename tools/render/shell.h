/* Pictures of point shells. */
#ifndef TOOLS_RENDER_SHELL_H
#define TOOLS_RENDER_SHELL_H

#include "base/context.h"
#include "tools/render/options.h"

/* Draws the points of a file of type pointshell as disks, coloured by the level to which they belong: all of them, or
 * on a sheet those of each level in its cell. Among the files `paths` [count] there may also be the mesh, whose surface
 * is then drawn behind them. Ends the process on failure. */
void tool_render_shell(sp_context *context, int count, const char *const *paths, const render_options *chosen);

#endif
