/* Slices of distance fields. */
#ifndef TOOLS_RENDER_SLICE_H
#define TOOLS_RENDER_SLICE_H

#include "base/context.h"

/* Reads a file of type field and writes a picture of the plane given by `slice`, AXIS=FRACTION of the box from 0 to 1:
 * inside blue, outside orange, darker away from the surface; lines every `contours` m (0: chosen by the range of the
 * field), a dark one at the surface. size "WxH", NULL: 720 pixels on the longer side. Ends the process on failure. */
void tool_render_slice(sp_context *context, const char *path, const char *slice, double contours, const char *size);

#endif
