#include "contact/spheres.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of lengths; far above the rounding of what a few operations make of them. */
static const double ROUNDING = 1e-13;

struct sp_ball_tree {
    sp_pool pool;
    const sp_contact_shell *shell;
    sp_pose pose;
    double R[9];
    const double *q;
    int32_t step, *seen; /* [count] the step for which a place is known */
    double *place;       /* [count, 3] world */
    int32_t *measured;   /* [inner nodes] the same for radii */
    double *radius;      /* [inner nodes] m */
    int32_t *near;       /* [points of level 1] those that can touch the other shell */
    sp_list stack;       /* of node_pair */
};

/* A node of each tree; levels count from 0. */
typedef struct node_pair {
    int32_t a, b;
    int16_t level_a, level_b;
} node_pair;

int sp_ball_tree_new(sp_context *context, const sp_contact_shell *shell, sp_ball_tree **result)
{
    sp_ball_tree *tree = calloc(1, sizeof *tree);
    *result = NULL;
    if (!tree)
        return sp_fail_memory(context);
    tree->shell = shell;
    tree->seen = sp_pool_new(&tree->pool, shell->count, sizeof *tree->seen);
    tree->place = sp_pool_raw(&tree->pool, 3 * shell->count, sizeof *tree->place);
    const int64_t inner = shell->first_node[shell->levels - 1];
    tree->measured = sp_pool_new(&tree->pool, inner, sizeof *tree->measured);
    tree->radius = sp_pool_raw(&tree->pool, inner, sizeof *tree->radius);
    tree->near = sp_pool_raw(&tree->pool, shell->cumulative[0], sizeof *tree->near);
    if (tree->pool.failed) {
        sp_ball_tree_free(tree);
        return sp_fail_memory(context);
    }
    const sp_pose rest = sp_pose_identity();
    sp_ball_tree_move(tree, &rest, NULL);
    *result = tree;
    return SP_OK;
}

void sp_ball_tree_free(sp_ball_tree *tree)
{
    if (!tree)
        return;
    sp_list_free(&tree->stack);
    sp_pool_free(&tree->pool);
    free(tree);
}

void sp_ball_tree_move(sp_ball_tree *tree, const sp_pose *pose, const double *q)
{
    tree->pose = *pose;
    tree->q = q;
    sp_quaternion_matrix(pose->q, tree->R);
    if (tree->step == INT32_MAX) {
        memset(tree->seen, 0, (size_t)tree->shell->count * sizeof *tree->seen);
        memset(tree->measured, 0, (size_t)tree->shell->first_node[tree->shell->levels - 1] * sizeof *tree->measured);
        tree->step = 0;
    }
    tree->step++;
}

/* m, of places of points. */
static double rounding_of(const sp_ball_tree *tree)
{
    const sp_contact_shell *shell = tree->shell;
    return ROUNDING * (sqrt(sp_dot3(tree->pose.x, tree->pose.x)) + sqrt(sp_dot3(shell->centre, shell->centre)) + shell->extent +
                       sp_contact_shell_reach(shell, tree->q));
}

void sp_ball_tree_bound(const sp_ball_tree *tree, double centre[3], double *radius)
{
    sp_rotate(tree->R, tree->shell->centre, centre);
    for (int k = 0; k < 3; k++)
        centre[k] += tree->pose.x[k];
    *radius = tree->shell->extent + sp_contact_shell_reach(tree->shell, tree->q) + rounding_of(tree);
}

static const double *place_of(sp_ball_tree *tree, int32_t point)
{
    double *x = tree->place + 3 * (int64_t)point, y[3];
    if (tree->seen[point] != tree->step) {
        sp_contact_shell_point(tree->shell, point, tree->q, y);
        sp_rotate(tree->R, y, x);
        for (int k = 0; k < 3; k++)
            x[k] += tree->pose.x[k];
        tree->seen[point] = tree->step;
    }
    return x;
}

