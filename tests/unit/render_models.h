/* Geometry and images for the tests of pictures. */
#ifndef TESTS_UNIT_RENDER_MODELS_H
#define TESTS_UNIT_RENDER_MODELS_H

#include "render/internal.h"
#include "render/render.h"
#include "test.h"

#define PLAIN(n) (&(sp_look){.samples = (n)})

static const double PI = 3.14159265358979323846;

/* Cameras at the origin that look along -z, x right and y up. */
static inline sp_camera plain_camera(double angle, double distance)
{
    return (sp_camera){.eye = {0, 0, 0}, .target = {0, 0, -distance}, .up = {0, 1, 0}, .angle = angle, .height = 2};
}

static inline sp_image new_image(int64_t width, int64_t height)
{
    sp_image image;
    CHECK_OK(sp_image_new(&context, width, height, &image));
    return image;
}

static inline bool same_image(const sp_image *a, const sp_image *b)
{
    size_t count = (size_t)(a->width * a->height);
    return !memcmp(a->rgb, b->rgb, 3 * count) && !memcmp(a->depth, b->depth, count * sizeof *a->depth);
}

/* Sphere of radius 1 at (0, 0, -distance): rings × 2 rings quadrilaterals of two triangles each. */
typedef struct sphere {
    double *vertices;
    int64_t *triangles;
    int64_t vertex_count, triangle_count;
} sphere;

static inline sphere make_sphere(int64_t rings, double distance)
{
    int64_t sectors = 2 * rings;
    sphere s = {.vertex_count = (rings + 1) * sectors, .triangle_count = 2 * rings * sectors};
    s.vertices = malloc((size_t)s.vertex_count * 3 * sizeof(double));
    s.triangles = malloc((size_t)s.triangle_count * 3 * sizeof(int64_t));
    int64_t t = 0;
    for (int64_t i = 0; i <= rings; i++)
        for (int64_t j = 0; j < sectors; j++) {
            double polar = PI * (double)i / (double)rings, turn = PI * (double)j / (double)rings;
            double *v = s.vertices + 3 * (i * sectors + j);
            v[0] = sin(polar) * cos(turn);
            v[1] = cos(polar);
            v[2] = sin(polar) * sin(turn) - distance;
            if (i == rings)
                continue;
            int64_t a = i * sectors + j, b = i * sectors + (j + 1) % sectors, c = a + sectors, d = b + sectors;
            const int64_t two[6] = {a, b, c, b, d, c};
            memcpy(s.triangles + t, two, sizeof two);
            t += 6;
        }
    return s;
}

static inline sp_drawing draw_sphere(const sphere *s)
{
    return (sp_drawing){.vertex_count = s->vertex_count,
                        .triangle_count = s->triangle_count,
                        .vertices = s->vertices,
                        .triangles = s->triangles,
                        .base = {0.5f, 0.5f, 0.5f}};
}

static inline void sphere_free(sphere *s)
{
    free(s->vertices);
    free(s->triangles);
}

static const int64_t QUAD[6] = {0, 1, 2, 0, 2, 3};

static inline sp_drawing draw_quad(const double vertices[12], float red, float green, float blue)
{
    return (sp_drawing){
        .vertex_count = 4, .triangle_count = 2, .vertices = vertices, .triangles = QUAD, .base = {red, green, blue}};
}

#endif
