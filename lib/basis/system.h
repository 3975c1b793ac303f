/* Modal derivatives of a general second-order system of n differential equations (thesis §2.8.5)
 *
 *     A ẍ + B ẋ + C(x) = f(t),   K = ∂C/∂x at x = 0,   H = ∂²C/∂x² there,
 *
 * with A and K symmetric and positive definite. Its linear modes K ψ = λ A ψ (sp_modes) leave B out. A model made of
 * finite elements is the case A = M, C = the internal forces; here C may come from anywhere. */
#ifndef SP_BASIS_SYSTEM_H
#define SP_BASIS_SYSTEM_H

#include "linear/sparse.h"
#include "linear/tensor.h"

/* Solves K Φ_ij = −(H:Ψ_j)Ψ_i for Φ [n, pair_count] with i = pair[2c], j = pair[2c+1], from Ψ [n, mode_count]: the
 * second derivatives of the static solution, C(x) = AΨΛp at x = Ψp + ½ Σ_ij p_i p_j Φ_ij + O(p³). residual receives the
 * largest ‖KΦ + (H:Ψ_j)Ψ_i‖ / ‖(H:Ψ_j)Ψ_i‖. The bytes of a column do not depend on the other pairs. SP_NUMERICAL if K
 * is not positive definite. */
int sp_system_derivatives(sp_context *context, const sp_sparse *K, const sp_tensor *H, const double *modes,
                          int64_t pair_count, const int64_t *pair, double *derivative, double *residual) SP_MUST_USE;

#endif
