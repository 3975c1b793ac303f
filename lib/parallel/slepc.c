/* The module supple-slepc (parallel/module.h): MPI, errors and the table of functions. */
#include "parallel/internal.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The module belongs to one process, and MPI to the process. */
static struct {
    void (*die)(int status, const char *message);
    int rank, ranks;
} mpi;

struct sp_parallel_failure sp_parallel_failure = {.status = SP_NUMERICAL, .message = "PETSc failed"};

int sp_parallel_rank(void)
{
    return mpi.rank;
}

int sp_parallel_ranks(void)
{
    return mpi.ranks;
}

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

    sp_parallel_failure.status = status_of(code);
    if (code == PETSC_ERR_MEM)
        snprintf(sp_parallel_failure.message, sizeof sp_parallel_failure.message, "out of memory%s",
                 mpi.ranks > 1 ? " on a rank: more ranks on more machines have more" : "");
    else
        snprintf(sp_parallel_failure.message, sizeof sp_parallel_failure.message, "PETSc: %s: %.200s", function,
                 message);

    sp_parallel_failure.message[strcspn(sp_parallel_failure.message, "\n")] = 0;

    if (mpi.ranks > 1)
        alone(sp_parallel_failure.status, sp_parallel_failure.message);
    return code;
}

/* ---- memory ---- */

/* Sums of OpenBLAS's kernels for AVX-512 depend on the alignment of vectors in memory, and addresses of malloc on what
 * MPI has allocated before, which differs from run to run: every block begins at a line of the cache. */
static PetscErrorCode allocate(size_t bytes, PetscBool clear, int line, const char function[], const char file[],
                               void **memory)
{
    (void)line, (void)function, (void)file;
    *memory = NULL;
    if (bytes > 0 && posix_memalign(memory, 64, bytes) != 0)
        return PETSC_ERR_MEM;
    if (bytes > 0 && clear)
        memset(*memory, 0, bytes);
    return 0;
}

static PetscErrorCode release(void *memory, int line, const char function[], const char file[])
{
    (void)line, (void)function, (void)file;
    free(memory);
    return 0;
}

static PetscErrorCode enlarge(size_t bytes, int line, const char function[], const char file[], void **memory)
{
    void *larger;
    const PetscErrorCode code = allocate(bytes, PETSC_FALSE, line, function, file, &larger);
    if (code != 0)
        return code;
    if (*memory && larger) {
        const size_t before = malloc_usable_size(*memory);
        memcpy(larger, *memory, before < bytes ? before : bytes);
    }
    free(*memory);
    *memory = larger;
    return 0;
}

/* ---- start and end ---- */

/* A file of options of the user's would change results. */
static PetscErrorCode start_petsc(void)
{
    PetscCall(PetscMallocSet(allocate, release, enlarge));
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

    /* The lowest rank that failed speaks, and its status is that of all. */
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

/* ---- the table ---- */

static int gather(sp_context *context, const sp_parallel_solver *s, const double *own, double *all)
{
    sp_pool scratch = {0};
    int *counts = sp_pool_raw(&scratch, mpi.ranks, sizeof *counts),
        *starts = sp_pool_raw(&scratch, mpi.ranks, sizeof *starts);
    const int count = (int)s->own;
    int status = SP_OK;

    SP_TRY(sp_allocated(context, !scratch.failed));

    MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (mpi.rank == 0)
        for (int r = 0, next = 0; r < mpi.ranks; r++) {
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
    .open = sp_parallel_open,
    .close = sp_parallel_close,
    .modes = sp_parallel_modes,
    .solve = sp_parallel_solve,
    .gather = gather,
};
