#include "pointshell/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/vec3.h"
#include "geometry/grid.h"
#include "geometry/morton.h"

enum { HALVINGS = 40 };

/* Largest number of points of one generator: more would exceed the 32-bit numbers of a tree's nodes. */
static const int64_t MOST = 100000000;

static const double *corner(const sp_surface *surface, int64_t triangle, int c)
{
    return surface->vertices + 3 * surface->triangles[3 * triangle + c];
}

static double triangle_area(const sp_surface *surface, int64_t t)
{
    const double *a = corner(surface, t, 0), *b = corner(surface, t, 1), *c = corner(surface, t, 2);
    double square = 0;

    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        const double n = (b[l] - a[l]) * (c[m] - a[m]) - (b[m] - a[m]) * (c[l] - a[l]);
        square += n * n;
    }
    return 0.5 * sqrt(square);
}

int sp_area_new(sp_context *context, const sp_surface *surface, sp_area *area)
{
    const int64_t n = surface->triangle_count;
    sp_pool pool = {0};

    *area = (sp_area){.surface = surface, .count = n};
    area->triangle = sp_pool_raw(&area->pool, n, sizeof *area->triangle);
    area->start = sp_pool_raw(&area->pool, n + 1, sizeof *area->start);
    double *middle = sp_pool_raw(&pool, 3 * n, sizeof *middle);

    if (middle)
        for (int64_t i = 0; i < 3 * n; i++)
            middle[i] = (corner(surface, i / 3, 0)[i % 3] + corner(surface, i / 3, 1)[i % 3] +
                         corner(surface, i / 3, 2)[i % 3]) /
                        3;

    /* Along a space-filling curve, even steps in area give points that are spread evenly over the surface. */
    const sp_morton *order = middle ? sp_morton_order(&pool, n, middle) : NULL;
    if (area->pool.failed || pool.failed) {
        sp_pool_free(&pool);
        sp_area_free(area);
        return sp_fail_memory(context);
    }

    area->start[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        area->triangle[i] = order[i].index;
        area->start[i + 1] = area->start[i] + triangle_area(surface, order[i].index);
    }

    sp_pool_free(&pool);
    if (!(area->start[n] > 0 && isfinite(area->start[n]))) {
        const double total = area->start[n];
        sp_area_free(area);
        return sp_fail(context, SP_INPUT, "the surface has an area of %g m2", total);
    }
    return SP_OK;
}

void sp_area_free(sp_area *area)
{
    sp_pool_free(&area->pool);
    *area = (sp_area){0};
}

void sp_area_point(const sp_area *area, double t, double point[3])
{
    /* Triangles follow each other along a Morton curve, so that near parameters are near on the surface. */
    const double at = t * sp_area_total(area);
    int64_t low = 0, high = area->count; /* start[low] ≤ at < start[high], up to rounding */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(area->start[middle] <= at ? &low : &high) = middle;
    }

    const double size = area->start[low + 1] - area->start[low];
    double f = size > 0 ? fmin(fmax((at - area->start[low]) / size, 0), 1 - 1e-15) : 0.5, x[3][3];
    for (int c = 0; c < 3; c++)
        memcpy(x[c], corner(area->surface, area->triangle[low], c), sizeof x[c]);
    for (int i = 0; i < HALVINGS; i++) {
        /* Across the longest side, so that pieces do not become slivers; a is the corner that both halves keep. */
        const double ab = sp_distance_squared3(x[0], x[1]), bc = sp_distance_squared3(x[1], x[2]),
                     ca = sp_distance_squared3(x[2], x[0]);
        const int a = bc >= ab && bc >= ca ? 0 : ca >= ab ? 1 : 2, b = (a + 1) % 3, c = (a + 2) % 3;

        f *= 2;
        const int keep = f < 1 ? b : c, give = f < 1 ? c : b;
        f -= f < 1 ? 0 : 1;
        for (int k = 0; k < 3; k++)
            x[give][k] = 0.5 * (x[keep][k] + x[give][k]);
    }

    for (int k = 0; k < 3; k++)
        point[k] = (x[0][k] + x[1][k] + x[2][k]) / 3;
}

