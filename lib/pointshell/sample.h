/* Points on a triangulated surface, by area, by voxels and by rays (thesis §3.8.2). */
#ifndef SP_POINTSHELL_SAMPLE_H
#define SP_POINTSHELL_SAMPLE_H

#include "geometry/surface.h"

/* The surface as an interval: t in (0, 1) goes through the triangles along Morton's curve, in proportion to their area,
 * and through each by cutting it in two again and again. Equal parts of the interval are equal areas of pieces that
 * hold together, so that one random point in each of n equal parts is a stratified sample. */
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

/* Three that append points [count, 3] to `points` (elements of 3 doubles), in a fixed order, no point twice: */

/* the vertices that triangles use; */
int sp_sample_vertices(sp_context *context, const sp_surface *surface, sp_list *points) SP_MUST_USE;

/* the centres of the voxels that meet a triangle, `cells` along the longest side of the box (the pointshell of VPS); */
int sp_sample_voxels(sp_context *context, const sp_surface *surface, int64_t cells, sp_list *points) SP_MUST_USE;

/* where lines along x, y and z through the middles of a grid's squares meet triangles (layered depth cube, Pfister et
 * al. 2000). */
int sp_sample_depth(sp_context *context, const sp_surface *surface, int64_t cells, sp_list *points) SP_MUST_USE;

#endif
