/* The systems: reduced coordinates under any reduced force, the full mesh, and its linearization. */
#ifndef SP_DYNAMICS_MODELS_H
#define SP_DYNAMICS_MODELS_H

#include "assembly/body.h"
#include "dynamics/system.h"
#include "reduced/force.h"
#include "reduced/polynomial.h"
#include "reduced/viscous.h"

/* A system in the r coordinates of a reduced force, which it owns from here on (also when it fails), with the mass matrix UᵀMU [r, r] (copied).
 * U [rows = 3·vertices, ≥ r, column major], for springs; NULL where there will be none. U and vertices must outlive the system. SP_NUMERICAL
 * where the mass is not positive definite. */
int sp_reduced_system_new(sp_context *context, const sp_reduced_force *force, const double *mass, const double *U, int64_t rows, const double *vertices,
                          sp_system *system) SP_MUST_USE;
void sp_reduced_system_free(sp_system *system);

/* The estimate of its force's relative error at q (reduced/force.h); NaN where the force has none. Costs nothing where q is where it was evaluated last. */
double sp_reduced_system_estimate(const sp_system *system, const double *q);

/* How the matrix of a reduced system is made and solved with. K, the derivative of the force, is not symmetric for weights by coordinate (cubature/cubature.h). */
enum sp_jacobian {
    SP_JACOBIAN_EXACT,     /* K, LU; of a symmetric K as above */
    SP_JACOBIAN_SYMMETRIC, /* ½(K + Kᵀ), Cholesky: positive definite or refused */
    SP_JACOBIAN_KRYLOV,    /* K, restarted GMRES (of a symmetric K conjugate gradients), preconditioned by the Cholesky factor of the same matrix with ½(K(0) + K(0)ᵀ) (Yang et al. 2015, eq. 17) */
    SP_JACOBIAN_FREE,      /* no K: its products are differences of the force over ε = 10⁻⁶ √(1+‖q‖) / ‖p‖ (eq. 15 and 16), solved as above */
};

/* What a system starts with is SP_JACOBIAN_SYMMETRIC. tolerance: of iterative solvers, relative to the right side; 0: 1e-10, free 1e-3. */
int sp_reduced_system_jacobian(sp_system *system, enum sp_jacobian jacobian, double tolerance) SP_MUST_USE;

/* Iterative solves so far, and the products with the matrix that they took. */
void sp_reduced_system_iterations(const sp_system *system, int64_t *solves, int64_t *products);

/* How fast small motions about rest grow without damping, 1/s: the largest real part of √−λ over the eigenvalues λ of M⁻¹K(0), springs left out. 0 where the force has an energy with a
 * minimum there; weights by coordinate may leave λ complex, and then two modes feed each other. SP_NUMERICAL where the eigenvalues are not found. */
int sp_reduced_system_growth(const sp_system *system, double *growth) SP_MUST_USE;

/* Damping by strain rate for a reduced system of as many coordinates, which owns it from here on. */
void sp_reduced_system_damp(sp_system *system, const sp_reduced_viscosity *viscosity);

/* The same for the first r coordinates (r ≤ polynomials->r) of polynomials, with their mass and density. */
int sp_polynomial_system_new(sp_context *context, const sp_polynomials *polynomials, int64_t r, const double *U, int64_t rows, const double *vertices, sp_system *system) SP_MUST_USE;

/* All free degrees of freedom of a body (q [dof_count]). linear: f = K(0) q. lumped: diagonal mass. One symbolic analysis; the factor
 * of a linear system is kept while its matrix stays the same. held [3·vertices] displacement of the held components (NULL: 0). */
int sp_full_system_new(sp_context *context, sp_body *body, bool linear, bool lumped, const double *held, sp_system *system) SP_MUST_USE;
void sp_full_system_free(sp_system *system);

/* Damping by strain rate for a full system: `viscous`, of the same body, must outlive it. linear: D(0). */
int sp_full_system_damp(sp_system *system, const sp_viscous *viscous) SP_MUST_USE;

/* Linear static response K(0)⁻¹ b of `count` columns b, x [n, count] (x may be b): one factorization, all columns in blocks; springs that are
 * set take part. SP_NUMERICAL where K(0) is not positive definite (a free body). */
int sp_full_system_respond(const sp_system *system, int64_t count, const double *b, double *x) SP_MUST_USE;

/* What the factorization of a full system costs. */
void sp_full_system_factor_size(const sp_system *system, double *nonzeros, double *flops);

#endif
