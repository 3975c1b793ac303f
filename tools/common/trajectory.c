#include "tools/common/trajectory.h"

#include "tools/common/materials.h"
#include "tools/common/rig.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- opening ---- */

static bool is_columns(const char *kind)
{
    return !strcmp(kind, "basis") || !strcmp(kind, "modes") || !strcmp(kind, "derivatives") ||
           !strcmp(kind, "snapshots");
}

static void take_materials(tool_trajectory *motion, const json_t *meta)
{
    tool_material_edits edits;
    tool_check(tool_material_edits_recorded(motion->context, meta, &edits), motion->path);
    if (tool_material_edits_given(&edits) && tool_edit_materials(motion->context, &edits, &motion->simulated) != SP_OK)
        tool_fail(SP_INPUT, motion->path, "%s", motion->context->message);
}

static void open_trajectory(tool_trajectory *motion, int flags)
{
    const json_t *meta;

    motion->descriptor = tool_open_input(motion->path);

    if (flags & TOOL_MOTION_STREAM) {
        tool_check(
            sp_trajectory_open(motion->context, motion->descriptor, flags & TOOL_MOTION_PARTIAL, &motion->stream),
            motion->path);
        meta = sp_trajectory_meta(motion->stream);
        motion->frame_count = -1;
    } else {
        tool_check(
            sp_trajectory_read(motion->context, motion->descriptor, flags & TOOL_MOTION_PARTIAL, &motion->trajectory),
            motion->path);
        meta = motion->trajectory.meta;
        tool_record_input(motion->path, NULL, motion->trajectory.hash, meta);
        motion->frame_count = motion->trajectory.frame_count;
        if (motion->trajectory.truncated)
            tool_warn(motion->path, "it is cut short: %lld frames are whole", (long long)motion->frame_count);
    }

    motion->vertex_count = json_integer_value(json_object_get(meta, "vertices"));

    if (motion->mesh.path) {
        tool_check_hash(motion->path, "mesh", tool_text_of(meta, "mesh"), motion->mesh.hash);
        if (motion->mesh.mesh.vertex_count != motion->vertex_count)
            tool_fail(SP_INPUT, motion->path, "it is of %lld vertices, the mesh has %lld",
                      (long long)motion->vertex_count, (long long)motion->mesh.mesh.vertex_count);
        take_materials(motion, meta);
    }
}

static void open_columns(tool_trajectory *motion, int64_t count, const char *const *paths)
{
    const json_t *meta = motion->stream ? sp_trajectory_meta(motion->stream) : motion->trajectory.meta;
    const tool_mesh *mesh = motion->mesh.path ? &motion->mesh : NULL;
    int64_t r = motion->path ? json_integer_value(json_object_get(meta, "r")) : -1;

    if (!motion->path && count > 1)
        tool_fail(SP_USAGE, NULL, "%s and %s: one of them can be taken at a time", paths[0], paths[1]);

    if (r == 0) /* without coordinates a basis is not needed */
        return;
    for (int64_t i = 0; i < count; i++) {
        tool_columns *columns = &motion->columns;
        tool_read_columns(paths[i], NULL, NULL, mesh, columns);
        bool named = !strcmp(columns->hash, tool_text_of(meta, "basis"));

        if (motion->path && !named && count > 1) {
            sp_columns_free(&columns->columns);
            *columns = (tool_columns){0};
            continue;
        }

        if (motion->path) {
            tool_check_hash(motion->path, "basis", tool_text_of(meta, "basis"), columns->hash);
            if (columns->columns.count < r || columns->columns.rows != 3 * motion->vertex_count)
                tool_fail(SP_INPUT, motion->path,
                          "it has %lld coordinates of %lld vertices, %s %lld columns of %lld rows", (long long)r,
                          (long long)motion->vertex_count, paths[i], (long long)columns->columns.count,
                          (long long)columns->columns.rows);
            if (mesh)
                tool_hold_rows(&mesh->mesh, columns); /* as simulate did */
        }

        motion->vertex_count = columns->columns.rows / 3;
        break;
    }

    if (motion->path && count > 1 && !motion->columns.path)
        tool_fail(SP_INPUT, motion->path, "none of the %lld files is its basis (%.12s…)", (long long)count,
                  tool_text_of(meta, "basis"));

    if (motion->columns.path && motion->columns.columns.count > INT_MAX)
        tool_fail(SP_INPUT, motion->columns.path, "%lld columns are too many",
                  (long long)motion->columns.columns.count);
}

