#include "contact/spheres.h"

#include "base/lanes.h"

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
    /* Side by side, for lanes, which what is behind the end fills: places at infinity. */
    double *top[4];  /* [nodes of the first level] x, y, z, radius */
    int64_t *group;  /* [nodes of the last inner level + 1] where the points under each begin, all in whole lanes, in */
    int32_t *member; /* numbers of points, */
    double *at[3];   /* and their x, y, z */
};

static int64_t whole_lanes(int64_t count)
{
    return (count + SP_LANES - 1) / SP_LANES * SP_LANES;
}

typedef int64_t mask_lanes __attribute__((vector_size(8 * SP_LANES)));

SP_INLINE sp_lanes lanes_at(const double *x)
{
    sp_lanes v;
    memcpy(&v, x, sizeof v);
    return v;
}

SP_INLINE bool any_lane(mask_lanes m)
{
    m |= __builtin_shuffle(m, (mask_lanes){4, 5, 6, 7, 0, 1, 2, 3});
    m |= __builtin_shuffle(m, (mask_lanes){2, 3, 0, 1, 6, 7, 4, 5});
    return (m[0] | m[1]) != 0;
}

/* Appends the numbers of the lanes that are set to the list; without branches, since which are is a matter of chance. */
SP_INLINE int64_t append_lanes(mask_lanes m, int64_t first, int32_t *list, int64_t n)
{
    for (int l = 0; l < SP_LANES; l++) {
        list[n] = (int32_t)(first + l);
        n -= m[l];
    }
    return n;
}

/* A node of each tree; levels count from 0. */
typedef struct node_pair {
    int32_t a, b;
    int16_t level_a, level_b;
} node_pair;

/* The points under each node of the last inner level: its own and its children's. */
static void make_groups(sp_ball_tree *tree)
{
    const sp_contact_shell *shell = tree->shell;
    const int level = shell->levels - 2;
    if (level < 0)
        return;
    const int64_t nodes = shell->cumulative[level];
    const int32_t *child = shell->child + shell->first_node[level] + level;
    tree->group = sp_pool_raw(&tree->pool, nodes + 1, sizeof *tree->group);
    if (!tree->group)
        return;
    tree->group[0] = 0;
    for (int64_t p = 0; p < nodes; p++)
        tree->group[p + 1] = tree->group[p] + whole_lanes(1 + child[p + 1] - child[p]);
    const int64_t members = tree->group[nodes];
    tree->member = sp_pool_raw(&tree->pool, members, sizeof *tree->member);
    for (int k = 0; k < 3; k++)
        tree->at[k] = sp_pool_raw(&tree->pool, members, sizeof(double));
    if (tree->pool.failed)
        return;
    for (int64_t p = 0; p < nodes; p++)
        for (int64_t i = tree->group[p]; i < tree->group[p + 1]; i++) {
            const int64_t c = i - tree->group[p] - 1;
            tree->member[i] = c < 0 ? (int32_t)p : c < child[p + 1] - child[p] ? (int32_t)(child[p] + c) : -1;
            for (int k = 0; k < 3; k++)
                tree->at[k][i] = INFINITY;
        }
}

int sp_ball_tree_new(sp_context *context, const sp_contact_shell *shell, sp_ball_tree **result)
{
    sp_ball_tree *tree = calloc(1, sizeof *tree);
    const int64_t top = whole_lanes(shell->cumulative[0]);
    *result = NULL;
    if (!tree)
        return sp_fail_memory(context);
    tree->shell = shell;
    tree->place = sp_pool_raw(&tree->pool, 3 * shell->count, sizeof *tree->place);
    tree->radius = sp_pool_raw(&tree->pool, shell->first_node[shell->levels - 1], sizeof *tree->radius);
    tree->parent = sp_pool_raw(&tree->pool, shell->count, sizeof *tree->parent);
    for (int k = 0; k < 4; k++)
        tree->top[k] = sp_pool_raw(&tree->pool, top, sizeof(double));
    make_groups(tree);
    if (tree->pool.failed) {
        sp_ball_tree_free(tree);
        return sp_fail_memory(context);
    }
    for (int64_t i = 0; i < top; i++)
        for (int k = 0; k < 4; k++)
            tree->top[k][i] = k < 3 ? INFINITY : 0;
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
    const int64_t inner = shell->first_node[shell->levels - 1];
    memset(tree->radius, 0, (size_t)inner * sizeof *tree->radius); /* squares first */
    for (int64_t p = 0; p < shell->count; p++) {
        int64_t c = p;
        for (int level = shell->levels - 2; level >= 0; level--) {
            c = c < shell->cumulative[level] ? c : tree->parent[c];
            const double *x = tree->place + 3 * p, *y = tree->place + 3 * c, d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]}, square = sp_dot3(d, d);
            double *radius = &tree->radius[shell->first_node[level] + c];
            *radius = square > *radius ? square : *radius;
        }
    }
    for (int64_t i = 0; i < inner; i++)
        tree->radius[i] = sqrt(tree->radius[i]);
}

