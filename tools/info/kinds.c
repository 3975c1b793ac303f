/* The lines that siminfo prints for each kind of file. */
#include "formats/kinds.h"
#include "formats/certificate.h"
#include "formats/cubature.h"
#include "formats/curve.h"
#include "formats/domains.h"
#include "formats/mesh.h"
#include "formats/plain.h"
#include "formats/scene_trajectory.h"
#include "formats/skin.h"
#include "formats/trajectory.h"
#include "mesh/mesh_sets.h"
#include "tools/info/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* by_element: fibre directions are in a member. */
static void print_material(const sp_material *material, int64_t elements, double volume, bool by_element, FILE *stream)
{
    fputs("region    ", stream);
    sp_print_plain(material->name, stream);
    fprintf(stream, ": %lld elements, %.6g m3, %s, density %g kg/m3", (long long)elements, volume,
            sp_law_name(material->law), material->density);

    switch (sp_law_constants(material->law)) {
    case SP_CONSTANTS_YOUNG:
        fprintf(stream, ", young %g Pa, poisson %g", material->young, material->poisson);
        break;
    case SP_CONSTANTS_STIFFNESS: /* 21 numbers are too many */
        break;
    case SP_CONSTANTS_MOONEY:
        fprintf(stream, ", mu01 %g, mu10 %g, v1 %g Pa", material->mooney[0], material->mooney[1], material->mooney[2]);
    }

    if (material->fibre != SP_FIBRE_NONE)
        fprintf(stream, ", %s fibres %g Pa", sp_fibre_name(material->fibre), material->fibre_stiffness);
    if (material->fibre != SP_FIBRE_NONE && by_element)
        fprintf(stream, " along directions by element");
    else if (material->fibre != SP_FIBRE_NONE)
        fprintf(stream, " along %g %g %g", material->fibre_direction[0], material->fibre_direction[1],
                material->fibre_direction[2]);

    if (material->damping_mass > 0 || material->damping_stiffness > 0)
        fprintf(stream, ", damping %g 1/s, %g s", material->damping_mass, material->damping_stiffness);
    putc('\n', stream);
}

static void print_set(const sp_mesh_set *set, FILE *stream)
{
    fputs("set       ", stream);
    sp_print_plain(set->name, stream);
    fprintf(stream, ": %lld %s\n", (long long)set->count, sp_set_kind_names[set->kind]);
}

static int print_mesh(sp_context *context, info_file *info, FILE *stream)
{
    sp_mesh mesh;
    char cut_from[SP_HASH_LENGTH];
    int64_t *origin, origin_count;
    int status = sp_mesh_read_origin(context, &info->file, &info->file.members.pool, cut_from, &origin_count, &origin);

    if (status == SP_OK)
        status = sp_mesh_read(context, &info->file, &mesh);
    if (status != SP_OK)
        return status;

    double low[3], high[3], total = 0;
    int64_t elements = sp_mesh_element_count(&mesh), fixed = 0;
    sp_mesh_box(&mesh, low, high);
    double *volume = sp_pool_new(&mesh.pool, mesh.material_count, sizeof *volume);
    int64_t *count = sp_pool_new(&mesh.pool, mesh.material_count, sizeof *count);
    if (mesh.pool.failed) {
        sp_mesh_free(&mesh);
        return sp_fail_memory(context);
    }

    for (int64_t e = 0; e < elements; e++) {
        double one = sp_mesh_element_volume(&mesh, e);
        volume[mesh.region[e]] += one;
        count[mesh.region[e]]++;
        total += one;
    }

    for (int64_t i = 0; i < mesh.fixed_count; i++)
        fixed += __builtin_popcount(mesh.fixed_axes ? mesh.fixed_axes[i] : 7);
    char of_types[400];
    sp_mesh_list_elements(&mesh, of_types, sizeof of_types);

    fprintf(stream, "mesh      %lld vertices, %s; quadrature %d\n", (long long)mesh.vertex_count, of_types,
            mesh.quadrature);
    fprintf(stream, "box       %g %g %g to %g %g %g m\n", low[0], low[1], low[2], high[0], high[1], high[2]);
    if (mesh.up)
        fprintf(stream, "up        %c\n", mesh.up);
    fprintf(stream, "volume    %.9g m3\n", total);

    for (int64_t i = 0; i < mesh.material_count; i++)
        print_material(&mesh.materials[i], count[i], volume[i], mesh.fibre != NULL, stream);
    fprintf(stream, "fixed     %lld vertices, %lld of %lld degrees of freedom\n", (long long)mesh.fixed_count,
            (long long)fixed, (long long)(3 * mesh.vertex_count));

    fprintf(stream, "surface   %lld vertices, %lld triangles\n", (long long)mesh.surface.vertex_count,
            (long long)mesh.surface.triangle_count);
    for (int64_t i = 0; i < mesh.set_count; i++)
        print_set(&mesh.sets[i], stream);

    if (origin) {
        int64_t old = 0;
        while (old < origin_count && origin[old] == old)
            old++;
        fprintf(stream, "cut       from a mesh of hash %.12s with %lld vertices\n", cut_from, (long long)old);
    }

    sp_mesh_free(&mesh);
    return SP_OK;
}