/* The derivatives beside the modes. */
static void open_derivatives(tool_trajectory *motion, const char *path)
{
    char modes[SP_HASH_LENGTH];
    tool_columns *columns = &motion->derivatives;

    tool_peek_input(motion->context, path, "modes", modes);
    tool_read_columns(path, NULL, NULL, motion->mesh.path ? &motion->mesh : NULL, columns);
    tool_check_hash(path, "file of modes", modes, motion->columns.hash);

    if (columns->columns.order != 1 || !columns->columns.pair)
        tool_fail(SP_INPUT, path, "it does not say of which two modes its columns are derivatives");
    if (columns->columns.rows != 3 * motion->vertex_count)
        tool_fail(SP_INPUT, path, "its columns have %lld rows, those of %s %lld", (long long)columns->columns.rows,
                  motion->columns.path, (long long)(3 * motion->vertex_count));

    for (int64_t i = 0; i < 2 * columns->columns.count; i++)
        if (columns->columns.pair[i] >= motion->columns.columns.count)
            tool_fail(SP_INPUT, path, "it has a derivative of mode %lld, %s has %lld modes",
                      (long long)columns->columns.pair[i] + 1, motion->columns.path,
                      (long long)motion->columns.columns.count);

    motion->frame_count += columns->columns.count;
}

static void map_points(tool_trajectory *motion)
{
    const sp_trajectory *trajectory = &motion->trajectory;
    if (motion->point || !trajectory->vertex)
        return;
    motion->point = tool_allocate_raw(&motion->pool, motion->vertex_count, sizeof *motion->point);
    for (int64_t v = 0; v < motion->vertex_count; v++)
        motion->point[v] = -1;
    for (int64_t p = 0; p < trajectory->point_count; p++)
        motion->point[trajectory->vertex[p]] = p;
}

/* For trajectories of modal warping, whose coordinates are those of linear displacements. */
static void open_warp(tool_trajectory *motion)
{
    const json_t *meta = motion->path ? tool_trajectory_meta(motion) : NULL;
    if (!json_is_true(json_object_get(meta, "warp")) || !motion->columns.path)
        return;
    if (!motion->mesh.path)
        tool_fail(SP_USAGE, motion->path,
                  "its shape is computed by modal warping, which needs the mesh: name the mesh too");
    motion->warp = tool_allocate(&motion->pool, 1, sizeof *motion->warp);
    motion->warped = tool_allocate(&motion->pool, 6 * motion->vertex_count, sizeof *motion->warped);
    tool_check(sp_modal_warp_new(motion->context, &motion->mesh.mesh, motion->warp), motion->mesh.path);
}

