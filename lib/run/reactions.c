#include "run/reactions.h"

#include "assembly/elastic.h"
#include "base/vec3.h"
#include "linear/cholesky.h"
#include "mesh/mesh_sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fixed vertices whose forces are added up. */
typedef struct group {
    int64_t count, *vertex;
} group;

struct sp_reactions {
    const sp_run_body *body;
    sp_pool pool;
    int64_t group_count;
    group *groups;
    const char **names;               /* [groups] */
    double *u, *v, *a, *force, *part; /* [3·vertices] */
    double *load_force;               /* [3·vertices, loads], columns */
    double *vertex_mass;              /* [vertices] lumped; NULL: consistent */
    double *rest;                     /* [3·vertices] zeros */
    double *along;                    /* [2r] */
    double *sums;                     /* [groups, 6] of the last frame */
    sp_viscous viscous;               /* of a body with viscosity */
    double *answer; /* [dof_count, groups, 6] see find_answers; NULL: the model has all degrees of freedom */
    struct {
        double largest, unbalanced; /* N: the largest sum of the reactions of all fixed vertices, and the largest sum of
                                       the unbalanced forces on free components */
    } seen;
};

/* ---- groups ---- */

/* Adds a group of the fixed vertices among these, unless none of them is fixed. */
static void add_group(sp_reactions *r, const char *name, int64_t count, const int64_t *vertex)
{
    const sp_mesh *mesh = r->body->mesh;
    group *to = &r->groups[r->group_count];
    *to = (group){.vertex = sp_pool_new(&r->pool, count, sizeof *to->vertex)};
    if (!to->vertex)
        return;

    for (int64_t i = 0, k = 0; i < count; i++) {
        while (k < mesh->fixed_count && mesh->fixed[k] < vertex[i])
            k++;
        if (k < mesh->fixed_count && mesh->fixed[k] == vertex[i])
            to->vertex[to->count++] = vertex[i];
    }

    r->names[r->group_count] = name;
    r->group_count += to->count > 0;
}

static int find_groups(sp_reactions *r)
{
    const sp_mesh *mesh = r->body->mesh;
    r->groups = sp_pool_new(&r->pool, mesh->set_count + 1, sizeof *r->groups);
    r->names = sp_pool_new(&r->pool, mesh->set_count + 1, sizeof *r->names);
    if (r->pool.failed)
        return sp_fail_memory(r->body->context);

    add_group(r, "fixed", mesh->fixed_count, mesh->fixed);
    for (int64_t i = 0; i < mesh->set_count; i++) {
        int64_t count, *vertex;
        if (mesh->sets[i].kind == SP_SET_ELEMENTS)
            continue;
        const int status = sp_mesh_set_vertices(r->body->context, mesh, &mesh->sets[i], &r->pool, &count, &vertex);
        if (status != SP_OK)
            return status;
        add_group(r, mesh->sets[i].name, count, vertex);
    }
    return SP_OK;
}

/* ---- static answers ---- */

/* The motion of the fixed components of a group of vertices as a rigid body: component k of translation and rotation
 * about the origin. field [3·vertices], 0 elsewhere. */
static void support_motion(const sp_reactions *r, const group *fixed, int k, double *field)
{
    const sp_mesh *mesh = r->body->mesh;
    memset(field, 0, (size_t)(3 * mesh->vertex_count) * sizeof *field);
    for (int64_t i = 0; i < fixed->count; i++) {
        const int64_t v = fixed->vertex[i];
        const double axis[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
        double turned[3];
        sp_cross3(axis, mesh->vertices + 3 * v, turned);
        for (int c = 0; c < 3; c++)
            if (r->body->space->dof[3 * v + c] < 0)
                field[3 * v + c] = k < 3 ? axis[c] : turned[c];
    }
}

/* The static displacements −K⁻¹ K_fc e of the free components for unit motions e of the groups, by linear elasticity at
 * rest. */
static int find_answers(sp_reactions *r)
{
    sp_context *context = r->body->context;
    sp_fe_space *space = r->body->space;
    const int64_t n = space->dof_count, count = 6 * r->group_count;
    sp_sparse K = {0};
    sp_cholesky *factor = NULL;
    sp_pool scratch = {0};
    int64_t *node = sp_pool_raw(&scratch, n, sizeof *node);
    int status;

    r->answer = sp_pool_raw(&r->pool, n * count, sizeof *r->answer);
    if (!node || !r->answer) {
        status = sp_fail_memory(context);
        goto done;
    }

    /* K at rest, factored */
    SP_TRY(sp_elastic_stiffness(context, space, &K));
    sp_fe_space_nodes(space, node);
    SP_TRY(sp_cholesky_new(context, &K, node, &factor));
    status = sp_cholesky_factor(factor, &K);
    if (status == SP_NUMERICAL)
        status = sp_fail(context, SP_INPUT,
                         "reactions of a reduced-order model need fixed vertices that leave no rigid motion free");
    SP_TRY(status);

    /* The right sides −K_fc e */
    for (int64_t k = 0; k < count; k++) {
        support_motion(r, &r->groups[k / 6], (int)(k % 6), r->u);
        sp_elastic_tangent_times(context, space, r->rest, r->u, r->part);
        sp_fe_space_gather(space, r->part, r->answer + k * n);
        for (int64_t i = 0; i < n; i++)
            r->answer[k * n + i] = -r->answer[k * n + i];
    }

    SP_TRY(sp_cholesky_solve(factor, count, r->answer, r->answer));
done:
    sp_cholesky_free(factor);
    sp_sparse_free(&K);
    sp_pool_free(&scratch);
    return status;
}

/* ---- making ---- */

static int allocate(sp_reactions *r)
{
    const sp_run_body *body = r->body;
    const int64_t rows = 3 * body->mesh->vertex_count;
    double **vectors[] = {&r->u, &r->v, &r->a, &r->force, &r->part, &r->rest};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&r->pool, rows, sizeof(double));
    r->sums = sp_pool_new(&r->pool, r->group_count, 6 * sizeof *r->sums);
    r->along = sp_pool_new(&r->pool, 2 * body->model->r, sizeof *r->along);
    return r->pool.failed ? sp_fail_memory(body->context) : SP_OK;
}

