/* Training of cubature with one weight per element: three methods to select the elements, one fitting problem
 * (cubature/training.h), and one measure of the error, ‖A w − b‖ relative to the norm of the complete forces
 * (sp_training_whole). */
#ifndef SP_CUBATURE_JOINT_H
#define SP_CUBATURE_JOINT_H

#include "cubature/cubature.h"
#include "cubature/training.h"

enum sp_cubature_method {
    SP_CUBATURE_GREEDY, /* An, Kim and James 2008: in every round, add the element of a random subset whose column is
                           nearest to the residual, then fit all weights anew. The minimum is updated, not recomputed,
                           so that n elements cost their n² products once. */
    SP_CUBATURE_NNLS,   /* Active-set nonnegative least squares over all elements (Farhat et al. 2014, ECSW), stopped at
                           the tolerance. All elements are scored at once; then a working set of the best ones is solved
                           until its best candidate is worse than the best one outside might be: few passes over the mesh.
                         */
    SP_CUBATURE_HTP,    /* Nonnegative hard thresholding pursuit (von Tycowicz et al. 2013): a gradient step over all
                           elements, the largest weights are kept and fitted; the number of elements grows by a quarter
                           until the tolerance is met. */
};

/* The selected elements of every round, so that an interrupted training resumes with the same bytes: a known round is
 * read back instead of computed. */
typedef struct sp_cubature_log {
    void *data;
    /* Reads the next known round into number [capacity]; returns the number of elements, −1 after the last round. */
    int64_t (*next)(void *data, int64_t *number, int64_t capacity);
    void (*add)(void *data, int64_t count, const int64_t *number);
} sp_cubature_log;

typedef struct sp_cubature_parameters {
    enum sp_cubature_method method;
    double tolerance;           /* stop at this relative error; 0: at the minimum or at `most` */
    int64_t most;               /* largest number of elements; 0: any number */
    int64_t candidates;         /* GREEDY: size of the random subset; 0: all elements */
    int64_t exchanges;          /* largest number of sweeps of cubature/exchange.h after the selection; 0: none */
    int64_t memory;             /* bytes for the columns of all elements in exchanges; 0: 1 GiB */
    bool nested;                /* compute embedded weights on at most half of the elements */
    const sp_cubature_log *log; /* may be NULL */
} sp_cubature_parameters;

typedef struct sp_cubature_report {
    int64_t rounds, passes; /* passes: products with all columns */
    int64_t exchanged;      /* elements that exchanges added; `rounds` includes their sweeps */
    double error;           /* ‖A w − b‖ / sp_training_whole */
    double kkt; /* distance of w from the minimum over all elements: max |a_e·(A w − b)| (w_e > 0) or max(0, −that) (w_e
                   = 0), relative to ‖a_e‖ ‖b‖ */
    double nested_error; /* the same as `error` for the embedded weights */
    int64_t nested_count;
    bool reached; /* the tolerance or, without one, the minimum or `most` was reached */
} sp_cubature_report;

/* Sets elements, weights and embedded weights of `cubature`; mass and gravity are left to the caller. Deterministic for
 * any number of threads; context->seed selects the subsets. */
int sp_cubature_train(sp_context *context, const sp_fe_space *body, sp_training *training,
                      const sp_cubature_parameters *parameters, sp_cubature *cubature,
                      sp_cubature_report *report) SP_MUST_USE;

/* ‖A w − b‖ / sp_training_whole of a cubature, joint or modal, on the poses of a training; nested: of its embedded
 * weights. deviation (NULL: not wanted): Σ ‖f'_t − f_t‖ / Σ ‖f_t‖, in which poses with small forces have a small
 * influence. */
int sp_cubature_error(sp_context *context, sp_training *training, const sp_cubature *cubature, bool nested,
                      double *error, double *deviation) SP_MUST_USE;

#endif
