/* Signed distances in the frame of a body: analytic shapes, grids and deformed grids (thesis §3.11, §3.12). */
#ifndef SP_CONTACT_DISTANCE_H
#define SP_CONTACT_DISTANCE_H

#include <string.h>

#include "contact/broad.h"
#include "geometry/field.h"

enum sp_distance_kind {
    SP_DISTANCE_PLANE,
    SP_DISTANCE_SPHERE,
    SP_DISTANCE_BOX,
    SP_DISTANCE_GRID,
    SP_DISTANCE_DEFORMED,
    SP_DISTANCE_VOXMAP,
};

typedef struct sp_deformed_field sp_deformed_field; /* contact/deformed.h */
typedef struct sp_voxmap sp_voxmap;                 /* contact/voxmap.h */

typedef struct sp_distance {
    enum sp_distance_kind kind;
    double normal[3], offset; /* PLANE: outward unit normal n; points with n·x < offset [m] are inside */
    double centre[3], radius; /* SPHERE; BOX: its centre … */
    double half[3];           /* … and half its sides, along the axes */
    const sp_field *field;    /* GRID, with the data that sp_distance_of_field derives from it: */
    double boundary;          /* sp_field_boundary */
    double scale, size[3];    /* reciprocal of the spacing, 1/m; cells along each axis */
    sp_box inside; /* bounds all cells with a negative vertex: values outside are not negative; empty: no vertex is
                      negative */
    const sp_deformed_field *deformed;
    const sp_voxmap *voxmap;
    double slack; /* m: value(y) ≥ value(x) − |x − y| − slack for all x, and all y at which value(y) is more than a
                     lower bound. Derived below for interpolants, else 0 (up to rounding). Not applicable to DEFORMED,
                     whose distances are estimates, and to VOXMAP */
} sp_distance;

/* Sets a grid and the data derived from it; the field must outlive it. The signed distance D of a closed surface
 * changes by no more than the distance moved; its trilinear interpolant I differs from D by at most Σ w_v |v − x| ≤ h
 * √Σ_k t_k(1 − t_k) ≤ (√3/2) h. Hence I(y) ≥ I(x) − |x − y| − √3 h, and a lower bound at x is no more than D(x). slack
 * is √3 h plus the rounding error of single precision. */
void sp_distance_of_field(const sp_field *field, sp_distance *distance);

/* The signed distance at x in the body's frame, negative inside; outside a grid's box it is a lower bound (eq. 3.14).
 * gradient (NULL: not wanted) receives the gradient of the value: 0 where the value is only a bound, and of unit length
 * for the analytic shapes (at a sphere's centre and on a box's medial planes it is one of the gradients that meet
 * there). The result is finite for every finite x, and INFINITY with gradient 0 if x is not finite. A voxmap has no
 * distances without a normal (sp_voxmap_depth): the value is its spacing in free voxels, whose points are at least that
 * far from the surface, else 0, and the gradient is 0. Thread safe. */
double sp_distance_at(const sp_distance *distance, const double x[3], double gradient[3]);

/* The second derivatives H [3, 3] of that value, symmetric, m⁻¹. They are exact for the analytic shapes (0 at a
 * sphere's centre, and in a box) and within each cell of a grid, whose interpolant is trilinear. 0 outside a grid's
 * box, for DEFORMED, whose second derivatives are neglected, and for VOXMAP. Thread safe. */
void sp_distance_curvature(const sp_distance *distance, const double x[3], double H[9]);

/* ---- GRID only: inline evaluation for inner loops ---- */

/* The value of sp_distance_at outside the box. On the faces of the box rounding decides which of the two applies. */
double sp_distance_beyond(const sp_distance *grid, const double x[3], double gradient[3]);

/* The lowest vertex of the cell that contains x, with the local coordinates t of x in the cell, each in [0, 1]. NULL
 * outside the box. */
static inline const float *sp_distance_cell(const sp_distance *grid, const double x[3], double t[3])
{
    const sp_field *field = grid->field;
    const double u = (x[0] - field->origin[0]) * grid->scale, v = (x[1] - field->origin[1]) * grid->scale;
    const double w = (x[2] - field->origin[2]) * grid->scale;
    if (!((u >= 0) & (u <= grid->size[0]) & (v >= 0) & (v <= grid->size[1]) & (w >= 0) & (w <= grid->size[2])))
        return NULL;
    int64_t i = (int64_t)u, j = (int64_t)v, k = (int64_t)w;
    i -= i == field->cells[0];
    j -= j == field->cells[1];
    k -= k == field->cells[2];
    t[0] = u - (double)i;
    t[1] = v - (double)j;
    t[2] = w - (double)k;
    return field->distance + sp_field_index(field, i, j, k);
}

typedef float sp_float_pair __attribute__((vector_size(8)));
typedef double sp_pair __attribute__((vector_size(16)));

/* A value and its neighbour along x. */
static inline sp_pair sp_distance_pair(const float *value)
{
    sp_float_pair pair;
    memcpy(&pair, value, sizeof pair);
    return __builtin_convertvector(pair, sp_pair);
}

/* Trilinear interpolation in that cell, first along z, then y, then x. gradient NULL: not wanted. */
static inline double sp_distance_inside(const sp_distance *grid, const float *lowest, const double t[3],
                                        double gradient[3])
{
    const int64_t row = grid->field->cells[0] + 1;
    const float *above = lowest + row * (grid->field->cells[1] + 1);
    const sp_pair front = sp_distance_pair(lowest), back = sp_distance_pair(lowest + row);
    const sp_pair front_slope = sp_distance_pair(above) - front, back_slope = sp_distance_pair(above + row) - back;
    const sp_pair middle = front + t[2] * front_slope, slope = back + t[2] * back_slope - middle,
                  edge = middle + t[1] * slope;
    if (gradient) {
        const sp_pair rise = front_slope + t[1] * (back_slope - front_slope);
        gradient[0] = grid->scale * (edge[1] - edge[0]);
        gradient[1] = grid->scale * (slope[0] + t[0] * (slope[1] - slope[0]));
        gradient[2] = grid->scale * (rise[0] + t[0] * (rise[1] - rise[0]));
    }
    return edge[0] + t[0] * (edge[1] - edge[0]);
}

/* sp_distance_at without the gradient. */
static inline double sp_distance_lookup(const sp_distance *grid, const double x[3])
{
    double t[3];
    const float *lowest = sp_distance_cell(grid, x, t);
    return lowest ? sp_distance_inside(grid, lowest, t, NULL) : sp_distance_beyond(grid, x, NULL);
}

#endif
