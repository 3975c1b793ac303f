#include "integrate/equilibrium.h"

#include "integrate/internal.h"

#include <stdlib.h>
#include <string.h>

/* A static integrator that is reset to the start of every solve. */
struct sp_equilibrium {
    sp_external_loads loads; /* not evaluated, since the loads are given */
    sp_integrator *it;
};

int sp_equilibrium_new(sp_context *context, const sp_system *system, double tolerance, int64_t iterations,
                       sp_equilibrium **result)
{
    sp_integrator_parameters parameters = {
        .kind = SP_STATIC, .step = 1, .tolerance = tolerance, .iterations = iterations};

    sp_equilibrium *equilibrium = calloc(1, sizeof *equilibrium);
    SP_PASS(sp_allocated(context, equilibrium));

    int status = sp_integrator_new(context, system, &equilibrium->loads, &parameters, NULL, NULL, &equilibrium->it);
    if (status == SP_OK)
        *result = equilibrium;
    else
        free(equilibrium);
    return status;
}

void sp_equilibrium_free(sp_equilibrium *equilibrium)
{
    if (!equilibrium)
        return;
    sp_integrator_free(equilibrium->it);
    free(equilibrium);
}

int sp_equilibrium_find(sp_equilibrium *equilibrium, const double *from, const double *from_load, const double *load,
                        double *q, sp_equilibrium_report *report)
{
    sp_integrator *it = equilibrium->it;
    size_t bytes = (size_t)it->n * sizeof *q;

    memcpy(it->now.q, from, bytes);
    sp_static_reset(it);
    it->report = (sp_integrator_report){0};
    int status = sp_static_find(it, from_load, load);
    const sp_integrator_report *r = &it->report;

    *report =
        (sp_equilibrium_report){r->load_steps, r->newton_iterations, r->factorizations, r->halvings, r->indefinite, 0};
    if (status != SP_OK)
        return status;
    memcpy(q, it->next.q, bytes);

    it->system->force(it->system->self, q, it->residual);
    for (int64_t i = 0; i < it->n; i++)
        it->residual[i] -= load[i];
    double size = sp_norm(it->n, load);
    report->residual = sp_norm(it->n, it->residual) / (size > 0 ? size : 1);
    return SP_OK;
}
