/* Prescribed motion of fixed vertices, as users write it: CSV lines `t,vertex,ux,uy,uz` (prescribed.md). */
#ifndef SP_FORMATS_PRESCRIBED_H
#define SP_FORMATS_PRESCRIBED_H

#include "base/memory.h"
#include "mesh/mesh.h"
#include "model/prescribed.h"

/* Parses the text; the motions, one per vertex in the order of vertices, are allocated from `pool`. For a vertex that
 * the mesh fixes in some directions, displacements along the others must be 0; one that it does not fix at all must be
 * fixed in all directions by the caller. SP_INPUT with line and field. */
int sp_prescribed_motion_parse(sp_context *context, const char *bytes, int64_t count, const sp_mesh *mesh,
                               sp_pool *pool, int64_t *move_count, sp_prescribed_vertex **moves) SP_MUST_USE;

#endif
