/* Solves with CHOLMOD's supernodal factor LLᵀ for a few right sides beside each other: every entry of L is read once
 * for all of them and used where it is read, without the packing that products of general matrices need for so few
 * columns. Eight take as long as one; the limit is reading the factor from memory twice. */
#ifndef SP_LINEAR_SUPERNODES_H
#define SP_LINEAR_SUPERNODES_H

#include "base/lanes.h"
#include "linear/suitesparse.h"

#include <stdbool.h>

enum { SP_SUPERNODES_GROUPS = 3 }; /* at most so many lanes a row: 24 right sides */

/* x ← L⁻¹ x or, back, L⁻ᵀ x for x [n, groups] lanes by rows, in the order of the factor: row i is that of
 * factor->Perm[i]. Each lane is a right side of its own, whose digits do not depend on the others. Only where
 * sp_lanes_native: with registers half as wide and half as many CHOLMOD's own solves are as fast. */
void sp_supernodes_sweep(const cholmod_factor *factor, bool back, int groups, sp_lanes *x);

/* `count` columns b [n, count, column major] beside each other in x [n, groups], row i of x from row[i] of b (NULL: i),
 * 0 in the lanes behind them; and from x back into b. */
void sp_supernodes_gather(int64_t n, const int64_t *row, int64_t count, int groups, const double *b, sp_lanes *x);
void sp_supernodes_scatter(int64_t n, const int64_t *row, int64_t count, int groups, const sp_lanes *x, double *b);

#endif
