#include "basis/modes.h"
#include "tools/common/solve.h"
#include "tools/modes/methods.h"

#include <math.h>
#include <string.h>

/* The largest ratio of two moduli of the mesh's materials, by the largest constants of their stiffness. */
static double modulus_contrast(const sp_mesh *mesh)
{
    double least = INFINITY, most = 0;
    for (int64_t r = 0; r < mesh->material_count; r++) {
        double C[36], largest = 0;
        sp_context quiet = sp_context_default();

        if (sp_material_stiffness(&quiet, &mesh->materials[r], C) != SP_OK)
            largest = mesh->materials[r].young;
        else
            for (int k = 0; k < 36; k++)
                largest = fmax(largest, fabs(C[k]));

        for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
            if (mesh->region[e] == r) {
                least = fmin(least, largest);
                most = fmax(most, largest);
                break;
            }
    }
    return least > 0 && isfinite(least) && most > 0 ? most / least : 1;
}

/* What makes K singular, or nearly so, as far as the mesh shows it. */
static const char *cause_of_softness(const modes_problem *p, char *text, size_t size)
{
    const sp_mesh *mesh = &p->mesh.mesh;
    const double much = 1e6, contrast = modulus_contrast(mesh);
    double aspect;
    const int64_t worst = sp_fe_space_worst(&p->body, &aspect);

    if (mesh->block[SP_HEX20R].count > 0 || mesh->block[SP_WEDGE6].count > 0)
        snprintf(text, size, "%s elements have hourglass modes where they are not enough side by side",
                 sp_element_types[mesh->block[SP_HEX20R].count > 0 ? SP_HEX20R : SP_WEDGE6].name);
    else if (contrast > much)
        snprintf(text, size, "the moduli of its materials differ by a factor of %.0e", contrast);
    else if (aspect > 100)
        snprintf(text, size, "it is thin: element %lld has an aspect ratio of %.2g", (long long)worst, aspect);
    else
        snprintf(text, size, "parts of it may be joined at single vertices or edges, as by a hinge, or it is slender");
    return text;
}

/* The vertex that moves most in a mode. */
static int64_t vertex_of(const modes_problem *p, const double *vector)
{
    int64_t most = 0;
    for (int64_t i = 1; i < p->order; i++)
        most = fabs(vector[i]) > fabs(vector[most]) ? i : most;
    return p->node[most];
}

/* Warns of modes whose stiffness is rounding, or that rounding has changed. Refuses outputs that need K to be
 * regular. */
static void judge_rounding(const modes_problem *p, const sp_modes_report *report, const double *vector)
{
    char cause[160];
    if (!p->body.mesh)
        return;

    cause_of_softness(p, cause, sizeof cause);
    if (report->zero_energy > 0) {
        const double *first = vector + report->rigid * p->order;
        if (p->derivatives || p->map) {
            tool_hint("%s", cause);
            tool_fail(SP_NUMERICAL, p->mesh.path,
                      "the stiffness is singular: zero-energy modes beside the rigid motions: %lld, vertex %lld moves "
                      "most in the first",
                      (long long)report->zero_energy, (long long)vertex_of(p, first));
        }
        tool_warn(
            p->mesh.path,
            "zero-energy modes beside the rigid motions: %lld, 0 Hz to rounding, vertex %lld moves most in the first; "
            "%s",
            (long long)report->zero_energy, (long long)vertex_of(p, first), cause);
    }

    if (report->rounding > 1e-3)
        tool_warn(p->mesh.path, "rounding of K may change an eigenvalue by up to %.1g %%: %s", 100 * report->rounding,
                  cause);
}

/* Refuses modes that are none or not all; returns the largest residual. */
static double judge(const modes_problem *p, const modes_lanczos_choice *choice, const sp_modes_report *report,
                    const double *residual)
{
    const double loose = 1e-8; /* a tolerance above it may leave a residual that is worth a word */
    int64_t k = choice->count;
    double worst = 0;

    if (report->more)
        tool_warn(NULL,
                  "%lld modes are written for --count %lld: mode %lld shares its eigenvalue with the modes after it",
                  (long long)(k + report->more), (long long)k, (long long)k);
    k += report->more;

    for (int64_t i = 0; i < k; i++)
        worst = fmax(worst, residual[i]);
    if (!(report->beyond < 1e-3) || !isfinite(worst)) {
        if (p->body.mesh)
            tool_hint_shape(&p->body, choice->tolerance > loose ? "a smaller --tolerance may help" : NULL);
        tool_fail(SP_NUMERICAL, p->matrix_path,
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

static json_t *report_result(const sp_kind *kind, const sp_modes_report *report, int64_t k, double worst)
{
    json_t *result = tool_result_new();

    tool_facts(result, kind->result, {"modes", .integer = k}, {"largest_residual", .real = worst},
               {"orthogonality", .real = report->orthogonality}, {"rigid", .integer = report->rigid},
               {"zero_energy", .integer = report->zero_energy}, {"rounding", .real = report->rounding},
               {"shift", .real = report->shift}, {"solves", .integer = report->solves},
               {"missed_at_first", .integer = report->missed},
               {"next_eigenvalue_below", .real = report->next, .none = !isfinite(report->next)},
               {"certified_below_last", .integer = report->certified, .none = !(report->certified >= 0)},
               {"factor_nonzeros", .real = report->factor_nonzeros}, {"factor_flops", .real = report->factor_flops});
    return result;
}

/* Modes of one eigenvalue to 1e-6 are kept together; those of a mesh that is nearly symmetric differ by more. */
static void warn_of_cut(const sp_modes_report *report, int64_t k, const double *eigenvalue)
{
    sp_pool pool = {0};
    double *frequency = tool_allocate_raw(&pool, k + 1, sizeof *frequency);
    for (int64_t i = 0; i < k; i++)
        frequency[i] = sqrt(fmax(eigenvalue[i], 0));
    frequency[k] = sqrt(report->next);
    if (frequency[k - 1] > 0 && isfinite(report->next))
        tool_warn_of_cut("-k", "mode", "frequency", k, k + 1, frequency);
    sp_pool_free(&pool);
}

json_t *modes_report(const modes_problem *p, const modes_lanczos_choice *choice, const sp_modes_report *report,
                     const double *eigenvalue, const double *residual)
{
    const double worst = judge(p, choice, report, residual);
    const int64_t k = choice->count + report->more;
    warn_of_cut(report, k, eigenvalue);
    for (int64_t i = 0; i < k && !tool_quiet() && i < 20; i++)
        tool_say("mode %2lld  %12.6f Hz%s", (long long)i + 1, sqrt(fmax(eigenvalue[i], 0)) / 6.283185307179586,
                 i < report->rigid    ? "  rigid"
                 : eigenvalue[i] == 0 ? "  zero energy"
                                      : "");
    return report_result(p->map ? &sp_kind_snapshots : &sp_kind_modes, report, k, worst);
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
    tool_check_solve(status, p->matrix_path, &p->body,
                     "part of the body may be neither fixed nor one free body (simcut --keep separates pieces)");

    judge_rounding(p, &report, vector);
    json_t *result = modes_report(p, choice, &report, eigenvalue, residual);
    k += report.more;

    if (p->map) {
        sp_flexibility *flexibility = NULL;

        /* With the interfaces at rest the body has no rigid motion: the shift is 0. */
        if (report.factor)
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

    /* The ordering of another matrix would not be that of the mesh's own. */
    if (report.factor && p->own) {
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
