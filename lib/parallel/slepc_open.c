/* Matrices for PETSc, and what solves with them. */
#include "parallel/internal.h"

#include <stdlib.h>
#include <string.h>

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
                       (long long)most, (long long)(sp_parallel_ranks() * (most / INT32_MAX + 1)));
    return SP_OK;
}

static bool is_local(const sp_block_rows *rows, int64_t entry)
{
    return rows->column[entry] >= rows->first && rows->column[entry] < rows->first + rows->count;
}

/* A block of K and M whose transpose another rank has. */
typedef struct shared_block {
    int64_t row, column; /* numbers of vertices */
    double stiffness[9], mass[3];
} shared_block;

/* The rank of a vertex; range [ranks + 1]. */
static int owner_of(const int64_t *range, int64_t vertex)
{
    int rank = 0;
    while (vertex >= range[rank + 1])
        rank++;
    return rank;
}

/* Copies the blocks with columns of other ranks, in the order of the ranks; bytes [ranks] for each of them. */
static void list_shared(const sp_block_rows *rows, const int64_t *range, shared_block *block, int *bytes)
{
    int64_t count = 0;
    for (int rank = 0; rank < sp_parallel_ranks(); rank++) {
        const int64_t before = count;
        for (int64_t i = 0; i < rows->count; i++)
            for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
                if (!is_local(rows, k) && owner_of(range, rows->column[k]) == rank) {
                    shared_block *next = &block[count++];
                    next->row = rows->first + i;
                    next->column = rows->column[k];
                    memcpy(next->stiffness, rows->stiffness + 9 * k, sizeof next->stiffness);
                    memcpy(next->mass, rows->mass + 3 * k, sizeof next->mass);
                }
        bytes[rank] = (int)((count - before) * (int64_t)sizeof *block);
    }
}

/* The mean of a block here and of its transpose there. */
static void take_mean(const sp_block_rows *rows, const shared_block *block)
{
    const int64_t i = block->column - rows->first;
    int64_t k = rows->start[i];

    while (rows->column[k] != block->row)
        k++;

    for (int c = 0; c < 9; c++) {
        double *value = rows->stiffness + 9 * k + c;
        *value = 0.5 * (*value + block->stiffness[3 * (c % 3) + c / 3]);
    }

    for (int c = 0; c < 3; c++)
        rows->mass[3 * k + c] = 0.5 * (rows->mass[3 * k + c] + block->mass[c]);
}

/* Elements of one shape share the matrices of the first of them, which differs between parts of the mesh by the
 * rounding of coordinates. The blocks that two ranks share become symmetric to the last bit: an error of 1e-12 of K in
 * its symmetry would be one of 1e-6 in residuals. */
static int make_symmetric(sp_context *context, const sp_block_rows *rows)
{
    const int ranks = sp_parallel_ranks();
    const int64_t end = rows->first + rows->count;
    int64_t shared = 0;
    sp_pool scratch = {0};
    int status = SP_OK;
    if (ranks == 1)
        return SP_OK;

    /* Blocks whose transposed ones belong to other ranks */
    for (int64_t k = 0; k < rows->start[rows->count]; k++)
        shared += !is_local(rows, k);

    int64_t *range = sp_pool_new(&scratch, ranks + 1, sizeof *range);
    int *bytes = sp_pool_new(&scratch, ranks, sizeof *bytes), *start = sp_pool_new(&scratch, ranks, sizeof *start);
    shared_block *out = sp_pool_raw(&scratch, shared, sizeof *out), *in = sp_pool_raw(&scratch, shared, sizeof *in);
    SP_TRY(sp_allocated(context, !scratch.failed));

    MPI_Allgather(&end, 1, MPI_INT64_T, range + 1, 1, MPI_INT64_T, MPI_COMM_WORLD);
    list_shared(rows, range, out, bytes);

    for (int r = 1; r < ranks; r++)
        start[r] = start[r - 1] + bytes[r - 1];
    /* as many come back, since the pattern is symmetric */
    MPI_Alltoallv(out, bytes, start, MPI_BYTE, in, bytes, start, MPI_BYTE, MPI_COMM_WORLD);

    for (int64_t k = 0; k < shared; k++)
        take_mean(rows, &in[k]);
done:
    sp_pool_free(&scratch);
    return status;
}

static PetscErrorCode new_matrix(const sp_block_rows *rows, int block, const PetscInt *local, const PetscInt *other,
                                 Mat *matrix)
{
    const PetscInt own = (PetscInt)(3 * rows->count), total = (PetscInt)(3 * rows->total);

    PetscCall(MatCreate(PETSC_COMM_WORLD, matrix));
    PetscCall(MatSetSizes(*matrix, own, own, total, total));
    PetscCall(MatSetType(*matrix, MATAIJ));
    PetscCall(MatSetBlockSize(*matrix, 3));

    /* PETSc counts the room of K by blocks, and that of M by entries: its blocks are diagonal. */
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
    /* PETSc wants the numbers of blocks before the blocks. */
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

        /* Of a block of M only the diagonal can differ from 0. */
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
    SP_TRY(sp_allocated(context, !scratch.failed));

    PETSC_TRY(fill(rows, &room, matrix));
done:
    sp_pool_free(&scratch);
    return status;
}

