#include "reduced/quadratic.h"

#include <cblas.h>

void sp_quadratic_new(sp_pool *pool, int64_t r, sp_quadratic *m)
{
    int64_t pairs = r * (r + 1) / 2, stride = (pairs + SP_LANES - 1) / SP_LANES * SP_LANES;
    *m = (sp_quadratic){.r = r, .pairs = pairs, .stride = stride};
    m->constant = sp_pool_raw(pool, pairs, sizeof(double));
    m->linear = sp_pool_new(pool, stride * r, sizeof(double));
    m->quadratic = sp_pool_raw(pool, stride * stride, sizeof(double));
    m->monomials = sp_pool_new(pool, stride, sizeof(double));
    m->first = sp_pool_raw(pool, stride, sizeof(double));
    m->second = sp_pool_raw(pool, stride, sizeof(double));
    for (int64_t k = 0; !pool->failed && k < stride; k++)
        for (int64_t i = k < pairs ? pairs : 0; i < stride; i++)
            m->quadratic[k * stride + i] = 0;
}

void sp_quadratic_share(sp_pool *pool, const sp_quadratic *original, sp_quadratic *m)
{
    *m = *original;
    m->monomials = sp_pool_new(pool, m->stride, sizeof(double));
    m->first = sp_pool_raw(pool, m->stride, sizeof(double));
    m->second = sp_pool_raw(pool, m->stride, sizeof(double));
}

/* s_ij = q_i q_j, twice off the diagonal. */
SP_CLONES static void fill_monomials(int r, const double *restrict q, double *restrict s)
{
    for (int i = 0; i < r; s += r - i, i++) {
        double twice = 2 * q[i];
        for (int j = i; j < r; j++)
            s[j - i] = twice * q[j];
        s[0] *= 0.5;
    }
}

/* y = A x for A [rows, columns, column major], rows a multiple of SP_LANES, all aligned: sums stay in registers,
 * without the overhead of a dgemv at these sizes. */
SP_CLONES static void times(int rows, int columns, const double *restrict A, const double *restrict x,
                            double *restrict y)
{
    enum { WIDE = 4 };
    int i = 0;
    for (; i + WIDE * SP_LANES <= rows; i += WIDE * SP_LANES) {
        sp_lanes sum[WIDE] = {{0}};
        for (int j = 0; j < columns; j++)
            for (int w = 0; w < WIDE; w++)
                sum[w] += *(const sp_lanes *)(A + (long)j * rows + i + w * SP_LANES) * x[j];
        for (int w = 0; w < WIDE; w++)
            *(sp_lanes *)(y + i + w * SP_LANES) = sum[w];
    }
    for (; i < rows; i += SP_LANES) {
        sp_lanes sum = {0};
        for (int j = 0; j < columns; j++)
            sum += *(const sp_lanes *)(A + (long)j * rows + i) * x[j];
        *(sp_lanes *)(y + i) = sum;
    }
}

/* y = A x for a symmetric A [n, n] as sp_quadratic keeps it, n a multiple of SP_LANES: eight columns at a time, from
 * the diagonal on, whose entries are read once for both of their places. */
SP_NATIVE static void times_symmetric(int n, const double *A, const double *x, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] = 0;
    for (int first = 0; first < n; first += SP_LANES, A += (long)SP_LANES * n) {
        sp_lanes factor[SP_LANES], across[SP_LANES] = {{0}}, here = *(sp_lanes *)(y + first);
#pragma GCC unroll 8
        for (int j = 0; j < SP_LANES; j++) {
            factor[j] = (sp_lanes){0} + x[first + j];
            here += *(const sp_lanes *)(A + (long)j * n + first) * factor[j];
        }
        for (int i = first + SP_LANES; i < n; i += SP_LANES) {
            const sp_lanes beside = *(const sp_lanes *)(x + i);
            sp_lanes even = *(sp_lanes *)(y + i), odd = {0};
#pragma GCC unroll 4
            for (int j = 0; j < SP_LANES; j += 2) {
                const sp_lanes a = *(const sp_lanes *)(A + (long)j * n + i),
                               b = *(const sp_lanes *)(A + (long)(j + 1) * n + i);
                across[j] += a * beside;
                across[j + 1] += b * beside;
                even += a * factor[j];
                odd += b * factor[j + 1];
            }
            *(sp_lanes *)(y + i) = even + odd;
        }
        sp_lanes_transpose(across);
        *(sp_lanes *)(y + first) = here + (((across[0] + across[1]) + (across[2] + across[3])) +
                                           ((across[4] + across[5]) + (across[6] + across[7])));
    }
}

void sp_quadratic_evaluate(sp_quadratic *m, const double *q)
{
    fill_monomials((int)m->r, q, m->monomials);
    times((int)m->stride, (int)m->r, m->linear, q, m->first);
    if (sp_lanes_native()) /* 78 pairs 0.16, 120 0.50, 210 1.7, 465 8.6, 1830 177 µs; dsymv 0.39, 0.70, 2.0, 9.3, 234 */
        times_symmetric((int)m->stride, m->quadratic, m->monomials, m->second);
    else
        cblas_dsymv(CblasColMajor, CblasLower, (int)m->pairs, 1, m->quadratic, (int)m->stride, m->monomials, 1, 0,
                    m->second, 1);
}

void sp_quadratic_evaluate_many(const sp_quadratic *m, int64_t count, const double *q, double *monomials, double *first,
                                double *second)
{
    const int n = (int)count, pairs = (int)m->pairs, stride = (int)m->stride;
    for (int64_t i = 0; i < count; i++)
        fill_monomials((int)m->r, q + m->r * i, monomials + m->stride * i);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, stride, n, (int)m->r, 1, m->linear, stride, q, (int)m->r, 0,
                first, stride);
    cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, pairs, n, 1, m->quadratic, stride, monomials, stride, 0, second,
                stride);
}
