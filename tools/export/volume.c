#include "tools/export/volume.h"

#include "formats/export/volume_write.h"
#include "mesh/mesh_sets.h"
#include "tools/common/inputs.h"

#include <stdarg.h>
#include <string.h>

/* One line that grows: what a file lacks. */
typedef struct line {
    char text[400];
    int length;
} line;

static void add(line *to, const char *format, ...) SP_PRINTF(2, 3);

static void add(line *to, const char *format, ...)
{
    va_list list;
    if (to->length > 0)
        to->length += snprintf(to->text + to->length, sizeof to->text - (size_t)to->length, ", ");
    va_start(list, format);
    to->length += vsnprintf(to->text + to->length, sizeof to->text - (size_t)to->length, format, list);
    va_end(list);
}

/* Material by material for the formats that hold materials. */
static void warn_materials(const char *path, enum tool_volume_format format, const sp_mesh *mesh)
{
    for (int64_t m = 0; m < mesh->material_count; m++) {
        const sp_material *material = &mesh->materials[m];
        if (format == TOOL_VOLUME_INP && !sp_inp_holds(material))
            tool_warn(path, "material %s: the law %s%s has no card in .inp files and is not written", material->name,
                      sp_law_name(material->law), material->fibre != SP_FIBRE_NONE ? " with fibres" : "");
        if (format == TOOL_VOLUME_VEG && material->law == SP_LAW_NEO_HOOKEAN)
            tool_warn(path, "material %s: ENU holds its constants, but not that its law is neo-hookean",
                      material->name);
        if (format == TOOL_VOLUME_VEG && (material->damping_mass > 0 || material->damping_stiffness > 0))
            tool_warn(path, "material %s: its damping has no place in .veg files", material->name);
    }
}

static void warn_names(sp_context *context, const char *path, enum tool_volume_format format, const sp_mesh *mesh)
{
    sp_pool pool = {0};
    char(*name)[SP_NAME_LENGTH], (*of_set)[SP_NAME_LENGTH];
    tool_check(sp_plain_names(context, mesh, &pool, &name), NULL);

    for (int64_t m = 0; m < mesh->material_count; m++)
        if (strcmp(name[m], mesh->materials[m].name))
            tool_warn(path, "material %s is named %s", mesh->materials[m].name, name[m]);

    if (format == TOOL_VOLUME_INP) {
        tool_check(sp_plain_set_names(context, mesh, name, &pool, &of_set), NULL);
        for (int64_t i = 0; i < mesh->set_count; i++)
            if (*of_set[i] && strcmp(of_set[i], mesh->sets[i].name))
                tool_warn(path, "set %s of %s is named %s", mesh->sets[i].name, sp_set_kind_names[mesh->sets[i].kind],
                          of_set[i]);
    }
    sp_pool_free(&pool);
}

/* The type as which elements of a type are read from a file of the format again: the first with the same mark there. */
static int read_as(enum tool_volume_format format, int type)
{
    const sp_element_type *of = sp_element_types;
    int first = 0;
    while (format == TOOL_VOLUME_INP
               ? !of[first].abaqus || !of[type].abaqus || strcmp(of[first].abaqus, of[type].abaqus)
               : of[first].vtk != of[type].vtk)
        first++;
    return first;
}

/* Whether a file of the format keeps a set; VTK has no cells for the faces of elements. */
static bool keeps_set(enum tool_volume_format format, const sp_mesh *mesh, const sp_mesh_set *set)
{
    if (set->kind == SP_SET_ELEMENTS && sp_volume_is_region(mesh, set) && format != TOOL_VOLUME_TETGEN)
        return true;
    switch (format) {
    case TOOL_VOLUME_INP:
    case TOOL_VOLUME_MSH:
        return true;
    case TOOL_VOLUME_MSH_2:
        return set->kind != SP_SET_ELEMENTS;
    case TOOL_VOLUME_MEDIT:
        return set->kind == SP_SET_FACES;
    case TOOL_VOLUME_VTK:
        return set->kind != SP_SET_FACES;
    default:
        return false;
    }
}

/* "2 named sets of faces", for each kind. */
static void add_sets(line *missing, enum tool_volume_format format, const sp_mesh *mesh)
{
    for (int kind = 0; kind < SP_SET_KINDS; kind++) {
        int64_t count = 0;
        for (int64_t i = 0; i < mesh->set_count; i++)
            count += (int)mesh->sets[i].kind == kind && !keeps_set(format, mesh, &mesh->sets[i]);
        if (count > 0)
            add(missing, "%lld named sets of %s", (long long)count, sp_set_kind_names[kind]);
    }
}

/* Medit has numbers in place of names. */
static void say_references(const char *path, const sp_mesh *mesh)
{
    for (int64_t i = 0; i < mesh->set_count; i++)
        if (sp_medit_reference(mesh, i))
            tool_warn(path, "the faces of set %s have the reference %lld", mesh->sets[i].name,
                      (long long)sp_medit_reference(mesh, i));
}

