/* Static equilibrium f(q) = external, step by step through the loads; a step that does not converge is taken in halves. */
#include "dynamics/internal.h"

#include <math.h>
#include <string.h>

static double residual(sp_integrator *it, const double *q1, double *r)
{
    it->potential = it->system->force(it->system->self, q1, r) - sp_dot(it->n, it->external1, q1);
    double internal = sp_norm(it->n, r), external = sp_norm(it->n, it->external1), size = fmax(internal, external);
    if (external == 0) {
        if (it->force_scale == 0) /* kept over the steps: later ones may start in balance */
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

int sp_step_static(sp_integrator *it)
{
    static const newton_problem problem = {residual, matrix, true, "Newton's method for the static state"};
    enum { SMALLEST = 1024 };
    double h = it->p.step, t0 = (double)it->steps * h, done = 0, part = 1;
    double *last = it->f0, *target = it->external;
    size_t bytes = (size_t)it->n * sizeof(double);
    it->forcing->mean(it->forcing->self, t0, t0 + h, target);
    memcpy(it->q1, it->q, bytes);
    memcpy(it->a, it->q, bytes); /* the step's start, to go back to */
    while (done < 1) {
        double to = fmin(1, done + part);
        for (int64_t i = 0; i < it->n; i++)
            it->external1[i] = last[i] + to * (target[i] - last[i]);
        int status = sp_newton(it, &problem);
        if (status == SP_NUMERICAL && part * SMALLEST > 1) {
            part *= 0.5;
            memcpy(it->q1, it->v1, bytes);
            if (done == 0)
                memcpy(it->q1, it->a, bytes);
            continue;
        }
        if (status != SP_OK)
            return status;
        done = to;
        memcpy(it->v1, it->q1, bytes); /* the last equilibrium on the way */
    }
    for (int64_t i = 0; i < it->n; i++)
        it->work += 0.5 * (last[i] + target[i]) * (it->q1[i] - it->q[i]);
    memcpy(it->q, it->q1, bytes);
    memcpy(last, target, bytes);
    return SP_OK;
}
