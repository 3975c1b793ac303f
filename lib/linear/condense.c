#include "linear/condense.h"

#include "linear/blas.h"
#include "linear/internal.h"
#include "linear/supernodes.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { SOLVE_BLOCK = 32 }; /* columns per substitution by CHOLMOD: those of ten dynamic vertices read the factor once */

/* σ and its root: powers of two, so far above every stiffness in N/m that the contribution of A_ss⁻¹ is below the last
 * digit. */
#define LARGE 0x1p200
#define LARGE_ROOT 0x1p100

struct sp_condense {
    sp_pool pool;
    sp_context *context;
    cholmod_common common;
    cholmod_factor *factor;
    int64_t order, d, s;
    int64_t *first, *last; /* [s], [d] positions of the rows in the factor */
    int64_t entries;       /* of A_dd … */
    int64_t *entry;        /* … [entries] in the matrix */
    double *saved;         /* [entries] their values, saved */
    bool *diagonal;        /* [entries] */
    int64_t capacity;      /* columns of W */
    double *W;             /* [order, capacity] right-hand sides and solutions in the order of the factor */
    int thread_count;
    cholmod_common *commons; /* [thread_count] */
    double *E;               /* [thread_count, SOLVE_BLOCK · maxesize] */
    int groups;      /* number of SIMD vectors in which several columns are substituted together; 0: by CHOLMOD */
    sp_lanes *lanes; /* [thread_count, order, groups] */
    bool ready;
};

static int reserve(sp_condense *condense, int64_t columns)
{
    if (columns <= condense->capacity)
        return SP_OK;

    sp_pool_drop(&condense->pool, condense->W);
    condense->capacity = 0;
    condense->W = sp_pool_raw(&condense->pool, condense->order * columns, sizeof *condense->W);
    SP_PASS(sp_allocated(condense->context, condense->W));
    condense->capacity = columns;
    return SP_OK;
}

/* The order of the complete matrix with the rows `last` moved to the end. */
static void put_last(int64_t n, int64_t d, const int64_t *last, const bool *is_last, int64_t *permutation)
{
    int64_t at = 0;

    for (int64_t i = 0; i < n; i++)
        if (!is_last[permutation[i]])
            permutation[at++] = permutation[i];
    memcpy(permutation + at, last, (size_t)d * sizeof *permutation);
}

static int find_entries(sp_condense *condense, const sp_sparse *matrix, const int64_t *last, const bool *is_last)
{
    /* The first pass counts the entries of A_dd, the second one lists them. */
    for (int pass = 0; pass < 2; pass++) {
        condense->entries = 0;
        for (int64_t k = 0; k < condense->d; k++)
            for (int64_t e = matrix->start[last[k]]; e < matrix->start[last[k] + 1]; e++)
                if (is_last[matrix->index[e]]) {
                    if (pass) {
                        condense->entry[condense->entries] = e;
                        condense->diagonal[condense->entries] = matrix->index[e] == last[k];
                    }
                    condense->entries++;
                }

        if (pass)
            break;
        condense->entry = sp_pool_raw(&condense->pool, condense->entries, sizeof *condense->entry);
        condense->saved = sp_pool_raw(&condense->pool, condense->entries, sizeof *condense->saved);
        condense->diagonal = sp_pool_raw(&condense->pool, condense->entries, sizeof *condense->diagonal);
        SP_PASS(sp_allocated(condense->context, !condense->pool.failed));
    }
    return SP_OK;
}

