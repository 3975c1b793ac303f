#include "sound/radiation.h"

#include "base/vec3.h"
#include "sound/kernel.h"

#include <math.h>

/* A triangle as a source. */
typedef struct source {
    double vector[3], distance, edge;
} source;

/* False for a triangle without an area. */
static bool make_source(const double *vertices, const int64_t *triangle, const sp_radiation_parameters *p, source *s)
{
    const double *corner[3] = {vertices + 3 * triangle[0], vertices + 3 * triangle[1], vertices + 3 * triangle[2]};
    double area[3], to[3], side[2][3];

    s->edge = 0;
    for (int k = 0; k < 3; k++) {
        s->edge = fmax(s->edge, sqrt(sp_distance_squared3(corner[k], corner[(k + 1) % 3])));
        to[k] = p->listener[k] - (corner[0][k] + corner[1][k] + corner[2][k]) / 3;
    }

    sp_subtract3(corner[1], corner[0], side[0]);
    sp_subtract3(corner[2], corner[0], side[1]);
    sp_cross3(side[0], side[1], area); /* twice the area */
    const double size = sp_norm3(area);

    s->distance = sp_norm3(to);
    if (!(size > 0))
        return false;

    /* Directivity, by the angle between the normal and the way to the listener */
    const double cosine = sp_dot3(area, to) / (size * s->distance);
    double D = 1;
    if (p->kind == SP_RADIATION_PLANE_WAVE)
        D = 1 + cosine;
    else if (p->kind != SP_RADIATION_MONOPOLE)
        D = cosine > 0 ? 2 : 0;

    for (int i = 0; i < 3; i++) /* a third of the sum of the corners is their mean */
        s->vector[i] = p->density * D * 0.5 * area[i] / (12 * M_PI * s->distance);
    return true;
}

static int check(sp_context *context, const sp_radiation_parameters *p)
{
    if (!(p->density > 0 && p->speed > 0 && p->rate > 0 && p->top > 0 && p->top < p->rate / 2))
        return sp_fail(context, SP_USAGE,
                       "%g kg/m3, %g m/s, %g samples per second and frequencies up to %g Hz: a value is out of range",
                       p->density, p->speed, p->rate, p->top);
    return SP_OK;
}

/* Vectors, delays and taps of all triangles. */
static int fill(sp_context *context, const double *vertices, int64_t count, const sp_radiation_parameters *p,
                const sp_kernel *kernel, sp_radiation *r)
{
    int64_t *number = sp_pool_new(&r->pool, count, sizeof *number), *row = sp_pool_new(&r->pool, count, sizeof *row);
    double *vector = sp_pool_new(&r->pool, count, 3 * sizeof *vector),
           *delay = sp_pool_new(&r->pool, count, sizeof *delay),
           *tap = sp_pool_raw(&r->pool, count * r->taps, sizeof *tap);
    source s;

    SP_PASS(sp_allocated(context, !r->pool.failed));
    r->nearest = INFINITY;

    for (int64_t t = 0; t < count; t++) {
        if (!make_source(vertices, r->triangles + 3 * t, p, &s))
            continue;

        if (!(s.distance >= s.edge))
            return sp_fail(
                context, SP_USAGE,
                "the listener is %.3g m from triangle %lld of the surface, whose longest edge is %.3g m: the "
                "integral needs a larger distance",
                s.distance, (long long)t, s.edge);

        for (int i = 0; i < 3; i++)
            vector[3 * r->triangle_count + i] = s.vector[i];
        delay[r->triangle_count] = s.distance / p->speed * p->rate;
        number[r->triangle_count++] = t;
        r->nearest = fmin(r->nearest, s.distance);
        r->farthest = fmax(r->farthest, s.distance);
        r->longest = fmax(r->longest, s.edge);
    }

    if (r->triangle_count == 0)
        return sp_fail(context, SP_INPUT, "the surface has no triangle with an area");
    if (!(r->farthest / p->speed * p->rate < 1e9))
        return sp_fail(context, SP_USAGE, "the listener is %g m away: too far", r->farthest);

    /* The first and the last sample of the motion that any delay, with its taps, reaches */
    r->first = (int64_t)floor(r->nearest / p->speed * p->rate) - kernel->half + 1;
    r->count = (int64_t)floor(r->farthest / p->speed * p->rate) + kernel->half - r->first + 1;

    for (int64_t t = 0; t < r->triangle_count; t++) {
        row[t] = (int64_t)floor(delay[t]) - kernel->half + 1 - r->first;
        sp_kernel_taps(kernel, delay[t] - floor(delay[t]), tap + t * r->taps);
    }

    r->number = number;
    r->vector = vector;
    r->row = row;
    r->tap = tap;
    sp_pool_drop(&r->pool, delay);
    return SP_OK;
}

int sp_radiation_new(sp_context *context, const double *vertices, int64_t triangle_count, const int64_t *triangles,
                     const sp_radiation_parameters *p, sp_radiation *radiation)
{
    sp_kernel kernel = {0};
    int status;
    *radiation = (sp_radiation){.triangles = triangles};

    SP_TRY(check(context, p));
    SP_TRY(sp_kernel_new(context, p->top / p->rate, 1 - p->top / p->rate, false, &kernel));
    radiation->taps = 2 * kernel.half;
    SP_TRY(fill(context, vertices, triangle_count, p, &kernel, radiation));
done:
    sp_kernel_free(&kernel);
    if (status != SP_OK)
        sp_radiation_free(radiation);
    return status;
}

void sp_radiation_free(sp_radiation *radiation)
{
    sp_pool_free(&radiation->pool);
    *radiation = (sp_radiation){0};
}

void sp_radiation_flux(const sp_radiation *r, const double *v, double *flux)
{
    for (int64_t t = 0; t < r->triangle_count; t++) {
        const int64_t *corner = r->triangles + 3 * r->number[t];
        const double *tap = r->tap + t * r->taps;
        double sum = 0, *to = flux + r->row[t];

        /* ρ D A n · (mean velocity) / (4π distance), delayed */
        for (int i = 0; i < 3; i++)
            sum += r->vector[3 * t + i] * (v[3 * corner[0] + i] + v[3 * corner[1] + i] + v[3 * corner[2] + i]);

        for (int64_t k = 0; k < r->taps; k++)
            to[k] += sum * tap[k];
    }
}
