/* Poses of rigid frames: rotations are unit quaternions (w, x, y, z), body to world. */
#ifndef SP_GEOMETRY_POSE_H
#define SP_GEOMETRY_POSE_H

#include "base/vec3.h"

/* A point X of the body is at x + R(q) X in the world. */
typedef struct sp_pose {
    double x[3]; /* m */
    double q[4]; /* unit quaternion w, x, y, z */
} sp_pose;

static inline sp_pose sp_pose_identity(void)
{
    return (sp_pose){{0, 0, 0}, {1, 0, 0, 0}};
}

/* Normalizes v [n] without overflow; false if it is zero. */
static inline bool sp_unit_vector(int n, double *v)
{
    double most = 0, square = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(v[i]));
    if (!(most > 0))
        return false;
    for (int i = 0; i < n; i++) {
        v[i] /= most;
        square += v[i] * v[i];
    }
    for (int i = 0; i < n; i++)
        v[i] /= sqrt(square);
    return true;
}

/* c = a b, the rotation b followed by a; c may be a or b. */
static inline void sp_quaternion_multiply(const double a[4], const double b[4], double c[4])
{
    const double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    const double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    const double y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    const double z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
    c[0] = w, c[1] = x, c[2] = y, c[3] = z;
}

static inline void sp_quaternion_normalize(double q[4])
{
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++)
        q[k] /= length;
}

/* R(q) [3, 3, row major]. */
static inline void sp_quaternion_matrix(const double q[4], double R[9])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    R[0] = 1 - 2 * (y * y + z * z), R[1] = 2 * (x * y - w * z), R[2] = 2 * (x * z + w * y);
    R[3] = 2 * (x * y + w * z), R[4] = 1 - 2 * (x * x + z * z), R[5] = 2 * (y * z - w * x);
    R[6] = 2 * (x * z - w * y), R[7] = 2 * (y * z + w * x), R[8] = 1 - 2 * (x * x + y * y);
}

/* The rotation by |v| radians about v. */
static inline void sp_quaternion_from_vector(const double v[3], double q[4])
{
    const double angle = sp_norm3(v);
    const double s = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5 - angle * angle / 48;
    q[0] = cos(0.5 * angle);
    for (int k = 0; k < 3; k++)
        q[k + 1] = s * v[k];
}

/* The inverse, for the rotation of at most π. */
static inline void sp_quaternion_to_vector(const double q[4], double v[3])
{
    const double sign = q[0] < 0 ? -1 : 1, sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double angle = 2 * atan2(sine, sign * q[0]), scale = sine > 1e-12 ? sign * angle / sine : 2 * sign;
    for (int k = 0; k < 3; k++)
        v[k] = scale * q[k + 1];
}

/* Interpolates from a to b along the shorter arc, t in [0, 1]: linear in x, spherical in q. */
static inline sp_pose sp_pose_between(const sp_pose *a, const sp_pose *b, double t)
{
    sp_pose p;
    double inverse[4] = {a->q[0], -a->q[1], -a->q[2], -a->q[3]}, rotation[4], v[3];
    sp_quaternion_multiply(b->q, inverse, rotation);
    sp_quaternion_to_vector(rotation, v);
    for (int k = 0; k < 3; k++) {
        p.x[k] = a->x[k] + t * (b->x[k] - a->x[k]);
        v[k] *= t;
    }
    sp_quaternion_from_vector(v, rotation);
    sp_quaternion_multiply(rotation, a->q, p.q);
    sp_quaternion_normalize(p.q);
    return p;
}

/* The pose of a frame at a time, with its velocity and angular velocity [6, world; NULL: not wanted]. */
typedef sp_pose sp_pose_path(const void *data, double time, double velocity[6]);

#endif
