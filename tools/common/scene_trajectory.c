#include "tools/common/scene_trajectory.h"

#include "formats/field.h"
#include "geometry/isosurface.h"
#include "tools/common/model.h"
#include "tools/common/skin.h"
#include "tools/common/trajectory.h"

#include <math.h>
#include <string.h>

/* ---- opening ---- */

bool tool_is_motion(sp_context *context, const char *path)
{
    char kind[SP_KIND_LENGTH];
    tool_peek_any_kind(context, path, kind);
    return !strcmp(kind, "scene_trajectory");
}

static void read_motion(tool_scene_trajectory *trajectory, bool partial)
{
    const char *scene;

    int descriptor = tool_open_input(trajectory->path);
    tool_check(sp_scene_trajectory_read(trajectory->context, descriptor, partial, &trajectory->motion),
               trajectory->path);
    tool_close_input(descriptor);
    tool_record_archive(trajectory->path, NULL, trajectory->motion.hash, trajectory->motion.meta);

    if (trajectory->motion.truncated)
        tool_warn(trajectory->path, "it is cut: %lld frames can be read", (long long)trajectory->motion.frame_count);

    if (!trajectory->has_scene)
        return;

    scene = json_string_value(json_object_get(trajectory->motion.meta, "scene"));
    if (!scene || !*scene)
        tool_warn(trajectory->path, "it does not say which scene it belongs to");
    else
        tool_check_hash(trajectory->path, "scene", scene, trajectory->scene.hash);
}

static void match_bodies(const tool_scene_trajectory *trajectory)
{
    const sp_scene_trajectory *motion = &trajectory->motion;
    const sp_scene *scene = &trajectory->scene.scene;

    if (motion->body_count != scene->body_count)
        tool_fail(SP_INPUT, trajectory->path, "it has %lld bodies, the scene %lld", (long long)motion->body_count,
                  (long long)scene->body_count);

    for (int64_t b = 0; b < motion->body_count; b++) {
        const sp_scene_trajectory_body *body = &motion->bodies[b];
        const char *name = scene->bodies[b].name, *model = scene->models[scene->bodies[b].model].name;
        if (strcmp(body->name, name) || strcmp(body->model, model))
            tool_fail(SP_INPUT, trajectory->path,
                      "its body %lld is %s of model %s, that of the scene is %s of model %s", (long long)b, body->name,
                      body->model, name, model);
    }
}

/* Where bodies are when a scene begins. */
static void find_start(tool_scene_trajectory *trajectory)
{
    const sp_scene *scene = &trajectory->scene.scene;

    trajectory->start = tool_allocate(&trajectory->pool, scene->body_count, sizeof *trajectory->start);
    for (int64_t b = 0; b < scene->body_count; b++) {
        const sp_scene_body *body = &scene->bodies[b];
        sp_path path;
        trajectory->start[b] = body->pose;

        if (body->motion != SP_SCENE_PATH)
            continue;
        tool_scene_path(&trajectory->scene, body->name, body->path, &path);
        trajectory->start[b] = sp_path_at(&path, 0, NULL);
        sp_path_free(&path);
    }
}

void tool_scene_trajectory_open(sp_context *context, int64_t count, const char *const *paths, bool partial,
                                tool_scene_trajectory *trajectory)
{
    *trajectory = (tool_scene_trajectory){
        .context = context, .low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};

    for (int64_t i = 0; i < count; i++) {
        const bool is_scene = tool_is_scene(paths[i]);
        if (is_scene ? trajectory->has_scene : trajectory->path != NULL)
            tool_fail(SP_USAGE, paths[i], is_scene ? "a second scene" : "a second motion");
        if (!is_scene && !tool_is_motion(context, paths[i]))
            tool_fail(SP_INPUT, paths[i],
                      "with a scene there is its motion, and nothing else: the scene names its other files");

        if (is_scene)
            tool_read_scene(context, paths[i], &trajectory->scene);
        else
            trajectory->path = paths[i];
        trajectory->has_scene |= is_scene;
    }

    if (trajectory->path)
        read_motion(trajectory, partial);
    if (trajectory->path && trajectory->has_scene)
        match_bodies(trajectory);
    if (!trajectory->path)
        find_start(trajectory);

    trajectory->body_count = trajectory->path ? trajectory->motion.body_count : trajectory->scene.scene.body_count;
    trajectory->frame_count = trajectory->path ? trajectory->motion.frame_count : 1;
}

