#include "geometry/embed.h"

#include <math.h>
#include <string.h>

enum { SLABS = 64 };

int sp_slabs_sort(sp_context *context, sp_pool *pool, const sp_grid *grid, const sp_surface *surface,
                  const double *position, sp_slabs *slabs)
{
    const int64_t layers = grid->cells[2], n = surface->triangle_count;

    slabs->thickness = (layers + SLABS - 1) / SLABS;
    slabs->count = (layers + slabs->thickness - 1) / slabs->thickness;
    slabs->start = sp_pool_new(pool, slabs->count + 2, sizeof *slabs->start);
    int32_t *range = sp_pool_raw(pool, 2 * n, sizeof *range);
    SP_PASS(sp_allocated(context, !pool->failed));

    int64_t *start = slabs->start;
    for (int64_t t = 0; t < n; t++) {
        double c[9];
        sp_triangle_corners(surface, position, t, c);
        /* One more cell on both sides than rounding of the box requires costs little. */
        double low = floor(fmin(fmin(c[2], c[5]), c[8]) - 0.5), high = floor(fmax(fmax(c[2], c[5]), c[8]) + 0.5);
        int64_t first = (int64_t)fmin(fmax(low, 0), (double)(layers - 1)) / slabs->thickness;
        int64_t last = (int64_t)fmin(fmax(high, 0), (double)(layers - 1)) / slabs->thickness;
        range[2 * t] = (int32_t)first;
        range[2 * t + 1] = (int32_t)last;
        for (int64_t s = first; s <= last; s++)
            start[s + 2]++;
    }

    /* Slab s begins at start[s + 1]. Writing its list moves that to its end, which is the beginning of slab s + 1. */
    for (int64_t s = 0; s < slabs->count; s++)
        start[s + 2] += start[s + 1];
    slabs->list = sp_pool_raw(pool, start[slabs->count + 1], sizeof *slabs->list);
    SP_PASS(sp_allocated(context, slabs->list));

    for (int64_t t = 0; t < n; t++)
        for (int64_t s = range[2 * t]; s <= range[2 * t + 1]; s++)
            slabs->list[start[s + 1]++] = t;

    sp_pool_drop(pool, range);
    return SP_OK;
}

void sp_slabs_layers(const sp_slabs *slabs, const sp_grid *grid, int64_t slab, int64_t *z_begin, int64_t *z_end)
{
    *z_begin = slab * slabs->thickness;
    *z_end = *z_begin + slabs->thickness < grid->cells[2] ? *z_begin + slabs->thickness : grid->cells[2];
}

/* Corner a of a hexahedron is the cell's grid vertex plus this along axis k. */
static int corner_step(int a, int k)
{
    return sp_corner_place[SP_HEXAHEDRON][a][k] > 0;
}

/* Bits of the grid's vertices that a cell of the set uses. */
static void mark_corners(const sp_grid *grid, const uint64_t *bits, const sp_grid *corner_grid, uint64_t *used)
{
    const int64_t ny = grid->cells[1], nz = grid->cells[2];
    for (int64_t z = 0; z <= nz; z++)
        for (int64_t y = 0; y <= ny; y++) {
            /* The four rows of cells around a row of vertices */
            uint64_t *to = used + (z * (ny + 1) + y) * corner_grid->words;
            for (int64_t cz = z > 0 ? z - 1 : 0; cz <= z && cz < nz; cz++)
                for (int64_t cy = y > 0 ? y - 1 : 0; cy <= y && cy < ny; cy++) {
                    const uint64_t *from = bits + (cz * ny + cy) * grid->words;
                    uint64_t carry = 0;

                    for (int64_t w = 0; w < grid->words; w++) {
                        to[w] |= from[w] | from[w] << 1 | carry;
                        carry = from[w] >> 63;
                    }
                    if (corner_grid->words > grid->words)
                        to[grid->words] |= carry;
                }
        }
}

int sp_embed_cells(sp_context *context, const sp_grid *grid, const uint64_t *bits, const int64_t *rank, sp_mesh *mesh)
{
    const int64_t ny = grid->cells[1], rows = sp_grid_rows(grid);
    int status = SP_OK;
    sp_pool pool = {0};
    sp_grid corners = {.cells = {grid->cells[0] + 1, ny + 1, grid->cells[2] + 1}};

    corners.words = (corners.cells[0] + 63) / 64;

    uint64_t *used = sp_grid_bits(&pool, &corners);
    int64_t *number = NULL;
    if (used) {
        mark_corners(grid, bits, &corners, used);
        number = sp_grid_ranks(&pool, &corners, used);
    }
    SP_TRY(sp_allocated(context, number));

    const int64_t corner_rows = sp_grid_rows(&corners);
    mesh->vertex_count = number[corner_rows];
    mesh->block[SP_HEX8].count = rank[rows];
    mesh->vertices = sp_pool_raw(&mesh->pool, 3 * mesh->vertex_count, sizeof(double));
    mesh->block[SP_HEX8].node = sp_pool_raw(&mesh->pool, 8 * mesh->block[SP_HEX8].count, sizeof(int64_t));
    SP_TRY(sp_allocated(context, !mesh->pool.failed));

    /* Vertices, by z, y, x */
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t row = 0; row < corner_rows; row++) {
        double *x = mesh->vertices + 3 * number[row];
        for (int64_t w = 0; w < corners.words; w++)
            for (uint64_t left = used[row * corners.words + w]; left; left &= left - 1, x += 3) {
                x[0] = grid->origin[0] + grid->spacing * (double)(64 * w + __builtin_ctzll(left));
                x[1] = grid->origin[1] + grid->spacing * (double)(row % (ny + 1));
                x[2] = grid->origin[2] + grid->spacing * (double)(row / (ny + 1));
            }
    }

    /* Elements. A vertex has as its number that of the first one in its row, plus those of the row that precede it. */
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t row = 0; row < rows; row++) {
        int64_t *hex = mesh->block[SP_HEX8].node + 8 * rank[row];
        int64_t corner_row[4], before[4]; /* rows y, y + 1 at z, then at z + 1; number of vertices before the word */
        for (int i = 0; i < 4; i++) {
            corner_row[i] = (row / ny + i / 2) * (ny + 1) + row % ny + i % 2;
            before[i] = number[corner_row[i]];
        }
        for (int64_t w = 0; w < grid->words; w++) {
            uint64_t word[4];
            for (int i = 0; i < 4; i++)
                word[i] = used[corner_row[i] * corners.words + w];
            for (uint64_t left = bits[row * grid->words + w]; left; left &= left - 1, hex += 8) {
                const uint64_t below = (left & -left) - 1;
                int64_t base[4];
                for (int i = 0; i < 4; i++)
                    base[i] = before[i] + __builtin_popcountll(word[i] & below);
                /* The vertex at x + 1 is used as well, so that it has the next number. */
                for (int a = 0; a < 8; a++)
                    hex[a] = base[corner_step(a, 1) + 2 * corner_step(a, 2)] + corner_step(a, 0);
            }

            for (int i = 0; i < 4; i++)
                before[i] += __builtin_popcountll(word[i]);
        }
    }

