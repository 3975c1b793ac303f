/* Run time of reduced-order models: force and stiffness relative to one dsymv of their order; one semi-implicit Newmark
 * step relative to dsymv and a dense Cholesky solve; converged steps. Then force and stiffness of large models relative
 * to reading the distinct coefficients of their energy once: with the argument "large" these alone. */
#include "assembly/fe_space.h"
#include "base/lanes.h"
#include "bench.h"
#include "integrate/integrate.h"
#include "model/models.h"

#include <cblas.h>
#include <lapacke.h>

typedef struct job {
    int r, pairs, repeat;
    sp_polynomial_force *force;
    sp_integrator *integrator;
    double *q, *f, *K, *Q, *x, *y, *S, *factor;
} job;

static void evaluate(void *data)
{
    job *j = data;
    for (int i = 0; i < j->repeat; i++) {
        j->q[0] += 1e-9;
        sp_polynomial_force_evaluate(j->force, j->q, j->f, j->K);
    }
}

static void symv(void *data)
{
    job *j = data;
    for (int i = 0; i < j->repeat; i++)
        cblas_dsymv(CblasColMajor, CblasLower, j->pairs, 1, j->Q, j->pairs, j->x, 1, 0, j->y, 1);
}

static void step(void *data)
{
    job *j = data;
    for (int i = 0; i < j->repeat; i++)
        if (sp_integrator_step(j->integrator) != SP_OK)
            abort();
}

static void symv_and_solve(void *data)
{
    job *j = data;
    for (int i = 0; i < j->repeat; i++) {
        cblas_dsymv(CblasColMajor, CblasLower, j->pairs, 1, j->Q, j->pairs, j->x, 1, 0, j->y, 1);
        memcpy(j->factor, j->S, (size_t)(j->r * j->r) * 8);
        memcpy(j->f, j->q, (size_t)j->r * 8);
        LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', j->r, j->factor, j->r);
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, j->r, j->factor, j->r, j->f, 1);
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, j->r, j->factor, j->r, j->f, 1);
    }
}

static void no_force(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    memset(f, 0, (size_t)((const sp_system *)self)->n * 8);
}

/* ---- large models ---- */

typedef struct large {
    sp_polynomial_force *force;
    int64_t pairs, distinct; /* r(r + 1)/2, r(r + 1)(r + 2)(r + 3)/24 */
    double *q, *f, *K, *coefficients, *Q, *x, *y;
    volatile double sum;
} large;

static void evaluate_large(void *data)
{
    large *l = data;
    l->q[0] += 1e-9;
    sp_polynomial_force_evaluate(l->force, l->q, l->f, l->K);
}

typedef double lanes __attribute__((vector_size(32)));

/* A streaming sum, in as many registers as hide its latency. */
SP_CLONES static double sum_of(int64_t count, const double *value)
{
    lanes s[8] = {{0}};
    double sum = 0;
    int64_t i = 0;
    for (; i + 32 <= count; i += 32)
        for (int k = 0; k < 8; k++)
            s[k] += *(const lanes *)(value + i + 4 * k);
    for (int k = 0; k < 8; k++)
        sum += s[k][0] + s[k][1] + s[k][2] + s[k][3];
    for (; i < count; i++)
        sum += value[i];
    return sum;
}

static void read_coefficients(void *data)
{
    large *l = data;
    l->sum = sum_of(l->distinct, l->coefficients);
}

static void symv_large(void *data)
{
    large *l = data;
    cblas_dsymv(CblasColMajor, CblasLower, (int)l->pairs, 1, l->Q, (int)l->pairs, l->x, 1, 0, l->y, 1);
}

/* The least time of one call, behind one that is not measured. */
static double least(void (*call)(void *), void *data, int rounds)
{
    double best = INFINITY;
    call(data);
    for (int i = 0; i < rounds; i++) {
        const double start = bench_now();
        call(data);
        best = fmin(best, bench_now() - start);
    }
    return best;
}

/* Aligned to pages. */
static double *random_numbers(int64_t count, uint64_t stream)
{
    double *value = aligned_alloc(4096, (size_t)(count * 8 + 4095) / 4096 * 4096);
    if (!value)
        abort();
    bench_random(count, stream, value);
    return value;
}

