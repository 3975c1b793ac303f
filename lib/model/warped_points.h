/* Positions of vertices of a body with modal warping, for display: those of its surface, in every frame of a scene of
 * many bodies.
 *
 * The position x = X + Ř(w) U q of a vertex (model/modal_warp.h) needs its rows of U and of the rotation field W, since
 * w = W q. Both are kept in single precision, which halves the memory that a frame reads: 24 r bytes for each vertex,
 * once. That is all of its cost: 12 r operations for each vertex take less time than these bytes. */
#ifndef SP_MODEL_WARPED_POINTS_H
#define SP_MODEL_WARPED_POINTS_H

#include "geometry/pose.h"
#include "model/modal_warp.h"

enum { SP_WARPED_BLOCK = 16 }; /* vertices side by side */

typedef struct sp_warped_points {
    sp_pool pool;
    int64_t r, count, blocks;
    float *X;    /* [blocks, 3, 16] m, zeros after the last vertex */
    float *rows; /* [blocks, r, 6, 16] the rows of U and of W */
} sp_warped_points;

/* The vertices vertex [count] of a body in the basis U [3·vertices, r, column major]. SP_USAGE for the number of a
 * vertex that is not there. Everything is copied. */
int sp_warped_points_new(sp_context *context, const sp_modal_warp *warp, const double *U, int64_t r, int64_t count,
                         const int64_t *vertex, sp_warped_points *points) SP_MUST_USE;
void sp_warped_points_free(sp_warped_points *points); /* a zeroed one is allowed */

/* x [count, 3] m of all vertices for q [r], in the world of a body whose frame has this pose. Errors are a few 1e-7 of
 * |X| + |U| |q|. Threads may share the points. */
void sp_warped_points_place(const sp_warped_points *points, const double *q, const sp_pose *pose, float *x);

#endif
