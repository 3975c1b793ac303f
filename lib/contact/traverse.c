#include "contact/traverse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/voxmap.h"

/* Relative to lengths; far above the rounding of a few operations. */
static const double ROUNDING = 1e-13;

/* After a total motion of this many sizes of the scene, sums of motions are too coarse for coherence to be of use. */
static const double LONG_WAY = 1e6;

/* ---- the shell ---- */

typedef struct rank {
    int32_t parent, point; /* renumbered parent, number in the file */
} rank;

static int by_parent(const void *left, const void *right)
{
    const rank *a = left, *b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

/* Renumbers level by level and records where the children of each node begin. */
static void number_points(const sp_pointshell *pointshell, rank *ranks, int32_t *renumbered, sp_contact_pointshell *out)
{
    for (int64_t p = 0; p < pointshell->cumulative[0]; p++)
        out->original[p] = renumbered[p] = (int32_t)p;

    for (int k = 1; k < pointshell->levels; k++) {
        const int64_t first = pointshell->cumulative[k - 1], end = pointshell->cumulative[k];
        /* Children of one parent follow each other. */
        for (int64_t p = first; p < end; p++)
            ranks[p - first] = (rank){renumbered[pointshell->parent[p]], (int32_t)p};
        qsort(ranks, (size_t)(end - first), sizeof *ranks, by_parent);

        int32_t *child = out->child + out->first_node[k - 1] + (k - 1);
        int64_t next = first;

        for (int64_t p = 0; p < first; p++) {
            child[p] = (int32_t)next;
            while (next < end && ranks[next - first].parent == p)
                out->parent[next++] = (int32_t)p;
        }

        child[first] = (int32_t)end;

        for (int64_t p = first; p < end; p++) {
            out->original[p] = ranks[p - first].point;
            renumbered[ranks[p - first].point] = (int32_t)p;
        }
    }
}

static void copy_rows(const int32_t *original, int64_t count, int64_t width, const double *from, double *to)
{
    for (int64_t p = 0; p < count; p++)
        memcpy(to + width * p, from + width * original[p], (size_t)width * sizeof *to);
}

static void find_ball(sp_contact_pointshell *pointshell)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};

    /* The box of the points, and the ball about its centre */
    for (int64_t i = 0; i < 3 * pointshell->count; i++) {
        low[i % 3] = fmin(low[i % 3], pointshell->points[i]);
        high[i % 3] = fmax(high[i % 3], pointshell->points[i]);
    }
    for (int k = 0; k < 3; k++) {
        pointshell->centre[k] = low[k] + 0.5 * (high[k] - low[k]);
        pointshell->half[k] = fmax(high[k] - pointshell->centre[k], pointshell->centre[k] - low[k]) * (1 + ROUNDING);
    }

    for (int64_t p = 0; p < pointshell->count; p++) {
        const double d[3] = {pointshell->points[3 * p] - pointshell->centre[0],
                             pointshell->points[3 * p + 1] - pointshell->centre[1],
                             pointshell->points[3 * p + 2] - pointshell->centre[2]};
        pointshell->extent = fmax(pointshell->extent, sp_norm3(d) * (1 + ROUNDING));
    }
}

static void find_reach(sp_contact_pointshell *pointshell)
{
    const int64_t r = pointshell->modes;
    for (int64_t p = 0; p < pointshell->count; p++)
        for (int64_t j = 0; j < r; j++) {
            const double *u = pointshell->U + 3 * r * p + j;
            pointshell->reach[j] =
                fmax(pointshell->reach[j], sqrt(u[0] * u[0] + u[r] * u[r] + u[2 * r] * u[2 * r]) * (1 + ROUNDING));
        }
}

