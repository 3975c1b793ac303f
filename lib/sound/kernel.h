/* Band-limited interpolation of equally spaced samples x_i between them, and of its derivative:
 *
 *     x(p) = Σ_i x_i k(p − i),   k(τ) = w(τ) 2a sinc(2aτ)   or   k(τ) = w(τ) d/dτ [2a sinc(2aτ)]
 *
 * with the cutoff a in cycles per sample and a Kaiser window w of |τ| < `half` (Oppenheim and Schafer, Discrete-Time
 * Signal Processing, §7.5). The taps are tabulated at fractions of a sample, so many for a cycle of the cutoff, and
 * interpolated linearly between them. They are corrected so that x(p) of constants and of straight lines is exact:
 * interpolation of slow signals then has no images. */
#ifndef SP_SOUND_KERNEL_H
#define SP_SOUND_KERNEL_H

#include "base/context.h"
#include "base/memory.h"

enum { SP_KERNEL_DECIBELS = 80 }; /* attenuation in the stop band; the passband ripple is as small, 1e-4 */

typedef struct sp_kernel {
    int64_t half, fractions; /* the taps are those of the samples floor(p) − half + 1 … floor(p) + half */
    bool derivative;
    double *table; /* [fractions + 1, 2·half] */
    sp_pool pool;
} sp_kernel;

/* pass, stop: the edges of the transition, cycles per sample, 0 < pass < stop; the cutoff is in their middle.
 * derivative: d/dp, per sample. SP_USAGE if the transition is so narrow that a kernel has more than 2·100,000 taps. */
int sp_kernel_new(sp_context *context, double pass, double stop, bool derivative, sp_kernel *kernel) SP_MUST_USE;
void sp_kernel_free(sp_kernel *kernel);

/* The 2·half taps for a fraction p − floor(p) in [0, 1). */
void sp_kernel_taps(const sp_kernel *kernel, double fraction, double *taps);

/* The gain of a sine of this frequency [cycles per sample], relative to the exact value or derivative. */
double sp_kernel_gain(const sp_kernel *kernel, double frequency);

#endif
