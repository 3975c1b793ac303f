/* Points that move with the elements of a mesh. */
#ifndef SP_SHELL_CARRY_H
#define SP_SHELL_CARRY_H

#include "mesh/mesh.h"
#include "shell/boxes.h"

typedef struct sp_carrier {
    const sp_mesh *mesh; /* must outlive it */
    sp_box_tree tree;    /* of the boxes of its elements */
} sp_carrier;

int sp_carrier_new(sp_context *context, const sp_mesh *mesh, sp_carrier *carrier) SP_MUST_USE;
void sp_carrier_free(sp_carrier *carrier);

/* The displacement of a point is Σ_a weight_a u_a over the corners of its element, with the gradient Σ_a u_a ⊗
 * gradient_a. */
typedef struct sp_carried {
    int corners;
    const int64_t *corner; /* [corners] */
    double weight[8];      /* of sum 1 */
    double gradient[8][3]; /* ∂N_a/∂X, 1/m */
    double gap;            /* m, to the nearest place in the element: 0 inside, up to rounding */
} sp_carried;

/* By the element nearest to a finite point (of several the first): the shape functions at the nearest place in it, as
 * far as natural coordinates tell, continued linearly from there. Thread safe. */
void sp_carrier_find(const sp_carrier *carrier, const double point[3], sp_carried *carried);

/* Σ_a weight_a U_a,j over the corners of the element, for displacements U [height, modes, column major]: rows [3,
 * modes, row major]. */
void sp_carried_rows(const sp_carried *carried, int64_t height, int64_t modes, const double *U, const double weight[8],
                     double *rows);

#endif
