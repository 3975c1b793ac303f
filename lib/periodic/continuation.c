#include "periodic/continuation.h"

#include "base/memory.h"
#include "linear/dense.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sp_continuation {
    sp_pool pool;
    sp_context *context;
    sp_curve_equations equations;
    sp_continuation_parameters parameters;
    int order;                   /* n + 1 */
    double *x, *t, *weight;      /* the last point, its tangent, the metric there */
    double *x0, *t0, *weight0;   /* those of the point before */
    double *trial, *trial_t;     /* of the step that is tried */
    double *B, *r;               /* bordered matrix [order, order] and right-hand side */
    int *pivot;                  /* [order] */
    double step, length;         /* the next arc length; that of the last step */
    int sign, trial_sign, count; /* of determinants; Newton iterations of the last correction */
    sp_continuation_report report;
};

static double inner(const sp_continuation *c, const double *weight, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < c->order; i++)
        sum += weight[i] * a[i] * b[i];
    return sum;
}

/* Factors [J; tᵀW] at x, whose residual is put into r. Returns false if it is singular. */
static bool factor(sp_continuation *c, const double *x, const double *t, const double *weight)
{
    const int n = c->order;
    int sign = 1;

    /* The bordered matrix is regular at folds too, where J alone is singular. */
    c->equations.evaluate(c->equations.self, x, c->r, c->B, n);
    for (int j = 0; j < n; j++)
        c->B[(int64_t)j * n + n - 1] = weight[j] * t[j];

    c->report.factorizations++;
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, c->B, n, c->pivot) != 0)
        return false;

    /* The sign of the determinant: each exchange of rows and each negative pivot turns it. */
    for (int j = 0; j < n; j++)
        if ((c->pivot[j] != j + 1) != (c->B[(int64_t)j * n + j] < 0))
            sign = -sign;
    c->trial_sign = sign;
    return true;
}

static void solve(const sp_continuation *c, double *b)
{
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', c->order, 1, c->B, c->order, c->pivot, b, c->order);
}

/* Newton's method for the point of arc length s from x0 along t0, from the start in x. fresh: a factor at every
 * iteration. */
static bool correct(sp_continuation *c, const double *x0, const double *t0, const double *weight, double s, bool fresh,
                    double *x)
{
    const int n = c->order;
    double before = INFINITY;
    bool have = false;

    for (c->count = 1; c->count <= c->parameters.iterations; c->count++) {
        if (!have && !factor(c, x, t0, weight))
            return false;
        if (have)
            c->equations.evaluate(c->equations.self, x, c->r, NULL, n);

        /* The last equation: t₀ᵀ W (x − x₀) = s */
        c->r[n - 1] = -s;
        for (int i = 0; i < n; i++)
            c->r[n - 1] += weight[i] * t0[i] * (x[i] - x0[i]);

        solve(c, c->r);
        for (int i = 0; i < n; i++)
            x[i] -= c->r[i];
        c->report.iterations++;

        const double size = sqrt(inner(c, weight, c->r, c->r));
        if (!isfinite(size) || size > 1e3)
            return false;
        if (size <= c->parameters.tolerance)
            return true;

        /* The factor serves on while corrections fall by ten; at first, while they are small. */
        have = !fresh && size <= 0.1 * before;
        if (c->count == 1)
            have = !fresh && size < 0.05;
        before = size;
    }
    return false;
}

/* The unit tangent at the point whose bordered matrix was factored last. */
static bool find_tangent(sp_continuation *c, const double *weight, double *t)
{
    /* J t = 0 with t₀ᵀ W t = 1 */
    memset(t, 0, (size_t)c->order * sizeof *t);
    t[c->order - 1] = 1;
    solve(c, t);

    const double length = sqrt(inner(c, weight, t, t));
    if (!(isfinite(length) && length > 0))
        return false;
    cblas_dscal(c->order, 1 / length, t, 1);
    return true;
}

static int allocate(sp_context *context, sp_continuation *c)
{
    const int64_t n = c->order;
    double **vectors[] = {&c->x, &c->t, &c->weight, &c->x0, &c->t0, &c->weight0, &c->trial, &c->trial_t, &c->r};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&c->pool, n, sizeof(double));
    c->B = sp_pool_new(&c->pool, n * n, sizeof(double));
    c->pivot = sp_pool_new(&c->pool, n, sizeof(int));
    return sp_allocated(context, !c->pool.failed);
}

/* The start: corrected, with its tangent oriented along `direction`. */
static int begin(sp_continuation *c, const double *x, const double *direction)
{
    const size_t bytes = (size_t)c->order * sizeof *x;
    memcpy(c->x, x, bytes);
    memcpy(c->x0, x, bytes);
    c->equations.metric(c->equations.self, x, c->weight);
    memcpy(c->t0, direction, bytes);
    cblas_dscal(c->order, 1 / sqrt(inner(c, c->weight, direction, direction)), c->t0, 1);

    /* Onto the curve, orthogonally to the direction */
    if (!correct(c, c->x0, c->t0, c->weight, 0, true, c->x))
        return sp_fail(c->context, SP_NUMERICAL, "Newton's method does not converge from the start of the curve");

    /* The tangent there, in the metric of that point */
    c->equations.metric(c->equations.self, c->x, c->weight);
    if (!factor(c, c->x, c->t0, c->weight) || !find_tangent(c, c->weight, c->t))
        return sp_fail(c->context, SP_NUMERICAL, "the start of the curve is a singular point");

    memcpy(c->x0, c->x, bytes);
    memcpy(c->t0, c->t, bytes);
    memcpy(c->weight0, c->weight, bytes);
    c->sign = c->trial_sign;
    return SP_OK;
}

