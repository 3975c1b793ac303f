#include "sound/kernel.h"

#include <math.h>

enum { FRACTIONS = 1024, HALF_MOST = 100000 }; /* fractions for a stop band from half of the rate on */

/* The modified Bessel function I0, by its power series: all terms are positive. */
static double bessel(double x)
{
    double term = 1, sum = 1;
    for (int k = 1; term > 1e-17 * sum; k++) {
        term *= x / (2 * k) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

static double window(double tau, double half)
{
    /* Kaiser's window with the β of this attenuation */
    const double beta = 0.1102 * (SP_KERNEL_DECIBELS - 8.7), at = tau / half;
    return fabs(at) < 1 ? bessel(beta * sqrt(1 - at * at)) / bessel(beta) : 0;
}

static double ideal(double tau, double cutoff, bool derivative)
{
    const double angle = 2 * M_PI * cutoff * tau;

    /* The series of sin(x)/x and of its derivative where these cancel */
    if (fabs(angle) < 1e-4) /* to the third order */
        return derivative ? -2 * cutoff * angle / 3 * 2 * M_PI * cutoff : 2 * cutoff * (1 - angle * angle / 6);
    return derivative ? (2 * cutoff * cos(angle) - sin(angle) / (M_PI * tau)) / tau : sin(angle) / (M_PI * tau);
}

/* Adds the multiples of w and wτ with which the taps t of the samples i satisfy Σ t = sum and Σ t (i − p) = moment. */
static void correct(int64_t taps, const double *tau, const double *w, double sum, double moment, double *t)
{
    double w0 = 0, w1 = 0, w2 = 0;
    for (int64_t j = 0; j < taps; j++) {
        w0 += w[j];
        w1 += w[j] * tau[j];
        w2 += w[j] * tau[j] * tau[j];
        sum -= t[j];
        moment += t[j] * tau[j]; /* i − p = −τ */
    }

    /* a Σ w + b Σ wτ and a Σ wτ + b Σ wτ² are what is missing. */
    const double determinant = w0 * w2 - w1 * w1, a = (sum * w2 + moment * w1) / determinant,
                 b = -(moment * w0 + sum * w1) / determinant;

    for (int64_t j = 0; j < taps; j++)
        t[j] += (a + b * tau[j]) * w[j];
}

static void fill(const sp_kernel *kernel, double cutoff, bool derivative, double *tau, double *w)
{
    const int64_t half = kernel->half, taps = 2 * half;
    for (int64_t f = 0; f <= kernel->fractions; f++) {
        double *t = kernel->table + f * taps;
        for (int64_t j = 0; j < taps; j++) {
            tau[j] = (double)f / (double)kernel->fractions + (double)(half - 1 - j);
            w[j] = window(tau[j], (double)half);
            t[j] = w[j] * ideal(tau[j], cutoff, derivative);
        }

        /* Constants pass with gain 1 and without shift; the derivative of a line is its slope. */
        correct(taps, tau, w, derivative ? 0 : 1, derivative ? 1 : 0, t);
    }
}

int sp_kernel_new(sp_context *context, double pass, double stop, bool derivative, sp_kernel *kernel)
{
    *kernel = (sp_kernel){0};

    /* Kaiser's estimate of the length for this attenuation and transition */
    const double half = stop > pass ? (SP_KERNEL_DECIBELS - 8) / (4.57 * M_PI * (stop - pass)) / 2 : INFINITY;
    if (!(pass > 0 && half <= HALF_MOST))
        return sp_fail(context, SP_USAGE, "a transition from %g to %g cycles per sample is too narrow to filter", pass,
                       stop);

    kernel->half = (int64_t)ceil(half) + 1;
    kernel->fractions = (int64_t)fmax(1, ceil(2 * FRACTIONS * fmin(stop, 0.5)));
    kernel->derivative = derivative;

    kernel->table = sp_pool_new(&kernel->pool, (kernel->fractions + 1) * 2 * kernel->half, sizeof(double));
    double *tau = sp_pool_new(&kernel->pool, 2 * kernel->half, sizeof *tau),
           *w = sp_pool_new(&kernel->pool, 2 * kernel->half, sizeof *w);

    if (kernel->pool.failed) {
        sp_kernel_free(kernel);
        return sp_fail_memory(context);
    }

    fill(kernel, 0.5 * (pass + stop), derivative, tau, w);
    return SP_OK;
}

void sp_kernel_free(sp_kernel *kernel)
{
    sp_pool_free(&kernel->pool);
    *kernel = (sp_kernel){0};
}

void sp_kernel_taps(const sp_kernel *kernel, double fraction, double *taps)
{
    const int64_t count = 2 * kernel->half;

    const double at = fraction * (double)kernel->fractions, part = at - floor(at);
    const double *low = kernel->table + (int64_t)at * count, *high = low + count;
    for (int64_t j = 0; j < count; j++)
        taps[j] = part > 0 ? low[j] + part * (high[j] - low[j]) : low[j];
}

double sp_kernel_gain(const sp_kernel *kernel, double frequency)
{
    const double *taps = kernel->table; /* of the fraction 0, whose middle is the tap half − 1 */

    double re = 0, im = 0;
    for (int64_t j = 0; j < 2 * kernel->half; j++) {
        const double angle = 2 * M_PI * frequency * (double)(j - kernel->half + 1);
        re += taps[j] * cos(angle);
        im += taps[j] * sin(angle);
    }
    return hypot(re, im) / (kernel->derivative ? 2 * M_PI * frequency : 1);
}
