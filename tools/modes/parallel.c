#include "tools/common/parallel.h"

#include "linear/dense.h"
#include "tools/modes/methods.h"

#include <string.h>

/* What cannot be said without a factorization. */
static void say_checks(const modes_lanczos_choice *choice, json_t *result)
{
    tool_facts(result, sp_kind_modes.result, {"ranks", .integer = tool_parallel_ranks()});
    if (choice->solver == SOLVER_SLEPC)
        return;
    tool_facts(result, sp_kind_modes.result,
               {"not_checked", .text = "inertia: the number of eigenvalues below the last mode"});
    tool_say("without a factorization the eigenvalues below the last mode are not counted: a search from other random "
             "vectors found no missed mode, which does not exclude one");
}

static void write_modes(modes_problem *p, const modes_lanczos_choice *choice, bool lumped, double *U,
                        double *eigenvalue, double *residual, const sp_modes_report *report)
{
    json_t *meta = tool_meta_new("modes"), *result = modes_report(p, choice, report, eigenvalue, residual);
    sp_columns columns = {.rows = 3 * p->mesh.mesh.vertex_count,
                          .count = choice->count + report->more,
                          .U = U,
                          .eigenvalue = eigenvalue,
                          .residual = residual,
                          .lumped = lumped,
                          .rigid = report->rigid};

    memcpy(columns.mesh, p->mesh.hash, sizeof columns.mesh);
    sp_dense_fix_signs(columns.rows, columns.count, U);
    say_checks(choice, result);

    tool_check(sp_columns_write(p->context, tool_output_writer(p->output), meta, &columns), tool_output_path());
    json_decref(meta);
    tool_output_finish(p->output, result);
}

/* SLEPc's methods work in a space of several times the number of modes. */
static void check_count(const modes_lanczos_choice *choice, const sp_partition *partition)
{
    enum { TIMES = 4, LEAST = 40 };
    if (choice->count > partition->dof_count)
        tool_fail(SP_USAGE, NULL, "--count %lld: the mesh has only %lld free degrees of freedom",
                  (long long)choice->count, (long long)partition->dof_count);
    if (TIMES * choice->count + LEAST > partition->dof_count)
        tool_fail(SP_USAGE, NULL,
                  "--count %lld: for so many of %lld free degrees of freedom there is --solver blocks only",
                  (long long)choice->count, (long long)partition->dof_count);
}

int modes_parallel(modes_problem *p, const modes_lanczos_choice *choice, bool lumped)
{
    enum { ROOM = 4 };
    tool_parallel_body body;
    sp_modes_report report;

    const int64_t most = choice->count + ROOM;
    const sp_modes_parameters parameters = {
        .count = choice->count, .space_left = ROOM, .tolerance = choice->tolerance, .certify = choice->certify};

    if (choice->count == 0)
        tool_fail(SP_USAGE, NULL, "--count: 0 is out of range, 1 to 100000; only with --interface it means none");

    tool_parallel_divide(p->context, &p->mesh, &body);
    check_count(choice, &body.partition);
    if (tool_parallel_rank() == 0)
        p->output = tool_output_open(tool_output_path());
    tool_parallel_open(p->context, &p->mesh, choice->solver == SOLVER_SLEPC, lumped, false, &body);

    double *own = tool_allocate_raw(&p->pool, 3 * body.partition.count * most, sizeof *own),
           *eigenvalue = tool_allocate_raw(&p->pool, most, sizeof *eigenvalue),
           *residual = tool_allocate_raw(&p->pool, most, sizeof *residual);

    tool_parallel_agree(
        tool_parallel()->modes(p->context, body.solver, &parameters, eigenvalue, own, residual, &report), p->mesh.path);
    tool_inputs_are(report.rigid ? "free-body" : "fixed-body");

    double *U = tool_parallel_gather(p->context, &p->mesh, &body, choice->count + report.more, own, &p->pool);
    if (U)
        write_modes(p, choice, lumped, U, eigenvalue, residual, &report);

    tool_parallel_agree(SP_OK, NULL);
    tool_parallel_close(&body);
    sp_pool_free(&p->pool);
    sp_mesh_free(&p->mesh.mesh);
    return tool_end();
}
