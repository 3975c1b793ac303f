/* The tree of nested spheres over the levels of a point shell (thesis §3.7, §3.9): parents, radii, bounds of
 * deformation. */
#include "pointshell/pointshell.h"

#include <math.h>

#include "pointshell/boxes.h"

/* Exceeds the rounding of a distance: three differences, squares, two sums and a root. */
static const double ROUNDED_UP = 1 + 8 * 2.220446049250313e-16;

static double distance(const double *a, const double *b, int64_t stride)
{
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += (a[k * stride] - b[k * stride]) * (a[k * stride] - b[k * stride]);
    return sqrt(square) * ROUNDED_UP;
}

int sp_pointshell_tree(sp_context *context, sp_pointshell *pointshell)
{
    pointshell->radius = sp_pool_new(&pointshell->pool, sp_pointshell_inner(pointshell), sizeof *pointshell->radius);
    SP_PASS(sp_allocated(context, pointshell->radius));

    for (int64_t p = 0; p < pointshell->cumulative[0]; p++)
        pointshell->parent[p] = -1;

    /* The parent of a point of level k is the nearest of all points in the levels above. */
    for (int k = 1; k < pointshell->levels; k++) {
        sp_box_tree tree;
        SP_PASS(sp_box_tree_new(context, pointshell->cumulative[k - 1], pointshell->points, pointshell->points, &tree));
#pragma omp parallel for schedule(dynamic, 256) num_threads(context->threads)
        for (int64_t p = pointshell->cumulative[k - 1]; p < pointshell->cumulative[k]; p++) {
            double square;
            pointshell->parent[p] =
                sp_box_tree_nearest_point(&tree, pointshell->points, pointshell->points + 3 * p, &square);
        }
        sp_box_tree_free(&tree);
    }
    /* From each point upward through all spheres that must contain it. */
    for (int64_t p = 0; p < pointshell->count; p++) {
        int64_t c = p;
        for (int k = pointshell->levels - 1; k >= 1; k--) {
            c = c < pointshell->cumulative[k - 1] ? c : pointshell->parent[c];
            const double d = distance(pointshell->points + 3 * p, pointshell->points + 3 * c, 1);
            double *radius = &pointshell->radius[sp_pointshell_node(pointshell, k, c)];
            *radius = d > *radius ? d : *radius;
        }
    }
    return SP_OK;
}

int sp_pointshell_bounds(sp_context *context, sp_pointshell *pointshell)
{
    const int64_t r = pointshell->modes;

    pointshell->a = sp_pool_new(&pointshell->pool, r * sp_pointshell_inner(pointshell), sizeof *pointshell->a);
    SP_PASS(sp_allocated(context, pointshell->a));

    /* The spheres of ancestors contain p at any q: a_j bounds |U_j(p) − U_j(c)| for all p below c. */
    for (int64_t p = 0; p < pointshell->count; p++) {
        int64_t c = p;
        for (int k = pointshell->levels - 1; k >= 1; k--) {
            c = c < pointshell->cumulative[k - 1] ? c : pointshell->parent[c];
            double *a = pointshell->a + r * sp_pointshell_node(pointshell, k, c);
            if (c != p)
                for (int64_t j = 0; j < r; j++) {
                    const double d = distance(pointshell->U + 3 * r * p + j, pointshell->U + 3 * r * c + j, r);
                    a[j] = d > a[j] ? d : a[j];
                }
        }
    }
    return sp_progress(context, 1);
}
