#include "tools/curve/curve.h"
#include "tools/simulate/keep.h"

#include <math.h>

/* The mode of a backbone, about the equilibrium under the constant loads. */
typedef struct mode {
    sp_pool pool;
    double *eigenvalue, *vector; /* [r], [r, r] of all modes in the coordinates of the basis */
} mode;

static void find_mode(sp_context *context, const curve_model *m, const curve_choice *c, mode *found)
{
    sp_harmonic h;
    const int64_t r = m->s.r;
    *found = (mode){0};
    found->eigenvalue = tool_allocate(&found->pool, r, sizeof(double));
    found->vector = tool_allocate(&found->pool, r * r, sizeof(double));
    double *eta = tool_allocate(&found->pool, r, sizeof *eta),
           *modes = tool_allocate(&found->pool, r * r, sizeof *modes);
    tool_check(sp_harmonic_new(context, &m->periodic, &h), c->model.basis);
    tool_check(sp_harmonic_equilibrium(context, &h, 10, eta), c->model.basis);
    tool_check(sp_harmonic_modes(context, &h, eta, found->eigenvalue, modes), c->model.basis);
    for (int64_t k = 0; k < r; k++)
        for (int64_t j = 0; j < r; j++)
            for (int64_t i = 0; i < r; i++)
                found->vector[k * r + i] += h.V[j * r + i] * modes[k * r + j];
    sp_harmonic_free(&h);
}

/* Where a backbone starts: a hundredth of the amplitude at its end, or a ten-thousandth of its energy. */
static double start_of(const curve_model *m, const curve_choice *c, const mode *found, int64_t k)
{
    const int64_t r = m->s.r;
    double unit = 0, start = INFINITY;
    for (int64_t i = 0; i < r; i++)
        unit += m->row[i] * found->vector[k * r + i];
    if (c->amplitude_given && unit != 0)
        start = 0.01 * c->amplitude / fabs(unit);
    if (c->energy_given && found->eigenvalue[k] > 0)
        start = fmin(start, 0.01 * sqrt(2 * c->energy / found->eigenvalue[k]));
    if (!isfinite(start))
        tool_fail(SP_USAGE, NULL, "the probe does not move in mode %lld: name another one with --probe",
                  (long long)k + 1);
    return start;
}

/* Modes of one frequency have no directions of their own: rounding would choose the motion in which the curve starts.
 */
static void check_single(const curve_model *m, const curve_choice *c, const mode *found, int64_t k)
{
    const double lambda = found->eigenvalue[k];
    for (int64_t j = 0; j < m->s.r; j++)
        if (j != k && fabs(found->eigenvalue[j] - lambda) <= 2e-6 * lambda)
            tool_fail(SP_USAGE, c->model.basis,
                      "the modes %lld and %lld have the same frequency, %.6g Hz: a backbone needs a mode of its own",
                      (long long)k + 1, (long long)j + 1, sqrt(lambda) / (2 * M_PI));
}

static void begin_backbone(sp_context *context, const curve_model *m, const curve_choice *c, sp_curve_parameters *p)
{
    mode found;
    if (c->mode > m->s.r)
        tool_fail(SP_USAGE, NULL, "--mode: %lld of %lld modes", (long long)c->mode, (long long)m->s.r);
    find_mode(context, m, c, &found);
    check_single(m, c, &found, p->mode);
    p->start = start_of(m, c, &found, p->mode);
    const double omega = sqrt(fmax(0, found.eigenvalue[p->mode]));
    if (!c->range_given) {
        p->low = 0.01 * omega;
        p->high = 100 * omega;
    }
    if (c->range_given && (omega < p->low || omega > p->high))
        tool_fail(SP_USAGE, NULL, "the mode %lld at %.6g Hz is outside of --range %g,%g", (long long)c->mode,
                  omega / (2 * M_PI), c->range[0], c->range[1]);
    sp_pool_free(&found.pool);
}

