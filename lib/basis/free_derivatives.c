#include "basis/free_derivatives.h"

#include "assembly/elastic.h"
#include "linear/cholesky.h"
#include "linear/dense.h"

#include <math.h>
#include <string.h>

enum { GROUP = SP_FREE_DERIVATIVES_WIDTH, ITERATIONS = 400 };

/* All data are over the free degrees of freedom; blocks are [n, GROUP, column major]. */
typedef struct solver {
    sp_context *context;
    int64_t n, modes;
    sp_sparse K, M;
    sp_cholesky *factor;    /* of K + σM */
    double *psi, *mass_psi; /* [n, modes] Ψ and MΨ */
    double *inner, *work;
    double *x, *r, *z, *p, *Kp, *Mp;
} solver;

/* Removes from the columns of A their part along B: A ← A − B (CᵀA). B = Ψ and C = MΨ make displacements orthogonal to
 * the modes; swapped, they do so for forces. */
static void remove(solver *s, int64_t count, const double *B, const double *C, double *A)
{
    sp_dense_inner(s->context, s->n, s->modes, C, count, A, s->inner, s->work);
    sp_dense_add(s->context, s->n, s->modes, B, count, s->inner, -1, A);
}

static int precondition(solver *s, int64_t count)
{
    int status = sp_cholesky_solve(s->factor, count, s->r, s->z);
    if (status == SP_OK)
        remove(s, count, s->psi, s->mass_psi, s->z);
    return status;
}

/* Applies K − λ_c M to every column p and projects the resulting forces. */
static void apply(solver *s, int64_t count, const double *lambda)
{
    sp_sparse_times(s->context, &s->K, count, s->p, s->Kp);
    sp_sparse_times(s->context, &s->M, count, s->p, s->Mp);
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i < s->n; i++)
            s->Kp[c * s->n + i] -= lambda[c] * s->Mp[c * s->n + i];
    remove(s, count, s->mass_psi, s->psi, s->Kp);
}

/* Preconditioned conjugate gradients for all columns at once, each with its own coefficients. On entry r has the
 * projected right-hand sides; on return it has the residuals, and x the solutions. */
static int conjugate_gradients(solver *s, int64_t count, const double *lambda, const double *size, int64_t *iterations)
{
    int64_t n = s->n;
    double rho[GROUP], tolerance = 1e-12;
    int status;

    memset(s->x, 0, (size_t)(n * count) * sizeof *s->x);
    SP_TRY(precondition(s, count));
    memcpy(s->p, s->z, (size_t)(n * count) * sizeof *s->p);

    for (int64_t c = 0; c < count; c++)
        rho[c] = sp_dense_dot(n, s->r + c * n, s->z + c * n);

    for (int64_t k = 0; k < ITERATIONS; k++) {
        double worst = 0;
        for (int64_t c = 0; c < count; c++)
            if (size[c] > 0)
                worst = fmax(worst, sqrt(sp_dense_dot(n, s->r + c * n, s->r + c * n)) / size[c]);
        if (worst <= tolerance)
            return SP_OK;

        apply(s, count, lambda);

        /* x ← x + α p, r ← r − α A p */
        for (int64_t c = 0; c < count; c++) {
            double *p = s->p + c * n, *Ap = s->Kp + c * n, curvature = sp_dense_dot(n, p, Ap);

            /* The column is solved to the last bit, or the matrix is indefinite: the residual decides which. */
            if (size[c] == 0 || !(curvature > 0))
                continue;

            double alpha = rho[c] / curvature;
            for (int64_t i = 0; i < n; i++) {
                s->x[c * n + i] += alpha * p[i];
                s->r[c * n + i] -= alpha * Ap[i];
            }
        }

        /* p ← z + β p */
        SP_TRY(precondition(s, count));
        for (int64_t c = 0; c < count; c++) {
            double next = sp_dense_dot(n, s->r + c * n, s->z + c * n), beta = rho[c] != 0 ? next / rho[c] : 0;
            rho[c] = next;
            for (int64_t i = 0; i < n; i++)
                s->p[c * n + i] = s->z[c * n + i] + beta * s->p[c * n + i];
        }

        *iterations = k + 1 > *iterations ? k + 1 : *iterations;
        SP_TRY(sp_progress(s->context, 0));
    }
    status = SP_OK; /* the caller checks the residual */
done:
    return status;
}

