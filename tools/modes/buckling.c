/* Linear buckling: the factors on a load case at which the body loses its stiffness. */
#include "basis/buckling.h"

#include "assembly/elastic.h"
#include "model/load_stiffness.h"
#include "tools/common/equilibrium.h"
#include "tools/common/solve.h"
#include "tools/modes/methods.h"

#include <math.h>

/* K with the springs of the load case, and S: minus the stress stiffness of its displacements, and the centrifugal
 * stiffness of its rotations, which grow with the load factor. */
static void make_matrices(modes_problem *p, sp_sparse *S)
{
    const tool_equilibrium *e = p->equilibrium;
    tool_check(sp_fe_space_matrix(p->context, &p->body, S), p->mesh.path);
    sp_elastic_stress_stiffness(p->context, &p->body, e->u, -1, S);
    for (int64_t k = 0; k < e->load_count; k++) {
        const sp_load *load = &e->loads[k];
        const double share = sp_load_static_share(load, e->time, e->step);
        if (load->kind == SP_LOAD_SPRING)
            sp_load_add_stiffness(p->context, &p->body, load, share, &p->K);
        else
            sp_load_add_stiffness(p->context, &p->body, load, -share, S);
    }
}

/* Scales each shape so that the vertex that moves farthest moves by 1 m. */
static void scale_shapes(const modes_problem *p, int64_t count, double *vector)
{
    for (int64_t c = 0; c < count; c++) {
        double *shape = vector + c * p->order, farthest = 0;
        for (int64_t i = 0, next; i < p->order; i = next) {
            double square = 0;
            for (next = i; next < p->order && p->node[next] == p->node[i]; next++)
                square += shape[next] * shape[next];
            farthest = fmax(farthest, square);
        }
        if (farthest > 0)
            for (int64_t i = 0; i < p->order; i++)
                shape[i] /= sqrt(farthest);
    }
}

/* Fails if a shape is not converged or a shape is missing. Returns the largest residual. */
static double judge(const modes_problem *p, const modes_lanczos_choice *choice, const sp_buckling_report *report,
                    const double *residual)
{
    double worst = 0;

    if (report->found < choice->count)
        tool_warn(NULL, "%lld of %lld load factors were found: no other factor is positive", (long long)report->found,
                  (long long)choice->count);
    if (report->found > choice->count)
        tool_warn(NULL,
                  "%lld shapes are written for --count %lld: shape %lld shares its factor with the shapes after it",
                  (long long)report->found, (long long)choice->count, (long long)choice->count);

    for (int64_t i = 0; i < report->found; i++)
        worst = fmax(worst, residual[i]);
    if (!(worst < 1e-3)) {
        tool_hint_shape(&p->body, choice->tolerance > 0 ? "--tolerance may be too large for this body" : NULL);
        tool_fail(SP_NUMERICAL, p->mesh.path, "the residual of a buckling shape is %.1e", worst);
    }

    if (worst > 1e-6)
        tool_warn(p->mesh.path, "the residual of a buckling shape is %.1e", worst);

    /* The inertia of K − λS counts the factors below the last one: none of them may be missing. */
    if (report->certified >= 0 && report->certified != report->below)
        tool_fail(SP_NUMERICAL, p->mesh.path, "%lld factors lie below the last one, %lld were found",
                  (long long)report->certified, (long long)report->below);
    return worst;
}

static json_t *report_result(const sp_buckling_report *report, double worst)
{
    json_t *result = tool_result_new();
    tool_facts(result, sp_kind_snapshots.result, {"shapes", .integer = report->found},
               {"largest_residual", .real = worst}, {"solves", .integer = report->solves},
               {"missed_at_first", .integer = report->missed},
               {"next_factor", .real = report->next, .none = !isfinite(report->next)},
               {"certified_below_last", .integer = report->certified, .none = !(report->certified >= 0)},
               {"factor_nonzeros", .real = report->factor_nonzeros}, {"factor_flops", .real = report->factor_flops});
    return result;
}

void modes_buckling(modes_problem *p, const modes_lanczos_choice *choice)
{
    enum { ROOM = 4 }; /* shapes of symmetric columns come in pairs */
    const int64_t n = p->order, most = choice->count + ROOM;
    double *vector = tool_allocate_raw(&p->pool, n * most, sizeof *vector),
           *factor = tool_allocate_raw(&p->pool, most, sizeof *factor),
           *residual = tool_allocate_raw(&p->pool, most, sizeof *residual);

    const sp_buckling_parameters parameters = {
        .count = choice->count, .tolerance = choice->tolerance, .space_left = ROOM, .certify = choice->certify};
    sp_buckling_report report;
    sp_sparse S = {0};

    make_matrices(p, &S);
    tool_check_solve(sp_buckling(p->context, &p->K, &S, p->node, &parameters, factor, vector, residual, &report),
                     p->mesh.path, &p->body, NULL);
    const double worst = judge(p, choice, &report, residual);

    scale_shapes(p, report.found, vector);
    if (!tool_quiet())
        for (int64_t i = 0; i < report.found && i < 20; i++)
            tool_say("shape %2lld  load factor %.9g", (long long)i + 1, factor[i]);

    p->factor = factor;
    modes_write_snapshots(p, report.found, vector, report_result(&report, worst));
    sp_sparse_free(&S);
}
