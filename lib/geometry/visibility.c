#include "geometry/visibility.h"

#include <math.h>

#include "base/random.h"
#include "base/vec3.h"
#include "geometry/ray.h"

static const double PI = 3.14159265358979323846;

/* A fixed seed, since the lines are the points of a quadrature. */
static const uint64_t SEED = 1;

/* Differences are significant from this many standard deviations on. */
static const double DEVIATIONS = 3;

/* Writes twice the vector area of a triangle to normal; returns its area. */
static double triangle_area(const sp_surface *patch, int64_t t, double normal[3])
{
    const double *a = patch->vertices + 3 * patch->triangles[3 * t];
    const double *b = patch->vertices + 3 * patch->triangles[3 * t + 1],
                 *c = patch->vertices + 3 * patch->triangles[3 * t + 2];

    double e[3], f[3];
    sp_subtract3(b, a, e);
    sp_subtract3(c, a, f);
    sp_cross3(e, f, normal);
    return 0.5 * sp_norm3(normal);
}

/* A point of the triangle, uniformly distributed for uniform u and v in [0, 1]. */
static void place_point(const sp_surface *patch, int64_t t, double u, double v, double point[3])
{
    const double *a = patch->vertices + 3 * patch->triangles[3 * t];
    const double *b = patch->vertices + 3 * patch->triangles[3 * t + 1],
                 *c = patch->vertices + 3 * patch->triangles[3 * t + 2];

    /* The other half of the parallelogram is mirrored into the triangle. */
    if (u + v > 1) {
        u = 1 - u;
        v = 1 - v;
    }

    for (int k = 0; k < 3; k++)
        point[k] = a[k] + u * (b[k] - a[k]) + v * (c[k] - a[k]);
}

/* A unit vector whose density is the cosine of its angle to the normal: the normalized sum of the normal and a point of
 * the unit sphere. */
static void place_direction(const double normal[3], double area, double u, double v, double direction[3])
{
    /* The point `sphere` is uniform on the unit sphere: z and the longitude are uniform (Archimedes). */
    const double z = 1 - 2 * u, radius = sqrt(1 - z * z),
                 sphere[3] = {radius * cos(2 * PI * v), radius * sin(2 * PI * v), z};

    double square = 0;
    for (int k = 0; k < 3; k++) {
        direction[k] = 0.5 * normal[k] / area + sphere[k];
        square += direction[k] * direction[k];
    }

    /* The sum vanishes for the one point opposite to the normal. There the normal itself serves. */
    for (int k = 0; k < 3; k++)
        direction[k] = square > 1e-20 ? direction[k] / sqrt(square) : 0.5 * normal[k] / area;
}

/* Counts one line through a point of the triangle. */
static void count_line(const sp_closest *model, const sp_surface *patch, int64_t t, double beyond,
                       const uint32_t random[4], sp_visibility *sum)
{
    double normal[3], point[3], ahead[3], behind[3], u[4];
    for (int i = 0; i < 4; i++)
        u[i] = ((double)random[i] + 0.5) * 0x1p-32;

    const double area = triangle_area(patch, t, normal);
    place_point(patch, t, u[0], u[1], point);
    place_direction(normal, area, u[2], u[3], ahead);
    for (int k = 0; k < 3; k++)
        behind[k] = -ahead[k];

    /* Only lines with one free side tell front from back. */
    const bool front = sp_ray_leaves(model, point, ahead, beyond), back = sp_ray_leaves(model, point, behind, beyond);
    sum->front += front && !back;
    sum->back += back && !front;
}

sp_visibility sp_visibility_of(const sp_closest *model, const sp_surface *patch, double beyond, int64_t lines,
                               uint64_t stream)
{
    sp_visibility sum = {0};
    double total = 0, passed = 0, normal[3];
    int64_t line = 0;

    for (int64_t t = 0; t < patch->triangle_count; t++)
        total += triangle_area(patch, t, normal);

    /* Line i passes through the triangle at which the accumulated area reaches (i + ½)/lines of the total. */
    for (int64_t t = 0; t < patch->triangle_count; t++) {
        const double area = triangle_area(patch, t, normal);
        for (passed += area; area > 0 && line < lines && ((double)line + 0.5) * total <= passed * (double)lines;
             line++) {
            uint32_t random[4];
            sp_random_block(SEED, stream, (uint64_t)line, random);
            count_line(model, patch, t, beyond, random, &sum);
        }
    }
    return sum;
}

int sp_visibility_side(const sp_visibility *visibility)
{
    /* If both sides were equally visible, front − back would have the variance front + back. */
    const double difference = (double)(visibility->front - visibility->back),
                 sum = (double)(visibility->front + visibility->back);
    if (difference * difference <= DEVIATIONS * DEVIATIONS * sum)
        return 0;
    return difference > 0 ? 1 : -1;
}
