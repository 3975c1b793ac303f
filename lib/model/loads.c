#include "model/loads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sp_load_project(const sp_fe_space *body, const double *U, int64_t r, const double *full, double *to)
{
    int64_t rows = 3 * body->mesh->vertex_count;

    if (!U) {
        sp_fe_space_gather(body, full, to);
        return;
    }

    memset(to, 0, (size_t)r * sizeof *to);

    for (int64_t i = 0; i < rows; i++)
        if (full[i] != 0) /* most loads are on few vertices, and a recorded pull has thousands of them */
            for (int64_t j = 0; j < r; j++)
                to[j] += U[j * rows + i] * full[i];
}

int sp_load_force(sp_context *context, const sp_fe_space *body, int64_t number, const sp_load *load, double *force)
{
    sp_pool scratch = {0};
    double *full = sp_pool_new(&scratch, 3 * body->mesh->vertex_count, sizeof *full);
    int status = full ? sp_load_check(context, body->mesh, number, load) : sp_fail_memory(context);

    if (status == SP_OK)
        status = sp_load_distribute(context, body, load, full);
    if (status == SP_OK)
        sp_fe_space_gather(body, full, force);
    sp_pool_free(&scratch);
    return status;
}

/* Sets the time intervals in which these loads act. */
static void record_times(sp_pool *pool, sp_pool *scratch, int64_t count, const sp_load *const *loads,
                         sp_intervals *times)
{
    double *start = sp_pool_raw(scratch, count, sizeof *start), *end = sp_pool_raw(scratch, count, sizeof *end);
    for (int64_t l = 0; l < count && !scratch->failed; l++) {
        start[l] = loads[l]->start;
        end[l] = loads[l]->end;
    }
    if (!scratch->failed)
        sp_intervals_new(pool, count, start, end, times);
}

static void record_idle(sp_load_set *set, int64_t number, bool idle)
{
    if (idle && set->idle++ == 0)
        set->first_idle = number;
}

void sp_load_uniform(const sp_fe_space *body, bool lumped, const double *U, int64_t r, const double acceleration[3],
                     double *mass, double *full, double *f)
{
    sp_fe_space_vertex_mass(body, lumped, mass); /* M times a constant field, so that free fall is exact */
    for (int64_t i = 0; i < 3 * body->mesh->vertex_count; i++)
        full[i] = mass[i / 3] * acceleration[i % 3];
    sp_load_project(body, U, r, full, f);
}

int sp_load_set_new(sp_context *context, const sp_fe_space *body, const double *U, int64_t r, int64_t load_count,
                    const sp_load *loads, const double acceleration[3], const sp_system *system, sp_load_set *set)
{
    const sp_mesh *mesh = body->mesh;
    int64_t rows = 3 * mesh->vertex_count, springs = 0;
    sp_pool scratch = {0};
    int status = SP_OK;

    *set = (sp_load_set){.n = system->n, .body = body, .system = system};
    system->set_springs(system->self, 0, NULL);

    /* Springs apart: they are part of the stiffness, not columns of forces. */
    for (int64_t l = 0; l < load_count; l++) {
        SP_TRY(sp_load_check(context, mesh, l + 1, &loads[l]));
        springs += loads[l].kind == SP_LOAD_SPRING;
    }

    if (springs > 0 && system->eigenvalue) {
        status =
            sp_fail(context, SP_USAGE, "springs couple the modes of a modal model; take --model reduced or linear");
        goto done;
    }

    set->loads = sp_pool_new(&set->pool, load_count - springs, sizeof *set->loads);
    set->columns = sp_pool_new(&set->pool, set->n * (load_count - springs), sizeof(double));
    set->net = sp_pool_new(&set->pool, 3 * (load_count - springs), sizeof *set->net);
    set->spring_loads = sp_pool_new(&set->pool, springs, sizeof *set->spring_loads);
    set->acting = sp_pool_new(&set->pool, springs, sizeof *set->acting);
    set->gravity = sp_pool_new(&set->pool, set->n, sizeof(double));

    double *full = sp_pool_raw(&scratch, rows, sizeof *full),
           *mass = sp_pool_raw(&scratch, mesh->vertex_count, sizeof *mass);

    SP_TRY(sp_allocated(context, !set->pool.failed && !scratch.failed));

    for (int64_t l = 0; l < load_count; l++) {
        const sp_load *load = &loads[l];
        if (isfinite(load->end))
            set->end = fmax(set->end, load->end);

        if (load->kind == SP_LOAD_SPRING) {
            set->spring_loads[set->spring_count++] = load;
            record_idle(set, l + 1,
                        body->dof[3 * load->id] < 0 && body->dof[3 * load->id + 1] < 0 &&
                            body->dof[3 * load->id + 2] < 0);
            continue;
        }

        memset(full, 0, (size_t)rows * sizeof *full);
        SP_TRY(sp_load_distribute(context, body, load, full));
        double *column = set->columns + set->n * set->force_count;
        sp_load_project(body, U, r, full, column);
        for (int64_t i = 0; i < rows; i++)
            set->net[3 * set->force_count + i % 3] += full[i];

        /* A force that is given but has no component along any coordinate has no effect. */
        bool idle = load->force[0] != 0 || load->force[1] != 0 || load->force[2] != 0;
        for (int64_t i = 0; i < set->n && idle; i++)
            idle = column[i] == 0;
        record_idle(set, l + 1, idle);

        set->loads[set->force_count++] = load;
    }

    record_times(&set->pool, &scratch, set->force_count, set->loads, &set->force_times);
    record_times(&set->pool, &scratch, set->spring_count, set->spring_loads, &set->spring_times);
    SP_TRY(sp_allocated(context, !set->pool.failed && !scratch.failed));
    sp_load_uniform(body, system->lumped, U, r, acceleration, mass, full, set->gravity);
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_load_set_free(set);
    return status;
}