void tool_scene_trajectory_close(tool_scene_trajectory *trajectory)
{
    if (trajectory->looks)
        for (int64_t m = 0; m < trajectory->scene.scene.model_count; m++)
            sp_pool_free(&trajectory->looks[m].pool);
    if (trajectory->has_scene)
        tool_scene_free(&trajectory->scene);
    sp_scene_trajectory_free(&trajectory->motion);
    sp_pool_free(&trajectory->pool);
}

/* ---- models ---- */

static void peek_buffer(tool_look *look, int64_t vertices, int64_t triangles)
{
    look->vertex_count = vertices;
    look->triangle_count = triangles;
    look->rest = tool_allocate_raw(&look->pool, 3 * vertices, sizeof(double));
    look->triangles = tool_allocate_raw(&look->pool, 3 * triangles, sizeof(int64_t));
}

static void look_surface(tool_look *look, const sp_surface *surface)
{
    peek_buffer(look, surface->vertex_count, surface->triangle_count);
    memcpy(look->rest, surface->vertices, 3 * (size_t)surface->vertex_count * sizeof(double));
    memcpy(look->triangles, surface->triangles, 3 * (size_t)surface->triangle_count * sizeof(int64_t));
}

/* The skin of a mesh, and where there is a basis its columns at the vertices of the skin. */
static void look_mesh(tool_scene_trajectory *trajectory, int64_t model, tool_look *look)
{
    tool_mesh mesh;
    tool_columns basis;
    tool_skin skin;

    tool_scene_mesh(&trajectory->scene, model, &mesh);
    tool_skin_open(trajectory->context, &mesh.mesh, false, &skin);
    look_surface(look, &(sp_surface){.vertex_count = skin.vertex_count,
                                     .triangle_count = skin.triangle_count,
                                     .vertices = (double *)skin.rest,
                                     .triangles = (int64_t *)skin.triangles});

    if (tool_scene_basis(&trajectory->scene, model, &mesh, &basis)) {
        look->r = tool_scene_rank(&trajectory->scene, model, &basis);
        look->U = tool_allocate_raw(&look->pool, look->r, 3 * (size_t)look->vertex_count * sizeof(double));
        for (int64_t j = 0; j < look->r; j++)
            tool_skin_values(&skin, 3, basis.columns.U + j * basis.columns.rows, look->U + j * 3 * look->vertex_count);
        sp_columns_free(&basis.columns);
    }

    look->up = mesh.mesh.up;
    tool_skin_close(&skin);
    sp_mesh_free(&mesh.mesh);
}

static void look_field(tool_scene_trajectory *trajectory, const sp_scene_model *model, const char *path,
                       const char *key, tool_look *look)
{
    static const char *const kinds[] = {"field", NULL};
    sp_file file;
    sp_field field;
    sp_surface surface;

    tool_read(path, tool_scene_via(&trajectory->scene, model->name, key), kinds, false, &file);

    tool_check(sp_field_read(trajectory->context, &file, &field), path);
    tool_check(sp_isosurface(trajectory->context, &field, 0, NULL, &surface), path);
    look_surface(look, &surface);

    sp_surface_free(&surface);
    sp_field_free(&field);
    sp_file_free(&file);
}

/* By degrees of latitude and longitude, the poles once each. */
static void look_sphere(const sp_scene_model *model, tool_look *look)
{
    enum { RINGS = 23, SIDES = 48 };
    const double pi = 3.14159265358979323846;
    int64_t at = 0;

    peek_buffer(look, 2 + RINGS * SIDES, 2 * RINGS * SIDES);

    for (int64_t v = 0; v < look->vertex_count; v++) {
        const int64_t ring = v == 0                        ? 0
                             : v == look->vertex_count - 1 ? RINGS + 1
                                                           : 1 + (v - 1) / SIDES,
                      side = (v - 1) % SIDES;
        const double down = pi * (double)ring / (RINGS + 1), along = 2 * pi * (double)side / SIDES,
                     around = v == 0 || v == look->vertex_count - 1 ? 0 : sin(down);
        const double unit[3] = {around * cos(along), around * sin(along), cos(down)};
        for (int k = 0; k < 3; k++)
            look->rest[3 * v + k] = model->centre[k] + model->radius * unit[k];
    }

    /* Bands from pole to pole: the first and the last are of triangles. */
    for (int64_t ring = 0; ring <= RINGS; ring++)
        for (int64_t side = 0; side < SIDES; side++) {
            const int64_t next = (side + 1) % SIDES, last = look->vertex_count - 1, above = 1 + (ring - 1) * SIDES,
                          below = above + SIDES;
            const int64_t corner[6] = {
                ring == 0 ? 0 : above + side, below + side, below + next, above + side, below + next, above + next};
            const int64_t bottom[3] = {above + side, last, above + next};
            const int64_t *from = ring == RINGS ? bottom : corner;
            const int64_t count = ring == 0 || ring == RINGS ? 3 : 6;
            memcpy(look->triangles + at, from, (size_t)count * sizeof *from);
            at += count;
        }
}

