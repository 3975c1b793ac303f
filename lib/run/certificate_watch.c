#include "run/certificate_watch.h"

#include "model/load_fields.h"

#include <math.h>
#include <string.h>

/* The factors of the fields of the certificate in every load. */
static int find_loads(sp_context *context, sp_certificate_watch *w, int64_t *missing)
{
    const sp_run_body *body = w->body;
    const int64_t count = 3 + w->certificate->loads.count;

    for (int64_t l = 0; l < body->load_count; l++) {
        bool known = false;
        if (body->loads[l].kind == SP_LOAD_SPRING)
            return sp_fail(context, SP_USAGE, "load %lld is a spring, which a certificate cannot contain",
                           (long long)l + 1);

        const int status = sp_load_fields_factors(context, body->space, &w->certificate->loads, l + 1, &body->loads[l],
                                                  w->factor + l * count + 3, &known);
        if (status != SP_OK)
            return status;
        if (!known) {
            *missing = l + 1;
            return sp_fail(context, SP_USAGE, "it was not made for the place of load %lld", (long long)l + 1);
        }
    }
    return SP_OK;
}

int sp_certificate_watch_new(sp_context *context, const sp_run_body *body, const sp_certificate *certificate,
                             sp_certificate_watch *watch, int64_t *missing)
{
    const int64_t r = body->model->r, loads = 3 + certificate->loads.count;
    sp_certificate_watch *w = watch;

    *w = (sp_certificate_watch){.body = body, .certificate = certificate};
    *missing = 0;
    w->factor = sp_pool_new(&w->pool, loads * body->load_count, sizeof *w->factor);
    w->load = sp_pool_new(&w->pool, loads, sizeof *w->load);
    w->acceleration = sp_pool_new(&w->pool, r, sizeof *w->acceleration);
    w->part = sp_pool_new(&w->pool, 2 * r, sizeof *w->part);
    w->work = sp_pool_new(&w->pool, sp_certificate_columns(r, certificate->loads.count), sizeof *w->work);

    const int status = w->pool.failed ? sp_fail_memory(context) : find_loads(context, w, missing);
    if (status != SP_OK)
        sp_certificate_watch_free(w);
    return status;
}

void sp_certificate_watch_free(sp_certificate_watch *watch)
{
    sp_pool_free(&watch->pool);
}

/* The factors of the fields of the certificate at a time. */
static void apply_loads(sp_certificate_watch *w, double time)
{
    const sp_run_body *body = w->body;
    const int64_t count = 3 + w->certificate->loads.count;

    memset(w->load, 0, (size_t)count * sizeof *w->load);
    for (int i = 0; i < 3; i++)
        w->load[i] = sp_run_body_gravity_share(body, time) * body->gravity[i];

    for (int64_t l = 0; l < body->load_count; l++) {
        const double share = sp_run_body_load_share(body, &body->loads[l], time);
        for (int64_t k = 3; k < count; k++)
            w->load[k] += share * w->factor[l * count + k];
    }
}

static double kinetic(sp_certificate_watch *w, const double *v)
{
    const sp_system *system = &w->body->model->system;
    double sum = 0;
    system->mass_times(system->self, v, w->part);
    for (int64_t i = 0; i < w->body->model->r; i++)
        sum += 0.5 * v[i] * w->part[i];
    return sum;
}

static double relative(double error, double motion)
{
    return error > 0 ? sqrt(error / (error + motion)) : 0;
}

static void add(sp_certificate_watch *w)
{
    const bool statics = w->body->statics;
    const double *energy = w->energy;
    sp_certified *e = &w->estimates;
    for (int k = 0; k < SP_CERTIFIED_COUNT; k++)
        e->energy[k] = fmax(e->energy[k], energy[k]);

    const double *of = statics ? energy : e->energy, basis = relative(of[SP_CERTIFIED_BASIS], of[SP_CERTIFIED_MOTION]),
                 quadrature = relative(of[SP_CERTIFIED_QUADRATURE], of[SP_CERTIFIED_MOTION]);
    e->basis = statics ? fmax(e->basis, basis) : basis;
    e->quadrature = statics ? fmax(e->quadrature, quadrature) : quadrature;
}

int sp_certificate_watch_measure(sp_certificate_watch *w)
{
    const sp_run_body *body = w->body;
    const double time = sp_integrator_time(body->integrator), *q = sp_integrator_q(body->integrator),
                 *v = sp_integrator_v(body->integrator);
    sp_certificate_norms norms;

    /* The norms of the residual R (reduced/certificate.h) */
    apply_loads(w, time);
    const int status = sp_run_body_accelerate(body, w->part, w->acceleration);
    if (status != SP_OK)
        return status;
    const sp_certificate_state state = {.q = q,
                                        .rate = body->statics ? NULL : v,
                                        .acceleration = w->acceleration,
                                        .load = w->load,
                                        .damping_stiffness = body->damping_stiffness};
    sp_certificate_evaluate(w->certificate, &state, w->work, &norms);

    /* The energy of an error e is ½ ‖e‖²_K, with ‖e‖_K = ‖R‖_K⁻¹. */
    w->energy[SP_CERTIFIED_BASIS] = 0.5 * norms.basis * norms.basis;
    w->energy[SP_CERTIFIED_QUADRATURE] = 0.5 * norms.quadrature * norms.quadrature;
    w->energy[SP_CERTIFIED_MOTION] = 0.5 * norms.strain * norms.strain + (body->statics ? 0 : kinetic(w, v));
    for (int k = 0; k < SP_CERTIFIED_COUNT; k++)
        if (!isfinite(w->energy[k]))
            return sp_fail(body->context, SP_NUMERICAL, "the energy of the residual is not finite at %g s", time);

    add(w);
    return SP_OK;
}

static int frame(void *self, int64_t number)
{
    (void)number;
    return sp_certificate_watch_measure(self);
}

static void visit(void *self, sp_state *state)
{
    sp_certificate_watch *w = self;
    SP_STATE_VALUE(state, w->estimates);
}

sp_observer sp_certificate_watch_observer(sp_certificate_watch *watch)
{
    return (sp_observer){.self = watch, .frame = frame, .visit = visit};
}
