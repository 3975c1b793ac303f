#include "periodic/curve.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a point, to find what lies between it and the next. */
typedef struct tests {
    double tangent, doubling, torus; /* test functions */
    int sign;
} tests;

struct sp_curve {
    sp_context *context;
    const sp_curve_parameters *parameters;
    sp_harmonic h;
    sp_floquet floquet;
    sp_continuation *continuation;
    int64_t n;                   /* equations */
    double *x, *tangent, *r, *q; /* [n + 1], residual, coefficients of q */
    double *start, *direction;   /* [n + 1] of the curve, before it is begun */
    sp_pool pool;
    sp_curve_visitor visit;
    void *data;
    sp_curve_report report;
    tests last;
    double bound;
    bool ended;
};

/* ---- points ---- */

static double relative_residual(sp_curve *t, const double *x)
{
    sp_harmonic_evaluate(&t->h, x, t->r, NULL, t->n);

    const int size = t->h.r * t->h.columns;
    const double scale = cblas_dnrm2(size, t->h.F, 1);
    return cblas_dnrm2(size, t->r, 1) / (scale > 0 ? scale : 1);
}

/* How far the multipliers are from what a special point says. */
static double event_error(const sp_floquet *f, enum sp_curve_event event)
{
    double least = INFINITY;
    if (event == SP_CURVE_REGULAR || event == SP_CURVE_BRANCH)
        return 0;

    for (int i = 0; i < 2 * f->n; i++)
        if (event == SP_CURVE_TORUS)
            least = fabs(f->im[i]) > 1e-6 ? fmin(least, fabs(hypot(f->re[i], f->im[i]) - 1)) : least;
        else
            least = fmin(least, hypot(f->re[i] - (event == SP_CURVE_FOLD ? 1 : -1), f->im[i]));
    return fmin(least, 1e300);
}

static void judge(sp_curve *t, const sp_curve_point *point)
{
    sp_curve_report *report = &t->report;
    const sp_harmonic_energy *e = &point->energy;

    report->points++;
    report->events[point->event]++;
    report->worst_residual = fmax(report->worst_residual, point->residual);

    if (t->h.kind != SP_PERIODIC_BACKBONE)
        report->worst_event = fmax(report->worst_event, event_error(&t->floquet, point->event));

    /* Over a period loads put in what damping takes out. */
    if (t->h.kind != SP_PERIODIC_BACKBONE && e->dissipated > 0)
        report->worst_balance =
            fmax(report->worst_balance, fabs(e->input - e->dissipated) / fmax(fabs(e->input), e->dissipated));
}

/* Whether free motion has reached the end of its curve: the energy that was named, or rest, to which a curve of an
 * internal resonance can return. */
static bool backbone_ends(const sp_curve *t, const double *x, double energy)
{
    const double size = cblas_dnrm2(t->h.r * (t->h.columns - 1), x + t->h.r, 1);
    return energy >= t->parameters->energy || size < 0.5 * t->parameters->start;
}

/* Passes a point on, whose multipliers are those of t->floquet. */
static int add_point(sp_curve *t, const double *x, enum sp_curve_event event)
{
    const sp_harmonic *h = &t->h;
    const double margin = h->kind == SP_PERIODIC_BACKBONE ? 1e-3 : 1e-6;

    /* q = V x */
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, h->r, h->columns, h->r, 1, h->V, h->r, x, h->r, 0, t->q,
                h->r);
    const sp_curve_point point = {.frequency = sp_harmonic_frequency(h, x),
                                  .factor = sp_harmonic_factor(h, x),
                                  .energy = sp_harmonic_energies(&t->h, x),
                                  .residual = relative_residual(t, x),
                                  .stable = sp_floquet_largest(&t->floquet) <= 1 + margin,
                                  .event = event,
                                  .coefficients = t->q,
                                  .multiplier_re = t->floquet.re,
                                  .multiplier_im = t->floquet.im};

    if (!isfinite(point.energy.start) || !isfinite(point.energy.mean) || !isfinite(point.residual) ||
        !isfinite(sp_floquet_largest(&t->floquet)))
        return sp_fail(t->context, SP_NUMERICAL, "the motion is too large: its energy is not finite");

    judge(t, &point);

    t->ended |= t->visit(t->data, &point) || t->report.points >= t->parameters->most ||
                (h->kind == SP_PERIODIC_BACKBONE && backbone_ends(t, x, point.energy.mean));
    return SP_OK;
}

