#include "tools/export/bones.h"

#include "tools/common/rig.h"
#include "tools/common/tool.h"

#include <math.h>
#include <string.h>

enum { MOST = 8 /* bones that move a vertex, by two sets of joints */ };

/* ---- weights ---- */

/* The largest weights among `total` [bones], which sum to 1. */
static void keep_largest(int64_t bones, double *total, int64_t count, int64_t *joint, double *weight)
{
    double sum = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t most = 0;
        for (int64_t b = 1; b < bones; b++)
            most = total[b] > total[most] ? b : most;
        weight[k] = total[most];
        joint[k] = total[most] > 0 ? most : 0;
        sum += total[most];
        total[most] = 0;
    }
    for (int64_t k = 0; k < count; k++)
        weight[k] /= sum;
}

/* The weights of a vertex of the surface, [bones]. */
static void interpolate(const sp_skin *skin, const tool_skin *surface, int64_t vertex, double *total)
{
    const sp_embedded_surface *embedded = &surface->mesh->surface;
    int nodes = 1;
    const int64_t *node =
        surface->embedded ? sp_mesh_nodes(surface->mesh, embedded->element[vertex], &nodes) : surface->vertex + vertex;
    memset(total, 0, (size_t)skin->bone_count * sizeof *total);
    for (int c = 0; c < nodes; c++) {
        const double share = surface->embedded ? embedded->weights[vertex * embedded->width + c] : 1;
        for (int64_t k = node[c] * skin->influences; k < (node[c] + 1) * skin->influences; k++)
            total[skin->bone[k]] += share * skin->weight[k];
    }
    for (int64_t b = 0; b < skin->bone_count; b++) /* outside of its element a vertex has negative shape functions */
        total[b] = fmax(total[b], 0);
}

/* Skin of the vertices of the surface. */
static void weigh(const sp_skin *skin, const tool_skin *surface, int64_t influences, sp_pool *pool, sp_skin *own)
{
    const int64_t bones = skin->bone_count, kept = bones < influences ? bones : influences;
    sp_pool scratch = {0};
    double *total = tool_allocate_raw(&scratch, bones, sizeof *total);
    *own = (sp_skin){.vertex_count = surface->vertex_count, .bone_count = bones, .influences = influences};
    own->bone = tool_allocate(pool, own->vertex_count * influences, sizeof *own->bone);
    own->weight = tool_allocate(pool, own->vertex_count * influences, sizeof *own->weight);
    for (int64_t v = 0; v < own->vertex_count; v++) {
        interpolate(skin, surface, v, total);
        keep_largest(bones, total, kept, own->bone + v * influences, own->weight + v * influences);
    }
    sp_pool_free(&scratch);
}

/* ---- joints ---- */

static void set_joints(const tool_rig *rig, sp_pool *pool, sp_animated_skin *to)
{
    const int64_t count = rig->rig.bone_count;
    const char **names = tool_allocate(pool, count, sizeof *names);
    double *at = tool_allocate(pool, 3 * count, sizeof *at);
    int64_t *parent = tool_allocate(pool, count, sizeof *parent);

    for (int64_t b = 0; b < count; b++) {
        const char *name = rig->file.names[b];
        char *copy = tool_allocate(pool, (int64_t)strlen(name) + 1, 1);
        strcpy(copy, name);
        names[b] = copy;
        parent[b] = rig->rig.bones[b].parent;
        memcpy(at + 3 * b, rig->rig.bones[b].at, sizeof rig->rig.bones[b].at);
    }

    to->joint_count = count;
    to->names = names;
    to->parent = parent;
    to->at = at;
}

