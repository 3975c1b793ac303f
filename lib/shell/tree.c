/* The tree of nested spheres over the levels of a pointshell (thesis §3.7, §3.9): parents, radii, bounds of
 * deformation. */
#include "shell/shell.h"

#include <math.h>

#include "shell/boxes.h"

/* More than the rounding of a distance: three differences, squares, two sums and a root. */
static const double ROUNDED_UP = 1 + 8 * 2.220446049250313e-16;

static double distance(const double *a, const double *b, int64_t stride)
{
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += (a[k * stride] - b[k * stride]) * (a[k * stride] - b[k * stride]);
    return sqrt(square) * ROUNDED_UP;
}

int sp_shell_tree(sp_context *context, sp_shell *shell)
{
    int status = SP_OK;
    shell->radius = sp_pool_new(&shell->pool, sp_shell_inner(shell), sizeof *shell->radius);
    if (!shell->radius)
        return sp_fail_memory(context);
    for (int64_t p = 0; p < shell->cumulative[0]; p++)
        shell->parent[p] = -1;
    for (int k = 1; k < shell->levels; k++) {
        sp_box_tree tree;
        SP_TRY(sp_box_tree_new(context, shell->cumulative[k - 1], shell->points, shell->points, &tree));
#pragma omp parallel for schedule(dynamic, 256) num_threads(context->threads)
        for (int64_t p = shell->cumulative[k - 1]; p < shell->cumulative[k]; p++) {
            double square;
            shell->parent[p] = sp_box_tree_nearest_point(&tree, shell->points, shell->points + 3 * p, &square);
        }
        sp_box_tree_free(&tree);
    }
    /* Upward from each point through all spheres that must hold it. */
    for (int64_t p = 0; p < shell->count; p++) {
        int64_t c = p;
        for (int k = shell->levels - 1; k >= 1; k--) {
            c = c < shell->cumulative[k - 1] ? c : shell->parent[c];
            const double d = distance(shell->points + 3 * p, shell->points + 3 * c, 1);
            double *radius = &shell->radius[sp_shell_node(shell, k, c)];
            *radius = d > *radius ? d : *radius;
        }
    }
done:
    return status;
}

int sp_shell_bounds(sp_context *context, sp_shell *shell)
{
    const int64_t r = shell->modes;
    shell->a = sp_pool_new(&shell->pool, r * sp_shell_inner(shell), sizeof *shell->a);
    if (!shell->a)
        return sp_fail_memory(context);
    for (int64_t p = 0; p < shell->count; p++) {
        int64_t c = p;
        for (int k = shell->levels - 1; k >= 1; k--) {
            c = c < shell->cumulative[k - 1] ? c : shell->parent[c];
            double *a = shell->a + r * sp_shell_node(shell, k, c);
            for (int64_t j = 0; j < r && c != p; j++) {
                const double d = distance(shell->U + 3 * r * p + j, shell->U + 3 * r * c + j, r);
                a[j] = d > a[j] ? d : a[j];
            }
        }
    }
    return sp_progress(context, 1);
}
