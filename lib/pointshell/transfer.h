/* Transfer (skinning) of mesh displacements to points. */
#ifndef SP_POINTSHELL_TRANSFER_H
#define SP_POINTSHELL_TRANSFER_H

#include "mesh/mesh.h"
#include "pointshell/boxes.h"

typedef struct sp_transfer {
    const sp_mesh *mesh; /* must outlive it */
    sp_box_tree tree;    /* bounding volume hierarchy of its elements */
} sp_transfer;

int sp_transfer_new(sp_context *context, const sp_mesh *mesh, sp_transfer *transfer) SP_MUST_USE;
void sp_transfer_free(sp_transfer *transfer);

/* The displacement of a point is Σ_a weight_a u_a over the nodes of its element, with the gradient Σ_a u_a ⊗
 * gradient_a. */
typedef struct sp_transferred {
    int64_t element;
    int corners;
    const int64_t *corner;                /* [corners] the nodes of its element */
    double weight[SP_ELEMENT_NODES];      /* their sum is 1 */
    double gradient[SP_ELEMENT_NODES][3]; /* ∂N_a/∂X, 1/m */
    double gap;                           /* m, distance from the element: 0 inside, up to rounding */
} sp_transferred;

/* Finds the element nearest to a finite point (of several the first): the shape functions at the nearest position in
 * it, as far as natural coordinates determine it, extrapolated linearly from there. Thread safe. */
void sp_transfer_find(const sp_transfer *transfer, const double point[3], sp_transferred *transferred);

/* Σ_a weight_a U_a,j over the nodes of the element, for displacements U [height, modes, column major]: rows [3,
 * modes, row major]. */
void sp_transferred_rows(const sp_transferred *transferred, int64_t height, int64_t modes, const double *U,
                         const double weight[], double *rows);

#endif
