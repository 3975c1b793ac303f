/* Implicit steps whose unknown is q₁ and whose velocity and acceleration are v₁ = cv (q₁ − q₀) + vb, a₁ = ca (q₁ − q₀)
 * + ab, with M a₁ + C(q₁) v₁ + f(q₁) = external₁: Newmark (thesis §2.9, β and γ as in integrate.h), implicit Euler, and
 * backward differences of second order, for steps of any lengths, used for q and for v. */
#include "integrate/internal.h"

#include <math.h>
#include <string.h>

/* cv, ca, vb and ab of this step. */
static void prepare(sp_integrator *it)
{
    const double h = it->h, beta = it->p.beta, gamma = it->p.gamma;
    if (it->p.kind == SP_NEWMARK) {
        const double a2 = 1 / (beta * h), a3 = (1 - 2 * beta) / (2 * beta), a5 = 1 - gamma / beta,
                     a6 = (1 - gamma / (2 * beta)) * h;
        it->ca = 1 / (beta * h * h);
        it->cv = gamma / (beta * h);
        for (int64_t i = 0; i < it->n; i++) {
            it->ab[i] = -a2 * it->v[i] - a3 * it->a[i];
            it->vb[i] = a5 * it->v[i] + a6 * it->a[i];
        }
        return;
    }
    /* x₁' = ((1 + 2w) x₁ − (1 + w)² x₀ + w² x₋₁) / ((1 + w) h) with w = h / h₋₁; w = 0: Euler */
    const double w = it->p.kind == SP_BDF2 && it->last_h > 0 ? h / it->last_h : 0, back = w * w / ((1 + w) * h);
    it->cv = (1 + 2 * w) / ((1 + w) * h);
    it->ca = it->cv * it->cv;
    for (int64_t i = 0; i < it->n; i++) {
        it->vb[i] = back == 0 ? 0 : back * (it->last_q[i] - it->q[i]);
        it->ab[i] = it->cv * (it->vb[i] - it->v[i]) + (back == 0 ? 0 : back * (it->last_v[i] - it->v[i]));
    }
}

/* Velocity and acceleration that belong to a q₁. */
static void follow(sp_integrator *it, const double *q1)
{
    for (int64_t i = 0; i < it->n; i++) {
        const double step = q1[i] - it->q[i];
        it->a1[i] = it->ca * step + it->ab[i];
        it->v1[i] = it->cv * step + it->vb[i];
    }
}

/* r = M a₁ + s (C(q₁) v₁ + f(q₁) − external₁), with f in r on entry and s what accelerations are scaled by, 1 but for
 * those above their limit. Without βK(q)v it is the gradient of what is added to the potential, W(q₁) on entry: ½
 * a₁ᵀMa₁ / ca + s (W + ½α v₁ᵀMv₁ / cv − external₁·q₁). */
