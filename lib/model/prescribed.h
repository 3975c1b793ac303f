/* Motions prescribed to held vertices: sets of them with a rigid motion each, and single ones with displacements over
 * time. */
#ifndef SP_MODEL_PRESCRIBED_H
#define SP_MODEL_PRESCRIBED_H

#include "base/context.h"
#include "geometry/pose.h"

/* Vertices that move with a frame: x = pose(t) X, X the place at rest. */
typedef struct sp_prescribed_rigid {
    int64_t count;
    const int64_t *vertex; /* [count] */
    sp_pose_path *path;
    const void *path_data;
} sp_prescribed_rigid;

/* One vertex with displacements, linear between times, constant before the first and after the last. */
typedef struct sp_prescribed_vertex {
    int64_t vertex, count; /* count ≥ 1 */
    const double *time;    /* [count] s, increasing */
    const double *u;       /* [count, 3] m */
} sp_prescribed_vertex;

/* The caller owns what it points to. No vertex twice. */
typedef struct sp_prescribed_motion {
    const double *vertices; /* [vertices, 3] at rest, m */
    int64_t rigid_count, vertex_count;
    const sp_prescribed_rigid *rigid;
    const sp_prescribed_vertex *single;
} sp_prescribed_motion;

/* Displacements and velocities (of what comes after t, at a time where they jump) at t, into u and v [3·vertices];
 * other components untouched. What is within rounding of t, 4 units in its last place, counts as t: steps are k h. */
void sp_prescribed_motion_at(const sp_prescribed_motion *moves, double t, double *u, double *v);

/* The last of `count` increasing times that is not after t; −1: t is before all (or NaN). */
int64_t sp_time_piece(int64_t count, const double *time, double t);

#endif
