/* The module supple-slepc (parallel/module.h), over PETSc and SLEPc. */
#include "parallel/module.h"

#include "base/random.h"
#include "linear/dense.h"
#include "parallel/multigrid.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <slepceps.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Eigenvalues that agree to this are treated as equal, as in basis/modes.c. */
static const double EQUAL = 1e-6;

enum { ROUNDS = 8 };

/* The module belongs to one process, and MPI to the process. */
static struct {
    void (*die)(int status, const char *message);
    int rank, ranks;
    char message[300]; /* of the first error of a call to PETSc */
    int status;
} mpi;

struct sp_parallel_solver {
    int64_t own, first, total; /* rows of this rank, the first of them, and of all; 3 for each vertex */
    bool direct;
    double shift;
    int64_t solves;     /* applications of the factor or the cycle so far */
    sp_block_rows rows; /* with multigrid K − σM and M; else without their values */
    sp_multigrid *multigrid;
    /* direct */
    Mat A, M;
    KSP ksp;      /* the factorization */
    Vec from, to; /* without memory of their own */
    Vec product;
};

/* ---- errors ---- */

static int status_of(PetscErrorCode code)
{
    return code == PETSC_ERR_MEM ? SP_SYSTEM : code == PETSC_ERR_ARG_OUTOFRANGE ? SP_SYSTEM : SP_NUMERICAL;
}

/* If several ranks fail together, mpirun ends the others before they speak. */
static void alone(int status, const char *message)
{
    const struct timespec turn = {.tv_sec = mpi.rank / 4, .tv_nsec = mpi.rank % 4 * 250000000L};
    nanosleep(&turn, NULL);
    mpi.die(status, message);
}

/* The other ranks may be waiting for this one in a call to MPI: they cannot be told. */
static PetscErrorCode on_error(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                               PetscErrorType type, const char *message, void *data)
{
    (void)comm, (void)line, (void)file, (void)data;
    if (type != PETSC_ERROR_INITIAL)
        return code;
    mpi.status = status_of(code);
    if (code == PETSC_ERR_MEM)
        snprintf(mpi.message, sizeof mpi.message, "out of memory%s",
                 mpi.ranks > 1 ? " on a rank: more ranks on more machines have more" : "");
    else
        snprintf(mpi.message, sizeof mpi.message, "PETSc: %s: %.200s", function, message);
    mpi.message[strcspn(mpi.message, "\n")] = 0;
    if (mpi.ranks > 1)
        alone(mpi.status, mpi.message);
    return code;
}

