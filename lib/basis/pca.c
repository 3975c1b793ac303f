#include "basis/pca.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* left [count, count] the left singular vectors of R [count, count], which is overwritten. */
static int decompose(sp_context *context, int64_t count, double *R, double *singular_value, double *left)
{
    double unused, statistics[7];
    lapack_int numbers[3];
    /* C: the accuracy is not spoiled by the scaling of columns, N: nor are small values taken as 0 */
    lapack_int info = LAPACKE_dgejsv(LAPACK_COL_MAJOR, 'C', 'U', 'N', 'N', 'N', 'N', (int)count, (int)count, R,
                                     (int)count, singular_value, left, (int)count, &unused, 1, statistics, numbers);
    if (info != 0)
        return sp_fail(context, SP_NUMERICAL, "the singular value decomposition did not converge");
    double scale = statistics[0] / statistics[1]; /* taken out where values would overflow; 1 else */
    for (int64_t i = 0; i < count; i++)
        singular_value[i] *= scale;
    return SP_OK;
}

/* The vectors of small singular values come out of the Jacobi rotations orthogonal to fewer digits: each loses what it
 * has of the earlier ones. */
static void orthogonalize_small(int64_t count, int64_t columns, double *left, double *work)
{
    for (int64_t c = 0; c < columns; c++) {
        double *column = left + c * count;
        for (int pass = 0; pass < 2 && c > 0; pass++) {
            cblas_dgemv(CblasColMajor, CblasTrans, (int)count, (int)c, 1, left, (int)count, column, 1, 0, work, 1);
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)count, (int)c, -1, left, (int)count, work, 1, 1, column, 1);
        }
        cblas_dscal((int)count, 1 / cblas_dnrm2((int)count, column, 1), column, 1);
    }
}

int64_t sp_mass_pca_matrices(int64_t count)
{
    return (int64_t)sizeof(double) * 7 * count *
           count; /* R and its copy, left vectors, and what dgejsv takes: 4n² at most */
}

/* Matrices [count, count] and what is found. */
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
    int status;
    bool *dependent = sp_pool_raw(&p->pool, count, sizeof *dependent);
    if (!dependent)
        return sp_fail_memory(context);
    SP_TRY(sp_store_orthonormalize(context, p->metric, p->store, 1e-15, p->R, &independent));
    for (int64_t c = 0; c < count; c++)
        dependent[c] = p->R[c * count + c] == 0;
    memset(p->singular_value, 0, (size_t)count * sizeof *p->singular_value);
    if (independent > 0)
        SP_TRY(decompose(context, count, p->R, p->singular_value, p->left));
    find_rank(p, independent);
    for (int64_t c = 0; c < p->kept; c++) /* there is no column of Q there, only rounding of the rotations */
        for (int64_t i = 0; i < count; i++)
            p->left[c * count + i] = dependent[i] ? 0 : p->left[c * count + i];
    orthogonalize_small(count, p->kept, p->left, p->R);
    SP_TRY(sp_store_times(context, p->store, p->kept, p->left));
done:
    return status;
}

/* ---- by the Gram matrix: few passes over the columns ---- */

/* The upper triangular R with RᵀR = G, the upper triangle of R on entry: by the Cholesky factorization of the matrix
 * that unit columns would have, whose rounding is relative to each column. False where a column is zero or depends on
 * others to all digits. */
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
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i <= c; i++)
            R[c * count + i] *= length[c];
    return true;
}

/* Whether the Gram matrix is accurate enough for the kept directions. Its entries, of columns made unit vectors, are
 * off by some eps, the matrix by about e = eps √count. Let b be the length of the coefficients of the unit columns that
 * make up a direction of length 1: 1 for orthonormal columns, up to the inverse of the smallest singular value of the
 * unit columns where they nearly depend on each other. To first order the square of singular value i is then off by e
 * b_i² of itself, and kept direction i takes up e b_i b_j σ_j² / (σ_i² − σ_j²) of direction j that is left out (what it
 * takes up of other kept ones does not matter: they are orthonormalized and decomposed anew). Orthonormalization has
 * there e (σ_i² b_i + σ_j² b_j) / (σ_i² − σ_j²): as much, where b_i is moderate, however large the b of small
 * directions. The same gap is in both, so the limit is on what is before it. */
