#include "model/loads.h"

#include "assembly/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int check_load(sp_context *context, const sp_mesh *mesh, int64_t number, const sp_load *load)
{
    if (!(load->end > load->start) || isnan(load->start) || isnan(load->end) || load->start < 0)
        return sp_fail(context, SP_INPUT, "load %lld acts from %g s to %g s", (long long)number, load->start,
                       load->end);
    for (int i = 0; i < 3; i++)
        if (!isfinite(load->force[i]))
            return sp_fail(context, SP_INPUT, "load %lld is not finite", (long long)number);
    bool by_region = load->kind == SP_LOAD_REGION || load->kind == SP_LOAD_PRESSURE,
         everywhere = load->kind == SP_LOAD_ALL || (load->kind == SP_LOAD_PRESSURE && load->id < 0);
    int64_t most = load->kind == SP_LOAD_SURFACE ? mesh->surface.vertex_count
                   : by_region                   ? mesh->material_count
                                                 : mesh->vertex_count;
    if (!everywhere && (load->id < 0 || load->id >= most))
        return sp_fail(context, SP_INPUT, "load %lld names %s %lld of %lld", (long long)number,
                       load->kind == SP_LOAD_SURFACE ? "surface vertex"
                       : by_region                   ? "region"
                                                     : "vertex",
                       (long long)load->id, (long long)most);
    if (load->kind == SP_LOAD_SPRING && load->moving) {
        if (!isfinite(load->end))
            return sp_fail(context, SP_INPUT, "load %lld is a spring whose anchor moves without end",
                           (long long)number);
        for (int i = 0; i < 3; i++)
            if (!isfinite(load->anchor_end[i]))
                return sp_fail(context, SP_INPUT, "load %lld is not finite", (long long)number);
    }
    if (load->kind == SP_LOAD_SPRING && !(load->stiffness >= 0 && isfinite(load->stiffness)))
        return sp_fail(context, SP_INPUT, "load %lld is a spring of stiffness %g N/m", (long long)number,
                       load->stiffness);
    return SP_OK;
}

static void add_at_vertex(double *full, int64_t vertex, double share, const double force[3])
{
    for (int c = 0; c < 3; c++)
        full[3 * vertex + c] += share * force[c];
}

/* Distributes a force on a vertex of the embedded surface by its weights. */
static void add_at_surface(const sp_mesh *mesh, double *full, int64_t vertex, double share, const double force[3])
{
    int nodes;
    const int64_t *node = sp_mesh_nodes(mesh, mesh->surface.element[vertex], &nodes);
    for (int a = 0; a < nodes; a++)
        add_at_vertex(full, node[a], share * mesh->surface.weights[vertex * mesh->surface.width + a], force);
}

/* Every triangle of the embedded surface loads each of its three vertices with a third of −p n A. */
static void press_surface(const sp_mesh *mesh, const sp_load *load, double *full)
{
    const sp_embedded_surface *surface = &mesh->surface;
    for (int64_t t = 0; t < surface->triangle_count; t++) {
        const int64_t *corner = surface->triangles + 3 * t;
        const double *x = surface->vertices + 3 * corner[0], *y = surface->vertices + 3 * corner[1],
                     *z = surface->vertices + 3 * corner[2];
        if (load->id >= 0 && mesh->region[surface->element[corner[0]]] != load->id)
            continue;
        double area[3]; /* n A */
        for (int c = 0; c < 3; c++) {
            int d = (c + 1) % 3, e = (c + 2) % 3;
            area[c] = 0.5 * ((y[d] - x[d]) * (z[e] - x[e]) - (y[e] - x[e]) * (z[d] - x[d]));
        }
        for (int k = 0; k < 3; k++)
            add_at_surface(mesh, full, corner[k], -load->force[0] / 3, area);
    }
}

