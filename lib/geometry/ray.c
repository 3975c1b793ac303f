#include "geometry/ray.h"

#include <math.h>

#include "base/vec3.h"
#include "geometry/closest_internal.h"

/* Rounding must not make a ray miss a box whose wall it grazes. */
static const double SLACK = 1 + 1e-12;

typedef struct ray {
    double origin[3], direction[3], inverse[3], beyond;
} ray;

static bool hits_facet(const sp_facet *facet, const ray *r)
{
    double from[3], at[3];
    for (int k = 0; k < 3; k++)
        from[k] = r->origin[k] - facet->a[k];

    /* Where the ray meets the plane of the facet. A parallel ray or a facet without area gives ±∞ or NaN, which is no
     * hit. */
    const double length = -sp_dot3(facet->normal, from) / sp_dot3(facet->normal, r->direction);
    if (!(length > r->beyond && isfinite(length)))
        return false;

    /* Barycentric coordinates of that point */
    for (int k = 0; k < 3; k++)
        at[k] = from[k] + length * r->direction[k];
    const double s = sp_dot3(facet->dual[0], at), t = sp_dot3(facet->dual[1], at);
    return s >= facet->least && t >= facet->least && s + t <= 1;
}

/* Finds the boxes that the ray intersects, by the segments of it between their walls. Empty boxes have an empty
 * segment. */
SP_INLINE void hit_boxes(const sp_boxes *boxes, const ray *r, bool hit[SP_LANES])
{
    double enter[SP_LANES], leave[SP_LANES];

    /* The slabs of the three axes are intersected in turn. The ray starts at its origin, 0. */
    for (int i = 0; i < SP_LANES; i++) {
        enter[i] = 0;
        leave[i] = INFINITY;
    }
    for (int k = 0; k < 3; k++) {
        const double *first = r->direction[k] < 0 ? boxes->high[k] : boxes->low[k];
        const double *second = r->direction[k] < 0 ? boxes->low[k] : boxes->high[k];
        for (int i = 0; i < SP_LANES; i++) {
            const double in = (first[i] - r->origin[k]) * r->inverse[k],
                         out = (second[i] - r->origin[k]) * r->inverse[k] * SLACK;
            enter[i] = in > enter[i] ? in : enter[i];
            leave[i] = out < leave[i] ? out : leave[i];
        }
    }

    for (int i = 0; i < SP_LANES; i++)
        hit[i] = enter[i] <= leave[i];
}

SP_CLONES bool sp_ray_leaves(const sp_closest *closest, const double origin[3], const double direction[3],
                             double beyond)
{
    int32_t node[SP_CLOSEST_STACK + SP_LANES], level[SP_CLOSEST_STACK + SP_LANES];
    int depth = 0;
    ray r = {.beyond = beyond};

    for (int k = 0; k < 3; k++) {
        r.origin[k] = origin[k] - closest->centre[k];
        r.direction[k] = direction[k];
        /* Finite, so that no wall of a box gives 0 · ∞ */
        r.inverse[k] = 1 / (direction[k] != 0 ? direction[k] : 1e-200);
    }

    node[depth] = 0;
    level[depth++] = closest->levels - 1;
    while (depth > 0) {
        bool hit[SP_LANES];
        const int32_t here = node[--depth], below = level[depth] - 1;
        hit_boxes(&closest->boxes[below + 1][here], &r, hit);
        for (int i = 0; i < SP_LANES; i++) {
            const int32_t child = here * SP_LANES + i;
            if (!hit[i])
                continue;
            if (below < 0) {
                if (hits_facet(&closest->facets[child], &r))
                    return false;
            } else {
                node[depth] = child;
                level[depth++] = below;
            }
        }
    }
    return true;
}