int sp_reactions_new(const sp_run_body *body, sp_reactions **reactions)
{
    int status;

    sp_reactions *r = calloc(1, sizeof *r);
    if (!r)
        return sp_fail_memory(body->context);
    r->body = body;
    SP_TRY(find_groups(r));
    SP_TRY(allocate(r));

    SP_TRY(sp_run_body_load_forces(body, &r->pool, &r->load_force));
    SP_TRY(sp_run_body_vertex_masses(body, &r->pool, &r->vertex_mass));
    if (body->viscosity)
        SP_TRY(sp_viscous_new(body->context, body->space, body->viscosity, &r->viscous));

    if (sp_model_kind_reduced(body->model->kind))
        SP_TRY(find_answers(r));
    *reactions = r;
    return SP_OK;
done:
    sp_reactions_free(r);
    return status;
}

void sp_reactions_free(sp_reactions *reactions)
{
    if (!reactions)
        return;
    sp_viscous_free(&reactions->viscous);
    sp_pool_free(&reactions->pool);
    free(reactions);
}

int64_t sp_reactions_count(const sp_reactions *reactions)
{
    return reactions->group_count;
}

const char *const *sp_reactions_names(const sp_reactions *reactions)
{
    return reactions->names;
}

const double *sp_reactions_sums(const sp_reactions *reactions)
{
    return reactions->sums;
}

double sp_reactions_unbalanced(const sp_reactions *reactions)
{
    return reactions->answer && reactions->seen.largest > 0 ? reactions->seen.unbalanced / reactions->seen.largest : -1;
}

/* ---- forces ---- */

/* force += factor · part. */
static void add(sp_reactions *r, double factor, const double *part)
{
    for (int64_t i = 0; i < 3 * r->body->mesh->vertex_count; i++)
        r->force[i] += factor * part[i];
}

/* Subtracts the loads on the vertices: forces and springs. */
static void subtract_loads(sp_reactions *r, double time)
{
    const sp_run_body *body = r->body;
    const sp_mesh *mesh = body->mesh;

    for (int64_t l = 0; l < body->load_count; l++) {
        const sp_load *load = &body->loads[l];
        const double part = sp_run_body_load_share(body, load, time);
        if (load->kind != SP_LOAD_SPRING) {
            add(r, -part, r->load_force + l * 3 * mesh->vertex_count);
            continue;
        }

        /* A spring pulls towards its anchor, which may move; a step of statics has the anchor of its middle. */
        if (!(part > 0))
            continue;
        for (int c = 0; c < 3; c++) {
            const double when = body->statics ? time - 0.5 * body->step : time,
                         moved = load->moving ? (when - load->start) / (load->end - load->start) : 0,
                         anchor = load->force[c] + (load->moving ? moved * (load->anchor_end[c] - load->force[c]) : 0);
            const int64_t i = 3 * load->id + c;
            r->force[i] -= load->stiffness * (anchor - mesh->vertices[i] - r->u[i]);
        }
    }
}

/* Adds M (a + α v − g). */
static void add_inertia(sp_reactions *r, double time)
{
    const sp_run_body *body = r->body;
    const double gravity = sp_run_body_gravity_share(body, time);
    for (int64_t i = 0; i < 3 * body->mesh->vertex_count; i++)
        r->a[i] += body->damping_mass * r->v[i] - gravity * body->gravity[i % 3];
    sp_run_body_mass_times(body, r->vertex_mass, r->a, r->part);
    add(r, 1, r->part);
}

/* Elastic force, and damping by stiffness and viscosity. A linear model has all of them at rest. */
static void add_internal(sp_reactions *r)
{
    const sp_run_body *body = r->body;
    const bool linear = body->model->kind == SP_MODEL_LINEAR || body->model->kind == SP_MODEL_MODAL;
    const double *about = linear ? r->rest : r->u;

    if (linear)
        sp_elastic_tangent_times(body->context, body->space, r->rest, r->u, r->part);
    else
        sp_elastic_force(body->context, body->space, r->u, r->part);
    add(r, 1, r->part);

    if (body->damping_stiffness > 0) {
        sp_elastic_tangent_times(body->context, body->space, about, r->v, r->part);
        add(r, body->damping_stiffness, r->part);
    }
    if (body->viscosity) {
        sp_viscous_times(body->context, &r->viscous, about, r->v, r->part);
        add(r, 1, r->part);
    }
}

