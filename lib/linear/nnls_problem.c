#include "linear/nnls_internal.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL = 1 << 17, /* number of operations below which more threads do not pay */
};

/* Bounds of lengths, so that products of two are in the range of doubles. */
static const double least_norm = 1e-140, largest_norm = 1e140;

static int check_norm(sp_context *context, const char *what, int64_t index, int64_t m, const double *v, double square,
                      double *norm)
{
    char name[64];
    *norm = sqrt(square);

    if (*norm >= least_norm && *norm <= largest_norm)
        return SP_OK;

    /* A column of zeros is allowed; what else is out of bounds is told by its place. */
    bool zero = true;
    snprintf(name, sizeof name, index >= 0 ? "%s %lld" : "%s", what, (long long)index);

    for (int64_t i = 0; i < m; i++) {
        if (!isfinite(v[i]))
            return sp_fail(context, SP_INPUT, "nonnegative weights: row %lld of %s is not finite", (long long)i, name);
        zero &= v[i] == 0;
    }

    if (zero)
        return SP_OK;
    return sp_fail(context, SP_INPUT, "nonnegative weights: the length of %s, %.3g, is not between 1e-140 and 1e140",
                   name, *norm);
}

int sp_nnls_make_space(sp_nnls_core *s, int64_t capacity)
{
    if (capacity <= s->capacity)
        return SP_OK;

    sp_nnls_enlarge(s, 6, (double **[]){&s->norm, &s->c, &s->x, &s->w, &s->h, &s->bytes}, s->n, capacity);
    if (s->pool.failed) {
        s->pool.failed = false;
        return sp_fail_memory(s->context);
    }

    s->capacity = capacity;
    s->state = (uint8_t *)s->bytes;
    s->been = s->state + capacity;
    memset(s->been, 0, (size_t)capacity);
    return SP_OK;
}

int sp_nnls_start(sp_nnls_core *s, sp_context *context, int64_t m, const double *b, char *local)
{
    *s = (sp_nnls_core){
        .context = context, .m = m, .stride = m, .b = b, .local = local, .local_left = local ? SP_NNLS_LOCAL : 0};

    SP_PASS(sp_dense_fits(context, m, 1));

    if (m < 1)
        return sp_fail(context, SP_INPUT, "nonnegative weights: %lld rows", (long long)m);

    sp_nnls_enlarge(s, 2, (double **[]){&s->r, &s->e}, 0, m);
    SP_PASS(sp_allocated(context, s->r));

    memcpy(s->r, b, (size_t)m * sizeof *b);
    return check_norm(context, "the right-hand side", -1, m, b, sp_dense_dot(m, b, b), &s->b_norm);
}

static void measure(sp_nnls_core *s, int64_t j)
{
    const double *a = s->A + j * s->stride;
    s->norm[j] = sp_nnls_dot(s->m, a, a);
    s->c[j] = sp_nnls_dot(s->m, a, s->b);
}

int sp_nnls_extend(sp_nnls_core *s, int64_t n)
{
    int64_t first = s->n, m = s->m;
    int status = sp_nnls_make_space(s, n > 0 ? n : 1);
    if (status != SP_OK)
        return status;

    if (m * (n - first) <= SMALL) {
        for (int64_t j = first; j < n; j++)
            measure(s, j);
    } else {
#pragma omp parallel for schedule(static) num_threads(s->context->threads)
        for (int64_t j = first; j < n; j++)
            measure(s, j);
    }

    /* c_j = a_j·b / (‖a_j‖ ‖b‖) */
    for (int64_t j = first; status == SP_OK && j < n; j++) {
        status = check_norm(s->context, "column", j, m, s->A + j * s->stride, s->norm[j], &s->norm[j]);
        s->c[j] = s->norm[j] > 0 && s->b_norm > 0 ? s->c[j] / s->norm[j] / s->b_norm : 0;
        s->x[j] = s->w[j] = s->h[j] = 0;
        s->state[j] = SP_NNLS_INACTIVE;
    }

    if (status == SP_OK)
        s->n = n;
    return status;
}

int sp_nnls_check(sp_context *context, const sp_nnls_parameters *parameters)
{
    if (!(parameters->tolerance >= 0) || parameters->most < 0 || !(parameters->least >= 0))
        return sp_fail(context, SP_INPUT, "nonnegative weights: tolerance %g and %lld weights: both must be 0 or more",
                       parameters->tolerance, (long long)parameters->most);
    return SP_OK;
}

int sp_nnls(sp_context *context, int64_t m, int64_t n, const double *A, int64_t stride, const double *b,
            const sp_nnls_parameters *parameters, double *w, sp_nnls_report *report)
{
    _Alignas(64) char local[SP_NNLS_LOCAL];
    sp_nnls_core s = {0};

    *report = (sp_nnls_report){0};
    int status = sp_nnls_check(context, parameters);
    if (status != SP_OK)
        return status;

    SP_TRY(sp_nnls_start(&s, context, m, b, local));
    SP_TRY(sp_dense_fits(context, stride, n));

    if (n < 0 || stride < m) {
        status = sp_fail(context, SP_INPUT, "nonnegative weights: %lld columns of %lld rows, %lld apart", (long long)n,
                         (long long)m, (long long)stride);
        goto done;
    }

    s.A = A;
    s.stride = stride;
    SP_TRY(sp_nnls_extend(&s, n));

    status = sp_nnls_descend(&s, parameters, report);
    memcpy(w, s.w, (size_t)n * sizeof *w);
done:
    sp_pool_free(&s.pool);
    return status;
}
