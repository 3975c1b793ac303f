/* A grid of equal cubes, bit sets of its cells, runs of cells along x, and the cells that a triangle intersects.
 * Internal to lib/geometry.
 *
 * Cell (x, y, z) is the closed cube [x, x+1] × [y, y+1] × [z, z+1] in grid units, (position − origin) / spacing. A row
 * is the cells of equal y and z, with row number z·cells[1] + y; each row of bits begins at a new word, so that threads
 * may write different rows. */
#ifndef SP_GEOMETRY_GRID_H
#define SP_GEOMETRY_GRID_H

#include "base/context.h"
#include "base/memory.h"

typedef struct sp_grid {
    double origin[3], spacing; /* m */
    int64_t cells[3];
    int64_t words; /* 64-bit words per row */
} sp_grid;

static inline int64_t sp_grid_rows(const sp_grid *grid)
{
    return grid->cells[1] * grid->cells[2];
}

static inline void sp_grid_centre(const sp_grid *grid, int64_t x, int64_t y, int64_t z, double centre[3])
{
    centre[0] = grid->origin[0] + grid->spacing * ((double)x + 0.5);
    centre[1] = grid->origin[1] + grid->spacing * ((double)y + 0.5);
    centre[2] = grid->origin[2] + grid->spacing * ((double)z + 0.5);
}

/* A set with all bits clear. */
uint64_t *sp_grid_bits(sp_pool *pool, const sp_grid *grid);

static inline bool sp_grid_test(const sp_grid *grid, const uint64_t *bits, int64_t x, int64_t row)
{
    return bits[row * grid->words + (x >> 6)] >> (x & 63) & 1;
}

/* Sets or clears cells first … last of a row. */
void sp_grid_span_set(const sp_grid *grid, uint64_t *bits, int64_t row, int64_t first, int64_t last, bool value);

/* Numbers the cells of a set by z, then y, then x: rank[row] is the number of the row's first cell, rank[rows] the
 * count. [rows + 1]; NULL when memory is out. */
int64_t *sp_grid_ranks(sp_pool *pool, const sp_grid *grid, const uint64_t *bits);

/* The number of cell (x, row), which is in the set. */
int64_t sp_grid_number(const sp_grid *grid, const uint64_t *bits, const int64_t *rank, int64_t x, int64_t row);

/* Maximal runs of cells of a set along x, in order; joined into components. */
typedef struct sp_runs {
    int64_t *start;        /* [rows + 1] first run of each row */
    int32_t *first, *last; /* [start[rows]] x of a run's ends, both in it */
    int64_t *root;         /* [start[rows]] after sp_runs_join: lowest run of the same component */
} sp_runs;

/* Runs of the cells with bit `value`. SP_SYSTEM when memory is out. */
int sp_runs_find(sp_context *context, sp_pool *pool, const sp_grid *grid, const uint64_t *bits, bool value,
                 sp_runs *runs) SP_MUST_USE;

/* Joins runs whose cells share a face, or a vertex where `corners`. */
void sp_runs_join(const sp_grid *grid, sp_runs *runs, bool corners);

/* Called for cells first … last of row (y, z). */
typedef void sp_grid_span(void *data, int64_t y, int64_t z, int64_t first, int64_t last);

/* The cells of layers z_begin ≤ z < z_end that intersect a triangle, by the separating-axis theorem for triangle and
 * closed cube, row by row. corners [3, 3] in grid units. Cubes are enlarged by 1e-9 on all sides, which is above the
 * rounding of coordinates up to 4096, so that touching always counts. Degenerate triangles are segments or points. */
void sp_grid_triangle(const sp_grid *grid, const double corners[9], int64_t z_begin, int64_t z_end, sp_grid_span *span,
                      void *data);

/* A span for sp_grid_triangle: sets its cells; data is an sp_grid_marks. */
typedef struct sp_grid_marks {
    const sp_grid *grid;
    uint64_t *bits;
} sp_grid_marks;
void sp_grid_mark(void *data, int64_t y, int64_t z, int64_t first, int64_t last);

#endif
