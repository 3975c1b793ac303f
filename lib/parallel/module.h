/* Solvers with distributed memory: what the module supple-slepc offers to a program that loads it. The module alone is
 * linked with PETSc, SLEPc and MPI, whose libraries would cost every start of every program a tenth of a second.
 *
 * Every rank makes the same calls in the same order, all but `start` and `die` with the memory of its own rows. The
 * results are the same bytes for the same number of ranks, and differ in the last digits with this number. */
#ifndef SP_PARALLEL_MODULE_H
#define SP_PARALLEL_MODULE_H

#include "basis/modes.h"
#include "parallel/partition.h"

enum { SP_PARALLEL_VERSION = 2 };
#define SP_PARALLEL_SYMBOL "sp_parallel_slepc"

typedef struct sp_parallel_solver sp_parallel_solver;

typedef struct sp_parallel_solution {
    int64_t iterations; /* largest number of iterations of a column; 0: a factorization */
    double residual;    /* largest ‖A x − b‖/‖b‖, recomputed; the forces of a complement are projected */
} sp_parallel_solution;

/* Where the equations of a free body are solved: the M-orthogonal complement of its modes. */
typedef struct sp_parallel_complement {
    int64_t modes;
    const double *mode;  /* [3·own vertices, modes] M-orthonormal */
    const double *value; /* [count] λ of each column */
} sp_parallel_complement;

typedef struct sp_parallel_module {
    int version; /* SP_PARALLEL_VERSION */

    /* Starts MPI. The caller has removed PETSC_OPTIONS and SLEPC_OPTIONS from the environment. `die` is called on a
     * rank that fails inside of a call which the others have not left, so that they cannot learn of it: it says the
     * message, removes what is unfinished and ends the process, and mpirun then ends the other ranks. */
    int (*start)(sp_context *context, void (*die)(int status, const char *message));
    void (*place)(int *rank, int *ranks); /* the number of this process, and of all */

    /* The same for a failure outside of this module. Does not return. */
    void (*alone)(int status, const char *message);

    /* Every rank says whether it failed (else SP_OK). Returns the status of the lowest rank that failed, SP_OK if none
     * did; *speaker receives the number of that rank, else −1. */
    int (*agree)(int status, int *speaker);

    /* Waits for all ranks and ends MPI. */
    void (*finish)(void);

    /* A = K − σM, with a shift σ < 0 if the body has free rigid motions, and what solves with it: a factorization by
     * MUMPS (direct), or an algebraic multigrid that knows the rigid motions. SP_SYSTEM if there are too few ranks for
     * the 32-bit indices of PETSc or memory is exhausted, SP_NUMERICAL if A is not positive definite. The
     * solver takes the rows over, which are empty afterwards. */
    int (*open)(sp_context *context, sp_block_rows *rows, bool direct, sp_parallel_solver **solver);
    void (*close)(sp_parallel_solver *solver); /* NULL is allowed */

    /* As sp_modes: Krylov–Schur with the factorization, LOBPCG with multigrid. vector [3·own vertices, count +
     * space_left, column major]; residual and eigenvalue on every rank. After the first run a second one looks for
     * modes in the complement of those found, from other random vectors, until none is below the last one. With
     * `certify` the factor is replaced by that of the shifted matrix, and the solver can only be closed. */
    int (*modes)(sp_context *context, sp_parallel_solver *solver, const sp_modes_parameters *parameters,
                 double *eigenvalue, double *vector, double *residual, sp_modes_report *report);

    /* x = A⁻¹ b for `count` columns [3·own vertices, count]; x must not be b. With multigrid by conjugate
     * gradients until ‖b − A x‖ ≤ tolerance · ‖b‖. SP_NUMERICAL if they do not converge.
     * With a complement (else NULL) x and the forces are kept in it, and K − λM replaces A: always by conjugate
     * gradients, for which the factorization is a preconditioner too. SP_INPUT if they do not converge, as with an
     * eigenvalue below λ outside of the modes. */
    int (*solve)(sp_context *context, sp_parallel_solver *solver, const sp_parallel_complement *complement,
                 int64_t count, const double *b, double tolerance, double *x, sp_parallel_solution *solution);

    /* Collects one column [3·own vertices] of every rank, in their order, on rank 0: all [3·all vertices], else NULL.
     */
    int (*gather)(sp_context *context, const sp_parallel_solver *solver, const double *own, double *all);
} sp_parallel_module;

#endif
