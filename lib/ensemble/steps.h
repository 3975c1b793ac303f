/* Implicit steps of SP_MOTIONS motions in lanes (ensemble/lanes.h): the equations, the start and the tests of
 * convergence are those of integrate/implicit.c and nonlinear/newton.c, motion by motion, so that a motion takes the
 * same iterations as alone and differs by rounding only. Newton's method takes whole steps. A motion that they do not
 * bring to the solution, as one does that buckles, or whose matrix is not positive definite, is given up: the caller
 * integrates it again by an integrator of its own (ensemble/ensemble.h), which has the line search and the parts of
 * steps for it.
 *
 * Vectors are [n][SP_MOTIONS]. Nothing is allocated in a step. */
#ifndef SP_ENSEMBLE_STEPS_H
#define SP_ENSEMBLE_STEPS_H

#include "ensemble/lanes.h"
#include "integrate/integrate.h"

/* The external forces of all lanes: their means over [t0, t1] into f [r][SP_MOTIONS]. */
typedef struct sp_lane_loads {
    void *self;
    void (*mean)(void *self, double t0, double t1, double *f);
} sp_lane_loads;

/* What the motions are made of, each in its lane: the caller writes it before sp_lane_steps_start. */
typedef struct sp_lane_motion {
    double *scale;   /* [parts] factors on the parts of the force */
    double *mass;    /* [pairs] */
    double *damping; /* [2] α and β of Rayleigh damping, 1/s and s */
    double *q, *v;   /* [r] the state, at first that of the start */
} sp_lane_motion;

typedef struct sp_lane_steps sp_lane_steps;

/* Returns true if steps of these parameters are taken in lanes: Newmark, implicit Euler and BDF2 without a limit of the
 * acceleration. */
bool sp_lane_steps_apply(const sp_integrator_parameters *parameters);

/* The coefficients must outlive the steps. */
int sp_lane_steps_new(sp_context *context, const sp_lane_force *force, const sp_integrator_parameters *parameters,
                      sp_lane_steps **steps) SP_MUST_USE;
void sp_lane_steps_free(sp_lane_steps *steps); /* NULL is allowed */

/* The data of the motions, to be filled before the start; lanes without a motion have those of another one. */
sp_lane_motion *sp_lane_steps_motion(sp_lane_steps *steps);

/* Starts all motions at t = 0 with the loads; again for the next motions. */
void sp_lane_steps_start(sp_lane_steps *steps, const sp_lane_loads *loads);

/* One step of all motions that are not given up. */
void sp_lane_steps_step(sp_lane_steps *steps);

/* From now on the loads have changed by `change` [r][SP_MOTIONS] (sp_integrator_change_loads). */
void sp_lane_steps_change_loads(sp_lane_steps *steps, const double *change);

/* Another object that gives the same loads from now on. */
void sp_lane_steps_reload(sp_lane_steps *steps, const sp_lane_loads *loads);

/* Whether a motion was given up; its state has no meaning then. */
bool sp_lane_steps_given_up(const sp_lane_steps *steps, int lane);

/* The state of a motion before the last step, q and v [r]: where one that was just given up has to go on. */
void sp_lane_steps_before(const sp_lane_steps *steps, int lane, double *q, double *v);

/* Newton iterations of a motion so far. */
int64_t sp_lane_steps_iterations(const sp_lane_steps *steps, int lane);

#endif