static int multipliers(sp_curve *t, const double *x)
{
    return sp_floquet_multipliers(t->context, &t->floquet, &t->h, x);
}

static tests tests_of(const sp_curve *t, const double *tangent)
{
    return (tests){.tangent = tangent[t->n],
                   .doubling = sp_floquet_doubling(&t->floquet),
                   .torus = sp_floquet_torus(&t->floquet),
                   .sign = sp_continuation_sign(t->continuation)};
}

/* ---- special points ---- */

static double test_fold(void *data, const double *x, const double *tangent)
{
    (void)x;
    return tangent[((const sp_curve *)data)->n];
}

static double test_doubling(void *data, const double *x, const double *tangent)
{
    sp_curve *t = data;
    (void)tangent;
    return multipliers(t, x) == SP_OK ? sp_floquet_doubling(&t->floquet) : NAN;
}

static double test_torus(void *data, const double *x, const double *tangent)
{
    sp_curve *t = data;
    (void)tangent;
    return multipliers(t, x) == SP_OK ? sp_floquet_torus(&t->floquet) : NAN;
}

static double test_bound(void *data, const double *x, const double *tangent)
{
    const sp_curve *t = data;
    (void)tangent;
    return x[t->n] - t->bound;
}

/* Special points of a step, by their arc length from its beginning. */
typedef struct special {
    int count;
    enum sp_curve_event event[SP_CURVE_EVENTS];
    double arc[SP_CURVE_EVENTS];
} special;

/* Finds a special point of the last step, or sets *missed where it is not found: the end of the step is marked then.
 * Where the test function jumps, as the largest modulus of complex multipliers does where two of them become real,
 * there is none. */
static int find_event(sp_curve *t, enum sp_curve_event event, double (*test)(void *, const double *, const double *),
                      double start, double end, special *found, enum sp_curve_event *missed)
{
    double arc = 0;
    const int status = sp_continuation_locate(t->continuation, test, t, start, end, 1e-6, t->x, t->tangent, &arc);

    if (status == SP_NUMERICAL) {
        *missed = event;
        return SP_OK;
    }

    if (status != SP_OK || !(fabs(test(t, t->x, t->tangent)) < 1e-3))
        return status;

    /* Insertion in the order of arc lengths */
    int at = found->count++;
    for (; at > 0 && found->arc[at - 1] > arc; at--) {
        found->arc[at] = found->arc[at - 1];
        found->event[at] = found->event[at - 1];
    }

    found->arc[at] = arc;
    found->event[at] = event;
    return SP_OK;
}

/* Special points of the last step, between the states of its ends, in the order of the curve; the multipliers are those
 * of another point then. */
static int add_events(sp_curve *t, const tests *a, const tests *b, enum sp_curve_event *missed)
{
    special found = {0};
    const bool is_free = t->h.kind == SP_PERIODIC_BACKBONE;

    /* A sign that differs between both ends: of the tangent at a fold, of a test of the multipliers at the others */
    if ((a->tangent < 0) != (b->tangent < 0))
        SP_PASS(find_event(t, SP_CURVE_FOLD, test_fold, a->tangent, b->tangent, &found, missed));

    if (!is_free && (a->doubling < 0) != (b->doubling < 0))
        SP_PASS(find_event(t, SP_CURVE_DOUBLING, test_doubling, a->doubling, b->doubling, &found, missed));
    if (!is_free && (a->torus < 0) != (b->torus < 0) && a->torus > -1 && b->torus > -1)
        SP_PASS(find_event(t, SP_CURVE_TORUS, test_torus, a->torus, b->torus, &found, missed));

    for (int i = 0; i < found.count; i++) {
        SP_PASS(sp_continuation_at(t->continuation, found.arc[i], t->x, t->tangent));
        SP_PASS(multipliers(t, t->x));
        SP_PASS(add_point(t, t->x, found.event[i]));
    }
    return SP_OK;
}

