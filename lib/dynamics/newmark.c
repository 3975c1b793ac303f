/* Implicit Newmark (thesis §2.9, constants in the notes of the papers' README). Unknown: q₁. */
#include "dynamics/internal.h"

#include <math.h>
#include <string.h>

/* Velocity and acceleration that belong to a q₁. */
static void follow(sp_integrator *it, const double *q1)
{
    double h = it->p.step, beta = it->p.beta, gamma = it->p.gamma;
    double a1 = 1 / (beta * h * h), a2 = 1 / (beta * h), a3 = (1 - 2 * beta) / (2 * beta), a4 = gamma / (beta * h), a5 = 1 - gamma / beta, a6 = (1 - gamma / (2 * beta)) * h;
    for (int64_t i = 0; i < it->n; i++) {
        double step = q1[i] - it->q[i];
        it->a1[i] = a1 * step - a2 * it->v[i] - a3 * it->a[i];
        it->v1[i] = a4 * step + a5 * it->v[i] + a6 * it->a[i];
    }
}

/* r = M a₁ + s (C(q₁) v₁ + f(q₁) − external₁), with f in r on entry and s what accelerations are scaled by, 1 but for those above their limit. Without βK(q)v it is the gradient
 * of what is added to the potential, W(q₁) on entry: ½βh² a₁ᵀMa₁ + s (W + ½α(βh/γ) v₁ᵀMv₁ − external₁·q₁). */
static double finish_residual(sp_integrator *it, const double *q1, double *r)
{
    const double s = it->chop;
    double size = s * fmax(sp_norm(it->n, r), sp_norm(it->n, it->external1));
    it->potential *= s;
    it->system->mass_times(it->system->self, it->a1, it->y);
    size = fmax(size, sp_norm(it->n, it->y));
    it->potential += 0.5 * it->p.beta * it->p.step * it->p.step * sp_dot(it->n, it->a1, it->y) - s * sp_dot(it->n, it->external1, q1);
    for (int64_t i = 0; i < it->n; i++)
        r[i] = it->y[i] + s * (r[i] - it->external1[i]);
    if (sp_damping_force(it, q1, it->v1, it->y)) {
        size = fmax(size, s * sp_norm(it->n, it->y));
        it->potential += 0.5 * s * it->p.beta * it->p.step / it->p.gamma * sp_dot(it->n, it->v1, it->y);
        for (int64_t i = 0; i < it->n; i++)
            r[i] += s * it->y[i];
    }
    return size;
}

static double residual(sp_integrator *it, const double *q1, double *r)
{
    follow(it, q1);
    it->potential = it->system->force(it->system->self, q1, r);
    return finish_residual(it, q1, r);
}

static void matrix(sp_integrator *it, const double *q1, bool definite)
{
    double h = it->p.step, a1 = 1 / (it->p.beta * h * h), a4 = it->p.gamma / (it->p.beta * h), damping = it->p.damping_stiffness;
    const double s = it->chop;
    it->system->matrix_start(it->system->self, a1 + s * a4 * it->p.damping_mass);
    it->system->matrix_add(it->system->self, q1, s * (1 + a4 * damping), s, definite, NULL);
    if (damping != 0 && !definite && !it->system->constant)
        sp_add_tangent_derivative(it, q1, it->v1, s * damping);
    /* ∂(D(q)v)/∂q is left out: it is not symmetric. With half the derivative of D along v, a symmetric part of it, Newton took as many
     * iterations or more. Measured, means over a run, cantilever of 1 MPa, full and reduced, φ = ψ: steps up to 4 ms with 30 to 30,000 Pa s
     * 2.9 to 6.7 without, 2.7 to 7.0 with; steps of 16 ms up to 300 Pa s 4.2 to 5.8 and 4.2 to 6.2, at 3000 Pa s up to 8.8 and 11.9, at
     * 30,000 Pa s, where all motion is crept, up to 25 with either */
    if (it->system->viscous_add)
        it->system->viscous_add(it->system->self, q1, s * a4);
}

