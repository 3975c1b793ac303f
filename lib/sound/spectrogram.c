#include "sound/spectrogram.h"

#include <assert.h>
#include <math.h>

void sp_fourier_roots(int64_t n, double *root)
{
    for (int64_t k = 0; k < n / 2; k++) {
        const double angle = 2 * M_PI * (double)k / (double)n;
        root[2 * k] = cos(angle);
        root[2 * k + 1] = -sin(angle);
    }
}

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Puts every number at the place with its bits reversed. */
static void reverse(int64_t n, double *re, double *im)
{
    /* j counts in reversed bits: a carry runs from the highest bit down. */
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            swap(&re[i], &re[j]);
            swap(&im[i], &im[j]);
        }
    }
}

void sp_fourier(int64_t n, const double *root, double *re, double *im)
{
    reverse(n, re, im);

    /* Cooley and Tukey: transforms of twice the length from those of even and odd numbers */
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t from = 0; from < n; from += 2 * half)
            for (int64_t k = 0; k < half; k++) {
                const double *w = root + 2 * (k * (n / (2 * half)));
                const int64_t a = from + k, b = a + half;
                const double x = re[b] * w[0] - im[b] * w[1], y = re[b] * w[1] + im[b] * w[0];
                re[b] = re[a] - x;
                im[b] = im[a] - y;
                re[a] += x;
                im[a] += y;
            }
}

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
