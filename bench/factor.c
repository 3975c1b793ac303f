/* Sparse Cholesky factorization of a stiffness matrix beside CHOLMOD's supernodal one, with the same ordering of the
 * rows, alternating: bench-factor MESH ROUNDS [THREADS]…. With `graph` for ROUNDS it prints the tasks of a
 * factorization on one thread, which bench/schedule.py distributes to more workers than there are; with `analysis` what
 * a factorization would need, from the pattern alone. The matrix is K of the mesh, which has fixed vertices, at rest.
 * Prints one row of a table for each number of threads: seconds (median) of analysis, factorization, one solve and a
 * block of 24, ours and CHOLMOD's, both with BLAS on one thread; and the relative residuals. CHOLMOD_THREADS=N
 * in the environment gives CHOLMOD and its BLAS N threads, on which its last digits depend. */
#include "bench.h"
#include "linear/cholesky.h"
#include "linear/fronts.h"
#include "linear/order.h"

#if __has_include(<suitesparse/cholmod.h>)
#include <suitesparse/cholmod.h>
#else
#include <cholmod.h>
#endif
#include <cblas.h>
#include <omp.h>

enum { WIDTH = 24, MOST = 99, STAGES = 4 };

typedef struct times {
    double stage[STAGES][MOST]; /* analysis, factorization, one solve, WIDTH solves */
    double residual;
} times;

static void check(const sp_context *context, int status)
{
    if (status != SP_OK) {
        fprintf(stderr, "bench-factor: %s\n", context->message);
        exit(1);
    }
}

/* ‖A x − b‖ / ‖b‖ */
static double residual(const sp_context *context, const sp_sparse *A, const double *x, const double *b)
{
    double *y = malloc((size_t)A->order * sizeof *y), error = 0, size = 0;

    sp_sparse_times(context, A, 1, x, y);
    for (int64_t i = 0; i < A->order; i++) {
        error += (y[i] - b[i]) * (y[i] - b[i]);
        size += b[i] * b[i];
    }
    free(y);
    return sqrt(error / size);
}

static void ours(sp_context *context, const sp_sparse *A, const int64_t *permutation, const double *b, double *x,
                 int round, times *t)
{
    sp_cholesky *factor;
    double start = bench_now();

    check(context, sp_cholesky_new_permuted(context, A, permutation, &factor));
    t->stage[0][round] = bench_now() - start;
    start = bench_now();
    check(context, sp_cholesky_factor(factor, A));
    t->stage[1][round] = bench_now() - start;

    start = bench_now();
    check(context, sp_cholesky_solve(factor, 1, b, x));
    t->stage[2][round] = bench_now() - start;
    t->residual = residual(context, A, x, b);
    start = bench_now();
    check(context, sp_cholesky_solve(factor, WIDTH, b, x));
    t->stage[3][round] = bench_now() - start;
    sp_cholesky_free(factor);
}

static void theirs(sp_context *context, const sp_sparse *A, const int64_t *permutation, double *b, double *x, int round,
                   times *t)
{
    const size_t n = (size_t)A->order;
    cholmod_common common;
    cholmod_sparse matrix = {.nrow = n,
                             .ncol = n,
                             .nzmax = (size_t)A->start[n],
                             .p = A->start,
                             .i = A->index,
                             .x = A->value,
                             .stype = 1,
                             .itype = CHOLMOD_LONG,
                             .xtype = CHOLMOD_REAL,
                             .sorted = 1,
                             .packed = 1};
    cholmod_dense right = {.nrow = n, .ncol = 1, .nzmax = n, .d = n, .x = b, .xtype = CHOLMOD_REAL};
    cholmod_dense *solution = NULL, *y = NULL, *e = NULL;

    cholmod_l_start(&common);
    common.supernodal = CHOLMOD_SUPERNODAL;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_GIVEN;

    /* Its own loops start threads for little work, too: on one thread they may not. */
    const char *given = getenv("CHOLMOD_THREADS");
    const int threads = given ? atoi(given) : 1, before = omp_get_max_threads();
    omp_set_max_active_levels(threads > 1);
    if (threads > 1) {
        omp_set_num_threads(threads);
        openblas_set_num_threads(threads);
    }

    double start = bench_now();
    cholmod_factor *factor = cholmod_l_analyze_p(&matrix, (SuiteSparse_long *)permutation, NULL, 0, &common);
    t->stage[0][round] = bench_now() - start;
    start = bench_now();
    if (!factor || !cholmod_l_factorize(&matrix, factor, &common) || common.status != CHOLMOD_OK)
        exit(1);
    t->stage[1][round] = bench_now() - start;

    for (int64_t count = 1; count <= WIDTH; count += WIDTH - 1) {
        right.ncol = (size_t)count;
        right.nzmax = n * (size_t)count;
        start = bench_now();
        if (!cholmod_l_solve2(CHOLMOD_A, factor, &right, NULL, &solution, NULL, &y, &e, &common))
            exit(1);
        t->stage[count == 1 ? 2 : 3][round] = bench_now() - start;
        memcpy(x, solution->x, n * sizeof *x);
        if (count == 1)
            t->residual = residual(context, A, x, b);
    }

    omp_set_max_active_levels(1);
    if (threads > 1) {
        omp_set_num_threads(before);
        openblas_set_num_threads(1);
    }
    cholmod_l_free_dense(&solution, &common);
    cholmod_l_free_dense(&y, &common);
    cholmod_l_free_dense(&e, &common);
    cholmod_l_free_factor(&factor, &common);
    cholmod_l_finish(&common);
}

