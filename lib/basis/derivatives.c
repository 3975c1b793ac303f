#include "basis/derivatives.h"

#include "assembly/stvk.h"
#include "linear/dense.h"

#include <math.h>
#include <string.h>

/* Right-hand sides of one group of columns into `derivative` (full rows), then their solutions. */
static int solve_group(sp_context *context, const sp_body *body, const sp_sparse *K, sp_cholesky *factor, int64_t mode_count, const double *U, int64_t count,
                       const int64_t *pair, double *derivative, double *right, double *solution, double *product, double *residual)
{
    int64_t rows = 3 * body->mesh->vertex_count, n = body->dof_count;
    int status = sp_stvk_second(context, body, mode_count, U, count, pair, derivative);
    if (status != SP_OK)
        return status;
    for (int64_t c = 0; c < count; c++) {
        sp_body_gather(body, derivative + c * rows, right + c * n);
        for (int64_t i = 0; i < n; i++)
            right[c * n + i] = -right[c * n + i];
    }
    status = sp_cholesky_solve(factor, count, right, solution);
    if (status != SP_OK)
        return status;
    /* the residual, outside the solver */
    sp_sparse_times(context, K, count, solution, product);
    memset(derivative, 0, (size_t)(rows * count) * sizeof *derivative);
    for (int64_t c = 0; c < count; c++) {
        const double *r = right + c * n, *p = product + c * n;
        double norm = sqrt(sp_dense_dot(n, r, r)), sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += (p[i] - r[i]) * (p[i] - r[i]);
        if (norm > 0)
            *residual = sqrt(sum) / norm <= *residual ? *residual : sqrt(sum) / norm; /* keeps NaN */
        sp_body_spread(body, solution + c * n, derivative + c * rows);
    }
    return SP_OK;
}

int sp_modal_derivatives(sp_context *context, sp_body *body, int64_t mode_count, const double *U, int64_t pair_count, const int64_t *pair, int64_t memory,
                         double *derivative, sp_derivatives_report *report)
{
    int64_t rows = 3 * body->mesh->vertex_count, n = body->dof_count;
    sp_pool scratch = {0};
    sp_sparse K = {0};
    sp_cholesky *factor = NULL;
    int64_t *node = NULL;
    int status;
    *report = (sp_derivatives_report){0};
    SP_TRY(sp_body_pattern(context, body));
    SP_TRY(sp_body_matrix(context, body, &K));
    node = sp_pool_raw(&scratch, n, sizeof *node);
    double *rest = sp_pool_new(&scratch, rows, sizeof *rest);
    int64_t group = memory > 0 ? memory / (3 * n * (int64_t)sizeof(double)) : 64;
    group = group < 1 ? 1 : group > 64 ? 64 : group;
    group = group > pair_count ? pair_count : group;
    double *right = sp_pool_raw(&scratch, n * group, sizeof *right), *solution = sp_pool_raw(&scratch, n * group, sizeof *solution), *product = sp_pool_raw(&scratch, n * group, sizeof *product);
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t i = 0; i < n; i++)
        node[i] = body->free[i] / 3;
    sp_stvk_tangent(context, body, rest, 1, false, NULL, &K);
    SP_TRY(sp_cholesky_new(context, &K, node, &factor));
    status = sp_cholesky_factor(factor, &K);
    if (status == SP_NUMERICAL)
        status = sp_fail(context, SP_NUMERICAL, "the stiffness matrix is not positive definite: modal derivatives need an anchored body");
    SP_TRY(status);
    report->factor_nonzeros = sp_cholesky_nonzeros(factor);
    report->factor_flops = sp_cholesky_flops(factor);
    for (int64_t first = 0; first < pair_count; first += group) {
        int64_t count = pair_count - first < group ? pair_count - first : group;
        SP_TRY(solve_group(context, body, &K, factor, mode_count, U, count, pair + 2 * first, derivative + first * rows, right, solution, product, &report->residual));
        SP_TRY(sp_progress(context, (double)(first + count) / (double)pair_count));
    }
done:
    sp_cholesky_free(factor);
    sp_sparse_free(&K);
    sp_pool_free(&scratch);
    return status;
}
