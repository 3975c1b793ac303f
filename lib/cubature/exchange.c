#include "cubature/exchange.h"

#include "linear/nnls.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED = 4 };                    /* elements with the best scores that are fitted */
static const double LEAST_GAIN = 1e-3; /* of the error */
static const double DISTINCT = 1e-8;   /* of ‖a_e‖²: the least part of it outside the span */

struct sp_exchange {
    sp_context *context;
    sp_pool pool;
    sp_training *training;
    int64_t elements, rows, passes;
    double *columns;       /* [rows, elements] or NULL */
    double *square;        /* [elements] ‖a_e‖² */
    double *outside;       /* [elements] ‖P a_e‖² */
    double *along, *score; /* [elements] products with a direction; with a residual */
};

/* The support during the exchanges. */
typedef struct trial {
    sp_pool pool;
    int64_t count, *element;
    double *columns;   /* [rows, count] of the elements, normalized */
    double *others;    /* [rows, count] the same columns with that of the element to be replaced last */
    double *factor;    /* [rows, count] an orthonormal basis of them */
    double *tau;       /* [count] */
    double *weight;    /* [count] */
    double *residual;  /* [rows] */
    double *candidate; /* [rows, TRIED] */
} trial;

int64_t sp_exchange_passes(const sp_exchange *exchange)
{
    return exchange->passes;
}

void sp_exchange_free(sp_exchange *exchange)
{
    if (!exchange)
        return;
    sp_pool_free(&exchange->pool);
    free(exchange);
}

/* product [elements] = Aᵀx. */
static int products(sp_exchange *x, const double *vector, double *product)
{
    if (!x->columns) {
        x->passes++;
        return sp_training_products(x->training, vector, x->elements, NULL, product, NULL);
    }

#pragma omp parallel for schedule(static) num_threads(x->context->threads)
    for (int64_t e = 0; e < x->elements; e++)
        product[e] = cblas_ddot((int)x->rows, x->columns + e * x->rows, 1, vector, 1);
    return SP_OK;
}

static int some_columns(sp_exchange *x, int64_t count, const int64_t *element, double *to)
{
    if (!x->columns)
        return sp_training_columns(x->training, count, element, to);
    for (int64_t k = 0; k < count; k++)
        memcpy(to + k * x->rows, x->columns + element[k] * x->rows, (size_t)x->rows * sizeof *to);
    return SP_OK;
}

static int all_squares(sp_exchange *x)
{
    int status = SP_OK;

    if (x->columns) {
        int64_t *all = sp_pool_raw(&x->pool, x->elements, sizeof *all);
        SP_PASS(sp_allocated(x->context, all));
        for (int64_t e = 0; e < x->elements; e++)
            all[e] = e;

        /* With columns in memory their norms, else a pass that computes norms beside products. */
        status = sp_training_columns(x->training, x->elements, all, x->columns);
        for (int64_t e = 0; e < x->elements; e++)
            x->square[e] = cblas_dnrm2((int)x->rows, x->columns + e * x->rows, 1);
        sp_pool_drop(&x->pool, all);
    } else
        status =
            sp_training_products(x->training, sp_training_target(x->training), x->elements, NULL, x->along, x->square);

    x->passes++;
    if (status != SP_OK)
        return status;

    for (int64_t e = 0; e < x->elements; e++)
        x->square[e] *= x->square[e];
    return SP_OK;
}

int sp_exchange_new(sp_context *context, sp_training *training, int64_t elements, int64_t memory, sp_exchange **result)
{
    const double bound = memory > 0 ? (double)memory : 0x1p30;
    sp_exchange *x = calloc(1, sizeof *x);
    SP_PASS(sp_allocated(context, x));

    x->context = context;
    x->training = training;
    x->elements = elements;
    x->rows = sp_training_rows(training);

    x->square = sp_pool_raw(&x->pool, elements, sizeof *x->square);
    x->outside = sp_pool_raw(&x->pool, elements, sizeof *x->outside);
    x->along = sp_pool_raw(&x->pool, elements, sizeof *x->along);
    x->score = sp_pool_raw(&x->pool, elements, sizeof *x->score);

    /* The columns are kept if they fit. */
    if ((double)x->rows * (double)elements * sizeof *x->columns <= bound)
        x->columns = sp_pool_raw(&x->pool, x->rows * elements, sizeof *x->columns);

    int status = x->pool.failed ? sp_fail_memory(context) : all_squares(x);
    if (status == SP_OK)
        *result = x;
    else
        sp_exchange_free(x);
    return status;
}

