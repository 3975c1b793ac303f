#include "periodic/full.h"

#include "integrate/integrate.h"
#include "linear/dense.h"
#include "periodic/fourier.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* to [n] = U x; n is not limited to the integers of BLAS. */
static void expand(const sp_full_periodic_model *model, const double *x, double *to)
{
    const int64_t n = model->system->n;
    memset(to, 0, (size_t)n * sizeof *to);
    for (int64_t j = 0; j < model->r; j++)
        for (int64_t i = 0; i < n; i++)
            to[i] += x[j] * model->U[j * n + i];
}

/* y [r] += S x. */
static void add_modal(const sp_full_periodic_model *model, const double *x, double *y)
{
    const int r = (int)model->r;
    if (model->modal)
        cblas_dgemv(CblasColMajor, CblasNoTrans, r, r, 1, model->modal, r, x, 1, 1, y, 1);
}

/* ---- the residual ---- */

struct sp_full_residual {
    sp_pool pool;
    sp_context *context;
    const sp_full_periodic_model *model;
    int64_t harmonics, columns, phases;
    double *R, *F;             /* [n, columns] Fourier coefficients of the residual and of the internal force */
    double *u, *v, *f, *y;     /* [n] */
    double *q, *rate, *second; /* [r] */
};

static int allocate(sp_context *context, sp_full_residual *s)
{
    const int64_t n = s->model->system->n, r = s->model->r;
    s->R = sp_pool_new(&s->pool, n * s->columns, sizeof(double));
    s->F = sp_pool_new(&s->pool, n * s->columns, sizeof(double));

    double **vectors[] = {&s->u, &s->v, &s->f, &s->y}, **small[] = {&s->q, &s->rate, &s->second};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&s->pool, n, sizeof(double));
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        *small[i] = sp_pool_new(&s->pool, r, sizeof(double));
    return sp_allocated(context, !s->pool.failed);
}

int sp_full_residual_new(sp_context *context, const sp_full_periodic_model *model, int64_t harmonics, double omega,
                         sp_full_residual **residual)
{
    const sp_system *system = model->system;
    sp_full_residual *s = calloc(1, sizeof *s);

    *residual = NULL;
    SP_PASS(sp_allocated(context, s));

    *s = (sp_full_residual){.context = context,
                            .model = model,
                            .harmonics = harmonics,
                            .columns = 2 * harmonics + 1,
                            .phases = system->cubic ? 4 * harmonics + 1 : 8 * harmonics + 8};

    int status = allocate(context, s);
    SP_TRY(status);

    /* A = K(0) + Ω² M, whose inverse is the norm of forces */
    system->matrix_start(system->self, omega * omega);
    system->matrix_add(system->self, s->u, 1, 1, true, NULL);
    status = system->matrix_factor(system->self);

    if (status == SP_NUMERICAL)
        status = sp_fail(context, SP_NUMERICAL,
                         "the stiffness at rest, with the mass times the square of a frequency, is not positive "
                         "definite: the norm of the residual is not defined");
done:
    if (status != SP_OK)
        sp_full_residual_free(s);
    else
        *residual = s;
    return status;
}

void sp_full_residual_free(sp_full_residual *s)
{
    if (!s)
        return;
    sp_pool_free(&s->pool);
    free(s);
}

/* f = f(u) and y = R at a phase. */
static void evaluate(sp_full_residual *s, const sp_periodic_motion *motion, double theta)
{
    const sp_full_periodic_model *model = s->model;
    const sp_system *system = model->system;
    const int64_t n = system->n, r = model->r;
    const double omega = motion->frequency, load = motion->factor * cos(theta);
    const bool damped = motion->kind != SP_PERIODIC_BACKBONE;

    /* R = M (ü + α u̇ + S u̇) + β K(u) u̇ + f(u) − f₀ − p f₁ cos θ at this phase */
    sp_fourier_at(r, motion->harmonics, motion->coefficients, theta, s->q, s->rate, s->second);
    for (int64_t i = 0; i < r; i++) {
        s->rate[i] *= omega;
        s->second[i] = omega * omega * s->second[i] + (damped ? model->damping_mass * s->rate[i] : 0);
    }

    if (damped)
        add_modal(model, s->rate, s->second);
    expand(model, s->second, s->v);
    system->mass_times(system->self, s->v, s->y);

    expand(model, s->q, s->u);
    if (damped && model->damping_stiffness > 0) {
        expand(model, s->rate, s->v);
        system->tangent_times(system->self, s->u, s->v, s->f);
        for (int64_t i = 0; i < n; i++)
            s->y[i] += model->damping_stiffness * s->f[i];
    }

    system->force(system->self, s->u, s->f);
    for (int64_t i = 0; i < n; i++)
        s->y[i] += s->f[i] - model->constant[i] - load * model->amplitude[i];
}

