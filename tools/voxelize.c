/* voxelize: from a polygon soup to a mesh of cubes (or tetrahedra) with the surface embedded. */
#include "geometry/voxelize.h"

#include "formats/import/surface.h"
#include "tools/common/anchors.h"
#include "tools/common/inputs.h"
#include "tools/common/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int64_t resolution, keep;
    double enlarge, young, poisson, density;
    int grid, groups, law, quadrature;
    bool fill, tetrahedra;
    const char *materials, *factor, *fibre;
} chosen;

static const tool_option options[] = {
    {"resolution", 'n', TOOL_INTEGER, &chosen.resolution, "N", "64", .low = 1, .high = 4096,
     .help = "voxels along the longest side of the enlarged box"},
    {"enlarge", 0, TOOL_REAL, &chosen.enlarge, "X", "1.2", .low = 1, .high = 100,
     .help = "factor on the box of the model about its centre"},
    {"grid", 0, TOOL_CHOICE, &chosen.grid, NULL, "cube", "cube|box",
     .help = "cube: all sides equal, as in the papers; box: sides rounded up to whole voxels"},
    {"fill", 0, TOOL_FLAG, &chosen.fill,
     .help = "also the voxels inside (winding number at least 1/2), not only those that meet the surface"},
    {"keep", 0, TOOL_INTEGER, &chosen.keep, "N", "0", .low = 0, .high = 1000000,
     .help = "keep only the N largest components; 0: all"},
    {"tetrahedra", 0, TOOL_FLAG, &chosen.tetrahedra, .help = "split every voxel into six tetrahedra"},
    {"quadrature", 0, TOOL_CHOICE, &chosen.quadrature, NULL, "law", "law|2|3", .only = "!tetrahedra",
     .help = "Gauss points per axis; law: 3 where all laws are quadratic in the strain, which is then exact on cubes, "
             "else 2"},
    {"young", 0, TOOL_REAL, &chosen.young, "PA", "1e6", .low = 1e-300, .high = 1e300, .help = "Young's modulus, Pa"},
    {"poisson", 0, TOOL_REAL, &chosen.poisson, "NU", "0.45", .low = -0.999, .high = 0.4999999,
     .help = "Poisson's ratio"},
    {"law", 0, TOOL_CHOICE, &chosen.law, NULL, "stvk", TOOL_LAWS, .help = "material law"},
    {"density", 0, TOOL_REAL, &chosen.density, "KG/M3", "1000", .low = 1e-300, .high = 1e300, .help = "density, kg/m3"},
    {"regions", 0, TOOL_CHOICE, &chosen.groups, NULL, "none", "none|group|material",
     .help = "OBJ groups or materials become regions of their own"},
    {"materials", 0, TOOL_INPUT, &chosen.materials, "JSON",
     .help = "materials by region name: [{\"name\": …, \"young\": …, \"poisson\": …, \"density\": …}, …]"},
    {"factor", 0, TOOL_INPUT, &chosen.factor, "FILE", .files = "npy",
     .help = ".npy of (elements) or (elements, 2) numbers on lambda and mu of each element"},
    {"fibre", 0, TOOL_INPUT, &chosen.fibre, "FILE", .files = "npy",
     .help = ".npy of (elements, 3) numbers: the direction of each element's fibres, 0 without fibres"},
};

static const tool_table tables[] = {
    {.title = "Regions", .options = tool_region_options, .count = TOOL_REGION_COUNT},
    {.title = "Unit and axes", .options = tool_frame_options, .count = TOOL_FRAME_COUNT},
    {.title = "Fixed vertices", .options = tool_fix_options, .count = TOOL_FIX_COUNT},
    {0},
};

static void say_components(const sp_voxelize_report *report)
{
    if (report->component_count < 2)
        return;
    char list[200] = "";
    for (int64_t i = 0; i < report->component_count && i < 8; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%lld", i ? ", " : "",
                 (long long)report->component_size[i]);
    if (chosen.keep && report->dropped_voxels)
        tool_say("%lld separate components of %s%s voxels; dropped %lld voxels and %lld triangles",
                 (long long)report->component_count, list, report->component_count > 8 ? ", …" : "",
                 (long long)report->dropped_voxels, (long long)report->dropped_triangles);
    else
        tool_warn(NULL, "%lld separate components of %s%s voxels (--keep 1 keeps the largest)",
                  (long long)report->component_count, list, report->component_count > 8 ? ", …" : "");
}

static void say_open(const sp_voxelize_report *report)
{
    if (chosen.fill && report->orient.open_edges)
        tool_warn(NULL,
                  "the model is open (%lld edges after the repair): inside is where its winding number is at least 1/2",
                  (long long)report->orient.open_edges);
}

static void say_hollow(const sp_voxelize_report *report)
{
    if (report->enclosed_voxels)
        tool_say("the body is hollow: its voxels enclose %lld empty ones (--fill makes it solid)",
                 (long long)report->enclosed_voxels);
}

