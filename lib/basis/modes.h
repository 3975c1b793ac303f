/* Linear vibration modes: K ψ = λ M ψ, by shift-invert Lanczos on one Cholesky factorization. */
#ifndef SP_BASIS_MODES_H
#define SP_BASIS_MODES_H

#include "assembly/fe_space.h"
#include "linear/cholesky.h"

typedef struct sp_modes_parameters {
    int64_t count;      /* k, including rigid ones */
    double tolerance;   /* of the Lanczos iteration, relative to the eigenvalues of the inverted problem; 0: machine
                           precision */
    int64_t space_left; /* number of columns that the arrays have beyond `count`, for modes with the same eigenvalue as
                     the last one */
    bool arpack;        /* ARPACK, one vector at a time, instead of our block Lanczos (lanczos.h) */
    bool keep;          /* keep the factorization in the report */
    bool certify; /* count the eigenvalues below the last one by the inertia of K − s M (slow: simplicial LDLᵀ) */
} sp_modes_parameters;

typedef struct sp_modes_report {
    double shift;        /* rad²/s²; ≤ 0 */
    int64_t rigid;       /* number of leading rigid motions */
    int64_t zero_energy; /* number of modes after them whose eigenvalue is within rounding of 0, and set to 0:
                            mechanisms inside the body, and hourglass modes */
    double rounding;     /* largest relative error that rounding of K may cause in the other eigenvalues */
    double beyond;       /* largest residual that exceeds what rounding of K causes in it; 0: there is none */
    int64_t more;        /* number of modes beyond `count` with the eigenvalue of the last one, at most `space_left` */
    int64_t solves;      /* single right-hand sides solved */
    int64_t missed;      /* modes that the first run missed and the check found (they are in the result) */
    double
        next; /* rad²/s²: upper bound of the next eigenvalue, from the check and from Lanczos; ≥ the last eigenvalue */
    int64_t certified; /* number of eigenvalues below the last one (by a millionth) from the matrix inertia; −1: not
                          wanted */
    int64_t below;     /* number of modes found below the same bound: equal to `certified` if none was missed */
    double orthogonality; /* largest |ψᵀMψ − I| */
    double factor_nonzeros, factor_flops;
    sp_cholesky *factor; /* with `keep`: the factor of K − shift M, over the pattern of K, to be freed by the caller;
                            NULL if there was none */
} sp_modes_report;

/* The six rigid motions e_j and e_j × y are about the centre of the mesh, with y in units of its size. */
typedef struct sp_rigid_frame {
    double centre[3], size; /* m */
} sp_rigid_frame;

/* Component c of the six motions at x. */
void sp_rigid_motion_at(const sp_rigid_frame *frame, const double x[3], int c, double motion[6]);

/* The combinations of the six motions that the fixed vertices leave free: mix [6, count ≤ 6, column major]. SP_INPUT if
 * separate pieces of the mesh can move independently. */
int sp_rigid_combinations(sp_context *context, const sp_mesh *mesh, sp_rigid_frame *frame, double mix[36],
                          int64_t *count) SP_MUST_USE;

/* Rigid motions that the fixed vertices leave free, as mass-orthonormal columns R [dof_count, ≤ 6] over the free
 * degrees of freedom. SP_INPUT if separate pieces of the mesh can move independently. */
int sp_rigid_motions(sp_context *context, const sp_fe_space *space, const sp_sparse *M, double *R,
                     int64_t *count) SP_MUST_USE;

/* The lowest `count` modes. node as in sp_cholesky_new. rigid [order, rigid_count] are M-orthonormal null vectors of K,
 * which become the first modes with λ = 0 exactly (their true quotient shows in `residual`); the rest is computed in
 * their complement. If K resists one of them (an imported matrix), none is used and report->rigid is 0. vector [order,
 * count] M-orthonormal, eigenvalue [count] ascending, residual [count] = ‖Kψ − λMψ‖₂ / ((λ + λ₁)‖Mψ‖₂) with λ₁ the
 * first eigenvalue that is not 0. A multiple eigenvalue (to 1e-6) is not split: report->more columns follow the `count`
 * wanted ones. The arrays have space for count + space_left. More than half of all modes are computed together by
 * LAPACK's dense solver (not with `arpack`), in memory of 4 order² numbers; then report->shift, solves and
 * factor_nonzeros are 0. SP_NUMERICAL if Lanczos does not converge or K is not positive semidefinite but for rounding;
 * SP_USAGE if count exceeds the order (with `arpack`: is not below it), or the order exceeds 30,000 where the dense
 * solver is needed. */
int sp_modes(sp_context *context, const sp_sparse *K, const sp_sparse *M, const int64_t *node, int64_t rigid_count,
             const double *rigid, const sp_modes_parameters *parameters, double *eigenvalue, double *vector,
             double *residual, sp_modes_report *report) SP_MUST_USE;

#endif
