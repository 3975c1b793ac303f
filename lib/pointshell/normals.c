#include "pointshell/normals.h"

#include <math.h>
#include <string.h>

#include "geometry/pose.h"
#include "pointshell/boxes.h"

enum { SWEEPS = 8 };

/* Cosine of the angle, 120 degrees, from which normals belong to two sides. */
static const double SAME_SIDE = -0.5;

void sp_pointshell_tangents(const double normal[3], double tangent[2][3])
{
    double axis[3] = {0};

    /* The cross product with the axis that is farthest from the normal cannot vanish. */
    int least = 0;
    for (int k = 1; k < 3; k++)
        least = fabs(normal[k]) < fabs(normal[least]) ? k : least;
    axis[least] = 1;

    sp_cross3(axis, normal, tangent[0]);
    const double length = sp_norm3(tangent[0]);
    for (int k = 0; k < 3; k++)
        tangent[0][k] /= length;
    sp_cross3(normal, tangent[0], tangent[1]);
}

/* ---- neighbours ---- */

typedef struct search {
    const sp_pointshell *pointshell;
    int64_t self;
    int found;
    const int64_t *taken; /* [found] */
} search;

static double neighbour_distance(void *data, int64_t item, const double point[3])
{
    const search *s = data;
    const double *x = s->pointshell->points + 3 * item;

    if (item == s->self || sp_dot3(s->pointshell->normals + 3 * item, s->pointshell->normals + 3 * s->self) < SAME_SIDE)
        return INFINITY;
    for (int i = 0; i < s->found; i++)
        if (s->taken[i] == item)
            return INFINITY;
    return sp_box_square(x, x, point);
}

/* Sorts neighbours by angle, and marks those from which the next one is less than half a turn away. */
static void sort_around(const sp_pointshell *pointshell, int64_t self, int count, int64_t *neighbour, double *square,
                        bool *convex)
{
    double tangent[2][3], angle[SP_POINTSHELL_NEIGHBOURS_MAX], at[SP_POINTSHELL_NEIGHBOURS_MAX][2];

    sp_pointshell_tangents(pointshell->normals + 3 * self, tangent);
    for (int i = 0; i < count; i++) {
        const int64_t item = neighbour[i];
        const double *x = pointshell->points + 3 * item, *p = pointshell->points + 3 * self,
                     offset[3] = {x[0] - p[0], x[1] - p[1], x[2] - p[2]};
        const double along = sp_dot3(offset, tangent[0]), across = sp_dot3(offset, tangent[1]),
                     turned = atan2(across, along), far = square[i];

        /* Insertion sort by the angle in the tangent plane */
        int to = i;
        for (; to > 0 && angle[to - 1] > turned; to--) {
            neighbour[to] = neighbour[to - 1];
            square[to] = square[to - 1];
            angle[to] = angle[to - 1];
            memcpy(at[to], at[to - 1], sizeof *at);
        }

        neighbour[to] = item;
        square[to] = far;
        angle[to] = turned;
        at[to][0] = along;
        at[to][1] = across;
    }

    /* The next one is less than half a turn away where the cross product of the two is positive. */
    for (int i = 0; i < count; i++) {
        const int next = (i + 1) % count;
        convex[i] = at[i][0] * at[next][1] - at[i][1] * at[next][0] > 0;
    }
}

