/* Volumetric meshes. */
#include "formats/import/surface.h"
#include "formats/import/volume.h"
#include "mesh/element_geometry.h"
#include "mesh/mesh_sets.h"
#include "tools/common/anchors.h"
#include "tools/common/inputs.h"
#include "tools/import/import.h"

#include <assert.h>
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
    if (!choice->surface)
        return;

    char *bytes = tool_read_bytes(choice->surface, "surface", &pool, &count);
    tool_check(sp_surface_parse(context, choice->surface, bytes, count, SP_GROUPS_NONE, &surface), choice->surface);
    tool_scale_points(surface.vertex_count, surface.vertices);

    bytes = tool_read_bytes(choice->interpolation, "interpolation", &pool, &count);
    tool_check(sp_volume_parse_interp(context, bytes, count, surface.vertex_count, surface.vertices,
                                      surface.triangle_count, surface.triangles, mesh),
               choice->interpolation);

    sp_surface_free(&surface);
    sp_pool_free(&pool);
}

/* Parses the file, and says what the format could not tell or left out. */
static void parse(sp_context *context, const char *path, enum import_format format, const import_mesh_choice *choice,
                  sp_mesh *mesh, sp_notes *notes)
{
    const sp_material standard = {.name = "body",
                                  .law = tool_law(choice->law),
                                  .young = choice->young,
                                  .poisson = choice->poisson,
                                  .density = choice->density};
    sp_includes includes = {open_include, (void *)path};
    sp_pool pool = {0};
    int64_t count;

    char *bytes = tool_read_bytes(path, NULL, &pool, &count);
    int status;
    if (format == IMPORT_VEG)
        status = sp_volume_parse_veg(context, bytes, count, &includes, mesh, notes);
    else if (format == IMPORT_MSH)
        status = sp_volume_parse_msh(context, bytes, count, &standard, mesh, notes);
    else if (format == IMPORT_MEDIT)
        status = sp_volume_parse_medit(context, bytes, count, &standard, mesh, notes);
    else if (format == IMPORT_TETGEN)
        status = sp_volume_parse_tetgen(context, path, bytes, count, &includes, &standard, mesh, notes);
    else if (format == IMPORT_VTK)
        status = sp_volume_parse_vtk(context, bytes, count, &standard, mesh, notes);
    else if (format == IMPORT_VTU)
        status = sp_volume_parse_vtu(context, bytes, count, &standard, mesh, notes);
    else if (format == IMPORT_COMSOL)
        status = sp_volume_parse_comsol(context, bytes, count, &standard, mesh, notes);
    else
        status = sp_volume_parse_inp(context, bytes, count, &includes, &standard, mesh, NULL, NULL, notes);

    tool_check(status, path);
    sp_pool_free(&pool);

    for (int i = 0; i < notes->count; i++)
        tool_say("%s: %s", path, notes->line[i]);
}

/* Names the first inverted and the first folded element of a mesh that was changed after reading. */
static void name_inverted(const sp_mesh *mesh, sp_notes *notes)
{
    notes->inverted[0] = notes->folded[0] = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        if (sp_mesh_element_positive(mesh, e, NULL))
            continue;
        if (!notes->inverted[0])
            snprintf(notes->inverted, sizeof notes->inverted, "element %lld of the mesh, from 0", (long long)e);
        if (!notes->folded[0] && !sp_mesh_element_turnable(mesh, e))
            snprintf(notes->folded, sizeof notes->folded,
                     "element %lld of the mesh, from 0: its Jacobian falls to %g m3%s", (long long)e,
                     sp_mesh_worst_jacobian(mesh, e),
                     sp_mesh_element_mass_indefinite(mesh, e)
                         ? " at a point of its mass, and its mass matrix is not positive definite"
                         : "");
    }
}

