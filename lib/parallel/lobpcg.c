/* Locally optimal block preconditioned conjugate gradients (Knyazev, SIAM J. Sci. Comput. 23, 2001).
 *
 * The trial space of an iteration is spanned by the block of Ritz vectors X, the last steps P and the preconditioned
 * residuals W, all M-orthonormal: coefficients of P are made orthonormal to those of X (Hetmaniuk and Lehoucq, J.
 * Comput. Phys. 218, 2006; Duersch et al., SIAM J. Sci. Comput. 40, 2018). Vectors that have converged leave the block,
 * which is filled up by preconditioned random vectors. SLEPc has this method too, with twice the memory and with a
 * residual that depends on the units of mass. */
#include "parallel/internal.h"

#include "base/random.h"
#include "linear/dense.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, GUARD = 4, ITERATIONS = 500, PANEL = 256 };

/* Columns [X P W] of the trial space, one after another, with their products. */
typedef struct trial_space {
    int64_t own, most;                 /* rows of this rank; columns of each of the three blocks */
    int64_t x, p, w;                   /* columns in use */
    double *vector, *stiff, *mass;     /* [own, 3·most] v, A v, M v: X from column 0, then P, then W */
    double *value;                     /* [3·most] Ritz values of X */
    double *H, *G, *C, *small, *image; /* [3·most, 3·most] */
    double tolerance;                  /* residual of a vector that has converged */
    uint64_t drawn;                    /* random columns so far */
} trial_space;

static int new_trial_space(sp_context *context, int64_t own, int64_t most, sp_pool *pool, trial_space *t)
{
    *t = (trial_space){.own = own, .most = most};
    t->vector = sp_pool_raw(pool, 3 * own * most, sizeof *t->vector);
    t->stiff = sp_pool_raw(pool, 3 * own * most, sizeof *t->stiff);
    t->mass = sp_pool_raw(pool, 3 * own * most, sizeof *t->mass);
    t->value = sp_pool_new(pool, 3 * most, sizeof *t->value);
    t->H = sp_pool_raw(pool, 9 * most * most, sizeof *t->H);
    t->C = sp_pool_raw(pool, 9 * most * most, sizeof *t->C);
    t->small = sp_pool_raw(pool, 9 * most * most, sizeof *t->small);
    t->G = sp_pool_raw(pool, 9 * most * most, sizeof *t->G);
    t->image = sp_pool_raw(pool, 9 * most * most, sizeof *t->image);
    return sp_allocated(context, !pool->failed);
}

/* Q and a rank for G [k, k] = the products of k columns: columns times Q [k, rank] are orthonormal, without directions
 * below `least` of the largest column (Stathopoulos and Wu, SIAM J. Sci. Comput. 23, 2002). */
static int orthonormal_mix(sp_context *context, int64_t k, double least, double *G, double *Q, int64_t *rank)
{
    double scale[3 * BLOCK], value[3 * BLOCK];

    /* Columns of unit length, since lengths of residuals differ by orders of magnitude */
    for (int64_t i = 0; i < k; i++)
        scale[i] = G[i * (k + 1)] > 0 ? 1 / sqrt(G[i * (k + 1)]) : 0;
    for (int64_t i = 0; i < k * k; i++)
        G[i] *= scale[i / k] * scale[i % k];

    if (LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', (int)k, G, (int)k, value) != 0)
        return sp_fail(context, SP_NUMERICAL, "the trial vectors cannot be orthonormalized");

    *rank = 0;

    /* Largest first: directions of small eigenvalues are those in which the columns depend on each other. */
    for (int64_t j = k - 1; j >= 0; j--) {
        if (!(value[j] > least * value[k - 1]))
            continue;
        for (int64_t i = 0; i < k; i++)
            Q[*rank * k + i] = scale[i] * G[j * k + i] / sqrt(value[j]);
        ++*rank;
    }

    /* Every rank takes the numbers of the first: eigenvectors may differ in their signs. */
    sp_parallel_same(Q, k * k);
    MPI_Bcast(rank, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return SP_OK;
}

/* columns [own, k] ← columns times Q [k, to ≤ k], panel by panel in place. */
static void mix_columns(const sp_context *context, int64_t own, int64_t k, int64_t to, const double *Q, double *columns)
{
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t first = 0; first < own; first += PANEL) {
        double panel[PANEL * 3 * BLOCK];
        const int rows = (int)(own - first < PANEL ? own - first : PANEL);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, (int)to, (int)k, 1, columns + first, (int)own, Q,
                    (int)k, 0, panel, PANEL);
        for (int64_t c = 0; c < to; c++)
            memcpy(columns + c * own + first, panel + c * PANEL, (size_t)rows * sizeof *panel);
    }
}

