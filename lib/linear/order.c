#include "linear/order.h"

#include "linear/suitesparse.h"

#include <metis.h>
#include <pthread.h>
#include <signal.h>

/* A graph as METIS takes it. */
typedef struct metis_graph {
    sp_pool pool;
    idx_t count, *start, *index;
} metis_graph;

static int make_graph(sp_context *context, int64_t count, const int64_t *start, const int64_t *index, metis_graph *g)
{
    *g = (metis_graph){.count = (idx_t)count};
    if (start[count] >= IDX_MAX || count >= IDX_MAX)
        return sp_fail(context, SP_SYSTEM, "a graph of %lld edges is too large for METIS (below %lld)",
                       (long long)start[count], (long long)IDX_MAX);
    g->start = sp_pool_raw(&g->pool, count + 1, sizeof *g->start);
    g->index = sp_pool_raw(&g->pool, start[count], sizeof *g->index);
    SP_PASS(sp_allocated(context, !g->pool.failed));

    for (int64_t i = 0; i <= count; i++)
        g->start[i] = (idx_t)start[i];
    for (int64_t k = 0; k < start[count]; k++)
        g->index[k] = (idx_t)index[k];
    return SP_OK;
}

/* METIS draws random numbers by rand, and seeds it at each call: the calls of this process take turns. */
static pthread_mutex_t metis_turn = PTHREAD_MUTEX_INITIALIZER;

typedef struct guard {
    struct sigaction term, abort;
    sigset_t mask;
} guard;

/* Nested dissection by METIS catches SIGTERM and SIGABRT while it runs, by which it also ends itself where memory is
 * out. It puts back the handlers that were there without their flags, and jumps out of its own, which leaves the signal
 * blocked where its handler was set with BSD semantics. */
static guard guard_begin(void)
{
    guard g;
    pthread_mutex_lock(&metis_turn);
    sigaction(SIGTERM, NULL, &g.term);
    sigaction(SIGABRT, NULL, &g.abort);
    pthread_sigmask(SIG_SETMASK, NULL, &g.mask);
    return g;
}

/* METIS_ERROR is SIGTERM, which was for the process and goes on to it. */
static int guard_end(const guard *g, sp_context *context, int result)
{
    sigaction(SIGTERM, &g->term, NULL);
    sigaction(SIGABRT, &g->abort, NULL);
    pthread_sigmask(SIG_SETMASK, &g->mask, NULL);
    pthread_mutex_unlock(&metis_turn);

    if (result == METIS_OK)
        return SP_OK;
    if (result == METIS_ERROR_MEMORY)
        return sp_fail_memory(context);
    if (result == METIS_ERROR)
        raise(SIGTERM);
    return sp_fail(context, SP_SYSTEM, "ordering failed (METIS status %d)", result);
}

int sp_order_dissection(sp_context *context, const sp_sparse *matrix, const int64_t *node, int64_t *permutation)
{
    const int64_t n = matrix->order;
    sp_pool scratch = {0};
    sp_sparse pattern = {0};
    metis_graph g = {0};
    int status;

    /* METIS rejects an empty graph. */
    if (n == 0)
        return SP_OK;

    /* Consecutive rows of one node are a node of the graph. */
    int64_t nodes = 0, bound = 0;
    int64_t *first = sp_pool_raw(&scratch, n + 1, sizeof *first), *number = sp_pool_raw(&scratch, n, sizeof *number);
    SP_TRY(sp_allocated(context, !scratch.failed));
    for (int64_t row = 0; row < n; row++) {
        if (row == 0 || !node || node[row] != node[row - 1])
            first[nodes++] = row;
        number[row] = nodes - 1;
    }
    first[nodes] = n;
    for (int64_t i = 0; i < nodes; i++)
        bound += matrix->start[first[i] + 1] - matrix->start[first[i]];

    sp_sparse graph = {.order = nodes,
                       .start = sp_pool_raw(&scratch, nodes + 1, sizeof *graph.start),
                       .index = sp_pool_raw(&scratch, bound, sizeof *graph.index)};
    idx_t *order = sp_pool_raw(&scratch, nodes, sizeof *order), *place = sp_pool_raw(&scratch, nodes, sizeof *place);
    SP_TRY(sp_allocated(context, !scratch.failed));

    /* Rows of a node need not have the same pattern in imported matrices: that of the first one is used for all. */
    int64_t at = 0;
    for (int64_t i = 0; i < nodes; i++) {
        graph.start[i] = at;
        int64_t last = -1;
        for (int64_t k = matrix->start[first[i]]; k < matrix->start[first[i] + 1]; k++) {
            const int64_t other = number[matrix->index[k]];
            if (other != last && other != i)
                graph.index[at++] = other;
            last = other;
        }
    }
    graph.start[nodes] = at;
    SP_TRY(sp_sparse_pattern(context, &graph, &pattern));
    SP_TRY(make_graph(context, nodes, pattern.start, pattern.index, &g));

    const guard before = guard_begin();
    const int result = METIS_NodeND(&g.count, g.start, g.index, NULL, NULL, order, place);
    SP_TRY(guard_end(&before, context, result));

    at = 0;
    for (int64_t i = 0; i < nodes; i++)
        for (int64_t row = first[order[i]]; row < first[order[i] + 1]; row++)
            permutation[at++] = row;
done:
    sp_pool_free(&g.pool);
    sp_sparse_free(&pattern);
    sp_pool_free(&scratch);
    return status;
}

int sp_order_degree(sp_context *context, const sp_sparse *matrix, int64_t *permutation)
{
    double control[AMD_CONTROL];

    amd_l_defaults(control);
    const int result = (int)amd_l_order(matrix->order, matrix->start, matrix->index, permutation, control, NULL);
    if (result == AMD_OUT_OF_MEMORY)
        return sp_fail_memory(context);
    return result < 0 ? sp_fail(context, SP_NUMERICAL, "minimum degree failed (AMD status %d)", result) : SP_OK;
}

int sp_graph_bisect(sp_context *context, int64_t count, const int64_t *start, const int64_t *index,
                    const int64_t *weight, int64_t *side)
{
    sp_pool scratch = {0};
    metis_graph g = {0};
    int status;

    SP_TRY(make_graph(context, count, start, index, &g));
    idx_t *weights = sp_pool_raw(&scratch, count, sizeof *weights), *part = sp_pool_raw(&scratch, count, sizeof *part);
    SP_TRY(sp_allocated(context, !scratch.failed));

    for (int64_t i = 0; i < count; i++)
        weights[i] = (idx_t)weight[i];

    idx_t size;
    const guard before = guard_begin();
    const int result = METIS_ComputeVertexSeparator(&g.count, g.start, g.index, weights, NULL, &size, part);
    SP_TRY(guard_end(&before, context, result));
    for (int64_t i = 0; i < count; i++)
        side[i] = part[i];
done:
    sp_pool_free(&g.pool);
    sp_pool_free(&scratch);
    return status;
}