int sp_condense_new(sp_context *context, const sp_sparse *matrix, const int64_t *node, int64_t d, const int64_t *last,
                    int64_t extra, sp_condense **result)
{
    const int64_t n = matrix->order;
    sp_pool scratch = {0};
    sp_condense *condense = calloc(1, sizeof *condense);
    int status;

    SP_PASS(sp_allocated(context, condense));

    condense->context = context;
    condense->order = n;
    condense->d = d;
    condense->s = n - d;
    sp_cholmod_start(&condense->common);

    int64_t *permutation = sp_pool_raw(&scratch, n, sizeof *permutation),
            *position = sp_pool_raw(&scratch, n, sizeof *position);
    bool *is_last = sp_pool_new(&scratch, n, sizeof *is_last);
    condense->first = sp_pool_raw(&condense->pool, n - d, sizeof *condense->first);
    condense->last = sp_pool_raw(&condense->pool, d, sizeof *condense->last);
    condense->commons = sp_pool_new(&condense->pool, context->threads, sizeof *condense->commons);
    SP_TRY(sp_allocated(context, !scratch.failed && !condense->pool.failed));

    for (; condense->thread_count < context->threads; condense->thread_count++)
        sp_cholmod_start(&condense->commons[condense->thread_count]);

    for (int64_t k = 0; k < d; k++)
        is_last[last[k]] = true;
    SP_TRY(find_entries(condense, matrix, last, is_last));

    /* The rows d are last in the order, so that L_ds results from the same factorization. */
    SP_TRY(sp_cholmod_dissect(context, &condense->common, matrix, node, &scratch, permutation));
    put_last(n, d, last, is_last, permutation);

    condense->common.method[0].ordering = CHOLMOD_GIVEN;
    cholmod_sparse pattern = sp_cholmod_view(matrix);
    condense->factor = cholmod_l_analyze_p(&pattern, permutation, NULL, 0, &condense->common);
    if (!condense->factor) {
        status = sp_cholmod_failure(context, &condense->common, "analysis");
        goto done;
    }

    /* Postordered: rows d that are connected with no other row may precede rows s that they are independent of. */
    const int64_t *order = condense->factor->Perm;
    for (int64_t i = 0; i < n; i++)
        position[order[i]] = i;
    /* The positions of the rows s and d in the factor. */
    for (int64_t row = 0, s = 0, l = 0; row < n; row++)
        if (is_last[row])
            condense->last[l++] = position[row];
        else
            condense->first[s++] = position[row];

    condense->E = sp_pool_new(&condense->pool,
                              (int64_t)SOLVE_BLOCK * context->threads * (int64_t)(condense->factor->maxesize + 1),
                              sizeof *condense->E);
    SP_TRY(sp_allocated(context, condense->E));

    /* As many SIMD vectors as the columns fill. */
    condense->groups = !sp_lanes_native()         ? 0
                       : d + extra > 2 * SP_LANES ? SP_SUPERNODES_GROUPS
                                                  : (int)((d + extra + SP_LANES - 1) / SP_LANES);
    condense->lanes = sp_pool_raw(&condense->pool, condense->groups * n * context->threads, sizeof *condense->lanes);
    SP_TRY(sp_allocated(context, condense->lanes));

    SP_TRY(reserve(condense, d + extra));
done:
    sp_pool_free(&scratch);
    if (status == SP_OK)
        *result = condense;
    else
        sp_condense_free(condense);
    return status;
}

void sp_condense_free(sp_condense *condense)
{
    if (!condense)
        return;
    for (int i = 0; i < condense->thread_count; i++)
        cholmod_l_finish(&condense->commons[i]);
    cholmod_l_free_factor(&condense->factor, &condense->common);
    cholmod_l_finish(&condense->common);
    sp_pool_free(&condense->pool);
    free(condense);
}

int sp_condense_factor(sp_condense *condense, sp_sparse *matrix)
{
    cholmod_sparse values = sp_cholmod_view(matrix);
    condense->ready = false;

    /* A_dd is replaced by σ I, and restored afterwards */
    for (int64_t k = 0; k < condense->entries; k++) {
        condense->saved[k] = matrix->value[condense->entry[k]];
        matrix->value[condense->entry[k]] = condense->diagonal[k] ? LARGE : 0;
    }
    int levels = sp_blas_serial_begin(), done = cholmod_l_factorize(&values, condense->factor, &condense->common);
    sp_blas_serial_end(levels);
    for (int64_t k = 0; k < condense->entries; k++)
        matrix->value[condense->entry[k]] = condense->saved[k];

    if (!done && condense->common.status != CHOLMOD_NOT_POSDEF)
        return sp_cholmod_failure(condense->context, &condense->common, "factorization");
    if (condense->common.status == CHOLMOD_NOT_POSDEF || condense->factor->minor < condense->factor->n)
        return sp_fail(condense->context, SP_NUMERICAL, "the matrix is not positive definite (pivot %lld of %lld)",
                       (long long)condense->factor->minor, (long long)condense->s);
    if (condense->common.status != CHOLMOD_OK)
        return sp_cholmod_failure(condense->context, &condense->common, "factorization");

    condense->ready = true;
    return SP_OK;
}