/* A member that the summary of the kind reads, by the table of the kind. */
static int take(sp_context *context, info_file *info, const char *name, sp_array **array)
{
    return sp_kind_take(context, &info->file.members, sp_kind_find(sp_file_kind(&info->file)), name, array);
}

/* A rank-1 member of numbers; NULL in *values where there is none. */
static int take_numbers(sp_context *context, info_file *info, const char *name, int64_t *count, const double **values)
{
    sp_array *array;
    *count = 0;
    *values = NULL;
    if (!sp_members_find(&info->file.members, name))
        return SP_OK;
    SP_PASS(take(context, info, name, &array));
    *count = array->count;
    *values = array->data;
    return SP_OK;
}

enum { ROWS = 40 };

static int print_modes(sp_context *context, info_file *info, FILE *stream)
{
    int64_t count, residual_count;
    const double *eigenvalue, *residual;

    SP_PASS(take_numbers(context, info, "eigenvalue", &count, &eigenvalue));
    SP_PASS(take_numbers(context, info, "residual", &residual_count, &residual));

    fprintf(stream, "modes     %lld, orthonormal in the %.40s mass, %lld rigid\n", (long long)count,
            summary_text_of(info->file.meta, "mass"),
            (long long)json_integer_value(json_object_get(info->file.meta, "rigid")));
    if (json_object_get(info->file.meta, "about"))
        fprintf(stream, "about     the static equilibrium of hash %.12s\n", summary_text_of(info->file.meta, "about"));

    for (int64_t i = 0; i < count; i++)
        if (i < ROWS || i + 1 == count)
            fprintf(stream, "%8lld  %15.9g Hz  residual %.1e\n", (long long)i + 1,
                    eigenvalue[i] > 0 ? sqrt(eigenvalue[i]) / 6.283185307179586 : 0,
                    i < residual_count ? residual[i] : 0);
        else if (i == ROWS)
            fprintf(stream, "     ...\n");
    return SP_OK;
}

static int print_basis(sp_context *context, info_file *info, FILE *stream)
{
    int64_t count;
    const double *value;
    SP_PASS(take_numbers(context, info, "singular_value", &count, &value));
    fprintf(stream, "basis     orthonormal in the %.40s mass\n", summary_text_of(info->file.meta, "mass"));
    for (int64_t i = 0; i < count; i++)
        if (i < ROWS || i + 1 == count)
            fprintf(stream, "%8lld  singular value %.6e (%.2e of the first)\n", (long long)i + 1, value[i],
                    value[0] > 0 ? value[i] / value[0] : 0);
        else if (i == ROWS)
            fprintf(stream, "     ...\n");
    return SP_OK;
}

