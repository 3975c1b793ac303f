#include "tools/export/vtu.h"

#include "assembly/elastic.h"
#include "assembly/nodal_stress.h"
#include "formats/activation.h"
#include "formats/export/volume_write.h"
#include "formats/export/vtu.h"
#include "material/stress.h"
#include "mesh/mesh_sets.h"
#include "model/loads.h"
#include "tools/common/skin.h"
#include "tools/export/volume.h"

#include <math.h>
#include <string.h>

enum { ARRAY_NAME = 80 };

enum { ARRAYS = 9 }; /* most arrays of a frame beside those of sets */

/* What all files of one run share. */
typedef struct export_state {
    sp_context *context;
    tool_trajectory *motion;
    const tool_vtu_choice *choice;
    sp_pool pool;
    tool_skin skin;   /* with --surface */
    sp_fe_space body; /* with --fields */
    int64_t point_count;
    double *full, *displacement, *velocity; /* full: [3·vertices]; the others at the points that are written */
    double *strain, *stress, *density;      /* of the elements */
    double *nodal_stress, *nodal_mises, *nodal_largest; /* of the vertices */
    int64_t activation_count;
    sp_activation *activations;
    int64_t set_count;    /* of a mesh alone */
    sp_vtu_array *sets;   /* [set_count] */
    sp_vtu_array *arrays; /* [ARRAYS + set_count] of a frame */
} export_state;

static void *numbers(export_state *state, int64_t count)
{
    return tool_allocate(&state->pool, count, sizeof(double));
}

static void read_activations(export_state *state)
{
    const char *path = state->choice->activation;
    int64_t length;
    const char *text = tool_read_bytes(path, "activation", &state->pool, &length);
    tool_check(sp_activations_parse(state->context, text, length, &state->motion->simulated, &state->pool,
                                    &state->activation_count, &state->activations),
               path);
}

/* Named sets as arrays of 0 and 1: of elements at the cells, all others at the points, of faces at their vertices. */
static void open_sets(export_state *state)
{
    const sp_mesh *mesh = &state->motion->mesh.mesh;
    char(*regions)[SP_NAME_LENGTH], (*names)[SP_NAME_LENGTH];

    tool_check(sp_plain_names(state->context, mesh, &state->pool, &regions), NULL);
    tool_check(sp_plain_set_names(state->context, mesh, regions, &state->pool, &names), NULL);

    state->sets = tool_allocate(&state->pool, mesh->set_count, sizeof *state->sets);
    for (int64_t i = 0; i < mesh->set_count; i++) {
        const sp_mesh_set *set = &mesh->sets[i];
        const bool cells = set->kind == SP_SET_ELEMENTS;

        if (!*names[i])
            continue;

        const int64_t room = (int64_t)sizeof names[i] + 8;
        char *name = tool_allocate(&state->pool, room, 1);
        int64_t *within =
            tool_allocate(&state->pool, cells ? sp_mesh_element_count(mesh) : mesh->vertex_count, sizeof *within);
        snprintf(name, (size_t)room, "set_%s", names[i]);

        for (int64_t k = 0; k < set->count; k++) {
            int64_t node[SP_ELEMENT_NODES];
            const int count = cells ? 0 : sp_mesh_set_nodes(mesh, set, k, node);
            for (int a = 0; a < count; a++)
                within[node[a]] = 1;
            if (cells)
                within[set->index[k]] = 1;
        }

        state->sets[state->set_count++] =
            (sp_vtu_array){.name = name, .cells = cells, .components = 1, .whole = within};
    }
}

