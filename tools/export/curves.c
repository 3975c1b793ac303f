#include "tools/export/curves.h"

#include "tools/common/places.h"
#include "tools/export/frames.h"
#include "tools/export/scene.h"

#include <math.h>
#include <string.h>

/* A motion with the files that belong to it. */
typedef struct source {
    const char *path;
    bool scene;
    char *label; /* NULL: there is one motion only */
    tool_csv_frames mesh;
    tool_csv_scene bodies;
    sp_list frames; /* int64_t */
    int64_t next;   /* of them */
    int64_t columns;
} source;

typedef struct curves {
    sp_context *context;
    const export_choice *choice;
    int64_t count;
    source *sources;
    sp_pool pool;
} curves;

/* ---- files ---- */

enum role { ROLE_MOTION, ROLE_SCENE_MOTION, ROLE_SCENE, ROLE_MESH, ROLE_COLUMNS };

static enum role role_of(sp_context *context, const char *path)
{
    char kind[SP_KIND_LENGTH];
    if (tool_is_scene(path))
        return ROLE_SCENE;
    tool_peek_any_kind(context, path, kind);
    if (!strcmp(kind, "trajectory"))
        return ROLE_MOTION;
    if (!strcmp(kind, "scene_trajectory"))
        return ROLE_SCENE_MOTION;
    return !strcmp(kind, "mesh") ? ROLE_MESH : ROLE_COLUMNS;
}

int64_t tool_export_motions(sp_context *context, int64_t count, const char *const *paths)
{
    int64_t motions = 0;
    for (int64_t i = 0; i < count; i++)
        motions += role_of(context, paths[i]) <= ROLE_SCENE_MOTION;
    return motions;
}

/* The hash by which a motion names a mesh or scene. */
static void hash_of(sp_context *context, enum role role, const char *path, char hash[SP_HASH_LENGTH])
{
    if (role == ROLE_SCENE) {
        tool_scene scene;
        tool_read_scene(context, path, &scene);
        memcpy(hash, scene.hash, SP_HASH_LENGTH);
        tool_scene_free(&scene);
    } else {
        tool_mesh mesh;
        tool_read_mesh(path, NULL, &mesh);
        memcpy(hash, mesh.hash, SP_HASH_LENGTH);
        sp_mesh_free(&mesh.mesh);
    }
}

