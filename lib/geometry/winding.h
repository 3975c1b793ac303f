/* Generalized winding numbers of triangle soups (Jacobson, Kavan, Sorkine-Hornung 2013), exact by the sum of solid
 * angles (Van Oosterom & Strackee 1983), or fast by a tree with dipole and second-order expansions (Barill, Dickson,
 * Schmidt, Levin, Jacobson 2018). */
#ifndef SP_GEOMETRY_WINDING_H
#define SP_GEOMETRY_WINDING_H

#include "geometry/surface.h"

typedef struct sp_winding sp_winding;

/* Builds the tree; the surface must outlive it. */
int sp_winding_new(sp_context *context, const sp_surface *surface, sp_winding **winding) SP_MUST_USE;
void sp_winding_free(sp_winding *winding); /* NULL is allowed */

/* 1 inside a closed outward surface, 0 outside. `accuracy` β ≥ 1.5: a cluster is expanded when its radius × β is below
 * the distance; 2 gives errors below 1e-2, 0 means exact (every triangle). Thread safe. */
double sp_winding_number(const sp_winding *winding, const double point[3], double accuracy);

/* Returns true if the winding number is at least ½: fast where it is far from ½, with increasing accuracy up to the
 * exact sum. Thread safe. */
bool sp_winding_inside(const sp_winding *winding, const double point[3]);

#endif
