/* Substitution with a supernodal factor L, in SIMD lanes for a few right-hand sides at once: every entry of L is read
 * once for all of them and used in place, without the packing that general matrix products need for so few columns. The
 * lower bound is reading the factor from memory twice: with AVX-512 eight right-hand sides take as long as one. */
#ifndef SP_LINEAR_SUPERNODES_H
#define SP_LINEAR_SUPERNODES_H

#include "base/lanes.h"
#include "linear/symbolic.h"

#include <stdbool.h>

enum { SP_SUPERNODES_GROUPS = 3 }; /* largest number of SIMD vectors in a row: 24 right-hand sides */

/* Returns true if the processor has registers for this (AVX2 or AVX-512); otherwise products by BLAS are as fast. */
bool sp_supernodes_fast(void);

/* One unit of x ← L⁻¹ x or, with `back`, L⁻ᵀ x, for x [places, groups] SIMD vectors by rows: children before parents,
 * or with `back` parents before children. The forward sweep first adds what the children of the unit have stored for
 * rows outside of their subtrees, and then stores the same for its parent. Each lane is a separate right-hand side,
 * whose result does not depend on the others, but on the register width.
 */
void sp_supernodes_sweep(const sp_symbolic *symbolic, const double *L, const sp_unit *unit, bool back, int groups,
                         sp_lanes *x);

/* The same for x [places, count, column major] by BLAS; work [most rows below a supernode, count]. */
void sp_supernodes_columns(const sp_symbolic *symbolic, const double *L, const sp_unit *unit, bool back, int64_t count,
                           double *x, double *work);

/* Gathers `count` columns b [n, count, column major] into the lanes of x [places, groups] for the rows of x from
 * `first` to `end`, row i of x from row[i] of b (NULL: i), with 0 in unused lanes; and scatters x back into b. */
void sp_supernodes_gather(int64_t first, int64_t end, const int32_t *row, int64_t n, int64_t count, int groups,
                          const double *b, sp_lanes *x);
void sp_supernodes_scatter(int64_t first, int64_t end, const int32_t *row, int64_t n, int64_t count, int groups,
                           const sp_lanes *x, double *b);

#endif
