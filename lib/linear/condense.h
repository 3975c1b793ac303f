/* Static condensation by one sparse Cholesky factorization: the rows of a symmetric matrix A are split into a few (d)
 * that are ordered last and the others (s), whose A_ss is positive definite.
 *
 * The factored matrix is A with A_dd replaced by σ I, σ huge. Then L_ss is the factor of A_ss, L_ds = A_ds L_ss⁻ᵀ
 * results from the same supernodes, at less cost than the forward half of d solves (it exploits their zeros), and L_dd
 * is √σ I to rounding. With √σ in the rows d of the right-hand side, backward substitution alone gives −A_ss⁻¹ A_sd.
 * The order of s is that of A as a whole, so that A_ss never costs more than the factorization of A. */
#ifndef SP_LINEAR_CONDENSE_H
#define SP_LINEAR_CONDENSE_H

#include "linear/sparse.h"

typedef struct sp_condense sp_condense;

/* Analyses the pattern; node as in sp_cholesky_new; last [d] strictly increasing rows, fewer than all. Allocates for
 * `extra` right-hand sides in addition to the d columns. */
int sp_condense_new(sp_context *context, const sp_sparse *matrix, const int64_t *node, int64_t d, const int64_t *last,
                    int64_t extra, sp_condense **condense) SP_MUST_USE;
void sp_condense_free(sp_condense *condense); /* NULL is allowed */

/* SP_NUMERICAL if A_ss is not positive definite. A is restored on return; A_dd is not used. */
int sp_condense_factor(sp_condense *condense, sp_sparse *matrix) SP_MUST_USE;

/* mapping: Z [s, d + count, column major] receives −A_ss⁻¹ A_sd in the first d columns, and the other columns are
 * replaced by A_ss⁻¹ times them. Without `mapping` Z [s, count] has these `count` columns only. Rows s are in
 * increasing order. Nothing is allocated for up to `extra` such columns. */
int sp_condense_solve(sp_condense *condense, bool mapping, int64_t count, double *Z) SP_MUST_USE;

#endif
