/* The nonlinear equations of a step, solved by Newton's method (nonlinear/newton.h) with the matrix of the system. */
#include "integrate/internal.h"

#include <math.h>

typedef struct step_problem {
    sp_integrator *it;
    const newton_problem *equations;
} step_problem;

int sp_refuse_inverted(sp_integrator *it, const double *q)
{
    int64_t element = it->system->inverted ? it->system->inverted(it->system->self, q) : -1;
    if (element < 0)
        return SP_OK;
    return sp_fail(it->context, SP_NUMERICAL,
                   "element %lld is turned inside out at t = %g s; take smaller steps, or the law stable-neo-hookean",
                   (long long)element, it->t1);
}

/* Where the residual has no value, an inverted element may be the reason. */
static void residual(void *self, const double *q, double *r, sp_newton_residual *size)
{
    const step_problem *step = self;
    sp_integrator *it = step->it;
    size->scale = step->equations->residual(it, q, r);
    size->norm = sp_norm(it->n, r);
    size->potential = it->potential;
    if (!isfinite(size->norm) && it->system->inverted)
        it->barred = it->system->inverted(it->system->self, q);
}

static int factor(void *self, const double *q, bool definite)
{
    const step_problem *step = self;
    step->equations->matrix(step->it, q, definite);
    return step->it->system->matrix_factor(step->it->system->self);
}

static int solve(void *self, const double *r, double tolerance, double *dq)
{
    const sp_system *system = ((const step_problem *)self)->it->system;
    if (system->matrix_tolerance)
        system->matrix_tolerance(system->self, tolerance);
    const int status = system->matrix_solve(system->self, r, dq);
    if (system->matrix_tolerance)
        system->matrix_tolerance(system->self, 0);
    return status;
}

static int not_converged(void *self, double relative, int64_t iterations)
{
    const step_problem *step = self;
    const sp_integrator *it = step->it;
    double t = it->t0;
    if (it->barred >= 0)
        return sp_fail(it->context, SP_NUMERICAL,
                       "%s did not converge at t = %g s: steps would turn element %lld inside out; take smaller ones, "
                       "or the law stable-neo-hookean",
                       step->equations->what, t, (long long)it->barred);
    if (!isfinite(relative))
        return sp_fail(it->context, SP_NUMERICAL,
                       "%s did not converge at t = %g s: forces are beyond the range of numbers, since the motion has "
                       "grown without bound; take smaller steps",
                       step->equations->what, t);
    return sp_fail(it->context, SP_NUMERICAL,
                   "%s did not converge at t = %g s: residual %.1e after %lld iterations; take a smaller step",
                   step->equations->what, t, relative, (long long)iterations);
}

static void count(sp_integrator_report *total, const sp_newton_report *report, bool converged)
{
    total->factorizations += report->factorizations;
    total->indefinite += report->indefinite;
    total->halvings += report->halvings;
    if (!converged)
        return;
    total->stagnated += report->stagnated;
    total->newton_iterations += report->iterations;
    if (report->iterations > total->worst_iterations)
        total->worst_iterations = report->iterations;
    total->worst_residual = fmax(total->worst_residual, report->relative);
}

int sp_newton(sp_integrator *it, const newton_problem *equations, const double *start)
{
    step_problem step = {it, equations};
    const sp_newton_problem problem = {.self = &step,
                                       .n = it->n,
                                       .residual = residual,
                                       .factor = factor,
                                       .solve = solve,
                                       .not_converged = not_converged,
                                       .merit = equations->merit,
                                       .has_definite = true,
                                       .whole_steps = equations->free_steps,
                                       .reuse = equations->reuse,
                                       .tolerance = it->p.tolerance,
                                       .iterations = it->p.iterations,
                                       .rounding = it->system->rounding,
                                       .negligible = 1e-12};
    const sp_newton_vectors vectors = {.x = it->q1, .r = it->r, .dx = it->dq, .trial = it->x};
    sp_newton_report report;
    it->barred = -1;
    const int status = sp_newton_solve(&problem, start, &vectors, &report);
    count(&it->report, &report, status == SP_OK);
    return status;
}
