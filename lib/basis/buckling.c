#include "basis/buckling.h"

#include "basis/lanczos.h"
#include "linear/store.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { CHECK_WIDTH = 4, ROUNDS = 8 };

/* Factors that agree to this are treated as equal, as eigenvalues of modes are. */
static const double EQUAL = 1e-6;

/* Rayleigh–Ritz over all known vectors V: VᵀSV s = μ VᵀKV s. They become K-orthonormal with descending μ = 1/λ, which
 * is returned in mu [known], and get fixed signs. */
static int refine(sp_inverted *p, double *mu)
{
    sp_context *context = p->context;
    const int64_t n = p->n, count = p->known;
    sp_pool scratch = {0};
    double *H = sp_pool_raw(&scratch, count * count, sizeof *H), *G = sp_pool_raw(&scratch, count * count, sizeof *G),
           *w = sp_pool_raw(&scratch, n * count, sizeof *w),
           *work = sp_pool_raw(&scratch, sp_dense_inner_work(count, count), sizeof *work);
    int status = SP_OK;

    SP_TRY(sp_allocated(context, !scratch.failed));

    sp_sparse_times(context, p->S, count, p->vectors, w);
    sp_dense_inner(context, n, count, p->vectors, count, w, H, work);
    sp_dense_inner(context, n, count, p->vectors, count, p->mass_vectors, G, work);

    for (int64_t k = 0; k < count * count; k++)
        H[k] = -H[k]; /* LAPACK's order is ascending */
    if (LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'U', (int)count, H, (int)count, G, (int)count, mu) != 0) {
        status = sp_fail(context, SP_NUMERICAL, "the projected eigenproblem failed");
        goto done;
    }

    for (int64_t k = 0; k < count; k++)
        mu[k] = -mu[k];

    /* V ← V s */
    memset(w, 0, (size_t)(n * count) * sizeof *w);
    sp_dense_add(context, n, count, p->vectors, count, H, 1, w);
    sp_dense_fix_signs(n, count, w);
    memcpy(p->vectors, w, (size_t)(n * count) * sizeof *w);
    sp_sparse_times(context, p->K, count, p->vectors, p->mass_vectors);
done:
    sp_pool_free(&scratch);
    return status;
}

/* The largest μ: first those that are wanted, then a few more in their complement, until these are all smaller, so that
 * none was missed. mu [capacity] descending. */
static int find(sp_inverted *p, const sp_buckling_parameters *parameters, double *mu, sp_buckling_report *report)
{
    const int64_t wanted = parameters->count;

    SP_PASS(sp_lanczos(p, wanted, parameters->tolerance, mu));
    SP_PASS(refine(p, mu));

    for (int round = 0;; round++) {
        const int64_t have = p->known, left = p->n - have - 1, more = left < CHECK_WIDTH ? left : CHECK_WIDTH;
        const double last = mu[wanted - 1];
        int64_t missed = 0;
        if (more < 1)
            break;
        SP_PASS(sp_lanczos(p, more, parameters->tolerance, mu + have)); /* factors 1/μ, of either sign */
        for (int64_t i = have; i < have + more; i++)
            missed += 1 / mu[i] > last * (1 + 1e-8);
        SP_PASS(refine(p, mu));

        report->missed += missed;
        if (missed == 0)
            break;

        if (round == ROUNDS)
            return sp_fail(p->context, SP_NUMERICAL,
                           "each repeated run found further factors below the last one; compute more of them");
    }
    return SP_OK;
}

/* Counts the factors that are kept: the positive ones among the wanted, and those behind them that are equal to the
 * last. */
static void count_found(const sp_buckling_parameters *parameters, int64_t known, const double *mu,
                        sp_buckling_report *report)
{
    const int64_t wanted = parameters->count;
    int64_t found = 0;

    while (found < wanted && mu[found] > 0)
        found++;

    /* Shapes that share the last factor are kept together, as far as there is room. */
    while (found >= wanted && found < wanted + parameters->space_left && found < known &&
           mu[found] >= mu[wanted - 1] * (1 - EQUAL))
        found++;

    report->found = found;
    report->next = found < known && mu[found] > 0 ? 1 / mu[found] : INFINITY;
}