int sp_contact_pointshell_new(sp_context *context, const sp_pointshell *pointshell, sp_contact_pointshell *out)
{
    const int64_t n = pointshell->count, r = pointshell->U ? pointshell->modes : 0,
                  inner = sp_pointshell_inner(pointshell);
    sp_pool scratch = {0};
    *out = (sp_contact_pointshell){.count = n, .modes = r, .levels = pointshell->levels};

    if (inner + n > INT32_MAX)
        return sp_fail(context, SP_INPUT, "a shell of %lld points in %d levels has more than 2^31 nodes", (long long)n,
                       pointshell->levels);

    for (int k = 0; k < pointshell->levels; k++) {
        out->cumulative[k] = pointshell->cumulative[k];
        out->first_node[k] = k > 0 ? out->first_node[k - 1] + pointshell->cumulative[k - 1] : 0;
    }

    sp_pool *pool = &out->pool;
    out->original = sp_pool_raw(pool, n, sizeof *out->original);
    out->child = sp_pool_raw(pool, inner + pointshell->levels, sizeof *out->child);
    out->parent = sp_pool_new(pool, n, sizeof *out->parent);
    out->points = sp_pool_raw(pool, 3 * n, sizeof(double));
    out->normals = sp_pool_raw(pool, 3 * n, sizeof(double));
    out->weight = sp_pool_raw(pool, n, sizeof(double));
    out->radius = sp_pool_raw(pool, inner, sizeof(double));
    out->reach = sp_pool_new(pool, r, sizeof(double));
    out->U = r ? sp_pool_raw(pool, n, 3 * (size_t)r * sizeof(double)) : NULL;
    out->dN = r ? sp_pool_raw(pool, n, 3 * (size_t)r * sizeof(double)) : NULL;
    out->dT = r && pointshell->dT ? sp_pool_raw(pool, n, 6 * (size_t)r * sizeof(double)) : NULL;
    out->a = r ? sp_pool_raw(pool, inner, (size_t)r * sizeof(double)) : NULL;
    rank *ranks = sp_pool_raw(&scratch, n, sizeof *ranks);
    int32_t *renumbered = sp_pool_raw(&scratch, n, sizeof *renumbered);

    if (pool->failed || scratch.failed) {
        sp_pool_free(&scratch);
        sp_contact_pointshell_free(out);
        return sp_fail_memory(context);
    }

    number_points(pointshell, ranks, renumbered, out);
    sp_pool_free(&scratch);
    copy_rows(out->original, n, 3, pointshell->points, out->points);
    copy_rows(out->original, n, 3, pointshell->normals, out->normals);
    copy_rows(out->original, n, 1, pointshell->area, out->weight);

    /* Areas become weights with the mean 1. */
    double area = 0;
    for (int64_t p = 0; p < n; p++)
        area += out->weight[p];
    for (int64_t p = 0; p < n; p++)
        out->weight[p] = area > 0 ? out->weight[p] * ((double)n / area) : 1;

    for (int k = 0; k + 1 < pointshell->levels; k++)
        copy_rows(out->original, pointshell->cumulative[k], 1, pointshell->radius + out->first_node[k],
                  out->radius + out->first_node[k]);

    if (r) {
        copy_rows(out->original, n, 3 * r, pointshell->U, out->U);
        copy_rows(out->original, n, 3 * r, pointshell->dN, out->dN);
        if (out->dT)
            copy_rows(out->original, n, 6 * r, pointshell->dT, out->dT);
        for (int k = 0; k + 1 < pointshell->levels; k++)
            copy_rows(out->original, pointshell->cumulative[k], r, pointshell->a + r * out->first_node[k],
                      out->a + r * out->first_node[k]);
        find_reach(out);
    }

    find_ball(out);
    return SP_OK;
}

void sp_contact_pointshell_free(sp_contact_pointshell *pointshell)
{
    sp_pool_free(&pointshell->pool);
    *pointshell = (sp_contact_pointshell){0};
}

/* y += A q for A [3, r, row major]. */
static inline void add_rows(int64_t r, const double *A, const double *q, double y[3])
{
    for (int k = 0; k < 3; k++) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < r; j++)
            sum += A[k * r + j] * q[j];
        y[k] += sum;
    }
}