/* One Newton iteration from q₀, force and stiffness in one evaluation, the papers' matrix. */
static int semi_implicit(sp_integrator *it)
{
    double h = it->p.step, a1 = 1 / (it->p.beta * h * h), a4 = it->p.gamma / (it->p.beta * h);
    const double s = it->chop;
    int status;
    follow(it, it->q);
    it->system->matrix_start(it->system->self, a1 + s * a4 * it->p.damping_mass);
    it->potential = it->system->matrix_add(it->system->self, it->q, s * (1 + a4 * it->p.damping_stiffness), s, false, it->r);
    if (it->system->viscous_add)
        it->system->viscous_add(it->system->self, it->q, s * a4);
    finish_residual(it, it->q, it->r);
    SP_TRY(it->system->matrix_factor(it->system->self));
    SP_TRY(it->system->matrix_solve(it->system->self, it->r, it->dq));
    for (int64_t i = 0; i < it->n; i++)
        it->q1[i] = it->q[i] - it->dq[i];
    it->report.newton_iterations++;
    it->report.worst_iterations = 1;
    status = sp_refuse_inverted(it, it->q1);
done:
    return status;
}

/* Newton starts from the extrapolated motion or from rest at q₀, whichever leaves the smaller residual: a load that sets in
 * suddenly throws the extrapolation far off. */
static void predict(sp_integrator *it)
{
    double h = it->p.step;
    residual(it, it->q, it->r);
    double still = sp_norm(it->n, it->r);
    for (int64_t i = 0; i < it->n; i++)
        it->q1[i] = it->q[i] + h * it->v[i] + 0.5 * h * h * it->a[i];
    residual(it, it->q1, it->r);
    if (!(sp_norm(it->n, it->r) < still))
        memcpy(it->q1, it->q, (size_t)it->n * sizeof *it->q1);
}

/* What elastic, damping and external forces are scaled by in this step so that they would not accelerate q by more than allowed (thesis §3.10.2). */
static int limit_acceleration(sp_integrator *it)
{
    int status;
    it->chop = 1;
    if (!(it->p.most_acceleration > 0))
        return SP_OK;
    memcpy(it->a1, it->a, (size_t)it->n * sizeof *it->a);
    status = sp_balance_acceleration(it, it->external1);
    const double square = status == SP_OK ? sp_dot(it->n, it->r, it->a) : 0; /* r = M a */
    memcpy(it->a, it->a1, (size_t)it->n * sizeof *it->a);
    if (square > it->p.most_acceleration * it->p.most_acceleration) {
        it->chop = it->p.most_acceleration / sqrt(square);
        it->report.chopped++;
    }
    return status;
}

int sp_step_newmark(sp_integrator *it)
{
    /* whole steps, then a search along lower potentials, which a definite matrix always finds */
    const newton_problem problem = {residual, matrix, it->p.damping_stiffness == 0 && it->p.gamma > 0 && !it->system->nonconservative, false, 8, 0, "Newton's method in the Newmark step"};
    double h = it->p.step, t1 = (double)(it->steps + 1) * h;
    int status;
    /* the nodal force is the mean over a step about the node: then the impulse of a piecewise constant load is exact */
    it->forcing->mean(it->forcing->self, t1 - 0.5 * h, t1 + 0.5 * h, it->external1);
    SP_TRY(limit_acceleration(it));
    double dissipated = sp_damping_force(it, it->q, it->v, it->y) ? sp_dot(it->n, it->v, it->y) : 0;
    if (it->p.semi_implicit)
        SP_TRY(semi_implicit(it));
    else {
        predict(it);
        SP_TRY(sp_newton(it, &problem, it->q));
    }
    follow(it, it->q1);
    for (int64_t i = 0; i < it->n; i++)
        it->work += 0.5 * it->chop * (it->external[i] + it->external1[i]) * (it->q1[i] - it->q[i]);
    if (sp_damping_force(it, it->q1, it->v1, it->y))
        it->dissipated += 0.5 * h * (dissipated + sp_dot(it->n, it->v1, it->y));
    size_t bytes = (size_t)it->n * sizeof(double);
    memcpy(it->q, it->q1, bytes);
    memcpy(it->v, it->v1, bytes);
    memcpy(it->a, it->a1, bytes);
    memcpy(it->external, it->external1, bytes);
done:
    return status;
}
