/* The reduced force of many motions at once. SP_MOTIONS motions of one model of polynomials (reduced/polynomial.h) are
 * evaluated together, each in a SIMD lane: the coefficients are read once for all of them. Vectors are [n][SP_MOTIONS],
 * symmetric matrices [r(r+1)/2][SP_MOTIONS] by pairs i ≤ j with j fastest, aligned to 64 bytes. Lanes never mix, so
 * that the numbers of a motion do not depend on the others.
 *
 *     K(q) = K₀ + T·q + (Q·q)·q,   f(q) = (K₀ + ½ T·q + ⅓ (Q·q)·q) q
 *
 * with T_ijk and Q_ijkl symmetric in all indices. C = Q·q has the r(r+1)(r+2)/6 entries i ≤ j ≤ k. It is one product of
 * a constant matrix with q, of r⁴/6 multiplications; another r³/2 make C·q of it. The derivative of the stiffness along
 * a velocity, which damping by βK needs in Newton's matrix, is T·v + 2 C·v with the same C. */
#ifndef SP_ENSEMBLE_LANES_H
#define SP_ENSEMBLE_LANES_H

#include "base/context.h"
#include "base/lanes.h"
#include "base/memory.h"
#include "reduced/polynomial.h"

/* Three vectors of eight, six of four: as many sums as the registers hold. */
enum { SP_MOTIONS = 3 * SP_LANES };

/* Coefficients; several parts (reduced/polynomial.h) where motions differ in their moduli. */
typedef struct sp_lane_force {
    int64_t r, parts, pairs;
    double *constant; /* [parts, pairs] K₀ of each part */
    double *first;    /* T by tiles of 8 rows: [⌈pairs/8⌉][parts·r][8] */
    double *second;   /* Q by tiles, of the rows i ≤ j ≤ k in chunks */
    int64_t chunk_count;
    int64_t *chunk_end;  /* [chunk_count] pairs i ≤ j whose rows are in the chunks up to this one */
    int64_t *chunk_tile; /* [chunk_count + 1] the first tile of each */
    int64_t most_tiles;  /* of a chunk */
    sp_pool pool;
} sp_lane_force;

/* The coefficients of the first r coordinates. apart: each part by itself, to be scaled by each motion; else their sum
 * with the values of the polynomials. */
int sp_lane_force_new(sp_context *context, const sp_polynomials *polynomials, int64_t r, bool apart,
                      sp_lane_force *force) SP_MUST_USE;
void sp_lane_force_free(sp_lane_force *force);

/* Scratch of one thread, in doubles. */
int64_t sp_lane_force_scratch(const sp_lane_force *force);

/* What one evaluation takes and gives. */
typedef struct sp_lane_evaluation {
    const double *scale;    /* [parts] factor on each part */
    const double *constant; /* [pairs] K₀ with these factors (sp_lane_force_constant) */
    const double *q;        /* [r] */
    const double *v;        /* [r]; NULL: no derivative along v is wanted */
    double *f;              /* [r] */
    double *K;              /* [pairs] rounded up to 8 */
    double *D;              /* [pairs] rounded up to 8: ∂(K v)/∂q; unused without v */
    double *scratch;
} sp_lane_evaluation;

void sp_lane_force_constant(const sp_lane_force *force, const double *scale, double *constant);
void sp_lane_force_evaluate(const sp_lane_force *force, const sp_lane_evaluation *evaluation);

/* ---- linear algebra in lanes ---- */

/* Entry (row, column) of a matrix with `columns` columns whose rows are in tiles of 8: [⌈rows/8⌉][columns][8]. */
static inline double *sp_lane_tile(double *tiles, int64_t columns, int64_t row, int64_t column)
{
    return tiles + (row / SP_LANES * columns + column) * SP_LANES + row % SP_LANES;
}

/* y = A x for a matrix in such tiles, the same for all motions; rows is a multiple of 8. */
void sp_lanes_contract(int64_t rows, int64_t columns, const double *tiles, const double *x, double *y);

/* y = A x for a symmetric A by pairs. */
void sp_lanes_times(int64_t n, const double *A, const double *x, double *y);

/* x = S⁻¹ b by Cholesky's method; S is overwritten by its factor. definite [SP_MOTIONS]: whether all pivots of a motion
 * are positive, without which its x has no meaning. */
void sp_lanes_solve(int64_t n, double *S, const double *b, double *x, bool definite[SP_MOTIONS]);

/* The sums over n of x y. */
void sp_lanes_dot(int64_t n, const double *x, const double *y, double sum[SP_MOTIONS]);

#endif
