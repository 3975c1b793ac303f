/* Prescribed motion of fixed vertices (time-dependent Dirichlet conditions): sets of vertices with a rigid motion each,
 * and single vertices with displacements over time. */
#ifndef SP_MODEL_PRESCRIBED_H
#define SP_MODEL_PRESCRIBED_H

#include "base/context.h"
#include "geometry/pose.h"

/* Vertices that move with a frame: x = pose(t) X, with X the position at rest. */
typedef struct sp_prescribed_rigid {
    int64_t count;
    const int64_t *vertex; /* [count] */
    sp_pose_path *path;
    const void *path_data;
} sp_prescribed_rigid;

/* One vertex with displacements that are linear between times and constant before the first and after the last one. */
typedef struct sp_prescribed_vertex {
    int64_t vertex, count; /* count ≥ 1 */
    const double *time;    /* [count] s, increasing */
    const double *u;       /* [count, 3] m */
} sp_prescribed_vertex;

/* The caller owns everything that it points to. No vertex occurs twice. */
typedef struct sp_prescribed_motion {
    const double *vertices; /* [vertices, 3] at rest, m */
    int64_t rigid_count, vertex_count;
    const sp_prescribed_rigid *rigid;
    const sp_prescribed_vertex *single;
} sp_prescribed_motion;

/* Writes displacements and velocities at t into u and v [3·vertices]; where a velocity jumps it is the one after t.
 * Other components are left as they are. Times within rounding of t, 4 units in its last place, count as t, since steps
 * are at k h. */
void sp_prescribed_motion_at(const sp_prescribed_motion *moves, double t, double *u, double *v);

/* The index of the last of `count` increasing times that is not after t; −1: t is before all of them (or NaN). */
int64_t sp_time_piece(int64_t count, const double *time, double t);

#endif
