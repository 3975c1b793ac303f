#include "basis/system.h"

#include "basis/derivatives.h"

#include <string.h>

int sp_system_derivatives(sp_context *context, const sp_sparse *K, const sp_tensor *H, const double *modes,
                          int64_t pair_count, const int64_t *pair, double *derivative, double *residual)
{
    enum { WIDTH = SP_DERIVATIVES_WIDTH };
    const int64_t n = K->order;
    sp_pool scratch = {0};
    sp_flexibility *flexibility = NULL;
    int status;
    *residual = 0;

    double *load = sp_pool_new(&scratch, WIDTH * n, sizeof *load),
           *solution = sp_pool_raw(&scratch, WIDTH * n, sizeof *solution),
           *product = sp_pool_raw(&scratch, WIDTH * n, sizeof *product);
    SP_TRY(sp_allocated(context, !scratch.failed));
    status = sp_flexibility_new(context, K, NULL, NULL, 0, NULL, SP_COMPLEMENT_PLAIN, NULL, &flexibility);
    if (status == SP_NUMERICAL)
        status = sp_fail(context, SP_NUMERICAL, "K is not positive definite");
    SP_TRY(status);

    for (int64_t first = 0; first < pair_count; first += WIDTH) {
        const int64_t left = pair_count - first, count = left < WIDTH ? left : WIDTH,
                      solved = sp_derivatives_padded(count); /* the others are 0 */
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
        for (int64_t c = 0; c < solved; c++) {
            const int64_t *of = pair + 2 * (first + c);
            if (c < count)
                sp_tensor_times(H, modes + of[0] * n, modes + of[1] * n, load + c * n);
            for (int64_t i = 0; i < n; i++)
                load[c * n + i] = c < count ? -load[c * n + i] : 0;
        }

        SP_TRY(sp_derivatives_of_loads(context, K, flexibility, solved, load, solution, product, residual));
        memcpy(derivative + first * n, solution, (size_t)(count * n) * sizeof *derivative);
        SP_TRY(sp_progress(context, (double)(first + count) / (double)pair_count));
    }
done:
    sp_flexibility_free(flexibility);
    sp_pool_free(&scratch);
    return status;
}
