/* Orientation repair of triangle soups, so that the winding number means something on them.
 *
 * Vertices of exactly equal position are welded; degenerate triangles (repeated vertex, zero area) are left out. Of
 * doubled triangles (same three vertices) one stays, except where leaving out all of them closes the component they
 * belong to: inner walls that two cells share, fins given from both sides. A component in which every edge then runs as
 * often forth as back was consistent in the input and is not turned in part; elsewhere each patch that is connected
 * over edges with exactly two triangles is oriented consistently (breadth first from its triangle of lowest index,
 * keeping the majority's given orientation by area).
 *
 * Then whole patches are turned outward. A closed patch gets positive volume, but closed patches that were consistent
 * in the input and lie inside one another keep their senses relative to each other (opposite ones are cavities), and
 * the outermost of them gets positive volume. An open patch is turned by what is seen of it from far away: the side
 * from which more rays leave the model is the outer one (visibility.h). An open patch whose sides are seen alike, or
 * not at all because other patches hide it, gets positive volume about its own centroid unless it is nearly flat; then
 * it keeps its sense relative to the others: it is turned where most of the other area was turned. */
#ifndef SP_GEOMETRY_ORIENT_H
#define SP_GEOMETRY_ORIENT_H

#include "geometry/surface.h"

typedef struct sp_orient_report {
    int64_t welded;     /* vertices joined with another one */
    int64_t degenerate; /* triangles left out */
    int64_t doubled;    /* triangles left out */
    int64_t turned;     /* triangles whose orientation changed */
    int64_t patches;
    int64_t open_edges; /* directed edges without their opposite after the repair: 0 means the winding number is an
                           integer */
    int64_t one_sided;  /* patches that cannot be oriented */
} sp_orient_report;

/* repaired owns its arrays; group and groups are carried over. Deterministic. */
int sp_surface_orient(sp_context *context, const sp_surface *surface, sp_surface *repaired,
                      sp_orient_report *report) SP_MUST_USE;

#endif
