#include "tools/simulate/certify.h"

#include "model/load_fields.h"
#include "reduced/certificate.h"
#include "tools/simulate/simulation.h"

#include <math.h>
#include <string.h>

struct simulate_certificate {
    sp_certificate file;
    double *factor;                     /* [3 + loads of the file, loads of the run] by columns */
    double *load;                       /* [3 + loads of the file] */
    double *part, *acceleration, *work; /* [r]; work [columns] */
};

/* ---- the file ---- */

static void check_model(const simulation *s)
{
    const sp_certificate *c = &s->certificate->file;
    if (tool_material_edits_given(&s->choice->edits))
        tool_fail(SP_USAGE, s->choice->certificate,
                  "it was made for the materials of the mesh, and options change them: make it from a mesh with the "
                  "new ones");
    if (c->r != s->r)
        tool_fail(SP_USAGE, s->choice->certificate, "it is of %lld coordinates, the model has %lld", (long long)c->r,
                  (long long)s->r);
}

/* The factors of the fields of the file in every load. */
static void find_loads(simulation *s)
{
    struct simulate_certificate *c = s->certificate;
    const int64_t count = 3 + c->file.loads.count;
    for (int64_t l = 0; l < s->load_count; l++) {
        bool known = false;
        if (s->loads[l].kind == SP_LOAD_SPRING)
            tool_fail(SP_USAGE, s->choice->loads, "load %lld is a spring, which a certificate cannot contain",
                      (long long)l + 1);

        tool_check(sp_load_fields_factors(s->context, s->body, &c->file.loads, l + 1, &s->loads[l],
                                          c->factor + l * count + 3, &known),
                   s->choice->loads);

        if (known)
            continue;
        tool_hint("polycoef --certificate --loads %s", s->choice->loads);
        tool_fail(SP_USAGE, s->choice->certificate, "it was not made for the place of load %lld of %s",
                  (long long)l + 1, s->choice->loads);
    }
}

void certify_begin(simulation *s)
{
    if (!s->choice->certificate)
        return;
    struct simulate_certificate *c = s->certificate = tool_allocate(&s->pool, 1, sizeof *c);
    tool_check_source(
        sp_input_certificate(tool_source(), s->choice->certificate, "certificate", &s->mesh, &s->basis, &c->file));

    check_model(s);
    tool_check(sp_load_fields_check(s->context, s->body, &c->file.loads), s->choice->certificate);

    const int64_t loads = 3 + c->file.loads.count;
    c->factor = tool_allocate(&s->pool, loads * s->load_count, sizeof *c->factor);
    c->load = tool_allocate(&s->pool, loads, sizeof *c->load);
    c->part = tool_allocate(&s->pool, s->r, sizeof *c->part);
    c->acceleration = tool_allocate(&s->pool, s->r, sizeof *c->acceleration);
    c->work = tool_allocate(&s->pool, sp_certificate_columns(s->r, c->file.loads.count), sizeof *c->work);

    find_loads(s);
}

void certify_free(simulation *s)
{
    if (s->certificate)
        sp_certificate_free(&s->certificate->file);
}

/* ---- a frame ---- */

/* The factors of the fields of the file at a time. */
static void apply_loads(simulation *s, double time)
{
    struct simulate_certificate *c = s->certificate;
    const int64_t count = 3 + c->file.loads.count;
    memset(c->load, 0, (size_t)count * sizeof *c->load);
    for (int i = 0; i < 3; i++)
        c->load[i] = simulation_gravity_share(s, time) * s->choice->gravity[i];
    for (int64_t l = 0; l < s->load_count; l++) {
        const double share = simulation_load_share(s, &s->loads[l], time);
        for (int64_t k = 3; k < count; k++)
            c->load[k] += share * c->factor[l * count + k];
    }
}

static double kinetic(simulation *s, const double *v)
{
    double sum = 0;
    s->model.system.mass_times(s->model.system.self, v, s->certificate->part);
    for (int64_t i = 0; i < s->r; i++)
        sum += 0.5 * v[i] * s->certificate->part[i];
    return sum;
}

static double relative(double error, double motion)
{
    return error > 0 ? sqrt(error / (error + motion)) : 0;
}

static void add(const simulation *s, const double energy[CERTIFY_COUNT], certify_estimates *e)
{
    const bool statics = s->choice->integrator == SP_STATIC;
    for (int k = 0; k < CERTIFY_COUNT; k++)
        e->energy[k] = fmax(e->energy[k], energy[k]);
    const double *of = statics ? energy : e->energy, basis = relative(of[CERTIFY_BASIS], of[CERTIFY_MOTION]),
                 quadrature = relative(of[CERTIFY_QUADRATURE], of[CERTIFY_MOTION]);
    e->basis = statics ? fmax(e->basis, basis) : basis;
    e->quadrature = statics ? fmax(e->quadrature, quadrature) : quadrature;
}

void certify(simulation *s, const sp_integrator *integrator, certify_estimates *estimates, double energy[CERTIFY_COUNT])
{
    struct simulate_certificate *c = s->certificate;
    if (!c)
        return;

    const bool statics = s->choice->integrator == SP_STATIC;
    const double *q = sp_integrator_q(integrator), *v = sp_integrator_v(integrator);
    apply_loads(s, sp_integrator_time(integrator));

    /* The norms of the residual R (reduced/certificate.h) */
    simulation_accelerate(s, integrator, c->acceleration);
    const sp_certificate_state state = {.q = q,
                                        .rate = statics ? NULL : v,
                                        .acceleration = c->acceleration,
                                        .load = c->load,
                                        .damping_stiffness = s->damping_stiffness};
    sp_certificate_norms norms;
    sp_certificate_evaluate(&c->file, &state, c->work, &norms);

    /* The energy of an error e is ½ ‖e‖²_K, with ‖e‖_K = ‖R‖_K⁻¹. */
    energy[CERTIFY_BASIS] = 0.5 * norms.basis * norms.basis;
    energy[CERTIFY_QUADRATURE] = 0.5 * norms.quadrature * norms.quadrature;
    energy[CERTIFY_MOTION] = 0.5 * norms.strain * norms.strain + (statics ? 0 : kinetic(s, v));
    for (int k = 0; k < CERTIFY_COUNT; k++)
        if (!isfinite(energy[k]))
            tool_fail(SP_NUMERICAL, s->choice->certificate, "the energy of the residual is not finite at %g s",
                      sp_integrator_time(integrator));

    add(s, energy, estimates);
}

/* ---- messages ---- */

static bool has_quadrature(const simulation *s)
{
    return s->choice->model == SP_MODEL_CUBATURE;
}

void certify_report(const simulation *s, json_t *result)
{
    if (!s->certificate)
        return;
    json_object_set_new(result, "basis_estimate", tool_real("basis_estimate", s->certified.basis));
    if (has_quadrature(s))
        json_object_set_new(result, "quadrature_estimate", tool_real("quadrature_estimate", s->certified.quadrature));
}

bool certify_say(const simulation *s)
{
    const certify_estimates *e = &s->certified;
    const double limit = s->choice->limit, whole = has_quadrature(s) ? hypot(e->basis, e->quadrature) : e->basis;
    const bool within = !(limit > 0) || whole <= limit;

    if (!s->certificate)
        return true;
    if (has_quadrature(s))
        tool_say("estimated relative error in the energy norm: %.2g by the basis, %.2g by the quadrature%s", e->basis,
                 e->quadrature, within ? "" : ", together above --limit");
    else
        tool_say("estimated relative error by the basis in the energy norm: %.2g%s", e->basis,
                 within ? "" : ", above --limit");
    return within;
}
