/* Bodies and contacts for the tests of virtual coupling. */
#ifndef TESTS_UNIT_COUPLING_MODELS_H
#define TESTS_UNIT_COUPLING_MODELS_H

#include "base/random.h"
#include "contact/coupling.h"
#include "test.h"

static uint64_t drawn;
static const double PI = 3.14159265358979323846;
static const double NOWHERE[3] = {0, 0, 0};
static const sp_wrench NO_CONTACT;

static inline double between(double least, double most)
{
    return least + (most - least) * sp_random_uniform(7, 0, drawn++);
}

static inline void any_vector(double size, double v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = size * sp_random_normal(7, 1, drawn++);
}

static inline double length3(const double v[3])
{
    return sqrt(sp_dot3(v, v));
}

static inline void any_unit(double v[3])
{
    any_vector(1, v);
    const double length = length3(v);
    for (int k = 0; k < 3; k++)
        v[k] /= length;
}

static inline sp_pose any_pose(void)
{
    sp_pose pose;
    double turn[3];
    any_vector(0.3, pose.x);
    any_vector(2, turn);
    sp_quaternion_from_vector(turn, pose.q);
    return pose;
}

/* Displaced by t move[0..2] and turned by t move[3..5] in the world. */
static inline sp_pose moved(const sp_pose *from, double t, const double move[6])
{
    sp_pose to;
    const double turn[3] = {t * move[3], t * move[4], t * move[5]};
    double q[4];
    for (int k = 0; k < 3; k++)
        to.x[k] = from->x[k] + t * move[k];
    sp_quaternion_from_vector(turn, q);
    sp_quaternion_multiply(q, from->q, to.q);
    sp_quaternion_normalize(to.q);
    return to;
}

/* From the manipulandum to the body: r in a random direction, turned by θ about a random axis. */
static inline sp_pose away(const sp_pose *manipulandum, double r, double angle, double way[6])
{
    double e[3], a[3], move[6];
    any_unit(e);
    any_unit(a);
    for (int k = 0; k < 3; k++) {
        way[k] = e[k], way[k + 3] = a[k];
        move[k] = r * e[k], move[k + 3] = angle * a[k];
    }
    return moved(manipulandum, 1, move);
}

/* The distance and the angle between two poses. */
static inline double apart(const sp_pose *a, const sp_pose *b)
{
    const double d[3] = {a->x[0] - b->x[0], a->x[1] - b->x[1], a->x[2] - b->x[2]};
    return length3(d);
}

static inline double angle_between(const sp_pose *a, const sp_pose *b)
{
    const double inverse[4] = {b->q[0], -b->q[1], -b->q[2], -b->q[3]};
    double q[4], v[3];
    sp_quaternion_multiply(a->q, inverse, q);
    sp_quaternion_to_vector(q, v);
    return length3(v);
}

/* Linear, undamped, without limits. */
static inline sp_coupling_parameters stiff(void)
{
    return (sp_coupling_parameters){.stiffness = 600,
                                    .torque_stiffness = 1.5,
                                    .saturation = INFINITY,
                                    .torque_saturation = INFINITY,
                                    .speed = INFINITY,
                                    .angular_speed = INFINITY,
                                    .threshold = 1e-3,
                                    .length = 0.05};
}

/* Points of a body pressed against planes from either side: F = −k d n at ρ with d = n·(x + R ρ₀ − place). */
typedef struct contacts {
    int count;
    double k[12], at[12][3], normal[12][3], place[12][3]; /* at: body frame from x_s */
} contacts;

static inline void press(const contacts *c, const sp_pose *body, sp_wrench *w)
{
    double R[9];
    memset(w, 0, sizeof *w);
    sp_quaternion_matrix(body->q, R);
    for (int p = 0; p < c->count; p++) {
        const double *n = c->normal[p];
        double rho[3], T[3], arm[3], F[3], along[3], d = 0;
        sp_rotate(R, c->at[p], rho);
        sp_cross3(rho, n, arm);
        for (int i = 0; i < 3; i++)
            d += n[i] * (body->x[i] + rho[i] - c->place[p][i]);
        for (int i = 0; i < 3; i++)
            F[i] = -c->k[p] * d * n[i];
        sp_cross3(rho, F, T);
        for (int j = 0; j < 3; j++) {
            const double unit[3] = {j == 0, j == 1, j == 2};
            double change[3];
            sp_cross3(unit, rho, along); /* ∂ρ by a rotation about axis j */
            sp_cross3(along, F, change);
            for (int i = 0; i < 3; i++) {
                w->force_x[3 * i + j] -= c->k[p] * n[i] * n[j];
                w->force_w[3 * i + j] -= c->k[p] * n[i] * arm[j];
                w->torque_x[3 * i + j] -= c->k[p] * arm[i] * n[j];
                w->torque_w[3 * i + j] -= c->k[p] * arm[i] * arm[j] - change[i];
            }
            w->force[j] += F[j];
            w->torque[j] += T[j];
        }
    }
}

static inline contacts any_contacts(int count, double k)
{
    contacts c = {.count = count};
    for (int p = 0; p < count; p++) {
        c.k[p] = k;
        any_vector(0.05, c.at[p]);
        any_vector(0.01, c.place[p]);
        any_unit(c.normal[p]);
    }
    return c;
}

/* Places the planes through the points of the body at that pose, within `slack`. */
static inline void lay(contacts *c, const sp_pose *body, double slack)
{
    double R[9], rho[3];
    sp_quaternion_matrix(body->q, R);
    for (int p = 0; p < c->count; p++) {
        sp_rotate(R, c->at[p], rho);
        any_vector(slack, c->place[p]);
        for (int i = 0; i < 3; i++)
            c->place[p][i] += body->x[i] + rho[i];
    }
}

#endif
