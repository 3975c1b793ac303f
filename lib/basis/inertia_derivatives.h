/* Inertia derivatives: the nonlinear response to deformations along modes, order by order (Yang 2015 §4.3.1, eq. 8 and
 * 9). The subject of US patent 10,474,927: compiled with the option yang2015 only. */
#ifndef SP_BASIS_INERTIA_DERIVATIVES_H
#define SP_BASIS_INERTIA_DERIVATIVES_H

#include "assembly/fe_space.h"
#include "basis/flexibility.h"

/* Selects derivatives up to `order` of mode_count modes by weight, before anything is computed. weight [mode_count] > 0
 * is that of a mode (λ₁/λ, or the same of Rayleigh quotients; ≤ 1); the weight of a derivative is the product of the
 * weights of its factors, so that order 2 is small if order 1 is. Column k of [modes | derivatives] is made from pair
 * (i, c): mode i and column c. c < mode_count: order 1, i ≤ c; else c − mode_count is a derivative of one order less.
 * The `most` derivatives of largest weight are taken (ties: lower order, then lower numbers), sorted by order, then by
 * pair; all factors of a selected one are selected too. pair receives 2 × count numbers (int64_t), derivative_order
 * count. SP_USAGE for order < 1. */
int sp_inertia_derivatives_choose(sp_context *context, int64_t mode_count, const double *weight, int order,
                                  int64_t most, sp_list *pair, sp_list *derivative_order) SP_MUST_USE;

typedef struct sp_inertia_derivatives_report {
    double residual; /* largest ‖K V − f‖ / ‖f‖, with f the load after the rigid part of a free body is subtracted */
} sp_inertia_derivatives_report;

/* V_k = −K⁻¹ (H:u_i) v_c for pairs selected as above (order 1: the modal derivative of a constrained body; the paper
 * leaves the sign out). Eq. 9 leaves out the second derivative of K: beyond order 1 these are directions in which K
 * changes, not derivatives of the response. all [3·vertices, mode_count + pair_count] has the modes first and receives
 * the derivatives behind them. K [over the pattern of body] at rest. */
int sp_inertia_derivatives(sp_context *context, const sp_fe_space *space, const sp_sparse *K,
                           sp_flexibility *flexibility, int64_t mode_count, int64_t pair_count, const int64_t *pair,
                           double *all, sp_inertia_derivatives_report *report) SP_MUST_USE;

#endif
