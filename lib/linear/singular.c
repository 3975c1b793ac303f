#include "linear/singular.h"

#include "base/random.h"

#include <float.h>
#include <math.h>

double sp_quotient(const sp_sparse *matrix, const double *x, double *rounding)
{
    double sum = 0, terms = 0;
    for (int64_t row = 0; row < matrix->order; row++) {
        double y = 0, absolute = 0;
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++) {
            const double term = matrix->value[k] * x[matrix->index[k]];
            y += term;
            absolute += fabs(term);
        }

        sum += x[row] * y;
        terms += fabs(x[row]) * absolute;
    }

    *rounding = 4 * DBL_EPSILON * terms;
    return sum;
}

/* Divides x by its entry of the largest magnitude. Returns false if there is none that is finite and not 0. */
static bool scale(int64_t n, double *x)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return false;
        largest = fabs(x[i]) > fabs(largest) ? x[i] : largest;
    }

    if (largest == 0)
        return false;
    for (int64_t i = 0; i < n; i++)
        x[i] /= largest;
    return true;
}

int sp_cholesky_singular(sp_context *context, sp_cholesky *factor, const sp_sparse *matrix, double *x, double *relative)
{
    enum { RANDOM_START = 41 };
    const int64_t n = matrix->order;
    double rounding;
    *relative = INFINITY;

    for (int64_t i = 0; i < n; i++)
        x[i] = sp_random_normal(context->seed, RANDOM_START, (uint64_t)i);

    /* Inverse iteration turns x towards the eigenvector of the smallest eigenvalue. */
    for (int k = 0; k < SP_SINGULAR_SOLVES; k++) {
        const int status = sp_cholesky_solve(factor, 1, x, x);
        if (status != SP_OK || !scale(n, x))
            return status;
    }

    const double quotient = sp_quotient(matrix, x, &rounding);
    if (quotient != 0)
        *relative = rounding / fabs(quotient);
    return SP_OK;
}