void tool_export_warn_missing(const char *path, enum tool_volume_format format, const sp_mesh *mesh)
{
    bool names = format == TOOL_VOLUME_MSH || format == TOOL_VOLUME_MSH_2;
    line missing = {.length = 0};
    int64_t partly = 0;

    for (int64_t i = 0; i < mesh->fixed_count; i++)
        partly += mesh->fixed_axes[i] != 7;
    if (format == TOOL_VOLUME_BOU && partly > 0)
        add(&missing, "%lld vertices that are fixed in some components only", (long long)partly);

    if (format != TOOL_VOLUME_BOU && format != TOOL_VOLUME_INTERP) {
        if (format != TOOL_VOLUME_INP && format != TOOL_VOLUME_VEG)
            add(&missing, "the materials' %s", names ? "constants" : "names and constants");
        if (mesh->factor)
            add(&missing, "the elements' factors");
        if (mesh->fibre)
            add(&missing, "the directions of fibres");

        if (format != TOOL_VOLUME_INP && mesh->fixed_count > 0)
            add(&missing, "%lld fixed vertices%s", (long long)mesh->fixed_count,
                format == TOOL_VOLUME_VEG ? " (see .bou)" : "");
        add_sets(&missing, format, mesh);

        if (mesh->surface.vertex_count > 0)
            add(&missing, "the embedded surface%s", format == TOOL_VOLUME_VEG ? " (see .interp and .obj)" : "");
        if (mesh->block[SP_HEX8].count > 0 && mesh->quadrature != 2)
            add(&missing, "the quadrature %d", mesh->quadrature);

        for (int t = 0; t < SP_ELEMENT_TYPES; t++)
            if (mesh->block[t].count > 0 && read_as(format, t) != t)
                add(&missing, "that %lld elements are of type %s, not %s", (long long)mesh->block[t].count,
                    sp_element_types[t].name, sp_element_types[read_as(format, t)].name);
    }

    if (missing.length > 0)
        tool_warn(path, "not in this file: %s", missing.text);
}

static void warn(sp_context *context, const char *path, enum tool_volume_format format, const sp_mesh *mesh)
{
    if (format == TOOL_VOLUME_INP || format == TOOL_VOLUME_VEG) {
        warn_names(context, path, format, mesh);
        warn_materials(path, format, mesh);
    }
    if (format == TOOL_VOLUME_VEG && !sp_veg_cubes(mesh))
        tool_warn(path, "VegaFEM takes hexahedra for equal cubes along the axes, which these are not");
    if (format == TOOL_VOLUME_MEDIT)
        say_references(path, mesh);
    tool_export_warn_missing(path, format, mesh);
}

static int write_one(sp_context *context, enum tool_volume_format format, int descriptor, const sp_mesh *mesh)
{
    switch (format) {
    case TOOL_VOLUME_MSH:
        return sp_msh_write(context, descriptor, 4, mesh);
    case TOOL_VOLUME_MSH_2:
        return sp_msh_write(context, descriptor, 2, mesh);
    case TOOL_VOLUME_MEDIT:
        return sp_medit_write(context, descriptor, mesh);
    case TOOL_VOLUME_VTK:
        return sp_vtk_write(context, descriptor, mesh);
    case TOOL_VOLUME_INP:
        return sp_inp_write(context, descriptor, mesh);
    case TOOL_VOLUME_VEG:
        return sp_veg_write(context, descriptor, mesh);
    case TOOL_VOLUME_BOU:
        return sp_bou_write(context, descriptor, mesh);
    default:
        return sp_interp_write(context, descriptor, mesh);
    }
}

/* A mesh that does not fit is a fault of the input, the rest one of the output. */
static void check_written(int status, const char *mesh_path, const char *target)
{
    tool_check(status, status == SP_INPUT ? mesh_path : target);
}

/* NAME.node and NAME.ele appear together. */
static void write_tetgen(sp_context *context, const char *target, const char *mesh_path, const sp_mesh *mesh)
{
    const char *slash = strrchr(target, '/'), *dot = strrchr(slash ? slash : target, '.');
    bool nodes = dot && !strcmp(dot, ".node");
    char other[4096];
    if (!nodes && !(dot && !strcmp(dot, ".ele")))
        tool_fail(SP_USAGE, target, "TetGen's files are two: name one that ends in .node or .ele");
    if (snprintf(other, sizeof other, "%.*s%s", (int)(dot - target), target, nodes ? ".ele" : ".node") >=
        (int)sizeof other)
        tool_fail(SP_USAGE, target, "the name is too long");
    tool_output *first = tool_output_open(nodes ? target : other), *second = tool_output_open(nodes ? other : target);
    check_written(sp_tetgen_write_nodes(context, tool_output_descriptor(first), mesh), mesh_path, target);
    check_written(sp_tetgen_write_elements(context, tool_output_descriptor(second), mesh), mesh_path, target);
    tool_output_finish(first, NULL);
    tool_output_finish(second, NULL);
}

void tool_export_volume(sp_context *context, enum tool_volume_format format, int count, const char *const *paths,
                        const char *target)
{
    tool_mesh mesh;
    if (count != 1)
        tool_fail(SP_USAGE, NULL, "this format takes one mesh, not %d files", count);

    tool_read_mesh(paths[0], NULL, &mesh);
    tool_outputs_hold(true);
    if (format == TOOL_VOLUME_TETGEN)
        write_tetgen(context, target, mesh.path, &mesh.mesh);
    else {
        tool_output *output = tool_output_open(target);
        check_written(write_one(context, format, tool_output_descriptor(output), &mesh.mesh), mesh.path, target);
        tool_output_finish(output, NULL);
    }

    warn(context, target, format, &mesh.mesh);
    tool_outputs_hold(false); /* what can fail is done */
    sp_mesh_free(&mesh.mesh);
}
