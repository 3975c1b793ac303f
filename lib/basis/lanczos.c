#include "basis/lanczos.h"

#include "base/random.h"
#include "linear/store.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { WIDTH = 8, RANDOM_BLOCK = 3, RESTARTS = 300, PANEL = 1024 };
_Static_assert((int)WIDTH <= (int)SP_INVERTED_WIDTH, "a block is deflated at once");

/* ---- the operator ---- */

void sp_inverted_deflate(sp_inverted *p, int64_t count, double *x)
{
    sp_dense_inner(p->context, p->n, p->known, p->mass_vectors, count, x, p->coefficients, p->work);
    sp_dense_add(p->context, p->n, p->known, p->vectors, count, p->coefficients, -1, x);
}

int sp_inverted_apply(sp_inverted *p, int64_t count, const double *x, const double *mass_x, double *y)
{
    if (p->S)
        sp_sparse_times(p->context, p->S, count, x, p->image);

    int status = sp_cholesky_solve(p->factor, count, p->S ? p->image : mass_x, y);
    if (status == SP_OK)
        sp_inverted_deflate(p, count, y);

    p->solves += count;
    return status;
}

void sp_inverted_add_known(sp_inverted *p, int64_t count)
{
    sp_sparse_times(p->context, p->M, count, p->vectors + p->known * p->n, p->mass_vectors + p->known * p->n);
    p->known += count;
}

/* ---- the Krylov space ----
 * The operator A has been applied to m columns V. They are followed by w columns Q, M-orthonormal together with V: A V
 * = V H + Q E. H is symmetric. E is stored below H in the same array, in rows m to m + w, and as its transpose beside
 * it. Its nonzero entries are in columns from `coupled` on: those of the last block, or all after a restart. */
typedef struct krylov {
    sp_inverted *p;
    int64_t n, most, m, w, coupled;
    double *V;         /* [n, most + WIDTH] V, Q and the block that is being computed */
    double *MQ, *MW;   /* [n, WIDTH] M Q; M times the result of the operator */
    double *H;         /* [stride, stride] */
    double *theta, *S; /* [most], [most, most] Ritz values, ascending, and vectors */
    double *C, *work;  /* [most, WIDTH] coefficients; panels of sp_dense_inner */
    double *rows;      /* [threads · PANEL · most] of V, rotated */
    int64_t stride;    /* most + 2·WIDTH */
    double scale;      /* scale of the operator: the largest entry of H */
} krylov;

static double *column(const krylov *k, int64_t j)
{
    return k->V + j * k->n;
}

/* W ← W R⁻¹ with RᵀR = WᵀM W; MW = M W is transformed too. Returns the smallest fraction of a column that is
 * independent of those before it. Near 1 rounding has not grown. Below a thousandth nothing is changed. */
static double normalize(krylov *k, int64_t w, double *W, double *MW)
{
    double R[WIDTH * WIDTH], length[WIDTH], least = 1;
    sp_dense_inner(k->p->context, k->n, w, W, w, MW, R, k->work);

    for (int64_t j = 0; j < w; j++)
        length[j] = sqrt(R[(w + 1) * j]);

    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (int)w, R, (int)w) != 0)
        return 0;
    for (int64_t j = 0; j < w; j++) {
        const double alone = R[(w + 1) * j] / length[j];
        if (!(alone > 1e-3))
            return 0;
        least = fmin(least, alone);
    }

    sp_dense_solve_right(k->p->context, k->n, w, R, W);
    sp_dense_solve_right(k->p->context, k->n, w, R, MW);
    return least;
}

/* Makes the *w columns behind the first `have` of V M-orthonormal, and M-orthogonal to those and to the known vectors.
 * MQ receives M times them; MW has M times them on entry. Columns of which at most the fraction `rounding` is left are
 * dropped. */
