#include "integrate/internal.h"

#include "assembly/fe_space.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double sp_dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

double sp_norm(int64_t n, const double *x)
{
    return sqrt(sp_dot(n, x, x));
}

bool sp_damping_force(sp_integrator *it, const double *q, const double *v, double *y)
{
    double alpha = it->p.damping_mass, beta = it->p.damping_stiffness;
    if (alpha == 0 && beta == 0 && !it->system->viscous_times)
        return false;
    if (beta != 0)
        it->system->tangent_times(it->system->self, q, v, y);
    else
        memset(y, 0, (size_t)it->n * sizeof *y);
    if (alpha != 0) {
        it->system->mass_times(it->system->self, v, it->trial);
        for (int64_t i = 0; i < it->n; i++)
            y[i] = alpha * it->trial[i] + beta * y[i];
    } else
        for (int64_t i = 0; i < it->n; i++)
            y[i] *= beta;
    if (it->system->viscous_times) {
        it->system->viscous_times(it->system->self, q, v, it->trial);
        for (int64_t i = 0; i < it->n; i++)
            y[i] += it->trial[i];
    }
    return true;
}

int sp_balance_acceleration(sp_integrator *it, const double *external)
{
    it->system->force(it->system->self, it->q, it->r);
    bool damped = sp_damping_force(it, it->q, it->v, it->y);
    double size = 0;
    for (int64_t i = 0; i < it->n; i++) {
        it->r[i] = external[i] - it->r[i] - (damped ? it->y[i] : 0);
        size = fmax(size, fabs(it->r[i]));
    }
    if (!isfinite(sp_norm(it->n, it->r)))
        return sp_fail(it->context, SP_NUMERICAL, "the forces at t = %g s are not finite", it->t0);
    if (size == 0) {
        memset(it->a, 0, (size_t)it->n * sizeof *it->a);
        return SP_OK;
    }
    return it->system->mass_solve(it->system->self, it->r, it->a);
}

void sp_add_tangent_derivative(sp_integrator *it, const double *q, const double *v, double scale)
{
    double speed = sp_norm(it->n, v), reach = sp_norm(it->n, q);
    if (speed == 0)
        return;
    /* Exactly for a cubic force by differences to both sides, where long steps round least; else to one side by so
     * little that the error is a thousandth of h or less and stays inside what the material allows. K(q) is at hand
     * then: the caller has just added it. */
    const bool cubic = it->system->cubic;
    const double s = cubic ? fmax(reach, it->h * speed) / speed : 1e-3 * it->h, weight = scale / (cubic ? 2 * s : s);
    if (!cubic)
        it->system->matrix_add(it->system->self, q, -weight, 0, false, NULL);
    for (int sign = 1; sign >= (cubic ? -1 : 1); sign -= 2) {
        for (int64_t i = 0; i < it->n; i++)
            it->trial[i] = q[i] + sign * s * v[i];
        for (int64_t i = 0; i < it->rows; i++)
            it->scrap[i] = it->prescribed_u[1][i] + sign * s * it->prescribed_v[1][i];
        if (it->rows)
            it->system->vertices.prescribe(it->system->self, it->scrap, it->prescribed_v[1]);
        it->system->matrix_add(it->system->self, it->trial, sign * weight, 0, false, NULL);
    }
    sp_prescribe(it, 1);
}

/* ω of the stiffest mode at rest, springs that act included, by power iteration on M⁻¹K: a lower bound, close after so
 * many steps. K x is the difference quotient of the force over a step so small that its cubic part is rounding. */