static int print_polynomials(sp_context *context, info_file *info, FILE *stream)
{
    (void)context;
    const json_t *meta = info->file.meta;
    long long r = (long long)json_integer_value(json_object_get(meta, "r"));
    size_t i;
    json_t *part;

    fprintf(stream, "r         %lld coordinates, Gram matrices of order %lld; density factor %g\n", r,
            r + r * (r + 1) / 2, json_number_value(json_object_get(meta, "density")));

    json_array_foreach(json_object_get(meta, "parts"), i, part)
    {
        fprintf(stream, "part      %lld: region ", (long long)i);
        sp_print_plain(summary_text_of(part, "group"), stream);
        fprintf(stream, ", constant %.40s, value %g\n", summary_text_of(part, "constant"),
                json_number_value(json_object_get(part, "value")));
    }

    json_array_foreach(json_object_get(meta, "groups"), i, part)
    {
        fputs("mass      of region ", stream);
        sp_print_plain(summary_text_of(part, "group"), stream);
        fprintf(stream, " apart, density %g kg/m3\n", json_number_value(json_object_get(part, "density")));
    }
    return SP_OK;
}

/* Of each coordinate's weights, or of all elements': how many are not 0, and their sum, which is about the number of
 * all elements. */
static void print_weights(const char *word, const sp_cubature *cubature, const double *weight, FILE *stream)
{
    int64_t columns = cubature->modal ? cubature->r : 1, used = 0;
    double least = 0, most = 0, largest = 0;

    for (int64_t e = 0; e < cubature->count; e++) {
        bool any = false;
        for (int64_t j = 0; j < columns; j++) {
            any |= weight[j * cubature->count + e] > 0;
            largest = fmax(largest, weight[j * cubature->count + e]);
        }
        used += any;
    }

    for (int64_t j = 0; j < columns; j++) {
        double sum = 0;
        for (int64_t e = 0; e < cubature->count; e++)
            sum += weight[j * cubature->count + e];
        least = j ? fmin(least, sum) : sum;
        most = fmax(most, sum);
    }

    if (cubature->modal)
        fprintf(stream, "%-8s  by coordinate, on %lld elements, sums %.6g to %.6g, largest %.6g\n", word,
                (long long)used, least, most, largest);
    else
        fprintf(stream, "%-8s  on %lld elements, sum %.6g, largest %.6g\n", word, (long long)used, most, largest);
}

static int print_cubature(sp_context *context, info_file *info, FILE *stream)
{
    sp_cubature cubature;
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    SP_PASS(sp_cubature_read(context, &info->file, -1, &cubature, mesh, basis));
    fprintf(stream, "elements  %lld, numbers %lld to %lld; %lld coordinates\n", (long long)cubature.count,
            (long long)cubature.element[0], (long long)cubature.element[cubature.count - 1], (long long)cubature.r);
    print_weights("weights", &cubature, cubature.weight, stream);
    if (cubature.nested)
        print_weights("nested", &cubature, cubature.nested, stream);
    sp_cubature_free(&cubature);
    return SP_OK;
}

static int print_training(sp_context *context, info_file *info, FILE *stream)
{
    (void)context;
    const json_t *meta = info->file.meta;
    long long first = (long long)json_integer_value(json_object_get(meta, "first")),
              total = (long long)json_integer_value(json_object_get(meta, "total"));
    const sp_array *q = sp_members_find(&info->file.members, "q");
    const long long count = q && q->rank == 2 ? (long long)q->shape[1] : 0;
    fprintf(stream, "poses     %lld in %lld coordinates", count,
            (long long)json_integer_value(json_object_get(meta, "r")));
    if (count < total && first >= 0 && first <= total - count)
        fprintf(stream, ", a shard: numbers %lld to %lld of %lld", first, first + count - 1, total);
    putc('\n', stream);
    return SP_OK;
}

/* What all files with frames have: the number of frames, the times of the first and last one, and its energies. */
typedef struct frames {
    long long count;
    double begin, end;
    const double *energy; /* NULL: none */
} frames;

static void add_frames(frames *all, const sp_array *array, int energies)
{
    const double *values = array->data;
    if (array->count && !strncmp(array->name, "time/", 5)) {
        all->begin = all->count ? all->begin : values[0];
        all->end = values[array->count - 1];
        all->count += array->shape[0];
    } else if (array->count)
        all->energy = values + array->count - energies;
}

static void print_frames(const frames *all, const info_file *info, FILE *stream)
{
    fprintf(stream, "frames    %lld from %g s to %g s%s\n", all->count, all->begin, all->end,
            info->file.truncated ? ", then the file is cut" : "");
}

