#include "contact/distance.h"

#include <float.h>
#include <math.h>

#include "contact/deformed.h"
#include "contact/voxmap.h"

/* Normalizes v and returns its length; v becomes (1, 0, 0) if it is 0. */
static double normalize(double v[3])
{
    double size = 1, square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    if (!(square > 1e-200 && square < 1e200)) { /* squares outside the range of doubles */
        size = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2]));
        if (!(size > 0)) {
            v[0] = 1;
            v[1] = v[2] = 0;
            return 0;
        }

        square = 0;
        for (int k = 0; k < 3; k++) {
            v[k] /= size;
            square += v[k] * v[k];
        }
    }

    const double length = sqrt(square);
    for (int k = 0; k < 3; k++)
        v[k] /= length;
    return fmin(size * length, DBL_MAX);
}

static double box_distance(const sp_distance *box, const double x[3], double direction[3])
{
    double beyond[3], side[3], deepest = -INFINITY;
    int face = 0;
    bool outside = false;

    for (int k = 0; k < 3; k++) {
        const double p = x[k] - box->centre[k], q = fabs(p) - box->half[k];
        side[k] = p < 0 ? -1 : 1;
        outside |= q > 0;
        beyond[k] = q > 0 ? q : 0;
        if (q > deepest) {
            deepest = q;
            face = k;
        }
    }

    /* Inside, the nearest face */
    if (!outside) {
        for (int k = 0; k < 3; k++)
            direction[k] = k == face ? side[k] : 0;
        return deepest;
    }

    /* Outside, the nearest point of the box */
    const double length = normalize(beyond);
    for (int k = 0; k < 3; k++)
        direction[k] = side[k] * beyond[k];
    return length;
}

/* Returns true if a vertex of the layer `at` across an axis is negative, among those from low[k] to high[k] along the
 * other axes. */
static bool negative_layer(const sp_field *field, int axis, int64_t at, const int64_t low[3], const int64_t high[3])
{
    int64_t from[3], to[3];
    for (int k = 0; k < 3; k++) {
        from[k] = k == axis ? at : low[k];
        to[k] = k == axis ? at : high[k];
    }

    for (int64_t z = from[2]; z <= to[2]; z++)
        for (int64_t y = from[1]; y <= to[1]; y++)
            for (int64_t x = from[0]; x <= to[0]; x++)
                if (field->distance[sp_field_index(field, x, y, z)] < 0)
                    return true;
    return false;
}

/* Proceeds from the faces inward, so that only layers outside are read. */
static void find_inside(const sp_field *field, sp_box *inside)
{
    int64_t low[3] = {0, 0, 0}, high[3] = {field->cells[0], field->cells[1], field->cells[2]};
    for (int k = 2; k >= 0; k--) {
        while (low[k] <= high[k] && !negative_layer(field, k, low[k], low, high))
            low[k]++;
        while (high[k] > low[k] && !negative_layer(field, k, high[k], low, high))
            high[k]--;
    }

    /* All cells around a negative vertex are partly negative. */
    for (int k = 0; k < 3; k++) {
        const bool empty = low[k] > high[k];
        const double first = low[k] > 0 ? (double)low[k] - 1 : 0,
                     last = high[k] < field->cells[k] ? (double)high[k] + 1 : (double)field->cells[k];
        inside->low[k] = empty ? INFINITY : field->origin[k] + field->spacing * first;
        inside->high[k] = empty ? -INFINITY : field->origin[k] + field->spacing * last;
    }
}

void sp_distance_of_field(const sp_field *field, sp_distance *distance)
{
    double square = 0;
    *distance = (sp_distance){
        .kind = SP_DISTANCE_GRID, .field = field, .boundary = sp_field_boundary(field), .scale = 1 / field->spacing};
    for (int k = 0; k < 3; k++) {
        distance->size[k] = (double)field->cells[k];
        square += distance->size[k] * distance->size[k];
    }

    find_inside(field, &distance->inside);
    /* No distance in the box is larger than that at one corner plus the diagonal. Two of them are rounded by 2^-24
     * each, and lookups in double precision are well within the other half of 2^-22. */
    const double largest = fabs((double)field->distance[0]) + sqrt(square) * field->spacing;
    distance->slack = sqrt(3) * field->spacing + ldexp(largest, -22);
}

static double nowhere(double gradient[3])
{
    if (gradient)
        gradient[0] = gradient[1] = gradient[2] = 0;
    return INFINITY;
}

static bool finite3(const double x[3])
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