static int largest_frequency(sp_integrator *it, double *omega)
{
    const sp_system *system = it->system;
    int status = SP_OK;
    for (int64_t i = 0; i < it->n; i++)
        it->x[i] = sp_random_normal(1, 77, (uint64_t)i);
    *omega = 0;
    for (int k = 0; k < 100; k++) {
        double step = 1e-6 / fmax(1e-300, sp_norm(it->n, it->x));
        for (int64_t i = 0; i < it->n; i++)
            it->q1[i] = step * it->x[i];
        system->force(system->self, it->q1, it->y);
        for (int64_t i = 0; i < it->n; i++)
            it->q1[i] = -step * it->x[i];
        system->force(system->self, it->q1, it->r);
        for (int64_t i = 0; i < it->n; i++)
            it->y[i] = (it->y[i] - it->r[i]) / (2 * step);
        system->mass_times(system->self, it->x, it->r);
        double quotient = sp_dot(it->n, it->x, it->y) / sp_dot(it->n, it->x, it->r);
        *omega = fmax(*omega, sqrt(fmax(0, quotient)));
        SP_TRY(system->mass_solve(system->self, it->y, it->x));
        double size = sp_norm(it->n, it->x);
        for (int64_t i = 0; i < it->n; i++)
            it->x[i] /= size;
    }
done:
    return status;
}

/* The largest rate of damping by strain rate at rest, 1/s: the eigenvalue of M⁻¹D, as above. */
static int largest_rate(sp_integrator *it, double *rate)
{
    const sp_system *system = it->system;
    int status = SP_OK;
    *rate = 0;
    if (!system->viscous_times)
        return SP_OK;
    memset(it->q1, 0, (size_t)it->n * sizeof *it->q1);
    for (int64_t i = 0; i < it->n; i++)
        it->x[i] = sp_random_normal(1, 78, (uint64_t)i);
    for (int k = 0; k < 100; k++) {
        system->viscous_times(system->self, it->q1, it->x, it->y);
        system->mass_times(system->self, it->x, it->r);
        *rate = fmax(*rate, sp_dot(it->n, it->x, it->y) / sp_dot(it->n, it->x, it->r));
        SP_TRY(system->mass_solve(system->self, it->y, it->x));
        double size = sp_norm(it->n, it->x);
        if (size == 0)
            break;
        for (int64_t i = 0; i < it->n; i++)
            it->x[i] /= size;
    }
done:
    return status;
}

/* Leapfrog is stable for h ≤ 2/ω; with the lagged damping forces βK v and D v where (h/2)²K + (h/2)(βK + D) ≤ M: at the
 * latest, with the largest eigenvalues δ of M⁻¹D and ω² of M⁻¹K, for h ≤ (√(1+ξ²) − ξ) 2/ω, ξ = (βω + δ/ω)/2. */
static int check_stability(sp_integrator *it)
{
    double omega, rate, h = it->p.step;
    int status;
    if (it->rows) { /* at rest, wherever held vertices are by now */
        memset(it->prescribed, 0, (size_t)it->rows * sizeof *it->prescribed);
        it->system->vertices.prescribe(it->system->self, it->prescribed, it->prescribed);
    }
    it->stiffened = it->loads->stiffened ? *it->loads->stiffened : 0;
    SP_TRY(largest_frequency(it, &omega));
    SP_TRY(largest_rate(it, &rate));
    sp_prescribe(it, 1);
    double xi = 0.5 * (it->p.damping_stiffness * omega + (rate > 0 ? rate / omega : 0));
    it->report.stability_limit = (sqrt(1 + xi * xi) - xi) * 2 / omega;
    if (h > it->report.stability_limit)
        return sp_fail(it->context, SP_USAGE,
                       "the time step %g s is above the limit of central differences, 2/omega%s = %g s", h,
                       xi > 0 ? " with this damping" : "", it->report.stability_limit);
done:
    return status;
}

/* Where the next piece of the path begins. */
static void mark_path(sp_integrator *it)
{
    if (!it->system->nonconservative)
        return;
    memcpy(it->path_q, it->q, (size_t)it->n * sizeof *it->q);
    it->path_energy = it->system->force(it->system->self, it->q, it->path_f);
}

/* Work against the internal force over the last step by the trapezoidal rule. That is exact for springs, whose part has
 * an energy and is taken out. */
static void follow_path(sp_integrator *it)
{
    if (!it->system->nonconservative)
        return;
    double energy = it->system->force(it->system->self, it->q, it->trial);
    for (int64_t i = 0; i < it->n; i++)
        it->path_work += 0.5 * (it->path_f[i] + it->trial[i]) * (it->q[i] - it->path_q[i]);
    it->path_work -= energy - it->path_energy;
    memcpy(it->path_q, it->q, (size_t)it->n * sizeof *it->q);
    memcpy(it->path_f, it->trial, (size_t)it->n * sizeof *it->trial);
    it->path_energy = energy;
}

