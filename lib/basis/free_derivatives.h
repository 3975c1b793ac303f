/* Modal derivatives of free bodies. */
#ifndef SP_BASIS_FREE_DERIVATIVES_H
#define SP_BASIS_FREE_DERIVATIVES_H

#include "assembly/fe_space.h"

typedef struct sp_free_derivatives_report {
    double residual;    /* largest ‖Pᵀ((K − λ_i M)Φ_ij + (H:Ψ_j)Ψ_i)‖ / ‖(H:Ψ_j)Ψ_i‖ */
    int64_t iterations; /* of the slowest column */
} sp_free_derivatives_report;

/* So many pairs, one after the other in the list, are solved together. The bytes of a column depend on the others. */
enum { SP_FREE_DERIVATIVES_WIDTH = 32 };

/* Solves (K − λ_i M) Φ_ij = (MΨ_iΨ_iᵀ − I)(H:Ψ_j)Ψ_i (thesis eq. 2.46, 2.60) for Φ_ij [3·vertices, pair_count], i =
 * pair[2c], j = pair[2c+1], for mass-orthonormal modes U [3·vertices, mode_count] with eigenvalue [mode_count]
 * ascending, the rigid ones first.
 *
 * The right-hand side and the solution are kept in the mass-orthogonal complement P of all mode_count modes: their
 * components along the modes are in the span of the modes anyway, and on P the matrix is positive definite for every
 * λ_i below the next eigenvalue, also if eigenvalues are multiple or close. All columns are solved together by
 * conjugate gradients, preconditioned by one Cholesky factor of K + σM. Φ_ij ≠ Φ_ji: name both pairs. It works for
 * constrained bodies too, for which it gives another subspace than sp_modal_derivatives. SP_INPUT if the last
 * eigenvalue is so close to the next one that a column does not converge: take one mode more or less, so that multiple
 * eigenvalues stay together. permutation: the order of the rows of K if it is known (sp_cholesky_new_permuted), else
 * NULL. */
int sp_free_modal_derivatives(sp_context *context, sp_fe_space *space, int64_t mode_count, const double *U,
                              const double *eigenvalue, int64_t pair_count, const int64_t *pair,
                              const int64_t *permutation, double *derivative,
                              sp_free_derivatives_report *report) SP_MUST_USE;

#endif
