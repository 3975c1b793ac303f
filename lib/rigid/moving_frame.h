/* A reduced-order body in a frame that moves along a given path: inertial forces.
 *
 * The coordinates of the mesh are those of the frame. A material point is at p + R (X + U q) in the world, where p(t)
 * is the origin of the frame and R(t) its rotation. With the angular velocity ω, the angular acceleration α and the
 * acceleration a = Rᵀ (p̈ − g), all in components of the frame, and with x = X + U q, the equation of motion has on its
 * right-hand side
 *
 *     −∫ρ Uᵀ (a + α × x + ω × (ω × x) + 2 ω × U q̇):
 *
 * the forces of translation and gravity g, Euler, centrifugal and Coriolis (Shabana, Dynamics of Multibody Systems).
 * With [ω] the matrix of the cross product and B = [α] + [ω]² coordinate i receives
 *
 *     −(m_ai a_a + B_ab P_bai) − (B_ab T_abij q_j + 2 [ω]_ab T_abij q̇_j)
 *     m_ai = ∫ρ U_ai,   P_bai = ∫ρ X_b U_ai,   T_abij = ∫ρ U_ai U_bj
 *
 * with the sums over a, b and j. The integrals are constant (rigid/free.h), so that a step does not visit vertices.
 * The first bracket is part of the mean load of a step, the second one of its implicit equations (sp_external_loads,
 * `follow`).
 *
 * Over an interval [t₀, t₁] the mean of a is Rᵀ ((ṗ(t₁) − ṗ(t₀)) / (t₁ − t₀) − g) with R halfway, α is the change of ω
 * divided by the interval, and ω that of the rotation from R(t₀) to R(t₁) at a constant rate. Velocities of a
 * path jump at its lines, where the mean of the velocities before and after is used. Impulses of the origin and changes
 * of ω are therefore exact, except that the direction of an impulse is evaluated with R halfway. All are of second
 * order in the interval for a smooth path, as the trapezoidal rule, BDF2 and the energy-conserving step are. Before t =
 * 0 the frame has the velocity that it has at t = 0: a body that starts with q̇ = 0 rests in the moving frame. Rayleigh
 * damping is of the motion relative to the frame. */
#ifndef SP_RIGID_MOVING_FRAME_H
#define SP_RIGID_MOVING_FRAME_H

#include "geometry/pose.h"
#include "model/system.h"
#include "rigid/free.h"

/* The motion of a frame over an interval, in components of the frame halfway. */
typedef struct sp_frame_motion {
    double a[3];       /* p̈ − g, m/s² */
    double W[9], B[9]; /* [ω] and [α] + [ω]², 1/s and 1/s², row major */
    double R[9];       /* the rotation of the frame halfway, frame to world, row major */
} sp_frame_motion;

/* Over [t0, t1] as above, with gravity in the world. t1 infinite: the limit of late times, at which a path is at
 * rest. */
void sp_frame_motion_find(sp_pose_path *path, const void *path_data, const double gravity[3], double t0, double t1,
                          sp_frame_motion *motion);

typedef struct sp_moving_frame {
    sp_external_loads inner; /* first: model/outer_loads.h */
    sp_pool pool;
    int64_t r;
    bool turns;
    sp_pose_path *path;
    const void *path_data;
    double gravity[3]; /* m/s², world */
    double *m;         /* [3, r, row major] kg m/[q] */
    double *P;         /* [3, 3, r] kg m²/[q] */
    double *T;         /* [3, 3, r, r] */
    double from, to;   /* s, the interval of the two matrices; from > to: none */
    double *B, *W;     /* [r, r, row major] of q and of q̇ in the second bracket */
} sp_moving_frame;

/* From the inertia of the body (rigid/free.h, with the mass of its system), which may be freed afterwards. `path` gives
 * the frame over time; turns: false if its rotation never changes, and the second bracket is then 0. scale: factor on
 * the inertia, 1 for a body whose mass is that of its mesh. `inner` are the other loads, without gravity: it is copied
 * with its `self`, which must outlive the frame. */
int sp_moving_frame_new(sp_context *context, const sp_inertia *inertia, double scale, sp_pose_path *path,
                        const void *path_data, bool turns, const double gravity[3], const sp_external_loads *inner,
                        sp_moving_frame *frame) SP_MUST_USE;
void sp_moving_frame_free(sp_moving_frame *frame); /* a zeroed one is allowed */

/* The acceleration of gravity [m/s², world] from the next interval on. */
void sp_moving_frame_set_gravity(sp_moving_frame *frame, const double gravity[3]);

/* The inner loads and the inertial forces, for an integrator. The frame must outlive it. */
sp_external_loads sp_moving_frame_loads(sp_moving_frame *frame);

#endif
