#include "contact/spheres.h"

#include "base/lanes.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to lengths, and far above the rounding of a few operations: in doubles, which decide about contact, and in
 * floats, which find candidates with half the memory traffic, by which the search is limited. */
static const double ROUNDING = 1e-13, COARSE = 1e-6;

/* A box. */
typedef struct extent {
    double low[3], high[3];
} extent;

static const extent NOTHING = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

/* Without fmin and fmax, which are function calls. */
static inline void enclose(extent *box, const double x[3])
{
    for (int k = 0; k < 3; k++) {
        box->low[k] = x[k] < box->low[k] ? x[k] : box->low[k];
        box->high[k] = x[k] > box->high[k] ? x[k] : box->high[k];
    }
}

/* Number of floats in a SIMD vector. */
enum { WIDE = 8 };
typedef float wide __attribute__((vector_size(4 * WIDE)));
typedef int32_t batch_mask __attribute__((vector_size(4 * WIDE)));

/* Points of a shell in ascending order, with their positions. */
typedef struct group {
    int64_t count;
    int32_t *number; /* [count]; NULL: 0, 1, … */
    float *at[3];    /* x, y, z [count rounded up to WIDE]; unused positions are at infinity */
} group;

struct sp_sphere_tree {
    sp_pool pool;
    const sp_contact_pointshell *pointshell;
    sp_pose pose;
    double R[9];
    const double *q;
    bool placed;
    double reach, size; /* m: bounds on the distance of points from their rest positions, and from the world's origin */
    extent box;         /* bounding box of the points, world, once placed */
    double *place;      /* [count, 3] world */
    group points;       /* all */
    double *radius;     /* [inner nodes] m, unless there are at most FEW points */
};

/* Up to this number of points nodes are not used: points within the other shell's box are compared directly in SIMD
 * lanes. */
enum { FEW = 1024 };

static int64_t whole_batched(int64_t count)
{
    return (count + WIDE - 1) / WIDE * WIDE;
}

