/* Mass-PCA: the few mass-orthonormal directions that carry most of a set of displacement fields. */
#ifndef SP_BASIS_PCA_H
#define SP_BASIS_PCA_H

#include "linear/dense.h"

/* A [rows, count] is overwritten by U [rows, ≤ count], M-orthonormal, and singular_value [count] descending (0 beyond the rank):
 * the singular values of M^½ A (thesis §2.8.3, App. A.2). By M-orthonormalization A = QR and the singular value decomposition
 * of R, so small singular values keep their digits (no normal equations). Signs are fixed. rank receives the number of
 * singular values above rounding (1e-14 of the first); columns of U beyond it are 0. */
int sp_mass_pca(sp_context *context, const sp_metric *metric, int64_t count, double *A, double *singular_value, int64_t *rank) SP_MUST_USE;

/* Scales modes and derivatives for mass-PCA (BJ05 eq. 16 = thesis eq. 2.52): mode j by λ₁/λ_j, derivative (i,j) by
 * λ₁²/(λ_i λ_j) after making each derivative a unit vector of `metric`. λ₁ is eigenvalue[rigid], the first elastic one; the
 * `rigid` modes before it are left as they are. SP_INPUT where an elastic eigenvalue that is needed is not positive. */
int sp_scale_derivatives(sp_context *context, const sp_metric *metric, int64_t rows, int64_t mode_count, int64_t rigid, const double *eigenvalue, double *modes, int64_t pair_count,
                         const int64_t *pair, double *derivatives) SP_MUST_USE;

#endif
