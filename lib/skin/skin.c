#include "skin/skin.h"

#include <string.h>

void sp_skin_free(sp_skin *skin)
{
    sp_pool_free(&skin->pool);
    *skin = (sp_skin){0};
}

/* ---- the motion of the bones ---- */

/* R v and ω × v. */
static void turn(const double q[4], const double v[3], double turned[3])
{
    double R[9];
    sp_quaternion_matrix(q, R);
    for (int k = 0; k < 3; k++)
        turned[k] = sp_dot3(R + 3 * k, v);
}

/* The pose relative to the parent, from rest to rest. */
static sp_pose relative(const sp_rig_bone *bone, double t, double velocity[6])
{
    double arm[3], carried[3];
    sp_pose pose = bone->path(bone->path_data, t, velocity);

    /* A bone turns about its joint, which stays at `at`: x = p + at − R at. */
    turn(pose.q, bone->at, arm);
    if (velocity)
        sp_cross3(velocity + 3, arm, carried);

    for (int k = 0; k < 3; k++) {
        pose.x[k] += bone->at[k] - arm[k];
        if (velocity)
            velocity[k] -= carried[k];
    }
    return pose;
}

/* pose ← parent ∘ pose, and its velocity. */
static void carry(const sp_pose *parent, const double parent_velocity[6], sp_pose *pose, double velocity[6])
{
    double arm[3], carried[3], moved[3], turned[3];

    turn(parent->q, pose->x, arm);

    /* ω × R x of the parent is added to the velocity of the child. */
    if (velocity) {
        sp_cross3(parent_velocity + 3, arm, carried);
        turn(parent->q, velocity, moved);
        turn(parent->q, velocity + 3, turned);
        for (int k = 0; k < 3; k++) {
            velocity[k] = parent_velocity[k] + carried[k] + moved[k];
            velocity[3 + k] = parent_velocity[3 + k] + turned[k];
        }
    }

    for (int k = 0; k < 3; k++)
        pose->x[k] = parent->x[k] + arm[k];
    sp_quaternion_multiply(parent->q, pose->q, pose->q);
}

sp_pose sp_rig_pose(const sp_rig *rig, int64_t bone, double t, double velocity[6])
{
    double parent_velocity[6], *of_parent = velocity ? parent_velocity : NULL;
    sp_pose pose = relative(&rig->bones[bone], t, velocity);

    /* Up to the root, each parent carrying all below it */
    for (int64_t b = rig->bones[bone].parent; b >= 0; b = rig->bones[b].parent) {
        const sp_pose parent = relative(&rig->bones[b], t, of_parent);
        carry(&parent, parent_velocity, &pose, velocity);
    }

    sp_quaternion_normalize(pose.q);
    return pose;
}

sp_pose sp_rig_follow(const void *data, double t, double velocity[6])
{
    const sp_rig_place *place = data;
    return sp_rig_pose(place->rig, place->bone, t, velocity);
}

void sp_rig_motion(const sp_rig *rig, double t, sp_bone_motion *motion)
{
    for (int64_t b = 0; b < rig->bone_count; b++) {
        const sp_pose pose = sp_rig_pose(rig, b, t, motion[b].rates);
        sp_quaternion_matrix(pose.q, motion[b].R);
        memcpy(motion[b].p, pose.x, sizeof pose.x);
    }
}

/* ---- the shape ---- */

void sp_skin_blend(const sp_skin *skin, const sp_bone_motion *motion, int64_t vertex, const double X[3], double u[3],
                   double v[3])
{
    const double y[3] = {X[0] + u[0], X[1] + u[1], X[2] + u[2]};
    double x[3] = {0}, rate[3] = {0};

    /* x = Σ w (R y + p), ẋ = Σ w (ṗ + ω × R y + R u̇) */
    for (int64_t k = vertex * skin->influences; k < (vertex + 1) * skin->influences; k++) {
        const sp_bone_motion *m = &motion[skin->bone[k]];
        const double weight = skin->weight[k];
        double arm[3], carried[3];

        for (int a = 0; a < 3; a++) {
            arm[a] = sp_dot3(m->R + 3 * a, y);
            x[a] += weight * (arm[a] + m->p[a]);
        }

        if (!v)
            continue;
        sp_cross3(m->rates + 3, arm, carried);
        for (int a = 0; a < 3; a++)
            rate[a] += weight * (m->rates[a] + carried[a] + sp_dot3(m->R + 3 * a, v));
    }

    for (int a = 0; a < 3; a++) {
        u[a] = x[a] - X[a];
        if (v)
            v[a] = rate[a];
    }
}