int64_t tool_export_files_of(sp_context *context, const char *motion, int64_t count, const char *const *paths,
                             bool *used, const char **files)
{
    const bool scene = role_of(context, motion) == ROLE_SCENE_MOTION;
    char wanted[SP_HASH_LENGTH], hash[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
    int64_t taken = 0;

    files[taken++] = motion;
    tool_peek_meta(context, motion, scene ? "scene" : "mesh", sizeof wanted, wanted);
    tool_peek_meta(context, motion, "basis", sizeof basis, basis);

    for (int64_t i = 0; i < count; i++) {
        const enum role role = role_of(context, paths[i]);
        bool fits = !scene && role == ROLE_COLUMNS && *basis;

        if (role == (scene ? ROLE_SCENE : ROLE_MESH)) {
            hash_of(context, role, paths[i], hash);
            fits = !strcmp(hash, wanted);
        }

        if (!fits)
            continue;
        used[i] = true;
        files[taken++] = paths[i];
    }
    return taken;
}

/* ---- names ---- */

/* The name of the file without folder and ending. */
static char *label_of(curves *c, const char *path, bool folder)
{
    const char *slash = strrchr(path, '/'), *base = slash && !folder ? slash + 1 : path, *dot = strrchr(base, '.');
    char *label = tool_allocate_copy(&c->pool, base, (int64_t)strlen(base) + 1, 1);
    if (dot && dot > base && !strcmp(dot, ".npz"))
        label[dot - base] = 0;
    return label;
}

static void name_sources(curves *c)
{
    if (c->count == 1)
        return;

    for (int64_t i = 0; i < c->count; i++) {
        c->sources[i].label = label_of(c, c->sources[i].path, false);
        for (int64_t k = 0; k < i; k++)
            if (!strcmp(c->sources[k].path, c->sources[i].path))
                tool_fail(SP_USAGE, NULL, "%s is named twice", c->sources[i].path);
    }

    /* Labels that are equal become paths with their folders. */
    for (int64_t i = 0; i < c->count; i++)
        for (int64_t k = 0; k < c->count; k++)
            if (k != i && !strcmp(label_of(c, c->sources[k].path, false), label_of(c, c->sources[i].path, false)))
                c->sources[i].label = label_of(c, c->sources[i].path, true);
}

/* ---- probes ---- */

/* Gives each entry of the list to the motions that it is for. */
static void give_probes(curves *c)
{
    sp_list entries = {0};
    const char *text = c->choice->probes;

    if (!text)
        return;

    tool_places_split(text, &c->pool, &entries);
    for (int64_t i = 0; i < entries.count; i++) {
        const char *entry = ((char **)entries.data)[i];
        const size_t length = tool_place_body(entry);
        bool taken = false;

        for (int64_t k = 0; k < c->count; k++) {
            source *s = &c->sources[k];
            if (!s->scene && !length) {
                tool_trajectory_probes(&s->mesh.motion, "probe", entry, &s->mesh.probes);
                taken = true;
            } else if (s->scene && length)
                taken |= tool_csv_scene_probe(&s->bodies, entry, length);
        }

        if (!taken && length)
            tool_fail(SP_USAGE, NULL, "--probe: there is no scene with a body \"%.*s\"", (int)length, entry);
        if (!taken)
            tool_fail(SP_USAGE, NULL, "--probe: \"%s\" names no body of the scene: write BODY:%s", entry, entry);
    }
    sp_list_free(&entries);
}

/* ---- the table ---- */

static void open_source(curves *c, source *s, int64_t count, const char *const *files)
{
    const export_choice *choice = c->choice;
    if (s->scene) {
        tool_csv_scene_open(c->context, count, files, choice, &s->bodies);
        tool_scene_trajectory_choose(&s->bodies.trajectory, choice->frames, choice->every, &s->frames);
    } else {
        tool_csv_frames_open(c->context, count, files, choice, &s->mesh);
        tool_trajectory_choose(&s->mesh.motion, choice->frames, choice->every, NULL, &s->frames);
    }
}

static void open_sources(curves *c, int64_t count, const char *const *paths)
{
    c->sources = tool_allocate(&c->pool, count, sizeof *c->sources);
    for (int64_t i = 0; i < count; i++) {
        const enum role role = role_of(c->context, paths[i]);
        if (role <= ROLE_SCENE_MOTION)
            c->sources[c->count++] = (source){.path = paths[i], .scene = role == ROLE_SCENE_MOTION};
    }

    name_sources(c);
    if (c->count == 1) { /* all files are for the only motion, or are refused there */
        open_source(c, c->sources, count, paths);
        return;
    }

    bool *used = tool_allocate(&c->pool, count, sizeof *used);
    const char **files = tool_allocate(&c->pool, count, sizeof *files);
    for (int64_t i = 0; i < c->count; i++)
        open_source(c, &c->sources[i], tool_export_files_of(c->context, c->sources[i].path, count, paths, used, files),
                    files);

    for (int64_t i = 0; i < count; i++)
        if (!used[i] && role_of(c->context, paths[i]) > ROLE_SCENE_MOTION)
            tool_fail(SP_INPUT, paths[i], "it belongs to none of the %lld motions", (long long)c->count);
}

static int64_t frame_of(const source *s)
{
    return ((const int64_t *)s->frames.data)[s->next];
}

static double time_of(const source *s)
{
    return s->scene ? tool_scene_trajectory_time(&s->bodies.trajectory, frame_of(s))
                    : tool_trajectory_time(&s->mesh.motion, frame_of(s));
}

static bool write_row(curves *c, export_table *table)
{
    /* The earliest time of which a motion has a frame that is not written yet. */
    double now = INFINITY;
    for (int64_t i = 0; i < c->count; i++)
        if (c->sources[i].next < c->sources[i].frames.count)
            now = fmin(now, time_of(&c->sources[i]));
    if (isinf(now))
        return false;

    sp_csv_numbers(&table->stream, true, 1, &now);

    for (int64_t i = 0; i < c->count; i++) {
        source *s = &c->sources[i];
        const bool has =
            s->next < s->frames.count && fabs(time_of(s) - now) <= 1e-9 * fmax(fabs(now), fabs(time_of(s)));
        if (!has)
            export_table_empty(table, s->columns);
        else if (s->scene)
            tool_csv_scene_row(&s->bodies, frame_of(s), table);
        else
            tool_csv_frames_row(&s->mesh, frame_of(s), table);
        s->next += has;
    }

    sp_csv_end(&table->stream);
    return true;
}

void tool_export_curves(sp_context *context, int64_t count, const char *const *paths, const export_choice *choice)
{
    curves c = {.context = context, .choice = choice};
    export_table table = {0};

    open_sources(&c, count, paths);
    give_probes(&c);

    tool_output *output = tool_output_open(choice->target);
    sp_stream_begin(&table.stream, tool_output_descriptor(output));
    sp_csv_name(&table.stream, true, "time");

    for (int64_t i = 0; i < c.count; i++) {
        source *s = &c.sources[i];
        table.owner = s->label;
        table.columns = 0;
        if (s->scene)
            tool_csv_scene_head(&s->bodies, &table);
        else
            tool_csv_frames_head(&s->mesh, &table);
        s->columns = table.columns;
    }
    sp_csv_end(&table.stream);

    while (write_row(&c, &table)) {
    }
    tool_check(sp_stream_end(context, &table.stream), choice->target);
    tool_output_finish(output, NULL);

    for (int64_t i = 0; i < c.count; i++) {
        if (c.sources[i].scene)
            tool_csv_scene_close(&c.sources[i].bodies);
        else
            tool_csv_frames_close(&c.sources[i].mesh);
        sp_list_free(&c.sources[i].frames);
    }
    sp_pool_free(&c.pool);
}
