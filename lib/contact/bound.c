#include "contact/bound.h"

#include <math.h>
#include <string.h>

#include "contact/deformed.h"
#include "contact/voxmap.h"

/* Relative to lengths and coordinates; far above the rounding of positions and distances (contact/traverse.c). */
static const double ROUNDING = 1e-12;

void sp_bound_of_pointshell(const sp_contact_pointshell *pointshell, const double *q, sp_bound *bound)
{
    const double reach = sp_contact_pointshell_reach(pointshell, q);
    memcpy(bound->centre, pointshell->centre, sizeof bound->centre);
    for (int k = 0; k < 3; k++)
        bound->half[k] = pointshell->half[k] + reach;
    bound->radius = pointshell->extent + reach;
}

/* The radius is NaN for an empty box, whose bounds are therefore empty. */
static void bound_of_box(const sp_box *box, sp_bound *bound)
{
    for (int k = 0; k < 3; k++) {
        bound->centre[k] = 0.5 * box->low[k] + 0.5 * box->high[k];
        bound->half[k] = 0.5 * box->high[k] - 0.5 * box->low[k];
    }
    bound->radius = bound->half[0] >= 0 ? sp_norm3(bound->half) : NAN;
}

void sp_bound_of_distance(const sp_distance *distance, sp_bound *bound)
{
    sp_box box;
    *bound = (sp_bound){.radius = INFINITY, .half = {INFINITY, INFINITY, INFINITY}};
    switch (distance->kind) {
    case SP_DISTANCE_PLANE:
        return;
    case SP_DISTANCE_SPHERE:
    case SP_DISTANCE_BOX:
        memcpy(bound->centre, distance->centre, sizeof bound->centre);
        for (int k = 0; k < 3; k++)
            bound->half[k] = distance->kind == SP_DISTANCE_BOX ? distance->half[k] : distance->radius;
        bound->radius = distance->kind == SP_DISTANCE_BOX ? sp_norm3(distance->half) : distance->radius;
        return;
    case SP_DISTANCE_GRID:
        box = distance->inside;
        break;
    case SP_DISTANCE_DEFORMED:
        sp_deformed_field_box(distance->deformed, &box);
        break;
    default:
        sp_voxmap_box(distance->voxmap, &box);
    }
    bound_of_box(&box, bound);
}

void sp_bound_place(const sp_bound *bound, const sp_pose *pose, sp_box *box)
{
    double R[9], centre[3];

    sp_quaternion_matrix(pose->q, R);
    sp_rotate(R, bound->centre, centre);
    for (int k = 0; k < 3; k++)
        centre[k] += pose->x[k];

    const double slack = ROUNDING * (sp_norm3(pose->x) + sp_norm3(bound->centre) + bound->radius);

    /* The half sides of the rotated box, |R| half, or those of the sphere where it is smaller */
    for (int k = 0; k < 3; k++) {
        double half = 0;
        for (int j = 0; j < 3 && bound->radius < INFINITY; j++)
            half += fabs(R[3 * k + j]) * bound->half[j];
        half = (bound->radius <= half || bound->radius == INFINITY ? bound->radius : half) + slack;
        box->low[k] = centre[k] - half;
        box->high[k] = centre[k] + half;
    }
}

static double square(double x)
{
    return x * x;
}

bool sp_bounds_apart(const sp_bound *points, const sp_pose *pose, const sp_distance *distance, const sp_bound *solid,
                     const sp_pose *field)
{
    double A[9], B[9], scene[3], x[3], gap = 0;
    sp_quaternion_matrix(pose->q, A);
    sp_quaternion_matrix(field->q, B);

    /* The centre of the points in the frame of the field */
    sp_rotate(A, points->centre, scene);
    for (int k = 0; k < 3; k++)
        scene[k] += pose->x[k] - field->x[k];
    sp_rotate_back(B, scene, x);

    const double size = sp_norm3(pose->x) + sp_norm3(field->x) + sp_norm3(points->centre) + points->radius;
    if (distance->kind == SP_DISTANCE_PLANE)
        return sp_dot3(distance->normal, x) - distance->offset >
               points->radius + ROUNDING * (size + fabs(distance->offset));

    const double reach = points->radius + ROUNDING * (size + sp_norm3(solid->centre) + solid->radius);

    /* Apart if the sphere of the points misses the box of the solid, or its sphere */
    for (int k = 0; k < 3; k++) {
        x[k] -= solid->centre[k];
        const double beyond = fabs(x[k]) - solid->half[k];
        gap += beyond > 0 ? square(beyond) : 0;
    }

    return gap > square(reach) || sp_dot3(x, x) > square(reach + solid->radius);
}
