/* Normals of triangle meshes for drawing, and of meshes that deform by targets. */
#ifndef SP_RENDER_NORMALS_H
#define SP_RENDER_NORMALS_H

#include "base/context.h"
#include "base/memory.h"

/* Unit normals [3 triangle_count, 3] of the triangles' corners: sums of the normals of the faces around the vertex,
 * weighted by their angles, over the group of faces that are connected without an edge sharper than 50 degrees. */
int sp_corner_normals(sp_context *context, const double *vertices, int64_t vertex_count, const int64_t *triangles,
                      int64_t triangle_count, float *normals) SP_MUST_USE;

/* A mesh with one normal at each vertex: vertices at which corners have different normals are repeated. */
typedef struct sp_split {
    int64_t vertex_count, *origin; /* [vertex_count] vertex that it is; the first vertices are the given ones */
    int64_t *triangles;            /* [triangle_count, 3] */
} sp_split;

/* The arrays are from `pool`. */
int sp_split_creases(sp_context *context, const double *vertices, int64_t vertex_count, const int64_t *triangles,
                     int64_t triangle_count, sp_pool *pool, sp_split *split) SP_MUST_USE;

/* Unit normals [vertex_count, 3]: sums of the normals of all triangles at the vertex, weighted by their angles; zero
 * where there are none. */
void sp_vertex_normals(int64_t vertex_count, const double *vertices, int64_t triangle_count, const int64_t *triangles,
                       double *normals);

/* A mesh x = rest + sum_i w_i target_i. */
typedef struct sp_target_mesh {
    int64_t vertex_count, triangle_count, target_count;
    const double *rest;       /* [vertex_count, 3] */
    const int64_t *triangles; /* [triangle_count, 3] */
    const double *targets;    /* [target_count, vertex_count, 3] */
} sp_target_mesh;

typedef struct sp_normal_errors {
    double largest, mean; /* degrees, between n0 + sum_i w_i change_i and the normals of the deformed mesh */
} sp_normal_errors;

/* What is added to the normals n0 of the rest shape for the weight 1 of each target: change [target_count,
 * vertex_count, 3]. It is the derivative of the normals at rest, corrected by least squares such that the normals of
 * `sample_count` shapes with the given weights [sample_count, target_count] are met best. Directions that the samples
 * do not contain keep the derivative. normals [vertex_count, 3] receives n0. */
int sp_normal_targets(sp_context *context, const sp_target_mesh *mesh, int64_t sample_count, const double *weights,
                      double *normals, double *change, sp_normal_errors *errors) SP_MUST_USE;

#endif
