#include "reduced/definite.h"

#include "base/memory.h"

#include <lapacke.h>
#include <math.h>

int sp_scaled_spectrum(sp_context *context, int64_t r, const double *A, const double *scale, double *least,
                       double *largest)
{
    sp_pool pool = {0};
    double *scaled = sp_pool_raw(&pool, r * r, sizeof *scaled), *value = sp_pool_raw(&pool, r, sizeof *value);
    int status = sp_allocated(context, !pool.failed);

    /* A_ij / √(s_ii s_jj) for the diagonal of the scale s */
    for (int64_t i = 0; i < r && status == SP_OK; i++)
        for (int64_t j = 0; j < r; j++)
            scaled[i * r + j] = A[i * r + j] / (scale ? sqrt(scale[i * (r + 1)]) * sqrt(scale[j * (r + 1)]) : 1);

    if (status == SP_OK && LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', (int)r, scaled, (int)r, value) != 0)
        status = sp_fail(context, SP_NUMERICAL, "a matrix of %lld rows has no eigenvalues", (long long)r);

    if (status == SP_OK) {
        *least = value[0];
        *largest = fmax(fabs(value[0]), fabs(value[r - 1]));
    }
    sp_pool_free(&pool);
    return status;
}
