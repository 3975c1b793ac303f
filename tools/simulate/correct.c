#include "tools/simulate/correct.h"

#include "assembly/elastic.h"
#include "linear/cholesky.h"
#include "tools/common/solve.h"
#include "tools/simulate/simulation.h"

#include <math.h>
#include <string.h>

struct simulate_correction {
    sp_sparse K;
    sp_cholesky *factor;
    bool factored;        /* K at rest, which stays */
    double *load_force;   /* [3·vertices, loads] */
    double *vertex_mass;  /* [vertices] lumped; NULL: consistent */
    double *R, *part, *v; /* [3·vertices] */
    double *free;         /* [dof_count] */
    double *acceleration; /* [r] */
};

void correct_begin(simulation *s)
{
    if (!s->choice->correct)
        return;

    const int64_t rows = 3 * s->mesh.mesh.vertex_count, n = s->body->dof_count;
    struct simulate_correction *c = s->correction = tool_allocate(&s->pool, 1, sizeof *c);
    int64_t *node = tool_allocate(&s->pool, n, sizeof *node);

    c->load_force = tool_allocate(&s->pool, rows * s->load_count, sizeof *c->load_force);
    for (int64_t l = 0; l < s->load_count; l++) {
        if (s->loads[l].kind == SP_LOAD_SPRING)
            tool_fail(SP_USAGE, s->choice->loads, "load %lld is a spring, to which --static-correction does not apply",
                      (long long)l + 1);
        tool_check(sp_load_distribute(s->context, s->body, &s->loads[l], c->load_force + l * rows), NULL);
    }

    if (s->model.system.lumped) {
        c->vertex_mass = tool_allocate(&s->pool, rows / 3, sizeof *c->vertex_mass);
        sp_fe_space_vertex_mass(s->body, true, c->vertex_mass);
    }

    c->R = tool_allocate(&s->pool, rows, sizeof *c->R);
    c->part = tool_allocate(&s->pool, rows, sizeof *c->part);
    c->v = tool_allocate(&s->pool, rows, sizeof *c->v);
    c->free = tool_allocate(&s->pool, n, sizeof *c->free);
    c->acceleration = tool_allocate(&s->pool, s->r, sizeof *c->acceleration);

    /* The pattern and ordering of K stay; values are those of the displacements of each frame. */
    tool_check(sp_elastic_stiffness(s->context, s->body, &c->K), s->mesh.path);
    sp_fe_space_nodes(s->body, node);
    tool_check(sp_cholesky_new(s->context, &c->K, node, &c->factor), s->mesh.path);
}

void correct_free(simulation *s)
{
    if (!s->correction)
        return;
    sp_cholesky_free(s->correction->factor);
    sp_sparse_free(&s->correction->K);
}

/* R += factor · part. */
static void add(const simulation *s, double factor)
{
    struct simulate_correction *c = s->correction;
    for (int64_t i = 0; i < 3 * s->mesh.mesh.vertex_count; i++)
        c->R[i] += factor * c->part[i];
}

/* R += F − M U (q̈ + αq̇). */
static void add_loads_and_inertia(simulation *s, const sp_integrator *integrator)
{
    struct simulate_correction *c = s->correction;
    const int64_t rows = 3 * s->mesh.mesh.vertex_count;
    const double time = sp_integrator_time(integrator), gravity = simulation_gravity_share(s, time);
    for (int64_t l = 0; l < s->load_count; l++) {
        const double share = simulation_load_share(s, &s->loads[l], time);
        for (int64_t i = 0; i < rows; i++)
            c->R[i] += share * c->load_force[l * rows + i];
    }

    /* The inertia of the motion along the basis; gravity is a body force. */
    simulation_accelerate(s, integrator, c->acceleration);
    sp_model_at_vertices(&s->model, c->acceleration, NULL, rows / 3, NULL, c->v);
    for (int64_t i = 0; i < rows; i++) {
        c->v[i] = gravity * s->choice->gravity[i % 3] - c->v[i];
        c->part[i] = c->vertex_mass ? c->vertex_mass[i / 3] * c->v[i] : 0;
    }
    if (!c->vertex_mass)
        sp_fe_space_mass_times(s->context, s->body, 3, c->v, c->part);

    add(s, 1);
}

