/* The triangles and boxes of sp_closest. Internal to lib/geometry. */
#ifndef SP_GEOMETRY_CLOSEST_INTERNAL_H
#define SP_GEOMETRY_CLOSEST_INTERNAL_H

#include "base/lanes.h"
#include "geometry/closest.h"

enum { SP_CLOSEST_LEVELS = 12, SP_CLOSEST_STACK = 7 * SP_CLOSEST_LEVELS + 1 };

/* A triangle with corners a, b, c, sides e, prepared for distance queries. */
typedef struct sp_facet {
    double a[3];
    double e[3][3];    /* b − a, c − a, c − b */
    double inverse[3]; /* 1/|e|², 0 if the side has no length */
    double dual[2][3]; /* x − a = s e0 + t e1 + … n with s = dual0·(x − a), t = dual1·(x − a) */
    double normal[3];  /* of unit length */
    double least; /* lower bound of s and t over the face: 0; ∞ for degenerate triangles, which are no more than their
                     sides */
} sp_facet;

/* Eight boxes in SIMD layout; unused ones are empty (low ∞, high −∞). */
typedef struct sp_boxes {
    _Alignas(64) double low[3][SP_LANES];
    double high[3][SP_LANES];
} sp_boxes;

struct sp_closest {
    sp_pool pool;
    double centre[3]; /* m; all positions below are relative to it */
    int64_t count;
    sp_facet *facets;  /* [count] along a Morton curve */
    int64_t *triangle; /* [count] their numbers in the surface */
    int levels;        /* boxes[0] are those of the facets, boxes[l + 1] of the nodes of boxes[l] */
    int64_t nodes[SP_CLOSEST_LEVELS];
    sp_boxes *boxes[SP_CLOSEST_LEVELS]; /* [nodes[l]]; one node on the last level */
};

#endif
