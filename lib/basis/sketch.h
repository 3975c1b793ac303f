/* Thinning out a recorded set of samples: what is kept stays a distance apart (thesis §2.8.2). */
#ifndef SP_BASIS_SKETCH_H
#define SP_BASIS_SKETCH_H

#include "linear/dense.h"

/* Distances ‖A_i − A_j‖ in the metric between the columns of A [rows, count] and the rest state 0, which stands last:
 * distance [count + 1, count + 1], symmetric, 0 on the diagonal. By one Gram matrix: columns closer than some 1e-8 of
 * their length have a distance that is rounding. */
int sp_mass_distances(sp_context *context, const sp_metric *metric, int64_t count, const double *A,
                      double *distance) SP_MUST_USE;

/* Chooses among `count` samples by their distances (as above; the rest state, last, counts as kept). Any two that are
 * kept are at least `separation` apart, and every one that is left out is closer than that to one that is kept. Greedy,
 * as in the thesis: of the samples that have a neighbour closer than the separation the one in the densest place goes,
 * until there is none; the density is the sum over the samples that are left of (1 − (d/2s)²)² for d < 2s. What lost
 * all its close neighbours that way comes back, farthest first. Of equals the earlier one stays. separation 0: all are
 * kept.
 *
 * most > 0 keeps at most so many of these: the one farthest from rest, then always the one farthest from all taken so
 * far. kept [count] receives their numbers, increasing. */
int sp_separate(sp_context *context, int64_t count, const double *distance, double separation, int64_t most,
                int64_t *kept, int64_t *kept_count) SP_MUST_USE;

#endif
