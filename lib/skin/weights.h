/* Weights of a skin by diffusion: for each bone one Laplace equation, whose solution is 1 at the vertices attached to
 * the bone, 0 at those of other bones, and has no flux through the rest of the boundary (Baran and Popović, Automatic
 * rigging and animation of 3D characters, 2007, use the same equation with a source term on the surface).
 *
 * The solutions are those of linear finite elements. Exact ones lie between 0 and 1 and sum to 1. In meshes with obtuse
 * dihedral angles the discrete maximum principle does not hold and weights may be slightly negative: these are set to
 * 0. The largest `influences` weights of each vertex are kept, and divided by their sum. */
#ifndef SP_SKIN_WEIGHTS_H
#define SP_SKIN_WEIGHTS_H

#include "base/context.h"
#include "mesh/mesh.h"
#include "skin/skin.h"

typedef struct sp_skin_report {
    int64_t solved; /* vertices whose weights were computed */
    double lowest,
        dropped; /* the lowest weight that was set to 0 (≤ 0), the largest sum of weights that were not kept */
} sp_skin_report;

/* attached [vertices] is the bone that each vertex is attached to, −1: none. Vertices without elements receive weight 1
 * of bone 0. SP_INPUT for an element that is inverted, and for a piece of the mesh without an attached vertex. */
int sp_skin_weights(sp_context *context, const sp_mesh *mesh, int64_t bone_count, const int64_t *attached,
                    int64_t influences, sp_skin *skin, sp_skin_report *report) SP_MUST_USE;

#endif