/* Turns elements of negative volume if that is wanted; returns how many there were. */
static int64_t turn(const char *path, const import_mesh_choice *choice, sp_mesh *mesh, sp_notes *notes)
{
    int64_t inverted = sp_mesh_inverted(mesh, false), folded = inverted ? sp_mesh_folded(mesh) : 0;

    if (folded) {
        sp_mesh_folds corners, masses, nodes;
        sp_mesh_find_folds(mesh, &corners, &masses, &nodes);
        /* The reader named the first that is folded, which may be one that is kept. */
        if (choice->keep_folded)
            name_inverted(mesh, notes);
        tool_hint("repair them in the program that made the mesh: turning does not help%s",
                  choice->keep_folded || corners.count + masses.count < folded ? "" : ", --keep-folded keeps them");
        tool_fail(SP_INPUT, path, "%lld of %lld elements are folded, flat or collapsed, the first is %s",
                  (long long)folded, (long long)sp_mesh_element_count(mesh), notes->folded);
    }

    if (inverted && !choice->turn) {
        tool_hint("turn them with --turn");
        tool_fail(SP_INPUT, path, "%lld of %lld elements have negative volume, the first is %s", (long long)inverted,
                  (long long)sp_mesh_element_count(mesh), notes->inverted);
    }

    if (inverted)
        tool_warn(path, "turned %lld elements of negative volume", (long long)sp_mesh_inverted(mesh, true));
    return inverted;
}

static void warn_of_fold(const char *path, const sp_mesh_folds *folds, const char *where, const char *what)
{
    if (folds->count > 0)
        tool_warn(path,
                  "%lld elements are folded at %s: %s; the worst is element %lld of the mesh, from 0, whose Jacobian "
                  "falls to %g m3",
                  (long long)folds->count, where, what, (long long)folds->worst, folds->jacobian);
}

/* What --keep-folded has kept, and what needs no option. A mesh without the first does not say that it may have it. */
static void warn_of_folded(const char *path, sp_mesh *mesh)
{
    sp_mesh_folds corners, masses, nodes;
    sp_mesh_find_folds(mesh, &corners, &masses, &nodes);
    mesh->folded = mesh->folded && corners.count + masses.count > 0;

    if (mesh->folded) {
        warn_of_fold(path, &corners, "a corner, though at no integration point", "results near them are poor");
        warn_of_fold(path, &masses, "a point of the mass, though at none of the stiffness",
                     "their mass matrices are positive definite nevertheless, but results near them are poor");
    }
    warn_of_fold(path, &nodes, "a node, though at no integration point", "stresses near it are poor");
}

/* --scale and --up. Files of some formats bring materials in units of their own. */
static void place(const char *path, enum import_format format, const import_mesh_choice *choice, sp_mesh *mesh)
{
    const bool brings = format == IMPORT_VEG || format == IMPORT_INP;
    tool_scale_points(mesh->vertex_count, mesh->vertices);
    tool_set_up(mesh);
    if (tool_scale() != 1 && brings && !(choice->young_given && choice->density_given))
        tool_say(
            "%s: --scale is of coordinates only: moduli in Pa and densities in kg/m3 come from --young and --density "
            "or --materials",
            path);
}

/* Options that were given replace the file's materials. */
static void replace_materials(const char *path, const import_mesh_choice *choice, sp_mesh *mesh)
{
    for (int64_t i = 0; i < mesh->material_count; i++) {
        sp_material *material = &mesh->materials[i];
        if ((choice->young_given || choice->poisson_given || choice->law_given) && !sp_law_isotropic(material->law))
            tool_fail(SP_USAGE, path, "--law, --young and --poisson: region %s has the law %s", material->name,
                      sp_law_name(material->law));
        material->law = choice->law_given ? tool_law(choice->law) : material->law;
        material->young = choice->young_given ? choice->young : material->young;
        material->poisson = choice->poisson_given ? choice->poisson : material->poisson;
        material->density = choice->density_given ? choice->density : material->density;
    }
}

