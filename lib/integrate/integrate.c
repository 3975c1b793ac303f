/* The life cycle of an integrator: start, continuation of another one, saving and loading, and its state for callers.
 * Steps are in step.c; each scheme has its own file. */
#include "integrate/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- start ---- */

static void allocate(sp_integrator *it)
{
    motion_state *now = &it->now, *next = &it->next;
    load_memory *load = &it->load;
    ledger *l = &it->ledger;
    double **vectors[] = {&now->q,
                          &now->v,
                          &now->a,
                          &next->q,
                          &next->v,
                          &next->a,
                          &it->start_q,
                          &load->force,
                          &load->next_force,
                          &load->follow,
                          &load->next_follow,
                          &load->late,
                          &load->momentum,
                          &load->next_momentum,
                          &load->force_before,
                          &load->a_before,
                          &l->integral_q,
                          &l->integral_force,
                          &it->residual,
                          &it->correction,
                          &it->trial,
                          &it->product,
                          &it->scratch};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&it->pool, it->n, sizeof(double));

    sp_prescribed_allocate(it);
    if (it->scheme->allocate)
        it->scheme->allocate(it);
}

/* Starts at it->now. behind: the length of the previous step of another integrator whose motion is continued; 0: none.
 */
static int start(sp_integrator *it, double behind)
{
    const double h = it->p.step, t = sp_integrator_time(it);

    sp_prescribed_place(it, t, 1);
    sp_prescribe_end(it, 1);
    /* Sets the springs that have acted so far. The step itself changes them, and counts the energy of the change. */
    if (it->loads->springs && it->loads->springs(it->loads->self, it->steps ? t - h : 0, it->steps ? t : h))
        SP_PASS(sp_scheme_allows_springs(it));

    sp_force_start(it, t, behind);
    if (it->scheme->start)
        SP_PASS(it->scheme->start(it));
    return SP_OK;
}

int sp_integrator_new(sp_context *context, const sp_system *system, const sp_external_loads *loads,
                      const sp_integrator_parameters *parameters, const double *q, const double *v,
                      sp_integrator **result)
{
    const sp_integrator_parameters *p = parameters;
    int status = sp_scheme_check(context, system, loads, p);
    if (status != SP_OK)
        return status;

    sp_integrator *it = calloc(1, sizeof *it);
    SP_PASS(sp_allocated(context, it));

    it->context = context;
    it->system = system;
    it->loads = loads;
    it->p = *p;
    it->scheme = sp_scheme_of(p->kind);
    it->n = system->n;
    it->h = p->step;
    it->steps = p->first_step;
    it->t0 = (double)p->first_step * p->step;

    it->t1 = (double)(p->first_step + 1) * p->step;
    it->limit_scale = 1;
    it->report.smallest_part = 1;

    /* 0 takes the default of the scheme. */
    if (it->p.tolerance == 0)
        it->p.tolerance = it->scheme->tolerance;
    if (it->p.iterations == 0)
        it->p.iterations = 50;

    allocate(it);
    status = sp_allocated(context, !it->pool.failed);
    if (status == SP_OK) {
        if (q)
            memcpy(it->now.q, q, (size_t)it->n * sizeof *q);
        if (v)
            memcpy(it->now.v, v, (size_t)it->n * sizeof *v);
        status = start(it, 0);
        sp_ledger_mark(it);
    }

    if (status == SP_OK)
        *result = it;
    else
        sp_integrator_free(it);
    return status;
}

int sp_integrator_check(sp_context *context, const sp_system *system, const sp_external_loads *loads,
                        const sp_integrator_parameters *parameters)
{
    return sp_scheme_check(context, system, loads, parameters);
}

void sp_integrator_free(sp_integrator *it)
{
    if (!it)
        return;
    sp_pool_free(&it->pool);
    free(it);
}

/* ---- state that is kept from step to step ---- */

void sp_memory_add(sp_memory *memory, void *data, int64_t bytes)
{
    assert(memory->count < (int)(sizeof memory->part / sizeof *memory->part));
    memory->part[memory->count].data = data;
    memory->part[memory->count].bytes = bytes;
    memory->count++;
}

void sp_memory_add_vector(sp_memory *memory, double *x, int64_t n)
{
    sp_memory_add(memory, x, n * (int64_t)sizeof *x);
}

/* All of it except the state q, v, a: prescribed vertices, energies and counts. */
static void remember(sp_integrator *it, sp_memory *memory)
{
    load_memory *load = &it->load;
    double *vectors[] = {it->now.a, load->force, load->momentum, load->late, load->force_before, load->a_before};
    double *values[] = {&it->last_h, &it->limit_scale, &load->interval, &load->covered, &load->interval_before};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        sp_memory_add_vector(memory, vectors[i], it->n);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        SP_MEMORY_ADD_VALUE(memory, *values[i]);

    if (it->loads->follow)
        sp_memory_add_vector(memory, load->follow, it->n);
    if (it->scheme->remember)
        it->scheme->remember(it, memory);
}