static void print_energies(const frames *all, int count, const char *const *words, FILE *stream)
{
    fprintf(stream, "energy    ");
    if (all->energy)
        for (int i = 0; i < count; i++)
            fprintf(stream, "%s%s %.9g J", i ? ", " : "", words[i], all->energy[i]);
    fprintf(stream, "%s\n", all->energy ? " in the last frame" : "not recorded");
}

/* The reactions in the last row of a member reaction/B. */
static void print_reactions(const json_t *meta, const sp_array *last, FILE *stream)
{
    if (last)
        for (int64_t g = 0; g < last->shape[1]; g++) {
            const double *x = (const double *)last->data + 6 * ((last->shape[0] - 1) * last->shape[1] + g);
            fputs("reaction  ", stream);
            sp_print_plain(sp_trajectory_reaction(meta, g), stream);
            fprintf(stream, ": %.9g %.9g %.9g N, moment %.9g %.9g %.9g N m in the last frame\n", x[0], x[1], x[2], x[3],
                    x[4], x[5]);
        }
}

static int print_trajectory(sp_context *context, info_file *info, FILE *stream)
{
    static const char *const words[SP_ENERGY_COUNT] = {"kinetic", "strain", "work", "dissipated"};
    const json_t *meta = info->file.meta;
    long long r = (long long)json_integer_value(json_object_get(meta, "r")),
              points = (long long)json_integer_value(json_object_get(meta, "points")),
              vertices = (long long)json_integer_value(json_object_get(meta, "vertices"));
    frames all = {0};
    const sp_array *reaction = NULL;

    for (int64_t i = 0; i < info->file.members.count; i++) {
        sp_array *array = &info->file.members.arrays[i];
        if (!array->data || !strchr(array->name, '/'))
            continue;
        SP_PASS(take(context, info, array->name, &array));
        if (!strncmp(array->name, "reaction/", 9))
            reaction = array;
        else
            add_frames(&all, array, SP_ENERGY_COUNT);
    }

    if (reaction && (size_t)reaction->shape[1] != json_array_size(json_object_get(meta, "reactions")))
        return sp_fail(context, SP_INPUT, "%s: it does not have a row for each of the reactions in meta",
                       reaction->name);
    print_frames(&all, info, stream);

    fprintf(stream, "records   ");
    if (r)
        fprintf(stream, "%lld reduced coordinates%s", r, points ? " and " : "");
    if (points)
        fprintf(stream, "displacements of %lld of %lld vertices", points, vertices);

    if (json_is_true(json_object_get(meta, "estimates")))
        fputs(", estimates of the error of the force", stream);
    if (json_is_true(json_object_get(meta, "residuals")))
        fputs(", residuals in the full-order equation", stream);
    if (json_is_number(json_object_get(meta, "load_end")))
        fprintf(stream, "\nloads     end at %g s", json_number_value(json_object_get(meta, "load_end")));
    putc('\n', stream);

    print_energies(&all, SP_ENERGY_COUNT, words, stream);
    print_reactions(meta, reaction, stream);
    return SP_OK;
}

/* Of the series that are kept: the frames, the largest counts of any, the contacts, and the energies of the last frame.
 */
