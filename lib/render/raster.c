/* Clipping, snapping and scan conversion. Corners are snapped to 2^-12 of a sample and the edge functions are exact in
 * 64-bit integers, with the top-left rule: triangles that share an edge cover each sample once, whatever their order.
 */
#include "render/internal.h"

#include <math.h>
#include <string.h>

/* Geometry farther than this from the centre of the picture is clipped, so that the products of edge functions fit:
 * coordinate differences are below 2^30, each product below 2^60. Half of the widest picture is 2^15 samples. */
static const double GUARD = 100000; /* samples */
enum { ONE = 1 << SP_SUBSAMPLE_BITS, HALF = ONE / 2, PLANES = 5 };

static double plane_distance(const sp_view *view, int plane, const double p[3])
{
    if (plane == 0)
        return p[2] - view->near;

    /* The sides of the guard: |x| ≤ reach z in perspective, ≤ reach in parallel view */
    double reach = GUARD / (view->scale * view->samples) * (view->perspective ? p[2] : 1);
    const double along = p[(plane - 1) / 2];
    return plane & 1 ? reach - along : reach + along;
}

static bool inside_all(const sp_view *view, const double p[3])
{
    for (int plane = 0; plane < PLANES; plane++)
        if (!(plane_distance(view, plane, p) >= 0))
            return false;
    return true;
}

/* Always computed from the inner to the outer end, so that both triangles of an edge get the same point. */
static void cut(const double in[3], const double out[3], double in_distance, double out_distance, double point[3])
{
    double t = in_distance / (in_distance - out_distance);
    for (int i = 0; i < 3; i++)
        point[i] = in[i] + t * (out[i] - in[i]);
}

/* Sutherland–Hodgman; each plane adds at most one corner. */
static int clip_polygon(const sp_view *view, double polygon[][3], int count)
{
    double source[3 + PLANES][3], distance[3 + PLANES];
    for (int plane = 0; plane < PLANES && count > 0; plane++) {
        int kept = 0;

        memcpy(source, polygon, (size_t)count * sizeof *source);
        for (int i = 0; i < count; i++)
            distance[i] = plane_distance(view, plane, source[i]);

        for (int i = 0; i < count; i++) {
            int next = i + 1 < count ? i + 1 : 0;
            bool in = distance[i] >= 0, next_in = distance[next] >= 0;
            if (in)
                memcpy(polygon[kept++], source[i], sizeof *source);
            if (in && !next_in)
                cut(source[i], source[next], distance[i], distance[next], polygon[kept++]);
            else if (!in && next_in)
                cut(source[next], source[i], distance[next], distance[i], polygon[kept++]);
        }
        count = kept;
    }
    return count;
}

typedef struct screen_point {
    double x, y; /* samples */
    double key;
} screen_point;

static screen_point to_screen(const sp_view *view, const double p[3])
{
    double scale = view->perspective ? view->scale / p[2] : view->scale;
    return (screen_point){.x = (view->centre[0] + scale * p[0]) * view->samples,
                          .y = (view->centre[1] - scale * p[1]) * view->samples,
                          .key = view->perspective ? 1 / p[2] : -p[2]};
}

