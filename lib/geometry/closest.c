#include "geometry/closest_internal.h"

#include <math.h>

#include "base/vec3.h"
#include "geometry/morton.h"

/* A triangle whose height is below this fraction of its longest side has no accurate normal. Its face is within half
 * that height of its sides. */
static const double FLAT = 1e-8;

static sp_facet make_facet(const double corner[3][3])
{
    sp_facet facet = {.least = INFINITY};
    double longest = 0, square[3], normal[3];

    for (int k = 0; k < 3; k++) {
        facet.a[k] = corner[0][k];
        facet.e[0][k] = corner[1][k] - corner[0][k];
        facet.e[1][k] = corner[2][k] - corner[0][k];
        facet.e[2][k] = corner[2][k] - corner[1][k];
    }

    for (int i = 0; i < 3; i++) {
        square[i] = sp_dot3(facet.e[i], facet.e[i]);
        longest = fmax(longest, square[i]);
        facet.inverse[i] = square[i] > 0 && isfinite(1 / square[i]) ? 1 / square[i] : 0;
    }

    sp_cross3(facet.e[0], facet.e[1], normal);
    const double area = sp_norm3(normal); /* twice */
    if (!(area > FLAT * longest) || !isfinite(1 / area))
        return facet;

    for (int k = 0; k < 3; k++)
        facet.normal[k] = normal[k] / area;

    /* dual0 = (c − a) × n / 2A and dual1 = n × (b − a) / 2A, so that dual_i · e_j = δ_ij */
    sp_cross3(facet.e[1], facet.normal, facet.dual[0]);
    sp_cross3(facet.normal, facet.e[0], facet.dual[1]);
    for (int k = 0; k < 3; k++) {
        facet.dual[0][k] /= area;
        facet.dual[1][k] /= area;
    }

    facet.least = 0;
    return facet;
}

static void empty_boxes(sp_boxes *boxes)
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < SP_LANES; i++) {
            boxes->low[k][i] = INFINITY;
            boxes->high[k][i] = -INFINITY;
        }
}

/* Writes the box around all boxes of a node to box `lane` of its parent. */
static void join_boxes(const sp_boxes *child, sp_boxes *parent, int lane)
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < SP_LANES; i++) {
            parent->low[k][lane] = fmin(parent->low[k][lane], child->low[k][i]);
            parent->high[k][lane] = fmax(parent->high[k][lane], child->high[k][i]);
        }
}

static bool build_levels(sp_closest *closest, const double *corners)
{
    int64_t below = closest->count;
    for (closest->levels = 0; closest->levels == 0 || below > 1; closest->levels++) {
        const int level = closest->levels;
        const int64_t n = (below + SP_LANES - 1) / SP_LANES;
        sp_boxes *boxes = sp_pool_raw(&closest->pool, n, sizeof *boxes);
        if (!boxes)
            return false;
        for (int64_t i = 0; i < n; i++)
            empty_boxes(&boxes[i]);

        /* Boxes of the facets on the first level, of the nodes below on the others */
        for (int64_t i = 0; i < below; i++) {
            sp_boxes *to = &boxes[i / SP_LANES];
            const int lane = (int)(i % SP_LANES);
            if (level > 0) {
                join_boxes(&closest->boxes[level - 1][i], to, lane);
                continue;
            }
            for (int c = 0; c < 9; c++) {
                to->low[c % 3][lane] = fmin(to->low[c % 3][lane], corners[9 * i + c]);
                to->high[c % 3][lane] = fmax(to->high[c % 3][lane], corners[9 * i + c]);
            }
        }

        closest->boxes[level] = boxes;
        closest->nodes[level] = n;
        below = n;
    }
    return true;
}