/* ---- held vertices ---- */

static void make_room_for_held(sp_integrator *it)
{
    const int64_t rows =
        it->system->vertices.space && (it->loads->prescribed || it->p.skeleton) ? 3 * it->system->vertices.space->mesh->vertex_count : 0;
    double **wide[] = {&it->prescribed_u[0],
                       &it->prescribed_u[1],
                       &it->prescribed_v[0],
                       &it->prescribed_v[1],
                       &it->prescribed,
                       &it->prescribed_rate,
                       &it->scrap};
    it->rows = rows;
    for (size_t i = 0; i < sizeof wide / sizeof *wide && rows; i++)
        *wide[i] = sp_pool_new(&it->pool, rows, sizeof(double));
    if (!it->p.skeleton)
        return;
    const int64_t m = sp_skeleton_count(it->p.skeleton);
    it->coupling = sp_pool_new(&it->pool, rows, sizeof(double));
    it->wide = sp_pool_new(&it->pool, rows, sizeof(double));
    it->wider = sp_pool_new(&it->pool, rows, sizeof(double));
    it->start_q = sp_pool_new(&it->pool, it->n, sizeof(double));
    it->reach = sp_pool_new(&it->pool, it->n * m, sizeof(double));
    it->small = sp_pool_new(&it->pool, m * m, sizeof(double));
    it->small_right = sp_pool_new(&it->pool, m, sizeof(double));
    it->pivot = sp_pool_new(&it->pool, m, sizeof *it->pivot);
}

/* Places of the start (0) or end (1) of the step at t, and sets the system to them. Attached vertices are where the
 * skeleton is now. */
static void place_held(sp_integrator *it, double t, int end)
{
    if (!it->rows)
        return;
    if (it->loads->prescribed)
        it->loads->prescribed(it->loads->self, t, it->prescribed_u[end], it->prescribed_v[end]);
    if (it->p.skeleton)
        sp_skeleton_place(it->p.skeleton, it->prescribed_u[end], it->prescribed_v[end]);
    it->system->vertices.prescribe(it->system->self, it->prescribed_u[end], it->prescribed_v[end]);
}

void sp_prescribe(sp_integrator *it, double s)
{
    if (!it->rows)
        return;
    for (int64_t i = 0; i < it->rows; i++) {
        it->prescribed[i] = s == 1 ? it->prescribed_u[1][i]
                                   : it->prescribed_u[0][i] + s * (it->prescribed_u[1][i] - it->prescribed_u[0][i]);
        it->prescribed_rate[i] = s == 1
                                     ? it->prescribed_v[1][i]
                                     : it->prescribed_v[0][i] + s * (it->prescribed_v[1][i] - it->prescribed_v[0][i]);
    }
    it->system->vertices.prescribe(it->system->self, it->prescribed, it->prescribed_rate);
}

static int refuse_springs(const sp_integrator *it)
{
    return it->p.kind == SP_EXACT
               ? sp_fail(it->context, SP_USAGE, "springs are no part of oscillators that are integrated exactly")
               : SP_OK;
}

/* behind: the length of the step before, of another integrator whose motion this one goes on with; 0: none. */
static int start(sp_integrator *it, double behind)
{
    int status = SP_OK;
    const double h = it->p.step, t = sp_integrator_time(it);
    place_held(it, t, 1);
    /* in between those that have acted so far: the step itself changes them, and counts what that stores */
    if (it->loads->springs && it->loads->springs(it->loads->self, it->steps ? t - h : 0, it->steps ? t : h))
        SP_TRY(refuse_springs(it));
    sp_force_start(it, t, behind);
    switch (it->p.kind) {
    case SP_NEWMARK:
        SP_TRY(sp_balance_acceleration(it, it->external));
        break;
    case SP_CENTRAL:
        SP_TRY(check_stability(it));
        SP_TRY(sp_balance_acceleration(it, it->external));
        double energy[SP_WORK_COUNT];
        sp_integrator_energies(it, energy);
        it->energy_scale = energy[SP_WORK_KINETIC] + energy[SP_WORK_STORED];
        break;
    case SP_ENERGY:
        it->system->force(it->system->self, it->q, it->f0);
        break;
    case SP_STATIC:
        it->system->force(it->system->self, it->q,
                          it->f0); /* the first equilibrium is that of loads which keep the start where it is */
        if (it->steps > 0)         /* in balance under what holds it there */
            it->system->force(it->system->self, it->q, it->f0);
        break;
    case SP_BDF2:
    case SP_EULER:
    case SP_LINEAR_EULER:
    case SP_EXACT:
        break;
    }
done:
    return status;
}

