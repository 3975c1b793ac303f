#include "geometry/grid.h"

#include <math.h>

#include "base/forest.h"
#include "base/vec3.h"

uint64_t *sp_grid_bits(sp_pool *pool, const sp_grid *grid)
{
    return sp_pool_new(pool, sp_grid_rows(grid) * grid->words, sizeof(uint64_t));
}

void sp_grid_span_set(const sp_grid *grid, uint64_t *bits, int64_t row, int64_t first, int64_t last, bool value)
{
    uint64_t *word = bits + row * grid->words;
    for (int64_t w = first >> 6; w <= last >> 6; w++) {
        uint64_t mask = ~(uint64_t)0;
        if (w == first >> 6)
            mask &= ~(uint64_t)0 << (first & 63);
        if (w == last >> 6)
            mask &= ~(uint64_t)0 >> (63 - (last & 63));
        word[w] = value ? word[w] | mask : word[w] & ~mask;
    }
}

int64_t *sp_grid_ranks(sp_pool *pool, const sp_grid *grid, const uint64_t *bits)
{
    const int64_t rows = sp_grid_rows(grid);
    int64_t *rank = sp_pool_raw(pool, rows + 1, sizeof *rank);
    if (!rank)
        return NULL;

    int64_t count = 0;
    for (int64_t row = 0; row < rows; row++) {
        rank[row] = count;
        for (int64_t w = 0; w < grid->words; w++)
            count += __builtin_popcountll(bits[row * grid->words + w]);
    }
    rank[rows] = count;
    return rank;
}

int64_t sp_grid_number(const sp_grid *grid, const uint64_t *bits, const int64_t *rank, int64_t x, int64_t row)
{
    const uint64_t *word = bits + row * grid->words;
    int64_t number = rank[row];
    for (int64_t w = 0; w < x >> 6; w++)
        number += __builtin_popcountll(word[w]);

    return number + __builtin_popcountll(word[x >> 6] & (((uint64_t)1 << (x & 63)) - 1));
}

/* The first x ≥ from whose bit is `value`; `cells` if there is none. */
static int64_t next_cell(const uint64_t *word, int64_t cells, int64_t from, bool value)
{
    while (from < cells) {
        /* Bits that differ from `value` become 0, and those before `from` leave the word. */
        uint64_t bits = (value ? word[from >> 6] : ~word[from >> 6]) >> (from & 63);
        if (bits) {
            from += __builtin_ctzll(bits);
            return from < cells ? from : cells;
        }
        from = (from | 63) + 1;
    }
    return cells;
}

int sp_runs_find(sp_context *context, sp_pool *pool, const sp_grid *grid, const uint64_t *bits, bool value,
                 sp_runs *runs)
{
    const int64_t rows = sp_grid_rows(grid), cells = grid->cells[0];
    runs->start = sp_pool_raw(pool, rows + 1, sizeof *runs->start);
    SP_PASS(sp_allocated(context, runs->start));

    for (int pass = 0; pass < 2; pass++) { /* count, then write */
        int64_t count = 0;
        for (int64_t row = 0; row < rows; row++) {
            const uint64_t *word = bits + row * grid->words;
            runs->start[row] = count;
            for (int64_t x = next_cell(word, cells, 0, value), end; x < cells; x = next_cell(word, cells, end, value)) {
                end = next_cell(word, cells, x, !value);
                if (pass == 1) {
                    runs->first[count] = (int32_t)x;
                    runs->last[count] = (int32_t)(end - 1);
                }
                count++;
            }
        }
        runs->start[rows] = count;
        if (pass == 1)
            break;
        runs->first = sp_pool_raw(pool, count, sizeof *runs->first);
        runs->last = sp_pool_raw(pool, count, sizeof *runs->last);
        runs->root = sp_pool_raw(pool, count, sizeof *runs->root);
        SP_PASS(sp_allocated(context, !pool->failed));
    }

    for (int64_t r = 0; r < runs->start[rows]; r++)
        runs->root[r] = r;
    return SP_OK;
}

/* Joins the runs of two rows that overlap when one is extended by `reach` cells at both ends. */
static void join_rows(sp_runs *runs, int64_t row, int64_t other, int32_t reach)
{
    int64_t a = runs->start[row], b = runs->start[other];

    while (a < runs->start[row + 1] && b < runs->start[other + 1]) {
        if (runs->first[a] <= runs->last[b] + reach && runs->first[b] <= runs->last[a] + reach)
            sp_forest_join(runs->root, a, b);

        /* The run that ends first cannot meet a further run of the other row. */
        if (runs->last[a] < runs->last[b])
            a++;
        else
            b++;
    }
}

void sp_runs_join(const sp_grid *grid, sp_runs *runs, bool corners)
{
    const int64_t height = grid->cells[1], rows = sp_grid_rows(grid);

    /* Only rows that precede this one: those behind it join it in their turn. Rows beside each other touch along
     * faces in y or z alone, diagonal ones only at corners. */
    for (int64_t row = 0; row < rows; row++) {
        int64_t y = row % height, z = row / height;
        if (y > 0)
            join_rows(runs, row, row - 1, corners);
        if (z > 0)
            join_rows(runs, row, row - height, corners);
        if (corners && z > 0 && y > 0)
            join_rows(runs, row, row - height - 1, 1);
        if (corners && z > 0 && y + 1 < height)
            join_rows(runs, row, row - height + 1, 1);
    }

    for (int64_t r = 0; r < runs->start[rows]; r++)
        runs->root[r] = sp_forest_root(runs->root, r);
}