void sp_contact_pointshell_point(const sp_contact_pointshell *pointshell, int64_t point, const double *q, double x[3])
{
    memcpy(x, pointshell->points + 3 * point, 3 * sizeof *x);
    if (q && pointshell->U)
        add_rows(pointshell->modes, pointshell->U + 3 * pointshell->modes * point, q, x);
}

void sp_contact_pointshell_normal(const sp_contact_pointshell *pointshell, int64_t point, const double *q,
                                  bool tangents, double normal[3])
{
    const double *rest = pointshell->normals + 3 * point;
    const int64_t r = pointshell->modes;

    memcpy(normal, rest, 3 * sizeof *normal);
    if (!q || !pointshell->U)
        return;

    /* The cross product of the deformed tangents, or the normal with its linear change */
    if (tangents && pointshell->dT) {
        double t[2][3];
        sp_pointshell_tangents(rest, t);
        for (int i = 0; i < 2; i++)
            add_rows(r, pointshell->dT + 3 * r * (2 * point + i), q, t[i]);
        sp_cross3(t[0], t[1], normal);
    } else
        add_rows(r, pointshell->dN + 3 * r * point, q, normal);

    if (!sp_normalize3(normal))
        memcpy(normal, rest, 3 * sizeof *normal);
}

double sp_contact_pointshell_reach(const sp_contact_pointshell *pointshell, const double *q)
{
    double sum = 0;
    for (int64_t j = 0; j < pointshell->modes && q; j++)
        sum += pointshell->reach[j] * fabs(q[j]);
    return sum;
}

/* ---- traversal ---- */

/* The nodes of a level to be visited, in ascending order of points: first those that were nodes of the level above,
 * with their distances. */
typedef struct node_list {
    int64_t count, known;
    int32_t *point;
    double *value; /* [known] */
} node_list;

struct sp_traversal {
    const sp_contact_pointshell *pointshell;
    sp_traversal_workspace *own; /* NULL: none */
    double *until; /* [reached] m, total motion up to which no point below can be in contact, for the levels reached */
    int64_t reached;            /* number of nodes */
    double travelled, furthest; /* m; no `until` exceeds `furthest` */
    double rounding;            /* m, rounding of positions and distances in this run */
    double centre[3], turn[4],
        reach; /* of the previous run: the sphere's centre and rotation in the frame of the distances */
    bool ran;
    int deepest;
    double q[]; /* [modes] of the previous run */
};

struct sp_traversal_workspace {
    sp_pool pool;
    node_list lists[2];
    sp_traversal_result result;
};

int sp_traversal_workspace_new(sp_context *context, int64_t points, sp_traversal_workspace **result)
{
    sp_traversal_workspace *workspace = calloc(1, sizeof *workspace);
    *result = NULL;
    SP_PASS(sp_allocated(context, workspace));

    for (int i = 0; i < 2; i++) {
        workspace->lists[i].point = sp_pool_raw(&workspace->pool, points, sizeof(int32_t));
        workspace->lists[i].value = sp_pool_raw(&workspace->pool, points, sizeof(double));
    }

    workspace->result.point = sp_pool_raw(&workspace->pool, points, sizeof(int32_t));
    workspace->result.distance = sp_pool_raw(&workspace->pool, points, sizeof(double));
    workspace->result.place = sp_pool_raw(&workspace->pool, 3 * points, sizeof(double));

    if (workspace->pool.failed) {
        sp_traversal_workspace_free(workspace);
        return sp_fail_memory(context);
    }
    *result = workspace;
    return SP_OK;
}

void sp_traversal_workspace_free(sp_traversal_workspace *workspace)
{
    if (!workspace)
        return;
    sp_pool_free(&workspace->pool);
    free(workspace);
}

/* Number of nodes of levels 1 to `level`. */
static int64_t nodes_to(const sp_contact_pointshell *pointshell, int level)
{
    return pointshell->first_node[level - 1] + pointshell->cumulative[level - 1];
}

