/* The reduced force at run time: symmetrized coefficients, two products. */
#include "base/lanes.h"
#include "reduced/polynomial.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

struct sp_reduced_force {
    sp_pool pool;
    int64_t r, pairs;  /* pairs = r(r+1)/2 */
    double *linear;    /* K₀ [r, r] */
    double *cubic;     /* 3 T by pairs [pairs, r, column major]: K₁ = 3 T q */
    double *quartic;   /* (3/2) Q [pairs, pairs, column major], the lower triangle is used: K₂ = (3/2) Q s */
    double *monomials; /* s [pairs] */
    double *first, *second; /* K₁ and K₂ by pairs */
    double *tangent;   /* [r, r], where the caller wants no K */
};

/* Sum of all parts at column (p) and (q) of the Gram matrix. */
static double gram_entry(const sp_polynomials *polynomials, int64_t p, int64_t q)
{
    int64_t N = sp_polynomial_order(polynomials->r);
    double sum = 0;
    for (int64_t i = 0; i < polynomials->part_count; i++)
        sum += polynomials->parts[i].value * polynomials->parts[i].gram[q * N + p];
    return sum;
}

int sp_reduced_force_new(sp_context *context, const sp_polynomials *polynomials, int64_t r, sp_reduced_force **result)
{
    int64_t full = polynomials->r, N = sp_polynomial_order(full), pairs = r * (r + 1) / 2;
    if (r < 1 || r > full)
        return sp_fail(context, SP_USAGE, "%lld coordinates of a model with %lld", (long long)r, (long long)full);
    sp_reduced_force *force = calloc(1, sizeof *force);
    sp_pool scratch = {0};
    if (!force)
        return sp_fail_memory(context);
    force->r = r;
    force->pairs = pairs;
    force->linear = sp_pool_raw(&force->pool, r * r, sizeof(double));
    force->cubic = sp_pool_raw(&force->pool, pairs * r, sizeof(double));
    force->quartic = sp_pool_raw(&force->pool, pairs * pairs, sizeof(double));
    force->monomials = sp_pool_raw(&force->pool, pairs, sizeof(double));
    force->first = sp_pool_raw(&force->pool, pairs, sizeof(double));
    force->second = sp_pool_raw(&force->pool, pairs, sizeof(double));
    force->tangent = sp_pool_raw(&force->pool, r * r, sizeof(double));
    double *gram = polynomials->parts[0].gram;
    if (polynomials->part_count > 1 || polynomials->parts[0].value != 1) {
        gram = sp_pool_raw(&scratch, N * N, sizeof *gram);
        for (int64_t q = 0; gram && q < N; q++)
            for (int64_t p = 0; p < N; p++)
                gram[q * N + p] = gram_entry(polynomials, p, q);
    }
    if (force->pool.failed || !gram) {
        sp_pool_free(&scratch);
        sp_reduced_force_free(force);
        return sp_fail_memory(context);
    }
#define PAIR(i, j) ((i) <= (j) ? sp_polynomial_pair(full, i, j) : sp_polynomial_pair(full, j, i))
#define A(p, q) gram[(q) * N + (p)]
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < r; j++)
            force->linear[j * r + i] = A(i, j);
    for (int64_t i = 0, ij = 0; i < r; i++)
        for (int64_t j = i; j < r; j++, ij++) {
            for (int64_t k = 0; k < r; k++)
                force->cubic[k * pairs + ij] = A(i, PAIR(j, k)) + A(j, PAIR(i, k)) + A(k, PAIR(i, j));
            for (int64_t k = 0, kl = 0; k < r; k++)
                for (int64_t l = k; l < r; l++, kl++)
                    if (kl <= ij) /* column kl, row ij: the lower triangle */
                        force->quartic[kl * pairs + ij] = 0.5 * (A(PAIR(i, j), PAIR(k, l)) + A(PAIR(i, k), PAIR(j, l)) + A(PAIR(i, l), PAIR(j, k)));
        }
#undef A
#undef PAIR
    sp_pool_free(&scratch);
    *result = force;
    return SP_OK;
}

void sp_reduced_force_free(sp_reduced_force *force)
{
    if (!force)
        return;
    sp_pool_free(&force->pool);
    free(force);
}

double sp_reduced_force_evaluate(sp_reduced_force *force, const double *q, double *f, double *K)
{
    int r = (int)force->r, pairs = (int)force->pairs;
    double *s = force->monomials, *first = force->first, *second = force->second;
    if (!K)
        K = force->tangent;
    for (int i = 0, at = 0; i < r; i++) {
        double twice = 2 * q[i];
        s[at++] = q[i] * q[i];
        for (int j = i + 1; j < r; j++)
            s[at++] = twice * q[j];
    }
    cblas_dgemv(CblasColMajor, CblasNoTrans, pairs, r, 1, force->cubic, pairs, q, 1, 0, first, 1);
    cblas_dsymv(CblasColMajor, CblasLower, pairs, 1, force->quartic, pairs, s, 1, 0, second, 1);
    double energy = 0;
    if (f)
        memset(f, 0, (size_t)r * sizeof *f);
    for (int i = 0, at = 0; i < r; i++)
        for (int j = i; j < r; j++, at++) {
            double k0 = force->linear[(int64_t)i * r + j], part = k0 + first[at] / 2 + second[at] / 3, weight = i == j ? 1 : 2;
            energy += weight * q[i] * q[j] * (k0 / 2 + first[at] / 6 + second[at] / 12);
            if (f) {
                f[i] += part * q[j];
                if (i != j)
                    f[j] += part * q[i];
            }
            K[(int64_t)i * r + j] = K[(int64_t)j * r + i] = k0 + first[at] + second[at];
        }
    return energy;
}
