/* Free bodies: rigid motion, or rigid motion coupled with reduced deformation, in steps that conserve momenta and
 * energy.
 *
 * A material point X of the mesh is at c + R (X̃ + Ũ q), where X̃ + Ũ q = X + U q − (its mass-weighted mean): c is
 * always the centre of mass. Translation therefore decouples, and with Ω the angular velocity in the body frame the
 * kinetic energy of the rest is ½ Ωᵀ J(q) Ω + Ωᵀ G(q) q̇ + ½ q̇ᵀ M̃ q̇ with
 *
 *     S(q) = ∫ρ y yᵀ,  J = tr(S) I − S,  G(q) q̇ = ∫ρ y × Ũq̇,  M̃ = ∫ρ ŨᵀŨ,  y = X̃ + Ũ q,
 *
 * all polynomials in q with constant integrals (generalized Newton–Euler equations; Shabana, Dynamics of Multibody
 * Systems).
 *
 * The step over [t₀, t₁], with ξ = (Ω, q̇), A(q) the matrix of that energy and π = A ξ = (Π, p):
 *
 *     q₁ − q₀ = h (q̇₀ + q̇₁)/2,       c₁ − c₀ = h (v₀ + v₁)/2,    m (v₁ − v₀) = h F
 *     Π₁ − (Π₀ + h R₀ᵀT) = h ½(Π₀ + h R₀ᵀT + Π₁) × Ω̄,            Ω̄ = (Ω₀ + Ω₁)/2,   R₁ = R₀ cay(h Ω̄)
 *     p₁ − p₀ = h (D − f̄ − C (q₁ − q₀)/h + Q),                  D_i = ½ ξ₀ᵀ ∂_iA((q₀+q₁)/2) ξ₁
 *
 * where f̄ is the mean force by Simpson's rule along the segment for a cubic force, else the force at its midpoint.
 * Then R Π changes by h T exactly (cay is the Cayley map). Since A is quadratic in q, so that D·(q₁ − q₀) = ½ ξ₀ᵀ(A₁ −
 * A₀)ξ₁, kinetic plus strain energy changes exactly by the work of F, T, Q and damping if the force is cubic. */
#ifndef SP_RIGID_FREE_H
#define SP_RIGID_FREE_H

#include "assembly/fe_space.h"
#include "geometry/pose.h"
#include "geometry/surface.h"
#include "reduced/force.h"

typedef struct sp_inertia {
    sp_pool pool;
    int64_t r;
    double mass;      /* kg, > 0 */
    double centre[3]; /* centre of mass at rest, in the coordinates of the mesh, m */
    double S[9];      /* ∫ρ X̃X̃ᵀ kg m² */
    double *mean;     /* [3, r, row major] ∫ρU / m */
    double *N;        /* [3, 3, r, row major] ∫ρ X̃_a Ũ_bj */
    double *Q;        /* [3, 3, r, r, row major] ∫ρ Ũ_ai Ũ_bj */
    double *M;        /* [r, r] ∫ρ ŨᵀŨ */
    /* what all bodies of this inertia share in a step (free_internal.h) */
    double J[6];   /* the inertia tensor at rest: xx, yy, zz, yz, zx, xy */
    double *slope; /* [9, r] at rest: ∂J/∂q in this order, and the coupling G of rotation and deformation */
    double *curve; /* [9, r, r] derivatives of slopes: row j, column i is ∂_i of slope j */
} sp_inertia;

void sp_inertia_free(sp_inertia *inertia);

/* Inertia of a mesh with the consistent mass, or the lumped one (reduced/mass.h), that deforms by U [3·vertices, r,
 * column major] (r = 0: rigid). With the lumped mass the body is a set of point masses at the vertices, and all
 * integrals are sums over them. */
int sp_inertia_of_body(sp_context *context, const sp_fe_space *body, bool lumped, int64_t r, const double *U,
                       sp_inertia *inertia) SP_MUST_USE;

/* Inertia of the interior of a closed surface with uniform density kg/m³, rigid. SP_INPUT if the surface encloses no
 * volume (open, or inside out). */
int sp_inertia_of_surface(sp_context *context, const sp_surface *surface, double density,
                          sp_inertia *inertia) SP_MUST_USE;

/* Inertia of a rigid body from its mass, the centre of mass `centre` and the inertia tensor J about it: xx, yy, zz, yz,
 * zx, xy in kg m². SP_INPUT if J is not the tensor of a body (not positive definite, or a principal moment exceeds the
 * sum of the others by more than rounding). */
int sp_inertia_of_numbers(sp_context *context, double mass, const double centre[3], const double J[6],
                          sp_inertia *inertia) SP_MUST_USE;

/* Scratch matrices of a step, one set for each thread, shared by the bodies that the thread steps: a set for each body
 * would dominate the memory traffic of a step. */
typedef struct sp_free_workspace sp_free_workspace;
typedef struct sp_free_workspaces {
    int64_t r; /* largest number of coordinates */
    int count; /* number of threads that step bodies; 1: bodies are stepped one after another */
    sp_free_workspace *workspace;
} sp_free_workspaces;
/* Memory is from `pool`, whose failure mark the caller checks. */
void sp_free_workspaces_new(sp_pool *pool, int threads, int64_t r, sp_free_workspaces *workspaces);

