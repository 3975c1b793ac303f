#include "dynamics/internal.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double sp_dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

double sp_norm(int64_t n, const double *x)
{
    return sqrt(sp_dot(n, x, x));
}

bool sp_damping_force(sp_integrator *it, const double *q, const double *v, double *y)
{
    double alpha = it->p.damping_mass, beta = it->p.damping_stiffness;
    if (alpha == 0 && beta == 0 && !it->system->viscous_times)
        return false;
    if (beta != 0)
        it->system->tangent_times(it->system->self, q, v, y);
    else
        memset(y, 0, (size_t)it->n * sizeof *y);
    if (alpha != 0) {
        it->system->mass_times(it->system->self, v, it->trial);
        for (int64_t i = 0; i < it->n; i++)
            y[i] = alpha * it->trial[i] + beta * y[i];
    } else
        for (int64_t i = 0; i < it->n; i++)
            y[i] *= beta;
    if (it->system->viscous_times) {
        it->system->viscous_times(it->system->self, q, v, it->trial);
        for (int64_t i = 0; i < it->n; i++)
            y[i] += it->trial[i];
    }
    return true;
}

int sp_balance_acceleration(sp_integrator *it, const double *external)
{
    it->system->force(it->system->self, it->q, it->r);
    bool damped = sp_damping_force(it, it->q, it->v, it->y);
    double size = 0;
    for (int64_t i = 0; i < it->n; i++) {
        it->r[i] = external[i] - it->r[i] - (damped ? it->y[i] : 0);
        size = fmax(size, fabs(it->r[i]));
    }
    if (!isfinite(sp_norm(it->n, it->r)))
        return sp_fail(it->context, SP_NUMERICAL, "the forces at t = %g s are not finite", (double)it->steps * it->p.step);
    if (size == 0) {
        memset(it->a, 0, (size_t)it->n * sizeof *it->a);
        return SP_OK;
    }
    return it->system->mass_solve(it->system->self, it->r, it->a);
}

void sp_add_tangent_derivative(sp_integrator *it, const double *q, const double *v, double scale)
{
    double speed = sp_norm(it->n, v), reach = sp_norm(it->n, q);
    if (speed == 0)
        return;
    /* long steps round least; where K is no polynomial, short ones stay true (and inside what the material allows) */
    double s = it->system->cubic ? fmax(reach, it->p.step * speed) / speed : 1e-3 * it->p.step;
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int64_t i = 0; i < it->n; i++)
            it->trial[i] = q[i] + sign * s * v[i];
        it->system->matrix_add(it->system->self, it->trial, sign * scale / (2 * s), 0, false, NULL);
    }
}

/* ω of the stiffest mode at rest, springs that act included, by power iteration on M⁻¹K: a lower bound, close after so many
 * steps. K x is the difference quotient of the force over a step so small that its cubic part is rounding. */
static int largest_frequency(sp_integrator *it, double *omega)
{
    const sp_system *system = it->system;
    int status = SP_OK;
    for (int64_t i = 0; i < it->n; i++)
        it->x[i] = sp_random_normal(1, 77, (uint64_t)i);
    *omega = 0;
    for (int k = 0; k < 100; k++) {
        double step = 1e-6 / fmax(1e-300, sp_norm(it->n, it->x));
        for (int64_t i = 0; i < it->n; i++)
            it->q1[i] = step * it->x[i];
        system->force(system->self, it->q1, it->y);
        for (int64_t i = 0; i < it->n; i++)
            it->q1[i] = -step * it->x[i];
        system->force(system->self, it->q1, it->r);
        for (int64_t i = 0; i < it->n; i++)
            it->y[i] = (it->y[i] - it->r[i]) / (2 * step);
        system->mass_times(system->self, it->x, it->r);
        double quotient = sp_dot(it->n, it->x, it->y) / sp_dot(it->n, it->x, it->r);
        *omega = fmax(*omega, sqrt(fmax(0, quotient)));
        SP_TRY(system->mass_solve(system->self, it->y, it->x));
        double size = sp_norm(it->n, it->x);
        for (int64_t i = 0; i < it->n; i++)
            it->x[i] /= size;
    }
done:
    return status;
}