int sp_integrator_new(sp_context *context, const sp_system *system, const sp_external_loads *loads,
                      const sp_integrator_parameters *parameters, const double *q, const double *v,
                      sp_integrator **result)
{
    enum { MOST_HALVINGS = 40 }; /* beyond it t0 + h/2⁴⁰ is t0 */
    const sp_integrator_parameters *p = parameters;
    if (!(p->step > 0 && isfinite(p->step)))
        return sp_fail(context, SP_USAGE, "the time step is %g s", p->step);
    if (p->first_step < 0)
        return sp_fail(context, SP_USAGE, "the run is to start at step %lld", (long long)p->first_step);
    if (p->kind == SP_NEWMARK && !(p->beta > 0 && p->beta <= 1 && p->gamma >= 0 && p->gamma <= 1))
        return sp_fail(context, SP_USAGE, "Newmark's beta is %g and gamma %g: beta must be in (0, 1], gamma in [0, 1]",
                       p->beta, p->gamma);
    if (!(p->damping_mass >= 0 && p->damping_stiffness >= 0))
        return sp_fail(context, SP_USAGE, "damping may not be negative");
    if (p->kind == SP_ENERGY && (loads->prescribed || system->vertices.begin))
        return sp_fail(context, SP_USAGE,
                       "the energy-conserving step is for bodies whose held vertices rest and that touch no ground");
    if (p->kind == SP_ENERGY && !system->cubic)
        return sp_fail(
            context, SP_USAGE,
            "the energy-conserving step is exact only for laws that are quadratic in the Green-Lagrange strain");
    if (p->kind == SP_LINEAR_EULER && !(p->beta > 0 && isfinite(p->beta)))
        return sp_fail(context, SP_USAGE, "beta of linearly implicit Euler is %g: it must be more than 0", p->beta);
    if (p->kind == SP_LINEAR_EULER && !system->vertices.space)
        return sp_fail(context, SP_USAGE, "linearly implicit Euler is for models of vertices");
    if (p->kind != SP_LINEAR_EULER && (system->vertices.velocity_step || p->skeleton))
        return sp_fail(context, SP_USAGE, "%s moves by linearly implicit Euler only",
                       p->skeleton ? "a skeleton" : "a condensed model");
    if (p->kind == SP_EXACT && !system->eigenvalue)
        return sp_fail(context, SP_USAGE, "only oscillators, a modal model, are integrated exactly");
    if (loads->prescribed && !system->vertices.space)
        return sp_fail(context, SP_USAGE, "held vertices move in models of vertices only");
    if (p->kind == SP_EXACT && system->viscous_times)
        return sp_fail(context, SP_USAGE, "oscillators that are integrated exactly have no damping by strain rate");
    if (!(p->halvings >= 0 && p->halvings <= MOST_HALVINGS))
        return sp_fail(context, SP_USAGE, "steps are to be halved %d times: it must be from 0 to %d", p->halvings,
                       MOST_HALVINGS);
    if (p->kind == SP_BDF2 && system->vertices.apply_friction)
        return sp_fail(context, SP_USAGE, "BDF2 has no friction: its velocities come from positions");
    if (p->semi_implicit && p->kind != SP_NEWMARK)
        return sp_fail(context, SP_USAGE, "only Newmark has a semi-implicit step");
    if (p->kind == SP_ENERGY && system->nonconservative)
        return sp_fail(context, SP_USAGE,
                       "the energy-conserving step needs an internal force that has an energy; cubature with weights "
                       "by coordinate has none");
    sp_integrator *it = calloc(1, sizeof *it);
    if (!it)
        return sp_fail_memory(context);
    it->context = context;
    it->system = system;
    it->loads = loads;
    it->p = *p;
    it->h = p->step;
    it->steps = p->first_step;
    it->t0 = (double)p->first_step * p->step;
    it->t1 = (double)(p->first_step + 1) * p->step;
    it->chop = 1;
    it->report.smallest_part = 1;
    if (it->p.tolerance == 0)
        it->p.tolerance = p->kind == SP_ENERGY ? 1e-12 : 1e-10;
    if (it->p.iterations == 0)
        it->p.iterations = 50;
    it->n = system->n;
    double **vectors[] = {&it->q,
                          &it->v,
                          &it->a,
                          &it->q1,
                          &it->v1,
                          &it->a1,
                          &it->external,
                          &it->external1,
                          &it->momentum,
                          &it->momentum1,
                          &it->external_before,
                          &it->a_before,
                          &it->f0,
                          &it->r,
                          &it->dq,
                          &it->x,
                          &it->y,
                          &it->trial,
                          &it->path_q,
                          &it->path_f,
                          &it->last_q,
                          &it->last_v,
                          &it->vb,
                          &it->ab};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&it->pool, it->n, sizeof(double));
    make_room_for_held(it);
    int status = it->pool.failed ? sp_fail_memory(context) : SP_OK;
    if (status == SP_OK) {
        if (q)
            memcpy(it->q, q, (size_t)it->n * sizeof *q);
        if (v)
            memcpy(it->v, v, (size_t)it->n * sizeof *v);
        status = start(it, 0);
        mark_path(it);
    }
    if (status == SP_OK)
        *result = it;
    else
        sp_integrator_free(it);
    return status;
}