typedef struct sp_free_parameters {
    double step;                            /* s, > 0 */
    double damping_mass, damping_stiffness; /* Rayleigh damping of the deformation: 1/s, s */
    bool decoupled;                         /* the approximation of the thesis (§2.13): G = 0, J = J(0), D = 0 */
    bool semi_implicit; /* one Newton iteration per step, and f̄ at the midpoint: conserves momenta, not energy */
    double tolerance;   /* of Newton's method: residual relative to the largest term; 0: 1e-12 */
    int64_t iterations; /* largest number; 0: 50 */
    const sp_free_workspaces *workspaces; /* must outlive the body; NULL: the body has its own */
} sp_free_parameters;

typedef struct sp_free_state {
    double c[3];        /* centre of mass, world, m */
    double rotation[4]; /* unit quaternion, body to world */
    double v[3];        /* of the centre of mass, world, m/s */
    double Omega[3];    /* angular velocity, body frame, rad/s */
} sp_free_state;

typedef struct sp_free_report {
    int64_t steps, newton_iterations, worst_iterations, stagnated;
    double worst_residual; /* relative */
} sp_free_report;

typedef struct sp_free_body sp_free_body;

/* force: a force of inertia->r coordinates, owned from here on (also on failure); NULL for a rigid body. The inertia
 * must outlive the body. The body starts at rest with the identity pose, which places it as the mesh is. Steps allocate
 * nothing. SP_NUMERICAL if A(0) is not positive definite: U must not contain a rigid motion. */
int sp_free_body_new(sp_context *context, const sp_inertia *inertia, const sp_reduced_force *force,
                     const sp_free_parameters *parameters, sp_free_body **body) SP_MUST_USE;
void sp_free_body_free(sp_free_body *body); /* NULL is allowed */

/* Sets `pose` of the body frame (X ↦ x + R X at q), the velocity of the centre of mass and the angular velocity, both
 * in the world frame, and q, qdot [r] (NULL: 0). */
void sp_free_body_place(sp_free_body *body, const sp_pose *pose, const double velocity[3],
                        const double angular_velocity[3], const double *q, const double *qdot);

/* One step under the force F [N] and the torque T about the centre of mass [N m], world frame, and the generalized
 * force Q [r] (NULL: none) on q at fixed c and R, all constant over the step. A force f at a point x with the rows W of
 * U adds f to F, (x − c) × f to T and, since its displacements are Ũ, (W − mean)ᵀ Rᵀ f to Q. With forces evaluated at
 * the state of sp_free_body_predict, the scheme is the symplectic Verlet method for them, and pairs of opposite forces
 * at one point conserve the momenta exactly. SP_NUMERICAL if Newton's method does not converge or the result is not
 * finite; the state stays that before the step. */
int sp_free_body_step(sp_free_body *body, const double F[3], const double T[3], const double *Q) SP_MUST_USE;

/* The change of velocities by an impulse, A(q)⁻¹ times the impulse at the current q and rotation: F [N s], T [N m s]
 * about the centre of mass and Q [N s m/[q]] as in sp_free_body_step (r = 0: Q and qdot NULL); velocity of the centre
 * of mass and angular velocity, all world. A `decoupled` body uses its own A. SP_NUMERICAL if A(q) is not positive
 * definite. Not thread safe for bodies with shared workspaces. */
int sp_free_body_respond(sp_free_body *body, const double F[3], const double T[3], const double *Q, double velocity[3],
                         double angular[3], double *qdot) SP_MUST_USE;

/* The current pose of the body frame and q [r], and their prediction half a step later with the current velocities
 * (first order in q, exact rotation by Ω h/2). */
void sp_free_body_pose(const sp_free_body *body, sp_pose *pose);
void sp_free_body_predict(const sp_free_body *body, sp_pose *pose, double *q);

/* Current velocity [world] of the point at y = X + U q in the body frame, whose rows of U are rows [3, r, row major];
 * rows NULL: of the point fixed in the body frame at y. */
void sp_free_body_point_velocity(const sp_free_body *body, const double y[3], const double *rows, double velocity[3]);

const sp_free_state *sp_free_body_state(const sp_free_body *body);
const double *sp_free_body_q(const sp_free_body *body); /* [r] */
const double *sp_free_body_qdot(const sp_free_body *body);

/* Kinetic and strain energy [J]. For nonconservative forces (reduced/force.h) the second is the work done against the
 * force since the body was placed, which can have any sign after a path in q. Linear and angular momentum about the
 * world's origin [world frame] are conserved by such forces too, since they act on q alone. */
void sp_free_body_energies(sp_free_body *body, double *kinetic, double *strain);
void sp_free_body_momenta(sp_free_body *body, double linear[3], double angular[3]);

/* Saves or loads everything that the next steps take from earlier ones (base/state.h). */
void sp_free_body_visit(sp_free_body *body, sp_state *state);

const sp_free_report *sp_free_body_reported(const sp_free_body *body);

#endif
