#include "pointshell/boxes.h"

#include <math.h>

#include "geometry/morton.h"

enum { LEAF = 8, STACK = 128 };

typedef struct building {
    sp_box_tree *tree;
    const sp_morton *order;
    const double *low, *high;
} building;

static void leaf_box(const building *b, sp_box_node *node)
{
    for (int k = 0; k < 3; k++) {
        node->low[k] = INFINITY;
        node->high[k] = -INFINITY;
    }

    for (int64_t i = node->begin; i < node->end; i++)
        for (int k = 0; k < 3; k++) {
            node->low[k] = fmin(node->low[k], b->low[3 * b->tree->item[i] + k]);
            node->high[k] = fmax(node->high[k], b->high[3 * b->tree->item[i] + k]);
        }
}

/* Nodes are in depth-first order, children after their parent. The curve has 63 bits, and ranges of equal codes are
 * halved, so that the depth is below 128. */
static void build(building *b, int64_t begin, int64_t end)
{
    const int64_t at = b->tree->node_count++;
    sp_box_node *node = &b->tree->nodes[at];

    *node = (sp_box_node){.begin = begin, .end = end};
    if (end - begin <= LEAF) {
        leaf_box(b, node);
        return;
    }

    const int64_t cut = sp_morton_cut(b->order, begin, end);
    build(b, begin, cut);
    node->right = b->tree->node_count;
    build(b, cut, end);

    const sp_box_node *left = node + 1, *right = &b->tree->nodes[node->right];
    for (int k = 0; k < 3; k++) {
        node->low[k] = fmin(left->low[k], right->low[k]);
        node->high[k] = fmax(left->high[k], right->high[k]);
    }
}

int sp_box_tree_new(sp_context *context, int64_t count, const double *low, const double *high, sp_box_tree *tree)
{
    sp_pool pool = {0};
    *tree = (sp_box_tree){.count = count};
    double *middle = sp_pool_raw(&pool, 3 * count, sizeof *middle);
    tree->item = sp_pool_raw(&tree->pool, count, sizeof *tree->item);
    tree->nodes = sp_pool_raw(&tree->pool, 2 * count, sizeof *tree->nodes);

    if (middle)
        for (int64_t i = 0; i < 3 * count; i++)
            middle[i] = low[i] + 0.5 * (high[i] - low[i]);
    sp_morton *order = middle ? sp_morton_order(&pool, count, middle) : NULL;
    if (pool.failed || tree->pool.failed) {
        sp_pool_free(&pool);
        sp_box_tree_free(tree);
        return sp_fail_memory(context);
    }

    for (int64_t i = 0; i < count; i++)
        tree->item[i] = order[i].index;
    if (count > 0)
        build(&(building){.tree = tree, .order = order, .low = low, .high = high}, 0, count);
    sp_pool_free(&pool);
    return SP_OK;
}

void sp_box_tree_free(sp_box_tree *tree)
{
    sp_pool_free(&tree->pool);
    *tree = (sp_box_tree){0};
}

int64_t sp_box_tree_nearest(const sp_box_tree *tree, const double point[3], sp_box_distance *distance, void *data,
                            double *square)
{
    int64_t stack[STACK], best = -1;
    double bound[STACK];
    int depth = 0;

    *square = INFINITY;
    if (tree->count > 0) {
        stack[depth] = 0;
        bound[depth++] = 0;
    }
    while (depth > 0) {
        const sp_box_node *node = &tree->nodes[stack[--depth]];

        /* A nearer item may have been found since the box was put on the stack. */
        if (bound[depth] > *square)
            continue;

        if (!node->right) {
            for (int64_t i = node->begin; i < node->end; i++) {
                const int64_t item = tree->item[i];
                const double d = distance(data, item, point);
                if (d < *square || (d == *square && d < INFINITY && item < best)) {
                    *square = d;
                    best = item;
                }
            }
            continue;
        }

        /* The nearer child comes on top, so that it is searched first. */
        const sp_box_node *right = &tree->nodes[node->right];
        const double a = sp_box_square(node[1].low, node[1].high, point),
                     b = sp_box_square(right->low, right->high, point);
        const int64_t left = node + 1 - tree->nodes;
        stack[depth] = a <= b ? node->right : left;
        bound[depth++] = a <= b ? b : a;
        stack[depth] = a <= b ? left : node->right;
        bound[depth++] = a <= b ? a : b;
    }
    return best;
}

static double point_distance(void *data, int64_t item, const double point[3])
{
    const double *x = (const double *)data + 3 * item;
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += (x[k] - point[k]) * (x[k] - point[k]);
    return square;
}

int64_t sp_box_tree_nearest_point(const sp_box_tree *tree, const double *points, const double point[3], double *square)
{
    return sp_box_tree_nearest(tree, point, point_distance, (void *)points, square);
}
