/* Weights of modes, derivatives and other displacement fields for mass-weighted POD and random projection: low
 * frequencies have larger weights. Each weight is the factor for a column as it is; `square` is uᵀMu of the column, 0
 * for a zero column (its factor is 0). */
#ifndef SP_BASIS_WEIGHTS_H
#define SP_BASIS_WEIGHTS_H

#include "base/context.h"

/* Weight of the mass-normalized mode j: λ₁/λ_j; the first `rigid` ones have 0 (BJ05 eq. 16 = thesis eq. 2.52). λ₁ is
 * eigenvalue[rigid]. SP_INPUT if there is none or an elastic eigenvalue is not positive. */
int sp_mode_weights(sp_context *context, int64_t count, int64_t rigid, const double *eigenvalue,
                    double *weight) SP_MUST_USE;

/* Weight of the derivative of the modes i and j = pair[0], pair[1], normalized: λ₁²/(λ_i λ_j) / √square (the same
 * equation). SP_INPUT if a mode is missing or rigid. */
int sp_derivative_weight(sp_context *context, int64_t count, int64_t rigid, const double *eigenvalue,
                         const int64_t pair[2], double square, double *weight) SP_MUST_USE;

/* Weight of any other field, normalized: first · (uᵀMu)/(uᵀKu) / √square, from its Rayleigh quotient (Yang 2015, before
 * eq. 10, whose quotient is printed upside down). With first = λ₁ it is λ₁/λ for a mode. stiffness is uᵀKu > 0. */
double sp_rayleigh_weight(double first, double square, double stiffness);

#endif
