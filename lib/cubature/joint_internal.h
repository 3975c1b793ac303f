/* Shared by joint.c and joint_htp.c. */
#ifndef SP_CUBATURE_JOINT_INTERNAL_H
#define SP_CUBATURE_JOINT_INTERNAL_H

#include "base/compare.h"
#include "cubature/joint.h"

/* Elements with the score by which they are sorted. */
typedef struct sp_joint_scored {
    double score;
    int64_t element;
} sp_joint_scored;

typedef struct sp_joint_trainer {
    sp_context *context;
    sp_training *training;
    const sp_cubature_parameters *parameters;
    sp_cubature_report *report;
    int64_t elements, rows;
    double size;  /* ‖b‖ */
    double part;  /* fraction of ‖b‖ in the norm that errors are relative to: 1 if all of the force is fitted */
    double *norm; /* [elements] ‖a_e‖ of all, where known */
    bool norms_known;
    double *product, *some_norms; /* [elements] */
    int64_t *list;                /* [elements + 1] */
    sp_joint_scored *best;        /* [elements] */
    char *inside;                 /* [elements] in the working set */
    bool replaying;
} sp_joint_trainer;

/* Comparison for qsort: the best first, of equal ones the lower element. */
int sp_joint_compare_scored(const void *a, const void *b);

/* Reads the round that an earlier run selected; returns −1 if there is none. Its elements are followed by the number of
 * passes until then, so that the report is the same as that of an uninterrupted run. */
int64_t sp_joint_known_round(sp_joint_trainer *t);

/* Logs the round of the `count` elements in t->list for a later run. */
void sp_joint_log_round(sp_joint_trainer *t, int64_t count);

/* Computes products of all columns with ρ, and norms of all columns. */
int sp_joint_price_all(sp_joint_trainer *t, const double *rho) SP_MUST_USE;

/* Reports the progress towards the tolerance on a logarithmic scale, since errors decrease by powers. */
int sp_joint_show_progress(sp_joint_trainer *t, double error, int64_t count) SP_MUST_USE;

/* ---- hard thresholding pursuit (joint_htp.c) ---- */

typedef struct sp_joint_pursuit {
    int64_t count, *element; /* the support, increasing */
    double *weight, *columns;
    double *residual; /* b − A w */
    double error;
} sp_joint_pursuit;

/* Fits the weights of the `count` elements in t->list. */
int sp_joint_fit_support(sp_joint_trainer *t, sp_pool *pool, int64_t count, sp_joint_pursuit *p) SP_MUST_USE;

/* Trains; p starts as {0} and receives the selected elements, with memory from the pool. */
int sp_joint_train_htp(sp_joint_trainer *t, sp_pool *pool, sp_joint_pursuit *p) SP_MUST_USE;

#endif