static void make_matrix(sp_context *context, const char *path, sp_sparse *A, int64_t **permutation, double *nonzeros,
                        double *flops)
{
    sp_mesh mesh;
    sp_fe_space body;
    sp_cholesky *factor;

    bench_read(context, path, &mesh, &body);
    check(context, sp_elastic_stiffness(context, &body, A));

    int64_t *node = malloc((size_t)A->order * sizeof *node);
    *permutation = malloc((size_t)A->order * sizeof **permutation);
    sp_fe_space_nodes(&body, node);
    check(context, sp_cholesky_new(context, A, node, &factor));
    memcpy(*permutation, sp_cholesky_permutation(factor), (size_t)A->order * sizeof **permutation);
    *nonzeros = sp_cholesky_nonzeros(factor);
    *flops = sp_cholesky_flops(factor);
    sp_cholesky_free(factor);
    free(node);
}

static void print_task(void *data, const sp_task *t)
{
    static const char *const names[] = {"unit", "add", "diagonal", "rows", "product", "update", "add-after"};
    const sp_symbolic *s = data;
    printf("%lld,%lld,%s,%lld,%lld,%lld,%.9f\n", (long long)t->unit, (long long)s->units[t->unit].parent,
           names[t->kind], (long long)t->c, (long long)t->i, (long long)t->j, t->seconds);
}

static void print_graph(sp_context *context, const sp_sparse *A, const int64_t *permutation)
{
    sp_symbolic s;
    sp_fronts *fronts;
    int64_t pivot;

    check(context, sp_symbolic_new(context, A, permutation, &s));
    check(context, sp_fronts_new(context, &s, &fronts));
    double *L = sp_memory_new((size_t)s.value[s.count] * sizeof *L);
    if (!L)
        exit(1);
    check(context, sp_fronts_factor(fronts, A, L, NULL, &pivot)); /* warms memory up */
    printf("unit,parent,kind,c,i,j,seconds\n");
    sp_fronts_watch(fronts, print_task, &s);
    check(context, sp_fronts_factor(fronts, A, L, NULL, &pivot));
}

static int print_analysis(sp_context *context, const char *path)
{
    sp_mesh mesh;
    sp_fe_space body;
    sp_symbolic s;
    sp_fronts *fronts;

    bench_read(context, path, &mesh, &body);
    check(context, sp_fe_space_pattern(context, &body));
    const int64_t n = body.pattern.order;
    int64_t *node = malloc((size_t)n * sizeof *node), *permutation = malloc((size_t)n * sizeof *permutation);
    sp_fe_space_nodes(&body, node);

    double start = bench_now();
    check(context, sp_order_dissection(context, &body.pattern, node, permutation));
    const double ordering = bench_now() - start;
    start = bench_now();
    check(context, sp_symbolic_new(context, &body.pattern, permutation, &s));
    check(context, sp_fronts_new(context, &s, &fronts));
    printf("%lld elements, n %lld: ordering %.1f s, analysis %.1f s; nonzeros of L %.4g, stored %.4g (%.1f GB), "
           "updates %.1f "
           "GB, flops %.4g\n",
           (long long)sp_mesh_element_count(&mesh), (long long)n, ordering, bench_now() - start, s.nonzeros,
           (double)s.value[s.count], 8e-9 * (double)s.value[s.count], 1e-9 * sp_fronts_memory(fronts), s.flops);
    return 0; /* the process ends here, so that nothing needs to be freed */
}

int main(int argc, char **argv)
{
    sp_context context = sp_context_default();
    sp_sparse A;
    int64_t *permutation;
    double nonzeros, flops;

    if (argc < 3 || (strcmp(argv[2], "graph") != 0 && strcmp(argv[2], "analysis") != 0 && atoi(argv[2]) < 1))
        return 2;

    bench_begin();
    if (strcmp(argv[2], "analysis") == 0)
        return print_analysis(&context, argv[1]);
    make_matrix(&context, argv[1], &A, &permutation, &nonzeros, &flops);
    if (strcmp(argv[2], "graph") == 0) {
        print_graph(&context, &A, permutation);
        return 0;
    }

    double *b = malloc((size_t)(A.order * WIDTH) * sizeof *b), *x = malloc((size_t)(A.order * WIDTH) * sizeof *x);
    bench_random(A.order * WIDTH, 1, b);
    const int rounds = atoi(argv[2]) < MOST ? atoi(argv[2]) : MOST;

    printf("n %lld, nonzeros of L %.4g, flops %.4g\n", (long long)A.order, nonzeros, flops);
    printf("threads  analysis        factorization   1 solve         %d solves       residual\n", WIDTH);
    printf("         ours CHOLMOD    ours CHOLMOD    ours CHOLMOD    ours CHOLMOD    ours CHOLMOD\n");
    for (int a = 3; a < argc || a == 3; a++) {
        static times t[2];
        context.threads = a < argc ? atoi(argv[a]) : 1;
        for (int round = 0; round < rounds; round++) {
            ours(&context, &A, permutation, b, x, round, &t[0]);
            theirs(&context, &A, permutation, b, x, round, &t[1]);
        }

        printf("%d", context.threads);
        for (int stage = 0; stage < STAGES; stage++)
            for (int who = 0; who < 2; who++) {
                qsort(t[who].stage[stage], (size_t)rounds, sizeof(double), bench_compare);
                printf("\t%.4f", t[who].stage[stage][rounds / 2]);
            }
        printf("\t%.1e\t%.1e\n", t[0].residual, t[1].residual);
        fflush(stdout);
    }
    return 0;
}
