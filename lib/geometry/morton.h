/* Order of points along a Morton curve, from which trees over triangles and edges are built. Internal to the
 * library. */
#ifndef SP_GEOMETRY_MORTON_H
#define SP_GEOMETRY_MORTON_H

#include "base/memory.h"

typedef struct sp_morton {
    uint64_t code; /* 21 bits per axis, interleaved */
    int64_t index; /* of the point */
} sp_morton;

/* Sorted by (code, index). points [count, 3]. NULL (and pool->failed) when memory is out. */
sp_morton *sp_morton_order(sp_pool *pool, int64_t count, const double *points);

/* Where the range [begin, end), of at least two, is split: at the highest bit in which its codes differ, so that both
 * parts are in separate boxes; in the middle if all codes are equal. */
int64_t sp_morton_cut(const sp_morton *order, int64_t begin, int64_t end);

#endif