int sp_closest_new(sp_context *context, const sp_surface *surface, sp_closest **result)
{
    const int64_t n = surface->triangle_count;
    double low[3], high[3];
    sp_pool pool = {0}, scratch = {0};
    *result = NULL;

    if (n < 1 || n > INT32_MAX - SP_LANES)
        return n < 1 ? sp_fail(context, SP_INPUT, "the model has no triangles")
                     : sp_fail(context, SP_INPUT, "the model has %lld triangles, about 2^31 or more", (long long)n);

    sp_closest *closest = sp_pool_new(&pool, 1, sizeof *closest);
    double *middle = sp_pool_raw(&scratch, 3 * n, sizeof *middle),
           *corners = sp_pool_raw(&scratch, 9 * n, sizeof *corners);
    if (pool.failed || scratch.failed)
        goto out_of_memory;

    closest->count = n;
    closest->facets = sp_pool_raw(&pool, n, sizeof *closest->facets);
    closest->triangle = sp_pool_raw(&pool, n, sizeof *closest->triangle);

    /* Rounding of coordinates relative to the centre does not grow with the distance of the model from the origin. */
    sp_surface_box(surface, low, high);
    for (int k = 0; k < 3; k++)
        closest->centre[k] = low[k] + 0.5 * (high[k] - low[k]);

    /* Facets along a Morton curve through their centroids, so that facets of a node are near each other */
    for (int64_t i = 0; i < 3 * n; i++) {
        const int64_t *v = surface->triangles + 3 * (i / 3);
        middle[i] = (surface->vertices[3 * v[0] + i % 3] + surface->vertices[3 * v[1] + i % 3] +
                     surface->vertices[3 * v[2] + i % 3]) /
                    3;
    }
    sp_morton *order = sp_morton_order(&scratch, n, middle);
    if (pool.failed || !order)
        goto out_of_memory;

    for (int64_t i = 0; i < n; i++) {
        double(*corner)[3] = (double(*)[3])(corners + 9 * i);
        closest->triangle[i] = order[i].index;
        for (int c = 0; c < 9; c++)
            corner[c / 3][c % 3] =
                surface->vertices[3 * surface->triangles[3 * order[i].index + c / 3] + c % 3] - closest->centre[c % 3];
        closest->facets[i] = make_facet((const double(*)[3])corner);
    }

    closest->pool = pool;
    if (!build_levels(closest, corners)) {
        pool = closest->pool;
        goto out_of_memory;
    }

    sp_pool_free(&scratch);
    *result = closest;
    return SP_OK;
out_of_memory:
    sp_pool_free(&pool);
    sp_pool_free(&scratch);
    return sp_fail_memory(context);
}

void sp_closest_free(sp_closest *closest)
{
    if (!closest)
        return;
    sp_pool pool = closest->pool; /* the pool owns the struct itself */
    sp_pool_free(&pool);
}

/* Squared distance of a point from a facet. offset and on are set only if the distance is at most `limit` and they are
 * wanted. */
SP_INLINE double facet_distance(const sp_facet *facet, const double point[3], double offset[3], int *on)
{
    double v[3], u[3], best = INFINITY;
    for (int k = 0; k < 3; k++) {
        v[k] = point[k] - facet->a[k];
        u[k] = v[k] - facet->e[0][k];
    }

    /* The foot of the perpendicular, if it lies in the triangle */
    const double s = sp_dot3(facet->dual[0], v), t = sp_dot3(facet->dual[1], v);
    if (s >= facet->least && t >= facet->least && s + t <= 1) {
        const double height = sp_dot3(facet->normal, v);
        for (int k = 0; k < 3; k++)
            offset[k] = height * facet->normal[k];
        *on = SP_ON_FACE;
        return height * height;
    }

    /* Else the nearest point of the sides */
    for (int i = 0; i < 3; i++) {
        static const int side[3] = {0, 2, 1}, from[3] = {0, 0, 1}, to[3] = {1, 2, 2};
        const double *from_start = i == 2 ? u : v;
        double along = sp_dot3(facet->e[i], from_start) * facet->inverse[i], w[3];
        along = along < 0 ? 0 : along > 1 ? 1 : along;
        for (int k = 0; k < 3; k++)
            w[k] = from_start[k] - along * facet->e[i][k];

        const double square = sp_dot3(w, w);
        if (square < best) {
            best = square;
            *on = along <= 0 ? SP_ON_CORNER + from[i] : along >= 1 ? SP_ON_CORNER + to[i] : SP_ON_SIDE + side[i];
            for (int k = 0; k < 3; k++)
                offset[k] = w[k];
        }
    }
    return best;
}