static sp_curve_parameters parameters_of(sp_context *context, const curve_model *m, const curve_choice *c)
{
    const double rate = 2 * M_PI;
    sp_curve_parameters p = {.kind = c->response   ? SP_PERIODIC_RESPONSE
                                     : c->backbone ? SP_PERIODIC_BACKBONE
                                                   : SP_PERIODIC_FORCE,
                             .low = rate * c->range[0],
                             .high = rate * c->range[1],
                             .frequency = rate * c->frequency,
                             .mode = c->mode - 1,
                             .energy = c->energy_given ? c->energy : INFINITY,
                             .most = c->points,
                             .resolution = c->resolution};
    if (c->sweep) {
        p.low = c->range_given ? c->range[0] : 0;
        p.high = c->range_given ? c->range[1] : 1;
    }
    if (c->backbone)
        begin_backbone(context, m, c, &p);
    return p;
}

/* A curve that is traced, as keep.h sees it. */
typedef struct tracing {
    sp_curve *curve;
    curve_points *points;
} tracing;

static void visit_state(void *self, int64_t done, sp_state *state)
{
    (void)done;
    sp_curve_visit(((tracing *)self)->curve, state);
}

static void load_point(void *self, sp_state *state)
{
    curve_points_load(((tracing *)self)->points, state);
}

/* Traces to the end, or with --partial to what the checkpoint keeps. */
static int follow(sp_context *context, const curve_choice *c, tracing *t, simulate_keep *keep)
{
    int64_t done = keep_resume(keep);
    int status = done ? SP_OK : sp_curve_begin(t->curve);
    for (; status == SP_OK && !sp_curve_ended(t->curve) && !c->model.partial;
         status = status == SP_OK ? sp_curve_step(t->curve) : status) {
        done = sp_curve_reported(t->curve).points;
        keep_step(keep, done);
        status = sp_progress(context, fmin(1, (double)done / (double)c->points));
    }
    return status;
}

static void say(const curve_points *points, const sp_curve_report *report)
{
    char full[60] = "";
    if (report->worst_event > 1e-4)
        tool_warn(tool_output_path(),
                  "at a special point a Floquet multiplier is off by %.2g from what the point says: %lld harmonics are "
                  "too few there, name more by --harmonics",
                  report->worst_event, (long long)points->choice->harmonics);
    if (points->full)
        snprintf(full, sizeof full, ", residual in the full-order equation up to %.2g", points->worst_full);
    tool_say("%lld points, %lld folds, %lld period doublings, %lld Neimark-Sacker points, energy balance within "
             "%.1e%s",
             (long long)report->points, (long long)report->events[SP_CURVE_FOLD],
             (long long)report->events[SP_CURVE_DOUBLING], (long long)report->events[SP_CURVE_TORUS],
             report->worst_balance, full);
}

void curve_trace(sp_context *context, const curve_choice *c)
{
    curve_model model;
    curve_full full = {0};
    tracing t = {0};
    tool_output *output = tool_output_open(tool_output_path()), *table = c->table ? tool_output_open(c->table) : NULL;
    curve_model_read(context, c, &model);
    const sp_curve_parameters parameters = parameters_of(context, &model, c);
    curve_points points = {.model = &model, .choice = c, .kind = parameters.kind};
    if (c->residual) {
        curve_full_new(&model, c, &full);
        curve_full_residual_new(&model, c->harmonics, &full);
        points.full = &full;
    }
    tool_check(sp_curve_new(context, &model.periodic, &parameters, curve_points_add, &points, &t.curve),
               model.s.mesh.path);
    t.points = &points;
    simulate_keep *keep = keep_open(c->model.checkpoint, c->model.partial,
                                    &(simulate_kept_run){&t, -1, "points", visit_state, load_point});
    points.recorded = keep_recording(keep);
    const int status = follow(context, c, &t, keep);
    const sp_curve_report report = sp_curve_reported(t.curve);
    if (report.points == 0 && status == SP_USAGE && c->backbone)
        tool_hint(
            "it starts at a hundredth of --amplitude, or at a ten-thousandth of --energy: name a smaller one, or a "
            "--probe that moves more in the mode");
    if (report.points == 0 || status == SP_SYSTEM)
        tool_check(status, model.s.mesh.path);
    if (table)
        curve_points_table(&points, table);
    curve_points_write(&points, &report, status == SP_OK && sp_curve_ended(t.curve), output);
    keep_finish(keep);
    say(&points, &report);
    if (status != SP_OK)
        tool_fail(status, tool_output_path(), "it has the %lld points before the failure: %s", (long long)report.points,
                  context->message);
    sp_curve_free(t.curve);
    curve_points_free(&points);
    curve_full_free(&full);
    curve_model_free(&model);
}