void tool_trajectory_open(sp_context *context, int64_t count, const char *const *paths, int flags,
                          tool_trajectory *motion)
{
    const char *columns[256], *modes = NULL, *derivatives = NULL;
    int64_t column_files = 0;
    *motion = (tool_trajectory){.context = context, .descriptor = -1};

    for (int64_t i = 0; i < count; i++) {
        char kind[SP_KIND_LENGTH];
        if ((flags & TOOL_MOTION_STREAM) && !strcmp(paths[i], "-") && lseek(STDIN_FILENO, 0, SEEK_CUR) < 0)
            strcpy(kind, "trajectory");
        else
            tool_peek_kind(context, paths[i], kind);

        const char **place = !strcmp(kind, "mesh")         ? &motion->mesh.path
                             : !strcmp(kind, "trajectory") ? &motion->path
                                                           : NULL;

        if (place && *place)
            tool_fail(SP_USAGE, NULL, "%s and %s: one %s can be taken at a time", *place, paths[i], kind);
        if (place)
            *place = paths[i];
        else if (!is_columns(kind))
            tool_fail(SP_INPUT, paths[i], "a file of kind %s has no displacements", kind);
        else if (column_files == (int64_t)(sizeof columns / sizeof *columns))
            tool_fail(SP_USAGE, paths[i], "at most %d files of columns can be given",
                      (int)(sizeof columns / sizeof *columns));
        else
            columns[column_files++] = paths[i];

        if (!strcmp(kind, "modes"))
            modes = paths[i];
        else if (!strcmp(kind, "derivatives"))
            derivatives = paths[i];
    }

    const bool pair = (flags & TOOL_MOTION_DERIVATIVES) && !motion->path && column_files == 2 && modes && derivatives;
    if (pair) {
        columns[0] = modes;
        column_files = 1;
    }

    if (motion->mesh.path) {
        tool_read_mesh(motion->mesh.path, NULL, &motion->mesh);
        motion->vertex_count = motion->mesh.mesh.vertex_count;
        motion->frame_count = 1;
        motion->simulated = motion->mesh.mesh; /* all but its pool, for materials of its own */
        motion->simulated.pool = (sp_pool){0};
    }

    if (motion->path)
        open_trajectory(motion, flags);

    open_columns(motion, column_files, columns);
    if (!motion->path && motion->columns.path)
        motion->frame_count = motion->columns.columns.count;
    if (pair)
        open_derivatives(motion, derivatives);

    map_points(motion);
    open_warp(motion);
}

void tool_trajectory_close(tool_trajectory *motion)
{
    if (motion->stream)
        sp_trajectory_close(motion->stream);
    else
        sp_trajectory_free(&motion->trajectory);
    if (motion->descriptor >= 0)
        tool_close_input(motion->descriptor);

    if (motion->columns.path)
        sp_columns_free(&motion->columns.columns);
    if (motion->derivatives.path)
        sp_columns_free(&motion->derivatives.columns);
    if (motion->mesh.path)
        sp_mesh_free(&motion->mesh.mesh);

    if (motion->frame)
        sp_path_free(motion->frame);
    if (motion->rig)
        tool_rig_close(motion->rig);
    if (motion->warp)
        sp_modal_warp_free(motion->warp);

    sp_pool_free(&motion->simulated.pool);
    sp_pool_free(&motion->pool);
}

/* ---- frames ---- */

bool tool_trajectory_have(tool_trajectory *motion, int64_t frame)
{
    while (motion->stream && motion->frame_count < 0 && frame >= motion->first + motion->trajectory.frame_count) {
        int64_t next = motion->first + motion->trajectory.frame_count;
        tool_check(sp_trajectory_next(motion->stream, &motion->trajectory), motion->path);
        motion->first = next;

        if (motion->trajectory.frame_count == 0) {
            motion->frame_count = next;
            tool_record_input(motion->path, NULL, motion->trajectory.hash, motion->trajectory.meta);
            if (motion->trajectory.truncated)
                tool_warn(motion->path, "it is cut short: %lld frames are whole", (long long)next);
        } else
            map_points(motion);
    }
    return motion->frame_count < 0 || frame < motion->frame_count;
}

const char *tool_trajectory_inputs(const tool_trajectory *motion)
{
    return motion->path ? "trajectory" : motion->columns.path ? "columns" : "mesh";
}

/* Leaves out modes without a derivative. */
static void keep_derived(const tool_trajectory *motion, sp_list *list)
{
    const sp_columns *columns = &motion->derivatives.columns;
    int64_t *mode = list->data, kept = 0;
    sp_pool pool = {0};
    bool *derived = tool_allocate(&pool, motion->columns.columns.count, sizeof *derived);

    for (int64_t i = 0; i < 2 * columns->count; i++)
        derived[columns->pair[i]] = true;

    for (int64_t i = 0; i < list->count; i++)
        if (derived[mode[i]])
            mode[kept++] = mode[i];

    list->count = kept;
    sp_pool_free(&pool);
}