/* W, whose columns are in place, becomes M-orthonormal to the found vectors, to X, to P and in itself. */
static int orthonormalize_w(sp_context *context, sp_parallel_solver *s, const sp_found_modes *found, trial_space *t)
{
    const int64_t before = t->x + t->p, n = t->own;
    int64_t rank;
    double *w = t->vector + before * n, *mass_w = t->mass + before * n;
    double *part = sp_memory_new((size_t)((found->count + before + 1) * t->w) * sizeof *part);
    int status = sp_allocated(context, part);

    /* Twice, since one pass leaves what rounding makes of nearly dependent columns. */
    for (int pass = 0; pass < 2 && status == SP_OK; pass++) {
        /* W −= X_f (M X_f)ᵀ W, and the same for X and P */
        SP_TRY(sp_parallel_inner(context, s, found->count, found->mass_x, t->w, w, part));
        if (found->count > 0)
            sp_dense_add(context, n, found->count, found->x, t->w, part, -1, w);

        SP_TRY(sp_parallel_inner(context, s, before, t->mass, t->w, w, part));
        if (before > 0)
            sp_dense_add(context, n, before, t->vector, t->w, part, -1, w);

        /* W ← W C with Cᵀ (Wᵀ M W) C = 1, without what is dependent */
        SP_TRY(sp_parallel_apply(context, s, SP_TIMES_M, t->w, w, mass_w));
        SP_TRY(sp_parallel_inner(context, s, t->w, w, t->w, mass_w, t->small));
        SP_TRY(orthonormal_mix(context, t->w, 1e-14, t->small, t->C, &rank));

        mix_columns(context, n, t->w, rank, t->C, w);
        mix_columns(context, n, t->w, rank, t->C, mass_w);
        t->w = rank;
    }
done:
    free(part);
    return status;
}

/* The residuals of all Ritz vectors [own, x], where A W will be, and their relative norms. Their components along the
 * found vectors are removed: these have errors of their own, and Rayleigh–Ritz over all vectors settles them at the
 * end. */
static int ritz_residuals(sp_context *context, sp_parallel_solver *s, const sp_found_modes *found, trial_space *t,
                          double *left, double *error)
{
    const int64_t n = t->own;
    double sums[2 * BLOCK] = {0};
    double *part = sp_memory_new((size_t)(found->count * t->x + 1) * sizeof *part);
    int status = sp_allocated(context, part);
    if (status != SP_OK)
        return status;

#pragma omp parallel for schedule(static) num_threads(context->threads)
    /* r = A x − θ M x */
    for (int64_t j = 0; j < t->x; j++)
        for (int64_t i = 0; i < n; i++)
            left[j * n + i] = t->stiff[j * n + i] - t->value[j] * t->mass[j * n + i];

    /* r −= M X_f (X_fᵀ r) */
    SP_TRY(sp_parallel_inner(context, s, found->count, found->x, t->x, left, part));
    if (found->count > 0 && t->x > 0)
        sp_dense_add(context, n, found->count, found->mass_x, t->x, part, -1, left);

#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t j = 0; j < t->x; j++) {
        sums[2 * j] = sp_dense_dot(n, left + j * n, left + j * n);
        sums[2 * j + 1] = sp_dense_dot(n, t->mass + j * n, t->mass + j * n);
    }

    /* |A x − θ M x| / (θ |M x|) */
    MPI_Allreduce(MPI_IN_PLACE, sums, 2 * BLOCK, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t j = 0; j < t->x; j++)
        error[j] = sqrt(sums[2 * j] / sums[2 * j + 1]) / t->value[j];