static void open_state(export_state *state)
{
    const tool_trajectory *motion = state->motion;
    const sp_mesh *mesh = &motion->mesh.mesh;

    if (state->choice->surface && mesh->surface.triangle_count == 0)
        tool_fail(SP_INPUT, motion->mesh.path, "--surface: the mesh has no embedded surface");
    if (state->choice->surface)
        tool_skin_open(state->context, mesh, false, &state->skin);
    state->point_count = state->choice->surface ? state->skin.vertex_count : mesh->vertex_count;

    state->full = numbers(state, 3 * mesh->vertex_count);
    state->displacement = numbers(state, 3 * state->point_count);
    state->velocity = numbers(state, 3 * state->point_count);

    if (!motion->path && !motion->columns.path && !state->choice->surface)
        open_sets(state);
    state->arrays = tool_allocate(&state->pool, ARRAYS + state->set_count, sizeof *state->arrays);

    if (state->choice->fields) {
        int64_t elements = sp_mesh_element_count(mesh);
        tool_check(sp_fe_space_new_prescribed(state->context, &motion->simulated, &state->body), motion->mesh.path);
        state->strain = numbers(state, 6 * elements);
        state->stress = numbers(state, 6 * elements);
        state->density = numbers(state, elements);
        state->nodal_stress = numbers(state, 6 * mesh->vertex_count);
        state->nodal_mises = numbers(state, mesh->vertex_count);
        state->nodal_largest = numbers(state, mesh->vertex_count);

        if (state->choice->activation)
            read_activations(state);
        else if (motion->path && tool_meta_has_input(motion->trajectory.meta, "activation"))
            tool_warn(motion->path,
                      "stress and energy density are without the tension that fibres had: name it with --activation");
    }
}

static void close_state(export_state *state)
{
    if (state->choice->surface)
        tool_skin_close(&state->skin);
    if (state->choice->fields)
        sp_fe_space_free(&state->body);
    sp_pool_free(&state->pool);
}

/* The mesh or its surface, with memory for `arrays` arrays beside those of sets. */
static sp_vtu start_file(const export_state *state, sp_vtu_array *arrays)
{
    const sp_mesh *mesh = &state->motion->mesh.mesh;
    if (state->choice->surface)
        return (sp_vtu){.vertex_count = state->point_count,
                        .vertices = state->skin.rest,
                        .triangle_count = state->skin.triangle_count,
                        .triangle = state->skin.triangles,
                        .arrays = arrays};
    arrays[0] = (sp_vtu_array){.name = "region", .cells = true, .components = 1, .whole = mesh->region};
    sp_vtu vtu = {.vertex_count = mesh->vertex_count, .vertices = mesh->vertices, .arrays = arrays, .array_count = 1};
    memcpy(vtu.block, mesh->block, sizeof vtu.block);
    for (int64_t i = 0; i < state->set_count; i++)
        arrays[vtu.array_count++] = state->sets[i];
    return vtu;
}

/* A vector at the mesh's vertices goes to the points that are written. */
static void to_points(const export_state *state, const double *from, double *to)
{
    if (state->choice->surface)
        tool_skin_values(&state->skin, 3, from, to);
    else
        memcpy(to, from, 3 * (size_t)state->point_count * sizeof *to);
}

void tool_vtu_write(sp_context *context, const char *path, const sp_vtu *vtu)
{
    tool_output *output = tool_output_open(path);
    tool_check(sp_vtu_write(context, tool_output_descriptor(output), vtu), path);
    tool_output_finish(output, NULL);
}

static void add(sp_vtu *vtu, sp_vtu_array *arrays, sp_vtu_array array)
{
    arrays[vtu->array_count++] = array;
}

/* Cauchy's stress at the vertices, its von Mises value and its largest principal value. */
static void add_nodal_stress(export_state *state, sp_vtu *vtu, sp_vtu_array *arrays)
{
    const sp_mesh *mesh = &state->motion->mesh.mesh;
    tool_check(sp_elastic_nodal_stress(state->context, &state->body, state->full, state->nodal_stress),
               state->motion->mesh.path);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        state->nodal_mises[v] = sp_cauchy_mises(state->nodal_stress + 6 * v);
        state->nodal_largest[v] = sp_tensor_largest(state->nodal_stress + 6 * v);
    }
    sp_vtu_from_voigt(mesh->vertex_count, state->nodal_stress);
    add(vtu, arrays,
        (sp_vtu_array){
            .name = "cauchy_stress", .components = 6, .components_named = sp_vtu_tensor, .real = state->nodal_stress});
    add(vtu, arrays, (sp_vtu_array){.name = "von_mises_stress", .components = 1, .real = state->nodal_mises});
    add(vtu, arrays, (sp_vtu_array){.name = "largest_principal_stress", .components = 1, .real = state->nodal_largest});
}

