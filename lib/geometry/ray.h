/* Rays through a triangle soup, by the tree of sp_closest. */
#ifndef SP_GEOMETRY_RAY_H
#define SP_GEOMETRY_RAY_H

#include "geometry/closest.h"

/* Whether a ray from `origin` meets no triangle farther away than `beyond` m, so that it leaves the model. `direction`
 * has unit length. Triangles too thin to have a normal are not seen. Thread safe. */
bool sp_ray_leaves(const sp_closest *closest, const double origin[3], const double direction[3], double beyond);

#endif