void sp_integrator_free(sp_integrator *it)
{
    if (!it)
        return;
    sp_pool_free(&it->pool);
    free(it);
}

/* ---- steps ---- */

/* The acceleration after forces have jumped. */
static int rebalance(sp_integrator *it)
{
    if (it->p.kind != SP_NEWMARK && it->p.kind != SP_CENTRAL)
        return SP_OK;
    const int status = sp_balance_acceleration(it, it->external);
    for (int64_t i = 0; i < it->n; i++)
        it->a[i] *= it->chop;
    return status;
}

/* Springs that change store or release energy at once: that is work of whoever changes them. */
static int change_springs(sp_integrator *it)
{
    double before = it->system->force(it->system->self, it->q, NULL);
    if (it->steps == 0 || !it->loads->springs(it->loads->self, it->t0, it->t1))
        return SP_OK;
    it->work += it->system->force(it->system->self, it->q, it->f0) - before;
    mark_path(it);
    int status = refuse_springs(it);
    if (status == SP_OK && it->p.kind == SP_CENTRAL &&
        !(it->loads->stiffened && *it->loads->stiffened == it->stiffened))
        status = check_stability(it);
    return status == SP_OK ? rebalance(it) : status;
}

/* One step, or a part of one, from t0 to t1. */
static int take(sp_integrator *it, double t0, double t1)
{
    static int (*const steps[])(sp_integrator *) = {[SP_NEWMARK] = sp_step_implicit,
                                                    [SP_EULER] = sp_step_implicit,
                                                    [SP_BDF2] = sp_step_implicit,
                                                    [SP_ENERGY] = sp_step_energy,
                                                    [SP_CENTRAL] = sp_step_central,
                                                    [SP_STATIC] = sp_step_static,
                                                    [SP_LINEAR_EULER] = sp_step_linear_euler,
                                                    [SP_EXACT] = sp_step_exact};
    const sp_system *system = it->system;
    double pulled = 0;
    it->t0 = t0;
    it->t1 = t1;
    it->h = it->parting ? t1 - t0 : it->p.step;
    place_held(it, t0, 0);
    /* counted at once: a step that fails has anchored too */
    const double lost = system->vertices.begin ? system->vertices.begin(system->self, it->q) : 0;
    it->dissipated += lost;
    sp_force_restore(it);
    int status = lost > 0 ? rebalance(it) : SP_OK; /* the drag has gone */
    if (status == SP_OK)
        status = sp_force_retime(it);
    if (status != SP_OK)
        return status;
    if (it->rows) {
        if (it->loads->prescribed)
            it->loads->prescribed(it->loads->self, t1, it->prescribed_u[1], it->prescribed_v[1]);
        if (it->p.skeleton)
            sp_skeleton_place(it->p.skeleton, it->prescribed_u[1], it->prescribed_v[1]);
        for (int64_t i = 0; i < it->rows; i++)
            it->scrap[i] = it->prescribed_u[1][i] - it->prescribed_u[0][i];
        pulled = 0.5 * system->vertices.prescribed_work(system->self, it->q, it->scrap);
    }
    if (it->p.skeleton)
        memcpy(it->start_q, it->q, (size_t)it->n * sizeof *it->q);
    status = steps[it->p.kind](it);
    if (status != SP_OK) {
        if (it->rows) {
            memcpy(it->prescribed_u[1], it->prescribed_u[0], (size_t)it->rows * sizeof *it->prescribed_u[0]);
            memcpy(it->prescribed_v[1], it->prescribed_v[0], (size_t)it->rows * sizeof *it->prescribed_v[0]);
            system->vertices.prescribe(system->self, it->prescribed_u[0], it->prescribed_v[0]);
        }
        return status;
    }
    it->last_h = it->h;
    if (system->vertices.apply_friction && it->p.kind != SP_LINEAR_EULER)
        it->dissipated += system->vertices.apply_friction(system->self, it->last_q, it->q, it->h, it->v);
    if (it->rows) {
        for (int64_t i = 0; i < it->rows; i++)
            it->scrap[i] = it->prescribed_u[1][i] - it->prescribed_u[0][i];
        if (it->p.skeleton) { /* only now the way of attached vertices is known */
            system->vertices.prescribe(system->self, it->prescribed_u[0], it->prescribed_v[0]);
            pulled = 0.5 * system->vertices.prescribed_work(system->self, it->start_q, it->scrap);
        }
        system->vertices.prescribe(system->self, it->prescribed_u[1], it->prescribed_v[1]);
        it->work += pulled + 0.5 * system->vertices.prescribed_work(system->self, it->q, it->scrap);
    }
    return SP_OK;
}

