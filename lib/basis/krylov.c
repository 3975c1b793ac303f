#include "basis/krylov.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { MOST_WIDTH = 32 }; /* largest width of blocks whose Gram matrix is factored at once */

typedef struct krylov {
    sp_context *context;
    const sp_krylov_parameters *parameters;
    const sp_sparse *M;
    sp_metric metric;
    int64_t n, width;         /* number of columns in a complete block */
    double *product;          /* [n, width] M times the block */
    double *inner, *work, *R; /* coefficients of exact orthogonalization */
    double *samples;          /* reduced: [3·count, columns] */
    sp_krylov_report *report;
} krylov;

/* Scales columns to unit mass norm, together with their products with M in k->product. */
static void scale_columns(const krylov *k, int64_t count, double *W)
{
    sp_sparse_times(k->context, k->M, count, W, k->product);
    for (int64_t c = 0; c < count; c++) {
        double square = sp_dense_dot(k->n, W + c * k->n, k->product + c * k->n),
               scale = square > 0 ? 1 / sqrt(square) : 0;
        cblas_dscal((int)k->n, scale, W + c * k->n, 1);
        cblas_dscal((int)k->n, scale, k->product + c * k->n, 1);
    }
}

/* W ← (W − U h) R⁻¹ with h = UᵀMW and RᵀR = WᵀMW − hᵀh, MW in k->product: the Pythagorean variant of block
 * Gram–Schmidt, all in BLAS-3. Returns false, with W unchanged, if so little of a column is left that R would have lost
 * half of its digits. */
static bool project_block(krylov *k, int64_t before, const double *U, int64_t count, double *W)
{
    int64_t n = k->n;
    double gram[MOST_WIDTH * MOST_WIDTH], length[MOST_WIDTH];

    sp_dense_inner(k->context, n, before, U, count, k->product, k->inner, k->work);
    sp_dense_inner(k->context, n, count, W, count, k->product, gram, k->work);

    for (int64_t c = 0; c < count; c++)
        length[c] = gram[c * count + c];

    /* RᵀR = WᵀMW − hᵀh */
    if (before > 0)
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)count, (int)before, -1, k->inner, (int)before, 1, gram,
                    (int)count);

    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (int)count, gram, (int)count) != 0)
        return false;
    for (int64_t c = 0; c < count; c++)
        if (!(gram[c * count + c] * gram[c * count + c] > 1e-8 * length[c]))
            return false;

    sp_dense_add(k->context, n, before, U, count, k->inner, -1, W);
    sp_dense_solve_right(k->context, n, count, gram, W);
    return true;
}

/* Block Gram–Schmidt against the `before` columns at U; the block that follows them is orthonormalized within itself.
 * It is done twice, since a column that loses most of its length has only half of its digits after the first pass. If
 * the operator is symmetric, the first pass needs the `recent` columns alone; the rest along the other columns is only
 * rounding, or else another pass follows. Several blocks at a time, which would read U less often, do not work: that
 * rounding grows by 1e4 and more from one block to the next, and after two of them nothing else is left (measured). */
static int orthogonalize_exactly(krylov *k, int64_t before, int64_t recent, const double *U, int64_t count, double *W)
{
    int64_t n = k->n, rank;
    double left = INFINITY; /* largest inner product of the last pass */
    for (int pass = 0; pass < 2 || (pass < 4 && left > 1e-8); pass++) {
        const int64_t against = pass == 0 ? recent : before;
        const double *of = U + (before - against) * n;

        /* The second pass needs M times what the first one has left. */
        if (pass > 0)
            sp_sparse_times(k->context, k->M, count, W, k->product);

        /* Columns that cannot be projected as a block are taken one after another, which shows the dependent ones. */
        bool done = count <= MOST_WIDTH && project_block(k, against, of, count, W);
        if (!done) {
            sp_dense_inner(k->context, n, against, of, count, k->product, k->inner, k->work);
            sp_dense_add(k->context, n, against, of, count, k->inner, -1, W);
        }

        left = 0;
        for (int64_t i = 0; i < against * count; i++)
            left = fmax(left, fabs(k->inner[i]));
        if (pass == 0) /* columns have norm 1 on entry */
            k->report->cosine = fmax(k->report->cosine, fmin(1, left));
        if (done)
            continue;

        /* Relative to a unit vector, anything below this is rounding of the solves. */
        if (pass == 0) {
            sp_sparse_times(k->context, k->M, count, W, k->product);
            for (int64_t c = 0; c < count; c++)
                if (!(sp_dense_dot(n, W + c * n, k->product + c * n) > 1e-20))
                    memset(W + c * n, 0, (size_t)n * sizeof *W);
        }

        SP_PASS(sp_metric_orthonormalize(k->context, &k->metric, count, W, 1e-10, k->R, &rank));
    }
    return SP_OK;
}

static int64_t close_gaps(int64_t n, int64_t count, double *W)
{
    int64_t kept = 0;
    for (int64_t c = 0; c < count; c++) {
        bool zero = true;
        for (int64_t i = 0; i < n && zero; i++)
            zero = W[c * n + i] == 0;
        if (zero)
            continue;

        if (kept != c)
            memcpy(W + kept * n, W + c * n, (size_t)n * sizeof *W);
        kept++;
    }
    return kept;
}

