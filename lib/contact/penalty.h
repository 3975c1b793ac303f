/* Penalty forces on the penetrating points of a point shell (thesis §3.5), and on the body whose distance field they
 * penetrate. */
#ifndef SP_CONTACT_PENALTY_H
#define SP_CONTACT_PENALTY_H

#include "contact/coupling.h"
#include "contact/traverse.h"

/* The direction of the force at a penetrating point. */
enum sp_penalty_direction {
    SP_PENALTY_NORMAL, /* the point's inward normal N, as in the thesis (eq. 3.1): F = −k d N. This force has no
                          potential: a body that slides along a surface whose normals differ from N gains or loses
                          energy */
    SP_PENALTY_GRADIENT, /* the gradient of the other body's distance: F = −k d ∇d has the potential ½ k d² (§3.11.1).
                            It is not normalized where the gradient of an interpolant is not of unit length. Voxmaps
                            have no gradient: the normal is used */
    SP_PENALTY_BY_GEOMETRY, /* the gradient for analytic shapes (plane, sphere, box), whose gradient is exact; else the
                               normal */
};

typedef struct sp_penalty {
    double stiffness; /* k_C of each point, N/m (eq. 3.1) */
    double damping;   /* of each point along its normal, N s/m; the total force never pulls */
    double limit; /* L: if the weights of the penetrating points add up to l > L, forces are scaled by L/l; INFINITY:
                     never */
    bool by_area; /* the weight of a point is its area divided by the mean area of the shell's points; else 1 */
    enum sp_penalty_direction direction;
    bool tangents; /* use normals from deformed tangents where the shell has them (contact/traverse.h) */
} sp_penalty;

/* The factor on the stiffness and damping of a point. */
double sp_penalty_weight(const sp_penalty *penalty, const sp_contact_pointshell *pointshell, int64_t point);

/* Returns true if the force against this body is along the gradient of its distance. */
bool sp_penalty_by_gradient(const sp_penalty *penalty, const sp_distance *distance);

/* The state of a body for contact. A point of a deformable body is at x + R (X + U q). */
typedef struct sp_contact_state {
    sp_pose pose;
    double velocity[3],
        angular_velocity[3]; /* world; velocity of the origin of the body's frame, m/s, and angular velocity, rad/s */
    const double *q, *qdot;  /* NULL: rigid */
} sp_contact_state;

/* Velocity [world] of a point of the body at `at` [world] whose modal displacements are rows [3, modes, row major]
 * (modes = 0: rigid). */
void sp_contact_velocity(const sp_contact_state *state, const double at[3], int64_t modes, const double *rows,
                         double velocity[3]);

/* Velocity [world] of a point of the shell relative to the material of the other body there. The point is at `at`
 * [world], which is `place` in the frame of the distance field. The material of a deformed field moves as the proxy
 * nearest to the point does (contact/deformed.h). */
void sp_contact_relative_velocity(const sp_contact_pointshell *pointshell, const sp_contact_state *pointshell_state,
                                  const sp_distance *distance, const sp_contact_state *field_state, int64_t point,
                                  const double at[3], const double place[3], double velocity[3]);

/* Forces on the points of the shell. The caller allocates the arrays, for all points that the traversal found. */
typedef struct sp_contact_forces {
    int64_t count;
    double scale; /* L/l, or 1 */
    const int32_t *point;
    const double *distance;
    double *at;     /* [count, 3] world, m: position of the point */
    double *normal; /* [count, 3] world: N, the direction of the force (sp_penalty_direction) */
    double *force;  /* [count, 3] world, N: −k d N with weight, scale and damping, acting on the shell; the other body
                       receives the opposite force */
} sp_contact_forces;

/* Computes the forces on the points that a traversal found. */
void sp_penalty_forces(const sp_penalty *penalty, const sp_contact_pointshell *pointshell,
                       const sp_contact_state *pointshell_state, const sp_distance *distance,
                       const sp_contact_state *field_state, const sp_traversal_result *found,
                       sp_contact_forces *forces);

/* Adds sign · the sum of all forces to F [N] and of their torques about `about` [world] to T [N m]. */
void sp_contact_forces_total(const sp_contact_forces *forces, double sign, const double about[3], double F[3],
                             double T[3]);

/* Q [modes] += Uᵀ Rᵀ f over the points of the shell (3 r operations each). */
void sp_contact_forces_project(const sp_contact_forces *forces, const sp_contact_pointshell *pointshell,
                               const sp_pose *pose, double *Q);

/* Q [modes of the field's body] −= W_pᵀ Rᵀ f with the modes W_p at the proxy nearest to each point (thesis §3.12). */
void sp_contact_forces_project_field(const sp_contact_forces *forces, const sp_distance *distance, const sp_pose *pose,
                                     double *Q);

/* Adds the forces and their derivatives (at fixed scale, without damping) to the wrench on a rigid body that is grasped
 * at `about` [world]. pointshell_moves: the grasped body is that of the shell, else that of the distance field. In the
 * world frame, for the point p with r = p − about, the direction n of its force, g = ∂d/∂p, H = ∂g/∂p, κ = k · weight ·
 * scale and F = ∓κ d n (− if the shell is grasped):
 *
 *     n a normal of the shell:  ∂F/∂x = −κ n gᵀ, ∂F/∂ω = −κ n (r × g)ᵀ, and + κ d [n]× if the shell is grasped
 *     n = g:                    ∂F/∂x = −κ (g gᵀ + d H), ∂F/∂ω = −κ (g (r × g)ᵀ − d H [r]×),
 *                               and − κ d [g]× if the field is grasped
 *     both:                     ∂T/∂ω = [r]× ∂F/∂ω, ∂T/∂x = [r]× ∂F/∂x;
 *                               if the shell is grasped ∂T/∂ω += [F]× [r]×, else ∂T/∂x += [F]×
 *
 * normals: if n is a normal, g is replaced by n (thesis §4.2); else g is the gradient of the distance. */
void sp_penalty_wrench(const sp_penalty *penalty, const sp_contact_pointshell *pointshell, const sp_distance *distance,
                       const sp_pose *field, const sp_contact_forces *forces, bool pointshell_moves, bool normals,
                       const double about[3], sp_wrench *wrench);

#endif
