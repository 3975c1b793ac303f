/* Solves with CHOLMOD's supernodal factor LLᵀ for a few right sides beside each other: every entry of L is read once
 * for all of them and used where it is read, without the packing that products of general matrices need for so few
 * columns. The limit is reading the factor from memory twice: with AVX-512 eight take as long as one. */
#ifndef SP_LINEAR_SUPERNODES_H
#define SP_LINEAR_SUPERNODES_H

#include "base/lanes.h"
#include "linear/suitesparse.h"

#include <stdbool.h>

enum { SP_SUPERNODES_GROUPS = 3 }; /* at most so many lanes a row: 24 right sides */

/* Whether the processor has registers for this (AVX2 or AVX-512); else CHOLMOD's own solves are as fast. */
bool sp_supernodes_fast(void);

/* x ← L⁻¹ x or, back, L⁻ᵀ x for x [n, groups] lanes by rows, in the order of the factor: row i is that of
 * factor->Perm[i]. Each lane is a right side of its own, whose digits do not depend on the others, but on the width of
 * the registers. */
void sp_supernodes_sweep(const cholmod_factor *factor, bool back, int groups, sp_lanes *x);

/* `count` columns b [n, count, column major] beside each other in x [n, groups], row i of x from row[i] of b (NULL: i),
 * 0 in the lanes behind them; and from x back into b. */
void sp_supernodes_gather(int64_t n, const int64_t *row, int64_t count, int groups, const double *b, sp_lanes *x);
void sp_supernodes_scatter(int64_t n, const int64_t *row, int64_t count, int groups, const sp_lanes *x, double *b);

#endif