int sp_continuation_new(sp_context *context, const sp_curve_equations *equations,
                        const sp_continuation_parameters *parameters, const double *x, const double *direction,
                        sp_continuation **continuation)
{
    int status = sp_dense_fits(context, equations->n + 1, equations->n + 1);
    if (status != SP_OK)
        return status;

    sp_continuation *c = calloc(1, sizeof *c);
    SP_PASS(sp_allocated(context, c));

    c->context = context;
    c->equations = *equations;
    c->parameters = *parameters;
    c->order = (int)(equations->n + 1);
    c->step = parameters->first;

    status = allocate(context, c);
    if (status == SP_OK && x)
        status = begin(c, x, direction);
    if (status == SP_OK)
        *continuation = c;
    else
        sp_continuation_free(c);
    return status;
}

void sp_continuation_free(sp_continuation *c)
{
    if (!c)
        return;
    sp_pool_free(&c->pool);
    free(c);
}

/* One trial of the current step; *angle receives that between the tangents. The matrix is factored again at the
 * corrected point: the factor that Newton's method kept is of a point before it, whose tangent has the sign of another
 * side of a fold, and whose determinant that of another side of a branch point. */
static bool try_step(sp_continuation *c, double *angle)
{
    /* A step along the tangent, corrected in the plane normal to it */
    for (int i = 0; i < c->order; i++)
        c->trial[i] = c->x[i] + c->step * c->t[i];

    if (!correct(c, c->x, c->t, c->weight, c->step, false, c->trial) || !factor(c, c->trial, c->t, c->weight) ||
        !find_tangent(c, c->weight, c->trial_t))
        return false;

    *angle = acos(fmin(1, fmax(-1, inner(c, c->weight, c->t, c->trial_t))));
    return *angle <= c->parameters.turn;
}

/* The trial becomes the last point. */
static void accept(sp_continuation *c, double angle)
{
    const size_t bytes = (size_t)c->order * sizeof *c->x;
    memcpy(c->x0, c->x, bytes);
    memcpy(c->t0, c->t, bytes);
    memcpy(c->weight0, c->weight, bytes);
    memcpy(c->x, c->trial, bytes);
    memcpy(c->t, c->trial_t, bytes);

    /* The metric changes with the point, and the length of the tangent with it. */
    c->equations.metric(c->equations.self, c->x, c->weight);
    cblas_dscal(c->order, 1 / sqrt(inner(c, c->weight, c->t, c->t)), c->t, 1);
    c->sign = c->trial_sign;
    c->length = c->step;

    /* The step follows the angle between tangents, half of the most, and the number of iterations. */
    const double by_angle = c->parameters.turn / (2 * fmax(angle, 1e-12)), by_count = 6.0 / c->count;
    c->step = fmin(c->parameters.most, c->step * fmin(2, fmax(0.5, fmin(by_angle, by_count))));
}

int sp_continuation_step(sp_continuation *c)
{
    double angle = 0;

    while (!try_step(c, &angle)) {
        c->report.rejected++;
        c->step *= 0.5;
        if (c->step < c->parameters.least)
            return sp_fail(c->context, SP_NUMERICAL, "the continuation fails: its step falls below %g",
                           c->parameters.least);
    }
    accept(c, angle);
    return SP_OK;
}

const double *sp_continuation_x(const sp_continuation *c)
{
    return c->x;
}

const double *sp_continuation_tangent(const sp_continuation *c)
{
    return c->t;
}

double sp_continuation_length(const sp_continuation *c)
{
    return c->length;
}

int sp_continuation_sign(const sp_continuation *c)
{
    return c->sign;
}

int sp_continuation_at(sp_continuation *c, double s, double *x, double *tangent)
{
    for (int i = 0; i < c->order; i++)
        x[i] = c->x0[i] + s * c->t0[i];
    if (!correct(c, c->x0, c->t0, c->weight0, s, true, x) || !factor(c, x, c->t0, c->weight0) ||
        !find_tangent(c, c->weight0, tangent))
        return sp_fail(c->context, SP_NUMERICAL, "a point within a step of the continuation is not found");
    return SP_OK;
}

int sp_continuation_locate(sp_continuation *c, double (*test)(void *, const double *, const double *), void *data,
                           double start, double end, double tolerance, double *x, double *tangent, double *arc)
{
    double low = 0, high = c->length;
    bool halve = false;

    for (int i = 0; i < 60; i++) {
        /* False position, or halves where it does not shrink the interval */
        double s = low + (high - low) * start / (start - end);
        if (halve || !(s > low && s < high))
            s = 0.5 * (low + high);

        SP_PASS(sp_continuation_at(c, s, x, tangent));

        const double width = high - low, value = test(data, x, tangent);
        *arc = s;
        if ((value < 0) == (start < 0)) {
            low = s;
            start = value;
        } else {
            high = s;
            end = value;
        }

        halve = high - low > 0.5 * width;
        if (high - low <= tolerance * c->length || value == 0)
            break;
    }
    return SP_OK;
}

void sp_continuation_move(sp_continuation *c, const double *x, const double *tangent)
{
    memcpy(c->x, x, (size_t)c->order * sizeof *x);
    memcpy(c->t, tangent, (size_t)c->order * sizeof *tangent);
    c->equations.metric(c->equations.self, c->x, c->weight);
}

void sp_continuation_visit(sp_continuation *c, sp_state *state)
{
    double *vectors[] = {c->x, c->t, c->weight, c->x0, c->t0, c->weight0};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        sp_state_reals(state, vectors[i], c->order);
    SP_STATE_VALUE(state, c->step);
    SP_STATE_VALUE(state, c->length);
    SP_STATE_VALUE(state, c->sign);
    SP_STATE_VALUE(state, c->report);
}

sp_continuation_report sp_continuation_reported(const sp_continuation *c)
{
    return c->report;
}
