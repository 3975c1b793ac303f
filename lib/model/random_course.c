/* Random courses: realizations of a power spectral density (Shinozuka and Deodatis, Appl. Mech. Rev. 44 (1991), 191,
 * with normally distributed amplitudes, so that the process is Gaussian for any number of frequencies). */
#include "base/fourier.h"
#include "base/random.h"
#include "model/course.h"

#include <math.h>

enum { MOST_SAMPLES = 1 << 24 };

double sp_course_density(const sp_course_spectrum *s, double f)
{
    if (!(f >= s->frequency[0] && f <= s->frequency[s->count - 1]))
        return 0;
    int64_t k = 0;
    while (k + 2 < s->count && s->frequency[k + 1] < f)
        k++;
    const double part = log(f / s->frequency[k]) / log(s->frequency[k + 1] / s->frequency[k]);
    return s->density[k] * pow(s->density[k + 1] / s->density[k], part);
}

static double sinc(double x)
{
    return x > 0 ? sin(M_PI * x) / (M_PI * x) : 1;
}

/* x_n = Σ_k √(S(f_k) Δf) (g_k cos(2π k n / N) + h_k sin(2π k n / N)) with normal g and h: E x² is the sum of S Δf. */
static void synthesize(const sp_course_spectrum *s, int64_t N, const double *root, double *re, double *im)
{
    const double step = s->rate / (double)N;
    for (int64_t k = 0; k < N; k++) {
        const double f = (double)k * step, S = k > 0 && k < N / 2 ? sp_course_density(s, f) : 0,
                     one = sinc(f / s->rate), amplitude = S > 0 ? sqrt(S * step) / (one * one) : 0;
        re[k] = amplitude > 0 ? amplitude * sp_random_normal(s->seed, 0, (uint64_t)k) : 0;
        im[k] = amplitude > 0 ? amplitude * sp_random_normal(s->seed, 1, (uint64_t)k) : 0;
    }
    sp_fourier(N, root, re, im); /* Re Σ (g + ih) exp(−2πi kn/N) = Σ g cos + h sin */
}

int sp_course_realize(sp_context *context, const sp_course_spectrum *s, double length, sp_pool *pool, sp_course *course)
{
    const double samples = ceil(length * s->rate) + 1;
    if (!(samples <= MOST_SAMPLES))
        return sp_fail(context, SP_INPUT, "a random course of %g s at %g Hz has more than %d samples", length, s->rate,
                       MOST_SAMPLES);

    const int64_t count = (int64_t)samples;
    int64_t N = 4;
    while (N < 2 * count)
        N *= 2;

    sp_pool scratch = {0};
    double *root = sp_pool_raw(&scratch, N, sizeof *root), *re = sp_pool_raw(&scratch, N, sizeof *re),
           *im = sp_pool_raw(&scratch, N, sizeof *im), *time = sp_pool_raw(pool, count, sizeof *time),
           *factor = sp_pool_raw(pool, count, sizeof *factor);
    if (scratch.failed || pool->failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    sp_fourier_roots(N, root);
    synthesize(s, N, root, re, im);
    for (int64_t n = 0; n < count; n++) {
        time[n] = (double)n / s->rate;
        factor[n] = re[n];
    }
    *course = (sp_course){.kind = SP_COURSE_TABLE, .count = count, .time = time, .factor = factor, .spectrum = s};
    sp_pool_free(&scratch);
    return SP_OK;
}