static double radius_of(sp_ball_tree *tree, int level, int32_t point)
{
    const sp_contact_shell *shell = tree->shell;
    if (level + 1 == shell->levels)
        return 0;
    const int64_t node = shell->first_node[level] + point;
    if (tree->measured[node] != tree->step) {
        double radius = shell->radius[node];
        for (int64_t j = 0; j < shell->modes && tree->q; j++)
            radius += shell->a[shell->modes * node + j] * fabs(tree->q[j]);
        tree->radius[node] = radius;
        tree->measured[node] = tree->step;
    }
    return tree->radius[node];
}

/* A box about spheres. */
typedef struct extent {
    double low[3], high[3];
} extent;

/* Keeps the nodes of level 1 whose spheres, larger by `more`, touch the box; the box about those. */
static extent keep_near(sp_ball_tree *tree, int64_t *count, const extent *box, double more)
{
    extent kept = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    int64_t n = 0;
    for (int64_t i = 0; i < *count; i++) {
        const int32_t p = tree->near[i];
        const double *x = place_of(tree, p), r = radius_of(tree, 0, p) + more;
        double square = 0;
        for (int k = 0; k < 3; k++) {
            const double gap = fmax(0, fmax(box->low[k] - x[k], x[k] - box->high[k]));
            square += gap * gap;
        }
        if (square > r * r)
            continue;
        tree->near[n++] = p;
        for (int k = 0; k < 3; k++) {
            kept.low[k] = fmin(kept.low[k], x[k] - r);
            kept.high[k] = fmax(kept.high[k], x[k] + r);
        }
    }
    *count = n;
    return kept;
}

/* The nodes of level 1 of both trees that can have something to do with each other. */
static void find_near(sp_ball_tree *a, double radius_a, sp_ball_tree *b, double radius_b, int64_t count[2])
{
    double centre[3], radius;
    extent box;
    sp_ball_tree_bound(b, centre, &radius);
    for (int k = 0; k < 3; k++) {
        box.low[k] = centre[k] - radius - radius_b;
        box.high[k] = centre[k] + radius + radius_b;
    }
    count[0] = a->shell->cumulative[0];
    count[1] = b->shell->cumulative[0];
    for (int64_t i = 0; i < count[0]; i++)
        a->near[i] = (int32_t)i;
    for (int64_t i = 0; i < count[1]; i++)
        b->near[i] = (int32_t)i;
    box = keep_near(a, &count[0], &box, radius_a);
    box = keep_near(b, &count[1], &box, radius_b);
    keep_near(a, &count[0], &box, radius_a);
}

static int meet_leaves(int32_t a, int32_t b, const double *x, const double *y, double radius_a, double radius_b, double apart,
                       sp_list *list)
{
    const double reach = radius_a + radius_b;
    if (!(apart < reach) || !(apart > 0))
        return SP_OK;
    sp_ball_contact *contact = sp_list_add(list, 1, sizeof *contact);
    if (!contact)
        return SP_SYSTEM;
    *contact = (sp_ball_contact){.a = a, .b = b, .distance = apart - reach};
    for (int k = 0; k < 3; k++) {
        contact->normal[k] = (y[k] - x[k]) / apart;
        contact->at[k] = x[k] + (y[k] - x[k]) * (radius_a / reach);
    }
    return SP_OK;
}

/* The children of a node of one tree with the same node of the other. */
static bool open_node(sp_list *stack, const sp_contact_shell *shell, node_pair pair, bool first)
{
    const int32_t point = first ? pair.a : pair.b;
    const int level = first ? pair.level_a : pair.level_b;
    const int32_t *child = shell->child + shell->first_node[level] + level + point;
    node_pair *next = sp_list_add(stack, 1 + child[1] - child[0], sizeof *next);
    if (!next)
        return false;
    for (int32_t i = 0; i <= child[1] - child[0]; i++) {
        const int32_t p = i ? child[0] + i - 1 : point;
        next[i] =
            first ? (node_pair){p, pair.b, (int16_t)(level + 1), pair.level_b} : (node_pair){pair.a, p, pair.level_a, (int16_t)(level + 1)};
    }
    return true;
}

