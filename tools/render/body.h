/* Pictures and films of a mesh, in the frames of a motion or displaced by columns. */
#ifndef TOOLS_RENDER_BODY_H
#define TOOLS_RENDER_BODY_H

#include "tools/common/trajectory.h"
#include "tools/render/options.h"

/* Draws the files `paths` [count], in any order, to the output of the program. Ends the process on failure. */
void tool_render_body(sp_context *context, int count, const char *const *paths, const render_options *chosen);

#endif
