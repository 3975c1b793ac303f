/* Farthest-point order (thesis §3.9.1, after Eldar et al. 1997). */
#ifndef SP_POINTSHELL_ORDER_H
#define SP_POINTSHELL_ORDER_H

#include "base/context.h"

/* order [most]: the first `most` of `count` points [count, 3] in the order in which each is the farthest from all
 * before it, starting with point `seed`; ties: the lowest number. About O(log count) operations for each, by a tree. */
int sp_farthest_order(sp_context *context, int64_t count, const double *points, int64_t seed, int64_t most,
                      int64_t *order) SP_MUST_USE;

#endif
