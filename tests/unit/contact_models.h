/* Pointshells, fields and poses for the tests of contact. */
#ifndef TESTS_UNIT_CONTACT_MODELS_H
#define TESTS_UNIT_CONTACT_MODELS_H

#include "contact/traverse.h"
#include "field_models.h"
#include "test.h"

enum { AFFINE = 3, WAVES = 3, MODES = AFFINE + WAVES };

static inline double length3(const double *v)
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static inline void random_direction(uint64_t stream, uint64_t index, double n[3])
{
    double length = 0;
    for (int k = 0; k < 3; k++)
        n[k] = sp_random_normal(5, stream, 3 * index + (uint64_t)k);
    length = length3(n);
    for (int k = 0; k < 3; k++)
        n[k] /= length;
}

static inline void random_rotation(uint64_t stream, uint64_t index, double q[4])
{
    for (int k = 0; k < 4; k++)
        q[k] = sp_random_normal(6, stream, 4 * index + (uint64_t)k);
    sp_quaternion_normalize(q);
}

static inline sp_pointshell shell_of(const sp_surface *surface, enum sp_pointshell_method method, int64_t points,
                                     int levels)
{
    const sp_pointshell_parameters p = {
        .method = method, .points = points, .levels = levels, .branching = 4, .cells = 16, .iterations = 40};
    OWNED(sp_level) level;
    sp_pointshell pointshell;
    sp_pointshell_report report;
    CHECK_OK(sp_level_model(&context, surface, 0, 0, &level));
    CHECK_OK(sp_pointshell_make(&context, &level, &p, &pointshell, &report));
    return pointshell;
}

/* Points of a sphere about the origin, not of its facets. */
static inline sp_pointshell ball_shell(enum sp_pointshell_method method, int rings, int64_t points, int levels,
                                       double radius)
{
    OWNED(sp_surface) s = new_surface(4 * (int64_t)rings * rings, 16 * (int64_t)rings * rings);
    add_sphere(&s, rings, (double[3]){0, 0, 0}, radius);
    sp_pointshell pointshell = shell_of(&s, method, points, levels);
    for (int64_t p = 0; p < pointshell.count; p++) {
        double *x = pointshell.points + 3 * p;
        const double scale = radius / length3(x);
        for (int k = 0; k < 3; k++) {
            x[k] *= scale;
            pointshell.normals[3 * p + k] = -x[k] / radius;
        }
    }
    CHECK_OK(sp_pointshell_tree(&context, &pointshell));
    return pointshell;
}

/* A single point at x with inward normal n. */
static inline sp_pointshell point_shell(const double x[3], const double n[3])
{
    const double one = 1;
    const int64_t none = -1;
    sp_pointshell pointshell = {.count = 1, .levels = 1, .cumulative = {1}};
    pointshell.points = sp_pool_copy(&pointshell.pool, x, 3, sizeof *x);
    pointshell.normals = sp_pool_copy(&pointshell.pool, n, 3, sizeof *n);
    pointshell.area = sp_pool_copy(&pointshell.pool, &one, 1, sizeof one);
    pointshell.parent = sp_pool_copy(&pointshell.pool, &none, 1, sizeof none);
    pointshell.radius = sp_pool_new(&pointshell.pool, 0, sizeof(double));
    return pointshell;
}

/* u_j(x) of unit size for unit lengths, and its gradient: affine fields, then waves. */
static inline void mode_at(int mode, const double x[3], double u[3], double gradient[9])
{
    double along[3], across[3], phase = 0;
    random_direction(40, (uint64_t)mode, along);
    random_direction(41, (uint64_t)mode, across);
    for (int k = 0; k < 3; k++)
        phase += 2 * along[k] * x[k];
    for (int i = 0; i < 3; i++) {
        u[i] = mode < AFFINE ? 0.1 * across[i] : 0.5 * across[i] * sin(phase + mode);
        for (int k = 0; k < 3; k++) {
            gradient[3 * i + k] = mode < AFFINE ? sp_random_uniform(8, 42, (uint64_t)(9 * mode + 3 * i + k)) - 0.5
                                                : across[i] * cos(phase + mode) * along[k];
            u[i] += mode < AFFINE ? gradient[3 * i + k] * x[k] : 0;
        }
    }
}

static inline void add_modes(sp_pointshell *pointshell, int modes)
{
    pointshell->modes = modes;
    pointshell->U = sp_pool_new(&pointshell->pool, 3 * modes * pointshell->count, sizeof(double));
    pointshell->dN = sp_pool_new(&pointshell->pool, 3 * modes * pointshell->count, sizeof(double));
    pointshell->dT = sp_pool_new(&pointshell->pool, 6 * modes * pointshell->count, sizeof(double));
    for (int64_t p = 0; p < pointshell->count; p++)
        for (int j = 0; j < modes; j++) {
            double u[3], gradient[9], tangent[2][3], moved[3];
            mode_at(j, pointshell->points + 3 * p, u, gradient);
            sp_pointshell_tangents(pointshell->normals + 3 * p, tangent);
            for (int k = 0; k < 3; k++)
                pointshell->U[(3 * p + k) * modes + j] = u[k];
            sp_rotate(gradient, pointshell->normals + 3 * p, moved);
            for (int k = 0; k < 3; k++)
                pointshell->dN[(3 * p + k) * modes + j] = moved[k];
            for (int i = 0; i < 2; i++) {
                sp_rotate(gradient, tangent[i], moved);
                for (int k = 0; k < 3; k++)
                    pointshell->dT[(6 * p + 3 * i + k) * modes + j] = moved[k];
            }
        }
    CHECK_OK(sp_pointshell_bounds(&context, pointshell));
}

/* The contact points of a pointshell, which is freed. */
static inline sp_contact_pointshell contact_shell(sp_pointshell *pointshell)
{
    sp_contact_pointshell result;
    CHECK_OK(sp_contact_pointshell_new(&context, pointshell, &result));
    sp_pointshell_free(pointshell);
    return result;
}

static inline sp_contact_pointshell one_point(double x, double y, double z, const double n[3])
{
    sp_pointshell pointshell = point_shell((double[3]){x, y, z}, n);
    return contact_shell(&pointshell);
}

static inline sp_field field_of(const sp_surface *surface, int64_t cells)
{
    const sp_distance_parameters p = {.cells = cells, .scale = 1.5, .cube = false};
    sp_field field;
    sp_distance_report report;
    CHECK_OK(sp_distance_field(&context, surface, &p, &field, &report));
    return field;
}

static inline sp_distance plane_at(double z)
{
    return (sp_distance){.kind = SP_DISTANCE_PLANE, .normal = {0, 0, 1}, .offset = z};
}

#endif