/* Adds the part of a phase to the coefficients of both forces. */
static void gather(sp_full_residual *s, double theta)
{
    const int64_t n = s->model->system->n;

    /* 1/N Σ y, 2/N Σ y cos kθ and 2/N Σ y sin kθ */
    for (int64_t k = 0; k < s->columns; k++) {
        const double angle = (double)((k + 1) / 2) * theta,
                     wave = (k == 0 ? 1 : 2 * (k % 2 ? cos(angle) : sin(angle))) / (double)s->phases;

        double *R = s->R + k * n, *F = s->F + k * n;
        for (int64_t i = 0; i < n; i++) {
            R[i] += wave * s->y[i];
            F[i] += wave * s->f[i];
        }
    }
}

/* The mean square over a period of a force with these coefficients, in the norm of A. */
static int mean_square(sp_full_residual *s, const double *coefficients, double *square)
{
    const sp_system *system = s->model->system;

    *square = 0;

    /* Parseval: waves have the mean square ½, the constant 1. */
    for (int64_t k = 0; k < s->columns; k++) {
        const double *c = coefficients + k * system->n;
        SP_PASS(system->matrix_solve(system->self, c, s->y));
        *square += (k ? 0.5 : 1) * sp_dense_dot(system->n, c, s->y);
    }
    return SP_OK;
}

int sp_full_residual_at(sp_full_residual *s, const sp_periodic_motion *motion, double *relative)
{
    const size_t bytes = (size_t)(s->model->system->n * s->columns) * sizeof *s->R;
    double residual = 0, force = 0;
    int status;

    memset(s->R, 0, bytes);
    memset(s->F, 0, bytes);

    for (int64_t j = 0; j < s->phases; j++) {
        const double theta = 2 * M_PI * (double)j / (double)s->phases;
        evaluate(s, motion, theta);
        gather(s, theta);
    }

    SP_TRY(mean_square(s, s->R, &residual));
    SP_TRY(mean_square(s, s->F, &force));

    if (!isfinite(residual) || !isfinite(force))
        status = sp_fail(s->context, SP_NUMERICAL, "the force of the full-order model is not finite");
    *relative = force > 0 ? sqrt(fmax(0, residual) / force) : sqrt(fmax(0, residual));
done:
    return status;
}

/* ---- one period ---- */

/* The loads over time: f₀ + p f₁ cos Ωt less the modal damping of the motion. */
typedef struct driving {
    const sp_full_periodic_model *model;
    const sp_periodic_motion *motion;
    double *q, *before, *rate, *u, *y; /* [r], [r], [r], [n], [n] */
} driving;

static void mean_load(void *self, double t0, double t1, double *f)
{
    driving *d = self;
    const sp_full_periodic_model *model = d->model;
    const sp_periodic_motion *m = d->motion;
    const int64_t n = model->system->n, r = model->r;

    /* The mean of cos ωt over the interval */
    const double omega = m->frequency, length = t1 - t0,
                 load = m->factor *
                        (length > 0 ? (sin(omega * t1) - sin(omega * t0)) / (omega * length) : cos(omega * t0));

    for (int64_t i = 0; i < n; i++)
        f[i] = model->constant[i] + load * model->amplitude[i];

    if (!model->modal || m->kind == SP_PERIODIC_BACKBONE)
        return;

    /* Modal damping, −M S q̇ with the mean velocity */
    sp_fourier_at(r, m->harmonics, m->coefficients, omega * t0, d->before, d->rate, NULL);
    sp_fourier_at(r, m->harmonics, m->coefficients, omega * t1, d->q, NULL, NULL);
    for (int64_t i = 0; i < r; i++) /* the mean velocity */
        d->rate[i] = length > 0 ? (d->q[i] - d->before[i]) / length : omega * d->rate[i];

    memset(d->q, 0, (size_t)r * sizeof *d->q);
    add_modal(model, d->rate, d->q);
    expand(model, d->q, d->u);
    model->system->mass_times(model->system->self, d->u, d->y);
    for (int64_t i = 0; i < n; i++)
        f[i] -= d->y[i];
}

