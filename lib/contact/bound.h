/* Bounding volumes of the points of a point shell and of the interior of a signed distance field. They decide whether
 * two bodies can be in contact at all. */
#ifndef SP_CONTACT_BOUND_H
#define SP_CONTACT_BOUND_H

#include "contact/broad.h"
#include "contact/traverse.h"

/* A box and a sphere with the same centre; the box is aligned with the axes of the body's frame. The bounded set lies
 * in the intersection of both. radius = INFINITY: the set is unbounded. */
typedef struct sp_bound {
    double centre[3], half[3], radius; /* m */
} sp_bound;

/* Bounds all points of the shell at q [modes] (NULL: at rest): no point is farther than Σ_j reach_j |q_j| from its rest
 * position. */
void sp_bound_of_pointshell(const sp_contact_pointshell *pointshell, const double *q, sp_bound *bound);

/* Bounds all places where the distance is negative, or where a voxmap is not free. For a grid these are the cells with
 * a negative vertex, since values outside its box are positive; for a deformed field it is sp_deformed_field_box at the
 * current q. A plane is unbounded. */
void sp_bound_of_distance(const sp_distance *distance, sp_bound *bound);

/* The box, aligned with the world's axes, that contains a bounded set whose frame is at `pose`, enlarged by the
 * rounding error. It is infinite for a plane. */
void sp_bound_place(const sp_bound *bound, const sp_pose *pose, sp_box *box);

/* Returns true if no point of the set bounded by `points`, with its frame at `pose`, can be where the distance bounded
 * by `solid`, with its frame at `field`, is negative. */
bool sp_bounds_apart(const sp_bound *points, const sp_pose *pose, const sp_distance *distance, const sp_bound *solid,
                     const sp_pose *field);

#endif
