#include "periodic/floquet.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { STAGES = 3 };

int sp_floquet_new(sp_context *context, const sp_harmonic *h, int steps, sp_floquet *f)
{
    const int64_t r = h->r;
    *f = (sp_floquet){.r = h->r, .steps = steps};
    f->phi = sp_pool_new(&f->pool, 4 * r * r, sizeof(double));
    f->A = sp_pool_new(&f->pool, STAGES * STAGES * r * r, sizeof(double));
    f->B = sp_pool_new(&f->pool, STAGES * r * 2 * r, sizeof(double));
    f->K = sp_pool_new(&f->pool, STAGES * r * r, sizeof(double));
    f->eta = sp_pool_new(&f->pool, r, sizeof(double));
    f->work = sp_pool_new(&f->pool, 2 * r * r + 40 * r, sizeof(double));
    f->re = sp_pool_new(&f->pool, 2 * r, sizeof(double));
    f->im = sp_pool_new(&f->pool, 2 * r, sizeof(double));
    f->pivot = sp_pool_new(&f->pool, STAGES * r, sizeof(int));
    if (!f->pool.failed)
        return SP_OK;
    sp_floquet_free(f);
    return sp_fail_memory(context);
}

void sp_floquet_free(sp_floquet *f)
{
    sp_pool_free(&f->pool);
}

/* The coefficients a, their square, and the abscissae c. */
typedef struct radau {
    double a[STAGES][STAGES], square[STAGES][STAGES], c[STAGES];
} radau;

static radau coefficients(void)
{
    const double s = sqrt(6);
    radau m = {.a = {{(88 - 7 * s) / 360, (296 - 169 * s) / 1800, (-2 + 3 * s) / 225},
                     {(296 + 169 * s) / 1800, (88 + 7 * s) / 360, (-2 - 3 * s) / 225},
                     {(16 - s) / 36, (16 + s) / 36, 1.0 / 9}},
               .c = {(4 - s) / 10, (4 + s) / 10, 1}};
    for (int i = 0; i < STAGES; i++)
        for (int j = 0; j < STAGES; j++)
            for (int k = 0; k < STAGES; k++)
                m.square[i][j] += m.a[i][k] * m.a[k][j];
    return m;
}

/* The matrix of the stages, for y_i = y₀ + h c_i p₀ − h Σ a_ij C (y_j − y₀) − Σ (h² a²_ij + hβ a_ij) K_j y_j. */
static void fill_matrix(sp_floquet *f, const radau *m, const double *damping, double beta, double step)
{
    const int r = f->r, n = STAGES * r;
    for (int j = 0; j < STAGES; j++)
        for (int i = 0; i < STAGES; i++) {
            const double *K = f->K + (int64_t)j * r * r, scale = step * (step * m->square[i][j] + beta * m->a[i][j]);
            double *to = f->A + (int64_t)j * r * n + (int64_t)i * r;
            for (int column = 0; column < r; column++) {
                for (int row = 0; row < r; row++)
                    to[(int64_t)column * n + row] = scale * K[column * r + row];
                to[(int64_t)column * n + column] += (i == j) + step * m->a[i][j] * damping[column];
            }
        }
}

/* Right-hand sides for all columns of Φ = [y; p]. */
static void fill_right(sp_floquet *f, const radau *m, const double *damping, double step)
{
    const int r = f->r, n = STAGES * r;
    for (int column = 0; column < 2 * r; column++) {
        const double *y = f->phi + (int64_t)column * 2 * r, *p = y + r;
        for (int i = 0; i < STAGES; i++)
            for (int k = 0; k < r; k++)
                f->B[(int64_t)column * n + i * r + k] =
                    y[k] * (1 + step * m->c[i] * damping[k]) + step * m->c[i] * p[k];
    }
}

