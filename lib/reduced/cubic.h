/* A reduced force expanded in monomials, as other programs store it (VegaFEM), and the Gram matrix that has the same
 * force.
 *
 *     f_a(q) = Σ_i L_a,i q_i + Σ_{i≤j} S_a,ij q_i q_j + Σ_{i≤j≤k} C_a,ijk q_i q_j q_k,   each monomial once.
 *
 * With the tensors T and Q of polynomial.h, symmetric in all indices, W₃ = ½ T_ijk q_i q_j q_k and W₄ = ⅛ Q_ijkl q_i
 * q_j q_k q_l give S_a,ij = (3/2) T_aij n_ij and C_a,ijk = ½ Q_aijk n_ijk, where n is the number of permutations of a
 * monomial's factors: 1, 2; 1, 3, 6. */
#ifndef SP_REDUCED_CUBIC_H
#define SP_REDUCED_CUBIC_H

#include "reduced/polynomial.h"

typedef struct sp_cubic_force {
    sp_pool pool;
    int64_t r;
    double *linear;    /* L [r, r], row a */
    double *quadratic; /* S [r, r(r+1)/2], row a, columns i ≤ j with j fastest */
    double *cubic;     /* C [r, r(r+1)(r+2)/6], row a, columns i ≤ j ≤ k with k fastest */
} sp_cubic_force;

/* r(r+1)(r+2)/6, for r up to 10⁶. */
static inline int64_t sp_cubic_triples(int64_t r)
{
    return r * (r + 1) / 2 * (r + 2) / 3;
}

/* Columns of the monomials i ≤ j and i ≤ j ≤ k. */
static inline int64_t sp_cubic_pair(int64_t r, int64_t i, int64_t j)
{
    return i * r - i * (i - 1) / 2 + (j - i);
}

static inline int64_t sp_cubic_triple(int64_t r, int64_t i, int64_t j, int64_t k)
{
    return sp_cubic_triples(r) - sp_cubic_triples(r - i) + sp_cubic_pair(r - i, j - i, k - i);
}

/* Allocates the coefficients of r coordinates, zeroed. */
int sp_cubic_new(sp_context *context, int64_t r, sp_cubic_force *force) SP_MUST_USE;
void sp_cubic_free(sp_cubic_force *force);

/* Sets one Gram matrix (group and constant "all") with this force: the representative that is symmetric in all indices,
 * which a force alone determines. `mass` is set to the identity and `gravity` to zero, for the caller to replace. Only
 * a conservative force can be written in this way: SP_INPUT if L, T or Q is not symmetric within 1e-9 of its largest
 * entry. asymmetry [3] receives the largest deviations in this measure. */
int sp_polynomials_from_cubic(sp_context *context, const sp_cubic_force *force, sp_polynomials *polynomials,
                              double asymmetry[3]) SP_MUST_USE;

/* The inverse: all parts summed with their values, symmetrized. */
int sp_cubic_from_polynomials(sp_context *context, const sp_polynomials *polynomials,
                              sp_cubic_force *force) SP_MUST_USE;

#endif
