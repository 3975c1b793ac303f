#include "basis/krylov.h"
#include "tools/common/solve.h"
#include "tools/modes/methods.h"

void modes_krylov(modes_problem *p, const modes_krylov_choice *choice)
{
    sp_flexibility *flexibility;
    sp_sparse_inner inner = {0};
    sp_krylov_report report;
    int64_t start, columns, n = p->order;
    double *force = modes_start_block(p, choice, true, &start);
    int64_t count = choice->order ? choice->order * start : choice->count;

    if (count > n)
        tool_fail(SP_USAGE, NULL, "%lld columns: the mesh has only %lld free degrees of freedom", (long long)count,
                  (long long)n);

    double *U = tool_allocate_raw(&p->pool, n * count, sizeof *U);
    if (choice->orthogonalization == SP_ORTHOGONAL_REDUCED && p->map)
        tool_fail(SP_USAGE, NULL,
                  "--orthogonalize reduced is not for interfaces: its sample points are of the whole body");
    if (choice->orthogonalization == SP_ORTHOGONAL_REDUCED)
        tool_check(sp_sparse_inner_new(p->context, &p->body, choice->samples, &inner), p->mesh.path);

    tool_check_solve(sp_flexibility_new(p->context, &p->K, &p->M, p->node, p->rigid_count, p->rigid,
                                        choice->printed ? SP_COMPLEMENT_PLAIN : SP_COMPLEMENT_MASS, NULL, &flexibility),
                     p->matrix_path, &p->body, NULL);

    sp_krylov_parameters parameters = {.count = count,
                                       .symmetric = !choice->printed,
                                       .orthogonalization = (enum sp_orthogonalization)choice->orthogonalization,
                                       .culling = choice->culling,
                                       .inner = &inner};

    tool_check(sp_inertia_modes(p->context, flexibility, &p->M, start, force, &parameters, U, &columns, &report),
               p->matrix_path);

    if (columns < count)
        tool_warn(p->mesh.path, "%lld of %lld inertia modes: the Krylov space has no more", (long long)columns,
                  (long long)count);
    tool_say("%lld inertia modes up to order %lld, largest cosine %.1e before, orthonormal to %.1e after",
             (long long)columns, (long long)report.order, report.cosine, report.orthogonality);

    const sp_fact *facts = choice->as_modes ? sp_kind_modes.result : sp_kind_snapshots.result;
    json_t *result = tool_result_new();
    tool_facts(result, facts, {"order", .integer = report.order}, {"rigid", .integer = p->rigid_count},
               {"dependent", .integer = report.dependent}, {"solves", .integer = report.solves},
               {"largest_cosine_before", .real = report.cosine}, {"orthogonality", .real = report.orthogonality});

    if (choice->orthogonalization == SP_ORTHOGONAL_REDUCED) {
        tool_facts(result, facts, {"samples", .integer = inner.count}, {"sample_box", .real = inner.box},
                   {"subtractions", .integer = report.subtractions}, {"culled", .integer = report.culled});
    }

    tool_facts(result, facts, {"factor_nonzeros", .real = sp_cholesky_nonzeros(sp_flexibility_factor(flexibility))},
               {"factor_flops", .real = sp_cholesky_flops(sp_flexibility_factor(flexibility))});

    modes_constraint(p, flexibility);
    (choice->as_modes ? modes_write_ritz(p, columns, U, result) : modes_write_snapshots(p, columns, U, result));
    sp_flexibility_free(flexibility);
    sp_sparse_inner_free(&inner);
}
