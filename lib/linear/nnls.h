/* Nonnegative least squares: min ‖A w − b‖₂ over w ≥ 0 (Lawson and Hanson 1974, ch. 23), by an active-set method whose
 * triangular factor is updated and downdated when columns enter or leave.
 *
 * At the solution the gradient g = Aᵀ(A w − b) is 0 where w > 0 and ≥ 0 elsewhere (KKT). `kkt` in a report is the
 * violation of this condition, computed at the end from A, w and b: max over columns of |g_k| (w_k > 0) or max(0, −g_k)
 * (w_k = 0), relative to ‖a_k‖ ‖b‖. */
#ifndef SP_LINEAR_NNLS_H
#define SP_LINEAR_NNLS_H

#include "base/context.h"

typedef struct sp_nnls_parameters {
    double tolerance; /* stop as soon as ‖A w − b‖ ≤ tolerance · ‖b‖; 0: at the minimum */
    int64_t most;     /* largest number of positive weights; 0: any number */
    double least; /* columns whose gradient is at most this, relative to ‖a_k‖ ‖b‖, do not enter: for callers that have
                     better columns elsewhere; 0: none */
} sp_nnls_parameters;

typedef struct sp_nnls_report {
    int64_t iterations; /* changes of the active set */
    int64_t positive;   /* weights > 0 */
    double residual;    /* ‖A w − b‖ / ‖b‖; 0 if b = 0 */
    double kkt;
    bool reached; /* the tolerance or, without one, the minimum was reached */
} sp_nnls_report;

/* A [m, n, column major], leading dimension `stride` ≥ m, b [m]; w [n] is the result. Zero columns keep the weight 0.
 * The active weights are refined with the residual itself, to about condition times rounding. SP_INPUT for values that
 * are not finite, and for nonzero columns or b with a length outside 1e-140 … 1e140; SP_NUMERICAL if rounding prevents
 * progress above a KKT residual of 1e-10: w and the report then have the state reached. A column within about 1e-8 of
 * the span of the active ones does not enter unless that bound requires it. Memory besides A: O(m), the square of the
 * active columns, and, where it pays, n² (at most four times A, or 128 MB). Same bytes for any number of threads. */
int sp_nnls(sp_context *context, int64_t m, int64_t n, const double *A, int64_t stride, const double *b,
            const sp_nnls_parameters *parameters, double *w, sp_nnls_report *report) SP_MUST_USE;

/* The same problem with columns that are added one after another, for callers that cannot store them all
 * (lib/cubature): a working set of columns, whose minimum is kept up to date. A column that leaves the active set stays
 * in the working set with weight 0. */
typedef struct sp_nnls_set sp_nnls_set;

/* Starts without columns; memory is allocated for `capacity` columns and grows. b [m] is copied. */
int sp_nnls_set_new(sp_context *context, int64_t m, const double *b, int64_t capacity, sp_nnls_set **set) SP_MUST_USE;
void sp_nnls_set_free(sp_nnls_set *set); /* NULL is allowed */

/* Adds `count` columns [m, count, column major] at once (one product for their part of the Gram matrix) with weight 0;
 * `id` [count] names them for the caller. If one is rejected (as by sp_nnls), none is added. */
int sp_nnls_set_add(sp_nnls_set *set, int64_t count, const double *columns, const int64_t *id) SP_MUST_USE;

/* Minimizes over the working set from the current weights, or stops at parameters->tolerance or at `most` positive
 * weights. The cost is O(k²) plus count · k per change, and at the end the residual of the active columns and the
 * gradient of all. */
int sp_nnls_set_solve(sp_nnls_set *set, const sp_nnls_parameters *parameters, sp_nnls_report *report) SP_MUST_USE;

/* Removes all columns with weight 0, to free memory. */
void sp_nnls_set_drop(sp_nnls_set *set);

int64_t sp_nnls_set_count(const sp_nnls_set *set);          /* columns in the working set */
const int64_t *sp_nnls_set_ids(const sp_nnls_set *set);     /* [count] */
const double *sp_nnls_set_weights(const sp_nnls_set *set);  /* [count] ≥ 0 */
const double *sp_nnls_set_columns(const sp_nnls_set *set);  /* [m, count, column major] */
const double *sp_nnls_set_residual(const sp_nnls_set *set); /* [m] b − A w of the last solve (b before the first) */

#endif
