/* The systems: reduced coordinates under any reduced force, the full mesh, and its linearization. */
#ifndef SP_MODEL_MODELS_H
#define SP_MODEL_MODELS_H

#include "assembly/fe_space.h"
#include "model/supports.h"
#include "model/system.h"
#include "reduced/force.h"
#include "reduced/polynomial.h"
#include "reduced/viscous.h"

/* A system in the r coordinates of a reduced force, which it owns from here on (also when it fails), with the mass
 * matrix UᵀMU [r, r] (copied). U [rows = 3·vertices, ≥ r, column major], for springs; NULL where there will be none. U
 * and vertices must outlive the system. SP_NUMERICAL where the mass is not positive definite. */
int sp_reduced_system_new(sp_context *context, const sp_reduced_force *force, const double *mass, const double *U,
                          int64_t rows, const double *vertices, sp_system *system) SP_MUST_USE;
void sp_reduced_system_free(sp_system *system);

/* The estimates of its force's relative error at q, error[SP_NORMS] (reduced/force.h); NaN where the force has none.
 * Costs nothing where q is where it was evaluated last. */
void sp_reduced_system_estimate(const sp_system *system, const double *q, double *error);

/* How the matrix of a reduced system is made and solved with. K, the derivative of the force, is not symmetric for
 * weights by coordinate (cubature/cubature.h). */
enum sp_jacobian {
    SP_JACOBIAN_EXACT,     /* K, LU; of a symmetric K as above */
    SP_JACOBIAN_SYMMETRIC, /* ½(K + Kᵀ), Cholesky: positive definite or refused */
    SP_JACOBIAN_KRYLOV,    /* K, restarted GMRES (of a symmetric K conjugate gradients), preconditioned by the Cholesky
                              factor of the same matrix with ½(K(0) + K(0)ᵀ) (Yang et al. 2015, eq. 17) */
    SP_JACOBIAN_FREE, /* no K: its products are differences of the force over ε = 10⁻⁶ √(1+‖q‖) / ‖p‖ (eq. 15 and 16),
                         solved as above */
};

/* What a system starts with is SP_JACOBIAN_SYMMETRIC. tolerance: of iterative solvers, relative to the right side; 0:
 * 1e-10, free 1e-3. */
int sp_reduced_system_jacobian(sp_system *system, enum sp_jacobian jacobian, double tolerance) SP_MUST_USE;

/* Iterative solves so far, and the products with the matrix that they took. */
void sp_reduced_system_iterations(const sp_system *system, int64_t *solves, int64_t *products);

/* How fast small motions about rest grow without damping, 1/s: the largest real part of √−λ over the eigenvalues λ of
 * M⁻¹K(0), springs left out. 0 where the force has an energy with a minimum there; weights by coordinate may leave λ
 * complex, and then two modes feed each other. SP_NUMERICAL where the eigenvalues are not found. */
int sp_reduced_system_growth(const sp_system *system, double *growth) SP_MUST_USE;

/* Damping by strain rate for a reduced system of as many coordinates, which owns it from here on. */
void sp_reduced_system_damp(sp_system *system, const sp_reduced_viscosity *viscosity);

/* The same for the first r coordinates (r ≤ polynomials->r) of polynomials, with their mass and density. */
int sp_polynomial_system_new(sp_context *context, const sp_polynomials *polynomials, int64_t r, const double *U,
                             int64_t rows, const double *vertices, sp_system *system) SP_MUST_USE;

/* k oscillators beside each other: the amplitudes of mass-normalized modes with their eigenvalues [k] rad²/s² (copied;
 * those below 0 are rounding of rigid modes and become 0). M = I, K = diag(eigenvalue). Springs would couple them:
 * sp_load_set_new refuses these. SP_USAGE for k < 1; SP_INPUT for eigenvalues that are not finite or are less than
 * −1e-6 times the largest. */
int sp_modal_system_new(sp_context *context, int64_t k, const double *eigenvalue, sp_system *system) SP_MUST_USE;
void sp_modal_system_free(sp_system *system);

/* All free degrees of freedom of a body (q [dof_count]). linear: f = K(0) q. lumped: diagonal mass. One symbolic
 * analysis; the factor of a linear system is kept while its matrix stays the same. held [3·vertices] displacement of
 * the held components (NULL: 0). */
int sp_full_system_new(sp_context *context, sp_fe_space *body, bool linear, bool lumped, const double *prescribed,
                       sp_system *system) SP_MUST_USE;
void sp_full_system_free(sp_system *system);

/* Damping by strain rate for a full system: `viscous`, of the same body, must outlive it. linear: D(0). */
int sp_full_system_damp(sp_system *system, const sp_viscous *viscous) SP_MUST_USE;

/* Linear static response K(0)⁻¹ b of `count` columns b, x [n, count] (x may be b): one factorization, all columns in
 * blocks; springs that are set take part. SP_NUMERICAL where K(0) is not positive definite (a free body). */
int sp_full_system_respond(const sp_system *system, int64_t count, const double *b, double *x) SP_MUST_USE;

/* Of a full system, for systems built on it: the elastic K(q) without springs and grounds over the body's pattern
 * (valid until the next call of the system), with f [n], all forces included, where not NULL; M over the same pattern;
 * and its supports. The held vertices are where they were set. */
int sp_full_system_open(sp_system *system) SP_MUST_USE; /* once before the next: room for K */
void sp_full_system_stiffness(const sp_system *system, const double *q, bool definite, double *f, const sp_sparse **K);
const sp_sparse *sp_full_system_mass(const sp_system *system);
const sp_supports *sp_full_system_supports(const sp_system *system);

/* The full displacement [3·vertices] at q, held vertices where they were set (valid until the next call of the system),
 * and their velocities as they were set. */
const double *sp_full_system_displacement(const sp_system *system, const double *q);
const double *sp_full_system_prescribed_velocity(const sp_system *system);

/* Grounds of a full system (model/supports.h; copied), once. */
int sp_full_system_grounds(sp_system *system, int64_t count, const sp_ground *grounds) SP_MUST_USE;

/* How the matrix of a full system is solved with. */
enum sp_solver {
    SP_SOLVER_DIRECT, /* a factorization for every matrix */
    SP_SOLVER_JACOBI, /* conjugate gradients, preconditioned by the 3 × 3 blocks of the diagonal */
    SP_SOLVER_REUSED, /* the same, preconditioned by a factor that is kept until it takes more products than a new one
                         is worth */
};

/* What a full system starts with is DIRECT. tolerance: of iterative solves, relative to the right side; 0: 1e-8. */
int sp_full_system_solver(sp_system *system, enum sp_solver solver, double tolerance) SP_MUST_USE;

/* Iterative solves so far, the products that they took, and factorizations. */
void sp_full_system_solves(const sp_system *system, int64_t *solves, int64_t *products, int64_t *factorizations);

/* What the factorization of a full system costs. */
void sp_full_system_factor_size(const sp_system *system, double *nonzeros, double *flops);

#endif
