#include "basis/pca.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* left [count, count] the left singular vectors of R [count, count], which is overwritten. */
static int decompose(sp_context *context, int64_t count, double *R, double *singular_value, double *left)
{
    double unused, statistics[7];
    lapack_int numbers[3];
    /* C: the accuracy is not spoiled by the scaling of columns, N: nor are small values taken as 0 */
    lapack_int info = LAPACKE_dgejsv(LAPACK_COL_MAJOR, 'C', 'U', 'N', 'N', 'N', 'N', (int)count, (int)count, R, (int)count, singular_value, left, (int)count, &unused, 1,
                                     statistics, numbers);
    if (info != 0)
        return sp_fail(context, SP_NUMERICAL, "the singular value decomposition did not converge");
    double scale = statistics[0] / statistics[1]; /* taken out where values would overflow; 1 else */
    for (int64_t i = 0; i < count; i++)
        singular_value[i] *= scale;
    return SP_OK;
}

/* The vectors of small singular values come out of the Jacobi rotations orthogonal to fewer digits: each loses what it has of the earlier ones. */
static void orthogonalize_small(int64_t count, int64_t columns, double *left, double *work)
{
    for (int64_t c = 0; c < columns; c++) {
        double *column = left + c * count;
        for (int pass = 0; pass < 2 && c > 0; pass++) {
            cblas_dgemv(CblasColMajor, CblasTrans, (int)count, (int)c, 1, left, (int)count, column, 1, 0, work, 1);
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)count, (int)c, -1, left, (int)count, work, 1, 1, column, 1);
        }
        cblas_dscal((int)count, 1 / cblas_dnrm2((int)count, column, 1), column, 1);
    }
}

int64_t sp_mass_pca_matrices(int64_t count)
{
    return (int64_t)sizeof(double) * 6 * count * count; /* R, left vectors, and what dgejsv takes: 4n² at most */
}

int sp_mass_pca(sp_context *context, const sp_metric *metric, int64_t most, sp_store *store, double *singular_value, int64_t *rank)
{
    int64_t count = store->count, independent;
    sp_pool scratch = {0};
    int status;
    double *R = sp_pool_raw(&scratch, count * count, sizeof *R), *left = sp_pool_raw(&scratch, count * count, sizeof *left);
    bool *dependent = sp_pool_raw(&scratch, count, sizeof *dependent);
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    SP_TRY(sp_store_orthonormalize(context, metric, store, 1e-15, R, &independent));
    for (int64_t c = 0; c < count; c++)
        dependent[c] = R[c * count + c] == 0;
    memset(singular_value, 0, (size_t)count * sizeof *singular_value);
    *rank = 0;
    if (independent > 0)
        SP_TRY(decompose(context, count, R, singular_value, left));
    while (*rank < independent && singular_value[*rank] > 1e-14 * singular_value[0])
        (*rank)++;
    for (int64_t i = *rank; i < count; i++)
        singular_value[i] = 0;
    int64_t kept = most && most < *rank ? most : *rank;
    for (int64_t c = 0; c < kept; c++) /* there is no column of Q there, only rounding of the rotations */
        for (int64_t i = 0; i < count; i++)
            left[c * count + i] = dependent[i] ? 0 : left[c * count + i];
    orthogonalize_small(count, kept, left, R);
    SP_TRY(sp_store_times(context, store, kept, left));
    SP_TRY(sp_store_fix_signs(context, store));
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_mass_gram_schmidt(sp_context *context, const sp_metric *metric, int64_t most, double threshold, sp_store *store, double *new_part, int64_t *rank)
{
    int64_t count = store->count;
    sp_pool scratch = {0};
    int status;
    double *R = sp_pool_raw(&scratch, count * count, sizeof *R);
    int64_t *kept = sp_pool_raw(&scratch, count, sizeof *kept);
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    SP_TRY(sp_store_orthonormalize(context, metric, store, threshold, R, rank));
    for (int64_t c = 0, k = 0; c < count; c++)
        if (R[c * count + c] != 0) {
            new_part[k] = R[c * count + c];
            kept[k++] = c;
        }
    SP_TRY(sp_store_keep(context, store, most && most < *rank ? most : *rank, kept));
done:
    sp_pool_free(&scratch);
    return status;
}
