/* The systems: reduced coordinates with any reduced force, the full-order model, and its linearization. */
#ifndef SP_MODEL_MODELS_H
#define SP_MODEL_MODELS_H

#include "assembly/fe_space.h"
#include "model/damping.h"
#include "model/supports.h"
#include "model/system.h"
#include "reduced/force.h"
#include "reduced/polynomial.h"
#include "reduced/viscous.h"

/* A system in the r coordinates of a reduced force, which it owns from here on (also on failure), with the mass matrix
 * UᵀMU [r, r] (copied). U [rows = 3·vertices, ≥ r, column major] is for springs; NULL if there will be none. U and
 * vertices must outlive the system. SP_NUMERICAL if the mass matrix is not positive definite. */
int sp_reduced_system_new(sp_context *context, const sp_reduced_force *force, const double *mass, const double *U,
                          int64_t rows, const double *vertices, sp_system *system) SP_MUST_USE;
void sp_reduced_system_free(sp_system *system);

/* The estimated relative errors of the reduced force at q, error[SP_NORMS] (reduced/force.h); NaN if the force has no
 * estimate. Costs nothing if q is the point of the last evaluation. */
void sp_reduced_system_estimate(const sp_system *system, const double *q, double *error);

/* How the matrix of a reduced-order system is built and solved with. K, the derivative of the force, is not symmetric
 * for modal cubature (cubature/cubature.h). */
enum sp_jacobian {
    SP_JACOBIAN_EXACT,     /* K with LU; a symmetric K with Cholesky, as the next one */
    SP_JACOBIAN_SYMMETRIC, /* ½(K + Kᵀ) with Cholesky; an error if it is not positive definite */
    SP_JACOBIAN_KRYLOV, /* K with restarted GMRES (a symmetric K: conjugate gradients), preconditioned by the Cholesky
                           factor of the same matrix with ½(K(0) + K(0)ᵀ) (Yang et al. 2015, eq. 17) */
    SP_JACOBIAN_FREE, /* matrix-free: products with K are differences of the force over ε = 10⁻⁶ √(1+‖q‖) / ‖p‖ (eq. 15
                         and 16), solved as above */
};

/* The initial setting is SP_JACOBIAN_SYMMETRIC. tolerance is that of iterative solvers, relative to the right-hand
 * side; 0: 1e-10, for SP_JACOBIAN_FREE 1e-3. */
int sp_reduced_system_jacobian(sp_system *system, enum sp_jacobian jacobian, double tolerance) SP_MUST_USE;

/* Counts of iterative solves so far, and of products with the matrix that they took. */
void sp_reduced_system_iterations(const sp_system *system, int64_t *solves, int64_t *products);

/* The linear growth rate of instability about rest without damping, 1/s: the largest real part of √−λ over the
 * eigenvalues λ of M⁻¹K(0), without springs. It is 0 if the force has an energy with a minimum at rest. Modal cubature
 * can make λ complex, and then two modes excite each other. SP_NUMERICAL if the eigenvalues are not found. */
int sp_reduced_system_growth(const sp_system *system, double *growth) SP_MUST_USE;

/* Adds damping by strain rate to a reduced-order system with the same number of coordinates, which owns `viscosity`
 * from here on. */
void sp_reduced_system_damp(sp_system *system, const sp_reduced_viscosity *viscosity);

/* sp_reduced_system_new for the first r coordinates (r ≤ polynomials->r) of polynomials, with their mass and
 * density. */
int sp_polynomial_system_new(sp_context *context, const sp_polynomials *polynomials, int64_t r, const double *U,
                             int64_t rows, const double *vertices, sp_system *system) SP_MUST_USE;

/* k uncoupled oscillators: the amplitudes of mass-normalized modes with their eigenvalues [k] rad²/s² (copied; negative
 * ones are rounding errors of rigid modes and become 0). M = I, K = diag(eigenvalue). Springs would couple the modes:
 * sp_load_set_new rejects them. SP_USAGE for k < 1; SP_INPUT for eigenvalues that are not finite or are less than −1e-6
 * times the largest. */
int sp_modal_system_new(sp_context *context, int64_t k, const double *eigenvalue, sp_system *system) SP_MUST_USE;
void sp_modal_system_free(sp_system *system);

/* sp_system_decay for oscillators. */
int sp_modal_system_decay(sp_context *context, sp_system *system, const sp_decay_times *times) SP_MUST_USE;

/* The full-order model: all free degrees of freedom of a body (q [dof_count]). linear: f = K(0) q. lumped: diagonal
 * mass. There is one symbolic analysis; the factor of a linear system is kept while its matrix stays the same.
 * prescribed [3·vertices] is the displacement of the fixed components (NULL: 0). */
int sp_full_system_new(sp_context *context, sp_fe_space *body, bool linear, bool lumped, const double *prescribed,
                       sp_system *system) SP_MUST_USE;
void sp_full_system_free(sp_system *system);

/* Adds damping by strain rate to a full-order system; `viscous`, of the same body, must outlive it. linear: D(0). */
int sp_full_system_damp(sp_system *system, const sp_viscous *viscous) SP_MUST_USE;

/* Linear static response K(0)⁻¹ b to `count` columns b, x [n, count] (x may be b): one factorization, all columns in
 * blocks, with active springs included. SP_NUMERICAL if K(0) is not positive definite (an unconstrained body). */
int sp_full_system_respond(const sp_system *system, int64_t count, const double *b, double *x) SP_MUST_USE;

/* Access for systems that are built on a full-order system: the elastic K(q) without springs and floor planes over the
 * body's pattern (valid until the next call of the system), with f [n], all forces included (NULL: not wanted); M over
 * the same pattern; and the springs and floor planes. Fixed vertices are at their prescribed displacements. */
int sp_full_system_open(sp_system *system) SP_MUST_USE; /* call once before the next; allocates K */
void sp_full_system_stiffness(const sp_system *system, const double *q, bool definite, double *f, const sp_sparse **K);
const sp_sparse *sp_full_system_mass(const sp_system *system);
const sp_supports *sp_full_system_supports(const sp_system *system);

/* The full displacement [3·vertices] at q with the prescribed displacements of fixed vertices (valid until the next
 * call of the system), and the prescribed velocities of these. */
const double *sp_full_system_displacement(const sp_system *system, const double *q);
const double *sp_full_system_prescribed_velocity(const sp_system *system);

/* Sets the floor planes of a full-order system (model/supports.h; copied). Call it once. */
int sp_full_system_grounds(sp_system *system, int64_t count, const sp_ground *grounds) SP_MUST_USE;

/* How linear systems of a full-order system are solved. */
enum sp_solver {
    SP_SOLVER_DIRECT, /* a Cholesky factorization of every matrix */
    SP_SOLVER_JACOBI, /* conjugate gradients with a block-Jacobi preconditioner of 3 × 3 blocks */
    SP_SOLVER_REUSED, /* conjugate gradients preconditioned by an earlier factor, which is kept until it costs more
                         products than a new one is worth */
};

/* The initial setting is DIRECT. tolerance is that of iterative solves, relative to the right-hand side; 0: 1e-8. */
int sp_full_system_solver(sp_system *system, enum sp_solver solver, double tolerance) SP_MUST_USE;

/* Counts of iterative solves so far, of the products that they took, and of factorizations. */
void sp_full_system_solves(const sp_system *system, int64_t *solves, int64_t *products, int64_t *factorizations);

/* The size of the factor of a full-order system and the operations of its factorization. */
void sp_full_system_factor_size(const sp_system *system, double *nonzeros, double *flops);

#endif