/* ---- the end of the range ---- */

static double low_of(const sp_curve *t)
{
    return t->parameters->low / (t->h.kind == SP_PERIODIC_FORCE ? 1 : t->h.scale);
}

static double high_of(const sp_curve *t)
{
    return t->parameters->high / (t->h.kind == SP_PERIODIC_FORCE ? 1 : t->h.scale);
}

/* Where the last step left the range, its last point is moved to the bound. */
static int stop_at_bound(sp_curve *t, double before)
{
    const double now = sp_continuation_x(t->continuation)[t->n], low = low_of(t), high = high_of(t);
    double arc;

    if (now >= low && now <= high)
        return SP_OK;
    t->bound = now > high ? high : low;
    t->ended = true;

    const int status = sp_continuation_locate(t->continuation, test_bound, t, before - t->bound, now - t->bound, 1e-9,
                                              t->x, t->tangent, &arc);

    if (status == SP_OK)
        sp_continuation_move(t->continuation, t->x, t->tangent);
    return status;
}

/* ---- where curves start ---- */

/* The motion at the start of a response: by continuation of the load from 0, at the frequency where it starts. */
static int ramp(sp_curve *t, double frequency, double factor, double *x)
{
    sp_harmonic *h = &t->h;
    const int64_t n = (int64_t)h->r * h->columns;
    sp_continuation *c = NULL;
    const sp_continuation_parameters parameters = {0.02, 1e-9, 0.2, 1e-9, 8, 0.5};
    const sp_curve_equations equations = {h, n, sp_harmonic_evaluate, sp_harmonic_metric};

    const enum sp_periodic_kind kind = h->kind;
    const double range = h->range;
    int status;
    double *direction = t->tangent, arc;

    h->kind = SP_PERIODIC_FORCE;
    h->frequency = frequency;
    h->range = factor;

    /* The direction is the linear response, per unit of the load. */
    SP_TRY(sp_harmonic_linear(t->context, h, frequency, factor, x));
    memset(direction, 0, (size_t)(n + 1) * sizeof *direction);
    memcpy(direction + h->r, x + h->r, (size_t)(2 * h->r) * sizeof *direction);

    h->floor = fmax(1e-3 * cblas_dnrm2((int)n, direction, 1), 1e-300);
    direction[n] = factor;

    /* The start: the equilibrium without the load */
    memset(x + h->r, 0, (size_t)(2 * h->r) * sizeof *x);
    x[n] = 0;

    SP_TRY(sp_continuation_new(t->context, &equations, &parameters, x, direction, &c));

    /* Up to the full load, which the last step meets exactly */
    for (int i = 0; i < 2000 && sp_continuation_x(c)[n] < factor; i++) {
        const double before = sp_continuation_x(c)[n];
        SP_TRY(sp_continuation_step(c));
        t->bound = factor;
        if (sp_continuation_x(c)[n] < factor)
            continue;
        SP_TRY(sp_continuation_locate(c, test_bound, t, before - factor, sp_continuation_x(c)[n] - factor, 1e-9, t->x,
                                      t->tangent, &arc));
        sp_continuation_move(c, t->x, t->tangent);
        break;
    }

    memcpy(x, sp_continuation_x(c), (size_t)(n + 1) * sizeof *x);
done:
    sp_continuation_free(c);
    h->kind = kind;
    h->range = range;
    return status;
}

static int start_response(sp_curve *t)
{
    double *x = t->start, *direction = t->direction;
    sp_harmonic *h = &t->h;
    const int status = ramp(t, t->parameters->low, h->factor, x);

    memset(direction, 0, (size_t)(t->n + 1) * sizeof *direction);
    x[t->n] = low_of(t);
    direction[t->n] = 1;

    h->floor = fmax(1e-3 * cblas_dnrm2(h->r * (h->columns - 1), x + h->r, 1), 1e-300);
    return status;
}

