/* Run time of reduced models: force and stiffness against one dsymv of their order; one semi-implicit Newmark step
 * against dsymv and a dense Cholesky solve; converged steps. */
#include "assembly/fe_space.h"
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

int main(void)
{
    bench_begin();
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
        for (int64_t v = 0; v < mesh.vertex_count; v++) /* smooth fields: trigonometric in x, mixed directions */
            for (int i = 0; i < r; i++)
                for (int c = 0; c < 3; c++)
                    U[i * rows + 3 * v + c] =
                        1e-2 * (sin(0.3 * (1 + i / 3) * mesh.vertices[3 * v]) * (i % 3 == c) +
                                0.05 * (mesh.vertices[3 * v + (c + 1) % 3] - 0.15) *
                                    cos(0.37 * (double)i * mesh.vertices[3 * v]) * mesh.vertices[3 * v] +
                                1e-3 * (2 * sp_random_uniform(9, (uint64_t)i, (uint64_t)(3 * v + c)) - 1) *
                                    (mesh.vertices[3 * v] > 0));
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
    return 0;
}
