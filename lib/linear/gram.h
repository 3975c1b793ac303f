/* AᵀA of a tall matrix with few columns. */
#ifndef SP_LINEAR_GRAM_H
#define SP_LINEAR_GRAM_H

#include <stdint.h>

/* The upper triangle of C [m, m] += AᵀA for A [rows, m], column major with leading dimensions lda and ldc; entries
 * below the diagonal of C are not changed. On one thread.
 *
 * Sums run along the rows, which are contiguous in memory: nothing is packed. Measured in GFlop/s for 896 rows with 12,
 * 30, 90, 230, 495, 1890 columns, and for dsyrk of OpenBLAS 0.3.21: with AVX-512 89, 87, 94, 89, 90, 76 (dsyrk 21, 30,
 * 56, 76, 83, 87); with AVX2 44, 38, 41, 40, 40, 39 (16, 23, 37, 44, 46, 51). A program that needs nothing else of
 * OpenBLAS starts 1.5 ms earlier. */
void sp_gram_add(int64_t rows, int64_t m, const double *A, int64_t lda, double *C, int64_t ldc);

/* The upper triangle of AᵀB for B [rows, m], if that is known to be symmetric. */
void sp_gram_add_two(int64_t rows, int64_t m, const double *A, int64_t lda, const double *B, int64_t ldb, double *C,
                     int64_t ldc);

#endif
