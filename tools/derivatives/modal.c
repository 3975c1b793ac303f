#include "basis/derivatives.h"
#include "basis/free_derivatives.h"
#include "tools/common/solve.h"
#include "tools/derivatives/methods.h"

void derivatives_modal(derivatives_problem *p)
{
    p->count = p->pairs.count / 2;
    p->U = tool_allocate_raw(&p->pool, p->modes.columns.rows * p->count, sizeof *p->U);

    if (p->rigid) {
        sp_free_derivatives_report report;
        tool_check(sp_free_modal_derivatives(p->context, &p->body, p->k, p->modes.columns.U,
                                             p->modes.columns.eigenvalue, p->count, p->pairs.data,
                                             derivatives_permutation(p), p->U, &report),
                   p->modes.path ? p->modes.path : p->mesh.path);
        p->residual = report.residual;
        tool_facts(p->result, sp_kind_derivatives.result, {"iterations", .integer = report.iterations});
    } else {
        sp_derivatives_report report;
        sp_flexibility *over = NULL;
        if (p->factor)
            tool_check(sp_flexibility_over(p->context, p->body.dof_count, p->factor, &over), p->mesh.path);
        tool_check_solve(sp_modal_derivatives(p->context, &p->body, p->k, p->modes.columns.U, p->count, p->pairs.data,
                                              p->memory, derivatives_permutation(p), over ? over : p->restricted, p->U,
                                              &report),
                         p->mesh.path, &p->body, NULL);
        sp_flexibility_free(over);
        p->residual = report.residual;
        p->load_time = report.load_time;
        p->factor_time = report.factor_time;
        p->solve_time = report.solve_time;
        tool_facts(p->result, sp_kind_derivatives.result, {"factor_nonzeros", .real = report.factor_nonzeros},
                   {"factor_flops", .real = report.factor_flops});
    }
}
