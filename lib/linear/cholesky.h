/* Sparse Cholesky factorization of symmetric positive definite matrices, P A Pᵀ = L Lᵀ: nested dissection of the graph
 * of vertices (linear/order.h), symbolic analysis (linear/symbolic.h), fronts (linear/fronts.h) and substitutions
 * (linear/supernodes.h). Analysis, numeric factorization and solves are separate, so that a pattern is analysed once.
 */
#ifndef SP_LINEAR_CHOLESKY_H
#define SP_LINEAR_CHOLESKY_H

#include "linear/sparse.h"

typedef struct sp_cholesky sp_cholesky;

/* Analyses the pattern. node [order] is the node of each row (the vertex of each degree of freedom; any nondecreasing
 * numbering): the ordering is computed on the smaller graph of nodes. NULL: each row is a node. */
int sp_cholesky_new(sp_context *context, const sp_sparse *matrix, const int64_t *node,
                    sp_cholesky **cholesky) SP_MUST_USE;

/* The same with a known ordering of the rows: permutation [order] is a permutation of all rows from
 * sp_cholesky_permutation for this pattern; the results are then the same to the last bit. */
int sp_cholesky_new_permuted(sp_context *context, const sp_sparse *matrix, const int64_t *permutation,
                             sp_cholesky **cholesky) SP_MUST_USE;

/* [order] the rows in the order of the dissection, before the postordering. The rows of a node are contiguous and
 * ascending. */
const int64_t *sp_cholesky_permutation(const sp_cholesky *cholesky);

void sp_cholesky_free(sp_cholesky *cholesky); /* NULL is allowed */

/* Numeric factorization of a matrix with the analysed pattern. SP_NUMERICAL, with the position in the factor, if it
 * is not positive definite; the factor is then unusable until the next call. */
int sp_cholesky_factor(sp_cholesky *cholesky, const sp_sparse *matrix) SP_MUST_USE;

/* x = A⁻¹ b, [order, count, column major]; x may be b. The same bytes for any number of threads.
 * No allocation after the first call with the same count. */
int sp_cholesky_solve(sp_cholesky *cholesky, int64_t count, const double *b, double *x) SP_MUST_USE;

/* Half of a solve for columns in the order of the factor, in place: x ← L⁻¹ x or, with `backward`, L⁻ᵀ x. */
int sp_cholesky_substitute(sp_cholesky *cholesky, bool backward, int64_t count, double *x) SP_MUST_USE;

/* Allocates what solves of up to `count` columns need. */
int sp_cholesky_reserve(sp_cholesky *cholesky, int64_t count) SP_MUST_USE;

/* [order] the position in the factor of each row. */
const int32_t *sp_cholesky_position(const sp_cholesky *cholesky);

/* The number of negative eigenvalues of a symmetric matrix (Sylvester's law of inertia), by a factorization L S Lᵀ
 * without pivoting, S = ±1. SP_NUMERICAL if a pivot is so small that its sign is not certain. */
int sp_cholesky_negative(sp_context *context, const sp_sparse *matrix, const int64_t *node, int64_t *count) SP_MUST_USE;

/* Nonzeros of the factor and flops of the factorization, from the analysis. */
double sp_cholesky_nonzeros(const sp_cholesky *cholesky);
double sp_cholesky_flops(const sp_cholesky *cholesky);

#endif