static void write_frame(export_state *state, int64_t frame, const char *path)
{
    static const char *const xyz[3] = {"X", "Y", "Z"};
    sp_vtu_array *arrays = state->arrays;
    tool_trajectory *motion = state->motion;
    sp_vtu vtu = start_file(state, arrays);
    double time = tool_trajectory_time(motion, frame);

    if (motion->path) {
        tool_trajectory_velocity(motion, frame, state->full);
        to_points(state, state->full, state->velocity);
        tool_trajectory_displacement(motion, frame, state->full);
        to_points(state, state->full, state->displacement);
        add(&vtu, arrays,
            (sp_vtu_array){
                .name = "displacement", .components = 3, .components_named = xyz, .real = state->displacement});
        add(&vtu, arrays,
            (sp_vtu_array){.name = "velocity", .components = 3, .components_named = xyz, .real = state->velocity});
        vtu.time = &time;
    }

    if (state->choice->fields) {
        int64_t elements = sp_mesh_element_count(&motion->mesh.mesh);

        for (int64_t i = 0; i < state->activation_count; i++)
            motion->simulated.materials[state->activations[i].region].fibre_tension =
                sp_activation_tension(&state->activations[i], time);
        tool_check(
            sp_elastic_fields(state->context, &state->body, state->full, state->strain, state->stress, state->density),
            motion->mesh.path);

        sp_vtu_from_voigt(elements, state->strain);
        sp_vtu_from_voigt(elements, state->stress);
        add(&vtu, arrays,
            (sp_vtu_array){.name = "green_lagrange_strain",
                           .cells = true,
                           .components = 6,
                           .components_named = sp_vtu_tensor,
                           .real = state->strain});
        add(&vtu, arrays,
            (sp_vtu_array){.name = "second_piola_kirchhoff_stress",
                           .cells = true,
                           .components = 6,
                           .components_named = sp_vtu_tensor,
                           .real = state->stress});
        add(&vtu, arrays,
            (sp_vtu_array){.name = "energy_density", .cells = true, .components = 1, .real = state->density});
        add_nodal_stress(state, &vtu, arrays);
    }
    tool_vtu_write(state->context, path, &vtu);
}

/* What the file says of each column beside U, in the order of the arrays: Hz for modes. */
static sp_vtu_field column_numbers(export_state *state, int64_t count, const int64_t *chosen)
{
    const sp_columns *columns = &state->motion->columns.columns;
    const char *name;
    const double *value;
    if (columns->eigenvalue) {
        name = "frequency";
        value = columns->eigenvalue;
    } else if (columns->singular_value) {
        name = "singular_value";
        value = columns->singular_value;
    } else if (columns->factor) {
        name = "load_factor";
        value = columns->factor;
    } else
        return (sp_vtu_field){0};

    double *real = numbers(state, count);
    for (int64_t i = 0; i < count; i++)
        real[i] = columns->eigenvalue ? sqrt(fmax(value[chosen[i]], 0)) / 6.283185307179586 : value[chosen[i]];
    return (sp_vtu_field){name, count, real};
}

static void write_columns(export_state *state, int64_t count, const int64_t *chosen)
{
    static const char *const xyz[3] = {"X", "Y", "Z"};
    const tool_columns *file = &state->motion->columns;
    const int64_t *pair = file->columns.pair;
    char word[SP_KIND_LENGTH];

    snprintf(word, sizeof word, "%s", !strcmp(file->kind, "basis") ? "basis" : file->kind);
    if (!strcmp(file->kind, "modes") || !strcmp(file->kind, "snapshots") || !strcmp(file->kind, "derivatives"))
        word[strlen(word) - 1] = 0; /* each is one of them */

    sp_vtu_array *arrays = tool_allocate(&state->pool, count + 1 + state->set_count, sizeof *arrays);
    char(*name)[ARRAY_NAME] = tool_allocate(&state->pool, count, sizeof *name);
    sp_vtu vtu = start_file(state, arrays);

    for (int64_t i = 0; i < count; i++) {
        int64_t column = chosen[i];
        const double *U = file->columns.U + column * file->columns.rows, *data = U;

        if (pair)
            snprintf(name[i], sizeof name[i], "%s_%03lld_%03lld", word, (long long)pair[2 * column] + 1,
                     (long long)pair[2 * column + 1] + 1);
        else
            snprintf(name[i], sizeof name[i], "%s_%03lld", word, (long long)column + 1);

        if (state->choice->surface) {
            double *at_points = numbers(state, 3 * state->point_count);
            to_points(state, U, at_points);
            data = at_points;
        }

        add(&vtu, arrays, (sp_vtu_array){.name = name[i], .components = 3, .components_named = xyz, .real = data});
    }

    sp_vtu_field field = column_numbers(state, count, chosen);
    vtu.fields = &field;
    vtu.field_count = field.count > 0;
    tool_vtu_write(state->context, state->choice->target, &vtu);
}

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && !strcmp(text + a - b, end);
}