/* ---- vectors ---- */

PetscErrorCode sp_parallel_copy_in(const sp_parallel_solver *s, const double *values, Vec x)
{
    double *to;
    PetscCall(VecGetArrayWrite(x, &to));
    memcpy(to, values, (size_t)s->own * sizeof *to);
    return VecRestoreArrayWrite(x, &to);
}

PetscErrorCode sp_parallel_copy_out(const sp_parallel_solver *s, Vec x, double *values)
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
        PetscCall(sp_parallel_copy_in(s, rows->rigid + m * s->own, x[kept]));

        PetscCall(VecNormalize(x[kept], NULL));

        /* Gram and Schmidt's method, twice; a motion that is a combination of the others is left out. */
        if (kept > 0)
            for (int pass = 0; pass < 2; pass++) {
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
    PETSC_PASS(PCFactorGetMatrix(pc, &factor));
    PETSC_PASS(MatMumpsGetInfog(factor, 1, &info));

    if (info < 0) {
        const bool memory = info == -9 || info == -13 || info == -8 || info == -19;
        return memory ? sp_fail(context, SP_SYSTEM,
                                "out of memory in the factorization by MUMPS: more ranks on more machines have more, "
                                "and --solver amg needs less")
                      : sp_fail(context, SP_NUMERICAL, "MUMPS does not factorize the matrix (error %d)", (int)info);
    }

    PETSC_PASS(MatMumpsGetInfog(factor, 12, &below)); /* negative pivots */
    *negative = below;
    return SP_OK;
}

int sp_parallel_factorize(sp_context *context, sp_parallel_solver *s, int64_t *negative)
{
    PC pc;

    PETSC_PASS(KSPCreate(PETSC_COMM_WORLD, &s->ksp));
    PETSC_PASS(KSPSetType(s->ksp, KSPPREONLY));
    PETSC_PASS(KSPSetOperators(s->ksp, s->A, s->A));
    PETSC_PASS(KSPGetPC(s->ksp, &pc));
    PETSC_PASS(choose_factorization(pc));

    PETSC_PASS(KSPSetUp(s->ksp));
    return inertia(context, pc, negative);
}

void sp_parallel_close(sp_parallel_solver *s)
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

    SP_PASS(make_matrix(context, &s->rows, fill_stiffness, &s->A));
    SP_PASS(make_matrix(context, &s->rows, fill_mass, &s->M));

    /* PETSc has copied the blocks. */
    sp_pool_drop(&s->rows.pool, s->rows.stiffness);
    sp_pool_drop(&s->rows.pool, s->rows.mass);
    PETSC_PASS(MatSetOption(s->A, MAT_SYMMETRIC, PETSC_TRUE));
    PETSC_PASS(MatSetOption(s->M, MAT_SYMMETRIC, PETSC_TRUE));

    PETSC_PASS(MatCreateVecs(s->A, &s->product, NULL));
    PETSC_PASS(VecCreateMPIWithArray(PETSC_COMM_WORLD, 3, (PetscInt)s->own, (PetscInt)s->total, NULL, &s->from));
    PETSC_PASS(VecDuplicate(s->from, &s->to));

    SP_PASS(sp_parallel_factorize(context, s, &negative));
    if (negative > 0)
        return sp_fail(context, SP_NUMERICAL, "the stiffness matrix is not positive definite");
    return SP_OK;
}

static int open_multigrid(sp_context *context, sp_parallel_solver *s)
{
    SP_PASS(make_matrix(context, &s->rows, fill_stiffness, &s->A));
    sp_pool_drop(&s->rows.pool, s->rows.stiffness); /* the hierarchy needs more memory than anything after it */
    sp_memory_return();

    PETSC_PASS(MatSetOption(s->A, MAT_SYMMETRIC, PETSC_TRUE));
    PETSC_PASS(near_null_space(s, &s->rows));
    sp_pool_drop(&s->rows.pool, s->rows.rigid);

    SP_PASS(sp_multigrid_new(context, &s->rows, &s->A, &s->multigrid));
    sp_pool_drop(&s->rows.pool, s->rows.mass);
    sp_pool_drop(&s->rows.pool, s->rows.column);
    return SP_OK;
}

int sp_parallel_open(sp_context *context, sp_block_rows *rows, bool direct, sp_parallel_solver **solver)
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

    SP_TRY(make_symmetric(context, &s->rows));
    MPI_Allreduce(s->rows.trace, trace, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

    /* Free bodies: a small multiple of the mass makes K definite, σ = −1e-8 tr K / tr M. */
    s->shift = s->rows.free_count ? -1e-8 * trace[0] / trace[1] : 0;
    sp_block_rows_shift(&s->rows, s->shift);

    SP_TRY(direct ? open_direct(context, s) : open_multigrid(context, s));
done:
    if (status == SP_OK)
        *solver = s;
    else
        sp_parallel_close(s);
    return status;
}