static int solve_group(solver *s, const sp_fe_space *space, int64_t mode_count, const double *U,
                       const double *eigenvalue, int64_t count, const int64_t *pair, double *derivative,
                       sp_free_derivatives_report *report)
{
    int64_t rows = 3 * space->mesh->vertex_count, n = s->n;
    double lambda[GROUP], size[GROUP];

    /* r = Pᵀ f with f = −(H:Ψ_j)Ψ_i */
    SP_PASS(sp_elastic_second(s->context, space, mode_count, U, count, pair, derivative));
    for (int64_t c = 0; c < count; c++) {
        sp_fe_space_gather(space, derivative + c * rows, s->r + c * n);
        for (int64_t i = 0; i < n; i++)
            s->r[c * n + i] = -s->r[c * n + i];
        size[c] = sqrt(sp_dense_dot(n, s->r + c * n, s->r + c * n));
        lambda[c] = eigenvalue[pair[2 * c]];
    }

    /* This also removes the component along the mode itself, which is the factor (MΨ_iΨ_iᵀ − I). */
    remove(s, count, s->mass_psi, s->psi, s->r);

    SP_PASS(conjugate_gradients(s, count, lambda, size, &report->iterations));
    /* Recomputes the residual r = Pᵀ(−(H:Ψ_j)Ψ_i) − Pᵀ(K − λM)x. */
    memcpy(s->p, s->x, (size_t)(n * count) * sizeof *s->p);
    apply(s, count, lambda);
    for (int64_t c = 0; c < count; c++) {
        sp_fe_space_gather(space, derivative + c * rows, s->r + c * n);
        for (int64_t i = 0; i < n; i++)
            s->r[c * n + i] = -s->r[c * n + i];
    }

    remove(s, count, s->mass_psi, s->psi, s->r);

    for (int64_t c = 0; c < count; c++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += (s->r[c * n + i] - s->Kp[c * n + i]) * (s->r[c * n + i] - s->Kp[c * n + i]);
        double residual = size[c] > 0 ? sqrt(sum) / size[c] : 0;
        report->residual = fmax(report->residual, residual);
        if (!(residual < 1e-6))
            return sp_fail(s->context, SP_INPUT,
                           "derivative (%lld, %lld) does not converge (residual %.1e): its eigenvalue is not below the "
                           "next one of the body; take modes so that close eigenvalues stay together",
                           (long long)pair[2 * c] + 1, (long long)pair[2 * c + 1] + 1, residual);

        memset(derivative + c * rows, 0, (size_t)rows * sizeof *derivative);
        sp_fe_space_scatter(space, s->x + c * n, derivative + c * rows);
    }
    return SP_OK;
}

/* K + σM on the pattern of K, which contains that of M. */
static void add_shift(const sp_sparse *K, const sp_sparse *M, double shift, sp_sparse *sum)
{
    for (int64_t row = 0; row < K->order; row++) {
        int64_t at = K->start[row];
        for (int64_t k = M->start[row]; k < M->start[row + 1]; k++) {
            while (K->index[at] != M->index[k])
                at++;
            sum->value[at] += shift * M->value[k];
        }
    }
}

static int prepare(solver *s, sp_fe_space *space, sp_pool *pool, const double *U, const double *eigenvalue,
                   const int64_t *permutation)
{
    int64_t rows = 3 * space->mesh->vertex_count, n = space->dof_count;
    sp_sparse shifted = {0};
    int status;

    SP_TRY(sp_elastic_stiffness(s->context, space, &s->K));
    SP_TRY(sp_fe_space_matrix(s->context, space, &shifted));
    SP_TRY(sp_fe_space_mass_compressed(s->context, space, false, &s->M));

    s->n = n;
    s->psi = sp_pool_raw(pool, n * s->modes, sizeof(double));
    s->mass_psi = sp_pool_raw(pool, n * s->modes, sizeof(double));
    s->inner = sp_pool_raw(pool, s->modes * GROUP, sizeof(double));
    s->work = sp_pool_raw(pool, sp_dense_inner_work(s->modes, GROUP), sizeof(double));
    double **blocks[] = {&s->x, &s->r, &s->z, &s->p, &s->Kp, &s->Mp};
    for (int i = 0; i < 6; i++)
        *blocks[i] = sp_pool_new(pool, n * GROUP, sizeof(double));
    int64_t *node = sp_pool_raw(pool, n, sizeof *node);

    SP_TRY(sp_allocated(s->context, !pool->failed));

    for (int64_t j = 0; j < s->modes; j++)
        sp_fe_space_gather(space, U + j * rows, s->psi + j * n);
    sp_fe_space_nodes(space, node);
    sp_sparse_times(s->context, &s->M, s->modes, s->psi, s->mass_psi);

    memcpy(shifted.value, s->K.value, (size_t)s->K.start[n] * sizeof *s->K.value);

    /* σ is small beside the elastic eigenvalues, so that the preconditioned spectrum (λ − λ_i)/(λ + σ) is near 1. */
    double shift = 0;
    for (int64_t j = 0; j < s->modes && shift == 0; j++)
        shift = eigenvalue[j] > 0 ? 0.1 * eigenvalue[j] : 0;

    /* K + σM is positive definite also if the body is free. */
    add_shift(&s->K, &s->M, shift, &shifted);
    SP_TRY(permutation ? sp_cholesky_new_permuted(s->context, &shifted, permutation, &s->factor)
                       : sp_cholesky_new(s->context, &shifted, node, &s->factor));
    status = sp_cholesky_factor(s->factor, &shifted);
done:
    sp_sparse_free(&shifted);
    return status;
}

int sp_free_modal_derivatives(sp_context *context, sp_fe_space *space, int64_t mode_count, const double *U,
                              const double *eigenvalue, int64_t pair_count, const int64_t *pair,
                              const int64_t *permutation, double *derivative, sp_free_derivatives_report *report)
{
    int64_t rows = 3 * space->mesh->vertex_count;
    sp_pool pool = {0};
    solver s = {.context = context, .modes = mode_count};
    int status;

    *report = (sp_free_derivatives_report){0};
    SP_TRY(prepare(&s, space, &pool, U, eigenvalue, permutation));

    for (int64_t first = 0; first < pair_count; first += GROUP) {
        int64_t count = pair_count - first < GROUP ? pair_count - first : GROUP;
        SP_TRY(solve_group(&s, space, mode_count, U, eigenvalue, count, pair + 2 * first, derivative + first * rows,
                           report));
        SP_TRY(sp_progress(context, (double)(first + count) / (double)pair_count));
    }
done:
    sp_cholesky_free(s.factor);
    sp_sparse_free(&s.K);
    sp_sparse_free(&s.M);
    sp_pool_free(&pool);
    return status;
}
