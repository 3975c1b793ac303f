#include "contact/penalty.h"

#include <math.h>
#include <string.h>

#include "base/mat3.h"
#include "contact/deformed.h"

bool sp_penalty_by_gradient(const sp_penalty *penalty, const sp_distance *distance)
{
    if (distance->kind == SP_DISTANCE_VOXMAP)
        return false;
    const bool shape = distance->kind == SP_DISTANCE_PLANE || distance->kind == SP_DISTANCE_SPHERE ||
                       distance->kind == SP_DISTANCE_BOX;
    return penalty->direction == SP_PENALTY_GRADIENT || (penalty->direction == SP_PENALTY_BY_GEOMETRY && shape);
}

double sp_penalty_weight(const sp_penalty *penalty, const sp_contact_pointshell *pointshell, int64_t point)
{
    return penalty->by_area ? pointshell->weight[point] : 1;
}

void sp_contact_velocity(const sp_contact_state *state, const double at[3], int64_t modes, const double *rows,
                         double velocity[3])
{
    const double r[3] = {at[0] - state->pose.x[0], at[1] - state->pose.x[1], at[2] - state->pose.x[2]};
    double turn[3], R[9], rate[3] = {0, 0, 0}, scene[3] = {0, 0, 0};

    /* v = v₀ + ω × r + R U q̇ */
    sp_cross3(state->angular_velocity, r, turn);
    if (modes > 0 && state->qdot) {
        for (int k = 0; k < 3; k++)
            for (int64_t j = 0; j < modes; j++)
                rate[k] += rows[k * modes + j] * state->qdot[j];
        sp_quaternion_matrix(state->pose.q, R);
        sp_rotate(R, rate, scene);
    }

    for (int k = 0; k < 3; k++)
        velocity[k] = state->velocity[k] + turn[k] + scene[k];
}

void sp_contact_relative_velocity(const sp_contact_pointshell *pointshell, const sp_contact_state *a,
                                  const sp_distance *distance, const sp_contact_state *b, int64_t point,
                                  const double at[3], const double place[3], double v[3])
{
    double other[3];
    const int64_t modes = pointshell->U ? pointshell->modes : 0;

    sp_contact_velocity(a, at, modes, modes ? pointshell->U + 3 * modes * point : NULL, v);

    /* The nearest proxy of a deformed field moves the place. */
    if (distance->kind == SP_DISTANCE_DEFORMED) {
        int64_t proxy;
        sp_deformed_field_at(distance->deformed, place, NULL, &proxy);
        sp_contact_velocity(b, at, sp_deformed_field_r(distance->deformed),
                            sp_deformed_field_rows(distance->deformed, proxy), other);
    } else
        sp_contact_velocity(b, at, 0, NULL, other);

    for (int k = 0; k < 3; k++)
        v[k] -= other[k];
}

void sp_penalty_forces(const sp_penalty *penalty, const sp_contact_pointshell *pointshell,
                       const sp_contact_state *pointshell_state, const sp_distance *distance,
                       const sp_contact_state *field_state, const sp_traversal_result *found, sp_contact_forces *forces)
{
    const bool by_gradient = sp_penalty_by_gradient(penalty, distance);
    double A[9], B[9], total = 0;

    sp_quaternion_matrix(pointshell_state->pose.q, A);
    sp_quaternion_matrix(field_state->pose.q, B);

    forces->count = found->count;
    forces->point = found->point;
    forces->distance = found->distance;

    /* Above the limit all forces are scaled down together. */
    for (int64_t i = 0; i < found->count; i++)
        total += found->distance[i] < 0 ? sp_penalty_weight(penalty, pointshell, found->point[i]) : 0;
    forces->scale = total > penalty->limit ? penalty->limit / total : 1;

    for (int64_t i = 0; i < found->count; i++) {
        const int64_t p = found->point[i];
        double n[3], *N = forces->normal + 3 * i, *at = forces->at + 3 * i, velocity[3];
        sp_rotate(B, found->place + 3 * i, at);
        for (int k = 0; k < 3; k++)
            at[k] += field_state->pose.x[k];
        if (by_gradient)
            sp_distance_at(distance, found->place + 3 * i, n);
        else
            sp_contact_pointshell_normal(pointshell, p, pointshell_state->q, penalty->tangents, n);
        sp_rotate(by_gradient ? B : A, n, N);

        /* κ |d| − c v·n, but contact does not pull */
        double push = -penalty->stiffness * found->distance[i];
        if (penalty->damping > 0 && push > 0) {
            sp_contact_relative_velocity(pointshell, pointshell_state, distance, field_state, p, at,
                                         found->place + 3 * i, velocity);
            push = fmax(0, push - penalty->damping * sp_dot3(velocity, N));
        }

        push *= sp_penalty_weight(penalty, pointshell, p) * forces->scale;
        for (int k = 0; k < 3; k++)
            forces->force[3 * i + k] = push * N[k];
    }
}

void sp_contact_forces_total(const sp_contact_forces *forces, double sign, const double about[3], double F[3],
                             double T[3])
{
    for (int64_t i = 0; i < forces->count; i++) {
        const double *f = forces->force + 3 * i, *at = forces->at + 3 * i,
                     r[3] = {at[0] - about[0], at[1] - about[1], at[2] - about[2]};
        double turn[3];
        sp_cross3(r, f, turn);
        for (int k = 0; k < 3; k++) {
            F[k] += sign * f[k];
            T[k] += sign * turn[k];
        }
    }
}

static void add_projected(int64_t modes, const double *rows, const double f[3], double sign, double *Q)
{
    for (int k = 0; k < 3; k++) {
        const double value = sign * f[k];
#pragma omp simd
        for (int64_t j = 0; j < modes; j++)
            Q[j] += value * rows[k * modes + j];
    }
}

