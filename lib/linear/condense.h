/* Static condensation by one sparse Cholesky factorization: the rows of a symmetric matrix A in two kinds, a few (d)
 * that are ordered last and the others (s), whose A_ss is positive definite.
 *
 * Factored is A with σ I, σ huge, in the place of A_dd. Then L_ss is the factor of A_ss, L_ds = A_ds L_ss⁻ᵀ comes out
 * of the same supernodes, where it costs less than the forward half of d solves (it has their zeros), and L_dd is √σ I
 * to rounding. With √σ in the rows d of the right side, backward substitution alone gives −A_ss⁻¹ A_sd. The order of s
 * is that which A as a whole would have, so that A_ss never takes more than the factorization of A. */
#ifndef SP_LINEAR_CONDENSE_H
#define SP_LINEAR_CONDENSE_H

#include "linear/sparse.h"

typedef struct sp_condense sp_condense;

/* Analyses the pattern; node as in sp_cholesky_new; last [d] strictly increasing rows, fewer than all. Room for `extra`
 * right sides beside the d columns. */
int sp_condense_new(sp_context *context, const sp_sparse *matrix, const int64_t *node, int64_t d, const int64_t *last,
                    int64_t extra, sp_condense **condense) SP_MUST_USE;
void sp_condense_free(sp_condense *condense); /* NULL is allowed */

/* SP_NUMERICAL where A_ss is not positive definite. A is as before when it returns, A_dd does not matter. */
int sp_condense_factor(sp_condense *condense, sp_sparse *matrix) SP_MUST_USE;

/* mapping: Z [s, d + count, column major] becomes −A_ss⁻¹ A_sd in the first d columns, A_ss⁻¹ times itself in the
 * others; else all `count` columns of Z [s, count] are such others. Rows s in increasing order. Columns go in fixed
 * blocks, one block per thread at a time. Nothing is allocated for up to `extra` others. */
int sp_condense_solve(sp_condense *condense, bool mapping, int64_t count, double *Z) SP_MUST_USE;

#endif
