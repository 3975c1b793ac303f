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

    json_t *result = tool_result_new();
    json_object_set_new(result, "order", json_integer(report.order));
    json_object_set_new(result, "rigid", json_integer(p->rigid_count));
    json_object_set_new(result, "dependent", json_integer(report.dependent));
    json_object_set_new(result, "solves", json_integer(report.solves));
    json_object_set_new(result, "largest_cosine_before", tool_real("largest_cosine_before", report.cosine));
    json_object_set_new(result, "orthogonality", tool_real("orthogonality", report.orthogonality));

    if (choice->orthogonalization == SP_ORTHOGONAL_REDUCED) {
        json_object_set_new(result, "samples", json_integer(inner.count));
        json_object_set_new(result, "sample_box", tool_real("sample_box", inner.box));
        json_object_set_new(result, "subtractions", json_integer(report.subtractions));
        json_object_set_new(result, "culled", json_integer(report.culled));
    }

    json_object_set_new(result, "factor_nonzeros",
                        tool_real("factor_nonzeros", sp_cholesky_nonzeros(sp_flexibility_factor(flexibility))));
    json_object_set_new(result, "factor_flops",
                        tool_real("factor_flops", sp_cholesky_flops(sp_flexibility_factor(flexibility))));

    modes_constraint(p, flexibility);
    (choice->as_modes ? modes_write_ritz(p, columns, U, result) : modes_write_snapshots(p, columns, U, result));
    sp_flexibility_free(flexibility);
    sp_sparse_inner_free(&inner);
}
