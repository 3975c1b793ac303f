/* Visibility of the sides of a surface patch from far away. Takayama, Jacobson, Kavan and Sorkine-Hornung, "A simple
 * method for correcting facet orientations in polygon meshes based on ray casting" (2014), orient patches by such rays
 * too. */
#ifndef SP_GEOMETRY_VISIBILITY_H
#define SP_GEOMETRY_VISIBILITY_H

#include "geometry/closest.h"

/* Numbers of straight lines through points of a patch that leave the model without a hit on one side only. */
typedef struct sp_visibility {
    int64_t front; /* on the side of the patch's normals */
    int64_t back;
} sp_visibility;

/* Casts `lines` lines through points that are evenly distributed over the area of the patch, with directions
 * distributed by the cosine of their angle to the normal: front − back estimates the difference of the visible areas of
 * the two sides, averaged over all directions. `model` includes the patch and all occluders; hits within `beyond` m of
 * a point are ignored. The lines depend on `stream` and the patch only. Thread safe. */
sp_visibility sp_visibility_of(const sp_closest *model, const sp_surface *patch, double beyond, int64_t lines,
                               uint64_t stream);

/* +1 if the front is more visible, −1 if the back is, 0 if the lines are not conclusive. */
int sp_visibility_side(const sp_visibility *visibility);

#endif
