/* Concurrent products against plain loops. In a file of its own, since it links what calls it with OpenBLAS. */
#include "tools/process/blas.h"

#include "base/random.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER = 120, ENTRIES = ORDER * ORDER, TEAM = 4, ROUNDS = 6 };

/* The largest error of one thread's products, relative to the bound of rounding: n eps |A| |B| for each entry. */
static double products(uint64_t stream, double *work)
{
    double *a = work, *b = a + ENTRIES, *c = b + ENTRIES, worst = 0;
    for (int i = 0; i < 2 * ENTRIES; i++)
        work[i] = sp_random_uniform(1, stream, (uint64_t)i) - 0.5;

    /* C = A B, and the lower half of C + A Bᵀ + B Aᵀ */
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, ORDER, ORDER, ORDER, 1, a, ORDER, b, ORDER, 0, c, ORDER);
    cblas_dsyr2k(CblasColMajor, CblasLower, CblasNoTrans, ORDER, ORDER, 1, a, ORDER, b, ORDER, 1, c, ORDER);
    for (int j = 0; j < ORDER; j++)
        for (int i = 0; i < ORDER; i++) {
            double sum = 0, size = 0;
            for (int k = 0; k < ORDER; k++) {
                const double product = a[i + k * ORDER] * b[k + j * ORDER];
                const double both =
                    i < j ? 0 : a[i + k * ORDER] * b[j + k * ORDER] + b[i + k * ORDER] * a[j + k * ORDER];
                sum += product + both;
                size += fabs(product) + fabs(both);
            }
            worst = fmax(worst, fabs(c[i + j * ORDER] - sum) / (4 * ORDER * DBL_EPSILON * size));
        }

    /* L Lᵀ = A Aᵀ + n I */
    for (int j = 0; j < ORDER; j++)
        for (int i = 0; i < ORDER; i++)
            b[i + j * ORDER] = c[i + j * ORDER] = i == j ? ORDER : 0;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, ORDER, ORDER, 1, a, ORDER, 1, b, ORDER);
    memcpy(c, b, ENTRIES * sizeof *c);
    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', ORDER, b, ORDER) != 0)
        return INFINITY;
    for (int j = 0; j < ORDER; j++)
        for (int i = j; i < ORDER; i++) {
            double sum = 0;
            for (int k = 0; k <= j; k++)
                sum += b[i + k * ORDER] * b[j + k * ORDER];
            worst = fmax(worst, fabs(c[i + j * ORDER] - sum) / (4 * ORDER * DBL_EPSILON * 2 * ORDER));
        }
    return worst;
}

int process_blas_test(sp_context *context)
{
    double worst[TEAM] = {0}, all = 0;
    double *work = malloc(TEAM * 3 * ENTRIES * sizeof *work);
    SP_PASS(sp_allocated(context, work));

#pragma omp parallel for schedule(static, 1) num_threads(TEAM)
    for (int t = 0; t < TEAM; t++)
        for (int round = 0; round < ROUNDS; round++)
            worst[t] = fmax(worst[t], products((uint64_t)(1 + t + TEAM * round), work + t * 3 * ENTRIES));
    free(work);

    for (int t = 0; t < TEAM; t++)
        all = worst[t] <= all ? all : worst[t]; /* not a number: it stays */
    if (all <= 1)
        return SP_OK;
    return sp_fail(context, SP_NUMERICAL,
                   "OpenBLAS multiplies matrices wrongly on %d threads at once (error %.1e of what rounding explains)",
                   (int)TEAM, all);
}
