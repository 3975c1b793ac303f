#include "basis/weights.h"

#include <math.h>

int sp_mode_weights(sp_context *context, int64_t count, int64_t rigid, const double *eigenvalue, double *weight)
{
    if (rigid >= count)
        return sp_fail(context, SP_INPUT, "all its modes are rigid motions: there is nothing to scale by");

    for (int64_t j = rigid; j < count; j++)
        if (!(eigenvalue[j] > 0))
            return sp_fail(context, SP_INPUT,
                           "mode %lld has the eigenvalue %g: scaling by eigenvalues needs elastic modes",
                           (long long)j + 1, eigenvalue[j]);

    for (int64_t j = 0; j < count; j++)
        weight[j] = j < rigid ? 0 : eigenvalue[rigid] / eigenvalue[j];
    return SP_OK;
}

int sp_derivative_weight(sp_context *context, int64_t count, int64_t rigid, const double *eigenvalue,
                         const int64_t pair[2], double square, double *weight)
{
    double first = eigenvalue[rigid];
    for (int k = 0; k < 2; k++) {
        if (pair[k] >= count)
            return sp_fail(context, SP_INPUT, "it has a derivative of mode %lld of %lld", (long long)pair[k] + 1,
                           (long long)count);
        if (!(eigenvalue[pair[k]] > 0))
            return sp_fail(context, SP_INPUT, "a derivative of mode %lld, whose eigenvalue is %g, cannot be scaled",
                           (long long)pair[k] + 1, eigenvalue[pair[k]]);
    }

    /* λ₁² / (λ_i λ_j) for a derivative that is scaled to unit mass */
    *weight = square > 0 ? first * first / (eigenvalue[pair[0]] * eigenvalue[pair[1]]) / sqrt(square) : 0;
    return SP_OK;
}

double sp_rayleigh_weight(double first, double square, double stiffness)
{
    return square > 0 ? first * square / stiffness / sqrt(square) : 0;
}
