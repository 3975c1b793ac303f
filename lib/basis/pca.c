#include "basis/pca.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* left [count, count] receives the left singular vectors of R [count, count], which is overwritten. */
static int decompose(sp_context *context, int64_t count, double *R, double *singular_value, double *left)
{
    double unused, statistics[7];
    lapack_int numbers[3];

    /* C: accuracy is independent of the scaling of columns; N: small values are not set to 0. */
    lapack_int info = LAPACKE_dgejsv(LAPACK_COL_MAJOR, 'C', 'U', 'N', 'N', 'N', 'N', (int)count, (int)count, R,
                                     (int)count, singular_value, left, (int)count, &unused, 1, statistics, numbers);

    if (info != 0)
        return sp_fail(context, SP_NUMERICAL, "the singular value decomposition did not converge");

    double scale = statistics[0] / statistics[1]; /* dgejsv's scale factor against overflow, usually 1 */
    for (int64_t i = 0; i < count; i++)
        singular_value[i] *= scale;
    return SP_OK;
}

/* Jacobi rotations give the vectors of small singular values with fewer orthogonal digits: their components along the
 * earlier ones are removed. */
static void orthogonalize_small(int64_t count, int64_t columns, double *left, double *work)
{
    for (int64_t c = 0; c < columns; c++) {
        double *column = left + c * count;

        const int passes = c > 0 ? 2 : 0;
        for (int pass = 0; pass < passes; pass++) {
            cblas_dgemv(CblasColMajor, CblasTrans, (int)count, (int)c, 1, left, (int)count, column, 1, 0, work, 1);
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)count, (int)c, -1, left, (int)count, work, 1, 1, column, 1);
        }

        cblas_dscal((int)count, 1 / cblas_dnrm2((int)count, column, 1), column, 1);
    }
}

int64_t sp_mass_pca_matrices(int64_t count)
{
    /* R and its copy, left vectors, and the workspace of dgejsv: 4n² at most. */
    return (int64_t)sizeof(double) * 7 * count * count;
}

/* Matrices [count, count] and results. */
typedef struct pca {
    sp_pool pool;
    const sp_metric *metric;
    sp_store *store;
    int64_t count, most, kept, rank;
    double *R, *copy, *left, *singular_value;
} pca;

static void find_rank(pca *p, int64_t independent)
{
    p->rank = 0;
    while (p->rank < independent && p->singular_value[p->rank] > 1e-14 * p->singular_value[0])
        p->rank++;

    for (int64_t i = p->rank; i < p->count; i++)
        p->singular_value[i] = 0;
    p->kept = p->most && p->most < p->rank ? p->most : p->rank;
}

/* ---- by orthonormalization: accurate for any columns ---- */

static int by_orthonormalization(sp_context *context, pca *p)
{
    int64_t count = p->count, independent;

    bool *dependent = sp_pool_raw(&p->pool, count, sizeof *dependent);
    SP_PASS(sp_allocated(context, dependent));

    SP_PASS(sp_store_orthonormalize(context, p->metric, p->store, 1e-15, p->R, &independent));
    for (int64_t c = 0; c < count; c++)
        dependent[c] = p->R[c * count + c] == 0;

    memset(p->singular_value, 0, (size_t)count * sizeof *p->singular_value);
    if (independent > 0)
        SP_PASS(decompose(context, count, p->R, p->singular_value, p->left));

    find_rank(p, independent);

    /* Dependent columns have no column of Q: their coefficients are only rounding of the rotations. */
    for (int64_t c = 0; c < p->kept; c++)
        for (int64_t i = 0; i < count; i++)
            p->left[c * count + i] = dependent[i] ? 0 : p->left[c * count + i];

    orthogonalize_small(count, p->kept, p->left, p->R);
    return sp_store_times(context, p->store, p->kept, p->left);
}

/* ---- by the Gram matrix: few passes over the columns ---- */

/* Computes the upper triangular R with RᵀR = G, where the upper triangle of R holds G on entry, by the Cholesky
 * factorization of the Gram matrix of the normalized columns, whose rounding is relative to each column. Returns false
 * if a column is zero or depends on others to all digits. */
static bool factor(int64_t count, double *R, double *length)
{
    for (int64_t c = 0; c < count; c++)
        if (!((length[c] = sqrt(R[c * count + c])) > 0 && isfinite(length[c])))
            return false;

    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i <= c; i++)
            R[c * count + i] = i == c ? 1 : R[c * count + i] / length[i] / length[c];

    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (int)count, R, (int)count) != 0)
        return false;

    /* R ← R diag(l) */
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i <= c; i++)
            R[c * count + i] *= length[c];
    return true;
}

