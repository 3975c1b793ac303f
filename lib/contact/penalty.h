/* Penalty forces on the points of a shell that are in contact (thesis §3.5), and on the body whose distances they are.
 */
#ifndef SP_CONTACT_PENALTY_H
#define SP_CONTACT_PENALTY_H

#include "contact/coupling.h"
#include "contact/traverse.h"

/* The direction of the force at a point in contact. */
enum sp_penalty_direction {
    SP_PENALTY_NORMAL, /* the point's inward normal N, as in the thesis (eq. 3.1): F = −k d N. Such a force has no
                          potential: what slides along a surface that its normals do not match gains or loses energy */
    SP_PENALTY_GRADIENT, /* the gradient of the other body's distance: F = −k d ∇d has the potential ½ k d² (§3.11.1).
                            Not normalized where an interpolant's gradient is not of unit length. The normal against
                            voxmaps, which have none */
    SP_PENALTY_BY_GEOMETRY, /* the gradient against analytic shapes (plane, sphere, box), whose gradient is exact; else
                            the normal */
};

typedef struct sp_penalty {
    double stiffness; /* k_C N/m, of each point (eq. 3.1) */
    double damping;   /* N s/m, of each point, along its normal; the force never pulls */
    double limit; /* L: forces are scaled by L/l where the weights l of the points in contact add up to more; INFINITY:
                     never */
    bool by_area; /* weights are areas by the mean area of the shell's points; else 1 */
    enum sp_penalty_direction direction;
    bool tangents; /* normals by tangents where the shell has them (contact/traverse.h) */
} sp_penalty;

/* By which the stiffness and damping of a point are multiplied. */
double sp_penalty_weight(const sp_penalty *penalty, const sp_contact_pointshell *pointshell, int64_t point);

/* Whether the force against this body is along the gradient of its distance. */
bool sp_penalty_by_gradient(const sp_penalty *penalty, const sp_distance *distance);

/* A body as contact sees it. Points of a deformed body are at x + R (X + U q). */
typedef struct sp_contact_state {
    sp_pose pose;
    double velocity[3], angular_velocity[3]; /* world; the velocity of the origin of its frame, m/s, rad/s */
    const double *q, *qdot;                  /* NULL: rigid */
} sp_contact_state;

/* Velocity [world] of a point of the body that is at `at` [world] and moves by the rows of U given, rows [3, modes, row
 * major] (modes 0: rigid). */
void sp_contact_velocity(const sp_contact_state *state, const double at[3], int64_t modes, const double *rows,
                         double velocity[3]);

/* Velocity [world] of a point of the shell, which is at `at` [world] and at `place` in the frame of the distances, by
 * the matter of the other body there: that of a deformed one moves as its proxy nearest to the point does
 * (contact/deformed.h). */
void sp_contact_relative_velocity(const sp_contact_pointshell *pointshell, const sp_contact_state *pointshell_state,
                                  const sp_distance *distance, const sp_contact_state *field_state, int64_t point,
                                  const double at[3], const double place[3], double velocity[3]);

/* Forces on the points of the shell. The caller makes the arrays, with room for all points that were found. */
typedef struct sp_contact_forces {
    int64_t count;
    double scale; /* L/l, or 1 */
    const int32_t *point;
    const double *distance;
    double *at;     /* [count, 3] world, m: where the point is */
    double *normal; /* [count, 3] world: N, the direction of the force (sp_penalty_direction) */
    double *force; /* [count, 3] world, N: −k d N with weight, scale and damping, on the shell; the other body feels the
                      opposite */
} sp_contact_forces;

/* From the points that a traversal found. */
void sp_penalty_forces(const sp_penalty *penalty, const sp_contact_pointshell *pointshell,
                       const sp_contact_state *pointshell_state, const sp_distance *distance,
                       const sp_contact_state *field_state, const sp_traversal_result *found,
                       sp_contact_forces *forces);

/* Adds sign · all forces to F [N] and to T [N m] about `about` [world]. */
void sp_contact_forces_total(const sp_contact_forces *forces, double sign, const double about[3], double F[3],
                             double T[3]);

/* Q [modes] += Uᵀ Rᵀ f over the points of the shell (3 r operations each). */
void sp_contact_forces_project(const sp_contact_forces *forces, const sp_contact_pointshell *pointshell,
                               const sp_pose *pose, double *Q);

/* Q [modes of the field's body] −= W_pᵀ Rᵀ f with the modes W_p at the proxy nearest to each point (thesis §3.12). */
void sp_contact_forces_project_field(const sp_contact_forces *forces, const sp_distance *distance, const sp_pose *pose,
                                     double *Q);

/* Adds forces and derivatives (at fixed scale, without damping) to the wrench on a rigid body that is grasped at
 * `about` [world]. pointshell_moves: it is the shell that is grasped, else the body of the distances. In the world
 * frame, for the point p, r = p − about, n the direction of its force, g = ∂d/∂p, H = ∂g/∂p, κ = k · weight · scale, F
 * = ∓κ d n (− where the shell is grasped): n a normal of the shell:  ∂F/∂x = −κ n gᵀ, ∂F/∂ω = −κ n (r × g)ᵀ, and + κ d
 * [n]× where the shell is grasped n = g:                    ∂F/∂x = −κ (g gᵀ + d H), ∂F/∂ω = −κ (g (r × g)ᵀ − d H
 * [r]×), and − κ d [g]× where the distances are both:                     ∂T/∂ω = [r]× ∂F/∂ω, ∂T/∂x = [r]× ∂F/∂x; shell
 * grasped: ∂T/∂ω += [F]× [r]×, else ∂T/∂x += [F]× normals: where n is a normal, g is taken for n (thesis §4.2); else g
 * is the gradient of the distance. */
void sp_penalty_wrench(const sp_penalty *penalty, const sp_contact_pointshell *pointshell, const sp_distance *distance,
                       const sp_pose *field, const sp_contact_forces *forces, bool pointshell_moves, bool normals,
                       const double about[3], sp_wrench *wrench);

#endif
