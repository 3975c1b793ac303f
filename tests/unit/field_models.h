/* References for the tests of distance fields. */
#ifndef TESTS_UNIT_FIELD_MODELS_H
#define TESTS_UNIT_FIELD_MODELS_H

#include "geometry/distance_field.h"
#include "geometry_models.h"

/* The least squared distance from a point to a + s e + t f with s, t ≥ 0, s + t ≤ 1: the minimum of a convex quadratic
 * function is inside, or else on a side. */
static inline double brute_segment(const double *a, const double *b, const double *p)
{
    double along = 0, size = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        along += (p[k] - a[k]) * (b[k] - a[k]);
        size += (b[k] - a[k]) * (b[k] - a[k]);
    }
    const double t = size > 0 ? fmin(fmax(along / size, 0), 1) : 0;
    for (int k = 0; k < 3; k++) {
        const double d = p[k] - a[k] - t * (b[k] - a[k]);
        square += d * d;
    }
    return square;
}

static inline double brute_triangle(const double *a, const double *b, const double *c, const double *p)
{
    double ee = 0, ef = 0, ff = 0, ev = 0, fv = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        const double e = b[k] - a[k], f = c[k] - a[k], v = p[k] - a[k];
        ee += e * e;
        ef += e * f;
        ff += f * f;
        ev += e * v;
        fv += f * v;
    }
    const double determinant = ee * ff - ef * ef;
    const double sides = fmin(fmin(brute_segment(a, b, p), brute_segment(b, c, p)), brute_segment(c, a, p));
    if (!(determinant > 1e-12 * ee * ff))
        return sides;
    const double s = (ff * ev - ef * fv) / determinant, t = (ee * fv - ef * ev) / determinant;
    if (s < 0 || t < 0 || s + t > 1)
        return sides;
    for (int k = 0; k < 3; k++) {
        const double d = p[k] - a[k] - s * (b[k] - a[k]) - t * (c[k] - a[k]);
        square += d * d;
    }
    return square;
}

static inline double brute_distance(const sp_surface *s, const double *p)
{
    double best = INFINITY;
    for (int64_t t = 0; t < s->triangle_count; t++) {
        const int64_t *v = s->triangles + 3 * t;
        best = fmin(best, brute_triangle(s->vertices + 3 * v[0], s->vertices + 3 * v[1], s->vertices + 3 * v[2], p));
    }
    return sqrt(best);
}

static inline double diagonal_of(const sp_surface *s)
{
    double low[3], high[3];
    sp_surface_box(s, low, high);
    return sqrt((high[0] - low[0]) * (high[0] - low[0]) + (high[1] - low[1]) * (high[1] - low[1]) +
                (high[2] - low[2]) * (high[2] - low[2]));
}

/* Position of vertex `index` of a field. */
static inline void place_of(const sp_field *field, int64_t index, double x[3])
{
    const int64_t nx = field->cells[0] + 1, ny = field->cells[1] + 1;
    sp_field_position(field, index % nx, index / nx % ny, index / nx / ny, x);
}

/* Around z, outward; n × m quadrilaterals. */
static inline sp_surface torus(int n, int m, double major, double minor)
{
    sp_surface s = new_surface((int64_t)n * m, 2 * (int64_t)n * m);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            const double u = 2 * PI * i / n, v = 2 * PI * j / m;
            double *x = s.vertices + 3 * s.vertex_count++;
            x[0] = (major + minor * cos(v)) * cos(u);
            x[1] = (major + minor * cos(v)) * sin(u);
            x[2] = minor * sin(v);
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            const int64_t a = i * m + j, b = (i + 1) % n * m + j, c = (i + 1) % n * m + (j + 1) % m,
                          d = i * m + (j + 1) % m;
            add_triangle(&s, a, b, c);
            add_triangle(&s, a, c, d);
        }
    return s;
}

#endif
