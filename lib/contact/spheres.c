#include "contact/spheres.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of lengths; far above the rounding of what a few operations make of them. */
static const double ROUNDING = 1e-13;

/* A box. */
typedef struct extent {
    double low[3], high[3];
} extent;

static const extent NOTHING = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

/* Without fmin and fmax, which are calls. */
static inline void enclose(extent *box, const double x[3], double radius)
{
    for (int k = 0; k < 3; k++) {
        const double low = x[k] - radius, high = x[k] + radius;
        box->low[k] = low < box->low[k] ? low : box->low[k];
        box->high[k] = high > box->high[k] ? high : box->high[k];
    }
}

struct sp_ball_tree {
    sp_pool pool;
    const sp_contact_shell *shell;
    sp_pose pose;
    double R[9];
    const double *q;
    bool placed;
    extent box;      /* about the points, world, once placed */
    double *place;   /* [count, 3] world */
    double *radius;  /* [inner nodes] m */
    int32_t *parent; /* [count] of the first node of each point */
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
    tree->place = sp_pool_raw(&tree->pool, 3 * shell->count, sizeof *tree->place);
    tree->radius = sp_pool_raw(&tree->pool, shell->first_node[shell->levels - 1], sizeof *tree->radius);
    tree->parent = sp_pool_raw(&tree->pool, shell->count, sizeof *tree->parent);
    if (tree->pool.failed) {
        sp_ball_tree_free(tree);
        return sp_fail_memory(context);
    }
    for (int level = 0; level + 1 < shell->levels; level++) {
        const int32_t *child = shell->child + shell->first_node[level] + level;
        for (int64_t p = 0; p < shell->cumulative[level]; p++)
            for (int32_t c = child[p]; c < child[p + 1]; c++)
                tree->parent[c] = (int32_t)p;
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
    sp_pool_free(&tree->pool);
    free(tree);
}

void sp_ball_tree_move(sp_ball_tree *tree, const sp_pose *pose, const double *q)
{
    tree->pose = *pose;
    tree->q = q;
    tree->placed = false;
    sp_quaternion_matrix(pose->q, tree->R);
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

static double distance(const double *a, const double *b)
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(sp_dot3(d, d));
}

/* Where the points are, in the shell's frame. */
static void deform(const sp_ball_tree *tree, double *y)
{
    const sp_contact_shell *shell = tree->shell;
    memcpy(y, shell->points, (size_t)(3 * shell->count) * sizeof *y);
    if (tree->q && shell->U)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)(3 * shell->count), (int)shell->modes, 1, shell->U, (int)shell->modes, tree->q, 1, 1,
                    y, 1);
}

/* Radii for the points as they are now, which bounds by Σ a_j |q_j| exceed the more, the more a body deforms. */
static void fit_spheres(sp_ball_tree *tree)
{
    const sp_contact_shell *shell = tree->shell;
    memset(tree->radius, 0, (size_t)shell->first_node[shell->levels - 1] * sizeof *tree->radius);
    for (int64_t p = 0; p < shell->count; p++) {
        int64_t c = p;
        for (int level = shell->levels - 2; level >= 0; level--) {
            c = c < shell->cumulative[level] ? c : tree->parent[c];
            double *radius = &tree->radius[shell->first_node[level] + c];
            const double d = distance(tree->place + 3 * p, tree->place + 3 * c);
            *radius = d > *radius ? d : *radius;
        }
    }
}

void sp_ball_tree_place(sp_ball_tree *tree)
{
    if (tree->placed)
        return;
    deform(tree, tree->place);
    tree->box = NOTHING;
    for (int64_t i = 0; i < tree->shell->count; i++) {
        double y[3], *x = tree->place + 3 * i;
        memcpy(y, x, sizeof y);
        sp_rotate(tree->R, y, x);
        for (int k = 0; k < 3; k++)
            x[k] += tree->pose.x[k];
        enclose(&tree->box, x, 0);
    }
    fit_spheres(tree);
    tree->placed = true;
}

static double radius_of(const sp_ball_tree *tree, int level, int32_t point)
{
    return level + 1 == tree->shell->levels ? 0 : tree->radius[tree->shell->first_node[level] + point];
}

/* Whether a sphere touches a box. */
static inline bool touches(const extent *box, const double x[3], double radius)
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        const double below = box->low[k] - x[k], above = x[k] - box->high[k], gap = below > above ? below : above;
        square += gap > 0 ? gap * gap : 0;
    }
    return square <= radius * radius;
}

/* Lists those of the first `count` nodes of level 1, or of those in the list (from_list), whose spheres, larger by `more`, touch the box,
 * and finds the box about those. */
static extent keep_near(const sp_ball_tree *tree, bool from_list, int64_t count, const extent *box, double more, sp_list *near)
{
    extent kept = NOTHING;
    int32_t *points = near->data;
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t p = from_list ? points[i] : (int32_t)i;
        const double *x = tree->place + 3 * (int64_t)p, radius = radius_of(tree, 0, p) + more;
        if (!touches(box, x, radius))
            continue;
        points[n++] = p;
        enclose(&kept, x, radius);
    }
    near->count = n;
    return kept;
}

static bool make_room(sp_list *near, int64_t count)
{
    near->count = 0;
    return sp_list_add(near, count, sizeof(int32_t)) != NULL;
}

