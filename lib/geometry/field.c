#include "geometry/field.h"

#include <math.h>

void sp_field_free(sp_field *field)
{
    sp_pool_free(&field->pool);
    *field = (sp_field){0};
}

int sp_field_place(sp_context *context, const sp_surface *surface, int64_t cells, double scale, bool cube,
                   sp_field *field)
{
    double low[3], high[3], side[3], longest = 0, far = 0, total = 1;
    *field = (sp_field){0};

    if (cells < 1 || cells > SP_FIELD_CELLS_MAX)
        return sp_fail(context, SP_USAGE, "%lld cells are not between 1 and %d", (long long)cells, SP_FIELD_CELLS_MAX);
    if (!(scale >= 1 && scale <= 1000))
        return sp_fail(context, SP_USAGE, "the box cannot be enlarged by %g, only by a factor between 1 and 1000",
                       scale);
    if (surface->triangle_count < 1)
        return sp_fail(context, SP_INPUT, "the model has no triangles");

    sp_surface_box(surface, low, high);
    for (int k = 0; k < 3; k++) {
        side[k] = scale * (high[k] - low[k]);
        longest = fmax(longest, side[k]);
        far = fmax(far, fmax(fabs(low[k]), fabs(high[k])));
    }

    if (!(longest > 0))
        return sp_fail(context, SP_INPUT, "the model has no extent: all triangles lie in the point (%g, %g, %g)",
                       low[0], low[1], low[2]);
    if (!(longest <= 1e30 && longest / (double)cells >= 1e-30))
        return sp_fail(
            context, SP_INPUT,
            "distances of a model of size %g m do not fit single precision (cells of 1e-30 m, boxes of 1e30 m)",
            longest / scale);

    /* Below this size neighbouring vertices would be nearly the same number in double precision. */
    field->spacing = longest / (double)cells;
    if (field->spacing < 1e-12 * far)
        return sp_fail(context, SP_INPUT, "cells of size %g are too small for coordinates up to %g", field->spacing,
                       far);

    /* The grid has the centre of the model's box. A division that comes out even must not gain a cell by rounding. */
    for (int k = 0; k < 3; k++) {
        const double n = cube ? (double)cells : fmin(fmax(ceil(side[k] / field->spacing - 1e-9), 1), (double)cells);
        field->cells[k] = (int64_t)n;
        field->origin[k] = low[k] + 0.5 * (high[k] - low[k]) - 0.5 * n * field->spacing;
        total *= n + 1;
    }

    if (total > 2147483648.0)
        return sp_fail(context, SP_INPUT, "a grid of %lld x %lld x %lld cells has more than 2^31 vertices",
                       (long long)field->cells[0], (long long)field->cells[1], (long long)field->cells[2]);

    field->distance = sp_pool_raw(&field->pool, sp_field_vertices(field), sizeof *field->distance);
    return sp_allocated(context, field->distance);
}

double sp_field_interpolate(const sp_field *field, const double point[3], double gradient[3])
{
    int64_t cell[3];
    double t[3], value[8];

    /* The cell that contains the point, moved to the box if it is outside, and the place in it, 0 ≤ t ≤ 1 */
    for (int k = 0; k < 3; k++) {
        const double n = (double)field->cells[k], x = (point[k] - field->origin[k]) / field->spacing;
        const double at = x > 0 ? (x < n ? x : n) : 0; /* 0 also for a NaN */
        cell[k] = at < n ? (int64_t)at : field->cells[k] - 1;
        t[k] = at - (double)cell[k];
    }

    for (int c = 0; c < 8; c++)
        value[c] =
            (double)
                field->distance[sp_field_index(field, cell[0] + (c & 1), cell[1] + (c >> 1 & 1), cell[2] + (c >> 2))];

    /* Along x, then y, then z */
    double edge[4], face[2];
    for (int c = 0; c < 4; c++)
        edge[c] = value[2 * c] + t[0] * (value[2 * c + 1] - value[2 * c]);
    for (int c = 0; c < 2; c++)
        face[c] = edge[2 * c] + t[1] * (edge[2 * c + 1] - edge[2 * c]);

    /* ∂/∂x_k of Π ((1 − t) or t): the weights of the two other axes, times ±1/h */
    if (gradient)
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            gradient[k] = 0;
            for (int c = 0; c < 8; c++) {
                const double weight = (c >> a & 1 ? t[a] : 1 - t[a]) * (c >> b & 1 ? t[b] : 1 - t[b]);
                gradient[k] += (c >> k & 1 ? weight : -weight) * value[c] / field->spacing;
            }
        }

    return face[0] + t[2] * (face[1] - face[0]);
}

double sp_field_boundary(const sp_field *field)
{
    double least = INFINITY;
    for (int64_t z = 0; z <= field->cells[2]; z++)
        for (int64_t y = 0; y <= field->cells[1]; y++) {
            const bool whole = z == 0 || z == field->cells[2] || y == 0 || y == field->cells[1];
            for (int64_t x = 0; x <= field->cells[0]; x += whole ? 1 : field->cells[0])
                least = fmin(least, fabs((double)field->distance[sp_field_index(field, x, y, z)]));
        }

    /* single precision rounds by 6e-8 */
    least *= 1 - 1e-7;

    /* d² ≥ m² − h²/2 in a square of side h whose corners have distances of at least m, see field.h */
    return sqrt(fmax(0, least * least - 0.5 * field->spacing * field->spacing));
}
