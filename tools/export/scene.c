#include "tools/export/scene.h"

#include "tools/export/frames.h"
#include "tools/export/vtu.h"

#include <string.h>

/* ---- CSV ---- */

static const char *const force_words[6] = {"fx", "fy", "fz", "tx", "ty", "tz"}, *const pose_words[7] = {
                                                                                    "x",  "y",  "z", "qw",
                                                                                    "qx", "qy", "qz"};

static void csv_names(export_table *table, const char *owner, char between, int count, const char *const *words)
{
    for (int i = 0; i < count; i++)
        export_table_name(table, "%s%c%s", owner, between, words[i]);
}

void tool_csv_scene_open(sp_context *context, int64_t count, const char *const *paths, const export_choice *choice,
                         tool_csv_scene *csv)
{
    csv->choice = choice;
    tool_scene_trajectory_open(context, count, paths, choice->partial, &csv->trajectory);
    if (choice->probes && !csv->trajectory.has_scene)
        tool_fail(SP_USAGE, csv->trajectory.path, "probes are points of bodies: name its scene too");
    if (choice->volume)
        tool_fail(SP_USAGE, NULL, "--volume means nothing for a scene and its motion");
}

bool tool_csv_scene_probe(tool_csv_scene *csv, const char *entry, size_t length)
{
    const int64_t number = tool_scene_body_find(&csv->trajectory, entry, length);
    const tool_scene_body *body = NULL;
    sp_list places = {0};

    if (number < 0)
        return false;
    for (int64_t i = 0; i < csv->body_count && !body; i++)
        body = csv->bodies[i]->body == number ? csv->bodies[i] : NULL;

    if (!body) {
        tool_scene_body *opened = tool_allocate(&csv->pool, 1, sizeof *opened);
        tool_scene_body **grown = tool_allocate(&csv->pool, csv->body_count + 1, sizeof *grown);
        tool_scene_body_open(&csv->trajectory, "probe", number, opened);
        for (int64_t i = 0; i < csv->body_count; i++)
            grown[i] = csv->bodies[i];
        csv->bodies = grown;
        body = csv->bodies[csv->body_count++] = opened;
    }

    const tool_place_names names = {.context = csv->trajectory.context,
                                    .option = "probe",
                                    .vertex_count = body->mesh.mesh.vertex_count,
                                    .mesh = &body->mesh.mesh,
                                    .mesh_path = body->mesh.path};
    tool_places_parse(&names, entry + length + 1, &places);

    for (int64_t i = 0; i < places.count; i++) {
        tool_body_probe *to = tool_list_add(&csv->probes, 1, sizeof *to);
        *to = (tool_body_probe){body, ((const tool_place *)places.data)[i]};
    }

    sp_list_free(&places);
    return true;
}

void tool_csv_scene_close(tool_csv_scene *csv)
{
    for (int64_t i = 0; i < csv->body_count; i++)
        tool_scene_body_close(csv->bodies[i]);
    sp_list_free(&csv->probes);
    sp_pool_free(&csv->pool);
    tool_scene_trajectory_close(&csv->trajectory);
}

void tool_csv_scene_head(const tool_csv_scene *csv, export_table *table)
{
    static const char *const words[] = {"kinetic", "strain", "gravity", "visited", "passed", "touching", "level"};
    const sp_scene_trajectory *motion = &csv->trajectory.motion;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        export_table_name(table, "%s", words[i]);
    if (motion->with_contacts)
        export_table_name(table, "contacts");

    if (motion->coupled) {
        csv_names(table, "hand", '_', 7, pose_words);
        csv_names(table, "coupling", '_', 6, force_words);
        csv_names(table, "device", '_', 6, force_words);
    }

    for (int64_t b = 0; b < motion->body_count; b++) {
        const sp_scene_trajectory_body *body = &motion->bodies[b];
        csv_names(table, body->name, '.', 6, force_words);
        if (!csv->choice->coordinates)
            continue;
        csv_names(table, body->name, '.', 7, pose_words);
        for (int64_t j = 0; j < body->r; j++)
            export_table_name(table, "%s.q%lld", body->name, (long long)j);
    }

    for (int64_t i = 0; i < csv->probes.count; i++) {
        const tool_body_probe *probe = (const tool_body_probe *)csv->probes.data + i;
        tool_csv_probe_names(table, probe->body->name, &probe->place, csv->choice->positions);
    }
}

