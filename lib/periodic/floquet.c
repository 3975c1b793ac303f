#include "periodic/floquet.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { STAGES = 3, FINE_STEPS = 1024, MOST_STEPS = 4096 };

/* Phases of K: those of a cubic force determine K(t) exactly, but not what is left of it by elimination. */
static int most_samples(const sp_harmonic *h)
{
    return 8 * h->harmonics + 9;
}

static int least_samples(const sp_harmonic *h)
{
    return h->force.cubic ? 4 * h->harmonics + 1 : most_samples(h);
}

int sp_floquet_new(sp_context *context, const sp_harmonic *h, sp_floquet *f)
{
    const int64_t r = h->r, samples = most_samples(h);
    *f = (sp_floquet){.r = h->r};
    const struct {
        double **to;
        int64_t count;
    } all[] = {{&f->phi, 4 * r * r},
               {&f->A, STAGES * STAGES * r * r},
               {&f->B, STAGES * r * 2 * r},
               {&f->K, STAGES * r * r},
               {&f->sample, samples * r * r},
               {&f->weight, STAGES * samples},
               {&f->turn, 2 * samples},
               {&f->eta, r},
               {&f->work, 2 * r * r + 40 * r},
               {&f->re, 2 * r},
               {&f->im, 2 * r}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i].to = sp_pool_new(&f->pool, all[i].count, sizeof(double));

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

/* ---- the stiffness along the orbit ---- */

/* K [r, r] at the phases 2πj/samples. */
static void sample_stiffness(sp_floquet *f, sp_harmonic *h, const double *x, int samples)
{
    f->samples = samples;

    for (int j = 0; j < samples; j++) {
        f->turn[2 * j] = cos(M_PI * j / samples);
        f->turn[2 * j + 1] = sin(M_PI * j / samples);
        sp_harmonic_at(h, x, 2 * M_PI * j / samples, f->eta, NULL);
        sp_harmonic_tangent(h, f->eta, NULL, f->sample + (int64_t)j * f->r * f->r);
    }
}

/* The highest frequency [rad/s] of the first n coordinates in all samples, of the symmetric part of K; INFINITY where
 * K is not finite. */
static double highest_frequency(sp_floquet *f)
{
    const int r = f->r, n = f->n;
    double highest = 0, *S = f->A, *value = f->re;

    for (int j = 0; j < f->samples; j++) {
        const double *K = f->sample + (int64_t)j * r * r;

        /* S = ½ (K + Kᵀ) */
        for (int column = 0; column < n; column++)
            for (int row = 0; row < n; row++)
                S[(int64_t)column * n + row] = 0.5 * (K[column * r + row] + K[row * r + column]);

        if (!isfinite(cblas_dnrm2(n * n, S, 1)) ||
            LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'L', n, S, n, value, f->work, 2 * r * r + 40 * r) != 0)
            return INFINITY;
        highest = fmax(highest, value[n - 1]);
    }
    return sqrt(highest);
}

/* Eliminates the last coordinate s of the first n in all samples: K_dd −= K_ds K_sd / K_ss. False where K_ss ≤ 0. */
static bool condense(sp_floquet *f)
{
    const int r = f->r, last = f->n - 1;
    for (int j = 0; j < f->samples; j++) {
        double *K = f->sample + (int64_t)j * r * r;
        const double pivot = K[(int64_t)last * r + last];

        if (!(pivot > 0))
            return false;

        /* The coordinate s stays in equilibrium with the others: y_s = −K_sd y_d / K_ss. */
        for (int column = 0; column < last; column++)
            cblas_daxpy(last, -K[column * r + last] / pivot, K + (int64_t)last * r, 1, K + (int64_t)column * r, 1);
    }
    f->n = last;
    return true;
}

/* The number of steps that resolves the highest frequency: ωh ≤ 1, or 1/2 where few steps do. Modes for which it would
 * be too large are eliminated. */
static int choose_steps(sp_floquet *f, sp_harmonic *h, const double *x)
{
    const double least = fmax(32, 4 * h->harmonics + 4), period = 2 * M_PI / sp_harmonic_frequency(h, x);

    f->n = f->r;
    sample_stiffness(f, h, x, least_samples(h));
    double angle = period * highest_frequency(f);

    if (isfinite(angle) && angle > MOST_STEPS && f->r > 1)
        sample_stiffness(f, h, x, most_samples(h));

    while (isfinite(angle) && angle > MOST_STEPS && f->n > 1 && condense(f))
        angle = period * highest_frequency(f);
    return (int)fmax(least, fmin(MOST_STEPS, fmax(ceil(angle), fmin(FINE_STEPS, ceil(2 * angle)))));
}

/* K_i [n, n] at the stages of a step that starts at the phase θ, by trigonometric interpolation of the samples, whose
 * number N is odd: Σ_j D(θ − 2πj/N) K_j, D(θ) = sin(Nθ/2) / (N sin(θ/2)). */
static void interpolate(sp_floquet *f, double theta, double width, const double *c)
{
    const int r = f->r, n = f->n, N = f->samples;

    for (int i = 0; i < STAGES; i++) {
        const double half = 0.5 * (theta + c[i] * width), wave = sin(N * half) / N, sine = sin(half),
                     cosine = cos(half);
        for (int j = 0; j < N; j++) {
            const double part = sine * f->turn[2 * j] - cosine * f->turn[2 * j + 1];
            f->weight[i * N + j] = fabs(part) < 1e-9 ? 1 : (j % 2 ? -wave : wave) / part;
        }
    }

    for (int column = 0; column < n; column++)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, STAGES, N, 1, f->sample + (int64_t)column * r, r * r,
                    f->weight, N, 0, f->K + (int64_t)column * n, n * n);
}

