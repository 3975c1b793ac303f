/* The discrete Fourier transform. */
#ifndef SP_BASE_FOURIER_H
#define SP_BASE_FOURIER_H

#include <stdint.h>

/* X_k = Σ_j x_j exp(−2πi jk/n) of n = 2^m complex numbers, in place, by decimation in
 * time (Cooley and Tukey 1965). root [n/2, 2]: exp(−2πi k/n), by sp_fourier_roots. */
void sp_fourier(int64_t n, const double *root, double *re, double *im);
void sp_fourier_roots(int64_t n, double *root);

#endif
