/* Thinning of recorded load samples: the kept ones have a least distance from each other (thesis §2.8.2). */
#ifndef SP_BASIS_SKETCH_H
#define SP_BASIS_SKETCH_H

#include "linear/dense.h"

/* Distances ‖A_i − A_j‖ in the metric between the columns of A [rows, count] and the rest state 0, which is last:
 * distance [count + 1, count + 1], symmetric, 0 on the diagonal. They come from one Gram matrix: the distance of
 * columns closer than some 1e-8 of their length is only rounding. */
int sp_mass_distances(sp_context *context, const sp_metric *metric, int64_t count, const double *A,
                      double *distance) SP_MUST_USE;

/* Selects among `count` samples by their distances (as above; the rest state, last, counts as kept). Any two kept
 * samples are at least `separation` apart, and every other sample is closer than that to a kept one. The method is
 * greedy, as in the thesis: among the samples with a neighbour closer than the separation, the one of largest density
 * is removed, until there is none; the density is the sum over the remaining samples of (1 − (d/2s)²)² for d < 2s.
 * Samples whose close neighbours were all removed are restored, farthest first. Ties are resolved in favour of the
 * earlier sample. separation 0: all are kept.
 *
 * most > 0 limits the number of kept samples by farthest-point selection: first the one farthest from rest, then always
 * the one farthest from all selected so far. kept [count] receives their numbers, increasing. */
int sp_separate(sp_context *context, int64_t count, const double *distance, double separation, int64_t most,
                int64_t *kept, int64_t *kept_count) SP_MUST_USE;

#endif