int sp_pointshell_neighbours_new(sp_context *context, const sp_pointshell *pointshell, int64_t count,
                                 const int64_t *points, int most, sp_pointshell_neighbours *neighbours)
{
    sp_box_tree tree;
    int status;
    *neighbours = (sp_pointshell_neighbours){.count = count, .most = most};

    if (most < 2 || most > SP_POINTSHELL_NEIGHBOURS_MAX)
        return sp_fail(context, SP_USAGE, "%d neighbours, expected 2 to %d", most, SP_POINTSHELL_NEIGHBOURS_MAX);

    neighbours->found = sp_pool_raw(&neighbours->pool, count, sizeof *neighbours->found);
    neighbours->neighbour = sp_pool_raw(&neighbours->pool, count * most, sizeof *neighbours->neighbour);
    neighbours->weight = sp_pool_raw(&neighbours->pool, count * most, sizeof *neighbours->weight);
    neighbours->convex = sp_pool_raw(&neighbours->pool, count * most, sizeof *neighbours->convex);

    SP_TRY(sp_allocated(context, !neighbours->pool.failed));

    SP_TRY(sp_box_tree_new(context, pointshell->count, pointshell->points, pointshell->points, &tree));
#pragma omp parallel for schedule(dynamic, 64) num_threads(context->threads)
    for (int64_t i = 0; i < count; i++) {
        int64_t *neighbour = neighbours->neighbour + most * i;
        double *weight = neighbours->weight + most * i, farthest = 0;
        search s = {.pointshell = pointshell, .self = points[i], .taken = neighbour};

        /* One nearest after the other, without those taken */
        for (; s.found < most; s.found++) {
            const int64_t item = sp_box_tree_nearest(&tree, pointshell->points + 3 * points[i], neighbour_distance, &s,
                                                     &weight[s.found]);
            if (item < 0)
                break;
            neighbour[s.found] = item;
            farthest = weight[s.found];
        }

        neighbours->found[i] = s.found;
        sort_around(pointshell, points[i], s.found, neighbour, weight, neighbours->convex + most * i);

        /* Weights fall with the distance d as (1 − d²/(1.5 farthest)²)², and do not vanish at the farthest. */
        for (int k = 0; k < s.found; k++) {
            const double rest = farthest > 0 ? 1 - weight[k] / (1.5 * 1.5 * farthest) : 1;
            weight[k] = rest * rest;
        }
    }

    sp_box_tree_free(&tree);
done:
    if (status != SP_OK)
        sp_pointshell_neighbours_free(neighbours);
    return status;
}

void sp_pointshell_neighbours_free(sp_pointshell_neighbours *neighbours)
{
    sp_pool_free(&neighbours->pool);
    *neighbours = (sp_pointshell_neighbours){0};
}

/* ---- normals ---- */

/* base + rows [3, modes] q */
static void moved(const double base[3], const double *rows, int64_t modes, const double *q, double x[3])
{
    for (int k = 0; k < 3; k++) {
        x[k] = base[k];
        for (int64_t j = 0; j < modes; j++)
            x[k] += rows[k * modes + j] * q[j];
    }
}

static void moved_point(const sp_pointshell *pointshell, int64_t point, const double *q, double x[3])
{
    moved(pointshell->points + 3 * point, pointshell->U + 3 * pointshell->modes * point, pointshell->modes, q, x);
}

static void by_gradient(const sp_pointshell *pointshell, int64_t point, const double *q, double normal[3])
{
    moved(pointshell->normals + 3 * point, pointshell->dN + 3 * pointshell->modes * point, pointshell->modes, q,
          normal);
}

static void by_tangents(const sp_pointshell *pointshell, int64_t point, const double *q, double normal[3])
{
    double tangent[2][3];
    sp_pointshell_tangents(pointshell->normals + 3 * point, tangent);
    for (int i = 0; i < 2; i++)
        moved(tangent[i], pointshell->dT + 3 * pointshell->modes * (2 * point + i), pointshell->modes, q, tangent[i]);
    sp_cross3(tangent[0], tangent[1], normal);
}

