/* distfield: signed distance fields of triangle models. */
#include "formats/field.h"
#include "geometry/distance_field.h"
#include "tools/common/inputs.h"
#include "tools/common/model.h"
#include "tools/common/skin.h"
#include "tools/distfield/deformed.h"

#include <string.h>

static struct {
    int64_t cells;
    double scale, offset;
    int grid, sign;
    bool offset_given;
    distfield_pose pose;
} chosen;

static const tool_option options[] = {
    {"cells", 'n', TOOL_INTEGER, &chosen.cells, "N", "256", .low = 1, .high = SP_FIELD_CELLS_MAX,
     .help = "cells along the longest side of the box"},
    {"box-scale", 0, TOOL_REAL, &chosen.scale, "X", "1.5", .low = 1, .high = 1000,
     .help = "factor on the box of the model about its centre"},
    {"grid", 0, TOOL_CHOICE, &chosen.grid, NULL, "cube", "cube|box",
     .help = "cube: all sides equal, as in the thesis; box: sides rounded up to whole cells"},
    {"sign", 0, TOOL_CHOICE, &chosen.sign, NULL, "auto", "auto|pseudonormal|winding|offset|none", .only = "!field",
     .help = "what is inside: auto: pseudonormals for closed manifolds that do not meet themselves, else winding "
             "numbers; offset: the surface "
             "becomes the outermost one at the distance --offset from the model"},
    {"offset", 0, TOOL_REAL, &chosen.offset, "M", NULL, .low = 1e-300, .high = 1e300, .given = &chosen.offset_given,
     .only = "sign=offset", .help = "distance of the surface from the model, m (default: 1.4 cells)"},
};

static const tool_table tables[] = {
    {.title = "Deformed meshes",
     .options = distfield_pose_options,
     .count = DISTFIELD_POSE_COUNT,
     .base = &chosen.pose,
     .only = "@mesh"},
    {0},
};

static const char *const sign_names[] = {"auto", "pseudonormal", "winding", "offset", "none"};

/* The surface of a mesh, deformed if a pose is given, or a foreign model. mesh->path NULL: no mesh. */
static void read_surface(sp_context *context, const char *path, sp_surface *surface, tool_mesh *mesh)
{
    sp_pool pool = {0};
    *mesh = (tool_mesh){0};

    tool_inputs_are(tool_is_archive(path) ? "mesh" : "model");
    distfield_check_pose(&chosen.pose);

    if (!tool_is_archive(path)) {
        tool_read_surface(context, path, NULL, surface);
        return;
    }

    tool_read_mesh(path, NULL, mesh);
    tool_mesh_surface(context, &mesh->mesh, false, surface);
    const double *u = distfield_displacement(&chosen.pose, mesh, &pool);

    if (u) {
        tool_skin skin;
        tool_skin_open(context, &mesh->mesh, false, &skin);
        tool_skin_positions(&skin, 1, u, surface->vertices);
        tool_skin_close(&skin);
    }
    sp_pool_free(&pool);
}

/* The approximation from rest fields and proxies, on a grid about the deformed surface. */
static json_t *approximate(sp_context *context, const char *path, const sp_surface *surface, const tool_mesh *mesh,
                           sp_field *field)
{
    int64_t inside = 0;
    tool_check(sp_field_place(context, surface, chosen.cells, chosen.scale, chosen.grid == 0, field), path);
    distfield_approximate(context, &chosen.pose, mesh, field);
    for (int64_t i = 0; i < sp_field_vertices(field); i++)
        inside += field->distance[i] < 0;
    tool_say("%lld x %lld x %lld cells of %.4g m; approximated by proxies in %lld domains; %lld vertices inside",
             (long long)field->cells[0], (long long)field->cells[1], (long long)field->cells[2], field->spacing,
             (long long)chosen.pose.fields.count, (long long)inside);
    json_t *result = tool_result_new();
    tool_facts(result, sp_kind_field.result, {"sign", .text = "deformed"}, {"inside", .integer = inside});
    return result;
}

