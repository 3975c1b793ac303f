/* Bodies of the public library: motion, loads and state. */
#include "api/body_internal.h"
#include "api/saved.h"
#include "linear/blas.h"
#include "run/steps_watch.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- sizes and arrays ---- */

int64_t supple_body_coordinates(const supple_body *body)
{
    return body ? body->r : 0;
}

int64_t supple_body_vertices(const supple_body *body)
{
    return body ? body->mesh.mesh.vertex_count : 0;
}

int64_t supple_body_surface_vertices(const supple_body *body)
{
    return body ? body->mesh.mesh.surface.vertex_count : 0;
}

int64_t supple_body_surface_triangles(const supple_body *body)
{
    return body ? body->mesh.mesh.surface.triangle_count : 0;
}

const double *supple_body_rest(const supple_body *body)
{
    return body ? body->mesh.mesh.vertices : NULL;
}

const double *supple_body_surface_rest(const supple_body *body)
{
    return supple_body_surface_vertices(body) > 0 ? body->mesh.mesh.surface.vertices : NULL;
}

const int64_t *supple_body_surface(const supple_body *body)
{
    return supple_body_surface_triangles(body) > 0 ? body->mesh.mesh.surface.triangles : NULL;
}

const double *supple_body_basis(const supple_body *body)
{
    return body ? body->basis.columns.U : NULL;
}

supple_status supple_body_nearest(const supple_body *body, const double point[3], int64_t *vertex)
{
    SP_REQUIRE(body);
    SP_REQUIRE(point);
    SP_REQUIRE(vertex);
    SP_REQUIRE_FINITE(3, point);
    sp_context context = sp_context_default();
    int64_t found;
    double distance;
    const int status = sp_mesh_nearest(&context, &body->mesh.mesh, false, point, &found, &distance);
    if (status == SP_OK)
        *vertex = found;
    return sp_error_of(&context, NULL, status);
}

/* ---- motion ---- */

supple_integration supple_integration_default(void)
{
    return (supple_integration){.scheme = SUPPLE_NEWMARK,
                                .step = 0.01,
                                .beta = 0.25,
                                .gamma = 0.5,
                                .damping_mass = -1,
                                .damping_stiffness = -1};
}

void sp_body_show(supple_body *body)
{
    const size_t bytes = (size_t)body->r * sizeof(double);
    if (!body->integrator)
        return;
    memcpy(body->q, sp_integrator_q(body->integrator), bytes);
    memcpy(body->qdot, sp_integrator_v(body->integrator), bytes);
}

static enum sp_integrator_kind kind_of(supple_scheme scheme)
{
    static const enum sp_integrator_kind kinds[] = {
        [SUPPLE_NEWMARK] = SP_NEWMARK, [SUPPLE_ENERGY] = SP_ENERGY, [SUPPLE_CENTRAL] = SP_CENTRAL,
        [SUPPLE_STATIC] = SP_STATIC,   [SUPPLE_EULER] = SP_EULER,   [SUPPLE_BDF2] = SP_BDF2,
        [SUPPLE_EXACT] = SP_EXACT};
    enum { FULL_ORDER_ONLY = 1 };
    static_assert(sizeof kinds / sizeof *kinds + FULL_ORDER_ONLY == SP_INTEGRATOR_COUNT,
                  "an integrator lacks its value of supple_scheme");
    return kinds[scheme];
}

/* The energy-conserving step is exact for forces that are cubic in q. */
static supple_status check_scheme(const char *function, const supple_body *body, const supple_integration *how)
{
    if ((unsigned)how->scheme > SUPPLE_EXACT)
        return sp_error(SUPPLE_USAGE, "%s: %d is no scheme", function, (int)how->scheme);
    if (how->scheme == SUPPLE_EXACT && body->kind != SP_MODEL_MODAL)
        return sp_error(SUPPLE_USAGE, "%s: SUPPLE_EXACT applies to bodies by mode superposition", function);
    if (!(how->tolerance >= 0 && isfinite(how->tolerance)) || how->iterations < 0)
        return sp_error(SUPPLE_USAGE, "%s: tolerance is %g and iterations %lld", function, how->tolerance,
                        (long long)how->iterations);
    if (!isfinite(how->damping_mass) || !isfinite(how->damping_stiffness))
        return sp_error(SUPPLE_USAGE, "%s: damping_mass is %g and damping_stiffness %g", function, how->damping_mass,
                        how->damping_stiffness);
    return SUPPLE_OK;
}

