/* pointshell: points in levels on the surface of a model, with normals and a tree of spheres. */
#include "formats/pointshell.h"
#include "formats/field.h"
#include "tools/common/inputs.h"
#include "tools/common/model.h"
#include "tools/common/trajectory.h"
#include "tools/pointshell/report.h"

#include <string.h>

enum { NORMALS_GRADIENT, NORMALS_TANGENTS };

static struct {
    int method, normals;
    int64_t points, levels, branching, cells, iterations;
    double offset;
    const char *field, *basis;
    bool boundary, points_given, branching_given, offset_given;
} chosen;

static const tool_option options[] = {
    {"method", 0, TOOL_CHOICE, &chosen.method, NULL, "repulsion", "repulsion|vertices|samples|voxels|depth|farthest",
     .help = "repulsion: particles that repel each other, level by level; or the vertices, random points by area, "
             "voxel centres, a layered depth "
             "cube, or farthest points of many random ones"},
    {"points", 0, TOOL_INTEGER, &chosen.points, "N", NULL, .low = 1, .high = SP_POINTSHELL_POINTS_MAX,
     .given = &chosen.points_given, .help = "points of all levels (default: 20000; vertices, voxels, depth: all)"},
    {"levels", 0, TOOL_INTEGER, &chosen.levels, "N", NULL, .low = 1, .high = SP_POINTSHELL_LEVELS_MAX,
     .help = "levels (default: repulsion: 5, fewer if the first has less than 64 points; else as many as it takes)"},
    {"branching", 0, TOOL_INTEGER, &chosen.branching, "N", NULL, .low = 2, .high = 1000000,
     .given = &chosen.branching_given,
     .help = "new points of a level for each one of the level above (default: repulsion 4, else 8)"},
    {"offset", 0, TOOL_REAL, &chosen.offset, "M", NULL, .low = 0, .high = 1e300, .given = &chosen.offset_given,
     .help = "distance of the points from the model; 0: on it (default: 0 where it is closed and does not intersect "
             "itself, "
             "else 1.4 cells of a grid)"},
    {"boundary", 0, TOOL_FLAG, &chosen.boundary, .only = "@mesh !field",
     .help = "the boundary of the elements, where the mesh has an embedded surface too"},
    {"field", 0, TOOL_INPUT, &chosen.field, "FILE", .only = "@mesh",
     .help = "points where this distance field has the value of --offset"},
    {"basis", 0, TOOL_INPUT, &chosen.basis, "FILE", .only = "@mesh",
     .help = "how points, normals and spheres move with these columns"},
    {"normals", 0, TOOL_CHOICE, &chosen.normals, NULL, "gradient", "gradient|tangents", .only = "basis",
     .help = "normals move by the gradient of the motion, off by about the strain; or by tangents too: true "
             "ones at twice the cost"},
    {"cells", 0, TOOL_INTEGER, &chosen.cells, "N", "64", .low = 1, .high = 4096, .only = "method=voxels,depth",
     .help = "cells along the longest side of the box"},
    {"iterations", 0, TOOL_INTEGER, &chosen.iterations, "N", "40", .low = 0, .high = 1000000,
     .only = "method=repulsion", .help = "iterations at most in each level"},
};

/* What the points are made from. */
typedef struct source {
    bool has_mesh, has_field;
    tool_mesh mesh;
    sp_field field;
    bool unsigned_field;
    sp_surface surface;
    sp_level level;
} source;

/* Defaults that depend on the method. */
static void choose_defaults(void)
{
    const bool all = chosen.method == SP_POINTSHELL_VOXELS || chosen.method == SP_POINTSHELL_DEPTH ||
                     chosen.method == SP_POINTSHELL_VERTICES;
    if (!chosen.points_given && !all)
        chosen.points = 20000;
    if (!chosen.branching_given)
        chosen.branching = chosen.method == SP_POINTSHELL_REPULSION ? 4 : 8;
}

static void read_field(sp_context *context, const char *path, const char *option, source *from)
{
    static const char *const kinds[] = {"field", NULL};
    sp_file file;
    char recorded[SP_HASH_LENGTH];
    tool_read(path, option, kinds, false, &file);
    const char *sign = json_string_value(json_object_get(file.meta, "sign"));
    from->unsigned_field = sign && !strcmp(sign, "none");
    from->has_field = true;
    tool_check(sp_json_hash(context, file.meta, "mesh", recorded), path);
    if (from->has_mesh)
        tool_check_hash(path, "mesh", recorded, from->mesh.hash);
    tool_check(sp_field_read(context, &file, &from->field), path);
    sp_file_free(&file);
}

