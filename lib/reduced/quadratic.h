/* Symmetric matrices that are quadratic in the reduced coordinates, M(q) = M₀ + M₁(q) + M₂(q): the tangent stiffness
 * and the damping of polynomials. Their lower triangle is kept by pairs i ≤ j with j fastest, pairs = r(r+1)/2; M₁ is a
 * product with q, M₂ one with the monomials s_kl = q_k q_l, twice off the diagonal. */
#ifndef SP_REDUCED_QUADRATIC_H
#define SP_REDUCED_QUADRATIC_H

#include "base/lanes.h"
#include "base/memory.h"

typedef struct sp_quadratic {
    int64_t r, pairs;
    int64_t stride;    /* pairs rounded up to whole lanes: columns begin aligned */
    double *constant;  /* M₀ [pairs] */
    double *linear;    /* [stride, r, column major]; what is behind the pairs is 0 */
    double *quadratic; /* [stride, stride, column major], symmetric: the lower triangle, and squares of SP_LANES on the
                          diagonal whole; what is behind the pairs is 0 */
    double *monomials; /* s [stride]; what is behind the pairs is 0 */
    double *first, *second; /* M₁ and M₂ [stride] after an evaluation */
} sp_quadratic;

/* Room from `pool`, whose mark of failure the caller looks at; the coefficients are for the caller to fill, those of
 * `quadratic` by sp_quadratic_set. */
void sp_quadratic_new(sp_pool *pool, int64_t r, sp_quadratic *matrix);

/* M₂'s coefficient of pair ij and monomial kl ≤ ij. */
static inline void sp_quadratic_set(sp_quadratic *matrix, int64_t ij, int64_t kl, double value)
{
    matrix->quadratic[kl * matrix->stride + ij] = value;
    if (kl / SP_LANES == ij / SP_LANES)
        matrix->quadratic[ij * matrix->stride + kl] = value;
}

/* The coefficients of another one, which must outlive it, with room of its own from `pool` for evaluations. */
void sp_quadratic_share(sp_pool *pool, const sp_quadratic *original, sp_quadratic *matrix);

/* monomials, first and second at q [r]. */
void sp_quadratic_evaluate(sp_quadratic *matrix, const double *q);

/* The same for `count` places q [r, count], by products of matrices: monomials, first and second, each [stride, count]
 * and aligned, are the caller's; what is behind the pairs of monomials and second is not set. */
void sp_quadratic_evaluate_many(const sp_quadratic *matrix, int64_t count, const double *q, double *monomials,
                                double *first, double *second);

#endif
