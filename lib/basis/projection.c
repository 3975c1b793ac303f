#include "basis/projection.h"

#include "linear/store.h"

#include <cblas.h>
#include <math.h>

/* Multiplies a column by a power of two, which is exact, so that its largest entry is about 1 and its squares neither
 * overflow nor underflow. The original column is 2^result · x. */
static int scale_column(int64_t rows, double *x)
{
    int exponent = 0;
    double largest = 0;

    for (int64_t i = 0; i < rows; i++)
        largest = fmax(largest, fabs(x[i]));

    frexp(largest, &exponent);
    exponent = exponent < -1000 ? -1000 : exponent; /* 2^1000 is finite, 2^1074 is not */

    if (exponent != 0)
        cblas_dscal((int)rows, ldexp(1, -exponent), x, 1);
    return exponent;
}

int sp_projection_prepare(sp_context *context, const sp_metric *metric, int64_t count, double *B, int64_t *rank)
{
    sp_pool scratch = {0};
    double *R = sp_pool_raw(&scratch, count * count, sizeof *R);
    int status = R ? sp_dense_fits(context, metric->rows, count) : sp_fail_memory(context);

    for (int64_t c = 0; status == SP_OK && c < count; c++)
        scale_column(metric->rows, B + c * metric->rows);

    if (status == SP_OK)
        status = sp_metric_orthonormalize(context, metric, count, B, 1e-12, R, rank);

    for (int64_t i = 0; status == SP_OK && i < count * count; i++)
        if (!isfinite(R[i]))
            status = sp_fail(context, SP_INPUT, "column %lld is not finite or too large", (long long)(i / count) + 1);
    sp_pool_free(&scratch);
    return status;
}

int sp_projection_measure(sp_context *context, const sp_metric *metric, int64_t count, const double *Q, int64_t fields,
                          double *X, double *missed)
{
    int64_t rows = metric->rows;
    sp_pool scratch = {0};
    int status = sp_dense_fits(context, rows, count > fields ? count : fields);
    if (status != SP_OK)
        return status;

    double *product = sp_pool_raw(&scratch, rows * fields, sizeof *product),
           *inner = sp_pool_raw(&scratch, sp_dense_inner_work(count, fields), sizeof *inner);
    double *work = sp_pool_raw(&scratch, metric->diagonal ? 1 : 2 * metric->matrix->order * fields, sizeof *work);
    double *h = sp_pool_raw(&scratch, count * fields, sizeof *h),
           *coefficient = sp_pool_new(&scratch, count * fields, sizeof *coefficient);
    int *exponent = sp_pool_raw(&scratch, fields, sizeof *exponent);

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    for (int64_t f = 0; f < fields; f++)
        exponent[f] = scale_column(rows, X + f * rows);

    /* The second pass removes the components along Q that rounding of the first has left. */
    for (int pass = 0; pass < 2; pass++) {
        sp_metric_times(context, metric, fields, X, product, work);
        sp_dense_inner(context, rows, count, Q, fields, product, h, inner);
        sp_dense_add(context, rows, count, Q, fields, h, -1, X);
        for (int64_t i = 0; i < count * fields; i++)
            coefficient[i] += h[i];
    }

    sp_metric_times(context, metric, fields, X, product, work);
    for (int64_t f = 0; f < fields && status == SP_OK; f++) {
        double square = fmax(0, sp_dense_dot(rows, X + f * rows, product + f * rows)), *to = missed + f * (count + 1);

        /* Sums of squares from the smallest norm on: ‖x − P_r x‖² = ‖x − P x‖² + Σ c², so that nothing cancels. */
        for (int64_t r = count; r >= 0; r--) {
            to[r] = ldexp(sqrt(square), exponent[f]);
            if (r > 0)
                square += coefficient[f * count + r - 1] * coefficient[f * count + r - 1];
        }

        if (!isfinite(to[0]))
            status = sp_fail(context, SP_INPUT, "the norm of a displacement field is not finite or too large");
    }

    sp_pool_free(&scratch);
    return status;
}
