/* Spectra of a signal over time: Fourier transforms of overlapping pieces under a Hann window. */
#ifndef SP_SOUND_SPECTROGRAM_H
#define SP_SOUND_SPECTROGRAM_H

#include "base/context.h"
#include "base/memory.h"

typedef struct sp_spectrogram {
    int64_t frames, bins; /* bins = size/2 + 1: bin k is at k rate/size Hz */
    int64_t size;         /* samples of a piece, a power of two */
    double *amplitude;    /* [frames, bins]: that of a sine of this frequency */
} sp_spectrogram;

/* Piece i is centred at the sample (i + ½) count/frames; samples outside are 0. `size` is a power of two from 4 on. The
 * arrays are from `pool`. */
int sp_spectrogram_new(sp_context *context, int64_t count, const double *samples, int64_t size, int64_t frames,
                       sp_pool *pool, sp_spectrogram *spectrogram) SP_MUST_USE;

/* The amplitude of a piece at `bin`, which need not be whole: interpolated linearly. */
double sp_spectrogram_at(const sp_spectrogram *spectrogram, int64_t frame, double bin);

#endif