/* Random coefficients: a mesh of some size takes minutes for these. */
static void bench_large(int64_t r)
{
    sp_context context = sp_context_default();
    const int64_t N = sp_polynomial_order(r);
    sp_polynomial_part part = {.value = 1, .gram = random_numbers(N * N, 1)};
    sp_polynomials polynomials = {.r = r, .part_count = 1, .parts = &part};
    large l = {.pairs = r * (r + 1) / 2, .distinct = r * (r + 1) * (r + 2) * (r + 3) / 24};
    if (sp_polynomial_force_new(&context, &polynomials, r, &l.force) != SP_OK)
        abort();
    free(part.gram);
    l.q = random_numbers(r, 2), l.f = random_numbers(r, 3), l.K = random_numbers(r * r, 4);
    l.coefficients = random_numbers(l.distinct, 5);
    l.Q = random_numbers(l.pairs * l.pairs, 6), l.x = random_numbers(l.pairs, 7), l.y = random_numbers(l.pairs, 8);
    double reading = INFINITY, force = INFINITY, symv = INFINITY;
    for (int turn = 0; turn < 5; turn++) {
        reading = fmin(reading, least(read_coefficients, &l, 20));
        force = fmin(force, least(evaluate_large, &l, 20));
        symv = fmin(symv, least(symv_large, &l, 5));
    }
    printf("%4lld %13.1f %12.0f %13.0f %7.2f %12.0f\n", (long long)r, 8e-6 * (double)l.distinct, 1e6 * reading,
           1e6 * force, force / reading, 1e6 * symv);
    sp_polynomial_force_free(l.force);
    double *const all[] = {l.q, l.f, l.K, l.coefficients, l.Q, l.x, l.y};
    for (int i = 0; i < 7; i++)
        free(all[i]);
}

static void bench_all_large(void)
{
    printf("%4s %13s %12s %13s %7s %12s\n", "r", "distinct [MB]", "read [us]", "force+K [us]", "ratio", "dsymv [us]");
    for (int i = 0; i < 4; i++)
        bench_large((int[]){40, 60, 80, 100}[i]);
}

int main(int argc, char **argv)
{
    bench_begin();
    if (argc == 2 && !strcmp(argv[1], "large")) {
        bench_all_large();
        return 0;
    }
    sp_context context = sp_context_default();
    sp_mesh mesh;
    sp_fe_space body;
    bench_bar(300, 3, &mesh);
    if (sp_fe_space_new(&context, &mesh, &body) != SP_OK)
        return 1;
    printf("%4s %12s %9s %7s %14s %12s %7s %12s %11s\n", "r", "force+K [us]", "dsymv", "ratio", "semi step [us]",
           "dsymv+solve", "ratio", "converged", "iterations");
    for (int k = 0; k < 5; k++) {
        int r = (int[]){12, 15, 20, 30, 60}[k];
        job j = {.r = r, .pairs = r * (r + 1) / 2, .repeat = r < 25 ? 2000 : r < 50 ? 300 : 20};
        int64_t rows = 3 * mesh.vertex_count, N = j.pairs;
        double *U = malloc((size_t)(rows * r) * 8);
        bench_fields(&mesh, r, U);
        sp_polynomials polynomials;
        sp_polynomial_parameters parameters = {0};
        sp_polynomial_report report;
        sp_system system;
        if (sp_polynomials_new(&context, &body, r, U, &parameters, &polynomials, &report) != SP_OK ||
            sp_polynomial_force_new(&context, &polynomials, r, &j.force) != SP_OK ||
            sp_polynomial_system_new(&context, &polynomials, r, U, rows, mesh.vertices, &system) != SP_OK) {
            fprintf(stderr, "step: %s\n", context.message);
            return 1;
        }
        j.q = calloc((size_t)r, 8), j.f = calloc((size_t)r, 8), j.K = calloc((size_t)(r * r), 8),
        j.S = calloc((size_t)(r * r), 8), j.factor = calloc((size_t)(r * r), 8);
        j.Q = calloc((size_t)(N * N), 8), j.x = calloc((size_t)N, 8), j.y = calloc((size_t)N, 8);
        bench_random(N * N, 1, j.Q);
        bench_random(N, 2, j.x);
        bench_random(r, 3, j.q);
        for (int i = 0; i < r * r; i++)
            j.S[i] = polynomials.mass[i] + (i % (r + 1) == 0);
        double a, b, c, d, e = 0, iterations = 0;
        bench_pair(evaluate, symv, &j, 31, &a, &b);
        sp_external_loads forcing = {.self = &system, .mean = no_force};
        for (int semi = 1; semi >= 0; semi--) {
            double v[60] = {0};
            for (int i = 0; i < r; i++)
                v[i] = 0.02 / (1 + i);
            sp_integrator_parameters p = {
                .kind = SP_NEWMARK, .step = 1e-3, .beta = 0.25, .gamma = 0.5, .semi_implicit = semi};
            if (sp_integrator_new(&context, &system, &forcing, &p, NULL, v, &j.integrator) != SP_OK)
                return 1;
            if (semi)
                bench_pair(step, symv_and_solve, &j, 31, &c, &d);
            else {
                bench_pair(step, symv_and_solve, &j, 5, &e, &b);
                iterations = (double)sp_integrator_reported(j.integrator)->newton_iterations /
                             (double)sp_integrator_reported(j.integrator)->steps;
            }
            sp_integrator_free(j.integrator);
        }
        double us = 1e6 / j.repeat;
        bench_pair(evaluate, symv, &j, 31, &a, &b);
        printf("%4d %12.2f %9.2f %7.2f %14.2f %12.2f %7.2f %12.2f %11.2f\n", r, a * us, b * us, a / b, c * us, d * us,
               c / d, e * us, iterations);
    }
    bench_all_large();
    return 0;
}
