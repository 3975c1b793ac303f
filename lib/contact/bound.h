/* Where the points of a shell can be, and where a distance can be negative: what decides whether two bodies may touch.
 */
#ifndef SP_CONTACT_BOUND_H
#define SP_CONTACT_BOUND_H

#include "contact/broad.h"
#include "contact/traverse.h"

/* A box about a ball's centre, along the axes of the body's frame, and that ball; what is bounded lies in both. radius
 * INFINITY: in none.
 */
typedef struct sp_bound {
    double centre[3], half[3], radius; /* m */
} sp_bound;

/* All points for q [modes] (NULL: at rest): those at rest, and each at most Σ_j reach_j |q_j| away. */
void sp_bound_of_pointshell(const sp_contact_pointshell *pointshell, const double *q, sp_bound *bound);

/* All places where the distance is negative, or a voxmap not free. A grid: the cells with a negative vertex, since
 * outside its box values are positive. A deformed field: sp_deformed_field_box, as it is now. A plane has none. */
void sp_bound_of_distance(const sp_distance *distance, sp_bound *bound);

/* A box along the axes of the world about what is bounded in the frame at `pose`, with rounding; that of a plane is
 * infinite. */
void sp_bound_place(const sp_bound *bound, const sp_pose *pose, sp_box *box);

/* Whether no point bounded by `points` in the frame at `pose` can be where the distance bounded by `solid` at `field`
 * is negative. */
bool sp_bounds_apart(const sp_bound *points, const sp_pose *pose, const sp_distance *distance, const sp_bound *solid,
                     const sp_pose *field);

#endif
