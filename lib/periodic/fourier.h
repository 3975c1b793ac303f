/* Real Fourier series of vectors, x(θ) = a₀ + Σ_k a_k cos kθ + b_k sin kθ, with the coefficients [a₀, a₁, b₁, …, a_H,
 * b_H] of r numbers each. */
#ifndef SP_PERIODIC_FOURIER_H
#define SP_PERIODIC_FOURIER_H

#include <stdint.h>

/* The value [r] at the phase θ, its derivative dx/dθ and the second one [r]; rate and second may be NULL. */
void sp_fourier_at(int64_t r, int64_t harmonics, const double *coefficients, double theta, double *value, double *rate,
                   double *second);

#endif
