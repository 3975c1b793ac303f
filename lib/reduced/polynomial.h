/* Reduced forces of linear materials: cubic polynomials in the reduced coordinates q, all of whose coefficients are
 * entries of one Gram matrix (the model of Barbič & James 2005 §4, where the coefficients are integrated one by one).
 *
 * The Green–Lagrange strain of u = Σ q_i uⁱ is E = Σ_i q_i e_i + ½ Σ_ij q_i q_j e_ij with e_i = sym(∇uⁱ) and e_ij =
 * sym((∇uⁱ)ᵀ∇uʲ). Let R have the columns [e_i (r of them), e_ij (i ≤ j, j fastest)] and A = ∫ RᵀCR dV with the
 * material's C, of order N = r + r(r+1)/2. Then
 *
 *     W = ½A_ij q_i q_j + ½A_i,jk q_i q_j q_k + ⅛A_ij,kl q_i q_j q_k q_l.
 *
 * reduced/rows.h describes the contributions of elements to A. */
#ifndef SP_REDUCED_POLYNOMIAL_H
#define SP_REDUCED_POLYNOMIAL_H

#include "assembly/fe_space.h"
#include "base/context.h"
#include "base/memory.h"
#include "reduced/force.h"

enum sp_constant { SP_CONSTANT_ALL, SP_CONSTANT_LAMBDA, SP_CONSTANT_MU, SP_CONSTANT_COUNT };

/* One summand of the Gram matrix: of all regions or one, and of all constants or for one Lamé constant of 1 Pa. */
typedef struct sp_polynomial_part {
    char group[SP_NAME_LENGTH]; /* region name; "all" */
    enum sp_constant constant;
    double value; /* Pa; the factor that the mesh's material gives this part; 1 for SP_CONSTANT_ALL */
    double *gram; /* [N, N] symmetric, both triangles, before symmetrization over indices; NULL in a shard */
    double *sums; /* in a shard [sums, N(N+1)/2]: the upper triangles of its sums, by columns; else NULL */
} sp_polynomial_part;

/* The elements of a part are distributed to so many sums, whatever the memory and the number of threads, and the sums
 * are added in order. A shard has some of them. */
enum { SP_POLYNOMIAL_SUMS = 16 };

/* The mass of one region, for editing its density (reduced/edit.h). */
typedef struct sp_polynomial_group {
    char name[SP_NAME_LENGTH];
    double density;  /* kg/m³, the density of the following members */
    double *mass;    /* [r, r] */
    double *gravity; /* [r, 3, row major] */
} sp_polynomial_group;

typedef struct sp_polynomials {
    sp_pool pool;
    int64_t r;
    int64_t part_count;
    sp_polynomial_part *parts;
    int64_t group_count;         /* 0, or several: all regions, if the parts are by region */
    sp_polynomial_group *groups; /* they sum to mass and gravity */
    int first_sum, end_sum;      /* of a shard: its sums, 0 ≤ first_sum < end_sum ≤ SP_POLYNOMIAL_SUMS; else 0, 0 */
    double *mass;                /* [r, r] UᵀMU, kg when q is a pure number; NULL in a shard that does not begin at 0,
                                    as gravity and groups */
    double *gravity;  /* [r, 3, row major] UᵀM e_x, e_y, e_z: times an acceleration it is a generalized force */
    double density;   /* factor on mass and gravity, also those of the groups; 1 initially */
    bool lumped;      /* M is the lumped mass; false: the consistent one */
    bool symmetrized; /* the Gram matrix is symmetric in all indices, as one made from a force is: damping cannot be
                         derived from it */
} sp_polynomials;

/* N = r + r(r+1)/2. */
static inline int64_t sp_polynomial_order(int64_t r)
{
    return r + r * (r + 1) / 2;
}

/* Column of the pair i ≤ j among the N: r + i·r − i(i−1)/2 + (j − i). */
static inline int64_t sp_polynomial_pair(int64_t r, int64_t i, int64_t j)
{
    return r + i * r - i * (i - 1) / 2 + (j - i);
}

void sp_polynomials_free(sp_polynomials *polynomials);

/* ---- construction ---- */

