/* Skins: meshes that follow the bones of a skeleton by linear blending.
 *
 * Bone b maps the rest position X of a point to R_b(t) X + p_b(t). With the weights w_ib ≥ 0, Σ_b w_ib = 1, of vertex i
 * and its displacement u_i, which is measured in the rest pose, the vertex is at
 *
 *     x_i = Σ_b w_ib (R_b (X_i + u_i) + p_b) = A_i (X_i + u_i) + c_i,   A_i = Σ_b w_ib R_b.
 *
 * This is the skinning of glTF, with u as a morph target. A_i is a rotation where one bone moves the vertex. Where two
 * bones at the angle θ have equal weights it shrinks the directions across the axis by cos(θ/2). */
#ifndef SP_SKIN_SKIN_H
#define SP_SKIN_SKIN_H

#include "base/memory.h"
#include "geometry/pose.h"

typedef struct sp_skin {
    sp_pool pool;
    int64_t vertex_count, bone_count;
    int64_t influences; /* largest number of bones that move a vertex */
    int64_t *bone;      /* [vertex_count, influences] by decreasing weight; 0 where the weight is 0 */
    double *weight;     /* [vertex_count, influences] ≥ 0, their sum at each vertex is 1 */
    int64_t *attached;  /* [vertex_count] the bone that the vertex is attached to with weight 1, −1: none */
} sp_skin;

void sp_skin_free(sp_skin *skin); /* a zeroed one is allowed */

/* ---- the motion of the bones ---- */

typedef struct sp_rig_bone {
    int64_t parent; /* a bone before this one, or −1: the world */
    double at[3];   /* m, at rest: the point about which the path rotates the bone */
    sp_pose_path *path;
    const void *path_data;
} sp_rig_bone;

/* The path (p, R) of a bone moves X to at + p + R (X − at), relative to its parent. */
typedef struct sp_rig {
    int64_t bone_count;
    const sp_rig_bone *bones;
} sp_rig;

/* The pose of a bone at time t, from rest to the world, with its velocity and angular velocity [6, world; NULL: not
 * wanted]. */
sp_pose sp_rig_pose(const sp_rig *rig, int64_t bone, double t, double velocity[6]);

/* A bone as a path (geometry/pose.h); data is an sp_rig_place. */
typedef struct sp_rig_place {
    const sp_rig *rig;
    int64_t bone;
} sp_rig_place;
sp_pose sp_rig_follow(const void *data, double t, double velocity[6]);

/* ---- the shape ---- */

typedef struct sp_bone_motion {
    double R[9], p[3], rates[6]; /* row major, m, velocity of the origin and angular velocity in the world */
} sp_bone_motion;

/* All bones at time t, motion [bone_count]. */
void sp_rig_motion(const sp_rig *rig, double t, sp_bone_motion *motion);

/* Makes the displacement u [3] m and the velocity v [3] m/s (NULL: not wanted) of a vertex at X, which are relative to
 * the rest pose, those in the world. */
void sp_skin_blend(const sp_skin *skin, const sp_bone_motion *motion, int64_t vertex, const double X[3], double u[3],
                   double v[3]);

#endif