static int orthonormalize(krylov *k, int64_t have, int64_t *w, double rounding)
{
    sp_context *context = k->p->context;
    const sp_metric metric = {.rows = k->n, .matrix = k->p->M};
    double *W = column(k, have), R[WIDTH * WIDTH];
    const double *image = k->MW;

    /* The dimension of the remaining space: more columns of W could only be rounding, however independent they look. */
    const int64_t left = k->n - k->p->known - have;
    if (left <= 0)
        *w = 0;
    for (int pass = 0; *w > 0 && pass < 2 * WIDTH; pass++) {
        /* W ← W − V VᵀM W, for the known vectors too */
        sp_dense_inner(context, k->n, have, k->V, *w, image, k->C, k->work);
        sp_dense_add(context, k->n, have, k->V, *w, k->C, -1, W);
        sp_inverted_deflate(k->p, *w, W);
        sp_sparse_times(context, k->p->M, *w, W, k->MQ);

        const double alone = *w <= left ? normalize(k, *w, W, k->MQ) : 0;
        if (alone > 0.1)
            return SP_OK;

        /* M W is recomputed: columns that had become short were scaled up, and their rounding with them. */
        if (alone > 0) {
            sp_sparse_times(context, k->p->M, *w, W, k->MQ);
            if (normalize(k, *w, W, k->MQ) > 0)
                return SP_OK;
            break;
        }

        /* Nearly dependent columns: orthonormalize them one by one, then repeat the whole. */
        int64_t rank, kept = 0;
        SP_PASS(sp_metric_orthonormalize(context, &metric, *w, W, 1e-15, R, &rank));

        for (int64_t j = 0; j < *w; j++)
            if (R[(*w + 1) * j] > rounding && kept < left)
                memmove(W + kept++ * k->n, W + j * k->n, (size_t)k->n * sizeof *W);
        *w = kept;
        rounding = 1e-8; /* the columns are unit vectors from here on */
        sp_sparse_times(context, k->p->M, *w, W, k->MQ);
        image = k->MQ;
    }

    return *w == 0 ? SP_OK
                   : sp_fail(context, SP_NUMERICAL,
                             "Lanczos vectors cannot be made orthogonal: the mass matrix is not positive definite");
}

/* Sets Q to random directions in the range of the operator, orthogonal to V. */
static int begin_block(krylov *k)
{
    sp_inverted *p = k->p;
    double *W = column(k, k->m);

    for (int64_t i = 0; i < WIDTH * k->n; i++)
        W[i] = sp_random_uniform(p->context->seed, RANDOM_BLOCK, (uint64_t)((p->known + k->m) * k->n + i)) - 0.5;

    sp_sparse_times(p->context, p->M, WIDTH, W, k->MQ);
    int status = sp_inverted_apply(p, WIDTH, W, k->MQ, W);
    if (status != SP_OK)
        return status;

    sp_sparse_times(p->context, p->M, WIDTH, W, k->MW);
    double longest = 0;
    for (int64_t j = 0; j < WIDTH; j++)
        longest = fmax(longest, sqrt(sp_dense_dot(k->n, W + j * k->n, k->MW + j * k->n)));

    k->w = WIDTH;
    k->coupled = k->m;
    status = orthonormalize(k, k->m, &k->w, 1e-13 * longest);
    if (status == SP_OK && k->w == 0)
        return sp_fail(p->context, SP_NUMERICAL, "Lanczos found no more than %lld directions",
                       (long long)(p->known + k->m));
    return status;
}

