/* The Hessian of a quartic form, W(q) = Σ_{a≤b≤c≤d} e_abcd q_a q_b q_c q_d, from its distinct coefficients:
 * r(r+1)(r+2)(r+3)/24 numbers, a third of the lower triangle of the symmetric matrix of order r(r+1)/2 that has the
 * same entries. Each coefficient is read once and multiplied into a few sums:
 *
 *     ∂²W/∂q_i∂q_j = M_ij + M_ji,   M = Σ e_abcd (the products of two of the q, at the place of the other two).
 *
 * For fixed b ≤ c ≤ d the sums over a ≤ b are contiguous: e·q is a coefficient of a cubic form in b, c and d, and e
 * itself is added to three columns of M. */
#ifndef SP_REDUCED_QUARTIC_H
#define SP_REDUCED_QUARTIC_H

#include "base/memory.h"

typedef struct sp_quartic {
    int64_t r, width;  /* width: r rounded up to whole vectors of four */
    int64_t *start;    /* [r(r+1)/2] by pairs b ≤ c, c fastest: where the coefficients of b, c begin */
    double *value;     /* the coefficients, see quartic.c; 0 where vectors are padded */
    double *q, *M, *t; /* [width], [r, width], [width]: workspace */
} sp_quartic;

/* Allocates from `pool`, whose failure mark the caller checks, with coefficients 0. */
void sp_quartic_new(sp_pool *pool, int64_t r, sp_quartic *quartic);

/* Sets the coefficient from c = ∂⁴W/∂q_a∂q_b∂q_c∂q_d / 2 for a ≤ b ≤ c ≤ d, so that the Hessian is Σ_kl c_ijkl q_k q_l.
 */
void sp_quartic_set(sp_quartic *quartic, int64_t a, int64_t b, int64_t c, int64_t d, double value);

/* Shares the coefficients of another form, which must outlive this one, with a workspace of its own from `pool`. */
void sp_quartic_share(sp_pool *pool, const sp_quartic *original, sp_quartic *quartic);

/* The Hessian at q [r]: its lower triangle by pairs i ≤ j with j fastest, hessian [r(r+1)/2]. */
void sp_quartic_hessian(sp_quartic *quartic, const double *q, double *hessian);

#endif