static void fill_lanes(sp_ball_tree *tree)
{
    const sp_contact_shell *shell = tree->shell;
    for (int64_t p = 0; p < shell->cumulative[0]; p++) {
        for (int k = 0; k < 3; k++)
            tree->top[k][p] = tree->place[3 * p + k];
        tree->top[3][p] = shell->levels > 1 ? tree->radius[p] : 0;
    }
    const int64_t members = tree->group ? tree->group[shell->cumulative[shell->levels - 2]] : 0;
    for (int64_t i = 0; i < members; i++)
        for (int k = 0; k < 3 && tree->member[i] >= 0; k++)
            tree->at[k][i] = tree->place[3 * (int64_t)tree->member[i] + k];
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
    fill_lanes(tree);
    tree->placed = true;
}

static double radius_of(const sp_ball_tree *tree, int level, int32_t point)
{
    return level + 1 == tree->shell->levels ? 0 : tree->radius[tree->shell->first_node[level] + point];
}

static bool boxes_apart(const extent *a, const extent *b, double reach)
{
    for (int k = 0; k < 3; k++)
        if (a->low[k] - b->high[k] > reach || b->low[k] - a->high[k] > reach)
            return true;
    return false;
}

/* Numbers of the nodes of the first level whose spheres, larger by `more`, touch the box, into list [in whole lanes]. */
SP_CLONES static int64_t touch_box(const sp_ball_tree *tree, const extent *box, double more, int32_t *list)
{
    const sp_lanes zero = {0};
    int64_t n = 0;
    for (int64_t i = 0; i < tree->shell->cumulative[0]; i += SP_LANES) {
        const sp_lanes radius = lanes_at(tree->top[3] + i) + more;
        sp_lanes square = zero;
        for (int k = 0; k < 3; k++) {
            const sp_lanes x = lanes_at(tree->top[k] + i), below = box->low[k] - x, above = x - box->high[k];
            const mask_lanes lower = below > zero, upper = above > zero; /* not both */
            const sp_lanes gap = (sp_lanes)(((mask_lanes)below & lower) | ((mask_lanes)above & upper));
            square += gap * gap;
        }
        n = append_lanes(square <= radius * radius, i, list, n);
    }
    return n;
}

/* The box about the listed spheres, larger by `more`. */
static extent about(const sp_ball_tree *tree, const sp_list *near, double more)
{
    const int32_t *node = near->data;
    extent box = NOTHING;
    for (int64_t i = 0; i < near->count; i++)
        enclose(&box, tree->place + 3 * (int64_t)node[i], tree->top[3][node[i]] + more);
    return box;
}

static bool keep_near(const sp_ball_tree *tree, const extent *box, double more, sp_list *near)
{
    near->count = 0;
    int32_t *list = sp_list_add(near, whole_lanes(tree->shell->cumulative[0]), sizeof *list);
    if (!list)
        return false;
    near->count = touch_box(tree, box, more, list);
    return true;
}

/* The nodes of the first level of both trees that can have something to do with each other. */
static bool find_near(const sp_ball_tree *a, double radius_a, const sp_ball_tree *b, double radius_b, sp_ball_room *room)
{
    extent box = b->box;
    for (int k = 0; k < 3; k++) {
        box.low[k] -= radius_b;
        box.high[k] += radius_b;
    }
    if (!keep_near(a, &box, radius_a, &room->near[0]))
        return false;
    box = about(a, &room->near[0], radius_a);
    return keep_near(b, &box, radius_b, &room->near[1]);
}

/* Those of b's near nodes side by side [4][in whole lanes]. */
static double *set_beside(const sp_ball_tree *b, const sp_list *near, sp_list *beside)
{
    const int32_t *node = near->data;
    const int64_t width = whole_lanes(near->count);
    beside->count = 0;
    double *x = sp_list_add(beside, 4 * width, sizeof *x);
    for (int64_t j = 0; x && j < width; j++)
        for (int k = 0; k < 4; k++)
            x[k * width + j] = j < near->count ? b->top[k][node[j]] : k < 3 ? INFINITY : 0;
    return x;
}

