/* Level sets of distance fields as triangles. */
#ifndef SP_GEOMETRY_ISOSURFACE_H
#define SP_GEOMETRY_ISOSURFACE_H

#include "geometry/field.h"
#include "geometry/grid.h"

/* The vertices of a field as cells of a grid, whose centres they are, for sets of them as bits. */
sp_grid sp_field_grid(const sp_field *field);

/* The level set of a field by marching tetrahedra: every cell is cut into six (Kuhn), in each of which the field counts
 * as linear. The mesh is an oriented manifold with normals to where the field is greater; it is closed where the level
 * does not meet the box, and never meets itself. Vertices on shared edges stand once; they keep 1e-4 of an edge away
 * from its ends, so that no triangle loses its area where the level goes through a vertex of the grid.
 *
 * `outside` (NULL: the vertices where the field is above the level) is a set of vertices of sp_field_grid to be
 * separated from the rest; on all tetrahedral edges between the two the field must be above the level outside and not
 * above it inside. SP_SYSTEM when memory is out, SP_INPUT for more than 2^31 vertices or triangles. An empty level set
 * is no error. */
int sp_isosurface(sp_context *context, const sp_field *field, double level, const uint64_t *outside,
                  sp_surface *surface) SP_MUST_USE;

/* Whether the surface of the box has vertices on both sides of the level: then the level set is open there. */
bool sp_field_meets_box(const sp_field *field, double level);

/* Sets the bits of the vertices where the field is above the level and that are connected over such vertices, along
 * edges of the tetrahedra, with the surface of the box. */
int sp_field_outer(sp_context *context, const sp_field *field, double level, uint64_t *outer) SP_MUST_USE;

#endif
