#include "pointshell/order.h"

#include <math.h>

#include "pointshell/boxes.h"

typedef struct farthest {
    const sp_box_tree *tree;
    const double *points;
    double *square;  /* [points] to the nearest point in the order; −1: the point is in the order itself */
    double *largest; /* [nodes] of `square` below */
    int64_t *where;  /* [nodes] the lowest point with that value */
} farthest;

static void settle(farthest *f, int64_t node, double square, int64_t point)
{
    if (square > f->largest[node] || (square == f->largest[node] && point < f->where[node])) {
        f->largest[node] = square;
        f->where[node] = point;
    }
}

/* Updates the distances below a node for a new point; a node is skipped if none of its points is nearer to the new one.
 */
static void update(farthest *f, int64_t at, const double x[3])
{
    const sp_box_node *node = &f->tree->nodes[at];
    if (sp_box_square(node->low, node->high, x) >= f->largest[at])
        return;

    /* −2 is below every value, so that the first that follows takes its place. */
    f->largest[at] = -2;

    if (!node->right) {
        for (int64_t i = node->begin; i < node->end; i++) {
            const int64_t p = f->tree->item[i];
            double square = 0;
            for (int k = 0; k < 3; k++)
                square += (f->points[3 * p + k] - x[k]) * (f->points[3 * p + k] - x[k]);
            f->square[p] = square < f->square[p] ? square : f->square[p];
            settle(f, at, f->square[p], p);
        }
        return;
    }

    update(f, at + 1, x);
    update(f, node->right, x);
    settle(f, at, f->largest[at + 1], f->where[at + 1]);
    settle(f, at, f->largest[node->right], f->where[node->right]);
}

/* Marks a point as ordered by −1, which is below every distance, so that points at the same position are ordered too,
 * last. */
static void add_point(farthest *f, int64_t at, const double x[3], int64_t point)
{
    const sp_box_node *node = &f->tree->nodes[at];
    if (sp_box_square(node->low, node->high, x) > 0)
        return;

    f->largest[at] = -2;
    if (!node->right) {
        for (int64_t i = node->begin; i < node->end; i++) {
            const int64_t p = f->tree->item[i];
            f->square[p] = p == point ? -1 : f->square[p];
            settle(f, at, f->square[p], p);
        }
        return;
    }

    add_point(f, at + 1, x, point);
    add_point(f, node->right, x, point);
    settle(f, at, f->largest[at + 1], f->where[at + 1]);
    settle(f, at, f->largest[node->right], f->where[node->right]);
}

int sp_farthest_order(sp_context *context, int64_t count, const double *points, int64_t seed, int64_t most,
                      int64_t *order)
{
    int status;
    sp_pool pool = {0};
    sp_box_tree tree = {0};

    SP_TRY(sp_box_tree_new(context, count, points, points, &tree));
    farthest f = {.tree = &tree,
                  .points = points,
                  .square = sp_pool_raw(&pool, count, sizeof(double)),
                  .largest = sp_pool_raw(&pool, tree.node_count, sizeof(double)),
                  .where = sp_pool_raw(&pool, tree.node_count, sizeof(int64_t))};
    SP_TRY(sp_allocated(context, !pool.failed));

    /* At first every point is infinitely far, and the seed is taken whatever it is. */
    for (int64_t i = 0; i < count; i++)
        f.square[i] = INFINITY;
    for (int64_t i = 0; i < tree.node_count; i++)
        f.largest[i] = INFINITY;

    /* The farthest point of all is the one at the root. It comes nearer to others, and then leaves the candidates. */
    for (int64_t i = 0; i < most; i++) {
        const int64_t next = i == 0 ? seed : f.where[0];
        order[i] = next;
        update(&f, 0, points + 3 * next);
        add_point(&f, 0, points + 3 * next, next);

        if (i % 4096 == 0)
            SP_TRY(sp_progress(context, 0.2 + 0.6 * (double)i / (double)most));
    }
done:
    sp_box_tree_free(&tree);
    sp_pool_free(&pool);
    return status;
}
