/* Curves of periodic motions of a reduced-order model: frequency responses, backbone curves and force sweeps, by
 * harmonic balance (periodic/harmonic.h) and continuation (periodic/continuation.h), with the stability of each point
 * (periodic/floquet.h) and its special points.
 *
 * Special points are found between two points where a test function changes its sign (Kuznetsov 2004, chapter 10), and
 * are added to the curve. One that is not found marks the point at the end of the step:
 *
 * fold             the parameter's component of the tangent
 * branch point     the determinant of the bordered matrix (not located: the sign changes before the point)
 * period doubling  the real multiplier closest to −1 (not of free motion)
 * Neimark-Sacker   the largest modulus of complex multipliers minus 1 (not of free motion, where it is 0) */
#ifndef SP_PERIODIC_CURVE_H
#define SP_PERIODIC_CURVE_H

#include "periodic/floquet.h"

enum sp_curve_event {
    SP_CURVE_REGULAR,
    SP_CURVE_FOLD,
    SP_CURVE_BRANCH,
    SP_CURVE_DOUBLING,
    SP_CURVE_TORUS,
    SP_CURVE_EVENTS
};

typedef struct sp_curve_point {
    double frequency, factor;  /* rad/s; p */
    sp_harmonic_energy energy; /* J and W */
    double residual;           /* norm of the residual relative to that of the force */
    bool stable;               /* the largest modulus of a multiplier is at most 1 + 1e-6; of free motion 1 + 1e-3 */
    enum sp_curve_event event;
    const double *coefficients;                  /* of q [2H + 1, r] */
    const double *multiplier_re, *multiplier_im; /* [2r] */
} sp_curve_point;

typedef struct sp_curve_parameters {
    enum sp_periodic_kind kind;
    double low, high;  /* of the parameter: rad/s, or p of a force sweep */
    double frequency;  /* rad/s, of a force sweep */
    int64_t mode;      /* of a backbone, from 0 */
    double start;      /* norm of η where a backbone starts on its linear mode about the equilibrium */
    double energy;     /* J, where a backbone ends; INFINITY: nowhere */
    int64_t most;      /* points */
    double resolution; /* largest step in the metric: relative change of the motion, part of the range */
} sp_curve_parameters;

typedef struct sp_curve_report {
    int64_t points, events[SP_CURVE_EVENTS];
    sp_continuation_report continuation;
    double worst_residual, worst_balance; /* of energy: |input − dissipated| over the larger */
    /* Of special points: |μ − 1| at folds, |μ + 1| at period doublings, ||μ| − 1| at Neimark-Sacker points; 0 of free
     * motion. It is an error of the truncated series: harmonic balance has the special point, the motion in time has
     * the multiplier. */
    double worst_event;
} sp_curve_report;

/* Called for each point; the arrays are valid until it returns. True ends the curve. */
typedef bool (*sp_curve_visitor)(void *data, const sp_curve_point *point);

typedef struct sp_curve sp_curve;

/* A curve without points yet. The model and the parameters must outlive it. SP_USAGE for a response through a linear
 * resonance without damping, and for loads without a component in the basis; SP_INPUT for a mode of no positive
 * frequency. */
int sp_curve_new(sp_context *context, const sp_periodic_model *model, const sp_curve_parameters *parameters,
                 sp_curve_visitor visit, void *data, sp_curve **curve) SP_MUST_USE;
void sp_curve_free(sp_curve *curve); /* NULL is allowed */

/* The first point; then the next one, after the special points before it. They are passed to the visitor. SP_NUMERICAL
 * if the continuation fails: all points before that were passed. SP_USAGE if a backbone does not start on its mode:
 * the frequency is off by more than 1 %, or the coefficients by more than a tenth. */
int sp_curve_begin(sp_curve *curve) SP_MUST_USE;
int sp_curve_step(sp_curve *curve) SP_MUST_USE;

/* True where the curve has left the range or has been ended, or where a backbone has returned to rest. */
bool sp_curve_ended(const sp_curve *curve);

/* Saves everything that the next steps depend on, after a step, or loads it into a new curve instead of
 * sp_curve_begin (base/state.h). */
void sp_curve_visit(sp_curve *curve, sp_state *state);

/* The report so far, complete also after a failure. */
sp_curve_report sp_curve_reported(const sp_curve *curve);

/* All of it: traces a curve until it ends. */
int sp_curve_trace(sp_context *context, const sp_periodic_model *model, const sp_curve_parameters *parameters,
                   sp_curve_visitor visit, void *data, sp_curve_report *report) SP_MUST_USE;

#endif
