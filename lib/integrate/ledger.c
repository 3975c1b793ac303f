/* Energies of a motion. */
#include "integrate/internal.h"

#include <assert.h>
#include <string.h>

void sp_ledger_mark(sp_integrator *it)
{
    ledger *l = &it->ledger;
    if (!it->system->nonconservative)
        return;
    memcpy(l->path_q, it->now.q, (size_t)it->n * sizeof *l->path_q);
    l->path_energy = it->system->force(it->system->self, it->now.q, l->path_force);
}

/* By the trapezoidal rule over the step. That is exact for springs, whose part has an energy and is taken out. */
void sp_ledger_follow(sp_integrator *it)
{
    ledger *l = &it->ledger;
    if (!it->system->nonconservative)
        return;
    const double energy = it->system->force(it->system->self, it->now.q, it->scratch);
    for (int64_t i = 0; i < it->n; i++)
        l->path_work += 0.5 * (l->path_force[i] + it->scratch[i]) * (it->now.q[i] - l->path_q[i]);
    l->path_work -= energy - l->path_energy;
    memcpy(l->path_q, it->now.q, (size_t)it->n * sizeof *l->path_q);
    memcpy(l->path_force, it->scratch, (size_t)it->n * sizeof *l->path_force);
    l->path_energy = energy;
}

void sp_integrator_energies(sp_integrator *it, double energy[SP_WORK_COUNT])
{
    assert(it->system->mass_times);
    it->system->mass_times(it->system->self, it->now.v, it->product);
    energy[SP_WORK_KINETIC] = 0.5 * sp_dot(it->n, it->now.v, it->product);
    energy[SP_WORK_STORED] = it->system->force(it->system->self, it->now.q, NULL) + it->ledger.path_work;
    energy[SP_WORK_EXTERNAL] = it->ledger.work;
    energy[SP_WORK_DISSIPATED] = it->ledger.dissipated;
}
