/* Cubature (hyper-reduction): the reduced internal force as a weighted sum over few elements, f(q) ≈ Σ_e w_e U_eᵀ
 * f_e(U_e q), for any material (An, Kim and James 2008). With one weight per element f is the gradient of Σ w_e W_e,
 * and its stiffness is symmetric. With a weight per element and coordinate (modal cubature; Yang et al. 2015, §5;
 * lib/cubature/modal.h) f is not conservative and its stiffness is not symmetric. */
#ifndef SP_CUBATURE_CUBATURE_H
#define SP_CUBATURE_CUBATURE_H

#include "assembly/fe_space.h"
#include "reduced/force.h"

typedef struct sp_cubature {
    sp_pool pool;
    int64_t r, count;
    bool modal;        /* modal cubature: a weight per element and coordinate */
    int64_t *element;  /* [count] strictly increasing */
    double *weight;    /* [count] ≥ 0, 1; modal: [count, r, column major] */
    double *nested;    /* as weight: embedded weights for an error estimate, 0 for about half of the elements; NULL:
                          none */
    double *stiffness; /* [r, r] UᵀK(0)U of all elements [J], both triangles; NULL: the linear part comes from the
                          weighted elements too, see below */
    double *mass;      /* [r, r] UᵀMU, kg when q is a pure number */
    double *gravity;   /* [r, 3, row major] UᵀM e_x, e_y, e_z */
    bool lumped;       /* M is the lumped mass; false: the consistent one */
} sp_cubature;

void sp_cubature_free(sp_cubature *cubature);

/* Checks that elements are in range and increasing, weights finite and ≥ 0, sizes as stated. `elements` is the number
 * of elements of the mesh. SP_INPUT. */
int sp_cubature_check(sp_context *context, const sp_cubature *cubature, int64_t elements) SP_MUST_USE;

/* The force in the first r ≤ cubature->r coordinates for U [3·vertices, ≥ r, column major]; the body must outlive it.
 * Every element is represented by the displacements of its corners relative to the first one: B [rows, r] with 9 rows
 * for a tetrahedron, 21 for a hexahedron, eight elements in SIMD lanes. An evaluation is B q, the element forces, Bᵀf,
 * and for the stiffness Bᵀ(K B).
 *
 * With `stiffness` the linear part of the force is exact: C q with C = UᵀK(0)U − Σ w_e U_eᵀK_e(0)U_e is added to the
 * weighted sum, so that the elements approximate only the nonlinear part.
 *
 * energy: Σ w_e W_e (+ ½ qᵀCq); 0 for modal cubature, which has none. The stiffness of modal cubature is not symmetric:
 * force->unsymmetric is set, and K [r, r, column major] is written completely. */
int sp_cubature_force_new(sp_context *context, const sp_fe_space *body, const sp_cubature *cubature, int64_t r,
                          const double *U, sp_reduced_force *force) SP_MUST_USE;

#endif