static int print_motion_series(sp_context *context, info_file *info, FILE *stream)
{
    static const char *const energies[SP_SCENE_TRAJECTORY_ENERGIES] = {"kinetic", "strain", "gravity"};
    int64_t contacts = 0, most[SP_SCENE_TRAJECTORY_COUNTS] = {0};
    frames all = {0};

    for (int64_t i = 0; i < info->file.members.count; i++) {
        sp_array *array = &info->file.members.arrays[i];
        if (!array->data || !strchr(array->name, '/'))
            continue;
        SP_PASS(take(context, info, array->name, &array));

        const int64_t *value = array->data;
        const bool counts = !strncmp(array->name, "counts/", 7), of_contacts = !strncmp(array->name, "contact/", 8);

        if (counts)
            for (int64_t k = 0; k < array->count; k++)
                most[k % SP_SCENE_TRAJECTORY_COUNTS] =
                    value[k] > most[k % SP_SCENE_TRAJECTORY_COUNTS] ? value[k] : most[k % SP_SCENE_TRAJECTORY_COUNTS];
        if (of_contacts)
            for (int64_t f = 0; f < array->count; f++)
                if (__builtin_add_overflow(contacts, value[f], &contacts))
                    return sp_fail(context, SP_INPUT, "%s: its numbers are too large", array->name);
        if (!counts && !of_contacts)
            add_frames(&all, array, SP_SCENE_TRAJECTORY_ENERGIES);
    }

    print_frames(&all, info, stream);
    fprintf(stream, "most      %lld nodes visited, %lld passed over, %lld points in contact, level %lld\n",
            (long long)most[SP_SCENE_TRAJECTORY_VISITED], (long long)most[SP_SCENE_TRAJECTORY_PASSED],
            (long long)most[SP_SCENE_TRAJECTORY_TOUCHING], (long long)most[SP_SCENE_TRAJECTORY_LEVEL]);
    if (json_is_true(json_object_get(info->file.meta, "contacts")))
        fprintf(stream, "contacts  %lld\n", (long long)contacts);

    print_energies(&all, SP_SCENE_TRAJECTORY_ENERGIES, energies, stream);
    return SP_OK;
}

static int print_motion(sp_context *context, info_file *info, FILE *stream)
{
    const json_t *meta = info->file.meta, *bodies = json_object_get(meta, "bodies");
    size_t i;
    json_t *body;

    json_array_foreach(bodies, i, body)
    {
        if (i >= ROWS && i + 1 < json_array_size(bodies)) {
            fputs(i == ROWS ? "     ...\n" : "", stream);
            continue;
        }

        fprintf(stream, "body      %lld: ", (long long)i);
        sp_print_plain(summary_text_of(body, "name"), stream);
        fputs(", model ", stream);
        sp_print_plain(summary_text_of(body, "model"), stream);
        fprintf(stream, ", %lld reduced coordinates\n", (long long)json_integer_value(json_object_get(body, "r")));
    }
    if (json_is_true(json_object_get(meta, "coupled")))
        fputs("coupled   to a manipulandum\n", stream);
    return print_motion_series(context, info, stream);
}

static int print_field(sp_context *context, info_file *info, FILE *stream)
{
    sp_array *origin, *spacing;
    double cells[3], offset = 0;

    SP_PASS(take(context, info, "origin", &origin));
    SP_PASS(take(context, info, "spacing", &spacing));
    SP_PASS(sp_json_numbers(context, info->file.meta, "cells", 3, cells));
    const double *low = origin->data, side = *(const double *)spacing->data;

    fprintf(stream, "field     %.0f x %.0f x %.0f cells of %.6g m\n", cells[0], cells[1], cells[2], side);
    fprintf(stream, "box       %g %g %g to %g %g %g m\n", low[0], low[1], low[2], low[0] + side * cells[0],
            low[1] + side * cells[1], low[2] + side * cells[2]);

    fprintf(stream, "sign      ");
    sp_print_plain(
        *summary_text_of(info->file.meta, "sign") ? summary_text_of(info->file.meta, "sign") : "not recorded", stream);

    if (json_is_number(json_object_get(info->file.meta, "offset"))) {
        offset = json_number_value(json_object_get(info->file.meta, "offset"));
        fprintf(stream, ", at %g m from the model", offset);
    }
    putc('\n', stream);
    return SP_OK;
}