done:
    free(part);
    return status;
}

/* A column of normal random numbers, which do not depend on the ranks. */
static void draw(const sp_context *context, const sp_parallel_solver *s, uint64_t seed, uint64_t stream, double *column)
{
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t i = 0; i < s->own; i++)
        column[i] = sp_random_normal(seed, 40 + stream, (uint64_t)(s->first + i));
}

/* W = the preconditioned residuals of the first `active` vectors, without those that have converged, and random vectors
 * where there are fewer. The residuals [own, x] and their norms are those of the present vectors. */
static int fill_w(sp_context *context, sp_parallel_solver *s, uint64_t seed, int64_t active, const double *residuals,
                  const double *error, trial_space *t)
{
    const int64_t n = t->own;
    double *load = t->stiff + (t->x + t->p) * n; /* not behind the residuals */
    t->w = 0;

    for (int64_t j = 0; j < active; j++) {
        double *next = load + t->w * n;
        if (j < t->x && error[j] <= t->tolerance)
            continue;
        if (j < t->x)
            memmove(next, residuals + j * n, (size_t)n * sizeof *next);
        else
            draw(context, s, seed, t->drawn++, next);
        t->w++;
    }

    return sp_parallel_apply(context, s, SP_CYCLE, t->w, load, t->vector + (t->x + t->p) * n);
}

/* steps [k, x] ← G-orthogonal to C [k, x], twice; Gs [x, x] receives the products of the steps. */
static void part_from(const trial_space *t, int k, int x, const double *C, double *steps, double *Gs)
{
    for (int pass = 0; pass < 3; pass++) {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, k, x, k, 1, t->G, k, steps, k, 0, t->image, k);
        if (pass == 2)
            break;
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, x, x, k, 1, C, k, t->image, k, 0, Gs, x);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, k, x, x, -1, C, k, Gs, x, 1, steps, k);
    }
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, x, x, k, 1, steps, k, t->image, k, 0, Gs, x);

    /* A step within the span of the Ritz vectors is only rounding. */
    for (int j = 0; j < x; j++)
        if (Gs[j * (x + 1)] < 1e-24)
            Gs[j * (x + 1)] = 0;
}

/* The lowest Ritz vectors of the trial space become X, and what they have of P and W, orthonormal to them, P. The space
 * is orthonormal but for rounding, which grows from step to step: without G = SᵀMS it would be the limit of the
 * residuals. */
static int next_block(sp_context *context, sp_parallel_solver *s, trial_space *t)
{
    const int64_t k = t->x + t->p + t->w, x = t->most < k ? t->most : k, n = t->own;
    double *C = t->H, *steps = t->C, Gs[BLOCK * BLOCK], Q[BLOCK * BLOCK];
    int64_t p;

    /* Rayleigh–Ritz with G: H C = G C diag(θ) */
    SP_PASS(sp_parallel_inner(context, s, k, t->vector, k, t->stiff, t->H));
    SP_PASS(sp_parallel_inner(context, s, k, t->vector, k, t->mass, t->G));
    memcpy(t->small, t->G, (size_t)(k * k) * sizeof *t->small);
    if (LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'U', (int)k, C, (int)k, t->small, (int)k, t->value) != 0)
        return sp_fail(context, SP_NUMERICAL, "the projected eigenproblem failed");

    sp_parallel_same(C, k * k);
    sp_parallel_same(t->value, k);

    /* The same combinations without their part of X, made orthogonal to the new X */
    memcpy(steps, C, (size_t)(k * x) * sizeof *steps);
    for (int64_t j = 0; j < x; j++)
        memset(steps + j * k, 0, (size_t)t->x * sizeof *steps);
    part_from(t, (int)k, (int)x, C, steps, Gs);
    SP_PASS(orthonormal_mix(context, x, 1e-12, Gs, Q, &p));

    p = p < k - x ? p : k - x;
    if (p > 0)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)k, (int)p, (int)x, 1, steps, (int)k, Q, (int)x, 0,
                    C + k * x, (int)k);

    sp_parallel_same(C, k * (x + p));
    mix_columns(context, n, k, x + p, C, t->vector);
    mix_columns(context, n, k, x + p, C, t->stiff);
    mix_columns(context, n, k, x + p, C, t->mass);

    t->x = x;
    t->p = p;
    return SP_OK;
}