static void set_tension(sp_load_set *set, int64_t number, double tension)
{
    set->body->mesh->materials[set->activations[number].region].fibre_tension = tension;
}

void sp_load_set_free(sp_load_set *set)
{
    for (int64_t i = 0; i < set->activation_count; i++)
        set_tension(set, i, 0);
    sp_pool_free(&set->pool);
    *set = (sp_load_set){0};
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool any_force(const sp_load_set *set, double t0, double t1)
{
    for (int64_t l = 0; l < set->force_count; l++)
        if (set->loads[l]->start < t1 && set->loads[l]->end > t0)
            return true;
    return false;
}

int sp_load_set_pieces(sp_context *context, const sp_load_set *set, double step, sp_pool *pool, int64_t *count,
                       double **time)
{
    enum { MOST = 1000000000 };
    sp_pool scratch = {0};
    double *event = sp_pool_raw(&scratch, 2 * set->force_count + 1, sizeof *event), last = 0;
    int64_t events = 0, pieces;
    int status = SP_OK;

    SP_PASS(sp_allocated(context, event));

    for (int64_t l = 0; l < set->force_count; l++) {
        const sp_load *load = set->loads[l];
        if (load->course.kind != SP_COURSE_CONSTANT && !(step > 0)) {
            status = sp_fail(context, SP_USAGE,
                             "loads that change over time have no intervals in which they are "
                             "constant: give the length of a step");
            goto done;
        }

        last = fmax(last, fmax(load->start, isfinite(load->end) ? load->end : 0));
        event[events++] = load->start;
        event[events++] = load->end;
    }

    qsort(event, (size_t)events, sizeof *event, by_time);
    if (step > 0 && !(last / step <= MOST)) {
        status = sp_fail(context, SP_USAGE, "pieces of %g s from 0 to %g s are too many", step, last);
        goto done;
    }
    /* A load that begins at the last time has an interval of its own there. */
    pieces = step > 0 ? (int64_t)ceil(last / step * (1 - 1e-12)) + (events > 0 && event[events - 1] > last) : events;

    *time = sp_pool_raw(pool, 2 * pieces, sizeof **time);
    SP_TRY(sp_allocated(context, *time));

    *count = 0;

    /* Pieces between events, or steps; those shorter than rounding, or without any force, are left out. */
    for (int64_t k = 0; k < pieces; k++) {
        double from, to;
        if (step > 0) {
            from = (double)k * step;
            to = (double)(k + 1) * step;
        } else {
            from = event[k];
            to = k + 1 < events ? event[k + 1] : from;
        }
        if (to - from > 1e-9 * last && any_force(set, from, to)) {
            (*time)[2 * *count] = from;
            (*time)[2 * (*count)++ + 1] = to;
        }
    }
done:
    sp_pool_free(&scratch);
    return status;
}

/* The factor of a load with a course in the step from t0 to t1; without an end of the step that at t0. */
static double course_share(const sp_load *load, bool at_ends, double t0, double t1)
{
    const double length = load->end - load->start, begin = fmax(t0, load->start), end = fmin(t1, load->end);

    if (isinf(t1))
        return sp_course_at(&load->course, length, begin - load->start);

    /* The static integrator takes the value at the end of the step, others the mean over it. */
    if (at_ends) /* within rounding of t1 = k h */
        return load->end > t1 - 1e-9 * (t1 - t0) ? sp_course_at(&load->course, length, end - load->start) : 0;

    return sp_course_integral(&load->course, length, begin - load->start, end - load->start) / (t1 - t0);
}

double sp_load_share(const sp_load *load, bool at_ends, double t0, double t1)
{
    const double share = isfinite(t1) ? (fmin(t1, load->end) - fmax(t0, load->start)) / (t1 - t0) : isinf(load->end);

    if (share < 1e-12) /* rounding of t0 = k h at the end of the load */
        return 0;

    if (load->course.kind != SP_COURSE_CONSTANT)
        return course_share(load, at_ends, t0, t1);
    return share > 1 - 1e-12 ? 1 : share;
}

void sp_load_set_at_ends(sp_load_set *set, bool at_ends)
{
    set->at_ends = at_ends;
}

void sp_load_set_shares(sp_load_set *set, double t0, double t1, double *share)
{
    memset(share, 0, (size_t)set->force_count * sizeof *share);

    sp_intervals_find(&set->force_times, t0, t1);
    for (int64_t k = 0; k < set->force_times.acting_count; k++) {
        const int64_t l = set->force_times.acting[k];
        share[l] = sp_load_share(set->loads[l], set->at_ends, t0, t1);
    }
}

static void mean(void *data, double t0, double t1, double *f)
{
    sp_load_set *set = data;
    memcpy(f, set->gravity, (size_t)set->n * sizeof *f);

    sp_intervals_find(&set->force_times, t0, t1);
    for (int64_t k = 0; k < set->force_times.acting_count; k++) {
        const int64_t l = set->force_times.acting[k];
        const double share = sp_load_share(set->loads[l], set->at_ends, t0, t1);
        if (share != 0)
            for (int64_t i = 0; i < set->n; i++)
                f[i] += share * set->columns[set->n * l + i];
    }
}

/* ---- motion ---- */

void sp_load_set_move(sp_load_set *set, const sp_prescribed_motion *moves)
{
    set->moves = moves;
}

static void drop_free(const sp_fe_space *body, int64_t vertex, double *u, double *v)
{
    for (int64_t i = 3 * vertex; i < 3 * vertex + 3; i++)
        if (body->dof[i] >= 0)
            u[i] = v[i] = 0;
}

static void prescribed(void *data, double t, double *u, double *v)
{
    const sp_load_set *set = data;
    const sp_prescribed_motion *moves = set->moves;

    sp_prescribed_motion_at(moves, t, u, v);
    for (int64_t i = 0; i < moves->rigid_count; i++)
        for (int64_t k = 0; k < moves->rigid[i].count; k++)
            drop_free(set->body, moves->rigid[i].vertex[k], u, v);
    for (int64_t i = 0; i < moves->vertex_count; i++)
        drop_free(set->body, moves->single[i].vertex, u, v);
}

/* ---- activation ---- */

static int check_activation(sp_context *context, const sp_mesh *mesh, int64_t number, const sp_activation *activations)
{
    const sp_activation *a = &activations[number];
    const long long shown = (long long)number + 1;

    if (a->region < 0 || a->region >= mesh->material_count)
        return sp_fail(context, SP_INPUT, "activation %lld names region %lld of %lld", shown, (long long)a->region,
                       (long long)mesh->material_count);

    if (mesh->materials[a->region].fibre == SP_FIBRE_NONE)
        return sp_fail(context, SP_INPUT, "activation %lld is of region \"%s\", which has no fibres", shown,
                       mesh->materials[a->region].name);

    for (int64_t i = 0; i < number; i++)
        if (activations[i].region == a->region)
            return sp_fail(context, SP_INPUT, "activations %lld and %lld are of the same region \"%s\"",
                           (long long)i + 1, shown, mesh->materials[a->region].name);

    if (a->count < 1)
        return sp_fail(context, SP_INPUT, "activation %lld has no times", shown);

    for (int64_t k = 0; k < a->count; k++) {
        if (!isfinite(a->time[k]) || (k > 0 && !(a->time[k] > a->time[k - 1])))
            return sp_fail(context, SP_INPUT, "activation %lld: time %lld, %g s, is not more than that before", shown,
                           (long long)k + 1, a->time[k]);
        if (!(a->tension[k] >= 0 && isfinite(a->tension[k])))
            return sp_fail(context, SP_INPUT, "activation %lld: a tension of %g Pa at %g s", shown, a->tension[k],
                           a->time[k]);
    }
    return SP_OK;
}

int sp_load_set_activate(sp_context *context, sp_load_set *set, int64_t count, const sp_activation *activations)
{
    int status = SP_OK;

    /* Only systems that read the materials at every evaluation follow the tension. */
    if (count > 0 && !set->system->active)
        return sp_fail(context, SP_USAGE,
                       "the tension of fibres has no part in this model; use simfull (--model nonlinear or conjac), or "
                       "simulate with --model galerkin or cubature");

    for (int64_t i = 0; i < count && status == SP_OK; i++)
        status = check_activation(context, set->body->mesh, i, activations);
    if (status != SP_OK)
        return status;

    set->counted = sp_pool_new(&set->pool, count, sizeof *set->counted);
    SP_PASS(sp_allocated(context, set->counted));

    set->activation_count = count;
    set->activations = activations;
    return SP_OK;
}

double sp_activation_tension(const sp_activation *a, double t)
{
    const int64_t piece = sp_time_piece(a->count, a->time, t);

    if (piece < 0 || piece == a->count - 1)
        return a->tension[piece < 0 ? 0 : piece];

    const double s = (t - a->time[piece]) / (a->time[piece + 1] - a->time[piece]);
    return (1 - s) * a->tension[piece] + s * a->tension[piece + 1];
}

/* Sets the tensions at t; returns true if one has changed. */
static bool activate(sp_load_set *set, double t)
{
    bool changed = false;
    for (int64_t i = 0; i < set->activation_count; i++) {
        const double tension = sp_activation_tension(&set->activations[i], t),
                     before = set->body->mesh->materials[set->activations[i].region].fibre_tension;
        changed |= tension != before;
        set_tension(set, i, tension);

        /* Integrators learn of a tension that has risen by a tenth, since it stiffens the body. */
        if (tension > 1.1 * set->counted[i]) {
            set->counted[i] = tension;
            set->stiffened++;
        }
    }
    return changed;
}

/* ---- springs ---- */

static sp_spring spring_at(const sp_load *load, double t)
{
    sp_spring spring = {load->id, {load->force[0], load->force[1], load->force[2]}, load->stiffness};
    const double s = load->moving ? (t - load->start) / (load->end - load->start) : 0;

    if (load->moving)
        for (int c = 0; c < 3; c++)
            spring.anchor[c] = (1 - s) * load->force[c] + s * load->anchor_end[c];
    return spring;
}

static bool springs(void *data, double t0, double t1)
{
    sp_load_set *set = data;
    double middle = 0.5 * (t0 + t1);
    bool changed = activate(set, middle), others = false;
    int64_t count = 0;

    /* A spring that acts in the middle of the step acts in all of it. */
    sp_intervals_find(&set->spring_times, middle, middle);

    for (int64_t k = 0; k < set->spring_times.acting_count; k++) {
        const sp_load *load = set->spring_loads[set->spring_times.acting[k]];
        const sp_spring spring = spring_at(load, middle), *before = &set->acting[count];

        others |=
            count >= set->acting_count || before->vertex != spring.vertex || before->stiffness != spring.stiffness;
        changed |= others || memcmp(before, &spring, sizeof spring);

        set->acting[count++] = spring;
    }

    /* Another number of springs, another vertex or stiffness changes the matrix; an anchor that moves changes the
     * force only. */
    others |= count != set->acting_count;
    set->stiffened += others;
    changed |= others;
    set->acting_count = count;

    if (changed) /* cached evaluations are invalid with other tensions too */
        set->system->set_springs(set->system->self, count, set->acting);
    return changed;
}

sp_external_loads sp_load_set_external(sp_load_set *set)
{
    return (sp_external_loads){.self = set,
                               .mean = mean,
                               .springs = springs,
                               .prescribed = set->moves ? prescribed : NULL,
                               .stiffened = &set->stiffened};
}

void sp_load_set_visit(sp_load_set *set, sp_state *state)
{
    SP_STATE_VALUE(state, set->acting_count);
    SP_STATE_VALUE(state, set->stiffened);

    /* A file may be broken: what is out of range is not used. */
    if (set->acting_count < 0 || set->acting_count > set->spring_count) {
        set->acting_count = 0;
        state->failed = true;
    }
    sp_state_bytes(state, set->acting, set->acting_count * (int64_t)sizeof *set->acting);
    for (int64_t s = 0; s < set->acting_count; s++)
        if (set->acting[s].vertex < 0 || set->acting[s].vertex >= set->body->mesh->vertex_count) {
            set->acting_count = 0;
            state->failed = true;
        }

    sp_state_reals(state, set->counted, set->activation_count);
    for (int64_t i = 0; i < set->activation_count; i++)
        SP_STATE_VALUE(state, set->body->mesh->materials[set->activations[i].region].fibre_tension);

    if (state->loading)
        set->system->set_springs(set->system->self, set->acting_count, set->acting);
}
