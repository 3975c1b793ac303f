/* Evaluation of the reduced force at run time: symmetrized coefficients, two products. */
#include "base/lanes.h"
#include "reduced/polynomial.h"
#include "reduced/quadratic.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct sp_polynomial_force {
    sp_pool pool;
    sp_quadratic stiffness; /* constant: K₀; linear: 3 T, K₁ = 3 T q; quadratic or quartic: (3/2) Q, K₂ = (3/2) Q s */
    double *tangent, *force; /* [r, r] and [r], used if the caller wants none */
    double *kept;            /* [r + r + r²] q, f and K from a batch; NULL: never in a batch */
    double kept_energy;
    bool keeps;
};

/* The coefficients of the first r of `full` coordinates, symmetrized. */
static void fill_coefficients(const double *gram, int64_t full, sp_quadratic *s)
{
    const int64_t r = s->r, N = sp_polynomial_order(full);
#define PAIR(i, j) ((i) <= (j) ? sp_polynomial_pair(full, i, j) : sp_polynomial_pair(full, j, i))
#define A(p, q) gram[(q)*N + (p)]
#define Q(i, j, k, l) (0.5 * (A(PAIR(i, j), PAIR(k, l)) + A(PAIR(i, k), PAIR(j, l)) + A(PAIR(i, l), PAIR(j, k))))

    /* K₁ = 3 T q and K₂ = (3/2) Q s, where T and Q are means of three entries of A: the factors are 1 and ½. */
    for (int64_t i = 0, ij = 0; i < r; i++)
        for (int64_t j = i; j < r; j++, ij++) {
            s->constant[ij] = A(i, j);
            for (int64_t k = 0; k < r; k++)
                s->linear[k * s->stride + ij] = A(i, PAIR(j, k)) + A(j, PAIR(i, k)) + A(k, PAIR(i, j));

            if (s->distinct) {
                for (int64_t k = j; k < r; k++)
                    for (int64_t l = k; l < r; l++)
                        sp_quartic_set(&s->quartic, i, j, k, l, Q(i, j, k, l));
                continue;
            }

            for (int64_t k = 0, kl = 0; k < r; k++)
                for (int64_t l = k; l < r; l++, kl++)
                    if (kl <= ij)
                        sp_quadratic_set(s, ij, kl, Q(i, j, k, l));
        }
#undef Q
#undef A
#undef PAIR
}

int sp_polynomial_force_new(sp_context *context, const sp_polynomials *polynomials, int64_t r,
                            sp_polynomial_force **result)
{
    const int64_t full = polynomials->r;

    if (r < 1 || r > full)
        return sp_fail(context, SP_USAGE, "%lld coordinates of a model with %lld", (long long)r, (long long)full);

    sp_polynomial_force *force = calloc(1, sizeof *force);
    sp_pool scratch = {0};
    SP_PASS(sp_allocated(context, force));

    sp_quadratic *stiffness = &force->stiffness;
    sp_quadratic_new(&force->pool, r, true, stiffness);
    force->tangent = sp_pool_raw(&force->pool, r * r, sizeof(double));
    force->force = sp_pool_raw(&force->pool, r, sizeof(double));

    const double *gram = sp_polynomials_gram(polynomials, &scratch);
    if (force->pool.failed || !gram) {
        sp_pool_free(&scratch);
        sp_polynomial_force_free(force);
        return sp_fail_memory(context);
    }

    fill_coefficients(gram, full, stiffness);
    sp_pool_free(&scratch);
    *result = force;
    return SP_OK;
}

void sp_polynomial_force_free(sp_polynomial_force *force)
{
    if (!force)
        return;
    sp_pool_free(&force->pool);
    free(force);
}

/* W = Σ s (K₀/2 + K₁/6 + K₂/12) over the pairs. */
SP_CLONES static double stored_energy(int pairs, const double *restrict s, const double *restrict k0,
                                      const double *restrict k1, const double *restrict k2)
{
    sp_lanes sum = {0};
    int i = 0;
    for (; i + SP_LANES <= pairs; i += SP_LANES)
        sum +=
            *(const sp_lanes *)(s + i) * (*(const sp_lanes *)(k0 + i) * 0.5 + *(const sp_lanes *)(k1 + i) * (1.0 / 6) +
                                          *(const sp_lanes *)(k2 + i) * (1.0 / 12));

    double energy = 0;
    for (int l = 0; l < SP_LANES; l++)
        energy += sum[l];
    for (; i < pairs; i++)
        energy += s[i] * (k0[i] * 0.5 + k1[i] * (1.0 / 6) + k2[i] * (1.0 / 12));
    return energy;
}

