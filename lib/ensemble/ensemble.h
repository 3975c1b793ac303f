/* Many motions of one reduced-order model, which differ in their loads, gravity, damping, materials and initial states.
 * Motions of polynomials under Newmark's method, implicit Euler and BDF2 are integrated in blocks of SP_MOTIONS, one in
 * each lane (ensemble/steps.h). All others, and those that need a line search or parts of steps, are integrated one by
 * one as sp_integrator does it. Each motion is that of a simulation by itself, up to rounding, and its bytes depend
 * neither on the other motions nor on the number of threads.
 *
 * Signals are linear functions of the coordinates, s = P q: displacements of vertices, or the coordinates themselves.
 */
#ifndef SP_ENSEMBLE_ENSEMBLE_H
#define SP_ENSEMBLE_ENSEMBLE_H

#include "integrate/integrate.h"
#include "model/model.h"

/* One motion. What it points to is from the pool that `describe` gets, or outlives the ensemble. */
typedef struct sp_ensemble_motion {
    int64_t load_count;
    const sp_load *loads;                   /* [load_count] */
    double gravity[3];                      /* m/s² */
    double damping_mass, damping_stiffness; /* 1/s, s */
    const sp_material *materials;           /* [regions]; NULL: those of the mesh */
    const double *q, *v;                    /* [r] initial state; NULL: 0 */
    const char *refused; /* why there is no such motion, which then has failed with SP_INPUT; NULL: there is one */
} sp_ensemble_motion;

/* Statistics of a signal over steps. */
enum { SP_ENSEMBLE_MEAN, SP_ENSEMBLE_RMS, SP_ENSEMBLE_LEAST, SP_ENSEMBLE_LARGEST, SP_ENSEMBLE_STATISTICS };

/* The motions of a block that are ready. Frames are the start, each step whose number is a multiple of `every`, and the
 * last step. */
typedef struct sp_ensemble_block {
    int64_t first; /* number of the first motion */
    int count;
    const double *q, *v;       /* [frames][r][SP_MOTIONS]; NULL: not kept */
    const double *signals;     /* [frames][signals][SP_MOTIONS]; NULL: not kept */
    const double *statistics;  /* [SP_ENSEMBLE_STATISTICS][signals][SP_MOTIONS] of the steps after `settle`; NULL: not
                                  kept */
    const int *status;         /* [count] of each motion: SP_OK, or it ended at a failure and its numbers are 0 */
    const char (*reason)[512]; /* [count] the message of the failure */
    const bool *alone;         /* [count] it was integrated by itself */
    const int64_t *iterations; /* [count] Newton iterations */
} sp_ensemble_block;

typedef struct sp_ensemble {
    const sp_model_description *description; /* all but loads, gravity; its materials are those of its space's mesh */
    sp_integrator_parameters parameters;     /* all but damping */
    int64_t steps, every;                    /* ≥ 1 */
    int64_t first, end;                      /* the motions [first, end) */
    bool materials;                          /* motions have materials of their own */
    bool keep_q, keep_v, keep_signals, keep_statistics;
    int64_t settle;       /* statistics begin after this step, 0 ≤ settle < steps */
    int64_t signal_count; /* 0: none */
    const double *P;      /* [signal_count, r, row major] */
    void *self;
    /* Describes a motion. Threads call it one at a time, in any order of motions. A failure, with its
     * message in the context of sp_ensemble_run, ends the ensemble; so it is for `take`. */
    int (*describe)(void *self, int64_t number, sp_pool *pool, sp_ensemble_motion *motion);
    /* Receives the blocks in their order, one at a time. A failure ends the ensemble. */
    int (*take)(void *self, const sp_ensemble_block *block);
} sp_ensemble;

/* Integrates all motions. SP_USAGE and SP_INPUT for what no motion of the description could do; failures of single
 * motions are in their blocks. */
int sp_ensemble_run(sp_context *context, const sp_ensemble *ensemble) SP_MUST_USE;

/* The number of frames, and the bytes that one thread keeps for its block. */
int64_t sp_ensemble_frames(int64_t steps, int64_t every);
double sp_ensemble_block_bytes(const sp_ensemble *ensemble);

#endif
