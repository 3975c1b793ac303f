/* Normals of a deformed point shell by the methods of thesis §3.6.2–3.6.3 that use the shell alone, for comparison. */
#ifndef SP_POINTSHELL_NORMALS_H
#define SP_POINTSHELL_NORMALS_H

#include "pointshell/pointshell.h"

enum sp_pointshell_normal {
    SP_NORMAL_GRADIENT, /* N + dN q = F N (eq. 3.8): exact under rotations, with an error of about the strain; 3r
                           operations */
    SP_NORMAL_TANGENTS, /* (t1 + dT1 q) × (t2 + dT2 q), along F⁻ᵀN: exact under any motion with a unique F at the point;
                           6r */
    SP_NORMAL_CLOUD, /* eigenvector of the least eigenvalue of Σ w_i (p_i − p)(p_i − p)ᵀ over neighbours (eq. 3.9), on
                        the side of F N */
    SP_NORMAL_NEIGHBOURS, /* sum of (p_i − p) × (p_i+1 − p) over neighbours */
};

enum { SP_POINTSHELL_NEIGHBOURS_MAX = 32 };

/* Neighbours of some points, selected at rest. */
typedef struct sp_pointshell_neighbours {
    sp_pool pool;
    int64_t count;
    int most;           /* largest number for each point */
    int *found;         /* [count] */
    int64_t *neighbour; /* [count, most] sorted by their angle about the normal, anticlockwise when it points towards
                           the viewer */
    double *weight; /* [count, most] (1 − d²/R²)² of the distance d, with R = 1.5 times that of the farthest one */
    bool *convex; /* [count, most] the angle from this neighbour to the next (after the last the first) is less than 180
                    degrees */
} sp_pointshell_neighbours;

/* The `most` nearest neighbours, from 2 to SP_POINTSHELL_NEIGHBOURS_MAX, of each of points [count], among those whose
 * normals are within 120 degrees of its own; fewer if there are not so many. SP_USAGE for `most`. */
int sp_pointshell_neighbours_new(sp_context *context, const sp_pointshell *pointshell, int64_t count,
                                 const int64_t *points, int most, sp_pointshell_neighbours *neighbours) SP_MUST_USE;
void sp_pointshell_neighbours_free(sp_pointshell_neighbours *neighbours);

/* Unit normals [count, 3] of points [count] at q [modes]; 0 where a method has no result (F flat, collinear
 * neighbours). `neighbours`: of the same points; NULL for the first two methods. The same bytes for any number of
 * threads. SP_USAGE if the shell has no dT or neighbours are missing for a method that needs them. */
int sp_pointshell_normals(sp_context *context, const sp_pointshell *pointshell, enum sp_pointshell_normal method,
                          int64_t count, const int64_t *points, const sp_pointshell_neighbours *neighbours,
                          const double *q, double *normals) SP_MUST_USE;

#endif