/* An orthonormal basis of `count` columns of `from` into `to`, each of them orthogonal to those before it. */
static int orthonormalize(sp_exchange *x, int64_t count, const double *from, double *to, double *tau)
{
    const int rows = (int)x->rows, n = (int)count;

    memcpy(to, from, (size_t)(x->rows * count) * sizeof *to);
    if (LAPACKE_dgeqrf(LAPACK_COL_MAJOR, rows, n, to, rows, tau) ||
        LAPACKE_dorgqr(LAPACK_COL_MAJOR, rows, n, n, to, rows, tau))
        return sp_fail_memory(x->context);
    return SP_OK;
}

/* Updates ‖P a_e‖² of all elements by ±(q·a_e)², where q is the normalized part of the last column of t->others that is
 * orthogonal to those before it. */
static int shift_outside(sp_exchange *x, trial *t, double sign)
{
    SP_PASS(orthonormalize(x, t->count, t->others, t->factor, t->tau));
    SP_PASS(products(x, t->factor + (t->count - 1) * x->rows, x->along));

    /* ‖P a_e‖² ± (q·a_e)² */
    for (int64_t e = 0; e < x->elements; e++)
        x->outside[e] += sign * x->along[e] * x->along[e];
    return SP_OK;
}

/* Fits the first `count` columns of t->others; the weights are for normalized columns. *error is infinite if rounding
 * prevents the fit. */
static int fit(sp_exchange *x, trial *t, int64_t count, double *error)
{
    sp_nnls_report report = {.residual = 1};
    const double *b = sp_training_target(x->training);

    int status = count == 0 ? SP_OK
                            : sp_nnls(x->context, x->rows, count, t->others, x->rows, b, &(sp_nnls_parameters){0},
                                      t->weight, &report);

    *error = status == SP_OK ? report.residual : INFINITY;
    return status == SP_NUMERICAL ? SP_OK : status;
}

/* Finds the elements outside the support with the best scores, best first; returns their number. */
static int64_t best_scores(const sp_exchange *x, const trial *t, int64_t best[TRIED])
{
    double value[TRIED];
    int64_t found = 0;

    for (int64_t e = 0, k = 0; e < x->elements; e++) {
        while (k < t->count && t->element[k] < e)
            k++;
        if ((k < t->count && t->element[k] == e) || !(x->score[e] > 0) || !(x->outside[e] > DISTINCT * x->square[e]))
            continue;

        /* (a_e·ρ)² / ‖P a_e‖² */
        double v = x->score[e] * x->score[e] / x->outside[e];

        if (found == TRIED && v <= value[TRIED - 1])
            continue;

        /* Inserted where it belongs among the best so far. */
        int64_t at = found < TRIED ? found++ : TRIED - 1;
        for (; at > 0 && value[at - 1] < v; at--) {
            value[at] = value[at - 1];
            best[at] = best[at - 1];
        }

        value[at] = v;
        best[at] = e;
    }
    return found;
}

/* Copies the columns to t->others with column k last and the others in their order. */
static void put_last(const sp_exchange *x, trial *t, int64_t k)
{
    const size_t size = (size_t)x->rows * sizeof *t->others;
    for (int64_t i = 0, at = 0; i < t->count; i++)
        if (i != k)
            memcpy(t->others + at++ * x->rows, t->columns + i * x->rows, size);
    memcpy(t->others + (t->count - 1) * x->rows, t->columns + k * x->rows, size);
}

/* Replaces element number k of the support by `element` with the normalized column [rows]; the support stays
 * increasing. */
static void replace(const sp_exchange *x, trial *t, int64_t k, int64_t element, const double *column)
{
    const size_t size = (size_t)x->rows * sizeof *column;

    /* Elements between the old place and the new one move by one. */
    for (; k + 1 < t->count && t->element[k + 1] < element; k++) {
        t->element[k] = t->element[k + 1];
        memcpy(t->columns + k * x->rows, t->columns + (k + 1) * x->rows, size);
    }
    for (; k > 0 && t->element[k - 1] > element; k--) {
        t->element[k] = t->element[k - 1];
        memcpy(t->columns + k * x->rows, t->columns + (k - 1) * x->rows, size);
    }

    t->element[k] = element;
    memcpy(t->columns + k * x->rows, column, size);
}

