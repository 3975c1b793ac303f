/* simimport: volumetric meshes that other programs wrote. */
#include "formats/import/surface.h"
#include "formats/import/volume.h"
#include "tools/common/anchors.h"
#include "tools/common/inputs.h"

#include <math.h>
#include <string.h>

enum kind { KIND_AUTO, KIND_VEG, KIND_MSH, KIND_INP };

static struct {
    int kind;
    int64_t quadrature;
    double young, poisson, density;
    bool young_given, poisson_given, density_given, turn;
    const char *materials, *surface, *interpolation;
    tool_texts bou;
} chosen;

static const tool_option options[] = {
    {"format", 0, TOOL_CHOICE, &chosen.kind, NULL, "auto", "auto|veg|msh|inp", .help = "of the input; auto: by the ending of its name"},
    {"young", 0, TOOL_REAL, &chosen.young, "PA", "1e6", .low = 1e-300, .high = 1e300, .help = "Young's modulus; replaces the file's where given", .given = &chosen.young_given},
    {"poisson", 0, TOOL_REAL, &chosen.poisson, "NU", "0.45", .low = -0.999, .high = 0.4999999, .help = "Poisson's ratio; replaces the file's where given", .given = &chosen.poisson_given},
    {"density", 0, TOOL_REAL, &chosen.density, "KG/M3", "1000", .low = 1e-300, .high = 1e300, .help = "density; replaces the file's where given", .given = &chosen.density_given},
    {"quadrature", 0, TOOL_INTEGER, &chosen.quadrature, "N", "2", .low = 2, .high = 3, .help = "Gauss points per axis of hexahedra"},
    {"turn", 0, TOOL_FLAG, &chosen.turn, .help = "turn elements of negative volume instead of refusing them"},
    {"fixed", 0, TOOL_INPUTS, &chosen.bou, "FILE", .help = "anchored vertices as VegaFEM .bou (numbers from 1); may stand several times"},
    {"surface", 0, TOOL_INPUT, &chosen.surface, "MODEL", .help = "triangle model to embed: OBJ, PLY, STL, OFF"},
    {"interpolation", 0, TOOL_INPUT, &chosen.interpolation, "FILE", .help = "weights of the surface's vertices as VegaFEM .interp"},
    TOOL_ANCHOR_OPTIONS,
};

/* Files that the mesh includes stand beside it. */
static int open_include(void *data, sp_context *context, const char *name, const char **bytes, int64_t *count)
{
    static sp_pool pool;
    char path[4096];
    const char *main_path = data, *slash = strrchr(main_path, '/');
    int folder = slash ? (int)(slash - main_path) + 1 : 0;
    if (*name == '/' || strstr(name, "..") || snprintf(path, sizeof path, "%.*s%s", folder, main_path, name) >= (int)sizeof path)
        return sp_fail(context, SP_INPUT, "the included file %.200s is not beside the mesh", name);
    *bytes = tool_read_bytes(path, "include", &pool, count);
    return SP_OK;
}

static enum kind kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (chosen.kind != KIND_AUTO)
        return (enum kind)chosen.kind;
    if (dot && !strcmp(dot, ".veg"))
        return KIND_VEG;
    if (dot && !strcmp(dot, ".msh"))
        return KIND_MSH;
    if (dot && !strcmp(dot, ".inp"))
        return KIND_INP;
    tool_hint("name it with --format");
    tool_fail(SP_USAGE, path, "its format is not known by its ending (.veg, .msh, .inp)");
}