/* An axis of the separating-axis test that lies in a plane of two coordinates (or is the triangle's normal). It does
 * not separate cubes with centre c if low ≤ n·c ≤ high. */
typedef struct axis {
    double n[3], low, high;
} axis;

static const double HALF = 0.5 + 1e-9; /* of a cube's side */

static axis axis_of(const double n[3], const double corners[9])
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 3; i++) {
        double along = n[0] * corners[3 * i] + n[1] * corners[3 * i + 1] + n[2] * corners[3 * i + 2];
        low = along < low ? along : low;
        high = along > high ? along : high;
    }

    double reach = HALF * (fabs(n[0]) + fabs(n[1]) + fabs(n[2]));
    return (axis){{n[0], n[1], n[2]}, low - reach, high + reach};
}

typedef struct interval {
    double low, high;
} interval;

/* Narrows the interval of a centre's coordinate k, if the other coordinates contribute `rest` to n·c. */
static interval narrow(interval range, const axis *by, int k, double rest)
{
    const double n = by->n[k];
    if (n == 0) {
        if (rest < by->low || rest > by->high)
            range.high = -INFINITY;
        return range;
    }

    double a = (by->low - rest) / n, b = (by->high - rest) / n;
    double low = n > 0 ? a : b, high = n > 0 ? b : a;
    range.low = low > range.low ? low : range.low;
    range.high = high < range.high ? high : range.high;
    return range;
}

/* The cells whose centres lie in the interval, clamped to begin ≤ cell < end. */
static void cells_of(interval range, int64_t begin, int64_t end, int64_t *first, int64_t *last)
{
    /* Centres are at cell + ½, so that low ≤ cell + ½ ≤ high. */
    double low = ceil(range.low - 0.5), high = floor(range.high - 0.5);
    *first = low <= (double)begin ? begin : low >= (double)end ? end : (int64_t)low;
    *last = high >= (double)(end - 1) ? end - 1 : high < (double)begin ? begin - 1 : (int64_t)high;
}

void sp_grid_triangle(const sp_grid *grid, const double corners[9], int64_t z_begin, int64_t z_end, sp_grid_span *span,
                      void *data)
{
    interval box[3];
    int64_t first[3], last[3];
    bool single = true; /* the triangle lies within one cell */

    for (int k = 0; k < 3; k++) {
        box[k].low = fmin(fmin(corners[k], corners[3 + k]), corners[6 + k]) - HALF;
        box[k].high = fmax(fmax(corners[k], corners[3 + k]), corners[6 + k]) + HALF;
        cells_of(box[k], k == 2 ? z_begin : 0, k == 2 ? z_end : grid->cells[k], &first[k], &last[k]);
        single = single && ceil(box[k].low - 0.5) == floor(box[k].high - 0.5);
    }

    if (first[2] > last[2])
        return;

    /* Most triangles of fine models end here, before the axes are made. */
    if (single) {
        if (first[0] <= last[0] && first[1] <= last[1])
            span(data, first[1], first[2], first[0], first[0]);
        return;
    }

    /* The thirteen axes of triangle and cube: the nine products of the edges with the axes of the grid, each of
     * which lies in a plane of two coordinates, the normal, and the three axes of the box above */
    axis plane, xy[3], xz[3], yz[3];
    double edge[3][3], normal[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            edge[i][k] = corners[3 * ((i + 1) % 3) + k] - corners[3 * i + k];
        xy[i] = axis_of((double[3]){-edge[i][1], edge[i][0], 0}, corners);
        xz[i] = axis_of((double[3]){-edge[i][2], 0, edge[i][0]}, corners);
        yz[i] = axis_of((double[3]){0, -edge[i][2], edge[i][1]}, corners);
    }

    sp_cross3(edge[0], edge[1], normal);
    plane = axis_of(normal, corners);

    /* Each axis bounds one coordinate of the centres once the others are known: y and x in a layer, then x in a row. */
    for (int64_t z = first[2]; z <= last[2]; z++) {
        const double cz = (double)z + 0.5;
        interval in_y = box[1], in_layer = box[0];
        for (int i = 0; i < 3; i++) {
            in_y = narrow(in_y, &yz[i], 1, yz[i].n[2] * cz);
            in_layer = narrow(in_layer, &xz[i], 0, xz[i].n[2] * cz);
        }

        int64_t y_first, y_last;
        cells_of(in_y, first[1], last[1] + 1, &y_first, &y_last);
        for (int64_t y = y_first; y <= y_last; y++) {
            const double cy = (double)y + 0.5;
            interval in_x = narrow(in_layer, &plane, 0, plane.n[1] * cy + plane.n[2] * cz);
            for (int i = 0; i < 3; i++)
                in_x = narrow(in_x, &xy[i], 0, xy[i].n[1] * cy);
            int64_t x_first, x_last;
            cells_of(in_x, first[0], last[0] + 1, &x_first, &x_last);
            if (x_first <= x_last)
                span(data, y, z, x_first, x_last);
        }
    }
}

void sp_grid_mark(void *data, int64_t y, int64_t z, int64_t first, int64_t last)
{
    const sp_grid_marks *marks = data;
    sp_grid_span_set(marks->grid, marks->bits, z * marks->grid->cells[1] + y, first, last, true);
}