static json_t *report_result(const sp_voxelize_report *report, const sp_mesh *mesh)
{
    json_t *result = tool_result_new();
    const int64_t listed = report->component_count < 16 ? report->component_count : 16;
    tool_facts(result, sp_kind_mesh.result, {"volume", .real = sp_mesh_volume(mesh)},
               {"origin", .count = 3, .reals = report->origin}, {"spacing", .real = report->spacing},
               {"surface_voxels", .integer = report->surface_voxels},
               {"filled_voxels", .integer = report->filled_voxels}, {"components", .integer = report->component_count},
               {"enclosed_voxels", .integer = report->enclosed_voxels, .leave_out = chosen.fill},
               {"component_sizes", .count = listed, .integers = report->component_size},
               {"dropped_voxels", .integer = report->dropped_voxels},
               {"dropped_triangles", .integer = report->dropped_triangles});

    if (chosen.fill)
        tool_facts(result, sp_kind_mesh.result, {"open_edges", .integer = report->orient.open_edges},
                   {"turned_triangles", .integer = report->orient.turned},
                   {"doubled_triangles", .integer = report->orient.doubled},
                   {"degenerate_triangles", .integer = report->orient.degenerate},
                   {"one_sided_patches", .integer = report->orient.one_sided});
    return result;
}

static const tool_spec spec = {
    .name = "voxelize",
    .arguments = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "A triangle model (OBJ, PLY, STL, OFF) to a simulation mesh with the surface embedded.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .tables = tables,
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  voxelize spoon.obj -n 100 --fix-half-space 1,0,0,0.05 -o spoon.npz\n  voxelize "
                "dragon.obj -n 128 --fill --tetrahedra -o dragon.npz\n",
};

static void read_surface(sp_context *context, const char *path, sp_surface *surface)
{
    sp_pool pool = {0};
    int64_t count;
    if (tool_is_archive(path))
        tool_hint("it is a file of Supple, not a triangle model: siminfo says what is in it");
    const char *bytes = tool_read_bytes(path, NULL, &pool, &count);
    tool_check(sp_surface_parse(context, path, bytes, count, (enum sp_surface_groups)chosen.groups, surface), path);
    tool_scale_points(surface->vertex_count, surface->vertices);
    sp_pool_free(&pool);
}

/* Three points integrate a quadratic law exactly. Other laws are exact with no number of points, and the
 * difference between two and three is far below that between two sizes of elements (voxelize(1)). */
static int gauss_points(const sp_mesh *mesh)
{
    bool quadratic = true;

    if (chosen.quadrature > 0)
        return 1 + chosen.quadrature;
    for (int64_t m = 0; m < mesh->material_count; m++)
        quadratic &= sp_material_quadratic(&mesh->materials[m]);
    return quadratic ? 3 : 2;
}

/* From boxes of voxels to the mesh as the options want it: regions, materials, elements, factors, fibres, fixed
 * vertices. */
static void finish_mesh(sp_context *context, const char *path, const sp_material *standard, sp_mesh *mesh)
{
    sp_pool pool = {0};

    if (chosen.groups == SP_GROUPS_NONE)
        strcpy(mesh->materials[0].name, standard->name);

    tool_apply_regions(context, mesh);
    const sp_helix *helices = tool_read_materials(context, chosen.materials, &pool, mesh);
    mesh->quadrature = gauss_points(mesh);
    tool_set_up(mesh);

    if (chosen.tetrahedra) {
        sp_mesh split;
        tool_check(sp_mesh_split(context, mesh, &split), path);
        sp_mesh_free(mesh);
        *mesh = split;
    }

    tool_read_factor(context, chosen.factor, mesh);
    tool_read_fibre(context, chosen.fibre, helices, mesh);
    sp_pool_free(&pool);
    tool_apply_fixed_vertices(context, mesh);
    tool_check(sp_mesh_check(context, mesh, 1e-9), path);
}

static void write_mesh(sp_context *context, const sp_mesh *mesh, const sp_voxelize_report *report, tool_output *output)
{
    say_hollow(report);
    tool_say("%lld vertices, %lld elements of edge %.4g m (%lld on the surface, %lld inside), %lld vertices fixed, "
             "%lld regions",
             (long long)mesh->vertex_count, (long long)sp_mesh_element_count(mesh), report->spacing,
             (long long)report->surface_voxels, (long long)report->filled_voxels, (long long)mesh->fixed_count,
             (long long)mesh->material_count);
    json_t *meta = tool_meta_new("mesh");
    tool_check(sp_mesh_write(context, tool_output_writer(output), meta, mesh), tool_output_path());
    tool_output_finish(output, report_result(report, mesh));
    json_decref(meta);
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    const char *path = tool_argument(0);
    sp_surface surface;
    sp_mesh mesh;
    sp_voxelize_report report;

    read_surface(context, path, &surface);
    const sp_material standard = {.name = "body",
                                  .law = tool_law(chosen.law),
                                  .young = chosen.young,
                                  .poisson = chosen.poisson,
                                  .density = chosen.density};
    tool_check(sp_material_check(context, &standard), NULL);

    const sp_voxelize_parameters parameters = {.resolution = chosen.resolution,
                                               .enlarge = chosen.enlarge,
                                               .cube = chosen.grid == 0,
                                               .fill = chosen.fill,
                                               .keep = chosen.keep};

    tool_output *output = tool_output_open(tool_output_path());
    tool_check(sp_voxelize(context, &surface, &parameters, &standard, &mesh, &report), path);
    sp_surface_free(&surface);

    say_components(&report);
    say_open(&report);
    finish_mesh(context, path, &standard, &mesh);
    write_mesh(context, &mesh, &report, output);

    sp_mesh_free(&mesh);
    return tool_end();
}
