#include "geometry/voxelize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geometry/embed.h"
#include "geometry/fill.h"

static int check_parameters(sp_context *context, const sp_voxelize_parameters *p)
{
    if (p->resolution < 1 || p->resolution > 4096)
        return sp_fail(context, SP_USAGE, "resolution %lld is not between 1 and 4096", (long long)p->resolution);
    if (!(p->enlarge >= 1 && p->enlarge <= 1e6))
        return sp_fail(context, SP_USAGE, "the box cannot be enlarged by %g, only by a factor between 1 and 1e6",
                       p->enlarge);
    if (p->keep < 0)
        return sp_fail(context, SP_USAGE, "cannot keep %lld components", (long long)p->keep);
    return SP_OK;
}

static int place_grid(sp_context *context, const sp_surface *surface, const sp_voxelize_parameters *p, sp_grid *grid)
{
    double low[3], high[3], centre[3], side[3], longest = 0, far = 0;
    if (surface->triangle_count < 1)
        return sp_fail(context, SP_INPUT, "the model has no triangles");

    sp_surface_box(surface, low, high);
    for (int k = 0; k < 3; k++) {
        centre[k] = low[k] + 0.5 * (high[k] - low[k]);
        side[k] = p->enlarge * (high[k] - low[k]);
        longest = fmax(longest, side[k]);
        far = fmax(far, fmax(fabs(low[k]), fabs(high[k])));
    }

    if (!(longest > 0))
        return sp_fail(context, SP_INPUT, "the model has no extent: all triangles lie in the point (%g, %g, %g)",
                       low[0], low[1], low[2]);

    grid->spacing = longest / (double)p->resolution;
    if (!isfinite(longest) || !(grid->spacing >= 1e-300))
        return sp_fail(context, SP_INPUT, "a model of size %g cannot be divided into voxels", longest / p->enlarge);
    if (p->fill && !(longest >= 1e-60 && longest <= 1e60)) /* winding numbers multiply four lengths */
        return sp_fail(context, SP_INPUT, "a model of size %g m is too %s to tell inside from outside",
                       longest / p->enlarge, longest > 1 ? "large" : "small");

    if (grid->spacing < 1e-12 * far)
        return sp_fail(context, SP_INPUT, "voxels of size %g are too small for coordinates up to %g", grid->spacing,
                       far);

    /* The grid has the centre of the model's box. A division that comes out even must not gain a cell by rounding. */
    double total = 1;
    for (int k = 0; k < 3; k++) {
        double cells = p->cube ? (double)p->resolution : ceil(side[k] / grid->spacing - 1e-9);
        cells = fmin(fmax(cells, 1), (double)p->resolution);
        total *= cells;
        grid->cells[k] = (int64_t)cells;
        grid->origin[k] = centre[k] - 0.5 * cells * grid->spacing;
    }

    if (total > 2147483648.0)
        return sp_fail(context, SP_INPUT, "%lld × %lld × %lld voxels are more than 2^31", (long long)grid->cells[0],
                       (long long)grid->cells[1], (long long)grid->cells[2]);

    grid->words = (grid->cells[0] + 63) / 64;
    return SP_OK;
}

/* Vertices in grid units. Unused vertices may be anywhere and are never read. */
static double *grid_positions(sp_pool *pool, const sp_grid *grid, const sp_surface *surface)
{
    double *position = sp_pool_raw(pool, 3 * surface->vertex_count, sizeof *position);
    if (position)
        for (int64_t i = 0; i < 3 * surface->vertex_count; i++)
            position[i] = (surface->vertices[i] - grid->origin[i % 3]) / grid->spacing;
    return position;
}

static void mark_surface(const sp_context *context, const sp_grid *grid, const sp_surface *surface,
                         const double *position, const sp_slabs *slabs, uint64_t *bits)
{
    sp_grid_marks marks = {grid, bits};
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
    for (int64_t slab = 0; slab < slabs->count; slab++) {
        /* Each slab writes the bits of its own layers only. */
        int64_t z_begin, z_end;
        sp_slabs_layers(slabs, grid, slab, &z_begin, &z_end);
        for (int64_t i = slabs->start[slab]; i < slabs->start[slab + 1]; i++) {
            double corners[9];
            sp_triangle_corners(surface, position, slabs->list[i], corners);
            sp_grid_triangle(grid, corners, z_begin, z_end, sp_grid_mark, &marks);
        }
    }
}

static int64_t count_bits(const sp_grid *grid, const uint64_t *bits)
{
    int64_t count = 0;
    for (int64_t w = 0; w < sp_grid_rows(grid) * grid->words; w++)
        count += __builtin_popcountll(bits[w]);
    return count;
}

