/* Weights of modes, derivatives and other displacement fields for mass-PCA and random projection: low frequencies count
 * more. Each is the factor for a column as it is; `square` is uᵀMu of the column, 0 for a column that is zero (its
 * factor is 0). */
#ifndef SP_BASIS_WEIGHTS_H
#define SP_BASIS_WEIGHTS_H

#include "base/context.h"

/* Mode j, mass-normalized as it is: λ₁/λ_j; the `rigid` first ones 0 (BJ05 eq. 16 = thesis eq. 2.52). λ₁ is
 * eigenvalue[rigid]. SP_INPUT where there is none or an elastic eigenvalue is not positive. */
int sp_mode_weights(sp_context *context, int64_t count, int64_t rigid, const double *eigenvalue,
                    double *weight) SP_MUST_USE;

/* Derivative of the modes i and j = pair[0], pair[1], made a unit vector: λ₁²/(λ_i λ_j) / √square (the same equation).
 * SP_INPUT where a mode is not there or rigid. */
int sp_derivative_weight(sp_context *context, int64_t count, int64_t rigid, const double *eigenvalue,
                         const int64_t pair[2], double square, double *weight) SP_MUST_USE;

/* A field that is neither, made a unit vector: first · (uᵀMu)/(uᵀKu) / √square, from its Rayleigh quotient (Yang 2015,
 * before eq. 10, whose quotient is printed upside down). With first = λ₁ it is λ₁/λ for a mode. stiffness is uᵀKu > 0.
 */
double sp_rayleigh_weight(double first, double square, double stiffness);

#endif
