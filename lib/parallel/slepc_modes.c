/* Modes: SLEPc's Krylov–Schur method over a factorization, or LOBPCG over multigrid (lobpcg.c), and what is checked of
 * them. */
#include "parallel/internal.h"

#include "linear/dense.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eigenvalues that agree to this are treated as equal, as in basis/modes.c. */
static const double EQUAL = 1e-6;

/* Residuals with multigrid, which simverify accepts. */
static const double CONVERGED = 8e-9;

enum { ROUNDS = 8 };

/* ---- dense algebra over the rows of all ranks ---- */

void sp_parallel_same(double *values, int64_t count)
{
    MPI_Bcast(values, (int)count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* C [m, k] = Aᵀ B for A [own rows, m], B [own rows, k]. */
int sp_parallel_inner(sp_context *context, const sp_parallel_solver *s, int64_t m, const double *A, int64_t k,
                      const double *B, double *C)
{
    if (m == 0 || k == 0)
        return SP_OK;

    double *work = sp_memory_new((size_t)sp_dense_inner_work(m, k) * sizeof *work);
    SP_PASS(sp_allocated(context, work));

    sp_dense_inner(context, s->own, m, A, k, B, C, work);
    free(work);
    MPI_Allreduce(MPI_IN_PLACE, C, (int)(m * k), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return SP_OK;
}

/* y = A x, M x, or the preconditioner applied to x, for `count` columns [own rows]. */
int sp_parallel_apply(sp_context *context, sp_parallel_solver *s, enum sp_multigrid_operation operation, int64_t count,
                      const double *x, double *y)
{
    s->solves += operation == SP_CYCLE ? count : 0;

    if (s->multigrid) {
        sp_multigrid_apply(s->multigrid, operation, count, x, y);
        return SP_OK;
    }

    /* PETSc's vectors borrow the columns, without a copy. */
    for (int64_t c = 0; c < count; c++) {
        PETSC_PASS(VecPlaceArray(s->from, x + c * s->own));
        PETSC_PASS(VecPlaceArray(s->to, y + c * s->own));
        PETSC_PASS(MatMult(operation == SP_TIMES_A ? s->A : s->M, s->from, s->to));
        PETSC_PASS(VecResetArray(s->from));
        PETSC_PASS(VecResetArray(s->to));
    }
    return SP_OK;
}

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

    /* K ψ = λ M ψ in the form of shift and invert about 0 */
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

    /* Start vectors by a seed of each rank, of a type that PETSc before and from 3.25 takes without a change of sign */
    PetscCall(EPSGetBV(eps, &basis));
    PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &numbers));
    PetscCall(PetscRandomSetSeed(numbers, (uint32_t)(seed * 7919 + 76543 * (uint64_t)sp_parallel_rank())));
    PetscCall(PetscRandomSeed(numbers));
    PetscCall(BVSetRandomContext(basis, numbers));
    return PetscRandomDestroy(&numbers);
}

/* The lowest `wanted` modes in the complement of those found, by SLEPc's Krylov–Schur method. */
static int krylov_schur(sp_context *context, sp_parallel_solver *s, sp_found_modes *found, int64_t wanted,
                        double tolerance, uint64_t seed)
{
    EPS eps = NULL;
    Vec *known = NULL;
    const int64_t known_count = found->count;
    PetscInt converged = 0, iterations;
    int status = SP_OK;

    PETSC_TRY(EPSCreate(PETSC_COMM_WORLD, &eps));
    PETSC_TRY(choose_krylov(eps, s, wanted, tolerance, seed));

    /* The modes found before are kept out of the search. */
    if (known_count > 0) {
        PETSC_TRY(VecDuplicateVecs(s->product, (PetscInt)known_count, &known));
        for (int64_t i = 0; i < known_count; i++)
            PETSC_TRY(sp_parallel_copy_in(s, found->x + i * s->own, known[i]));
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
        PETSC_TRY(sp_parallel_copy_out(s, s->product, found->x + found->count++ * s->own));
    }

    SP_TRY(sp_parallel_apply(context, s, SP_TIMES_M, wanted, found->x + known_count * s->own,
                             found->mass_x + known_count * s->own));
done:
    if (known)
        (void)VecDestroyVecs((PetscInt)known_count, &known);
    (void)EPSDestroy(&eps);
    return status;
}

