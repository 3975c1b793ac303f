#include "reduced/quadratic.h"

#include <cblas.h>

/* From this order on the distinct coefficients are faster than one product by the symmetric matrix, which memory
 * bounds. With AVX2 that product takes 3.7, 22 and 308 us at r = 20, 30 and 60, and the distinct coefficients 6.7, 21
 * and 194 us. With AVX-512 it takes 8.6 us at r = 30 and 177 us at r = 60. */
static int64_t least_distinct(void)
{
    return sp_lanes_native() ? 40 : 30;
}

void sp_quadratic_new(sp_pool *pool, int64_t r, bool hessian, sp_quadratic *m)
{
    int64_t pairs = r * (r + 1) / 2, stride = (pairs + SP_LANES - 1) / SP_LANES * SP_LANES;

    *m = (sp_quadratic){.r = r, .pairs = pairs, .stride = stride};
    m->constant = sp_pool_raw(pool, pairs, sizeof(double));
    m->linear = sp_pool_new(pool, stride * r, sizeof(double));

    m->distinct = hessian && r >= least_distinct();
    if (m->distinct)
        sp_quartic_new(pool, r, &m->quartic);
    else
        m->quadratic = sp_pool_raw(pool, stride * stride, sizeof(double));

    m->monomials = sp_pool_new(pool, stride, sizeof(double));
    m->first = sp_pool_raw(pool, stride, sizeof(double));
    m->second = sp_pool_raw(pool, stride, sizeof(double));

    /* Products run over padded columns, whose padding must be 0. */
    if (!m->quadratic)
        return;
    for (int64_t k = 0; k < stride; k++)
        for (int64_t i = k < pairs ? pairs : 0; i < stride; i++)
            m->quadratic[k * stride + i] = 0;
}

void sp_quadratic_share(sp_pool *pool, const sp_quadratic *original, sp_quadratic *m)
{
    *m = *original;
    if (m->distinct)
        sp_quartic_share(pool, &original->quartic, &m->quartic);

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
 * without the overhead of a dgemv at these sizes. A vector of eight on a processor with registers of four goes through
 * memory (20 us at r = 30 in place of 1), so that there is a version for each. Their sums are the same. */
#define TIMES(name, target, vector, wide)                                                                              \
    target static void name(int rows, int columns, const double *restrict A, const double *restrict x,                 \
                            double *restrict y)                                                                        \
    {                                                                                                                  \
        enum { LANES = sizeof(vector) / sizeof(double), WIDE = wide };                                                 \
        int i = 0;                                                                                                     \
        for (; i + WIDE * LANES <= rows; i += WIDE * LANES) {                                                          \
            vector sum[WIDE] = {{0}};                                                                                  \
            for (int j = 0; j < columns; j++)                                                                          \
                for (int w = 0; w < WIDE; w++)                                                                         \
                    sum[w] += *(const vector *)(A + (long)j * rows + i + w * LANES) * x[j];                            \
            for (int w = 0; w < WIDE; w++)                                                                             \
                *(vector *)(y + i + w * LANES) = sum[w];                                                               \
        }                                                                                                              \
        for (; i < rows; i += LANES) {                                                                                 \
            vector sum = {0};                                                                                          \
            for (int j = 0; j < columns; j++)                                                                          \
                sum += *(const vector *)(A + (long)j * rows + i) * x[j];                                               \
            *(vector *)(y + i) = sum;                                                                                  \
        }                                                                                                              \
    }
typedef double half_lanes __attribute__((vector_size(32)));
TIMES(times_native, SP_NATIVE, sp_lanes, 4)
TIMES(times_narrow, SP_NARROW, half_lanes, 8)
TIMES(times_plain, , half_lanes, 2)

static void times(int rows, int columns, const double *A, const double *x, double *y)
{
    (sp_lanes_native() ? times_native : sp_lanes_narrow() ? times_narrow : times_plain)(rows, columns, A, x, y);
}

/* y = A x for a symmetric A [n, n] as stored by sp_quadratic, n a multiple of SP_LANES: eight columns at a time, from
 * the diagonal on. Every entry is read once for both of its positions. */
SP_NATIVE static void times_symmetric(int n, const double *A, const double *x, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] = 0;
    for (int first = 0; first < n; first += SP_LANES, A += (long)SP_LANES * n) {
        /* The square on the diagonal is stored in full: y_i += A_ij x_j */
        sp_lanes factor[SP_LANES], across[SP_LANES] = {{0}}, here = *(sp_lanes *)(y + first);
#pragma GCC unroll 8
        for (int j = 0; j < SP_LANES; j++) {
            factor[j] = (sp_lanes){0} + x[first + j];
            here += *(const sp_lanes *)(A + (long)j * n + first) * factor[j];
        }

        /* Below the square each entry serves both of its places: y_i += A_ij x_j and, lane by lane, y_j += A_ij x_i */
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

        /* The sum over the lanes of each column is one entry of y. */
        sp_lanes_transpose(across);
        *(sp_lanes *)(y + first) = here + (((across[0] + across[1]) + (across[2] + across[3])) +
                                           ((across[4] + across[5]) + (across[6] + across[7])));
    }
}

void sp_quadratic_evaluate(sp_quadratic *m, const double *q)
{
    fill_monomials((int)m->r, q, m->monomials);
    times((int)m->stride, (int)m->r, m->linear, q, m->first);

    /* In registers of eight lanes 78, 120, 210, 465 and 1830 pairs take 0.16, 0.50, 1.7, 8.6 and 177 µs; dsymv takes
     * 0.39, 0.70, 2.0, 9.3 and 234 µs. */
    if (m->distinct)
        sp_quartic_hessian(&m->quartic, q, m->second);
    else if (sp_lanes_native())
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
