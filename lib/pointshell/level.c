#include "pointshell/level.h"

#include <math.h>

#include "base/vec3.h"
#include "geometry/isosurface.h"
#include "geometry/winding.h"
#include "pointshell/sample.h"

/* The default offset in cells (thesis Figure 3.15), and the least one, since the nearest vertex of a point is at most
 * half a cell diagonal away. */
static const double OFFSET_CELLS = 1.4, LEAST_CELLS = 0.8660254037844387;

/* A point of a triangle is on a side or corner if it is within this distance, relative to the size of the surface. */
static const double NEAR = 1e-9;

enum { CELLS = 256, CELLS_MAX = 1024, STEPS = 200, PROBES = 4096 };

static double diagonal(const sp_surface *surface, double *longest)
{
    double low[3], high[3], square = 0;

    sp_surface_box(surface, low, high);
    *longest = 0;
    for (int k = 0; k < 3; k++) {
        square += (high[k] - low[k]) * (high[k] - low[k]);
        *longest = fmax(*longest, high[k] - low[k]);
    }
    return sqrt(square);
}

/* ---- an offset ---- */

static int place_grid(sp_context *context, const sp_surface *model, double offset, double cell, sp_field *field)
{
    double low[3], high[3], total = 1;
    const double margin = offset + 2 * cell;

    sp_surface_box(model, low, high);
    *field = (sp_field){.spacing = cell};

    /* The level set must be inside the grid, with two cells to spare. */
    for (int k = 0; k < 3; k++) {
        const double n = ceil((high[k] - low[k] + 2 * margin) / cell);
        if (!(n <= SP_FIELD_CELLS_MAX && cell > 1e-12 * fmax(fabs(low[k]), fabs(high[k]))))
            return sp_fail(context, SP_INPUT, "an offset of %g m needs cells of %g m, too small for this model", offset,
                           cell);
        field->cells[k] = (int64_t)n;
        field->origin[k] = low[k] + 0.5 * (high[k] - low[k]) - 0.5 * n * cell;
        total *= n + 1;
    }

    if (total > 2147483648.0)
        return sp_fail(context, SP_INPUT, "an offset of %g m on cells of %g m needs a grid of more than 2^31 vertices",
                       offset, cell);

    field->distance = sp_pool_raw(&field->pool, sp_field_vertices(field), sizeof *field->distance);
    return sp_allocated(context, field->distance);
}

static int use_offset(sp_context *context, const sp_surface *model, double offset, double cell, sp_level *level)
{
    int status;
    sp_field field = {0};
    sp_pool pool = {0};
    static const double span[2] = {0, 0.1};

    SP_TRY(sp_closest_new(context, model, &level->closest));
    SP_TRY(place_grid(context, model, offset, cell, &field));
    SP_TRY(sp_field_distances(context, level->closest, span, &field));

    /* The outermost level set only: components inside another one are not part of the shell. */
    const sp_grid grid = sp_field_grid(&field);
    uint64_t *outer = sp_grid_bits(&pool, &grid);
    SP_TRY(sp_allocated(context, outer));

    SP_TRY(sp_field_outer(context, &field, offset, outer));
    SP_TRY(sp_isosurface(context, &field, offset, outer, &level->surface));

    level->kind = SP_LEVEL_OFFSET;
    level->value = offset;
    level->cell = cell;
done:
    sp_pool_free(&pool);
    sp_field_free(&field);
    return status;
}

