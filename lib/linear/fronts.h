/* Numeric Cholesky factorization by the multifrontal method (Duff and Reid 1983; Liu 1992): each supernode is
 * eliminated in a dense matrix, its front, to which the updates of its children are added; what it leaves is its own
 * update for its parent.
 *
 * Subtrees with little work are tasks, and so are the fronts above them, whose tiles are tasks again. What is divided
 * depends on the pattern only, and sums have one order: the factor has the same bytes for any number of threads. */
#ifndef SP_LINEAR_FRONTS_H
#define SP_LINEAR_FRONTS_H

#include "linear/symbolic.h"

typedef struct sp_fronts sp_fronts;

/* Workspace for factorizations of this pattern by context->threads threads. Keeps a pointer to `symbolic`. */
int sp_fronts_new(sp_context *context, const sp_symbolic *symbolic, sp_fronts **fronts) SP_MUST_USE;
void sp_fronts_free(sp_fronts *fronts); /* NULL is allowed */

/* Bytes of the updates at their peak, if the tasks run one after the other. */
double sp_fronts_memory(const sp_fronts *fronts);

/* Factors the matrix into L [symbolic->value[symbolic->count]]. Calls of BLAS are made by each thread alone
 * (linear/blas.h).
 *
 * sign NULL: A = L Lᵀ. SP_NUMERICAL, with a message, and *pivot the first column whose pivot is not positive. Otherwise
 * A = L S Lᵀ without pivoting, sign [order] receives the diagonal S of ±1, and SP_NUMERICAL means that the pivot is 0
 * or not finite. */
int sp_fronts_factor(sp_fronts *fronts, const sp_sparse *matrix, double *L, double *sign, int64_t *pivot) SP_MUST_USE;

#endif
