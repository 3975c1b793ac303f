#include "linear/rectangular.h"

#include <stdlib.h>
#include <string.h>

void sp_rectangular_times(const sp_rectangular *A, const double *y, double *u)
{
    for (int64_t i = 0; i < A->rows; i++) {
        u[i] = 0;
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            u[i] += A->value[k] * y[A->index[k]];
    }
}

void sp_rectangular_transposed_times(const sp_rectangular *A, const double *u, double *y)
{
    memset(y, 0, (size_t)A->columns * sizeof *y);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            y[A->index[k]] += A->value[k] * u[i];
}

int sp_rectangular_transpose(sp_context *context, const sp_rectangular *A, sp_pool *pool, sp_rectangular *transpose)
{
    const int64_t entries = A->start[A->rows];
    int64_t *start = sp_pool_new(pool, A->columns + 2, sizeof *start),
            *index = sp_pool_raw(pool, entries, sizeof *index);
    double *value = sp_pool_raw(pool, entries, sizeof *value);

    SP_PASS(sp_allocated(context, !pool->failed));

    /* A counting sort: start[c + 2] is the number of entries of column c, then start[c + 1] its beginning, and at last
     * its end. */
    for (int64_t k = 0; k < entries; k++)
        start[A->index[k] + 2]++;
    for (int64_t c = 0; c < A->columns; c++)
        start[c + 2] += start[c + 1];

    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++) {
            const int64_t to = start[A->index[k] + 1]++;
            index[to] = i;
            value[to] = A->value[k];
        }

    *transpose =
        (sp_rectangular){.rows = A->columns, .columns = A->rows, .start = start, .index = index, .value = value};
    return SP_OK;
}

static int compare_columns(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Row `row` of A B: sum [columns] receives its values, found its columns, increasing; returns their number. seen
 * [columns] is `row` + 1 where a value is in the sum. */
static int64_t product_row(const sp_rectangular *A, const sp_rectangular *B, int64_t row, double *sum, int64_t *seen,
                           int64_t *found)
{
    int64_t count = 0;
    for (int64_t a = A->start[row]; a < A->start[row + 1]; a++)
        for (int64_t k = B->start[A->index[a]]; k < B->start[A->index[a] + 1]; k++) {
            const int64_t column = B->index[k];
            if (seen[column] != row + 1) {
                seen[column] = row + 1;
                sum[column] = 0;
                found[count++] = column;
            }
            sum[column] += A->value[a] * B->value[k];
        }

    qsort(found, (size_t)count, sizeof *found, compare_columns);
    return count;
}

int sp_rectangular_product(sp_context *context, const sp_rectangular *A, const sp_rectangular *B, sp_pool *pool,
                           sp_rectangular *product)
{
    sp_pool scratch = {0};
    sp_list index = {0}, value = {0};
    int status = SP_OK;
    double *sum = sp_pool_raw(&scratch, B->columns, sizeof *sum);
    int64_t *seen = sp_pool_new(&scratch, B->columns, sizeof *seen),
            *found = sp_pool_raw(&scratch, B->columns, sizeof *found),
            *start = sp_pool_new(pool, A->rows + 1, sizeof *start);
    bool failed = scratch.failed || !start;

    for (int64_t row = 0; row < A->rows && !failed; row++) {
        /* Rows of the product are appended to the lists. */
        const int64_t count = product_row(A, B, row, sum, seen, found);
        int64_t *indices = sp_list_add(&index, count, sizeof *indices);
        double *values = sp_list_add(&value, count, sizeof *values);
        failed = !indices || !values;

        if (failed)
            break;

        for (int64_t k = 0; k < count; k++) {
            indices[k] = found[k];
            values[k] = sum[found[k]];
        }
        start[row + 1] = index.count;
    }

    if (!failed)
        *product = (sp_rectangular){.rows = A->rows,
                                    .columns = B->columns,
                                    .start = start,
                                    .index = sp_pool_copy(pool, index.data, index.count, sizeof(int64_t)),
                                    .value = sp_pool_copy(pool, value.data, value.count, sizeof(double))};

    if (failed || pool->failed)
        status = sp_fail_memory(context);

    sp_list_free(&index);
    sp_list_free(&value);
    sp_pool_free(&scratch);
    return status;
}
