/* Central differences in velocity form (leapfrog). Mass-proportional damping is implicit, the stiffness-proportional
 * part and that by strain rate take the velocity of the half step, so that no matrix but M is solved with. */
#include "integrate/internal.h"

#include <math.h>

int sp_step_central(sp_integrator *it)
{
    double h = it->h, t1 = it->t1, alpha = it->p.damping_mass, beta = it->p.damping_stiffness;
    int status;
    sp_mean_force(it, t1 - 0.5 * h, t1 + 0.5 * h, it->external1);
    for (int64_t i = 0; i < it->n; i++) {
        it->v1[i] = it->v[i] + 0.5 * h * it->a[i];
        it->q1[i] = it->q[i] + h * it->v1[i];
    }
    sp_prescribe(it, 1);
    double energy = it->system->force(it->system->self, it->q1, it->r);
    if (it->system->nonconservative) /* what a linear force would have stored */
        energy += 0.5 * fabs(sp_dot(it->n, it->q1, it->r));
    it->energy_scale = fmax(it->energy_scale, fabs(it->work));
    if (!isfinite(energy))
        SP_TRY(sp_refuse_inverted(it, it->q1));
    if (!isfinite(energy) || (it->energy_scale > 0 && energy > 1e6 * it->energy_scale && it->steps > 10))
        return sp_fail(it->context, SP_NUMERICAL, "central differences have become unstable at t = %g s", t1);
    if (beta != 0)
        it->system->tangent_times(it->system->self, it->q1, it->v1, it->y);
    if (it->system->viscous_times) {
        it->system->viscous_times(it->system->self, it->q1, it->v1, it->trial);
        it->dissipated += h * sp_dot(it->n, it->v1, it->trial);
        for (int64_t i = 0; i < it->n; i++)
            it->r[i] += it->trial[i];
    }
    for (int64_t i = 0; i < it->n; i++) {
        if (beta != 0) {
            it->dissipated += h * beta * it->v1[i] * it->y[i];
            it->r[i] += beta * it->y[i];
        }
        it->r[i] = it->external1[i] - it->r[i];
        it->work += 0.5 * (it->external[i] + it->external1[i]) * (it->q1[i] - it->q[i]);
    }
    SP_TRY(it->system->mass_solve(it->system->self, it->r, it->a1));
    if (alpha != 0) {
        it->system->mass_times(it->system->self, it->v1, it->y);
        it->dissipated += h * alpha * sp_dot(it->n, it->v1, it->y);
    }
    for (int64_t i = 0; i < it->n; i++) {
        it->v[i] = (it->v1[i] + 0.5 * h * it->a1[i]) / (1 + 0.5 * h * alpha);
        it->a[i] = it->a1[i] - alpha * it->v[i];
        it->q[i] = it->q1[i];
    }
    sp_force_taken(it);
done:
    return status;
}
