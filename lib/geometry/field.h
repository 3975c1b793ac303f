/* Distance fields: distances at the vertices of a grid of cubes, and what follows from them between the vertices and
 * outside the grid. */
#ifndef SP_GEOMETRY_FIELD_H
#define SP_GEOMETRY_FIELD_H

#include "geometry/closest.h"

typedef struct sp_field {
    sp_pool pool;
    int64_t cells[3];          /* along x, y, z */
    double origin[3], spacing; /* m */
    float
        *distance; /* [cells[2] + 1, cells[1] + 1, cells[0] + 1] m, at origin + spacing · (x, y, z); negative inside */
} sp_field;

enum { SP_FIELD_CELLS_MAX = 4096 }; /* along an axis */

void sp_field_free(sp_field *field);

static inline int64_t sp_field_vertices(const sp_field *field)
{
    return (field->cells[0] + 1) * (field->cells[1] + 1) * (field->cells[2] + 1);
}

static inline int64_t sp_field_index(const sp_field *field, int64_t x, int64_t y, int64_t z)
{
    return (z * (field->cells[1] + 1) + y) * (field->cells[0] + 1) + x;
}

static inline void sp_field_position(const sp_field *field, int64_t x, int64_t y, int64_t z, double position[3])
{
    position[0] = field->origin[0] + field->spacing * (double)x;
    position[1] = field->origin[1] + field->spacing * (double)y;
    position[2] = field->origin[2] + field->spacing * (double)z;
}

/* Places a grid of `cells` cubes along the longest side of the triangles' bounding box enlarged by `scale` ≥ 1 about
 * its centre: a cube (thesis §3.11), or the other sides rounded up to whole cells. Allocates `distance`, not
 * initialized. SP_INPUT: no triangles, no extent or one outside the range of single precision (1e-30 … 1e30 m), cells
 * below 1e-12 of the coordinates, more than 2^31 vertices; SP_USAGE: cells not in 1 … SP_FIELD_CELLS_MAX, scale. */
int sp_field_place(sp_context *context, const sp_surface *surface, int64_t cells, double scale, bool cube,
                   sp_field *field) SP_MUST_USE;

/* Sets all distances to the exact unsigned ones (computed in double precision, stored in single). `span`: the range of
 * the reported progress. */
int sp_field_distances(sp_context *context, const sp_closest *closest, const double span[2],
                       sp_field *field) SP_MUST_USE;

/* The trilinear interpolant at a point of the grid's box, and its gradient (NULL: not wanted), on cell boundaries that
 * of one of the cells. A point outside is first moved to the box. */
double sp_field_interpolate(const sp_field *field, const double point[3], double gradient[3]);

/* A lower bound of the unsigned distance on the surface of the box. The least distance of the vertices is not such a
 * bound: since d² − |x|² is concave for a distance d from a set, in a square of side h with corner distances of at
 * least m only d² ≥ m² − h²/2 holds. */
double sp_field_boundary(const sp_field *field);

#endif
