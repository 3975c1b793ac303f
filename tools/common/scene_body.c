#include "tools/common/scene_body.h"

#include <string.h>

int64_t tool_scene_body_find(const tool_scene_trajectory *trajectory, const char *name, size_t length)
{
    const sp_scene *scene = &trajectory->scene.scene;
    int64_t b = 0;
    while (b < scene->body_count &&
           (strlen(scene->bodies[b].name) != length || strncmp(scene->bodies[b].name, name, length)))
        b++;
    return b < scene->body_count ? b : -1;
}

const char *tool_scene_body_names(const tool_scene_trajectory *trajectory, sp_pool *pool)
{
    const sp_scene *scene = &trajectory->scene.scene;
    char *text = tool_allocate(pool, 400, 1);
    size_t length = 0;

    for (int64_t b = 0; b < scene->body_count; b++) {
        if (!scene->models[scene->bodies[b].model].mesh)
            continue;
        if (length > 300)
            return strcat(text, ", …");
        length += (size_t)snprintf(text + length, 400 - length, "%s%s", length ? ", " : "", scene->bodies[b].name);
    }

    return length ? text : "none";
}

static sp_pose pose_at(const tool_scene_trajectory *trajectory, int64_t body, int64_t frame)
{
    sp_pose pose;
    if (!trajectory->path)
        return trajectory->start[body];
    const double *from = trajectory->motion.pose + 7 * (frame * trajectory->body_count + body);
    memcpy(pose.x, from, sizeof pose.x);
    memcpy(pose.q, from + 3, sizeof pose.q);
    return pose;
}

void tool_scene_body_open(tool_scene_trajectory *trajectory, const char *option, int64_t number, tool_scene_body *body)
{
    const int64_t model = trajectory->scene.scene.bodies[number].model;

    *body = (tool_scene_body){.trajectory = trajectory,
                              .body = number,
                              .name = trajectory->scene.scene.bodies[number].name,
                              .start = pose_at(trajectory, number, 0)};

    if (!tool_scene_mesh(&trajectory->scene, model, &body->mesh))
        tool_fail(SP_USAGE, NULL,
                  "--%s: body %s has no mesh, and its points no numbers; its pose is in the columns of "
                  "simexport --coordinates",
                  option, body->name);

    if (tool_scene_basis(&trajectory->scene, model, &body->mesh, &body->basis))
        body->r = tool_scene_rank(&trajectory->scene, model, &body->basis);

    if (trajectory->path && trajectory->motion.bodies[number].r != body->r)
        tool_fail(SP_INPUT, trajectory->path, "body %s has %lld coordinates, its model in the scene %lld", body->name,
                  (long long)trajectory->motion.bodies[number].r, (long long)body->r);
}

void tool_scene_body_close(tool_scene_body *body)
{
    if (body->basis.path)
        sp_columns_free(&body->basis.columns);
    sp_mesh_free(&body->mesh.mesh);
}

/* The weighted rest position of a place, in the model. */
static void rest_of(const tool_scene_body *body, const tool_place *place, double rest[3])
{
    const sp_mesh *mesh = &body->mesh.mesh;
    const int64_t *corner;
    const double *weight;
    const int corners = tool_place_corners(mesh, place, &corner, &weight);
    memset(rest, 0, 3 * sizeof *rest);
    for (int c = 0; c < corners; c++)
        for (int k = 0; k < 3; k++)
            rest[k] += weight[c] * mesh->vertices[3 * corner[c] + k];
}

/* U q of a place, in the model. */
static void deformation_of(const tool_scene_body *body, const tool_place *place, const double *q, double u[3])
{
    const sp_columns *columns = &body->basis.columns;
    const int64_t *corner;
    const double *weight;
    const int corners = tool_place_corners(&body->mesh.mesh, place, &corner, &weight);
    memset(u, 0, 3 * sizeof *u);
    for (int64_t j = 0; j < body->r; j++)
        for (int c = 0; c < corners; c++)
            for (int k = 0; k < 3; k++)
                u[k] += weight[c] * columns->U[j * columns->rows + 3 * corner[c] + k] * q[j];
}

void tool_scene_body_place(const tool_scene_body *body, const tool_place *place, int64_t frame, double position[3],
                           double velocity[3])
{
    const tool_scene_trajectory *trajectory = body->trajectory;
    const sp_scene_trajectory *motion = &trajectory->motion;
    const sp_pose pose = pose_at(trajectory, body->body, frame);
    const bool moves = trajectory->path && body->r > 0;
    const int64_t first = moves ? frame * motion->r + motion->bodies[body->body].offset : 0;
    double R[9], at[3], u[3] = {0, 0, 0}, rate[3] = {0, 0, 0}, arm[3], turned[3], swept[3];

    /* x + R(X + U q) */
    sp_quaternion_matrix(pose.q, R);
    rest_of(body, place, at);
    if (moves) {
        deformation_of(body, place, motion->q + first, u);
        deformation_of(body, place, motion->qdot + first, rate);
    }
    for (int k = 0; k < 3; k++)
        at[k] += u[k];
    sp_rotate(R, at, arm);
    if (position)
        for (int k = 0; k < 3; k++)
            position[k] = pose.x[k] + arm[k];
    if (!velocity)
        return;

    /* v + ω × R(X + U q) + R U q̇ */
    static const double still[6] = {0};
    const double *twist = trajectory->path ? motion->twist + 6 * (frame * trajectory->body_count + body->body) : still;
    sp_rotate(R, rate, turned);
    sp_cross3(twist + 3, arm, swept);
    for (int k = 0; k < 3; k++)
        velocity[k] = twist[k] + swept[k] + turned[k];
}

void tool_scene_body_start(const tool_scene_body *body, const tool_place *place, double position[3])
{
    double R[9], rest[3], arm[3];
    sp_quaternion_matrix(body->start.q, R);
    rest_of(body, place, rest);
    sp_rotate(R, rest, arm);
    for (int k = 0; k < 3; k++)
        position[k] = body->start.x[k] + arm[k];
}

void tool_scene_body_local(const tool_scene_body *body, const tool_place *place, int64_t frame, double u[3],
                           double v[3])
{
    double R[9], start[3], position[3], velocity[3];
    sp_quaternion_matrix(body->start.q, R);
    tool_scene_body_start(body, place, start);
    tool_scene_body_place(body, place, frame, position, v ? velocity : NULL);
    for (int k = 0; k < 3; k++)
        position[k] -= start[k];
    for (int k = 0; k < 3; k++) { /* by the transpose of R */
        if (u)
            u[k] = R[k] * position[0] + R[3 + k] * position[1] + R[6 + k] * position[2];
        if (v)
            v[k] = R[k] * velocity[0] + R[3 + k] * velocity[1] + R[6 + k] * velocity[2];
    }
}
