/* The bones of a body as the joints of an animation. */
#ifndef TOOLS_EXPORT_BONES_H
#define TOOLS_EXPORT_BONES_H

#include "tools/common/skin.h"
#include "tools/export/animation.h"

/* The skin of a mesh that was made from `surface` for these frames of a motion with bones; memory from `out`, whose
 * `embedding` is set. A vertex of an embedded surface has the weights of the nodes of its element, interpolated. Linear
 * blending of the nodes is not the same as that of the vertex: both differ by the products of the slopes of weights and
 * shape functions. */
const sp_animated_skin *tool_animation_bones(const tool_trajectory *motion, const tool_skin *surface,
                                             const sp_animated_mesh *mesh, int64_t frame_count, const int64_t *frames,
                                             tool_animation *out);

#endif
