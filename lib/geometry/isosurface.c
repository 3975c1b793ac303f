#include "geometry/isosurface.h"

#include <string.h>

/* A corner of a cell is a number of three bits, one per axis. The six tetrahedra of a cell (Kuhn) are paths from corner
 * 0 to corner 7 along the axes in every order, with corners ordered such that the determinant of the three sides from
 * the first one is positive. Edges run from a corner to one with more bits. They are identified by their lower end and
 * the bits that are added, 1 … 7. */
static const int TETRAHEDRA[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                                     {0, 3, 2, 7}, {0, 6, 4, 7}, {0, 5, 1, 7}};

/* Even permutations that put the corners inside first, by the set of these. */
static const int INSIDE_FIRST[16][4] = {
    {0},          {0, 1, 2, 3}, {1, 0, 3, 2}, {0, 1, 2, 3}, {2, 3, 0, 1}, {0, 2, 3, 1}, {1, 2, 0, 3}, {3, 2, 1, 0},
    {3, 2, 1, 0}, {0, 3, 1, 2}, {1, 3, 2, 0}, {2, 3, 0, 1}, {2, 3, 0, 1}, {1, 0, 3, 2}, {0, 1, 2, 3}, {0}};

static const double MARGIN = 1e-4;

typedef struct marching {
    const sp_field *field;
    double level;
    int64_t plane; /* number of vertices in a layer of the grid */
    /* [3, plane] numbers of the vertices on edges within the lower and the upper layer, by bits 1, 2, 3 */
    int32_t *flat[2];
    /* [4, plane] on edges between them, by bits 4 … 7 */
    int32_t *up;
    sp_list vertices, triangles;
} marching;

sp_grid sp_field_grid(const sp_field *field)
{
    sp_grid grid = {.spacing = field->spacing, .words = (field->cells[0] + 64) / 64};
    for (int k = 0; k < 3; k++) {
        grid.origin[k] = field->origin[k] - 0.5 * field->spacing;
        grid.cells[k] = field->cells[k] + 1;
    }
    return grid;
}

/* The vertex on the edge between two corners of the cell at `cell`; −1 if out of memory. */
static int64_t edge_vertex(marching *m, const int64_t cell[3], int a, int b)
{
    const int from = a < b ? a : b, bits = a ^ b;
    int64_t start[3], end[3];

    for (int k = 0; k < 3; k++) {
        start[k] = cell[k] + (from >> k & 1);
        end[k] = start[k] + (bits >> k & 1);
    }

    const int64_t at = start[1] * (m->field->cells[0] + 1) + start[0];
    int32_t *number = bits < 4 ? &m->flat[from >> 2][(bits - 1) * m->plane + at] : &m->up[(bits - 4) * m->plane + at];

    /* Cells that share the edge share its vertex. */
    if (*number >= 0)
        return *number;

    double *x = m->vertices.count < INT32_MAX ? sp_list_add(&m->vertices, 1, 3 * sizeof *x) : NULL;
    if (!x)
        return -1;

    /* Linear interpolation along the edge. The margin keeps vertices apart that edges of one corner would else put
     * on it. */
    const double low = (double)m->field->distance[sp_field_index(m->field, start[0], start[1], start[2])];
    const double high = (double)m->field->distance[sp_field_index(m->field, end[0], end[1], end[2])];
    double t = high != low ? (m->level - low) / (high - low) : 0.5;
    t = t > MARGIN ? t : MARGIN;
    t = t < 1 - MARGIN ? t : 1 - MARGIN;

    for (int k = 0; k < 3; k++)
        x[k] = m->field->origin[k] + m->field->spacing * ((double)start[k] + (bits >> k & 1 ? t : 0));
    return *number = (int32_t)(m->vertices.count - 1);
}

static bool add_triangle(marching *m, int64_t a, int64_t b, int64_t c)
{
    int64_t *to = a >= 0 && b >= 0 && c >= 0 && m->triangles.count < INT32_MAX
                      ? sp_list_add(&m->triangles, 1, 3 * sizeof *to)
                      : NULL;
    if (!to)
        return false;
    to[0] = a;
    to[1] = b;
    to[2] = c;
    return true;
}

