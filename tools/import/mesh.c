/* Volumetric meshes. */
#include "formats/import/surface.h"
#include "formats/import/volume.h"
#include "tools/common/anchors.h"
#include "tools/common/inputs.h"
#include "tools/import/import.h"

#include <math.h>
#include <string.h>

/* Files that the mesh includes are in its folder. */
static int open_include(void *data, sp_context *context, const char *name, const char **bytes, int64_t *count)
{
    static sp_pool pool;
    char path[4096];
    const char *main_path = data, *slash = strrchr(main_path, '/');
    int folder = slash ? (int)(slash - main_path) + 1 : 0;
    if (*name == '/' || strstr(name, "..") ||
        snprintf(path, sizeof path, "%.*s%s", folder, main_path, name) >= (int)sizeof path)
        return sp_fail(context, SP_INPUT, "the included file %.200s is not beside the mesh", name);
    *bytes = tool_read_bytes(path, "include", &pool, count);
    return SP_OK;
}

static void embed(sp_context *context, const import_mesh_choice *choice, sp_mesh *mesh)
{
    sp_surface surface;
    sp_pool pool = {0};
    int64_t count;
    if (!choice->surface && !choice->interpolation)
        return;
    if (!choice->surface || !choice->interpolation)
        tool_fail(SP_USAGE, NULL, "--surface and --interpolation go together");
    char *bytes = tool_read_bytes(choice->surface, "surface", &pool, &count);
    tool_check(sp_surface_parse(context, choice->surface, bytes, count, SP_GROUPS_NONE, &surface), choice->surface);
    bytes = tool_read_bytes(choice->interpolation, "interpolation", &pool, &count);
    tool_check(sp_volume_parse_interp(context, bytes, count, surface.vertex_count, surface.vertices,
                                      surface.triangle_count, surface.triangles, mesh),
               choice->interpolation);
    sp_surface_free(&surface);
    sp_pool_free(&pool);
}

void import_mesh(sp_context *context, const char *path, enum import_format format, const import_mesh_choice *choice)
{
    sp_material standard = {.name = "body",
                            .law = tool_law(choice->law),
                            .young = choice->young,
                            .poisson = choice->poisson,
                            .density = choice->density};
    sp_includes includes = {open_include, (void *)path};
    sp_mesh mesh = {0};
    sp_notes notes = {0};
    sp_pool pool = {0};
    int64_t count;
    char *bytes = tool_read_bytes(path, NULL, &pool, &count);
    int status;
    if (format == IMPORT_VEG)
        status = sp_volume_parse_veg(context, bytes, count, &includes, &mesh, &notes);
    else if (format == IMPORT_MSH)
        status = sp_volume_parse_msh(context, bytes, count, &standard, &mesh, &notes);
    else if (format == IMPORT_MEDIT)
        status = sp_volume_parse_medit(context, bytes, count, &standard, &mesh, &notes);
    else if (format == IMPORT_TETGEN)
        status = sp_volume_parse_tetgen(context, path, bytes, count, &includes, &standard, &mesh, &notes);
    else if (format == IMPORT_VTK)
        status = sp_volume_parse_vtk(context, bytes, count, &standard, &mesh, &notes);
    else if (format == IMPORT_VTU)
        status = sp_volume_parse_vtu(context, bytes, count, &standard, &mesh, &notes);
    else
        status = sp_volume_parse_inp(context, bytes, count, &includes, &standard, &mesh, NULL, NULL, &notes);
    tool_check(status, path);
    sp_pool_free(&pool);
    for (int i = 0; i < notes.count; i++)
        tool_say("%s: %s", path, notes.line[i]);
    int64_t inverted = sp_mesh_inverted(&mesh, false), folded = inverted ? sp_mesh_folded(&mesh) : 0;
    if (folded) {
        tool_hint("repair them in the program that made the mesh: turning does not help");
        tool_fail(SP_INPUT, path, "%lld of %lld elements are folded, flat or collapsed, the first is %s",
                  (long long)folded, (long long)sp_mesh_element_count(&mesh), notes.folded);
    }
    if (inverted && !choice->turn) {
        tool_hint("turn them with --turn");
        tool_fail(SP_INPUT, path, "%lld of %lld elements have negative volume, the first is %s", (long long)inverted,
                  (long long)sp_mesh_element_count(&mesh), notes.inverted);
    }
    if (inverted)
        tool_warn(path, "turned %lld elements of negative volume", (long long)sp_mesh_inverted(&mesh, true));
    mesh.quadrature = (int)choice->quadrature;
    for (int64_t i = 0; i < mesh.material_count; i++) {
        sp_material *material = &mesh.materials[i];
        if ((choice->young_given || choice->poisson_given || choice->law_given) && !sp_law_isotropic(material->law))
            tool_fail(SP_USAGE, path, "--law, --young and --poisson: region %s has the law %s", material->name,
                      sp_law_name(material->law));
        material->law = choice->law_given ? tool_law(choice->law) : material->law;
        material->young = choice->young_given ? choice->young : material->young;
        material->poisson = choice->poisson_given ? choice->poisson : material->poisson;
        material->density = choice->density_given ? choice->density : material->density;
    }
    for (int64_t i = 0; i < choice->bou.count; i++) {
        int64_t fixed_count, *fixed;
        bytes = tool_read_bytes(choice->bou.value[i], "fixed", &pool, &count);
        tool_check(sp_volume_parse_bou(context, bytes, count, &pool, &fixed_count, &fixed), choice->bou.value[i]);
        tool_check(sp_mesh_fix_list(context, &mesh, fixed_count, fixed, 7), choice->bou.value[i]);
    }
    sp_pool_free(&pool);
    const sp_helix *helices = tool_read_materials(context, choice->materials, &pool, &mesh);
    tool_read_factor(context, choice->factor, &mesh);
    tool_read_fibre(context, choice->fibre, helices, &mesh);
    sp_pool_free(&pool);
    tool_apply_fixed_vertices(context, &mesh);
    embed(context, choice, &mesh);
    tool_check(sp_mesh_check(context, &mesh, 1e-3), path);
    tool_say("%lld vertices, %lld hexahedra, %lld tetrahedra, %lld regions, %lld vertices fixed",
             (long long)mesh.vertex_count, (long long)mesh.hex_count, (long long)mesh.tet_count,
             (long long)mesh.material_count, (long long)mesh.fixed_count);

    tool_output *output = tool_output_open(tool_output_path());
    json_t *meta = tool_meta_new("mesh"), *result = tool_result_new();
    tool_check(sp_mesh_write(context, tool_output_writer(output), meta, &mesh), tool_output_path());
    double volume = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(&mesh); e++)
        volume += sp_mesh_element_volume(&mesh, e);
    json_object_set_new(result, "volume", tool_real("volume", volume));
    json_object_set_new(result, "turned", json_integer(inverted));
    tool_output_finish(output, result);
    json_decref(meta);
    sp_mesh_free(&mesh);
}