static int start_force(sp_curve *t)
{
    double *x = t->start, *direction = t->direction;
    sp_harmonic *h = &t->h;

    h->frequency = t->parameters->frequency;
    SP_PASS(sp_harmonic_linear(t->context, h, h->frequency, 1, x));

    /* As in ramp: the linear response per unit of the load */
    memset(direction, 0, (size_t)(t->n + 1) * sizeof *direction);
    memcpy(direction + h->r, x + h->r, (size_t)(2 * h->r) * sizeof *direction);
    h->floor = 1e-2 * cblas_dnrm2(2 * h->r, direction + h->r, 1);
    direction[t->n] = 1;

    memset(x + h->r, 0, (size_t)(2 * h->r) * sizeof *x);
    x[t->n] = 0;

    /* A curve that does not begin at load 0 gets there by a ramp. */
    if (t->parameters->low > 0) {
        SP_PASS(ramp(t, h->frequency, t->parameters->low, x));
        memset(direction, 0, (size_t)(t->n + 1) * sizeof *direction);
        direction[t->n] = 1;
        x[t->n] = t->parameters->low;
    }
    return SP_OK;
}

/* The linear mode about the equilibrium, which is the constant part of x. */
static int start_backbone(sp_curve *t)
{
    double *x = t->start, *direction = t->direction;
    sp_harmonic *h = &t->h;
    const int64_t mode = t->parameters->mode, r = h->r;
    sp_pool pool = {0};
    double *eigenvalue = sp_pool_new(&pool, r, sizeof *eigenvalue), *vector = sp_pool_new(&pool, r * r, sizeof *vector);
    int status = sp_allocated(t->context, !pool.failed);

    SP_TRY(status);
    SP_TRY(sp_harmonic_modes(t->context, h, x, eigenvalue, vector));

    if (!(eigenvalue[mode] > 0)) {
        status = sp_fail(t->context, SP_INPUT, "the mode %lld has no positive frequency about the equilibrium",
                         (long long)mode + 1);
        goto done;
    }

    memset(direction, 0, (size_t)(t->n + 1) * sizeof *direction);

    /* The vector of the mode in the cosine of the first harmonic; as the reference it fixes the phase. */
    for (int64_t i = 0; i < r; i++)
        x[r + i] = direction[r + i] = h->reference[r + i] = t->parameters->start * vector[mode * r + i];
    x[t->n] = sqrt(eigenvalue[mode]) / h->scale;
done:
    sp_pool_free(&pool);
    return status;
}

/* Refuses a first point x of a backbone that is not on the linear mode of t->start; found: false where there is none.
 */
static int check_start(sp_curve *t, const double *x, bool found)
{
    const sp_harmonic *h = &t->h;
    const double linear = sp_harmonic_frequency(h, t->start) / (2 * M_PI);
    double away = 0;
    if (!found)
        return sp_fail(
            t->context, SP_USAGE,
            "no free motion is found near mode %lld at %.6g Hz: the motion where the curve starts is too large",
            (long long)t->parameters->mode + 1, linear);

    /* Within 1 % of the frequency of the linear mode, and 10 % of its size */
    for (int64_t i = h->r; i < (int64_t)h->r * h->columns; i++)
        away += (x[i] - t->start[i]) * (x[i] - t->start[i]);

    const double frequency = sp_harmonic_frequency(h, x) / (2 * M_PI);
    if (fabs(frequency / linear - 1) <= 0.01 && sqrt(away) <= 0.1 * t->parameters->start)
        return SP_OK;
    return sp_fail(
        t->context, SP_USAGE,
        "the curve would start at %.6g Hz, not on mode %lld at %.6g Hz: the motion where it starts is too large",
        frequency, (long long)t->parameters->mode + 1, linear);
}

static int find_start(sp_curve *t)
{
    SP_PASS(sp_harmonic_equilibrium(t->context, &t->h, 10, t->start));
    return (t->h.kind == SP_PERIODIC_RESPONSE ? start_response
            : t->h.kind == SP_PERIODIC_FORCE  ? start_force
                                              : start_backbone)(t);
}

/* ---- tracing ---- */