/* Appends Q to V. The part of the operator's result that is orthogonal to V becomes the next Q. */
static int advance(krylov *k)
{
    sp_inverted *p = k->p;
    sp_context *context = p->context;
    const int64_t have = k->m + k->w, before = k->m - k->coupled, w = k->w;
    double *W = column(k, have), A[WIDTH * WIDTH];

    SP_PASS(sp_inverted_apply(p, w, column(k, k->m), k->MQ, W));

    /* The operator is self-adjoint: the part of its result along V is Eᵀ, which stands beside H already, and the part
     * along Q is QᵀM times the result. */
    sp_dense_inner(context, k->n, w, k->MQ, w, W, A, k->work);
    for (int64_t j = 0; j < w; j++) {
        memcpy(k->C + (before + w) * j, k->H + k->stride * (k->m + j) + k->coupled, (size_t)before * sizeof *A);
        memcpy(k->C + (before + w) * j + before, A + w * j, (size_t)w * sizeof *A);
        for (int64_t i = 0; i < w; i++) {
            k->H[k->stride * (k->m + j) + k->m + i] = 0.5 * (A[w * j + i] + A[w * i + j]);
            k->scale = fmax(k->scale, fabs(A[w * j + i]));
        }
    }

    sp_dense_add(context, k->n, before + w, column(k, k->coupled), w, k->C, -1, W);
    sp_sparse_times(context, p->M, w, W, k->MW);

    int64_t fresh = w;
    SP_PASS(orthonormalize(k, have, &fresh, 1e-13 * k->scale));

    /* E = QᵀM times what is left, with the new Q, and its transpose beside H. */
    double E[WIDTH * WIDTH];
    sp_dense_inner(context, k->n, fresh, W, w, k->MW, E, k->work);
    for (int64_t j = 0; j < w; j++)
        for (int64_t i = 0; i < fresh; i++)
            k->H[k->stride * (k->m + j) + have + i] = k->H[k->stride * (have + i) + k->m + j] = E[fresh * j + i];

    k->coupled = k->m;
    k->m = have;
    k->w = fresh;
    return SP_OK;
}

/* ‖E s‖ of Ritz vector c. */
static double ritz_residual(const krylov *k, int64_t c)
{
    double square = 0;
    for (int64_t i = 0; i < k->w; i++) {
        double sum = 0;
        for (int64_t j = k->coupled; j < k->m; j++)
            sum += k->H[k->stride * (k->m + i) + j] * k->S[k->m * c + j];
        square += sum * sum;
    }
    return sqrt(square);
}

/* Ritz values and vectors of H. *converged receives how many of the `wanted` largest have a residual ‖E s‖ of at most
 * `tolerance` θ. */
static int ritz(krylov *k, int64_t wanted, double tolerance, int64_t *converged)
{
    for (int64_t j = 0; j < k->m; j++)
        memcpy(k->S + k->m * j, k->H + k->stride * j, (size_t)k->m * sizeof *k->S);

    if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', (int)k->m, k->S, (int)k->m, k->theta) != 0)
        return sp_fail(k->p->context, SP_NUMERICAL, "the eigenvalues of the Lanczos matrix cannot be found");

    *converged = 0;
    for (int64_t c = k->m - wanted; c < k->m; c++)
        *converged += ritz_residual(k, c) <= fmax(tolerance, DBL_EPSILON) * fabs(k->theta[c]);
    return SP_OK;
}

/* Restarts: V keeps the Ritz vectors of the `keep` largest values, and Q is unchanged. */
static void restart(krylov *k, int64_t keep)
{
    const int64_t m = k->m, n = k->n, stride = k->stride;
    const double *S = k->S + (m - keep) * m;

#pragma omp parallel for schedule(static) num_threads(k->p->context->threads)
    for (int64_t first = 0; first < n; first += PANEL) {
        int64_t height = n - first < PANEL ? n - first : PANEL;
        double *turned = k->rows + omp_get_thread_num() * PANEL * k->most;
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)height, (int)keep, (int)m, 1, k->V + first, (int)n,
                    S, (int)m, 0, turned, (int)height);

        for (int64_t j = 0; j < keep; j++)
            memcpy(k->V + j * n + first, turned + j * height, (size_t)height * sizeof *turned);
    }

    memmove(column(k, keep), column(k, m), (size_t)(k->w * n) * sizeof *k->V);

    /* E ← E S, the couplings of the Ritz vectors with Q */
    double *E = k->C; /* [w, keep] */
    for (int64_t j = 0; j < keep; j++)
        for (int64_t i = 0; i < k->w; i++) {
            E[k->w * j + i] = 0;
            for (int64_t c = k->coupled; c < m; c++)
                E[k->w * j + i] += k->H[stride * (m + i) + c] * S[m * j + c];
        }

    /* H becomes the diagonal of Ritz values, bordered by E. */
    memset(k->H, 0, (size_t)(stride * stride) * sizeof *k->H);
    for (int64_t j = 0; j < keep; j++) {
        k->H[(stride + 1) * j] = k->theta[m - keep + j];
        for (int64_t i = 0; i < k->w; i++)
            k->H[stride * j + keep + i] = k->H[stride * (keep + i) + j] = E[k->w * j + i];
    }

    k->m = keep;
    k->coupled = 0;
}