typedef struct sp_polynomial_parameters {
    bool lumped;      /* use the lumped instead of the consistent mass */
    bool by_group;    /* one part per region */
    bool by_constant; /* separate parts for λ and μ; every region must be isotropic (law stvk) */
    int64_t memory;   /* bytes for the sums and the blocks of rows; 0: 400 MiB. SP_SYSTEM if one sum does not fit */
    int first_sum, end_sum; /* makes a shard with these sums; 0, 0: the whole */
} sp_polynomial_parameters;

typedef struct sp_polynomial_report {
    int64_t rows; /* rows of R over all elements: at most 28 per hexahedron and 6 per tetrahedron */
    double flops; /* floating-point operations of a symmetric product of all of them, rows · N (N + 1) */
} sp_polynomial_report;

/* Computes the polynomials for the basis U [3·vertices, r]: one symmetric product of blocks of rows (linear/gram.h),
 * with the quadrature of the mesh. The bytes depend neither on the memory nor on the number of threads. */
int sp_polynomials_new(sp_context *context, const sp_fe_space *space, int64_t r, const double *U,
                       const sp_polynomial_parameters *parameters, sp_polynomials *polynomials,
                       sp_polynomial_report *report) SP_MUST_USE;

/* Joins shards, sorted by first_sum, whose sums follow one another from 0 to SP_POLYNOMIAL_SUMS, with the same r and
 * parts: the same bytes as sp_polynomials_new. */
int sp_polynomials_join(sp_context *context, int64_t count, const sp_polynomials *shards,
                        sp_polynomials *whole) SP_MUST_USE;

/* ---- evaluation ---- */

/* The sum of the parts with their values [N, N]: from `pool`, or the polynomials' own matrix if they have one part of
 * value 1. NULL: out of memory. */
const double *sp_polynomials_gram(const sp_polynomials *polynomials, sp_pool *pool);

/* The symmetrized coefficients of the first r′ coordinates, with a workspace for evaluation. */
typedef struct sp_polynomial_force sp_polynomial_force;

/* Sums the parts with their values and symmetrizes: T_ijk = (A_i,jk + A_j,ik + A_k,ij)/3, Q_ij,kl = (A_ij,kl + A_ik,jl
 * + A_il,jk)/3, for the leading r′ ≤ r coordinates (a sub-block: nothing is recomputed). */
int sp_polynomial_force_new(sp_context *context, const sp_polynomials *polynomials, int64_t r,
                            sp_polynomial_force **force) SP_MUST_USE;
void sp_polynomial_force_free(sp_polynomial_force *force); /* NULL is allowed */

/* Internal force f [r] and the lower triangle of the tangent stiffness K [r, r, column major] at q; the strain energy
 * is returned. One symmetric product of order r(r+1)/2 and one of r(r+1)/2 × r: K = K₀ + 3 T·q + (3/2) Q s with the
 * monomials s_kl = q_k q_l (twice off the diagonal), f = (K₀ + K₁/2 + K₂/3) q, W = qᵀ(K₀/2 + K₁/6 + K₂/12) q. No
 * allocation. K may be NULL (then f costs the same), f may be NULL. */
double sp_polynomial_force_evaluate(sp_polynomial_force *force, const double *q, double *f, double *K);

/* The same as a reduced force, which owns its evaluator. */
int sp_polynomial_reduced_force(sp_context *context, const sp_polynomials *polynomials, int64_t r,
                                sp_reduced_force *force) SP_MUST_USE;

/* ---- many bodies of one model ---- */

/* A reduced force with the coefficients of another evaluator, which must outlive it, and a workspace of its own. */
int sp_polynomial_force_share(sp_context *context, const sp_polynomial_force *original,
                              sp_reduced_force *force) SP_MUST_USE;

/* Batched evaluation: the large matrix–vector products of all forces become one matrix product. Every force stores its
 * result and returns it when it is next evaluated at exactly the same q. */
typedef struct sp_polynomial_batch sp_polynomial_batch;

/* forces [count]: created by sp_polynomial_force_share from `original`; both must outlive the batch. */
int sp_polynomial_batch_new(sp_context *context, const sp_polynomial_force *original, int64_t count,
                            const sp_reduced_force *forces, sp_polynomial_batch **batch) SP_MUST_USE;
void sp_polynomial_batch_free(sp_polynomial_batch *batch); /* NULL is allowed */

/* Evaluates at q[i] [r] for force i; NULL: skips it. Blocks of a fixed number are distributed to the threads; allocates
 * nothing. */
void sp_polynomial_batch_evaluate(sp_polynomial_batch *batch, const double *const *q);

#endif