/* The largest rate of damping by strain rate at rest, 1/s: the eigenvalue of M⁻¹D, as above. */
static int largest_rate(sp_integrator *it, double *rate)
{
    const sp_system *system = it->system;
    int status = SP_OK;
    *rate = 0;
    if (!system->viscous_times)
        return SP_OK;
    memset(it->q1, 0, (size_t)it->n * sizeof *it->q1);
    for (int64_t i = 0; i < it->n; i++)
        it->x[i] = sp_random_normal(1, 78, (uint64_t)i);
    for (int k = 0; k < 100; k++) {
        system->viscous_times(system->self, it->q1, it->x, it->y);
        system->mass_times(system->self, it->x, it->r);
        *rate = fmax(*rate, sp_dot(it->n, it->x, it->y) / sp_dot(it->n, it->x, it->r));
        SP_TRY(system->mass_solve(system->self, it->y, it->x));
        double size = sp_norm(it->n, it->x);
        if (size == 0)
            break;
        for (int64_t i = 0; i < it->n; i++)
            it->x[i] /= size;
    }
done:
    return status;
}

/* Leapfrog is stable for h ≤ 2/ω; with the lagged damping forces βK v and D v where (h/2)²K + (h/2)(βK + D) ≤ M: at the latest, with the
 * largest eigenvalues δ of M⁻¹D and ω² of M⁻¹K, for h ≤ (√(1+ξ²) − ξ) 2/ω, ξ = (βω + δ/ω)/2. */
static int check_stability(sp_integrator *it)
{
    double omega, rate, h = it->p.step;
    int status;
    SP_TRY(largest_frequency(it, &omega));
    SP_TRY(largest_rate(it, &rate));
    double xi = 0.5 * (it->p.damping_stiffness * omega + (rate > 0 ? rate / omega : 0));
    it->report.stability_limit = (sqrt(1 + xi * xi) - xi) * 2 / omega;
    if (h > it->report.stability_limit)
        return sp_fail(it->context, SP_USAGE, "the time step %g s is above the limit of central differences, 2/omega%s = %g s", h, xi > 0 ? " with this damping" : "", it->report.stability_limit);
done:
    return status;
}

/* Where the next piece of the path begins. */
static void mark_path(sp_integrator *it)
{
    if (!it->system->nonconservative)
        return;
    memcpy(it->path_q, it->q, (size_t)it->n * sizeof *it->q);
    it->path_energy = it->system->force(it->system->self, it->q, it->path_f);
}

/* Work against the internal force over the last step by the trapezoidal rule. That is exact for springs, whose part has an energy and is taken out. */
static void follow_path(sp_integrator *it)
{
    if (!it->system->nonconservative)
        return;
    double energy = it->system->force(it->system->self, it->q, it->trial);
    for (int64_t i = 0; i < it->n; i++)
        it->path_work += 0.5 * (it->path_f[i] + it->trial[i]) * (it->q[i] - it->path_q[i]);
    it->path_work -= energy - it->path_energy;
    memcpy(it->path_q, it->q, (size_t)it->n * sizeof *it->q);
    memcpy(it->path_f, it->trial, (size_t)it->n * sizeof *it->trial);
    it->path_energy = energy;
}

static int start(sp_integrator *it)
{
    int status = SP_OK;
    double h = it->p.step;
    if (it->forcing->springs)
        it->forcing->springs(it->forcing->self, 0, h);
    switch (it->p.kind) {
    case SP_NEWMARK:
        it->forcing->mean(it->forcing->self, 0, 0.5 * h, it->external);
        SP_TRY(sp_balance_acceleration(it, it->external));
        break;
    case SP_CENTRAL:
        SP_TRY(check_stability(it));
        it->forcing->mean(it->forcing->self, 0, 0.5 * h, it->external);
        SP_TRY(sp_balance_acceleration(it, it->external));
        double energy[SP_WORK_COUNT];
        sp_integrator_energies(it, energy);
        it->energy_scale = energy[SP_WORK_KINETIC] + energy[SP_WORK_STORED];
        break;
    case SP_ENERGY:
        it->system->force(it->system->self, it->q, it->f0);
        break;
    case SP_STATIC:
        break;
    }
done:
    return status;
}

