/* Central differences in velocity form (leapfrog). Mass-proportional damping is implicit. Stiffness-proportional and
 * strain-rate damping use the velocity of the half step, so that M is the only matrix of a linear solve. */
#include "integrate/internal.h"

#include <assert.h>
#include <math.h>

typedef struct central_workspace {
    double energy_scale; /* scale of work and initial energy so far, J: if the energy is far above it, the motion has
                            become unstable */
} central_workspace;

static void allocate(sp_integrator *it)
{
    assert(it->system->mass_times && it->system->mass_solve && it->system->tangent_times);
    it->workspace = sp_pool_new(&it->pool, 1, sizeof(central_workspace));
}

static void remember(sp_integrator *it, sp_memory *memory)
{
    SP_MEMORY_ADD_VALUE(memory, ((central_workspace *)it->workspace)->energy_scale);
}

static int start(sp_integrator *it)
{
    central_workspace *w = it->workspace;
    double energy[SP_WORK_COUNT];

    SP_PASS(sp_check_stability(it));
    SP_PASS(sp_balance_acceleration(it, it->load.force));
    sp_integrator_energies(it, energy);
    w->energy_scale = energy[SP_WORK_KINETIC] + energy[SP_WORK_STORED];
    return SP_OK;
}

static int force_changed(sp_integrator *it)
{
    const int64_t *stiffened = it->loads->stiffened;
    return stiffened && *stiffened == it->load.stiffened ? SP_OK : sp_check_stability(it);
}

static int refuse_unstable(sp_integrator *it, double energy)
{
    central_workspace *w = it->workspace;

    w->energy_scale = fmax(w->energy_scale, fabs(it->ledger.work));
    if (!isfinite(energy))
        SP_PASS(sp_refuse_inverted(it, it->next.q));
    if (!isfinite(energy) || (w->energy_scale > 0 && energy > 1e6 * w->energy_scale && it->steps > 10))
        return sp_fail(it->context, SP_NUMERICAL, "central differences have become unstable at t = %g s", it->t1);
    return SP_OK;
}

/* residual += βK v + D v at the end of the step, with the velocity at its middle. */
static void add_lagged_damping(sp_integrator *it)
{
    const sp_system *system = it->system;
    const double h = it->h, beta = it->p.damping_stiffness, *middle_v = it->next.v;

    if (beta != 0)
        system->tangent_times(system->self, it->next.q, middle_v, it->product);

    if (system->viscous_times) {
        system->viscous_times(system->self, it->next.q, middle_v, it->scratch);
        it->ledger.dissipated += h * sp_dot(it->n, middle_v, it->scratch);
        for (int64_t i = 0; i < it->n; i++)
            it->residual[i] += it->scratch[i];
    }

    for (int64_t i = 0; beta != 0 && i < it->n; i++) {
        it->ledger.dissipated += h * beta * middle_v[i] * it->product[i];
        it->residual[i] += beta * it->product[i];
    }
}

static int step(sp_integrator *it)
{
    const sp_system *system = it->system;
    motion_state *now = &it->now, *next = &it->next; /* next->v is the velocity at the middle of the step */
    const double h = it->h, alpha = it->p.damping_mass;

    sp_force_of_step(it);

    /* v½ = v₀ + ½h a₀, q₁ = q₀ + h v½ */
    for (int64_t i = 0; i < it->n; i++) {
        next->v[i] = now->v[i] + 0.5 * h * now->a[i];
        next->q[i] = now->q[i] + h * next->v[i];
    }

    sp_prescribe(it, 1);
    double energy = system->force(system->self, next->q, it->residual);
    if (system->nonconservative) /* the energy that a linear force would have stored */
        energy += 0.5 * fabs(sp_dot(it->n, next->q, it->residual));
    SP_PASS(refuse_unstable(it, energy));

    add_lagged_damping(it);
    for (int64_t i = 0; i < it->n; i++) {
        it->residual[i] = it->load.next_force[i] - it->residual[i];
        it->ledger.work += 0.5 * (it->load.force[i] + it->load.next_force[i]) * (next->q[i] - now->q[i]);
    }

    SP_PASS(system->mass_solve(system->self, it->residual, next->a));
    if (alpha != 0) {
        system->mass_times(system->self, next->v, it->product);
        it->ledger.dissipated += h * alpha * sp_dot(it->n, next->v, it->product);
    }

    /* v₁ = (v½ + ½h a₁) / (1 + ½hα): mass-proportional damping is implicit */
    for (int64_t i = 0; i < it->n; i++) {
        now->v[i] = (next->v[i] + 0.5 * h * next->a[i]) / (1 + 0.5 * h * alpha);
        now->a[i] = next->a[i] - alpha * now->v[i];
        now->q[i] = next->q[i];
    }

    sp_force_advance(it);
    return SP_OK;
}

const sp_scheme sp_scheme_central = {.name = "central differences",
                                     .refuses =
                                         SP_SOLVES_VELOCITIES | SP_HAS_SKELETON | SP_IS_SEMI_IMPLICIT | SP_FOLLOWS,
                                     .tolerance = 1e-10,
                                     .has_acceleration = true,
                                     .loads = SP_LOADS_NODAL,
                                     .allocate = allocate,
                                     .start = start,
                                     .step = step,
                                     .force_changed = force_changed,
                                     .remember = remember};
