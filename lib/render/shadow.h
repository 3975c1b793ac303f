/* Rays that ask whether triangles are in the way. Embree answers them (shadow_embree.c). A build without Embree has
 * shadow_left_out.c instead, which has no answer. */
#ifndef SP_RENDER_SHADOW_H
#define SP_RENDER_SHADOW_H

#include "render/render.h"

typedef struct sp_shadow sp_shadow;

/* Builds the search structure of the triangles of the transparent or of the opaque drawings, without grounds. vertices:
 * per drawing [vertex_count, 3], which replace those of the drawing. Its answers do not depend on context->threads.
 * SP_USAGE in a build without Embree, SP_INPUT for a drawing with more vertices than Embree can number. */
int sp_shadow_new(sp_context *context, const sp_drawing *drawings, const double *const *vertices, int64_t count,
                  bool transparent, sp_shadow **shadow) SP_MUST_USE;
void sp_shadow_free(sp_shadow *shadow);

/* True if a triangle blocks the ray from `origin` in the unit vector `direction`. Any number of threads may call it. */
bool sp_shadow_blocked(const sp_shadow *shadow, const float origin[3], const float direction[3]);

#endif