/* Counts of points by levels. */
static int print_pointshell(sp_context *context, info_file *info, FILE *stream)
{
    const json_t *meta = info->file.meta;
    sp_array *level;
    int64_t points, most = 0, r = 0, count[32] = {0};

    SP_PASS(sp_json_integer(context, meta, "points", 1, INT64_MAX, &points));
    SP_PASS(take(context, info, "level", &level));
    SP_PASS(sp_array_check(context, level, SP_I8, 1, &points));

    for (int64_t i = 0; i < level->count; i++) {
        const int64_t k = ((const int64_t *)level->data)[i];
        if (k < 1 || k > 32)
            return sp_fail(context, SP_INPUT, "level: point %lld is of level %lld", (long long)i, (long long)k);
        count[k - 1]++;
        most = k > most ? k : most;
    }

    fprintf(stream, "shell     %lld points, new in levels:", (long long)level->count);
    for (int64_t k = 0; k < most; k++)
        fprintf(stream, " %lld", (long long)count[k]);
    fprintf(stream, "\nsurface   ");
    sp_print_plain(*summary_text_of(meta, "surface") ? summary_text_of(meta, "surface") : "not recorded", stream);
    if (json_is_number(json_object_get(meta, "offset")))
        fprintf(stream, ", at %g m", json_number_value(json_object_get(meta, "offset")));

    if (json_object_get(meta, "r")) {
        SP_PASS(sp_json_integer(context, meta, "r", 1, INT64_MAX, &r));
        fprintf(stream, "\nmoves     with %lld reduced coordinates%s", (long long)r,
                sp_members_find(&info->file.members, "dTs") ? ", true normals" : "");
    }

    putc('\n', stream);
    return SP_OK;
}

static int print_sparse(sp_context *context, info_file *info, FILE *stream)
{
    (void)context;
    fputs("matrix    ", stream);
    summary_print_start(summary_text_of(info->file.meta, "matrix"), 8, stream);
    fputs(" over the free degrees of freedom\n", stream);
    return SP_OK;
}

/* Which items of a list a shard has. */
static void print_shard(const info_file *info, const char *items, FILE *stream)
{
    const json_t *meta = info->file.meta;
    if (json_object_get(meta, "total"))
        fprintf(stream, "shard     %s %lld to %lld of %lld\n", items,
                (long long)json_integer_value(json_object_get(meta, "first")),
                (long long)json_integer_value(json_object_get(meta, "end")) - 1,
                (long long)json_integer_value(json_object_get(meta, "total")));
}

/* The load factors of buckling shapes. */
static int print_factors(sp_context *context, info_file *info, FILE *stream)
{
    int64_t count;
    const double *factor;
    const int status = take_numbers(context, info, "factor", &count, &factor);
    for (int64_t i = 0; status == SP_OK && i < count; i++)
        if (i < ROWS || i + 1 == count)
            fprintf(stream, "%8lld  load factor %.9g\n", (long long)i + 1, factor[i]);
        else if (i == ROWS)
            fprintf(stream, "     ...\n");
    return status;
}

static int print_snapshots(sp_context *context, info_file *info, FILE *stream)
{
    const json_t *list = json_object_get(info->file.meta, "interfaces"), *one;
    size_t i;
    print_shard(info, "loads", stream);
    json_array_foreach(list, i, one)
    {
        fputs("interface ", stream);
        sp_print_plain(summary_text_of(one, "name"), stream);
        const long long coordinates = json_integer_value(json_object_get(one, "coordinates"));
        if (coordinates > 0)
            fprintf(stream, ", %lld coordinates (%.10s)\n", coordinates, summary_text_of(one, "frame"));
        else
            fprintf(stream, ", at rest (%.10s)\n", summary_text_of(one, "frame"));
    }
    return print_factors(context, info, stream);
}

static int print_sums(sp_context *context, info_file *info, FILE *stream)
{
    (void)context;
    fprintf(stream, "r         %lld coordinates\n",
            (long long)json_integer_value(json_object_get(info->file.meta, "r")));
    print_shard(info, "sums", stream);
    return SP_OK;
}

static int print_derivatives(sp_context *context, info_file *info, FILE *stream)
{
    (void)context;
    print_shard(info, "pairs", stream);
    fprintf(stream, "order     %lld\n", (long long)json_integer_value(json_object_get(info->file.meta, "order")));
    return SP_OK;
}

static int print_domains(sp_context *context, info_file *info, FILE *stream)
{
    sp_domains domains;
    char mesh[SP_HASH_LENGTH];
    SP_PASS(sp_domains_read(context, &info->file, &domains, mesh));
    fprintf(stream, "domains   %lld of %lld elements, %s\n", (long long)domains.count, (long long)domains.elements,
            domains.parents ? "a tree" : "no tree");
    for (int64_t i = 0; i < domains.interface_count && i < 20; i++)
        fprintf(stream, "%s%lld-%lld with %lld vertices%s", i ? ", " : "interface ", (long long)domains.pair[2 * i],
                (long long)domains.pair[2 * i + 1], (long long)(domains.start[i + 1] - domains.start[i]),
                i + 1 == domains.interface_count ? "\n"
                : i == 19                        ? ", ...\n"
                                                 : "");
    sp_domains_free(&domains);
    return SP_OK;
}