static supple_status find_damping(const char *function, const supple_body *body, const supple_integration *how,
                                  double damping[2])
{
    const bool same = sp_input_damping(&body->mesh.mesh, damping);
    const double given[2] = {how->damping_mass, how->damping_stiffness};
    if (!same && (given[0] == -1 || given[1] == -1))
        return sp_error(SUPPLE_USAGE,
                        "%s: %.400s: its regions have different damping: give damping_mass and damping_stiffness",
                        function, body->mesh.path);
    for (int k = 0; k < 2; k++)
        damping[k] = given[k] == -1 ? damping[k] : given[k];
    return SUPPLE_OK;
}

/* ---- the run ---- */

/* Tells the integrator of forces that were set since the last step. */
static int change_loads(supple_body *body)
{
    bool changed = false;
    for (int64_t j = 0; j < body->r; j++) {
        const double force = body->vertex_force[j] + body->generalized_force[j];
        body->product[j] = force - body->acting_force[j];
        changed |= force != body->acting_force[j];
    }
    if (!changed)
        return SP_OK;
    sp_body_forces_act(body);
    return sp_integrator_change_loads(body->integrator, body->product);
}

static int take_step(void *data, int64_t number)
{
    supple_body *body = data;
    (void)number;
    const int status = change_loads(body);
    return status == SP_OK ? sp_integrator_step(body->integrator) : status;
}

static void visit_motion(void *data, sp_state *state)
{
    supple_body *body = data;
    sp_state_reals(state, body->vertex_force, body->r);
    sp_state_reals(state, body->generalized_force, body->r);
    sp_state_reals(state, body->acting_force, body->r);
    sp_load_set_visit(&body->now->model.loads, state);
    sp_body_visit_springs(body, state);
    sp_integrator_visit(body->integrator, state);
}

static sp_energy_rules energy_rules(const supple_body *body)
{
    const double time = sp_integrator_time(body->integrator);
    const bool nonconservative = body->now->model.system.nonconservative;
    return (sp_energy_rules){.rounding = time > 0 ? body->slow_energy / (time * time) : INFINITY,
                             .unknown = body->parameters.kind == SP_STATIC,
                             .stores_less = sp_energy_has_tension(&body->mesh.mesh) && !nonconservative,
                             .semi_implicit = body->parameters.semi_implicit};
}

/* Energies cost an evaluation of the force, so that they are looked at from time to time only. */
static int watch_energy(void *data, int64_t number)
{
    supple_body *body = data;
    double energy[SP_WORK_COUNT];
    (void)number;
    sp_integrator_energies(body->integrator, energy);
    const sp_energy_rules rules = energy_rules(body);
    sp_energy_watch_add(&body->energy, &rules, energy, 0, sp_integrator_time(body->integrator));
    return SP_OK;
}

static void visit_energy(void *data, sp_state *state)
{
    supple_body *body = data;
    SP_STATE_VALUE(state, body->energy);
}

static void judge(void *data, sp_remarks *remarks)
{
    const supple_body *body = data;
    const sp_energy_rules rules = energy_rules(body);
    sp_energy_watch_judge(&body->energy, &rules, "semi_implicit", remarks);
    sp_steps_judge(sp_integrator_reported(body->integrator), remarks);
}

enum { WATCH_EVERY = 16 };

