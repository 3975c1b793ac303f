/* Virtual coupling (thesis ch. 4): a rigid body tied by springs to a pose that a hand dictates, the manipulandum.
 *
 * All vectors are in the world frame. The body's pose is that of its grasp: x_s the world position of the grasped
 * point, q_s the body's rotation; x_m, q_m of the manipulandum. Rotations Δω act from the left: q ← exp(Δω) q. Torques
 * are about x_s. */
#ifndef SP_CONTACT_COUPLING_H
#define SP_CONTACT_COUPLING_H

#include "base/context.h"
#include "geometry/pose.h"

/* A force and a torque on the body with their derivatives by its displacement and rotation. */
typedef struct sp_wrench {
    double force[3], torque[3];      /* N, N m */
    double force_x[9], force_w[9];   /* ∂F/∂x N/m, ∂F/∂ω N/rad [3, 3, row major] */
    double torque_x[9], torque_w[9]; /* ∂T/∂x N m/m, ∂T/∂ω N m/rad */
} sp_wrench;

typedef struct sp_coupling_parameters {
    double stiffness;         /* k_VC N/m, > 0 */
    double torque_stiffness;  /* N m, of sin(θ/2) (thesis eq. 4.14), > 0 */
    double saturation;        /* F_max N: the force is linear to F_max/2 and never exceeds it (§4.9); INFINITY: linear
                                 everywhere */
    double torque_saturation; /* N m; as the force does, in the angle's sine; INFINITY: none */
    double static_damping;    /* α in [0, 1): only 1 − α of every displacement is made (§4.8) */
    double speed, angular_speed; /* m/s, rad/s at most (§4.6); INFINITY: none */
    double threshold; /* singular values below this part of the largest count as 0 (§4.10); 0.001 in the thesis */
    double length;    /* m, by which translations are divided before the singular values are compared; > 0 */
    double damping, torque_damping; /* dynamic coupling: N s/m, N m s/rad */
} sp_coupling_parameters;

/* Force and torque of the springs on the body with all derivatives (eq. 4.13, 4.14, 4.17, 4.24, 4.40, 4.41 as corrected
 * in the notes on the papers; with q_T = −k q_s q_m⁻¹ in the positive hemisphere). Saturated torques: with s =
 * |vector(q)|·k the magnitude becomes f(s) of eq. 4.40. */
void sp_coupling_wrench(const sp_coupling_parameters *p, const sp_pose *manipulandum, const sp_pose *body,
                        sp_wrench *wrench);

typedef struct sp_coupling_step_report {
    double displacement[3], rotation[3]; /* made */
    int degenerate;                      /* directions in which neither contact nor springs resist (§4.10) */
    bool limited;                        /* by speed */
} sp_coupling_step_report;

/* One cycle of static coupling (eq. 4.1, 4.2): moves `body` to where, to first order, springs and contact balance.
 * contact: the wrench on the body at its pose. Directions whose singular value is below the threshold follow the
 * manipulandum (eq. 4.42, with the rotation vector appended, in lengths), unless balance is nearer along them than
 * that: the derivatives are not symmetric, so that small singular values are no proof that nothing resists, and a body
 * in balance must stay there. A spring that would pull the body past the manipulandum, its tangent being weak
 * (saturation; large angles), counts with its secant f(r)/r instead. Then static damping and speed limits over the
 * cycle of `step` s. Never leaves a NaN: SP_NUMERICAL where the contact wrench is not finite. */
int sp_coupling_static(sp_context *context, const sp_coupling_parameters *p, double step, const sp_pose *manipulandum,
                       const sp_wrench *contact, sp_pose *body, sp_coupling_step_report *report) SP_MUST_USE;

/* One cycle of dynamic coupling (mass, spring, damper): velocity and angular velocity of the body [world frame] after
 * one linearly implicit Euler step over `step` s, (A/h − D − h K) Δ = F + h K v with A the mass and inertia about the
 * grasped point as they are now, K all derivatives of springs and contact, D the dampers, which act against the
 * manipulandum's velocities. centre: from x_s to the centre of mass [world]; inertia [3, 3] about the centre of mass
 * [world], kg m². */
typedef struct sp_coupled_motion {
    double mass, centre[3],
        inertia[9]; /* as the body is turned at the start of the step; the caller turns them with it */
    double velocity[3], angular_velocity[3]; /* of the grasped point, of the body; updated */
    double hand_velocity[3], hand_angular_velocity[3];
} sp_coupled_motion;
int sp_coupling_dynamic(sp_context *context, const sp_coupling_parameters *p, double step, const sp_pose *manipulandum,
                        const sp_wrench *contact, const double gravity[3], sp_coupled_motion *motion, sp_pose *body,
                        sp_coupling_step_report *report) SP_MUST_USE;

/* What a device renders: minus the coupling force, unsaturated (k_VC (x_s − x_m) whatever the saturation, §4.9),
 * clamped to `most` N. A device whose lengths are α times those of the scene (eq. 4.27) feels the stiffness k_VC/α.
 * torque likewise, not clamped where torque_most is INFINITY. */
void sp_coupling_render(const sp_coupling_parameters *p, const sp_pose *manipulandum, const sp_pose *body, double most,
                        double torque_most, double force[3], double torque[3]);

#endif
