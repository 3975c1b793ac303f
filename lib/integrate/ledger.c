/* Energies of a motion. */
#include "integrate/internal.h"

#include <assert.h>
#include <string.h>

void sp_ledger_mark(sp_integrator *it)
{
    ledger *l = &it->ledger;
    if (!it->system->nonconservative)
        return;

    memcpy(l->integral_q, it->now.q, (size_t)it->n * sizeof *l->integral_q);
    l->integral_energy = it->system->force(it->system->self, it->now.q, l->integral_force);
}

/* Trapezoidal rule over the step, which is exact for springs. Their part has an energy of its own and is subtracted.
 */
void sp_ledger_add_step(sp_integrator *it)
{
    ledger *l = &it->ledger;
    if (!it->system->nonconservative)
        return;

    const double energy = it->system->force(it->system->self, it->now.q, it->scratch);
    for (int64_t i = 0; i < it->n; i++)
        l->work_integral += 0.5 * (l->integral_force[i] + it->scratch[i]) * (it->now.q[i] - l->integral_q[i]);
    l->work_integral -= energy - l->integral_energy;

    memcpy(l->integral_q, it->now.q, (size_t)it->n * sizeof *l->integral_q);
    memcpy(l->integral_force, it->scratch, (size_t)it->n * sizeof *l->integral_force);
    l->integral_energy = energy;
}

void sp_integrator_energies(sp_integrator *it, double energy[SP_WORK_COUNT])
{
    assert(it->system->mass_times);
    it->system->mass_times(it->system->self, it->now.v, it->product);
    energy[SP_WORK_KINETIC] = 0.5 * sp_dot(it->n, it->now.v, it->product);
    energy[SP_WORK_STORED] = it->system->force(it->system->self, it->now.q, NULL) + it->ledger.work_integral;
    energy[SP_WORK_EXTERNAL] = it->ledger.work;
    energy[SP_WORK_DISSIPATED] = it->ledger.dissipated;
}

double sp_integrator_work(const sp_integrator *it)
{
    return it->ledger.work;
}