static void begin_run(supple_body *body)
{
    double energy[SP_WORK_COUNT];
    body->energy = (sp_energy_watch){0};
    body->slow_energy = sp_energy_rounding(&body->mesh.mesh, 1);
    body->run =
        (sp_run){.motion = {.self = body, .step = take_step, .visit = visit_motion}, .steps = -1, .every = WATCH_EVERY};
    sp_run_watch(&body->run, (sp_observer){.self = body, .frame = watch_energy, .visit = visit_energy, .warn = judge});
    const int threads = sp_blas_alone_begin();
    sp_integrator_energies(body->integrator, energy);
    sp_blas_alone_end(threads);
    sp_energy_watch_begin(&body->energy, energy);
}

supple_status sp_body_integration(const char *function, const supple_body *body, const supple_integration *how,
                                  sp_integrator_parameters *parameters)
{
    double damping[2];
    supple_status said = check_scheme(function, body, how);
    if (said == SUPPLE_OK)
        said = find_damping(function, body, how, damping);
    if (said != SUPPLE_OK)
        return said;

    *parameters = (sp_integrator_parameters){.kind = kind_of(how->scheme),
                                             .step = how->step,
                                             .beta = how->beta,
                                             .gamma = how->gamma,
                                             .damping_mass = damping[0],
                                             .damping_stiffness = damping[1],
                                             .semi_implicit = how->semi_implicit,
                                             .tolerance = how->tolerance,
                                             .iterations = how->iterations};
    return SUPPLE_OK;
}

supple_status supple_body_start(supple_body *body, const supple_integration *integration, const double *q,
                                const double *qdot)
{
    sp_integrator *integrator;

    SP_REQUIRE(body);
    SP_REQUIRE(integration);
    if (q)
        SP_REQUIRE_FINITE(body->r, q);
    if (qdot)
        SP_REQUIRE_FINITE(body->r, qdot);

    sp_integrator_parameters parameters;
    const supple_status said = sp_body_integration(__func__, body, integration, &parameters);
    if (said != SUPPLE_OK)
        return said;

    /* A state that is kept before restores the body where the new integrator cannot be made. */
    sp_state kept;
    if (!sp_body_keep(body, &kept))
        return sp_error(SUPPLE_SYSTEM, "%s: out of memory", __func__);
    sp_load_set_at_ends(&body->now->model.loads, parameters.kind == SP_STATIC);

    const int threads = sp_blas_alone_begin();
    body->springs_changed = true;
    const int status =
        sp_integrator_new(&body->context, &body->now->model.system, &body->external, &parameters, q, qdot, &integrator);
    sp_body_settle(body, status != SP_OK, &kept);
    sp_blas_alone_end(threads);

    if (status != SP_OK)
        return sp_error_of(&body->context, NULL, status);

    sp_integrator_free(body->integrator);
    body->integrator = integrator;
    sp_body_forces_act(body);
    body->parameters = parameters;
    sp_body_show(body);
    begin_run(body);
    return SUPPLE_OK;
}

/* For calls that need a motion. */
#define REQUIRE_MOTION(body)                                                                                           \
    do {                                                                                                               \
        SP_REQUIRE(body);                                                                                              \
        if (!(body)->integrator)                                                                                       \
            return sp_error(SUPPLE_USAGE, "%s: the body has no motion: call supple_body_start first", __func__);       \
    } while (0)

supple_status supple_body_step(supple_body *body)
{
    REQUIRE_MOTION(body);
    const int threads = sp_blas_alone_begin();
    const int status = sp_run_to(&body->run, body->run.done + 1);
    sp_blas_alone_end(threads);
    sp_body_show(body);
    return sp_error_of(&body->context, NULL, status);
}

/* ---- loads ---- */

supple_status sp_body_check_vertices(const char *function, const supple_body *body, int64_t count,
                                     const int64_t *vertex)
{
    for (int64_t i = 0; i < count; i++)
        if (vertex[i] < 0 || vertex[i] >= body->mesh.mesh.vertex_count)
            return sp_error(SUPPLE_USAGE, "%s: vertex %lld of %lld", function, (long long)vertex[i],
                            (long long)body->mesh.mesh.vertex_count);
    return SUPPLE_OK;
}

