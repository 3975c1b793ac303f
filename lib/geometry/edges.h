/* The edges of a triangle list with the triangles that use them. Internal to lib/geometry. */
#ifndef SP_GEOMETRY_EDGES_H
#define SP_GEOMETRY_EDGES_H

#include "base/memory.h"

/* The side of a triangle from corner `corner` (3·triangle + 0…2) to the next one. */
typedef struct sp_edge_use {
    int64_t low, high; /* its two vertices, low < high */
    int64_t corner;
} sp_edge_use;

/* All sides of the triangles that are live (NULL: of all), sorted by (low, high, corner), so that the uses of an edge
 * are contiguous. Live triangles have three distinct vertices. NULL (and pool->failed): out of memory. */
sp_edge_use *sp_edge_uses(sp_pool *pool, int64_t vertex_count, int64_t triangle_count, const int64_t *triangles,
                          const uint8_t *live, int64_t *count);

/* End of the run of uses of the same edge that begins at `first`. */
int64_t sp_edge_end(const sp_edge_use *uses, int64_t count, int64_t first);

/* +1 if the side runs from low to high, else −1. */
static inline int sp_edge_direction(const sp_edge_use *use, const int64_t *triangles)
{
    return triangles[use->corner] == use->low ? 1 : -1;
}

#endif