/* The norm of a − b (b NULL: 0) in the mass; d->u and d->y are overwritten. */
static double mass_norm(driving *d, const double *a, const double *b)
{
    const int64_t n = d->model->system->n;
    for (int64_t i = 0; i < n; i++)
        d->u[i] = a[i] - (b ? b[i] : 0);
    d->model->system->mass_times(d->model->system->self, d->u, d->y);
    return sqrt(fmax(0, sp_dense_dot(n, d->u, d->y)));
}

/* Takes the steps; u₀, v₀ and the middle [n] of the motion. */
static int integrate(driving *d, sp_integrator *integrator, int64_t steps, const double *u0, const double *v0,
                     const double *middle, sp_full_closing *closing)
{
    double far = mass_norm(d, u0, middle), fast = mass_norm(d, v0, NULL);
    for (int64_t i = 0; i < steps; i++) {
        SP_PASS(sp_integrator_step(integrator));
        far = fmax(far, mass_norm(d, sp_integrator_q(integrator), middle));
        fast = fmax(fast, mass_norm(d, sp_integrator_v(integrator), NULL));
    }

    /* Relative to the largest distance and the largest speed on the way */
    closing->position = mass_norm(d, sp_integrator_q(integrator), u0) / (far > 0 ? far : 1);
    closing->velocity = mass_norm(d, sp_integrator_v(integrator), v0) / (fast > 0 ? fast : 1);
    return SP_OK;
}

int sp_full_periodic_close(sp_context *context, const sp_full_periodic_model *model, const sp_periodic_motion *motion,
                           int64_t steps, sp_full_closing *closing)
{
    const int64_t n = model->system->n, r = model->r;
    const bool damped = motion->kind != SP_PERIODIC_BACKBONE;
    sp_pool pool = {0};
    sp_integrator *integrator = NULL;
    int status;
    driving d = {.model = model, .motion = motion};

    double **small[] = {&d.q, &d.before, &d.rate}, *u0 = sp_pool_new(&pool, n, sizeof *u0),
           *v0 = sp_pool_new(&pool, n, sizeof *v0), *middle = sp_pool_new(&pool, n, sizeof *middle);
    for (int i = 0; i < 3; i++)
        *small[i] = sp_pool_new(&pool, r, sizeof(double));
    d.u = sp_pool_new(&pool, n, sizeof *d.u);
    d.y = sp_pool_new(&pool, n, sizeof *d.y);
    status = sp_allocated(context, !pool.failed);
    SP_TRY(status);

    sp_fourier_at(r, motion->harmonics, motion->coefficients, 0, d.q, d.rate, NULL);
    cblas_dscal((int)r, motion->frequency, d.rate, 1);
    expand(model, d.q, u0);
    expand(model, d.rate, v0);
    expand(model, motion->coefficients, middle);

    const sp_external_loads loads = {.self = &d, .mean = mean_load};
    SP_TRY(sp_integrator_new(context, model->system, &loads,
                             &(sp_integrator_parameters){.kind = SP_NEWMARK,
                                                         .step = 2 * M_PI / motion->frequency / (double)steps,
                                                         .beta = 0.25,
                                                         .gamma = 0.5,
                                                         .damping_mass = damped ? model->damping_mass : 0,
                                                         .damping_stiffness = damped ? model->damping_stiffness : 0,
                                                         .halvings = 6},
                             u0, v0, &integrator));
    SP_TRY(integrate(&d, integrator, steps, u0, v0, middle, closing));
done:
    sp_integrator_free(integrator);
    sp_pool_free(&pool);
    return status;
}
