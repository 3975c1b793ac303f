/* Uncoupled oscillators, one for each mass-normalized mode. Every matrix is diagonal. */
#include "base/memory.h"
#include "model/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct modal {
    sp_pool pool;
    sp_context *context;
    int64_t n;
    double *lambda; /* [n] rad²/s², ≥ 0 */
    double *S;      /* [n] */
    double *rate;   /* [n] 1/s, of damping; NULL: none */
} modal;

static double force(void *data, const double *q, double *f)
{
    const modal *self = data;
    double energy = 0;
    for (int64_t i = 0; i < self->n; i++) {
        energy += 0.5 * self->lambda[i] * q[i] * q[i];
        if (f)
            f[i] = self->lambda[i] * q[i];
    }
    return energy;
}

static void matrix_start(void *data, double mass_scale)
{
    modal *self = data;
    for (int64_t i = 0; i < self->n; i++)
        self->S[i] = mass_scale;
}

static double matrix_add(void *data, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    modal *self = data;
    (void)spring_scale, (void)definite;
    for (int64_t i = 0; i < self->n; i++)
        self->S[i] += scale * self->lambda[i];
    return force(self, q, f);
}

static int matrix_factor(void *data)
{
    const modal *self = data;
    for (int64_t i = 0; i < self->n; i++)
        if (!(self->S[i] > 0))
            return sp_fail(self->context, SP_NUMERICAL,
                           "the matrix is not positive definite at mode %lld, of the eigenvalue %g rad2/s2",
                           (long long)i, self->lambda[i]);
    return SP_OK;
}

static int matrix_solve(void *data, const double *b, double *x)
{
    const modal *self = data;
    for (int64_t i = 0; i < self->n; i++)
        x[i] = b[i] / self->S[i];
    return SP_OK;
}

static void mass_times(void *data, const double *x, double *y)
{
    memcpy(y, x, (size_t)((const modal *)data)->n * sizeof *y);
}

static int mass_solve(void *data, const double *b, double *x)
{
    memmove(x, b, (size_t)((const modal *)data)->n * sizeof *x);
    return SP_OK;
}

static void tangent_times(void *data, const double *q, const double *v, double *y)
{
    (void)q;
    force(data, v, y);
}

/* Not reached with springs: loads with springs are rejected. */
static void set_springs(void *data, int64_t count, const sp_spring *springs)
{
    (void)data, (void)count, (void)springs;
}

static void visit(void *data, sp_state *state)
{
    (void)data, (void)state;
}

int sp_modal_system_new(sp_context *context, int64_t k, const double *eigenvalue, sp_system *system)
{
    double largest = 0;

    if (k < 1)
        return sp_fail(context, SP_USAGE, "a modal model of %lld modes", (long long)k);
    for (int64_t i = 0; i < k; i++) {
        if (!isfinite(eigenvalue[i]))
            return sp_fail(context, SP_INPUT, "eigenvalue %lld is %g rad2/s2", (long long)i, eigenvalue[i]);
        largest = fmax(largest, eigenvalue[i]);
    }

    /* Rigid motions have eigenvalues that are 0 up to rounding, with either sign. */
    for (int64_t i = 0; i < k; i++)
        if (eigenvalue[i] < -1e-6 * largest && largest > 0)
            return sp_fail(context, SP_INPUT,
                           "eigenvalue %lld is %g rad2/s2, and the largest %g: more than rounding below 0",
                           (long long)i, eigenvalue[i], largest);

    modal *self = calloc(1, sizeof *self);
    SP_PASS(sp_allocated(context, self));
    self->context = context;
    self->n = k;
    self->lambda = sp_pool_copy(&self->pool, eigenvalue, k, sizeof *eigenvalue);
    self->S = sp_pool_new(&self->pool, k, sizeof *self->S);

    *system = (sp_system){.self = self,
                          .n = k,
                          .constant = true,
                          .cubic = true,
                          .force = force,
                          .matrix_start = matrix_start,
                          .matrix_add = matrix_add,
                          .matrix_factor = matrix_factor,
                          .matrix_solve = matrix_solve,
                          .mass_times = mass_times,
                          .mass_solve = mass_solve,
                          .tangent_times = tangent_times,
                          .set_springs = set_springs,
                          .visit = visit,
                          .eigenvalue = self->lambda,
                          .destroy = sp_modal_system_free};

    if (self->pool.failed) {
        sp_modal_system_free(system);
        return sp_fail_memory(context);
    }

    for (int64_t i = 0; i < k; i++)
        self->lambda[i] = fmax(self->lambda[i], 0);
    return SP_OK;
}

static void viscous_add(void *data, const double *q, double scale)
{
    modal *self = data;
    (void)q;
    for (int64_t i = 0; i < self->n; i++)
        self->S[i] += scale * self->rate[i];
}

static void viscous_times(void *data, const double *q, const double *v, double *y)
{
    const modal *self = data;
    (void)q;
    for (int64_t i = 0; i < self->n; i++)
        y[i] = self->rate[i] * v[i];
}

int sp_modal_system_decay(sp_context *context, sp_system *system, const sp_decay_times *times)
{
    modal *self = system->self;
    self->rate = sp_pool_raw(&self->pool, self->n, sizeof *self->rate);
    SP_PASS(sp_allocated(context, self->rate));
    for (int64_t i = 0; i < self->n; i++)
        self->rate[i] = sp_decay_rate(times, sqrt(self->lambda[i]) / (2 * M_PI));

    system->damping_rate = self->rate;
    system->viscous_add = viscous_add;
    system->viscous_times = viscous_times;
    return SP_OK;
}

void sp_modal_system_free(sp_system *system)
{
    modal *self = system->self;
    if (!self)
        return;
    sp_pool_free(&self->pool);
    free(self);
    *system = (sp_system){0};
}