SP_INLINE wide batch_at(const float *x)
{
    wide v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* Bit l of the result is lane l of the mask. */
SP_INLINE uint32_t bits_of(batch_mask m)
{
    m &= (batch_mask){1, 2, 4, 8, 16, 32, 64, 128};
    m |= sp_shuffle(m, m, 4, 5, 6, 7, 0, 1, 2, 3);
    m |= sp_shuffle(m, m, 2, 3, 0, 1, 6, 7, 4, 5);
    return (uint32_t)(m[0] | m[1]);
}

/* A node of each tree; levels count from 0. */
typedef struct node_pair {
    int32_t a, b;
    int16_t level_a, level_b;
} node_pair;

static void end_group(group *points, int64_t count)
{
    points->count = count;
    for (int64_t i = count; i < whole_batched(count); i++)
        for (int k = 0; k < 3; k++)
            points->at[k][i] = INFINITY;
}

int sp_sphere_tree_new(sp_context *context, const sp_contact_pointshell *pointshell, sp_sphere_tree **result)
{
    sp_sphere_tree *tree = calloc(1, sizeof *tree);
    *result = NULL;
    SP_PASS(sp_allocated(context, tree));

    tree->pointshell = pointshell;
    tree->place = sp_pool_raw(&tree->pool, 3 * pointshell->count, sizeof *tree->place);
    if (pointshell->count > FEW)
        tree->radius = sp_pool_raw(&tree->pool, pointshell->first_node[pointshell->levels - 1], sizeof *tree->radius);
    tree->points.count = pointshell->count;
    for (int k = 0; k < 3; k++)
        tree->points.at[k] = sp_pool_raw(&tree->pool, whole_batched(pointshell->count), sizeof(float));
    if (tree->pool.failed) {
        sp_sphere_tree_free(tree);
        return sp_fail_memory(context);
    }

    end_group(&tree->points, pointshell->count);
    const sp_pose rest = sp_pose_identity();
    sp_sphere_tree_move(tree, &rest, NULL);
    *result = tree;
    return SP_OK;
}

double sp_sphere_tree_bytes(const sp_contact_pointshell *pointshell)
{
    return (double)sizeof(sp_sphere_tree) + (3 * sizeof(double) + 3 * sizeof(float)) * (double)pointshell->count +
           (pointshell->count > FEW ? sizeof(double) * (double)pointshell->first_node[pointshell->levels - 1] : 0);
}

void sp_sphere_tree_free(sp_sphere_tree *tree)
{
    if (!tree)
        return;
    sp_pool_free(&tree->pool);
    free(tree);
}

void sp_sphere_tree_move(sp_sphere_tree *tree, const sp_pose *pose, const double *q)
{
    const sp_contact_pointshell *pointshell = tree->pointshell;
    tree->pose = *pose;
    tree->q = q;
    tree->placed = false;
    tree->reach = sp_contact_pointshell_reach(pointshell, q);
    tree->size = sp_norm3(pose->x) + sp_norm3(pointshell->centre) + pointshell->extent + tree->reach;
    sp_quaternion_matrix(pose->q, tree->R);
}

void sp_sphere_tree_bound(const sp_sphere_tree *tree, double centre[3], double *radius)
{
    sp_rotate(tree->R, tree->pointshell->centre, centre);
    for (int k = 0; k < 3; k++)
        centre[k] += tree->pose.x[k];
    *radius = tree->pointshell->extent + tree->reach + ROUNDING * tree->size;
}

/* Fits radii to the current points. The bounds Σ a_j |q_j| exceed these the more, the more a body deforms. */
static void fit_spheres(sp_sphere_tree *tree)
{
    const sp_contact_pointshell *pointshell = tree->pointshell;
    const int64_t inner = pointshell->first_node[pointshell->levels - 1];

    memset(tree->radius, 0, (size_t)inner * sizeof *tree->radius); /* squared radii first */

    /* A point widens the spheres of all nodes above it. */
    for (int64_t p = 0; p < pointshell->count; p++) {
        int64_t c = p;
        for (int level = pointshell->levels - 2; level >= 0; level--) {
            c = c < pointshell->cumulative[level] ? c : pointshell->parent[c];
            const double *x = tree->place + 3 * p, *y = tree->place + 3 * c,
                         d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]}, square = sp_dot3(d, d);
            double *radius = &tree->radius[pointshell->first_node[level] + c];
            *radius = square > *radius ? square : *radius;
        }
    }

    for (int64_t i = 0; i < inner; i++)
        tree->radius[i] = sqrt(tree->radius[i]);
}

/* Places the tree, given the positions of its points in the shell's frame [count, 3]. */
static void place_at(sp_sphere_tree *tree, const double *y)
{
    tree->box = NOTHING;

    for (int64_t i = 0; i < tree->pointshell->count; i++) {
        double *x = tree->place + 3 * i;
        sp_rotate(tree->R, y + 3 * i, x);
        for (int k = 0; k < 3; k++)
            tree->points.at[k][i] = (float)(x[k] += tree->pose.x[k]);
        enclose(&tree->box, x);
    }

    if (tree->pointshell->count > FEW)
        fit_spheres(tree);
    tree->placed = true;
}

bool sp_sphere_trees_place(int64_t count, sp_sphere_tree *const *trees, sp_list *workspace)
{
    const sp_contact_pointshell *pointshell = trees[0]->pointshell;
    const int64_t height = 3 * pointshell->count, modes = pointshell->U ? pointshell->modes : 0;

    workspace->count = 0;
    double *y = sp_list_add(workspace, SP_SPHERE_TREES * (height + modes), sizeof *y),
           *q = y + SP_SPHERE_TREES * height;

    if (!y)
        return false;

    /* Always the same number of columns, so that a tree does not depend on the others in the batch */
    for (int64_t t = 0; t < SP_SPHERE_TREES; t++) {
        memcpy(y + t * height, pointshell->points, (size_t)height * sizeof *y);
        if (t < count && trees[t]->q)
            memcpy(q + t * modes, trees[t]->q, (size_t)modes * sizeof *q);
        else
            memset(q + t * modes, 0, (size_t)modes * sizeof *q);
    }

    /* Y = points + U Q */
    if (modes)
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)height, SP_SPHERE_TREES, (int)modes, 1, pointshell->U,
                    (int)modes, q, (int)modes, 1, y, (int)height);

    for (int64_t t = 0; t < count; t++)
        place_at(trees[t], y + t * height);
    return true;
}

