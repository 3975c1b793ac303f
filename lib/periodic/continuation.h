/* Pseudo-arclength continuation of the curve of solutions of n equations in n + 1 unknowns, r(x) = 0 (Keller 1977;
 * Allgower and Georg 2003, chapter 6). It knows nothing of mechanics.
 *
 * From a point x₀ with the unit tangent t₀ the next point of arc length s solves
 *
 *     r(x) = 0,     t₀ᵀ W (x − x₀) = s,     W = diag(weight),
 *
 * by Newton's method from the predictor x₀ + s t₀. The bordered matrix [J; t₀ᵀW] of order n + 1 is regular at folds,
 * where the last unknown, the parameter, turns back. It is factored by LU, and the factor is kept while the corrections
 * fall fast enough. It is factored again at the point that is found, and the solution t of [J; t₀ᵀW] t = e, normalized,
 * is the tangent there.
 *
 * A step that does not converge, or that turns the tangent too far, is halved. The next one is longer or shorter
 * according to the number of iterations and the angle. */
#ifndef SP_PERIODIC_CONTINUATION_H
#define SP_PERIODIC_CONTINUATION_H

#include "base/context.h"
#include "base/state.h"

typedef struct sp_curve_equations {
    void *self;
    int64_t n; /* number of equations; there are n + 1 unknowns, the last of which is the parameter */
    /* r [n] at x [n + 1], and the Jacobian J [n, n + 1, column major with `stride` rows]; J NULL: not wanted. A
     * residual that is not finite makes the step fail. */
    void (*evaluate)(void *self, const double *x, double *r, double *J, int64_t stride);
    /* weight [n + 1] > 0 of the metric at x: arc lengths, step lengths and the tolerance are measured in it. */
    void (*metric)(void *self, const double *x, double *weight);
} sp_curve_equations;

typedef struct sp_continuation_parameters {
    double first, least, most; /* arc length of the first step, smallest and largest ones */
    double tolerance;          /* of the last correction, in the metric */
    int iterations;            /* of Newton's method, at most in a step */
    double turn;               /* largest angle between consecutive tangents, rad */
} sp_continuation_parameters;

typedef struct sp_continuation sp_continuation;

/* Corrects the start x [n + 1] in the plane that is orthogonal to `direction` [n + 1], which also orients the curve.
 * SP_NUMERICAL if that does not converge. x NULL: at no point, to be followed by sp_continuation_visit with a state
 * that is loaded. */
int sp_continuation_new(sp_context *context, const sp_curve_equations *equations,
                        const sp_continuation_parameters *parameters, const double *x, const double *direction,
                        sp_continuation **continuation) SP_MUST_USE;
void sp_continuation_free(sp_continuation *continuation); /* NULL is allowed */

/* The next point. SP_NUMERICAL if the step length falls below the smallest one: the last point stays. */
int sp_continuation_step(sp_continuation *continuation) SP_MUST_USE;

/* The last point, its tangent (of length 1 in the metric), the arc length of the step that led there, and the sign of
 * the determinant of the bordered matrix, which changes at simple branch points and not at folds. */
const double *sp_continuation_x(const sp_continuation *continuation);
const double *sp_continuation_tangent(const sp_continuation *continuation);
double sp_continuation_length(const sp_continuation *continuation);
int sp_continuation_sign(const sp_continuation *continuation);

/* The point of arc length s of the last step, 0 ≤ s ≤ its length, with its tangent (x and tangent [n + 1]). */
int sp_continuation_at(sp_continuation *continuation, double s, double *x, double *tangent) SP_MUST_USE;

/* Finds a zero of a test function along the last step, between whose ends it changes its sign: bisection with secant
 * steps, until the arc is known to `tolerance` times the length of the step. x and tangent [n + 1] receive the point,
 * *arc its arc length from the beginning of the step. Where the function jumps, the jump is found: judge its value at
 * the point.
 */
int sp_continuation_locate(sp_continuation *continuation, double (*test)(void *data, const double *x, const double *t),
                           void *data, double start, double end, double tolerance, double *x, double *tangent,
                           double *arc) SP_MUST_USE;

/* Makes another point of the curve the last one, for curves that end there: it was found on the last step. */
void sp_continuation_move(sp_continuation *continuation, const double *x, const double *tangent);

/* Saves or loads everything that the next steps depend on (base/state.h), except for the state of the equations. */
void sp_continuation_visit(sp_continuation *continuation, sp_state *state);

/* Counts of Newton iterations, factorizations and rejected steps so far. */
typedef struct sp_continuation_report {
    int64_t iterations, factorizations, rejected;
} sp_continuation_report;
sp_continuation_report sp_continuation_reported(const sp_continuation *continuation);

#endif