/* In two halves, each of these in two where it fails, down to the 2^halvings-th part. */
static int take_parts(sp_integrator *it, double t0, double t1, double part, int halvings)
{
    int status = take(it, t0, t1);
    if (status != SP_NUMERICAL || halvings == 0)
        return status;
    const double middle = 0.5 * (t0 + t1);
    it->parting = true;
    it->report.smallest_part = fmin(it->report.smallest_part, 0.5 * part);
    status = take_parts(it, t0, middle, 0.5 * part, halvings - 1);
    return status == SP_OK ? take_parts(it, middle, t1, 0.5 * part, halvings - 1) : status;
}

int sp_integrator_step(sp_integrator *it)
{
    int status = SP_OK;
    it->t0 = (double)it->steps * it->p.step;
    it->t1 = (double)(it->steps + 1) * it->p.step;
    if (it->loads->springs)
        status = change_springs(it);
    if (status == SP_OK)
        status = take_parts(
            it, it->t0, it->t1, 1,
            it->p.kind == SP_STATIC || it->p.kind == SP_CENTRAL || it->p.kind == SP_EXACT ? 0 : it->p.halvings);
    if (it->parting && status == SP_OK)
        it->report.parted++;
    it->parting = false;
    if (status != SP_OK)
        return status;
    follow_path(it);
    it->steps++;
    it->report.steps++;
    return SP_OK;
}

/* The same system in the same state: then the step that follows is the one that would have. */
static bool unchanged(const sp_integrator *it, const sp_integrator *before)
{
    const size_t bytes = (size_t)it->n * sizeof(double);
    return it->system->self == before->system->self && it->n == before->n && it->p.kind == before->p.kind &&
           memcmp(it->q, before->q, bytes) == 0 && memcmp(it->v, before->v, bytes) == 0;
}