/* Allocates memory for the nodes down to a level, with 0 for new ones, whose distances are unknown. */
static bool reach_level(sp_traversal *t, int level)
{
    const int64_t nodes = nodes_to(t->pointshell, level);
    if (nodes <= t->reached)
        return true;
    double *until = realloc(t->until, (size_t)nodes * sizeof *until);
    if (!until)
        return false;
    memset(until + t->reached, 0, (size_t)(nodes - t->reached) * sizeof *until);
    t->until = until;
    t->reached = nodes;
    return true;
}

int sp_traversal_state_new(sp_context *context, const sp_contact_pointshell *pointshell, bool whole,
                           sp_traversal **traversal)
{
    sp_traversal *t = calloc(1, sizeof *t + (size_t)pointshell->modes * sizeof *t->q);
    *traversal = NULL;
    SP_PASS(sp_allocated(context, t));

    t->pointshell = pointshell;
    if (!reach_level(t, whole ? pointshell->levels : 1)) {
        sp_traversal_free(t);
        return sp_fail_memory(context);
    }
    *traversal = t;
    return SP_OK;
}

int sp_traversal_new(sp_context *context, const sp_contact_pointshell *pointshell, sp_traversal **traversal)
{
    int status;
    sp_traversal_workspace *workspace = NULL;
    *traversal = NULL;
    SP_TRY(sp_traversal_workspace_new(context, pointshell->count, &workspace));
    SP_TRY(sp_traversal_state_new(context, pointshell, true, traversal));
    (*traversal)->own = workspace;
    workspace = NULL;
done:
    sp_traversal_workspace_free(workspace);
    return status;
}

void sp_traversal_free(sp_traversal *traversal)
{
    if (!traversal)
        return;
    sp_traversal_workspace_free(traversal->own);
    free(traversal->until);
    free(traversal);
}

static void forget(sp_traversal *t)
{
    for (int64_t i = 0; i < t->reached; i++)
        t->until[i] = 0;
    t->travelled = t->furthest = 0;
}

void sp_traversal_restart(sp_traversal *t)
{
    enum {
        MANY = 1 << 16
    }; /* with more nodes, clearing would take too long for one cycle: the motion is set beyond all bounds instead */

    if (t->reached <= MANY)
        forget(t);
    else
        t->travelled = fmax(t->travelled, t->furthest);
    t->ran = false;
    t->deepest = 0;
}

int64_t sp_traversal_bytes(const sp_traversal *t)
{
    return (int64_t)sizeof *t + (t->reached + t->pointshell->modes) * (int64_t)sizeof(double);
}

int64_t sp_traversal_bytes_at_most(const sp_contact_pointshell *pointshell)
{
    return (int64_t)sizeof(sp_traversal) +
           (nodes_to(pointshell, pointshell->levels) + pointshell->modes) * (int64_t)sizeof(double);
}

/* Transformation from the shell's frame to that of the distances. */
typedef struct view {
    double R[9], x[3], turn[4];
} view;

static void look(const sp_pose *pose, const sp_pose *field, view *v)
{
    const double back[4] = {field->q[0], -field->q[1], -field->q[2], -field->q[3]};
    double F[9], d[3];

    sp_quaternion_multiply(back, pose->q, v->turn);
    sp_quaternion_matrix(v->turn, v->R);
    sp_quaternion_matrix(field->q, F);
    for (int k = 0; k < 3; k++)
        d[k] = pose->x[k] - field->x[k];
    sp_rotate_back(F, d, v->x);
}

/* A bound on the motion of any point since the previous run. Coherence restarts if the bound is useless: after large
 * motions, and motions to or from positions that are not finite. */