static int print_skin(sp_context *context, info_file *info, FILE *stream)
{
    sp_skin_file skin;
    SP_PASS(sp_skin_read(context, &info->file, &skin));

    int64_t attached = 0;
    for (int64_t v = 0; v < skin.skin.vertex_count; v++)
        attached += skin.skin.attached[v] >= 0;
    fprintf(stream, "skin      %lld bones, at most %lld for each of %lld vertices, %lld of them attached\n",
            (long long)skin.skin.bone_count, (long long)skin.skin.influences, (long long)skin.skin.vertex_count,
            (long long)attached);

    fprintf(stream, "bones    ");
    for (int64_t b = 0; b < skin.skin.bone_count && b < 20; b++)
        fprintf(stream, " %s", skin.names[b]);
    fprintf(stream, "%s\n", skin.skin.bone_count > 20 ? " ..." : "");

    sp_skin_free(&skin.skin);
    return SP_OK;
}

static int print_curve(sp_context *context, info_file *info, FILE *stream)
{
    static const char *const words[] = {[SP_PERIODIC_RESPONSE] = "frequency response",
                                        [SP_PERIODIC_BACKBONE] = "backbone curve",
                                        [SP_PERIODIC_FORCE] = "force sweep"};
    static const char *const events[] = {"", "folds", "branch points", "period doublings", "Neimark-Sacker points"};
    enum { EVENTS = sizeof events / sizeof *events };
    sp_curve_file curve;
    long long stable = 0, count[EVENTS] = {0};
    double low = INFINITY, high = 0, largest = 0;

    SP_PASS(sp_curve_read(context, &info->file, &curve));

    for (int64_t i = 0; i < curve.n; i++) {
        low = fmin(low, curve.frequency[i]);
        high = fmax(high, curve.frequency[i]);
        largest = fmax(largest, curve.amplitude[i]);
        stable += curve.stable[i];
        count[curve.event[i]]++; /* at most EVENTS - 1 by the table of the kind */
    }

    fprintf(stream, "curve     %s, %lld points in %lld coordinates with %lld harmonics, %lld stable\n",
            words[curve.kind], (long long)curve.n, (long long)curve.r, (long long)(curve.columns - 1) / 2, stable);
    fprintf(stream, "from      %.9g Hz to %.9g Hz, amplitude up to %.9g m\n", low, high, largest);
    for (int k = 1; k < EVENTS; k++)
        if (count[k] > 0)
            fprintf(stream, "points    %lld %s\n", count[k], events[k]);

    sp_curve_file_free(&curve);
    return SP_OK;
}

static int print_certificate(sp_context *context, info_file *info, FILE *stream)
{
    sp_certificate certificate;
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    SP_PASS(sp_certificate_read(context, &info->file, -1, &certificate, mesh, basis));
    fprintf(stream, "certificate of %lld coordinates, gravity and %lld loads: %lld columns\n", (long long)certificate.r,
            (long long)certificate.loads.count,
            (long long)sp_certificate_columns(certificate.r, certificate.loads.count));
    sp_certificate_free(&certificate);
    return SP_OK;
}

