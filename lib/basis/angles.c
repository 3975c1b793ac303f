#include "basis/angles.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Orthonormalizes the columns and removes the zero columns that dependent ones leave. */
static int orthonormal(sp_context *context, const sp_metric *metric, int64_t count, double *A, int64_t *rank)
{
    sp_pool scratch = {0};
    double *R = sp_pool_raw(&scratch, count * count, sizeof *R);
    int status = R ? sp_metric_orthonormalize(context, metric, count, A, 1e-12, R, rank) : sp_fail_memory(context);

    for (int64_t c = 0, kept = 0; status == SP_OK && c < count; c++)
        if (R[c * count + c] != 0)
            memmove(A + metric->rows * kept++, A + metric->rows * c, (size_t)metric->rows * sizeof *A);

    sp_pool_free(&scratch);
    return status;
}

int sp_principal_angles(sp_context *context, const sp_metric *metric, int64_t a, double *A, int64_t b, double *B,
                        double *angle, int64_t *count)
{
    int64_t rows = metric->rows, independent;
    sp_pool scratch = {0};
    int status;

    SP_TRY(orthonormal(context, metric, a, A, &a));
    SP_TRY(orthonormal(context, metric, b, B, &b));
    if (a == 0 || b == 0) {
        status = sp_fail(context, SP_INPUT, "one of the subspaces is empty: all its columns are zero");
        goto done;
    }

    /* Exchanged if necessary, so that B has fewer columns. */
    if (a < b) {
        double *columns = A;
        int64_t number = a;
        A = B, a = b;
        B = columns, b = number;
    }
    *count = b;

    double *product = sp_pool_raw(&scratch, rows * b, sizeof *product),
           *cosines = sp_pool_raw(&scratch, a * b, sizeof *cosines),
           *outside = sp_pool_raw(&scratch, rows * b, sizeof *outside);
    double *work = sp_pool_raw(&scratch, metric->diagonal ? 1 : 2 * metric->matrix->order * b, sizeof *work),
           *inner = sp_pool_raw(&scratch, sp_dense_inner_work(a, b), sizeof *inner);
    double *R = sp_pool_raw(&scratch, b * b, sizeof *R), *c = sp_pool_raw(&scratch, b, sizeof *c),
           *s = sp_pool_raw(&scratch, b, sizeof *s), *superb = sp_pool_raw(&scratch, b, sizeof *superb);

    SP_TRY(sp_allocated(context, !scratch.failed));

    /* The parts of B inside and outside of span A: C = AᵀMB has the cosines, B − A C the sines as its singular
     * values. */
    sp_metric_times(context, metric, b, B, product, work);
    sp_dense_inner(context, rows, a, A, b, product, cosines, inner);
    memcpy(outside, B, (size_t)(rows * b) * sizeof *outside);
    sp_dense_add(context, rows, a, A, b, cosines, -1, outside);
    /* Threshold 0: even a remainder that is only rounding is kept, since its size is the result. */
    SP_TRY(sp_metric_orthonormalize(context, metric, b, outside, 0, R, &independent));

    double unused;
    if (LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'N', (int)a, (int)b, cosines, (int)a, c, &unused, 1, &unused, 1,
                       superb) != 0 ||
        LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'N', (int)b, (int)b, R, (int)b, s, &unused, 1, &unused, 1, superb) != 0) {
        status = sp_fail(context, SP_NUMERICAL, "the singular value decomposition did not converge");
        goto done;
    }

    /* Cosines and sines both descend: the i-th smallest angle has cosine i and sine b − 1 − i. The sine is the accurate
     * one below 45°, the cosine above. */
    for (int64_t i = 0; i < b; i++) {
        double cosine = fmin(1, c[i]), sine = fmin(1, s[b - 1 - i]);
        angle[i] = cosine * cosine > 0.5 ? asin(sine) : acos(cosine);
    }
done:
    sp_pool_free(&scratch);
    return status;
}
