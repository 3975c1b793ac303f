/* The flexibility of a body at rest, u = K⁻¹ f, also if K is singular because the body has free rigid motions. */
#ifndef SP_BASIS_FLEXIBILITY_H
#define SP_BASIS_FLEXIBILITY_H

#include "linear/cholesky.h"
#include "linear/rectangular.h"

typedef struct sp_flexibility sp_flexibility;

/* How displacements and loads of a free body are separated from its rigid motions R. */
enum sp_complement {
    SP_COMPLEMENT_MASS,  /* Rᵀ M u = 0, and the inertia forces M R of the rigid acceleration that the load causes are
                            subtracted from it (inertia relief) */
    SP_COMPLEMENT_PLAIN, /* Rᵀ u = 0 and Rᵀ f = 0, without the mass: Yang 2015 eq. 3 as printed, which depends on the
                            mesh */
};

/* K and M over the free degrees of freedom; node as in sp_cholesky_new; rigid [order, rigid_count] the null vectors of
 * K, M-orthonormal (none: a constrained body). As many degrees of freedom as there are rigid motions are pinned, so
 * that one positive definite factorization suffices (instead of the bordered system of eq. 3): a load in equilibrium
 * causes no reaction force in the pins. M must outlive the result. SP_NUMERICAL if K is not positive definite apart
 * from the rigid motions. permutation as for sp_cholesky_new_permuted, instead of node; NULL: it is computed. */
int sp_flexibility_new(sp_context *context, const sp_sparse *K, const sp_sparse *M, const int64_t *node,
                       int64_t rigid_count, const double *rigid, enum sp_complement complement,
                       const int64_t *permutation, sp_flexibility **flexibility) SP_MUST_USE;

/* The flexibility of a constrained body whose K [order] is factored already; the factor must outlive it. */
int sp_flexibility_over(sp_context *context, int64_t order, sp_cholesky *factor,
                        sp_flexibility **flexibility) SP_MUST_USE;

/* The flexibility u = S (SᵀKS)⁻¹ Sᵀ f of a body whose displacements u = S y are restricted by linear constraints, with
 * that of SᵀKS. S has orthonormal columns; it and `inner` must outlive the result. */
int sp_flexibility_restricted(sp_context *context, const sp_rectangular *S, sp_flexibility *inner,
                              sp_flexibility **flexibility) SP_MUST_USE;
void sp_flexibility_free(sp_flexibility *flexibility); /* NULL is allowed */

/* u [order, count, column major] of the loads f [order, count]; u may be f. No allocation after the first call with the
 * same count. */
int sp_flexibility_solve(sp_flexibility *flexibility, int64_t count, const double *f, double *u) SP_MUST_USE;

/* Subtracts the rigid part from loads, as sp_flexibility_solve does, or with a restriction the part S does not contain,
 * which the reactions of the constraints balance; changes nothing for constrained bodies. */
void sp_flexibility_balance(sp_flexibility *flexibility, int64_t count, double *f);

const sp_cholesky *sp_flexibility_factor(const sp_flexibility *flexibility);

#endif
