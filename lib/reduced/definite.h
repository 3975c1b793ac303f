/* Whether reduced matrices of other programs are those of a body. */
#ifndef SP_REDUCED_DEFINITE_H
#define SP_REDUCED_DEFINITE_H

#include "base/context.h"

/* The least eigenvalue of D^-½ A D^-½ for A [r, r] symmetric and D = diag(scale), scale [r] with a stride of r + 1, as
 * the diagonal of a matrix [r, r], all positive; NULL: D = 1. `largest` receives the largest magnitude of an
 * eigenvalue. With D the diagonal of a mass matrix neither depends on the units of the coordinates. SP_NUMERICAL if
 * LAPACK finds no eigenvalues. */
int sp_scaled_spectrum(sp_context *context, int64_t r, const double *A, const double *scale, double *least,
                       double *largest) SP_MUST_USE;

#endif
