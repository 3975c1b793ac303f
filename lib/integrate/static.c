/* Static equilibrium f(q) = external under the mean loads of each step. If Newton's method does not converge, the loads
 * are changed from the previous to the new ones in smaller increments. */
#include "integrate/internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct static_workspace {
    double *last_load; /* [n] the loads with which it->now is in equilibrium, N */
    double *load; /* [n] the loads of the equilibrium to be found, between the previous loads and those of the step */
    double *equilibrium;    /* [n] q of the last equilibrium between them */
    double *restart;        /* [n] point at which Newton's method restarts */
    double reference_force; /* without loads: the norm of the first internal force, to which residuals are relative,
                               since all forces vanish in the end, N. 0: none yet */
} static_workspace;

static void allocate(sp_integrator *it)
{
    const sp_system *system = it->system;
    assert(system->matrix_start && system->matrix_add && system->matrix_factor && system->matrix_solve);
    static_workspace *w = it->workspace = sp_pool_new(&it->pool, 1, sizeof *w);
    if (!w)
        return;

    double **vectors[] = {&w->last_load, &w->load, &w->equilibrium, &w->restart};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&it->pool, it->n, sizeof(double));
}

static void remember(sp_integrator *it, sp_memory *memory)
{
    static_workspace *w = it->workspace;
    sp_memory_add_vector(memory, w->last_load, it->n);
    SP_MEMORY_ADD_VALUE(memory, w->reference_force);
}

/* The start counts as an equilibrium, under the loads that balance its internal forces. */
static int balance(sp_integrator *it)
{
    it->system->force(it->system->self, it->now.q, ((const static_workspace *)it->workspace)->last_load);
    return SP_OK;
}

static void residual(sp_integrator *it, const double *q, double *r, sp_newton_residual *size)
{
    static_workspace *w = it->workspace;

    /* Π = W(q) − load · q, r = f(q) − load − follow(q) */
    size->potential = it->system->force(it->system->self, q, r) - sp_dot(it->n, w->load, q);
    const double internal = sp_norm(it->n, r), external = sp_norm(it->n, w->load);

    size->scale = fmax(internal, external);
    if (external == 0) {
        /* Kept over the steps, since later ones may start in equilibrium */
        if (w->reference_force == 0 && isfinite(internal))
            w->reference_force = internal;
        size->scale = fmax(w->reference_force, internal);
    }

    sp_follow(it, q, NULL, it->load.next_follow);
    for (int64_t i = 0; i < it->n; i++)
        r[i] -= w->load[i] + it->load.next_follow[i];
}

static void matrix(sp_integrator *it, const double *q, bool definite)
{
    it->system->matrix_start(it->system->self, 0);
    it->system->matrix_add(it->system->self, q, 1, 1, definite, NULL);
}

/* it->correction = K⁻¹ K_fh du, with K at the last equilibrium and du the displacements of prescribed vertices from the
 * fraction `from` of the step to `to`. Returns false if nothing moves or K cannot be factored. */
static bool tangent_of_prescribed(sp_integrator *it, double from, double to)
{
    const static_workspace *w = it->workspace;
    const sp_system *system = it->system;
    const prescribed_vertices *p = &it->prescribed;
    double *zero = it->trial;
    assert(system->vertices.prescribe && system->tangent_times);

    sp_prescribe(it, from);

    for (int64_t i = 0; i < p->rows; i++)
        p->du[i] = (to - from) * (p->u[1][i] - p->u[0][i]);
    system->vertices.prescribe(system->self, p->u_between, p->du);

    /* K_fh du alone: free components rest. */
    memset(zero, 0, (size_t)it->n * sizeof *zero);
    system->tangent_times(system->self, w->equilibrium, zero, it->product);

    matrix(it, w->equilibrium, false);
    it->report.factorizations++;
    return sp_norm(it->n, it->product) > 0 && system->matrix_factor(system->self) == SP_OK &&
           system->matrix_solve(system->self, it->product, it->correction) == SP_OK;
}

/* Prescribed vertices that move far in a step would invert the elements next to them, and Newton's method might not
 * recover. Therefore it->next.q starts where the tangent at the last equilibrium predicts it, or at that equilibrium if
 * its potential is lower. */
static void predict_prescribed(sp_integrator *it, double from, double to)
{
    const static_workspace *w = it->workspace;
    const double *q = w->equilibrium;
    sp_newton_residual still, moved;
    if (!it->prescribed.rows)
        return;

    const bool solved = tangent_of_prescribed(it, from, to);
    sp_prescribe(it, to);
    if (!solved)
        return;

    /* Of the two starts the one with the lower potential */
    residual(it, q, it->residual, &still);

    for (int64_t i = 0; i < it->n; i++)
        it->next.q[i] = q[i] - it->correction[i];
    residual(it, it->next.q, it->residual, &moved);

    if (isfinite(still.potential) && !(moved.potential < still.potential))
        memcpy(it->next.q, q, (size_t)it->n * sizeof *it->next.q);
}