static int choose_offset(sp_context *context, const sp_surface *model, double offset, int64_t cells, double longest,
                         sp_level *level)
{
    /* Without a number of cells: CELLS of them, or smaller ones if the offset asks for it */
    double cell = longest / (double)CELLS;
    if (cells > 0)
        cell = longest / (double)cells;
    else if (offset > 0)
        cell = fmin((longest + 2 * offset) / (double)CELLS, offset / OFFSET_CELLS);

    if (offset <= 0)
        offset = OFFSET_CELLS * cell;

    if (!(offset >= LEAST_CELLS * cell))
        return sp_fail(context, SP_INPUT,
                       "an offset of %g m is below %.4g of a cell: the surface would fall between the vertices; the "
                       "smallest is %.4g m, or less with more cells",
                       offset, LEAST_CELLS, sp_round_up(LEAST_CELLS * cell));
    if (cells <= 0 && !((longest + 2 * offset) / cell <= CELLS_MAX))
        return sp_fail(context, SP_INPUT,
                       "an offset of %g m of a model of %g m needs more than %d cells: the smallest is %.4g m", offset,
                       longest, CELLS_MAX, sp_round_up(OFFSET_CELLS * longest / (CELLS_MAX - 2 * OFFSET_CELLS)));
    return use_offset(context, model, offset, cell, level);
}

/* ---- a closed manifold ---- */

/* Tests at a sample of points whether the winding numbers on both sides agree with the normal. */
static int find_self_intersections(sp_context *context, sp_level *level)
{
    int status;
    sp_area area = {0};
    sp_winding *winding = NULL;
    int64_t wrong = 0;
    const double step = 1e-6 * level->size;

    SP_TRY(sp_area_new(context, &level->surface, &area));
    SP_TRY(sp_winding_new(context, &level->surface, &winding));

#pragma omp parallel for schedule(static) reduction(+ : wrong) num_threads(context->threads)
    for (int64_t i = 0; i < PROBES; i++) {
        double x[3], normal[3], in[3], out[3];

        /* Pseudonormals point inward here: a point ahead is inside, one behind outside. */
        sp_area_point(&area, ((double)i + 0.5) / PROBES, x);
        sp_level_project(level, step, 0, x, normal);
        for (int k = 0; k < 3; k++) {
            in[k] = x[k] + step * normal[k];
            out[k] = x[k] - step * normal[k];
        }

        wrong += !sp_winding_inside(winding, in) || sp_winding_inside(winding, out);
    }

    level->meets_itself = wrong > 0;
done:
    sp_winding_free(winding);
    sp_area_free(&area);
    return status;
}

/* Makes the repaired model the level; *good is set if it is a closed manifold. */
static int use_surface(sp_context *context, const sp_surface *model, sp_level *level, bool *good)
{
    int status;

    SP_TRY(sp_surface_orient(context, model, &level->surface, &level->orient));
    *good = false;
    if (level->surface.triangle_count == 0)
        goto done;

    SP_TRY(sp_pseudonormals_new(context, &level->surface, &level->manifold, &level->normals));
    level->closed = level->orient.open_edges == 0;
    *good = level->closed && level->manifold;
    if (!*good)
        goto done;

    double longest;
    level->size = diagonal(&level->surface, &longest);
    SP_TRY(sp_closest_new(context, &level->surface, &level->closest));
    level->kind = SP_LEVEL_SURFACE;
    SP_TRY(find_self_intersections(context, level));
done:
    return status;
}

int sp_level_model(sp_context *context, const sp_surface *model, double offset, int64_t cells, sp_level *level)
{
    int status = SP_OK;
    double longest;
    bool good = false;
    *level = (sp_level){0};

    if (model->triangle_count < 1)
        return sp_fail(context, SP_INPUT, "the model has no triangles");

    level->size = diagonal(model, &longest);
    if (!(longest > 1e-30 && longest < 1e30))
        return sp_fail(context, SP_INPUT, "the model has no usable extent: its longest side is %g m", longest);

    /* 0 demands the surface itself; below 0 it is taken where it is usable. */
    if (offset <= 0) {
        SP_TRY(use_surface(context, model, level, &good));
        if (!good && offset == 0) {
            status = level->surface.triangle_count == 0
                         ? sp_fail(context, SP_INPUT,
                                   "the model has no area: a pointshell needs a closed surface, an offset makes one")
                         : sp_fail(context, SP_INPUT,
                                   "the model is %s (%lld open edges after the repair): a pointshell needs a closed "
                                   "surface, an offset makes one",
                                   level->closed ? "no manifold" : "open", (long long)level->orient.open_edges);
            goto done;
        }
    }

    /* Otherwise an offset surface takes its place. */
    if (!good || (offset < 0 && level->meets_itself)) {
        sp_pool_free(&level->normals.pool);
        sp_closest_free(level->closest);
        sp_surface_free(&level->surface);
        level->closest = NULL;
        SP_TRY(choose_offset(context, model, offset, cells, longest, level));
        level->size = diagonal(&level->surface, &longest);
    }
done:
    if (status != SP_OK)
        sp_level_free(level);
    return status;
}