/* Relative to the joint of the parent a joint is at at − at_parent + p, with the rotation of its path. */
static void set_poses(const tool_trajectory *motion, int64_t frame_count, const int64_t *frames, sp_pool *pool,
                      sp_animated_skin *to)
{
    const sp_rig *rig = &motion->rig->rig;
    double *poses = tool_allocate_raw(pool, 7 * rig->bone_count * frame_count, sizeof *poses), *pose = poses;
    for (int64_t b = 0; b < rig->bone_count; b++)
        for (int64_t f = 0; f < frame_count; f++, pose += 7) {
            const sp_rig_bone *bone = &rig->bones[b];
            const sp_pose path = bone->path(bone->path_data, tool_trajectory_time(motion, frames[f]), NULL);

            double same = 1;
            for (int k = 0; k < 3; k++)
                pose[k] = bone->at[k] + path.x[k] - (bone->parent < 0 ? 0 : rig->bones[bone->parent].at[k]);

            /* A quaternion and its negative are the same rotation: the sign is the one nearer to the previous frame. */
            for (int k = 0; k < 4; k++)
                same = f ? (k ? same : 0) + path.q[k] * pose[k - 4] : 1;
            for (int k = 0; k < 4; k++)
                pose[3 + k] = same < 0 ? -path.q[k] : path.q[k];
        }

    to->poses = poses;
}

/* ---- the difference of an embedded surface ---- */

static double find_difference(const tool_trajectory *motion, const tool_skin *surface, const sp_skin *own,
                              int64_t frame_count, const int64_t *frames)
{
    const tool_rig *rig = motion->rig;
    const int64_t vertices = surface->vertex_count;
    sp_pool pool = {0};

    double *u = tool_allocate_raw(&pool, 3 * motion->vertex_count, sizeof *u), largest = 0,
           *moved = tool_allocate_raw(&pool, 3 * vertices, sizeof *moved),
           *blended = tool_allocate_raw(&pool, 3 * vertices, sizeof *blended);
    sp_bone_motion *bones = tool_allocate_raw(&pool, rig->rig.bone_count, sizeof *bones);

    for (int64_t f = 0; f < frame_count; f++) {
        tool_trajectory_displacement(motion, frames[f], u);
        tool_skin_values(surface, 3, u, moved);
        tool_trajectory_own_displacement(motion, frames[f], u);
        tool_skin_values(surface, 3, u, blended);
        sp_rig_motion(&rig->rig, tool_trajectory_time(motion, frames[f]), bones);

        for (int64_t v = 0; v < vertices; v++) {
            double difference[3];
            sp_skin_blend(own, bones, v, surface->rest + 3 * v, blended + 3 * v, NULL);
            sp_subtract3(blended + 3 * v, moved + 3 * v, difference);
            largest = fmax(largest, sp_norm3(difference));
        }
    }

    sp_pool_free(&pool);
    return largest;
}

const sp_animated_skin *tool_animation_bones(const tool_trajectory *motion, const tool_skin *surface,
                                             const sp_animated_mesh *mesh, int64_t frame_count, const int64_t *frames,
                                             tool_animation *out)
{
    const sp_skin *skin = &motion->rig->file.skin;
    const int64_t influences = surface->embedded || skin->influences > 4 ? MOST : 4, vertices = mesh->vertex_count;

    sp_animated_skin *to = tool_allocate(&out->pool, 1, sizeof *to);
    sp_pool scratch = {0};
    sp_skin own;

    weigh(skin, surface, influences, &scratch, &own);
    int64_t *joint = tool_allocate(&out->pool, vertices * influences, sizeof *joint);
    double *weight = tool_allocate(&out->pool, vertices * influences, sizeof *weight);

    for (int64_t v = 0; v < vertices; v++) {
        const int64_t from = mesh->origin[v] * influences;
        memcpy(joint + v * influences, own.bone + from, (size_t)influences * sizeof *joint);
        memcpy(weight + v * influences, own.weight + from, (size_t)influences * sizeof *weight);
    }

    to->influences = influences;
    to->joint = joint;
    to->weight = weight;
    set_joints(motion->rig, &out->pool, to);
    set_poses(motion, frame_count, frames, &out->pool, to);

    if (surface->embedded)
        out->embedding = find_difference(motion, surface, &own, frame_count, frames);
    sp_pool_free(&scratch);
    return to;
}
