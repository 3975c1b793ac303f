#include "basis/derivatives.h"

#include "assembly/elastic.h"
#include "linear/dense.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* BLAS and SIMD lanes take columns in groups of two, four or eight and compute those that are left otherwise. */
enum { LANES = 8 };

/* s of processor time of all threads. */
static double spent(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int64_t sp_derivatives_padded(int64_t count)
{
    return (count + LANES - 1) / LANES * LANES;
}

int64_t sp_derivatives_work(const sp_fe_space *space, int64_t count)
{
    return 3 * space->dof_count * sp_derivatives_padded(count);
}

int sp_derivatives_of_loads(sp_context *context, const sp_sparse *K, sp_flexibility *flexibility, int64_t count,
                            double *load, double *solution, double *product, double *residual)
{
    const int64_t n = K->order;
    SP_PASS(sp_flexibility_solve(flexibility, count, load, solution));

    /* The residual is computed independently of the solver; balancing removes reactions of constraints from it. */
    sp_flexibility_balance(flexibility, count, load);
    for (int64_t c = 0; c < count; c += LANES)
        sp_sparse_times(context, K, LANES, solution + c * n, product + c * n);
    sp_flexibility_balance(flexibility, count, product);

    for (int64_t c = 0; c < count; c++) {
        const double *f = load + c * n, *p = product + c * n;
        double size = sqrt(sp_dense_dot(n, f, f)), sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += (p[i] - f[i]) * (p[i] - f[i]);
        if (size > 0)
            *residual = fmax(*residual, isnan(sum) ? INFINITY : sqrt(sum) / size); /* fmax drops NaN */
    }
    return SP_OK;
}

int sp_solve_derivatives(sp_context *context, const sp_fe_space *space, const sp_sparse *K, sp_flexibility *flexibility,
                         int64_t mode_count, const double *U, int64_t count, const int64_t *pair, double *derivative,
                         double *work, sp_derivatives_report *report)
{
    const int64_t rows = 3 * space->mesh->vertex_count, n = space->dof_count, padded = sp_derivatives_padded(count);
    double *load = work, *solution = load + n * padded, *product = solution + n * padded;
    const double begin = spent();

    /* f = −(H:Ψ_j)Ψ_i, and 0 in the columns that fill the last group */
    SP_PASS(sp_elastic_second(context, space, mode_count, U, count, pair, derivative));
    for (int64_t c = 0; c < count; c++) {
        sp_fe_space_gather(space, derivative + c * rows, load + c * n);
        for (int64_t i = 0; i < n; i++)
            load[c * n + i] = -load[c * n + i];
    }
    memset(load + count * n, 0, (size_t)((padded - count) * n) * sizeof *load);
    const double loaded = spent();
    report->load_time += loaded - begin;

    SP_PASS(sp_derivatives_of_loads(context, K, flexibility, padded, load, solution, product, &report->residual));
    report->solve_time += spent() - loaded;

    memset(derivative, 0, (size_t)(rows * count) * sizeof *derivative);
    for (int64_t c = 0; c < count; c++)
        sp_fe_space_scatter(space, solution + c * n, derivative + c * rows);
    return SP_OK;
}

int sp_modal_derivatives(sp_context *context, sp_fe_space *space, int64_t mode_count, const double *U,
                         int64_t pair_count, const int64_t *pair, int64_t memory, const int64_t *permutation,
                         sp_flexibility *known, double *derivative, sp_derivatives_report *report)
{
    int64_t rows = 3 * space->mesh->vertex_count, n = space->dof_count;
    sp_pool scratch = {0};
    sp_sparse K = {0};
    sp_flexibility *flexibility = NULL;
    int status;
    *report = (sp_derivatives_report){0};
    const double begin = spent();

    /* A column has a load, a solution and a product in the memory. */
    int64_t group = memory > 0 ? memory / (3 * n * (int64_t)sizeof(double)) : SP_DERIVATIVES_WIDTH;
    group = group < LANES ? LANES : group > SP_DERIVATIVES_WIDTH ? SP_DERIVATIVES_WIDTH : group / LANES * LANES;
    group = group > pair_count ? pair_count : group;

    SP_TRY(sp_elastic_stiffness(context, space, &K));
    int64_t *node = sp_pool_raw(&scratch, n, sizeof *node);
    double *work = sp_pool_raw(&scratch, sp_derivatives_work(space, group), sizeof *work);

    SP_TRY(sp_allocated(context, !scratch.failed));

    sp_fe_space_nodes(space, node);
    if (!known)
        status = sp_flexibility_new(context, &K, NULL, node, 0, NULL, SP_COMPLEMENT_MASS, permutation, &flexibility);
    if (status == SP_NUMERICAL)
        status = sp_fail(context, SP_NUMERICAL,
                         "the stiffness matrix is not positive definite: modal derivatives need a constrained body");
    SP_TRY(status);

    const sp_cholesky *const factor = sp_flexibility_factor(known ? known : flexibility);
    report->factor_nonzeros = sp_cholesky_nonzeros(factor);
    report->factor_flops = sp_cholesky_flops(factor);
    report->factor_time = spent() - begin;

    for (int64_t first = 0; first < pair_count; first += group) {
        int64_t count = pair_count - first < group ? pair_count - first : group;
        SP_TRY(sp_solve_derivatives(context, space, &K, known ? known : flexibility, mode_count, U, count,
                                    pair + 2 * first, derivative + first * rows, work, report));
        SP_TRY(sp_progress(context, (double)(first + count) / (double)pair_count));
    }
done:
    sp_flexibility_free(flexibility);
    sp_sparse_free(&K);
    sp_pool_free(&scratch);
    return status;
}
