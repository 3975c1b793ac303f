#include <math.h>

#include "base/vec3.h"
#include "geometry/embed.h"

/* Squared distance of a point from a triangle [3, 3], which may be degenerate. */
static double triangle_distance(const double corners[9], const double point[3])
{
    double edge[3][3], from[3][3], normal[3], best = INFINITY;
    for (int i = 0; i < 3; i++) {
        sp_subtract3(corners + 3 * ((i + 1) % 3), corners + 3 * i, edge[i]);
        sp_subtract3(point, corners + 3 * i, from[i]);
    }

    sp_cross3(edge[0], edge[1], normal);
    const double square = sp_dot3(normal, normal);
    bool above = square > 0; /* the foot of the perpendicular lies in the triangle */

    /* The nearest points of the sides, which are also all that a triangle without area has */
    for (int i = 0; i < 3; i++) {
        double side[3], length = sp_dot3(edge[i], edge[i]), rest[3];
        sp_cross3(edge[i], from[i], side);
        above = above && sp_dot3(side, normal) >= 0;
        double along = length > 0 ? fmin(fmax(sp_dot3(edge[i], from[i]) / length, 0), 1) : 0;
        for (int k = 0; k < 3; k++)
            rest[k] = from[i][k] - along * edge[i][k];
        best = fmin(best, sp_dot3(rest, rest));
    }

    if (above)
        best = fmin(best, sp_dot3(normal, from[0]) * sp_dot3(normal, from[0]) / square);
    return best;
}

typedef struct nearest {
    const sp_grid *grid;
    const uint64_t *bits;
    const int64_t *rank;
    const int64_t *group;
    int64_t triangle;
    const double *corners;
    double *distance; /* [voxels] squared, grid units */
    int64_t *region;  /* [voxels] */
} nearest;

static void compare_span(void *data, int64_t y, int64_t z, int64_t first, int64_t last)
{
    const nearest *search = data;
    const int64_t row = z * search->grid->cells[1] + y;

    if (!sp_grid_test(search->grid, search->bits, first, row))
        return; /* the voxel is in a component that was dropped */
    int64_t voxel = sp_grid_number(search->grid, search->bits, search->rank, first, row);
    for (int64_t x = first; x <= last; x++, voxel++) {
        const double centre[3] = {(double)x + 0.5, (double)y + 0.5, (double)z + 0.5};
        double distance = triangle_distance(search->corners, centre);
        /* Triangles are visited in the order of their index; of those equal up to rounding the earlier one is kept. */
        if (distance < search->distance[voxel] - 1e-12) {
            search->distance[voxel] = distance;
            search->region[voxel] = search->group[search->triangle];
        }
    }
}

/* Propagates regions breadth first over faces from the voxels that have one (≥ 0), which are in `queue` in order. */
static void propagate(const sp_grid *grid, const uint64_t *bits, const int64_t *rank, const int64_t *cell_of,
                      int64_t *queue, int64_t tail, int64_t *region)
{
    const int64_t nx = grid->cells[0], ny = grid->cells[1], nz = grid->cells[2];
    for (int64_t head = 0; head < tail; head++) {
        const int64_t voxel = queue[head], cell = cell_of[voxel];
        const int64_t x = cell % nx, y = cell / nx % ny, z = cell / nx / ny;
        const int64_t beside[6][3] = {{x, y, z - 1}, {x, y - 1, z}, {x - 1, y, z},
                                      {x + 1, y, z}, {x, y + 1, z}, {x, y, z + 1}};

        for (int i = 0; i < 6; i++) {
            const int64_t *at = beside[i], row = at[2] * ny + at[1];
            if (at[0] < 0 || at[0] >= nx || at[1] < 0 || at[1] >= ny || at[2] < 0 || at[2] >= nz ||
                !sp_grid_test(grid, bits, at[0], row))
                continue;
            int64_t other = sp_grid_number(grid, bits, rank, at[0], row);
            if (region[other] < 0) {
                region[other] = region[voxel];
                queue[tail++] = other;
            }
        }
    }
}

/* For filled voxels that no chain of faces connects with a surface voxel, the region of the nearest of all triangles.
 * This is possible only in open soups, where single cells can exceed the threshold. */
static void nearest_of_all(const sp_grid *grid, const sp_surface *surface, const double *position,
                           const int64_t *cell_of, int64_t count, int64_t *region)
{
    const int64_t nx = grid->cells[0], ny = grid->cells[1];
    for (int64_t voxel = 0; voxel < count; voxel++) {
        if (region[voxel] >= 0)
            continue;

        const int64_t cell = cell_of[voxel];
        const double centre[3] = {(double)(cell % nx) + 0.5, (double)(cell / nx % ny) + 0.5,
                                  (double)(cell / nx / ny) + 0.5};
        double best = INFINITY;

        for (int64_t t = 0; t < surface->triangle_count; t++) {
            double corners[9];
            sp_triangle_corners(surface, position, t, corners);
            double distance = triangle_distance(corners, centre);
            if (distance < best) {
                best = distance;
                region[voxel] = surface->group[t];
            }
        }
    }
}

int sp_embed_regions(sp_context *context, const sp_grid *grid, const uint64_t *bits, const int64_t *rank,
                     const sp_surface *surface, const double *position, const sp_slabs *slabs, sp_mesh *mesh)
{
    const int64_t count = mesh->block[SP_HEX8].count;
    mesh->region = sp_pool_new(&mesh->pool, count, sizeof *mesh->region);
    SP_PASS(sp_allocated(context, mesh->region));
    if (surface->group_count < 2)
        return SP_OK;

    int status = SP_OK;
    sp_pool pool = {0};
    double *distance = sp_pool_raw(&pool, count, sizeof *distance);
    int64_t *cell_of = sp_pool_raw(&pool, count, sizeof *cell_of);
    int64_t *queue = sp_pool_raw(&pool, count, sizeof *queue), tail = 0;
    SP_TRY(sp_allocated(context, !pool.failed));

    for (int64_t i = 0; i < count; i++) {
        distance[i] = INFINITY;
        mesh->region[i] = -1;
    }

    int64_t voxel = 0;
    for (int64_t row = 0; row < sp_grid_rows(grid); row++)
        for (int64_t w = 0; w < grid->words; w++)
            for (uint64_t left = bits[row * grid->words + w]; left; left &= left - 1)
                cell_of[voxel++] = row * grid->cells[0] + 64 * w + __builtin_ctzll(left);

#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
    /* Threads write different layers, and each slab visits its triangles in the order of their index. */
    for (int64_t slab = 0; slab < slabs->count; slab++) {
        int64_t z_begin, z_end;
        sp_slabs_layers(slabs, grid, slab, &z_begin, &z_end);
        for (int64_t i = slabs->start[slab]; i < slabs->start[slab + 1]; i++) {
            double corners[9];
            nearest search = {grid, bits, rank, surface->group, slabs->list[i], corners, distance, mesh->region};
            sp_triangle_corners(surface, position, slabs->list[i], corners);
            sp_grid_triangle(grid, corners, z_begin, z_end, compare_span, &search);
        }
    }

    for (int64_t i = 0; i < count; i++)
        if (mesh->region[i] >= 0)
            queue[tail++] = i;
    propagate(grid, bits, rank, cell_of, queue, tail, mesh->region);
    nearest_of_all(grid, surface, position, cell_of, count, mesh->region);
done:
    sp_pool_free(&pool);
    return status;
}