double sp_distance_beyond(const sp_distance *grid, const double x[3], double gradient[3])
{
    const sp_field *field = grid->field;
    double gap[3], square = 0;
    bool outside = false;

    if (!finite3(x))
        return nowhere(gradient);

    for (int k = 0; k < 3; k++) {
        const double below = field->origin[k] - x[k], above = -below - field->spacing * grid->size[k];
        const double beyond = below > above ? below : above;
        gap[k] = beyond > 0 ? beyond : 0;
        outside |= beyond > 0;
        square += gap[k] * gap[k];
    }

    if (!outside)
        return sp_field_interpolate(field, x, gradient);
    nowhere(gradient);
    return (square < 1e200 ? sqrt(square) : normalize(gap)) + grid->boundary;
}

double sp_distance_at(const sp_distance *distance, const double x[3], double gradient[3])
{
    double direction[3], t[3], value = 0;
    if (distance->kind == SP_DISTANCE_GRID) {
        const float *lowest = sp_distance_cell(distance, x, t);
        return lowest ? sp_distance_inside(distance, lowest, t, gradient) : sp_distance_beyond(distance, x, gradient);
    }

    if (!finite3(x))
        return nowhere(gradient);

    switch (distance->kind) {
    case SP_DISTANCE_PLANE:
        value = distance->normal[0] * x[0] + distance->normal[1] * x[1] + distance->normal[2] * x[2] - distance->offset;
        value = fmin(fmax(value, -DBL_MAX), DBL_MAX);
        for (int k = 0; k < 3; k++)
            direction[k] = distance->normal[k];
        break;
    case SP_DISTANCE_SPHERE:
        for (int k = 0; k < 3; k++)
            direction[k] = x[k] - distance->centre[k];
        value = normalize(direction) - distance->radius;
        break;
    case SP_DISTANCE_BOX:
        value = box_distance(distance, x, direction);
        break;
    case SP_DISTANCE_DEFORMED:
        return sp_deformed_field_at(distance->deformed, x, gradient, NULL);
    default:
        value = sp_voxmap_at(distance->voxmap, x, NULL) == SP_VOXEL_FREE ? sp_voxmap_spacing(distance->voxmap) : 0;
        direction[0] = direction[1] = direction[2] = 0;
    }

    for (int k = 0; k < 3 && gradient; k++)
        gradient[k] = direction[k];
    return value;
}

/* (I − e eᵀ)/ρ for x at ρ e from the centre. */
static void sphere_curvature(const sp_distance *sphere, const double x[3], double H[9])
{
    double e[3] = {x[0] - sphere->centre[0], x[1] - sphere->centre[1], x[2] - sphere->centre[2]};
    const double rho = normalize(e);
    for (int i = 0; i < 9 && rho > 0; i++)
        H[i] = ((i % 4 == 0) - e[i / 3] * e[i % 3]) / rho;
}

/* Outside the box, the same along the axes on which the point is beyond it; inside, the nearest face is flat. */
static void box_curvature(const sp_distance *box, const double x[3], double H[9])
{
    double e[3];
    bool beyond[3];

    for (int k = 0; k < 3; k++) {
        const double p = x[k] - box->centre[k];
        beyond[k] = fabs(p) > box->half[k];
        e[k] = beyond[k] ? p - copysign(box->half[k], p) : 0;
    }

    /* H = (1 − e eᵀ)/ρ with the normalized e */
    const double rho = normalize(e);
    for (int i = 0; i < 9 && rho > 0; i++)
        H[i] = beyond[i / 3] && beyond[i % 3] ? ((i % 4 == 0) - e[i / 3] * e[i % 3]) / rho : 0;
}

/* A trilinear interpolant has mixed derivatives only. */
static void grid_curvature(const sp_distance *grid, const double x[3], double H[9])
{
    double t[3];
    const float *v = sp_distance_cell(grid, x, t);
    if (!v)
        return;

    const int64_t row = grid->field->cells[0] + 1, step[3] = {1, row, row * (grid->field->cells[1] + 1)};

    /* ∂²φ/∂x_i∂x_j = (the mixed difference over both axes, linear along the third) / h² */
    for (int k = 0; k < 3; k++) {
        const int64_t a = step[(k + 1) % 3], b = step[(k + 2) % 3], c = step[k];
        const double low = (double)v[a + b] - v[a] - v[b] + v[0],
                     high = (double)v[a + b + c] - v[a + c] - v[b + c] + v[c];
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        H[3 * i + j] = H[3 * j + i] = grid->scale * grid->scale * (low + t[k] * (high - low));
    }
}

void sp_distance_curvature(const sp_distance *distance, const double x[3], double H[9])
{
    memset(H, 0, 9 * sizeof *H);
    if (!finite3(x))
        return;
    if (distance->kind == SP_DISTANCE_SPHERE)
        sphere_curvature(distance, x, H);
    else if (distance->kind == SP_DISTANCE_BOX)
        box_curvature(distance, x, H);
    else if (distance->kind == SP_DISTANCE_GRID)
        grid_curvature(distance, x, H);
}
