/* Mass-weighted POD (mass-PCA): the few mass-orthonormal directions with most of the content of a set of displacement
 * snapshots. */
#ifndef SP_BASIS_PCA_H
#define SP_BASIS_PCA_H

#include "linear/store.h"

/* Replaces the columns A of the store by U, at most `most` columns (0: as many as the rank) that are M-orthonormal: the
 * left singular vectors of M^½ A mapped back (thesis §2.8.3, App. A.2). singular_value [count of A] descending, 0
 * beyond the rank. Signs are fixed. rank receives the number of singular values above rounding (1e-14 of the first).
 * Needs sp_mass_pca_matrices(count) bytes for R and similar matrices in addition to sp_store_workspace.
 *
 * If it is accurate enough, it uses the Gram matrix AᵀMA, its Cholesky factor R and the singular value decomposition of
 * R by Jacobi rotations: one product with the mass and one pass over the columns for each block, and one product for
 * the columns of U, which are then orthonormalized by a Gram matrix of their own and decomposed once more. The
 * criterion is in pca.c: the space of the kept directions equals that of A to 1e-11 divided by the gap between the
 * singular values there, while orthonormalization achieves some times 1e-15; the singular values of the kept directions
 * have all their digits, those of the others at least three, and most of them more.
 *
 * Otherwise, if small directions of nearly dependent columns are wanted, or columns are dependent or zero, it uses
 * M-orthonormalization A = QR and the decomposition of this R, without normal equations. In both cases small singular
 * values of columns that are small because of their weights keep their relative accuracy. */
int sp_mass_pca(sp_context *context, const sp_metric *metric, int64_t most, sp_store *store, double *singular_value,
                int64_t *rank) SP_MUST_USE;
int64_t sp_mass_pca_matrices(int64_t count);

/* The principal directions in the inner product of the metric `energy`, in place of that of the mass, and then
 * M-orthonormal in order: the first columns span the first principal directions, however many are used. The error of a
 * Galerkin solution is bounded by that of the best approximation in the norm of the stiffness, not of the mass: a
 * small displacement that resists, such as the shortening of a beam that turns, decides there, and is nearly nothing
 * here. singular_value are those in the energy. */
int sp_energy_pca(sp_context *context, const sp_metric *energy, const sp_metric *mass, int64_t most, sp_store *store,
                  double *singular_value, int64_t *rank) SP_MUST_USE;

/* Keeps the whole span of the first columns. The result is these `first` columns, orthonormalized in order, followed by
 * the principal directions of the other columns in the complement of that span, at most `most` columns in all (0: all;
 * at least `first`). value [count of A]: for each of the first columns the norm of its part that is orthogonal to the
 * columns before it, without columns that depend on them, then singular values. Needs the same memory as
 * sp_mass_pca. */
int sp_mass_pca_beyond(sp_context *context, const sp_metric *metric, int64_t first, int64_t most, sp_store *store,
                       double *value, int64_t *rank) SP_MUST_USE;

/* Replaces the columns of the store by those that do not depend on earlier ones, M-orthonormalized, at most `most` (0:
 * all). residual_norm [count]: residual norms of the independent ones after projection on the earlier ones (the
 * diagonal of R without its zeros). */
int sp_mass_gram_schmidt(sp_context *context, const sp_metric *metric, int64_t most, double threshold, sp_store *store,
                         double *residual_norm, int64_t *rank) SP_MUST_USE;

#endif
