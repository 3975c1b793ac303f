/* Newton's method on scalar equations with known roots. */
#include "nonlinear/newton.h"
#include "test.h"

/* r(x) = value(x) with its derivative and, where it has one, its potential. */
typedef struct equation {
    double (*value)(double x), (*derivative)(double x), (*potential)(double x);
    double slope;          /* the derivative at the last factorization */
    double residual[200];  /* every residual that was evaluated … */
    double tolerance[200]; /* … and every accuracy that was asked of solves */
    int residuals, solves;
    double relative; /* as reported to not_converged */
    int64_t iterations;
    int failures;
    double farthest; /* the largest x */
} equation;

static void residual(void *self, const double *x, double *r, sp_newton_residual *size)
{
    equation *e = self;
    e->farthest = fmax(e->farthest, x[0]);
    r[0] = e->value(x[0]);
    *size = (sp_newton_residual){.norm = fabs(r[0]), .scale = 1, .potential = e->potential ? e->potential(x[0]) : 0};
    if (e->residuals < 200)
        e->residual[e->residuals++] = fabs(r[0]);
}

/* The definite approximation is the absolute value of the slope. */
static int factor(void *self, const double *x, bool definite)
{
    equation *e = self;
    e->slope = e->derivative(x[0]);
    if (e->potential && e->slope <= 0 && !definite)
        return sp_fail(&context, SP_NUMERICAL, "not positive definite");
    if (definite)
        e->slope = fabs(e->slope);
    return SP_OK;
}

static int solve(void *self, const double *r, double tolerance, double *dx)
{
    equation *e = self;
    dx[0] = r[0] / e->slope;
    if (e->solves < 200)
        e->tolerance[e->solves++] = tolerance;
    return SP_OK;
}

static int not_converged(void *self, double relative, int64_t iterations)
{
    equation *e = self;
    e->relative = relative;
    e->iterations = iterations;
    e->failures++;
    return sp_fail(&context, SP_NUMERICAL, "not converged");
}

static sp_newton_problem problem_of(equation *e)
{
    return (sp_newton_problem){.self = e,
                               .n = 1,
                               .residual = residual,
                               .factor = factor,
                               .solve = solve,
                               .not_converged = not_converged,
                               .merit = SP_NEWTON_RESIDUAL,
                               .tolerance = 1e-13,
                               .iterations = 50};
}

static int run(const sp_newton_problem *problem, double *x, sp_newton_report *report)
{
    double r, dx, trial;
    const double restart = *x;
    const sp_newton_vectors vectors = {.x = x, .r = &r, .dx = &dx, .trial = &trial};
    return sp_newton_solve(problem, &restart, &vectors, report);
}

static double cube_less_8(double x)
{
    return x * x * x - 8;
}

static double three_squares(double x)
{
    return 3 * x * x;
}

/* Near the root 2 of x³ − 8 the error goes to ½ f''/f' = ½ times its square, the residual (12 times the error) to 1/24.
 */
TEST(quadratic_convergence)
{
    equation e = {.value = cube_less_8, .derivative = three_squares};
    const sp_newton_problem problem = problem_of(&e);
    sp_newton_report report;
    double x = 2.1;
    CHECK_OK(run(&problem, &x, &report));
    CHECK_NEAR(x, 2, 1e-14);
    CHECK(report.iterations == report.factorizations && report.halvings == 0, "%lld halvings",
          (long long)report.halvings);
    for (int k = 1; k < 3; k++)
        CHECK_NEAR(e.residual[k + 1] / (e.residual[k] * e.residual[k]), 1.0 / 24, 2e-3);
}

/* Without a solver's tolerance the first solve is asked for 1e-2, and others for half the square of the last gain,
 * but for no more than 0.3 times what is left to the tolerance (Eisenstat and Walker 1996, choice 2). */
TEST(accuracy_of_solves)
{
    equation e = {.value = cube_less_8, .derivative = three_squares};
    const sp_newton_problem problem = problem_of(&e);
    sp_newton_report report;
    double x = 2.1;
    CHECK_OK(run(&problem, &x, &report));
    CHECK(e.solves >= 3, "%d solves", e.solves);
    CHECK_NEAR(e.tolerance[0], 1e-2, 0);
    for (int k = 1; k < e.solves; k++) {
        const double gain = e.residual[k] / e.residual[k - 1];
        const double wanted = fmax(fmin(1e-2, 0.5 * gain * gain), 0.3 * fmin(1, problem.tolerance / e.residual[k]));
        CHECK_NEAR(e.tolerance[k], wanted, 1e-15 * wanted);
    }
}

static double slope_of_arctan(double x)
{
    return 1 / (1 + x * x);
}

/* Newton's method for arctan x = 0 diverges from |x| > 1.3917…; with the line search it converges, at once or after
 * whole steps have failed. */
TEST(line_search)
{
    for (int whole_steps = 0; whole_steps <= 4; whole_steps += 4) {
        equation e = {.value = atan, .derivative = slope_of_arctan};
        sp_newton_problem problem = problem_of(&e);
        sp_newton_report report;
        double x = 3;
        problem.whole_steps = whole_steps;
        CHECK_OK(run(&problem, &x, &report));
        CHECK_NEAR(x, 0, 1e-13);
        CHECK(report.halvings > 0, "no halvings");
        CHECK(report.iterations > whole_steps, "%lld iterations", (long long)report.iterations);
        if (whole_steps > 0)
            CHECK(e.residual[3] > e.residual[0], "whole steps lowered the residual from %g to %g", e.residual[0],
                  e.residual[3]);
    }
}

static double one_over(double x)
{
    return 1 / x;
}