/* Returns true if the Gram matrix is accurate enough for the kept directions.
 *
 * The entries of the Gram matrix of the normalized columns have errors of some ε, the matrix has one of about e = ε
 * √count. Let b_i be the length of the coefficients, in normalized columns, of the i-th singular direction of length 1.
 * It is 1 for orthonormal columns, and at most the inverse of the smallest singular value of the normalized columns. To
 * first order the square of singular value i has the relative error e b_i², and kept direction i receives the component
 * e b_i b_j σ_j² / (σ_i² − σ_j²) of a dropped direction j. (Components of other kept directions do not matter, since
 * these are orthonormalized and decomposed again.)
 *
 * Orthonormalization has the error e (σ_i² b_i + σ_j² b_j) / (σ_i² − σ_j²) instead, which is of the same size if b_i is
 * moderate, however large the b_j of small directions are. Both have the same gap, so that the limit is on the factor
 * before it. */
static bool accurate_enough(const pca *p, const double *b)
{
    const double e = DBL_EPSILON * sqrt((double)p->count);
    double kept = 0, left_out = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const double square = p->singular_value[i] * p->singular_value[i];

        /* Three digits of the smallest dropped singular value remain, so that the rank is certain. */
        if (!(e * b[i] * b[i] <= 1e-3))
            return false;

        if (i < p->kept)
            kept = fmax(kept, b[i] / square);
        else
            left_out = fmax(left_out, b[i] * square);
    }
    return e * kept * left_out <= 1e-11;
}

/* Makes the kept columns, which are orthonormal to a few digits, orthonormal by their current Gram matrix: its Cholesky
 * factor times the singular values has the decomposition of the original columns. */
static int orthonormalize_kept(sp_context *context, pca *p, double *length)
{
    int64_t kept = p->kept;

    SP_PASS(sp_store_gram(context, p->metric, p->store, p->R));
    if (!factor(kept, p->R, length))
        return sp_fail(context, SP_NUMERICAL, "the principal directions depend on each other");

    /* The Cholesky factor times the singular values: R diag(σ). */
    for (int64_t c = 0; c < kept; c++)
        for (int64_t i = 0; i < kept; i++)
            p->copy[c * kept + i] = p->R[c * kept + i] * p->singular_value[c];

    SP_PASS(decompose(context, kept, p->copy, p->singular_value, p->left));

    /* Of two singular values that are equal to rounding, the dropped one may have become the larger. */
    for (int64_t i = kept; i < p->count && p->singular_value[i] > p->singular_value[i - 1]; i++)
        p->singular_value[i] = p->singular_value[i - 1];

    orthogonalize_small(kept, kept, p->left, p->copy);

    /* U ← U R⁻¹ L */
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, (int)kept, (int)kept, 1, p->R,
                (int)kept, p->left, (int)kept);

    return sp_store_times(context, p->store, kept, p->left);
}

/* *possible receives whether the Gram matrix was accurate enough; if not, the columns are unchanged. */
static int by_gram_matrix(sp_context *context, pca *p, bool *possible)
{
    int64_t count = p->count;
    int status;
    double *length = sp_pool_raw(&p->pool, count, sizeof *length),
           *coefficients = sp_pool_raw(&p->pool, count, sizeof *coefficients);
    *possible = false;
    SP_PASS(sp_allocated(context, !p->pool.failed));

    SP_TRY(sp_store_gram(context, p->metric, p->store, p->R));
    if (count == 0 || !factor(count, p->R, length))
        goto done;

    memcpy(p->copy, p->R, (size_t)(count * count) * sizeof *p->copy);
    SP_TRY(decompose(context, count, p->copy, p->singular_value, p->left));
    find_rank(p, count);

    /* Coefficients R⁻¹ L of the principal directions in the given columns. */
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, (int)count, (int)count, 1, p->R,
                (int)count, p->left, (int)count);

    /* The lengths of the coefficients in normalized columns are the b_i of accurate_enough. */
    for (int64_t c = 0; c < count; c++) {
        double square = 0;
        for (int64_t i = 0; i < count; i++)
            square += pow(length[i] * p->left[c * count + i], 2);
        coefficients[c] = sqrt(square);
    }

    *possible = accurate_enough(p, coefficients);
    if (!*possible)
        goto done;

    SP_TRY(sp_store_times(context, p->store, p->kept, p->left));
    SP_TRY(orthonormalize_kept(context, p, length));
done:
    return status;
}

