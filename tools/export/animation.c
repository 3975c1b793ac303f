#include "tools/export/animation.h"

#include "basis/pca.h"
#include "render/render.h"
#include "tools/common/skin.h"
#include "tools/common/tool.h"
#include "tools/export/bones.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64, SWING = 24 /* frames of a column that swings */ };

static const double AMPLITUDE = 0.1; /* of the diagonal, for columns without a size of their own */

/* ---- meshes ---- */

/* A skin and what moves it, before its vertices are repeated at creases. */
typedef struct skin_motion {
    const char *name;
    int64_t vertex_count, triangle_count, r;
    const double *rest;       /* [vertex_count, 3] m */
    const int64_t *triangles; /* [triangle_count, 3] */
    const double *U;          /* [3·vertex_count, r, column major] */
} skin_motion;

static double box_diagonal(int64_t count, const double *vertices, double *largest_side)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * count; i++) {
        low[i % 3] = fmin(low[i % 3], vertices[i]);
        high[i % 3] = fmax(high[i % 3], vertices[i]);
    }
    *largest_side = fmax(fmax(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    return hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
}

/* Splits the skin at creases. A coordinate becomes the weight `scale` times larger of a target. */
static void make_mesh(sp_context *context, const skin_motion *skin, double *scale, sp_pool *pool,
                      sp_animated_mesh *mesh)
{
    sp_split split;
    double side;
    tool_check(
        sp_split_creases(context, skin->rest, skin->vertex_count, skin->triangles, skin->triangle_count, pool, &split),
        NULL);
    const int64_t count = split.vertex_count;

    double *rest = tool_allocate_raw(pool, 3 * count, sizeof *rest),
           *targets = tool_allocate_raw(pool, skin->r, 3 * (size_t)count * sizeof *targets);

    box_diagonal(skin->vertex_count, skin->rest, &side);
    for (int64_t v = 0; v < count; v++)
        memcpy(rest + 3 * v, skin->rest + 3 * split.origin[v], 3 * sizeof *rest);

    for (int64_t i = 0; i < skin->r; i++) {
        const double *u = skin->U + 3 * i * skin->vertex_count;
        double largest = 0;
        for (int64_t k = 0; k < 3 * skin->vertex_count; k++)
            largest = fmax(largest, fabs(u[k]));

        /* The largest displacement of a target is side/2. */
        scale[i] = largest > 0 ? 2 * largest / side : 1;
        for (int64_t v = 0; v < count; v++)
            for (int k = 0; k < 3; k++)
                targets[3 * (i * count + v) + k] = u[3 * split.origin[v] + k] / scale[i];
    }

    *mesh = (sp_animated_mesh){.name = skin->name,
                               .vertex_count = count,
                               .triangle_count = skin->triangle_count,
                               .target_count = skin->r,
                               .skin_count = skin->vertex_count,
                               .origin = split.origin,
                               .rest = rest,
                               .triangles = split.triangles,
                               .targets = targets};
}

/* Normals and their targets, met best where the bodies with this mesh are. */
static void make_normals(sp_context *context, tool_animation *out, int64_t number)
{
    const sp_animation *animation = &out->animation;
    sp_animated_mesh *mesh = (sp_animated_mesh *)animation->meshes + number;
    const int64_t r = mesh->target_count;
    int64_t bodies = 0, samples = 0;
    sp_pool own = {0};
    double *normals = tool_allocate_raw(&out->pool, 3 * mesh->vertex_count, sizeof *normals),
           *change = tool_allocate_raw(&out->pool, r, 3 * (size_t)mesh->vertex_count * sizeof *change);

    for (int64_t b = 0; b < animation->body_count; b++)
        bodies += animation->bodies[b].mesh == number && animation->bodies[b].weights;

    /* Samples are spread evenly over the frames of all bodies with this mesh. */
    const int64_t all = bodies * animation->frame_count, most = all < SAMPLES ? all : SAMPLES;
    double *weights = tool_allocate_raw(&own, r * most, sizeof *weights);

    if (r)
        for (int64_t b = 0, at = 0; b < animation->body_count; b++) {
            if (animation->bodies[b].mesh != number || !animation->bodies[b].weights)
                continue;
            for (int64_t f = 0; f < animation->frame_count; f++, at++)
                if (samples < most && at >= samples * (all - 1) / (most > 1 ? most - 1 : 1))
                    memcpy(weights + r * samples++, animation->bodies[b].weights + r * f, (size_t)r * sizeof *weights);
        }

    const sp_target_mesh shape = {.vertex_count = mesh->vertex_count,
                                  .triangle_count = mesh->triangle_count,
                                  .target_count = r,
                                  .rest = mesh->rest,
                                  .triangles = mesh->triangles,
                                  .targets = mesh->targets};
    sp_normal_errors errors;
    tool_check(sp_normal_targets(context, &shape, samples, weights, normals, change, &errors), NULL);

    for (int64_t v = 0; v < mesh->vertex_count; v++) /* those of triangles without an area */
        if (sp_norm3(normals + 3 * v) == 0)
            normals[3 * v + 2] = 1;

    if (errors.largest > out->normals.largest)
        out->normals = errors;
    mesh->normals = normals;
    mesh->normal_targets = change;

    sp_pool_free(&own);
}

/* ---- colours ---- */

/* `largest` [vertex_count] becomes the length of the vectors [skin_count, 3] at the vertices, where that is more. */
static void enlarge(const sp_animated_mesh *mesh, const double *vectors, double *largest)
{
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        largest[v] = fmax(largest[v], sp_norm3(vectors + 3 * mesh->origin[v]));
}

/* values[m]: the largest at each vertex of the mesh m; NULL: none. */
static void make_colors(tool_animation *out, double *const *values)
{
    for (int64_t m = 0; m < out->animation.mesh_count; m++)
        if (values[m])
            for (int64_t v = 0; v < out->animation.meshes[m].vertex_count; v++)
                out->color_end = fmax(out->color_end, values[m][v]);
    for (int64_t m = 0; m < out->animation.mesh_count; m++) {
        sp_animated_mesh *mesh = (sp_animated_mesh *)out->animation.meshes + m;
        if (!values[m])
            continue;
        float *colors = tool_allocate_raw(&out->pool, 3 * mesh->vertex_count, sizeof *colors);
        for (int64_t v = 0; v < mesh->vertex_count; v++)
            sp_colormap(out->color_end > 0 ? values[m][v] / out->color_end : 0, colors + 3 * v);
        mesh->colors = colors;
    }
}

/* ---- one body ---- */

typedef struct body_maker {
    sp_context *context;
    tool_trajectory *motion;
    const tool_animation_choice *choice;
    tool_skin skin;
    const int64_t *frame; /* [frame_count] */
    int64_t frame_count;
    double *u, *moved; /* [3·vertices] and [3·vertices of the skin] */
    sp_pool pool;
} body_maker;

/* The coordinates of a reduced motion, which is not warped. */
static void reduced_body(body_maker *maker, skin_motion *skin, double **coordinates)
{
    const tool_trajectory *motion = maker->motion;
    const int64_t r = motion->trajectory.r, rows = 3 * skin->vertex_count;
    double *U = tool_allocate_raw(&maker->pool, r, (size_t)rows * sizeof *U),
           *q = tool_allocate_raw(&maker->pool, r, (size_t)maker->frame_count * sizeof *q);
    for (int64_t i = 0; i < r; i++)
        tool_skin_values(&maker->skin, 3, motion->columns.columns.U + i * motion->columns.columns.rows, U + i * rows);
    for (int64_t f = 0; f < maker->frame_count; f++)
        memcpy(q + f * r, motion->trajectory.q + maker->frame[f] * r, (size_t)r * sizeof *q);
    skin->r = r;
    skin->U = U;
    *coordinates = q;
}

/* The principal directions of the displacements A [rows, frames], as many as the tolerance needs: A ≈ U q. */
static void principal_directions(body_maker *maker, skin_motion *skin, tool_animation *out, double **coordinates)
{
    const int64_t rows = 3 * skin->vertex_count, frames = maker->frame_count;
    double side, *A = tool_allocate_raw(&maker->pool, frames, (size_t)rows * sizeof *A),
                 *U = tool_allocate_raw(&maker->pool, frames, (size_t)rows * sizeof *U),
                 *ones = tool_allocate_raw(&maker->pool, rows, sizeof *ones),
                 *value = tool_allocate_raw(&maker->pool, frames, sizeof *value);

    const double allowed = maker->choice->tolerance * box_diagonal(skin->vertex_count, skin->rest, &side);
    int64_t rank, r = 0;
    sp_store store;

    for (int64_t f = 0; f < frames; f++) {
        tool_trajectory_own_displacement(maker->motion, maker->frame[f], maker->u);
        tool_skin_values(&maker->skin, 3, maker->u, A + f * rows);
    }

    memcpy(U, A, (size_t)(rows * frames) * sizeof *U);
    for (int64_t k = 0; k < rows; k++)
        ones[k] = 1;

    tool_check(sp_store_over(maker->context, rows, frames, U, &store), NULL);
    tool_check(sp_mass_pca(maker->context, &(sp_metric){.rows = rows, .diagonal = ones}, 0, &store, value, &rank),
               maker->motion->path);
    sp_store_free(&store);

    double *q = tool_allocate(&maker->pool, frames, (size_t)rank * sizeof *q);

    /* Each direction is removed from A, which holds what the first r directions leave. */
    for (;; r++) {
        out->error = 0;
        for (int64_t k = 0; k < rows * frames; k += 3)
            out->error = fmax(out->error, hypot(hypot(A[k], A[k + 1]), A[k + 2]));
        if (out->error <= allowed || r == rank)
            break;

        for (int64_t f = 0; f < frames; f++) {
            const double along = sp_dense_dot(rows, U + r * rows, A + f * rows);
            q[f * rank + r] = along;
            cblas_daxpy((int)rows, -along, U + r * rows, 1, A + f * rows, 1);
        }
        tool_check(sp_progress(maker->context, (double)(r + 1) / (double)rank), NULL);
    }

    if (out->error > allowed)
        tool_fail(SP_USAGE, NULL, "--tolerance %g: all %lld directions of the motion leave an error of %.3g",
                  maker->choice->tolerance, (long long)rank, out->error * maker->choice->tolerance / allowed);

    /* Rows of `rank` numbers become rows of r. */
    for (int64_t f = 0; f < frames; f++)
        memmove(q + f * r, q + f * rank, (size_t)r * sizeof *q);

    skin->r = r;
    skin->U = U;
    out->compressed = true;
    *coordinates = q;
}

/* Columns one after another. */
static void columns_body(body_maker *maker, skin_motion *skin, double **coordinates)
{
    const sp_columns *columns = &maker->motion->columns.columns;
    const int64_t r = maker->frame_count, rows = 3 * skin->vertex_count;
    const bool snapshots = tool_columns_sized(&maker->motion->columns);
    double side, diagonal = box_diagonal(skin->vertex_count, skin->rest, &side),
                 *U = tool_allocate_raw(&maker->pool, r, (size_t)rows * sizeof *U);

    const int64_t frames = snapshots ? r : r * SWING + 1;
    double *q = tool_allocate(&maker->pool, frames, (size_t)r * sizeof *q);

    for (int64_t i = 0; i < r; i++) {
        double *u = U + i * rows, largest = 0;
        tool_skin_values(&maker->skin, 3, columns->U + maker->frame[i] * columns->rows, u);
        for (int64_t k = 0; k < rows; k += 3)
            largest = fmax(largest, hypot(hypot(u[k], u[k + 1]), u[k + 2]));

        if (!snapshots && largest > 0)
            for (int64_t k = 0; k < rows; k++)
                u[k] *= AMPLITUDE * diagonal / largest;

        if (snapshots)
            q[i * r + i] = 1;
        else
            for (int64_t k = 1; k < SWING; k++)
                q[(i * SWING + k) * r + i] = sin(2 * 3.14159265358979323846 * (double)k / SWING);
    }

    skin->r = r;
    skin->U = U;
    maker->frame_count = frames;
    *coordinates = q;
}

static void color_body(body_maker *maker, const sp_animated_mesh *mesh, tool_animation *out)
{
    const bool speed = maker->choice->color == TOOL_VERTEX_SPEED;
    if (maker->choice->color == TOOL_VERTEX_PLAIN)
        return;
    if (!maker->motion->path)
        tool_fail(SP_USAGE, NULL, "--color is of a motion: name a trajectory");
    double *values = tool_allocate(&maker->pool, mesh->vertex_count, sizeof *values);
    for (int64_t f = 0; f < maker->frame_count; f++) {
        (speed ? tool_trajectory_velocity : tool_trajectory_displacement)(maker->motion, maker->frame[f], maker->u);
        tool_skin_values(&maker->skin, 3, maker->u, maker->moved);
        enlarge(mesh, maker->moved, values);
    }
    make_colors(out, &values);
}

static double *times_of(const body_maker *maker, sp_pool *pool)
{
    const bool swing = maker->motion->columns.path && !tool_columns_sized(&maker->motion->columns);
    double *times = tool_allocate_raw(pool, maker->frame_count, sizeof *times);
    for (int64_t f = 0; f < maker->frame_count; f++)
        times[f] = maker->motion->path ? tool_trajectory_time(maker->motion, maker->frame[f])
                   : swing             ? (double)f / SWING
                                       : (double)f;
    return times;
}

void tool_animation_open(sp_context *context, tool_trajectory *motion, const tool_animation_choice *choice,
                         tool_animation *out)
{
    body_maker maker = {.context = context, .motion = motion, .choice = choice};
    sp_list list = {0};
    sp_animated_mesh *mesh;
    sp_animated_body *body;
    double *coordinates = NULL, *scale;
    memset(out, 0, sizeof *out);

    if (!motion->mesh.path)
        tool_fail(SP_USAGE, NULL, "an animation needs the mesh: name its file too");
    tool_trajectory_choose(motion, choice->frames, choice->every, choice->columns, &list);
    tool_trajectory_need_all(motion);
    tool_skin_open(context, &motion->mesh.mesh, false, &maker.skin);

    maker.frame = list.data;
    maker.frame_count = list.count;
    maker.u = tool_allocate_raw(&maker.pool, 3 * motion->vertex_count, sizeof *maker.u);
    maker.moved = tool_allocate_raw(&maker.pool, 3 * maker.skin.vertex_count, sizeof *maker.moved);

    skin_motion skin = {.name = tool_base_name(motion->mesh.path),
                        .vertex_count = maker.skin.vertex_count,
                        .triangle_count = maker.skin.triangle_count,
                        .rest = maker.skin.rest,
                        .triangles = maker.skin.triangles};

    if (motion->path && motion->trajectory.r > 0 && motion->columns.path && !motion->warp)
        reduced_body(&maker, &skin, &coordinates);
    else if (motion->path)
        principal_directions(&maker, &skin, out, &coordinates);
    else if (motion->columns.path)
        columns_body(&maker, &skin, &coordinates);

    mesh = tool_allocate(&out->pool, 1, sizeof *mesh);
    body = tool_allocate(&out->pool, 1, sizeof *body);
    scale = tool_allocate(&maker.pool, skin.r, sizeof *scale);
    make_mesh(context, &skin, scale, &out->pool, mesh);

    double *weights = tool_allocate(&out->pool, maker.frame_count, (size_t)skin.r * sizeof *weights);
    for (int64_t i = 0; i < maker.frame_count * skin.r; i++)
        weights[i] = coordinates[i] * scale[i % skin.r];

    *body = (sp_animated_body){.name = skin.name, .weights = skin.r ? weights : NULL};
    if (motion->rig)
        body->skin = tool_animation_bones(motion, &maker.skin, mesh, maker.frame_count, maker.frame, out);

    out->animation = (sp_animation){.title = tool_base_name(motion->path ? motion->path : motion->mesh.path),
                                    .up = motion->mesh.mesh.up ? motion->mesh.mesh.up - 'x' : 2,
                                    .mesh_count = 1,
                                    .body_count = 1,
                                    .frame_count = maker.frame_count,
                                    .meshes = mesh,
                                    .bodies = body,
                                    .times = times_of(&maker, &out->pool)};

    make_normals(context, out, 0);
    color_body(&maker, mesh, out);

    sp_list_free(&list);
    tool_skin_close(&maker.skin);
    sp_pool_free(&maker.pool);
}

/* ---- scenes ---- */

typedef struct scene_maker {
    sp_context *context;
    tool_scene_trajectory *trajectory;
    const int64_t *frame;
    int64_t frame_count;
    sp_animated_mesh *meshes;
    sp_animated_body *bodies;
    double **scale;    /* [mesh_count] of each target */
    int64_t *of_model; /* [models] mesh, −1: none yet */
    int64_t *number;   /* [body_count] of each body in the scene */
    sp_pool pool;
} scene_maker;

/* Poses [frames, 7] with quaternions of unit length, whose signs do not jump. */
static double *poses_of(const scene_maker *maker, int64_t body, sp_pool *pool)
{
    double *poses = tool_allocate_raw(pool, 7 * maker->frame_count, sizeof *poses);
    for (int64_t f = 0; f < maker->frame_count; f++) {
        const sp_pose pose = tool_scene_trajectory_pose(maker->trajectory, body, maker->frame[f]);
        double *to = poses + 7 * f, squares = 0, same = 0;
        memcpy(to, pose.x, sizeof pose.x);
        for (int k = 0; k < 4; k++) {
            squares += pose.q[k] * pose.q[k];
            same += f ? pose.q[k] * to[k - 4] : 1;
        }
        for (int k = 0; k < 4; k++)
            to[3 + k] = (same < 0 ? -1 : 1) * pose.q[k] / sqrt(squares);
    }
    return poses;
}

/* The square of a plane under the whole motion, as its body sees it in the first frame, which is loaded. */
static double *plane_corners(scene_maker *maker, int64_t body)
{
    const tool_scene_trajectory *trajectory = maker->trajectory;
    const sp_pose pose = tool_scene_trajectory_pose(trajectory, body, maker->frame[0]);
    double *rest = tool_allocate_raw(&maker->pool, 12, sizeof *rest), R[9];
    sp_quaternion_matrix(pose.q, R);
    for (int v = 0; v < 4; v++) {
        double arm[3];
        sp_subtract3(trajectory->positions + 3 * (trajectory->first_vertex[body] + v), pose.x, arm);
        sp_rotate_back(R, arm, rest + 3 * v);
    }
    return rest;
}

/* The mesh of a body: that of its model, or for a plane one of its own. */
static int64_t mesh_of(scene_maker *maker, int64_t number, tool_animation *out)
{
    const sp_scene *scene = &maker->trajectory->scene.scene;
    const int64_t model = scene->bodies[number].model, at = out->animation.mesh_count;
    const tool_look *look = &maker->trajectory->looks[model];

    if (maker->of_model[model] >= 0)
        return maker->of_model[model];

    const skin_motion skin = {.name = look->rest ? scene->models[model].name : scene->bodies[number].name,
                              .vertex_count = look->vertex_count,
                              .triangle_count = look->triangle_count,
                              .r = look->U ? look->r : 0,
                              .rest = look->rest ? look->rest : plane_corners(maker, number),
                              .triangles = look->triangles,
                              .U = look->U};

    maker->scale[at] = tool_allocate(&maker->pool, skin.r, sizeof **maker->scale);
    make_mesh(maker->context, &skin, maker->scale[at], &out->pool, &maker->meshes[at]);
    maker->of_model[model] = look->rest ? at : -1;
    return out->animation.mesh_count++;
}

static const double *weights_of(const scene_maker *maker, int64_t number, int64_t mesh, sp_pool *pool)
{
    const tool_scene_trajectory *trajectory = maker->trajectory;
    const int64_t r = maker->meshes[mesh].target_count;
    if (!r)
        return NULL;
    double *weights = tool_allocate(pool, maker->frame_count, (size_t)r * sizeof *weights);
    if (trajectory->path)
        for (int64_t f = 0; f < maker->frame_count; f++) {
            const double *q = trajectory->motion.q + maker->frame[f] * trajectory->motion.r +
                              trajectory->motion.bodies[number].offset;
            for (int64_t i = 0; i < r; i++)
                weights[f * r + i] = q[i] * maker->scale[mesh][i];
        }
    return weights;
}

static void make_bodies(scene_maker *maker, tool_animation *out)
{
    const sp_scene *scene = &maker->trajectory->scene.scene;
    for (int64_t n = 0; n < scene->body_count; n++) {
        if (!maker->trajectory->looks[scene->bodies[n].model].vertex_count)
            continue;
        const int64_t mesh = mesh_of(maker, n, out), b = out->animation.body_count++;
        maker->number[b] = n;
        maker->bodies[b] = (sp_animated_body){.name = scene->bodies[n].name,
                                              .mesh = mesh,
                                              .weights = weights_of(maker, n, mesh, &out->pool),
                                              .poses = poses_of(maker, n, &out->pool)};
    }
    if (!out->animation.body_count)
        tool_fail(SP_INPUT, maker->trajectory->scene.path, "no body has a surface to be seen");
}

/* The displacements [skin_count, 3] of the skin's vertices. */
static void sum_targets(const sp_animated_mesh *mesh, const double *weights, double *u)
{
    memset(u, 0, 3 * (size_t)mesh->skin_count * sizeof *u);
    for (int64_t i = 0; i < mesh->target_count; i++)
        for (int64_t k = 0; k < 3 * mesh->skin_count; k++)
            u[k] += weights[i] * mesh->targets[3 * i * mesh->vertex_count + k];
}

/* A mesh that several bodies show has the colours of the largest value on any of them. */
static void color_scene(scene_maker *maker, const tool_animation_choice *choice, tool_animation *out)
{
    tool_scene_trajectory *trajectory = maker->trajectory;

    double **values = tool_allocate(&maker->pool, out->animation.mesh_count, sizeof *values),
           *u = tool_allocate(&maker->pool, 3 * trajectory->vertex_count, sizeof *u);
    if (choice->color == TOOL_VERTEX_PLAIN)
        return;
    if (!trajectory->path)
        tool_fail(SP_USAGE, NULL, "--color is of a motion: name that of the scene too");
    for (int64_t m = 0; m < out->animation.mesh_count; m++)
        values[m] = tool_allocate(&maker->pool, maker->meshes[m].vertex_count, sizeof **values);

    for (int64_t f = 0; f < maker->frame_count; f++) {
        tool_scene_trajectory_load(trajectory, maker->frame[f]);
        for (int64_t b = 0; b < out->animation.body_count; b++) {
            const sp_animated_body *body = &maker->bodies[b];
            const sp_animated_mesh *mesh = &maker->meshes[body->mesh];

            if (choice->color == TOOL_VERTEX_SPEED)
                enlarge(mesh, trajectory->velocities + 3 * trajectory->first_vertex[maker->number[b]],
                        values[body->mesh]);
            else if (body->weights) {
                sum_targets(mesh, body->weights + f * mesh->target_count, u);
                enlarge(mesh, u, values[body->mesh]);
            }
        }
    }

    make_colors(out, values);
}

void tool_animation_open_scene(sp_context *context, tool_scene_trajectory *trajectory,
                               const tool_animation_choice *choice, tool_animation *out)
{
    scene_maker maker = {.context = context, .trajectory = trajectory};
    sp_list list = {0};
    memset(out, 0, sizeof *out);

    tool_scene_trajectory_look(trajectory);
    tool_scene_trajectory_choose(trajectory, choice->frames, choice->every, &list);
    maker.frame = list.data;
    maker.frame_count = list.count;

    /* Planes lie under all frames. */
    for (int64_t f = 0; f < list.count; f++) {
        tool_scene_trajectory_load(trajectory, maker.frame[f]);
        tool_scene_trajectory_widen(trajectory);
    }

    tool_scene_trajectory_load(trajectory, maker.frame[0]);
    const sp_scene *scene = &trajectory->scene.scene;
    const int up = tool_scene_trajectory_up(trajectory);

    maker.meshes = tool_allocate(&out->pool, scene->body_count + scene->model_count, sizeof *maker.meshes);
    maker.bodies = tool_allocate(&out->pool, scene->body_count, sizeof *maker.bodies);
    maker.scale = tool_allocate(&maker.pool, scene->body_count + scene->model_count, sizeof *maker.scale);
    maker.number = tool_allocate(&maker.pool, scene->body_count, sizeof *maker.number);
    maker.of_model = tool_allocate(&maker.pool, scene->model_count, sizeof *maker.of_model);
    for (int64_t m = 0; m < scene->model_count; m++)
        maker.of_model[m] = -1;

    double *times = tool_allocate(&out->pool, list.count, sizeof *times);
    for (int64_t f = 0; f < list.count; f++)
        times[f] = tool_scene_trajectory_time(trajectory, maker.frame[f]);

    out->animation =
        (sp_animation){.title = tool_base_name(trajectory->path ? trajectory->path : trajectory->scene.path),
                       .up = up ? abs(up) - 'x' : 2,
                       .frame_count = list.count,
                       .meshes = maker.meshes,
                       .bodies = maker.bodies,
                       .times = times};

    make_bodies(&maker, out);
    for (int64_t m = 0; m < out->animation.mesh_count; m++)
        make_normals(context, out, m);
    color_scene(&maker, choice, out);

    sp_list_free(&list);
    sp_pool_free(&maker.pool);
}

void tool_animation_close(tool_animation *animation)
{
    sp_pool_free(&animation->pool);
}