void sp_body_project(const supple_body *body, int64_t count, const int64_t *vertex, const double *force, double *f)
{
    const sp_columns *basis = &body->basis.columns;
    for (int64_t j = 0; j < body->r; j++) {
        double sum = 0;
        for (int64_t i = 0; i < count; i++)
            for (int c = 0; c < 3; c++)
                sum += basis->U[j * basis->rows + 3 * vertex[i] + c] * force[3 * i + c];
        f[j] = sum;
    }
}

supple_status supple_body_set_forces(supple_body *body, int64_t count, const int64_t *vertex, const double *force)
{
    SP_REQUIRE(body);
    SP_REQUIRE_COUNT(count, 3 * sizeof *force);
    if (count > 0) {
        SP_REQUIRE(vertex);
        SP_REQUIRE(force);
        SP_REQUIRE_FINITE(3 * count, force);
    }

    const supple_status said = sp_body_check_vertices(__func__, body, count, vertex);
    if (said == SUPPLE_OK)
        sp_body_project(body, count, vertex, force, body->vertex_force);
    return said;
}

supple_status supple_body_set_force(supple_body *body, int64_t vertex, const double force[3])
{
    return supple_body_set_forces(body, 1, &vertex, force);
}

supple_status supple_body_set_generalized_force(supple_body *body, const double *force)
{
    SP_REQUIRE(body);
    if (force)
        SP_REQUIRE_FINITE(body->r, force);
    for (int64_t j = 0; j < body->r; j++)
        body->generalized_force[j] = force ? force[j] : 0;
    return SUPPLE_OK;
}

/* ---- the state ---- */

double supple_body_time(const supple_body *body)
{
    return body && body->integrator ? sp_integrator_time(body->integrator) : 0;
}

const double *supple_body_q(const supple_body *body)
{
    return body && body->integrator ? body->q : NULL;
}

const double *supple_body_qdot(const supple_body *body)
{
    return body && body->integrator ? body->qdot : NULL;
}

/* count and vertex against the number of vertices there are; vertex NULL: the first ones. */
static supple_status check_vertices(const char *function, int64_t available, int64_t count, const int64_t *vertex)
{
    if (!sp_count_possible(count, 3 * sizeof(double)) || (!vertex && count > available))
        return sp_error(SUPPLE_USAGE, "%s: count is %lld, and there are %lld vertices", function, (long long)count,
                        (long long)available);
    if (vertex)
        for (int64_t i = 0; i < count; i++)
            if (vertex[i] < 0 || vertex[i] >= available)
                return sp_error(SUPPLE_USAGE, "%s: vertex %lld of %lld", function, (long long)vertex[i],
                                (long long)available);
    return SUPPLE_OK;
}

/* U q at the three components of a vertex. */
static void vertex_value(const supple_body *body, const double *q, int64_t vertex, double u[3])
{
    const double *U = body->basis.columns.U + 3 * vertex;
    u[0] = u[1] = u[2] = 0;
    for (int64_t j = 0; j < body->r; j++, U += body->basis.columns.rows)
        for (int c = 0; c < 3; c++)
            u[c] += U[c] * q[j];
}

static supple_status write_values(const char *function, const supple_body *body, const double *q, int64_t count,
                                  const int64_t *vertex, double *u)
{
    const supple_status status = check_vertices(function, body->mesh.mesh.vertex_count, count, vertex);
    if (status == SUPPLE_OK)
        sp_model_at_vertices(&body->now->model, q, NULL, count, vertex, u);
    return status;
}

supple_status supple_body_displacements(const supple_body *body, int64_t count, const int64_t *vertex, double *u)
{
    REQUIRE_MOTION(body);
    SP_REQUIRE(u);
    return write_values(__func__, body, sp_integrator_q(body->integrator), count, vertex, u);
}

supple_status supple_body_velocities(const supple_body *body, int64_t count, const int64_t *vertex, double *v)
{
    REQUIRE_MOTION(body);
    SP_REQUIRE(v);
    return write_values(__func__, body, sp_integrator_v(body->integrator), count, vertex, v);
}