/* Adds the derivatives of any two of the modes in the list. */
static void add_derivatives(const tool_trajectory *motion, sp_list *list)
{
    const sp_columns *columns = &motion->derivatives.columns;
    const int64_t modes = motion->columns.columns.count, chosen = list->count;
    sp_pool pool = {0};
    bool *wanted = tool_allocate(&pool, modes, sizeof *wanted);

    for (int64_t i = 0; i < chosen; i++)
        wanted[((const int64_t *)list->data)[i]] = true;

    for (int64_t c = 0; c < columns->count; c++)
        if (wanted[columns->pair[2 * c]] && wanted[columns->pair[2 * c + 1]]) {
            int64_t *to = tool_list_add(list, 1, sizeof *to);
            *to = modes + c;
        }

    sp_pool_free(&pool);
}

void tool_trajectory_choose(tool_trajectory *motion, const char *frames, int64_t every, const char *columns,
                            sp_list *list)
{
    tool_frames chosen = tool_frames_parse(frames, every);
    bool of_columns = !motion->path && motion->columns.path;

    assert(!columns || of_columns);
    assert((!frames && every == 1) || motion->path);

    if (of_columns)
        tool_parse_list("columns", columns, 1, motion->columns.columns.count, list);

    if (motion->derivatives.path && !columns)
        keep_derived(motion, list);
    if (motion->derivatives.path)
        add_derivatives(motion, list);

    if (!of_columns)
        for (int64_t f = 0; f <= chosen.last && tool_trajectory_have(motion, f); f++)
            if (tool_frames_have(&chosen, f)) {
                int64_t *to = tool_list_add(list, 1, sizeof *to);
                *to = f;
            }

    if (list->count == 0)
        tool_fail(SP_USAGE, NULL, "--frames: there are %lld frames", (long long)motion->frame_count);
}

const json_t *tool_trajectory_meta(const tool_trajectory *motion)
{
    return motion->stream ? sp_trajectory_meta(motion->stream) : motion->trajectory.meta;
}

double tool_trajectory_time(const tool_trajectory *motion, int64_t frame)
{
    return motion->path ? motion->trajectory.time[frame - motion->first] : 0;
}

const double *tool_trajectory_energy(const tool_trajectory *motion, int64_t frame)
{
    return motion->path ? motion->trajectory.energy + SP_ENERGY_COUNT * (frame - motion->first) : NULL;
}

/* Do the recorded points cover every vertex? */
static bool all_recorded(const tool_trajectory *motion)
{
    return motion->trajectory.u && !motion->point;
}

void tool_trajectory_need_all(const tool_trajectory *motion)
{
    const sp_trajectory *trajectory = &motion->trajectory;
    if (!motion->path || all_recorded(motion) || motion->columns.path)
        return;
    if (trajectory->r > 0)
        tool_fail(SP_USAGE, motion->path, "it holds reduced coordinates: name the file of its basis too (%.12s…)",
                  tool_text_of(trajectory->meta, "basis"));
    tool_fail(SP_INPUT, motion->path, "it holds %lld of %lld vertices only", (long long)trajectory->point_count,
              (long long)motion->vertex_count);
}

/* U q for the rows [first, first + rows); a trajectory may use the first columns of a basis only. The sum of a row does
 * not depend on which rows are asked for, and is that of sp_model_at_vertices to the last bit. BLAS does not promise
 * either. */
static void expand(const tool_trajectory *motion, int64_t first, int64_t rows, const double *q, double *out)
{
    enum { ROWS = 1 << 13 }; /* a piece of the result that stays in the cache */
    const sp_columns *columns = &motion->columns.columns;

    memset(out, 0, (size_t)rows * sizeof *out);

    for (int64_t at = 0; at < rows; at += ROWS) {
        int64_t part = rows - at < ROWS ? rows - at : ROWS;
        for (int64_t c = 0; c < motion->trajectory.r; c++) {
            const double *column = columns->U + c * columns->rows + first + at;
            for (int64_t i = 0; i < part; i++)
                out[at + i] += q[c] * column[i];
        }
    }
}

