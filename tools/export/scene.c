#include "tools/export/scene.h"

#include "formats/export/csv_write.h"
#include "tools/common/scene_trajectory.h"
#include "tools/export/vtu.h"

#include <string.h>

/* ---- CSV ---- */

static const char *const force_words[6] = {"fx", "fy", "fz", "tx", "ty", "tz"}, *const pose_words[7] = {
                                                                                    "x",  "y",  "z", "qw",
                                                                                    "qx", "qy", "qz"};

static void csv_names(sp_stream *stream, const char *owner, char between, int count, const char *const *words)
{
    char name[SP_SCENE_NAME + 32];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%c%s", owner, between, words[i]);
        sp_csv_name(stream, false, name);
    }
}

static void csv_head(sp_stream *stream, const sp_scene_trajectory *motion, bool coordinates)
{
    static const char *const words[] = {"kinetic", "strain", "gravity", "visited", "passed", "touching", "level"};
    sp_csv_name(stream, true, "time");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        sp_csv_name(stream, false, words[i]);
    if (motion->with_contacts)
        sp_csv_name(stream, false, "contacts");
    if (motion->coupled) {
        csv_names(stream, "hand", '_', 7, pose_words);
        csv_names(stream, "coupling", '_', 6, force_words);
        csv_names(stream, "device", '_', 6, force_words);
    }
    for (int64_t b = 0; b < motion->body_count; b++) {
        const sp_scene_trajectory_body *body = &motion->bodies[b];
        csv_names(stream, body->name, '.', 6, force_words);
        if (!coordinates)
            continue;
        csv_names(stream, body->name, '.', 7, pose_words);
        for (int64_t j = 0; j < body->r; j++) {
            char number[24];
            const char *const word = number;
            snprintf(number, sizeof number, "q%lld", (long long)j);
            csv_names(stream, body->name, '.', 1, &word);
        }
    }
    sp_csv_end(stream);
}

static void csv_row(sp_stream *stream, const sp_scene_trajectory *motion, int64_t f, bool coordinates)
{
    double counts[SP_SCENE_TRAJECTORY_COUNTS];
    for (int i = 0; i < SP_SCENE_TRAJECTORY_COUNTS; i++)
        counts[i] = (double)motion->counts[SP_SCENE_TRAJECTORY_COUNTS * f + i];
    sp_csv_numbers(stream, true, 1, motion->time + f);
    sp_csv_numbers(stream, false, SP_SCENE_TRAJECTORY_ENERGIES, motion->energy + SP_SCENE_TRAJECTORY_ENERGIES * f);
    sp_csv_numbers(stream, false, SP_SCENE_TRAJECTORY_COUNTS, counts);
    if (motion->with_contacts)
        sp_csv_numbers(stream, false, 1, (double[]){(double)(motion->contact_begin[f + 1] - motion->contact_begin[f])});
    if (motion->coupled) {
        sp_csv_numbers(stream, false, 7, motion->hand + 7 * f);
        sp_csv_numbers(stream, false, 6, motion->coupling + 6 * f);
        sp_csv_numbers(stream, false, 6, motion->device + 6 * f);
    }
    for (int64_t b = 0; b < motion->body_count; b++) {
        const int64_t at = f * motion->body_count + b;
        sp_csv_numbers(stream, false, 6, motion->wrench + 6 * at);
        if (!coordinates)
            continue;
        sp_csv_numbers(stream, false, 7, motion->pose + 7 * at);
        if (motion->bodies[b].r)
            sp_csv_numbers(stream, false, motion->bodies[b].r, motion->q + f * motion->r + motion->bodies[b].offset);
    }
    sp_csv_end(stream);
}

static void export_csv(tool_scene_trajectory *trajectory, const tool_scene_trajectory_choice *choice, int64_t count,
                       const int64_t *frame)
{
    sp_stream stream;
    if (!trajectory->path)
        tool_fail(SP_USAGE, NULL, "CSV is of a motion, and none was named");
    tool_output *output = tool_output_open(choice->target);
    sp_stream_begin(&stream, tool_output_descriptor(output));
    csv_head(&stream, &trajectory->motion, choice->coordinates);
    for (int64_t i = 0; i < count; i++)
        csv_row(&stream, &trajectory->motion, frame[i], choice->coordinates);
    tool_check(sp_stream_end(trajectory->context, &stream), choice->target);
    tool_output_finish(output, NULL);
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
    if (choice->coordinates)
        tool_fail(SP_USAGE, NULL, "--coordinates means nothing in this format");
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
    if (choice->csv)
        export_csv(&trajectory, choice, frames.count, frames.data);
    else
        export_vtu(&trajectory, choice, frames.count, frames.data);
    sp_list_free(&frames);
    tool_scene_trajectory_close(&trajectory);
}
