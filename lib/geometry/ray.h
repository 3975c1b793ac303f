/* Rays through a triangle soup, by the bounding volume hierarchy of sp_closest. */
#ifndef SP_GEOMETRY_RAY_H
#define SP_GEOMETRY_RAY_H

#include "geometry/closest.h"

/* Returns true if a ray from `origin` hits no triangle farther away than `beyond` m, so that it leaves the model.
 * `direction` has unit length. Triangles too thin to have a normal are ignored. Thread safe. */
bool sp_ray_leaves(const sp_closest *closest, const double origin[3], const double direction[3], double beyond);

#endif
