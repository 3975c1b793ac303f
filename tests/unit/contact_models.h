/* Shells, fields and poses for the tests of contact. */
#ifndef TESTS_UNIT_CONTACT_MODELS_H
#define TESTS_UNIT_CONTACT_MODELS_H

#include "contact/traverse.h"
#include "field_models.h"
#include "test.h"

enum { AFFINE = 3, WAVES = 3, MODES = AFFINE + WAVES };

static sp_context context;

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

static inline sp_shell shell_of(const sp_surface *surface, enum sp_shell_method method, int64_t points, int levels)
{
    const sp_shell_parameters p = {
        .method = method, .points = points, .levels = levels, .branching = 4, .cells = 16, .iterations = 40};
    sp_level level;
    sp_shell shell;
    sp_shell_report report;
    CHECK_OK(sp_level_model(&context, surface, 0, 0, &level));
    CHECK_OK(sp_shell_make(&context, &level, &p, &shell, &report));
    sp_level_free(&level);
    return shell;
}

/* Points of a sphere about the origin, not of its facets. */
static inline sp_shell ball_shell(enum sp_shell_method method, int rings, int64_t points, int levels, double radius)
{
    sp_surface s = new_surface(4 * (int64_t)rings * rings, 16 * (int64_t)rings * rings);
    add_sphere(&s, rings, (double[3]){0, 0, 0}, radius);
    sp_shell shell = shell_of(&s, method, points, levels);
    for (int64_t p = 0; p < shell.count; p++) {
        double *x = shell.points + 3 * p;
        const double scale = radius / length3(x);
        for (int k = 0; k < 3; k++) {
            x[k] *= scale;
            shell.normals[3 * p + k] = -x[k] / radius;
        }
    }
    CHECK_OK(sp_shell_tree(&context, &shell));
    sp_surface_free(&s);
    return shell;
}

/* A single point at x with inward normal n. */
static inline sp_shell point_shell(const double x[3], const double n[3])
{
    const double one = 1;
    const int64_t none = -1;
    sp_shell shell = {.count = 1, .levels = 1, .cumulative = {1}};
    shell.points = sp_pool_copy(&shell.pool, x, 3, sizeof *x);
    shell.normals = sp_pool_copy(&shell.pool, n, 3, sizeof *n);
    shell.area = sp_pool_copy(&shell.pool, &one, 1, sizeof one);
    shell.parent = sp_pool_copy(&shell.pool, &none, 1, sizeof none);
    shell.radius = sp_pool_new(&shell.pool, 0, sizeof(double));
    return shell;
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

static inline void add_modes(sp_shell *shell, int modes)
{
    shell->modes = modes;
    shell->U = sp_pool_new(&shell->pool, 3 * modes * shell->count, sizeof(double));
    shell->dN = sp_pool_new(&shell->pool, 3 * modes * shell->count, sizeof(double));
    shell->dT = sp_pool_new(&shell->pool, 6 * modes * shell->count, sizeof(double));
    for (int64_t p = 0; p < shell->count; p++)
        for (int j = 0; j < modes; j++) {
            double u[3], gradient[9], tangent[2][3], moved[3];
            mode_at(j, shell->points + 3 * p, u, gradient);
            sp_shell_tangents(shell->normals + 3 * p, tangent);
            for (int k = 0; k < 3; k++)
                shell->U[(3 * p + k) * modes + j] = u[k];
            sp_rotate(gradient, shell->normals + 3 * p, moved);
            for (int k = 0; k < 3; k++)
                shell->dN[(3 * p + k) * modes + j] = moved[k];
            for (int i = 0; i < 2; i++) {
                sp_rotate(gradient, tangent[i], moved);
                for (int k = 0; k < 3; k++)
                    shell->dT[(6 * p + 3 * i + k) * modes + j] = moved[k];
            }
        }
    CHECK_OK(sp_shell_bounds(&context, shell));
}

/* What is kept of a shell. */
static inline sp_contact_shell contact_shell(sp_shell *shell)
{
    sp_contact_shell result;
    CHECK_OK(sp_contact_shell_new(&context, shell, &result));
    sp_shell_free(shell);
    return result;
}

static inline sp_contact_shell one_point(double x, double y, double z, const double n[3])
{
    sp_shell shell = point_shell((double[3]){x, y, z}, n);
    return contact_shell(&shell);
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