int sp_lanczos(sp_inverted *p, int64_t wanted, double tolerance, double *eigenvalue)
{
    sp_context *context = p->context;
    sp_pool scratch = {0};
    int64_t n = p->n, space_left = n - p->known, roomy = 2 * wanted + 20 * WIDTH,
            most = roomy < space_left ? roomy : space_left, converged = 0;
    int64_t look = wanted + wanted / 4 + WIDTH; /* number of columns at which the Ritz values are computed next */
    int status = sp_dense_fits(context, n, most + 2 * WIDTH);

    if (wanted >= space_left || most > 20000)
        return sp_fail(context, SP_USAGE, "%lld modes of a body with %lld free directions are too many",
                       (long long)(wanted + p->known), (long long)n);

    krylov k = {.p = p, .n = n, .most = most, .stride = most + 2 * WIDTH};
    k.V = sp_pool_raw(&scratch, n * (most + WIDTH), sizeof *k.V);
    k.MQ = sp_pool_raw(&scratch, n * WIDTH, sizeof *k.MQ);
    k.MW = sp_pool_raw(&scratch, n * WIDTH, sizeof *k.MW);
    k.H = sp_pool_new(&scratch, k.stride * k.stride, sizeof *k.H);
    k.theta = sp_pool_raw(&scratch, most, sizeof *k.theta);
    k.S = sp_pool_raw(&scratch, most * most, sizeof *k.S);
    k.C = sp_pool_raw(&scratch, most * WIDTH, sizeof *k.C);
    k.work = sp_pool_raw(&scratch, sp_dense_inner_work(most > WIDTH ? most : WIDTH, WIDTH), sizeof *k.work);
    k.rows = sp_pool_raw(&scratch, context->threads * PANEL * most, sizeof *k.rows);

    if (scratch.failed)
        status = sp_fail_memory(context);
    SP_TRY(status);

    SP_TRY(begin_block(&k));
    for (int restarts = 0;;) {
        SP_TRY(advance(&k));
        SP_TRY(sp_progress(context, 0.05 + 0.85 * (double)converged / (double)wanted));

        bool full = k.m + k.w > most, closed = k.w == 0;
        if (closed && k.m < wanted) {
            SP_TRY(begin_block(&k));
            continue;
        }

        if (k.m < wanted || !(k.m >= look || full || closed))
            continue;

        SP_TRY(ritz(&k, wanted, tolerance, &converged));
        look = k.m + (k.m / 16 > WIDTH ? k.m / 16 : WIDTH);
        if (converged == wanted)
            break;

        if (full && restarts++ == RESTARTS) {
            status = sp_fail(context, SP_NUMERICAL, "Lanczos found %lld of %lld modes", (long long)converged,
                             (long long)wanted);
            goto done;
        }

        if (full) {
            restart(&k, wanted + (most - wanted) / 3);
            look = k.m + WIDTH;
        }
    }

    /* x = V s, λ = σ + 1/θ */
    double *found = p->vectors + p->known * n;
    memset(found, 0, (size_t)(wanted * n) * sizeof *found);
    sp_dense_add(context, n, k.m, k.V, wanted, k.S + (k.m - wanted) * k.m, 1, found);
    for (int64_t i = 0; i < wanted; i++)
        eigenvalue[i] = p->shift + 1 / k.theta[k.m - wanted + i];

    p->next = INFINITY;
    p->near = -INFINITY;
    if (k.m > wanted && k.theta[k.m - wanted - 1] > 0) {
        p->next = p->shift + 1 / k.theta[k.m - wanted - 1];
        p->near = p->shift + 1 / (k.theta[k.m - wanted - 1] + ritz_residual(&k, k.m - wanted - 1));
    }

    sp_inverted_add_known(p, wanted);
done:
    sp_pool_free(&scratch);
    return status;
}
