#include "linear/cholesky.h"

#include "linear/blas.h"
#include "linear/internal.h"
#include "linear/supernodes.h"

#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Columns per solve by CHOLMOD, which reuse the factor in BLAS-3 and still give enough blocks for the threads. */
enum { SOLVE_BLOCK = 16 };

/* Every thread solves with its own workspace; the factor is only read. */
typedef struct solver {
    cholmod_common common;
    cholmod_dense *y, *e;
    sp_pool pool;
    sp_lanes *x; /* [order, groups] */
    int groups;
} solver;

struct sp_cholesky {
    sp_context *context;
    cholmod_common common;
    cholmod_factor *factor;
    int64_t order;
    bool ready, lanes; /* lanes: a few right-hand sides are solved in SIMD lanes */
    int solver_count;
    solver *solvers;
    sp_pool pool;
    int64_t *permutation;
};

void sp_cholmod_start(cholmod_common *common)
{
    cholmod_l_start(common);
#if SUITESPARSE_MAIN_VERSION >= 7
    SuiteSparse_config_malloc_func_set(sp_memory_new);
#else
    SuiteSparse_config.malloc_func = sp_memory_new;
#endif

    common->print = 0;
    common->error_handler = NULL;
    /* A supernodal factor by BLAS-3, in one order: the one that is given, postordered. */
    common->supernodal = CHOLMOD_SUPERNODAL;
    common->nmethods = 1;
    common->postorder = 1;
    common->quick_return_if_not_posdef = 1;
}

