/* The three systems: reduced polynomials, the full mesh, and its linearization. */
#ifndef SP_DYNAMICS_MODELS_H
#define SP_DYNAMICS_MODELS_H

#include "assembly/body.h"
#include "dynamics/system.h"
#include "reduced/polynomial.h"

/* The first r coordinates of a reduced model (r ≤ polynomials->r). rows: U [3·vertices, ≥ r, column major], for springs; NULL where there
 * will be none. Both must outlive the system. */
int sp_reduced_system_new(sp_context *context, const sp_polynomials *polynomials, int64_t r, const double *U, int64_t rows, const double *vertices, sp_system *system) SP_MUST_USE;
void sp_reduced_system_free(sp_system *system);

/* All free degrees of freedom of a body (q [dof_count]). linear: f = K(0) q. lumped: diagonal mass. One symbolic analysis; the factor
 * of a linear system is kept while its matrix stays the same. held [3·vertices] displacement of the held components (NULL: 0). */
int sp_full_system_new(sp_context *context, sp_body *body, bool linear, bool lumped, const double *held, sp_system *system) SP_MUST_USE;
void sp_full_system_free(sp_system *system);

/* What the factorization of a full system costs. */
void sp_full_system_factor_size(const sp_system *system, double *nonzeros, double *flops);

#endif
