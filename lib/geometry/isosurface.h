/* Level sets of distance fields as triangles. */
#ifndef SP_GEOMETRY_ISOSURFACE_H
#define SP_GEOMETRY_ISOSURFACE_H

#include "geometry/field.h"
#include "geometry/grid.h"

/* The grid whose cell centres are the vertices of a field, for bit sets of vertices. */
sp_grid sp_field_grid(const sp_field *field);

/* The level set of a field by marching tetrahedra: every cell is split into six (Kuhn), in each of which the field is
 * treated as linear. The mesh is an oriented manifold with normals towards greater values; it is closed if the level
 * does not intersect the box, and has no self-intersections. Vertices on shared edges occur once; they keep a distance
 * of 1e-4 of an edge from its ends, so that no triangle degenerates where the level passes through a vertex of the
 * grid.
 *
 * `outside` (NULL: the vertices where the field is above the level) is a set of vertices of sp_field_grid to be
 * separated from the rest; on all tetrahedral edges between the two the field must be above the level outside and not
 * above it inside. SP_SYSTEM: out of memory; SP_INPUT for more than 2^31 vertices or triangles. An empty level set is
 * not an error. */
int sp_isosurface(sp_context *context, const sp_field *field, double level, const uint64_t *outside,
                  sp_surface *surface) SP_MUST_USE;

/* Returns true if the surface of the box has vertices on both sides of the level: the level set is then open there. */
bool sp_field_meets_box(const sp_field *field, double level);

/* Sets the bits of the vertices where the field is above the level and that are connected through such vertices, along
 * edges of the tetrahedra, with the surface of the box. */
int sp_field_outer(sp_context *context, const sp_field *field, double level, uint64_t *outer) SP_MUST_USE;

#endif