done:
    sp_pool_free(&pool);
    return status;
}

/* Finds the cell of the set that contains a point; if several do, the one of lowest number. Returns false if there is
 * none. */
static bool cell_of(const sp_grid *grid, const uint64_t *bits, const double position[3], int64_t cell[3])
{
    int64_t upper[3], lower[3];
    for (int k = 0; k < 3; k++) {
        double below = floor(position[k]), last = (double)(grid->cells[k] - 1);
        upper[k] = (int64_t)fmin(fmax(below, 0), last);
        lower[k] = position[k] == below && upper[k] > 0 && below <= last ? upper[k] - 1 : upper[k];
    }

    /* A point on a wall between cells belongs to both. */
    for (cell[2] = lower[2]; cell[2] <= upper[2]; cell[2]++)
        for (cell[1] = lower[1]; cell[1] <= upper[1]; cell[1]++)
            for (cell[0] = lower[0]; cell[0] <= upper[0]; cell[0]++)
                if (sp_grid_test(grid, bits, cell[0], cell[2] * grid->cells[1] + cell[1]))
                    return true;
    return false;
}

int sp_embed_surface(sp_context *context, const sp_grid *grid, const uint64_t *bits, const int64_t *rank,
                     const sp_surface *surface, const double *position, sp_mesh *mesh, int64_t *dropped)
{
    const int64_t n = surface->vertex_count;
    int status = SP_OK;
    sp_pool pool = {0};
    sp_embedded_surface *out = &mesh->surface;
    int64_t *number = sp_pool_new(&pool, n, sizeof *number); /* 1 + new index */
    uint8_t *kept = sp_pool_raw(&pool, surface->triangle_count, 1);

    SP_TRY(sp_allocated(context, !pool.failed));

    /* The cells of a triangle are connected, so that all of them are in the set or none: one vertex decides. */
    *dropped = 0;
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        const int64_t *v = surface->triangles + 3 * t;
        int64_t cell[3];
        kept[t] = cell_of(grid, bits, position + 3 * v[0], cell);
        *dropped += !kept[t];
        if (kept[t])
            for (int k = 0; k < 3; k++)
                number[v[k]] = 1;
    }

    out->triangle_count = surface->triangle_count - *dropped;
    for (int64_t v = 0; v < n; v++)
        if (number[v])
            number[v] = ++out->vertex_count;

    out->width = 8;
    out->vertices = sp_pool_raw(&mesh->pool, 3 * out->vertex_count, sizeof(double));
    out->triangles = sp_pool_raw(&mesh->pool, 3 * out->triangle_count, sizeof(int64_t));
    out->element = sp_pool_raw(&mesh->pool, out->vertex_count, sizeof(int64_t));
    out->weights = sp_pool_raw(&mesh->pool, 8 * out->vertex_count, sizeof(double));
    SP_TRY(sp_allocated(context, !mesh->pool.failed));

    int64_t written = 0;
    for (int64_t t = 0; t < surface->triangle_count; t++)
        if (kept[t])
            for (int k = 0; k < 3; k++)
                out->triangles[written++] = number[surface->triangles[3 * t + k]] - 1;
    for (int64_t v = 0; v < n; v++) {
        if (!number[v])
            continue;

        const int64_t i = number[v] - 1;
        int64_t cell[3];
        double local[3];
        if (!cell_of(grid, bits, position + 3 * v, cell)) {
            status = sp_fail(context, SP_INPUT, "vertex %lld of the surface lies in no voxel", (long long)v);
            goto done;
        }

        for (int k = 0; k < 3; k++) /* outside [0, 1] only by rounding at the boundary of the grid */
            local[k] = fmin(fmax(position[3 * v + k] - (double)cell[k], 0), 1);

        memcpy(out->vertices + 3 * i, surface->vertices + 3 * v, 3 * sizeof(double));
        out->element[i] = sp_grid_number(grid, bits, rank, cell[0], cell[2] * grid->cells[1] + cell[1]);

        /* Trilinear shape functions at the vertex */
        for (int a = 0; a < 8; a++) {
            double weight = 1;
            for (int k = 0; k < 3; k++)
                weight *= corner_step(a, k) ? local[k] : 1 - local[k];
            out->weights[8 * i + a] = weight;
        }
    }
done:
    sp_pool_free(&pool);
    return status;
}
