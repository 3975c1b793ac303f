/* Newton's method for the implicit steps: whole steps first, then a line search. */
#include "integrate/internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

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
    return sp_fail(it->context, SP_NUMERICAL,
                   "element %lld is turned inside out at t = %g s; take smaller steps, or the law stable-neo-hookean",
                   (long long)element, it->t1);
}

/* The residual's norm, its part of the largest force term, and which element keeps it from being a number. */
static double measure(sp_integrator *it, const newton_problem *problem, const double *q, double *norm)
{
    double size = problem->residual(it, q, it->r);
    *norm = sp_norm(it->n, it->r);
    if (!isfinite(*norm) && it->system->inverted)
        it->barred = it->system->inverted(it->system->self, q);
    const double relative = size > 0 ? *norm / size : *norm; /* without any force 0, or NaN */
    return *norm <= it->system->rounding ? fmin(relative, it->p.tolerance) : relative;
}

static int not_converged(const sp_integrator *it, const newton_problem *problem, double relative, int64_t iterations)
{
    double t = it->t0;
    if (it->barred >= 0)
        return sp_fail(it->context, SP_NUMERICAL,
                       "%s did not converge at t = %g s: steps would turn element %lld inside out; take smaller ones, "
                       "or the law stable-neo-hookean",
                       problem->what, t, (long long)it->barred);
    if (!isfinite(relative))
        return sp_fail(it->context, SP_NUMERICAL,
                       "%s did not converge at t = %g s: forces are beyond the range of numbers, since the motion has "
                       "grown without bound; take smaller steps",
                       problem->what, t);
    return sp_fail(it->context, SP_NUMERICAL,
                   "%s did not converge at t = %g s: residual %.1e after %lld iterations; take a smaller step",
                   problem->what, t, relative, (long long)iterations);
}

/* How far an iterative solver needs to go, by the right side: not farther than Newton's method, which squares the
 * error, would come with an exact solution; that is estimated by the last gain (Eisenstat and Walker 1996, choice 2).
 * And not below Newton's own tolerance. The first solve: with 1e-1 there are more iterations, with 1e-4 more products
 * (measured: bench/full.c). */
static double needed(const sp_integrator *it, double relative, double before)
{
    const double first = 1e-2, gain = relative / before, estimate = gain < 1 ? fmin(first, 0.5 * gain * gain) : first;
    return fmax(estimate, 0.3 * fmin(1, it->p.tolerance / relative));
}

/* An iterative solver tells only now that a matrix is indefinite, or beyond it. */
static int solve_once(sp_integrator *it, const newton_problem *problem, bool *definite)
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

static int solve(sp_integrator *it, const newton_problem *problem, double tolerance, bool *definite)
{
    const sp_system *system = it->system;
    if (system->matrix_tolerance)
        system->matrix_tolerance(system->self, tolerance);
    const int status = solve_once(it, problem, definite);
    if (system->matrix_tolerance)
        system->matrix_tolerance(system->self, 0);
    return status;
}

/* Whole steps may lead anywhere: of a problem that has a potential the solution is taken where it lies no higher than
 * the start and the last matrix was definite, so that it is a minimum. */
static bool lost(const sp_integrator *it, const newton_problem *problem, double start_potential, bool definite)
{
    double rounding = 1e-9 * (fabs(start_potential) + fabs(it->potential));
    return problem->minimizes && !(definite && it->potential <= start_potential + rounding);
}

int sp_newton(sp_integrator *it, const newton_problem *problem, const double *start)
{
    enum { HALVINGS = 12, MOST_HALVINGS = 40 }; /* the second towards numbers at all */
    it->barred = -1;
    double norm, relative = measure(it, problem, it->q1, &norm), start_potential = it->potential, last = 0;
    int64_t iterations = 0;
    int status;
    /* Vertices of a bending body move on arcs, a Newton step on tangents: it stretches, and the residual rises before
     * the next step removes that. A line search would crawl here, so the first steps are whole ones; where they have
     * not converged, Newton starts once more, from `start` and with the line search. */
    bool stagnated = false, free_steps = problem->free_steps > 0, factored = false, definite = true;
    for (;;) {
        bool done = stagnated || relative <= it->p.tolerance,
             given_up = iterations >= problem->free_steps || !isfinite(relative);
        if (free_steps &&
            (done ? lost(it, problem, start_potential, definite) : given_up && iterations < it->p.iterations)) {
            free_steps = factored = stagnated = false;
            memcpy(it->q1, start, (size_t)it->n * sizeof *it->q1);
            relative = measure(it, problem, it->q1, &norm);
            last = 0;
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
            if (status == SP_NUMERICAL &&
                free_steps) { /* a whole step led so far off that rounding is all that is left of the matrix */
                relative = INFINITY;
                continue;
            }
            SP_TRY(status);
            definite = it->report.indefinite == indefinite;
        }
        status = solve(it, problem, needed(it, relative, last), &definite);
        last = relative;
        if (status == SP_NUMERICAL && free_steps) {
            relative = INFINITY;
            continue;
        }
        SP_TRY(status);
        double s = 1, before = norm, potential = it->potential,
               descent = problem->potential ? sp_dot(it->n, it->r, it->dq) : 0;
        int halvings = 0;
        /* here Newton's next step gains half of the digits; where it gains none, rounding of (q₁ − q₀)/h² is all that
         * is left */
        bool near = relative <= 1e-6;
        for (;; s *= 0.5, halvings++) {
            for (int64_t i = 0; i < it->n; i++)
                it->x[i] = it->q1[i] - s * it->dq[i];
            relative = measure(it, problem, it->x, &norm);
            /* the residual decides too where a potential is no criterion of what is wanted: close to the solution it
             * changes by less than its rounding */
            bool lower = problem->potential && it->potential <= potential - 1e-4 * s * descent;
            bool better = lower || (!problem->minimizes && norm <= (problem->potential ? 0.5 : 1 - 1e-4 * s) * before);
            bool enough = isfinite(norm) ? near || halvings >= HALVINGS : halvings == MOST_HALVINGS;
            if (better || relative <= it->p.tolerance || free_steps || enough)
                break;
        }
        it->report.halvings += halvings;
        memcpy(it->q1, it->x, (size_t)it->n * sizeof *it->q1);
        /* where no force acts, of a body that moves on as it is, the residual is a part of rounding; but then so is the
         * correction of q */
        const double correction = sp_norm(it->n, it->dq) / fmax(sp_norm(it->n, it->q1), DBL_MIN);
        if (fresh && correction <= 1e-12 && norm > 0.5 * before && relative > it->p.tolerance) {
            stagnated = true;
            relative = fmin(relative, correction);
            continue;
        }
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