static void look_box(const sp_scene_model *model, tool_look *look)
{
    static const int64_t faces[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                      2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    peek_buffer(look, 8, 12);
    memcpy(look->triangles, faces, sizeof faces);
    for (int v = 0; v < 8; v++)
        for (int k = 0; k < 3; k++)
            look->rest[3 * v + k] = model->centre[k] + (v >> k & 1 ? 1 : -1) * model->half[k];
}

/* A square: its corners are set with each frame. */
static void look_plane(tool_look *look)
{
    static const int64_t square[6] = {0, 1, 2, 0, 2, 3};
    peek_buffer(look, 4, 2);
    look->rest = NULL;
    memcpy(look->triangles, square, sizeof square);
}

static void look_model(tool_scene_trajectory *trajectory, int64_t number, tool_look *look)
{
    const sp_scene_model *model = &trajectory->scene.scene.models[number];
    sp_surface surface;
    if (model->mesh)
        look_mesh(trajectory, number, look);
    else if (tool_scene_surface(trajectory->context, &trajectory->scene, number, &surface)) {
        look_surface(look, &surface);
        sp_surface_free(&surface);
    } else if (model->shape == SP_SCENE_SPHERE)
        look_sphere(model, look);
    else if (model->shape == SP_SCENE_BOX)
        look_box(model, look);
    else if (model->shape == SP_SCENE_PLANE)
        look_plane(look);
    else if (model->field || model->voxmap)
        look_field(trajectory, model, model->field ? model->field : model->voxmap, model->field ? "field" : "voxmap",
                   look);
    else
        tool_warn(trajectory->scene.path, "model %s has no surface to be seen", model->name);
}

void tool_scene_trajectory_look(tool_scene_trajectory *trajectory)
{
    const sp_scene *scene = &trajectory->scene.scene;
    int64_t most = 0, vertices = 0, triangles = 0;

    if (!trajectory->has_scene)
        tool_fail(SP_USAGE, NULL, "a motion is of bodies that its scene names: name the scene too");

    trajectory->looks = tool_allocate(&trajectory->pool, scene->model_count, sizeof *trajectory->looks);
    for (int64_t m = 0; m < scene->model_count; m++)
        look_model(trajectory, m, &trajectory->looks[m]);

    trajectory->first_vertex =
        tool_allocate(&trajectory->pool, trajectory->body_count + 1, sizeof *trajectory->first_vertex);

    for (int64_t b = 0; b < trajectory->body_count; b++) {
        const tool_look *look = &trajectory->looks[scene->bodies[b].model];
        if (trajectory->path && trajectory->motion.bodies[b].r != look->r)
            tool_fail(SP_INPUT, trajectory->path, "body %s has %lld coordinates, its model in the scene %lld",
                      trajectory->motion.bodies[b].name, (long long)trajectory->motion.bodies[b].r, (long long)look->r);

        trajectory->first_vertex[b] = vertices;
        if (__builtin_add_overflow(vertices, look->vertex_count, &vertices) ||
            __builtin_add_overflow(triangles, look->triangle_count, &triangles))
            tool_out_of_memory();
        most = look->r > most ? look->r : most;
    }

    trajectory->first_vertex[trajectory->body_count] = trajectory->vertex_count = vertices;
    trajectory->triangle_count = triangles;

    trajectory->triangles = tool_allocate_raw(&trajectory->pool, triangles, 3 * sizeof *trajectory->triangles);
    trajectory->body = tool_allocate_raw(&trajectory->pool, triangles, sizeof *trajectory->body);
    trajectory->positions = tool_allocate_raw(&trajectory->pool, vertices, 3 * sizeof *trajectory->positions);
    trajectory->velocities = tool_allocate_raw(&trajectory->pool, vertices, 3 * sizeof *trajectory->velocities);
    trajectory->zero = tool_allocate(&trajectory->pool, most, sizeof *trajectory->zero);

    for (int64_t b = 0, at = 0; b < trajectory->body_count; b++) {
        const tool_look *look = &trajectory->looks[scene->bodies[b].model];
        for (int64_t i = 0; i < look->triangle_count; i++, at++) {
            trajectory->body[at] = b;
            for (int k = 0; k < 3; k++)
                trajectory->triangles[3 * at + k] = trajectory->first_vertex[b] + look->triangles[3 * i + k];
        }
    }
}

/* The axis that a vector is closest to; 0 for the zero vector. */
static int closest_axis(const double v[3])
{
    int axis = 2;
    for (int k = 0; k < 2; k++)
        axis = fabs(v[k]) > fabs(v[axis]) ? k : axis;
    return v[axis] > 0 ? 'x' + axis : v[axis] < 0 ? -('x' + axis) : 0;
}

int tool_scene_trajectory_up(const tool_scene_trajectory *trajectory)
{
    const sp_scene *scene = &trajectory->scene.scene;
    int up = -closest_axis(scene->gravity);
    for (int64_t b = 0; !up && b < trajectory->body_count; b++) {
        const int named = trajectory->looks[scene->bodies[b].model].up;
        if (!named)
            continue;

        /* A mesh names an axis of its own, which its body may turn. */
        double R[9], unit[3] = {0, 0, 0}, turned[3];
        unit[named - 'x'] = 1;
        sp_quaternion_matrix(tool_scene_trajectory_pose(trajectory, b, 0).q, R);
        sp_rotate(R, unit, turned);
        up = closest_axis(turned);
    }
    return up;
}

/* ---- frames ---- */

void tool_scene_trajectory_choose(const tool_scene_trajectory *trajectory, const char *text, int64_t every,
                                  sp_list *list)
{
    const tool_frames frames = tool_frames_parse(text, every);
    for (int64_t f = 0; f < trajectory->frame_count && f <= frames.last; f++)
        if (tool_frames_have(&frames, f)) {
            int64_t *to = tool_list_add(list, 1, sizeof *to);
            *to = f;
        }
    if (list->count == 0)
        tool_fail(SP_USAGE, NULL, "--frames: there are %lld frames", (long long)trajectory->frame_count);
}

double tool_scene_trajectory_time(const tool_scene_trajectory *trajectory, int64_t frame)
{
    return trajectory->path ? trajectory->motion.time[frame] : 0;
}

int64_t tool_scene_trajectory_contacts(const tool_scene_trajectory *trajectory, int64_t frame, int64_t *first)
{
    *first = 0;
    if (!trajectory->path || !trajectory->motion.with_contacts)
        return 0;
    *first = trajectory->motion.contact_begin[frame];
    return trajectory->motion.contact_begin[frame + 1] - *first;
}

/* x + R(X + U q), and its rate v + ω × R(X + U q) + R U q̇. */
static void place_body(const tool_look *look, const sp_pose *pose, const double twist[6], const double *q,
                       const double *qdot, double *position, double *velocity)
{
    double R[9];
    const int64_t rows = 3 * look->vertex_count;

    sp_quaternion_matrix(pose->q, R);
    for (int64_t v = 0; v < look->vertex_count; v++) {
        double at[3], rate[3] = {0, 0, 0}, arm[3], turned[3], swept[3];

        memcpy(at, look->rest + 3 * v, sizeof at);
        for (int64_t j = 0; j < look->r; j++)
            for (int k = 0; k < 3; k++) {
                at[k] += look->U[j * rows + 3 * v + k] * q[j];
                rate[k] += look->U[j * rows + 3 * v + k] * qdot[j];
            }

        sp_rotate(R, at, arm);
        sp_rotate(R, rate, turned);
        sp_cross3(twist + 3, arm, swept);

        for (int k = 0; k < 3; k++) {
            position[3 * v + k] = pose->x[k] + arm[k];
            velocity[3 * v + k] = twist[k] + swept[k] + turned[k];
        }
    }
}

/* The square of a plane under the box, a tenth wider than it on all sides. */
static void place_plane(const tool_scene_trajectory *trajectory, const sp_scene_model *model, const sp_pose *pose,
                        const double twist[6], double *position, double *velocity)
{
    double R[9], normal[3], tangent[2][3], axis[3] = {0, 0, 0}, low[3], high[3], origin[3];
    double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};

    /* Two tangents, the first at right angles to the axis that the normal is farthest from */
    sp_quaternion_matrix(pose->q, R);
    sp_rotate(R, model->normal, normal);
    int least_axis = fabs(normal[0]) <= fabs(normal[1]) ? 0 : 1;
    least_axis = fabs(normal[least_axis]) <= fabs(normal[2]) ? least_axis : 2;
    axis[least_axis] = 1;
    sp_cross3(axis, normal, tangent[0]);

    const double length = sp_norm3(tangent[0]);
    for (int k = 0; k < 3; k++) {
        const bool empty = !(trajectory->low[k] <= trajectory->high[k]);
        tangent[0][k] /= length;
        low[k] = empty ? -0.5 : trajectory->low[k];
        high[k] = empty ? 0.5 : trajectory->high[k];
        origin[k] = pose->x[k] + model->offset * normal[k];
    }
    sp_cross3(normal, tangent[0], tangent[1]);

    /* How far the corners of the box reach along the tangents from the origin of the plane */
    for (int c = 0; c < 8; c++)
        for (int t = 0; t < 2; t++) {
            double along = 0;
            for (int k = 0; k < 3; k++)
                along += ((c >> k & 1 ? high : low)[k] - origin[k]) * tangent[t][k];
            least[t] = fmin(least[t], along);
            most[t] = fmax(most[t], along);
        }

    for (int c = 0; c < 4; c++) {
        double arm[3], swept[3];
        for (int k = 0; k < 3; k++) {
            double sum = origin[k];
            for (int t = 0; t < 2; t++) {
                const double margin = 0.1 * (most[t] - least[t]);
                sum += (((t == 0 ? c == 1 || c == 2 : c >= 2) ? most[t] + margin : least[t] - margin)) * tangent[t][k];
            }
            position[3 * c + k] = sum;
            arm[k] = sum - pose->x[k];
        }

        sp_cross3(twist + 3, arm, swept);
        for (int k = 0; k < 3; k++)
            velocity[3 * c + k] = twist[k] + swept[k];
    }
}