int sp_level_field(sp_context *context, const sp_field *field, double value, bool outer, sp_level *level)
{
    int status;
    double longest;
    sp_pool pool = {0};
    const sp_grid grid = sp_field_grid(field);
    uint64_t *bits = NULL;
    *level = (sp_level){.kind = SP_LEVEL_FIELD, .value = value, .field = field, .cell = field->spacing};

    if (sp_field_meets_box(field, value)) {
        status = sp_fail(context, SP_INPUT, "the surface at %g m meets the box of the field and is open there", value);
        goto done;
    }

    /* The outermost level set only, as in use_offset */
    if (outer) {
        bits = sp_grid_bits(&pool, &grid);
        SP_TRY(sp_allocated(context, bits));
        SP_TRY(sp_field_outer(context, field, value, bits));
    }

    SP_TRY(sp_isosurface(context, field, value, bits, &level->surface));
    if (level->surface.triangle_count == 0) {
        status = sp_fail(context, SP_INPUT, "no point of the field is at %g m", value);
        goto done;
    }

    level->size = diagonal(&level->surface, &longest);
done:
    sp_pool_free(&pool);
    if (status != SP_OK)
        sp_level_free(level);
    return status;
}

void sp_level_free(sp_level *level)
{
    sp_pool_free(&level->normals.pool);
    sp_closest_free(level->closest);
    sp_surface_free(&level->surface);
    *level = (sp_level){0};
}

/* ---- projection of points to the level set ---- */

/* The feature that a point of a triangle is on: a corner or side if it is on one up to rounding, which would otherwise
 * choose at random between the normals of the adjacent faces. */
static int feature_at(const sp_level *level, int64_t triangle, const double point[3])
{
    const double near = NEAR * NEAR * level->size * level->size;
    int on = SP_ON_FACE;

    for (int c = 0; c < 3; c++) {
        const double *a = level->surface.vertices + 3 * level->surface.triangles[3 * triangle + c];
        const double *b = level->surface.vertices + 3 * level->surface.triangles[3 * triangle + (c + 1) % 3];
        const double v[3] = {point[0] - a[0], point[1] - a[1], point[2] - a[2]},
                     e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};

        /* Near a corner, or near the line of a side */
        const double square = sp_dot3(v, v), along = sp_dot3(v, e);
        if (square <= near)
            return SP_ON_CORNER + c;

        /* A coarse test only, since it cancels */
        if (square - along * along / sp_dot3(e, e) <= near + 1e-14 * square) {
            double w[3];
            for (int k = 0; k < 3; k++)
                w[k] = v[k] - along / sp_dot3(e, e) * e[k];
            on = sp_dot3(w, w) <= near ? SP_ON_SIDE + c : on;
        }
    }
    return on;
}

static double project_surface(const sp_level *level, double reach, double point[3], double normal[3])
{
    sp_nearest nearest;

    sp_closest_find_within(level->closest, reach, point, &nearest);
    for (int k = 0; k < 3; k++)
        point[k] -= nearest.offset[k];
    nearest.on = feature_at(level, nearest.triangle, point);

    const double *n = sp_pseudonormals_find(&level->normals, &nearest),
                 *face = level->normals.face + 3 * nearest.triangle;
    for (int k = 0; k < 3; k++)
        normal[k] = 0 - n[k]; /* avoids negative zeros */

    /* The sum of normals around a corner of a sheet that is folded on itself may vanish. */
    if (!(sp_dot3(normal, normal) > 1e-24))
        for (int k = 0; k < 3; k++)
            normal[k] = -face[k];
    sp_normalize3(normal);
    return 0;
}

