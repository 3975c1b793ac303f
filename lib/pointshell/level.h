/* The closed surface that a point shell samples (thesis §3.8.1): a closed manifold itself, an offset of a polygon soup,
 * or a level set of a distance field. */
#ifndef SP_POINTSHELL_LEVEL_H
#define SP_POINTSHELL_LEVEL_H

#include "geometry/field.h"
#include "geometry/orient.h"
#include "geometry/pseudonormal.h"

enum sp_level_kind {
    SP_LEVEL_SURFACE, /* the triangles, repaired */
    SP_LEVEL_OFFSET,  /* the points at the distance `value` from the triangles, without components inside others: exact,
                         no grid */
    SP_LEVEL_FIELD,   /* the points at which the interpolated field is `value` */
};

typedef struct sp_level {
    enum sp_level_kind kind;
    double value;             /* m; 0 for a surface */
    double size;              /* m, diagonal of the bounding box of `surface` */
    sp_surface surface;       /* the surface, or a triangulation of the level set by marching tetrahedra */
    sp_closest *closest;      /* of the surface, or of the model */
    sp_pseudonormals normals; /* of the surface */
    const sp_field *field;    /* not owned */
    sp_orient_report orient;  /* of the repair; zeros for a field */
    bool closed, manifold;    /* of the repaired model */
    bool meets_itself;        /* found at a sample of its points: parts of the surface are inside others */
    double cell;              /* m, of the grid on which `surface` was found; 0 for a surface */
} sp_level;

/* offset < 0: automatic: none if the model is a closed manifold without self-intersection, else 1.4 cells (thesis
 * Figure 3.15); 0: the model itself, which must be a closed manifold after the repair. cells: along the longest side of
 * the model, for offsets; 0: automatic: 256 along the longest side of the offset, or as many as make the offset 1.4
 * cells. SP_INPUT: no triangles or no extent; a model that is not a closed manifold with offset 0; an offset below
 * 0.867 cells or one that needs more than 1024 cells. */
int sp_level_model(sp_context *context, const sp_surface *model, double offset, int64_t cells,
                   sp_level *level) SP_MUST_USE;

/* The level set of a field, which must outlive the level; `outer`: without components inside others (unsigned fields).
 * SP_INPUT if it is empty or intersects the box. */
int sp_level_field(sp_context *context, const sp_field *field, double value, bool outer, sp_level *level) SP_MUST_USE;

void sp_level_free(sp_level *level);

/* Moves a point to the level set: to the closest point of a surface, otherwise by Newton's method along the gradient,
 * until it is within `tolerance` (m). normal receives the unit inward normal there: the pseudonormal of the closest
 * feature; for an offset the direction to the model's closest point, which is normal to the offset; for a field the
 * gradient by central differences over a cell, which is continuous. Returns the remaining distance from the level (m).
 * reach: an estimate of the point's distance from the level set, INFINITY: unknown; it affects only the speed. Thread
 * safe. */
double sp_level_project(const sp_level *level, double reach, double tolerance, double point[3], double normal[3]);

/* The fraction, from 0 to 1, of a straight step from a point of the level set that can be made without passing through
 * the model that it is an offset of: the path keeps half the offset away from it. Always 1 if the level is a surface or
 * 0 in a field. Thread safe. */
double sp_level_clear(const sp_level *level, const double point[3], const double step[3]);

#endif
