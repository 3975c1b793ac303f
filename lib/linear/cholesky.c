#include "linear/cholesky.h"

#include "linear/fronts.h"
#include "linear/order.h"
#include "linear/supernodes.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* Columns per solve by BLAS, which reuse the factor in products of matrices and still give enough blocks for the
 * threads. */
enum { SOLVE_BLOCK = 16 };

/* The least product of entries of L and columns at which threads share the units of one solve (measured on two cores:
 * no gain at 0.35 million entries and one column, 1.2 times as fast at 1 million, 1.6 times at 3 million). */
#define SHARED_WORK 1e6

struct sp_cholesky {
    sp_context *context;
    sp_pool pool;
    sp_symbolic symbolic;
    sp_fronts *fronts;
    double *L;
    bool ready;
    bool lanes;     /* several right-hand sides are solved in SIMD lanes */
    int64_t below;  /* most rows below a supernode */
    int64_t width;  /* of the workspaces */
    int threads;    /* of solves, as there were at the analysis */
    double **space; /* [threads] of [places + below, width] */
    char *tokens;   /* [units + 1] an address for each, for depend clauses only */
    int64_t *permutation;
};

/* Memory for the factor from the pool. */
static int make_factor(sp_context *context, const sp_symbolic *symbolic, const sp_fronts *fronts, sp_pool *pool,
                       double **L)
{
    const int64_t numbers = symbolic->value[symbolic->count];
    const double needed = sizeof **L * (double)numbers + sp_fronts_memory(fronts),
                 left = context->memory_left ? context->memory_left() : INFINITY;

    if (needed > left)
        return sp_fail(context, SP_SYSTEM, "the factorization needs %.3g GB of memory, and %.3g GB are left",
                       1e-9 * needed, 1e-9 * left);
    *L = sp_pool_raw(pool, numbers, sizeof **L);
    return sp_allocated(context, *L);
}