int sp_sample_vertices(sp_context *context, const sp_surface *surface, sp_list *points)
{
    int status = SP_OK;
    sp_pool pool = {0};
    uint8_t *used = sp_pool_new(&pool, surface->vertex_count, 1);
    int64_t kept = 0;
    const int64_t first = points->count;

    SP_PASS(sp_allocated(context, used));
    for (int64_t i = 0; i < 3 * surface->triangle_count; i++)
        used[surface->triangles[i]] = 1;

    for (int64_t v = 0; v < surface->vertex_count; v++) {
        if (!used[v])
            continue;
        double *x = sp_list_add(points, 1, 3 * sizeof *x);
        SP_TRY(sp_allocated(context, x));
        memcpy(x, surface->vertices + 3 * v, 3 * sizeof *x);
    }

    /* Equal positions count once. */
    double *all = (double *)points->data + 3 * first;
    qsort(all, (size_t)(points->count - first), 3 * sizeof *all, sp_compare3);
    for (int64_t i = 0; i < points->count - first; i++)
        if (kept == 0 || sp_compare3(all + 3 * (kept - 1), all + 3 * i))
            memmove(all + 3 * kept++, all + 3 * i, 3 * sizeof *all);
    points->count = first + kept;
done:
    sp_pool_free(&pool);
    return status;
}

/* margin: number of additional cells along each axis beyond those of the box. */
static int place_grid(sp_context *context, const sp_surface *surface, int64_t cells, int64_t margin, sp_grid *grid)
{
    double low[3], high[3], longest = 0;

    sp_surface_box(surface, low, high);
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, high[k] - low[k]);

    *grid = (sp_grid){.spacing = longest / (double)cells};
    for (int k = 0; k < 3; k++) {
        grid->cells[k] =
            (int64_t)fmin(fmax(ceil((high[k] - low[k]) / grid->spacing - 1e-9), 1 - (double)margin), (double)cells) +
            margin;
        grid->origin[k] = low[k] + 0.5 * (high[k] - low[k]) - 0.5 * grid->spacing * (double)grid->cells[k];
    }

    grid->words = (grid->cells[0] + 63) / 64;
    if ((double)sp_grid_rows(grid) * (double)grid->words > 1e9)
        return sp_fail(context, SP_INPUT, "a grid of %lld x %lld x %lld cells is too large", (long long)grid->cells[0],
                       (long long)grid->cells[1], (long long)grid->cells[2]);
    return SP_OK;
}

static void in_grid(const sp_grid *grid, const sp_surface *surface, int64_t t, double corners[9])
{
    for (int c = 0; c < 9; c++)
        corners[c] = (corner(surface, t, c / 3)[c % 3] - grid->origin[c % 3]) / grid->spacing;
}

int sp_sample_voxels(sp_context *context, const sp_surface *surface, int64_t cells, sp_list *points)
{
    int status;
    sp_pool pool = {0};
    sp_grid grid;
    /* A margin of one cell, so that a face of a box is in the middle of a layer and does not touch two. */
    SP_TRY(place_grid(context, surface, cells, 1, &grid));

    uint64_t *bits = sp_grid_bits(&pool, &grid);

    if (bits)
        for (int64_t t = 0; t < surface->triangle_count; t++) {
            double corners[9];
            in_grid(&grid, surface, t, corners);
            sp_grid_triangle(&grid, corners, 0, grid.cells[2], sp_grid_mark, &(sp_grid_marks){&grid, bits});
        }

    for (int64_t row = 0; row < sp_grid_rows(&grid) && !pool.failed; row++)
        for (int64_t x = 0; x < grid.cells[0]; x++) {
            if (!sp_grid_test(&grid, bits, x, row))
                continue;
            double *centre = points->count < MOST ? sp_list_add(points, 1, 3 * sizeof *centre) : NULL;
            if (!centre) {
                pool.failed = true;
                break;
            }
            sp_grid_centre(&grid, x, row % grid.cells[1], row / grid.cells[1], centre);
        }

    status = !pool.failed            ? SP_OK
             : points->count == MOST ? sp_fail(context, SP_INPUT, "%lld cells give more than %lld points",
                                               (long long)cells, (long long)MOST)
                                     : sp_fail_memory(context);
done:
    sp_pool_free(&pool);
    return status;
}

