#include "linear/dense.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { PANEL = 4096, MOST_PANELS = 64, BLOCK = 16, SMALL = 1 << 20 }; /* SMALL: work that threads do not pay for */

int sp_dense_fits(sp_context *context, int64_t rows, int64_t columns)
{
    if (rows > INT_MAX || columns > INT_MAX)
        return sp_fail(context, SP_SYSTEM, "a matrix of %lld by %lld is beyond the 32-bit integers of BLAS", (long long)rows, (long long)columns);
    return SP_OK;
}

/* Number of row panels whose products are kept apart: depends on the sizes only, and bounds the room that they take. */
static int64_t panel_count(int64_t m, int64_t k)
{
    int64_t count = (INT64_C(1) << 23) / (m * k);
    return count < 1 ? 1 : count > MOST_PANELS ? MOST_PANELS : count;
}

static int64_t panel_rows(int64_t rows, int64_t panels)
{
    int64_t panel = (rows + panels - 1) / panels;
    return panel < PANEL ? PANEL : panel;
}

int64_t sp_dense_inner_work(int64_t m, int64_t k)
{
    int64_t most = INT64_C(1) << 23; /* enough for every smaller product too */
    return m * k > most ? m * k : MOST_PANELS * m * k < most ? MOST_PANELS * m * k + 1 : most;
}

void sp_dense_inner(const sp_context *context, int64_t rows, int64_t m, const double *A, int64_t k, const double *B, double *C, double *work)
{
    if (m == 0 || k == 0)
        return;
    int64_t panel = panel_rows(rows, panel_count(m, k)), panels = (rows + panel - 1) / panel;
#pragma omp parallel for schedule(dynamic) num_threads(context->threads) if (panels > 1 && rows * m * k > SMALL)
    for (int64_t p = 0; p < panels; p++) {
        int64_t first = p * panel, height = rows - first < panel ? rows - first : panel;
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)k, (int)height, 1, A + first, (int)rows, B + first, (int)rows, 0, work + p * m * k, (int)m);
    }
    memset(C, 0, (size_t)(m * k) * sizeof *C);
    for (int64_t p = 0; p < panels; p++)
        for (int64_t i = 0; i < m * k; i++)
            C[i] += work[p * m * k + i];
}

void sp_dense_add(const sp_context *context, int64_t rows, int64_t m, const double *A, int64_t k, const double *C, double alpha, double *B)
{
    if (m == 0 || k == 0)
        return;
    int64_t panel = panel_rows(rows, MOST_PANELS), panels = (rows + panel - 1) / panel;
#pragma omp parallel for schedule(dynamic) num_threads(context->threads) if (panels > 1 && rows * m * k > SMALL)
    for (int64_t p = 0; p < panels; p++) {
        int64_t first = p * panel, height = rows - first < panel ? rows - first : panel;
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)height, (int)k, (int)m, alpha, A + first, (int)rows, C, (int)m, 1, B + first, (int)rows);
    }
}

double sp_dense_dot(int64_t count, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t first = 0; first < count; first += PANEL)
        sum += cblas_ddot((int)(count - first < PANEL ? count - first : PANEL), x + first, 1, y + first, 1);
    return sum;
}

void sp_dense_fix_signs(int64_t rows, int64_t count, double *columns)
{
    for (int64_t c = 0; c < count; c++) {
        double *column = columns + c * rows, largest = 0;
        for (int64_t i = 0; i < rows; i++)
            largest = fmax(largest, fabs(column[i]));
        int64_t at = 0;
        while (at < rows && fabs(column[at]) < (1 - 1e-6) * largest)
            at++;
        if (at < rows && column[at] < 0)
            for (int64_t i = 0; i < rows; i++)
                column[i] = -column[i];
    }
}

void sp_metric_times(const sp_context *context, const sp_metric *metric, int64_t count, const double *x, double *y, double *work)
{
    int64_t rows = metric->rows;
    if (metric->diagonal) {
#pragma omp parallel for schedule(static) num_threads(context->threads)
        for (int64_t c = 0; c < count; c++)
            for (int64_t i = 0; i < rows; i++)
                y[c * rows + i] = metric->diagonal[i] * x[c * rows + i];
        return;
    }
    if (!metric->dof) {
        sp_sparse_times(context, metric->matrix, count, x, y);
        return;
    }
    int64_t n = metric->matrix->order;
    double *from = work, *to = work + n * count;
#pragma omp parallel for schedule(static) num_threads(context->threads) if (rows * count > SMALL)
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i < rows; i++)
            if (metric->dof[i] >= 0)
                from[c * n + metric->dof[i]] = x[c * rows + i];
    sp_sparse_times(context, metric->matrix, count, from, to);