const sp_contact_pointshell *sp_sphere_tree_pointshell(const sp_sphere_tree *tree)
{
    return tree->pointshell;
}

static double radius_of(const sp_sphere_tree *tree, int level, int32_t point)
{
    return level + 1 == tree->pointshell->levels ? 0 : tree->radius[tree->pointshell->first_node[level] + point];
}

static bool boxes_apart(const extent *a, const extent *b, double reach)
{
    for (int k = 0; k < 3; k++)
        if (a->low[k] - b->high[k] > reach || b->low[k] - a->high[k] > reach)
            return true;
    return false;
}

/* The data of a search of two trees. */
typedef struct search {
    const sp_sphere_tree *a, *b;
    double reach, coarse; /* m, distance within which points are listed; rounding errors of doubles and of floats */
    sp_list *points;      /* of keys */
    sp_list *stack;       /* of node_pair */
    int64_t visited;
} search;

/* A pair of points, in the order of (a, b). */
static uint64_t pair_key(int32_t a, int32_t b)
{
    return (uint64_t)a << 32 | (uint32_t)b;
}

static inline bool meet_points(search *s, int32_t a, int32_t b)
{
    const double *x = s->a->place + 3 * (int64_t)a, *y = s->b->place + 3 * (int64_t)b,
                 d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    s->visited++;
    if (sp_dot3(d, d) > s->reach * s->reach)
        return true;
    uint64_t *key = sp_list_add(s->points, 1, sizeof *key);
    if (key)
        *key = pair_key(a, b);
    return key != NULL;
}

/* ---- all points near the other shell ---- */

/* Selects the points within the box enlarged by `more`. */
SP_CLONES static void pick(const group *from, const extent *box, double more, group *to)
{
    const int64_t count = from->count;
    const wide zero = {0};
    float low[3], high[3];
    int64_t n = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = (float)(box->low[k] - more);
        high[k] = (float)(box->high[k] + more);
    }

    for (int64_t i = 0; i < count; i += WIDE) {
        /* The sum of what the coordinates are beyond the box; 0 inside */
        wide outside = zero;
        for (int k = 0; k < 3; k++) {
            const wide x = batch_at(from->at[k] + i), below = low[k] - x, above = x - high[k];
            const batch_mask lower = below > zero, upper = above > zero; /* at most one of the two is set */
            outside += (wide)(((batch_mask)below & lower) | ((batch_mask)above & upper));
        }
        for (uint32_t bits = bits_of(outside <= zero); bits; bits &= bits - 1, n++) {
            const int64_t p = i + __builtin_ctz(bits);
            to->number[n] = from->number ? from->number[p] : (int32_t)p;
            for (int k = 0; k < 3; k++)
                to->at[k][n] = from->at[k][p];
        }
    }

    end_group(to, n);
}

static bool new_group(int64_t most, sp_list *numbers, sp_list *places, group *points)
{
    const int64_t width = whole_batched(most);
    numbers->count = places->count = 0;
    points->number = sp_list_add(numbers, most, sizeof *points->number);
    points->at[0] = sp_list_add(places, 3 * width, sizeof *points->at[0]);
    if (!points->number || !points->at[0])
        return false;
    points->at[1] = points->at[0] + width;
    points->at[2] = points->at[1] + width;
    return true;
}

