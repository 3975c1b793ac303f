/* Columns that are added one after another: the problem, its Gram matrix and its factor grow with them. */
#include "linear/nnls_internal.h"

#include <stdlib.h>
#include <string.h>

struct sp_nnls_set {
    sp_nnls_core core;
    double *b;
    sp_list columns, id; /* doubles [m, n]; int64_t [n] */
};

int sp_nnls_set_new(sp_context *context, int64_t m, const double *b, int64_t capacity, sp_nnls_set **set)
{
    int64_t size;
    *set = NULL;
    sp_nnls_set *made = calloc(1, sizeof *made);

    SP_PASS(sp_allocated(context, made));

    int status = sp_nnls_start(&made->core, context, m, b, NULL);
    if (status == SP_OK) {
        made->core.b = made->b = sp_pool_copy(&made->core.pool, b, m, sizeof *b);
        capacity = capacity < 1 ? 1 : capacity;
        if (!made->b || __builtin_mul_overflow(m, capacity, &size) ||
            !sp_list_add(&made->columns, size, sizeof(double)) || !sp_list_add(&made->id, capacity, sizeof(int64_t)))
            status = sp_fail_memory(context);
        else
            status = sp_nnls_make_space(&made->core, capacity);
        made->columns.count = made->id.count = 0;
    }

    if (status == SP_OK)
        *set = made;
    else
        sp_nnls_set_free(made);
    return status;
}

void sp_nnls_set_free(sp_nnls_set *set)
{
    if (!set)
        return;
    sp_list_free(&set->columns);
    sp_list_free(&set->id);
    sp_pool_free(&set->core.pool);
    free(set);
}

int sp_nnls_set_add(sp_nnls_set *set, int64_t count, const double *columns, const int64_t *id)
{
    sp_nnls_core *s = &set->core;
    int64_t first = s->n, n, size, listed = set->columns.count;
    if (count < 0)
        return sp_fail(s->context, SP_INPUT, "nonnegative weights: %lld columns to add", (long long)count);
    if (count == 0)
        return SP_OK;

    if (__builtin_add_overflow(first, count, &n) || __builtin_mul_overflow(s->m, n, &size))
        return sp_fail_memory(s->context);

    int status = sp_dense_fits(s->context, s->m, n);
    if (status != SP_OK)
        return status;

    double *to = sp_list_add(&set->columns, s->m * count, sizeof *to);
    s->A = set->columns.data;

    int64_t *name = to ? sp_list_add(&set->id, count, sizeof *name) : NULL;
    if (name) {
        memcpy(to, columns, (size_t)(s->m * count) * sizeof *to);
        memcpy(name, id, (size_t)count * sizeof *name);

        /* Space is doubled, so that adding one by one costs little. */
        status = sp_nnls_make_space(s, n <= s->capacity ? n : n > 2 * s->capacity ? n : 2 * s->capacity);
        if (status == SP_OK && s->H_capacity < n) {
            sp_nnls_enlarge_square(s, &s->H, first, &s->H_capacity, s->capacity);
            status = sp_allocated(s->context, s->H_capacity >= n);
        }

        if (status == SP_OK)
            status = sp_nnls_extend(s, n);
        if (status == SP_OK) {
            sp_nnls_gram_columns(s, first);
            return SP_OK;
        }
        set->id.count = first;
    } else {
        status = sp_fail_memory(s->context);
    }
    set->columns.count = listed;
    return status;
}

int sp_nnls_set_solve(sp_nnls_set *set, const sp_nnls_parameters *parameters, sp_nnls_report *report)
{
    *report = (sp_nnls_report){0};
    int status = sp_nnls_check(set->core.context, parameters);
    return status == SP_OK ? sp_nnls_descend(&set->core, parameters, report) : status;
}

void sp_nnls_set_drop(sp_nnls_set *set)
{
    sp_nnls_core *s = &set->core;
    int64_t n = 0, ld = s->H_capacity, *id = set->id.data;
    double *A = set->columns.data;
    for (int64_t j = 0; j < s->n; j++) {
        if (s->state[j] != SP_NNLS_ACTIVE)
            continue;

        /* A column moves with its norm, products and weight, and its place in the active set. */
        if (n < j) {
            memcpy(A + n * s->m, A + j * s->m, (size_t)s->m * sizeof *A);
            memcpy(s->H + n * ld, s->H + j * ld, (size_t)s->n * sizeof *A);
            double *each[] = {s->norm, s->c, s->x, s->w, s->h};
            for (int i = 0; i < 5; i++)
                each[i][n] = each[i][j];
            id[n] = id[j];

            for (int64_t i = 0; i < s->k; i++)
                if (s->S[i] == j)
                    s->S[i] = n;
        }

        n++;
    }
    /* Rows of H move forwards, so that no entry is overwritten before it is read. */
    for (int64_t j = 0; j < n; j++) {
        int64_t to = 0;
        for (int64_t i = 0; i < s->n; i++)
            if (s->state[i] == SP_NNLS_ACTIVE)
                s->H[j * ld + to++] = s->H[j * ld + i];
    }

    memset(s->state, SP_NNLS_ACTIVE, (size_t)n);
    s->n = n;
    s->aside = 0;
    set->columns.count = n * s->m;
    set->id.count = n;
}

int64_t sp_nnls_set_count(const sp_nnls_set *set)
{
    return set->core.n;
}

const int64_t *sp_nnls_set_ids(const sp_nnls_set *set)
{
    return set->id.data;
}

const double *sp_nnls_set_weights(const sp_nnls_set *set)
{
    return set->core.w;
}

const double *sp_nnls_set_columns(const sp_nnls_set *set)
{
    return set->columns.data;
}

const double *sp_nnls_set_residual(const sp_nnls_set *set)
{
    return set->core.r;
}
