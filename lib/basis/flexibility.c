#include "basis/flexibility.h"

#include "linear/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 64 }; /* number of columns from which the rigid part is removed at a time */

struct sp_flexibility {
    sp_pool pool;
    sp_context *context;
    sp_cholesky *factor;
    bool borrowed; /* the factor belongs to the caller */
    int64_t n, rigid_count;
    int64_t pin[6];
    double *motion; /* [n, rigid_count] basis of the part removed from displacements */
    double *force;  /* [n, rigid_count] basis of the part removed from loads; forceᵀ motion = I */
    double *inner, *work;
    const sp_rectangular *S;    /* restricted: to its range */
    sp_flexibility *restricted; /* of SᵀKS */
    double *reduced;            /* [columns, capacity] */
    int64_t capacity;
};

/* Selects as many rows of R as it has columns, by greedy pivoting, so that they are well independent. */
static int choose_pins(sp_flexibility *x, const double *rigid)
{
    int64_t n = x->n, r = x->rigid_count;
    sp_pool scratch = {0};
    double *rest = sp_pool_raw(&scratch, n * r, sizeof *rest), first = 0;
    int status = sp_allocated(x->context, !scratch.failed);

    if (status == SP_OK)
        memcpy(rest, rigid, (size_t)(n * r) * sizeof *rest);

    for (int64_t k = 0; k < r && status == SP_OK; k++) {
        double best = -1, row[6];
        for (int64_t i = 0; i < n; i++) {
            double square = 0;
            for (int64_t c = 0; c < r; c++)
                square += rest[c * n + i] * rest[c * n + i];
            /* Of candidates that are equal up to rounding the first one is selected. */
            if (square > best * (1 + 1e-9)) {
                best = square;
                x->pin[k] = i;
            }
        }

        /* The first pivot is the scale of all. */
        first = k == 0 ? best : first;
        if (!(best > 1e-16 * first))
            status = sp_fail(x->context, SP_NUMERICAL, "the body is too flat for its rigid motions to be told apart");

        /* A ← A − A r rᵀ with the unit row r that was chosen */
        for (int64_t c = 0; c < r; c++)
            row[c] = rest[c * n + x->pin[k]] / sqrt(best);
        for (int64_t i = 0; i < n; i++) {
            double along = 0;
            for (int64_t c = 0; c < r; c++)
                along += rest[c * n + i] * row[c];
            for (int64_t c = 0; c < r; c++)
                rest[c * n + i] -= along * row[c];
        }
    }
    sp_pool_free(&scratch);
    return status;
}

/* Computes K with the rows and columns of the pins replaced by their diagonal. */
static int pin(sp_flexibility *x, const sp_sparse *K, sp_sparse *pinned)
{
    int64_t entries = K->start[K->order];

    double *value = sp_pool_raw(&pinned->pool, entries, sizeof *value);
    SP_PASS(sp_allocated(x->context, value));

    memcpy(value, K->value, (size_t)entries * sizeof *value);
    pinned->order = K->order;
    pinned->start = K->start;
    pinned->index = K->index;
    pinned->value = value;

    /* The pattern is symmetric: the entries of column p are found in the rows that row p names. */
    for (int64_t p = 0; p < x->rigid_count; p++)
        for (int64_t k = K->start[x->pin[p]]; k < K->start[x->pin[p] + 1]; k++) {
            int64_t other = K->index[k];
            if (other == x->pin[p])
                continue;
            value[k] = 0;
            for (int64_t m = K->start[other]; m < K->start[other + 1]; m++)
                if (K->index[m] == x->pin[p])
                    value[m] = 0;
        }
    return SP_OK;
}