/* ---- a step ---- */

/* The coefficients a, their square, the weights b and the abscissae c. */
typedef struct gauss {
    double a[STAGES][STAGES], square[STAGES][STAGES], b[STAGES], c[STAGES];
} gauss;

static gauss coefficients(void)
{
    const double s = sqrt(15);
    gauss m = {.a = {{5.0 / 36, 2.0 / 9 - s / 15, 5.0 / 36 - s / 30},
                     {5.0 / 36 + s / 24, 2.0 / 9, 5.0 / 36 - s / 24},
                     {5.0 / 36 + s / 30, 2.0 / 9 + s / 15, 5.0 / 36}},
               .b = {5.0 / 18, 4.0 / 9, 5.0 / 18},
               .c = {0.5 - s / 10, 0.5, 0.5 + s / 10}};

    for (int i = 0; i < STAGES; i++)
        for (int j = 0; j < STAGES; j++)
            for (int k = 0; k < STAGES; k++)
                m.square[i][j] += m.a[i][k] * m.a[k][j];
    return m;
}

/* The matrix of the stages, for y_i = y₀ + h c_i p₀ − h Σ a_ij C (y_j − y₀) − Σ (h² a²_ij + hβ a_ij) K_j y_j. */
static void fill_matrix(sp_floquet *f, const gauss *m, const double *damping, double beta, double step)
{
    const int r = f->n, n = STAGES * r;

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
static void fill_right(sp_floquet *f, const gauss *m, const double *damping, double step)
{
    const int r = f->n, n = STAGES * r;

    for (int column = 0; column < 2 * r; column++) {
        const double *y = f->phi + (int64_t)column * 2 * r, *p = y + r;
        for (int i = 0; i < STAGES; i++)
            for (int k = 0; k < r; k++)
                f->B[(int64_t)column * n + i * r + k] =
                    y[k] * (1 + step * m->c[i] * damping[k]) + step * m->c[i] * p[k];
    }
}

/* Φ at the end of the step from the stages y_i in B: y₁ = y₀ + Σ d_i (y_i − y₀) with dᵀ = bᵀa⁻¹ = (5, −4, 5)/3, and
 * p₁ = p₀ − h Σ b_j K_j y_j − C (y₁ − y₀). */
static void advance(sp_floquet *f, const gauss *m, const double *damping, double step)
{
    const int r = f->n, n = STAGES * r;

    for (int column = 0; column < 2 * r; column++) {
        double *y = f->phi + (int64_t)column * 2 * r, *p = y + r;
        const double *stage = f->B + (int64_t)column * n;

        for (int k = 0; k < r; k++) {
            const double change =
                (5 * (stage[k] - y[k]) - 4 * (stage[r + k] - y[k]) + 5 * (stage[2 * r + k] - y[k])) / 3;
            p[k] -= damping[k] * change;
            y[k] += change;
        }
    }

    for (int j = 0; j < STAGES; j++)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r, 2 * r, r, -step * m->b[j], f->K + (int64_t)j * r * r,
                    r, f->B + j * r, n, 1, f->phi + r, 2 * r);
}

/* ---- multipliers ---- */

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
    /* Free motion has two multipliers that are 1: along the orbit, and along the family of orbits. */
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

/* Φ after a period. */
static int integrate(sp_context *context, sp_floquet *f, sp_harmonic *h, const double *x)
{
    const bool is_free = h->kind == SP_PERIODIC_BACKBONE;
    const gauss m = coefficients();
    const int steps = choose_steps(f, h, x), r = f->n, n = STAGES * r;
    const double step = 2 * M_PI / sp_harmonic_frequency(h, x) / steps, beta = is_free ? 0 : h->beta;
    double *damping = f->eta;

    for (int i = 0; i < r; i++)
        damping[i] = is_free ? 0 : h->damping[i];

    /* Φ = 1 at the start */
    memset(f->phi, 0, (size_t)(4 * r * r) * sizeof *f->phi);
    for (int i = 0; i < 2 * r; i++)
        f->phi[i * 2 * r + i] = 1;

    for (int s = 0; s < steps; s++) {
        interpolate(f, 2 * M_PI * s / steps, 2 * M_PI / steps, m.c);
        fill_matrix(f, &m, damping, beta, step);
        fill_right(f, &m, damping, step);

        if (LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, 2 * r, f->A, n, f->pivot, f->B, n) != 0)
            return sp_fail(context, SP_NUMERICAL, "the variational equation cannot be integrated");
        advance(f, &m, damping, step);
    }
    return SP_OK;
}

int sp_floquet_multipliers(sp_context *context, sp_floquet *f, sp_harmonic *h, const double *x)
{
    SP_PASS(integrate(context, f, h, x));
    const int n = 2 * f->n;

    /* Eliminated coordinates have no multipliers of their own. */
    for (int i = n; i < 2 * f->r; i++)
        f->re[i] = f->im[i] = 0;
    if (LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'N', n, f->phi, n, f->re, f->im, NULL, 1, NULL, 1, f->work,
                           2 * f->r * f->r + 40 * f->r) != 0)
        return sp_fail(context, SP_NUMERICAL, "the Floquet multipliers are not found");

    if (h->kind == SP_PERIODIC_BACKBONE)
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