/* The first step of ln x = 0 from 4 leads to 4 − 4 ln 4 < 0, where there is no value. */
TEST(steps_without_value)
{
    equation e = {.value = log, .derivative = one_over};
    const sp_newton_problem problem = problem_of(&e);
    sp_newton_report report;
    double x = 4;
    CHECK_OK(run(&problem, &x, &report));
    CHECK(isnan(e.residual[1]), "the first step has the value %g", e.residual[1]);
    CHECK_NEAR(x, 1, 1e-13);
    x = -1;
    CHECK(run(&problem, &x, &report) == SP_NUMERICAL && e.failures == 1, "a start without value is taken");
    CHECK(isnan(e.relative) && e.iterations == 0, "%g after %lld iterations", e.relative, (long long)e.iterations);
}

static double well(double x)
{
    return x * x * x * x / 4 - x * x / 2;
}

static double slope_of_well(double x)
{
    return x * x * x - x;
}

static double curvature_of_well(double x)
{
    return 3 * x * x - 1;
}

/* From near the maximum at 0 the residual leads to the maximum, the potential to the minimum at 1. */
TEST(minimum_or_saddle)
{
    for (int minimum = 0; minimum < 2; minimum++) {
        equation e = {.value = slope_of_well, .derivative = curvature_of_well, .potential = minimum ? well : NULL};
        sp_newton_problem problem = problem_of(&e);
        sp_newton_report report;
        double x = 0.1;
        problem.merit = minimum ? SP_NEWTON_MINIMUM : SP_NEWTON_RESIDUAL;
        problem.has_definite = minimum;
        CHECK_OK(run(&problem, &x, &report));
        CHECK_NEAR(x, minimum, 1e-13);
        CHECK((report.indefinite > 0) == minimum, "%lld indefinite matrices", (long long)report.indefinite);
    }
}

static double waves(double x)
{
    return 0.1 * x - cos(x);
}

static double slope_of_waves(double x)
{
    return 0.1 + sin(x);
}

/* W = x/10 − cos x has its minima at 2πk − asin 0.1, each higher than those to its left. From −1.5 whole steps lead to
 * the one with k = 2, which is higher than the start: it is rejected, and line searches find the one with k = 0. */
TEST(no_higher_than_the_start)
{
    const double nearest = -asin(0.1), far = nearest + 4 * 3.14159265358979324;
    equation e = {.value = slope_of_waves, .derivative = cos, .potential = waves};
    sp_newton_problem problem = problem_of(&e);
    sp_newton_report report;
    double x = -1.5;
    CHECK(waves(far) > waves(x), "the far minimum is no higher");
    problem.merit = SP_NEWTON_MINIMUM;
    problem.has_definite = true;
    problem.whole_steps = 25;
    CHECK_OK(run(&problem, &x, &report));
    CHECK_NEAR(x, nearest, 1e-13);
    CHECK(fabs(e.farthest - far) < 4 && e.farthest > 12, "whole steps went to %g only", e.farthest);
}

/* A kept factor is used while it leaves at most a tenth of the residual: fewer factorizations, the same root. */
TEST(reused_factors)
{
    int64_t factorizations[2];
    for (int reuse = 0; reuse < 2; reuse++) {
        equation e = {.value = cube_less_8, .derivative = three_squares};
        sp_newton_problem problem = problem_of(&e);
        sp_newton_report report;
        double x = 2.001;
        problem.reuse = 0.1 * reuse;
        CHECK_OK(run(&problem, &x, &report));
        CHECK_NEAR(x, 2, 1e-14);
        factorizations[reuse] = report.factorizations;
    }
    CHECK(factorizations[1] < factorizations[0], "%lld and %lld factorizations", (long long)factorizations[0],
          (long long)factorizations[1]);
}

static double square_less_2(double x)
{
    return x * x - 2;
}

static double two_times(double x)
{
    return 2 * x;
}

/* No floating-point number has the square 2: with a tolerance of 0 only rounding ends the iterations. */
TEST(stagnation)
{
    equation e = {.value = square_less_2, .derivative = two_times};
    sp_newton_problem problem = problem_of(&e);
    sp_newton_report report;
    double x = 1;
    problem.tolerance = 0;
    CHECK_OK(run(&problem, &x, &report));
    CHECK_NEAR(x, sqrt(2), 4e-16);
    CHECK(report.stagnated && report.relative > 0 && report.relative < 1e-15, "%g is left", report.relative);
    problem.rounding = 1e-3; /* a norm below that has converged */
    x = 1.41421;
    CHECK_OK(run(&problem, &x, &report));
    CHECK(report.iterations == 0 && !report.stagnated, "%lld iterations", (long long)report.iterations);
}

TEST(limits)
{
    equation e = {.value = cube_less_8, .derivative = three_squares};
    sp_newton_problem problem = problem_of(&e);
    sp_newton_report report;
    double x = 100;
    problem.iterations = 2;
    CHECK(run(&problem, &x, &report) == SP_NUMERICAL && e.failures == 1, "it converged");
    CHECK(e.iterations == 2 && report.iterations == 2, "%lld iterations", (long long)e.iterations);
    CHECK_NEAR(e.relative, cube_less_8(x), 0); /* scale 1 */
    for (int once = 0; once < 2; once++) {
        x = 2 + 1e-6;
        problem.tolerance = 1;
        problem.at_least_once = once;
        CHECK_OK(run(&problem, &x, &report));
        CHECK(report.iterations == once, "%lld iterations", (long long)report.iterations);
        x = 2; /* no iterations */
        CHECK_OK(run(&problem, &x, &report));
        CHECK(report.iterations == 0, "%lld iterations", (long long)report.iterations);
    }
}
