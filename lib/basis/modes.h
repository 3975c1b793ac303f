/* Linear vibration modes: K ψ = λ M ψ, by shift-invert Lanczos on one Cholesky factorization. */
#ifndef SP_BASIS_MODES_H
#define SP_BASIS_MODES_H

#include "assembly/fe_space.h"
#include "linear/cholesky.h"

typedef struct sp_modes_parameters {
    int64_t count;      /* k, rigid ones included */
    double tolerance;   /* of the Lanczos run relative to the eigenvalues of the inverted problem; 0: the machine's */
    int64_t space_left; /* columns that the arrays have behind `count`, for modes whose eigenvalue is that of the last
                           one */
    bool arpack;        /* one vector at a time through ARPACK, in place of blocks of our own (lanczos.h) */
    bool keep;          /* the factorization, in the report */
    bool certify; /* count the eigenvalues below the last one by the inertia of K − s M (slow: simplicial LDLᵀ) */
} sp_modes_parameters;

typedef struct sp_modes_report {
    double shift;   /* rad²/s²; ≤ 0 */
    int64_t rigid;  /* leading rigid motions */
    int64_t more;   /* modes behind `count` that belong to the last one's eigenvalue, at most `room` */
    int64_t solves; /* single right-hand sides solved */
    int64_t missed; /* modes that the first run had missed and the check found (they are in the result) */
    double
        next; /* rad²/s²: upper bound of the next eigenvalue, from the check and from Lanczos; ≥ the last eigenvalue */
    int64_t certified;    /* eigenvalues below the last one (by a millionth) by inertia; −1: not asked for */
    int64_t below;        /* modes found below the same bound: equal to `certified` when none was missed */
    double orthogonality; /* largest |ψᵀMψ − I| */
    double factor_nonzeros, factor_flops;
    sp_cholesky *factor; /* with `keep`: of K − shift M, over the pattern of K, the caller's to free; NULL where there
                            was none */
} sp_modes_report;

/* Rigid motions that the anchors leave free, as mass-orthonormal columns R [dof_count, ≤ 6] of the free degrees of
 * freedom. SP_INPUT where separate pieces of the mesh can move on their own. */
int sp_rigid_motions(sp_context *context, const sp_fe_space *space, const sp_sparse *M, double *R,
                     int64_t *count) SP_MUST_USE;

/* The lowest `count` modes. node as in sp_cholesky_new. rigid [order, rigid_count] M-orthonormal null vectors of K,
 * which become the first modes with λ = 0 exactly (their true quotient shows in `residual`); the rest is found in their
 * complement. Where K resists one of them (a matrix from elsewhere), none is used and report->rigid is 0. vector
 * [order, count] M-orthonormal, eigenvalue [count] ascending, residual [count] = ‖Kψ − λMψ‖₂ / ((λ + λ₁)‖Mψ‖₂) with λ₁
 * the first elastic eigenvalue. A multiple eigenvalue (to 1e-6) is not cut in two: report->more columns follow the
 * `count` asked for. The arrays hold count + room. More than half of all modes are found all at once by LAPACK's dense
 * solver (not with `arpack`), in memory of 4 order² numbers; then report->shift, solves and factor_nonzeros are 0.
 * SP_NUMERICAL where Lanczos does not converge or K is not positive semidefinite; SP_USAGE where count is above the
 * order (with `arpack`: not below it), or the order above 30,000 where the dense solver is needed. */
int sp_modes(sp_context *context, const sp_sparse *K, const sp_sparse *M, const int64_t *node, int64_t rigid_count,
             const double *rigid, const sp_modes_parameters *parameters, double *eigenvalue, double *vector,
             double *residual, sp_modes_report *report) SP_MUST_USE;

#endif
