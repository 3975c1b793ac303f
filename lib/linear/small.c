#include "linear/small.h"

#include "base/lanes.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { ROWS = 64 };

/* The row, k or below it, with the largest entry of column k; -1 if that is zero or not finite. */
SP_INLINE int find_pivot(int n, double (*a)[ROWS], int k)
{
    int best = -1;
    double most = 0;
    for (int i = k; i < n; i++) {
        const double size = fabs(a[i][k]);
        if (!(size < INFINITY))
            return -1;
        if (size > most) {
            most = size;
            best = i;
        }
    }
    return best;
}

/* Inverts a matrix whose rows are padded to `width`, a constant of each call, so that a row stays in registers. Column
 * j of the result belongs to column[j]. */
SP_INLINE bool invert(int n, int width, double (*a)[ROWS], int *column)
{
    double row[ROWS];

    for (int k = 0; k < n; k++)
        column[k] = k;

    /* Gauss–Jordan elimination in place: the pivot row takes the place of row k, and the columns that it exchanges are
     * noted. */
    for (int k = 0; k < n; k++) {
        const int best = find_pivot(n, a, k);
        if (best < 0)
            return false;

        const int other = column[best];
        column[best] = column[k];
        column[k] = other;

        const double scale = 1 / a[best][k];
        for (int j = 0; j < width; j++) {
            row[j] = scale * a[best][j];
            a[best][j] = a[k][j];
        }
        row[k] = scale;

        for (int i = 0; i < n; i++) {
            const double factor = a[i][k];
            for (int j = 0; j < width; j++)
                a[i][j] -= factor * row[j];

            /* Stored behind the wide loads, which would wait for it. */
            a[i][k] = -factor * row[k];
        }

        for (int j = 0; j < width; j++)
            a[k][j] = row[j];
    }
    return true;
}

/* The widths for which there is a version. */
static int padded(int n)
{
    return n <= 32 ? (n + 7) / 8 * 8 : n <= 48 ? 48 : ROWS;
}

SP_CLONES static bool invert_padded(int n, double (*a)[ROWS], int *column)
{
    switch (padded(n)) {
    case 8:
        return invert(n, 8, a, column);
    case 16:
        return invert(n, 16, a, column);
    case 24:
        return invert(n, 24, a, column);
    case 32:
        return invert(n, 32, a, column);
    case 48:
        return invert(n, 48, a, column);
    default:
        return invert(n, ROWS, a, column);
    }
}

bool sp_small_invert(int n, double *A, int *pivot, double *work)
{
    double a[ROWS][ROWS];

    if (n > ROWS)
        return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, A, n, pivot) == 0 &&
               LAPACKE_dgetri_work(LAPACK_COL_MAJOR, n, A, n, pivot, work, n) == 0;

    for (int i = 0; i < n; i++) {
        memcpy(a[i], A + i * n, (size_t)n * sizeof *A);
        for (int j = n; j < padded(n); j++)
            a[i][j] = 0;
    }

    if (!invert_padded(n, a, pivot))
        return false;

    /* The columns return from the exchanges. */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i * n + pivot[j]] = a[i][j];
    return true;
}

typedef double quad __attribute__((vector_size(32)));

SP_INLINE quad four(const double *from)
{
    quad x;
    memcpy(&x, from, sizeof x);
    return x;
}

/* 4 `quads` columns of the product, a constant of each call. */
SP_INLINE void times_columns(int m, int k, int n, int quads, const double *A, const double *B, double *C)
{
    for (int i = 0; i < m; i++) {
        quad sum[2] = {{0}};
        for (int l = 0; l < k; l++)
            for (int g = 0; g < quads; g++)
                sum[g] += A[(int64_t)i * k + l] * four(B + (int64_t)l * n + 4 * g);
        memcpy(C + (int64_t)i * n, sum, (size_t)quads * sizeof *sum);
    }
}

SP_INLINE void multiply(int m, int k, int n, const double *A, const double *B, double *C)
{
    int j = 0;
    for (; j + 8 <= n; j += 8)
        times_columns(m, k, n, 2, A, B + j, C + j);
    for (; j + 4 <= n; j += 4)
        times_columns(m, k, n, 1, A, B + j, C + j);
    for (; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += A[(int64_t)i * k + l] * B[(int64_t)l * n + j];
            C[(int64_t)i * n + j] = sum;
        }
}

SP_CLONES void sp_small_times(int m, int k, int n, const double *A, const double *B, double *C)
{
    multiply(m, k, n, A, B, C);
}

static double sum_of(quad x)
{
    return (x[0] + x[1]) + (x[2] + x[3]);
}

/* `rows` entries of y, a constant of each call: their sums are independent of each other. */
SP_INLINE void apply_rows(int rows, int n, const double *A, const double *x, double *y)
{
    quad sum[4] = {{0}};
    int j = 0;
    for (; j + 4 <= n; j += 4)
        for (int i = 0; i < rows; i++)
            sum[i] += four(A + (int64_t)i * n + j) * four(x + j);

    for (int i = 0; i < rows; i++) {
        double rest = 0;
        for (int k = j; k < n; k++)
            rest += A[(int64_t)i * n + k] * x[k];
        y[i] = sum_of(sum[i]) + rest;
    }
}

SP_CLONES void sp_small_apply(int m, int n, const double *A, const double *x, double *y)
{
    int i = 0;
    for (; i + 4 <= m; i += 4)
        apply_rows(4, n, A + (int64_t)i * n, x, y + i);
    for (; i < m; i++)
        apply_rows(1, n, A + (int64_t)i * n, x, y + i);
}

SP_CLONES void sp_small_apply_transposed(int m, int n, const double *A, const double *x, double *y)
{
    multiply(1, m, n, x, A, y);
}
