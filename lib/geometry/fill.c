#include "geometry/fill.h"

#include <math.h>

#include "geometry/edges.h"
#include "geometry/morton.h"
#include "geometry/winding.h"

/* The accuracy parameter of the fast winding number (winding.h) and its assumed error near ½. The largest error
 * observed is below 0.01 for 2, and near 1e-3 for 4, so that values within 0.1 of an integer are rounded to it. */
static const double OPEN_ACCURACY = 2, OPEN_ERROR = 0.02, CLOSED_ACCURACY = 4, CLOSED_ERROR = 0.1;

static const double PIECE_VOXELS = 2, MAX_PIECES = 1e6;

enum { GROUP = 8, CHUNK = 64 };

/* Bounds of |∇w|. The gradient of the winding number depends on the boundary of the surface only (Biot & Savart: 4π ∇w
 * = ∮ r × dl / |r|³), so that each piece of an open edge adds at most length/(4π d²), with d its distance. Pieces are a
 * few voxels long, because the box of a long edge is a poor bound. They are sorted by Morton code in a tree with GROUP
 * children per node; on every level all nodes but the last are full. */
typedef struct bound_node {
    double low[3], high[3], length;
} bound_node;

typedef struct bound_tree {
    int levels;
    int64_t count[24]; /* number of nodes in a level; the pieces are level 0 */
    bound_node *node[24];
} bound_tree;

/* Divides an edge from a to b, which is open `times` times, into n pieces. */
static void cut_edge(const double *a, const double *b, double times, int64_t n, bound_node *pieces)
{
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int k = 0; k < 3; k++) {
            const double from = a[k] + (b[k] - a[k]) * ((double)i / (double)n);
            const double to = i + 1 < n ? a[k] + (b[k] - a[k]) * ((double)(i + 1) / (double)n) : b[k];
            pieces[i].low[k] = from < to ? from : to;
            pieces[i].high[k] = from < to ? to : from;
            square += (to - from) * (to - from);
        }
        pieces[i].length = sqrt(square) * times;
    }
}

static int bound_tree_new(sp_context *context, sp_pool *pool, const sp_surface *surface, double spacing,
                          bound_tree *tree)
{
    int64_t use_count, open_count = 0, count = 0;
    double total = 0;
    sp_edge_use *uses =
        sp_edge_uses(pool, surface->vertex_count, surface->triangle_count, surface->triangles, NULL, &use_count);
    double *length = sp_pool_raw(pool, use_count, sizeof *length);
    double *times = sp_pool_raw(pool, use_count, sizeof *times);
    SP_PASS(sp_allocated(context, !pool->failed));

    /* An edge is open as many times as its uses in one direction outnumber those in the other. Closed edges cancel
     * in the boundary of the surface. */
    for (int64_t i = 0, end; i < use_count; i = end) {
        int64_t sum = 0;
        end = sp_edge_end(uses, use_count, i);
        for (int64_t j = i; j < end; j++)
            sum += sp_edge_direction(&uses[j], surface->triangles);
        if (sum == 0)
            continue;

        const double *a = surface->vertices + 3 * uses[i].low, *b = surface->vertices + 3 * uses[i].high;
        uses[open_count] = uses[i]; /* moves the open edges to the front */
        times[open_count] = fabs((double)sum);
        length[open_count] = hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]);
        total += length[open_count++];
    }

    /* Pieces are a few voxels long, or longer where that would make more than about MAX_PIECES. */
    const double piece = fmax(PIECE_VOXELS * spacing, total / MAX_PIECES);
    for (int64_t i = 0; i < open_count; i++)
        count += 1 + (int64_t)(length[i] / piece);
    bound_node *edges = sp_pool_raw(pool, count, sizeof *edges), *sorted = sp_pool_raw(pool, count, sizeof *sorted);
    double *centre = sp_pool_raw(pool, 3 * count, sizeof *centre);
    SP_PASS(sp_allocated(context, !pool->failed));

    for (int64_t i = 0, at = 0; i < open_count; i++) {
        const int64_t n = 1 + (int64_t)(length[i] / piece);
        cut_edge(surface->vertices + 3 * uses[i].low, surface->vertices + 3 * uses[i].high, times[i], n, edges + at);
        at += n;
    }

    /* Pieces along a Morton curve */
    for (int64_t i = 0; i < 3 * count; i++)
        centre[i] = 0.5 * (edges[i / 3].low[i % 3] + edges[i / 3].high[i % 3]);
    sp_morton *order = sp_morton_order(pool, count, centre);
    SP_PASS(sp_allocated(context, order));

    for (int64_t i = 0; i < count; i++)
        sorted[i] = edges[order[i].index];

    /* Boxes and total lengths of GROUP neighbours, level by level up to one root */
    *tree = (bound_tree){.levels = 1, .count = {count}, .node = {sorted}};
    while (tree->count[tree->levels - 1] > 1) {
        const int64_t below = tree->count[tree->levels - 1], n = (below + GROUP - 1) / GROUP;
        const bound_node *child = tree->node[tree->levels - 1];
        bound_node *node = sp_pool_raw(pool, n, sizeof *node);
        SP_PASS(sp_allocated(context, node));
        for (int64_t i = 0; i < below; i++) {
            bound_node *to = &node[i / GROUP];
            if (i % GROUP == 0)
                *to = child[i];
            else
                to->length += child[i].length;
            for (int k = 0; k < 3; k++) {
                to->low[k] = fmin(to->low[k], child[i].low[k]);
                to->high[k] = fmax(to->high[k], child[i].high[k]);
            }
        }
        tree->node[tree->levels] = node;
        tree->count[tree->levels++] = n;
    }

    sp_pool_drop(pool, uses);
    sp_pool_drop(pool, edges);
    return SP_OK;
}

