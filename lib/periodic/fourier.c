#include "periodic/fourier.h"

#include <math.h>
#include <string.h>

void sp_fourier_at(int64_t r, int64_t harmonics, const double *coefficients, double theta, double *value, double *rate,
                   double *second)
{
    memcpy(value, coefficients, (size_t)r * sizeof *value);
    for (int64_t i = 0; i < r; i++) {
        if (rate)
            rate[i] = 0;
        if (second)
            second[i] = 0;
    }

    /* η = c₀ + Σ (a_k cos kθ + b_k sin kθ), and its derivatives by θ */
    for (int64_t k = 1; k <= harmonics; k++) {
        const double *a = coefficients + (2 * k - 1) * r, *b = a + r, order = (double)k;
        const double c = cos(order * theta), s = sin(order * theta);

        for (int64_t i = 0; i < r; i++) {
            const double term = c * a[i] + s * b[i];
            value[i] += term;
            if (rate)
                rate[i] += order * (c * b[i] - s * a[i]);
            if (second)
                second[i] -= order * order * term;
        }
    }
}