static void read_source(sp_context *context, const char *path, source *from)
{
    char kind[48] = "";
    *from = (source){0};
    if (tool_is_archive(path))
        tool_peek_any_kind(context, path, kind);
    if (!strcmp(kind, "field"))
        read_field(context, path, NULL, from);
    else if (tool_is_archive(path)) {
        tool_read_mesh(path, NULL, &from->mesh);
        from->has_mesh = true;
    } else
        tool_read_surface(context, path, NULL, &from->surface);
    tool_inputs_are(from->has_mesh ? "mesh" : from->has_field ? "distance-field" : "model");
    if (chosen.field)
        read_field(context, chosen.field, "field", from);
    else if (from->has_mesh)
        tool_mesh_surface(context, &from->mesh.mesh, chosen.boundary, &from->surface);
}

/* The surface that the points will be on. */
static void find_level(sp_context *context, const char *path, source *from)
{
    const double offset = chosen.offset_given ? chosen.offset : -1;
    if (from->has_field) {
        const double value = chosen.offset_given ? offset : from->unsigned_field ? 1.4 * from->field.spacing : 0;
        tool_check(sp_level_field(context, &from->field, value, from->unsigned_field, &from->level),
                   chosen.field ? chosen.field : path);
        return;
    }
    tool_check(sp_level_model(context, &from->surface, offset, 0, &from->level), path);
}

static json_t *make_meta(const source *from, const char *basis_hash)
{
    static const char *const surfaces[] = {"model", "offset", "field"};
    json_t *meta = tool_meta_new("pointshell");
    tool_facts(meta, sp_kind_pointshell.meta, {"surface", .text = surfaces[from->level.kind]},
               {"offset", .real = from->level.value, .leave_out = from->level.kind == SP_LEVEL_SURFACE},
               {"mesh", .text = from->mesh.hash, .leave_out = !from->has_mesh},
               {"basis", .text = basis_hash, .leave_out = !*basis_hash});
    return meta;
}

static const tool_spec spec = {
    .name = "pointshell",
    .arguments = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "Points in levels on a model (OBJ, PLY, STL, OFF), a mesh's surface or a distance field, with "
               "inward normals.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_THREADS | TOOL_SEED,
    .examples = "  pointshell dragon.obj --points 256000 -o shell.npz\n  pointshell spoon.npz --basis basis.npz "
                "-o shell.npz\n"
                "  pointshell bridge.obj --offset 0.01 -o shell.npz\n  simexport shell.npz -o points.csv\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    const char *path = tool_argument(0);
    source from;
    tool_columns basis = {0};
    sp_pointshell pointshell;
    sp_pointshell_report report;
    sp_pointshell_motion_report motion;

    choose_defaults();
    read_source(context, path, &from);

    if (chosen.basis) {
        tool_read_columns(chosen.basis, "basis", NULL, &from.mesh, &basis);
        tool_hold_rows(&from.mesh.mesh, &basis);
    }

    tool_output *output = tool_output_open(tool_output_path());
    find_level(context, path, &from);

    const sp_pointshell_parameters parameters = {.method = (enum sp_pointshell_method)chosen.method,
                                                 .points = chosen.points,
                                                 .levels = (int)chosen.levels,
                                                 .branching = chosen.branching,
                                                 .cells = chosen.cells,
                                                 .iterations = (int)chosen.iterations};

    tool_check(sp_pointshell_make(context, &from.level, &parameters, &pointshell, &report),
               chosen.field ? chosen.field : path);
    if (chosen.basis)
        tool_check(sp_pointshell_transfer(context, &from.mesh.mesh, basis.columns.count, basis.columns.U,
                                          chosen.normals == NORMALS_TANGENTS, &pointshell, &motion),
                   path);
    pointshell_say(&from.level, &pointshell, &report, chosen.basis ? &motion : NULL);

    json_t *meta = make_meta(&from, basis.hash),
           *result = pointshell_result(&from.level, &pointshell, &report, chosen.basis ? &motion : NULL);
    tool_check(sp_pointshell_write(context, tool_output_writer(output), meta, &pointshell), tool_output_path());
    tool_output_finish(output, result);

    json_decref(meta);
    sp_pointshell_free(&pointshell);
    sp_level_free(&from.level);
    sp_surface_free(&from.surface);
    sp_field_free(&from.field);
    sp_mesh_free(&from.mesh.mesh);
    sp_columns_free(&basis.columns);
    return tool_end();
}