void tool_vtu_names(const char *target, sp_pool *pool, char **pattern, char **index)
{
    int64_t room = (int64_t)strlen(target) + 16;
    char *stem;
    bool given = tool_pattern(target);
    tool_pattern_path(target, -1, pool, &stem); /* without the number */

    if (ends_with(stem, ".vtu") || ends_with(stem, ".pvd"))
        stem[strlen(stem) - 4] = 0;
    *pattern = tool_allocate(pool, room, 1);
    *index = tool_allocate(pool, room, 1);

    snprintf(*pattern, (size_t)room, given ? "%s" : "%s_%%04d.vtu", given ? target : stem);
    /* The index has the name before the number, without what separates both. */
    if (given)
        for (size_t length = strlen(stem); length > 1 && strchr("_-.", stem[length - 1]) && stem[length - 2] != '/';
             length--)
            stem[length - 1] = 0;

    snprintf(*index, (size_t)room, "%s.pvd", stem);
    if (ends_with(*pattern, ".pvd"))
        tool_fail(SP_USAGE, *pattern, "the index is one file: no pattern");
}

bool tool_vtu_series(const char *target, int64_t frames)
{
    const bool series = frames > 1 || tool_pattern(target) || ends_with(target, ".pvd");
    if (series && !strcmp(target, "-"))
        tool_fail(SP_USAGE, NULL, "%lld frames do not go into one file: choose one with --frames", (long long)frames);
    return series;
}

const char *tool_vtu_frame(const char *pattern, int64_t number, sp_pool *pool, char **path)
{
    tool_pattern_path(pattern, number, pool, path);
    const char *slash = strrchr(*path, '/');
    return slash ? slash + 1 : *path;
}

tool_output *tool_vtu_index_open(const char *index)
{
    tool_output *output = tool_output_open(index);
    tool_output_is_index(output);
    return output;
}

void tool_vtu_index(sp_context *context, tool_output *output, const char *index, int64_t count, const double *time,
                    const char *const *names)
{
    tool_check(sp_pvd_write(context, tool_output_descriptor(output), count, time, names), index);
    tool_output_finish(output, NULL);
}

static void write_series(export_state *state, int64_t count, const int64_t *frame)
{
    char *pattern, *index;

    tool_vtu_names(state->choice->target, &state->pool, &pattern, &index);
    const char **name = tool_allocate(&state->pool, count, sizeof *name);
    double *time = numbers(state, count);
    tool_output *output = tool_vtu_index_open(index);

    for (int64_t i = 0; i < count; i++) {
        char *path;
        name[i] = tool_vtu_frame(pattern, i, &state->pool, &path);
        write_frame(state, frame[i], path);
        time[i] = tool_trajectory_time(state->motion, frame[i]);
        tool_check(sp_progress(state->context, (double)(i + 1) / (double)count), NULL);
    }

    tool_vtu_index(state->context, output, index, count, time, name);
    tool_say("%lld frames, index %s", (long long)count, index);
}

void tool_export_vtu(sp_context *context, tool_trajectory *motion, const tool_vtu_choice *choice)
{
    export_state state = {.context = context, .motion = motion, .choice = choice};
    const char *target = choice->target;

    if (!motion->mesh.path)
        tool_fail(SP_USAGE, NULL, "VTU needs the mesh: name its file too");
    bool columns = !motion->path && motion->columns.path, pattern = tool_pattern(target);
    if (columns && (pattern || ends_with(target, ".pvd")))
        tool_fail(SP_USAGE, NULL, "columns go to one .vtu file");

    sp_list list = {0};
    tool_trajectory_choose(motion, choice->frames, choice->every, choice->columns, &list);
    bool series = !columns && tool_vtu_series(target, list.count);
    tool_trajectory_need_all(motion);

    open_state(&state);
    if (columns)
        write_columns(&state, list.count, list.data);
    else if (series)
        write_series(&state, list.count, list.data);
    else
        write_frame(&state, *(int64_t *)list.data, target);

    if (!motion->path && !columns && !choice->surface) /* a mesh, which other programs and simimport read */
        tool_export_warn_missing(target, TOOL_VOLUME_VTK, &motion->mesh.mesh);
    sp_list_free(&list);
    close_state(&state);
}
