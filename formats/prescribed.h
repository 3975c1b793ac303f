/* Motions of held vertices that people write: CSV lines `t,vertex,ux,uy,uz` (prescribed.md). */
#ifndef SP_FORMATS_PRESCRIBED_H
#define SP_FORMATS_PRESCRIBED_H

#include "base/memory.h"
#include "mesh/mesh.h"
#include "model/prescribed.h"

/* Parses the text; the moves, one per vertex in the order of vertices, are allocated from `pool`. Of a vertex that the
 * mesh holds in some directions, displacements along the others must be 0; one that it does not hold at all is to be
 * held in all. SP_INPUT with line and field. */
int sp_prescribed_motion_parse(sp_context *context, const char *bytes, int64_t count, const sp_mesh *mesh,
                               sp_pool *pool, int64_t *move_count, sp_prescribed_vertex **moves) SP_MUST_USE;

#endif