/* K and f from K₀, K₁, K₂ by pairs: a pair i < j represents two entries. */
SP_CLONES static void combine(int r, const double *restrict q, const double *restrict k0, const double *restrict k1,
                              const double *restrict k2, double *restrict f, double *restrict K)
{
    for (int i = 0; i < r; i++)
        f[i] = 0;

    for (int i = 0; i < r; i++) {
        int count = r - i;
        double *column = K + (long)i * r + i, *g = f + i, qi = q[i], sum = 0;
        const double *qj = q + i;
        double diagonal = k0[0] + k1[0] * 0.5 + k2[0] * (1.0 / 3);

#pragma GCC ivdep
        for (int j = 0; j < count; j++) {
            double part = k0[j] + k1[j] * 0.5 + k2[j] * (1.0 / 3);
            column[j] = k0[j] + k1[j] + k2[j];
            sum += part * qj[j];
            g[j] += part * qi;
        }

        f[i] += sum - diagonal * qi; /* the diagonal was added twice */
        k0 += count;
        k1 += count;
        k2 += count;
    }
}

double sp_polynomial_force_evaluate(sp_polynomial_force *force, const double *q, double *f, double *K)
{
    sp_quadratic *s = &force->stiffness;
    const size_t r = (size_t)s->r;

    /* A batch may have evaluated this point already. */
    if (force->keeps && !memcmp(q, force->kept, r * sizeof *q)) {
        if (f)
            memcpy(f, force->kept + r, r * sizeof *f);
        if (K)
            memcpy(K, force->kept + 2 * r, r * r * sizeof *K);
        return force->kept_energy;
    }

    sp_quadratic_evaluate(s, q);
    combine((int)s->r, q, s->constant, s->first, s->second, f ? f : force->force, K ? K : force->tangent);
    return stored_energy((int)s->pairs, s->monomials, s->constant, s->first, s->second);
}

static double evaluate(void *self, const double *q, bool definite, double *f, double *K)
{
    (void)definite; /* no term of a polynomial can be left out */
    return sp_polynomial_force_evaluate(self, q, f, K);
}

static void visit(void *data, sp_state *state)
{
    sp_polynomial_force *self = data;
    if (!self->kept)
        return;
    SP_STATE_VALUE(state, self->keeps);
    SP_STATE_VALUE(state, self->kept_energy);
    sp_state_reals(state, self->kept, self->stiffness.r * (self->stiffness.r + 2));
}

static void destroy(void *self)
{
    sp_polynomial_force_free(self);
}

static sp_reduced_force as_reduced_force(sp_polynomial_force *self)
{
    return (sp_reduced_force){.self = self,
                              .r = self->stiffness.r,
                              .together = true,
                              .cubic = true,
                              .evaluate = evaluate,
                              .destroy = destroy,
                              .visit = visit};
}

int sp_polynomial_force_share(sp_context *context, const sp_polynomial_force *original, sp_reduced_force *force)
{
    const int64_t r = original->stiffness.r;
    sp_polynomial_force *self = calloc(1, sizeof *self);
    SP_PASS(sp_allocated(context, self));

    sp_quadratic_share(&self->pool, &original->stiffness, &self->stiffness);
    self->tangent = sp_pool_raw(&self->pool, r * r, sizeof(double));
    self->force = sp_pool_raw(&self->pool, r, sizeof(double));

    if (self->pool.failed) {
        sp_polynomial_force_free(self);
        return sp_fail_memory(context);
    }
    *force = as_reduced_force(self);
    return SP_OK;
}

int sp_polynomial_reduced_force(sp_context *context, const sp_polynomials *polynomials, int64_t r,
                                sp_reduced_force *force)
{
    sp_polynomial_force *self;
    int status = sp_polynomial_force_new(context, polynomials, r, &self);

    if (status == SP_OK)
        *force = as_reduced_force(self);
    return status;
}

/* ---- batches ---- */

/* Number of columns in a block: packing the coefficients costs as much as 16 of them, and there should be at least four
 * blocks for the threads. */
enum { LEAST_BLOCK = 32, MOST_BLOCK = 128 };

struct sp_polynomial_batch {
    sp_pool pool;
    const sp_quadratic *stiffness;
    int64_t count, block;
    int threads;
    sp_polynomial_force **forces; /* [count] */
    double *workspace;            /* for each thread: [block, r + 3 stride], a multiple of SP_LANES */
    int64_t workspace_size;
};