/* --fixed: lists of VegaFEM. */
static void fix_lists(sp_context *context, const tool_texts *files, sp_mesh *mesh)
{
    sp_pool pool = {0};
    for (int64_t i = 0; i < files->count; i++) {
        int64_t count, fixed_count, *fixed;
        const char *bytes = tool_read_bytes(files->value[i], "fixed", &pool, &count);
        tool_check(sp_volume_parse_bou(context, bytes, count, &pool, &fixed_count, &fixed), files->value[i]);
        tool_check(sp_mesh_fix_list(context, mesh, fixed_count, fixed, 7), files->value[i]);
    }
    sp_pool_free(&pool);
}

static void write_mesh(sp_context *context, const sp_mesh *mesh, int64_t turned)
{
    char elements[400], sets[1000];
    sp_mesh_list_elements(mesh, elements, sizeof elements);
    sp_mesh_list_sets(mesh, sets, sizeof sets);

    tool_say("%lld vertices, %s, %lld regions, %lld vertices fixed", (long long)mesh->vertex_count, elements,
             (long long)mesh->material_count, (long long)mesh->fixed_count);
    if (*sets)
        tool_say("sets: %s", sets);

    tool_output *output = tool_output_open(tool_output_path());
    json_t *meta = tool_meta_new("mesh"), *result = tool_result_new();
    tool_check(sp_mesh_write(context, tool_output_writer(output), meta, mesh), tool_output_path());
    tool_facts(result, sp_kind_mesh.result, {"volume", .real = sp_mesh_volume(mesh)}, {"turned", .integer = turned});
    tool_output_finish(output, result);
    json_decref(meta);
}

/* --linearize, --serendipity and --hexahedra. */
static void change_types(sp_context *context, const char *path, const import_mesh_choice *choice, sp_mesh *mesh)
{
    static const int of_choice[] = {SP_HEX8, SP_HEX8B, SP_HEX8I};
    static_assert(SP_ELEMENT_TYPES == 11, "which types become an element type, and which it?");
    int to[SP_ELEMENT_TYPES];
    sp_mesh made;
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        to[t] = choice->linearize ? sp_element_linear_type(t) : t;
        if (choice->serendipity)
            to[t] = t == SP_HEX27 ? SP_HEX20 : t == SP_WEDGE18 ? SP_WEDGE15 : t;
        if (to[t] == SP_HEX8)
            to[t] = of_choice[choice->hexahedra];
    }

    if (!choice->linearize && !choice->serendipity && choice->hexahedra == 0)
        return;
    tool_check(sp_mesh_retype(context, mesh, to, &made), path);
    sp_mesh_free(mesh);
    *mesh = made;
}

void import_mesh(sp_context *context, const char *path, enum import_format format, const import_mesh_choice *choice)
{
    sp_mesh mesh = {0};
    sp_notes notes = {0};
    sp_pool pool = {0};

    parse(context, path, format, choice, &mesh, &notes);
    if (choice->linearize) { /* what it drops is not judged */
        change_types(context, path, choice, &mesh);
        name_inverted(&mesh, &notes);
    }
    mesh.folded = choice->keep_folded;
    const int64_t turned = turn(path, choice, &mesh, &notes);
    warn_of_folded(path, &mesh);
    if (!choice->linearize)
        change_types(context, path, choice, &mesh);

    place(path, format, choice, &mesh);
    mesh.quadrature = (int)choice->quadrature;
    replace_materials(path, choice, &mesh);
    tool_apply_regions(context, &mesh);
    fix_lists(context, &choice->bou, &mesh);

    const sp_helix *helices = tool_read_materials(context, choice->materials, &pool, &mesh);
    tool_read_factor(context, choice->factor, &mesh);
    tool_read_fibre(context, choice->fibre, helices, &mesh);
    sp_pool_free(&pool);

    tool_apply_fixed_vertices(context, &mesh);
    embed(context, choice, &mesh);
    tool_check(sp_mesh_check(context, &mesh, 1e-3), path);

    write_mesh(context, &mesh, turned);
    sp_mesh_free(&mesh);
}