supple_status supple_body_displacements_float(const supple_body *body, int64_t count, const int64_t *vertex, float *u)
{
    REQUIRE_MOTION(body);
    SP_REQUIRE(u);
    const supple_status status = check_vertices(__func__, body->mesh.mesh.vertex_count, count, vertex);
    for (int64_t i = 0; status == SUPPLE_OK && i < count; i++) {
        double value[3];
        vertex_value(body, sp_integrator_q(body->integrator), vertex ? vertex[i] : i, value);
        for (int c = 0; c < 3; c++)
            u[3 * i + c] = (float)value[c];
    }
    return status;
}

supple_status supple_body_surface_displacements(const supple_body *body, int64_t count, const int64_t *vertex, float *u)
{
    REQUIRE_MOTION(body);
    SP_REQUIRE(u);

    const sp_mesh *mesh = &body->mesh.mesh;
    const supple_status status = check_vertices(__func__, mesh->surface.vertex_count, count, vertex);
    for (int64_t i = 0; status == SUPPLE_OK && i < count; i++) {
        const int64_t v = vertex ? vertex[i] : i;
        int nodes;

        /* u = Σ w_a u_a over the nodes of the element in which the vertex is embedded. */
        const int64_t *node = sp_mesh_nodes(mesh, mesh->surface.element[v], &nodes);
        double sum[3] = {0}, value[3];
        for (int a = 0; a < nodes; a++) {
            vertex_value(body, sp_integrator_q(body->integrator), node[a], value);
            for (int c = 0; c < 3; c++)
                sum[c] += mesh->surface.weights[v * mesh->surface.width + a] * value[c];
        }

        for (int c = 0; c < 3; c++)
            u[3 * i + c] = (float)sum[c];
    }
    return status;
}

supple_status supple_body_energies(supple_body *body, supple_energies *energies)
{
    double value[SP_WORK_COUNT];
    REQUIRE_MOTION(body);
    SP_REQUIRE(energies);
    const int threads = sp_blas_alone_begin();
    sp_integrator_energies(body->integrator, value);
    sp_blas_alone_end(threads);
    *energies = (supple_energies){value[SP_WORK_KINETIC], value[SP_WORK_STORED], value[SP_WORK_EXTERNAL],
                                  value[SP_WORK_DISSIPATED]};
    return SUPPLE_OK;
}

supple_status supple_body_report(const supple_body *body, supple_step_report *report)
{
    REQUIRE_MOTION(body);
    SP_REQUIRE(report);
    const sp_integrator_report *from = sp_integrator_reported(body->integrator);
    *report = (supple_step_report){from->steps, from->newton_iterations, from->factorizations, from->worst_residual};
    return SUPPLE_OK;
}

supple_status supple_body_warnings(const supple_body *body, char *text, size_t *size)
{
    sp_remarks remarks = {0};
    REQUIRE_MOTION(body);
    SP_REQUIRE(size);
    sp_run_warn(&body->run, &remarks);
    return sp_error_remarks(__func__, &remarks, text, size);
}

/* ---- the parts of the equation of motion ---- */

supple_status supple_body_evaluate(supple_body *body, const double *q, double *force, double *stiffness, double *energy)
{
    SP_REQUIRE(body);
    SP_REQUIRE(q);
    SP_REQUIRE_FINITE(body->r, q);

    const int threads = sp_blas_alone_begin();
    int status = body->unloaded ? SP_OK : sp_body_make_model(body, false, &body->unloaded);

    if (status == SP_OK) {
        const sp_system *system = &body->unloaded->model.system;
        const double stored = system->force(system->self, q, force ? force : body->product);
        if (energy)
            *energy = stored;
        double sum = stored;
        for (int64_t i = 0; i < body->r; i++)
            sum += fabs((force ? force : body->product)[i]);
        if (!isfinite(sum))
            status = sp_fail(&body->context, SP_NUMERICAL, "the force or the energy is not finite: q is too large");
        if (stiffness)
            for (int64_t j = 0; j < body->r; j++) {
                memset(body->unit, 0, (size_t)body->r * sizeof *body->unit);
                body->unit[j] = 1;
                system->tangent_times(system->self, q, body->unit, stiffness + j * body->r);
            }
    }

    sp_blas_alone_end(threads);
    return sp_error_of(&body->context, body->source.failed, status);
}