static void travel(sp_traversal *t, const view *v, const double *q, const sp_distance *distance, double moved)
{
    const sp_contact_pointshell *pointshell = t->pointshell;
    const double reach = sp_contact_pointshell_reach(pointshell, q),
                 back[4] = {t->turn[0], -t->turn[1], -t->turn[2], -t->turn[3]};
    const double body = fabs(distance->offset) + sp_norm3(distance->centre) + distance->radius +
                        sp_norm3(distance->half); /* members of other kinds are 0 */
    const double size = sp_norm3(v->x) + sp_norm3(pointshell->centre) + pointshell->extent + reach + body;
    const double before = t->travelled;
    double centre[3], turn[4], angle[3], way[3], path = moved;
    t->rounding = ROUNDING * size;

    /* The way of the centre, the turn at the largest radius, and the change of each coordinate */
    sp_rotate(v->R, pointshell->centre, centre);
    for (int k = 0; k < 3; k++) {
        centre[k] += v->x[k];
        way[k] = centre[k] - t->centre[k];
    }
    sp_quaternion_multiply(v->turn, back, turn);
    sp_quaternion_to_vector(turn, angle);
    path += sp_norm3(way) + (pointshell->extent + fmax(reach, t->reach)) * sp_norm3(angle);

    for (int64_t j = 0; j < pointshell->modes; j++) {
        const double now = q ? q[j] : 0;
        path += pointshell->reach[j] * fabs(now - t->q[j]);
        t->q[j] = now;
    }

    /* The bound includes the rounding of the sum. */
    t->travelled += path * (1 + ROUNDING) + t->rounding + 2 * DBL_EPSILON * t->travelled;
    if (!t->ran)
        t->travelled = before; /* the first run adds no motion */
    if (!(t->travelled <= LONG_WAY * size))
        forget(t);

    memcpy(t->centre, centre, sizeof centre);
    memcpy(t->turn, v->turn, sizeof turn);
    t->reach = reach;
    t->ran = true;
}

static double depth_in_voxels(const sp_contact_pointshell *pointshell, int64_t point, const double *q, const view *v,
                              const sp_distance *distance, const double x[3])
{
    double n[3], N[3];
    sp_contact_pointshell_normal(pointshell, point, q, false, n);
    sp_rotate(v->R, n, N);
    return sp_voxmap_depth(distance->voxmap, x, N);
}

/* Nodes are visited in blocks, so that the data of some are fetched while others are computed. */
enum { BLOCK = 16 };

typedef struct node_look {
    int32_t point;
    bool known;
    double value;        /* if it is known */
    double x[3];         /* in the frame of the distances */
    double t[3];         /* in the cell of a grid … */
    const float *lowest; /* … at this vertex; NULL: outside the grid, or another kind of distance */
} node_look;

static inline void fetch(const void *from, size_t bytes)
{
    const char *first = from;
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(first + at);
}

/* Prefetches the data that place() and radius_of() read. */
static inline void fetch_node(const sp_contact_pointshell *pointshell, const node_look *n, int64_t node, bool leaf)
{
    const size_t r = (size_t)pointshell->modes;
    if (!n->known) {
        fetch(pointshell->points + 3 * n->point, 3 * sizeof(double));
        if (r)
            fetch(pointshell->U + 3 * r * (size_t)n->point, 3 * r * sizeof(double));
    }
    if (leaf)
        return;
    fetch(pointshell->radius + node, sizeof(double));
    if (r)
        fetch(pointshell->a + r * (size_t)node, r * sizeof(double));
}

static inline void place(const sp_contact_pointshell *pointshell, const double *q, const view *v,
                         const sp_distance *distance, node_look *n)
{
    double y[3];
    sp_contact_pointshell_point(pointshell, n->point, q, y);
    sp_rotate(v->R, y, n->x);
    for (int k = 0; k < 3; k++)
        n->x[k] += v->x[k];

    /* The numbers of the cell are on their way while other points are placed. */
    n->lowest = distance->kind == SP_DISTANCE_GRID ? sp_distance_cell(distance, n->x, n->t) : NULL;
    if (n->lowest) {
        const int64_t row = distance->field->cells[0] + 1, layer = row * (distance->field->cells[1] + 1);
        __builtin_prefetch(n->lowest);
        __builtin_prefetch(n->lowest + row);
        __builtin_prefetch(n->lowest + layer);
        __builtin_prefetch(n->lowest + layer + row);
    }
}

