/* Triangle models that the geometry tests make for themselves. */
#ifndef TESTS_UNIT_GEOMETRY_MODELS_H
#define TESTS_UNIT_GEOMETRY_MODELS_H

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "geometry/surface.h"

static const double PI = 3.14159265358979323846;

static inline double random_in(uint64_t stream, uint64_t index, double low, double high)
{
    return low + (high - low) * sp_random_uniform(7, stream, index);
}

static inline sp_surface new_surface(int64_t vertices, int64_t triangles)
{
    static char name[] = "default";
    sp_surface s = {.vertex_count = 0, .group_count = 1};
    s.vertices = sp_pool_new(&s.pool, 3 * vertices, sizeof(double));
    s.triangles = sp_pool_new(&s.pool, 3 * triangles, sizeof(int64_t));
    s.group = sp_pool_new(&s.pool, triangles, sizeof(int64_t));
    s.groups = sp_pool_new(&s.pool, 8, sizeof(char *));
    s.groups[0] = name;
    return s;
}

static inline void add_triangle(sp_surface *s, int64_t a, int64_t b, int64_t c)
{
    int64_t *to = s->triangles + 3 * s->triangle_count++;
    to[0] = a;
    to[1] = b;
    to[2] = c;
}

/* A sphere of n rings of 2n quadrilaterals, outward, appended. Vertices lie on the sphere. */
static inline void add_sphere(sp_surface *s, int n, const double centre[3], double radius)
{
    const int64_t first = s->vertex_count;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j < (i == 0 || i == n ? 1 : 2 * n); j++) {
            double theta = PI * i / n, phi = PI * j / n, *x = s->vertices + 3 * s->vertex_count++;
            x[0] = centre[0] + radius * sin(theta) * cos(phi);
            x[1] = centre[1] + radius * sin(theta) * sin(phi);
            x[2] = centre[2] + radius * cos(theta);
        }
    const int64_t last = s->vertex_count - 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2 * n; j++) {
            int64_t up = first + 1 + (int64_t)(i - 1) * 2 * n, down = up + 2 * n, next = (j + 1) % (2 * n);
            if (i == 0)
                add_triangle(s, first, down + j, down + next);
            else if (i == n - 1)
                add_triangle(s, up + j, last, up + next);
            else {
                add_triangle(s, up + j, down + j, down + next);
                add_triangle(s, up + j, down + next, up + next);
            }
        }
}

static inline sp_surface sphere(int n)
{
    sp_surface s = new_surface(4 * n * n, 16 * n * n);
    add_sphere(&s, n, (double[3]){0.1, -0.2, 0.3}, 1);
    return s;
}

/* Twelve triangles, outward. */
static inline void add_box(sp_surface *s, const double low[3], const double high[3])
{
    static const int face[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    const int64_t first = s->vertex_count;
    for (int v = 0; v < 8; v++)
        for (int k = 0; k < 3; k++)
            s->vertices[3 * (first + v) + k] = v >> k & 1 ? high[k] : low[k];
    s->vertex_count += 8;
    for (int f = 0; f < 6; f++) {
        add_triangle(s, first + face[f][0], first + face[f][1], first + face[f][2]);
        add_triangle(s, first + face[f][0], first + face[f][2], first + face[f][3]);
    }
}

static inline void turn(sp_surface *s, int64_t t)
{
    int64_t swap = s->triangles[3 * t + 1];
    s->triangles[3 * t + 1] = s->triangles[3 * t + 2];
    s->triangles[3 * t + 2] = swap;
}

static inline void turn_all(sp_surface *s, int64_t from)
{
    for (int64_t t = from; t < s->triangle_count; t++)
        turn(s, t);
}

/* Leaves out the triangles whose centroid has (x − centre)·axis > limit, with axis z. */
static inline void cut_hole(sp_surface *s, double limit)
{
    int64_t kept = 0;
    for (int64_t t = 0; t < s->triangle_count; t++) {
        double z = 0;
        for (int c = 0; c < 3; c++)
            z += s->vertices[3 * s->triangles[3 * t + c] + 2] / 3;
        if (z > limit)
            continue;
        memmove(s->triangles + 3 * kept, s->triangles + 3 * t, 3 * sizeof(int64_t));
        s->group[kept++] = s->group[t];
    }
    s->triangle_count = kept;
}

#endif
