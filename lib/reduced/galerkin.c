#include "reduced/galerkin.h"

#include "assembly/elastic.h"
#include "base/lanes.h"

#include <cblas.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    PANELS = 32, /* number of separate sums */
    STRIP = 192, /* rows of TU at a time */
    WIDE = 2     /* SIMD vectors of a row in registers */
};

typedef struct galerkin {
    sp_pool pool;
    sp_context *context;
    sp_fe_space *space;
    int64_t r, stride, n; /* stride: r rounded up to complete blocks of registers */
    double *rows;         /* [n, stride, row major] U over the free degrees of freedom, with zeros beyond r */
    double *u, *f;        /* [3·vertices] */
    sp_sparse K;
    double *strips; /* [threads, STRIP, stride] */
    double *sums;   /* [PANELS, r, r] or, for the force, [PANELS, r] */
} galerkin;

static int64_t panel_start(const galerkin *d, int64_t panel)
{
    return d->n * panel / PANELS;
}

static void expand(galerkin *d, const double *q)
{
#pragma omp parallel for schedule(static) num_threads(d->context->threads) if (d->n * d->r > 1 << 16)
    for (int64_t i = 0; i < d->n; i++)
        d->u[d->space->free[i]] = cblas_ddot((int)d->r, d->rows + i * d->stride, 1, q, 1);
}

static void project_force(galerkin *d, double *f)
{
#pragma omp parallel for schedule(dynamic) num_threads(d->context->threads) if (d->n * d->r > 1 << 16)
    for (int64_t p = 0; p < PANELS; p++) {
        double *sum = d->sums + p * d->r;
        memset(sum, 0, (size_t)d->r * sizeof *sum);
        for (int64_t i = panel_start(d, p); i < panel_start(d, p + 1); i++)
            cblas_daxpy((int)d->r, d->f[d->space->free[i]], d->rows + i * d->stride, 1, sum, 1);
    }

    /* The panels are added in order, so that the sum does not depend on the number of threads. */
    memset(f, 0, (size_t)d->r * sizeof *f);
    for (int64_t p = 0; p < PANELS; p++)
        for (int64_t j = 0; j < d->r; j++)
            f[j] += d->sums[p * d->r + j];
}

/* Rows first … first + count of T U in `to` [count, stride]: the sums of a block of columns stay in registers over the
 * entries of the row. */
SP_CLONES static void times_triangle(const sp_sparse *K, int64_t first, int64_t count, int64_t stride,
                                     const double *restrict rows, double *restrict to)
{
    for (int64_t row = first; row < first + count; row++) {
        /* The row of T ends at the diagonal, which counts half. */
        int64_t end = K->start[row];
        while (end < K->start[row + 1] && K->index[end] < row)
            end++;
        const double *own = rows + row * stride;
        double half = end < K->start[row + 1] && K->index[end] == row ? 0.5 * K->value[end] : 0;

        for (int64_t j = 0; j < stride; j += WIDE * SP_LANES) {
            sp_lanes sum[WIDE];
            for (int w = 0; w < WIDE; w++)
                sum[w] = *(const sp_lanes *)(own + j + w * SP_LANES) * half;

            for (int64_t k = K->start[row]; k < end; k++) {
                const double *other = rows + K->index[k] * stride + j;
                for (int w = 0; w < WIDE; w++)
                    sum[w] += *(const sp_lanes *)(other + w * SP_LANES) * K->value[k];
            }

            for (int w = 0; w < WIDE; w++)
                *(sp_lanes *)(to + (row - first) * stride + j + w * SP_LANES) = sum[w];
        }
    }
}

static void project_stiffness(galerkin *d, double *S)
{
    int64_t r = d->r, stride = d->stride;
#pragma omp parallel for schedule(dynamic) num_threads(d->context->threads)
    for (int64_t p = 0; p < PANELS; p++) {
        double *strip = d->strips + omp_get_thread_num() * STRIP * stride, *sum = d->sums + p * r * r;
        memset(sum, 0, (size_t)(r * r) * sizeof *sum);

        for (int64_t first = panel_start(d, p), end = panel_start(d, p + 1); first < end; first += STRIP) {
            int64_t count = end - first < STRIP ? end - first : STRIP;
            times_triangle(&d->K, first, count, stride, d->rows, strip);
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)r, (int)r, (int)count, 1,
                        d->rows + first * stride, (int)stride, strip, (int)stride, 1, sum, (int)r);
        }
    }

    /* UᵀKU = UᵀTU + (UᵀTU)ᵀ, with the panels in order */
#pragma omp parallel for schedule(static) num_threads(d->context->threads) if (r > 64)
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j; i < r; i++) {
            double total = 0;
            for (int64_t p = 0; p < PANELS; p++)
                total += d->sums[p * r * r + j * r + i] + d->sums[p * r * r + i * r + j];
            S[j * r + i] = total;
        }
}

static double evaluate(void *data, const double *q, bool definite, double *f, double *K)
{
    galerkin *d = data;
    double energy;

    expand(d, q);
    if (K) {
        memset(d->K.value, 0, (size_t)d->K.start[d->n] * sizeof *d->K.value);
        energy = sp_elastic_tangent(d->context, d->space, d->u, 1, definite, f ? d->f : NULL, &d->K);
        project_stiffness(d, K);
    } else
        energy = sp_elastic_force(d->context, d->space, d->u, f ? d->f : NULL);

    if (f)
        project_force(d, f);
    return energy;
}

static int64_t inverted(void *data, const double *q)
{
    galerkin *d = data;
    expand(d, q);
    return sp_elastic_inverted(d->space, d->u);
}

static void destroy(void *data)
{
    galerkin *d = data;
    sp_sparse_free(&d->K);
    sp_pool_free(&d->pool);
    free(d);
}

int sp_galerkin_force_new(sp_context *context, sp_fe_space *space, int64_t r, const double *U, sp_reduced_force *force)
{
    galerkin *d = calloc(1, sizeof *d);
    int64_t block = WIDE * SP_LANES, rows = 3 * space->mesh->vertex_count;
    SP_PASS(sp_allocated(context, d));

    *force = (sp_reduced_force){.self = d,
                                .r = r,
                                .active = true,
                                .cubic = sp_fe_space_quadratic(context, space) == SP_OK,
                                .evaluate = evaluate,
                                .inverted = inverted,
                                .destroy = destroy};

    d->context = context;
    d->space = space;
    d->r = r;
    d->stride = (r + block - 1) / block * block;
    d->n = space->dof_count;

    /* Evaluations assemble into the pattern of the sparse tangent. */
    int status;
    SP_TRY(sp_fe_space_pattern(context, space));
    SP_TRY(sp_fe_space_matrix(context, space, &d->K));

    d->rows = sp_pool_new(&d->pool, d->n * d->stride, sizeof(double));
    d->u = sp_pool_new(&d->pool, rows, sizeof(double));
    d->f = sp_pool_raw(&d->pool, rows, sizeof(double));
    d->strips = sp_pool_raw(&d->pool, context->threads * STRIP * d->stride, sizeof(double));
    d->sums = sp_pool_raw(&d->pool, PANELS * r * r, sizeof(double));

    SP_TRY(sp_allocated(context, !d->pool.failed));

    /* U is stored by rows: a row of T U is a sum of contiguous rows. */
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < d->n; i++)
            d->rows[i * d->stride + j] = U[j * rows + space->free[i]];
done:
    if (status != SP_OK)
        destroy(d);
    return status;
}