#pragma omp parallel for schedule(static) num_threads(context->threads) if (rows * count > SMALL)
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i < rows; i++)
            y[c * rows + i] = metric->dof[i] >= 0 ? to[c * n + metric->dof[i]] : 0;
}

/* One column against the earlier ones of its block, twice; returns its norm afterwards (0: dependent). */
static double orthonormalize_column(const sp_context *context, const sp_metric *metric, int64_t before, double *block, double *r, int64_t r_stride, double threshold,
                                    double original, double *product, double *work)
{
    int64_t rows = metric->rows;
    double *column = block + before * rows, norm = 0;
    for (int pass = 0; pass < 2; pass++) {
        sp_metric_times(context, metric, 1, column, product, work);
        for (int64_t j = 0; j < before; j++) {
            double h = sp_dense_dot(rows, block + j * rows, product);
            cblas_daxpy((int)rows, -h, block + j * rows, 1, column, 1);
            r[before * r_stride + j] += h;
        }
    }
    sp_metric_times(context, metric, 1, column, product, work);
    norm = sqrt(fmax(0, sp_dense_dot(rows, column, product)));
    if (!(norm > threshold * original)) {
        memset(column, 0, (size_t)rows * sizeof *column);
        return 0;
    }
    cblas_dscal((int)rows, 1 / norm, column, 1);
    return norm;
}

int sp_metric_orthonormalize(sp_context *context, const sp_metric *metric, int64_t count, double *A, double threshold, double *R, int64_t *rank)
{
    int64_t rows = metric->rows;
    int status = sp_dense_fits(context, rows, count);
    if (status != SP_OK)
        return status;
    sp_pool scratch = {0};
    double *product = sp_pool_raw(&scratch, rows * BLOCK, sizeof *product);
    double *work = sp_pool_raw(&scratch, metric->diagonal ? 1 : 2 * metric->matrix->order * BLOCK, sizeof *work);
    double *inner = sp_pool_raw(&scratch, sp_dense_inner_work(count, BLOCK), sizeof *inner);
    double *h = sp_pool_raw(&scratch, count * BLOCK, sizeof *h);
    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }
    memset(R, 0, (size_t)(count * count) * sizeof *R);
    *rank = 0;
    for (int64_t first = 0; first < count && status == SP_OK; first += BLOCK) {
        int64_t width = count - first < BLOCK ? count - first : BLOCK;
        double *block = A + first * rows, original[BLOCK];
        sp_metric_times(context, metric, width, block, product, work);
        for (int64_t c = 0; c < width; c++)
            original[c] = sqrt(fmax(0, sp_dense_dot(rows, block + c * rows, product + c * rows)));
        for (int pass = 0; pass < 2; pass++) {
            if (pass)
                sp_metric_times(context, metric, width, block, product, work);
            sp_dense_inner(context, rows, first, A, width, product, h, inner);
            sp_dense_add(context, rows, first, A, width, h, -1, block);
            for (int64_t c = 0; c < width; c++)
                for (int64_t j = 0; j < first; j++)
                    R[(first + c) * count + j] += h[c * first + j];
        }
        for (int64_t c = 0; c < width; c++) {
            double norm = orthonormalize_column(context, metric, c, block, R + first * count + first, count, threshold, original[c], product, work);
            R[(first + c) * count + first + c] = norm;
            *rank += norm > 0;
        }
        /* a column that lost most of its length against the block's other columns has regained parts along the earlier blocks */
        sp_metric_times(context, metric, width, block, product, work);
        sp_dense_inner(context, rows, first, A, width, product, h, inner);
        sp_dense_add(context, rows, first, A, width, h, -1, block);
        status = sp_progress(context, (double)(first + width) / (double)count);
    }
    sp_pool_free(&scratch);
    return status;
}

int sp_metric_orthogonality(sp_context *context, const sp_metric *metric, int64_t count, const double *Q, double *error)
{
    int64_t rows = metric->rows;
    sp_pool scratch = {0};
    double *product = sp_pool_raw(&scratch, rows * count, sizeof *product), *gram = sp_pool_raw(&scratch, count * count, sizeof *gram);
    double *work = sp_pool_raw(&scratch, metric->diagonal ? 1 : 2 * metric->matrix->order * count, sizeof *work);
    double *inner = sp_pool_raw(&scratch, sp_dense_inner_work(count, count), sizeof *inner);
    int status = scratch.failed ? sp_fail_memory(context) : sp_dense_fits(context, rows, count);
    if (status == SP_OK) {
        sp_metric_times(context, metric, count, Q, product, work);
        sp_dense_inner(context, rows, count, Q, count, product, gram, inner);
        *error = 0;
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < count; j++)
                if (gram[i * count + i] != 0 && gram[j * count + j] != 0)
                    *error = fmax(*error, fabs(gram[i * count + j] - (i == j)));
    }
    sp_pool_free(&scratch);
    return status;
}