/* Displacement and velocity of all vertices from reduced coordinates, warped. Pictures are made by several threads. */
static void expand_warped(const tool_trajectory *motion, int64_t at, double *u, double *v)
{
    const int64_t rows = 3 * motion->vertex_count, r = motion->trajectory.r;
    sp_pool scratch = {0};
    double *work = tool_allocate_raw(&scratch, 2 * rows, sizeof *work);
    expand(motion, 0, rows, motion->trajectory.q + at * r, u);
    if (v)
        expand(motion, 0, rows, motion->trajectory.qdot + at * r, v);
    sp_modal_warp_apply(motion->warp, u, v, work);
    sp_pool_free(&scratch);
}

static void full_vector(const tool_trajectory *motion, int64_t frame, const double *recorded, const double *reduced,
                        double *out)
{
    int64_t rows = 3 * motion->vertex_count, at = frame - motion->first;
    if (all_recorded(motion))
        memcpy(out, recorded + at * rows, (size_t)rows * sizeof *out);
    else
        expand(motion, 0, rows, reduced + at * motion->trajectory.r, out);
}

static void ride_frame(tool_trajectory *motion, const char *path)
{
    int64_t length;
    motion->frame = tool_allocate(&motion->pool, 1, sizeof *motion->frame);
    const char *text = tool_read_bytes(path, "frame", &motion->pool, &length);
    tool_check(sp_path_parse(motion->context, text, length, motion->frame), path);
}

/* The skin with which the trajectory was simulated must be this one. */
static void check_skin(const tool_trajectory *motion, const char *path)
{
    size_t i;
    json_t *input;
    json_array_foreach(json_object_get(tool_trajectory_meta(motion), "inputs"), i, input)
    {
        if (!strcmp(tool_text_of(input, "option"), "skin") && strcmp(tool_text_of(input, "sha256"), motion->rig->hash))
            tool_fail(SP_INPUT, path, "%s was simulated with another skin (%.12s..., this one is %.12s...)",
                      motion->path, tool_text_of(input, "sha256"), motion->rig->hash);
    }
}

/* The paths of the bones must reach the last frame, which is not known of a stream. */
static void ride_bones(tool_trajectory *motion, const tool_ride *ride)
{
    const int64_t last = motion->frame_count - 1;
    motion->rig = tool_allocate(&motion->pool, 1, sizeof *motion->rig);
    tool_rig_open(motion->context, ride->skin, ride->skeleton, &motion->mesh,
                  last >= 0 ? tool_trajectory_time(motion, last) : -INFINITY, motion->rig);
    check_skin(motion, ride->skin);
}

void tool_trajectory_ride(tool_trajectory *motion, const tool_ride *ride)
{
    if (!ride->frame && !ride->world && !ride->skin)
        return;

    if (!motion->mesh.path)
        tool_fail(SP_USAGE, motion->path, "a body that moves with %s needs its mesh: name the mesh too",
                  ride->skin ? "bones" : "a frame");

    if (ride->world && !json_is_true(json_object_get(tool_trajectory_meta(motion), "frame")))
        tool_fail(SP_INPUT, motion->path, "--world: it records no frame that the body moves with (simulate --frame)");

    motion->world = ride->world;
    if (!motion->warped)
        motion->warped = tool_allocate(&motion->pool, 6 * motion->vertex_count, sizeof *motion->warped);

    if (ride->frame)
        ride_frame(motion, ride->frame);
    else if (ride->skin)
        ride_bones(motion, ride);
}

/* Returns true if the body moves with a frame whose motion is added. */
static bool in_frame(const tool_trajectory *motion)
{
    return motion->frame || motion->world;
}

