/* Products and inverses of 3 × 3 matrices, row major in arrays of nine numbers; those with vectors are in vec3.h. No
 * output may be an input. Matrices of SIMD lanes are in material/law.c. */
#ifndef SP_BASE_MAT3_H
#define SP_BASE_MAT3_H

#include "base/vec3.h"

/* C = A B */
static inline void sp_multiply3(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* C = A Bᵀ */
static inline void sp_multiply_transposed3(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = sp_dot3(A + 3 * i, B + 3 * j);
}

/* C = R H Rᵀ: the matrix H in the axes into which R turns. */
static inline void sp_rotate_matrix3(const double R[9], const double H[9], double C[9])
{
    double RH[9];
    sp_multiply3(R, H, RH);
    sp_multiply_transposed3(RH, R, C);
}

/* [v] with [v] x = v × x */
static inline void sp_cross_matrix3(const double v[3], double C[9])
{
    C[0] = C[4] = C[8] = 0;
    C[1] = -v[2], C[2] = v[1], C[5] = -v[0];
    C[3] = v[2], C[6] = -v[1], C[7] = v[0];
}

/* A⁻¹ by cofactors, for det A = `determinant`, which the caller has found to be large enough. */
static inline void sp_invert3(const double A[9], double determinant, double inverse[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            inverse[3 * i + j] = (A[3 * a + c] * A[3 * b + d] - A[3 * a + d] * A[3 * b + c]) / determinant;
        }
}

#endif
