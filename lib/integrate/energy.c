/* The exactly conserving step: q₁ − q₀ = h(v₀+v₁)/2 and M(v₁−v₀) = h(external − f̄ − C Δq/h) with f̄ = (f(q₀) +
 * 4f(½(q₀+q₁)) + f(q₁))/6. f is cubic along the segment, so that Simpson's rule gives f̄·Δq = W(q₁) − W(q₀) without
 * error. The unknown is q₁. */
#include "integrate/internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct energy_workspace {
    double *force;         /* [n] f(q₀) */
    double *end_force;     /* [n] f(q₁) */
    double *middle;        /* [n] ½(q₀ + q₁) */
    double *mean_velocity; /* [n] (q₁ − q₀)/h */
} energy_workspace;

static void allocate(sp_integrator *it)
{
    const sp_system *system = it->system;
    assert(system->matrix_start && system->matrix_add && system->matrix_factor && system->matrix_solve);
    assert(system->mass_times && system->tangent_times);

    energy_workspace *w = it->workspace = sp_pool_new(&it->pool, 1, sizeof *w);
    if (!w)
        return;

    double **vectors[] = {&w->force, &w->end_force, &w->middle, &w->mean_velocity};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&it->pool, it->n, sizeof(double));
}

static void remember(sp_integrator *it, sp_memory *memory)
{
    sp_memory_add_vector(memory, ((const energy_workspace *)it->workspace)->force, it->n);
}

static int evaluate_force(sp_integrator *it)
{
    it->system->force(it->system->self, it->now.q, ((const energy_workspace *)it->workspace)->force);
    return SP_OK;
}

/* Computes the middle of the step and the mean velocity for q₁. */
static void set_end_state(sp_integrator *it, const double *q1)
{
    const energy_workspace *w = it->workspace;
    for (int64_t i = 0; i < it->n; i++) {
        w->middle[i] = 0.5 * (it->now.q[i] + q1[i]);
        w->mean_velocity[i] = (q1[i] - it->now.q[i]) / it->h;
    }
}

static void residual(sp_integrator *it, const double *q1, double *r, sp_newton_residual *size)
{
    const energy_workspace *w = it->workspace;
    const double h = it->h;

    /* Simpson's rule for the mean of f over the step, which is exact for a cubic f: (f(q₀) + 4 f(½(q₀ + q₁)) +
     * f(q₁)) / 6 */
    set_end_state(it, q1);
    it->system->force(it->system->self, w->middle, r);
    it->system->force(it->system->self, q1, w->end_force);
    for (int64_t i = 0; i < it->n; i++)
        r[i] = (w->force[i] + 4 * r[i] + w->end_force[i]) / 6;
    size->scale = fmax(sp_norm(it->n, r), sp_norm(it->n, it->load.force));

    /* r = mean of f + M (2 (q₁ − q₀)/h² − 2 v₀/h) − external force */
    for (int64_t i = 0; i < it->n; i++)
        it->scratch[i] = 2 / (h * h) * (q1[i] - it->now.q[i]) - 2 / h * it->now.v[i];
    it->system->mass_times(it->system->self, it->scratch, it->product);
    size->scale = fmax(size->scale, sp_norm(it->n, it->product));
    for (int64_t i = 0; i < it->n; i++)
        r[i] += it->product[i] - it->load.force[i];

    /* Forces that follow the motion and dampers are taken at the middle of the step, with the mean velocity. */
    if (it->loads->follow) {
        sp_follow(it, w->middle, w->mean_velocity, it->load.follow);
        size->scale = fmax(size->scale, sp_norm(it->n, it->load.follow));
        for (int64_t i = 0; i < it->n; i++)
            r[i] -= it->load.follow[i];
    }

    if (sp_damping_force(it, w->middle, w->mean_velocity, it->product)) {
        size->scale = fmax(size->scale, sp_norm(it->n, it->product));
        for (int64_t i = 0; i < it->n; i++)
            r[i] += it->product[i];
    }
}

static void matrix(sp_integrator *it, const double *q1, bool definite)
{
    const energy_workspace *w = it->workspace;
    const sp_system *system = it->system;
    const double h = it->h, damping = it->p.damping_stiffness;

    /* ∂r/∂q₁: the middle of the step contributes 4/6 ½ K(½(q₀ + q₁)), its end 1/6 K(q₁). */
    set_end_state(it, q1);
    system->matrix_start(system->self, 2 / (h * h) + it->p.damping_mass / h);
    system->matrix_add(system->self, w->middle, 1.0 / 3 + damping / h, 1.0 / 3, definite, NULL);
    system->matrix_add(system->self, q1, 1.0 / 6, 1.0 / 6, definite, NULL);
    if (system->viscous_add) /* without ∂(D(q)v)/∂q, as in implicit.c */
        system->viscous_add(system->self, w->middle, 1 / h);

    if (damping != 0 && !definite && !system->constant)
        sp_add_tangent_derivative(it, w->middle, w->mean_velocity, 0.5 * damping);
}

static int step(sp_integrator *it)
{
    static const step_equations equations = {.residual = residual,
                                             .matrix = matrix,
                                             .merit = SP_NEWTON_RESIDUAL,
                                             .whole_steps = 8,
                                             .name = "Newton's method in the energy step"};
    const energy_workspace *w = it->workspace;
    const double h = it->h, *mean = w->mean_velocity;

    sp_mean_force(it, it->t0, it->t1, it->load.force);
    for (int64_t i = 0; i < it->n; i++)
        it->next.q[i] = it->now.q[i] + h * it->now.v[i];
    SP_PASS(sp_step_solve(it, &equations, it->now.q));

    /* Work and dissipation over the displacement q₁ − q₀, h times the mean velocity */
    set_end_state(it, it->next.q);
    sp_follow(it, w->middle, mean, it->load.follow);
    for (int64_t i = 0; i < it->n; i++)
        it->ledger.work += (it->load.force[i] + it->load.follow[i]) * h * mean[i];
    if (sp_damping_force(it, w->middle, mean, it->product))
        it->ledger.dissipated += h * sp_dot(it->n, mean, it->product);

    /* (v₀ + v₁)/2 = (q₁ − q₀)/h */
    for (int64_t i = 0; i < it->n; i++)
        it->now.v[i] = 2 * mean[i] - it->now.v[i];
    memcpy(it->now.q, it->next.q, (size_t)it->n * sizeof *it->now.q);

    return evaluate_force(it);
}

const sp_scheme sp_scheme_energy = {.name = "the energy-conserving step",
                                    .needs = SP_IS_CUBIC | SP_IS_CONSERVATIVE,
                                    .refuses = SP_MOVES_VERTICES | SP_HAS_GROUNDS | SP_SOLVES_VELOCITIES |
                                               SP_HAS_SKELETON | SP_IS_SEMI_IMPLICIT,
                                    .tolerance = 1e-12,
                                    .subdivides = true,
                                    .loads = SP_LOADS_MEAN,
                                    .allocate = allocate,
                                    .start = evaluate_force,
                                    .step = step,
                                    .force_changed = evaluate_force,
                                    .remember = remember};
