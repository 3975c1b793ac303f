/* Reduced forces by direct projection (thesis eq. 2.23; Krysl, Lall and Marsden 2001): f = Uᵀ f(Uq), K = Uᵀ K(Uq) U
 * from the full body. Any number of coordinates and any material that the full model has; a cost that grows with the
 * mesh, which is why polynomials and cubature exist. */
#ifndef SP_REDUCED_GALERKIN_H
#define SP_REDUCED_GALERKIN_H

#include "assembly/fe_space.h"
#include "reduced/force.h"

/* For the first r columns of U [3·vertices, ≥ r, column major], copied; held components count as 0. The body must
 * outlive it and gets its pattern. K: the sparse tangent once, then T U by registers and Uᵀ(TU) by BLAS-3, with T its
 * lower triangle and half of its diagonal, so that half of the sparse product is saved: UᵀKU = UᵀTU + its transpose. */
int sp_galerkin_force_new(sp_context *context, sp_fe_space *space, int64_t r, const double *U,
                          sp_reduced_force *force) SP_MUST_USE;

#endif