/* Φ at the end of the step from the stages in B: y₁ = y_3, p₁ = p₀ − h Σ b_j K_j y_j − C (y₁ − y₀). */
static void advance(sp_floquet *f, const radau *m, const double *damping, double step)
{
    const int r = f->r, n = STAGES * r;
    for (int column = 0; column < 2 * r; column++) {
        double *y = f->phi + (int64_t)column * 2 * r, *p = y + r;
        const double *end = f->B + (int64_t)column * n + (STAGES - 1) * r;
        for (int k = 0; k < r; k++) {
            p[k] -= damping[k] * (end[k] - y[k]);
            y[k] = end[k];
        }
    }
    for (int j = 0; j < STAGES; j++)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r, 2 * r, r, -step * m->a[STAGES - 1][j],
                    f->K + (int64_t)j * r * r, r, f->B + j * r, n, 1, f->phi + r, 2 * r);
}

/* Sorted by decreasing modulus; pairs stay together. */
static void sort(sp_floquet *f)
{
    for (int i = 1; i < 2 * f->r; i++) {
        const double re = f->re[i], im = f->im[i], size = hypot(re, im);
        int j = i;
        for (; j > 0 && hypot(f->re[j - 1], f->im[j - 1]) < size; j--) {
            f->re[j] = f->re[j - 1];
            f->im[j] = f->im[j - 1];
        }
        f->re[j] = re;
        f->im[j] = im;
    }
}

static void settle_trivial(sp_floquet *f)
{
    for (int count = 0; count < 2; count++) {
        int best = -1;
        for (int i = 0; i < 2 * f->r; i++)
            if (!(f->re[i] == 1 && f->im[i] == 0) &&
                (best < 0 || hypot(f->re[i] - 1, f->im[i]) < hypot(f->re[best] - 1, f->im[best])))
                best = i;
        if (best >= 0) {
            f->re[best] = 1;
            f->im[best] = 0;
        }
    }
}

int sp_floquet_multipliers(sp_context *context, sp_floquet *f, sp_harmonic *h, const double *x)
{
    const int r = f->r, n = STAGES * r;
    const bool is_free = h->kind == SP_PERIODIC_BACKBONE;
    const double omega = sp_harmonic_frequency(h, x), step = 2 * M_PI / omega / f->steps, beta = is_free ? 0 : h->beta;
    const radau m = coefficients();
    double *damping = f->work;
    for (int i = 0; i < r; i++)
        damping[i] = is_free ? 0 : h->damping[i];
    memset(f->phi, 0, (size_t)(4 * r * r) * sizeof *f->phi);
    for (int i = 0; i < 2 * r; i++)
        f->phi[i * 2 * r + i] = 1;
    for (int s = 0; s < f->steps; s++) {
        for (int j = 0; j < STAGES; j++) {
            sp_harmonic_at(h, x, 2 * M_PI * (s + m.c[j]) / f->steps, f->eta, NULL);
            sp_harmonic_tangent(h, f->eta, NULL, f->K + (int64_t)j * r * r);
        }
        fill_matrix(f, &m, damping, beta, step);
        fill_right(f, &m, damping, step);
        if (LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, 2 * r, f->A, n, f->pivot, f->B, n) != 0)
            return sp_fail(context, SP_NUMERICAL, "the variational equation cannot be integrated");
        advance(f, &m, damping, step);
    }
    if (LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'N', 2 * r, f->phi, 2 * r, f->re, f->im, NULL, 1, NULL, 1,
                           f->work + r, 2 * r * r + 39 * r) != 0)
        return sp_fail(context, SP_NUMERICAL, "the Floquet multipliers are not found");
    if (is_free)
        settle_trivial(f);
    sort(f);
    return SP_OK;
}

double sp_floquet_largest(const sp_floquet *f)
{
    return hypot(f->re[0], f->im[0]);
}

double sp_floquet_doubling(const sp_floquet *f)
{
    double sign = 1, closest = INFINITY;
    for (int i = 0; i < 2 * f->r; i++)
        if (f->im[i] == 0) {
            sign *= f->re[i] < -1 ? -1 : 1;
            closest = fmin(closest, fabs(1 + f->re[i]));
        }
    return sign * (isfinite(closest) ? closest : 1);
}

double sp_floquet_torus(const sp_floquet *f)
{
    for (int i = 0; i < 2 * f->r; i++)
        if (fabs(f->im[i]) > 1e-6)
            return hypot(f->re[i], f->im[i]) - 1;
    return -1;
}
