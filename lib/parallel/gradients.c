/* Solves with K: a factorization, or preconditioned conjugate gradients for eight columns at a time. */
#include "parallel/internal.h"

#include "linear/dense.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Direct solves of `count` columns. */
static int solve_direct(sp_context *context, sp_parallel_solver *s, int64_t count, const double *b, double *x)
{
    Vec answer = NULL;
    int status = SP_OK;
    PETSC_TRY(VecDuplicate(s->product, &answer));
    for (int64_t c = 0; c < count; c++) {
        PETSC_TRY(sp_parallel_copy_in(s, b + c * s->own, s->product));
        PETSC_TRY(KSPSolve(s->ksp, s->product, answer));
        PETSC_TRY(sp_parallel_copy_out(s, answer, x + c * s->own));
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

/* Conjugate gradients for several columns, each with coefficients of its own. */
typedef struct gradients {
    sp_context *context;
    sp_parallel_solver *solver;
    int64_t n, count; /* own rows, columns */
    double tolerance;
    const double *b;
    double *x, *r, *z, *p, *Ap; /* [own, TOGETHER] */
    double size[TOGETHER], old[TOGETHER], new[TOGETHER], left[TOGETHER];
    /* in a complement */
    int64_t modes;
    const double *mode, *value; /* value [count] */
    double *mass_mode, *Mp;     /* [own, modes], [own, TOGETHER] */
    double *part;               /* [modes, TOGETHER] */
} gradients;

/* columns ← columns − along (acrossᵀ columns): displacements lose their part along the modes with along = Ψ and across
 * = MΨ, forces with both exchanged. */
static int project(const gradients *g, const double *along, const double *across, double *columns)
{
    if (g->modes == 0)
        return SP_OK;
    const int status = sp_parallel_inner(g->context, g->solver, g->modes, across, g->count, columns, g->part);
    if (status == SP_OK)
        sp_dense_add(g->context, g->n, g->modes, along, g->count, g->part, -1, columns);
    return status;
}

/* to = A from, or with modes the projected (K − λM) from. */
static int multiply(const gradients *g, const double *from, double *to)
{
    SP_PASS(sp_parallel_apply(g->context, g->solver, SP_TIMES_A, g->count, from, to));
    if (g->modes == 0)
        return SP_OK;

    /* (K − λM) x = A x + (σ − λ) M x, then without the part along the modes */
    SP_PASS(sp_parallel_apply(g->context, g->solver, SP_TIMES_M, g->count, from, g->Mp));
    for (int64_t c = 0; c < g->count; c++) /* A = K − σM */
        cblas_daxpy((int)g->n, g->solver->shift - g->value[c], g->Mp + c * g->n, 1, to + c * g->n, 1);
    return project(g, g->mass_mode, g->mode, to);
}

/* z from r. */
static int precondition(const gradients *g)
{
    SP_PASS(g->solver->direct ? solve_direct(g->context, g->solver, g->count, g->r, g->z)
                              : sp_parallel_apply(g->context, g->solver, SP_CYCLE, g->count, g->r, g->z));
    return project(g, g->mode, g->mass_mode, g->z);
}

/* One step; *done_all if every column has converged, or cannot get better. */
static int step_gradients(gradients *g, bool *done_all)
{
    const int64_t n = g->n;
    double curvature[TOGETHER];

    /* α = (r·z) / (p·A p). Columns that have converged rest while the others go on. */
    SP_PASS(multiply(g, g->p, g->Ap));
    dots(g->solver, g->count, g->p, g->Ap, curvature);
    for (int64_t c = 0; c < g->count; c++) {
        const bool go = g->left[c] > g->tolerance * g->size[c] && curvature[c] > 0;
        const double alpha = go ? g->old[c] / curvature[c] : 0;
        cblas_daxpy((int)n, alpha, g->p + c * n, 1, g->x + c * n, 1);
        cblas_daxpy((int)n, -alpha, g->Ap + c * n, 1, g->r + c * n, 1);
    }

    dots(g->solver, g->count, g->r, g->r, g->left);
    *done_all = true;
    for (int64_t c = 0; c < g->count; c++) {
        g->left[c] = sqrt(g->left[c]);
        *done_all &= g->left[c] <= g->tolerance * g->size[c] || !(curvature[c] > 0);
    }

    SP_PASS(precondition(g));
    dots(g->solver, g->count, g->r, g->z, g->new);

    /* β = (r·z)new / (r·z)old: z + β p is A-conjugate to the steps before. */
    for (int64_t c = 0; c < g->count; c++) {
        cblas_dscal((int)n, g->old[c] > 0 ? g->new[c] / g->old[c] : 0, g->p + c * n, 1);
        cblas_daxpy((int)n, 1, g->z + c * n, 1, g->p + c * n, 1);
        g->old[c] = g->new[c];
    }
    return SP_OK;
}

/* Sizes of the loads, and the loads as residuals of x = 0. */
static int take_loads(gradients *g)
{
    memcpy(g->r, g->b, (size_t)(g->n * g->count) * sizeof *g->r);
    dots(g->solver, g->count, g->r, g->r, g->size);
    for (int64_t c = 0; c < g->count; c++)
        g->size[c] = sqrt(g->size[c]);
    return project(g, g->mass_mode, g->mode, g->r);
}

static int say_unsolved(const gradients *g, int taken)
{
    for (int64_t c = 0; c < g->count; c++) {
        if (g->left[c] <= g->tolerance * g->size[c])
            continue;
        if (g->modes)
            return sp_fail(g->context, SP_INPUT,
                           "derivatives of the eigenvalue %.6g do not converge (residual %.1e): it is not below the "
                           "next one of the body; take modes so that close eigenvalues stay together",
                           g->value[c], g->left[c] / g->size[c]);
        return sp_fail(g->context, SP_NUMERICAL,
                       "conjugate gradients have not converged after %d iterations: the residual is %.1e, not %.1e",
                       taken, g->left[c] / g->size[c], g->tolerance);
    }
    return SP_OK;
}

/* Conjugate gradients from x = 0. */
static int solve_gradients(gradients *g, int64_t *iterations)
{
    bool done_all = false;
    int taken = 0;

    SP_PASS(take_loads(g));
    memset(g->x, 0, (size_t)(g->n * g->count) * sizeof *g->x);

    dots(g->solver, g->count, g->r, g->r, g->left);
    for (int64_t c = 0; c < g->count; c++)
        g->left[c] = sqrt(g->left[c]);

    SP_PASS(precondition(g));
    dots(g->solver, g->count, g->r, g->z, g->old);
    memcpy(g->p, g->z, (size_t)(g->n * g->count) * sizeof *g->p);

    for (; !done_all && taken < CG_MOST; taken++)
        SP_PASS(step_gradients(g, &done_all));

    SP_PASS(say_unsolved(g, taken));
    *iterations = taken > *iterations ? taken : *iterations;
    return SP_OK;
}

/* The largest ‖A x − b‖/‖b‖ of the columns. */
static int largest_residual(gradients *g, double *largest)
{
    double left[TOGETHER];

    /* b is projected like all loads: its part along the modes has no solution. */
    SP_PASS(take_loads(g));
    SP_PASS(multiply(g, g->x, g->Ap));
    cblas_daxpy((int)(g->count * g->n), -1, g->r, 1, g->Ap, 1);
    dots(g->solver, g->count, g->Ap, g->Ap, left);
    for (int64_t c = 0; c < g->count; c++)
        if (g->size[c] > 0)
            *largest = fmax(*largest, isnan(left[c]) ? INFINITY : sqrt(left[c]) / g->size[c]);
    return SP_OK;
}

static int new_gradients(sp_context *context, sp_parallel_solver *s, const sp_parallel_complement *complement,
                         double tolerance, sp_pool *pool, gradients *g)
{
    const int64_t block = TOGETHER * s->own;
    double *room = sp_pool_raw(pool, 4 * block, sizeof *room);
    *g = (gradients){.context = context, .solver = s, .n = s->own, .tolerance = tolerance};

    SP_PASS(sp_allocated(context, room));

    g->r = room;
    g->z = room + block;
    g->p = room + 2 * block;
    g->Ap = room + 3 * block;

    if (!complement)
        return SP_OK;

    g->modes = complement->modes;
    g->mode = complement->mode;
    g->mass_mode = sp_pool_raw(pool, s->own * g->modes, sizeof *g->mass_mode);
    g->Mp = sp_pool_raw(pool, block, sizeof *g->Mp);
    g->part = sp_pool_raw(pool, TOGETHER * g->modes, sizeof *g->part);
    SP_PASS(sp_allocated(context, !pool->failed));

    /* MΨ, by which forces lose their part along the modes */
    return sp_parallel_apply(context, s, SP_TIMES_M, g->modes, g->mode, g->mass_mode);
}

int sp_parallel_solve(sp_context *context, sp_parallel_solver *s, const sp_parallel_complement *complement,
                      int64_t count, const double *b, double tolerance, double *x, sp_parallel_solution *solution)
{
    sp_pool scratch = {0};
    gradients g;
    int status = new_gradients(context, s, complement, tolerance, &scratch, &g);
    *solution = (sp_parallel_solution){0};
    for (int64_t c = 0; c < count && status == SP_OK; c += TOGETHER) {
        g.count = count - c < TOGETHER ? count - c : TOGETHER;
        g.b = b + c * s->own;
        g.x = x + c * s->own;
        g.value = complement ? complement->value + c : NULL;

        SP_TRY(s->direct && !complement ? solve_direct(context, s, g.count, g.b, g.x)
                                        : solve_gradients(&g, &solution->iterations));
        SP_TRY(largest_residual(&g, &solution->residual));
        SP_TRY(sp_progress(context, (double)(c + g.count) / (double)count));
    }
done:
    sp_pool_free(&scratch);
    return status;
}