/* Newton's method from it->next.q, with whole steps first, and with factors kept near the solution. Measured on a spoon
 * of 10,173 coordinates, user time for 85 recorded loads: 21.4 s with neither (8.6 factorizations per load), 16.3 s
 * with whole steps first (5.7), and 13.0 s with both (4.6). */
static int converge(sp_integrator *it)
{
    const static_workspace *w = it->workspace;
    const step_equations equations = {.residual = residual,
                                      .matrix = matrix,
                                      .merit = it->system->nonconservative || it->loads->follow ? SP_NEWTON_RESIDUAL
                                                                                                : SP_NEWTON_MINIMUM,
                                      .whole_steps = 25,
                                      .reuse = 0.1,
                                      .name = "Newton's method for the static state"};
    memcpy(w->restart, it->next.q, (size_t)it->n * sizeof *w->restart);
    return sp_step_solve(it, &equations, w->restart);
}

/* A failure of Newton's method from an equilibrium: a singular tangent there is the better reason, if it is. */
static int explain(sp_integrator *it, const double *equilibrium)
{
    const sp_system *system = it->system;
    char message[sizeof it->context->message];
    memcpy(message, it->context->message, sizeof message);

    if (system->matrix_regular && system->matrix_regular(system->self, equilibrium, SP_SUSPICION_FAILED) != SP_OK)
        return SP_NUMERICAL;
    memcpy(it->context->message, message, sizeof message);
    return SP_NUMERICAL;
}

int sp_static_find(sp_integrator *it, const double *from_load, const double *load)
{
    enum {
        SMALLEST = 1024, /* inverse of the smallest fraction of a load increment */
        USUAL = 10       /* Newton iterations for one of them */
    };
    const int64_t before = it->report.newton_iterations, steps_before = it->report.load_steps;
    const static_workspace *w = it->workspace;
    const size_t bytes = (size_t)it->n * sizeof(double);
    double done = 0, part = 1;

    memcpy(it->next.q, it->now.q, bytes);
    memcpy(w->equilibrium, it->now.q, bytes);
    while (done < 1) {
        /* Loads move from the previous ones to the new ones; the fraction is halved after a failure and doubled
         * after success. */
        const double to = fmin(1, done + part);
        for (int64_t i = 0; i < it->n; i++)
            w->load[i] = from_load[i] + to * (load[i] - from_load[i]);
        predict_prescribed(it, done, to);

        const int status = converge(it);
        if (status == SP_NUMERICAL && part * SMALLEST > 1) {
            part *= 0.5;
            memcpy(it->next.q, w->equilibrium, bytes);
            continue;
        }

        if (status != SP_OK)
            return status == SP_NUMERICAL ? explain(it, w->equilibrium) : status;

        it->report.load_steps++;
        done = to;
        part *= 2;
        memcpy(w->equilibrium, it->next.q, bytes);
    }

    /* Newton's method that converges slowly turns the body about something: the tangents on its way are no judges. */
    const bool slowly = it->report.newton_iterations - before > USUAL * (it->report.load_steps - steps_before);
    return it->system->matrix_regular ? it->system->matrix_regular(it->system->self, it->next.q,
                                                                   slowly ? SP_SUSPICION_SLOW : SP_SUSPICION_NONE)
                                      : SP_OK;
}

void sp_static_reset(sp_integrator *it)
{
    ((static_workspace *)it->workspace)->reference_force = 0;
}

static int step(sp_integrator *it)
{
    const static_workspace *w = it->workspace;
    const size_t bytes = (size_t)it->n * sizeof(double);
    double *load = it->load.force;
    it->loads->mean(it->loads->self, it->t0, it->t1, load); /* without the inertia of prescribed vertices */

    SP_PASS(sp_static_find(it, w->last_load, load));

    /* The loads change evenly from equilibrium to equilibrium: trapezoidal rule */
    for (int64_t i = 0; i < it->n; i++)
        it->ledger.work += 0.5 * (w->last_load[i] + load[i]) * (it->next.q[i] - it->now.q[i]);

    memcpy(it->now.q, it->next.q, bytes);
    memcpy(w->last_load, load, bytes);
    return SP_OK;
}

const sp_scheme sp_scheme_static = {.name = "the static solution",
                                    .refuses = SP_SOLVES_VELOCITIES | SP_HAS_SKELETON | SP_IS_SEMI_IMPLICIT,
                                    .tolerance = 1e-10,
                                    .loads = SP_LOADS_MEAN,
                                    .allocate = allocate,
                                    .start = balance,
                                    .step = step,
                                    .force_changed = balance,
                                    .remember = remember};