/* Removes `element` and inserts the element that lowers *error most. */
static int try_one(sp_exchange *x, trial *t, int64_t element, double *error)
{
    const int64_t rows = x->rows, last = t->count - 1;
    int64_t k = 0, best[TRIED], chosen = -1;
    double bound = *error * (1 - LEAST_GAIN), fitted;

    while (t->element[k] != element)
        k++;
    put_last(x, t, k);

    /* ‖P_T a_e‖² = ‖P_S a_e‖² + (q·a_e)² without element k */
    SP_PASS(shift_outside(x, t, 1));

    SP_PASS(fit(x, t, last, &fitted));

    /* ρ = b − A_T w_T */
    memcpy(t->residual, sp_training_target(x->training), (size_t)rows * sizeof *t->residual);
    if (last > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)rows, (int)last, -1, t->others, (int)rows, t->weight, 1, 1,
                    t->residual, 1);

    SP_PASS(products(x, t->residual, x->score));
    const int64_t found = isfinite(fitted) ? best_scores(x, t, best) : 0;
    SP_PASS(some_columns(x, found, best, t->candidate));

    /* The best few are fitted with nonnegative weights, in the last place. */
    for (int64_t i = 0; i < found; i++) {
        cblas_dscal((int)rows, 1 / sqrt(x->square[best[i]]), t->candidate + i * rows, 1);
        memcpy(t->others + last * rows, t->candidate + i * rows, (size_t)rows * sizeof *t->others);
        SP_PASS(fit(x, t, t->count, &fitted));
        if (fitted < bound) {
            bound = *error = fitted;
            chosen = i;
        }
    }

    /* The element that joins, or k again, leaves the complement. */
    const double *joins = chosen < 0 ? t->columns + k * rows : t->candidate + chosen * rows;
    memcpy(t->others + last * rows, joins, (size_t)rows * sizeof *t->others);
    SP_PASS(shift_outside(x, t, -1));

    if (chosen >= 0)
        replace(x, t, k, best[chosen], joins);
    return SP_OK;
}

/* Computes the columns of the support, its error, and ‖P a_e‖² of all elements from scratch. */
static int start(sp_exchange *x, trial *t, double *error)
{
    const int64_t rows = x->rows;
    /* The columns are normalized, so that weights and residuals are of one scale. */
    SP_PASS(some_columns(x, t->count, t->element, t->columns));

    for (int64_t k = 0; k < t->count; k++)
        cblas_dscal((int)rows, 1 / cblas_dnrm2((int)rows, t->columns + k * rows, 1), t->columns + k * rows, 1);
    memcpy(t->others, t->columns, (size_t)(rows * t->count) * sizeof *t->others);

    SP_PASS(fit(x, t, t->count, error));
    SP_PASS(orthonormalize(x, t->count, t->columns, t->factor, t->tau));
    memcpy(x->outside, x->square, (size_t)x->elements * sizeof *x->outside);

    /* ‖P a_e‖² = ‖a_e‖² − Σ_k (q_k·a_e)² with an orthonormal basis q_k of the support */
    for (int64_t k = 0; k < t->count; k++) {
        SP_PASS(products(x, t->factor + k * rows, x->along));
        for (int64_t e = 0; e < x->elements; e++)
            x->outside[e] -= x->along[e] * x->along[e];
    }
    return SP_OK;
}

int sp_exchange_sweep(sp_exchange *x, int64_t count, int64_t *element)
{
    const int64_t rows = x->rows;
    if (count < 1 || count >= rows)
        return SP_OK;

    trial t = {.count = count};
    int64_t *order = sp_pool_copy(&t.pool, element, count, sizeof *order);
    double error;
    int status;

    t.element = sp_pool_copy(&t.pool, element, count, sizeof *t.element);
    t.columns = sp_pool_raw(&t.pool, rows * count, sizeof *t.columns);
    t.others = sp_pool_raw(&t.pool, rows * count, sizeof *t.others);
    t.factor = sp_pool_raw(&t.pool, rows * count, sizeof *t.factor);
    t.tau = sp_pool_raw(&t.pool, count, sizeof *t.tau);
    t.weight = sp_pool_raw(&t.pool, count, sizeof *t.weight);
    t.residual = sp_pool_raw(&t.pool, rows, sizeof *t.residual);
    t.candidate = sp_pool_raw(&t.pool, rows * TRIED, sizeof *t.candidate);

    SP_TRY(sp_allocated(x->context, !t.pool.failed));
    SP_TRY(start(x, &t, &error));

    /* Each element of the initial support is tried once. */
    for (int64_t k = 0; k < count; k++) {
        SP_TRY(sp_progress(x->context, (double)k / (double)count));
        SP_TRY(try_one(x, &t, order[k], &error));
    }
    memcpy(element, t.element, (size_t)count * sizeof *element);
done:
    sp_pool_free(&t.pool);
    return status;
}