/* The pose and the velocities [6] of the frame that the body moves with. */
static sp_pose moving_frame(const tool_trajectory *motion, int64_t frame, double rates[6])
{
    if (!motion->world)
        return sp_path_at(motion->frame, tool_trajectory_time(motion, frame), rates);
    const double *pose = motion->trajectory.pose + 7 * (frame - motion->first);
    memcpy(rates, motion->trajectory.twist + 6 * (frame - motion->first), 6 * sizeof *rates);
    return (sp_pose){{pose[0], pose[1], pose[2]}, {pose[3], pose[4], pose[5], pose[6]}};
}

/* The displacements u and velocities v (NULL: not wanted) of points that are at X in the frame at rest, from the frame
 * to the world. */
static void to_world(const tool_trajectory *motion, int64_t frame, int64_t count, const double *X, double *u, double *v)
{
    double rates[6], R[9];
    const sp_pose pose = moving_frame(motion, frame, rates);

    sp_quaternion_matrix(pose.q, R);
    for (int64_t p = 0; p < 3 * count; p += 3) {
        double arm[3], turned[3] = {0}, carried[3];

        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++) {
                turned[k] += v ? R[3 * k + l] * v[p + l] : 0;
                arm[k] = (l ? arm[k] : 0) + R[3 * k + l] * (X[p + l] + u[p + l]);
            }

        sp_cross3(rates + 3, arm, carried);
        for (int k = 0; k < 3; k++) {
            u[p + k] = pose.x[k] + arm[k] - X[p + k];
            if (v)
                v[p + k] = rates[k] + carried[k] + turned[k];
        }
    }
}

/* The same of all vertices (first 0, count all), or of one, on bones. Pictures are made by several threads. */
static void to_bones(const tool_trajectory *motion, int64_t frame, int64_t first, int64_t count, double *u, double *v)
{
    const tool_rig *rig = motion->rig;
    sp_pool scratch = {0};
    sp_bone_motion *bones = tool_allocate_raw(&scratch, rig->rig.bone_count, sizeof *bones);
    sp_rig_motion(&rig->rig, tool_trajectory_time(motion, frame), bones);
    for (int64_t i = 0; i < count; i++)
        sp_skin_blend(&rig->file.skin, bones, first + i, motion->mesh.mesh.vertices + 3 * (first + i), u + 3 * i,
                      v ? v + 3 * i : NULL);
    sp_pool_free(&scratch);
}

void tool_trajectory_own_displacement(const tool_trajectory *motion, int64_t frame, double *u)
{
    int64_t rows = 3 * motion->vertex_count;
    if (motion->path && motion->warp && !all_recorded(motion))
        expand_warped(motion, frame - motion->first, u, NULL);
    else if (motion->path)
        full_vector(motion, frame, motion->trajectory.u, motion->trajectory.q, u);
    else if (motion->columns.path && frame < motion->columns.columns.count)
        memcpy(u, motion->columns.columns.U + frame * rows, (size_t)rows * sizeof *u);
    else if (motion->columns.path)
        memcpy(u, motion->derivatives.columns.U + (frame - motion->columns.columns.count) * rows,
               (size_t)rows * sizeof *u);
    else
        memset(u, 0, (size_t)rows * sizeof *u);
}

void tool_trajectory_displacement(const tool_trajectory *motion, int64_t frame, double *u)
{
    tool_trajectory_own_displacement(motion, frame, u);
    if (in_frame(motion))
        to_world(motion, frame, motion->vertex_count, motion->mesh.mesh.vertices, u, NULL);
    else if (motion->rig)
        to_bones(motion, frame, 0, motion->vertex_count, u, NULL);
}

void tool_trajectory_velocity(const tool_trajectory *motion, int64_t frame, double *v)
{
    if (motion->warp && !all_recorded(motion))
        expand_warped(motion, frame - motion->first, motion->warped, v);
    else
        full_vector(motion, frame, motion->trajectory.udot, motion->trajectory.qdot, v);

    if (!in_frame(motion) && !motion->rig)
        return;
    if (!motion->warp || all_recorded(motion))
        full_vector(motion, frame, motion->trajectory.u, motion->trajectory.q, motion->warped);

    if (motion->frame)
        to_world(motion, frame, motion->vertex_count, motion->mesh.mesh.vertices, motion->warped, v);
    else
        to_bones(motion, frame, 0, motion->vertex_count, motion->warped, v);
}