int sp_polynomial_batch_new(sp_context *context, const sp_polynomial_force *original, int64_t count,
                            const sp_reduced_force *forces, sp_polynomial_batch **result)
{
    sp_polynomial_batch *batch = calloc(1, sizeof *batch);
    const sp_quadratic *s = &original->stiffness;
    *result = NULL;

    SP_PASS(sp_allocated(context, batch));

    batch->stiffness = s;
    batch->count = count;
    batch->threads = context->threads;
    batch->forces = sp_pool_new(&batch->pool, count, sizeof *batch->forces);

    /* A quarter of the forces leaves four blocks to the threads. */
    batch->block = count / 4 < LEAST_BLOCK  ? LEAST_BLOCK
                   : count / 4 > MOST_BLOCK ? MOST_BLOCK
                                            : count / 4 / SP_LANES * SP_LANES;
    batch->workspace_size = batch->block * (s->r + 3 * s->stride);
    batch->workspace = sp_pool_raw(&batch->pool, batch->workspace_size * batch->threads, sizeof(double));

    for (int64_t i = 0; i < count && !batch->pool.failed; i++) {
        sp_polynomial_force *force = forces[i].self;
        force->kept = sp_pool_new(&force->pool, s->r * (s->r + 2), sizeof(double));
        batch->pool.failed |= !force->kept;
        batch->forces[i] = force;
    }

    if (batch->pool.failed) {
        sp_polynomial_batch_free(batch);
        return sp_fail_memory(context);
    }
    *result = batch;
    return SP_OK;
}

void sp_polynomial_batch_free(sp_polynomial_batch *batch)
{
    if (!batch)
        return;
    sp_pool_free(&batch->pool);
    free(batch);
}

static void keep_alone(sp_polynomial_force *force, const double *q)
{
    const int64_t r = force->stiffness.r;
    force->keeps = false;
    if (!q)
        return;

    force->kept_energy = sp_polynomial_force_evaluate(force, q, force->kept + r, force->kept + 2 * r);
    memcpy(force->kept, q, (size_t)r * sizeof *q);
    force->keeps = true;
}

static void evaluate_block(const sp_polynomial_batch *batch, int64_t first, int64_t end, const double *const *q,
                           double *workspace)
{
    const sp_quadratic *s = batch->stiffness;
    const int64_t r = s->r;
    double *places = workspace, *monomials = places + batch->block * r, *second = monomials + batch->block * s->stride,
           *linear = second + batch->block * s->stride;
    int64_t count = 0;

    /* Distinct coefficients: a force by itself takes less than its part of a product of matrices. */
    if (s->distinct) {
        for (int64_t i = first; i < end; i++)
            keep_alone(batch->forces[i], q[i]);
        return;
    }

    /* The places of the forces that are wanted become the columns of a matrix. */
    for (int64_t i = first; i < end; i++) {
        batch->forces[i]->keeps = q[i] != NULL;
        if (q[i])
            memcpy(places + r * count++, q[i], (size_t)r * sizeof **q);
    }

    if (count == 0)
        return;

    /* One product of matrices for all of them; forces and stiffnesses are combined as in a single evaluation. */
    sp_quadratic_evaluate_many(s, count, places, monomials, linear, second);
    count = 0;
    for (int64_t i = first; i < end; i++) {
        sp_polynomial_force *force = batch->forces[i];
        if (!q[i])
            continue;

        memcpy(force->kept, q[i], (size_t)r * sizeof **q);
        combine((int)r, q[i], s->constant, linear + s->stride * count, second + s->stride * count, force->kept + r,
                force->kept + 2 * r);
        force->kept_energy = stored_energy((int)s->pairs, monomials + s->stride * count, s->constant,
                                           linear + s->stride * count, second + s->stride * count);
        count++;
    }
}

void sp_polynomial_batch_evaluate(sp_polynomial_batch *batch, const double *const *q)
{
    const int64_t blocks = (batch->count + batch->block - 1) / batch->block;
#pragma omp parallel for schedule(dynamic, 1) num_threads(batch->threads)
    for (int64_t b = 0; b < blocks; b++)
        evaluate_block(batch, b * batch->block, b + 1 < blocks ? (b + 1) * batch->block : batch->count, q,
                       batch->workspace + batch->workspace_size * omp_get_thread_num());
}