/* Evaluates the distance of a point that is visited for the first time; a negative one is a contact. */
static inline double visit(const sp_traversal *t, sp_traversal_result *result, const node_look *n, const double *q,
                           const view *v, const sp_distance *distance, const sp_traversal_limits *limits)
{
    const double value =
        n->lowest ? sp_distance_inside(distance, n->lowest, n->t, NULL) : sp_distance_at(distance, n->x, NULL);
    const bool voxels = distance->kind == SP_DISTANCE_VOXMAP;
    const double depth = voxels ? depth_in_voxels(t->pointshell, n->point, q, v, distance, n->x) : value;

    if (depth < 0 ||
        (voxels && limits->proximity && sp_voxmap_at(distance->voxmap, n->x, NULL) == SP_VOXEL_PROXIMITY)) {
        result->point[result->count] = n->point;
        result->distance[result->count] = fmin(depth, 0);
        memcpy(result->place + 3 * result->count, n->x, sizeof n->x);
        result->count++;
    }
    result->lowest = fmin(result->lowest, value);
    return value;
}

static double radius_of(const sp_contact_pointshell *pointshell, int64_t node, const double *q)
{
    double radius = pointshell->radius[node];
    for (int64_t j = 0; j < pointshell->modes && q; j++)
        radius += pointshell->a[pointshell->modes * node + j] * fabs(q[j]);
    return radius;
}

/* Returns true if a level with this number of queued nodes may begin. */
static bool affordable(const sp_traversal *t, const sp_traversal_result *result, int level, int64_t queued,
                       const sp_traversal_limits *limits)
{
    const double V = (double)result->visited, all = V + (double)queued;
    const double spent = limits->cost && V > 0 ? all * (1 + limits->contact_cost * (double)result->count / V) : V;
    return spent < (double)(level <= t->deepest ? limits->warm : limits->cold);
}

static bool remembers(const sp_distance *distance, const sp_traversal_limits *limits)
{
    return limits->coherence && limits->tree && distance->kind != SP_DISTANCE_VOXMAP;
}

/* Visits a level and lists the next one. */
static void visit_level(sp_traversal *t, sp_traversal_result *result, int level, const double *q, const view *v,
                        const sp_distance *distance, const sp_traversal_limits *limits, node_list *list,
                        node_list *next)
{
    const sp_contact_pointshell *pointshell = t->pointshell;
    const bool leaves = level == pointshell->levels, tree = limits->tree && distance->kind != SP_DISTANCE_VOXMAP;
    double *until = remembers(distance, limits) ? t->until + pointshell->first_node[level - 1] : NULL;
    const int32_t *child = pointshell->child + pointshell->first_node[level - 1] + (level - 1);
    node_look block[BLOCK];
    int64_t kept = 0;

    /* In blocks: the data of all nodes of a block are on their way before the first is used. */
    for (int64_t i = 0; i < list->count;) {
        int count = 0;
        for (; i < list->count && count < BLOCK; i++) {
            const int32_t p = list->point[i];
            if (until && t->travelled < until[p]) {
                result->passed++;
                continue;
            }
            block[count] = (node_look){.point = p, .known = i < list->known};
            if (block[count].known)
                block[count].value = list->value[i];
            fetch_node(pointshell, &block[count++], pointshell->first_node[level - 1] + p, leaves);
        }

        result->visited += count;
        for (int k = 0; k < count; k++)
            if (!block[k].known)
                place(pointshell, q, v, distance, &block[k]);

        for (int k = 0; k < count; k++) {
            const int32_t p = block[k].point;
            const double value = block[k].known ? block[k].value : visit(t, result, &block[k], q, v, distance, limits);
            const double radius = leaves ? 0 : radius_of(pointshell, pointshell->first_node[level - 1] + p, q);

            /* No point below can be in contact before the motion has used up the margin. */
            const double margin = value - radius - distance->slack - t->rounding;
            /* A deformed field may be undefined everywhere for some time. */
            const double way = t->travelled + (value < INFINITY ? margin : 0);

            if (until) {
                until[p] = way;
                t->furthest = way > t->furthest ? way : t->furthest;
            }

            if (leaves || (margin > 0 && tree))
                continue;
            next->point[kept] = p;
            next->value[kept++] = value;
        }
    }

    /* A point is the first among its children, and its distance is known. */
    next->known = next->count = kept;
    if (leaves)
        return;

    for (int64_t i = 0; i < kept; i++) {
        const int32_t p = next->point[i];
        for (int32_t c = child[p]; c < child[p + 1]; c++)
            next->point[next->count++] = c;
    }
}

