/* The clutch of a haptic device (workspace indexing, thesis §4.5): while it is held, the device moves and turns, and
 * the manipulandum stays where it is. From the release on, the manipulandum continues from there.
 *
 * The offset between them is a translation and a rotation, since a user brings the device back from the limits of both.
 * For the device at (x_d, q_d) the manipulandum is at
 *
 *     x_m = x_d + a,   q_m = q_d b                                                                                  (1)
 *
 * with a = 0 and b = 1 at the start. While the clutch is held, (x_m, q_m) and not (a, b) is constant, with the
 * velocities 0; at the release a = x_m − x_d and b = q_d⁻¹ q_m, so that nothing jumps. With the clutch held from p_k to
 * r_k, k = 1 … n, therefore
 *
 *     a = Σ_k (x_d(p_k) − x_d(r_k)),   b = Π_k q_d(r_k)⁻¹ q_d(p_k), the last one leftmost.                          (2)
 *
 * The thesis says no more than that the transformation is kept; (1) has its sides by this: its derivatives are v_m =
 * v_d and ω_m = ω_d, so that a motion of the device is the same motion of the manipulandum in the world, whatever
 * rotation b has, and the power F·v + T·ω of the rendered force and torque is that at the manipulandum: they need no
 * transformation. A rotation on the other side, x_m = a + R(b) x_d, q_m = b q_d, would turn all directions: a device
 * that moves up would move the body sideways.
 *
 * Lengths of the device are to be divided by the scale of eq. 4.27 before. */
#ifndef SP_CONTACT_CLUTCH_H
#define SP_CONTACT_CLUTCH_H

#include "geometry/pose.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct sp_clutch {
    bool held;
    sp_pose kept;             /* of the manipulandum, while it is held */
    double shift[3], turn[4]; /* a [m] and b, a unit quaternion, while it is not */
} sp_clutch;

/* Not held, with the manipulandum at the device. */
sp_clutch sp_clutch_start(void);

/* The pose of the manipulandum for that of the device. velocity: velocity and angular velocity of the device [6,
 * world], which become those of the manipulandum; NULL: not wanted. */
sp_pose sp_clutch_pose(const sp_clutch *clutch, const sp_pose *device, double velocity[6]);

/* Holds or releases the clutch while the device is at this pose; no change if it is so already. */
void sp_clutch_set(sp_clutch *clutch, bool held, const sp_pose *device);

/* A clutch that is held from time[0] to time[1], from time[2] to time[3], …; an odd count: to the end. */
typedef struct sp_clutch_times {
    int64_t count;
    const double *time; /* [count] s, ascending */
    sp_clutch *since;   /* [count] the clutch from each of these times on */
} sp_clutch_times;

/* Fills `since` for a device on this path. Linear in the count. */
void sp_clutch_times_begin(sp_clutch_times *times, sp_pose_path *path, const void *data);

/* The clutch until a time: one at which it changes, within rounding, still has the clutch from before, since the
 * velocity at the end of a step is that of the step. The pose does not depend on this. */
sp_clutch sp_clutch_at(const sp_clutch_times *times, double time);

#endif