cholmod_sparse sp_cholmod_view(const sp_sparse *matrix)
{
    return (cholmod_sparse){.nrow = (size_t)matrix->order,
                            .ncol = (size_t)matrix->order,
                            .nzmax = (size_t)matrix->start[matrix->order],
                            .p = matrix->start,
                            .i = matrix->index,
                            .x = matrix->value,
                            .stype = 1,
                            .itype = CHOLMOD_LONG,
                            .xtype = matrix->value ? CHOLMOD_REAL : CHOLMOD_PATTERN,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

int sp_cholmod_failure(sp_context *context, const cholmod_common *common, const char *doing)
{
    if (common->status == CHOLMOD_OUT_OF_MEMORY)
        return sp_fail_memory(context);
    if (common->status == CHOLMOD_TOO_LARGE)
        return sp_fail(context, SP_SYSTEM, "%s: the matrix is too large for the library", doing);
    return sp_fail(context, SP_NUMERICAL, "%s failed (CHOLMOD status %d)", doing, common->status);
}

/* METIS catches SIGTERM while it runs, and reports it as an invalid graph, which ours cannot be: the signal was for the
 * process, and goes on to it. METIS also puts back the handler that was there without its flags, and jumps out of its
 * own, which leaves the signal blocked where its handler was set with BSD semantics. */
static bool order_graph(cholmod_sparse *pattern, int64_t *order, cholmod_common *common)
{
    struct sigaction handler;
    sigset_t mask;
    sigaction(SIGTERM, NULL, &handler);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);

    const bool done = cholmod_l_metis(pattern, NULL, 0, 1, order, common);

    sigaction(SIGTERM, &handler, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (!done && common->status == CHOLMOD_INVALID)
        raise(SIGTERM);
    return done;
}

int sp_cholmod_dissect(sp_context *context, cholmod_common *common, const sp_sparse *matrix, const int64_t *node,
                       sp_pool *pool, int64_t *permutation)
{
    int64_t n = matrix->order, nodes = 0;
    int64_t *first = sp_pool_raw(pool, n + 1, sizeof *first), *number = sp_pool_raw(pool, n, sizeof *number);

    SP_PASS(sp_allocated(context, !pool->failed));

    /* Consecutive rows of one node are a vertex of the graph. */
    for (int64_t row = 0; row < n; row++) {
        if (row == 0 || !node || node[row] != node[row - 1])
            first[nodes++] = row;
        number[row] = nodes - 1;
    }
    first[nodes] = n;

    int64_t bound = 0;
    for (int64_t i = 0; i < nodes; i++)
        bound += matrix->start[first[i] + 1] - matrix->start[first[i]];

    int64_t *start = sp_pool_raw(pool, nodes + 1, sizeof *start), *index = sp_pool_raw(pool, bound, sizeof *index),
            *order = sp_pool_raw(pool, nodes, sizeof *order);
    SP_PASS(sp_allocated(context, !pool->failed));

    int64_t at = 0;

    /* Rows of a node need not have the same pattern in imported matrices: the pattern of the first row is used for
     * all. */
    for (int64_t i = 0; i < nodes; i++) {
        start[i] = at;
        int64_t last = -1;
        for (int64_t k = matrix->start[first[i]]; k < matrix->start[first[i] + 1]; k++)
            if (number[matrix->index[k]] != last)
                index[at++] = last = number[matrix->index[k]];
    }

    start[nodes] = at;

    /* Nested dissection of the nodes, whose rows stay together. */
    sp_sparse graph = {.order = nodes, .start = start, .index = index};
    cholmod_sparse pattern = sp_cholmod_view(&graph);
    if (!order_graph(&pattern, order, common))
        return sp_cholmod_failure(context, common, "ordering");

    at = 0;
    for (int64_t i = 0; i < nodes; i++)
        for (int64_t row = first[order[i]]; row < first[order[i] + 1]; row++)
            permutation[at++] = row;
    return SP_OK;
}

/* permutation NULL: it is computed by nested dissection of the nodes. */
static int analyse(sp_context *context, const sp_sparse *matrix, const int64_t *node, const int64_t *permutation,
                   sp_cholesky **result)
{
    sp_pool scratch = {0};
    sp_cholesky *cholesky = calloc(1, sizeof *cholesky);
    int status;

    SP_PASS(sp_allocated(context, cholesky));

    cholesky->context = context;
    cholesky->order = matrix->order;
    cholesky->lanes = sp_supernodes_fast();
    sp_cholmod_start(&cholesky->common);

    /* METIS rejects an empty graph; there is nothing to factor or to solve. */
    if (matrix->order == 0) {
        *result = cholesky;
        return SP_OK;
    }

    cholesky->permutation = permutation ? sp_pool_copy(&cholesky->pool, permutation, matrix->order, sizeof *permutation)
                                        : sp_pool_raw(&cholesky->pool, matrix->order, sizeof *permutation);

    cholesky->solvers = calloc((size_t)context->threads, sizeof *cholesky->solvers);
    SP_TRY(sp_allocated(context, cholesky->permutation && cholesky->solvers));

    /* Every thread has a workspace of its own for solves. */
    for (; cholesky->solver_count < context->threads; cholesky->solver_count++)
        sp_cholmod_start(&cholesky->solvers[cholesky->solver_count].common);

    if (!permutation)
        SP_TRY(sp_cholmod_dissect(context, &cholesky->common, matrix, node, &scratch, cholesky->permutation));

    cholesky->common.method[0].ordering = CHOLMOD_GIVEN;
    /* The pattern of the factor, for all matrices with this pattern. */
    cholmod_sparse pattern = sp_cholmod_view(matrix);
    cholesky->factor = cholmod_l_analyze_p(&pattern, cholesky->permutation, NULL, 0, &cholesky->common);
    if (!cholesky->factor)
        status = sp_cholmod_failure(cholesky->context, &cholesky->common, "analysis");

done:
    sp_pool_free(&scratch);
    if (status == SP_OK)
        *result = cholesky;
    else
        sp_cholesky_free(cholesky);
    return status;
}

int sp_cholesky_new(sp_context *context, const sp_sparse *matrix, const int64_t *node, sp_cholesky **result)
{
    return analyse(context, matrix, node, NULL, result);
}

int sp_cholesky_new_permuted(sp_context *context, const sp_sparse *matrix, const int64_t *permutation,
                             sp_cholesky **result)
{
    return analyse(context, matrix, NULL, permutation, result);
}

const int64_t *sp_cholesky_permutation(const sp_cholesky *cholesky)
{
    return cholesky->permutation;
}

void sp_cholesky_free(sp_cholesky *cholesky)
{
    if (!cholesky)
        return;
    for (int i = 0; i < cholesky->solver_count; i++) {
        solver *s = &cholesky->solvers[i];
        cholmod_l_free_dense(&s->y, &s->common);
        cholmod_l_free_dense(&s->e, &s->common);
        cholmod_l_finish(&s->common);
        sp_pool_free(&s->pool);
    }
    free(cholesky->solvers);
    cholmod_l_free_factor(&cholesky->factor, &cholesky->common);
    cholmod_l_finish(&cholesky->common);
    sp_pool_free(&cholesky->pool);
    free(cholesky);
}

int sp_cholesky_factor(sp_cholesky *cholesky, const sp_sparse *matrix)
{
    cholmod_sparse values = sp_cholmod_view(matrix);

    cholesky->ready = cholesky->order == 0;
    if (cholesky->ready)
        return SP_OK;
    /* The result is TRUE for indefinite matrices too: the status and the column at which it stopped tell. */
    int levels = sp_blas_serial_begin(), done = cholmod_l_factorize(&values, cholesky->factor, &cholesky->common);
    sp_blas_serial_end(levels);

    if (!done && cholesky->common.status != CHOLMOD_NOT_POSDEF)
        return sp_cholmod_failure(cholesky->context, &cholesky->common, "factorization");

    if (cholesky->common.status == CHOLMOD_NOT_POSDEF || cholesky->factor->minor < cholesky->factor->n)
        return sp_fail(cholesky->context, SP_NUMERICAL, "the matrix is not positive definite (pivot %lld of %lld)",
                       (long long)cholesky->factor->minor, (long long)cholesky->order);
    if (cholesky->common.status != CHOLMOD_OK)
        return sp_cholmod_failure(cholesky->context, &cholesky->common, "factorization");
    cholesky->ready = true;
    return SP_OK;
}

/* Solves by CHOLMOD; returns false if it fails, with its status. */
static bool solve_block(const sp_cholesky *cholesky, solver *s, int64_t count, const double *b, double *x)
{
    size_t n = (size_t)cholesky->order;
    cholmod_dense right = {.nrow = n,
                           .ncol = (size_t)count,
                           .nzmax = n * (size_t)count,
                           .d = n,
                           .x = (void *)b,
                           .xtype = CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE};
    cholmod_dense left = right, *to = &left; /* large enough, so that CHOLMOD writes there */
    left.x = x;

    int levels = sp_blas_serial_begin(),
        done = cholmod_l_solve2(CHOLMOD_A, cholesky->factor, &right, NULL, &to, NULL, &s->y, &s->e, &s->common);
    sp_blas_serial_end(levels);
    return done && to == &left;
}

/* Solves in SIMD lanes; returns false if out of memory. */
static bool solve_lanes(const sp_cholesky *cholesky, solver *s, int groups, int64_t count, const double *b, double *x)
{
    const int64_t n = cholesky->order, *row = cholesky->factor->Perm;

    /* The workspace grows to the largest number of vectors that was asked for. */
    if (groups > s->groups) {
        sp_pool_free(&s->pool);
        s->x = sp_pool_raw(&s->pool, n * groups, sizeof *s->x);
        s->groups = s->x ? groups : 0;
    }
    if (!s->x) {
        s->common.status = CHOLMOD_OUT_OF_MEMORY;
        return false;
    }

    /* L y = b, then Lᵀ x = y */
    sp_supernodes_gather(n, row, count, groups, b, s->x);
    sp_supernodes_sweep(cholesky->factor, false, groups, s->x);
    sp_supernodes_sweep(cholesky->factor, true, groups, s->x);
    sp_supernodes_scatter(n, row, count, groups, s->x, x);
    return true;
}

int sp_cholesky_solve(sp_cholesky *cholesky, int64_t count, const double *b, double *x)
{
    if (!cholesky->ready)
        return sp_fail(cholesky->context, SP_NUMERICAL, "there is no factorization to solve with");
    if (cholesky->order == 0)
        return SP_OK;

    /* Several right-hand sides are divided into blocks for the threads, as wide as SIMD lanes allow; one is solved by
     * CHOLMOD. */
    int64_t lanes = (count + SP_LANES - 1) / SP_LANES,
            each = (lanes + cholesky->solver_count - 1) / cholesky->solver_count;
    int groups = !cholesky->lanes || count == 1 ? 0
                 : each < SP_SUPERNODES_GROUPS  ? (int)each
                                                : SP_SUPERNODES_GROUPS; /* 0: CHOLMOD's own solve */
    int64_t most = groups ? groups * SP_LANES : SOLVE_BLOCK, blocks = (count + most - 1) / most;
    int failed = -1, threads = blocks < cholesky->solver_count ? (int)blocks : cholesky->solver_count;

#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
    for (int64_t block = 0; block < blocks; block++) {
        int64_t first = block * most, width = count - first < most ? count - first : most;
        int thread = omp_get_thread_num();
        solver *own = &cholesky->solvers[thread];
        const double *from = b + first * cholesky->order;
        double *to = x + first * cholesky->order;

        if (!(groups ? solve_lanes(cholesky, own, groups, width, from, to)
                     : solve_block(cholesky, own, width, from, to)))
#pragma omp critical
            failed = thread;
    }
    return failed < 0 ? SP_OK : sp_cholmod_failure(cholesky->context, &cholesky->solvers[failed].common, "solving");
}

int sp_cholesky_negative(sp_context *context, const sp_sparse *matrix, const int64_t *node, int64_t *count)
{
    sp_cholesky cholesky = {.context = context, .order = matrix->order};
    sp_pool scratch = {0};
    int status;

    /* The signs of D in L D Lᵀ are those of the eigenvalues (Sylvester's law of inertia), which needs a simplicial
     * factor. */
    sp_cholmod_start(&cholesky.common);
    cholesky.common.supernodal = CHOLMOD_SIMPLICIAL;
    cholesky.common.final_ll = 0;

    int64_t *permutation = sp_pool_raw(&scratch, matrix->order, sizeof *permutation);
    SP_TRY(sp_allocated(context, permutation));

    SP_TRY(sp_cholmod_dissect(context, &cholesky.common, matrix, node, &scratch, permutation));
    cholesky.common.method[0].ordering = CHOLMOD_GIVEN;

    cholmod_sparse values = sp_cholmod_view(matrix);
    cholesky.factor = cholmod_l_analyze_p(&values, permutation, NULL, 0, &cholesky.common);
    if (!cholesky.factor || !cholmod_l_factorize(&values, cholesky.factor, &cholesky.common) ||
        cholesky.common.status != CHOLMOD_OK || cholesky.factor->minor < cholesky.factor->n ||
        cholesky.factor->is_super || cholesky.factor->is_ll) {
        status = sp_cholmod_failure(context, &cholesky.common, "counting eigenvalues");
        goto done;
    }

    const int64_t *start = cholesky.factor->p;
    const double *value = cholesky.factor->x;
    *count = 0;
    for (int64_t j = 0; j < matrix->order; j++)
        *count += value[start[j]] < 0; /* D is the diagonal of the unit lower factor */
done:
    sp_pool_free(&scratch);
    cholmod_l_free_factor(&cholesky.factor, &cholesky.common);
    cholmod_l_finish(&cholesky.common);
    return status;
}

cholmod_factor *sp_cholesky_factor_of(sp_cholesky *cholesky)
{
    return cholesky->factor;
}

double sp_cholesky_nonzeros(const sp_cholesky *cholesky)
{
    return cholesky->common.lnz;
}

double sp_cholesky_flops(const sp_cholesky *cholesky)
{
    return cholesky->common.fl;
}