int sp_integrator_new(sp_context *context, const sp_system *system, const sp_forcing *forcing, const sp_integrator_parameters *parameters, const double *q, const double *v,
                      sp_integrator **result)
{
    const sp_integrator_parameters *p = parameters;
    if (!(p->step > 0 && isfinite(p->step)))
        return sp_fail(context, SP_USAGE, "the time step is %g s", p->step);
    if (p->kind == SP_NEWMARK && !(p->beta > 0 && p->beta <= 1 && p->gamma >= 0 && p->gamma <= 1))
        return sp_fail(context, SP_USAGE, "Newmark's beta is %g and gamma %g: beta must be in (0, 1], gamma in [0, 1]", p->beta, p->gamma);
    if (!(p->damping_mass >= 0 && p->damping_stiffness >= 0))
        return sp_fail(context, SP_USAGE, "damping may not be negative");
    if (p->kind == SP_ENERGY && !system->cubic)
        return sp_fail(context, SP_USAGE, "the energy-conserving step is exact only for laws that are quadratic in the Green-Lagrange strain");
    if (p->semi_implicit && p->kind != SP_NEWMARK)
        return sp_fail(context, SP_USAGE, "only Newmark has a semi-implicit step");
    if (p->kind == SP_ENERGY && system->nonconservative)
        return sp_fail(context, SP_USAGE, "the energy-conserving step needs an internal force that has an energy; cubature with weights by coordinate has none");
    sp_integrator *it = calloc(1, sizeof *it);
    if (!it)
        return sp_fail_memory(context);
    it->context = context;
    it->system = system;
    it->forcing = forcing;
    it->p = *p;
    if (it->p.tolerance == 0)
        it->p.tolerance = p->kind == SP_ENERGY ? 1e-12 : 1e-10;
    if (it->p.iterations == 0)
        it->p.iterations = 50;
    it->n = system->n;
    double **vectors[] = {&it->q, &it->v, &it->a, &it->q1, &it->v1, &it->a1, &it->external, &it->external1, &it->f0, &it->r, &it->dq, &it->x, &it->y, &it->trial, &it->path_q, &it->path_f};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&it->pool, it->n, sizeof(double));
    int status = it->pool.failed ? sp_fail_memory(context) : SP_OK;
    if (status == SP_OK) {
        if (q)
            memcpy(it->q, q, (size_t)it->n * sizeof *q);
        if (v)
            memcpy(it->v, v, (size_t)it->n * sizeof *v);
        status = start(it);
        mark_path(it);
    }
    if (status == SP_OK)
        *result = it;
    else
        sp_integrator_free(it);
    return status;
}

void sp_integrator_free(sp_integrator *it)
{
    if (!it)
        return;
    sp_pool_free(&it->pool);
    free(it);
}

/* ---- Newton ---- */

static int factor(sp_integrator *it, const newton_problem *problem)
{
    it->report.factorizations++;
    problem->matrix(it, it->q1, false);
    int status = it->system->matrix_factor(it->system->self);
    if (status != SP_NUMERICAL)
        return status;
    it->report.indefinite++;
    problem->matrix(it, it->q1, true);
    return it->system->matrix_factor(it->system->self);
}

int sp_refuse_inverted(sp_integrator *it, const double *q)
{
    int64_t element = it->system->inverted ? it->system->inverted(it->system->self, q) : -1;
    if (element < 0)
        return SP_OK;
    return sp_fail(it->context, SP_NUMERICAL, "element %lld is turned inside out at t = %g s; take smaller steps, or the law stable-neo-hookean", (long long)element,
                   (double)(it->steps + 1) * it->p.step);
}