void tool_csv_scene_row(const tool_csv_scene *csv, int64_t f, export_table *table)
{
    const sp_scene_trajectory *motion = &csv->trajectory.motion;
    double counts[SP_SCENE_TRAJECTORY_COUNTS];

    for (int i = 0; i < SP_SCENE_TRAJECTORY_COUNTS; i++)
        counts[i] = (double)motion->counts[SP_SCENE_TRAJECTORY_COUNTS * f + i];
    export_table_numbers(table, SP_SCENE_TRAJECTORY_ENERGIES, motion->energy + SP_SCENE_TRAJECTORY_ENERGIES * f);
    export_table_numbers(table, SP_SCENE_TRAJECTORY_COUNTS, counts);

    if (motion->with_contacts)
        export_table_numbers(table, 1, (double[]){(double)(motion->contact_begin[f + 1] - motion->contact_begin[f])});
    if (motion->coupled) {
        export_table_numbers(table, 7, motion->hand + 7 * f);
        export_table_numbers(table, 6, motion->coupling + 6 * f);
        export_table_numbers(table, 6, motion->device + 6 * f);
    }

    for (int64_t b = 0; b < motion->body_count; b++) {
        const int64_t at = f * motion->body_count + b;
        export_table_numbers(table, 6, motion->wrench + 6 * at);

        if (!csv->choice->coordinates)
            continue;
        export_table_numbers(table, 7, motion->pose + 7 * at);
        if (motion->bodies[b].r)
            export_table_numbers(table, motion->bodies[b].r, motion->q + f * motion->r + motion->bodies[b].offset);
    }

    for (int64_t i = 0; i < csv->probes.count; i++) {
        const tool_body_probe *probe = (const tool_body_probe *)csv->probes.data + i;
        double start[3], position[3];
        tool_scene_body_start(probe->body, &probe->place, start);
        tool_scene_body_place(probe->body, &probe->place, f, position, NULL);
        export_table_numbers(table, 3,
                             (double[]){position[0] - start[0], position[1] - start[1], position[2] - start[2]});

        if (csv->choice->positions)
            export_table_numbers(table, 3, position);
    }
}

/* ---- VTU ---- */

static const char *const xyz[3] = {"X", "Y", "Z"};

typedef struct series {
    tool_scene_trajectory *trajectory;
    sp_pool pool;
    int64_t *model; /* of each triangle */
} series;

static void write_bodies(const series *s, int64_t frame, const char *path)
{
    tool_scene_trajectory *trajectory = s->trajectory;
    const double time = tool_scene_trajectory_time(trajectory, frame);
    tool_scene_trajectory_load(trajectory, frame);

    const sp_vtu_array arrays[] = {
        {.name = "velocity", .components = 3, .components_named = xyz, .real = trajectory->velocities},
        {.name = "body", .cells = true, .components = 1, .whole = trajectory->body},
        {.name = "model", .cells = true, .components = 1, .whole = s->model}};
    tool_vtu_write(trajectory->context, path,
                   &(sp_vtu){.vertex_count = trajectory->vertex_count,
                             .vertices = trajectory->positions,
                             .triangle_count = trajectory->triangle_count,
                             .triangle = trajectory->triangles,
                             .time = &time,
                             .array_count = TOOL_COUNT(arrays),
                             .arrays = arrays});
}