/* The consistent forces −p ∫ N_a n dA of the boundary of the elements. */
static int press_boundary(sp_context *context, const sp_mesh *mesh, const sp_load *load, double *full)
{
    sp_pool scratch = {0};
    sp_mesh_face *face;
    int64_t count;
    int status;
    SP_TRY(sp_mesh_boundary_faces(context, mesh, &scratch, &count, &face));
    for (int64_t f = 0; f < count; f++) {
        double X[SP_ELEMENT_NODES][3], area[SP_FACE_NODES][3];
        signed char number[SP_FACE_NODES];
        int corners, unused;
        if (load->id >= 0 && mesh->region[face[f].element] != load->id)
            continue;
        const int64_t *node = sp_mesh_nodes(mesh, face[f].element, &unused);
        const int type = sp_mesh_element_places(mesh, face[f].element, X),
                  nodes = sp_element_face(type, face[f].face, number, &corners);
        sp_element_face_areas(type, face[f].face, X, area);
        for (int a = 0; a < nodes; a++)
            add_at_vertex(full, node[number[a]], -load->force[0], area[a]);
    }
done:
    sp_pool_free(&scratch);
    return status;
}

static int distribute_pressure(sp_context *context, const sp_mesh *mesh, const sp_load *load, double *full)
{
    if (mesh->surface.triangle_count == 0)
        return press_boundary(context, mesh, load, full);
    press_surface(mesh, load, full);
    return SP_OK;
}

/* Computes the load at full strength on all vertices. */
static int distribute_load(sp_context *context, const sp_fe_space *body, const sp_load *load, double *full)
{
    const sp_mesh *mesh = body->mesh;
    int nodes;
    if (load->kind == SP_LOAD_VERTEX)
        add_at_vertex(full, load->id, 1, load->force);
    else if (load->kind == SP_LOAD_SURFACE)
        add_at_surface(mesh, full, load->id, 1, load->force);
    else if (load->kind == SP_LOAD_PRESSURE)
        return distribute_pressure(context, mesh, load, full);
    else {
        double volume = 0;
        int64_t elements = sp_mesh_element_count(mesh);
        for (int64_t e = 0; e < elements; e++)
            if (load->kind == SP_LOAD_ALL || mesh->region[e] == load->id)
                volume += body->classes[body->element_class[e]].volume;
        for (int64_t e = 0; e < elements && volume > 0; e++)
            if (load->kind == SP_LOAD_ALL || mesh->region[e] == load->id) {
                /* ∫N_a over the element: the row sums of its mass without the density */
                const sp_element_class *class = &body->classes[body->element_class[e]];
                const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
                for (int a = 0; a < nodes; a++) {
                    double share = 0;
                    for (int b = 0; b < nodes; b++)
                        share += class->mass[a * nodes + b];
                    add_at_vertex(full, node[a], share / (mesh->materials[class->region].density * volume),
                                  load->force);
                }
            }
    }
    return SP_OK;
}

static void project(const sp_fe_space *body, const double *U, int64_t r, const double *full, double *to)
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
    int status = full ? check_load(context, body->mesh, number, load) : sp_fail_memory(context);
    if (status == SP_OK)
        status = distribute_load(context, body, load, full);
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