/* Jacobi rotations: moves the eigenvalues to the diagonal of A, and writes eigenvectors to the columns of V. */
static void eigenvectors(double A[3][3], double V[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            V[i][k] = i == k;
    for (int turn = 0; turn < 3 * SWEEPS; turn++) {
        const int p = turn % 3, q = (p + 1) % 3;

        if (A[p][q] == 0)
            continue;

        /* The angle that makes A_pq vanish, of two possible the smaller one */
        const double half = (A[q][q] - A[p][p]) / (2 * A[p][q]),
                     tangent = (half < 0 ? -1 : 1) / (fabs(half) + sqrt(half * half + 1));
        const double c = 1 / sqrt(tangent * tangent + 1), s = tangent * c;

        /* A ← Jᵀ A J and V ← V J */
        for (int k = 0; k < 3; k++) {
            const double a = A[k][p], b = A[k][q];
            A[k][p] = c * a - s * b;
            A[k][q] = s * a + c * b;
        }

        for (int k = 0; k < 3; k++) {
            const double a = A[p][k], b = A[q][k], v = V[k][p], w = V[k][q];
            A[p][k] = c * a - s * b;
            A[q][k] = s * a + c * b;
            V[k][p] = c * v - s * w;
            V[k][q] = s * v + c * w;
        }
    }
}

static void by_cloud(const sp_pointshell *pointshell, int64_t point, const sp_pointshell_neighbours *near, int64_t i,
                     const double *q, double normal[3])
{
    double p[3], x[3], side[3], A[3][3] = {{0}}, V[3][3];

    moved_point(pointshell, point, q, p);

    /* The weighted second moments of the neighbours about the point */
    for (int n = 0; n < near->found[i]; n++) {
        moved_point(pointshell, near->neighbour[near->most * i + n], q, x);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                A[a][b] += near->weight[near->most * i + n] * (x[a] - p[a]) * (x[b] - p[b]);
    }

    eigenvectors(A, V);

    /* The normal is the direction in which they spread least, on the side to which the gradient turns the old
     * normal. */
    int least = 0, most = 0;
    for (int k = 1; k < 3; k++) {
        least = A[k][k] < A[least][least] ? k : least;
        most = A[k][k] >= A[most][most] ? k : most;
    }

    by_gradient(pointshell, point, q, side);
    for (int k = 0; k < 3; k++)
        normal[k] = V[k][least];

    /* Points on a line have no normal: two eigenvalues vanish. */
    const bool line = least == most || !(A[3 - least - most][3 - least - most] > 0);
    const double sign = line ? 0 : sp_dot3(normal, side) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++)
        normal[k] *= sign;
}

static void by_neighbours(const sp_pointshell *pointshell, int64_t point, const sp_pointshell_neighbours *near,
                          int64_t i, const double *q, double normal[3])
{
    double p[3], offset[SP_POINTSHELL_NEIGHBOURS_MAX][3], product[3];
    const int found = near->found[i];
    moved_point(pointshell, point, q, p);

    for (int n = 0; n < found; n++) {
        moved_point(pointshell, near->neighbour[near->most * i + n], q, offset[n]);
        for (int k = 0; k < 3; k++)
            offset[n][k] -= p[k];
    }

    normal[0] = normal[1] = normal[2] = 0;

    /* Twice the areas of the triangles between neighbours that follow each other around the point */
    for (int n = 0; n < found; n++) {
        sp_cross3(offset[n], offset[(n + 1) % found], product);
        if (near->convex[near->most * i + n])
            for (int k = 0; k < 3; k++)
                normal[k] += product[k];
    }
}

int sp_pointshell_normals(sp_context *context, const sp_pointshell *pointshell, enum sp_pointshell_normal method,
                          int64_t count, const int64_t *points, const sp_pointshell_neighbours *neighbours,
                          const double *q, double *normals)
{
    if (method == SP_NORMAL_TANGENTS && !pointshell->dT)
        return sp_fail(context, SP_USAGE, "the pointshell has no tangents");
    if ((method == SP_NORMAL_CLOUD || method == SP_NORMAL_NEIGHBOURS) && (!neighbours || neighbours->count != count))
        return sp_fail(context, SP_USAGE, "neighbours of %lld points, expected %lld",
                       (long long)(neighbours ? neighbours->count : 0), (long long)count);

#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t i = 0; i < count; i++) {
        double *normal = normals + 3 * i;
        if (method == SP_NORMAL_GRADIENT)
            by_gradient(pointshell, points[i], q, normal);
        else if (method == SP_NORMAL_TANGENTS)
            by_tangents(pointshell, points[i], q, normal);
        else if (method == SP_NORMAL_CLOUD)
            by_cloud(pointshell, points[i], neighbours, i, q, normal);
        else
            by_neighbours(pointshell, points[i], neighbours, i, q, normal);

        const double length = sp_norm3(normal);
        if (length > 0)
            for (int k = 0; k < 3; k++)
                normal[k] /= length;
    }
    return SP_OK;
}