/* Adds the triangle or quadrilateral that separates the corners of a tetrahedron in the set `inside` from the others.
 */
static bool cut_tetrahedron(marching *m, const int64_t cell[3], const int corner[4], int inside)
{
    const int *order = INSIDE_FIRST[inside], count = __builtin_popcount((unsigned)inside);
    int v[4];

    for (int i = 0; i < 4; i++)
        v[i] = corner[order[i]];

    /* One corner inside */
    if (count == 1)
        return add_triangle(m, edge_vertex(m, cell, v[0], v[1]), edge_vertex(m, cell, v[0], v[2]),
                            edge_vertex(m, cell, v[0], v[3]));
    if (count == 3) /* the permutation begins with the corner outside */
        return add_triangle(m, edge_vertex(m, cell, v[0], v[1]), edge_vertex(m, cell, v[0], v[3]),
                            edge_vertex(m, cell, v[0], v[2]));

    /* Two inside, two outside: a quadrilateral p q r s */
    const int64_t p = edge_vertex(m, cell, v[0], v[2]), q = edge_vertex(m, cell, v[0], v[3]);
    const int64_t r = edge_vertex(m, cell, v[1], v[3]), s = edge_vertex(m, cell, v[1], v[2]);
    return add_triangle(m, p, q, r) && add_triangle(m, p, r, s);
}

/* Processes the cells between layers z and z + 1. */
static bool cut_layer(marching *m, const sp_grid *grid, const uint64_t *outside, int64_t z)
{
    for (int64_t y = 0; y < m->field->cells[1]; y++) {
        const int64_t row[4] = {z * grid->cells[1] + y, z * grid->cells[1] + y + 1, (z + 1) * grid->cells[1] + y,
                                (z + 1) * grid->cells[1] + y + 1};
        for (int64_t x = 0; x < m->field->cells[0]; x++) {
            int inside = 0;
            if ((x & 63) == 0 && x + 64 < grid->cells[0]) {
                /* skips 64 cells whose vertices are all on one side */
                uint64_t some = 0, every = ~(uint64_t)0;
                for (int i = 0; i < 4; i++) {
                    const uint64_t *bits = outside + row[i] * grid->words + (x >> 6);
                    some |= bits[0] | (bits[1] & 1);
                    every &= bits[0] & (bits[1] | ~(uint64_t)1);
                }
                if (!some || !~every) {
                    x += 63;
                    continue;
                }
            }

            /* The set of corners inside; those of the cell's tetrahedra follow from it. */
            for (int c = 0; c < 8; c++)
                inside |= !sp_grid_test(grid, outside, x + (c & 1), row[c >> 1]) << c;
            if (inside == 0 || inside == 255)
                continue;

            for (int t = 0; t < 6; t++) {
                int set = 0;
                for (int i = 0; i < 4; i++)
                    set |= (inside >> TETRAHEDRA[t][i] & 1) << i;
                if (set != 0 && set != 15 && !cut_tetrahedron(m, (const int64_t[3]){x, y, z}, TETRAHEDRA[t], set))
                    return false;
            }
        }
    }
    return true;
}

static uint64_t *bits_above(sp_pool *pool, const sp_field *field, const sp_grid *grid, double level)
{
    uint64_t *bits = sp_grid_bits(pool, grid);
    if (bits)
        for (int64_t row = 0; row < sp_grid_rows(grid); row++)
            for (int64_t x = 0; x < grid->cells[0]; x++)
                bits[row * grid->words + (x >> 6)] |=
                    (uint64_t)((double)field->distance[row * grid->cells[0] + x] > level) << (x & 63);
    return bits;
}

