#include "base/fourier.h"

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
