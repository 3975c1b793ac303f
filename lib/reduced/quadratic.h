/* Symmetric matrices that are quadratic in the reduced coordinates, M(q) = M₀ + M₁(q) + M₂(q): the tangent stiffness
 * and the damping of polynomials. Their lower triangle is stored by pairs i ≤ j with j fastest, pairs = r(r+1)/2; M₁ is
 * a product with q, M₂ one with the monomials s_kl = q_k q_l, twice off the diagonal. */
#ifndef SP_REDUCED_QUADRATIC_H
#define SP_REDUCED_QUADRATIC_H

#include "base/lanes.h"
#include "base/memory.h"
#include "reduced/quartic.h"

typedef struct sp_quadratic {
    int64_t r, pairs;
    int64_t stride;    /* pairs rounded up to whole SIMD vectors: columns begin aligned */
    double *constant;  /* M₀ [pairs] */
    double *linear;    /* [stride, r, column major]; 0 beyond `pairs` */
    double *quadratic; /* [stride, stride, column major], symmetric: the lower triangle, with full squares of SP_LANES
                          on the diagonal; 0 beyond `pairs` */
    bool distinct;     /* M₂ is kept as `quartic`; `quadratic` is NULL then */
    sp_quartic quartic;
    double *monomials;      /* s [stride]; 0 beyond `pairs` */
    double *first, *second; /* M₁ and M₂ [stride] after an evaluation */
} sp_quadratic;

/* Allocates from `pool`, whose failure mark the caller checks; the caller sets the coefficients. hessian: those of M₂
 * are symmetric in all four indices. Where that is faster on this processor, M₂ is then `distinct`, and its
 * coefficients are set by sp_quartic_set; else by sp_quadratic_set. */
void sp_quadratic_new(sp_pool *pool, int64_t r, bool hessian, sp_quadratic *matrix);

/* M₂'s coefficient of pair ij and monomial kl ≤ ij. */
static inline void sp_quadratic_set(sp_quadratic *matrix, int64_t ij, int64_t kl, double value)
{
    matrix->quadratic[kl * matrix->stride + ij] = value;
    if (kl / SP_LANES == ij / SP_LANES)
        matrix->quadratic[ij * matrix->stride + kl] = value;
}

/* Shares the coefficients of another matrix, which must outlive this one, with a workspace of its own from `pool`. */
void sp_quadratic_share(sp_pool *pool, const sp_quadratic *original, sp_quadratic *matrix);

/* monomials, first and second at q [r]. */
void sp_quadratic_evaluate(sp_quadratic *matrix, const double *q);

/* The same for `count` points q [r, count], by matrix products, where M₂ is not `distinct`: monomials, first and
 * second, each [stride, count] and aligned, belong to the caller; monomials and second are not set beyond `pairs`. */
void sp_quadratic_evaluate_many(const sp_quadratic *matrix, int64_t count, const double *q, double *monomials,
                                double *first, double *second);

#endif
