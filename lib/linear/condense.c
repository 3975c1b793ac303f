#include "linear/condense.h"

#include "linear/cholesky.h"
#include "linear/order.h"

#include <stdlib.h>
#include <string.h>

/* σ and its root: powers of two, so far above every stiffness in N/m that the contribution of A_ss⁻¹ is below the last
 * digit. */
#define LARGE 0x1p200
#define LARGE_ROOT 0x1p100

struct sp_condense {
    sp_pool pool;
    sp_context *context;
    sp_cholesky *factor;
    int64_t order, d, s;
    int64_t *first, *last; /* [s], [d] positions of the rows in the factor */
    int64_t entries;       /* of A_dd … */
    int64_t *entry;        /* … [entries] in the matrix */
    double *saved;         /* [entries] their values, saved */
    bool *diagonal;        /* [entries] */
    int64_t capacity;      /* columns of W */
    double *W;             /* [order, capacity] right-hand sides and solutions in the order of the factor */
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
    for (int64_t k = 0; k < condense->d; k++) {
        bool diagonal = false;
        for (int64_t e = matrix->start[last[k]]; e < matrix->start[last[k] + 1]; e++)
            diagonal |= matrix->index[e] == last[k];
        if (!diagonal)
            return sp_fail(condense->context, SP_INPUT, "row %lld of the matrix stores no diagonal entry",
                           (long long)last[k]);
    }

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

    int64_t *permutation = sp_pool_raw(&scratch, n, sizeof *permutation);
    bool *is_last = sp_pool_new(&scratch, n, sizeof *is_last);
    condense->first = sp_pool_raw(&condense->pool, n - d, sizeof *condense->first);
    condense->last = sp_pool_raw(&condense->pool, d, sizeof *condense->last);
    SP_TRY(sp_allocated(context, !scratch.failed && !condense->pool.failed));

    for (int64_t k = 0; k < d; k++)
        is_last[last[k]] = true;
    SP_TRY(find_entries(condense, matrix, last, is_last));

    /* The rows d are last in the order, so that L_ds results from the same factorization. */
    SP_TRY(sp_order_dissection(context, matrix, node, permutation));
    put_last(n, d, last, is_last, permutation);
    SP_TRY(sp_cholesky_new_permuted(context, matrix, permutation, &condense->factor));

    /* Postordered: rows d that are connected with no other row may precede rows s that they are independent of. */
    const int32_t *position = sp_cholesky_position(condense->factor);
    /* The positions of the rows s and d in the factor. */
    for (int64_t row = 0, s = 0, l = 0; row < n; row++)
        if (is_last[row])
            condense->last[l++] = position[row];
        else
            condense->first[s++] = position[row];

    SP_TRY(reserve(condense, d + extra));
    SP_TRY(sp_cholesky_reserve(condense->factor, d + extra));
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
    sp_cholesky_free(condense->factor);
    sp_pool_free(&condense->pool);
    free(condense);
}

int sp_condense_factor(sp_condense *condense, sp_sparse *matrix)
{
    /* A_dd is replaced by σ I, and restored afterwards */
    for (int64_t k = 0; k < condense->entries; k++) {
        condense->saved[k] = matrix->value[condense->entry[k]];
        matrix->value[condense->entry[k]] = condense->diagonal[k] ? LARGE : 0;
    }
    const int status = sp_cholesky_factor(condense->factor, matrix);
    for (int64_t k = 0; k < condense->entries; k++)
        matrix->value[condense->entry[k]] = condense->saved[k];
    return status;
}

int sp_condense_solve(sp_condense *condense, bool mapping, int64_t count, double *Z)
{
    const int64_t n = condense->order, s = condense->s, d = mapping ? condense->d : 0, columns = d + count;

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

    SP_PASS(sp_cholesky_substitute(condense->factor, false, count, W + n * d));

    /* What the forward substitution has put into the rows d is not wanted. */
    for (int64_t k = d; k < columns; k++)
        for (int64_t i = 0; i < condense->d; i++)
            W[n * k + condense->last[i]] = 0;

    SP_PASS(sp_cholesky_substitute(condense->factor, true, columns, W));

#pragma omp parallel for schedule(static) num_threads(condense->context->threads) if (n * columns > 1 << 20)
    for (int64_t k = 0; k < columns; k++)
        for (int64_t i = 0; i < s; i++)
            Z[s * k + i] = W[n * k + condense->first[i]];
    return SP_OK;
}
