/* Normals of a deformed pointshell by the ways of thesis §3.6.2–3.6.3 that look at the shell alone, to be compared. */
#ifndef SP_POINTSHELL_NORMALS_H
#define SP_POINTSHELL_NORMALS_H

#include "pointshell/pointshell.h"

enum sp_pointshell_normal {
    SP_NORMAL_GRADIENT, /* N + dN q = F N (eq. 3.8): right under rotations, off by about the strain; 3r operations */
    SP_NORMAL_TANGENTS, /* (t1 + dT1 q) × (t2 + dT2 q), along F⁻ᵀN: right under any motion that has one F at the point;
                           6r */
    SP_NORMAL_CLOUD, /* eigenvector of the least eigenvalue of Σ w_i (p_i − p)(p_i − p)ᵀ over neighbours (eq. 3.9), to
                        the side of F N */
    SP_NORMAL_NEIGHBOURS, /* sum of (p_i − p) × (p_i+1 − p) over neighbours */
};

enum { SP_POINTSHELL_NEIGHBOURS_MAX = 32 };

/* Neighbours of some points, chosen at rest. */
typedef struct sp_pointshell_neighbours {
    sp_pool pool;
    int64_t count;
    int most;           /* of each point */
    int *found;         /* [count] */
    int64_t *neighbour; /* [count, most] by their angle about the normal, anticlockwise where it points to the eye */
    double *weight; /* [count, most] (1 − d²/R²)² of the distance d, with R = 1.5 times that of the farthest one */
    bool *turns; /* [count, most] from this neighbour to the next, after the last the first, it is less than half a turn
                  */
} sp_pointshell_neighbours;

/* The `most` nearest, from 2 to SP_POINTSHELL_NEIGHBOURS_MAX, of each of points [count], among those whose normals are
 * within 120 degrees of its own; fewer where there are not so many. SP_USAGE for `most`. */
int sp_pointshell_neighbours_new(sp_context *context, const sp_pointshell *pointshell, int64_t count,
                                 const int64_t *points, int most, sp_pointshell_neighbours *neighbours) SP_MUST_USE;
void sp_pointshell_neighbours_free(sp_pointshell_neighbours *neighbours);

/* Unit normals [count, 3] of points [count] moved by q [modes]; 0 where a way finds none (F flat, neighbours on a
 * line). `neighbours`: of the same points; NULL for the first two ways. The same bytes for any number of threads.
 * SP_USAGE where the shell has no dT or there are no neighbours for a way that needs them. */
int sp_pointshell_normals(sp_context *context, const sp_pointshell *pointshell, enum sp_pointshell_normal way,
                          int64_t count, const int64_t *points, const sp_pointshell_neighbours *neighbours,
                          const double *q, double *normals) SP_MUST_USE;

#endif
