/* The nonlinear equations of a step, solved by Newton's method (nonlinear/newton.h) with the matrix of the system. */
#include "integrate/internal.h"

#include <math.h>

typedef struct step_problem {
    sp_integrator *it;
    const step_equations *equations;
    int64_t inverted; /* the first element that an iterate inverted so that forces have no value; −1: none */
} step_problem;

/* If the residual has no value, an inverted element may be the reason. */
static void residual(void *self, const double *q, double *r, sp_newton_residual *size)
{
    step_problem *step = self;
    sp_integrator *it = step->it;
    step->equations->residual(it, q, r, size);
    size->norm = sp_norm(it->n, r);
    if (!isfinite(size->norm) && it->system->inverted)
        step->inverted = it->system->inverted(it->system->self, q);
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

/* A static solution has tried smaller increments of the load already, and has no length of step. */
static const char *advice(const sp_integrator *it)
{
    return it->p.kind == SP_STATIC ? "raise the loads by a ramp over more steps" : "take a smaller step";
}

static int not_converged(void *self, double relative, int64_t iterations)
{
    const step_problem *step = self;
    const sp_integrator *it = step->it;
    double t = it->t0;

    if (step->inverted >= 0)
        return sp_fail(it->context, SP_NUMERICAL,
                       "%s did not converge at t = %g s: steps would invert element %lld; %s, "
                       "or take the law stable-neo-hookean",
                       step->equations->name, t, (long long)step->inverted, advice(it));

    if (!isfinite(relative))
        return sp_fail(it->context, SP_NUMERICAL,
                       "%s did not converge at t = %g s: forces are beyond the range of numbers, since the motion has "
                       "grown without bound; %s",
                       step->equations->name, t, advice(it));

    const int64_t soft = it->system->softened ? it->system->softened(it->system->self, it->next.q) : -1;
    if (soft >= 0)
        return sp_fail(
            it->context, SP_NUMERICAL,
            "%s did not converge at t = %g s: residual %.1e after %lld iterations; element %lld is compressed to less "
            "than 58 %% of its length or inverted, where its law softens; take another law, such as neo-hookean",
            step->equations->name, t, relative, (long long)iterations, (long long)soft);

    return sp_fail(it->context, SP_NUMERICAL,
                   "%s did not converge at t = %g s: residual %.1e after %lld iterations; %s", step->equations->name, t,
                   relative, (long long)iterations, advice(it));
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

int sp_step_solve(sp_integrator *it, const step_equations *equations, const double *restart)
{
    step_problem step = {it, equations, -1};
    const sp_newton_problem problem = {.self = &step,
                                       .n = it->n,
                                       .residual = residual,
                                       .factor = factor,
                                       .solve = solve,
                                       .not_converged = not_converged,
                                       .merit = equations->merit,
                                       .has_definite = true,
                                       .whole_steps = equations->whole_steps,
                                       .reuse = equations->reuse,
                                       .tolerance = it->p.tolerance,
                                       .iterations = it->p.iterations,
                                       .rounding = it->system->rounding,
                                       .negligible = 1e-12};

    const sp_newton_vectors vectors = {.x = it->next.q, .r = it->residual, .dx = it->correction, .trial = it->trial};
    sp_newton_report report;
    const int status = sp_newton_solve(&problem, restart, &vectors, &report);

    count(&it->report, &report, status == SP_OK);
    return status;
}