/* How many motions there are, how many failed, and what is recorded of each. */
static int print_ensemble(sp_context *context, info_file *info, FILE *stream)
{
    const json_t *meta = info->file.meta, *columns = json_object_get(meta, "columns"), *column;
    const long long r = (long long)json_integer_value(json_object_get(meta, "r")),
                    points = (long long)json_integer_value(json_object_get(meta, "points")),
                    length = (long long)json_integer_value(json_object_get(meta, "frames"));
    int64_t motions = 0, failed = 0, blocks = 0;
    size_t k;

    for (int64_t i = 0; i < info->file.members.count; i++) {
        sp_array *array = &info->file.members.arrays[i];
        if (!array->data || strncmp(array->name, "status/", 7))
            continue;
        SP_PASS(take(context, info, array->name, &array));
        for (int64_t m = 0; m < array->count; m++)
            failed += ((const int64_t *)array->data)[m] != 0;
        motions += array->count;
        blocks++;
    }

    fprintf(stream, "motions   %lld of %lld, %lld failed; in %lld blocks\n", (long long)motions,
            (long long)json_integer_value(json_object_get(meta, "motions")), (long long)failed, (long long)blocks);
    fputs("records   ", stream);
    if (length && r)
        fprintf(stream, "%lld reduced coordinates%s in %lld frames", r,
                json_is_true(json_object_get(meta, "rates")) ? " and their rates" : "", length);
    if (length && points)
        fprintf(stream, "displacements of %lld vertices in %lld frames", points, length);
    if (json_is_true(json_object_get(meta, "statistics")))
        fprintf(stream, "%sstatistics of %lld signals", length ? ", " : "",
                (long long)json_integer_value(json_object_get(meta, "signals")));
    putc('\n', stream);

    json_array_foreach(columns, k, column)
    {
        fputs(k ? ", " : "columns   ", stream);
        sp_print_plain(json_is_string(column) ? json_string_value(column) : "", stream);
    }
    fputs(k ? "\n" : "", stream);
    return SP_OK;
}

/* The function that prints a kind of file, and the members whose data it needs (NULL: all). */
static const struct {
    const sp_kind *kind;
    int (*print)(sp_context *context, info_file *info, FILE *stream);
    const char *const *needs;
} printers[] = {
    {&sp_kind_mesh, print_mesh, NULL},
    {&sp_kind_sparse, print_sparse, (const char *const[]){NULL}},
    {&sp_kind_modes, print_modes, (const char *const[]){"eigenvalue", "residual", NULL}},
    {&sp_kind_derivatives, print_derivatives, (const char *const[]){NULL}},
    {&sp_kind_snapshots, print_snapshots, (const char *const[]){"factor", NULL}},
    {&sp_kind_polynomial_sums, print_sums, (const char *const[]){NULL}},
    {&sp_kind_basis, print_basis, (const char *const[]){"singular_value", NULL}},
    {&sp_kind_polynomials, print_polynomials, (const char *const[]){NULL}},
    {&sp_kind_cubature, print_cubature, NULL},
    {&sp_kind_training, print_training, (const char *const[]){NULL}},
    {&sp_kind_trajectory, print_trajectory, (const char *const[]){"time/B", "energy/B", "reaction/B", NULL}},
    {&sp_kind_scene_trajectory, print_motion,
     (const char *const[]){"time/B", "energy/B", "counts/B", "contact/count/B", NULL}},
    {&sp_kind_field, print_field, (const char *const[]){"origin", "spacing", NULL}},
    {&sp_kind_pointshell, print_pointshell, (const char *const[]){"level", NULL}},
    {&sp_kind_domains, print_domains, NULL},
    {&sp_kind_curve, print_curve, NULL},
    {&sp_kind_skin, print_skin, NULL},
    {&sp_kind_certificate, print_certificate, NULL},
    {&sp_kind_ensemble, print_ensemble, (const char *const[]){"status/B", NULL}},
};

enum { PRINTERS = sizeof printers / sizeof *printers };

/* PRINTERS where there is none. */
static int printer_of(const char *kind)
{
    int i = 0;
    while (i < PRINTERS && strcmp(printers[i].kind->name, kind))
        i++;
    return i;
}

bool summary_wants(const char *kind, const char *name)
{
    const int i = printer_of(kind);
    const sp_member_rule *rule = i < PRINTERS ? sp_kind_rule(printers[i].kind, name) : NULL;
    bool needed = rule && !printers[i].needs;
    if (rule && printers[i].needs)
        for (int k = 0; printers[i].needs[k]; k++)
            needed |= !strcmp(printers[i].needs[k], rule->name);
    return needed;
}

int summary_of_kind(sp_context *context, info_file *info, FILE *stream)
{
    const int i = printer_of(sp_file_kind(&info->file));
    return i < PRINTERS ? printers[i].print(context, info, stream) : SP_OK;
}