static int32_t snap(double samples)
{
    return (int32_t)floor(samples * ONE + 0.5);
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t ceil_divide(int64_t a, int64_t b)
{
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

/* The samples i with centres (i + 1/2) in [low, high], within [0, count). */
static void sample_range(const int32_t value[3], int64_t count, int64_t *first, int64_t *last)
{
    int64_t low = value[0], high = value[0];
    for (int i = 1; i < 3; i++) {
        low = value[i] < low ? value[i] : low;

        high = value[i] > high ? value[i] : high;
    }

    /* Centres are at i ONE + HALF. */
    *first = ceil_divide(low - HALF, ONE);
    *last = floor_divide(high - HALF, ONE);
    *first = *first < 0 ? 0 : *first;
    *last = *last >= count ? count - 1 : *last;
}

void sp_primitive_rows(const sp_primitive *primitive, int64_t rows, int64_t *first, int64_t *last)
{
    sample_range(primitive->y, rows, first, last);
}

/* Twice the signed area of (a, b, p); positive where p lies to the right of a → b on a screen with y down. */
static int64_t edge_value(int64_t ax, int64_t ay, int64_t bx, int64_t by, int64_t px, int64_t py)
{
    return (bx - ax) * (py - ay) - (by - ay) * (px - ax);
}

static int64_t area_of(const sp_primitive *p)
{
    return edge_value(p->x[0], p->y[0], p->x[1], p->y[1], p->x[2], p->y[2]);
}

/* Returns 1 if the primitive may cover a sample. */
static int emit(const sp_view *view, int64_t width, int64_t height, const screen_point corner[3], sp_primitive *out)
{
    for (int i = 0; i < 3; i++) {
        out->x[i] = snap(corner[i].x);
        out->y[i] = snap(corner[i].y);
        out->key[i] = corner[i].key;
    }

    /* Without a sample in its box a primitive cannot be seen. */
    int64_t first, last;
    sample_range(out->y, height * view->samples, &first, &last);
    if (first > last)
        return 0;
    sample_range(out->x, width * view->samples, &first, &last);
    if (first > last)
        return 0;

    /* All triangles run the same way round on the screen. */
    int64_t area = area_of(out);
    if (area < 0) {
        sp_primitive copy = *out;
        out->x[1] = copy.x[2];
        out->y[1] = copy.y[2];
        out->key[1] = copy.key[2];
        out->x[2] = copy.x[1];
        out->y[2] = copy.y[1];
        out->key[2] = copy.key[1];
    }
    return area != 0;
}

int sp_primitive_triangle(const sp_view *view, int64_t width, int64_t height, const double *const corner[3],
                          sp_primitive *out)
{
    double polygon[3 + PLANES][3];
    int sides = 3;

    for (int i = 0; i < 3; i++)
        memcpy(polygon[i], corner[i], sizeof polygon[i]);

    if (!inside_all(view, corner[0]) || !inside_all(view, corner[1]) || !inside_all(view, corner[2]))
        sides = clip_polygon(view, polygon, 3);
    if (sides < 3)
        return 0;

    /* A fan of triangles from the first corner */
    int count = 0;
    screen_point point[3] = {to_screen(view, polygon[0]), to_screen(view, polygon[1])};
    for (int i = 2; i < sides; i++) {
        point[2] = to_screen(view, polygon[i]);
        count += emit(view, width, height, point, out + count);
        point[1] = point[2];
    }
    return count;
}

/* Moves the line nearer to the eye by three pixels in metres, so that the adjacent surfaces do not hide half of it
 * unless they are steeper than about 80 degrees. */
static double line_key(const sp_view *view, double key)
{
    return view->perspective ? key / (1 - fmin(0.5, 3 / view->scale)) : key + 3 / view->scale;
}

int sp_primitive_line(const sp_view *view, int64_t width, int64_t height, const double a[3], const double b[3],
                      sp_primitive *out)
{
    double end[2][3];
    memcpy(end[0], a, sizeof end[0]);
    memcpy(end[1], b, sizeof end[1]);

    for (int plane = 0; plane < PLANES; plane++) {
        double distance[2] = {plane_distance(view, plane, end[0]), plane_distance(view, plane, end[1])};
        if (!(distance[0] >= 0) && !(distance[1] >= 0))
            return 0;
        for (int i = 0; i < 2; i++)
            if (!(distance[i] >= 0))
                cut(end[1 - i], end[i], distance[1 - i], distance[i], end[i]);
    }

    screen_point from = to_screen(view, end[0]), to = to_screen(view, end[1]);
    double length = hypot(to.x - from.x, to.y - from.y);
    if (!(length > 0))
        return 0;
    /* One pixel wide up to 800 rows, then proportional to the picture, so that a figure looks the same at any size. */
    double half = 0.5 * view->samples * fmax(1, (double)height / 800);
    double dx = half * (to.x - from.x) / length, dy = half * (to.y - from.y) / length;

    /* A line is two triangles, which meet the same depths as the surface. */
    screen_point quad[4] = {{from.x - dx - dy, from.y - dy + dx, line_key(view, from.key)},
                            {from.x - dx + dy, from.y - dy - dx, line_key(view, from.key)},
                            {to.x + dx + dy, to.y + dy - dx, line_key(view, to.key)},
                            {to.x + dx - dy, to.y + dy + dx, line_key(view, to.key)}};
    int count = emit(view, width, height, quad, out);
    quad[1] = quad[0];
    count += emit(view, width, height, quad + 1, out + count);
    return count;
}

int sp_sample_rank(int samples, int64_t row, int64_t column)
{
    static const uint8_t one[4] = {0, 2, 3, 1}, two[4] = {0, 1, 2, 3}, three[9] = {0, 4, 2, 6, 8, 7, 3, 5, 1},
                         four[16] = {0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 15, 9, 1, 7, 13, 5};
    static const uint8_t *const ranks[4] = {one, two, three, four};
    const int period = samples > 1 ? samples : 2;

    return ranks[samples - 1][row % period * period + column % period];
}

int sp_sample_cover(int samples, float transparency)
{
    const int count = samples > 1 ? samples * samples : 4, cover = (int)lrintf((1 - transparency) * (float)count);
    return transparency > 0 && cover < count ? (cover > 0 ? cover : 1) : 0;
}

void sp_band_clear(sp_band *band)
{
    int64_t count = band->rows * band->columns;
    for (int64_t i = 0; i < count; i++) {
        band->key[i] = -INFINITY;
        band->visible[i] = -1;
    }
    memset(band->line, 0, (size_t)count);
}

/* Edge k runs from corner k to corner k + 1: its value at column 0 of a row, the step per column, and the least value
 * inside: 0 on top and left edges, which belong to the triangle, 1 on the others. */
typedef struct edge {
    int64_t dx, dy, x, y, least;
} edge;

static int64_t edge_at(const edge *e, int64_t px, int64_t py)
{
    return e->dx * (py - e->y) - e->dy * (px - e->x);
}

/* Narrows the columns [first, last] of a row to those inside of the edge. */
static void narrow(const edge *e, int64_t row_y, int64_t *first, int64_t *last)
{
    int64_t step = -e->dy * ONE, value = edge_at(e, HALF, row_y) - e->least;
    if (step > 0) {
        int64_t from = ceil_divide(-value, step);
        *first = from > *first ? from : *first;
    } else if (step < 0) {
        int64_t to = floor_divide(value, -step);
        *last = to < *last ? to : *last;
    } else if (value < 0) {
        *last = *first - 1;
    }
}

void sp_band_draw(sp_band *band, const sp_primitive *p, int32_t number)
{
    int64_t row, last_row, left, right;
    sample_range(p->y, band->first + band->rows, &row, &last_row);
    sample_range(p->x, band->columns, &left, &right);

    row = row < band->first ? band->first : row;
    edge edges[3];

    /* Of two triangles that share an edge one has the samples on it: `least` is 0 on one side and 1 on the other. */
    for (int k = 0; k < 3; k++) {
        int n = (k + 1) % 3;
        edges[k] =
            (edge){.dx = (int64_t)p->x[n] - p->x[k], .dy = (int64_t)p->y[n] - p->y[k], .x = p->x[k], .y = p->y[k]};
        edges[k].least = !(edges[k].dy < 0 || (edges[k].dy == 0 && edges[k].dx > 0));
    }
    /* Corner 1 is weighted by the edge 2 → 0 and corner 2 by the edge 0 → 1. */
    double area = (double)area_of(p);
    double weight1 = (p->key[1] - p->key[0]) / area, weight2 = (p->key[2] - p->key[0]) / area;
    double step = -ONE * ((double)edges[2].dy * weight1 + (double)edges[0].dy * weight2);

    for (; row <= last_row; row++) {
        int64_t first = left, last = right, y = row * ONE + HALF;
        for (int k = 0; k < 3; k++)
            narrow(edges + k, y, &first, &last);
        if (first > last)
            continue;

        int64_t x = first * ONE + HALF, at = (row - band->first) * band->columns + first;
        double start = p->key[0] + (double)edge_at(edges + 2, x, y) * weight1 + (double)edge_at(edges, x, y) * weight2;
        double *key = band->key + at;

        /* Lines are drawn over what is not nearer than they are. */
        if (p->triangle < 0) {
            for (int64_t i = 0; i <= last - first; i++)
                if (start + (double)i * step >= key[i])
                    band->line[at + i] = 1;
            continue;
        }

        int32_t *visible = band->visible + at;
        for (int64_t i = 0; i <= last - first; i++) {
            double value = start + (double)i * step;
            if (value > key[i] && (p->cover == 0 || sp_sample_rank(band->samples, row, first + i) < p->cover)) {
                key[i] = value;
                visible[i] = number;
            }
        }
    }
}
