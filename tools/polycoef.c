/* polycoef: the coefficients of reduced forces of linear materials. */
#include "reduced/polynomial.h"

#include "tools/common/inputs.h"
#include "tools/common/shard.h"
#include "tools/polycoef/certificate.h"

#include <string.h>

static struct {
    int64_t r, memory;
    bool by_group, by_constant, certificate;
    const char *shard, *loads;
} chosen;

static const tool_option options[] = {
    {"rank", 'r', TOOL_INTEGER, &chosen.r, "R", NULL, .low = 1, .high = 2000,
     .help = "use the first R columns of the basis (default: all)"},
    {"by-region", 0, TOOL_FLAG, &chosen.by_group, .only = "!certificate",
     .help = "keep the regions apart, for editing materials later"},
    {"by-constant", 0, TOOL_FLAG, &chosen.by_constant, .only = "!certificate",
     .help = "keep lambda and mu apart (and the regions)"},
    {"certificate", 0, TOOL_FLAG, &chosen.certificate,
     .help = "write a certificate instead of polynomials, from which simulate estimates the error of the basis"},
    {"loads", 0, TOOL_INPUT, &chosen.loads, "CSV", .only = "certificate",
     .help = "the loads for which the certificate is made, in addition to gravity"},
    {"memory", 0, TOOL_SIZE, &chosen.memory, "SIZE", "400M", .silent = true, .help = "bound on the working memory"},
    TOOL_SHARD_OPTION(&chosen.shard, "!certificate"),
};

static const tool_spec spec = {
    .name = "polycoef",
    .arguments = "MESH BASIS",
    .least = 2,
    .most = 2,
    .summary = "Coefficients of the reduced cubic forces of linear materials (StVK and any C).",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  polycoef spoon.npz basis.npz -o poly.npz\n"
                "  polycoef spoon.npz basis.npz --certificate --loads pull.csv -o certificate.npz\n"
                "  polycoef spoon.npz basis.npz --shard 1/4 -o part1.npz\n",
};

static void write_polynomials(sp_context *context, const tool_mesh *mesh, const tool_columns *basis, int64_t r)
{
    sp_fe_space body;
    sp_polynomials polynomials;
    sp_polynomial_report report;
    const tool_shard shard = tool_shard_parse(chosen.shard, SP_POLYNOMIAL_SUMS, 1, "sums");
    tool_output *output = tool_output_open(tool_output_path());
    tool_check(sp_fe_space_new(context, &mesh->mesh, &body), mesh->path);
    sp_polynomial_parameters parameters = {.by_group = chosen.by_group,
                                           .by_constant = chosen.by_constant,
                                           .lumped = basis->columns.lumped,
                                           .memory = chosen.memory,
                                           .first_sum = chosen.shard ? (int)shard.first : 0,
                                           .end_sum = chosen.shard ? (int)shard.end : 0};
    tool_check(sp_polynomials_new(context, &body, r, basis->columns.U, &parameters, &polynomials, &report), mesh->path);

    const sp_kind *kind = chosen.shard ? &sp_kind_polynomial_sums : &sp_kind_polynomials;
    json_t *meta = tool_meta_new(kind->name), *result = tool_result_new();
    tool_facts(meta, kind->meta, {"mesh", .text = mesh->hash}, {"basis", .text = basis->hash});
    tool_check((chosen.shard ? sp_polynomial_sums_write : sp_polynomials_write)(context, tool_output_writer(output),
                                                                                meta, &polynomials),
               tool_output_path());
    tool_facts(result, kind->result, {"rows", .integer = report.rows}, {"flops", .real = report.flops});
    tool_output_finish(output, result);
    json_decref(meta);
    sp_polynomials_free(&polynomials);
    sp_fe_space_free(&body);
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    static const char *const kinds[] = {"basis", "modes", "snapshots", NULL};
    tool_mesh mesh;
    tool_columns basis;

    tool_read_mesh(tool_argument(0), NULL, &mesh);
    tool_read_columns(tool_argument(1), NULL, kinds, &mesh, &basis);
    tool_hold_rows(&mesh.mesh, &basis);

    int64_t r = chosen.r ? chosen.r : basis.columns.count;
    if (r > basis.columns.count)
        tool_fail(SP_USAGE, basis.path, "--rank %lld: the file has %lld columns", (long long)r,
                  (long long)basis.columns.count);

    for (int64_t i = 0; i < mesh.mesh.material_count; i++)
        if (!sp_material_quadratic(&mesh.mesh.materials[i])) {
            tool_hint("cubature makes its model, for simulate --cub; or take simulate --model galerkin");
            tool_fail(SP_INPUT, mesh.path,
                      "region \"%s\" has no polynomials: the law %s is not linear in the Green-Lagrange strain",
                      mesh.mesh.materials[i].name, sp_material_law_text(&mesh.mesh.materials[i]));
        }

    if (chosen.certificate)
        polycoef_certificate(context, &mesh, &basis, r, chosen.loads, chosen.memory);
    else
        write_polynomials(context, &mesh, &basis, r);

    sp_columns_free(&basis.columns);
    sp_mesh_free(&mesh.mesh);
    return tool_end();
}
