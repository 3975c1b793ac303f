#include "nonlinear/newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Relative residuals below which whole steps are taken and an iteration may stagnate, and below which it is expected to
 * halve the residual. */
static const double NEAR = 1e-6, VERY_NEAR = 1e-8;

typedef struct iteration {
    const sp_newton_problem *problem;
    const sp_newton_vectors *v;
    sp_newton_report *report;
    sp_newton_residual size; /* size of the residual that was evaluated last */
    double relative;         /* the same relative to its largest term */
    double last;             /* relative residual before the last solve; 0: there was none */
    double start_potential;
    bool whole_steps; /* the line search is not yet active */
    bool factored;    /* the factor of the last iteration is reused */
    bool definite;    /* the last factor was that of J itself */
    bool stagnated;
} iteration;

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static double norm(int64_t n, const double *x)
{
    return sqrt(dot(n, x, x));
}

static bool has_potential(const sp_newton_problem *problem)
{
    return problem->merit != SP_NEWTON_RESIDUAL;
}

static void evaluate(iteration *it, const double *x)
{
    const sp_newton_problem *problem = it->problem;

    problem->residual(problem->self, x, it->v->r, &it->size);
    /* A residual of the size of rounding counts as converged, whatever its scale. */
    it->relative = it->size.scale > 0 ? it->size.norm / it->size.scale : it->size.norm;
    if (it->size.norm <= problem->rounding)
        it->relative = fmin(it->relative, problem->tolerance);
}

/* ---- the linear system ---- */

static int factor(iteration *it)
{
    const sp_newton_problem *problem = it->problem;
    it->report->factorizations++;
    it->definite = true;
    const int status = problem->factor(problem->self, it->v->x, false);
    if (status != SP_NUMERICAL || !problem->has_definite)
        return status;
    /* The projected matrix takes the place of an indefinite one. */
    it->report->indefinite++;
    it->definite = false;
    return problem->factor(problem->self, it->v->x, true);
}

/* The accuracy that an iterative solver needs, relative to the right-hand side: the error that Newton's quadratic
 * convergence would leave with an exact solution, estimated from the last reduction (Eisenstat and Walker 1996, choice
 * 2), but at least the tolerance of Newton's method. In the first solve 1e-1 leads to more iterations, 1e-4 to more
 * products (measured: bench/full.c). */
static double forcing_term(const iteration *it)
{
    const double first = 1e-2, gain = it->relative / it->last,
                 estimate = gain < 1 ? fmin(first, 0.5 * gain * gain) : first;
    return fmax(estimate, 0.3 * fmin(1, it->problem->tolerance / it->relative));
}

/* An iterative solver detects only here that J is indefinite. */
static int solve(iteration *it)
{
    const sp_newton_problem *problem = it->problem;
    const double tolerance = forcing_term(it);

    int status = problem->solve(problem->self, it->v->r, tolerance, it->v->dx);
    if (status != SP_NUMERICAL || !problem->has_definite)
        return status;

    it->report->indefinite++;
    it->definite = false;
    status = problem->factor(problem->self, it->v->x, true);
    return status == SP_OK ? problem->solve(problem->self, it->v->r, tolerance, it->v->dx) : status;
}

/* ---- the line search ---- */

/* Returns true if the merit function has fallen enough after a step of length s; slope is −∂(potential)/∂s at s = 0. */
static bool sufficient_decrease(const iteration *it, const sp_newton_residual *before, double s, double slope)
{
    const bool potential = has_potential(it->problem);
    if (potential && it->size.potential <= before->potential - 1e-4 * s * slope)
        return true;
    return it->problem->merit != SP_NEWTON_MINIMUM && it->size.norm <= (potential ? 0.5 : 1 - 1e-4 * s) * before->norm;
}

/* A step that halving does not improve is accepted, unless the residual has no value there. */
static bool halved_enough(const iteration *it, bool near, int halvings)
{
    enum { HALVINGS = 12, HALVINGS_TO_A_VALUE = 40 };
    return isfinite(it->size.norm) ? near || halvings >= HALVINGS : halvings == HALVINGS_TO_A_VALUE;
}

/* x −= s dx. */
static void move(iteration *it)
{
    const sp_newton_problem *problem = it->problem;
    const sp_newton_vectors *v = it->v;
    const sp_newton_residual before = it->size;
    const bool near = it->relative <= NEAR;
    const double slope = has_potential(problem) ? dot(problem->n, v->r, v->dx) : 0;

    int halvings = 0;
    /* Armijo's rule: the step is halved until the merit function has fallen enough. */
    for (double s = 1;; s *= 0.5, halvings++) {
        for (int64_t i = 0; i < problem->n; i++)
            v->trial[i] = v->x[i] - s * v->dx[i];

        evaluate(it, v->trial);
        if (it->whole_steps || it->relative <= problem->tolerance || sufficient_decrease(it, &before, s, slope) ||
            halved_enough(it, near, halvings))
            break;
    }

    it->report->halvings += halvings;
    memcpy(v->x, v->trial, (size_t)problem->n * sizeof *v->x);
}

