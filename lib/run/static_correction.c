#include "run/static_correction.h"

#include "assembly/elastic.h"
#include "linear/cholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sp_static_correction {
    const sp_run_body *body;
    sp_pool pool;
    sp_sparse K;
    sp_cholesky *factor;
    bool factored;        /* K at rest, which stays */
    double *load_force;   /* [3·vertices, loads] */
    double *vertex_mass;  /* [vertices] lumped; NULL: consistent */
    double *R, *part, *v; /* [3·vertices] */
    double *free;         /* [dof_count] */
    double *acceleration; /* [r] */
    double *work;         /* [2r] */
    double energy;        /* J, the largest */
};

/* The pattern and ordering of K stay; values are those of the displacements of each frame. */
static int prepare_stiffness(sp_static_correction *c)
{
    sp_context *context = c->body->context;
    sp_fe_space *space = c->body->space;
    int64_t *node = sp_pool_new(&c->pool, space->dof_count, sizeof *node);
    if (!node)
        return sp_fail_memory(context);

    const int status = sp_elastic_stiffness(context, space, &c->K);
    if (status != SP_OK)
        return status;
    sp_fe_space_nodes(space, node);
    return sp_cholesky_new(context, &c->K, node, &c->factor);
}

static int check_loads(const sp_run_body *body)
{
    for (int64_t l = 0; l < body->load_count; l++)
        if (body->loads[l].kind == SP_LOAD_SPRING)
            return sp_fail(body->context, SP_USAGE,
                           "load %lld is a spring, to which a static correction does not apply", (long long)l + 1);
    return SP_OK;
}

int sp_static_correction_new(const sp_run_body *body, sp_static_correction **correction)
{
    const int64_t rows = 3 * body->mesh->vertex_count, r = body->model->r;
    int status;

    sp_static_correction *c = calloc(1, sizeof *c);
    if (!c)
        return sp_fail_memory(body->context);
    c->body = body;
    c->R = sp_pool_new(&c->pool, rows, sizeof *c->R);
    c->part = sp_pool_new(&c->pool, rows, sizeof *c->part);
    c->v = sp_pool_new(&c->pool, rows, sizeof *c->v);
    c->free = sp_pool_new(&c->pool, body->space->dof_count, sizeof *c->free);
    c->acceleration = sp_pool_new(&c->pool, r, sizeof *c->acceleration);
    c->work = sp_pool_new(&c->pool, 2 * r, sizeof *c->work);
    SP_TRY(sp_allocated(body->context, !c->pool.failed));

    SP_TRY(check_loads(body));
    SP_TRY(sp_run_body_load_forces(body, &c->pool, &c->load_force));
    SP_TRY(sp_run_body_vertex_masses(body, &c->pool, &c->vertex_mass));
    SP_TRY(prepare_stiffness(c));
    *correction = c;
    return SP_OK;
done:
    sp_static_correction_free(c);
    return status;
}

void sp_static_correction_free(sp_static_correction *correction)
{
    if (!correction)
        return;
    sp_cholesky_free(correction->factor);
    sp_sparse_free(&correction->K);
    sp_pool_free(&correction->pool);
    free(correction);
}

double sp_static_correction_energy(const sp_static_correction *correction)
{
    return correction->energy;
}

/* R += factor · part. */
static void add(sp_static_correction *c, double factor)
{
    for (int64_t i = 0; i < 3 * c->body->mesh->vertex_count; i++)
        c->R[i] += factor * c->part[i];
}

/* R += F − M U (q̈ + αq̇). */
static int add_loads_and_inertia(sp_static_correction *c)
{
    const sp_run_body *body = c->body;
    const int64_t rows = 3 * body->mesh->vertex_count;
    const double time = sp_integrator_time(body->integrator), gravity = sp_run_body_gravity_share(body, time);
    for (int64_t l = 0; l < body->load_count; l++) {
        const double share = sp_run_body_load_share(body, &body->loads[l], time);
        for (int64_t i = 0; i < rows; i++)
            c->R[i] += share * c->load_force[l * rows + i];
    }

    /* The inertia of the motion along the basis; gravity is a body force. */
    const int status = sp_run_body_accelerate(body, c->work, c->acceleration);
    if (status != SP_OK)
        return status;
    sp_model_at_vertices(body->model, c->acceleration, NULL, rows / 3, NULL, c->v);
    for (int64_t i = 0; i < rows; i++)
        c->v[i] = gravity * body->gravity[i % 3] - c->v[i];
    sp_run_body_mass_times(body, c->vertex_mass, c->v, c->part);

    add(c, 1);
    return SP_OK;
}

