#include "rigid/moving_frame.h"

#include "base/mat3.h"
#include "model/outer_loads.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- the constant integrals ---- */

static void set_integrals(const sp_inertia *inertia, double scale, sp_moving_frame *frame)
{
    const int64_t r = inertia->r;
    const double mass = inertia->mass, *mean = inertia->mean;

    /* m = ∫ρ u, P = ∫ρ X uᵀ, T = ∫ρ u uᵀ about the origin of the frame */
    for (int64_t i = 0; i < 3 * r; i++)
        frame->m[i] = scale * mass * mean[i];
    for (int64_t i = 0; i < 9 * r; i++) /* the products of means, since the inertia is about the centre of mass */
        frame->P[i] = scale * (inertia->N[i] + mass * inertia->centre[i / (3 * r)] * mean[i % (3 * r)]);

    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            for (int64_t i = 0; i < r; i++)
                for (int64_t j = 0; j < r; j++) {
                    const int64_t at = ((3 * a + b) * r + i) * r + j;
                    frame->T[at] = scale * (inertia->Q[at] + mass * mean[a * r + i] * mean[b * r + j]);
                }
}

int sp_moving_frame_new(sp_context *context, const sp_inertia *inertia, double scale, sp_pose_path *path,
                        const void *path_data, bool turns, const double gravity[3], const sp_external_loads *inner,
                        sp_moving_frame *frame)
{
    const int64_t r = inertia->r;
    *frame =
        (sp_moving_frame){.r = r, .turns = turns, .path = path, .path_data = path_data, .inner = *inner, .from = 1};

    memcpy(frame->gravity, gravity, sizeof frame->gravity);
    frame->m = sp_pool_new(&frame->pool, 3 * r, sizeof *frame->m);
    frame->P = sp_pool_new(&frame->pool, 9 * r, sizeof *frame->P);
    frame->T = sp_pool_new(&frame->pool, 9 * r * r, sizeof *frame->T);
    frame->B = sp_pool_new(&frame->pool, r * r, sizeof *frame->B);
    frame->W = sp_pool_new(&frame->pool, r * r, sizeof *frame->W);

    if (frame->pool.failed) {
        sp_moving_frame_free(frame);
        return sp_fail_memory(context);
    }
    set_integrals(inertia, scale, frame);
    return SP_OK;
}

void sp_moving_frame_free(sp_moving_frame *frame)
{
    sp_pool_free(&frame->pool);
    *frame = (sp_moving_frame){0};
}

void sp_moving_frame_set_gravity(sp_moving_frame *frame, const double gravity[3])
{
    memcpy(frame->gravity, gravity, sizeof frame->gravity);
}

/* The frame at t ≥ 0. Where velocities jump, at lines of a path, they are the means of those before and after: of steps
 * from line to line each has half of the impulse at either end. Times k h are lines but for rounding. */
static sp_pose frame_at(sp_pose_path *path, const void *path_data, double t, double velocity[6])
{
    const double rounding = 4 * DBL_EPSILON * t;
    double before[6];
    if (t > 0)
        path(path_data, t - rounding, before);
    const sp_pose pose = path(path_data, t + rounding, velocity);
    if (t > 0)
        for (int k = 0; k < 6; k++)
            velocity[k] = 0.5 * (before[k] + velocity[k]);
    return pose;
}

