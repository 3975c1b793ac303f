/* Training cubature with one weight per element: three ways to choose the elements, one fitting problem
 * (cubature/training.h), one measure of the error, ‖A w − b‖ relative to the norm of the whole forces
 * (sp_training_whole). */
#ifndef SP_CUBATURE_JOINT_H
#define SP_CUBATURE_JOINT_H

#include "cubature/cubature.h"
#include "cubature/training.h"

enum sp_cubature_method {
    SP_CUBATURE_GREEDY, /* An, Kim and James 2008: in every round the element, of a random subset, whose column is
                         * nearest to the residual; then all weights anew. The minimum is updated, not found from
                         * scratch, so that n elements cost their n² products once. */
    SP_CUBATURE_NNLS,   /* Active-set nonnegative least squares over all elements (Farhat et al. 2014, ECSW), stopped at
                         * the tolerance. Elements are priced all at once, then the best   of them fight it out in a
                         * working   set until its best is worse than the best one left outside might be: few passes over
                         * the mesh.
                         */
    SP_CUBATURE_HTP,    /* Nonnegative hard thresholding pursuit (von Tycowicz et al. 2013): a gradient step over all
                         * elements, the largest weights kept, fitted; the number of elements grows    by a quarter until
                         * the    tolerance is met. */
};

/* What was chosen, round by round, so that a stopped training goes on with the same bytes: instead of pricing, a known
 * round is read back. */
typedef struct sp_cubature_log {
    void *data;
    /* The next known round into number [room]; returns their number, −1 behind the last one. */
    int64_t (*next)(void *data, int64_t *number, int64_t capacity);
    void (*add)(void *data, int64_t count, const int64_t *number);
} sp_cubature_log;

typedef struct sp_cubature_parameters {
    enum sp_cubature_method method;
    double tolerance;           /* stop at this relative error; 0: at the minimum or at `most` */
    int64_t most;               /* at most so many elements; 0: any number */
    int64_t candidates;         /* GREEDY: size of the random subset; 0: all elements */
    int64_t exchanges;          /* sweeps of cubature/exchange.h after the choice, at most; 0: none */
    int64_t memory;             /* bytes for the columns of all elements in them; 0: 1 GiB */
    bool nested;                /* make second weights on at most half of the elements */
    const sp_cubature_log *log; /* may be NULL */
} sp_cubature_parameters;

typedef struct sp_cubature_report {
    int64_t rounds, passes; /* passes: products with all columns */
    int64_t exchanged;      /* elements that exchanges brought in; `rounds` has their sweeps too */
    double error;           /* ‖A w − b‖ / sp_training_whole */
    double kkt; /* how far w is from the minimum over all elements: max |a_e·(A w − b)| (w_e > 0) or max(0, −that) (w_e
                   = 0), relative to ‖a_e‖ ‖b‖ */
    double nested_error; /* the same as error for the second weights */
    int64_t nested_count;
    bool reached; /* the tolerance, or without one the minimum or `most` */
} sp_cubature_report;

/* Elements, weights and second weights of `cubature`; mass and gravity are left to the caller. Deterministic for any
 * number of threads; context->seed chooses the subsets. */
int sp_cubature_train(sp_context *context, const sp_fe_space *body, sp_training *training,
                      const sp_cubature_parameters *parameters, sp_cubature *cubature,
                      sp_cubature_report *report) SP_MUST_USE;

/* ‖A w − b‖ / sp_training_whole of a cubature, of either kind of weights, on the poses of a training; nested: of its
 * second weights. deviation (NULL: not wanted): Σ ‖f'_t − f_t‖ / Σ ‖f_t‖, in which small forces count by their size. */
int sp_cubature_error(sp_context *context, sp_training *training, const sp_cubature *cubature, bool nested,
                      double *error, double *deviation) SP_MUST_USE;

#endif