static int fill_inside(sp_context *context, const sp_grid *grid, const sp_surface *surface, uint64_t *bits,
                       sp_voxelize_report *report)
{
    sp_surface oriented = {0};
    int status = sp_surface_orient(context, surface, &oriented, &report->orient);
    if (status == SP_OK)
        status = sp_progress(context, 0.4);
    if (status == SP_OK)
        status = sp_fill(context, grid, &oriented, report->orient.open_edges == 0, bits, &report->filled_voxels);
    if (status == SP_OK)
        status = sp_progress(context, 0.6);
    sp_surface_free(&oriented);
    return status;
}

/* Counts components and clears all but the largest `keep`. */
static int keep_largest(sp_context *context, const sp_grid *grid, int64_t keep, uint64_t *bits,
                        sp_voxelize_report *report)
{
    const int64_t rows = sp_grid_rows(grid);
    int status = SP_OK;
    sp_pool pool = {0};
    sp_runs runs;

    SP_TRY(sp_runs_find(context, &pool, grid, bits, true, &runs));
    sp_runs_join(grid, &runs, true);

    const int64_t count = runs.start[rows];
    int64_t *size = sp_pool_new(&pool, count, sizeof *size); /* stored at roots */
    int64_t *order = sp_pool_raw(&pool, count, sizeof *order), n = 0;
    SP_TRY(sp_allocated(context, !pool.failed));

    for (int64_t r = 0; r < count; r++) {
        size[runs.root[r]] += runs.last[r] - runs.first[r] + 1;
        if (runs.root[r] == r)
            order[n++] = r;
    }

    for (int64_t step = n / 2; step > 0; step /= 2) /* shell sort by decreasing size, then by first voxel */
        for (int64_t i = step; i < n; i++) {
            int64_t r = order[i], j = i;
            for (; j >= step; j -= step) {
                int64_t other = order[j - step];
                if (size[other] > size[r] || (size[other] == size[r] && other < r))
                    break;
                order[j] = other;
            }
            order[j] = r;
        }

    report->component_count = n;
    for (int64_t i = 0; i < n && i < 16; i++)
        report->component_size[i] = size[order[i]];

    if (keep == 0 || n <= keep)
        goto done;

    /* A component without size is one to be cleared. */
    for (int64_t i = keep; i < n; i++) {
        report->dropped_voxels += size[order[i]];
        size[order[i]] = 0;
    }

    for (int64_t row = 0; row < rows; row++)
        for (int64_t r = runs.start[row]; r < runs.start[row + 1]; r++)
            if (size[runs.root[r]] == 0)
                sp_grid_span_set(grid, bits, row, runs.first[r], runs.last[r], false);
done:
    sp_pool_free(&pool);
    return status;
}

/* Counts the empty cells that no path through faces of empty cells joins to the border of the grid. */
static int count_enclosed(sp_context *context, const sp_grid *grid, const uint64_t *bits, int64_t *enclosed)
{
    const int64_t rows = sp_grid_rows(grid), height = grid->cells[1];
    int status;
    sp_pool pool = {0};
    sp_runs runs;

    /* Runs of empty cells, joined over faces */
    SP_TRY(sp_runs_find(context, &pool, grid, bits, false, &runs));
    sp_runs_join(grid, &runs, false);

    uint8_t *outside = sp_pool_new(&pool, runs.start[rows], 1); /* at roots */
    SP_TRY(sp_allocated(context, outside));

    for (int64_t row = 0; row < rows; row++) {
        const int64_t y = row % height, z = row / height;
        const bool border = y == 0 || y == height - 1 || z == 0 || z == grid->cells[2] - 1;
        for (int64_t r = runs.start[row]; r < runs.start[row + 1]; r++)
            if (border || runs.first[r] == 0 || runs.last[r] == grid->cells[0] - 1)
                outside[runs.root[r]] = 1;
    }

    for (int64_t r = 0; r < runs.start[rows]; r++)
        *enclosed += outside[runs.root[r]] ? 0 : runs.last[r] - runs.first[r] + 1;
done:
    sp_pool_free(&pool);
    return status;
}

/* Truncates a name to the available space, at the end of a UTF-8 character. */
static void copy_name(char to[SP_NAME_LENGTH], const char *name, size_t room)
{
    size_t length = strlen(name);
    if (length > room) {
        length = room;
        while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
            length--;
    }
    memset(to, 0, SP_NAME_LENGTH);
    memcpy(to, name, length);
}

static bool name_taken(const sp_material *materials, int64_t count, const char *name)
{
    for (int64_t i = 0; i < count; i++)
        if (strcmp(materials[i].name, name) == 0)
            return true;
    return false;
}

/* One material per group. Names that are too long are truncated. If two names are then equal, or a name is empty, the
 * number of the group is appended. */
