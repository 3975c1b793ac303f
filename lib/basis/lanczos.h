/* Eigenvectors of an inverted operator by Lanczos: with blocks, or one vector at a time by ARPACK. */
#ifndef SP_BASIS_LANCZOS_H
#define SP_BASIS_LANCZOS_H

#include "linear/cholesky.h"

/* (K − σM)⁻¹M in the M-orthogonal complement of known vectors; or K⁻¹S with a symmetric S that need not be definite,
 * self-adjoint in the inner product of M = K. */
typedef struct sp_inverted {
    sp_context *context;
    const sp_sparse *K, *M;
    const sp_sparse *S;  /* NULL: the first operator */
    double *image;       /* [n, SP_INVERTED_WIDTH] with S */
    sp_cholesky *factor; /* of K − σM, positive definite */
    int64_t n, known;
    double *vectors;      /* [n, known ≤ capacity] M-orthonormal: rigid ones, then found ones */
    double *mass_vectors; /* [n, known ≤ capacity] M times them */
    double *coefficients; /* [capacity · SP_INVERTED_WIDTH] */
    double *work;         /* [sp_dense_inner_work(capacity, SP_INVERTED_WIDTH)] */
    double shift;         /* σ, rad²/s² */
    int64_t solves;       /* single right-hand sides so far */
    double next, near; /* σ + 1/θ for the largest θ behind the last wanted vectors, which need not have converged: an
                          upper bound of the next eigenvalue, and, with the residual of θ added, its lowest expected
                          value; INFINITY and −INFINITY if unknown, as after ARPACK */
} sp_inverted;

enum { SP_INVERTED_WIDTH = 12 }; /* largest number of columns that are deflated at once */

/* x ← x − V VᵀM x for `count` columns, V the known vectors. */
void sp_inverted_deflate(sp_inverted *problem, int64_t count, double *x);

/* y = the operator applied to x [n, count], which may be y, from x and M x; count ≤ SP_INVERTED_WIDTH. */
int sp_inverted_apply(sp_inverted *problem, int64_t count, const double *x, const double *mass_x,
                      double *y) SP_MUST_USE;

/* Adds the first `count` columns behind the known vectors to these. */
void sp_inverted_add_known(sp_inverted *problem, int64_t count);

/* The `wanted` largest θ of the operator and their vectors, which become known; eigenvalue [wanted] = σ + 1/θ in no
 * order. A vector has converged if its residual is at most `tolerance` θ (0: machine precision). SP_USAGE if the
 * complement is not larger than `wanted`; SP_NUMERICAL if it does not converge.
 *
 * sp_lanczos uses blocks of eight, so that the factor is read once for eight right-hand sides: with a factor larger
 * than the cache, eight solves take as long as one with AVX-512 (linear/supernodes.h), else as two or three. Full
 * orthogonalization in BLAS-3; restarted with the best Ritz vectors (Wu and Simon, "Thick-restart Lanczos method for
 * large symmetric eigenvalue problems", SIAM J. Matrix Anal. Appl. 22, 2000, in blocks). sp_lanczos_arpack uses ARPACK
 * in mode 3, one vector at a time; fewer right-hand sides, more time; not with S. With S the largest θ may be negative,
 * and convergence is relative to |θ|. */
int sp_lanczos(sp_inverted *problem, int64_t wanted, double tolerance, double *eigenvalue) SP_MUST_USE;
int sp_lanczos_arpack(sp_inverted *problem, int64_t wanted, double tolerance, double *eigenvalue) SP_MUST_USE;

#endif
