#include "tools/polycoef/certificate.h"

#include "formats/certificate.h"
#include "formats/loads.h"
#include "model/load_fields.h"
#include "tools/common/scratch.h"
#include "tools/common/solve.h"

#include <math.h>

/* For the announcement, measured with one thread of an EPYC of 2024: operations of the orthonormalization in a second,
 * and seconds for the force and the solution of a column, divided by n^(4/3). */
static const double RATE = 2e10, SOLUTION = 1.3e-8;

static void read_loads(sp_context *context, const tool_mesh *mesh, const sp_fe_space *space, const char *path,
                       sp_pool *pool, sp_force_fields *fields)
{
    int64_t length = 0, count = 0;
    sp_load *loads = NULL;
    if (path) {
        const char *text = tool_read_bytes(path, "loads", pool, &length);
        tool_check(sp_loads_parse(context, text, length, &mesh->mesh, pool, &count, &loads), path);
    }
    tool_check(sp_load_fields_new(context, space, count, loads, pool, fields), path);
}

static void announce(const sp_context *context, const sp_fe_space *space, int64_t r, int64_t loads, int64_t memory)
{
    const double columns = (double)sp_certificate_columns(r, loads);
    double bytes, flops;
    sp_certificate_size(space, r, loads, &bytes, &flops);
    const double seconds = flops / RATE + SOLUTION * columns * pow((double)space->dof_count, 4.0 / 3);
    tool_say("%lld columns of %lld values: %.0f MB%s, and about %.0f s", (long long)sp_certificate_columns(r, loads),
             (long long)space->dof_count, ceil(bytes / 1e6), bytes > (double)memory ? ", partly in a scratch file" : "",
             ceil(seconds / context->threads));
}

static void write(sp_context *context, const tool_mesh *mesh, const tool_columns *basis,
                  const sp_certificate *certificate, const sp_certificate_report *report, tool_output *output)
{
    json_t *meta = tool_meta_new("certificate"), *result = tool_result_new();
    tool_facts(meta, sp_kind_certificate.meta, {"mesh", .text = mesh->hash}, {"basis", .text = basis->hash});
    tool_check(sp_certificate_write(context, tool_output_writer(output), meta, mesh->mesh.vertex_count, certificate),
               tool_output_path());
    tool_facts(result, sp_kind_certificate.result,
               {"columns", .integer = sp_certificate_columns(certificate->r, certificate->loads.count)},
               {"rank", .integer = report->rank}, {"orthogonality", .real = report->orthogonality},
               {"residual", .real = report->residual});
    tool_output_finish(output, result);
    json_decref(meta);
}

void polycoef_certificate(sp_context *context, const tool_mesh *mesh, const tool_columns *basis, int64_t r,
                          const char *loads, int64_t memory)
{
    sp_pool pool = {0};
    sp_fe_space space;
    sp_force_fields fields;
    sp_certificate certificate;
    sp_certificate_report report;
    tool_scratch scratch;
    tool_check(sp_fe_space_new(context, &mesh->mesh, &space), mesh->path);
    read_loads(context, mesh, &space, loads, &pool, &fields);
    tool_output *output = tool_output_open(tool_output_path());
    announce(context, &space, r, fields.count, memory);
    const sp_store_outside outside = tool_scratch_new(tool_output_path(), space.dof_count, &scratch);
    const sp_certificate_parameters parameters = {
        .lumped = basis->columns.lumped, .memory = memory, .outside = &outside};
    tool_check_solve(
        sp_certificate_new(context, &space, r, basis->columns.U, &fields, &parameters, &certificate, &report),
        mesh->path, &space, NULL);
    write(context, mesh, basis, &certificate, &report, output);
    sp_certificate_free(&certificate);
    tool_scratch_close(&scratch);
    sp_fe_space_free(&space);
    sp_pool_free(&pool);
}