static void substitute_lanes(sp_condense *condense, int thread, bool backward, int64_t first, int64_t count)
{
    const int64_t n = condense->order;
    const int groups = (int)((count + SP_LANES - 1) / SP_LANES);
    sp_lanes *lanes = condense->lanes + thread * condense->groups * n;

    sp_supernodes_gather(n, NULL, count, groups, condense->W + n * first, lanes);
    sp_supernodes_sweep(condense->factor, backward, groups, lanes);
    sp_supernodes_scatter(n, NULL, count, groups, lanes, condense->W + n * first);
}

/* Substitution in place for the columns [first, first + count) of W, on one thread. */
static bool substitute(sp_condense *condense, int thread, bool backward, int64_t first, int64_t count)
{
    if (condense->groups > 0 && count > 1) {
        substitute_lanes(condense, thread, backward, first, count);
        return true;
    }

    const size_t n = (size_t)condense->order, space = (size_t)SOLVE_BLOCK * (condense->factor->maxesize + 1);
    /* One or a few columns by CHOLMOD: L x = b, or Lᵀ x = b. */
    cholmod_dense X = {.nrow = n,
                       .ncol = (size_t)count,
                       .nzmax = n * (size_t)count,
                       .d = n,
                       .x = condense->W + condense->order * first,
                       .xtype = CHOLMOD_REAL,
                       .dtype = CHOLMOD_DOUBLE};
    cholmod_dense E = {.nrow = SOLVE_BLOCK,
                       .ncol = condense->factor->maxesize,
                       .nzmax = space,
                       .d = SOLVE_BLOCK,
                       .x = condense->E + (size_t)thread * space,
                       .xtype = CHOLMOD_REAL,
                       .dtype = CHOLMOD_DOUBLE};

    int (*const direction)(cholmod_factor *, cholmod_dense *, cholmod_dense *, cholmod_common *) =
        backward ? cholmod_l_super_ltsolve : cholmod_l_super_lsolve;

    int levels = sp_blas_serial_begin();
    const int done = direction(condense->factor, &X, &E, &condense->commons[thread]);
    sp_blas_serial_end(levels);
    return done;
}

static int substitute_all(sp_condense *condense, bool backward, int64_t first, int64_t count)
{
    const int64_t most = condense->groups > 0 ? condense->groups * SP_LANES : SOLVE_BLOCK,
                  blocks = (count + most - 1) / most;
    int failed = -1, threads = blocks < condense->thread_count ? (int)blocks : condense->thread_count;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t from = block * count / blocks, to = (block + 1) * count / blocks; /* of nearly equal widths */
        const int thread = omp_get_thread_num();
        if (!substitute(condense, thread, backward, first + from, to - from))
#pragma omp critical
            failed = thread;
    }
    return failed < 0 ? SP_OK : sp_cholmod_failure(condense->context, &condense->commons[failed], "solving");
}

int sp_condense_solve(sp_condense *condense, bool mapping, int64_t count, double *Z)
{
    const int64_t n = condense->order, s = condense->s, d = mapping ? condense->d : 0, columns = d + count;

    if (!condense->ready)
        return sp_fail(condense->context, SP_NUMERICAL, "there is no factorization to solve with");

    SP_PASS(reserve(condense, columns));
    double *W = condense->W;

    /* The columns of −A_ss⁻¹ A_sd begin with √σ in the rows d: L_dd = √σ I makes these 1 in the backward
     * substitution */
    memset(W, 0, (size_t)(n * d) * sizeof *W);
    for (int64_t k = 0; k < d; k++)
        W[n * k + condense->last[k]] = LARGE_ROOT;

    /* The other columns have b in the rows s and nothing in the rows d. */
    for (int64_t k = d; k < columns; k++) {
        for (int64_t i = 0; i < condense->d; i++)
            W[n * k + condense->last[i]] = 0;
        for (int64_t i = 0; i < s; i++)
            W[n * k + condense->first[i]] = Z[s * k + i];
    }

    SP_PASS(substitute_all(condense, false, d, count));

    /* What the forward substitution has put into the rows d is not wanted. */
    for (int64_t k = d; k < columns; k++)
        for (int64_t i = 0; i < condense->d; i++)
            W[n * k + condense->last[i]] = 0;

    SP_PASS(substitute_all(condense, true, 0, columns));

#pragma omp parallel for schedule(static) num_threads(condense->context->threads) if (n * columns > 1 << 20)
    for (int64_t k = 0; k < columns; k++)
        for (int64_t i = 0; i < s; i++)
            Z[s * k + i] = W[n * k + condense->first[i]];
    return SP_OK;
}
