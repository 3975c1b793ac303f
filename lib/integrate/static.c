/* Static equilibrium f(q) = external, step by step through the loads; a step that does not converge is taken in halves.
 */
#include "integrate/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double residual(sp_integrator *it, const double *q1, double *r)
{
    it->potential = it->system->force(it->system->self, q1, r) - sp_dot(it->n, it->external1, q1);
    double internal = sp_norm(it->n, r), external = sp_norm(it->n, it->external1), size = fmax(internal, external);
    if (external == 0) {
        if (it->force_scale == 0 && isfinite(internal)) /* kept over the steps: later ones may start in balance */
            it->force_scale = internal;
        size = fmax(it->force_scale, internal);
    }
    for (int64_t i = 0; i < it->n; i++)
        r[i] -= it->external1[i];
    return size;
}

static void matrix(sp_integrator *it, const double *q1, bool definite)
{
    it->system->matrix_start(it->system->self, 0);
    it->system->matrix_add(it->system->self, q1, 1, 1, definite, NULL);
}

/* Held vertices that go far in a step would turn the elements at them inside out, and Newton's method may stay there.
 * So it->q1 starts where the tangent at the last equilibrium q takes it when they go from the part `from` of their way
 * to `to`; at q where that lies higher. */
static void follow_held(sp_integrator *it, const double *q, double from, double to)
{
    const sp_system *system = it->system;
    if (!it->rows)
        return;
    sp_prescribe(it, from);
    for (int64_t i = 0; i < it->rows; i++)
        it->scrap[i] = (to - from) * (it->prescribed_u[1][i] - it->prescribed_u[0][i]);
    system->prescribe(system->self, it->prescribed, it->scrap);
    memset(it->x, 0, (size_t)it->n * sizeof *it->x);
    system->tangent_times(system->self, q, it->x, it->y);
    matrix(it, q, false);
    it->report.factorizations++;
    const bool solved = sp_norm(it->n, it->y) > 0 && system->matrix_factor(system->self) == SP_OK &&
                        system->matrix_solve(system->self, it->y, it->dq) == SP_OK;
    sp_prescribe(it, to);
    if (!solved)
        return;
    residual(it, q, it->r);
    const double still = it->potential;
    for (int64_t i = 0; i < it->n; i++)
        it->q1[i] = q[i] - it->dq[i];
    residual(it, it->q1, it->r);
    if (isfinite(still) && !(it->potential < still))
        memcpy(it->q1, q, (size_t)it->n * sizeof *it->q1);
}

int sp_static_reach(sp_integrator *it)
{
    /* whole steps first, and factors kept near the solution. Measured on a spoon of 10,173 coordinates, user time: 85
     * loads of a sketch 21.4 s with neither (8.6 factorizations a load), 16.3 s with the first (5.7), 13.0 s with both
     * (4.6) */
    const newton_problem problem = {
        residual, matrix, it->system->nonconservative ? SP_NEWTON_RESIDUAL : SP_NEWTON_MINIMUM,
        25,       0.1,    "Newton's method for the static state"};
    enum { SMALLEST = 1024 };
    double done = 0, part = 1;
    size_t bytes = (size_t)it->n * sizeof(double);
    memcpy(it->q1, it->q, bytes);
    memcpy(it->v1, it->q, bytes); /* the last equilibrium on the way */
    while (done < 1) {
        double to = fmin(1, done + part);
        for (int64_t i = 0; i < it->n; i++)
            it->external1[i] = it->f0[i] + to * (it->external[i] - it->f0[i]);
        follow_held(it, it->v1, done, to);
        memcpy(it->a1, it->q1, bytes);
        int status = sp_newton(it, &problem, it->a1);
        if (status == SP_NUMERICAL && part * SMALLEST > 1) {
            part *= 0.5;
            memcpy(it->q1, it->v1, bytes);
            continue;
        }
        if (status != SP_OK)
            return status;
        it->report.load_steps++;
        done = to;
        part *= 2;
        memcpy(it->v1, it->q1, bytes);
    }
    return SP_OK;
}

int sp_step_static(sp_integrator *it)
{
    size_t bytes = (size_t)it->n * sizeof(double);
    sp_mean_force(it, it->t0, it->t1, it->external);
    int status = sp_static_reach(it);
    if (status != SP_OK)
        return status;
    for (int64_t i = 0; i < it->n; i++)
        it->work += 0.5 * (it->f0[i] + it->external[i]) * (it->q1[i] - it->q[i]);
    memcpy(it->q, it->q1, bytes);
    memcpy(it->f0, it->external, bytes);
    return SP_OK;
}