int sp_mass_pca(sp_context *context, const sp_metric *metric, int64_t most, sp_store *store, double *singular_value,
                int64_t *rank)
{
    int64_t count = store->count;
    pca p = {.metric = metric, .store = store, .count = count, .most = most, .singular_value = singular_value};
    bool possible;
    int status;

    p.R = sp_pool_raw(&p.pool, count * count, sizeof *p.R);
    p.copy = sp_pool_raw(&p.pool, count * count, sizeof *p.copy);
    p.left = sp_pool_raw(&p.pool, count * count, sizeof *p.left);
    SP_TRY(sp_allocated(context, !p.pool.failed));

    SP_TRY(by_gram_matrix(context, &p, &possible));
    if (!possible)
        SP_TRY(by_orthonormalization(context, &p));

    *rank = p.rank;
    SP_TRY(sp_store_fix_signs(context, store));
done:
    sp_pool_free(&p.pool);
    return status;
}

/* With A = QR and R₂₂ the rows and columns of R beyond the first ones, the principal directions are Q₂ times the left
 * singular vectors of R₂₂. */
int sp_mass_pca_beyond(sp_context *context, const sp_metric *metric, int64_t first, int64_t most, sp_store *store,
                       double *value, int64_t *rank)
{
    const int64_t count = store->count, others = count - first;
    int64_t independent, own = 0;
    pca p = {.count = others, .metric = metric, .store = store};
    int status;

    double *R = sp_pool_raw(&p.pool, count * count, sizeof *R);
    p.R = sp_pool_new(&p.pool, others * others, sizeof *p.R);
    p.left = sp_pool_new(&p.pool, others * others, sizeof *p.left);
    p.singular_value = sp_pool_new(&p.pool, others + 1, sizeof *p.singular_value);
    double *map = sp_pool_new(&p.pool, count * count, sizeof *map);

    SP_TRY(sp_allocated(context, !p.pool.failed));

    SP_TRY(sp_store_orthonormalize(context, metric, store, 1e-13, R, &independent));

    /* The first columns remain, without those that depend on earlier ones. */
    for (int64_t c = 0; c < first; c++)
        if (R[c * count + c] != 0) {
            value[own] = R[c * count + c];
            map[own++ * count + c] = 1;
        }

    /* R₂₂ of the others is decomposed as a matrix of its own. */
    for (int64_t c = 0; c < others; c++)
        cblas_dcopy((int)others, R + (first + c) * count + first, 1, p.R + c * others, 1);

    if (independent > own)
        SP_TRY(decompose(context, others, p.R, p.singular_value, p.left));

    p.most = most ? most - own : 0;
    find_rank(&p, independent - own);
    if (most && p.most == 0)
        p.kept = 0;

    orthogonalize_small(others, p.kept, p.left, p.R);
    for (int64_t k = 0; k < p.kept; k++)
        for (int64_t i = 0; i < others; i++)
            map[(own + k) * count + first + i] = R[(first + i) * count + first + i] == 0 ? 0 : p.left[k * others + i];

    cblas_dcopy((int)p.rank, p.singular_value, 1, value + own, 1);
    *rank = own + p.rank;

    SP_TRY(sp_store_times(context, store, own + p.kept, map));
    SP_TRY(sp_store_fix_signs(context, store));
done:
    sp_pool_free(&p.pool);
    return status;
}

int sp_mass_gram_schmidt(sp_context *context, const sp_metric *metric, int64_t most, double threshold, sp_store *store,
                         double *residual_norm, int64_t *rank)
{
    int64_t count = store->count;
    sp_pool scratch = {0};
    int status;

    double *R = sp_pool_raw(&scratch, count * count, sizeof *R);
    int64_t *kept = sp_pool_raw(&scratch, count, sizeof *kept);

    SP_TRY(sp_allocated(context, !scratch.failed));

    SP_TRY(sp_store_orthonormalize(context, metric, store, threshold, R, rank));

    for (int64_t c = 0, k = 0; c < count; c++)
        if (R[c * count + c] != 0) {
            residual_norm[k] = R[c * count + c];
            kept[k++] = c;
        }

    SP_TRY(sp_store_keep(context, store, most && most < *rank ? most : *rank, kept));
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_energy_pca(sp_context *context, const sp_metric *energy, const sp_metric *mass, int64_t most, sp_store *store,
                  double *singular_value, int64_t *rank)
{
    sp_pool scratch = {0};
    int64_t independent;
    int status;

    SP_TRY(sp_mass_pca(context, energy, most, store, singular_value, rank));

    double *norm = sp_pool_raw(&scratch, store->count, sizeof *norm);
    SP_TRY(sp_allocated(context, norm));
    SP_TRY(sp_mass_gram_schmidt(context, mass, 0, 1e-12, store, norm, &independent));
    SP_TRY(sp_store_fix_signs(context, store));
done:
    sp_pool_free(&scratch);
    return status;
}
