/* The exactly conserving step: q₁ − q₀ = h(v₀+v₁)/2 and M(v₁−v₀) = h(external − f̄ − C Δq/h) with f̄ = (f(q₀) +
 * 4f(½(q₀+q₁)) + f(q₁))/6. f is cubic along the segment, so Simpson's rule gives f̄·Δq = W(q₁) − W(q₀) without error.
 * Unknown: q₁. */
#include "integrate/internal.h"

#include <math.h>
#include <string.h>

static void midpoint(const sp_integrator *it, const double *q1, double *middle)
{
    for (int64_t i = 0; i < it->n; i++)
        middle[i] = 0.5 * (it->q[i] + q1[i]);
}

static double residual(sp_integrator *it, const double *q1, double *r)
{
    double h = it->h, size;
    double *middle = it->a1, *f1 = it->v1;
    midpoint(it, q1, middle);
    it->system->force(it->system->self, middle, r);
    it->system->force(it->system->self, q1, f1);
    for (int64_t i = 0; i < it->n; i++)
        r[i] = (it->f0[i] + 4 * r[i] + f1[i]) / 6;
    size = fmax(sp_norm(it->n, r), sp_norm(it->n, it->external));
    for (int64_t i = 0; i < it->n; i++)
        it->trial[i] = 2 / (h * h) * (q1[i] - it->q[i]) - 2 / h * it->v[i];
    it->system->mass_times(it->system->self, it->trial, it->y);
    size = fmax(size, sp_norm(it->n, it->y));
    for (int64_t i = 0; i < it->n; i++)
        r[i] += it->y[i] - it->external[i];
    for (int64_t i = 0; i < it->n; i++)
        f1[i] = (q1[i] - it->q[i]) / h; /* the mean velocity of the step */
    if (sp_damping_force(it, middle, f1, it->y)) {
        size = fmax(size, sp_norm(it->n, it->y));
        for (int64_t i = 0; i < it->n; i++)
            r[i] += it->y[i];
    }
    return size;
}

static void matrix(sp_integrator *it, const double *q1, bool definite)
{
    double h = it->h, damping = it->p.damping_stiffness;
    double *middle = it->a1, *mean = it->v1;
    midpoint(it, q1, middle);
    it->system->matrix_start(it->system->self, 2 / (h * h) + it->p.damping_mass / h);
    it->system->matrix_add(it->system->self, middle, 1.0 / 3 + damping / h, 1.0 / 3, definite, NULL);
    it->system->matrix_add(it->system->self, q1, 1.0 / 6, 1.0 / 6, definite, NULL);
    if (it->system->viscous_add) /* as in the Newmark step */
        it->system->viscous_add(it->system->self, middle, 1 / h);
    if (damping != 0 && !definite && !it->system->constant) {
        for (int64_t i = 0; i < it->n; i++)
            mean[i] = (q1[i] - it->q[i]) / h;
        sp_add_tangent_derivative(it, middle, mean, 0.5 * damping);
    }
}

int sp_step_energy(sp_integrator *it)
{
    static const newton_problem problem = {residual, matrix, SP_NEWTON_RESIDUAL,
                                           8,        0,      "Newton's method in the energy step"};
    double h = it->h;
    int status;
    it->loads->mean(it->loads->self, it->t0, it->t1, it->external);
    for (int64_t i = 0; i < it->n; i++)
        it->q1[i] = it->q[i] + h * it->v[i];
    SP_TRY(sp_newton(it, &problem, it->q));
    double *middle = it->a1, *mean = it->v1;
    midpoint(it, it->q1, middle);
    for (int64_t i = 0; i < it->n; i++) {
        mean[i] = (it->q1[i] - it->q[i]) / h;
        it->work += it->external[i] * h * mean[i];
    }
    if (sp_damping_force(it, middle, mean, it->y))
        it->dissipated += h * sp_dot(it->n, mean, it->y);
    for (int64_t i = 0; i < it->n; i++)
        it->v[i] = 2 * mean[i] - it->v[i];
    memcpy(it->q, it->q1, (size_t)it->n * sizeof *it->q);
    it->system->force(it->system->self, it->q, it->f0);
done:
    return status;
}
