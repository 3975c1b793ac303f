/* Particle repulsion on a level set (thesis §3.8.1, after Turk 1992 and Witkin & Heckbert 1994). */
#ifndef SP_POINTSHELL_REPEL_H
#define SP_POINTSHELL_REPEL_H

#include "pointshell/level.h"

typedef struct sp_repel_report {
    int iterations;
    double last_move; /* root mean square displacement of the last iteration, in radii */
} sp_repel_report;

/* Moves points first … count − 1 of points, normals [count, 3], on the level set by repulsion among them and from the
 * points before `first`, which do not move. Two points at the distance d < radius repel each other with 2(d/R)³ −
 * 3(d/R)² + 1, unless their normals are more than 120 degrees apart, so that the two sides of a sheet do not interact.
 * Ends when the root mean square displacement is less than 1e-3 R, or after `iterations`. The same bytes for any number
 * of threads. */
int sp_repel(sp_context *context, const sp_level *level, int64_t first, int64_t count, double radius, int iterations,
             double *points, double *normals, sp_repel_report *report) SP_MUST_USE;

#endif