static int by_points(const void *left, const void *right)
{
    const sp_ball_contact *x = left, *y = right;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

int sp_ball_trees_meet(sp_ball_tree *a, double radius_a, sp_ball_tree *b, double radius_b, sp_list *list, int64_t *visited)
{
    const sp_contact_shell *A = a->shell, *B = b->shell;
    sp_list *stack = &a->stack;
    const int64_t before = list->count;
    const double margin = rounding_of(a) + rounding_of(b), reach = radius_a + radius_b + margin;
    int status = SP_OK;
    int64_t count[2];
    find_near(a, radius_a + margin, b, radius_b + margin, count);
    *visited += count[0] + count[1];
    stack->count = 0;
    node_pair *first = sp_list_add(stack, count[0] * count[1], sizeof *first);
    if (!first)
        return SP_SYSTEM;
    for (int64_t i = 0; i < count[0]; i++)
        for (int64_t j = 0; j < count[1]; j++)
            *first++ = (node_pair){a->near[i], b->near[j], 0, 0};
    while (stack->count > 0) {
        const node_pair pair = ((node_pair *)stack->data)[--stack->count];
        const double *x = place_of(a, pair.a), *y = place_of(b, pair.b), d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
        const double square = sp_dot3(d, d), ra = radius_of(a, pair.level_a, pair.a), rb = radius_of(b, pair.level_b, pair.b);
        const bool leaf_a = pair.level_a + 1 == A->levels, leaf_b = pair.level_b + 1 == B->levels;
        ++*visited;
        if (leaf_a && leaf_b)
            SP_TRY(meet_leaves(pair.a, pair.b, x, y, radius_a, radius_b, sqrt(square), list));
        else if (square <= (ra + rb + reach) * (ra + rb + reach)) {
            const bool open_a = !leaf_a && (leaf_b || ra >= rb);
            if (!open_node(stack, open_a ? A : B, pair, open_a)) {
                status = SP_SYSTEM;
                goto done;
            }
        }
    }
    if (list->count > before)
        qsort((sp_ball_contact *)list->data + before, (size_t)(list->count - before), sizeof(sp_ball_contact), by_points);
done:
    return status;
}

/* ---- the broad phase ---- */

typedef struct interval {
    const double *centre, *radius;
    int axis;
} interval;

static double low_end(const interval *by, int32_t i)
{
    return by->centre[3 * (int64_t)i + by->axis] - by->radius[i];
}

static int by_low_end(const void *left, const void *right, void *data)
{
    const int32_t i = *(const int32_t *)left, j = *(const int32_t *)right;
    const double a = low_end(data, i), b = low_end(data, j);
    if (a != b)
        return a < b ? -1 : 1;
    return (i > j) - (i < j);
}

static int by_pair(const void *left, const void *right)
{
    const int32_t *a = left, *b = right;
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

int sp_balls_overlap(sp_context *context, int64_t count, const double *centre, const double *radius, int32_t *order, sp_list *list)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int64_t n = 0;
    list->count = 0;
    for (int64_t i = 0; i < count; i++)
        if (radius[i] >= 0) {
            order[n++] = (int32_t)i;
            for (int k = 0; k < 3; k++) {
                low[k] = fmin(low[k], centre[3 * i + k]);
                high[k] = fmax(high[k], centre[3 * i + k]);
            }
        }
    interval by = {centre, radius, 0};
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[by.axis] - low[by.axis])
            by.axis = k;
    qsort_r(order, (size_t)n, sizeof *order, by_low_end, &by);
    for (int64_t i = 0; i < n; i++) {
        const double *x = centre + 3 * (int64_t)order[i], end = x[by.axis] + radius[order[i]];
        for (int64_t j = i + 1; j < n && low_end(&by, order[j]) <= end; j++) {
            const double *y = centre + 3 * (int64_t)order[j], d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
            const double reach = radius[order[i]] + radius[order[j]];
            if (sp_dot3(d, d) > reach * reach)
                continue;
            int32_t *pair = sp_list_add(list, 1, 2 * sizeof *pair);
            if (!pair)
                return sp_fail_memory(context);
            pair[0] = order[i] < order[j] ? order[i] : order[j];
            pair[1] = order[i] < order[j] ? order[j] : order[i];
        }
    }
    if (list->count)
        qsort(list->data, (size_t)list->count, 2 * sizeof(int32_t), by_pair);
    return SP_OK;
}