/* Squared distances of the eight boxes from a point. */
SP_INLINE void box_distances(const sp_boxes *boxes, const double point[3], double square[SP_LANES])
{
    for (int i = 0; i < SP_LANES; i++)
        square[i] = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < SP_LANES; i++) {
            const double below = boxes->low[k][i] - point[k], above = point[k] - boxes->high[k][i];
            const double gap = below > above ? below : above, outside = gap > 0 ? gap : 0;
            square[i] += outside * outside;
        }
}

/* Nodes to be visited, as a structure of arrays: a processor stalls when it reads a struct that was just written member
 * by member. */
typedef struct waiting {
    int depth;
    double square[SP_CLOSEST_STACK + SP_LANES]; /* lower bounds */
    int32_t node[SP_CLOSEST_STACK + SP_LANES], level[SP_CLOSEST_STACK + SP_LANES];
} waiting;

/* Puts the boxes of a node that are within `square` on the stack, the nearest on top. */
SP_INLINE void push_boxes(const sp_boxes *boxes, int32_t node, int32_t level, const double point[3], double square,
                          waiting *stack)
{
    double distance[SP_LANES];
    const int bottom = stack->depth;
    box_distances(boxes, point, distance);

    /* Insertion sort by decreasing distance above the nodes that were there before */
    for (int i = 0; i < SP_LANES; i++) {
        if (!(distance[i] <= square))
            continue;
        int at = stack->depth++;
        for (; at > bottom && stack->square[at - 1] < distance[i]; at--) {
            stack->square[at] = stack->square[at - 1];
            stack->node[at] = stack->node[at - 1];
        }

        stack->square[at] = distance[i];
        stack->node[at] = node * SP_LANES + i;
        stack->level[stack->depth - 1] = level;
    }
}

/* Finds the nearest triangle within √best; triangle −1 if there is none. */
SP_INLINE void find(const sp_closest *closest, const double point[3], double best, sp_nearest *nearest)
{
    waiting stack;
    double x[3];
    for (int k = 0; k < 3; k++)
        x[k] = point[k] - closest->centre[k];

    *nearest = (sp_nearest){.distance = INFINITY, .triangle = -1};
    stack.depth = 0;

    push_boxes(&closest->boxes[closest->levels - 1][0], 0, closest->levels - 1, x, best, &stack);
    while (stack.depth > 0) {
        const int top = --stack.depth;
        const int32_t node = stack.node[top], level = stack.level[top];

        /* The bound was good when the node was pushed, but a nearer triangle may have been found since. */
        if (stack.square[top] > best)
            continue;
        if (level > 0) {
            push_boxes(&closest->boxes[level - 1][node], node, level - 1, x, best, &stack);
            continue;
        }

        double offset[3] = {0};
        int on = SP_ON_FACE;
        const double square = facet_distance(&closest->facets[node], x, offset, &on);
        const int64_t triangle = closest->triangle[node];

        /* Of triangles at the same distance the one with the lowest number counts, in whatever order the tree visits
         * them. */
        if (square > best || (square == best && nearest->triangle >= 0 && triangle > nearest->triangle))
            continue;
        best = square;
        *nearest = (sp_nearest){.offset = {offset[0], offset[1], offset[2]}, .triangle = triangle, .on = on};
    }
    nearest->distance = sqrt(best);
}

SP_CLONES void sp_closest_find(const sp_closest *closest, const double point[3], sp_nearest *nearest)
{
    find(closest, point, INFINITY, nearest);
}

SP_CLONES void sp_closest_find_within(const sp_closest *closest, double reach, const double point[3],
                                      sp_nearest *nearest)
{
    find(closest, point, reach * reach, nearest);
    if (nearest->triangle < 0)
        find(closest, point, INFINITY, nearest);
}