static double project_offset(const sp_level *level, double reach, double tolerance, double point[3], double normal[3])
{
    double rest = INFINITY;

    /* Newton's method along the line to the nearest point of the model: the distance has slope 1. */
    reach = (reach + level->value) * (1 + 1e-6);
    for (int step = 0; step < STEPS; step++) {
        sp_nearest nearest;
        sp_closest_find_within(level->closest, reach, point, &nearest);
        rest = nearest.distance - level->value;
        reach = (nearest.distance + fabs(rest)) * (1 + 1e-6);

        if (!(nearest.distance > 0))
            break; /* on the model, which gives no direction */
        for (int k = 0; k < 3; k++)
            normal[k] = 0 - nearest.offset[k] / nearest.distance;

        if (fabs(rest) <= tolerance)
            break;
        for (int k = 0; k < 3; k++)
            point[k] += rest * normal[k];
    }
    sp_normalize3(normal);
    return fabs(rest);
}

static double project_field(const sp_level *level, double tolerance, double point[3], double normal[3])
{
    const sp_field *f = level->field;
    const double longest = f->spacing;
    double rest = INFINITY, gradient[3];

    /* Newton's method along the gradient, in steps of at most one cell */
    for (int step = 0; step < STEPS; step++) {
        rest = sp_field_interpolate(f, point, gradient) - level->value;

        const double square = sp_dot3(gradient, gradient);
        if (fabs(rest) <= tolerance || !(square > 0))
            break;

        const double move =
            fabs(rest) / sqrt(square) > longest ? longest / sqrt(square) * (rest > 0 ? 1 : -1) : rest / square;
        for (int k = 0; k < 3; k++)
            point[k] -= move * gradient[k];
    }

    /* Central differences over a cell: the gradient of the interpolant jumps between cells. */
    for (int k = 0; k < 3; k++) {
        double ahead[3] = {point[0], point[1], point[2]}, behind[3] = {point[0], point[1], point[2]};
        ahead[k] += 0.5 * f->spacing;
        behind[k] -= 0.5 * f->spacing;
        normal[k] = sp_field_interpolate(f, behind, NULL) - sp_field_interpolate(f, ahead, NULL);
    }

    if (!sp_normalize3(normal)) {
        for (int k = 0; k < 3; k++)
            normal[k] = -gradient[k];
        if (!sp_normalize3(normal))
            normal[2] = 1;
    }
    return fabs(rest);
}

double sp_level_project(const sp_level *level, double reach, double tolerance, double point[3], double normal[3])
{
    if (level->kind == SP_LEVEL_SURFACE)
        return project_surface(level, reach, point, normal);
    return level->kind == SP_LEVEL_OFFSET ? project_offset(level, reach, tolerance, point, normal)
                                          : project_field(level, tolerance, point, normal);
}

double sp_level_clear(const sp_level *level, const double point[3], const double step[3])
{
    const double length = sp_norm3(step), keep = 0.5 * level->value;
    /* Interpolated distances may have a slope of up to √3. */
    const double steepest = level->kind == SP_LEVEL_FIELD ? 2 : 1;
    double distance = level->value, way = 0;

    if (level->kind == SP_LEVEL_SURFACE || !(level->value > 0))
        return 1;

    /* Sphere tracing: no surface is nearer than the distance, so that the point may advance by it. It stops where
     * less than half of the level is left. */
    while (distance > 1.5 * keep) {
        double at[3];
        const double advance = (distance - keep) / steepest;
        way += advance;
        if (way >= length)
            return 1;

        for (int k = 0; k < 3; k++)
            at[k] = point[k] + way / length * step[k];

        if (level->kind == SP_LEVEL_FIELD)
            distance = sp_field_interpolate(level->field, at, NULL);
        else {
            sp_nearest nearest;
            sp_closest_find_within(level->closest, (distance + advance) * (1 + 1e-6), at, &nearest);
            distance = nearest.distance;
        }
    }
    return way / length;
}
