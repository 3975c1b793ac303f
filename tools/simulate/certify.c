#include "tools/simulate/certify.h"

#include "model/load_fields.h"

#include <math.h>

static void check_model(const simulation *s, const sp_certificate *certificate)
{
    if (tool_material_edits_given(&s->choice->edits))
        tool_fail(SP_USAGE, s->choice->certificate,
                  "it was made for the materials of the mesh, and options change them: make it from a mesh with the "
                  "new ones");
    if (certificate->r != s->r)
        tool_fail(SP_USAGE, s->choice->certificate, "it is of %lld coordinates, the model has %lld",
                  (long long)certificate->r, (long long)s->r);
    tool_check(sp_load_fields_check(s->context, s->body, &certificate->loads), s->choice->certificate);
}

simulate_certificate *certify_begin(simulation *s, const sp_run_body *body)
{
    const char *path = s->choice->certificate, *loads = s->choice->loads;
    int64_t missing;
    if (!path)
        return NULL;

    simulate_certificate *c = tool_allocate(&s->pool, 1, sizeof *c);
    tool_check_source(sp_input_certificate(tool_source(), path, "certificate", &s->mesh, &s->basis, &c->file));
    check_model(s, &c->file);

    const int status = sp_certificate_watch_new(s->context, body, &c->file, &c->watch, &missing);
    if (status != SP_OK && missing) {
        tool_hint("polycoef --certificate --loads %s", loads);
        tool_fail(status, path, "%s of %s", s->context->message, loads);
    }
    tool_check(status, loads);
    return c;
}

void certify_free(simulate_certificate *certificate)
{
    if (!certificate)
        return;
    sp_certificate_watch_free(&certificate->watch);
    sp_certificate_free(&certificate->file);
}

/* ---- messages ---- */

static bool has_quadrature(const simulation *s)
{
    return s->choice->model == SP_MODEL_CUBATURE;
}

void certify_report(const simulation *s, const simulate_certificate *certificate, json_t *result)
{
    if (!certificate)
        return;
    const sp_certified *e = &certificate->watch.estimates;
    tool_facts(result, sp_kind_trajectory.result, {"basis_estimate", .real = e->basis},
               {"quadrature_estimate", .real = e->quadrature, .leave_out = !has_quadrature(s)});
}

bool certify_say(const simulation *s, const simulate_certificate *certificate)
{
    if (!certificate)
        return true;

    const sp_certified *e = &certificate->watch.estimates;
    const double limit = s->choice->limit, whole = has_quadrature(s) ? hypot(e->basis, e->quadrature) : e->basis;
    const bool within = !(limit > 0) || whole <= limit;
    if (has_quadrature(s))
        tool_say("estimated relative error in the energy norm: %.2g by the basis, %.2g by the quadrature%s", e->basis,
                 e->quadrature, within ? "" : ", together above --limit");
    else
        tool_say("estimated relative error by the basis in the energy norm: %.2g%s", e->basis,
                 within ? "" : ", above --limit");
    return within;
}