/* The nodes of level 1 of both trees that can have something to do with each other. */
static bool find_near(const sp_ball_tree *a, double radius_a, const sp_ball_tree *b, double radius_b, sp_ball_room *room)
{
    const int64_t count_a = a->shell->cumulative[0], count_b = b->shell->cumulative[0];
    if (!make_room(&room->near[0], count_a) || !make_room(&room->near[1], count_b))
        return false;
    extent box = b->box;
    for (int k = 0; k < 3; k++) {
        box.low[k] -= radius_b;
        box.high[k] += radius_b;
    }
    box = keep_near(a, false, count_a, &box, radius_a, &room->near[0]);
    box = keep_near(b, false, count_b, &box, radius_b, &room->near[1]);
    keep_near(a, true, room->near[0].count, &box, radius_a, &room->near[0]);
    return true;
}

/* What two trees are searched with. */
typedef struct search {
    const sp_ball_tree *a, *b;
    double radius_a, radius_b, square; /* m, m² within which points meet */
    sp_list *list, *stack;
    int64_t visited;
} search;

static inline bool meet_points(search *s, int32_t a, int32_t b)
{
    const double *x = s->a->place + 3 * (int64_t)a, *y = s->b->place + 3 * (int64_t)b, d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    const double square = sp_dot3(d, d), apart = sqrt(square), reach = s->radius_a + s->radius_b;
    s->visited++;
    if (square > s->square || !(apart < reach) || !(apart > 0))
        return true;
    sp_ball_contact *contact = sp_list_add(s->list, 1, sizeof *contact);
    if (!contact)
        return false;
    *contact = (sp_ball_contact){.a = a, .b = b, .distance = apart - reach};
    for (int k = 0; k < 3; k++) {
        contact->normal[k] = d[k] / apart;
        contact->at[k] = x[k] + d[k] * (s->radius_a / reach);
    }
    return true;
}

/* A leaf of one tree with all leaves below a node of the last inner level of the other. */
static bool meet_leaf(search *s, node_pair pair, bool open_a)
{
    const sp_contact_shell *shell = open_a ? s->a->shell : s->b->shell;
    const int32_t point = open_a ? pair.a : pair.b;
    const int level = open_a ? pair.level_a : pair.level_b;
    const int32_t *child = shell->child + shell->first_node[level] + level + point;
    bool well = meet_points(s, pair.a, pair.b);
    for (int32_t c = child[0]; c < child[1] && well; c++)
        well = open_a ? meet_points(s, c, pair.b) : meet_points(s, pair.a, c);
    return well;
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

/* One pair of nodes: nothing where their spheres are apart, else the larger one is opened. */
static bool visit(search *s, node_pair pair, double reach)
{
    const sp_contact_shell *A = s->a->shell, *B = s->b->shell;
    const double *x = s->a->place + 3 * (int64_t)pair.a, *y = s->b->place + 3 * (int64_t)pair.b,
                 d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    const double ra = radius_of(s->a, pair.level_a, pair.a), rb = radius_of(s->b, pair.level_b, pair.b), sum = ra + rb + reach;
    const bool leaf_a = pair.level_a + 1 == A->levels, leaf_b = pair.level_b + 1 == B->levels;
    if (leaf_a && leaf_b)
        return meet_points(s, pair.a, pair.b);
    s->visited++;
    if (sp_dot3(d, d) > sum * sum)
        return true;
    const bool open_a = !leaf_a && (leaf_b || ra >= rb);
    if (open_a ? leaf_b && pair.level_a + 2 == A->levels : leaf_a && pair.level_b + 2 == B->levels)
        return meet_leaf(s, pair, open_a);
    return open_node(s->stack, open_a ? A : B, pair, open_a);
}

void sp_ball_room_free(sp_ball_room *room)
{
    sp_list_free(&room->near[0]);
    sp_list_free(&room->near[1]);
    sp_list_free(&room->stack);
}

int sp_ball_trees_meet(sp_ball_tree *a, double radius_a, sp_ball_tree *b, double radius_b, sp_ball_room *room, sp_list *list,
                       int64_t *visited)
{
    const int64_t before = list->count;
    const double margin = rounding_of(a) + rounding_of(b), reach = radius_a + radius_b + margin;
    search s = {.a = a, .b = b, .radius_a = radius_a, .radius_b = radius_b, .square = reach * reach, .list = list, .stack = &room->stack};
    sp_ball_tree_place(a);
    sp_ball_tree_place(b);
    if (!find_near(a, radius_a + margin, b, radius_b + margin, room))
        return SP_SYSTEM;
    const int32_t *near[2] = {room->near[0].data, room->near[1].data};
    const int64_t count[2] = {room->near[0].count, room->near[1].count};
    s.visited = count[0] + count[1];
    s.stack->count = 0;
    node_pair *first = sp_list_add(s.stack, count[0] * count[1], sizeof *first);
    if (!first)
        return SP_SYSTEM;
    for (int64_t i = 0; i < count[0]; i++)
        for (int64_t j = 0; j < count[1]; j++)
            *first++ = (node_pair){near[0][i], near[1][j], 0, 0};
    while (s.stack->count > 0)
        if (!visit(&s, ((node_pair *)s.stack->data)[--s.stack->count], reach))
            return SP_SYSTEM;
    *visited += s.visited;
    if (list->count > before)
        qsort((sp_ball_contact *)list->data + before, (size_t)(list->count - before), sizeof(sp_ball_contact), by_points);
    return SP_OK;
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
