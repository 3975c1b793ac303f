/* Cubature: the reduced internal force as a weighted sum over few elements, f(q) ≈ Σ_e w_e U_eᵀ f_e(U_e q), for any
 * material (An, Kim and James 2008). With one weight per element f is the gradient of Σ w_e W_e, and its stiffness
 * symmetric. With a weight per element and coordinate (Yang et al. 2015, §5; lib/cubature/modal.h) it is neither. */
#ifndef SP_CUBATURE_CUBATURE_H
#define SP_CUBATURE_CUBATURE_H

#include "assembly/fe_space.h"
#include "reduced/force.h"

typedef struct sp_cubature {
    sp_pool pool;
    int64_t r, count;
    bool modal;        /* weights by coordinate */
    int64_t *element;  /* [count] strictly increasing */
    double *weight;    /* [count] ≥ 0, 1; modal: [count, r, column major] */
    double *nested;    /* as weight, second weights for an estimate of the error, 0 in about half of the elements; NULL:
                          none */
    double *stiffness; /* [r, r] UᵀK(0)U of all elements [J], both triangles; NULL: the linear part is the elements'
                          too, see below */
    double *mass;      /* [r, r] UᵀMU, kg when q is a pure number */
    double *gravity;   /* [r, 3, row major] UᵀM e_x, e_y, e_z */
    bool lumped;       /* M is the lumped mass; false: the consistent one */
} sp_cubature;

void sp_cubature_free(sp_cubature *cubature);

/* Elements in range and increasing, weights finite and ≥ 0, sizes as stated. `elements` of the mesh. SP_INPUT. */
int sp_cubature_check(sp_context *context, const sp_cubature *cubature, int64_t elements) SP_MUST_USE;

/* The force in the first r ≤ cubature->r coordinates for U [3·vertices, ≥ r, column major]; the body must outlive it.
 * Every element is represented by the displacements of its corners relative to the first one: B [rows, r] with 9 rows
 * for a tetrahedron, 21 for a hexahedron, eight elements side by side, so that a step is B q, the elements in lanes,
 * Bᵀf, and for the stiffness Bᵀ(K B).
 *
 * With `stiffness` the linear part of the force is exact: to the weighted sum is added C q, C = UᵀK(0)U − Σ w_e
 * U_eᵀK_e(0)U_e, so that the elements stand for its nonlinear part only.
 *
 * energy: Σ w_e W_e (+ ½ qᵀCq); of modal weights 0, since there is none. The stiffness of modal weights is not
 * symmetric: force->unsymmetric says so, and then K [r, r, column major] comes whole. */
int sp_cubature_force_new(sp_context *context, const sp_fe_space *body, const sp_cubature *cubature, int64_t r,
                          const double *U, sp_reduced_force *force) SP_MUST_USE;

#endif
