/* --certificate: the true error in the energy norm beside its estimate (run/certificate_watch.h). */
#include "tools/validate/validate.h"

#include "assembly/elastic.h"

#include <math.h>

void certified_open(validation *v)
{
    if (!v->choice->certificate)
        return;
    const int64_t n = v->full.s.body->dof_count;
    tool_check(sp_elastic_stiffness(v->context, v->full.s.body, &v->stiffness), v->full.s.mesh.path);
    v->product = tool_allocate_raw(&v->pool, 2 * n, sizeof *v->product);
    for (int64_t i = 0; i < v->run_count; i++)
        v->runs[i].certificate = certify_begin(&v->runs[i].s, &v->runs[i].body);
}

void certified_close(validation *v)
{
    for (int64_t i = 0; i < v->run_count; i++)
        certify_free(v->runs[i].certificate);
    sp_sparse_free(&v->stiffness);
}

/* ½ xᵀAx [J]. */
static double energy(validation *v, const sp_sparse *matrix, const double *x)
{
    double sum = 0;
    sp_sparse_times(v->context, matrix, 1, x, v->product);
    for (int64_t i = 0; i < matrix->order; i++)
        sum += 0.5 * x[i] * v->product[i];
    return sum;
}

void certified_add(validation *v, validate_run *run, int64_t frame)
{
    const int64_t n = v->full.s.body->dof_count;
    const double *u = v->frames.u + frame * n, *velocity = v->frames.v + frame * n;
    if (!run->certificate)
        return;

    double *difference = v->product + n;
    tool_check(sp_certificate_watch_measure(&run->certificate->watch), v->choice->certificate);
    for (int64_t i = 0; i < n; i++)
        difference[i] = v->u[i] - u[i];

    const bool statics = run->choice.integrator == SP_STATIC;
    const double error = energy(v, &v->stiffness, difference),
                 motion = energy(v, &v->stiffness, u) + (statics ? 0 : energy(v, &v->mass, velocity));

    run->error = fmax(run->error, error);
    run->motion = fmax(run->motion, motion);

    const double relative = statics ? error / motion : run->error / run->motion; /* NaN at rest */
    run->energy_error = statics ? fmax(run->energy_error, sqrt(relative)) : sqrt(relative);
}

void certified_print(const validation *v, FILE *stream)
{
    fprintf(stream,
            "\nrelative error in the energy norm, and its estimate by the certificate\n%-9s %7s %8s %9s %9s %11s\n",
            "model", "r", "elements", "error", "basis", "quadrature");
    for (int64_t i = 0; i < v->run_count; i++) {
        const validate_run *run = &v->runs[i];
        if (!run->certificate || run->failed)
            continue;
        char elements[24] = "-", quadrature[24] = "-";
        if (run->elements >= 0)
            snprintf(elements, sizeof elements, "%lld", (long long)run->elements);
        if (run->choice.model == SP_MODEL_CUBATURE)
            snprintf(quadrature, sizeof quadrature, "%.2e", run->certificate->watch.estimates.quadrature);
        fprintf(stream, "%-9s %7lld %8s %9.2e %9.2e %11s\n", run->name, (long long)run->s.model.system.n, elements,
                run->energy_error, run->certificate->watch.estimates.basis, quadrature);
    }
}
