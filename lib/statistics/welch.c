#include "statistics/welch.h"

#include "base/fourier.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double NORMAL_95 = 1.959963984540054;

int sp_welch_new(sp_context *context, int64_t size, double rate, sp_pool *pool, sp_welch *w)
{
    assert(size >= 8 && (size & (size - 1)) == 0 && rate > 0);
    *w = (sp_welch){.size = size, .bins = size / 2 + 1, .rate = rate};
    w->sum = sp_pool_new(pool, w->bins, sizeof *w->sum);
    w->root = sp_pool_raw(pool, size, sizeof *w->root);
    w->re = sp_pool_raw(pool, size, sizeof *w->re);
    w->im = sp_pool_raw(pool, size, sizeof *w->im);
    w->window = sp_pool_raw(pool, size, sizeof *w->window);
    SP_PASS(sp_allocated(context, !pool->failed));

    sp_fourier_roots(size, w->root);
    for (int64_t j = 0; j < size; j++) {
        const double s = sin(M_PI * (double)j / (double)size);
        w->window[j] = s * s;
        w->power += w->window[j] * w->window[j];
    }
    return SP_OK;
}

static void add_piece(sp_welch *w, const double *samples)
{
    double mean = 0;
    for (int64_t j = 0; j < w->size; j++)
        mean += samples[j] / (double)w->size;
    for (int64_t j = 0; j < w->size; j++)
        w->re[j] = w->window[j] * (samples[j] - mean);
    memset(w->im, 0, (size_t)w->size * sizeof *w->im);

    sp_fourier(w->size, w->root, w->re, w->im);
    for (int64_t k = 0; k < w->bins; k++) /* one-sided: both signs of a frequency but those of 0 and rate/2 */
        w->sum[k] +=
            (k == 0 || k == w->size / 2 ? 1 : 2) * (w->re[k] * w->re[k] + w->im[k] * w->im[k]) / (w->rate * w->power);
}

void sp_welch_add(sp_welch *w, int64_t count, const double *samples)
{
    int64_t pieces = 0;
    for (int64_t from = 0; from + w->size <= count; from += w->size / 2, pieces++)
        add_piece(w, samples + from);

    const double n = (double)pieces;
    w->pieces += pieces;
    w->freedom += pieces > 0 ? 2 * n / (1 + (1 - 1 / n) / 18) : 0;
}

double sp_chi_square(double freedom, double normal)
{
    const double a = 2 / (9 * freedom), root = 1 - a + normal * sqrt(a);
    return freedom * root * root * root;
}

void sp_welch_density(const sp_welch *w, int64_t k, double *density, double *low, double *high)
{
    *density = w->sum[k] / (double)w->pieces;
    *low = *density * w->freedom / sp_chi_square(w->freedom, NORMAL_95);
    *high = *density * w->freedom / sp_chi_square(w->freedom, -NORMAL_95);
}