/* The residual's norm, its part of the largest force term, and which element keeps it from being a number. */
static double measure(sp_integrator *it, const newton_problem *problem, const double *q, double *norm)
{
    double size = problem->residual(it, q, it->r);
    *norm = sp_norm(it->n, it->r);
    if (!isfinite(*norm) && it->system->inverted)
        it->barred = it->system->inverted(it->system->self, q);
    return size > 0 ? *norm / size : *norm; /* without any force 0, or NaN */
}

static int not_converged(const sp_integrator *it, const newton_problem *problem, double relative, int64_t iterations)
{
    double t = (double)it->steps * it->p.step;
    if (it->barred >= 0)
        return sp_fail(it->context, SP_NUMERICAL, "%s did not converge at t = %g s: steps would turn element %lld inside out; take smaller ones, or the law stable-neo-hookean", problem->what,
                       t, (long long)it->barred);
    return sp_fail(it->context, SP_NUMERICAL, "%s did not converge at t = %g s: residual %.1e after %lld iterations; take a smaller step", problem->what, t, relative, (long long)iterations);
}

/* An iterative solver tells only now that a matrix is indefinite, or beyond it. */
static int solve(sp_integrator *it, const newton_problem *problem, bool *definite)
{
    int status = it->system->matrix_solve(it->system->self, it->r, it->dq);
    if (status != SP_NUMERICAL)
        return status;
    it->report.indefinite++;
    *definite = false;
    problem->matrix(it, it->q1, true);
    status = it->system->matrix_factor(it->system->self);
    return status == SP_OK ? it->system->matrix_solve(it->system->self, it->r, it->dq) : status;
}

/* Whole steps may lead anywhere: of a problem that has a potential the solution is taken where it lies no higher than the start and
 * the last matrix was definite, so that it is a minimum. */
static bool lost(const sp_integrator *it, const newton_problem *problem, double start_potential, bool definite)
{
    double rounding = 1e-9 * (fabs(start_potential) + fabs(it->potential));
    return problem->minimizes && !(definite && it->potential <= start_potential + rounding);
}

int sp_newton(sp_integrator *it, const newton_problem *problem, const double *start)
{
    enum { HALVINGS = 12, MOST_HALVINGS = 40 }; /* the second towards numbers at all */
    it->barred = -1;
    double norm, relative = measure(it, problem, it->q1, &norm), start_potential = it->potential;
    int64_t iterations = 0;
    int status;
    /* Vertices of a bending body move on arcs, a Newton step on tangents: it stretches, and the residual rises before the next
     * step removes that. A line search would crawl here, so the first steps are whole ones; where they have not converged, Newton
     * starts once more, from `start` and with the line search. */
    bool stagnated = false, free_steps = problem->free_steps > 0, factored = false, definite = true;
    for (;;) {
        bool done = stagnated || relative <= it->p.tolerance, given_up = iterations >= problem->free_steps || !isfinite(relative);
        if (free_steps && (done ? lost(it, problem, start_potential, definite) : given_up && iterations < it->p.iterations)) {
            free_steps = factored = stagnated = false;
            memcpy(it->q1, start, (size_t)it->n * sizeof *it->q1);
            relative = measure(it, problem, it->q1, &norm);
            continue;
        }
        if (done)
            break;
        if (iterations >= it->p.iterations || !isfinite(relative))
            return not_converged(it, problem, relative, iterations);
        iterations++;
        bool fresh = !factored;
        int64_t indefinite = it->report.indefinite;
        if (fresh) {
            status = factor(it, problem);
            if (status == SP_NUMERICAL && free_steps) { /* a whole step led so far off that rounding is all that is left of the matrix */
                relative = INFINITY;
                continue;
            }
            SP_TRY(status);
            definite = it->report.indefinite == indefinite;
        }
        SP_TRY(solve(it, problem, &definite));
        double s = 1, before = norm, potential = it->potential, descent = problem->potential ? sp_dot(it->n, it->r, it->dq) : 0;
        int halvings = 0;
        /* here Newton's next step gains half of the digits; where it gains none, rounding of (q₁ − q₀)/h² is all that is left */
        bool near = relative <= 1e-6;
        for (;; s *= 0.5, halvings++) {
            for (int64_t i = 0; i < it->n; i++)
                it->x[i] = it->q1[i] - s * it->dq[i];
            relative = measure(it, problem, it->x, &norm);
            /* the residual decides too where a potential is no criterion of what is wanted: close to the solution it changes by less than its rounding */
            bool lower = problem->potential && it->potential <= potential - 1e-4 * s * descent;
            bool better = lower || (!problem->minimizes && norm <= (problem->potential ? 0.5 : 1 - 1e-4 * s) * before);
            bool enough = isfinite(norm) ? near || halvings >= HALVINGS : halvings == MOST_HALVINGS;
            if (better || relative <= it->p.tolerance || free_steps || enough)
                break;
        }
        it->report.halvings += halvings;
        memcpy(it->q1, it->x, (size_t)it->n * sizeof *it->q1);
        /* farther away a residual also falls where a stretch is undone: that says nothing of the next iteration */
        factored = relative <= 1e-4 && norm <= problem->reuse * before;
        stagnated = near && fresh && relative > it->p.tolerance && norm > (relative <= 1e-8 ? 0.5 : 0.9) * before;
    }
    it->report.stagnated += stagnated;
    it->report.newton_iterations += iterations;
    if (iterations > it->report.worst_iterations)
        it->report.worst_iterations = iterations;
    it->report.worst_residual = fmax(it->report.worst_residual, relative);
    status = SP_OK;
done:
    return status;
}