void sp_contact_forces_project(const sp_contact_forces *forces, const sp_contact_pointshell *pointshell,
                               const sp_pose *pose, double *Q)
{
    double R[9], f[3];
    sp_quaternion_matrix(pose->q, R);

    for (int64_t i = 0; i < forces->count; i++) {
        sp_rotate_back(R, forces->force + 3 * i, f);
        add_projected(pointshell->modes, pointshell->U + 3 * pointshell->modes * forces->point[i], f, 1, Q);
    }
}

void sp_contact_forces_project_field(const sp_contact_forces *forces, const sp_distance *distance, const sp_pose *pose,
                                     double *Q)
{
    const int64_t modes = sp_deformed_field_r(distance->deformed);
    double R[9], f[3], place[3];
    sp_quaternion_matrix(pose->q, R);

    for (int64_t i = 0; i < forces->count; i++) {
        const double *at = forces->at + 3 * i, r[3] = {at[0] - pose->x[0], at[1] - pose->x[1], at[2] - pose->x[2]};
        int64_t proxy;
        sp_rotate_back(R, r, place);
        sp_rotate_back(R, forces->force + 3 * i, f);
        sp_deformed_field_at(distance->deformed, place, NULL, &proxy);
        add_projected(modes, sp_deformed_field_rows(distance->deformed, proxy), f, -1, Q);
    }
}

/* C += scale · [v]× A for A [3, 3]. */
static void add_cross(const double v[3], const double A[9], double scale, double C[9])
{
    for (int j = 0; j < 3; j++) {
        const double column[3] = {A[j], A[3 + j], A[6 + j]};
        double c[3];
        sp_cross3(v, column, c);
        for (int i = 0; i < 3; i++)
            C[3 * i + j] += scale * c[i];
    }
}

/* ∂d/∂p and its derivative, in the world frame, for a point at x in the frame of the distance field. */
static void gradients(const sp_distance *distance, const double B[9], const double x[3], double g[3], double H[9])
{
    double local[3], curvature[9];
    sp_distance_at(distance, x, local);
    sp_rotate(B, local, g);
    sp_distance_curvature(distance, x, curvature);
    sp_rotate_matrix3(B, curvature, H);
}

/* ∂F/∂x and ∂F/∂ω of one point as in the header, without the terms for the rotation of its direction with the grasped
 * body; H is 0 if n is a normal. */
static void force_derivatives(double kappa, double d, const double n[3], const double g[3], const double H[9],
                              const double r[3], double F_x[9], double F_w[9])
{
    double turned[3];
    sp_cross3(r, g, turned);

    /* ∂F/∂x = −κ (n gᵀ + d H), ∂F/∂ω = −κ (n (r × g)ᵀ − d H [r]×) */
    for (int a = 0; a < 3; a++) {
        double row[3]; /* of H [r]× */
        sp_cross3(H + 3 * a, r, row);
        for (int b = 0; b < 3; b++) {
            F_x[3 * a + b] = -kappa * (n[a] * g[b] + d * H[3 * a + b]);
            F_w[3 * a + b] = -kappa * (n[a] * turned[b] - d * row[b]);
        }
    }
}

void sp_penalty_wrench(const sp_penalty *penalty, const sp_contact_pointshell *pointshell, const sp_distance *distance,
                       const sp_pose *field, const sp_contact_forces *forces, bool pointshell_moves, bool normals,
                       const double about[3], sp_wrench *wrench)
{
    static const double I[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, flat[9] = {0};
    const bool by_gradient = sp_penalty_by_gradient(penalty, distance);
    double B[9];

    sp_quaternion_matrix(field->q, B);

    for (int64_t i = 0; i < forces->count; i++) {
        const double *n = forces->normal + 3 * i, *at = forces->at + 3 * i, sign = pointshell_moves ? 1 : -1;
        const double d = forces->distance[i],
                     kappa = d < 0 ? penalty->stiffness * sp_penalty_weight(penalty, pointshell, forces->point[i]) *
                                         forces->scale
                                   : 0; /* otherwise there is only damping */
        double r[3], x[3], local[3], g[3], H[9], F[3], T[3], F_x[9], F_w[9];
        for (int k = 0; k < 3; k++) {
            r[k] = at[k] - about[k];
            x[k] = at[k] - field->x[k];
            g[k] = n[k];
            F[k] = sign * forces->force[3 * i + k];
        }

        /* The distance changes along its gradient, from which normals of points differ; `normals` takes them for it. */
        if ((by_gradient || !normals) && distance->kind != SP_DISTANCE_VOXMAP) {
            sp_rotate_back(B, x, local);
            gradients(distance, B, local, g, H);
        }

        force_derivatives(kappa, d, n, g, by_gradient ? H : flat, r, F_x, F_w);
        if (pointshell_moves != by_gradient) /* n rotates with the grasped body */
            add_cross(n, I, pointshell_moves ? kappa * d : -kappa * d, F_w);
        sp_cross3(r, F, T);

        for (int k = 0; k < 3; k++) {
            wrench->force[k] += F[k];
            wrench->torque[k] += T[k];
        }

        for (int k = 0; k < 9; k++) {
            wrench->force_x[k] += F_x[k];
            wrench->force_w[k] += F_w[k];
        }

        /* T = r × F: r × the derivatives of F, and F by those of r */
        add_cross(r, F_x, 1, wrench->torque_x);
        add_cross(r, F_w, 1, wrench->torque_w);
        if (pointshell_moves) {
            double R[9] = {0};
            add_cross(r, I, 1, R);
            add_cross(F, R, 1, wrench->torque_w);
        } else
            add_cross(F, I, 1, wrench->torque_x);
    }
}
