/* Incremental training poses (Yang et al. 2015, §6, Algorithm 1), for modal cubature with its evenly placed elements.
 * The fitting error of few poses is low and rises with their number towards its expectation over the sampled space;
 * once it no longer changes, further poses would change nothing. The subject of US patent 10,474,927. */
#ifndef SP_CUBATURE_INCREMENTAL_H
#define SP_CUBATURE_INCREMENTAL_H

#include "cubature/modal.h"

typedef struct sp_incremental_round {
    int64_t poses;                             /* number so far */
    double error;                              /* of sp_modal_report, on these poses */
    double mean_error;                         /* equation 12 with the factor 1/r: the stopping criterion */
    double held_out_error, held_out_deviation; /* on the validation poses, by sp_cubature_error; 0 if there are none */
} sp_incremental_round;

typedef struct sp_incremental_parameters {
    double change; /* stop when mean_error changes by less than this, 0.005 in the paper */
    int64_t most;  /* largest number of rounds */
    bool adjust; /* sample about the mean of the worst fifth of the poses, with the next deviation wide enough to reach
                    them */
    bool absolute; /* rank poses by ‖f' − f‖, which large forces dominate; false: by ‖f' − f‖/‖f‖, which the fit
                      minimizes */
    bool nested;             /* embedded weights for the result */
    const double *deviation; /* [r] about rest, as of sp_poses_sample */
    /* Appends `count` poses, normally distributed about centre [r] with deviation [r], and their forces, to what
     * `poses` points to. */
    int (*add)(void *data, int64_t count, const double *centre, const double *deviation);
    void *data;
    const sp_training_measure *measure; /* for sp_training_new */
    sp_training *held_out; /* validation poses that measure the error of every round, with the same measure, and are not
                              fitted; NULL: none */
    int64_t memory;
} sp_incremental_parameters;

typedef struct sp_incremental_report {
    sp_list rounds;      /* of sp_incremental_round; freed by the caller */
    sp_modal_report fit; /* of the last round */
    bool settled;        /* stopped by the criterion */
} sp_incremental_report;

/* The published deviation 1/√(Q_i − E_i) is not a length and may not be a real number: here it is deviation[i] + |E_i|,
 * and deviation[i] in the first round. The first round has 3/2 poses for every element, each other one 1/3. Only new
 * poses are evaluated in a round. */
int sp_incremental_train(sp_context *context, const sp_fe_space *body, const double *U, const sp_modal_points *points,
                         const sp_incremental_parameters *parameters, const sp_poses *poses, sp_cubature *cubature,
                         sp_incremental_report *report) SP_MUST_USE;

#endif