/* ---- steps ---- */

/* Springs that change store or release energy at once: that is work of whoever changes them. */
static int change_springs(sp_integrator *it)
{
    double h = it->p.step, t0 = (double)it->steps * h;
    double before = it->system->force(it->system->self, it->q, NULL);
    if (it->steps == 0 || !it->forcing->springs(it->forcing->self, t0, t0 + h))
        return SP_OK;
    it->work += it->system->force(it->system->self, it->q, it->f0) - before;
    mark_path(it);
    if (it->p.kind == SP_CENTRAL) {
        int status = check_stability(it);
        if (status != SP_OK)
            return status;
    }
    if (it->p.kind == SP_NEWMARK || it->p.kind == SP_CENTRAL)
        return sp_balance_acceleration(it, it->external);
    return SP_OK;
}

int sp_integrator_step(sp_integrator *it)
{
    static int (*const steps[])(sp_integrator *) = {[SP_NEWMARK] = sp_step_newmark, [SP_ENERGY] = sp_step_energy, [SP_CENTRAL] = sp_step_central, [SP_STATIC] = sp_step_static};
    int status = SP_OK;
    if (it->forcing->springs)
        status = change_springs(it);
    if (status == SP_OK)
        status = steps[it->p.kind](it);
    if (status != SP_OK)
        return status;
    follow_path(it);
    it->steps++;
    it->report.steps++;
    return SP_OK;
}

double sp_integrator_time(const sp_integrator *it)
{
    return (double)it->steps * it->p.step;
}

const double *sp_integrator_q(const sp_integrator *it)
{
    return it->q;
}

const double *sp_integrator_v(const sp_integrator *it)
{
    return it->v;
}

void sp_integrator_energies(sp_integrator *it, double energy[SP_WORK_COUNT])
{
    it->system->mass_times(it->system->self, it->v, it->y);
    energy[SP_WORK_KINETIC] = 0.5 * sp_dot(it->n, it->v, it->y);
    energy[SP_WORK_STORED] = it->system->force(it->system->self, it->q, NULL) + it->path_work;
    energy[SP_WORK_EXTERNAL] = it->work;
    energy[SP_WORK_DISSIPATED] = it->dissipated;
}

const sp_integrator_report *sp_integrator_reported(const sp_integrator *it)
{
    return &it->report;
}