/* ---- probes ---- */

/* Does the trajectory say how this vertex moves? */
static bool vertex_known(const tool_trajectory *motion, int64_t vertex)
{
    return motion->columns.path || (motion->trajectory.u && (!motion->point || motion->point[vertex] >= 0));
}

void tool_trajectory_check_probe(const tool_trajectory *motion, const char *option, tool_place probe)
{
    const int64_t *corner;
    const double *weight;
    int count = tool_place_corners(&motion->mesh.mesh, &probe, &corner, &weight);
    for (int c = 0; c < count; c++) {
        if (vertex_known(motion, corner[c]))
            continue;

        if (motion->trajectory.r > 0)
            tool_trajectory_need_all(motion);
        tool_fail(SP_INPUT, motion->path, "--%s: vertex %lld is not among the recorded ones", option,
                  (long long)corner[c]);
    }
}

static tool_place_names probe_names(const tool_trajectory *motion, const char *option)
{
    return (tool_place_names){.context = motion->context,
                              .option = option,
                              .vertex_count = motion->vertex_count,
                              .mesh = motion->mesh.path ? &motion->mesh.mesh : NULL,
                              .mesh_path = motion->mesh.path};
}

void tool_trajectory_probes(const tool_trajectory *motion, const char *option, const char *text, sp_list *list)
{
    const tool_place_names names = probe_names(motion, option);
    const int64_t before = list->count;
    tool_places_parse(&names, text, list);
    for (int64_t i = before; i < list->count; i++)
        tool_trajectory_check_probe(motion, option, ((const tool_place *)list->data)[i]);
}

/* One vertex's three values: recorded, or U q. */
static void vertex_value(const tool_trajectory *motion, int64_t vertex, int64_t at, const double *recorded,
                         const double *reduced, double value[3])
{
    const sp_trajectory *trajectory = &motion->trajectory;
    int64_t point = motion->point ? motion->point[vertex] : vertex;
    if (trajectory->u && point >= 0)
        memcpy(value, recorded + 3 * (at * trajectory->point_count + point), 3 * sizeof *value);
    else if (motion->warp) {
        double *u = motion->warped, *v = u + 3 * motion->vertex_count;
        expand_warped(motion, at, u, v);
        memcpy(value, (reduced == trajectory->q ? u : v) + 3 * vertex, 3 * sizeof *value);
    } else
        expand(motion, 3 * vertex, 3, reduced + at * trajectory->r, value);
}

void tool_trajectory_probe(const tool_trajectory *motion, tool_place probe, int64_t frame, double u[3], double v[3])
{
    const sp_trajectory *trajectory = &motion->trajectory;
    const int64_t *corner;
    const double *weight;
    int count = tool_place_corners(&motion->mesh.mesh, &probe, &corner, &weight);
    double rest[3] = {0}, sum[2][3] = {{0}};

    for (int c = 0; c < count; c++) {
        double value[2][3] = {{0}};
        const bool moved = in_frame(motion) || motion->rig;

        if (u || moved)
            vertex_value(motion, corner[c], frame - motion->first, trajectory->u, trajectory->q, value[0]);
        if (v || moved)
            vertex_value(motion, corner[c], frame - motion->first, trajectory->udot, trajectory->qdot, value[1]);

        if (motion->rig)
            to_bones(motion, frame, corner[c], 1, value[0], value[1]);

        for (int i = 0; i < 3; i++) {
            sum[0][i] += weight[c] * value[0][i];
            sum[1][i] += weight[c] * value[1][i];
            rest[i] += in_frame(motion) ? weight[c] * motion->mesh.mesh.vertices[3 * corner[c] + i] : 0;
        }
    }

    if (in_frame(motion))
        to_world(motion, frame, 1, rest, sum[0], sum[1]);

    if (u)
        memcpy(u, sum[0], sizeof sum[0]);
    if (v)
        memcpy(v, sum[1], sizeof sum[1]);
}
