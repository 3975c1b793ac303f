#include "linear/dense.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum {
    PANEL = 4096,     /* least number of rows in a panel */
    MOST_PANELS = 64, /* panels with separate products */
    SMALL = 1 << 20   /* number of operations below which more threads do not pay */
};

int sp_dense_fits(sp_context *context, int64_t rows, int64_t columns)
{
    if (rows > INT_MAX || columns > INT_MAX)
        return sp_fail(context, SP_SYSTEM, "a matrix of %lld by %lld is beyond the 32-bit integers of BLAS",
                       (long long)rows, (long long)columns);
    return SP_OK;
}

/* Number of row panels with separate products. It depends on the sizes only and bounds their memory. */
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
    int64_t most = INT64_C(1) << 23; /* an upper bound for all smaller products */
    return m * k > most ? m * k : MOST_PANELS * m * k < most ? MOST_PANELS * m * k + 1 : most;
}

void sp_dense_inner(const sp_context *context, int64_t rows, int64_t m, const double *A, int64_t k, const double *B,
                    double *C, double *work)
{
    if (m == 0 || k == 0)
        return;

    int64_t panel = panel_rows(rows, panel_count(m, k)), panels = (rows + panel - 1) / panel;
#pragma omp parallel for schedule(dynamic) num_threads(context->threads) if (panels > 1 && rows * m * k > SMALL)
    for (int64_t p = 0; p < panels; p++) {
        int64_t first = p * panel, height = rows - first < panel ? rows - first : panel;
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)k, (int)height, 1, A + first, (int)rows,
                    B + first, (int)rows, 0, work + p * m * k, (int)m);
    }

    /* The panels are added in order, so that the sum does not depend on the number of threads. */
    memset(C, 0, (size_t)(m * k) * sizeof *C);
    for (int64_t p = 0; p < panels; p++)
        for (int64_t i = 0; i < m * k; i++)
            C[i] += work[p * m * k + i];
}

void sp_dense_add(const sp_context *context, int64_t rows, int64_t m, const double *A, int64_t k, const double *C,
                  double alpha, double *B)
{
    if (m == 0 || k == 0)
        return;

    /* B += α A C is independent in each panel of rows. */
    int64_t panel = panel_rows(rows, MOST_PANELS), panels = (rows + panel - 1) / panel;
#pragma omp parallel for schedule(dynamic) num_threads(context->threads) if (panels > 1 && rows * m * k > SMALL)
    for (int64_t p = 0; p < panels; p++) {
        int64_t first = p * panel, height = rows - first < panel ? rows - first : panel;
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)height, (int)k, (int)m, alpha, A + first, (int)rows,
                    C, (int)m, 1, B + first, (int)rows);
    }
}

void sp_dense_solve_right(const sp_context *context, int64_t rows, int64_t k, const double *T, double *B)
{
    int64_t panel = panel_rows(rows, MOST_PANELS), panels = (rows + panel - 1) / panel;
    /* B ← B T⁻¹ is independent in each panel of rows. */
#pragma omp parallel for schedule(dynamic) num_threads(context->threads) if (panels > 1 && rows * k * k > SMALL)
    for (int64_t p = 0; p < panels; p++) {
        int64_t first = p * panel, height = rows - first < panel ? rows - first : panel;
        cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, (int)height, (int)k, 1, T,
                    (int)k, B + first, (int)rows);
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
        double *column = columns + c * rows, largest = rows > 0 ? fabs(column[cblas_idamax((int)rows, column, 1)]) : 0;

        /* The first entry that is largest up to rounding becomes positive. */
        int64_t at = 0;
        while (at < rows && fabs(column[at]) < (1 - 1e-6) * largest)
            at++;
        if (at < rows && column[at] < 0)
            for (int64_t i = 0; i < rows; i++)
                column[i] = -column[i];
    }
}

void sp_metric_times(const sp_context *context, const sp_metric *metric, int64_t count, const double *x, double *y,
                     double *work)
{
    int64_t rows = metric->rows;

    if (metric->diagonal) {
#pragma omp parallel for schedule(static) num_threads(context->threads) if (rows * count > SMALL)
        for (int64_t c = 0; c < count; c++)
            for (int64_t i = 0; i < rows; i++)
                y[c * rows + i] = metric->diagonal[i] * x[c * rows + i];
        return;
    }

    if (!metric->dof) {
        sp_sparse_times(context, metric->matrix, count, x, y);
        return;
    }

    /* The matrix is over the rows whose number is not −1; the product is 0 in the others. */
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