/* work [2 n]. */
static int residuals(const sp_inverted *p, int64_t count, const double *factor, double *work, double *residual)
{
    const int64_t n = p->n;
    double *force = work, *error = work + n;

    for (int64_t c = 0; c < count; c++) {
        const double *shape = p->vectors + c * n, *Kv = p->mass_vectors + c * n;
        double sum = 0;

        sp_sparse_times(p->context, p->S, 1, shape, force);
        SP_PASS(sp_cholesky_solve(p->factor, 1, force, error));

        /* ‖φ − λK⁻¹Sφ‖_K², since K times the error is Kφ − λSφ */
        for (int64_t i = 0; i < n; i++)
            sum += (shape[i] - factor[c] * error[i]) * (Kv[i] - factor[c] * force[i]);
        residual[c] = sqrt(fmax(sum, 0) / sp_dense_dot(n, shape, Kv));
    }
    return SP_OK;
}

/* The negative eigenvalues of K − s S, which are as many as there are factors in (0, s), for s slightly below the last
 * factor. S has the pattern of K. */
static int certify(const sp_inverted *p, const int64_t *node, const double *factor, sp_buckling_report *report)
{
    const double below = factor[report->found - 1] * (1 - 1e-6);
    const int64_t entries = p->K->start[p->n];

    /* A shares the pattern of K and has values of its own. */
    sp_sparse A = *p->K;
    A.pool = (sp_pool){0};
    A.value = sp_pool_copy(&A.pool, p->K->value, entries, sizeof *A.value);
    SP_PASS(sp_allocated(p->context, A.value));

    for (int64_t k = 0; k < entries; k++)
        A.value[k] -= below * p->S->value[k];
    for (int64_t i = 0; i < report->found; i++)
        report->below += factor[i] < below;

    const int status = sp_cholesky_negative(p->context, &A, node, &report->certified);
    sp_pool_free(&A.pool);
    return status;
}

static bool is_zero(const sp_sparse *S)
{
    for (int64_t k = 0; k < S->start[S->order]; k++)
        if (S->value[k] != 0)
            return false;
    return true;
}

int sp_buckling(sp_context *context, const sp_sparse *K, const sp_sparse *S, const int64_t *node,
                const sp_buckling_parameters *parameters, double *factor, double *vector, double *residual,
                sp_buckling_report *report)
{
    const int64_t n = K->order, capacity = parameters->count + (ROUNDS + 1) * CHECK_WIDTH;
    sp_inverted p = {.context = context, .K = K, .M = K, .S = S, .n = n};
    sp_pool scratch = {0};
    int status = SP_OK;

    *report = (sp_buckling_report){.next = INFINITY, .certified = -1};
    if (is_zero(S))
        return sp_fail(context, SP_NUMERICAL, "no load factor is positive: the load causes no stress");

    p.vectors = sp_pool_raw(&scratch, n * capacity, sizeof *p.vectors);
    p.mass_vectors = sp_pool_raw(&scratch, n * capacity, sizeof *p.mass_vectors);
    p.image = sp_pool_raw(&scratch, n * SP_INVERTED_WIDTH, sizeof *p.image);
    p.coefficients = sp_pool_raw(&scratch, capacity * SP_INVERTED_WIDTH, sizeof *p.coefficients);
    p.work = sp_pool_raw(&scratch, sp_dense_inner_work(capacity, SP_INVERTED_WIDTH), sizeof *p.work);
    double *mu = sp_pool_new(&scratch, capacity, sizeof *mu);

    SP_TRY(sp_allocated(context, !scratch.failed));

    /* A positive definite K makes its inner product, in which Lanczos runs, a norm. */
    SP_TRY(sp_cholesky_new(context, K, node, &p.factor));
    status = sp_cholesky_factor(p.factor, K);
    if (status == SP_NUMERICAL)
        status = sp_fail(context, SP_NUMERICAL, "the stiffness matrix is not positive definite");
    SP_TRY(status);

    report->factor_nonzeros = sp_cholesky_nonzeros(p.factor);
    report->factor_flops = sp_cholesky_flops(p.factor);

    SP_TRY(find(&p, parameters, mu, report));
    count_found(parameters, p.known, mu, report);
    report->solves = p.solves;

    if (report->found == 0) {
        status =
            sp_fail(context, SP_NUMERICAL, "no load factor is positive: the load compresses nothing that could buckle");
        goto done;
    }

    memcpy(vector, p.vectors, (size_t)(n * report->found) * sizeof *vector);
    for (int64_t i = 0; i < report->found; i++)
        factor[i] = 1 / mu[i];

    SP_TRY(residuals(&p, report->found, factor, p.image, residual));
    if (parameters->certify)
        SP_TRY(certify(&p, node, factor, report));
done:
    sp_cholesky_free(p.factor);
    sp_pool_free(&scratch);
    return status;
}