/* R −= f(u), and K is that of u; returns the displacements about which K is. */
static const double *subtract_force(simulation *s, const double *u)
{
    struct simulate_correction *c = s->correction;

    if (s->choice->model != SP_MODEL_MODAL) {
        memset(c->K.value, 0, (size_t)c->K.start[c->K.order] * sizeof *c->K.value);
        sp_elastic_tangent(s->context, s->body, u, 1, false, c->part, &c->K);
        add(s, -1);
        return u;
    }

    /* A modal model is linear: f(u) = K u with K at rest. */
    memset(c->v, 0, (size_t)(3 * s->mesh.mesh.vertex_count) * sizeof *c->v);
    sp_elastic_tangent_times(s->context, s->body, c->v, u, c->part);
    add(s, -1);
    return c->v;
}

static void subtract_damping(simulation *s, const sp_integrator *integrator, const double *about)
{
    struct simulate_correction *c = s->correction;
    double *rate = tool_allocate(&s->pool, 3 * s->mesh.mesh.vertex_count, sizeof *rate);
    sp_model_at_vertices(&s->model, sp_integrator_v(integrator), NULL, s->mesh.mesh.vertex_count, NULL, rate);
    sp_elastic_tangent_times(s->context, s->body, about, rate, c->part);
    add(s, -s->damping_stiffness);
    sp_pool_drop(&s->pool, rate);
}

/* Factors K; where it is not positive definite, its definite part. */
static void factor(simulation *s, const double *u)
{
    struct simulate_correction *c = s->correction;
    const bool constant = s->choice->model == SP_MODEL_MODAL;
    if (constant && c->factored)
        return;

    int status = sp_cholesky_factor(c->factor, &c->K);
    if (status == SP_NUMERICAL && !constant) {
        memset(c->K.value, 0, (size_t)c->K.start[c->K.order] * sizeof *c->K.value);
        sp_elastic_tangent(s->context, s->body, u, 1, true, NULL, &c->K);
        status = sp_cholesky_factor(c->factor, &c->K);
    }

    if (status == SP_NUMERICAL)
        tool_hint("--static-correction needs a constrained body");
    tool_check_solve(status, s->mesh.path, s->body, NULL);
    c->factored = true;
}

void correct_displacements(simulation *s, const sp_integrator *integrator, double *u)
{
    struct simulate_correction *c = s->correction;
    if (!c)
        return;

    const int64_t rows = 3 * s->mesh.mesh.vertex_count;
    memset(c->R, 0, (size_t)rows * sizeof *c->R);
    add_loads_and_inertia(s, integrator);
    const double *about = subtract_force(s, u);
    if (s->choice->integrator != SP_STATIC && s->damping_stiffness > 0)
        subtract_damping(s, integrator, about);

    factor(s, u);
    sp_fe_space_gather(s->body, c->R, c->free);
    tool_check(sp_cholesky_solve(c->factor, 1, c->free, c->free), s->mesh.path);
    memset(c->part, 0, (size_t)rows * sizeof *c->part);
    sp_fe_space_scatter(s->body, c->free, c->part);

    /* The correction gains ½ Δuᵀ R, the work of R while it grows from zero. */
    double gain = 0;
    for (int64_t i = 0; i < rows; i++) {
        gain += 0.5 * c->part[i] * c->R[i];
        u[i] += c->part[i];
    }
    s->correction_energy = fmax(s->correction_energy, gain);
}

void correct_report(const simulation *s, double motion, json_t *result)
{
    const double part = motion > 0 ? s->correction_energy / motion : 0;
    if (!s->correction)
        return;
    json_object_set_new(result, "correction_energy", tool_real("correction_energy", s->correction_energy));
    tool_say("static correction: at most %.3g J, %.2g of the largest energy of the motion", s->correction_energy, part);
}