/* Computes the spans that are removed from loads and displacements. */
static int make_complement(sp_flexibility *x, const sp_sparse *M, const double *rigid, enum sp_complement complement)
{
    int64_t n = x->n, r = x->rigid_count, rank;
    sp_pool scratch = {0};
    int status = SP_OK;

    x->motion = sp_pool_raw(&x->pool, n * r, sizeof(double));
    x->force = complement == SP_COMPLEMENT_MASS ? sp_pool_raw(&x->pool, n * r, sizeof(double)) : x->motion;
    x->inner = sp_pool_raw(&x->pool, r * GROUP, sizeof(double));
    x->work = sp_pool_raw(&x->pool, sp_dense_inner_work(r, GROUP), sizeof(double));
    double *ones = sp_pool_raw(&scratch, n, sizeof *ones), R[36];

    SP_TRY(sp_allocated(x->context, !x->pool.failed && !scratch.failed));

    memcpy(x->motion, rigid, (size_t)(n * r) * sizeof *rigid);
    if (complement == SP_COMPLEMENT_MASS)
        sp_sparse_times(x->context, M, r, rigid, x->force);
    else {
        /* R is orthonormalized without the mass. */
        for (int64_t i = 0; i < n; i++)
            ones[i] = 1;
        SP_TRY(sp_metric_orthonormalize(x->context, &(sp_metric){.rows = n, .diagonal = ones}, r, x->motion, 1e-10, R,
                                        &rank));
        if (rank < r)
            status = sp_fail(x->context, SP_NUMERICAL, "the body is too flat for its rigid motions to be told apart");
    }
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_flexibility_new(sp_context *context, const sp_sparse *K, const sp_sparse *M, const int64_t *node,
                       int64_t rigid_count, const double *rigid, enum sp_complement complement,
                       const int64_t *permutation, sp_flexibility **result)
{
    sp_flexibility *x = calloc(1, sizeof *x);
    sp_sparse pinned = {0};
    int status;
    SP_PASS(sp_allocated(context, x));

    x->context = context;
    x->n = K->order;
    x->rigid_count = rigid_count;

    if (rigid_count) {
        SP_TRY(choose_pins(x, rigid));
        SP_TRY(make_complement(x, M, rigid, complement));
        SP_TRY(pin(x, K, &pinned));
    }

    SP_TRY(permutation ? sp_cholesky_new_permuted(context, K, permutation, &x->factor)
                       : sp_cholesky_new(context, K, node, &x->factor));
    status = sp_cholesky_factor(x->factor, rigid_count ? &pinned : K);
    if (status == SP_NUMERICAL)
        status = sp_fail(context, SP_NUMERICAL,
                         rigid_count ? "the stiffness matrix is not positive definite beside its %lld rigid motions"
                                     : "the stiffness matrix is not positive definite (%lld rigid motions are known)",
                         (long long)rigid_count);
done:
    sp_pool_free(&pinned.pool);
    if (status == SP_OK)
        *result = x;
    else
        sp_flexibility_free(x);
    return status;
}

int sp_flexibility_over(sp_context *context, int64_t order, sp_cholesky *factor, sp_flexibility **result)
{
    sp_flexibility *x = calloc(1, sizeof *x);
    SP_PASS(sp_allocated(context, x));
    *x = (sp_flexibility){.context = context, .n = order, .factor = factor, .borrowed = true};
    *result = x;
    return SP_OK;
}

int sp_flexibility_restricted(sp_context *context, const sp_rectangular *S, sp_flexibility *inner,
                              sp_flexibility **result)
{
    sp_flexibility *x = calloc(1, sizeof *x);

    SP_PASS(sp_allocated(context, x));
    *x = (sp_flexibility){
        .context = context, .n = S->rows, .factor = inner->factor, .borrowed = true, .S = S, .restricted = inner};
    *result = x;
    return SP_OK;
}

void sp_flexibility_free(sp_flexibility *x)
{
    if (!x)
        return;
    free(x->reduced);
    if (!x->borrowed)
        sp_cholesky_free(x->factor);
    sp_pool_free(&x->pool);
    free(x);
}

/* u ← u − B (Aᵀ u) */
static void remove_part(sp_flexibility *x, int64_t count, const double *A, const double *B, double *u)
{
    for (int64_t first = 0; first < count; first += GROUP) {
        int64_t width = count - first < GROUP ? count - first : GROUP;
        sp_dense_inner(x->context, x->n, x->rigid_count, A, width, u + first * x->n, x->inner, x->work);
        sp_dense_add(x->context, x->n, x->rigid_count, B, width, x->inner, -1, u + first * x->n);
    }
}

static int solve_restricted(sp_flexibility *x, int64_t count, const double *f, double *u)
{
    const int64_t m = x->S->columns;

    if (count > x->capacity) {
        free(x->reduced);
        x->capacity = 0;
        x->reduced = malloc((size_t)(m * count) * sizeof *x->reduced);
        SP_PASS(sp_allocated(x->context, x->reduced));
        x->capacity = count;
    }

    /* u = S (SᵀKS)⁻¹ Sᵀ f */
    for (int64_t c = 0; c < count; c++)
        sp_rectangular_transposed_times(x->S, f + c * x->n, x->reduced + c * m);
    const int status = sp_flexibility_solve(x->restricted, count, x->reduced, x->reduced);
    for (int64_t c = 0; c < count && status == SP_OK; c++)
        sp_rectangular_times(x->S, x->reduced + c * m, u + c * x->n);
    return status;
}

void sp_flexibility_balance(sp_flexibility *x, int64_t count, double *f)
{
    /* S Sᵀ f; solving has allocated the room. */
    if (x->restricted)
        for (int64_t c = 0; c < count; c++) {
            sp_rectangular_transposed_times(x->S, f + c * x->n, x->reduced);
            sp_rectangular_times(x->S, x->reduced, f + c * x->n);
        }

    if (x->rigid_count)
        remove_part(x, count, x->motion, x->force, f);
}

int sp_flexibility_solve(sp_flexibility *x, int64_t count, const double *f, double *u)
{
    if (x->restricted)
        return solve_restricted(x, count, f, u);
    if (x->rigid_count == 0)
        return sp_cholesky_solve(x->factor, count, f, u);

    /* The pins do not move, and a load in equilibrium causes no reaction in them. */
    if (u != f)
        memcpy(u, f, (size_t)(x->n * count) * sizeof *u);
    sp_flexibility_balance(x, count, u);
    for (int64_t c = 0; c < count; c++)
        for (int64_t p = 0; p < x->rigid_count; p++)
            u[c * x->n + x->pin[p]] = 0;

    int status = sp_cholesky_solve(x->factor, count, u, u);
    if (status == SP_OK)
        remove_part(x, count, x->force, x->motion, u);
    return status;
}

const sp_cholesky *sp_flexibility_factor(const sp_flexibility *x)
{
    return x->factor;
}