static double finish_residual(sp_integrator *it, const double *q1, double *r)
{
    const double s = it->chop;
    double size = s * fmax(sp_norm(it->n, r), sp_norm(it->n, it->external1));
    it->potential *= s;
    it->system->mass_times(it->system->self, it->a1, it->y);
    size = fmax(size, sp_norm(it->n, it->y));
    it->potential += 0.5 / it->ca * sp_dot(it->n, it->a1, it->y) - s * sp_dot(it->n, it->external1, q1);
    for (int64_t i = 0; i < it->n; i++)
        r[i] = it->y[i] + s * (r[i] - it->external1[i]);
    if (sp_damping_force(it, q1, it->v1, it->y)) {
        size = fmax(size, s * sp_norm(it->n, it->y));
        it->potential += 0.5 * s / it->cv * sp_dot(it->n, it->v1, it->y);
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
    const double damping = it->p.damping_stiffness;
    const double s = it->chop;
    it->system->matrix_start(it->system->self, it->ca + s * it->cv * it->p.damping_mass);
    it->system->matrix_add(it->system->self, q1, s * (1 + it->cv * damping), s, definite, NULL);
    if (damping != 0 && !definite && !it->system->constant)
        sp_add_tangent_derivative(it, q1, it->v1, s * damping);
    /* ∂(D(q)v)/∂q is left out: it is not symmetric. With half the derivative of D along v, a symmetric part of it,
     * Newton took as many iterations or more. Measured, means over a run, cantilever of 1 MPa, full and reduced, φ = ψ:
     * steps up to 4 ms with 30 to 30,000 Pa s 2.9 to 6.7 without, 2.7 to 7.0 with; steps of 16 ms up to 300 Pa s 4.2
     * to 5.8 and 4.2 to 6.2, at 3000 Pa s up to 8.8 and 11.9, at 30,000 Pa s, where all motion is crept, up to 25 with
     * either */
    if (it->system->viscous_add)
        it->system->viscous_add(it->system->self, q1, s * it->cv);
}

/* f += K_fh(q₀) times the way that held vertices go in this step: they take part in the iteration. */
static void add_held_way(sp_integrator *it, double *f)
{
    const sp_system *system = it->system;
    memset(it->x, 0, (size_t)it->n * sizeof *it->x);
    for (int64_t i = 0; i < it->rows; i++)
        it->scrap[i] = it->prescribed_u[1][i] - it->prescribed_u[0][i];
    system->prescribe(system->self, it->prescribed_u[0], it->scrap);
    system->tangent_times(system->self, it->q, it->x, it->y);
    for (int64_t i = 0; i < it->n; i++)
        f[i] += it->y[i];
    system->prescribe(system->self, it->prescribed_u[0], it->prescribed_v[1]);
}

/* One Newton iteration from q₀, force and stiffness in one evaluation, the papers' matrix. */
static int semi_implicit(sp_integrator *it)
{
    const double s = it->chop;
    int status;
    follow(it, it->q);
    if (it->rows)
        it->system->prescribe(it->system->self, it->prescribed_u[0], it->prescribed_v[1]);
    it->system->matrix_start(it->system->self, it->ca + s * it->cv * it->p.damping_mass);
    it->potential =
        it->system->matrix_add(it->system->self, it->q, s * (1 + it->cv * it->p.damping_stiffness), s, false, it->r);
    if (it->rows)
        add_held_way(it, it->r);
    if (it->system->viscous_add)
        it->system->viscous_add(it->system->self, it->q, s * it->cv);
    finish_residual(it, it->q, it->r);
    SP_TRY(it->system->matrix_factor(it->system->self));
    SP_TRY(it->system->matrix_solve(it->system->self, it->r, it->dq));
    for (int64_t i = 0; i < it->n; i++)
        it->q1[i] = it->q[i] - it->dq[i];
    it->report.newton_iterations++;
    it->report.worst_iterations = 1;
    sp_prescribe(it, 1);
    status = sp_refuse_inverted(it, it->q1);
done:
    return status;
}

/* Newton starts from the extrapolated motion or from rest at q₀, whichever leaves the smaller residual: a load that
 * sets in suddenly throws the extrapolation far off, and held vertices that have moved on may have turned elements
 * inside out at q₀. Returns where a second attempt begins. */
static const double *predict(sp_integrator *it)
{
    const double h = it->h;
    residual(it, it->q, it->r);
    double still = sp_norm(it->n, it->r);
    for (int64_t i = 0; i < it->n; i++)
        it->q1[i] = it->q[i] + h * it->v[i] + 0.5 * h * h * it->a[i];
    residual(it, it->q1, it->r);
    const double moved = sp_norm(it->n, it->r);
    if (isfinite(still) && !(moved < still))
        memcpy(it->q1, it->q, (size_t)it->n * sizeof *it->q1);
    if (isfinite(still))
        return it->q;
    memcpy(it->f0, it->q1, (size_t)it->n * sizeof *it->q1);
    return it->f0;
}

/* What elastic, damping and external forces are scaled by in this step so that they would not accelerate q by more than
 * allowed (thesis §3.10.2). */
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

int sp_step_implicit(sp_integrator *it)
{
    static const char *const what[] = {[SP_NEWMARK] = "Newton's method in the Newmark step",
                                       [SP_EULER] = "Newton's method in the step of implicit Euler",
                                       [SP_BDF2] = "Newton's method in the BDF2 step"};
    /* whole steps, then a search along lower potentials, which a definite matrix always finds */
    const bool potential = it->p.damping_stiffness == 0 && (it->p.kind != SP_NEWMARK || it->p.gamma > 0) &&
                           !it->system->nonconservative && !(it->rows && it->system->viscous_times);
    const newton_problem problem = {residual, matrix, potential ? SP_NEWTON_POTENTIAL : SP_NEWTON_RESIDUAL,
                                    8,        0,      what[it->p.kind]};
    const bool euler = it->p.kind == SP_EULER;
    const double h = it->h;
    int status;
    prepare(it);
    sp_force_of_step(it);
    SP_TRY(limit_acceleration(it));
    const double dissipated = sp_damping_force(it, it->q, it->v, it->y) ? sp_dot(it->n, it->v, it->y) : 0;
    sp_prescribe(it, 1);
    if (it->p.semi_implicit)
        SP_TRY(semi_implicit(it));
    else {
        const double *begin = predict(it);
        SP_TRY(sp_newton(it, &problem, begin));
    }
    follow(it, it->q1);
    for (int64_t i = 0; i < it->n; i++)
        it->work +=
            it->chop * (euler ? it->external1[i] : 0.5 * (it->external[i] + it->external1[i])) * (it->q1[i] - it->q[i]);
    if (sp_damping_force(it, it->q1, it->v1, it->y)) {
        const double now = sp_dot(it->n, it->v1, it->y);
        it->dissipated += h * (euler ? now : 0.5 * (dissipated + now));
    }
    const size_t bytes = (size_t)it->n * sizeof(double);
    memcpy(it->last_q, it->q, bytes);
    memcpy(it->last_v, it->v, bytes);
    memcpy(it->q, it->q1, bytes);
    memcpy(it->v, it->v1, bytes);
    memcpy(it->a, it->a1, bytes);
    sp_force_taken(it);
done:
    return status;
}
