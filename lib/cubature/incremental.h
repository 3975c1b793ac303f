/* Training poses until there are enough (Yang et al. 2015, §6, Algorithm 1), for modal cubature with its evenly placed
 * elements. The fitting error of few poses is low and rises with their number towards its expectation over the sampled
 * space; when it no longer changes, more poses would change nothing. The subject of US patent 10,474,927. */
#ifndef SP_CUBATURE_INCREMENTAL_H
#define SP_CUBATURE_INCREMENTAL_H

#include "cubature/modal.h"

typedef struct sp_incremental_round {
    int64_t poses;                             /* so far */
    double error;                              /* of sp_modal_report, on these poses */
    double mean_error;                         /* equation 12 with 1/r: what has to settle */
    double held_out_error, held_out_deviation; /* on the poses held out, by sp_cubature_error; 0 without */
} sp_incremental_round;

typedef struct sp_incremental_parameters {
    double change; /* stop when mean_error changes by less than this, 0.005 in the paper */
    int64_t most;  /* rounds at most */
    bool adjust; /* sample about the mean of the worst fifth of the poses, the next deviation wide enough to reach them
                  */
    bool absolute; /* the worst by ‖f' − f‖, in which large forces weigh most; false: by ‖f' − f‖/‖f‖, which the fit
                      minimizes */
    bool nested;             /* of the result */
    const double *deviation; /* [r] about rest, as of sp_poses_sample */
    /* Appends `count` poses, normally distributed about centre [r] with deviation [r], and their forces, to what
     * `poses` points to. */
    int (*add)(void *data, int64_t count, const double *centre, const double *deviation);
    void *data;
    const sp_training_measure *measure; /* of sp_training_new, as is */
    sp_training *held_out; /* poses that judge every round, by the same measure, and have no part in it; NULL: none */
    int64_t memory;
} sp_incremental_parameters;

typedef struct sp_incremental_report {
    sp_list rounds;      /* of sp_incremental_round; the caller's to free */
    sp_modal_report fit; /* the last */
    bool settled;        /* stopped by itself */
} sp_incremental_report;

/* The published deviation 1/√(Q_i − E_i) is no length and may be no number: it is deviation[i] + |E_i| here, and
 * deviation[i] first. There are 3/2 poses for every element in the first round and 1/3 in each other one. Only what is
 * new is evaluated in a round. */
int sp_incremental_train(sp_context *context, const sp_fe_space *body, const double *U, const sp_modal_points *points,
                         const sp_incremental_parameters *parameters, const sp_poses *poses, sp_cubature *cubature,
                         sp_incremental_report *report) SP_MUST_USE;

#endif