/* The intersection of a line with a triangle. */
typedef struct hit {
    int64_t line; /* (axis · cells + v) · cells + u */
    double depth; /* in cells, along the axis */
} hit;

static int compare_hits(const void *a, const void *b)
{
    const hit *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

/* The lines along `axis` through a triangle [3, 3] in cells. A line through a side counts for both triangles on it;
 * double hits are joined later. */
static bool intersect_lines(const sp_grid *grid, int64_t most, const double x[9], int axis, sp_list *hits)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;

    const double e[2] = {x[3 + u] - x[u], x[3 + v] - x[v]}, f[2] = {x[6 + u] - x[u], x[6 + v] - x[v]},
                 area = e[0] * f[1] - e[1] * f[0];
    if (!(fabs(area) > 1e-12 * (e[0] * e[0] + e[1] * e[1] + f[0] * f[0] + f[1] * f[1])))
        return true; /* the triangle is parallel to the lines */

    /* Centres of cells in the box of the triangle */
    const double low[2] = {fmin(x[u], fmin(x[3 + u], x[6 + u])), fmin(x[v], fmin(x[3 + v], x[6 + v]))};
    const double high[2] = {fmax(x[u], fmax(x[3 + u], x[6 + u])), fmax(x[v], fmax(x[3 + v], x[6 + v]))};
    for (int64_t j = (int64_t)fmax(ceil(low[1] - 0.5), 0); j < grid->cells[v] && (double)j + 0.5 <= high[1]; j++)
        for (int64_t i = (int64_t)fmax(ceil(low[0] - 0.5), 0); i < grid->cells[u] && (double)i + 0.5 <= high[0]; i++) {
            const double p[2] = {(double)i + 0.5 - x[u], (double)j + 0.5 - x[v]};
            const double s = (p[0] * f[1] - p[1] * f[0]) / area, t = (e[0] * p[1] - e[1] * p[0]) / area;
            if (s < 0 || t < 0 || s + t > 1)
                continue;

            hit *to = hits->count < 2 * MOST ? sp_list_add(hits, 1, sizeof *to) : NULL;
            if (!to)
                return false;
            *to = (hit){(axis * most + j) * most + i,
                        x[axis] + s * (x[3 + axis] - x[axis]) + t * (x[6 + axis] - x[axis])};
        }
    return true;
}

int sp_sample_depth(sp_context *context, const sp_surface *surface, int64_t cells, sp_list *points)
{
    int status;
    sp_grid grid;
    sp_list hits = {0};
    const int64_t most = cells + 2;
    SP_TRY(place_grid(context, surface, cells, 0, &grid));

    for (int64_t t = 0; t < surface->triangle_count; t++) {
        double corners[9];
        in_grid(&grid, surface, t, corners);
        for (int axis = 0; axis < 3; axis++)
            if (!intersect_lines(&grid, most, corners, axis, &hits)) {
                status = hits.count == 2 * MOST ? sp_fail(context, SP_INPUT, "%lld cells give more than %lld points",
                                                          (long long)cells, (long long)MOST)
                                                : sp_fail_memory(context);
                goto done;
            }
    }

    hit *all = hits.data;
    if (hits.count > 0)
        qsort(all, (size_t)hits.count, sizeof *all, compare_hits);

    /* Hits of one line at the same depth are those of triangles with a common side. */
    for (int64_t i = 0; i < hits.count; i++) {
        if (i > 0 && all[i].line == all[i - 1].line && all[i].depth - all[i - 1].depth <= 1e-9 * (double)cells)
            continue;
        double *x = sp_list_add(points, 1, 3 * sizeof *x);
        SP_TRY(sp_allocated(context, x));

        const int axis = (int)(all[i].line / (most * most)), u = (axis + 1) % 3, v = (axis + 2) % 3;
        x[axis] = grid.origin[axis] + grid.spacing * all[i].depth;
        x[u] = grid.origin[u] + grid.spacing * ((double)(all[i].line % most) + 0.5);
        x[v] = grid.origin[v] + grid.spacing * ((double)(all[i].line / most % most) + 0.5);
    }
    status = SP_OK;
done:
    sp_list_free(&hits);
    return status;
}