static void embed(sp_context *context, sp_mesh *mesh)
{
    sp_surface surface;
    sp_pool pool = {0};
    int64_t count;
    if (!chosen.surface && !chosen.interpolation)
        return;
    if (!chosen.surface || !chosen.interpolation)
        tool_fail(SP_USAGE, NULL, "--surface and --interpolation go together");
    char *bytes = tool_read_bytes(chosen.surface, "surface", &pool, &count);
    tool_check(sp_surface_parse(context, chosen.surface, bytes, count, SP_GROUPS_NONE, &surface), chosen.surface);
    bytes = tool_read_bytes(chosen.interpolation, "interpolation", &pool, &count);
    tool_check(sp_volume_parse_interp(context, bytes, count, surface.vertex_count, surface.vertices, surface.triangle_count, surface.triangles, mesh), chosen.interpolation);
    sp_surface_free(&surface);
    sp_pool_free(&pool);
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&(tool_spec){"simimport", "FILE", 1, 1, "Volumetric meshes of VegaFEM (.veg), Gmsh (.msh) and Abaqus/CalculiX (.inp).", options,
                                                  TOOL_COUNT(options), TOOL_OUTPUT, "  simimport bridge.veg --fixed bridge.bou -o bridge.npz\n"},
                                     argc, argv);
    const char *path = tool_argument(0);
    enum kind kind = kind_of(path);
    sp_material standard = {.name = "body", .law = SP_LAW_STVK, .young = chosen.young, .poisson = chosen.poisson, .density = chosen.density};
    sp_includes includes = {open_include, (void *)path};
    sp_mesh mesh = {0};
    sp_notes notes = {0};
    sp_pool pool = {0};
    int64_t count;
    char *bytes = tool_read_bytes(path, NULL, &pool, &count);
    int status;
    if (kind == KIND_VEG)
        status = sp_volume_parse_veg(context, bytes, count, &includes, &mesh, &notes);
    else if (kind == KIND_MSH)
        status = sp_volume_parse_msh(context, bytes, count, &standard, &mesh, &notes);
    else
        status = sp_volume_parse_inp(context, bytes, count, &includes, &standard, &mesh, NULL, NULL, &notes);
    tool_check(status, path);
    sp_pool_free(&pool);
    for (int i = 0; i < notes.count; i++)
        tool_say("%s: %s", path, notes.line[i]);
    int64_t inverted = sp_mesh_inverted(&mesh, false);
    if (inverted && !chosen.turn) {
        tool_hint("turn them with --turn");
        tool_fail(SP_INPUT, path, "%lld of %lld elements have negative volume", (long long)inverted, (long long)sp_mesh_element_count(&mesh));
    }
    if (inverted)
        tool_warn(path, "turned %lld elements of negative volume", (long long)sp_mesh_inverted(&mesh, true));
    mesh.quadrature = (int)chosen.quadrature;
    for (int64_t i = 0; i < mesh.material_count; i++) {
        sp_material *material = &mesh.materials[i];
        if ((chosen.young_given || chosen.poisson_given) && material->law != SP_LAW_STVK && material->law != SP_LAW_NEO_HOOKEAN)
            tool_fail(SP_USAGE, path, "--young and --poisson: region %s has the law %s", material->name, sp_law_name(material->law));
        material->young = chosen.young_given ? chosen.young : material->young;
        material->poisson = chosen.poisson_given ? chosen.poisson : material->poisson;
        material->density = chosen.density_given ? chosen.density : material->density;
    }
    for (int64_t i = 0; i < chosen.bou.count; i++) {
        int64_t fixed_count, *fixed;
        bytes = tool_read_bytes(chosen.bou.value[i], "fixed", &pool, &count);
        tool_check(sp_volume_parse_bou(context, bytes, count, &pool, &fixed_count, &fixed), chosen.bou.value[i]);
        tool_check(sp_mesh_fix_list(context, &mesh, fixed_count, fixed, 7), chosen.bou.value[i]);
    }
    sp_pool_free(&pool);
    tool_apply_anchors(context, &mesh);
    embed(context, &mesh);
    tool_check(sp_mesh_check(context, &mesh, 1e-3), path);
    tool_say("%lld vertices, %lld hexahedra, %lld tetrahedra, %lld regions, %lld vertices fixed", (long long)mesh.vertex_count, (long long)mesh.hex_count,
             (long long)mesh.tet_count, (long long)mesh.material_count, (long long)mesh.fixed_count);

    tool_output *output = tool_output_open(tool_output_path());
    json_t *meta = tool_meta_new("mesh"), *result = tool_result_new();
    tool_check(sp_mesh_write(context, tool_output_writer(output), meta, &mesh), tool_output_path());
    double volume = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(&mesh); e++)
        volume += sp_mesh_element_volume(&mesh, e);
    json_object_set_new(result, "volume", json_real(volume));
    json_object_set_new(result, "turned", json_integer(inverted));
    tool_output_finish(output, result);
    json_decref(meta);
    sp_mesh_free(&mesh);
    return tool_end();
}