static bool accurate_enough(const pca *p, const double *b)
{
    const double e = DBL_EPSILON * sqrt((double)p->count);
    double kept = 0, left_out = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const double square = p->singular_value[i] * p->singular_value[i];
        if (!(e * b[i] * b[i] <=
              1e-3)) /* three digits of the smallest singular value, which is left out; no doubt about the rank */
            return false;
        if (i < p->kept)
            kept = fmax(kept, b[i] / square);
        else
            left_out = fmax(left_out, b[i] * square);
    }
    return e * kept * left_out <= 1e-11;
}

/* The kept columns, orthonormal to a few digits, by the Gram matrix that they have now: R of their own, whose
 * decomposition with the singular values is that of the columns they came from. */
static int orthonormalize_kept(sp_context *context, pca *p, double *length)
{
    int64_t kept = p->kept;
    int status;
    SP_TRY(sp_store_gram(context, p->metric, p->store, p->R));
    if (!factor(kept, p->R, length)) {
        status = sp_fail(context, SP_NUMERICAL, "the principal directions depend on each other");
        goto done;
    }
    for (int64_t c = 0; c < kept; c++)
        for (int64_t i = 0; i < kept; i++)
            p->copy[c * kept + i] = p->R[c * kept + i] * p->singular_value[c];
    SP_TRY(decompose(context, kept, p->copy, p->singular_value, p->left));
    for (int64_t i = kept; i < p->count && p->singular_value[i] > p->singular_value[i - 1];
         i++) /* two that are equal to rounding */
        p->singular_value[i] = p->singular_value[i - 1];
    orthogonalize_small(kept, kept, p->left, p->copy);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, (int)kept, (int)kept, 1, p->R,
                (int)kept, p->left, (int)kept);
    SP_TRY(sp_store_times(context, p->store, kept, p->left));
done:
    return status;
}

/* *possible: whether the Gram matrix was accurate enough; else the columns are as they were. */
static int by_gram_matrix(sp_context *context, pca *p, bool *possible)
{
    int64_t count = p->count;
    int status;
    double *length = sp_pool_raw(&p->pool, count, sizeof *length),
           *coefficients = sp_pool_raw(&p->pool, count, sizeof *coefficients);
    *possible = false;
    if (p->pool.failed)
        return sp_fail_memory(context);
    SP_TRY(sp_store_gram(context, p->metric, p->store, p->R));
    if (count == 0 || !factor(count, p->R, length))
        goto done;
    memcpy(p->copy, p->R, (size_t)(count * count) * sizeof *p->copy);
    SP_TRY(decompose(context, count, p->copy, p->singular_value, p->left));
    find_rank(p, count);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, (int)count, (int)count, 1, p->R,
                (int)count, p->left, (int)count);
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
    if (p.pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    SP_TRY(by_gram_matrix(context, &p, &possible));
    if (!possible)
        SP_TRY(by_orthonormalization(context, &p));
    *rank = p.rank;
    SP_TRY(sp_store_fix_signs(context, store));
done:
    sp_pool_free(&p.pool);
    return status;
}

int sp_mass_gram_schmidt(sp_context *context, const sp_metric *metric, int64_t most, double threshold, sp_store *store,
                         double *new_part, int64_t *rank)
{
    int64_t count = store->count;
    sp_pool scratch = {0};
    int status;
    double *R = sp_pool_raw(&scratch, count * count, sizeof *R);
    int64_t *kept = sp_pool_raw(&scratch, count, sizeof *kept);
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    SP_TRY(sp_store_orthonormalize(context, metric, store, threshold, R, rank));
    for (int64_t c = 0, k = 0; c < count; c++)
        if (R[c * count + c] != 0) {
            new_part[k] = R[c * count + c];
            kept[k++] = c;
        }
    SP_TRY(sp_store_keep(context, store, most && most < *rank ? most : *rank, kept));
done:
    sp_pool_free(&scratch);
    return status;
}