static extent about(const group *points)
{
    extent box = NOTHING;
    for (int64_t i = 0; i < points->count; i++)
        enclose(&box, (const double[3]){points->at[0][i], points->at[1][i], points->at[2][i]});
    return box;
}

SP_INLINE wide squares_from(const float x[3], const group *points, int64_t j)
{
    wide square = {0};
    for (int k = 0; k < 3; k++) {
        const wide d = batch_at(points->at[k] + j) - x[k];
        square += d * d;
    }
    return square;
}

/* Lists the near pairs of two groups, in ascending order. */
SP_CLONES static bool meet_groups(search *s, const group *a, const group *b)
{
    const float most = (float)(s->coarse * s->coarse);
    for (int64_t i = 0; i < a->count; i++) {
        const float x[3] = {a->at[0][i], a->at[1][i], a->at[2][i]};
        batch_mask some = {0};
        for (int64_t j = 0; j < b->count; j += WIDE)
            some |= squares_from(x, b, j) <= most;

        if (!bits_of(some))
            continue;

        const int64_t before = s->points->count;
        uint64_t *key = sp_list_add(s->points, b->count, sizeof *key), *next = key;
        if (!key)
            return false;

        for (int64_t j = 0; j < b->count; j += WIDE)
            for (uint32_t bits = bits_of(squares_from(x, b, j) <= most); bits; bits &= bits - 1)
                *next++ = pair_key(a->number[i], b->number[j + __builtin_ctz(bits)]);

        s->points->count = before + (next - key);
    }
    s->visited += a->count * b->count;
    return true;
}

/* ---- search by nodes ---- */

/* Tests a leaf of one tree against all leaves below a node of the last inner level of the other. */
static bool meet_leaf(search *s, node_pair pair, bool open_a)
{
    const sp_contact_pointshell *pointshell = open_a ? s->a->pointshell : s->b->pointshell;
    const int32_t point = open_a ? pair.a : pair.b;
    const int level = open_a ? pair.level_a : pair.level_b;
    const int32_t *child = pointshell->child + pointshell->first_node[level] + level + point;
    bool well = meet_points(s, pair.a, pair.b);
    for (int32_t c = child[0]; c < child[1] && well; c++)
        well = open_a ? meet_points(s, c, pair.b) : meet_points(s, pair.a, c);
    return well;
}

/* Adds the pairs of the children of a node of one tree with the node of the other. */
static bool open_node(sp_list *stack, const sp_contact_pointshell *pointshell, node_pair pair, bool first)
{
    const int32_t point = first ? pair.a : pair.b;
    const int level = first ? pair.level_a : pair.level_b;
    const int32_t *child = pointshell->child + pointshell->first_node[level] + level + point;
    node_pair *next = sp_list_add(stack, 1 + child[1] - child[0], sizeof *next);
    if (!next)
        return false;
    for (int32_t i = 0; i <= child[1] - child[0]; i++) {
        const int32_t p = i ? child[0] + i - 1 : point;
        next[i] = first ? (node_pair){p, pair.b, (int16_t)(level + 1), pair.level_b}
                        : (node_pair){pair.a, p, pair.level_a, (int16_t)(level + 1)};
    }
    return true;
}

