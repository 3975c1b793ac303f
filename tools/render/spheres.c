#include "tools/render/spheres.h"

#include "base/vec3.h"
#include "tools/common/tool.h"

#include <math.h>

enum { SIDES = 64, FEW = 2000, RINGS = 12, FEWER_RINGS = 6 };
static const float TRANSPARENCY = 0.75f;
static const double PI = 3.14159265358979323846;

/* rings × 2 rings quadrilaterals from pole to pole. */
static void place_ball(const double centre[3], double radius, int rings, double *vertices, int64_t base,
                       int64_t *triangles)
{
    const int sectors = 2 * rings;
    for (int i = 0; i <= rings; i++)
        for (int j = 0; j < sectors; j++) {
            const double polar = PI * i / rings, turn = PI * j / rings;
            double *v = vertices + 3 * (i * sectors + j);
            v[0] = centre[0] + radius * sin(polar) * cos(turn);
            v[1] = centre[1] + radius * sin(polar) * sin(turn);
            v[2] = centre[2] + radius * cos(polar);

            if (i == rings)
                continue;

            const int64_t a = base + i * sectors + j, b = base + i * sectors + (j + 1) % sectors;
            const int64_t two[6] = {a, a + sectors, b + sectors, a, b + sectors, b};
            for (int k = 0; k < 6; k++)
                *triangles++ = two[k];
        }
}

/* The circle in which rays from the eye touch the sphere. */
static void place_circle(const double centre[3], double radius, const sp_camera *camera, double *circle)
{
    double to_eye[3], helper[3] = {0, 0, 0}, axis[2][3];

    sp_subtract3(camera->eye, camera->angle > 0 ? centre : camera->target, to_eye);
    const double distance = sp_norm3(to_eye);
    for (int k = 0; k < 3; k++)
        to_eye[k] /= distance;

    /* In a parallel view, or with the eye inside, the great circle. */
    const double part = camera->angle > 0 && distance > radius ? radius / distance : 0,
                 own = radius * sqrt(1 - part * part);

    helper[fabs(to_eye[0]) < 0.6 ? 0 : 1] = 1;
    sp_cross3(helper, to_eye, axis[0]);
    const double side = sp_norm3(axis[0]);
    for (int k = 0; k < 3; k++)
        axis[0][k] /= side;
    sp_cross3(to_eye, axis[0], axis[1]);

    for (int s = 0; s < SIDES; s++)
        for (int k = 0; k < 3; k++)
            circle[3 * s + k] = centre[k] + part * radius * to_eye[k] +
                                own * (cos(2 * PI * s / SIDES) * axis[0][k] + sin(2 * PI * s / SIDES) * axis[1][k]);
}

void tool_spheres_new(const sp_pointshell *shell, int level, const sp_camera *camera, sp_pool *pool,
                      tool_spheres *spheres)
{
    const int64_t count = shell->cumulative[level - 1];
    const int rings = count <= FEW ? RINGS : FEWER_RINGS;

    *spheres = (tool_spheres){.count = count, .corners = (rings + 1) * 2 * rings, .triangle_count = 4 * rings * rings};

    spheres->vertices = tool_allocate_raw(pool, count, 3 * (size_t)spheres->corners * sizeof *spheres->vertices);
    spheres->triangles =
        tool_allocate_raw(pool, count, 3 * (size_t)spheres->triangle_count * sizeof *spheres->triangles);
    spheres->circle = tool_allocate_raw(pool, count, 3 * SIDES * sizeof *spheres->circle);
    spheres->edges = tool_allocate_raw(pool, count, 2 * SIDES * sizeof *spheres->edges);

    for (int64_t p = 0; p < count; p++) {
        const double *centre = shell->points + 3 * p, radius = shell->radius[sp_pointshell_node(shell, level, p)];
        place_ball(centre, radius, rings, spheres->vertices + 3 * spheres->corners * p, spheres->corners * p,
                   spheres->triangles + 3 * spheres->triangle_count * p);
        place_circle(centre, radius, camera, spheres->circle + 3 * SIDES * p);

        for (int s = 0; s < SIDES; s++) {
            spheres->edges[2 * (SIDES * p + s)] = SIDES * p + s;
            spheres->edges[2 * (SIDES * p + s) + 1] = SIDES * p + (s + 1) % SIDES;
        }
    }
}

void tool_spheres_extend(const sp_pointshell *shell, int level, sp_extent *extent)
{
    for (int64_t p = 0; p < shell->cumulative[level - 1]; p++) {
        const double *centre = shell->points + 3 * p, radius = shell->radius[sp_pointshell_node(shell, level, p)];
        double low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = centre[k] - radius;
            high[k] = centre[k] + radius;
        }
        sp_extent_add_box(extent, low, high);
    }
}

void tool_spheres_drawings(const tool_spheres *spheres, const float rgb[3], sp_drawing drawing[TOOL_SPHERE_DRAWINGS])
{
    drawing[0] = (sp_drawing){.vertex_count = spheres->corners * spheres->count,
                              .triangle_count = spheres->triangle_count * spheres->count,
                              .vertices = spheres->vertices,
                              .triangles = spheres->triangles,
                              .base = {rgb[0], rgb[1], rgb[2]},
                              .transparency = TRANSPARENCY};
    drawing[1] = (sp_drawing){.vertex_count = SIDES * spheres->count,
                              .vertices = spheres->circle,
                              .lines = true,
                              .edges = spheres->edges,
                              .edge_count = SIDES * spheres->count};
}
