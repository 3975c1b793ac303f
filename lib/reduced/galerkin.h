/* Reduced forces by Galerkin projection (thesis eq. 2.23; Krysl, Lall and Marsden 2001): f = Uᵀ f(Uq), K = Uᵀ K(Uq) U
 * from the full-order model. They allow any number of coordinates and any material of the full-order model; their cost
 * grows with the mesh, which polynomials and cubature avoid. */
#ifndef SP_REDUCED_GALERKIN_H
#define SP_REDUCED_GALERKIN_H

#include "assembly/fe_space.h"
#include "reduced/force.h"

/* The force in the first r columns of U [3·vertices, ≥ r, column major], copied; fixed components count as 0. The body
 * must outlive the force and gets its pattern. K is computed from the sparse tangent, then T U in registers and Uᵀ(TU)
 * by BLAS-3, with T its lower triangle and half of its diagonal, which saves half of the sparse product: UᵀKU = UᵀTU +
 * its transpose. */
int sp_galerkin_force_new(sp_context *context, sp_fe_space *space, int64_t r, const double *U,
                          sp_reduced_force *force) SP_MUST_USE;

#endif
