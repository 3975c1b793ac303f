/* AᵀA of a tall matrix with few columns. */
#ifndef SP_LINEAR_GRAM_H
#define SP_LINEAR_GRAM_H

#include <stdint.h>

/* The upper triangle of C [m, m] += AᵀA for A [rows, m], column major with lda and ldc rows to the next column; what is below the diagonal of C stays. On one thread.
 *
 * dsyrk packs A for every product, which few columns do not pay for: with 20, 30, 59, 90, 115 of them it reaches 26, 29, 44, 58, 61 GFlop/s here. Sums along the rows, which lie beside each other in
 * memory anyway, reach 82, 87, 90, 95, 95. With 135 and 230 columns both have about 90, but dsyrk only where nothing else is in the caches: a polycoef of 135 columns takes 58 ms by these sums, 77 by dsyrk,
 * one of 230 columns 0.22 and 0.28 s. Beyond, dsyrk is faster; it is also taken without AVX-512, whose registers hold the sums.
 */
void sp_gram_add(int64_t rows, int64_t m, const double *A, int64_t lda, double *C, int64_t ldc);

#endif
