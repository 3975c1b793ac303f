/* Methods to orthogonalize r columns in the mass metric (Yang 2015 §4.2, Figure 4): mass-MGS as printed, one vector at
 * a time; the reduced method as printed; the reduced method combined by BLAS-3 (lib/basis/reduced_mgs.c); and block
 * Gram–Schmidt with every block projected twice (lib/basis/krylov.c). Columns come in blocks of 6, as in a Krylov
 * iteration. argv[1]: mesh file; argv[2]: threads. */
#include "basis/reduced_mgs.h"
#include "bench.h"
#include "linear/store.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <unistd.h>

enum { WIDTH = 6 };

typedef struct job {
    sp_context *context;
    const sp_sparse *M;
    const sp_sparse_inner *inner;
    int64_t n, r;
    const double *from;
    double *U, *product, *Y, *C, *work;
} job;

static void printed_mgs(job *j)
{
    for (int64_t i = 0; i < j->r; i++) {
        double *u = j->U + i * j->n;
        for (int64_t k = 0; k < i; k++) { /* ⟨u_i, u_k⟩ = u_iᵀ(M u_k), with the products of earlier columns kept */
            double h = cblas_ddot((int)j->n, u, 1, j->product + k * j->n, 1);
            cblas_daxpy((int)j->n, -h, j->U + k * j->n, 1, u, 1);
        }
        sp_sparse_times(j->context, j->M, 1, u, j->product + i * j->n);
        double norm = sqrt(cblas_ddot((int)j->n, u, 1, j->product + i * j->n, 1));
        cblas_dscal((int)j->n, 1 / norm, u, 1);
        cblas_dscal((int)j->n, 1 / norm, j->product + i * j->n, 1);
    }
}

static void printed_reduced(job *j)
{
    int64_t rows = 3 * j->inner->count;
    for (int64_t i = 0; i < j->r; i++) {
        double *u = j->U + i * j->n, *y = j->Y + i * rows;
        sp_sparse_inner_gather(j->inner, j->n, 1, u, y);
        for (int64_t k = 0; k < i; k++) {
            double h = cblas_ddot((int)rows, y, 1, j->Y + k * rows, 1);
            if (fabs(h) < 0.001 * cblas_dnrm2((int)rows, y, 1))
                continue;
            cblas_daxpy((int)j->n, -h, j->U + k * j->n, 1, u, 1);
            cblas_daxpy((int)rows, -h, j->Y + k * rows, 1, y, 1);
        }
        double norm = cblas_dnrm2((int)rows, y, 1);
        cblas_dscal((int)j->n, 1 / norm, u, 1);
        cblas_dscal((int)rows, 1 / norm, y, 1);
    }
}

static void reduced(job *j)
{
    int64_t done = 0, culled = 0;
    double cosine = 0;
    for (int64_t i = 0; i < j->r; i += WIDTH)
        if (sp_reduced_mgs(j->context, j->inner, 0.001, j->n, i, j->U, WIDTH, j->U + i * j->n, j->Y, &done, &culled,
                           &cosine) != SP_OK)
            exit(1);
}

static void blocks(job *j)
{
    double gram[WIDTH * WIDTH];
    for (int64_t i = 0; i < j->r; i += WIDTH)
        for (int pass = 0; pass < 2; pass++) {
            double *W = j->U + i * j->n;
            sp_sparse_times(j->context, j->M, WIDTH, W, j->product);
            sp_dense_inner(j->context, j->n, i, j->U, WIDTH, j->product, j->C, j->work);
            sp_dense_inner(j->context, j->n, WIDTH, W, WIDTH, j->product, gram, j->work);
            if (i > 0)
                cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, WIDTH, (int)i, -1, j->C, (int)i, 1, gram, WIDTH);
            if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', WIDTH, gram, WIDTH) != 0)
                exit(1);
            sp_dense_add(j->context, j->n, i, j->U, WIDTH, j->C, -1, W);
            sp_dense_solve_right(j->context, j->n, WIDTH, gram, W);
        }
}

static void measure(job *j, const char *name, void (*method)(job *), double *base)
{
    memcpy(j->U, j->from, (size_t)(j->n * j->r) * 8);
    double start = bench_now(), seconds, error;
    method(j);
    seconds = bench_now() - start;
    if (sp_metric_orthogonality(j->context, &(sp_metric){.rows = j->n, .matrix = j->M}, j->r, j->U, &error) != SP_OK)
        exit(1);
    *base = *base > 0 ? *base : seconds;
    printf("  r = %3lld: %-34s %8.3f s, %5.1f times faster, orthonormal to %.1e\n", (long long)j->r, name, seconds,
           *base / seconds, error);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    bench_begin();
    sp_context context = sp_context_default();
    context.threads = atoi(argv[2]);
    sp_mesh mesh;
    sp_fe_space body;
    sp_sparse M;
    sp_sparse_inner inner;
    bench_read(&context, argv[1], &mesh, &body);
    if (sp_fe_space_mass_compressed(&context, &body, false, &M) != SP_OK ||
        sp_sparse_inner_new(&context, &body, 0, &inner) != SP_OK) {
        fprintf(stderr, "orthogonalize: %s\n", context.message);
        return 1;
    }
    int64_t n = body.dof_count, most = 240, rank;
    double *Q = malloc((size_t)(n * most) * 8), *from = malloc((size_t)(n * most) * 8),
           *R = malloc((size_t)(most * most) * 8);
    job j = {.context = &context, .M = &M, .inner = &inner, .n = n, .from = from};
    j.U = malloc((size_t)(n * most) * 8);
    j.product = malloc((size_t)(n * most) * 8);
    j.Y = malloc((size_t)(3 * inner.count * most) * 8);
    j.C = malloc((size_t)(most * WIDTH) * 8);
    j.work = malloc((size_t)sp_dense_inner_work(most, WIDTH) * 8);
    /* Smooth orthonormal columns, mixed so that pairs have cosines of about a tenth, like those of inertia modes. */
    for (int64_t c = 0; c < most; c++)
        for (int64_t i = 0; i < n; i++) {
            const double *X = mesh.vertices + body.free[i] / 3 * 3;
            double phase = (double)(c % 7) * X[0] + (double)(c / 7 % 7) * X[1] + (double)(c / 49) * X[2];
            Q[c * n + i] = cos(6 * phase + (double)(body.free[i] % 3) * (double)(c + 1));
        }
    if (sp_metric_orthonormalize(&context, &(sp_metric){.rows = n, .matrix = &M}, most, Q, 1e-12, R, &rank) != SP_OK)
        return 1;
    bench_random(most * most, 3, R);
    for (int64_t c = 0; c < most; c++)
        for (int64_t i = 0; i < most; i++)
            R[c * most + i] = i == c ? 1 : i < c ? 0.1 * (R[c * most + i] - 0.5) : 0;
    memset(from, 0, (size_t)(n * most) * 8);
    sp_dense_add(&context, n, most, Q, most, R, 1, from);
    printf("%lld degrees of freedom, %lld sample points, %d threads; %lld independent columns\n", (long long)n,
           (long long)inner.count, context.threads, (long long)rank);
    for (j.r = 30; j.r <= most; j.r *= 2) {
        double base = 0;
        measure(&j, "mass-MGS as printed", printed_mgs, &base);
        measure(&j, "reduced, as printed", printed_reduced, &base);
        measure(&j, "reduced, combined by BLAS-3", reduced, &base);
        measure(&j, "block Gram-Schmidt, twice", blocks, &base);
    }
    return 0;
}
