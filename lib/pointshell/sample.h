/* Points on a triangulated surface, by area, by voxels and by rays (thesis §3.8.2). */
#ifndef SP_POINTSHELL_SAMPLE_H
#define SP_POINTSHELL_SAMPLE_H

#include "geometry/surface.h"

/* Parametrizes the surface by an interval: t in (0, 1) runs through the triangles along a Morton curve, in proportion
 * to their area, and through each by repeated bisection. Equal parts of the interval are connected pieces of equal
 * area, so that one random point in each of n equal parts is a stratified sample. */
typedef struct sp_area {
    sp_pool pool;
    const sp_surface *surface; /* must outlive it */
    int64_t count;             /* of triangles */
    int64_t *triangle;         /* [count] */
    double *start;             /* [count + 1] m², sums of areas */
} sp_area;

/* SP_INPUT for a surface without area. */
int sp_area_new(sp_context *context, const sp_surface *surface, sp_area *area) SP_MUST_USE;
void sp_area_free(sp_area *area);

static inline double sp_area_total(const sp_area *area)
{
    return area->start[area->count];
}

void sp_area_point(const sp_area *area, double t, double point[3]);

/* Three functions that append points [count, 3] to `points` (elements of 3 doubles), in a fixed order, no point
 * twice: */

/* the vertices that triangles use; */
int sp_sample_vertices(sp_context *context, const sp_surface *surface, sp_list *points) SP_MUST_USE;

/* the centres of the voxels that intersect a triangle, `cells` along the longest side of the bounding box (the point
 * shell of VPS); */
int sp_sample_voxels(sp_context *context, const sp_surface *surface, int64_t cells, sp_list *points) SP_MUST_USE;

/* the intersections of triangles with lines along x, y and z through the centres of a grid's squares (layered depth
 * cube, Pfister et al. 2000). */
int sp_sample_depth(sp_context *context, const sp_surface *surface, int64_t cells, sp_list *points) SP_MUST_USE;

#endif