/* Adds to *sum the bound of 4π |∇w| over the box from node i of a level. Stops and returns false above the limit. */
static bool add_bound(const bound_tree *tree, int level, int64_t i, const double low[3], const double high[3],
                      double limit, double *sum)
{
    const bound_node *node = &tree->node[level][i];
    double square = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        const double after = node->low[k] - high[k], before = low[k] - node->high[k],
                     side = node->high[k] - node->low[k];
        const double gap = after > 0 ? after : before > 0 ? before : 0;
        square += gap * gap;
        size += side * side;
    }

    /* A node is opened if it is large compared to its distance from the box. */
    if (level == 0 || square > size) {
        *sum += node->length / square; /* infinite if an edge may intersect the box */
        return *sum <= limit;
    }

    const int64_t end = (i + 1) * GROUP < tree->count[level - 1] ? (i + 1) * GROUP : tree->count[level - 1];
    for (int64_t child = i * GROUP; child < end; child++)
        if (!add_bound(tree, level - 1, child, low, high, limit, sum))
            return false;
    return true;
}

typedef struct open_fill {
    const sp_grid *grid;
    const sp_winding *winding;
    const bound_tree *tree;
    uint64_t *bits;
} open_fill;

/* Decides cells first … last of a row. No triangle intersects them, so that w is smooth on the segment of their
 * centres: the value in the middle and the bound of its gradient often decide many cells at once. Returns the number of
 * cells inside. */
static int64_t decide(const open_fill *fill, int64_t y, int64_t z, int64_t first, int64_t last)
{
    const double pi = 3.14159265358979323846;
    int64_t inside = 0;
    while (first <= last) {
        const int64_t middle = first + (last - first) / 2;
        int64_t begin = middle, end = middle;
        double low[3], high[3], centre[3];
        sp_grid_centre(fill->grid, first, y, z, low);
        sp_grid_centre(fill->grid, last, y, z, high);
        sp_grid_centre(fill->grid, middle, y, z, centre);

        const double w = sp_winding_number(fill->winding, centre, OPEN_ACCURACY);
        const double margin = fabs(w - 0.5) - OPEN_ERROR;

        /* |w(x) − w(middle)| ≤ |∇w| |x − middle|: how far from the middle no cell can reach ½ */
        if (last > first && margin > 0) {
            /* Above this gradient not even the next cell would be decided. */
            const double limit = 4 * pi * margin / fill->grid->spacing;
            double sum = 0;
            if (fill->tree->count[0] == 0 || add_bound(fill->tree, fill->tree->levels - 1, 0, low, high, limit, &sum)) {
                const double reach = limit / sum;
                begin = reach >= (double)(middle - first) ? first : middle - (int64_t)reach;
                end = reach >= (double)(last - middle) ? last : middle + (int64_t)reach;
            }
        }

        if (margin > 0 ? w >= 0.5 : sp_winding_inside(fill->winding, centre)) {
            sp_grid_span_set(fill->grid, fill->bits, z * fill->grid->cells[1] + y, begin, end, true);
            inside += end - begin + 1;
        }

        /* What is left before and behind the cells that were decided */
        inside += begin > first ? decide(fill, y, z, first, begin - 1) : 0;
        first = end + 1;
    }
    return inside;
}