/* Which of the spheres beside each other, [4][width], are within `reach` of a point, into hits [width]. */
SP_CLONES static int64_t within(const double x[3], double reach, int64_t width, const double *beside, int32_t *hits)
{
    int64_t n = 0;
    for (int64_t j = 0; j < width; j += SP_LANES) {
        sp_lanes square = {0};
        for (int k = 0; k < 3; k++) {
            const sp_lanes d = lanes_at(beside + k * width + j) - x[k];
            square += d * d;
        }
        const sp_lanes sum = lanes_at(beside + 3 * width + j) + reach;
        n = append_lanes(square <= sum * sum, j, hits, n);
    }
    return n;
}

/* What two trees are searched with. */
typedef struct search {
    const sp_ball_tree *a, *b;
    double square;  /* m² within which points are listed */
    sp_list *points, *stack;
    int64_t visited;
} search;

/* A pair of points, in the order of (a, b). */
static uint64_t pair_key(int32_t a, int32_t b)
{
    return (uint64_t)a << 32 | (uint32_t)b;
}

static inline bool meet_points(search *s, int32_t a, int32_t b)
{
    const double *x = s->a->place + 3 * (int64_t)a, *y = s->b->place + 3 * (int64_t)b, d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    s->visited++;
    if (sp_dot3(d, d) > s->square)
        return true;
    uint64_t *key = sp_list_add(s->points, 1, sizeof *key);
    if (key)
        *key = pair_key(a, b);
    return key != NULL;
}

/* All points below a node of the last inner level of one tree with all below one of the other. */
SP_CLONES static int64_t meet_members(const sp_ball_tree *a, int32_t node_a, const sp_ball_tree *b, int32_t node_b, double most, uint64_t *keys)
{
    int64_t n = 0;
    for (int64_t i = a->group[node_a]; i < a->group[node_a + 1] && a->member[i] >= 0; i++) {
        const double x[3] = {a->at[0][i], a->at[1][i], a->at[2][i]};
        const uint64_t first = pair_key(a->member[i], 0);
        for (int64_t j = b->group[node_b]; j < b->group[node_b + 1]; j += SP_LANES) {
            sp_lanes square = {0};
            for (int k = 0; k < 3; k++) {
                const sp_lanes d = lanes_at(b->at[k] + j) - x[k];
                square += d * d;
            }
            const mask_lanes near = square <= most + (sp_lanes){0};
            if (!any_lane(near)) /* as a rule */
                continue;
            for (int l = 0; l < SP_LANES; l++) {
                keys[n] = first | (uint32_t)b->member[j + l];
                n -= near[l];
            }
        }
    }
    return n;
}

static bool meet_groups(search *s, node_pair pair)
{
    const sp_ball_tree *a = s->a, *b = s->b;
    const int64_t room = (a->group[pair.a + 1] - a->group[pair.a]) * (b->group[pair.b + 1] - b->group[pair.b]), before = s->points->count;
    uint64_t *keys = sp_list_add(s->points, room, sizeof *keys);
    if (!keys)
        return false;
    s->points->count = before + meet_members(a, pair.a, b, pair.b, s->square, keys);
    s->visited += room;
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
    if (pair.level_a + 2 == A->levels && pair.level_b + 2 == B->levels)
        return meet_groups(s, pair);
    const bool open_a = !leaf_a && (leaf_b || ra >= rb);
    if (open_a ? leaf_b && pair.level_a + 2 == A->levels : leaf_a && pair.level_b + 2 == B->levels)
        return meet_leaf(s, pair, open_a);
    return open_node(s->stack, open_a ? A : B, pair, open_a);
}

void sp_ball_room_free(sp_ball_room *room)
{
    sp_list_free(&room->near[0]);
    sp_list_free(&room->near[1]);
    sp_list_free(&room->beside);
    sp_list_free(&room->hits);
    sp_list_free(&room->points);
    sp_list_free(&room->stack);
}