sp_pose tool_scene_trajectory_pose(const tool_scene_trajectory *trajectory, int64_t body, int64_t frame)
{
    if (!trajectory->path)
        return trajectory->start[body];
    const double *from = trajectory->motion.pose + 7 * (frame * trajectory->body_count + body);
    sp_pose pose;
    memcpy(pose.x, from, sizeof pose.x);
    memcpy(pose.q, from + 3, sizeof pose.q);
    return pose;
}

void tool_scene_trajectory_load(tool_scene_trajectory *trajectory, int64_t frame)
{
    static const double still[6] = {0};
    const sp_scene_trajectory *motion = &trajectory->motion;
    const sp_scene *scene = &trajectory->scene.scene;

    for (int64_t b = 0; b < trajectory->body_count; b++) {
        const sp_scene_model *model = &scene->models[scene->bodies[b].model];
        const tool_look *look = &trajectory->looks[scene->bodies[b].model];
        const sp_pose pose = tool_scene_trajectory_pose(trajectory, b, frame);
        const double *twist = still, *q = trajectory->zero, *qdot = trajectory->zero;

        if (trajectory->path) {
            twist = motion->twist + 6 * (frame * trajectory->body_count + b);
            q = look->r ? motion->q + frame * motion->r + motion->bodies[b].offset : q;
            qdot = look->r ? motion->qdot + frame * motion->r + motion->bodies[b].offset : qdot;
        }

        double *position = trajectory->positions + 3 * trajectory->first_vertex[b],
               *velocity = trajectory->velocities + 3 * trajectory->first_vertex[b];
        if (look->rest)
            place_body(look, &pose, twist, q, qdot, position, velocity);
        else if (look->vertex_count)
            place_plane(trajectory, model, &pose, twist, position, velocity);
    }
}

void tool_scene_trajectory_widen(tool_scene_trajectory *trajectory)
{
    for (int64_t b = 0; b < trajectory->body_count; b++)
        if (trajectory->looks[trajectory->scene.scene.bodies[b].model].rest)
            for (int64_t i = 3 * trajectory->first_vertex[b]; i < 3 * trajectory->first_vertex[b + 1]; i++) {
                trajectory->low[i % 3] = fmin(trajectory->low[i % 3], trajectory->positions[i]);
                trajectory->high[i % 3] = fmax(trajectory->high[i % 3], trajectory->positions[i]);
            }
}
