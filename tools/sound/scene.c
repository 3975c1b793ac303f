#include "tools/sound/scene.h"

#include "formats/scene_trajectory.h"

#include <math.h>
#include <string.h>

/* The body that --body names, or the only one with coordinates. */
static const sp_scene_trajectory_body *find_body(const sp_scene_trajectory *scene, const char *name, const char *path)
{
    const sp_scene_trajectory_body *found = NULL;
    int count = 0;
    for (int64_t b = 0; b < scene->body_count; b++) {
        const sp_scene_trajectory_body *body = &scene->bodies[b];
        if (name ? !strcmp(body->name, name) : body->r > 0) {
            found = body;
            count++;
        }
    }
    if (name && !found)
        tool_fail(SP_USAGE, path, "--body: it has no body \"%s\"", name);
    if (count != 1)
        tool_fail(SP_USAGE, path, "%d bodies have reduced coordinates: name one with --body", count);
    if (found->r == 0)
        tool_fail(SP_USAGE, path, "--body: %s is rigid", found->name);
    return found;
}

/* Checks that the mesh and the basis are files of the scene. */
static void check_history(const json_t *meta, const char *what, const char *file, const char *hash, const char *path)
{
    if (*hash && !json_object_get(json_object_get(meta, "history"), hash))
        tool_fail(SP_INPUT, path, "its scene does not name %s, the %s given here", file, what);
}

/* The pose of the body, which must be constant. */
static sp_pose constant_pose(const sp_scene_trajectory *scene, int64_t body, const char *path)
{
    const double *first = scene->pose + 7 * body;
    for (int64_t f = 1; f < scene->frame_count; f++)
        if (memcmp(scene->pose + 7 * (f * scene->body_count + body), first, 7 * sizeof *first))
            tool_fail(SP_INPUT, path,
                      "body %s moves as a whole from frame %lld on, but the sound needs a frame that is at rest",
                      scene->bodies[body].name, (long long)f);
    return (sp_pose){{first[0], first[1], first[2]}, {first[3], first[4], first[5], first[6]}};
}

/* The frames of the body as those of a trajectory. */
static void copy_frames(const sp_scene_trajectory *scene, const sp_scene_trajectory_body *body, sp_trajectory *to)
{
    to->frame_count = scene->frame_count;
    to->r = body->r;
    to->time = tool_allocate_copy(&to->pool, scene->time, scene->frame_count, sizeof(double));
    to->energy = tool_allocate(&to->pool, scene->frame_count * SP_ENERGY_COUNT, sizeof(double));
    to->qdot = tool_allocate(&to->pool, scene->frame_count * body->r, sizeof(double));
    for (int64_t f = 0; f < scene->frame_count; f++)
        memcpy(to->qdot + f * body->r, scene->qdot + f * scene->r + body->offset, (size_t)body->r * sizeof(double));
}

bool sound_is_scene(sp_context *context, const char *path)
{
    char kind[SP_KIND_LENGTH];
    if (!strcmp(path, "-"))
        return false;
    tool_peek_any_kind(context, path, kind);
    return !strcmp(kind, "scene_trajectory");
}

sp_pose sound_read_scene(sp_context *context, const char *path, const char *name, tool_trajectory *motion)
{
    sp_scene_trajectory scene;
    const int descriptor = tool_open_input(path);
    tool_check(sp_scene_trajectory_read(context, descriptor, false, &scene), path);
    tool_close_input(descriptor);
    tool_record_input(path, NULL, scene.hash, scene.meta);
    const sp_scene_trajectory_body *body = find_body(&scene, name, path);
    if (!motion->mesh.path || !motion->columns.path)
        tool_fail(SP_USAGE, path, "name the mesh and the basis of body %s too", body->name);
    check_history(scene.meta, "mesh", motion->mesh.path, motion->mesh.hash, path);
    check_history(scene.meta, "basis", motion->columns.path, motion->columns.hash, path);
    if (body->r > motion->columns.columns.count)
        tool_fail(SP_INPUT, path, "body %s has %lld coordinates, %s %lld columns", body->name, (long long)body->r,
                  motion->columns.path, (long long)motion->columns.columns.count);
    const sp_pose pose = constant_pose(&scene, body - scene.bodies, path);
    copy_frames(&scene, body, &motion->trajectory);
    motion->path = path;
    motion->frame_count = scene.frame_count;
    tool_hold_rows(&motion->mesh.mesh, &motion->columns);
    sp_scene_trajectory_free(&scene);
    return pose;
}
