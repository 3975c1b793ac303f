/* modalderiv: modal derivatives of anchored and free bodies. */
#include "basis/derivatives.h"
#include "basis/free_derivatives.h"
#include "tools/common/inputs.h"

#include <stdlib.h>
#include <string.h>

static struct {
    int64_t count, memory;
    tool_texts pairs;
} chosen;

static const tool_option options[] = {
    {"modes", 'k', TOOL_INTEGER, &chosen.count, "N", NULL, .low = 1, .high = 100000, .help = "use the first N modes (default: all)"},
    {"pairs", 0, TOOL_TEXTS, &chosen.pairs, "I,J[;I,J]", .help = "only these pairs, modes counted from 1; may stand several times"},
    {"memory", 0, TOOL_SIZE, &chosen.memory, "SIZE", NULL, .help = "bound on the right-hand sides held at a time, such as 500M"},
};

static void add_pair(int64_t i, int64_t j, sp_list *list)
{
    int64_t *pair = sp_list_add(list, 2, sizeof *pair);
    if (!pair)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    pair[0] = i;
    pair[1] = j;
}

/* "1,1;1,2" to zero-based pairs appended to the list. */
static void parse_pairs(const char *text, int64_t rigid, int64_t modes, sp_list *list)
{
    for (const char *at = text; *at;) {
        char *end;
        long long i = strtoll(at, &end, 10), j = *end == ',' ? strtoll(end + 1, &end, 10) : 0;
        if (i < 1 || j < 1 || (*end && *end != ';'))
            tool_fail(SP_USAGE, NULL, "--pairs: \"%s\" is not a list of pairs such as 1,1;1,2", text);
        if (i > modes || j > modes)
            tool_fail(SP_USAGE, NULL, "--pairs: pair %lld,%lld of %lld modes", i, j, (long long)modes);
        if (i <= rigid || j <= rigid)
            tool_fail(SP_USAGE, NULL, "--pairs: pair %lld,%lld names a rigid mode (the first %lld are)", i, j, (long long)rigid);
        add_pair(i - 1, j - 1, list);
        at = *end ? end + 1 : end;
    }
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&(tool_spec){"modalderiv", "MESH MODES", 2, 2, "Modal derivatives: how the modes change as the body deforms along them.", options,
                                                  TOOL_COUNT(options), TOOL_OUTPUT | TOOL_THREADS, "  modalderiv spoon.npz modes.npz -o deriv.npz\n"},
                                     argc, argv);
    static const char *const kinds[] = {"modes", NULL};
    tool_mesh mesh;
    tool_columns modes;
    sp_body body;
    sp_list pairs = {0};
    tool_read_mesh(tool_argument(0), NULL, &mesh);
    tool_read_columns(tool_argument(1), NULL, kinds, &mesh, &modes);
    int64_t k = chosen.count ? chosen.count : modes.columns.count;
    if (k > modes.columns.count)
        tool_fail(SP_USAGE, modes.path, "--modes %lld: the file has %lld", (long long)k, (long long)modes.columns.count);
    int64_t rigid = modes.columns.rigid; /* of a free body: both orders of a pair, since they differ */
    if (rigid >= k)
        tool_fail(SP_INPUT, modes.path, "its %lld modes are rigid motions", (long long)k);
    for (int64_t i = 0; i < chosen.pairs.count; i++)
        parse_pairs(chosen.pairs.value[i], rigid, k, &pairs);
    for (int64_t i = rigid; i < k && chosen.pairs.count == 0; i++)
        for (int64_t j = rigid ? rigid : i; j < k; j++)
            add_pair(i, j, &pairs);
    int64_t count = pairs.count / 2, rows = 3 * mesh.mesh.vertex_count;
    sp_pool pool = {0};
    double *derivative = sp_pool_raw(&pool, rows * count, sizeof *derivative);
    if (!derivative)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    tool_output *output = tool_output_open(tool_output_path());
    tool_check(sp_body_new(context, &mesh.mesh, &body), mesh.path);
    sp_derivatives_report report = {0};
    sp_free_derivatives_report free_report = {0};
    if (rigid) {
        tool_check(sp_free_modal_derivatives(context, &body, k, modes.columns.U, modes.columns.eigenvalue, count, pairs.data, derivative, &free_report), mesh.path);
        report.residual = free_report.residual;
    } else
        tool_check(sp_modal_derivatives(context, &body, k, modes.columns.U, count, pairs.data, chosen.memory, derivative, &report), mesh.path);
    if (report.residual > 1e-8)
        tool_warn(mesh.path, "the residual of a derivative is %.1e", report.residual);
    tool_say("%lld derivatives of %lld modes, largest residual %.1e", (long long)count, (long long)k, report.residual);

    sp_columns columns = {.rows = rows, .count = count, .U = derivative, .pair = pairs.data, .order = 1};
    memcpy(columns.mesh, mesh.hash, sizeof columns.mesh);
    json_t *meta = tool_meta_new("derivatives"), *result = tool_result_new();
    tool_check(sp_columns_write(context, tool_output_writer(output), meta, &columns), tool_output_path());
    json_object_set_new(result, "largest_residual", json_real(report.residual));
    if (rigid)
        json_object_set_new(result, "iterations", json_integer(free_report.iterations));
    else {
        json_object_set_new(result, "factor_nonzeros", json_real(report.factor_nonzeros));
        json_object_set_new(result, "factor_flops", json_real(report.factor_flops));
    }
    tool_output_finish(output, result);
    json_decref(meta);
    sp_pool_free(&pool);
    sp_list_free(&pairs);
    sp_body_free(&body);
    sp_columns_free(&modes.columns);
    sp_mesh_free(&mesh.mesh);
    return tool_end();
}