void sp_frame_motion_find(sp_pose_path *path, const void *path_data, const double gravity[3], double t0, double t1,
                          sp_frame_motion *motion)
{
    double velocity[2][6], spin[2][3], turn[4], omega[3], alpha[3], R[2][9];
    const double begin = fmax(0, t0), end = isfinite(t1) ? t1 : DBL_MAX, length = end - t0;

    const sp_pose first = frame_at(path, path_data, begin, velocity[0]),
                  last = frame_at(path, path_data, end, velocity[1]), middle = sp_pose_between(&first, &last, 0.5);
    const double back[4] = {first.q[0], -first.q[1], -first.q[2], -first.q[3]};
    double world[3];

    /* The apparent acceleration: that of the origin by the change of its velocity, less gravity */
    for (int k = 0; k < 3; k++)
        world[k] = (velocity[1][k] - velocity[0][k]) / length - gravity[k];

    sp_quaternion_matrix(middle.q, motion->R);
    sp_quaternion_matrix(first.q, R[0]);
    sp_quaternion_matrix(last.q, R[1]);
    sp_rotate_back(motion->R, world, motion->a);
    sp_rotate_back(R[0], velocity[0] + 3, spin[0]);
    sp_rotate_back(R[1], velocity[1] + 3, spin[1]);

    /* The mean angular velocity is that of the rotation from the first to the last pose, the angular acceleration
     * the change of the velocities in the frame's own axes. */
    sp_quaternion_multiply(back, last.q, turn);
    sp_quaternion_to_vector(turn, omega);
    for (int k = 0; k < 3; k++) {
        omega[k] = end > begin ? omega[k] / (end - begin) : spin[0][k];
        alpha[k] = (spin[1][k] - spin[0][k]) / length;
    }

    /* W = [ω], B = [α] + [ω][ω] */
    sp_cross_matrix3(omega, motion->W);
    sp_cross_matrix3(alpha, motion->B);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            motion->B[3 * a + b] += omega[a] * omega[b] - (a == b ? sp_dot3(omega, omega) : 0);
}

/* ---- the loads ---- */

static void mean(void *self, double t0, double t1, double *f)
{
    const sp_moving_frame *frame = self;
    const int64_t r = frame->r;
    sp_frame_motion motion;

    frame->inner.mean(frame->inner.self, t0, t1, f);
    sp_frame_motion_find(frame->path, frame->path_data, frame->gravity, t0, t1, &motion);

    /* −m a − ∫ρ Uᵀ B X */
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; i < r; i++) {
            f[i] -= motion.a[a] * frame->m[a * r + i];
            if (frame->turns)
                for (int b = 0; b < 3; b++)
                    f[i] -= motion.B[3 * a + b] * frame->P[(3 * b + a) * r + i];
        }
}

/* Sets the matrices of an interval, which an implicit step uses many times. */
static void set_matrices(sp_moving_frame *frame, double t0, double t1)
{
    const int64_t r = frame->r;
    sp_frame_motion motion;
    if (frame->from == t0 && frame->to == t1)
        return;

    sp_frame_motion_find(frame->path, frame->path_data, frame->gravity, t0, t1, &motion);
    memset(frame->B, 0, (size_t)(r * r) * sizeof *frame->B);
    memset(frame->W, 0, (size_t)(r * r) * sizeof *frame->W);

    /* −∫ρ Uᵀ B U q and −2 ∫ρ Uᵀ W U v */
    for (int ab = 0; ab < 9; ab++)
        for (int64_t k = 0; k < r * r; k++) {
            frame->B[k] += motion.B[ab] * frame->T[ab * r * r + k];
            frame->W[k] += 2 * motion.W[ab] * frame->T[ab * r * r + k];
        }

    frame->from = t0;
    frame->to = t1;
}

static void follow(void *self, double t0, double t1, const double *q, const double *v, double *f)
{
    sp_moving_frame *frame = self;
    const int64_t r = frame->r;

    sp_inner_follow(&frame->inner, r, t0, t1, q, v, f);
    if (!frame->turns)
        return;

    /* f −= B q + W q̇ */
    set_matrices(frame, t0, t1);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < r; j++)
            f[i] -= frame->B[i * r + j] * q[j] + (v ? frame->W[i * r + j] * v[j] : 0);
}

sp_external_loads sp_moving_frame_loads(sp_moving_frame *frame)
{
    return sp_outer_loads(frame, mean, frame->turns || frame->inner.follow ? follow : NULL);
}
