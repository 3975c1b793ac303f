/* Power spectral densities of sampled signals by Welch's method (IEEE Trans. Audio 15 (1967), 70): means of the
 * periodograms of pieces that overlap by a half, each less its mean and under a Hann window. */
#ifndef SP_STATISTICS_WELCH_H
#define SP_STATISTICS_WELCH_H

#include "base/context.h"
#include "base/memory.h"

typedef struct sp_welch {
    int64_t size, bins; /* samples of a piece, a power of two; size/2 + 1 */
    double rate;        /* Hz */
    int64_t pieces;     /* so far, of all signals */
    double freedom;     /* degrees of freedom of the mean, which is distributed as χ² with so many */
    double *sum;        /* [bins] of one-sided periodograms, unit²/Hz */
    double *root, *re, *im, *window;
    double power; /* Σ window² */
} sp_welch;

/* `size` is a power of two from 8 on; arrays are from `pool`. */
int sp_welch_new(sp_context *context, int64_t size, double rate, sp_pool *pool, sp_welch *welch) SP_MUST_USE;

/* Adds the pieces of one signal, which is independent of the others; nothing if it is shorter than a piece. */
void sp_welch_add(sp_welch *welch, int64_t count, const double *samples);

/* The density at bin k, 0 < k < bins, at k·rate/size Hz, with the ends of its 95 % confidence interval. Pieces of one
 * signal are correlated where they overlap; for a Hann window their number counts as that of independent ones divided
 * by 1 + 1/18. */
void sp_welch_density(const sp_welch *welch, int64_t k, double *density, double *low, double *high);

/* The quantile of the χ² distribution with `freedom` degrees of freedom, by Wilson and Hilferty's approximation; normal
 * is that of the normal distribution. */
double sp_chi_square(double freedom, double normal);

#endif
