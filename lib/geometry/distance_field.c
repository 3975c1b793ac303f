#include "geometry/distance_field.h"

#include <math.h>

#include "geometry/field_sign.h"

/* Ranges of the reported progress. */
static const double FIRST[2] = {0, 0.8}, BEFORE_OFFSET[2] = {0, 0.4}, OF_OFFSET[2] = {0.5, 0.9};

/* The default offset in cells (thesis Figure 3.15), and the least one, since the nearest vertex of a point is at most
 * half a cell diagonal away. */
static const double OFFSET_CELLS = 1.4, LEAST_CELLS = 0.8660254037844387;

static int check_offset(sp_context *context, const sp_field *field, const uint64_t *outer, double offset)
{
    const sp_grid grid = sp_field_grid(field);
    /* Every vertex on the walls of the grid has to be outside. */
    for (int64_t row = 0; row < sp_grid_rows(&grid); row++) {
        const int64_t y = row % grid.cells[1], z = row / grid.cells[1], last = grid.cells[0] - 1;
        const bool whole = y == 0 || y == grid.cells[1] - 1 || z == 0 || z == grid.cells[2] - 1;

        for (int64_t x = 0; x <= last; x += whole || last == 0 ? 1 : last)
            if (!sp_grid_test(&grid, outer, x, row))
                return sp_fail(context, SP_INPUT,
                               "the surface at the offset of %g m meets the box of the field: a larger box or more "
                               "cells are needed",
                               offset);
    }
    return SP_OK;
}

/* Replaces the soup by the outermost level set of its unsigned field (thesis §3.11). A component that lies inside
 * another one bounds vertices that are not connected with the outside; these count as inside, and the component is
 * removed. */
static int offset_field(sp_context *context, const sp_surface *surface, double offset, sp_field *field,
                        sp_distance_report *report)
{
    int status;
    sp_pool pool = {0};
    sp_surface level = {0};
    sp_closest *closest = NULL;
    const sp_grid grid = sp_field_grid(field);
    uint64_t *outer = sp_grid_bits(&pool, &grid);

    SP_TRY(sp_allocated(context, outer));

    /* The unsigned field of the soup, and its vertices beyond the offset that are connected with the walls */
    SP_TRY(sp_closest_new(context, surface, &closest));
    SP_TRY(sp_field_distances(context, closest, BEFORE_OFFSET, field));
    SP_TRY(sp_field_outer(context, field, offset, outer));
    SP_TRY(check_offset(context, field, outer, offset));

    for (int64_t row = 0; row < sp_grid_rows(&grid); row++)
        for (int64_t x = 0; x < grid.cells[0]; x++)
            report->dropped_vertices +=
                (double)field->distance[row * grid.cells[0] + x] > offset && !sp_grid_test(&grid, outer, x, row);

    /* The level set takes the place of the soup: the tree of the soup is not needed beside it. */
    SP_TRY(sp_isosurface(context, field, offset, outer, &level));
    sp_closest_free(closest);
    closest = NULL;
    report->offset = offset;
    report->offset_triangles = level.triangle_count;

    SP_TRY(sp_closest_new(context, &level, &closest));
    SP_TRY(sp_field_distances(context, closest, OF_OFFSET, field));
    SP_TRY(sp_field_set_known(context, &level, closest, outer, field, report));
done:
    sp_closest_free(closest);
    sp_surface_free(&level);
    sp_pool_free(&pool);
    return status;
}

int sp_distance_field(sp_context *context, const sp_surface *surface, const sp_distance_parameters *p, sp_field *field,
                      sp_distance_report *report)
{
    int status;
    sp_closest *closest = NULL;

    *report = (sp_distance_report){.sign = p->sign};
    SP_TRY(sp_field_place(context, surface, p->cells, p->scale, p->cube, field));
    const double offset = p->offset > 0 ? p->offset : OFFSET_CELLS * field->spacing;

    if (p->sign == SP_FIELD_OFFSET) {
        if (!(offset >= LEAST_CELLS * field->spacing)) {
            status =
                sp_fail(context, SP_INPUT,
                        "an offset of %g m is below %.4g of a cell: the surface would fall between the vertices; the "
                        "smallest is %.4g m, or less with more cells",
                        offset, LEAST_CELLS, sp_round_up(LEAST_CELLS * field->spacing));
            goto done;
        }
        SP_TRY(offset_field(context, surface, offset, field, report));
    } else {
        SP_TRY(sp_closest_new(context, surface, &closest));
        SP_TRY(sp_field_distances(context, closest, FIRST, field));
        sp_closest_free(closest);
        closest = NULL;
        if (p->sign != SP_FIELD_UNSIGNED)
            SP_TRY(sp_field_set_signs(context, surface, p->sign, field, report));
    }

    report->boundary = sp_field_boundary(field);
    status = sp_progress(context, 1);
done:
    sp_closest_free(closest);
    if (status != SP_OK)
        sp_field_free(field);
    return status;
}
