/* The shares of the vertices of an interface in its area. */
#ifndef SP_ASSEMBLY_INTERFACE_SHARES_H
#define SP_ASSEMBLY_INTERFACE_SHARES_H

#include "mesh/mesh.h"

/* share [count] = ∫ N_v dA / A over the faces of the boundary of the mesh whose nodes all belong to the interface; they
 * sum to 1. A mean Σ share u is then the mean over the area, and forces in these shares are a uniform traction. Equal
 * shares if the interface contains no face. vertices [count] increasing. */
int sp_interface_shares(sp_context *context, const sp_mesh *mesh, int64_t count, const int64_t *vertices,
                        double *share) SP_MUST_USE;

#endif
