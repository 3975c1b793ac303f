/* Dense matrices of a few dozen rows, row major. Plain vectorized loops take a fraction of the time of LAPACK and BLAS
 * at these sizes: the inverse of 20 × 20 numbers takes less than half of the instructions of LAPACK's LU factors. */
#ifndef SP_LINEAR_SMALL_H
#define SP_LINEAR_SMALL_H

#include "base/context.h"

#include <stdbool.h>

/* A ← A⁻¹ for A [n, n], by the method of Gauss and Jordan with partial pivoting; pivot [n] and work [n] are scratch.
 * Returns false, with A destroyed, if a pivot is zero or not finite. Beyond 64 rows LAPACK does it. */
bool sp_small_invert(int n, double *A, int *pivot, double *work) SP_MUST_USE;

/* C [m, n] = A B for A [m, k] and B [k, n]. C may not be A or B. */
void sp_small_times(int m, int k, int n, const double *A, const double *B, double *C);

/* y [m] = A x for A [m, n]. y may not be x. */
void sp_small_apply(int m, int n, const double *A, const double *x, double *y);

/* y [n] = Aᵀ x for A [m, n]. y may not be x. Faster than the above for few columns. */
void sp_small_apply_transposed(int m, int n, const double *A, const double *x, double *y);

#endif
