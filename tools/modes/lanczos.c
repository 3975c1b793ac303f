#include "basis/modes.h"
#include "tools/common/solve.h"
#include "tools/modes/methods.h"

#include <math.h>
#include <string.h>

/* Refuses modes that are none or not all; returns the largest residual. */
static double judge(const modes_problem *p, const modes_lanczos_choice *choice, const sp_modes_report *report,
                    const double *residual)
{
    int64_t k = choice->count;
    double worst = 0;
    if (report->more)
        tool_warn(NULL,
                  "%lld modes are written for --count %lld: mode %lld shares its eigenvalue with the modes after it",
                  (long long)(k + report->more), (long long)k, (long long)k);
    k += report->more;
    for (int64_t i = 0; i < k; i++)
        worst = fmax(worst, residual[i]);
    if (!(worst < 1e-3)) {
        if (p->body.mesh)
            tool_hint_shape(&p->body, choice->tolerance > 0 ? "--tolerance may be too large for this body" : NULL);
        tool_fail(SP_NUMERICAL, p->mesh.path,
                  "the residual of a mode is %.1e: K and M do not make a usable eigenproblem", worst);
    }
    if (worst > 1e-6)
        tool_warn(p->mesh.path, "the residual of a mode is %.1e", worst);
    if (report->certified >= 0 && report->certified != report->below)
        tool_fail(SP_NUMERICAL, p->mesh.path, "%lld eigenvalues lie below the last mode, %lld were found",
                  (long long)report->certified, (long long)report->below);
    if (p->derivatives && report->rigid >= k)
        tool_fail(SP_INPUT, p->mesh.path, "--derivatives: its %lld modes are rigid motions", (long long)k);
    return worst;
}

static json_t *report_result(const sp_modes_report *report, int64_t k, double worst)
{
    json_t *result = tool_result_new();
    json_object_set_new(result, "modes", json_integer(k));
    json_object_set_new(result, "largest_residual", tool_real("largest_residual", worst));
    json_object_set_new(result, "orthogonality", tool_real("orthogonality", report->orthogonality));
    json_object_set_new(result, "rigid", json_integer(report->rigid));
    json_object_set_new(result, "shift", tool_real("shift", report->shift));
    json_object_set_new(result, "solves", json_integer(report->solves));
    json_object_set_new(result, "missed_at_first", json_integer(report->missed));
    json_object_set_new(result, "next_eigenvalue_below",
                        isfinite(report->next) ? tool_real("next_eigenvalue_below", report->next) : json_null());
    json_object_set_new(result, "certified_below_last",
                        report->certified >= 0 ? json_integer(report->certified) : json_null());
    json_object_set_new(result, "factor_nonzeros", tool_real("factor_nonzeros", report->factor_nonzeros));
    json_object_set_new(result, "factor_flops", tool_real("factor_flops", report->factor_flops));
    return result;
}

json_t *modes_report(const modes_problem *p, const modes_lanczos_choice *choice, const sp_modes_report *report,
                     const double *eigenvalue, const double *residual)
{
    const double worst = judge(p, choice, report, residual);
    const int64_t k = choice->count + report->more;
    for (int64_t i = 0; i < k && !tool_quiet() && i < 20; i++)
        tool_say("mode %2lld  %12.6f Hz%s", (long long)i + 1, sqrt(eigenvalue[i]) / 6.283185307179586,
                 i < report->rigid ? "  rigid" : "");
    return report_result(report, k, worst);
}

void modes_lanczos(modes_problem *p, const modes_lanczos_choice *choice)
{
    enum { ROOM = 4 }; /* a cube has eigenvalues of multiplicity 3 */
    int64_t n = p->order, k = choice->count, most = k + ROOM;
    double *vector = tool_allocate_raw(&p->pool, n * most, sizeof *vector);
    double *eigenvalue = tool_allocate_raw(&p->pool, most, sizeof *eigenvalue),
           *residual = tool_allocate_raw(&p->pool, most, sizeof *residual);
    sp_modes_parameters parameters = {.count = k,
                                      .keep = true,
                                      .space_left = ROOM,
                                      .tolerance = choice->tolerance,
                                      .arpack = choice->solver == SOLVER_ARPACK,
                                      .certify = choice->certify};
    sp_modes_report report;
    const int status = sp_modes(p->context, &p->K, &p->M, p->node, p->rigid_count, p->rigid, &parameters, eigenvalue,
                                vector, residual, &report);
    if (status == SP_NUMERICAL)
        modes_check_stable(p);
    tool_check_solve(status, p->mesh.path, &p->body,
                     "part of the body may be neither fixed nor one free body (simcut --keep separates pieces)");
    json_t *result = modes_report(p, choice, &report, eigenvalue, residual);
    k += report.more;
    if (p->map) {
        sp_flexibility *flexibility = NULL;
        if (report.factor) /* with the interfaces at rest the body has no rigid motion: the shift is 0 */
            tool_check(sp_flexibility_over(p->context, n, report.factor, &flexibility), p->mesh.path);
        modes_constraint(p, flexibility);
        sp_flexibility_free(flexibility);
        modes_write_snapshots(p, k, vector, result);
        sp_cholesky_free(report.factor);
        return;
    }
    modes_spread spread;
    sp_columns columns = modes_columns(p, k, vector, &spread);
    columns.eigenvalue = eigenvalue;
    columns.residual = residual;
    columns.lumped = p->lumped;
    columns.rigid = report.rigid;
    if (p->equilibrium)
        memcpy(columns.about, p->equilibrium->hash, sizeof columns.about);
    if (report.factor && p->own) { /* of another matrix it would be another one than that of the mesh's own */
        columns.ordering = tool_allocate_raw(&p->pool, n, sizeof *columns.ordering);
        columns.ordering_count =
            sp_fe_space_ordering(&p->body, sp_cholesky_permutation(report.factor), columns.ordering);
    }
    json_t *meta = tool_meta_new("modes");
    tool_check(sp_columns_write(p->context, tool_output_writer(p->output), meta, &columns), tool_output_path());
    json_incref(result);
    tool_output_finish(p->output, result);
    if (p->derivatives)
        modes_derivatives(p, meta, json_string_value(json_object_get(result, "sha256")), &columns, vector, &report);
    sp_cholesky_free(report.factor);
    json_decref(result);
    json_decref(meta);
}
