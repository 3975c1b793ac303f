/* The largest stable step of central differences. */
#include "integrate/internal.h"

#include "base/random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ω of the stiffest mode at rest, with the active springs, by power iteration on M⁻¹K. It is a lower bound, and close
 * to ω after this number of iterations. K x is the difference quotient of the force over a step so small that the force
 * is linear up to rounding. */
static int largest_frequency(sp_integrator *it, double *omega)
{
    const sp_system *system = it->system;

    for (int64_t i = 0; i < it->n; i++)
        it->trial[i] = sp_random_normal(1, 77, (uint64_t)i);
    *omega = 0;
    for (int k = 0; k < 100; k++) {
        /* K x by a central difference of the force, scaled so that the displacement is 1e-6 */
        double step = 1e-6 / fmax(1e-300, sp_norm(it->n, it->trial));
        for (int64_t i = 0; i < it->n; i++)
            it->next.q[i] = step * it->trial[i];
        system->force(system->self, it->next.q, it->product);
        for (int64_t i = 0; i < it->n; i++)
            it->next.q[i] = -step * it->trial[i];
        system->force(system->self, it->next.q, it->residual);
        for (int64_t i = 0; i < it->n; i++)
            it->product[i] = (it->product[i] - it->residual[i]) / (2 * step);

        system->mass_times(system->self, it->trial, it->residual);

        /* Rayleigh's quotient xᵀK x / xᵀM x */
        double quotient = sp_dot(it->n, it->trial, it->product) / sp_dot(it->n, it->trial, it->residual);
        *omega = fmax(*omega, sqrt(fmax(0, quotient)));

        SP_PASS(system->mass_solve(system->self, it->product, it->trial));
        double size = sp_norm(it->n, it->trial);
        for (int64_t i = 0; i < it->n; i++)
            it->trial[i] /= size;
    }
    return SP_OK;
}

/* The largest rate of strain-rate damping at rest, 1/s: the eigenvalue of M⁻¹D, computed likewise. */
static int largest_rate(sp_integrator *it, double *rate)
{
    const sp_system *system = it->system;
    *rate = 0;
    if (!system->viscous_times)
        return SP_OK;

    memset(it->next.q, 0, (size_t)it->n * sizeof *it->next.q);
    for (int64_t i = 0; i < it->n; i++)
        it->trial[i] = sp_random_normal(1, 78, (uint64_t)i);
    for (int k = 0; k < 100; k++) {
        system->viscous_times(system->self, it->next.q, it->trial, it->product);
        system->mass_times(system->self, it->trial, it->residual);
        *rate = fmax(*rate, sp_dot(it->n, it->trial, it->product) / sp_dot(it->n, it->trial, it->residual));

        SP_PASS(system->mass_solve(system->self, it->product, it->trial));
        double size = sp_norm(it->n, it->trial);
        if (size == 0)
            break;
        for (int64_t i = 0; i < it->n; i++)
            it->trial[i] /= size;
    }
    return SP_OK;
}

/* Leapfrog is stable for h ≤ 2/ω. With the lagged damping forces βK v and D v it is stable if (h/2)²K + (h/2)(βK + D) ≤
 * M. With the largest eigenvalues ω² of M⁻¹K and δ of M⁻¹D this follows from h ≤ (√(1+ξ²) − ξ) 2/ω, ξ = (βω + δ/ω)/2.
 */
int sp_check_stability(sp_integrator *it)
{
    double omega, rate, h = it->p.step;

    if (it->prescribed.rows) { /* evaluated at rest, wherever prescribed vertices are now */
        double *zero = it->prescribed.u_between;
        memset(zero, 0, (size_t)it->prescribed.rows * sizeof *zero);
        assert(it->system->vertices.prescribe);
        it->system->vertices.prescribe(it->system->self, zero, zero);
    }

    it->load.stiffened = it->loads->stiffened ? *it->loads->stiffened : 0;
    SP_PASS(largest_frequency(it, &omega));
    SP_PASS(largest_rate(it, &rate));
    sp_prescribe(it, 1);

    double xi = 0.5 * (it->p.damping_stiffness * omega + (rate > 0 ? rate / omega : 0));
    it->report.stability_limit = (sqrt(1 + xi * xi) - xi) * 2 / omega;
    if (h > it->report.stability_limit)
        return sp_fail(it->context, SP_USAGE,
                       "the time step %g s is above the limit of central differences, 2/omega%s = %g s", h,
                       xi > 0 ? " with this damping" : "", it->report.stability_limit);
    return SP_OK;
}
