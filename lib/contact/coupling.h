/* Virtual coupling (thesis ch. 4): a rigid body that springs tie to the manipulandum, the proxy pose of a haptic
 * device.
 *
 * All vectors are in the world frame. The pose of the body is that of its grasp: x_s is the world position of the
 * grasped point and q_s the rotation of the body; x_m and q_m are those of the manipulandum. Rotations Δω act from the
 * left: q ← exp(Δω) q. Torques are about x_s. */
#ifndef SP_CONTACT_COUPLING_H
#define SP_CONTACT_COUPLING_H

#include "base/context.h"
#include "geometry/pose.h"

/* A force and a torque on the body with their derivatives with respect to its displacement and rotation. */
typedef struct sp_wrench {
    double force[3], torque[3];      /* N, N m */
    double force_x[9], force_w[9];   /* ∂F/∂x N/m, ∂F/∂ω N/rad [3, 3, row major] */
    double torque_x[9], torque_w[9]; /* ∂T/∂x N m/m, ∂T/∂ω N m/rad */
} sp_wrench;

typedef struct sp_coupling_parameters {
    double stiffness;        /* k_VC N/m, > 0 */
    double torque_stiffness; /* N m, of sin(θ/2) (thesis eq. 4.14), > 0 */
    double saturation; /* F_max N: the force is linear up to F_max/2 and never exceeds F_max (§4.9); INFINITY: linear
                          everywhere */
    double torque_saturation; /* N m; the same for the torque, as a function of the sine of the angle; INFINITY: none */
    double static_damping;    /* α in [0, 1): only 1 − α of every displacement is applied (§4.8) */
    double speed, angular_speed; /* largest speeds, m/s and rad/s (§4.6); INFINITY: none */
    double threshold; /* singular values below this fraction of the largest count as 0 (§4.10); 0.001 in the thesis */
    double length;    /* m; translations are divided by it before the singular values are compared; > 0 */
    double damping, torque_damping; /* dynamic coupling: N s/m, N m s/rad */
} sp_coupling_parameters;

/* Force and torque of the springs on the body with all derivatives (eq. 4.13, 4.14, 4.17, 4.24, 4.40, 4.41 as corrected
 * in the notes on the papers; with q_T = −k q_s q_m⁻¹ in the positive hemisphere). For saturated torques, with s =
 * |vector(q)|·k, the magnitude becomes f(s) of eq. 4.40. */
void sp_coupling_wrench(const sp_coupling_parameters *p, const sp_pose *manipulandum, const sp_pose *body,
                        sp_wrench *wrench);

typedef struct sp_coupling_step_report {
    double displacement[3], rotation[3]; /* applied, m and rad */
    int degenerate;                      /* number of directions in which neither contact nor springs resist (§4.10) */
    bool limited;                        /* the speed limits were active */
    double imbalance; /* |(L F, T)| of springs and contact at the pose before the cycle, relative to the larger one of
                         theirs alone; 0: neither acts. Static coupling only, as the next one */
    bool resting;     /* the manipulandum is where it was in the last cycle of the search */
} sp_coupling_step_report;

/* The search for the equilibrium over the cycles of static coupling. {0} at the start.
 *
 * Each cycle evaluates contact once and takes the Newton step of eq. 4.1 and 4.2. Where points enter or leave contact,
 * or where the spring is saturated, so that its derivative nearly vanishes, that step may be far too long, and further
 * ones circle about the equilibrium. Therefore every step that goes back over the one before raises a resistance λ:
 * where there is contact, the step solves (λ S − ∂(F, T)/∂(x, ω)) Δ = (F, T) with the larger stiffness of the two
 * springs, S = diag(s/L², s), s = max(L² k_VC, k_torque). This is an implicit step of a body that moves with a viscous
 * drag, and leads to the equilibria that are stable for such a body. */
typedef struct sp_coupling_search {
    sp_pose manipulandum; /* in the last cycle */
    double move[6];       /* of the body, in the last cycle: m, rad */
    double resistance;    /* λ */
} sp_coupling_search;

/* One cycle of static coupling (eq. 4.1, 4.2): moves `body` to the pose in which, to first order, the forces of springs
 * and contact are in equilibrium. `contact` is the contact wrench on the body at its pose.
 *
 * Directions whose singular value is below the threshold follow the manipulandum (eq. 4.42, with the rotation vector
 * appended, in lengths), unless the equilibrium is nearer than the manipulandum along them: the derivatives are not
 * symmetric, so a small singular value does not prove that nothing resists, and a body in equilibrium must stay there.
 * A spring whose tangent is so weak (saturation, large angles) that it would pull the body past the manipulandum is
 * replaced by its secant f(r)/r. Static damping and the speed limits over the cycle of `step` s are applied last.
 * search: shortens steps that go back and forth; NULL: all steps are whole. SP_NUMERICAL if the contact wrench is not
 * finite; the pose never becomes NaN. */
int sp_coupling_static(sp_context *context, const sp_coupling_parameters *p, double step, const sp_pose *manipulandum,
                       const sp_wrench *contact, sp_coupling_search *search, sp_pose *body,
                       sp_coupling_step_report *report) SP_MUST_USE;

/* One cycle of dynamic coupling (mass, spring, damper): the velocity and angular velocity [world frame] of the body
 * after one linearly implicit Euler step of `step` s, (A/h − D − h K) Δ = F + h K v. A is the current mass and inertia
 * about the grasped point, K has all derivatives of springs and contact, and D those of the dampers, which act on the
 * velocities relative to the manipulandum. centre is the vector from x_s to the centre of mass [world]; inertia [3, 3]
 * is about the centre of mass [world], kg m². */
typedef struct sp_coupled_motion {
    double mass, centre[3], inertia[9];      /* both in the orientation of the body at the start of the step; the caller
                                                rotates them with the body */
    double velocity[3], angular_velocity[3]; /* of the grasped point, m/s, and of the body, rad/s; updated */
    double hand_velocity[3], hand_angular_velocity[3];
} sp_coupled_motion;
int sp_coupling_dynamic(sp_context *context, const sp_coupling_parameters *p, double step, const sp_pose *manipulandum,
                        const sp_wrench *contact, const double gravity[3], sp_coupled_motion *motion, sp_pose *body,
                        sp_coupling_step_report *report) SP_MUST_USE;

/* The haptic feedback force and torque for the device: the negative coupling force without saturation (k_VC (x_s − x_m)
 * whatever the saturation, §4.9), clamped to `most` N. A device whose lengths are α times those of the scene (eq. 4.27)
 * renders the stiffness k_VC/α. The torque is computed likewise and is not clamped if torque_most is INFINITY. */
void sp_coupling_render(const sp_coupling_parameters *p, const sp_pose *manipulandum, const sp_pose *body, double most,
                        double torque_most, double force[3], double torque[3]);

#endif