/* Kinetic and stored energy, after what a new step would take out of the latter at its start. */
static double energy_now(sp_integrator *it)
{
    double energy[SP_WORK_COUNT];
    it->dissipated += it->system->vertices.begin ? it->system->vertices.begin(it->system->self, it->q) : 0;
    sp_integrator_energies(it, energy);
    return energy[SP_WORK_KINETIC] + energy[SP_WORK_STORED];
}

int sp_integrator_continue(sp_integrator *it, sp_integrator *before)
{
    if (it->p.step != before->p.step)
        return sp_fail(it->context, SP_USAGE, "a run with steps of %g s cannot go on with steps of %g s",
                       before->p.step, it->p.step);
    const bool same = unchanged(it, before);
    const double had = same ? 0 : energy_now(before);
    it->steps = before->steps;
    it->work = before->work;
    it->dissipated = before->dissipated;
    it->path_work = before->path_work;
    const double limit = it->report.stability_limit;
    it->report = before->report;
    it->report.stability_limit = limit;
    const int status = start(it, before->steps > 0 ? before->ahead : 0);
    if (status == SP_OK && !same)
        it->work += energy_now(it) - had;
    if (status == SP_OK && same) {
        double *const to[] = {it->a, it->external, it->f0, it->last_q, it->last_v, it->momentum};
        const double *const from[] = {before->a,      before->external, before->f0,
                                      before->last_q, before->last_v,   before->momentum};
        for (size_t i = 0; i < sizeof to / sizeof *to; i++)
            memcpy(to[i], from[i], (size_t)it->n * sizeof(double));
        it->last_h = before->last_h;
        it->ahead = before->ahead;
        it->covered = before->covered;
        it->chop = before->chop;
        it->energy_scale = before->energy_scale;
        it->force_scale = before->force_scale;
    }
    mark_path(it);
    return status;
}

double sp_integrator_time(const sp_integrator *it)
{
    return (double)it->steps * it->p.step;
}

const double *sp_integrator_prescribed(const sp_integrator *it)
{
    return it->rows ? it->prescribed_u[1] : NULL;
}

const double *sp_integrator_prescribed_velocity(const sp_integrator *it)
{
    return it->rows ? it->prescribed_v[1] : NULL;
}

const double *sp_integrator_q(const sp_integrator *it)
{
    return it->q;
}

const double *sp_integrator_v(const sp_integrator *it)
{
    return it->v;
}

void sp_integrator_energies(sp_integrator *it, double energy[SP_WORK_COUNT])
{
    it->system->mass_times(it->system->self, it->v, it->y);
    energy[SP_WORK_KINETIC] = 0.5 * sp_dot(it->n, it->v, it->y);
    energy[SP_WORK_STORED] = it->system->force(it->system->self, it->q, NULL) + it->path_work;
    energy[SP_WORK_EXTERNAL] = it->work;
    energy[SP_WORK_DISSIPATED] = it->dissipated;
}

const sp_integrator_report *sp_integrator_reported(const sp_integrator *it)
{
    return &it->report;
}

void sp_integrator_visit(sp_integrator *it, sp_state *state)
{
    const sp_system *system = it->system;
    double *vectors[] = {it->q,        it->v,        it->a,  it->last_q, it->last_v, it->external, it->external_before,
                         it->a_before, it->momentum, it->f0, it->path_q, it->path_f};
    double *wide[] = {it->prescribed_u[0], it->prescribed_u[1], it->prescribed_v[0], it->prescribed_v[1]};
    double *values[] = {&it->last_h,      &it->ahead,      &it->covered,      &it->retimed,
                        &it->work,        &it->dissipated, &it->energy_scale, &it->force_scale,
                        &it->path_energy, &it->path_work,  &it->chop};
    SP_STATE_VALUE(state, it->steps);
    SP_STATE_VALUE(state, it->stiffened);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        SP_STATE_VALUE(state, *values[i]);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        sp_state_reals(state, vectors[i], it->n);
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        sp_state_reals(state, wide[i], it->rows);
    SP_STATE_VALUE(state, it->report);
    if (it->p.skeleton)
        sp_skeleton_visit(it->p.skeleton, state);
    if (state->loading && it->rows)
        system->vertices.prescribe(system->self, it->prescribed_u[1], it->prescribed_v[1]);
    system->visit(system->self, state);
}