static int name_materials(sp_context *context, const sp_surface *surface, const sp_material *material, sp_mesh *mesh)
{
    mesh->material_count = surface->group_count > 0 ? surface->group_count : 1;
    mesh->materials = sp_pool_raw(&mesh->pool, mesh->material_count, sizeof *mesh->materials);
    SP_PASS(sp_allocated(context, mesh->materials));

    mesh->materials[0] = *material;
    /* Complete names come first, so that a truncated one cannot take one of them. */
    for (int64_t g = 0; g < surface->group_count; g++) {
        mesh->materials[g] = *material;
        copy_name(mesh->materials[g].name, surface->groups[g], SP_NAME_LENGTH - 1);
        if (strlen(surface->groups[g]) >= SP_NAME_LENGTH)
            mesh->materials[g].name[0] = 0;
    }

    /* The others get a free name: the truncated one, or one that ends with the number of a group. */
    for (int64_t g = 0; g < surface->group_count; g++) {
        char name[SP_NAME_LENGTH], number[32];
        if (mesh->materials[g].name[0])
            continue;

        copy_name(name, surface->groups[g][0] ? surface->groups[g] : "group", SP_NAME_LENGTH - 1);
        for (int64_t i = g; !surface->groups[g][0] || name_taken(mesh->materials, mesh->material_count, name); i++) {
            size_t length = (size_t)snprintf(number, sizeof number, "~%lld", (long long)i);
            copy_name(name, surface->groups[g][0] ? surface->groups[g] : "group", SP_NAME_LENGTH - 1 - length);
            memcpy(name + strlen(name), number, length + 1);
            if (!name_taken(mesh->materials, mesh->material_count, name))
                break;
        }

        memcpy(mesh->materials[g].name, name, SP_NAME_LENGTH);
    }
    return SP_OK;
}

static int build_mesh(sp_context *context, const sp_grid *grid, const sp_surface *surface, const double *position,
                      const sp_slabs *slabs, const uint64_t *bits, const sp_material *material, sp_mesh *mesh,
                      sp_voxelize_report *report)
{
    int status;
    sp_pool pool = {0};
    const int64_t *rank = sp_grid_ranks(&pool, grid, bits);
    SP_TRY(sp_allocated(context, rank));

    /* A mesh of hexahedra only, without fixed vertices */
    mesh->quadrature = 3;
    mesh->block[SP_TET4].node = sp_pool_new(&mesh->pool, 0, sizeof *mesh->block[SP_TET4].node);
    mesh->fixed = sp_pool_new(&mesh->pool, 0, sizeof *mesh->fixed);
    mesh->fixed_axes = sp_pool_new(&mesh->pool, 0, 1);

    SP_TRY(sp_embed_cells(context, grid, bits, rank, mesh));
    SP_TRY(sp_progress(context, 0.8));
    SP_TRY(sp_embed_surface(context, grid, bits, rank, surface, position, mesh, &report->dropped_triangles));
    SP_TRY(sp_embed_regions(context, grid, bits, rank, surface, position, slabs, mesh));
    SP_TRY(name_materials(context, surface, material, mesh));

    if (mesh->pool.failed)
        status = sp_fail_memory(context);
done:
    sp_pool_free(&pool);
    return status;
}

int sp_voxelize(sp_context *context, const sp_surface *surface, const sp_voxelize_parameters *parameters,
                const sp_material *material, sp_mesh *mesh, sp_voxelize_report *report)
{
    int status;
    sp_pool pool = {0};
    sp_grid grid;
    sp_slabs slabs;
    uint64_t *bits = NULL;
    double *position = NULL;
    *mesh = (sp_mesh){0};
    *report = (sp_voxelize_report){0};

    SP_TRY(check_parameters(context, parameters));
    SP_TRY(place_grid(context, surface, parameters, &grid));
    memcpy(report->origin, grid.origin, sizeof report->origin);
    memcpy(report->cells, grid.cells, sizeof report->cells);
    report->spacing = grid.spacing;

    position = grid_positions(&pool, &grid, surface);
    bits = sp_grid_bits(&pool, &grid);
    SP_TRY(sp_allocated(context, !pool.failed));

    SP_TRY(sp_slabs_sort(context, &pool, &grid, surface, position, &slabs));
    mark_surface(context, &grid, surface, position, &slabs, bits);
    report->surface_voxels = count_bits(&grid, bits);
    SP_TRY(sp_progress(context, 0.2));
    if (parameters->fill)
        SP_TRY(fill_inside(context, &grid, surface, bits, report));

    /* Before the mesh: what is dropped here needs neither elements nor a surface. */
    SP_TRY(keep_largest(context, &grid, parameters->keep, bits, report));
    if (!parameters->fill)
        SP_TRY(count_enclosed(context, &grid, bits, &report->enclosed_voxels));

    SP_TRY(sp_progress(context, 0.7));
    SP_TRY(build_mesh(context, &grid, surface, position, &slabs, bits, material, mesh, report));
    SP_TRY(sp_progress(context, 1));
done:
    sp_pool_free(&pool);
    if (status != SP_OK)
        sp_mesh_free(mesh);
    return status;
}
