/* Orientation repair of triangle soups, so that winding numbers are meaningful.
 *
 * Vertices of exactly equal position are welded; degenerate triangles (repeated vertex, zero area) are left out. One of
 * several duplicate triangles (same three vertices) is kept, unless the removal of all of them closes their component,
 * as for inner walls shared by two cells and fins given from both sides. A component in which every edge then has as
 * many uses in one direction as in the other was consistent in the input and is not reoriented in part. Elsewhere each
 * patch that is connected over edges with exactly two triangles is oriented consistently (breadth first from its
 * triangle of lowest index, keeping the majority's given orientation by area).
 *
 * Then whole patches are oriented outward. A closed patch gets positive volume, but closed patches that were consistent
 * in the input and are nested keep their orientations relative to each other (opposite ones are cavities), and the
 * outermost of them gets positive volume. An open patch is oriented by its visibility from far away: the side from
 * which more rays leave the model is the outer one (visibility.h). An open patch whose sides are equally visible, or
 * that is hidden by other patches, gets positive volume about its own centroid unless it is nearly flat; a nearly flat
 * one keeps its orientation relative to the others: it is reversed if most of the other area was. */
#ifndef SP_GEOMETRY_ORIENT_H
#define SP_GEOMETRY_ORIENT_H

#include "geometry/surface.h"

typedef struct sp_orient_report {
    int64_t welded;     /* vertices joined with another one */
    int64_t degenerate; /* triangles left out */
    int64_t doubled;    /* triangles left out */
    int64_t turned;     /* triangles whose orientation was reversed */
    int64_t patches;
    /* directed edges without their opposite after the repair; 0: the winding number is an integer */
    int64_t open_edges;
    int64_t one_sided; /* patches that cannot be oriented */
} sp_orient_report;

/* repaired owns its arrays; group and groups are copied. Deterministic. */
int sp_surface_orient(sp_context *context, const sp_surface *surface, sp_surface *repaired,
                      sp_orient_report *report) SP_MUST_USE;

#endif