static void say(const sp_field *field, const sp_distance_report *report)
{
    if (report->meets_itself)
        tool_warn(
            NULL,
            "the surface intersects itself: pseudonormals would be wrong at %lld of %lld vertices near it, so winding "
            "numbers decide",
            (long long)report->sign_disagreements, (long long)report->sign_tests);
    else if (report->sign_disagreements > 0)
        tool_warn(NULL, "%s and the other way disagree about %lld of %lld signs near the surface",
                  sign_names[report->sign], (long long)report->sign_disagreements, (long long)report->sign_tests);

    if (report->sign == SP_FIELD_WINDING && !report->closed)
        tool_warn(NULL,
                  "the model is open (%lld edges after the repair): signs change away from its triangles too (--sign "
                  "offset makes it closed)",
                  (long long)report->orient.open_edges);

    if (report->inside == 0 && report->sign != SP_FIELD_UNSIGNED)
        tool_warn(NULL, "no vertex of the grid lies inside");

    tool_say("%lld x %lld x %lld cells of %.4g m; sign: %s; %lld vertices inside", (long long)field->cells[0],
             (long long)field->cells[1], (long long)field->cells[2], field->spacing, sign_names[report->sign],
             (long long)report->inside);
}

static json_t *report_result(const sp_distance_report *report)
{
    json_t *result = tool_result_new();

    tool_facts(result, sp_kind_field.result, {"sign", .text = sign_names[report->sign]},
               {"inside", .integer = report->inside}, {"boundary", .real = report->boundary});

    if (report->sign != SP_FIELD_UNSIGNED) {
        tool_facts(result, sp_kind_field.result, {"sign_tests", .integer = report->sign_tests},
                   {"sign_disagreements", .integer = report->sign_disagreements});
    }

    if (report->sign == SP_FIELD_OFFSET) {
        tool_facts(result, sp_kind_field.result, {"offset_triangles", .integer = report->offset_triangles},
                   {"enclosed_vertices", .integer = report->dropped_vertices});
    } else if (report->sign != SP_FIELD_UNSIGNED) {
        tool_facts(result, sp_kind_field.result, {"closed", .boolean = report->closed},
                   {"manifold", .boolean = report->manifold}, {"open_edges", .integer = report->orient.open_edges},
                   {"turned_triangles", .integer = report->orient.turned},
                   {"doubled_triangles", .integer = report->orient.doubled},
                   {"degenerate_triangles", .integer = report->orient.degenerate},
                   {"one_sided_patches", .integer = report->orient.one_sided});
    }

    return result;
}

static const tool_spec spec = {
    .name = "distfield",
    .arguments = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "The signed distance field of a triangle model (OBJ, PLY, STL, OFF) or of a mesh's surface.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .tables = tables,
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  distfield dragon.obj -n 256 -o dragon-field.npz\n"
                "  distfield bridge.npz --sign offset -o bridge-field.npz\n"
                "  distfield bridge.npz --basis basis.npz --coordinates 0.3,0,0.1 \\\n"
                "    -o moved-field.npz\n"
                "  simrender dragon-field.npz --slice z=0.5 -o slice.png\n"
                "  simexport dragon-field.npz --level 0.01 -o grown.obj\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    const char *path = tool_argument(0);
    sp_surface surface;
    sp_field field;
    sp_distance_report report = {0};
    tool_mesh mesh;
    json_t *result;

    read_surface(context, path, &surface, &mesh);

    const sp_distance_parameters parameters = {.cells = chosen.cells,
                                               .scale = chosen.scale,
                                               .cube = chosen.grid == 0,
                                               .sign = (enum sp_field_sign)chosen.sign,
                                               .offset = chosen.offset_given ? chosen.offset : 0};

    tool_output *output = tool_output_open(tool_output_path());

    if (chosen.pose.fields.count)
        result = approximate(context, path, &surface, &mesh, &field);
    else {
        tool_check(sp_distance_field(context, &surface, &parameters, &field, &report), path);
        say(&field, &report);
        result = report_result(&report);
    }

    sp_surface_free(&surface);
    json_t *meta = tool_meta_new("field");
    tool_facts(meta, sp_kind_field.meta,
               {"sign", .text = chosen.pose.fields.count ? "deformed" : sign_names[report.sign]},
               {"offset", .real = report.offset, .leave_out = report.sign != SP_FIELD_OFFSET},
               /* The field of another place than the mesh's at rest is not one of the mesh. */
               {"mesh", .text = mesh.hash, .leave_out = !mesh.path || chosen.pose.basis});

    tool_check(sp_field_write(context, tool_output_writer(output), meta, &field), tool_output_path());
    tool_output_finish(output, result);

    json_decref(meta);
    sp_field_free(&field);
    if (mesh.path)
        sp_mesh_free(&mesh.mesh);
    return tool_end();
}
