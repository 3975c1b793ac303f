/* Finds the empty cells of a grid inside a surface. Internal to lib/geometry. */
#ifndef SP_GEOMETRY_FILL_H
#define SP_GEOMETRY_FILL_H

#include "geometry/grid.h"
#include "geometry/orient.h"

/* Sets the bits of the clear cells whose centre has winding number ≥ ½ in the oriented surface, and counts them. On
 * entry `bits` has all cells that intersect a triangle (whatever its orientation). `closed`: the surface has no open
 * edge. */
int sp_fill(sp_context *context, const sp_grid *grid, const sp_surface *oriented, bool closed, uint64_t *bits,
            int64_t *filled) SP_MUST_USE;

#endif