/* Tells what lies between the last point and the one at x, and passes on both. */
static int add_step(sp_curve *t, const double *x)
{
    const bool ended = t->ended; /* at the bound, behind which events are not sought */
    enum sp_curve_event event = SP_CURVE_REGULAR;

    SP_PASS(multipliers(t, x));
    const tests now = tests_of(t, sp_continuation_tangent(t->continuation));

    /* A determinant of another sign without a fold: another curve crosses. */
    if (!ended) {
        event = now.sign != t->last.sign ? SP_CURVE_BRANCH : SP_CURVE_REGULAR;
        SP_PASS(add_events(t, &t->last, &now, &event));
        SP_PASS(multipliers(t, x));
    }

    /* The phase of the next point is fixed relative to this one. */
    if (t->h.kind == SP_PERIODIC_BACKBONE)
        memcpy(t->h.reference, x, (size_t)(t->h.r * t->h.columns) * sizeof *x);

    SP_PASS(add_point(t, x, event));
    t->last = now;
    return SP_OK;
}

int sp_curve_step(sp_curve *t)
{
    const double before = sp_continuation_x(t->continuation)[t->n];
    SP_PASS(sp_continuation_step(t->continuation));
    SP_PASS(stop_at_bound(t, before));
    return add_step(t, sp_continuation_x(t->continuation));
}

static sp_curve_equations equations_of(sp_curve *t)
{
    return (sp_curve_equations){&t->h, t->n, sp_harmonic_evaluate, sp_harmonic_metric};
}

static sp_continuation_parameters steps_of(const sp_curve *t)
{
    const double most = t->parameters->resolution;
    return (sp_continuation_parameters){most / 4, 1e-9, most, 1e-9, 8, 0.35};
}

int sp_curve_begin(sp_curve *t)
{
    const sp_curve_equations equations = equations_of(t);
    const sp_continuation_parameters steps = steps_of(t);
    int status;

    SP_TRY(find_start(t));
    status = sp_continuation_new(t->context, &equations, &steps, t->start, t->direction, &t->continuation);

    /* Failure of a backbone is explained by its start. */
    if (t->h.kind == SP_PERIODIC_BACKBONE && (status == SP_OK || status == SP_NUMERICAL))
        status = check_start(t, status == SP_OK ? sp_continuation_x(t->continuation) : NULL, status == SP_OK);
    SP_TRY(status);

    const double *x = sp_continuation_x(t->continuation);
    SP_TRY(multipliers(t, x));
    t->last = tests_of(t, sp_continuation_tangent(t->continuation));
    status = add_point(t, x, SP_CURVE_REGULAR);
done:
    return status;
}

bool sp_curve_ended(const sp_curve *t)
{
    return t->ended;
}

sp_curve_report sp_curve_reported(const sp_curve *t)
{
    sp_curve_report report = t->report;
    if (t->continuation)
        report.continuation = sp_continuation_reported(t->continuation);
    return report;
}

void sp_curve_visit(sp_curve *t, sp_state *state)
{
    const sp_curve_equations equations = equations_of(t);
    const sp_continuation_parameters steps = steps_of(t);
    if (!t->continuation &&
        sp_continuation_new(t->context, &equations, &steps, NULL, NULL, &t->continuation) != SP_OK) {
        state->failed = true;
        return;
    }

    sp_continuation_visit(t->continuation, state);
    sp_state_reals(state, t->h.reference, (int64_t)t->h.r * t->h.columns);
    SP_STATE_VALUE(state, t->h.floor);
    SP_STATE_VALUE(state, t->h.frequency);
    SP_STATE_VALUE(state, t->last.tangent);
    SP_STATE_VALUE(state, t->last.doubling);
    SP_STATE_VALUE(state, t->last.torus);
    SP_STATE_VALUE(state, t->last.sign);
    SP_STATE_VALUE(state, t->report);
    SP_STATE_VALUE(state, t->ended);

    if (t->h.force.visit)
        t->h.force.visit(t->h.force.self, state);
}