/* The leading vectors that have converged become known, at most `wanted`; the others move up. Returns their number. */
static int64_t lock(int64_t wanted, const double *error, trial_space *t, sp_found_modes *found)
{
    const int64_t n = t->own, columns = t->x + t->p;
    double *const arrays[] = {t->vector, t->stiff, t->mass};
    int64_t ready = 0;

    while (ready < t->x && ready < wanted && error[ready] <= t->tolerance)
        ready++;
    memcpy(found->x + found->count * n, t->vector, (size_t)(ready * n) * sizeof *found->x);
    memcpy(found->mass_x + found->count * n, t->mass, (size_t)(ready * n) * sizeof *found->x);
    memcpy(found->value + found->count, t->value, (size_t)ready * sizeof *found->value);
    found->count += ready;

    if (ready > 0)
        for (int a = 0; a < 3; a++)
            memmove(arrays[a], arrays[a] + ready * n, (size_t)((columns - ready) * n) * sizeof *arrays[a]);
    memmove(t->value, t->value + ready, (size_t)(t->x - ready) * sizeof *t->value);
    t->x -= ready;
    return ready;
}

int sp_parallel_lobpcg(sp_context *context, sp_parallel_solver *s, sp_found_modes *found, int64_t wanted,
                       double tolerance, uint64_t seed)
{
    const int64_t all = wanted, most = wanted + GUARD < BLOCK ? wanted + GUARD : BLOCK;
    double error[BLOCK] = {1};
    sp_pool scratch = {0};
    trial_space t;
    int status;

    SP_TRY(new_trial_space(context, s->own, most, &scratch, &t));
    t.tolerance = tolerance;
    for (int iteration = 0;; iteration++) {
        double *residuals = t.stiff + (t.x + t.p) * t.own;

        SP_TRY(ritz_residuals(context, s, found, &t, residuals, error));
        const int64_t ready = lock(wanted, error, &t, found);
        wanted -= ready;
        if (wanted == 0)
            break;

        if (iteration == ITERATIONS) {
            status = sp_fail(context, SP_NUMERICAL,
                             "%lld of %lld modes have converged after %d iterations, the next has the residual %.1e",
                             (long long)(all - wanted), (long long)all, iteration, error[ready]);
            goto done;
        }

        /* W from the residuals; Rayleigh and Ritz's method on X, P and W gives the next X and P. */
        SP_TRY(fill_w(context, s, seed, wanted + GUARD < most ? wanted + GUARD : most, residuals + ready * t.own,
                      error + ready, &t));
        SP_TRY(orthonormalize_w(context, s, found, &t));
        SP_TRY(sp_parallel_apply(context, s, SP_TIMES_A, t.w, t.vector + (t.x + t.p) * t.own,
                                 t.stiff + (t.x + t.p) * t.own));
        SP_TRY(next_block(context, s, &t));
        SP_TRY(sp_progress(context, (double)(all - wanted) / (double)all));
    }
done:
    sp_pool_free(&scratch);
    return status;
}
