#include "tools/curve/curve.h"

#include <math.h>

/* U over the free degrees of freedom. */
static double *free_rows(const simulation *s, sp_pool *pool)
{
    const int64_t n = s->body->dof_count, rows = s->basis.columns.rows;
    double *U = tool_allocate(pool, n * s->r, sizeof *U);
    for (int64_t j = 0; j < s->r; j++)
        for (int64_t i = 0; i < n; i++)
            U[j * n + i] = s->basis.columns.U[j * rows + s->body->free[i]];
    return U;
}

/* sum [n] += factor · gravity and all loads of a set. */
static void add_loads(curve_model *m, curve_full *full, int64_t count, const sp_load *loads,
                      const double acceleration[3], double factor, double *sum)
{
    const simulation *s = &m->s;
    sp_load_set set;
    tool_check(sp_load_set_new(s->context, s->body, NULL, 0, count, loads, acceleration, &full->system, &set),
               s->mesh.path);
    for (int64_t i = 0; i < set.n; i++) {
        sum[i] += factor * set.gravity[i];
        for (int64_t k = 0; k < set.force_count; k++)
            sum[i] += factor * set.columns[k * set.n + i];
    }
    sp_load_set_free(&set);
}

/* S = Σ 2ζω v vᵀ M over the linear modes v; NULL without modal damping. */
static double *modal_damping(const curve_model *m, sp_pool *pool)
{
    const int64_t r = m->s.r;
    sp_harmonic h;
    if (m->periodic.damping_ratio == 0)
        return NULL;
    double *S = tool_allocate(pool, r * r, sizeof *S), *Mv = tool_allocate(pool, r, sizeof *Mv);
    tool_check(sp_harmonic_new(m->s.context, &m->periodic, &h), m->s.choice->basis);
    for (int64_t k = 0; k < r; k++) {
        const double *v = h.V + k * r, rate = 2 * m->periodic.damping_ratio * sqrt(fmax(0, h.eigenvalue[k]));
        for (int64_t i = 0; i < r; i++) {
            Mv[i] = 0;
            for (int64_t j = 0; j < r; j++)
                Mv[i] += m->periodic.mass[j * r + i] * v[j];
        }
        for (int64_t j = 0; j < r; j++)
            for (int64_t i = 0; i < r; i++)
                S[j * r + i] += rate * v[i] * Mv[j];
    }
    sp_harmonic_free(&h);
    return S;
}

void curve_full_new(curve_model *m, const curve_choice *choice, curve_full *full)
{
    const simulation *s = &m->s;
    const int64_t n = s->body->dof_count;
    *full = (curve_full){0};
    tool_check(sp_full_system_new(s->context, m->s.body, false, s->basis.columns.lumped, NULL, &full->system),
               s->mesh.path);
    double *constant = tool_allocate(&full->pool, n, sizeof *constant),
           *amplitude = tool_allocate(&full->pool, n, sizeof *amplitude);
    add_loads(m, full, m->static_count, m->statics, choice->model.gravity, 1, constant);
    add_loads(m, full, s->load_count, s->loads, (const double[3]){0}, 1, amplitude);
    add_loads(m, full, 0, NULL, choice->base, -1, amplitude);
    full->model = (sp_full_periodic_model){.system = &full->system,
                                           .r = s->r,
                                           .U = free_rows(s, &full->pool),
                                           .constant = constant,
                                           .amplitude = amplitude,
                                           .damping_mass = s->damping_mass,
                                           .damping_stiffness = s->damping_stiffness,
                                           .modal = modal_damping(m, &full->pool)};
}

void curve_full_free(curve_full *full)
{
    sp_full_residual_free(full->residual);
    if (full->system.destroy)
        full->system.destroy(&full->system);
    sp_pool_free(&full->pool);
}

/* The lowest positive frequency of the linear reduced model, rad/s. */
static double lowest_frequency(const curve_model *m)
{
    sp_harmonic h;
    double omega = 0;
    tool_check(sp_harmonic_new(m->s.context, &m->periodic, &h), m->s.choice->basis);
    for (int i = h.r - 1; i >= 0; i--)
        omega = h.eigenvalue[i] > 0 ? sqrt(h.eigenvalue[i]) : omega;
    sp_harmonic_free(&h);
    return omega;
}

void curve_full_residual_new(const curve_model *m, int64_t harmonics, curve_full *full)
{
    tool_check(sp_full_residual_new(m->s.context, &full->model, harmonics, lowest_frequency(m), &full->residual),
               m->s.mesh.path);
}

double curve_full_residual(const curve_model *m, const curve_full *full, const sp_periodic_motion *motion)
{
    double relative;
    tool_check(sp_full_residual_at(full->residual, motion, &relative), m->s.mesh.path);
    return relative;
}
