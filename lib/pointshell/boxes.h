/* A bounding volume hierarchy of boxes or points, for nearest-neighbour queries. */
#ifndef SP_POINTSHELL_BOXES_H
#define SP_POINTSHELL_BOXES_H

#include "base/context.h"
#include "base/memory.h"

typedef struct sp_box_node {
    double low[3], high[3];
    int64_t begin, end; /* range of `item` */
    int64_t right;      /* index of the second child; the first one is the next node; 0: a leaf */
} sp_box_node;

typedef struct sp_box_tree {
    sp_pool pool;
    int64_t count, node_count;
    int64_t *item; /* [count] along a Morton curve */
    sp_box_node *nodes;
} sp_box_tree;

/* low, high [count, 3], finite; the same array for points. They need not outlive the tree. */
int sp_box_tree_new(sp_context *context, int64_t count, const double *low, const double *high,
                    sp_box_tree *tree) SP_MUST_USE;
void sp_box_tree_free(sp_box_tree *tree);

/* Squared distance of a point from a box. */
static inline double sp_box_square(const double low[3], const double high[3], const double point[3])
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        const double below = low[k] - point[k], above = point[k] - high[k];
        const double gap = below > above ? below : above;
        square += gap > 0 ? gap * gap : 0;
    }
    return square;
}

/* The item of least squared distance, of several the lowest, and that distance; −1 if there is none. `distance` returns
 * the squared distance of an item, at least that of its box; INFINITY: the item is excluded. Thread safe if `distance`
 * is. */
typedef double sp_box_distance(void *data, int64_t item, const double point[3]);
int64_t sp_box_tree_nearest(const sp_box_tree *tree, const double point[3], sp_box_distance *distance, void *data,
                            double *square);

/* The nearest of the points [.., 3] that the tree was made from. */
int64_t sp_box_tree_nearest_point(const sp_box_tree *tree, const double *points, const double point[3], double *square);

#endif
