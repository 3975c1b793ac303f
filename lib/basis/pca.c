#include "basis/pca.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

int sp_mass_pca(sp_context *context, const sp_metric *metric, int64_t count, double *A, double *singular_value, int64_t *rank)
{
    int64_t rows = metric->rows, independent;
    sp_pool scratch = {0};
    int status;
    double *R = sp_pool_raw(&scratch, count * count, sizeof *R), *left = sp_pool_raw(&scratch, count * count, sizeof *left);
    double *superb = sp_pool_raw(&scratch, count, sizeof *superb), *U = sp_pool_new(&scratch, rows * count, sizeof *U);
    double unused;
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    SP_TRY(sp_metric_orthonormalize(context, metric, count, A, 1e-15, R, &independent));
    /* dependent columns left a zero column in Q and a zero row in R: without those the decomposition is of [kept, count] */
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (R[k * count + k] != 0) {
            for (int64_t c = 0; c < count; c++)
                R[c * count + kept] = R[c * count + k];
            memmove(A + kept * rows, A + k * rows, (size_t)rows * sizeof *A);
            kept++;
        }
    memset(singular_value, 0, (size_t)count * sizeof *singular_value);
    if (kept > 0 && LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'S', 'N', (int)kept, (int)count, R, (int)count, singular_value, left, (int)count, &unused, 1, superb) != 0) {
        status = sp_fail(context, SP_NUMERICAL, "the singular value decomposition did not converge");
        goto done;
    }
    *rank = 0;
    while (*rank < kept && singular_value[*rank] > 1e-14 * singular_value[0])
        (*rank)++;
    for (int64_t c = 1; c < *rank; c++) /* as sp_dense_add wants them: [kept, rank] without gaps */
        memmove(left + c * kept, left + c * count, (size_t)kept * sizeof *left);
    sp_dense_add(context, rows, kept, A, *rank, left, 1, U);
    sp_dense_fix_signs(rows, *rank, U);
    memcpy(A, U, (size_t)(rows * count) * sizeof *A);
    for (int64_t i = *rank; i < count; i++)
        singular_value[i] = 0;
    /* directions of dependent columns have no support in Q: the rotation then loses orthonormality at rounding level only */
    double *R2 = R;
    SP_TRY(sp_metric_orthonormalize(context, metric, *rank, A, 1e-8, R2, &independent));
    if (independent < *rank)
        *rank = independent;
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_scale_derivatives(sp_context *context, const sp_metric *metric, int64_t rows, int64_t mode_count, int64_t rigid, const double *eigenvalue, double *modes,
                         int64_t pair_count, const int64_t *pair, double *derivatives)
{
    for (int64_t j = rigid; j < mode_count; j++)
        if (!(eigenvalue[j] > 0))
            return sp_fail(context, SP_INPUT, "mode %lld has the eigenvalue %g: scaling by eigenvalues needs elastic modes", (long long)j + 1, eigenvalue[j]);
    for (int64_t c = 0; c < 2 * pair_count; c++)
        if (!(eigenvalue[pair[c]] > 0))
            return sp_fail(context, SP_INPUT, "a derivative of mode %lld, whose eigenvalue is %g, cannot be scaled", (long long)pair[c] + 1, eigenvalue[pair[c]]);
    sp_pool scratch = {0};
    double *product = sp_pool_raw(&scratch, rows, sizeof *product), *work = sp_pool_raw(&scratch, metric->matrix ? 2 * metric->matrix->order : 1, sizeof *work);
    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }
    double first = eigenvalue[rigid];
    for (int64_t j = rigid; j < mode_count; j++)
        for (int64_t i = 0; i < rows; i++)
            modes[j * rows + i] *= first / eigenvalue[j];
    for (int64_t c = 0; c < pair_count; c++) {
        double *column = derivatives + c * rows;
        sp_metric_times(context, metric, 1, column, product, work);
        double norm = sqrt(fmax(0, sp_dense_dot(rows, column, product)));
        double scale = norm > 0 ? first * first / (eigenvalue[pair[2 * c]] * eigenvalue[pair[2 * c + 1]]) / norm : 0;
        for (int64_t i = 0; i < rows; i++)
            column[i] *= scale;
    }
    sp_pool_free(&scratch);
    return SP_OK;
}
