/* Which side of a surface patch is seen from far away. Takayama, Jacobson, Kavan and Sorkine-Hornung, "A simple method
 * for correcting facet orientations in polygon meshes based on ray casting" (2014), orient patches by such rays too. */
#ifndef SP_GEOMETRY_VISIBILITY_H
#define SP_GEOMETRY_VISIBILITY_H

#include "geometry/closest.h"

/* Of straight lines through points of a patch: how many leave the model freely on one side only. */
typedef struct sp_visibility {
    int64_t front; /* the side that the patch's normals point to */
    int64_t back;
} sp_visibility;

/* `lines` lines through points that are spread evenly over the area of the patch, with directions distributed by the
 * cosine of their angle to the normal: front − back estimates the difference of the two sides' areas as seen from all
 * directions. `model` has the patch and all that can hide it; what lies within `beyond` m of a point hides nothing. The
 * lines depend on `stream` and the patch only. Thread safe. */
sp_visibility sp_visibility_of(const sp_closest *model, const sp_surface *patch, double beyond, int64_t lines,
                               uint64_t stream);

/* +1 where the front is the side that is seen more, −1 where it is the back, 0 where the lines do not tell. */
int sp_visibility_side(const sp_visibility *visibility);

#endif
