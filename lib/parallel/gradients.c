/* Solves with K: a factorization, or conjugate gradients with multigrid for eight columns at a time. */
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
    SP_TRY(sp_parallel_apply(context, s, SP_TIMES_A, count, g->p, g->Ap));
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
    SP_TRY(sp_parallel_apply(context, s, SP_CYCLE, count, g->r, g->z));
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
static int solve_gradients(sp_context *context, sp_parallel_solver *s, int64_t count, const double *b, double tolerance,
                           double *x, gradients *g, int64_t *iterations)
{
    const int64_t n = s->own;
    bool done_all = false;
    int status;
    memcpy(g->r, b, (size_t)(n * count) * sizeof *g->r);
    memset(x, 0, (size_t)(n * count) * sizeof *x);
    dots(s, count, g->r, g->r, g->size);
    for (int64_t c = 0; c < count; c++)
        g->left[c] = g->size[c] = sqrt(g->size[c]);
    SP_TRY(sp_parallel_apply(context, s, SP_CYCLE, count, g->r, g->z));
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
static int largest_residual(sp_context *context, sp_parallel_solver *s, int64_t count, const double *b, const double *x,
                            double *Ax, double *largest)
{
    double sizes[TOGETHER], left[TOGETHER];
    int status;
    SP_TRY(sp_parallel_apply(context, s, SP_TIMES_A, count, x, Ax));
    cblas_daxpy((int)(count * s->own), -1, b, 1, Ax, 1);
    dots(s, count, b, b, sizes);
    dots(s, count, Ax, Ax, left);
    for (int64_t c = 0; c < count; c++)
        if (sizes[c] > 0)
            *largest = fmax(*largest, isnan(left[c]) ? INFINITY : sqrt(left[c] / sizes[c]));
done:
    return status;
}

int sp_parallel_solve(sp_context *context, sp_parallel_solver *s, int64_t count, const double *b, double tolerance,
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
