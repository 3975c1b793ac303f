#include "tools/compare/side.h"

#include <math.h>
#include <string.h>

/* ---- bodies of scenes ---- */

static const char *scene_of(const comparison *c, const char *path)
{
    char hash[SP_HASH_LENGTH];

    if (c->scenes->count == 0) {
        tool_hint("simcompare %s %s --scene scene.json --body NAME", c->a, c->b);
        tool_fail(SP_USAGE, path, "it is the trajectory of a scene: name its scene with --scene");
    }

    if (c->scenes->count == 1)
        return c->scenes->value[0]; /* whether it belongs is checked where it is opened */

    tool_peek_meta(c->context, path, "scene", sizeof hash, hash);
    for (int64_t i = 0; i < c->scenes->count; i++) {
        tool_scene scene;
        tool_read_scene(c->context, c->scenes->value[i], &scene);
        const bool same = !strcmp(scene.hash, hash);
        tool_scene_free(&scene);
        if (same)
            return c->scenes->value[i];
    }

    tool_fail(SP_INPUT, path, "none of the %lld scenes is the one of this trajectory (%.12s…)",
              (long long)c->scenes->count, hash);
}

/* That of --body, or the only one with a mesh. */
static int64_t body_of(const comparison *c, const tool_scene_trajectory *trajectory)
{
    const sp_scene *scene = &trajectory->scene.scene;
    sp_pool pool = {0};
    int64_t found = -1, count = 0;
    if (!c->body)
        for (int64_t b = 0; b < scene->body_count; b++)
            if (scene->models[scene->bodies[b].model].mesh) {
                found = b;
                count++;
            }

    if (c->body)
        found = tool_scene_body_find(trajectory, c->body, strlen(c->body));
    if (c->body && found < 0)
        tool_fail(SP_USAGE, NULL, "--body: the scene has no body \"%s\"; those with a mesh are %s", c->body,
                  tool_scene_body_names(trajectory, &pool));
    if (!c->body && count != 1)
        tool_fail(SP_USAGE, NULL, "which body is compared? Name it with --body; those with a mesh are %s",
                  tool_scene_body_names(trajectory, &pool));
    return found;
}

static void open_body(const comparison *c, compare_side *side)
{
    const char *paths[] = {scene_of(c, side->path), side->path};
    tool_scene_trajectory_open(c->context, 2, paths, false, &side->trajectory);
    tool_scene_body_open(&side->trajectory, "body", body_of(c, &side->trajectory), &side->body);
    side->vertex_count = side->body.mesh.mesh.vertex_count;
    side->whole = true;
}

/* ---- trajectories ---- */

static void open_trajectory(const comparison *c, compare_side *side)
{
    const char *paths[300];
    int64_t count = 0;

    paths[count++] = side->path;
    if (c->mesh)
        paths[count++] = c->mesh;
    for (int64_t i = 0; i < c->bases->count; i++)
        paths[count++] = c->bases->value[i];
    tool_trajectory_open(c->context, count, paths, TOOL_MOTION_STREAM, &side->motion);

    if (!tool_trajectory_have(&side->motion, 0))
        tool_fail(SP_INPUT, side->path, "it has no frame");

    side->whole = side->motion.columns.path || (side->motion.trajectory.u && !side->motion.point);
    if (!side->whole && !side->motion.trajectory.u)
        tool_trajectory_need_all(&side->motion); /* says which basis is missing */
    side->vertex_count = side->motion.vertex_count;
}

void compare_side_open(const comparison *c, const char *path, compare_side *side)
{
    char kind[SP_KIND_LENGTH];
    *side = (compare_side){.path = path};
    tool_peek_any_kind(c->context, path, kind);
    side->scene = !strcmp(kind, "scene_trajectory");
    if (side->scene)
        open_body(c, side);
    else
        open_trajectory(c, side);
}

void compare_side_close(compare_side *side)
{
    if (side->scene) {
        tool_scene_body_close(&side->body);
        tool_scene_trajectory_close(&side->trajectory);
    } else
        tool_trajectory_close(&side->motion);
}

/* ---- what they hold ---- */

const char *compare_side_mesh(const compare_side *side)
{
    if (side->scene)
        return side->body.mesh.hash;
    const char *hash = json_string_value(json_object_get(side->motion.trajectory.meta, "mesh"));
    return hash ? hash : "";
}

bool compare_side_knows(const compare_side *side, int64_t vertex)
{
    return side->whole || side->motion.point[vertex] >= 0;
}

bool compare_side_have(compare_side *side, int64_t frame)
{
    return side->scene ? frame < side->trajectory.frame_count : tool_trajectory_have(&side->motion, frame);
}

double compare_side_time(const compare_side *side, int64_t frame)
{
    return side->scene ? tool_scene_trajectory_time(&side->trajectory, frame)
                       : tool_trajectory_time(&side->motion, frame);
}

void compare_side_place(const compare_side *side, tool_place place, int64_t frame, double u[3], double v[3])
{
    if (side->scene)
        tool_scene_body_local(&side->body, &place, frame, u, v);
    else
        tool_trajectory_probe(&side->motion, place, frame, u, v);
}

void compare_side_all(const compare_side *side, int64_t frame, double *u, double *v)
{
    if (!side->scene) {
        tool_trajectory_displacement(&side->motion, frame, u);
        tool_trajectory_velocity(&side->motion, frame, v);
        return;
    }
    for (int64_t i = 0; i < side->vertex_count; i++)
        tool_scene_body_local(&side->body, &(tool_place){false, i}, frame, u + 3 * i, v + 3 * i);
}

double compare_side_energy(const compare_side *side, int64_t frame)
{
    if (!side->scene) {
        const double *energy = tool_trajectory_energy(&side->motion, frame);
        return energy[SP_ENERGY_KINETIC] + energy[SP_ENERGY_STRAIN];
    }

    const sp_scene *scene = &side->trajectory.scene.scene;
    int64_t driven = 0;
    for (int64_t b = 0; b < scene->body_count; b++)
        driven += b != side->body.body &&
                  (scene->models[scene->bodies[b].model].kind != SP_SCENE_RIGID ||
                   scene->bodies[b].motion == SP_SCENE_FREE || scene->bodies[b].motion == SP_SCENE_COUPLED);
    if (driven)
        return NAN;

    const double *energy = side->trajectory.motion.energy + SP_SCENE_TRAJECTORY_ENERGIES * frame;
    return energy[SP_SCENE_TRAJECTORY_KINETIC] + energy[SP_SCENE_TRAJECTORY_STRAIN];
}

double compare_side_load_end(const compare_side *side)
{
    const json_t *value = side->scene ? NULL : json_object_get(side->motion.trajectory.meta, "load_end");
    double end = json_is_number(value) ? json_number_value(value) : 0;
    return isfinite(end) ? end : 0;
}

bool compare_side_reduced(const compare_side *side)
{
    const char *basis = side->scene ? "" : json_string_value(json_object_get(side->motion.trajectory.meta, "basis"));
    return side->scene ? side->body.r > 0 : basis && *basis;
}
