#include "linear/gram.h"
#include "linear/nnls_internal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    TILE = 256,      /* number of columns in a block of the Gram matrix */
    CHUNK = 1024,    /* number of rows in one sum of columns: 8 KiB, in the first-level cache */
    GROUP = 8,       /* number of columns in one product with a vector */
    SMALL = 1 << 17, /* number of operations below which more threads do not pay */
};

/* v −= Σ coefficient_i a_i over the active columns, as given. */
static void subtract_rows(const sp_nnls_core *s, const double *coefficient, double *v, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < s->k; i++)
        sp_nnls_add(count, -coefficient[i], s->A + s->S[i] * s->stride + first, v + first);
}

void sp_nnls_subtract(const sp_nnls_core *s, const double *coefficient, double *v)
{
    int64_t m = s->m;
    if (m * s->k <= SMALL) {
        subtract_rows(s, coefficient, v, 0, m);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(s->context->threads)
    for (int64_t first = 0; first < m; first += CHUNK)
        subtract_rows(s, coefficient, v, first, m - first < CHUNK ? m - first : CHUNK);
}

/* product [n] = Aᵀ v, with the columns as given. */
static void times_columns(const sp_nnls_core *s, const double *v, double *product)
{
    int64_t m = s->m, n = s->n;
    if (m * n <= SMALL) {
        cblas_dgemv(CblasColMajor, CblasTrans, (int)m, (int)n, 1, s->A, (int)s->stride, v, 1, 0, product, 1);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(s->context->threads)
    for (int64_t j = 0; j < n; j += GROUP)
        cblas_dgemv(CblasColMajor, CblasTrans, (int)m, (int)(n - j < GROUP ? n - j : GROUP), 1, s->A + j * s->stride,
                    (int)s->stride, v, 1, 0, product + j, 1);
}

/* product_i = a_i·v/‖a_i‖ over the active columns. */
static void project_one(const sp_nnls_core *s, const double *v, int64_t i, double *product)
{
    product[i] = sp_nnls_dot(s->m, s->A + s->S[i] * s->stride, v) / s->norm[s->S[i]];
}

void sp_nnls_project(const sp_nnls_core *s, const double *v, double *product)
{
    if (s->m * s->k <= SMALL) {
        for (int64_t i = 0; i < s->k; i++)
            project_one(s, v, i, product);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(s->context->threads)
    for (int64_t i = 0; i < s->k; i++)
        project_one(s, v, i, product);
}

/* r = b − A w with the weights in the caller's scale. */
void sp_nnls_residual(sp_nnls_core *s)
{
    for (int64_t i = 0; i < s->k; i++)
        s->y[i] = s->x[s->S[i]] * (s->b_norm / s->norm[s->S[i]]);
    memcpy(s->r, s->b, (size_t)s->m * sizeof *s->r);
    sp_nnls_subtract(s, s->y, s->r);
}

/* h = Aᵀ r/(‖a‖‖b‖) from that residual. */
void sp_nnls_gradient(sp_nnls_core *s)
{
    int64_t n = s->n;
    sp_nnls_residual(s);
    memset(s->w, 0, (size_t)n * sizeof *s->w);

    for (int64_t i = 0; i < s->k; i++)
        s->w[s->S[i]] = s->y[i];
    s->residual = sqrt(sp_dense_dot(s->m, s->r, s->r)) / s->b_norm;

    times_columns(s, s->r, s->h);
    for (int64_t j = 0; j < n; j++)
        s->h[j] = s->norm[j] > 0 ? s->h[j] / s->norm[j] / s->b_norm : 0;
}

/* h = c − H x in these rows, four columns at a time, so that h is written a quarter as often. */
static void gram_rows(sp_nnls_core *s, int64_t first, int64_t count)
{
    double *h = s->h + first;
    int64_t i = 0;
    memcpy(h, s->c + first, (size_t)count * sizeof *h);

    for (; i + 4 <= s->k; i += 4) {
        const double *column[4], *x = s->x;
        for (int q = 0; q < 4; q++)
            column[q] = s->H + s->S[i + q] * s->H_capacity + first;
        sp_nnls_subtract_four(count, column, (double[]){x[s->S[i]], x[s->S[i + 1]], x[s->S[i + 2]], x[s->S[i + 3]]}, h);
    }

    for (; i < s->k; i++)
        sp_nnls_add(count, -s->x[s->S[i]], s->H + s->S[i] * s->H_capacity + first, h);
}

/* h = c − H x, and the residual from it: ‖b − A x‖² = bᵀb − xᵀc − xᵀh, accurate to about 1e-7 of ‖b‖. */
void sp_nnls_gradient_gram(sp_nnls_core *s)
{
    int64_t n = s->n;
    if (n * s->k <= SMALL) {
        gram_rows(s, 0, n);
    } else {
#pragma omp parallel for schedule(static) num_threads(s->context->threads)
        for (int64_t first = 0; first < n; first += CHUNK / 2)
            gram_rows(s, first, n - first < CHUNK / 2 ? n - first : CHUNK / 2);
    }

    /* ‖b − A x‖² = bᵀb − xᵀc − xᵀh */
    double square = 1;
    for (int64_t i = 0; i < s->k; i++)
        square -= s->x[s->S[i]] * (s->c[s->S[i]] + s->h[s->S[i]]);
    s->residual = sqrt(fmax(square, 0));
}

/* The upper triangle of H at columns [first, end). */
static void gram_square(sp_nnls_core *s, int64_t first, int64_t end)
{
    double *H = s->H + first * s->H_capacity + first;
    for (int64_t j = 0; j < end - first; j++)
        memset(H + j * s->H_capacity, 0, (size_t)(j + 1) * sizeof *H);
    sp_gram_add(s->m, end - first, s->A + first * s->stride, s->stride, H, s->H_capacity);
}

void sp_nnls_gram_columns(sp_nnls_core *s, int64_t first)
{
    int64_t n = s->n, ld = s->H_capacity, width = n - first;

    int64_t tile = n >= 4 * TILE ? TILE
                   : n > TILE    ? TILE / 2
                                 : TILE,
            above = (first + tile - 1) / tile, right = (width + tile - 1) / tile, tiles = above * right + right * right;

    /* A single column is a matrix–vector product. */
    if (width == 1) {
        times_columns(s, s->A + first * s->stride, s->H + first * ld);
    } else if (n <= SP_NNLS_FEW && s->m <= SP_NNLS_SHORT) {
        sp_nnls_gram_small(s, first);
    } else if (tiles == 1) {
        gram_square(s, 0, n);
    } else {
#pragma omp parallel for schedule(dynamic) num_threads(s->context->threads)
        for (int64_t t = 0; t < tiles; t++) {
            /* Tiles above the new columns, then those of the square of new columns, of which the upper ones are
             * computed. */
            int64_t top, left = first + t % right * tile, left_end = left + tile < n ? left + tile : n, top_end;
            if (t < above * right) {
                top = t / right * tile;
                top_end = top + tile < first ? top + tile : first;
            } else {
                top = first + (t - above * right) / right * tile;
                top_end = top + tile < n ? top + tile : n;
            }

            if (top > left)
                continue;

            if (top == left)
                gram_square(s, left, left_end);
            else
                cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)(top_end - top), (int)(left_end - left),
                            (int)s->m, 1, s->A + top * s->stride, (int)s->stride, s->A + left * s->stride,
                            (int)s->stride, 0, s->H + left * ld + top, (int)ld);
        }
    }

    /* H_ij = a_i·a_j / (‖a_i‖ ‖a_j‖) */
    for (int64_t j = first; j < n; j++) {
        double *column = s->H + j * ld, by = s->norm[j] > 0 ? 1 / s->norm[j] : 0;
        for (int64_t i = 0; i < j; i++)
            column[i] = s->norm[i] > 0 ? column[i] * by / s->norm[i] : 0;
        column[j] = 1;
    }

    /* The other triangle, in blocks that stay in the cache. */
    for (int64_t from = 0; from < n; from += 64)
        for (int64_t j = from > first ? from : first; j < n; j++)
            for (int64_t i = from; i < from + 64 && i < j; i++)
                s->H[i * ld + j] = s->H[j * ld + i];
}