/* Refuses a response through a linear resonance at rest that no damping bounds. */
static int check_resonance(sp_curve *t)
{
    const sp_harmonic *h = &t->h;
    bool damped = h->beta > 0;

    for (int i = 0; i < h->r; i++)
        damped |= h->damping[i] > 0;

    if (!damped && h->kind == SP_PERIODIC_RESPONSE)
        for (int i = 0; i < h->r; i++) {
            const double omega = sqrt(fmax(0, h->eigenvalue[i]));
            if (omega >= t->parameters->low && omega <= t->parameters->high)
                return sp_fail(
                    t->context, SP_USAGE,
                    "there is no damping, and the range of frequencies contains the resonance of mode %d at %.6g "
                    "Hz",
                    i + 1, omega / (2 * M_PI));
        }
    return SP_OK;
}

static int check_loads(sp_curve *t)
{
    const sp_harmonic *h = &t->h;
    if (h->kind == SP_PERIODIC_BACKBONE || cblas_dnrm2(h->r, h->amplitude, 1) > 0)
        return SP_OK;
    return sp_fail(t->context, SP_USAGE, "the harmonic loads have no component in the basis");
}

/* Scales of the parameter: a frequency of the model. */
static void set_scales(sp_curve *t)
{
    const sp_curve_parameters *p = t->parameters;
    sp_harmonic *h = &t->h;

    h->kind = p->kind;
    h->scale = p->kind == SP_PERIODIC_BACKBONE   ? sqrt(fmax(h->eigenvalue[p->mode], 1e-300))
               : p->kind == SP_PERIODIC_RESPONSE ? p->high
                                                 : 1;

    h->range = p->kind == SP_PERIODIC_BACKBONE ? 1 : high_of(t) - low_of(t);
    h->floor = 1e-3 * p->start;
}

static int check_mode(const sp_curve *t)
{
    const int64_t mode = t->parameters->mode;
    if (t->h.kind != SP_PERIODIC_BACKBONE || t->h.eigenvalue[mode] > 0)
        return SP_OK;
    return sp_fail(t->context, SP_INPUT, "the mode %lld has no positive frequency", (long long)mode + 1);
}

static int allocate(sp_curve *t)
{
    double **vectors[] = {&t->x, &t->tangent, &t->r, &t->q, &t->start, &t->direction};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&t->pool, t->n + 1, sizeof(double));
    return sp_allocated(t->context, !t->pool.failed);
}

int sp_curve_new(sp_context *context, const sp_periodic_model *model, const sp_curve_parameters *parameters,
                 sp_curve_visitor visit, void *data, sp_curve **curve)
{
    int status;
    sp_curve *t = calloc(1, sizeof *t);
    SP_PASS(sp_allocated(context, t));

    *t = (sp_curve){.context = context, .parameters = parameters, .visit = visit, .data = data};
    SP_TRY(sp_harmonic_new(context, model, &t->h));
    SP_TRY(sp_floquet_new(context, &t->h, &t->floquet));

    set_scales(t);
    t->n = sp_harmonic_equations(&t->h);
    SP_TRY(allocate(t));

    SP_TRY(check_loads(t));
    SP_TRY(check_mode(t));
    SP_TRY(check_resonance(t));
    *curve = t;
done:
    if (status != SP_OK)
        sp_curve_free(t);
    return status;
}

void sp_curve_free(sp_curve *t)
{
    if (!t)
        return;
    sp_continuation_free(t->continuation);
    sp_pool_free(&t->pool);
    sp_floquet_free(&t->floquet);
    sp_harmonic_free(&t->h);
    free(t);
}

int sp_curve_trace(sp_context *context, const sp_periodic_model *model, const sp_curve_parameters *parameters,
                   sp_curve_visitor visit, void *data, sp_curve_report *report)
{
    sp_curve *t = NULL;
    int status;
    *report = (sp_curve_report){0};

    SP_TRY(sp_curve_new(context, model, parameters, visit, data, &t));
    status = sp_curve_begin(t);
    while (status == SP_OK && !t->ended)
        status = sp_curve_step(t);
    *report = sp_curve_reported(t);
done:
    sp_curve_free(t);
    return status;
}