/* Copies the lists to a surface with one group. */
static int make_surface(sp_context *context, marching *m, sp_surface *surface)
{
    sp_surface s = {.vertex_count = m->vertices.count, .triangle_count = m->triangles.count, .group_count = 1};
    s.vertices = sp_pool_copy(&s.pool, m->vertices.data, 3 * s.vertex_count, sizeof(double));
    sp_list_free(&m->vertices);
    s.triangles = sp_pool_copy(&s.pool, m->triangles.data, 3 * s.triangle_count, sizeof(int64_t));
    sp_list_free(&m->triangles);

    s.groups = sp_pool_new(&s.pool, 1, sizeof(char *));
    s.group = sp_pool_new(&s.pool, s.triangle_count, sizeof(int64_t));

    if (s.groups)
        s.groups[0] = sp_pool_copy(&s.pool, "default", 8, 1);

    if (s.pool.failed) {
        sp_pool_free(&s.pool);
        return sp_fail_memory(context);
    }

    *surface = s;
    return SP_OK;
}

int sp_isosurface(sp_context *context, const sp_field *field, double level, const uint64_t *outside,
                  sp_surface *surface)
{
    const sp_grid grid = sp_field_grid(field);
    sp_pool pool = {0};
    marching m = {.field = field, .level = level, .plane = grid.cells[0] * grid.cells[1]};
    int status = SP_OK;
    *surface = (sp_surface){0};

    if (!outside)
        outside = bits_above(&pool, field, &grid, level);
    for (int i = 0; i < 2; i++)
        m.flat[i] = sp_pool_raw(&pool, 3 * m.plane, sizeof *m.flat[i]);
    m.up = sp_pool_raw(&pool, 4 * m.plane, sizeof *m.up);

    SP_TRY(sp_allocated(context, !pool.failed));

    /* Vertices on edges of layer z were made with the cells below it, so that only two layers are needed at a time. */
    memset(m.flat[0], 0xff, (size_t)(3 * m.plane) * sizeof *m.flat[0]);
    for (int64_t z = 0; z < field->cells[2]; z++) {
        memset(m.flat[1], 0xff, (size_t)(3 * m.plane) * sizeof *m.flat[1]);
        memset(m.up, 0xff, (size_t)(4 * m.plane) * sizeof *m.up);
        if (!cut_layer(&m, &grid, outside, z)) {
            status = m.vertices.count == INT32_MAX || m.triangles.count == INT32_MAX
                         ? sp_fail(context, SP_INPUT, "the level set has more than 2^31 vertices or triangles")
                         : sp_fail_memory(context);
            goto done;
        }

        int32_t *swap = m.flat[0];
        m.flat[0] = m.flat[1];
        m.flat[1] = swap;
    }

    SP_TRY(make_surface(context, &m, surface));
done:
    sp_list_free(&m.vertices);
    sp_list_free(&m.triangles);
    sp_pool_free(&pool);
    return status;
}

bool sp_field_meets_box(const sp_field *field, double level)
{
    bool above = false, below = false;
    for (int64_t z = 0; z <= field->cells[2]; z++)
        for (int64_t y = 0; y <= field->cells[1]; y++) {
            const bool whole = z == 0 || z == field->cells[2] || y == 0 || y == field->cells[1];
            for (int64_t x = 0; x <= field->cells[0]; x += whole ? 1 : field->cells[0]) {
                const bool is_above = (double)field->distance[sp_field_index(field, x, y, z)] > level;
                above |= is_above;
                below |= !is_above;
            }
        }
    return above && below;
}

/* ---- vertices connected with the outside ---- */

/* Adds to the row `to` the vertices that are connected with vertices of its neighbour row `from`: each of these has
 * there the neighbours at its own x and at the next higher (up) or lower one. */
static void connect_row(const uint64_t *from, bool up, int64_t words, uint64_t *to)
{
    for (int64_t w = 0; w < words; w++) {
        uint64_t moved;
        if (up)
            moved = from[w] >> 1 | (w + 1 < words ? from[w + 1] << 63 : 0);
        else
            moved = from[w] << 1 | (w > 0 ? from[w - 1] >> 63 : 0);
        to[w] |= from[w] | moved;
    }
}

