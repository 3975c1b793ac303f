/* Shared by the sources of the module supple-slepc only. */
#ifndef SP_PARALLEL_INTERNAL_H
#define SP_PARALLEL_INTERNAL_H

#include "parallel/module.h"
#include "parallel/multigrid.h"

#include <slepceps.h>

struct sp_parallel_solver {
    int64_t own, first, total; /* rows of this rank, the first of them, and of all; 3 for each vertex */
    bool direct;
    double shift;
    int64_t solves;     /* applications of the factor or the cycle so far */
    sp_block_rows rows; /* without matrices */
    sp_multigrid *multigrid;
    /* direct */
    Mat A, M;
    KSP ksp;      /* the factorization */
    Vec from, to; /* without memory of their own */
    Vec product;
};

/* The first error of a call to PETSc or SLEPc, which hand on a code only. */
extern struct sp_parallel_failure {
    int status; /* enum sp_status */
    char message[300];
} sp_parallel_failure;

SP_MUST_USE static inline int sp_petsc(sp_context *context, int code)
{
    return code ? sp_fail(context, sp_parallel_failure.status, "%s", sp_parallel_failure.message) : SP_OK;
}

#define PETSC_TRY(call) SP_TRY(sp_petsc(context, (int)(call)))
#define PETSC_PASS(call) SP_PASS(sp_petsc(context, (int)(call)))

/* The vectors found so far, behind the free rigid motions, M-orthonormal, with their products M x and their eigenvalues
 * of A. */
typedef struct sp_found_modes {
    int64_t count;
    double *x, *mass_x; /* [own rows, capacity] */
    double *value;      /* [capacity] */
} sp_found_modes;

/* The number of this process, and of all. */
int sp_parallel_rank(void);
int sp_parallel_ranks(void);

/* Values [own rows] to a vector of PETSc and back. */
PetscErrorCode sp_parallel_copy_in(const sp_parallel_solver *solver, const double *values, Vec x);
PetscErrorCode sp_parallel_copy_out(const sp_parallel_solver *solver, Vec x, double *values);

/* C [m, k] = Aᵀ B for A [own rows, m], B [own rows, k], summed over all ranks. */
int sp_parallel_inner(sp_context *context, const sp_parallel_solver *solver, int64_t m, const double *A, int64_t k,
                      const double *B, double *C) SP_MUST_USE;

/* Small matrices of rank 0 on all ranks: LAPACK's results differ in the last digits with the alignment of memory, and
 * those of nearly equal eigenvalues in more. */
void sp_parallel_same(double *values, int64_t count);

/* y = A x, M x, or with multigrid one cycle on the load x, for `count` columns [own rows]; y must not be x. */
int sp_parallel_apply(sp_context *context, sp_parallel_solver *solver, enum sp_multigrid_operation operation,
                      int64_t count, const double *x, double *y) SP_MUST_USE;

/* Factorizes A; *negative receives the number of its negative eigenvalues. */
int sp_parallel_factorize(sp_context *context, sp_parallel_solver *solver, int64_t *negative) SP_MUST_USE;

/* The lowest `wanted` modes in the complement of those found, which become known, until their residuals
 * ‖A x − θ M x‖ / (θ ‖M x‖) are at most `tolerance`. */
int sp_parallel_lobpcg(sp_context *context, sp_parallel_solver *solver, sp_found_modes *found, int64_t wanted,
                       double tolerance, uint64_t seed) SP_MUST_USE;

/* The functions of the table (parallel/module.h). */
int sp_parallel_open(sp_context *context, sp_block_rows *rows, bool direct, sp_parallel_solver **solver) SP_MUST_USE;
void sp_parallel_close(sp_parallel_solver *solver);
int sp_parallel_modes(sp_context *context, sp_parallel_solver *solver, const sp_modes_parameters *parameters,
                      double *eigenvalue, double *vector, double *residual, sp_modes_report *report) SP_MUST_USE;
int sp_parallel_solve(sp_context *context, sp_parallel_solver *solver, const sp_parallel_complement *complement,
                      int64_t count, const double *b, double tolerance, double *x,
                      sp_parallel_solution *solution) SP_MUST_USE;

#endif
