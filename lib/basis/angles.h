/* Principal angles between subspaces. */
#ifndef SP_BASIS_ANGLES_H
#define SP_BASIS_ANGLES_H

#include "linear/store.h"

/* Principal angles [rad], ascending, between the spans of A [rows, a] and B [rows, b] in the metric (Björck & Golub
 * 1973); their number is the lesser rank. Small angles come from the sines (the part of one basis outside the other),
 * large ones from the cosines, so that all are accurate to rounding. A and B are overwritten by orthonormal bases.
 * angle has space for min(a, b); count receives the number. SP_INPUT if a span is empty. */
int sp_principal_angles(sp_context *context, const sp_metric *metric, int64_t a, double *A, int64_t b, double *B,
                        double *angle, int64_t *count) SP_MUST_USE;

#endif