static int by_key(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Few, as a rule. */
static void sort_keys(int64_t count, uint64_t *key)
{
    enum { FEW = 32 };
    if (count > FEW) {
        qsort(key, (size_t)count, sizeof *key, by_key);
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        const uint64_t k = key[i];
        int64_t j = i;
        for (; j > 0 && key[j - 1] > k; j--)
            key[j] = key[j - 1];
        key[j] = k;
    }
}

/* Lists all pairs of points within radius_a + radius_b, which allow for rounding, ascending. */
static bool search_trees(search *s, double radius_a, double radius_b, sp_ball_room *room)
{
    const double reach = radius_a + radius_b;
    const bool groups = s->a->shell->levels == 2 && s->b->shell->levels == 2; /* right below the first level */
    if (!find_near(s->a, radius_a, s->b, radius_b, room))
        return false;
    const int32_t *near[2] = {room->near[0].data, room->near[1].data};
    const int64_t count[2] = {room->near[0].count, room->near[1].count}, width = whole_lanes(count[1]);
    const double *beside = set_beside(s->b, &room->near[1], &room->beside);
    room->hits.count = 0;
    int32_t *hits = sp_list_add(&room->hits, width, sizeof *hits);
    if (!beside || !hits)
        return false;
    s->visited = count[0] + count[1] + count[0] * count[1];
    for (int64_t i = 0; i < count[0]; i++) {
        const int32_t p = near[0][i];
        const int64_t met = within(s->a->place + 3 * (int64_t)p, s->a->top[3][p] + reach, width, beside, hits);
        for (int64_t j = 0; j < met; j++) {
            if (groups) {
                if (!meet_groups(s, (node_pair){p, near[1][hits[j]], 0, 0}))
                    return false;
                continue;
            }
            s->stack->count = 0;
            node_pair *first = sp_list_add(s->stack, 1, sizeof *first);
            if (!first)
                return false;
            *first = (node_pair){p, near[1][hits[j]], 0, 0};
            while (s->stack->count > 0)
                if (!visit(s, ((node_pair *)s->stack->data)[--s->stack->count], reach))
                    return false;
        }
    }
    sort_keys(s->points->count, s->points->data);
    return true;
}

/* Those of the listed points that touch. */
static bool touch(const search *s, double radius_a, double radius_b, sp_list *list)
{
    const double reach = radius_a + radius_b;
    const uint64_t *key = s->points->data;
    for (int64_t i = 0; i < s->points->count; i++) {
        const int32_t a = (int32_t)(key[i] >> 32), b = (int32_t)(key[i] & UINT32_MAX);
        const double *x = s->a->place + 3 * (int64_t)a, *y = s->b->place + 3 * (int64_t)b, d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]}, apart = sqrt(sp_dot3(d, d));
        if (!(apart < reach) || !(apart > 0))
            continue;
        sp_ball_contact *contact = sp_list_add(list, 1, sizeof *contact);
        if (!contact)
            return false;
        *contact = (sp_ball_contact){.a = a, .b = b, .distance = apart - reach};
        for (int k = 0; k < 3; k++) {
            contact->normal[k] = d[k] / apart;
            contact->at[k] = x[k] + d[k] * (radius_a / reach);
        }
    }
    return true;
}

int sp_ball_trees_meet(sp_ball_tree *a, double radius_a, sp_ball_tree *b, double radius_b, sp_ball_room *room, sp_list *list,
                       int64_t *visited)
{
    const double margin = rounding_of(a) + rounding_of(b), reach = radius_a + radius_b + margin;
    search s = {.a = a, .b = b, .square = reach * reach, .points = &room->points, .stack = &room->stack};
    sp_ball_tree_place(a);
    sp_ball_tree_place(b);
    room->points.count = 0;
    if (boxes_apart(&a->box, &b->box, reach))
        return SP_OK;
    if (!search_trees(&s, radius_a + margin, radius_b, room) || !touch(&s, radius_a, radius_b, list))
        return SP_SYSTEM;
    *visited += s.visited;
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

/* Pairs from -> to in the order of their entry `which`, those that are equal as they were; `place` is room for one number for each ball. */
static void sort_by(int which, int64_t count, int64_t balls, const int32_t *from, int32_t *to, int64_t *place)
{
    memset(place, 0, (size_t)balls * sizeof *place);
    for (int64_t i = 0; i < count; i++)
        place[from[2 * i + which]]++;
    for (int64_t i = 0, sum = 0; i < balls; i++) {
        const int64_t here = place[i];
        place[i] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(to + 2 * place[from[2 * i + which]]++, from + 2 * i, 2 * sizeof *to);
}

int sp_balls_overlap(sp_context *context, int64_t count, const double *centre, const double *radius, int32_t *order, int64_t *place, sp_list *list)
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
    const int64_t found = list->count;
    if (!sp_list_add(list, found, 2 * sizeof(int32_t))) /* room to sort them */
        return sp_fail_memory(context);
    list->count = found;
    int32_t *pairs = list->data, *other = pairs + 2 * found;
    sort_by(1, found, count, pairs, other, place);
    sort_by(0, found, count, other, pairs, place);
    return SP_OK;
}
