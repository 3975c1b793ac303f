#include "sound/spectrogram.h"

#include "base/fourier.h"

#include <assert.h>
#include <math.h>

static double hann(int64_t j, int64_t size)
{
    const double s = sin(M_PI * ((double)j + 0.5) / (double)size);
    return s * s;
}

static void transform(const sp_spectrogram *s, const double *root, int64_t frame, int64_t count, const double *samples,
                      double *work)
{
    double *re = work, *im = work + s->size, *to = s->amplitude + frame * s->bins;
    const int64_t from = (int64_t)(((double)frame + 0.5) * (double)count / (double)s->frames) - s->size / 2;

    for (int64_t j = 0; j < s->size; j++) {
        re[j] = from + j >= 0 && from + j < count ? hann(j, s->size) * samples[from + j] : 0;
        im[j] = 0;
    }

    sp_fourier(s->size, root, re, im);
    for (int64_t k = 0; k < s->bins; k++) /* the window's mean is ½; a sine has two of these lines */
        to[k] = (k == 0 || k == s->size / 2 ? 2 : 4) * hypot(re[k], im[k]) / (double)s->size;
}

int sp_spectrogram_new(sp_context *context, int64_t count, const double *samples, int64_t size, int64_t frames,
                       sp_pool *pool, sp_spectrogram *s)
{
    assert(size >= 4 && (size & (size - 1)) == 0 && frames >= 1);
    *s = (sp_spectrogram){.frames = frames, .bins = size / 2 + 1, .size = size};

    s->amplitude = sp_pool_raw(pool, frames * s->bins, sizeof *s->amplitude);
    double *root = sp_pool_raw(pool, size, sizeof *root),
           *work = sp_pool_raw(pool, context->threads * 2 * size, sizeof *work);

    SP_PASS(sp_allocated(context, !pool->failed));

    sp_fourier_roots(size, root);
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int part = 0; part < context->threads; part++)
        for (int64_t f = part; f < frames; f += context->threads)
            transform(s, root, f, count, samples, work + part * 2 * size);
    sp_pool_drop(pool, root);
    sp_pool_drop(pool, work);
    return SP_OK;
}

double sp_spectrogram_at(const sp_spectrogram *s, int64_t frame, double bin)
{
    const double *a = s->amplitude + frame * s->bins;

    const double at = fmin(fmax(bin, 0), (double)(s->bins - 1));
    const int64_t k = at < (double)(s->bins - 2) ? (int64_t)at : s->bins - 2;
    return a[k] + (at - (double)k) * (a[k + 1] - a[k]);
}