/* Analysis and memory for the factor; permutation NULL: nested dissection of the nodes. */
static int analyse(sp_context *context, const sp_sparse *matrix, const int64_t *node, const int64_t *permutation,
                   sp_cholesky **result)
{
    sp_cholesky *cholesky = calloc(1, sizeof *cholesky);
    int status;

    SP_PASS(sp_allocated(context, cholesky));
    cholesky->context = context;
    cholesky->lanes = sp_supernodes_fast();
    cholesky->threads = context->threads;

    cholesky->permutation = permutation ? sp_pool_copy(&cholesky->pool, permutation, matrix->order, sizeof *permutation)
                                        : sp_pool_raw(&cholesky->pool, matrix->order, sizeof *permutation);
    cholesky->space = sp_pool_new(&cholesky->pool, context->threads, sizeof *cholesky->space);
    SP_TRY(sp_allocated(context, !cholesky->pool.failed));
    if (!permutation)
        SP_TRY(sp_order_dissection(context, matrix, node, cholesky->permutation));

    const sp_symbolic *symbolic = &cholesky->symbolic;
    SP_TRY(sp_symbolic_new(context, matrix, cholesky->permutation, &cholesky->symbolic));
    SP_TRY(sp_fronts_new(context, symbolic, &cholesky->fronts));
    for (int64_t s = 0; s < symbolic->count; s++) {
        const int64_t below = sp_symbolic_rows(symbolic, s) - sp_symbolic_columns(symbolic, s);
        cholesky->below = below > cholesky->below ? below : cholesky->below;
    }
    SP_TRY(make_factor(context, symbolic, cholesky->fronts, &cholesky->pool, &cholesky->L));
    cholesky->tokens = sp_pool_new(&cholesky->pool, symbolic->unit_count + 1, sizeof *cholesky->tokens);
    SP_TRY(sp_allocated(context, cholesky->tokens));
done:
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

const int32_t *sp_cholesky_position(const sp_cholesky *cholesky)
{
    return cholesky->symbolic.position;
}

void sp_cholesky_free(sp_cholesky *cholesky)
{
    if (!cholesky)
        return;
    sp_fronts_free(cholesky->fronts);
    sp_symbolic_free(&cholesky->symbolic);
    sp_pool_free(&cholesky->pool);
    free(cholesky);
}

int sp_cholesky_factor(sp_cholesky *cholesky, const sp_sparse *matrix)
{
    int64_t pivot;

    cholesky->ready = false;
    SP_PASS(sp_fronts_factor(cholesky->fronts, matrix, cholesky->L, NULL, &pivot));
    cholesky->ready = true;
    return SP_OK;
}

/* Columns that are solved together, and how. */
typedef struct block {
    const sp_cholesky *cholesky;
    bool forward, backward;
    int groups;         /* SIMD vectors; 0: by BLAS */
    int64_t width;      /* columns */
    const int32_t *row; /* [order] the row in b and x of each position; NULL: the same */
    const double *b;    /* [order, width] */
    double *x, *space;
} block;

/* SIMD vectors in each block: `count` columns are divided evenly into as few blocks as possible, but at least into
 * `parts` blocks if there are so many vectors. */
static int groups_for(const sp_cholesky *cholesky, int64_t count, int64_t parts)
{
    if (!cholesky->lanes || count == 1)
        return 0;

    const int64_t vectors = (count + SP_LANES - 1) / SP_LANES,
                  least = (vectors + SP_SUPERNODES_GROUPS - 1) / SP_SUPERNODES_GROUPS,
                  wanted = parts < vectors ? parts : vectors, blocks = wanted > least ? wanted : least;
    return (int)((vectors + blocks - 1) / blocks);
}

/* Columns of such a block. */
static int64_t width_of(int groups, int64_t count)
{
    return groups ? groups * SP_LANES : count < SOLVE_BLOCK ? count : SOLVE_BLOCK;
}

int sp_cholesky_reserve(sp_cholesky *cholesky, int64_t count)
{
    if (count < 1)
        return SP_OK;

    const int64_t width = width_of(groups_for(cholesky, count, 1), count);

    if (width <= cholesky->width)
        return SP_OK;
    cholesky->width = 0;
    for (int t = 0; t < cholesky->threads; t++) {
        sp_pool_drop(&cholesky->pool, cholesky->space[t]);
        cholesky->space[t] = sp_pool_raw(&cholesky->pool, (cholesky->symbolic.places + cholesky->below) * width,
                                         sizeof *cholesky->space[t]);
        SP_PASS(sp_allocated(cholesky->context, cholesky->space[t]));
    }
    cholesky->width = width;
    return SP_OK;
}

/* Gathers or scatters the rows of a unit. */
static void move_rows(const block *k, const sp_unit *unit, bool gather)
{
    const sp_symbolic *s = &k->cholesky->symbolic;
    const int64_t first = s->first[unit->first], end = s->first[unit->last + 1], n = s->order;

    if (k->groups && gather)
        sp_supernodes_gather(first, end, k->row, n, k->width, k->groups, k->b, (sp_lanes *)k->space);
    else if (k->groups)
        sp_supernodes_scatter(first, end, k->row, n, k->width, k->groups, (const sp_lanes *)k->space, k->x);
    else
        for (int64_t c = 0; c < k->width; c++)
            for (int64_t i = first; i < end; i++) {
                const int64_t outer = c * n + (k->row ? k->row[i] : i), inner = c * s->places + i;
                if (gather)
                    k->space[inner] = k->b[outer];
                else
                    k->x[outer] = k->space[inner];
            }
}

static void sweep_unit(const block *k, const sp_unit *unit, bool back)
{
    const sp_cholesky *cholesky = k->cholesky;
    const sp_symbolic *s = &cholesky->symbolic;

    if (!back || !k->forward)
        move_rows(k, unit, true);
    if (k->groups)
        sp_supernodes_sweep(s, cholesky->L, unit, back, k->groups, (sp_lanes *)k->space);
    else
        sp_supernodes_columns(s, cholesky->L, unit, back, k->width, k->space,
                              cholesky->space[omp_get_thread_num()] + s->places * cholesky->width);
    if (back || !k->backward)
        move_rows(k, unit, false);
}

/* All units: forward children before parents, then backward parents before children. */
static void sweep_one_by_one(const block *k)
{
    const sp_symbolic *s = &k->cholesky->symbolic;

    if (k->forward)
        for (int64_t u = 0; u < s->unit_count; u++)
            sweep_unit(k, &s->units[u], false);
    if (k->backward)
        for (int64_t u = s->unit_count - 1; u >= 0; u--)
            sweep_unit(k, &s->units[u], true);
}

static void make_forward_tasks(const block *k, char *token)
{
    const sp_symbolic *s = &k->cholesky->symbolic;
    (void)token; /* used in depend clauses only */

    for (int64_t u = 0, count; u < s->unit_count; u += count) {
        const sp_unit *unit = &s->units[u];
        count = sp_symbolic_batch(s, u, 1);
#pragma omp task depend(inout : token[u]) depend(in : token[unit->parent])
        for (int64_t i = 0; i < count; i++)
            sweep_unit(k, unit + i, false);
    }
}

static void make_backward_tasks(const block *k, char *token)
{
    const sp_symbolic *s = &k->cholesky->symbolic;
    (void)token;

    for (int64_t u = s->unit_count - 1, count; u >= 0; u -= count) {
        const sp_unit *unit = &s->units[u];
        count = sp_symbolic_batch(s, u, -1);
#pragma omp task depend(in : token[unit->parent]) depend(inout : token[u])
        for (int64_t i = 0; i < count; i++)
            sweep_unit(k, unit - i, true);
    }
}

/* The same by tasks, which thread 0 makes and all take. */
static void sweep_in_tasks(const block *k)
{
#pragma omp parallel num_threads(k->cholesky->threads)
    if (omp_get_thread_num() == 0) {
        if (k->forward)
            make_forward_tasks(k, k->cholesky->tokens);
#pragma omp taskwait
        if (k->backward)
            make_backward_tasks(k, k->cholesky->tokens);
    }
}

/* Block k of `count` columns that are divided as `all` says, in the workspace of the thread. */
static void sweep_block(const block *all, int64_t k, int64_t count, void (*sweep)(const block *))
{
    const int64_t first = k * all->width, n = all->cholesky->symbolic.order;
    block own = *all;

    own.width = count - first < all->width ? count - first : all->width;
    own.b += first * n;
    own.x += first * n;
    own.space = all->cholesky->space[omp_get_thread_num()];
    sweep(&own);
}

/* x = L⁻¹ b, L⁻ᵀ b, or both in this order, for `count` columns; row as in block. */
static int substitute(sp_cholesky *cholesky, bool forward, bool backward, const int32_t *row, int64_t count,
                      const double *b, double *x)
{
    const sp_symbolic *s = &cholesky->symbolic;
    const int threads = cholesky->threads;

    if (!cholesky->ready)
        return sp_fail(cholesky->context, SP_NUMERICAL, "there is no factorization to solve with");
    if (s->order == 0 || count == 0)
        return SP_OK;

    /* The threads divide the blocks of columns or, where those are few, the units of each. */
    SP_PASS(sp_cholesky_reserve(cholesky, count));
    const int64_t widest = width_of(groups_for(cholesky, count, 1), count), fewest = (count + widest - 1) / widest;
    const bool shared = threads > 1 && s->unit_count > 1 && fewest < 2 * threads &&
                        (double)s->value[s->count] * (double)widest >= SHARED_WORK;
    const int groups = groups_for(cholesky, count, shared ? 1 : threads);
    const int64_t most = width_of(groups, count), blocks = (count + most - 1) / most;

    /* A parallel region inside of another one, even of one thread, would start new threads. */
    const block all = {.cholesky = cholesky,
                       .forward = forward,
                       .backward = backward,
                       .groups = groups,
                       .width = most,
                       .row = row,
                       .b = b,
                       .x = x};
    for (int64_t k = 0; shared && k < blocks; k++)
        sweep_block(&all, k, count, sweep_in_tasks);
    if (shared)
        return SP_OK;

#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && blocks > 1)
    for (int64_t k = 0; k < blocks; k++)
        sweep_block(&all, k, count, sweep_one_by_one);
    return SP_OK;
}

int sp_cholesky_solve(sp_cholesky *cholesky, int64_t count, const double *b, double *x)
{
    return substitute(cholesky, true, true, cholesky->symbolic.row, count, b, x);
}

int sp_cholesky_substitute(sp_cholesky *cholesky, bool backward, int64_t count, double *x)
{
    return substitute(cholesky, !backward, backward, NULL, count, x, x);
}

int sp_cholesky_negative(sp_context *context, const sp_sparse *matrix, const int64_t *node, int64_t *count)
{
    const int64_t n = matrix->order;
    sp_pool scratch = {0};
    sp_symbolic symbolic = {0};
    sp_fronts *fronts = NULL;
    int64_t pivot;
    int status;

    int64_t *permutation = sp_pool_raw(&scratch, n, sizeof *permutation);
    double *sign = sp_pool_raw(&scratch, n, sizeof *sign);
    SP_TRY(sp_allocated(context, !scratch.failed));
    SP_TRY(sp_order_dissection(context, matrix, node, permutation));
    SP_TRY(sp_symbolic_new(context, matrix, permutation, &symbolic));
    SP_TRY(sp_fronts_new(context, &symbolic, &fronts));

    /* The signs of S in L S Lᵀ are those of the eigenvalues (Sylvester's law of inertia). */
    double *L;
    SP_TRY(make_factor(context, &symbolic, fronts, &scratch, &L));
    SP_TRY(sp_fronts_factor(fronts, matrix, L, sign, &pivot));
    *count = 0;
    for (int64_t j = 0; j < n; j++)
        *count += sign[j] < 0;
done:
    sp_fronts_free(fronts);
    sp_symbolic_free(&symbolic);
    sp_pool_free(&scratch);
    return status;
}

double sp_cholesky_nonzeros(const sp_cholesky *cholesky)
{
    return cholesky->symbolic.nonzeros;
}

double sp_cholesky_flops(const sp_cholesky *cholesky)
{
    return cholesky->symbolic.flops;
}
