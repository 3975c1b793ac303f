/* The state of the orientation repair (orient.h). Internal to lib/geometry. */
#ifndef SP_GEOMETRY_ORIENT_INTERNAL_H
#define SP_GEOMETRY_ORIENT_INTERNAL_H

#include "geometry/edges.h"
#include "geometry/orient.h"

typedef struct sp_repair {
    sp_pool pool;
    int64_t point_count, count; /* welded vertices; triangles as given */
    double *points;             /* [point_count, 3] */
    int64_t *triangles;         /* [count, 3] of welded vertices */
    uint8_t *live;              /* [count] not removed */
    uint8_t *flat;              /* [count] has no area */
    double *area;               /* [count] */
    signed char *sign;          /* [count] +1 as given, −1 reversed, 0 removed */
    uint8_t *odd;               /* [count] given an odd number of times */
    int64_t use_count;
    sp_edge_use *uses;        /* sides of the live triangles */
    int64_t *component;       /* [count] lowest triangle of the component over all edges */
    uint8_t *balanced, *even; /* [count] of the component, at its lowest triangle */
    int64_t patch_count;
    int64_t *patch;        /* [count] */
    uint8_t *inconsistent; /* [patch_count] triangles of the patch were reversed relative to each other */
} sp_repair;

/* Twice the vector area of a triangle as given, without its sign. */
void sp_repair_normal(const sp_repair *repair, int64_t triangle, double normal[3]);

/* Orients whole patches outward: the signs of all live triangles become final. */
int sp_repair_orient_outward(sp_context *context, sp_repair *repair) SP_MUST_USE;

#endif
