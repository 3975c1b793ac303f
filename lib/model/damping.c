#include "model/damping.h"

#include "base/memory.h"
#include "model/models.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double sp_decay_rate(const sp_decay_times *t, double frequency)
{
    int64_t i = 0;

    while (i < t->count && t->frequency[i] < frequency)
        i++;

    /* Outside the table the nearest time holds. */
    if (i == 0 || i == t->count)
        return 2 / t->time[i == 0 ? 0 : i - 1];

    /* Between its lines τ is linear in f, both in logarithms. */
    const double at = log(frequency / t->frequency[i - 1]) / log(t->frequency[i] / t->frequency[i - 1]);
    return 2 / (t->time[i - 1] * pow(t->time[i] / t->time[i - 1], at));
}

/* ---- a constant matrix as reduced viscosity ---- */

typedef struct constant_damping {
    int r;
    double *D; /* [r, r] symmetric */
    sp_pool pool;
} constant_damping;

static void matrix(void *data, const double *q, double *D)
{
    const constant_damping *self = data;
    (void)q;
    memcpy(D, self->D, (size_t)(self->r * self->r) * sizeof *D);
}

static void times(void *data, const double *q, const double *v, double *y)
{
    const constant_damping *self = data;
    (void)q;
    cblas_dsymv(CblasColMajor, CblasLower, self->r, 1, self->D, self->r, v, 1, 0, y, 1);
}

static void destroy(void *data)
{
    constant_damping *self = data;
    sp_pool_free(&self->pool);
    free(self);
}

/* ---- the modes of a reduced system ---- */

/* M and K at rest [r, r], column by column; K is symmetrized. */
static void assemble(const sp_system *system, double *unit, double *M, double *K)
{
    const int64_t r = system->n;
    double *zero = unit + r;
    for (int64_t j = 0; j < r; j++) {
        unit[j] = 1;
        system->mass_times(system->self, unit, M + j * r);
        system->tangent_times(system->self, zero, unit, K + j * r);
        unit[j] = 0;
    }

    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j + 1; i < r; i++)
            K[j * r + i] = 0.5 * (K[j * r + i] + K[i * r + j]);
}

/* D = Σ rate_i (Mφ_i)(Mφ_i)ᵀ, with the square roots of the rates in the columns of Mφ. */
static int fill(sp_context *context, const sp_system *system, const sp_decay_times *t, double *D, sp_pool *pool)
{
    const int r = (int)system->n;
    double *M = sp_pool_new(pool, system->n * r, sizeof *M), *K = sp_pool_new(pool, system->n * r, sizeof *K),
           *factored = sp_pool_new(pool, system->n * r, sizeof *M), *unit = sp_pool_new(pool, 2 * system->n, sizeof *M),
           *lambda = sp_pool_new(pool, system->n, sizeof *lambda);
    SP_PASS(sp_allocated(context, !pool->failed));

    assemble(system, unit, M, K);
    memcpy(factored, M, (size_t)(r * r) * sizeof *M);
    if (LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'L', r, K, r, factored, r, lambda) != 0)
        return sp_fail(context, SP_NUMERICAL, "the linear modes of the reduced model were not found");

    /* The eigenvectors φ_i are mass-normalized; Mφ_i is scaled by the square root of the rate. */
    cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, r, r, 1, M, r, K, r, 0, factored, r);
    for (int i = 0; i < r; i++) {
        const double rate = sp_decay_rate(t, sqrt(fmax(lambda[i], 0)) / (2 * M_PI));
        cblas_dscal(r, sqrt(rate), factored + (int64_t)i * r, 1);
    }

    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, r, r, r, 1, factored, r, factored, r, 0, D, r);
    return SP_OK;
}

static int decay_reduced(sp_context *context, sp_system *system, const sp_decay_times *t)
{
    const int64_t r = system->n;
    constant_damping *self = calloc(1, sizeof *self);
    sp_pool pool = {0};
    int status;

    SP_PASS(sp_allocated(context, self));

    self->r = (int)r;
    self->D = sp_pool_new(&self->pool, r * r, sizeof(double));
    SP_TRY(sp_allocated(context, !self->pool.failed));
    SP_TRY(fill(context, system, t, self->D, &pool));

    const sp_reduced_viscosity viscosity = {self, r, matrix, times, destroy};
    sp_reduced_system_damp(system, &viscosity);
done:
    sp_pool_free(&pool);
    if (status != SP_OK)
        destroy(self);
    return status;
}

int sp_system_decay(sp_context *context, sp_system *system, const sp_decay_times *t)
{
    return system->eigenvalue ? sp_modal_system_decay(context, system, t) : decay_reduced(context, system, t);
}
