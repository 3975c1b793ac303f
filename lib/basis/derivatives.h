/* Modal derivatives: how the modes change as the body deforms along them. */
#ifndef SP_BASIS_DERIVATIVES_H
#define SP_BASIS_DERIVATIVES_H

#include "assembly/body.h"
#include "linear/cholesky.h"

typedef struct sp_derivatives_report {
    double residual; /* largest ‖KΦ + (H:Ψ_j)Ψ_i‖ / ‖(H:Ψ_j)Ψ_i‖ over all columns, recomputed with K */
    double factor_nonzeros, factor_flops;
} sp_derivatives_report;

/* Φ [3·vertices, pair_count] (held components 0) with K Φ_ij = −(H:Ψ_j)Ψ_i for i = pair[2c], j = pair[2c+1]
 * (Barbič & James 2005 eq. 15, thesis eq. 2.45), from U [3·vertices, mode_count]. K must be positive definite: anchored
 * bodies. `memory` bytes bound the right-hand sides held at a time (0: no bound). One factorization; the exact second
 * derivative of the force; right-hand sides solved in blocks. */
int sp_modal_derivatives(sp_context *context, sp_body *body, int64_t mode_count, const double *U, int64_t pair_count, const int64_t *pair, int64_t memory,
                         double *derivative, sp_derivatives_report *report) SP_MUST_USE;

#endif
