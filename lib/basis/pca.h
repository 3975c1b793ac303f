/* Mass-PCA: the few mass-orthonormal directions that carry most of a set of displacement fields. */
#ifndef SP_BASIS_PCA_H
#define SP_BASIS_PCA_H

#include "linear/store.h"

/* The columns A of the store become U, at most `most` columns (0: as many as the rank) that are M-orthonormal: the left
 * singular vectors of M^½ A mapped back (thesis §2.8.3, App. A.2). singular_value [count of A] descending, 0 beyond the
 * rank. Signs are fixed. rank receives the number of singular values above rounding (1e-14 of the first). Takes
 * sp_mass_pca_matrices(count) bytes for R and its like beside sp_store_workspace.
 *
 * Where it is accurate enough, by the Gram matrix AᵀMA, its Cholesky factor R and the singular value decomposition of R
 * by Jacobi rotations: one product with the mass and one pass over the columns for each block, one product that forms
 * the columns of U, which are then orthonormalized by a Gram matrix of their own and decomposed once more. The
 * criterion is in pca.c: the space of the kept directions is that of A to 1e-11 over the gap between the singular
 * values there, as orthonormalization has it to some times 1e-15; their singular values have all their digits, those
 * that are left out three at least, and most of them more.
 *
 * Else, where small directions of columns that nearly depend on each other are asked for, or columns are dependent or
 * zero: by M-orthonormalization A = QR and the decomposition of that R, without normal equations. Either way small
 * singular values of columns that are small because they were weighted keep their digits relative to themselves. */
int sp_mass_pca(sp_context *context, const sp_metric *metric, int64_t most, sp_store *store, double *singular_value,
                int64_t *rank) SP_MUST_USE;
int64_t sp_mass_pca_matrices(int64_t count);

/* The columns of the store become those that are not dependent on earlier ones, M-orthonormal, at most `most` (0: all).
 * new_part [count]: what each of the independent ones has of its own (the diagonal of R without its zeros). */
int sp_mass_gram_schmidt(sp_context *context, const sp_metric *metric, int64_t most, double threshold, sp_store *store,
                         double *new_part, int64_t *rank) SP_MUST_USE;

#endif