const sp_traversal_result *sp_traversal_run_in(sp_traversal *t, sp_traversal_workspace *workspace, const sp_pose *pose,
                                               const double *q, const sp_pose *field, const sp_distance *distance,
                                               double moved, const sp_traversal_limits *limits)
{
    const sp_contact_pointshell *pointshell = t->pointshell;
    const int levels = limits->levels > 0 && limits->levels < pointshell->levels ? limits->levels : pointshell->levels;
    sp_traversal_result *result = &workspace->result;
    view v;

    look(pose, field, &v);
    travel(t, &v, q, distance, moved);

    result->visited = result->passed = result->count = 0;
    result->deepest = 0;
    result->lowest = INFINITY;

    /* Distances on the first level are not known yet. */
    node_list *list = &workspace->lists[0], *next = &workspace->lists[1];
    list->known = 0;
    list->count = pointshell->cumulative[0];
    for (int64_t p = 0; p < list->count; p++)
        list->point[p] = (int32_t)p;

    for (int level = 1; level <= levels && list->count > 0; level++) {
        if (level > 1 && !affordable(t, result, level, list->count, limits))
            break;
        result->deepest = level;
        if (remembers(distance, limits) && !reach_level(t, level))
            return NULL;
        visit_level(t, result, level, q, &v, distance, limits, list, next);
        node_list *swap = list;
        list = next;
        next = swap;
    }

    result->complete = list->count == 0;
    t->deepest = result->deepest;
    return result;
}

const sp_traversal_result *sp_traversal_run(sp_traversal *t, const sp_pose *pose, const double *q, const sp_pose *field,
                                            const sp_distance *distance, double moved,
                                            const sp_traversal_limits *limits)
{
    return sp_traversal_run_in(t, t->own, pose, q, field, distance, moved, limits);
}

/* Allocates memory for the number of nodes that the saved traversal had reached, which end with a level. */
static bool reach_nodes(sp_traversal *t, int64_t nodes)
{
    int level = 1;
    while (level < t->pointshell->levels && nodes_to(t->pointshell, level) < nodes)
        level++;
    return nodes_to(t->pointshell, level) == nodes && reach_level(t, level);
}

void sp_traversal_visit(sp_traversal *t, sp_state *state)
{
    int64_t reached = t->reached;
    SP_STATE_VALUE(state, reached);
    if (state->failed)
        return;
    if (state->loading) {
        sp_traversal_restart(t);
        if (!reach_nodes(t, reached)) {
            state->failed = true;
            return;
        }
    }

    SP_STATE_VALUE(state, t->travelled);
    SP_STATE_VALUE(state, t->furthest);
    SP_STATE_VALUE(state, t->centre);
    SP_STATE_VALUE(state, t->turn);
    SP_STATE_VALUE(state, t->reach);
    SP_STATE_VALUE(state, t->ran);
    SP_STATE_VALUE(state, t->deepest);
    sp_state_reals(state, t->q, t->pointshell->modes);
    sp_state_reals(state, t->until, reached);
}
