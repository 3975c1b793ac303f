/* Run time of cubature: the reduced force, and force with stiffness, of n tetrahedra in r coordinates, relative to the
 * cost of its matrices: reading B twice for the force (as two dgemv), and the product Bᵀ(KB) of the same shape for the
 * stiffness. Then one product of training with all elements, relative to the force of as many single elements. */
#include "cubature/cubature.h"
#include "bench.h"
#include "cubature/training.h"

#include <cblas.h>

typedef struct job {
    int rows, r, repeat;
    sp_reduced_force force;
    double *q, *f, *K, *B, *u, *Y, *S;
    sp_training *training;
    double *rho, *c;
    const sp_context *context;
    sp_fe_space *body;
    double *full, *out;
    int64_t poses;
} job;

static void force_only(void *data)
{
    job *j = data;
    for (int i = 0; i < j->repeat; i++) {
        j->q[0] += 1e-9;
        j->force.evaluate(j->force.self, j->q, false, j->f, NULL);
    }
}

static void force_and_stiffness(void *data)
{
    job *j = data;
    for (int i = 0; i < j->repeat; i++) {
        j->q[0] += 1e-9;
        j->force.evaluate(j->force.self, j->q, false, j->f, j->K);
    }
}

static void two_products(void *data)
{
    job *j = data;
    for (int i = 0; i < j->repeat; i++) {
        cblas_dgemv(CblasColMajor, CblasNoTrans, j->rows, j->r, 1, j->B, j->rows, j->q, 1, 0, j->u, 1);
        cblas_dgemv(CblasColMajor, CblasTrans, j->rows, j->r, 1, j->B, j->rows, j->u, 1, 0, j->f, 1);
    }
}

static void three_products(void *data)
{
    job *j = data;
    two_products(data);
    for (int i = 0; i < j->repeat; i++)
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, j->r, j->r, j->rows, 1, j->B, j->rows, j->Y, j->rows, 0,
                    j->S, j->r);
}

static void all_products(void *data)
{
    job *j = data;
    if (sp_training_products(j->training, j->rho, 0, NULL, j->c, NULL) != SP_OK)
        abort();
}

/* Computes the forces of all elements as often, and nothing else. */
static void all_forces(void *data)
{
    job *j = data;
    for (int64_t t = 0; t < j->poses; t++)
        sp_elastic_force(j->context, j->body, j->full, j->out);
}

int main(int argc, char **argv)
{
    bench_begin();
    sp_context context = sp_context_default();
    sp_mesh bar, mesh;
    sp_fe_space body;
    context.threads = argc > 1 ? atoi(argv[1]) : 1;
    bench_bar(2000, 6, &bar);
    if (sp_mesh_split(&context, &bar, &mesh) != SP_OK)
        return 1;
    static const enum sp_law laws[] = {SP_LAW_STVK, SP_LAW_STABLE_NEO_HOOKEAN};
    printf("%-20s %5s %4s %12s %10s %7s %14s %10s %7s %14s\n", "law", "n", "r", "force [us]", "2 dgemv", "ratio",
           "force+K [us]", "+ dgemm", "ratio", "ns/(n r) of +K");
    for (int l = 0; l < 2; l++) {
        mesh.materials[0].law = laws[l];
        if (sp_fe_space_new(&context, &mesh, &body) != SP_OK)
            return 1;
        int64_t rows = 3 * mesh.vertex_count, elements = sp_mesh_element_count(&mesh);
        double *U = malloc((size_t)(rows * 60) * 8);
        bench_random(rows * 60, 5, U);
        for (int64_t i = 0; i < rows * 60; i++)
            U[i] *= 1e-3;
        for (int k = 0; k < 6; k++) {
            int n = (int[]){50, 100, 300, 1000, 300, 300}[k], r = (int[]){30, 30, 30, 30, 15, 60}[k];
            sp_cubature cubature = {.r = r, .count = n};
            cubature.element = sp_pool_new(&cubature.pool, n, 8);
            cubature.weight = sp_pool_new(&cubature.pool, n, 8);
            for (int i = 0; i < n; i++) {
                cubature.element[i] = elements * i / n;
                cubature.weight[i] = 1;
            }
            job j = {.r = r, .rows = (n + 7) / 8 * 8 * 9, .repeat = 100000 / n + 1};
            j.q = calloc((size_t)r, 8), j.f = calloc((size_t)r, 8), j.K = calloc((size_t)(r * r), 8),
            j.S = calloc((size_t)(r * r), 8);
            j.B = malloc((size_t)j.rows * (size_t)r * 8), j.Y = malloc((size_t)j.rows * (size_t)r * 8),
            j.u = calloc((size_t)j.rows, 8);
            bench_random((int64_t)j.rows * r, 6, j.B);
            bench_random((int64_t)j.rows * r, 7, j.Y);
            bench_random(r, 8, j.q);
            if (sp_cubature_force_new(&context, &body, &cubature, r, U, &j.force) != SP_OK)
                return 1;
            double a, b, c, d, us = 1e6 / j.repeat;
            bench_pair(force_only, two_products, &j, 15, &a, &b);
            bench_pair(force_and_stiffness, three_products, &j, 15, &c, &d);
            printf("%-20s %5d %4d %12.2f %10.2f %7.2f %14.2f %10.2f %7.2f %14.2f\n", sp_law_name(laws[l]), n, r, a * us,
                   b * us, a / b, c * us, d * us, c / d, 1e9 * c / j.repeat / n / r);
            j.force.destroy(j.force.self);
            sp_cubature_free(&cubature);
        }
        sp_poses poses = {.r = 30, .count = 64};
        poses.q = sp_pool_new(&poses.pool, 30 * 64, 8);
        poses.force = sp_pool_new(&poses.pool, 30 * 64, 8);
        bench_random(30 * 64, 9, poses.q);
        job j = {.rho = calloc(30 * 64, 8),
                 .c = calloc((size_t)elements, 8),
                 .context = &context,
                 .body = &body,
                 .full = calloc((size_t)rows, 8),
                 .out = calloc((size_t)rows, 8),
                 .poses = 64};
        bench_random(30 * 64, 10, j.rho);
        if (sp_poses_evaluate(&context, &body, U, 0, 0, 64, &poses, NULL) != SP_OK ||
            sp_training_new(&context, &body, U, &(sp_training_measure){0}, &poses, 0, &j.training) != SP_OK)
            return 1;
        double a, b;
        bench_pair(all_products, all_forces, &j, 9, &a, &b);
        printf("%-20s product of training with %lld columns, 64 poses, r = 30: %.1f ms, %.1f ns an element and pose; "
               "assembling as many forces: %.1f ms, ratio %.2f\n",
               sp_law_name(laws[l]), (long long)elements, a * 1e3, 1e9 * a / (64.0 * (double)elements), b * 1e3, a / b);
        sp_training_free(j.training);
        sp_poses_free(&poses);
        sp_fe_space_free(&body);
        free(U);
    }
    return 0;
}
