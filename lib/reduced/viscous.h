/* Strain-rate damping in reduced coordinates (thesis eq. 2.34–2.38): the force D(q) q̇.
 *
 * With the rates ḋ = R Z q̇ of the squared edge lengths, R as in polynomial.h and Z = ∂z/∂q the [N, r] derivative of the
 * monomials z = [q_i; q_i q_j (½q_i² for i = j)], the virtual power is (R Z δq)ᵀ G_D (R Z q̇), so that D(q) = ZᵀAZ with
 * the Gram matrix A for φ in place of λ and ψ in place of μ:
 *
 *     D_ij = A_i,j + q_k (A_i,jk + A_j,ik) + q_k q_l A_ik,jl    (sums over k and l)
 *
 * Here A must not be symmetrized over its indices: D tells A_ij,kl from A_ik,jl, which the elastic force does not. It
 * is symmetric and positive semidefinite. */
#ifndef SP_REDUCED_VISCOUS_H
#define SP_REDUCED_VISCOUS_H

#include "assembly/viscous.h"
#include "reduced/polynomial.h"

/* The interface of strain-rate damping for a reduced-order system; its calls allocate nothing. */
typedef struct sp_reduced_viscosity {
    void *self;
    int64_t r;
    /* The lower triangle of D(q) [r, r, column major]. */
    void (*matrix)(void *self, const double *q, double *D);
    /* y = D(q) v [r]. */
    void (*times)(void *self, const double *q, const double *v, double *y);
    void (*destroy)(void *self);
} sp_reduced_viscosity;

/* Damping from the parts λ and μ of polynomials of a mesh with `count` regions, for the first r coordinates; viscosity
 * [count], checked. One evaluation costs as much as one of the force. SP_INPUT if a region with damping has no such
 * parts, or the polynomials are symmetrized. */
int sp_polynomial_viscosity(sp_context *context, const sp_polynomials *polynomials, int64_t r, int64_t count,
                            const sp_material *materials, const sp_viscosity *viscosity,
                            sp_reduced_viscosity *reduced) SP_MUST_USE;

/* Damping by Galerkin projection of the full-order body, UᵀD(Uq)U, for the first r columns of U [3·vertices, ≥ r,
 * column major], copied; fixed components count as 0. `viscous` must outlive it, and so must its body, which needs its
 * pattern (sp_fe_space_pattern). */
int sp_galerkin_viscosity(sp_context *context, const sp_viscous *viscous, int64_t r, const double *U,
                          sp_reduced_viscosity *reduced) SP_MUST_USE;

#endif
