/* Training of modal cubature, with a weight per element and coordinate (Yang et al. 2015, §5): the elements are evenly
 * placed, as in a Newton–Cotes rule, and only weights are fitted. Each coordinate j has a separate problem, min ‖A_j
 * w_j − b_j‖ over w_j ≥ 0, with a row g_e,j(q_t) / ‖f_t‖ for every pose: r small problems that are solved in parallel.
 * The subject of US patent 10,474,927. */
#ifndef SP_CUBATURE_MODAL_H
#define SP_CUBATURE_MODAL_H

#include "cubature/cubature.h"
#include "cubature/training.h"

/* Evenly placed elements: the body is covered with axis-aligned boxes, and of every box that has elements the one is
 * selected whose centroid is nearest to the box's centre. */
typedef struct sp_modal_points {
    sp_pool pool;
    int64_t count;
    int64_t *element; /* [count] increasing */
    bool *half;  /* [count] elements of every second box, like the black fields of a chessboard: at most about half, at
                    least one */
    double edge; /* of the boxes, m; 0: all elements were selected */
} sp_modal_points;

/* The edge is such that the number of elements comes nearest to `asked`. Elements whose corners are all fixed are left
 * out: they have no force. SP_INPUT if none is left. */
int sp_modal_points_new(sp_context *context, const sp_fe_space *body, int64_t asked,
                        sp_modal_points *points) SP_MUST_USE;
void sp_modal_points_free(sp_modal_points *points);

typedef struct sp_modal_report {
    double error;      /* √(Σ ‖A_j w_j − b_j‖²) / sp_training_whole, the error measure of all cubature */
    double mean_error; /* Σ ‖A_j w_j − b_j‖ / ‖b_j‖ / r: equation 12 of the paper with its normalizing factor */
    double kkt;        /* the worst of the r problems, over the placed elements (linear/nnls.h) */
    int64_t iterations; /* of all problems: changes of the active set */
    double nested_error;
    int64_t nested_count;
} sp_modal_report;

/* The matrices A_j [poses, elements], each contiguous, to which poses can be added. */
typedef struct sp_modal sp_modal;

/* `points` must outlive it. */
int sp_modal_new(sp_context *context, const sp_modal_points *points, int64_t r, sp_modal **modal) SP_MUST_USE;
void sp_modal_free(sp_modal *modal); /* NULL is allowed */

/* Adds the rows of a training's poses, which are evaluated once. */
int sp_modal_add(sp_modal *modal, sp_training *training) SP_MUST_USE;

/* Sets elements, weights and, with `nested`, embedded weights of `cubature`; elements without any weight are left out;
 * mass and gravity are left to the caller. Every problem is solved on one thread: the same bytes for any number of
 * threads. */
int sp_modal_solve(sp_modal *modal, bool nested, sp_cubature *cubature, sp_modal_report *report) SP_MUST_USE;

/* After sp_modal_solve: error[t] = ‖f'_t − f_t‖ / ‖f_t‖ of every pose, f' the fitted force. */
void sp_modal_pose_errors(const sp_modal *modal, double *error);

#endif