/* ---- iterations ---- */

/* Without forces, on a body in uniform motion, the relative residual is only rounding; but then so is the correction of
 * x. */
static bool negligible(const iteration *it, double *correction)
{
    const int64_t n = it->problem->n;
    if (it->problem->negligible == 0)
        return false;

    *correction = norm(n, it->v->dx) / fmax(norm(n, it->v->x), DBL_MIN);
    return *correction <= it->problem->negligible;
}

/* Called after an iteration from a residual of norm `before`, relative `relative_before`: decides whether rounding ends
 * the iterations, and whether the factor is reused. */
static void judge(iteration *it, double before, double relative_before, bool new_factor)
{
    const sp_newton_problem *problem = it->problem;
    const bool above = it->relative > problem->tolerance;
    double correction;

    if (new_factor && above && it->size.norm > 0.5 * before && negligible(it, &correction)) {
        it->stagnated = true;
        it->relative = fmin(it->relative, correction);
        return;
    }
    /* Farther from the solution the residual also falls when a stretch is undone, which does not predict the next
     * iteration. */
    it->factored = it->relative <= 1e-4 && it->size.norm <= problem->reuse * before;
    it->stagnated = new_factor && above && relative_before <= NEAR && it->relative <= NEAR &&
                    it->size.norm > (it->relative <= VERY_NEAR ? 0.5 : 0.9) * before;
}

static int iterate(iteration *it)
{
    const bool new_factor = !it->factored;
    const double before = it->size.norm, relative_before = it->relative;
    it->report->iterations++;

    int status = new_factor ? factor(it) : SP_OK;
    if (status == SP_OK) {
        status = solve(it);
        it->last = relative_before;
    }

    if (status == SP_NUMERICAL && it->whole_steps) {
        /* A whole step led so far away that the matrix is dominated by rounding. */
        it->relative = INFINITY;
        return SP_OK;
    }
    if (status != SP_OK)
        return status;

    move(it);
    judge(it, before, relative_before, new_factor);
    return SP_OK;
}

static bool converged(const iteration *it)
{
    const sp_newton_problem *problem = it->problem;
    return it->stagnated || (it->relative <= problem->tolerance &&
                             (!problem->at_least_once || it->report->iterations > 0 || it->size.norm == 0));
}

/* Whole steps may converge to any stationary point. */
static bool is_minimum(const iteration *it)
{
    const double rounding = 1e-9 * (fabs(it->start_potential) + fabs(it->size.potential));
    return it->definite && it->size.potential <= it->start_potential + rounding;
}

static bool whole_steps_failed(const iteration *it)
{
    const sp_newton_problem *problem = it->problem;
    if (!it->whole_steps)
        return false;
    if (converged(it))
        return problem->merit == SP_NEWTON_MINIMUM && !is_minimum(it);
    return (it->report->iterations >= problem->whole_steps || !isfinite(it->relative)) &&
           it->report->iterations < problem->iterations;
}

static void begin_line_searches(iteration *it, const double *restart)
{
    it->whole_steps = it->factored = it->stagnated = false;
    it->last = 0;
    memcpy(it->v->x, restart, (size_t)it->problem->n * sizeof *restart);
    evaluate(it, it->v->x);
}

int sp_newton_solve(const sp_newton_problem *problem, const double *restart, const sp_newton_vectors *vectors,
                    sp_newton_report *report)
{
    *report = (sp_newton_report){0};
    iteration it = {
        .problem = problem, .v = vectors, .report = report, .whole_steps = problem->whole_steps > 0, .definite = true};
    int status = SP_OK;

    evaluate(&it, vectors->x);
    it.start_potential = it.size.potential;

    for (;;) {
        /* Whole steps that fail are undone: the line search begins where the caller says. */
        if (whole_steps_failed(&it))
            begin_line_searches(&it, restart);
        else if (converged(&it))
            break;
        else if (report->iterations >= problem->iterations || !isfinite(it.relative)) {
            status = problem->not_converged(problem->self, it.relative, report->iterations);
            break;
        } else {
            status = iterate(&it);
            if (status != SP_OK)
                break;
        }
    }

    report->stagnated = it.stagnated;
    report->relative = it.relative;
    return status;
}
