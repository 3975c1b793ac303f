/* Linear buckling: the load factors at which a body loses stiffness. */
#ifndef SP_BASIS_BUCKLING_H
#define SP_BASIS_BUCKLING_H

#include "linear/sparse.h"

typedef struct sp_buckling_parameters {
    int64_t count;      /* number of load factors */
    double tolerance;   /* of the Lanczos iteration, relative; 0: machine precision */
    int64_t space_left; /* number of columns that the arrays have beyond `count`, for shapes with the same factor as the
                           last one */
    bool certify; /* count the factors below the last one by the inertia of K − λ S (slow: simplicial LDLᵀ) */
} sp_buckling_parameters;

typedef struct sp_buckling_report {
    int64_t found;  /* number of positive factors: `count` and those that share the last one, or fewer if no more were
                       found */
    int64_t missed; /* number of factors that the first run missed and the check found (they are in the result) */
    int64_t solves; /* single right-hand sides solved */
    double next;    /* the factor that follows, INFINITY if none is known */
    int64_t certified, below; /* numbers of factors below the last one (by a millionth), from the matrix inertia (−1:
                                 not wanted) and found */
    double factor_nonzeros, factor_flops;
} sp_buckling_report;

/* The smallest positive load factors λ and shapes φ of
 *
 *     K φ = λ S φ
 *
 * with K positive definite and S = −K_σ(u), the negative of the stress stiffness of a load case (assembly/elastic.h),
 * which is of either sign. Block Lanczos with K⁻¹S in the inner product of K, whose largest eigenvalues are 1/λ; runs
 * in the complement of what was found search for factors that were missed. node as in sp_cholesky_new. factor [count +
 * space_left] ascending, vector [order, count + space_left] with φᵀKφ = 1 and fixed signs, residual [count +
 * space_left] = ‖φ − λK⁻¹Sφ‖_K / ‖φ‖_K with the norm ‖x‖_K² = xᵀKx, a bound on the relative error of λ. SP_NUMERICAL
 * if K is not positive definite, if no factor is positive, or if Lanczos does not converge; SP_USAGE if the order is
 * too small for so many. */
int sp_buckling(sp_context *context, const sp_sparse *K, const sp_sparse *S, const int64_t *node,
                const sp_buckling_parameters *parameters, double *factor, double *vector, double *residual,
                sp_buckling_report *report) SP_MUST_USE;

#endif
