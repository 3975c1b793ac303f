/* Projection errors of displacement fields on the leading columns of a basis. */
#ifndef SP_BASIS_PROJECTION_H
#define SP_BASIS_PROJECTION_H

#include "linear/dense.h"

/* Overwrites a basis B [rows, count] by Q [rows, count], orthonormal in the metric, such that its first r columns span
 * the first r columns of B, for every r. Columns that depend on earlier ones (to 1e-12 of their norm) become 0. Columns
 * may be of any size. rank receives the number of nonzero columns. SP_INPUT if a column exceeds the range of
 * doubles. */
int sp_projection_prepare(sp_context *context, const sp_metric *metric, int64_t count, double *B,
                          int64_t *rank) SP_MUST_USE;

/* missed [count + 1, fields, column major]: entry r of a column is ‖x − P_r x‖ in the metric, with P_r the orthogonal
 * projection on the first r columns of Q; entry 0 is ‖x‖. The entries descend and are accurate to about 1e-15 ‖x‖: x is
 * projected twice, and the norms are sums of squares from the smallest r on, so that nothing cancels. X [rows, fields]
 * is overwritten. SP_INPUT if a norm overflows. */
int sp_projection_measure(sp_context *context, const sp_metric *metric, int64_t count, const double *Q, int64_t fields,
                          double *X, double *missed) SP_MUST_USE;

#endif
