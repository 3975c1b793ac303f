#include "tools/distfield/deformed.h"

#include "contact/deformed.h"
#include "formats/field.h"
#include "formats/pointshell.h"
#include "tools/common/anchors.h"

#include <stddef.h>
#include <string.h>

const tool_option distfield_pose_options[DISTFIELD_POSE_COUNT] = {
    {"basis", 0, TOOL_INPUT, .at = offsetof(distfield_pose, basis), .argument = "FILE", .only = "coordinates",
     .help = "the surface is moved by these columns"},
    {"coordinates", 0, TOOL_TEXT, .at = offsetof(distfield_pose, coordinates), .argument = "Q1,Q2,...", .only = "basis",
     .help = "coordinates of the first columns"},
    {"field", 0, TOOL_INPUTS, .at = offsetof(distfield_pose, fields), .argument = "FILE", .only = "basis",
     .help = "do not measure the moved surface, but approximate from this field at rest by --proxies; several "
             "domains: several times"},
    {"proxies", 0, TOOL_INPUTS, .at = offsetof(distfield_pose, proxies), .argument = "FILE", .only = "field",
     .help = "shell whose points are the proxies of the --field of the same place"},
    {"nearest", 0, TOOL_INTEGER, .at = offsetof(distfield_pose, nearest), .argument = "K", .standard = "5", .low = 1,
     .high = 16, .only = "proxies", .help = "proxies that are asked at each vertex"},
};

void distfield_check_pose(const distfield_pose *pose)
{
    if (pose->fields.count != pose->proxies.count)
        tool_fail(SP_USAGE, NULL, "each --field goes with its --proxies: there are %lld and %lld",
                  (long long)pose->fields.count, (long long)pose->proxies.count);
}

/* q [columns], 0 behind those that are given. */
static double *parse_coordinates(const distfield_pose *pose, int64_t columns, sp_pool *pool)
{
    const char *at = pose->coordinates;
    double *q = tool_allocate(pool, columns, sizeof *q);
    for (int64_t j = 0; *at; j++) {
        if (j == columns)
            tool_fail(SP_USAGE, pose->basis, "--coordinates has more numbers than the basis has columns, %lld",
                      (long long)columns);
        if (!tool_parse_numbers(&at, 1, &q[j]) || !(q[j] - q[j] == 0))
            tool_fail(SP_USAGE, NULL, "--coordinates: number %lld of \"%s\" is none", (long long)j + 1,
                      pose->coordinates);
    }
    return q;
}

/* Read once: an input is recorded as often as it is read. */
static const sp_columns *basis_of(const distfield_pose *pose, const tool_mesh *mesh)
{
    static tool_columns basis;
    if (!basis.columns.U) {
        tool_read_columns(pose->basis, "basis", NULL, mesh, &basis);
        tool_hold_rows(&mesh->mesh, &basis);
    }
    return &basis.columns;
}

double *distfield_displacement(const distfield_pose *pose, const tool_mesh *mesh, sp_pool *pool)
{
    if (!pose->basis)
        return NULL;
    const sp_columns *basis = basis_of(pose, mesh);
    const int64_t rows = basis->rows;
    const double *q = parse_coordinates(pose, basis->count, pool);
    double *u = tool_allocate(pool, rows, sizeof *u);
    for (int64_t j = 0; j < basis->count; j++)
        for (int64_t i = 0; i < rows; i++)
            u[i] += q[j] * basis->U[j * rows + i];
    return u;
}

/* A field or shell of the mesh. */
static void read_part(sp_context *context, const char *path, const char *option, const char *kind,
                      const tool_mesh *mesh, sp_file *file)
{
    const char *const kinds[] = {kind, NULL};
    char recorded[SP_HASH_LENGTH];
    tool_read(path, option, kinds, false, file);
    tool_check(sp_json_hash(context, file->meta, "mesh", recorded), path);
    tool_check_hash(path, "mesh", recorded, mesh->hash);
}

void distfield_approximate(sp_context *context, const distfield_pose *pose, const tool_mesh *mesh, sp_field *field)
{
    enum { MOST = sizeof pose->fields.value / sizeof *pose->fields.value };
    const int64_t domains = pose->fields.count;
    sp_field rest[MOST];
    sp_pointshell shells[MOST];
    sp_deformed_domain domain[MOST];
    sp_deformed_field *deformed;
    sp_pool pool = {0};
    for (int64_t d = 0; d < domains; d++) {
        sp_file file;
        read_part(context, pose->fields.value[d], "field", "field", mesh, &file);
        tool_check(sp_field_read(context, &file, &rest[d]), pose->fields.value[d]);
        sp_file_free(&file);
        read_part(context, pose->proxies.value[d], "proxies", "pointshell", mesh, &file);
        tool_check(sp_pointshell_read(context, &file, &shells[d]), pose->proxies.value[d]);
        sp_file_free(&file);
        domain[d] = (sp_deformed_domain){.field = &rest[d], .count = shells[d].count, .points = shells[d].points};
    }
    const sp_columns *basis = basis_of(pose, mesh);
    tool_check(sp_deformed_field_new(context, &mesh->mesh, basis->count, basis->U, domains, domain, (int)pose->nearest,
                                     &deformed),
               mesh->path);
    sp_deformed_field_update(deformed, parse_coordinates(pose, basis->count, &pool));
    const int64_t layers = field->cells[2] + 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(context->threads)
    for (int64_t z = 0; z < layers; z++)
        for (int64_t y = 0; y <= field->cells[1]; y++)
            for (int64_t x = 0; x <= field->cells[0]; x++) {
                double at[3];
                sp_field_position(field, x, y, z, at);
                field->distance[sp_field_index(field, x, y, z)] = (float)sp_deformed_field_at(deformed, at, NULL, NULL);
            }
    sp_deformed_field_free(deformed);
    for (int64_t d = 0; d < domains; d++) {
        sp_field_free(&rest[d]);
        sp_pointshell_free(&shells[d]);
    }
    sp_pool_free(&pool);
}
