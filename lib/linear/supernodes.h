/* Solves with CHOLMOD's supernodal factor LLᵀ for a few right-hand sides at once: every entry of L is read once for all
 * of them and used in place, without the packing that general matrix products need for so few columns. The lower bound
 * is reading the factor from memory twice: with AVX-512 eight right-hand sides take as long as one. */
#ifndef SP_LINEAR_SUPERNODES_H
#define SP_LINEAR_SUPERNODES_H

#include "base/lanes.h"
#include "linear/suitesparse.h"

#include <stdbool.h>

enum { SP_SUPERNODES_GROUPS = 3 }; /* largest number of SIMD vectors in a row: 24 right-hand sides */

/* Returns true if the processor has registers for this (AVX2 or AVX-512); otherwise CHOLMOD's own solves are as
 * fast. */
bool sp_supernodes_fast(void);

/* x ← L⁻¹ x or, with `back`, L⁻ᵀ x for x [n, groups] SIMD vectors by rows, in the order of the factor: row i is that of
 * factor->Perm[i]. Each lane is a separate right-hand side, whose result does not depend on the others, but on the
 * register width. */
void sp_supernodes_sweep(const cholmod_factor *factor, bool back, int groups, sp_lanes *x);

/* Gathers `count` columns b [n, count, column major] into the lanes of x [n, groups], row i of x from row[i] of b
 * (NULL: i), with 0 in unused lanes; and scatters x back into b. */
void sp_supernodes_gather(int64_t n, const int64_t *row, int64_t count, int groups, const double *b, sp_lanes *x);
void sp_supernodes_scatter(int64_t n, const int64_t *row, int64_t count, int groups, const sp_lanes *x, double *b);

#endif