/* Processes one pair of nodes: culled if their spheres are apart, otherwise the larger one is opened. */
static bool visit(search *s, node_pair pair)
{
    const sp_contact_pointshell *A = s->a->pointshell, *B = s->b->pointshell;
    const double *x = s->a->place + 3 * (int64_t)pair.a, *y = s->b->place + 3 * (int64_t)pair.b,
                 d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    const double ra = radius_of(s->a, pair.level_a, pair.a), rb = radius_of(s->b, pair.level_b, pair.b),
                 sum = ra + rb + s->reach;
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

void sp_sphere_workspace_free(sp_sphere_workspace *workspace)
{
    for (int k = 0; k < 2; k++) {
        sp_list_free(&workspace->numbers[k]);
        sp_list_free(&workspace->rows[k]);
    }
    sp_list_free(&workspace->points);
    sp_list_free(&workspace->stack);
    sp_list_free(&workspace->places);
}

static int by_key(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static bool meet_nodes(search *s)
{
    for (int32_t i = 0; i < s->a->pointshell->cumulative[0]; i++)
        for (int32_t j = 0; j < s->b->pointshell->cumulative[0]; j++) {
            s->stack->count = 0;
            node_pair *first = sp_list_add(s->stack, 1, sizeof *first);
            if (!first)
                return false;
            *first = (node_pair){i, j, 0, 0};
            while (s->stack->count > 0)
                if (!visit(s, ((node_pair *)s->stack->data)[--s->stack->count]))
                    return false;
        }

    /* The order of meet_groups */
    if (s->points->count)
        qsort(s->points->data, (size_t)s->points->count, sizeof(uint64_t), by_key);
    return true;
}

/* Lists all pairs of points within reach, in ascending order. */
static bool search_trees(search *s, sp_sphere_workspace *workspace)
{
    group a, b;
    if (!new_group(s->a->pointshell->count, &workspace->numbers[0], &workspace->rows[0], &a) ||
        !new_group(s->b->pointshell->count, &workspace->numbers[1], &workspace->rows[1], &b))
        return false;

    /* The points of a near the box of b, and of b those near what is left of a */
    pick(&s->a->points, &s->b->box, s->coarse, &a);
    const extent box = about(&a);
    pick(&s->b->points, &box, s->coarse, &b);

    const bool many = s->a->pointshell->count > FEW && s->b->pointshell->count > FEW && a.count * b.count > FEW * FEW;
    s->visited = 0;
    return many ? meet_nodes(s) : meet_groups(s, &a, &b);
}

/* Extracts the listed points that are in contact. */
static bool touch(const search *s, double radius_a, double radius_b, sp_list *list)
{
    const double reach = radius_a + radius_b;
    const uint64_t *key = s->points->data;
    for (int64_t i = 0; i < s->points->count; i++) {
        const int32_t a = (int32_t)(key[i] >> 32), b = (int32_t)(key[i] & UINT32_MAX);
        const double *x = s->a->place + 3 * (int64_t)a, *y = s->b->place + 3 * (int64_t)b,
                     d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]}, apart = sp_norm3(d);
        if (!(apart < reach) || !(apart > 0))
            continue;

        sp_sphere_contact *contact = sp_list_add(list, 1, sizeof *contact);
        if (!contact)
            return false;
        *contact = (sp_sphere_contact){.a = a, .b = b, .distance = apart - reach};
        for (int k = 0; k < 3; k++) {
            contact->normal[k] = d[k] / apart;
            contact->at[k] = x[k] + d[k] * (radius_a / reach);
        }
    }
    return true;
}

int sp_sphere_trees_meet(sp_sphere_tree *a, double radius_a, sp_sphere_tree *b, double radius_b,
                         sp_sphere_workspace *workspace, sp_list *list, int64_t *visited)
{
    const double size = a->size + b->size + radius_a + radius_b, reach = radius_a + radius_b + ROUNDING * size;
    search s = {.a = a,
                .b = b,
                .reach = reach,
                .coarse = radius_a + radius_b + COARSE * size,
                .points = &workspace->points,
                .stack = &workspace->stack};

    if ((!a->placed && !sp_sphere_trees_place(1, &a, &workspace->places)) ||
        (!b->placed && !sp_sphere_trees_place(1, &b, &workspace->places)))
        return SP_SYSTEM;

    workspace->points.count = 0;
    if (boxes_apart(&a->box, &b->box, reach))
        return SP_OK;

    if (!search_trees(&s, workspace) || !touch(&s, radius_a, radius_b, list))
        return SP_SYSTEM;
    *visited += s.visited;
    return SP_OK;
}
