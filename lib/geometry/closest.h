/* Exact closest points of a triangle soup in double precision: a bounding volume hierarchy with eight boxes per node
 * over the triangles along a Morton curve, queried for single points, or for all vertices of a grid at once
 * (sp_field_distances in field.h), which is far faster. Degenerate triangles count as the segments or points that they
 * are. */
#ifndef SP_GEOMETRY_CLOSEST_H
#define SP_GEOMETRY_CLOSEST_H

#include "geometry/surface.h"

typedef struct sp_closest sp_closest;

/* Copies what it needs: the surface need not outlive it. SP_INPUT without triangles or with about 2^31 or more. */
int sp_closest_new(sp_context *context, const sp_surface *surface, sp_closest **closest) SP_MUST_USE;
void sp_closest_free(sp_closest *closest); /* NULL is allowed */

/* The feature of a triangle that contains the closest point. Sides begin at their corner: SP_ON_SIDE + 1 is the one
 * from corner 1 to 2. */
enum sp_on { SP_ON_FACE = 0, SP_ON_SIDE = 1, SP_ON_CORNER = 4 };

typedef struct sp_nearest {
    double distance;  /* m */
    double offset[3]; /* from the closest point to the query point, m */
    int64_t triangle; /* of the surface; the lowest of several with the same computed distance */
    int on;           /* SP_ON_FACE, SP_ON_SIDE + 0…2, SP_ON_CORNER + 0…2 */
} sp_nearest;

/* Rounding errors are near 1e-15 of the larger of the distance and the triangle's size, 1e-8 of the size if the
 * triangle is thinner than that. Thread safe. */
void sp_closest_find(const sp_closest *closest, const double point[3], sp_nearest *nearest);

/* The same for a point that is expected within `reach` m of the triangles; a smaller reach is faster, and a wrong one
 * affects only the speed. */
void sp_closest_find_within(const sp_closest *closest, double reach, const double point[3], sp_nearest *nearest);

#endif