int sp_load_set_new(sp_context *context, const sp_fe_space *body, const double *U, int64_t r, int64_t load_count,
                    const sp_load *loads, const double acceleration[3], const sp_system *system, sp_load_set *set)
{
    const sp_mesh *mesh = body->mesh;
    int64_t rows = 3 * mesh->vertex_count, springs = 0;
    sp_pool scratch = {0};
    int status = SP_OK;
    *set = (sp_load_set){.n = system->n, .body = body, .system = system};
    system->set_springs(system->self, 0, NULL);
    for (int64_t l = 0; l < load_count; l++) {
        SP_TRY(check_load(context, mesh, l + 1, &loads[l]));
        springs += loads[l].kind == SP_LOAD_SPRING;
    }
    if (springs > 0 && system->eigenvalue) {
        status =
            sp_fail(context, SP_USAGE, "springs couple the modes of a modal model; take --model reduced or linear");
        goto done;
    }
    set->loads = sp_pool_new(&set->pool, load_count - springs, sizeof *set->loads);
    set->columns = sp_pool_new(&set->pool, set->n * (load_count - springs), sizeof(double));
    set->spring_loads = sp_pool_new(&set->pool, springs, sizeof *set->spring_loads);
    set->acting = sp_pool_new(&set->pool, springs, sizeof *set->acting);
    set->gravity = sp_pool_new(&set->pool, set->n, sizeof(double));
    double *full = sp_pool_raw(&scratch, rows, sizeof *full),
           *mass = sp_pool_raw(&scratch, mesh->vertex_count, sizeof *mass);
    if (set->pool.failed || scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
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
        SP_TRY(distribute_load(context, body, load, full));
        double *column = set->columns + set->n * set->force_count;
        project(body, U, r, full, column);
        bool idle = load->force[0] != 0 || load->force[1] != 0 || load->force[2] != 0;
        for (int64_t i = 0; i < set->n && idle; i++)
            idle = column[i] == 0;
        record_idle(set, l + 1, idle);
        set->loads[set->force_count++] = load;
    }
    record_times(&set->pool, &scratch, set->force_count, set->loads, &set->force_times);
    record_times(&set->pool, &scratch, set->spring_count, set->spring_loads, &set->spring_times);
    if (set->pool.failed || scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    sp_fe_space_vertex_mass(body, mass); /* row sums: M times a constant field */
    for (int64_t i = 0; i < rows; i++)
        full[i] = mass[i / 3] * acceleration[i % 3];
    project(body, U, r, full, set->gravity);
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
    if (!event)
        return sp_fail_memory(context);
    for (int64_t l = 0; l < set->force_count; l++) {
        const sp_load *load = set->loads[l];
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
    if (!*time) {
        status = sp_fail_memory(context);
        goto done;
    }
    *count = 0;
    for (int64_t k = 0; k < pieces; k++) {
        double from = step > 0 ? (double)k * step : event[k], to = step > 0         ? (double)(k + 1) * step
                                                                   : k + 1 < events ? event[k + 1]
                                                                                    : from;
        if (to - from > 1e-9 * last && any_force(set, from, to)) {
            (*time)[2 * *count] = from;
            (*time)[2 * (*count)++ + 1] = to;
        }
    }
done:
    sp_pool_free(&scratch);
    return status;
}

static void mean(void *data, double t0, double t1, double *f)
{
    sp_load_set *set = data;
    memcpy(f, set->gravity, (size_t)set->n * sizeof *f);
    sp_intervals_find(&set->force_times, t0, t1);
    for (int64_t k = 0; k < set->force_times.acting_count; k++) {
        const int64_t l = set->force_times.acting[k];
        const sp_load *load = set->loads[l];
        double share = isfinite(t1) ? (fmin(t1, load->end) - fmax(t0, load->start)) / (t1 - t0) : isinf(load->end);
        if (share < 1e-12) /* rounding of t0 = k h at the end of the load */
            continue;
        if (share > 1 - 1e-12)
            share = 1;
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
    if (count > 0 && !set->system->active)
        return sp_fail(context, SP_USAGE,
                       "the tension of fibres has no part in this model; use simfull (--model nonlinear or conjac), or "
                       "simulate with --model galerkin or cubature");
    for (int64_t i = 0; i < count && status == SP_OK; i++)
        status = check_activation(context, set->body->mesh, i, activations);
    if (status != SP_OK)
        return status;
    set->counted = sp_pool_new(&set->pool, count, sizeof *set->counted);
    if (!set->counted)
        return sp_fail_memory(context);
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
    for (int c = 0; load->moving && c < 3; c++)
        spring.anchor[c] = (1 - s) * load->force[c] + s * load->anchor_end[c];
    return spring;
}

static bool springs(void *data, double t0, double t1)
{
    sp_load_set *set = data;
    double middle = 0.5 * (t0 + t1);
    bool changed = activate(set, middle), others = false;
    int64_t count = 0;
    sp_intervals_find(&set->spring_times, middle, middle);
    for (int64_t k = 0; k < set->spring_times.acting_count; k++) {
        const sp_load *load = set->spring_loads[set->spring_times.acting[k]];
        const sp_spring spring = spring_at(load, middle), *before = &set->acting[count];
        others |=
            count >= set->acting_count || before->vertex != spring.vertex || before->stiffness != spring.stiffness;
        changed |= others || memcmp(before, &spring, sizeof spring);
        set->acting[count++] = spring;
    }
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