static void write_contacts(const series *s, int64_t frame, const char *path)
{
    const sp_scene_trajectory *motion = &s->trajectory->motion;
    const double time = tool_scene_trajectory_time(s->trajectory, frame);
    int64_t first, count = tool_scene_trajectory_contacts(s->trajectory, frame, &first);
    sp_pool pool = {0};
    int64_t *single = tool_allocate_raw(&pool, count, sizeof *single),
            *bodies = tool_allocate_raw(&pool, 2 * count, sizeof *bodies),
            *point = tool_allocate_raw(&pool, count, sizeof *point);

    for (int64_t c = 0; c < count; c++) {
        single[c] = c;
        bodies[2 * c] = motion->contact_body[2 * (first + c)];
        bodies[2 * c + 1] = motion->contact_body[2 * (first + c) + 1];
        point[c] = motion->contact_point[first + c];
    }

    const sp_vtu_array arrays[] = {
        {.name = "force", .components = 3, .components_named = xyz, .real = motion->contact_force + 3 * first},
        {.name = "bodies", .components = 2, .whole = bodies},
        {.name = "point", .components = 1, .whole = point}};

    tool_vtu_write(s->trajectory->context, path,
                   &(sp_vtu){.vertex_count = count,
                             .vertices = motion->contact_place + 3 * first,
                             .single_count = count,
                             .single = single,
                             .time = &time,
                             .array_count = TOOL_COUNT(arrays),
                             .arrays = arrays});

    sp_pool_free(&pool);
}

/* One file, or one for each frame and their index. */
static void write_series(series *s, const char *target, int64_t count, const int64_t *frame,
                         void (*write)(const series *, int64_t, const char *))
{
    char *pattern, *index;

    if (!tool_vtu_series(target, count)) {
        write(s, frame[0], target);
        return;
    }

    tool_vtu_names(target, &s->pool, &pattern, &index);
    const char **name = tool_allocate(&s->pool, count, sizeof *name);
    double *time = tool_allocate(&s->pool, count, sizeof *time);
    tool_output *output = tool_vtu_index_open(index);

    for (int64_t i = 0; i < count; i++) {
        char *path;
        name[i] = tool_vtu_frame(pattern, i, &s->pool, &path);
        write(s, frame[i], path);
        time[i] = tool_scene_trajectory_time(s->trajectory, frame[i]);
        tool_check(sp_progress(s->trajectory->context, (double)(i + 1) / (double)count), NULL);
    }

    tool_vtu_index(s->trajectory->context, output, index, count, time, name);
    tool_say("%lld frames, index %s", (long long)count, index);
}

/* The same target with "contacts_" before its base name. */
static const char *contacts_target(const char *target, sp_pool *pool)
{
    const char *slash = strrchr(target, '/');
    const size_t room = strlen(target) + 10, folder = slash ? (size_t)(slash + 1 - target) : 0;
    char *path = tool_allocate(pool, (int64_t)room, 1);
    snprintf(path, room, "%.*scontacts_%s", (int)folder, target, target + folder);
    return path;
}

static void export_vtu(tool_scene_trajectory *trajectory, const tool_scene_trajectory_choice *choice, int64_t count,
                       const int64_t *frame)
{
    series s = {.trajectory = trajectory};

    tool_vtu_series(choice->target, count);
    tool_scene_trajectory_look(trajectory);

    s.model = tool_allocate_raw(&s.pool, trajectory->triangle_count, sizeof *s.model);
    for (int64_t t = 0; t < trajectory->triangle_count; t++)
        s.model[t] = trajectory->scene.scene.bodies[trajectory->body[t]].model;

    for (int64_t i = 0; i < count; i++) {
        tool_scene_trajectory_load(trajectory, frame[i]);
        tool_scene_trajectory_widen(trajectory);
    }

    tool_outputs_hold(true);
    write_series(&s, choice->target, count, frame, write_bodies);
    if (trajectory->path && trajectory->motion.with_contacts && strcmp(choice->target, "-"))
        write_series(&s, contacts_target(choice->target, &s.pool), count, frame, write_contacts);
    tool_outputs_hold(false);
    sp_pool_free(&s.pool);
}

void tool_export_scene(sp_context *context, int64_t count, const char *const *paths,
                       const tool_scene_trajectory_choice *choice)
{
    tool_scene_trajectory trajectory;
    sp_list frames = {0};
    tool_scene_trajectory_open(context, count, paths, choice->partial, &trajectory);
    tool_scene_trajectory_choose(&trajectory, choice->frames, choice->every, &frames);
    export_vtu(&trajectory, choice, frames.count, frames.data);
    sp_list_free(&frames);
    tool_scene_trajectory_close(&trajectory);
}