/* The force and the moment about the origin that hold each group. */
static void sum_groups(sp_reactions *r)
{
    const sp_mesh *mesh = r->body->mesh;
    memset(r->sums, 0, (size_t)r->group_count * 6 * sizeof *r->sums);

    for (int64_t g = 0; g < r->group_count; g++)
        for (int64_t i = 0; i < r->groups[g].count; i++) {
            const int64_t v = r->groups[g].vertex[i];
            double place[3], force[3], moment[3];
            for (int c = 0; c < 3; c++) {
                place[c] = mesh->vertices[3 * v + c] + r->u[3 * v + c];
                force[c] = r->body->space->dof[3 * v + c] < 0 ? r->force[3 * v + c] : 0;
            }
            sp_cross3(place, force, moment);
            for (int c = 0; c < 3; c++) {
                r->sums[6 * g + c] += force[c];
                r->sums[6 * g + 3 + c] += moment[c];
            }
        }
}

/* Leaves of the force on the free components what no acceleration along the basis balances: r − M U (UᵀMU)⁻¹ Uᵀ r. The
 * rest is of the time integration, which balances means of loads over steps. */
static int leave_unbalanced(sp_reactions *r)
{
    const sp_model *model = r->body->model;
    const sp_fe_space *space = r->body->space;
    double *along = r->along, *a = along + model->r;

    /* along = Uᵀ r, where r is the force on free components */
    for (int64_t j = 0; j < model->r; j++) {
        along[j] = 0;
        for (int64_t i = 0; i < space->dof_count; i++)
            along[j] += model->U[j * model->rows + space->free[i]] * r->force[space->free[i]];
    }

    /* r −= M U a of a = (UᵀMU)⁻¹ along */
    const int status = model->system.mass_solve(model->system.self, along, a);
    if (status != SP_OK)
        return status;
    sp_model_at_vertices(model, a, NULL, r->body->mesh->vertex_count, NULL, r->a);
    sp_run_body_mass_times(r->body, r->vertex_mass, r->a, r->part);
    add(r, -1, r->part);
    return SP_OK;
}

/* Adds the linear static reactions to the forces that the basis leaves out of balance. By reciprocity they are the work
 * of those forces along the static answers. The reactions of all fixed vertices are then in balance with loads and
 * inertia, since a translation of all of them translates the whole body. */
static int correct(sp_reactions *r)
{
    const sp_fe_space *space = r->body->space;
    const int64_t n = space->dof_count;
    if (!r->answer)
        return SP_OK;

    const int status = leave_unbalanced(r);
    if (status != SP_OK)
        return status;
    for (int64_t k = 0; k < 6 * r->group_count; k++)
        for (int64_t i = 0; i < n; i++)
            r->sums[k] += r->answer[k * n + i] * r->force[space->free[i]];
    return SP_OK;
}

/* Measures the forces that remain on the free components. They are rounding errors for a full-order model; a
 * reduced-order model is in balance only in the directions of its basis. */
static void measure_balance(sp_reactions *r)
{
    const sp_fe_space *space = r->body->space;
    double left[3] = {0};
    for (int64_t i = 0; i < space->dof_count; i++)
        left[space->free[i] % 3] += r->force[space->free[i]];
    r->seen.unbalanced = fmax(r->seen.unbalanced, sqrt(sp_dot3(left, left)));
    r->seen.largest = fmax(r->seen.largest, sqrt(sp_dot3(r->sums, r->sums)));
}

static int measure(void *self, int64_t number)
{
    sp_reactions *r = self;
    const sp_run_body *body = r->body;
    const int64_t vertices = body->mesh->vertex_count;
    const double time = sp_integrator_time(body->integrator), *a = sp_integrator_acceleration(body->integrator);
    (void)number;

    memset(r->force, 0, (size_t)(3 * vertices) * sizeof *r->force);
    memset(r->a, 0, (size_t)(3 * vertices) * sizeof *r->a);
    sp_model_at_vertices(body->model, sp_integrator_q(body->integrator), NULL, vertices, NULL, r->u);
    sp_model_at_vertices(body->model, sp_integrator_v(body->integrator), NULL, vertices, NULL, r->v);
    if (a)
        sp_model_at_vertices(body->model, a, NULL, vertices, NULL, r->a);

    add_inertia(r, time);
    add_internal(r);
    subtract_loads(r, time);
    sum_groups(r);
    const int status = correct(r);
    measure_balance(r);
    return status;
}

static void visit(void *self, sp_state *state)
{
    sp_reactions *r = self;
    SP_STATE_VALUE(state, r->seen.largest);
    SP_STATE_VALUE(state, r->seen.unbalanced);
}

sp_observer sp_reactions_observer(sp_reactions *reactions)
{
    return (sp_observer){.self = reactions, .frame = measure, .visit = visit};
}