/* Rayleigh–Ritz over the elastic vectors, behind the rigid ones, whose part in them is removed. */
static int refine(sp_context *context, sp_parallel_solver *s, const sp_found_modes *found)
{
    const int64_t rigid = s->rows.free_count, count = found->count - rigid, n = s->own;
    double *x = found->x + rigid * n, *mass_x = found->mass_x + rigid * n;
    sp_pool scratch = {0};
    double *H = sp_pool_raw(&scratch, count * count, sizeof *H), *G = sp_pool_raw(&scratch, count * count, sizeof *G),
           *part = sp_pool_raw(&scratch, count * (rigid + 1), sizeof *part),
           *image = sp_pool_raw(&scratch, n * count, sizeof *image);
    int status = SP_OK;

    SP_TRY(sp_allocated(context, !scratch.failed));

    /* The part along the rigid modes is removed, then H = XᵀA X and G = XᵀM X. */
    SP_TRY(sp_parallel_inner(context, s, rigid, found->mass_x, count, x, part));
    if (rigid > 0)
        sp_dense_add(context, n, rigid, found->x, count, part, -1, x);
    SP_TRY(sp_parallel_apply(context, s, SP_TIMES_M, count, x, mass_x));
    SP_TRY(sp_parallel_apply(context, s, SP_TIMES_A, count, x, image));

    SP_TRY(sp_parallel_inner(context, s, count, x, count, image, H));
    SP_TRY(sp_parallel_inner(context, s, count, x, count, mass_x, G));

    if (LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'U', (int)count, H, (int)count, G, (int)count, found->value + rigid) !=
        0) {
        status = sp_fail(context, SP_NUMERICAL, "the projected eigenproblem failed");
        goto done;
    }

    sp_parallel_same(H, count * count);
    sp_parallel_same(found->value + rigid, count);

    memset(image, 0, (size_t)(n * count) * sizeof *image);
    sp_dense_add(context, n, count, x, count, H, 1, image);
    memcpy(x, image, (size_t)(n * count) * sizeof *x);
    SP_TRY(sp_parallel_apply(context, s, SP_TIMES_M, count, x, mass_x));
done:
    sp_pool_free(&scratch);
    return status;
}

static int find_modes(sp_context *context, sp_parallel_solver *s, sp_found_modes *found, int64_t wanted,
                      const sp_modes_parameters *parameters, double residual, uint64_t seed)
{
    int status = s->direct ? krylov_schur(context, s, found, wanted, parameters->tolerance, seed)
                           : sp_parallel_lobpcg(context, s, found, wanted, fmax(residual, parameters->tolerance), seed);
    return status == SP_OK ? refine(context, s, found) : status;
}

/* Looks for modes in the complement of those found: `wanted` elastic ones are to be written. Those below the last one
 * were missed; those with its eigenvalue belong to it. A Ritz value is an upper bound of the next eigenvalue, and close
 * to it long before its vector has converged. */
static int look_for_more(sp_context *context, sp_parallel_solver *s, const sp_modes_parameters *parameters,
                         int64_t wanted, sp_found_modes *found, sp_modes_report *report)
{
    const double *value = found->value + s->rows.free_count, rough = 1e-2, apart = 1e-3;

    report->next = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        const double last = value[wanted - 1];
        const int64_t before = found->count;
        const uint64_t seed = context->seed + 1 + (uint64_t)round;

        /* With multigrid a rough value tells mostly that nothing is left below; only otherwise it is made exact. */
        SP_PASS(find_modes(context, s, found, 1, parameters, rough, seed));
        if (!s->direct && value[before - s->rows.free_count] < last * (1 + apart)) {
            found->count = before;
            SP_PASS(find_modes(context, s, found, 1, parameters, CONVERGED, seed));
        }

        report->missed += value[wanted - 1] < last * (1 - 1e-8);
        report->next = value[before - s->rows.free_count] + s->shift;

        if (value[before - s->rows.free_count] > last * (1 + EQUAL))
            break;
        report->more += value[before - s->rows.free_count] <= value[wanted - 1] * (1 + EQUAL);
        if (report->more == parameters->space_left)
            break;
    }
    return SP_OK;
}