supple_status supple_body_mass(supple_body *body, double *mass)
{
    SP_REQUIRE(body);
    SP_REQUIRE(mass);
    const sp_system *system = &body->now->model.system;
    const int threads = sp_blas_alone_begin();
    for (int64_t j = 0; j < body->r; j++) {
        memset(body->unit, 0, (size_t)body->r * sizeof *body->unit);
        body->unit[j] = 1;
        system->mass_times(system->self, body->unit, mass + j * body->r);
    }
    sp_blas_alone_end(threads);
    return SUPPLE_OK;
}

/* ---- saving ---- */

void sp_body_visit(supple_body *body, sp_state *state)
{
    SP_STATE_VALUE(state, body->run.done);
    sp_run_visit(&body->run, body->run.done, state);
}

bool sp_body_keep(supple_body *body, sp_state *kept)
{
    *kept = (sp_state){0};
    if (body->integrator)
        sp_body_visit(body, kept);
    if (kept->failed)
        sp_list_free(&kept->data);
    return !kept->failed;
}

void sp_body_settle(supple_body *body, bool failed, sp_state *kept)
{
    if (failed && body->integrator) {
        kept->loading = true;
        sp_body_visit(body, kept);
    }
    sp_list_free(&kept->data);
}

/* What a body must have in common with the one that was saved. */
static uint64_t identity(const supple_body *body)
{
    const sp_integrator_parameters *p = &body->parameters;
    const sp_mesh *mesh = &body->mesh.mesh;

    const double numbers[] = {body->kind,
                              (double)body->r,
                              p->kind,
                              p->step,
                              p->beta,
                              p->gamma,
                              p->damping_mass,
                              p->damping_stiffness,
                              p->semi_implicit,
                              p->tolerance,
                              (double)p->iterations,
                              body->gravity[0],
                              body->gravity[1],
                              body->gravity[2]};

    uint64_t sum = sp_saved_sum(0, "body " SUPPLE_VERSION, sizeof "body " SUPPLE_VERSION);
    sum = sp_saved_sum(sum, body->mesh.hash, sizeof body->mesh.hash);
    sum = sp_saved_sum(sum, body->basis.hash, sizeof body->basis.hash);
    sum = sp_saved_sum(sum, &body->loads_sum, sizeof body->loads_sum);
    sum = sp_saved_sum(sum, numbers, sizeof numbers);

    for (int64_t m = 0; m < mesh->material_count; m++) {
        const sp_material *of = &mesh->materials[m];
        const double values[] = {of->young, of->poisson, of->density};
        sum = sp_saved_sum(sum, values, sizeof values);
    }
    return sum;
}

supple_status supple_body_save(supple_body *body, void *state, size_t *size)
{
    REQUIRE_MOTION(body);
    SP_REQUIRE(size);
    sp_state saved = {0};
    sp_body_visit(body, &saved);
    const supple_status status = sp_saved_write(__func__, &saved, identity(body), state, size);
    sp_list_free(&saved.data);
    return status;
}

supple_status supple_body_load(supple_body *body, const void *state, size_t size)
{
    sp_state saved;
    REQUIRE_MOTION(body);
    SP_REQUIRE(state);

    if (!sp_saved_read(state, size, identity(body), &saved))
        return sp_error(SUPPLE_INPUT,
                        "%s: these bytes are no state of such a body: with the same files, materials, loads of a file, "
                        "gravity and integration",
                        __func__);

    const int threads = sp_blas_alone_begin();
    sp_body_visit(body, &saved);
    sp_blas_alone_end(threads);
    sp_body_show(body);

    /* A state that was read in part leaves the body without a motion. */
    if (!saved.failed && saved.at == saved.data.count)
        return SUPPLE_OK;
    sp_integrator_free(body->integrator);
    body->integrator = NULL;
    body->springs.count = 0;
    body->springs_changed = true;
    return sp_error(SUPPLE_SYSTEM, "%s: out of memory: call supple_body_start", __func__);
}
