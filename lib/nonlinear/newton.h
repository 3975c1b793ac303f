/* Newton's method with a line search for n equations r(x) = 0. The time integrators, free bodies and the quasistatic
 * vertices of ConJac describe their equations by one sp_newton_problem each.
 *
 * An iteration solves J dx = r with the Jacobian J = ∂r/∂x and moves to x − s dx. The step length s is 1, and is halved
 * until the merit function has fallen enough (Armijo's condition with the factor 1e-4; Nocedal and Wright, Numerical
 * Optimization, 2006, ch. 3 and 11). Close to the solution, where the relative residual is 1e-6 or less, whole steps
 * are taken, because there only rounding keeps the merit function from falling.
 *
 * Vertices of a bending body move on arcs, Newton steps on tangents: such a step stretches the body and raises the
 * residual, and the next one removes the stretch. A line search would make short steps only. A problem may therefore
 * ask for some iterations with whole steps first; where they have not converged, the method restarts at a given x, with
 * the line search.
 *
 * The relative residual is the norm of r divided by that of its largest term. An iteration has converged when this is
 * no more than the tolerance. It has stagnated, which counts as converged, when rounding stops the residual from
 * falling: below 1e-6, or where the correction dx is a negligible part of x. */
#ifndef SP_NONLINEAR_NEWTON_H
#define SP_NONLINEAR_NEWTON_H

#include "base/context.h"

/* The function that the line search decreases. */
enum sp_newton_merit {
    SP_NEWTON_RESIDUAL,  /* the norm of r */
    SP_NEWTON_POTENTIAL, /* the potential of which r is the gradient. A step that halves the residual is accepted too:
                            close to the solution the potential changes by less than its rounding */
    SP_NEWTON_MINIMUM,   /* the potential alone. Whole steps are accepted as converged only where the potential is no
                            higher than at the start and the last matrix was definite, so that x is a minimum */
};

/* The size of the residual at one x. */
typedef struct sp_newton_residual {
    double norm;      /* of r, in any norm of the problem's choice; not finite if r has no value */
    double scale;     /* norm of the largest term in r; 0: norm itself is taken as the relative residual */
    double potential; /* read with SP_NEWTON_POTENTIAL and SP_NEWTON_MINIMUM only */
} sp_newton_residual;

typedef struct sp_newton_problem {
    void *self; /* first argument of the callbacks */
    int64_t n;
    /* Writes r [n] at x [n], and its size. */
    void (*residual)(void *self, const double *x, double *r, sp_newton_residual *size);
    /* Builds and factors J at x, which is where the residual was evaluated last. definite: a positive definite
     * approximation of J instead; called only if has_definite is set. SP_NUMERICAL if it cannot be factored. */
    int (*factor)(void *self, const double *x, bool definite);
    /* dx [n] = J⁻¹ r. An iterative solver may stop where its residual is no more than `tolerance` times ‖r‖.
     * SP_NUMERICAL if it finds that J is indefinite. */
    int (*solve)(void *self, const double *r, double tolerance, double *dx);
    /* Stores the message of a failure (base/context.h) and returns SP_NUMERICAL. The relative residual is not finite if
     * r has no value. */
    int (*not_converged)(void *self, double relative, int64_t iterations);
    enum sp_newton_merit merit;
    bool has_definite;  /* if J cannot be factored or solved with, its definite approximation is used */
    bool at_least_once; /* one iteration even if the start satisfies the tolerance, unless its residual is 0 */
    int whole_steps;    /* iterations without line search before the restart; 0: none */
    double reuse;       /* a factor is kept while an iteration leaves at most this part of the residual; 0: never */
    double tolerance;   /* of the relative residual */
    int64_t iterations; /* at most */
    double rounding;    /* a residual of no larger norm has converged */
    double negligible;  /* ‖dx‖ / ‖x‖ below which an iteration may have stagnated; 0: not tested */
} sp_newton_problem;

/* Vectors [n] of the caller, so that nothing is allocated here. */
typedef struct sp_newton_vectors {
    double *x;     /* start on entry, the solution after SP_OK; the residual was evaluated there last */
    double *r;     /* the residual there */
    double *dx;    /* the last correction */
    double *trial; /* scratch */
} sp_newton_vectors;

/* It is complete after a failure too. */
typedef struct sp_newton_report {
    int64_t iterations;
    int64_t factorizations; /* a failed one that is followed by a definite one counts once */
    int64_t indefinite;     /* factors of the definite approximation */
    int64_t halvings;       /* of step lengths */
    bool stagnated;
    double relative; /* residual at the end; at most the relative correction if this was negligible */
} sp_newton_report;

/* Solves r(x) = 0. restart [n]: where the line search begins after whole steps have failed; it may be no vector of
 * `vectors`. Returns what `not_converged` returned, or what factor or solve returned during a line search. */
int sp_newton_solve(const sp_newton_problem *problem, const double *restart, const sp_newton_vectors *vectors,
                    sp_newton_report *report) SP_MUST_USE;

#endif
