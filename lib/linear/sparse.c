#include "linear/sparse.h"

#include <math.h>

enum { SMALL = 1 << 20 }; /* products that threads do not pay for */

void sp_sparse_free(sp_sparse *matrix)
{
    sp_pool_free(&matrix->pool);
    *matrix = (sp_sparse){0};
}

int sp_sparse_compress(sp_context *context, const sp_sparse *matrix, sp_sparse *compressed)
{
    int64_t kept = 0, n = matrix->order;
    for (int64_t k = 0; k < matrix->start[n]; k++)
        kept += matrix->value[k] != 0;
    *compressed = (sp_sparse){.order = n};
    compressed->start = sp_pool_raw(&compressed->pool, n + 1, sizeof *compressed->start);
    compressed->index = sp_pool_raw(&compressed->pool, kept, sizeof *compressed->index);
    compressed->value = sp_pool_raw(&compressed->pool, kept, sizeof *compressed->value);
    if (compressed->pool.failed) {
        sp_sparse_free(compressed);
        return sp_fail_memory(context);
    }
    kept = 0;
    for (int64_t row = 0; row < n; row++) {
        compressed->start[row] = kept;
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            if (matrix->value[k] != 0) {
                compressed->index[kept] = matrix->index[k];
                compressed->value[kept++] = matrix->value[k];
            }
    }
    compressed->start[n] = kept;
    return SP_OK;
}

double sp_sparse_entry(const sp_sparse *matrix, int64_t row, int64_t column)
{
    int64_t low = matrix->start[row], high = matrix->start[row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (matrix->index[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < matrix->start[row + 1] && matrix->index[low] == column ? matrix->value[low] : 0;
}

double sp_sparse_trace(const sp_sparse *matrix)
{
    double sum = 0;
    for (int64_t row = 0; row < matrix->order; row++)
        sum += sp_sparse_entry(matrix, row, row);
    return sum;
}

int sp_sparse_check(sp_context *context, const sp_sparse *matrix, double tolerance)
{
    double largest = 0;
    if (matrix->start[0] != 0)
        return sp_fail(context, SP_INPUT, "the first row does not start at 0");
    for (int64_t row = 0; row < matrix->order; row++) {
        if (matrix->start[row + 1] < matrix->start[row])
            return sp_fail(context, SP_INPUT, "row %lld ends before it starts", (long long)row);
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++) {
            int64_t column = matrix->index[k];
            if (column < 0 || column >= matrix->order)
                return sp_fail(context, SP_INPUT, "row %lld names column %lld of %lld", (long long)row, (long long)column, (long long)matrix->order);
            if (k > matrix->start[row] && column <= matrix->index[k - 1])
                return sp_fail(context, SP_INPUT, "row %lld: its columns do not increase", (long long)row);
            if (!isfinite(matrix->value[k]))
                return sp_fail(context, SP_INPUT, "row %lld, column %lld is not finite", (long long)row, (long long)column);
            largest = fmax(largest, fabs(matrix->value[k]));
        }
    }
    for (int64_t row = 0; row < matrix->order; row++) /* every entry needs its partner: one triangle alone is no symmetric matrix */
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            if (matrix->value[k] != 0 && !(fabs(matrix->value[k] - sp_sparse_entry(matrix, matrix->index[k], row)) <= tolerance * largest))
                return sp_fail(context, SP_INPUT, "row %lld, column %lld: the matrix is not symmetric (both triangles are needed)", (long long)row, (long long)matrix->index[k]);
    return SP_OK;
}

void sp_sparse_times(const sp_context *context, const sp_sparse *matrix, int64_t count, const double *x, double *y)
{
    int64_t n = matrix->order;
#pragma omp parallel for schedule(static) num_threads(context->threads) if (matrix->start[n] * count > SMALL)
    for (int64_t row = 0; row < n; row++) {
        int64_t column = 0;
        for (; column + 4 <= count; column += 4) { /* the row is read once for four columns */
            const double *x0 = x + column * n, *x1 = x0 + n, *x2 = x1 + n, *x3 = x2 + n;
            double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++) {
                double a = matrix->value[k];
                int64_t j = matrix->index[k];
                s0 += a * x0[j];
                s1 += a * x1[j];
                s2 += a * x2[j];
                s3 += a * x3[j];
            }
            y[column * n + row] = s0;
            y[(column + 1) * n + row] = s1;
            y[(column + 2) * n + row] = s2;
            y[(column + 3) * n + row] = s3;
        }
        for (; column < count; column++) {
            double sum = 0;
            for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
                sum += matrix->value[k] * x[column * n + matrix->index[k]];
            y[column * n + row] = sum;
        }
    }
}