/* Restricts the row to open vertices, and fills the runs of open vertices that contain a set bit. */
static void fill_row(const uint64_t *open, int64_t words, uint64_t *row)
{
    uint64_t copy_bits = 0;

    /* Upwards: log₂ 64 steps of doubled length carry a bit through any run of open vertices of its word, and the
     * last bit carries to the next word. */
    for (int64_t w = 0; w < words; w++) {
        uint64_t bits = (row[w] | copy_bits) & open[w], way = open[w];
        for (int step = 1; step < 64; step *= 2) {
            bits |= way & bits << step;
            way &= way << step;
        }
        row[w] = bits;
        copy_bits = bits >> 63;
    }

    /* The same downwards, with the bits that came from above */
    copy_bits = 0;
    for (int64_t w = words - 1; w >= 0; w--) {
        uint64_t bits = row[w] | (copy_bits << 63 & open[w]), way = open[w];
        for (int step = 1; step < 64; step *= 2) {
            bits |= way & bits >> step;
            way &= way >> step;
        }
        row[w] = bits;
        copy_bits = bits & 1;
    }
}

/* Updates one row from all its neighbour rows; returns true if it changed. */
static bool grow_row(const sp_grid *grid, const uint64_t *open, int64_t y, int64_t z, uint64_t *outer,
                     uint64_t *scratch)
{
    const int64_t row = z * grid->cells[1] + y, words = grid->words;
    uint64_t *own = outer + row * words;

    memcpy(scratch, own, (size_t)words * sizeof *own);

    /* The neighbour rows, for the seven neighbours of a vertex in Kuhn's division in each direction (n = 0 is the
     * own row) */
    for (int n = 1; n < 4; n++)
        for (int up = 0; up < 2; up++) {
            const int64_t ny = y + (up ? n & 1 : -(n & 1)), nz = z + (up ? n >> 1 : -(n >> 1));
            if (ny >= 0 && ny < grid->cells[1] && nz >= 0 && nz < grid->cells[2])
                connect_row(outer + (nz * grid->cells[1] + ny) * words, up, words, scratch);
        }

    fill_row(open + row * words, words, scratch);
    if (memcmp(scratch, own, (size_t)words * sizeof *own) == 0)
        return false;
    memcpy(own, scratch, (size_t)words * sizeof *own);
    return true;
}

int sp_field_outer(sp_context *context, const sp_field *field, double level, uint64_t *outer)
{
    const sp_grid grid = sp_field_grid(field);
    const int64_t rows = sp_grid_rows(&grid);
    sp_pool pool = {0};
    uint64_t *open = bits_above(&pool, field, &grid, level), *scratch = sp_pool_raw(&pool, grid.words, sizeof *scratch);
    int status = SP_OK;

    SP_TRY(sp_allocated(context, !pool.failed));

    /* The start: open vertices on the walls of the grid */
    for (int64_t row = 0; row < rows; row++) {
        const int64_t y = row % grid.cells[1], z = row / grid.cells[1], last = grid.cells[0] - 1;
        const bool whole = y == 0 || y == grid.cells[1] - 1 || z == 0 || z == grid.cells[2] - 1;
        uint64_t *to = outer + row * grid.words;
        const uint64_t *from = open + row * grid.words;
        memset(to, 0, (size_t)grid.words * sizeof *to);
        if (whole)
            for (int64_t w = 0; w < grid.words; w++)
                to[w] = from[w];
        to[0] |= from[0] & 1;
        to[last >> 6] |= from[last >> 6] & (uint64_t)1 << (last & 63);
    }
    /* Sweeps up and down until nothing changes. A few suffice, since a row uses the new values of the row before it. */
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t row = 0; row < rows; row++)
            changed |= grow_row(&grid, open, row % grid.cells[1], row / grid.cells[1], outer, scratch);
        for (int64_t row = rows - 1; row >= 0; row--)
            changed |= grow_row(&grid, open, row % grid.cells[1], row / grid.cells[1], outer, scratch);
        SP_TRY(sp_progress(context, 0.5));
    }
done:
    sp_pool_free(&pool);
    return status;
}