/* Residuals as sp_modes has them, and the largest |ψᵀMψ − I|, for the first `count` vectors. */
static int judge(sp_context *context, sp_parallel_solver *s, int64_t count, const sp_found_modes *found,
                 const double *eigenvalue, double *residual, sp_modes_report *report)
{
    const double scale = s->rows.free_count < count ? eigenvalue[s->rows.free_count] : 1;
    sp_pool scratch = {0};
    double *G = sp_pool_raw(&scratch, count * count, sizeof *G), *force = sp_pool_raw(&scratch, s->own, sizeof *force);
    int status = SP_OK;

    SP_TRY(sp_allocated(context, !scratch.failed));

    for (int64_t i = 0; i < count; i++) {
        const double *momentum = found->mass_x + i * s->own;
        double sums[2] = {0};

        /* r = K ψ − λ M ψ relative to M ψ and the size of λ */
        SP_TRY(sp_parallel_apply(context, s, SP_TIMES_A, 1, found->x + i * s->own, force));
        for (int64_t k = 0; k < s->own; k++) {
            const double left = force[k] + (s->shift - eigenvalue[i]) * momentum[k]; /* A = K − σM */
            sums[0] += left * left;
            sums[1] += momentum[k] * momentum[k];
        }

        MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        residual[i] = sqrt(sums[0] / sums[1]) / (eigenvalue[i] + scale);
    }

    SP_TRY(sp_parallel_inner(context, s, count, found->x, count, found->mass_x, G));
    for (int64_t i = 0; i < count * count; i++)
        report->orthogonality = fmax(report->orthogonality, fabs(G[i] - (i % (count + 1) == 0)));
done:
    sp_pool_free(&scratch);
    return status;
}

/* The number of eigenvalues slightly below the last one, from the inertia of K − sM, whose factor replaces that of A.
 */
static int certify(sp_context *context, sp_parallel_solver *s, int64_t count, const double *eigenvalue,
                   sp_modes_report *report)
{
    const double below = eigenvalue[count - 1] * (1 - EQUAL);

    for (int64_t i = 0; i < count; i++)
        report->below += eigenvalue[i] < below;

    PETSC_PASS(KSPDestroy(&s->ksp));
    PETSC_PASS(MatAXPY(s->A, s->shift - below, s->M, SUBSET_NONZERO_PATTERN));
    return sp_parallel_factorize(context, s, &report->certified);
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
static int rigid_motions(sp_context *context, sp_parallel_solver *s, sp_found_modes *found)
{
    const int64_t k = s->rows.free_count, n = s->own;
    double G[36];
    found->count = k;
    memcpy(found->x, s->rows.free_motion, (size_t)(k * n) * sizeof *found->x);

    /* Cholesky's factor of XᵀM X makes X orthonormal; the second pass removes the rounding of the first. */
    if (k > 0)
        for (int pass = 0; pass < 2; pass++) {
            SP_PASS(sp_parallel_apply(context, s, SP_TIMES_M, k, found->x, found->mass_x));
            SP_PASS(sp_parallel_inner(context, s, k, found->x, k, found->mass_x, G));

            if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (int)k, G, (int)k) != 0)
                return sp_fail(context, SP_NUMERICAL, "the body is too flat for its rigid motions to be told apart");

            sp_parallel_same(G, k * k);
            sp_dense_solve_right(context, n, k, G, found->x);
        }

    return sp_parallel_apply(context, s, SP_TIMES_M, k, found->x, found->mass_x);
}

int sp_parallel_modes(sp_context *context, sp_parallel_solver *s, const sp_modes_parameters *parameters,
                      double *eigenvalue, double *vector, double *residual, sp_modes_report *report)
{
    const int64_t rigid = parameters->count < s->rows.free_count ? parameters->count : s->rows.free_count,
                  wanted = parameters->count - rigid, capacity = s->rows.free_count + wanted + ROUNDS;
    sp_pool scratch = {0};
    sp_found_modes found = {.count = s->rows.free_count,
                            .x = sp_pool_raw(&scratch, s->own * capacity, sizeof(double)),
                            .mass_x = sp_pool_raw(&scratch, s->own * capacity, sizeof(double)),
                            .value = sp_pool_new(&scratch, capacity, sizeof(double))};
    int status = SP_OK;

    *report = (sp_modes_report){.shift = s->shift, .rigid = rigid, .certified = -1};
    SP_TRY(sp_allocated(context, !scratch.failed));

    SP_TRY(rigid_motions(context, s, &found));

    if (wanted > 0) {
        SP_TRY(find_modes(context, s, &found, wanted, parameters, CONVERGED, context->seed));
        SP_TRY(look_for_more(context, s, parameters, wanted, &found, report));
    }

    /* Rigid modes have the eigenvalue 0; the others are those of A = K − σM, shifted back. */
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