static int fill_open(sp_context *context, const sp_grid *grid, const sp_surface *surface, const sp_winding *winding,
                     const sp_runs *runs, uint64_t *bits, int64_t *filled)
{
    const int64_t rows = sp_grid_rows(grid), chunks = (rows + CHUNK - 1) / CHUNK;
    sp_pool pool = {0};
    bound_tree tree;
    int64_t total = 0;
    int status = bound_tree_new(context, &pool, surface, grid->spacing, &tree);

    if (status == SP_OK) {
        const open_fill fill = {grid, winding, &tree, bits};
#pragma omp parallel for schedule(dynamic) num_threads(context->threads) reduction(+ : total)
        for (int64_t chunk = 0; chunk < chunks; chunk++) {
            if (context->cancel && *context->cancel)
                continue;
            for (int64_t row = chunk * CHUNK; row < rows && row < (chunk + 1) * CHUNK; row++)
                for (int64_t r = runs->start[row]; r < runs->start[row + 1]; r++)
                    total += decide(&fill, row % grid->cells[1], row / grid->cells[1], runs->first[r], runs->last[r]);
        }
        *filled = total;
    }
    sp_pool_free(&pool);
    return status;
}

/* Decides components of empty cells. No triangle passes between two of their centres, so that the winding number, an
 * integer, is constant in each; outside the box of a closed surface it is 0. */
static int fill_closed(sp_context *context, const sp_grid *grid, const sp_surface *surface, const sp_winding *winding,
                       sp_runs *runs, uint64_t *bits, int64_t *filled)
{
    const int64_t rows = sp_grid_rows(grid), height = grid->cells[1], count = runs->start[rows];
    int status = SP_OK;
    sp_pool pool = {0};
    int64_t *row_of = sp_pool_raw(&pool, count, sizeof *row_of);
    int64_t *tested = sp_pool_raw(&pool, count, sizeof *tested), tested_count = 0;
    uint8_t *outside = sp_pool_new(&pool, count, 1); /* stored at roots */
    uint8_t *inside = sp_pool_new(&pool, count, 1);

    SP_TRY(sp_allocated(context, !pool.failed));

    sp_runs_join(grid, runs, false);
    double low[3], high[3];
    sp_surface_box(surface, low, high);

    /* Components that leave the box of the surface are outside. */
    for (int64_t row = 0; row < rows; row++)
        for (int64_t r = runs->start[row]; r < runs->start[row + 1]; r++) {
            double a[3], b[3];
            sp_grid_centre(grid, runs->first[r], row % height, row / height, a);
            sp_grid_centre(grid, runs->last[r], row % height, row / height, b);
            row_of[r] = row;
            if (a[0] < low[0] || b[0] > high[0] || a[1] < low[1] || a[1] > high[1] || a[2] < low[2] || a[2] > high[2])
                outside[runs->root[r]] = 1;
        }

    /* One test at the root of each other component. A value between two integers tells that the expansion is too
     * coarse there, and the exact sum decides. */
    for (int64_t r = 0; r < count; r++)
        if (runs->root[r] == r && !outside[r])
            tested[tested_count++] = r;
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
    for (int64_t i = 0; i < tested_count; i++) {
        const int64_t r = tested[i];
        double centre[3];
        sp_grid_centre(grid, (runs->first[r] + runs->last[r]) / 2, row_of[r] % height, row_of[r] / height, centre);
        double w = sp_winding_number(winding, centre, CLOSED_ACCURACY);
        if (fabs(w - rint(w)) > CLOSED_ERROR)
            w = sp_winding_number(winding, centre, 0);
        inside[r] = w >= 0.5;
    }

    for (int64_t r = 0; r < count; r++) {
        if (!inside[runs->root[r]])
            continue;
        sp_grid_span_set(grid, bits, row_of[r], runs->first[r], runs->last[r], true);
        *filled += runs->last[r] - runs->first[r] + 1;
    }
done:
    sp_pool_free(&pool);
    return status;
}

int sp_fill(sp_context *context, const sp_grid *grid, const sp_surface *oriented, bool closed, uint64_t *bits,
            int64_t *filled)
{
    int status;
    sp_pool pool = {0};
    sp_runs runs;
    sp_winding *winding = NULL;
    *filled = 0;

    SP_TRY(sp_runs_find(context, &pool, grid, bits, false, &runs));
    SP_TRY(sp_winding_new(context, oriented, &winding));

    if (oriented->triangle_count == 0)
        status = SP_OK; /* a surface with degenerate triangles only has no inside */
    else if (closed)
        status = fill_closed(context, grid, oriented, winding, &runs, bits, filled);
    else
        status = fill_open(context, grid, oriented, winding, &runs, bits, filled);
done:
    sp_winding_free(winding);
    sp_pool_free(&pool);
    return status;
}