static int orthogonalize(krylov *k, int64_t before, int64_t recent, double *U, int64_t count, double *W, int64_t *kept)
{
    int status = SP_OK;
    double begin = omp_get_wtime();

    scale_columns(k, count, W);
    if (k->parameters->orthogonalization == SP_ORTHOGONAL_EXACT)
        status = orthogonalize_exactly(k, before, recent, U, count, W);
    else if (k->parameters->orthogonalization == SP_ORTHOGONAL_REDUCED)
        status = sp_reduced_mgs(k->context, k->parameters->inner, k->parameters->culling, k->n, before, U, count, W,
                                k->samples, &k->report->subtractions, &k->report->culled, &k->report->cosine);

    *kept = close_gaps(k->n, count, W);
    if (status == SP_OK && k->parameters->orthogonalization == SP_ORTHOGONAL_REDUCED && *kept < count)
        sp_sparse_inner_gather(k->parameters->inner, k->n, *kept, W,
                               k->samples + 3 * k->parameters->inner->count * before);

    k->report->dependent += count - *kept;
    k->report->orthogonalization_seconds += omp_get_wtime() - begin;
    return status;
}

static int prepare(krylov *k, sp_pool *pool)
{
    int64_t count = k->parameters->count;

    k->product = sp_pool_raw(pool, k->n * k->width, sizeof(double));
    k->R = sp_pool_raw(pool, k->width * k->width, sizeof(double));
    if (k->parameters->orthogonalization == SP_ORTHOGONAL_EXACT) {
        k->inner = sp_pool_raw(pool, count * k->width, sizeof(double));
        k->work = sp_pool_raw(pool, sp_dense_inner_work(count > k->width ? count : k->width, k->width), sizeof(double));
    } else if (k->parameters->orthogonalization == SP_ORTHOGONAL_REDUCED)
        k->samples = sp_pool_raw(pool, 3 * k->parameters->inner->count * count, sizeof(double));
    return sp_allocated(k->context, !pool->failed);
}

/* The start block with columns of zeros where a load is only a rigid acceleration of a free body: what the balance
 * leaves of it is rounding. NULL: out of memory. */
static double *balanced_start(sp_flexibility *flexibility, int64_t n, int64_t count, const double *F, sp_pool *pool)
{
    double *start = sp_pool_copy(pool, F, n * count, sizeof *start),
           *left = sp_pool_copy(pool, F, n * count, sizeof *left);

    if (pool->failed)
        return NULL;

    sp_flexibility_balance(flexibility, count, left);
    for (int64_t c = 0; c < count; c++)
        if (!(cblas_dnrm2((int)n, left + c * n, 1) > 1e-10 * cblas_dnrm2((int)n, F + c * n, 1)))
            memset(start + c * n, 0, (size_t)n * sizeof *start);

    sp_pool_drop(pool, left);
    return start;
}

int sp_inertia_modes(sp_context *context, sp_flexibility *flexibility, const sp_sparse *M, int64_t start_count,
                     const double *F, const sp_krylov_parameters *parameters, double *U, int64_t *columns,
                     sp_krylov_report *report)
{
    int64_t n = M->order, have = 0, last = 0, before_last = 0;
    sp_pool pool = {0};
    krylov k = {.context = context,
                .parameters = parameters,
                .M = M,
                .metric = {.rows = n, .matrix = M},
                .n = n,
                .report = report};

    k.width = start_count < parameters->count ? start_count : parameters->count;
    int status;
    *report = (sp_krylov_report){0};
    *columns = 0;

    SP_TRY(prepare(&k, &pool));
    const double *start = balanced_start(flexibility, n, k.width, F, &pool);
    SP_TRY(sp_allocated(context, start));

    while (have < parameters->count) {
        int64_t width = report->order == 0 ? k.width : last, space_left = parameters->count - have;
        width = width < space_left ? width : space_left;
        double *W = U + have * n, begin = omp_get_wtime();

        /* U⁽¹⁾ = K⁻¹F, U⁽ᵐ⁾ = K⁻¹M U⁽ᵐ⁻¹⁾ */
        if (report->order > 0)
            sp_sparse_times(context, M, width, U + (have - last) * n, k.product);
        SP_TRY(sp_flexibility_solve(flexibility, width, report->order == 0 ? start : k.product, W));

        report->solves += width;
        report->order++;
        report->solve_seconds += omp_get_wtime() - begin;

        /* If K⁻¹M is self-adjoint, a new block is orthogonal to all but the last two, up to rounding. */
        int64_t recent = parameters->symmetric ? before_last + last : have;
        before_last = last;
        SP_TRY(orthogonalize(&k, have, recent, U, width, W, &last));
        if (last == 0)
            break;

        have += last;
        SP_TRY(sp_progress(context, (double)have / (double)parameters->count));
    }

    if (have == 0) {
        status = sp_fail(context, SP_INPUT, "the start block leads to no deformation");
        goto done;
    }

    *columns = have;
    sp_dense_fix_signs(n, have, U);

    /* The other orthogonalizations do not keep the mass norm. */
    if (parameters->orthogonalization != SP_ORTHOGONAL_EXACT)
        for (int64_t first = 0; first < have; first += k.width)
            scale_columns(&k, have - first < k.width ? have - first : k.width, U + first * n);

    status = sp_metric_orthogonality(context, &k.metric, have, U, &report->orthogonality);
    if (parameters->orthogonalization == SP_ORTHOGONAL_NONE)
        report->cosine = report->orthogonality;
done:
    sp_pool_free(&pool);
    return status;
}
