/* Kernels for nonnegative least squares with few and short columns, for which a call of BLAS or an allocation costs
 * more than the work. */
#include "linear/nnls_internal.h"

#include <string.h>

/* Processes two rows and two columns at a time. */
SP_CLONES void sp_nnls_gram_small(sp_nnls_core *s, int64_t first)
{
    int64_t n = s->n, m = s->m, ld = s->H_capacity;
    for (int64_t j = first; j < n; j += 2)
        for (int64_t i = 0; i <= j; i += 2) {
            /* Beyond the last column the one before stands in, whose products are not stored. */
            const double *a = s->A + i * s->stride, *b = i + 1 < n ? a + s->stride : a, *c = s->A + j * s->stride,
                         *d = j + 1 < n ? c + s->stride : c;

            double ac = 0, bc = 0, ad = 0, bd = 0;
#pragma omp simd reduction(+ : ac, bc, ad, bd)
            for (int64_t q = 0; q < m; q++) {
                ac += a[q] * c[q];
                bc += b[q] * c[q];
                ad += a[q] * d[q];
                bd += b[q] * d[q];
            }

            s->H[j * ld + i] = ac;
            if (i + 1 < n)
                s->H[j * ld + i + 1] = bc;
            if (j + 1 < n)
                s->H[(j + 1) * ld + i] = ad;
            if (i + 1 < n && j + 1 < n)
                s->H[(j + 1) * ld + i + 1] = bd;
        }
}

SP_CLONES void sp_nnls_subtract_four(int64_t count, const double *const column[4], const double x[4],
                                     double *restrict h)
{
    const double *a = column[0], *b = column[1], *c = column[2], *d = column[3];
    const double s = x[0], t = x[1], u = x[2], v = x[3];
    for (int64_t i = 0; i < count; i++)
        h[i] -= s * a[i] + t * b[i] + (u * c[i] + v * d[i]);
}

void *sp_nnls_memory(sp_nnls_core *s, int64_t count)
{
    int64_t bytes = count >= 0 && count <= SP_NNLS_LOCAL ? (8 * count + 63) / 64 * 64 : -1;

    if (bytes < 0 || bytes > s->local_left)
        return sp_pool_raw(&s->pool, count, 8);
    s->local_left -= bytes;
    return s->local + s->local_left;
}

void sp_nnls_memory_drop(sp_nnls_core *s, void *block)
{
    if (!s->local || (uintptr_t)block - (uintptr_t)s->local >= SP_NNLS_LOCAL)
        sp_pool_drop(&s->pool, block);
}

void sp_nnls_enlarge(sp_nnls_core *s, int count, double **each[], int64_t used, int64_t capacity)
{
    double *block = sp_nnls_memory(s, capacity <= INT32_MAX ? count * capacity : -1), *old = *each[0];

    if (!block)
        return;

    for (int i = 0; i < count; i++) {
        if (used > 0)
            memcpy(block + i * capacity, *each[i], (size_t)used * sizeof *block);
        *each[i] = block + i * capacity;
    }
    sp_nnls_memory_drop(s, old);
}

void sp_nnls_enlarge_square(sp_nnls_core *s, double **matrix, int64_t used, int64_t *capacity, int64_t more)
{
    double *block = sp_nnls_memory(s, more <= INT32_MAX ? more * more : -1);

    if (!block)
        return;

    for (int64_t j = 0; j < used; j++)
        memcpy(block + j * more, *matrix + j * *capacity, (size_t)used * sizeof *block);
    sp_nnls_memory_drop(s, *matrix);
    *matrix = block;
    *capacity = more;
}