/* Inside a function that frees at the label `done` and returns `status`. */
#define PETSC_TRY(call)                                                                                                \
    do {                                                                                                               \
        if ((call) != 0) {                                                                                             \
            status = sp_fail(context, mpi.status ? mpi.status : SP_NUMERICAL, "%s", mpi.message);                      \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* ---- start and end ---- */

/* Options and files of the user's would change results. */
static PetscErrorCode start_petsc(void)
{
    unsetenv("PETSC_OPTIONS");
    unsetenv("SLEPC_OPTIONS");
    if (!getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMIX_RANK")) /* without mpirun Open MPI would start a daemon */
        setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    PetscCall(PetscOptionsSetValue(NULL, "-no_signal_handler", "true"));
    PetscCall(PetscOptionsSetValue(NULL, "-skip_petscrc", "true"));
    PetscCall(PetscOptionsSetValue(NULL, "-options_left", "false"));
    PetscCall(SlepcInitialize(NULL, NULL, NULL, NULL));
    return PetscPushErrorHandler(on_error, NULL);
}

static int start(sp_context *context, void (*die)(int status, const char *message))
{
    mpi.die = die;
    if (start_petsc() != 0)
        return sp_fail(context, SP_SYSTEM, "MPI or PETSc does not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi.ranks);
    return SP_OK;
}

static void place(int *rank, int *ranks)
{
    *rank = mpi.rank;
    *ranks = mpi.ranks;
}

static int agree(int status, int *speaker)
{
    struct {
        int status, rank;
    } own = {.status = status, .rank = status != SP_OK ? mpi.rank : mpi.ranks}, lowest;
    MPI_Allreduce(&own.rank, &lowest.rank, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    *speaker = lowest.rank < mpi.ranks ? lowest.rank : -1;
    if (*speaker < 0)
        return SP_OK;
    lowest.status = status;
    MPI_Bcast(&lowest.status, 1, MPI_INT, lowest.rank, MPI_COMM_WORLD);
    return lowest.status;
}

static void finish(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    (void)SlepcFinalize();
}

/* ---- matrices ---- */

/* PETSc as Debian has it counts the entries of a rank with 32 bits. */
static int check_sizes(sp_context *context, const sp_block_rows *rows)
{
    int64_t entries = 9 * rows->start[rows->count], most;
    MPI_Allreduce(&entries, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (3 * rows->total > INT32_MAX)
        return sp_fail(context, SP_SYSTEM, "%lld degrees of freedom: PETSc counts them with 32 bits",
                       (long long)(3 * rows->total));
    if (most > INT32_MAX)
        return sp_fail(context, SP_SYSTEM,
                       "a rank has %lld entries of K, PETSc counts them with 32 bits: run %lld ranks or more "
                       "(mpirun -n)",
                       (long long)most, (long long)(mpi.ranks * (most / INT32_MAX + 1)));
    return SP_OK;
}

static bool is_local(const sp_block_rows *rows, int64_t entry)
{
    return rows->column[entry] >= rows->first && rows->column[entry] < rows->first + rows->count;
}

static PetscErrorCode new_matrix(const sp_block_rows *rows, int block, const PetscInt *local, const PetscInt *other,
                                 Mat *matrix)
{
    const PetscInt own = (PetscInt)(3 * rows->count), total = (PetscInt)(3 * rows->total);
    PetscCall(MatCreate(PETSC_COMM_WORLD, matrix));
    PetscCall(MatSetSizes(*matrix, own, own, total, total));
    PetscCall(MatSetType(*matrix, MATAIJ));
    PetscCall(MatSetBlockSize(*matrix, 3));
    if (block == 3)
        PetscCall(MatXAIJSetPreallocation(*matrix, 3, local, other, NULL, NULL));
    else {
        PetscCall(MatSeqAIJSetPreallocation(*matrix, 0, local));
        PetscCall(MatMPIAIJSetPreallocation(*matrix, 0, local, 0, other));
    }
    return 0;
}

/* Room for one row of blocks, and the lengths of rows [3·count] in the columns of this rank and of others. */
typedef struct row_room {
    PetscInt *local, *other, *column;
    double *value;
} row_room;

static PetscErrorCode fill_stiffness(const sp_block_rows *rows, row_room *room, Mat *A)
{
    for (int64_t i = 0; i < rows->count; i++) {
        room->local[i] = room->other[i] = 0;
        for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
            (is_local(rows, k) ? room->local : room->other)[i]++;
    }
    PetscCall(new_matrix(rows, 3, room->local, room->other, A));
    for (int64_t i = 0; i < rows->count; i++) {
        const int64_t count = rows->start[i + 1] - rows->start[i];
        const PetscInt row = (PetscInt)(rows->first + i);
        for (int64_t k = 0; k < count; k++) {
            const double *block = rows->stiffness + 9 * (rows->start[i] + k);
            room->column[k] = rows->column[rows->start[i] + k];
            for (int c = 0; c < 9; c++)
                room->value[3 * count * (c / 3) + 3 * k + c % 3] = block[c];
        }
        PetscCall(MatSetValuesBlocked(*A, 1, &row, (PetscInt)count, room->column, room->value, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY);
}

static PetscErrorCode fill_mass(const sp_block_rows *rows, row_room *room, Mat *M)
{
    for (int64_t i = 0; i < 3 * rows->count; i++) {
        room->local[i] = room->other[i] = 0;
        for (int64_t k = rows->start[i / 3]; k < rows->start[i / 3 + 1]; k++)
            (is_local(rows, k) ? room->local : room->other)[i] += rows->mass[3 * k + i % 3] != 0;
    }
    PetscCall(new_matrix(rows, 1, room->local, room->other, M));
    for (int64_t i = 0; i < 3 * rows->count; i++) {
        const PetscInt row = (PetscInt)(3 * rows->first + i);
        PetscInt count = 0;
        for (int64_t k = rows->start[i / 3]; k < rows->start[i / 3 + 1]; k++)
            if (rows->mass[3 * k + i % 3] != 0) {
                room->column[count] = (PetscInt)(3 * (int64_t)rows->column[k] + i % 3);
                room->value[count++] = rows->mass[3 * k + i % 3];
            }
        PetscCall(MatSetValues(*M, 1, &row, count, room->column, room->value, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY);
}

static int make_matrix(sp_context *context, const sp_block_rows *rows,
                       PetscErrorCode (*fill)(const sp_block_rows *rows, row_room *room, Mat *matrix), Mat *matrix)
{
    sp_pool scratch = {0};
    int64_t widest = 0;
    int status = SP_OK;
    for (int64_t i = 0; i < rows->count; i++)
        widest = rows->start[i + 1] - rows->start[i] > widest ? rows->start[i + 1] - rows->start[i] : widest;
    row_room room = {.local = sp_pool_raw(&scratch, 3 * rows->count, sizeof *room.local),
                     .other = sp_pool_raw(&scratch, 3 * rows->count, sizeof *room.other),
                     .column = sp_pool_raw(&scratch, widest, sizeof *room.column),
                     .value = sp_pool_raw(&scratch, 9 * widest, sizeof *room.value)};
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    PETSC_TRY(fill(rows, &room, matrix));
done:
    sp_pool_free(&scratch);
    return status;
}

/* ---- vectors ---- */

static PetscErrorCode copy_in(const sp_parallel_solver *s, const double *values, Vec x)
{
    double *to;
    PetscCall(VecGetArrayWrite(x, &to));
    memcpy(to, values, (size_t)s->own * sizeof *to);
    return VecRestoreArrayWrite(x, &to);
}

static PetscErrorCode copy_out(const sp_parallel_solver *s, Vec x, double *values)
{
    const double *from;
    PetscCall(VecGetArrayRead(x, &from));
    memcpy(values, from, (size_t)s->own * sizeof *from);
    return VecRestoreArrayRead(x, &from);
}

/* ---- the solver ---- */

/* The rigid motions, for the aggregates of multigrid, made orthonormal. */
static PetscErrorCode near_null_space(const sp_parallel_solver *s, const sp_block_rows *rows)
{
    Vec x[6];
    MatNullSpace space;
    PetscReal size;
    PetscScalar part[6];
    int kept = 0;
    for (int m = 0; m < 6; m++) {
        PetscCall(MatCreateVecs(s->A, &x[kept], NULL));
        PetscCall(copy_in(s, rows->rigid + m * s->own, x[kept]));
        PetscCall(VecNormalize(x[kept], NULL));
        for (int pass = 0; pass < 2 && kept > 0; pass++) {
            PetscCall(VecMDot(x[kept], kept, x, part));
            for (int j = 0; j < kept; j++)
                part[j] = -part[j];
            PetscCall(VecMAXPY(x[kept], kept, part, x));
        }
        PetscCall(VecNormalize(x[kept], &size));
        if (size > 1e-8)
            kept++;
        else
            PetscCall(VecDestroy(&x[kept]));
    }
    if (kept == 6) {
        PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, kept, x, &space));
        PetscCall(MatSetNearNullSpace(s->A, space));
        PetscCall(MatNullSpaceDestroy(&space));
    }
    for (int m = 0; m < kept; m++)
        PetscCall(VecDestroy(&x[m]));
    return 0;
}

static PetscErrorCode choose_factorization(PC pc)
{
    Mat factor;
    PetscCall(PCSetType(pc, PCCHOLESKY));
    PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
    PetscCall(PCFactorSetUpMatSolverType(pc));
    PetscCall(PCFactorGetMatrix(pc, &factor));
    PetscCall(MatMumpsSetIcntl(factor, 7, 5));  /* METIS */
    PetscCall(MatMumpsSetIcntl(factor, 13, 1)); /* the number of negative pivots is known of every part */
    return MatMumpsSetIcntl(factor, 14, 50);    /* room beyond the estimate, in percent */
}

/* The number of negative eigenvalues by Sylvester's law of inertia. */
static int inertia(sp_context *context, PC pc, int64_t *negative)
{
    Mat factor;
    PetscInt below = 0, info = 0;
    int status = SP_OK;
    PETSC_TRY(PCFactorGetMatrix(pc, &factor));
    PETSC_TRY(MatMumpsGetInfog(factor, 1, &info));
    if (info < 0) {
        const bool memory = info == -9 || info == -13 || info == -8 || info == -19;
        status = memory ? sp_fail(context, SP_SYSTEM,
                                  "out of memory in the factorization by MUMPS: more ranks on more machines have more, "
                                  "and --solver amg needs less")
                        : sp_fail(context, SP_NUMERICAL, "MUMPS does not factorize the matrix (error %d)", (int)info);
        goto done;
    }
    PETSC_TRY(MatMumpsGetInfog(factor, 12, &below)); /* negative pivots */
    *negative = below;
done:
    return status;
}

static int factorize(sp_context *context, sp_parallel_solver *s, int64_t *negative)
{
    PC pc;
    int status = SP_OK;
    PETSC_TRY(KSPCreate(PETSC_COMM_WORLD, &s->ksp));
    PETSC_TRY(KSPSetType(s->ksp, KSPPREONLY));
    PETSC_TRY(KSPSetOperators(s->ksp, s->A, s->A));
    PETSC_TRY(KSPGetPC(s->ksp, &pc));
    PETSC_TRY(choose_factorization(pc));
    PETSC_TRY(KSPSetUp(s->ksp));
    SP_TRY(inertia(context, pc, negative));
done:
    return status;
}

static void close_solver(sp_parallel_solver *s)
{
    if (!s)
        return;
    sp_multigrid_free(s->multigrid);
    (void)KSPDestroy(&s->ksp);
    (void)VecDestroy(&s->from);
    (void)VecDestroy(&s->to);
    (void)VecDestroy(&s->product);
    (void)MatDestroy(&s->A);
    (void)MatDestroy(&s->M);
    sp_block_rows_free(&s->rows);
    free(s);
}

/* The matrices for PETSc, and the factorization. */
static int open_direct(sp_context *context, sp_parallel_solver *s)
{
    int64_t negative = 0;
    int status;
    SP_TRY(make_matrix(context, &s->rows, fill_stiffness, &s->A));
    SP_TRY(make_matrix(context, &s->rows, fill_mass, &s->M));
    sp_pool_drop(&s->rows.pool, s->rows.stiffness);
    sp_pool_drop(&s->rows.pool, s->rows.mass);
    PETSC_TRY(MatSetOption(s->A, MAT_SYMMETRIC, PETSC_TRUE));
    PETSC_TRY(MatSetOption(s->M, MAT_SYMMETRIC, PETSC_TRUE));
    PETSC_TRY(MatCreateVecs(s->A, &s->product, NULL));
    PETSC_TRY(VecCreateMPIWithArray(PETSC_COMM_WORLD, 3, (PetscInt)s->own, (PetscInt)s->total, NULL, &s->from));
    PETSC_TRY(VecDuplicate(s->from, &s->to));
    SP_TRY(factorize(context, s, &negative));
    if (negative > 0)
        status = sp_fail(context, SP_NUMERICAL, "the stiffness matrix is not positive definite");
done:
    return status;
}

static int open_multigrid(sp_context *context, sp_parallel_solver *s)
{
    int status;
    SP_TRY(make_matrix(context, &s->rows, fill_stiffness, &s->A));
    PETSC_TRY(MatSetOption(s->A, MAT_SYMMETRIC, PETSC_TRUE));
    PETSC_TRY(near_null_space(s, &s->rows));
    SP_TRY(sp_multigrid_new(context, &s->rows, &s->A, &s->multigrid));
done:
    return status;
}

static int open_solver(sp_context *context, sp_block_rows *rows, bool direct, sp_parallel_solver **solver)
{
    sp_parallel_solver *s = calloc(1, sizeof *s);
    double trace[2];
    int status = s ? check_sizes(context, rows) : sp_fail_memory(context);
    if (status != SP_OK)
        goto done;
    s->direct = direct;
    s->own = 3 * rows->count;
    s->first = 3 * rows->first;
    s->total = 3 * rows->total;
    s->rows = *rows;
    *rows = (sp_block_rows){0};
    MPI_Allreduce(s->rows.trace, trace, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    s->shift = s->rows.free_count ? -1e-8 * trace[0] / trace[1] : 0;
    sp_block_rows_shift(&s->rows, s->shift);
    SP_TRY(direct ? open_direct(context, s) : open_multigrid(context, s));
done:
    if (status == SP_OK)
        *solver = s;
    else
        close_solver(s);
    return status;
}

/* ---- dense algebra over the rows of all ranks ---- */

/* C [m, k] = Aᵀ B for A [own rows, m], B [own rows, k]. */
static int inner(sp_context *context, const sp_parallel_solver *s, int64_t m, const double *A, int64_t k,
                 const double *B, double *C)
{
    if (m == 0 || k == 0)
        return SP_OK;
    double *work = sp_memory_new((size_t)sp_dense_inner_work(m, k) * sizeof *work);
    if (!work)
        return sp_fail_memory(context);
    sp_dense_inner(context, s->own, m, A, k, B, C, work);
    free(work);
    MPI_Allreduce(MPI_IN_PLACE, C, (int)(m * k), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return SP_OK;
}

/* y = A x, M x, or the preconditioner applied to x, for `count` columns [own rows]. */
static int apply(sp_context *context, sp_parallel_solver *s, enum sp_multigrid_operation operation, int64_t count,
                 const double *x, double *y)
{
    int status = SP_OK;
    s->solves += operation == SP_CYCLE ? count : 0;
    if (s->multigrid) {
        sp_multigrid_apply(s->multigrid, operation, count, x, y);
        return SP_OK;
    }
    for (int64_t c = 0; c < count; c++) {
        PETSC_TRY(VecPlaceArray(s->from, x + c * s->own));
        PETSC_TRY(VecPlaceArray(s->to, y + c * s->own));
        PETSC_TRY(MatMult(operation == SP_TIMES_A ? s->A : s->M, s->from, s->to));
        PETSC_TRY(VecResetArray(s->from));
        PETSC_TRY(VecResetArray(s->to));
    }
done:
    return status;
}

/* ---- modes ---- */

/* The vectors found so far, behind the free rigid motions, M-orthonormal, with their products M x and their eigenvalues
 * of A. */
typedef struct found_modes {
    int64_t count;
    double *x, *mass_x; /* [own rows, capacity] */
    double *value;      /* [capacity] */
} found_modes;

/* The ST of an EPS resets its KSP when it ends: the factorization is behind one of its own. */
static PetscErrorCode apply_inverse(PC shell, Vec x, Vec y)
{
    sp_parallel_solver *s;
    PetscCall(PCShellGetContext(shell, (void *)&s));
    s->solves++;
    return KSPSolve(s->ksp, x, y);
}

static PetscErrorCode choose_krylov(EPS eps, sp_parallel_solver *s, int64_t wanted, double tolerance, uint64_t seed)
{
    ST transform;
    KSP inverse;
    PC shell;
    BV basis;
    PetscRandom numbers;
    PetscCall(EPSSetOperators(eps, s->A, s->M));
    PetscCall(EPSSetProblemType(eps, EPS_GHEP));
    PetscCall(EPSSetType(eps, EPSKRYLOVSCHUR));
    PetscCall(EPSGetST(eps, &transform));
    PetscCall(STSetType(transform, STSINVERT));
    PetscCall(STGetKSP(transform, &inverse));
    PetscCall(KSPSetType(inverse, KSPPREONLY));
    PetscCall(KSPGetPC(inverse, &shell));
    PetscCall(PCSetType(shell, PCSHELL));
    PetscCall(PCShellSetContext(shell, s));
    PetscCall(PCShellSetApply(shell, apply_inverse));
    PetscCall(EPSSetWhichEigenpairs(eps, EPS_TARGET_MAGNITUDE));
    PetscCall(EPSSetTarget(eps, 0));
    PetscCall(EPSSetTolerances(eps, tolerance > 1e-15 ? tolerance : 1e-15, 200));
    PetscCall(EPSSetDimensions(eps, (PetscInt)wanted, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(EPSGetBV(eps, &basis));
    PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &numbers));
    PetscCall(PetscRandomSetSeed(numbers, (unsigned long)(seed * 7919 + 76543 * (uint64_t)mpi.rank)));
    PetscCall(PetscRandomSeed(numbers));
    PetscCall(BVSetRandomContext(basis, numbers));
    return PetscRandomDestroy(&numbers);
}

/* The lowest `wanted` modes in the complement of those found, by SLEPc's Krylov–Schur method. */
static int krylov_schur(sp_context *context, sp_parallel_solver *s, found_modes *found, int64_t wanted,
                        double tolerance, uint64_t seed)
{
    EPS eps = NULL;
    Vec *known = NULL;
    const int64_t known_count = found->count;
    PetscInt converged = 0, iterations;
    int status = SP_OK;
    PETSC_TRY(EPSCreate(PETSC_COMM_WORLD, &eps));
    PETSC_TRY(choose_krylov(eps, s, wanted, tolerance, seed));
    if (known_count > 0) {
        PETSC_TRY(VecDuplicateVecs(s->product, (PetscInt)known_count, &known));
        for (int64_t i = 0; i < known_count; i++)
            PETSC_TRY(copy_in(s, found->x + i * s->own, known[i]));
        PETSC_TRY(EPSSetDeflationSpace(eps, (PetscInt)known_count, known));
    }
    PETSC_TRY(EPSSolve(eps));
    PETSC_TRY(EPSGetConverged(eps, &converged));
    PETSC_TRY(EPSGetIterationNumber(eps, &iterations));
    if (converged < wanted) {
        status = sp_fail(context, SP_NUMERICAL, "%d of %lld modes have converged after %d restarts", (int)converged,
                         (long long)wanted, (int)iterations);
        goto done;
    }
    for (PetscInt i = 0; i < wanted; i++) {
        PETSC_TRY(EPSGetEigenpair(eps, i, &found->value[found->count], NULL, s->product, NULL));
        PETSC_TRY(copy_out(s, s->product, found->x + found->count++ * s->own));
    }
    SP_TRY(apply(context, s, SP_TIMES_M, wanted, found->x + known_count * s->own, found->mass_x + known_count * s->own));
done:
    if (known)
        (void)VecDestroyVecs((PetscInt)known_count, &known);
    (void)EPSDestroy(&eps);
    return status;
}

#include "parallel/lobpcg.h"

/* Rayleigh–Ritz over the elastic vectors, behind the rigid ones, whose part in them is removed. */
static int refine(sp_context *context, sp_parallel_solver *s, const found_modes *found)
{
    const int64_t rigid = s->rows.free_count, count = found->count - rigid, n = s->own;
    double *x = found->x + rigid * n, *mass_x = found->mass_x + rigid * n;
    sp_pool scratch = {0};
    double *H = sp_pool_raw(&scratch, count * count, sizeof *H), *G = sp_pool_raw(&scratch, count * count, sizeof *G),
           *part = sp_pool_raw(&scratch, count * (rigid + 1), sizeof *part),
           *image = sp_pool_raw(&scratch, n * count, sizeof *image);
    int status = SP_OK;
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    SP_TRY(inner(context, s, rigid, found->mass_x, count, x, part));
    if (rigid > 0)
        sp_dense_add(context, n, rigid, found->x, count, part, -1, x);
    SP_TRY(apply(context, s, SP_TIMES_M, count, x, mass_x));
    SP_TRY(apply(context, s, SP_TIMES_A, count, x, image));
    SP_TRY(inner(context, s, count, x, count, image, H));
    SP_TRY(inner(context, s, count, x, count, mass_x, G));
    if (LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'U', (int)count, H, (int)count, G, (int)count, found->value + rigid) !=
        0) {
        status = sp_fail(context, SP_NUMERICAL, "the projected eigenproblem failed");
        goto done;
    }
    memset(image, 0, (size_t)(n * count) * sizeof *image);
    sp_dense_add(context, n, count, x, count, H, 1, image);
    memcpy(x, image, (size_t)(n * count) * sizeof *x);
    SP_TRY(apply(context, s, SP_TIMES_M, count, x, mass_x));
done:
    sp_pool_free(&scratch);
    return status;
}

static int find_modes(sp_context *context, sp_parallel_solver *s, found_modes *found, int64_t wanted,
                      const sp_modes_parameters *parameters, double residual, uint64_t seed)
{
    int status = s->direct ? krylov_schur(context, s, found, wanted, parameters->tolerance, seed)
                           : lobpcg(context, s, found, wanted, fmax(residual, parameters->tolerance), seed);
    return status == SP_OK ? refine(context, s, found) : status;
}

/* Looks for modes in the complement of those found: `wanted` elastic ones are to be written. Those below the last one
 * were missed; those with its eigenvalue belong to it. A Ritz value is an upper bound of the next eigenvalue, and close
 * to it long before its vector has converged. */
static int look_for_more(sp_context *context, sp_parallel_solver *s, const sp_modes_parameters *parameters,
                         int64_t wanted, found_modes *found, sp_modes_report *report)
{
    const double *value = found->value + s->rows.free_count, rough = 1e-2, apart = 1e-3;
    int status = SP_OK;
    report->next = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        const double last = value[wanted - 1];
        const int64_t before = found->count;
        const uint64_t seed = context->seed + 1 + (uint64_t)round;
        SP_TRY(find_modes(context, s, found, 1, parameters, rough, seed));
        if (!s->direct && value[before - s->rows.free_count] < last * (1 + apart)) {
            found->count = before;
            SP_TRY(find_modes(context, s, found, 1, parameters, CONVERGED, seed));
        }
        report->missed += value[wanted - 1] < last * (1 - 1e-8);
        report->next = value[before - s->rows.free_count] + s->shift;
        if (value[before - s->rows.free_count] > last * (1 + EQUAL))
            break;
        report->more += value[before - s->rows.free_count] <= value[wanted - 1] * (1 + EQUAL);
        if (report->more == parameters->space_left)
            break;
    }
done:
    return status;
}

/* Residuals as sp_modes has them, and the largest |ψᵀMψ − I|, for the first `count` vectors. */
static int judge(sp_context *context, sp_parallel_solver *s, int64_t count, const found_modes *found,
                 const double *eigenvalue, double *residual, sp_modes_report *report)
{
    const double scale = s->rows.free_count < count ? eigenvalue[s->rows.free_count] : 1;
    sp_pool scratch = {0};
    double *G = sp_pool_raw(&scratch, count * count, sizeof *G), *force = sp_pool_raw(&scratch, s->own, sizeof *force);
    int status = SP_OK;
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t i = 0; i < count; i++) {
        const double *momentum = found->mass_x + i * s->own;
        double sums[2] = {0};
        SP_TRY(apply(context, s, SP_TIMES_A, 1, found->x + i * s->own, force));
        for (int64_t k = 0; k < s->own; k++) {
            const double left = force[k] + (s->shift - eigenvalue[i]) * momentum[k]; /* A = K − σM */
            sums[0] += left * left;
            sums[1] += momentum[k] * momentum[k];
        }
        MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        residual[i] = sqrt(sums[0] / sums[1]) / (eigenvalue[i] + scale);
    }
    SP_TRY(inner(context, s, count, found->x, count, found->mass_x, G));
    for (int64_t i = 0; i < count * count; i++)
        report->orthogonality = fmax(report->orthogonality, fabs(G[i] - (i % (count + 1) == 0)));
done:
    sp_pool_free(&scratch);
    return status;
}

/* The number of eigenvalues slightly below the last one, from the inertia of K − sM, whose factor replaces that of A. */
static int certify(sp_context *context, sp_parallel_solver *s, int64_t count, const double *eigenvalue,
                   sp_modes_report *report)
{
    const double below = eigenvalue[count - 1] * (1 - EQUAL);
    int status = SP_OK;
    for (int64_t i = 0; i < count; i++)
        report->below += eigenvalue[i] < below;
    PETSC_TRY(KSPDestroy(&s->ksp));
    PETSC_TRY(MatAXPY(s->A, s->shift - below, s->M, SUBSET_NONZERO_PATTERN));
    SP_TRY(factorize(context, s, &report->certified));
done:
    return status;
}

static PetscErrorCode describe_factor(const sp_parallel_solver *s, sp_modes_report *report)
{
    PC pc;
    Mat factor;
    PetscInt entries;
    PetscReal flops;
    PetscCall(KSPGetPC(s->ksp, &pc));
    PetscCall(PCFactorGetMatrix(pc, &factor));
    PetscCall(MatMumpsGetInfog(factor, 29, &entries)); /* in millions if negative */
    PetscCall(MatMumpsGetRinfog(factor, 3, &flops));
    report->factor_nonzeros = entries < 0 ? -1e6 * entries : entries;
    report->factor_flops = flops;
    return 0;
}

/* The free rigid motions, M-orthonormal. */
static int rigid_motions(sp_context *context, sp_parallel_solver *s, found_modes *found)
{
    const int64_t k = s->rows.free_count, n = s->own;
    double G[36];
    int status = SP_OK;
    found->count = k;
    memcpy(found->x, s->rows.free_motion, (size_t)(k * n) * sizeof *found->x);
    for (int pass = 0; pass < 2 && k > 0; pass++) {
        SP_TRY(apply(context, s, SP_TIMES_M, k, found->x, found->mass_x));
        SP_TRY(inner(context, s, k, found->x, k, found->mass_x, G));
        if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (int)k, G, (int)k) != 0) {
            status = sp_fail(context, SP_NUMERICAL, "the body is too flat for its rigid motions to be told apart");
            goto done;
        }
        sp_dense_solve_right(context, n, k, G, found->x);
    }
    SP_TRY(apply(context, s, SP_TIMES_M, k, found->x, found->mass_x));
done:
    return status;
}

static int modes(sp_context *context, sp_parallel_solver *s, const sp_modes_parameters *parameters, double *eigenvalue,
                 double *vector, double *residual, sp_modes_report *report)
{
    const int64_t rigid = parameters->count < s->rows.free_count ? parameters->count : s->rows.free_count,
                  wanted = parameters->count - rigid, capacity = s->rows.free_count + wanted + ROUNDS;
    sp_pool scratch = {0};
    found_modes found = {.count = s->rows.free_count,
                         .x = sp_pool_raw(&scratch, s->own * capacity, sizeof(double)),
                         .mass_x = sp_pool_raw(&scratch, s->own * capacity, sizeof(double)),
                         .value = sp_pool_new(&scratch, capacity, sizeof(double))};
    int status = SP_OK;
    *report = (sp_modes_report){.shift = s->shift, .rigid = rigid, .certified = -1};
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    SP_TRY(rigid_motions(context, s, &found));
    if (wanted > 0) {
        SP_TRY(find_modes(context, s, &found, wanted, parameters, CONVERGED, context->seed));
        SP_TRY(look_for_more(context, s, parameters, wanted, &found, report));
    }
    const int64_t count = rigid + wanted + report->more;
    for (int64_t i = 0; i < count; i++)
        eigenvalue[i] = i < rigid ? 0 : found.value[i] + s->shift;
    memcpy(vector, found.x, (size_t)(count * s->own) * sizeof *vector);
    SP_TRY(judge(context, s, count, &found, eigenvalue, residual, report));
    report->solves = s->solves;
    if (s->direct)
        PETSC_TRY(describe_factor(s, report));
    if (parameters->certify && wanted > 0)
        SP_TRY(certify(context, s, count, eigenvalue, report));
done:
    sp_pool_free(&scratch);
    return status;
}

/* ---- solves ---- */

/* Direct solves of `count` columns. */
static int solve_direct(sp_context *context, sp_parallel_solver *s, int64_t count, const double *b, double *x)
{
    Vec answer = NULL;
    int status = SP_OK;
    PETSC_TRY(VecDuplicate(s->product, &answer));
    for (int64_t c = 0; c < count; c++) {
        PETSC_TRY(copy_in(s, b + c * s->own, s->product));
        PETSC_TRY(KSPSolve(s->ksp, s->product, answer));
        PETSC_TRY(copy_out(s, answer, x + c * s->own));
    }
done:
    (void)VecDestroy(&answer);
    return status;
}

/* The products xᵀy of `count` columns over all ranks. */
static void dots(const sp_parallel_solver *s, int64_t count, const double *x, const double *y, double *product)
{
    for (int64_t c = 0; c < count; c++)
        product[c] = sp_dense_dot(s->own, x + c * s->own, y + c * s->own);
    MPI_Allreduce(MPI_IN_PLACE, product, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

enum { TOGETHER = SP_LANES, CG_MOST = 1000 };

/* Arrays of conjugate gradients for several columns, each with coefficients of its own. */
typedef struct gradients {
    double *r, *z, *p, *Ap; /* [own, TOGETHER] */
    double size[TOGETHER], old[TOGETHER], new[TOGETHER], left[TOGETHER];
} gradients;

/* One step; returns true if every column has converged. */
static int step_gradients(sp_context *context, sp_parallel_solver *s, int64_t count, double tolerance, double *x,
                          gradients *g, bool *done_all)
{
    const int64_t n = s->own;
    double curvature[TOGETHER];
    int status;
    SP_TRY(apply(context, s, SP_TIMES_A, count, g->p, g->Ap));
    dots(s, count, g->p, g->Ap, curvature);
    for (int64_t c = 0; c < count; c++) {
        const double alpha = g->left[c] > tolerance * g->size[c] ? g->old[c] / curvature[c] : 0;
        cblas_daxpy((int)n, alpha, g->p + c * n, 1, x + c * n, 1);
        cblas_daxpy((int)n, -alpha, g->Ap + c * n, 1, g->r + c * n, 1);
    }
    dots(s, count, g->r, g->r, g->left);
    *done_all = true;
    for (int64_t c = 0; c < count; c++) {
        g->left[c] = sqrt(g->left[c]);
        *done_all &= g->left[c] <= tolerance * g->size[c];
    }
    SP_TRY(apply(context, s, SP_CYCLE, count, g->r, g->z));
    dots(s, count, g->r, g->z, g->new);
    for (int64_t c = 0; c < count; c++) {
        cblas_dscal((int)n, g->old[c] > 0 ? g->new[c] / g->old[c] : 0, g->p + c * n, 1);
        cblas_daxpy((int)n, 1, g->z + c * n, 1, g->p + c * n, 1);
        g->old[c] = g->new[c];
    }
done:
    return status;
}

/* Conjugate gradients for up to TOGETHER columns, from x = 0. */
static int solve_gradients(sp_context *context, sp_parallel_solver *s, int64_t count, const double *b,
                           double tolerance, double *x, gradients *g, int64_t *iterations)
{
    const int64_t n = s->own;
    bool done_all = false;
    int status;
    memcpy(g->r, b, (size_t)(n * count) * sizeof *g->r);
    memset(x, 0, (size_t)(n * count) * sizeof *x);
    dots(s, count, g->r, g->r, g->size);
    for (int64_t c = 0; c < count; c++)
        g->left[c] = g->size[c] = sqrt(g->size[c]);
    SP_TRY(apply(context, s, SP_CYCLE, count, g->r, g->z));
    dots(s, count, g->r, g->z, g->old);
    memcpy(g->p, g->z, (size_t)(n * count) * sizeof *g->p);
    int taken = 0;
    for (; !done_all && taken < CG_MOST; taken++)
        SP_TRY(step_gradients(context, s, count, tolerance, x, g, &done_all));
    if (!done_all)
        status = sp_fail(context, SP_NUMERICAL,
                         "conjugate gradients have not converged after %d iterations: the residual is %.1e, not %.1e",
                         taken, g->left[0] / g->size[0], tolerance);
    *iterations = taken > *iterations ? taken : *iterations;
done:
    return status;
}

/* The largest ‖A x − b‖/‖b‖ of `count` columns. */
static int largest_residual(sp_context *context, sp_parallel_solver *s, int64_t count, const double *b,
                            const double *x, double *Ax, double *largest)
{
    double sizes[TOGETHER], left[TOGETHER];
    int status;
    SP_TRY(apply(context, s, SP_TIMES_A, count, x, Ax));
    cblas_daxpy((int)(count * s->own), -1, b, 1, Ax, 1);
    dots(s, count, b, b, sizes);
    dots(s, count, Ax, Ax, left);
    for (int64_t c = 0; c < count; c++)
        if (sizes[c] > 0)
            *largest = fmax(*largest, isnan(left[c]) ? INFINITY : sqrt(left[c] / sizes[c]));
done:
    return status;
}

static int solve(sp_context *context, sp_parallel_solver *s, int64_t count, const double *b, double tolerance,
                 double *x, sp_parallel_solution *solution)
{
    sp_pool scratch = {0};
    double *room = sp_pool_raw(&scratch, 4 * TOGETHER * s->own, sizeof *room);
    gradients g = {.r = room,
                   .z = room + TOGETHER * s->own,
                   .p = room + 2 * TOGETHER * s->own,
                   .Ap = room + 3 * TOGETHER * s->own};
    int status = room ? SP_OK : sp_fail_memory(context);
    *solution = (sp_parallel_solution){0};
    for (int64_t c = 0; c < count && status == SP_OK; c += TOGETHER) {
        const int64_t width = count - c < TOGETHER ? count - c : TOGETHER;
        SP_TRY(s->direct ? solve_direct(context, s, width, b + c * s->own, x + c * s->own)
                         : solve_gradients(context, s, width, b + c * s->own, tolerance, x + c * s->own, &g,
                                           &solution->iterations));
        SP_TRY(largest_residual(context, s, width, b + c * s->own, x + c * s->own, g.Ap, &solution->residual));
        SP_TRY(sp_progress(context, (double)(c + width) / (double)count));
    }
done:
    sp_pool_free(&scratch);
    return status;
}

static int gather(sp_context *context, const sp_parallel_solver *s, const double *own, double *all)
{
    sp_pool scratch = {0};
    int *counts = sp_pool_raw(&scratch, mpi.ranks, sizeof *counts),
        *starts = sp_pool_raw(&scratch, mpi.ranks, sizeof *starts);
    const int count = (int)s->own;
    int status = SP_OK;
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0, next = 0; r < mpi.ranks && mpi.rank == 0; r++) {
        starts[r] = next;
        next += counts[r];
    }
    MPI_Gatherv(own, count, MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
done:
    sp_pool_free(&scratch);
    return status;
}

extern const sp_parallel_module sp_parallel_slepc;
const sp_parallel_module sp_parallel_slepc = {
    .version = SP_PARALLEL_VERSION,
    .start = start,
    .place = place,
    .alone = alone,
    .agree = agree,
    .finish = finish,
    .open = open_solver,
    .close = close_solver,
    .modes = modes,
    .solve = solve,
    .gather = gather,
};