/* R −= f(u), and K is that of u; returns the displacements about which K is. */
static const double *subtract_force(sp_static_correction *c, const double *u)
{
    const sp_run_body *body = c->body;
    if (body->model->kind != SP_MODEL_MODAL) {
        memset(c->K.value, 0, (size_t)c->K.start[c->K.order] * sizeof *c->K.value);
        sp_elastic_tangent(body->context, body->space, u, 1, false, c->part, &c->K);
        add(c, -1);
        return u;
    }

    /* A modal model is linear: f(u) = K u with K at rest. */
    memset(c->v, 0, (size_t)(3 * body->mesh->vertex_count) * sizeof *c->v);
    sp_elastic_tangent_times(body->context, body->space, c->v, u, c->part);
    add(c, -1);
    return c->v;
}

static int subtract_damping(sp_static_correction *c, const double *about)
{
    const sp_run_body *body = c->body;
    const int64_t vertices = body->mesh->vertex_count;
    double *rate = sp_pool_new(&c->pool, 3 * vertices, sizeof *rate);
    if (!rate)
        return sp_fail_memory(body->context);

    sp_model_at_vertices(body->model, sp_integrator_v(body->integrator), NULL, vertices, NULL, rate);
    sp_elastic_tangent_times(body->context, body->space, about, rate, c->part);
    add(c, -body->damping_stiffness);
    sp_pool_drop(&c->pool, rate);
    return SP_OK;
}

/* Factors K; where it is not positive definite, its definite part. */
static int factor(sp_static_correction *c, const double *u)
{
    const bool constant = c->body->model->kind == SP_MODEL_MODAL;
    if (constant && c->factored)
        return SP_OK;

    int status = sp_cholesky_factor(c->factor, &c->K);
    if (status == SP_NUMERICAL && !constant) {
        memset(c->K.value, 0, (size_t)c->K.start[c->K.order] * sizeof *c->K.value);
        sp_elastic_tangent(c->body->context, c->body->space, u, 1, true, NULL, &c->K);
        status = sp_cholesky_factor(c->factor, &c->K);
    }
    c->factored = status == SP_OK;
    return status;
}

int sp_static_correction_add(sp_static_correction *c, double *u)
{
    const sp_run_body *body = c->body;
    const int64_t rows = 3 * body->mesh->vertex_count;
    int status;

    memset(c->R, 0, (size_t)rows * sizeof *c->R);
    SP_TRY(add_loads_and_inertia(c));
    const double *about = subtract_force(c, u);
    if (!body->statics && body->damping_stiffness > 0)
        SP_TRY(subtract_damping(c, about));

    SP_TRY(factor(c, u));
    sp_fe_space_gather(body->space, c->R, c->free);
    SP_TRY(sp_cholesky_solve(c->factor, 1, c->free, c->free));
    memset(c->part, 0, (size_t)rows * sizeof *c->part);
    sp_fe_space_scatter(body->space, c->free, c->part);

    /* The correction gains ½ eᵀ R, the work of R while it grows from zero. */
    double gain = 0;
    for (int64_t i = 0; i < rows; i++) {
        gain += 0.5 * c->part[i] * c->R[i];
        u[i] += c->part[i];
    }
    c->energy = fmax(c->energy, gain);
done:
    return status;
}

static void visit(void *self, sp_state *state)
{
    sp_static_correction *c = self;
    SP_STATE_VALUE(state, c->energy);
}

sp_observer sp_static_correction_observer(sp_static_correction *correction)
{
    return (sp_observer){.self = correction, .visit = visit};
}