void sp_integrator_visit(sp_integrator *it, sp_state *state)
{
    double *vectors[] = {it->now.q, it->now.v, it->ledger.integral_q, it->ledger.integral_force};
    double *wide[] = {it->prescribed.u[0], it->prescribed.u[1], it->prescribed.v[0], it->prescribed.v[1]};
    double *energies[] = {&it->ledger.work, &it->ledger.dissipated, &it->ledger.integral_energy,
                          &it->ledger.work_integral};
    sp_memory memory = {0};

    SP_STATE_VALUE(state, it->steps);
    SP_STATE_VALUE(state, it->load.stiffened);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        sp_state_reals(state, vectors[i], it->n);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        sp_state_reals(state, wide[i], it->prescribed.rows);
    for (size_t i = 0; i < sizeof energies / sizeof *energies; i++)
        SP_STATE_VALUE(state, *energies[i]);

    remember(it, &memory);
    for (int i = 0; i < memory.count; i++)
        sp_state_bytes(state, memory.part[i].data, memory.part[i].bytes);

    SP_STATE_VALUE(state, it->report);
    if (it->p.skeleton)
        sp_skeleton_visit(it->p.skeleton, state);

    /* Prescribed vertices are where the last step ended. */
    if (state->loading)
        sp_prescribe_end(it, 1);
    it->system->visit(it->system->self, state);
}

/* Returns true if both have the same system in the same state: the next step is then the one that would have followed.
 */
static bool unchanged(const sp_integrator *it, const sp_integrator *before)
{
    const size_t bytes = (size_t)it->n * sizeof(double);
    return it->system->self == before->system->self && it->n == before->n && it->p.kind == before->p.kind &&
           memcmp(it->now.q, before->now.q, bytes) == 0 && memcmp(it->now.v, before->now.v, bytes) == 0;
}

static void copy_memory(sp_integrator *it, sp_integrator *before)
{
    sp_memory to = {0}, from = {0};

    remember(it, &to);
    remember(before, &from);
    for (int i = 0; i < to.count; i++)
        memcpy(to.part[i].data, from.part[i].data, (size_t)to.part[i].bytes);
}

/* Kinetic and stored energy, after the part of the latter that a new step removes at its start. */
static double energy_now(sp_integrator *it)
{
    double energy[SP_WORK_COUNT];
    it->ledger.dissipated += it->system->vertices.begin ? it->system->vertices.begin(it->system->self, it->now.q) : 0;
    sp_integrator_energies(it, energy);
    return energy[SP_WORK_KINETIC] + energy[SP_WORK_STORED];
}

int sp_integrator_continue(sp_integrator *it, sp_integrator *before)
{
    if (it->p.step != before->p.step)
        return sp_fail(it->context, SP_USAGE, "a run with steps of %g s cannot go on with steps of %g s",
                       before->p.step, it->p.step);

    const bool same = unchanged(it, before);
    const double had = same ? 0 : energy_now(before), limit = it->report.stability_limit;

    it->steps = before->steps;
    it->ledger.work = before->ledger.work;
    it->ledger.dissipated = before->ledger.dissipated;
    it->ledger.work_integral = before->ledger.work_integral;
    it->report = before->report;
    it->report.stability_limit = limit;

    const int status = start(it, before->steps > 0 ? before->load.interval : 0);

    /* In the same state the next step is the one that would have followed; else the change of energy counts as work. */
    if (status == SP_OK && same)
        copy_memory(it, before);
    if (status == SP_OK && !same)
        it->ledger.work += energy_now(it) - had;

    sp_ledger_mark(it);
    return status;
}

/* ---- the state ---- */

double sp_integrator_time(const sp_integrator *it)
{
    return (double)it->steps * it->p.step;
}

const double *sp_integrator_q(const sp_integrator *it)
{
    return it->now.q;
}

const double *sp_integrator_v(const sp_integrator *it)
{
    return it->now.v;
}

const double *sp_integrator_acceleration(const sp_integrator *it)
{
    return it->scheme->has_acceleration ? it->now.a : NULL;
}

const double *sp_integrator_prescribed(const sp_integrator *it)
{
    return it->prescribed.rows ? it->prescribed.u[1] : NULL;
}

const double *sp_integrator_prescribed_velocity(const sp_integrator *it)
{
    return it->prescribed.rows ? it->prescribed.v[1] : NULL;
}

const sp_integrator_report *sp_integrator_reported(const sp_integrator *it)
{
    return &it->report;
}
