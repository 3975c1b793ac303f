/* What observers of a running body compute, beside exact balances and the full-order linear solution. */
#include "assembly/elastic.h"
#include "base/vec3.h"
#include "fixture.h"
#include "reduced/mass.h"
#include "run/reactions.h"
#include "run/static_correction.h"

OWNER(sp_reactions)
OWNER(sp_static_correction)

/* A cantilever of 4 × 2 × 1 hexahedra, fixed at x = 0, with a force on a vertex at its end, and its weight. */
typedef struct cantilever {
    held_block b; /* whose column is orthonormal in the mass, and no mode */
    sp_load load;
    double eigenvalue; /* the Rayleigh quotient of the column */
} cantilever;

static const double FORCE[3] = {3, -20, 40}, GRAVITY[3] = {1, 2, -9.81};

static void make_cantilever(cantilever *c)
{
    *c = (cantilever){0};
    make_box(4, 2, 1, 0.25, 0.1, &c->b.mesh);
    hold_block(1, &c->b);
    c->load = (sp_load){.end = INFINITY, .kind = SP_LOAD_VERTEX, .id = c->b.mesh.vertex_count - 1};
    memcpy(c->load.force, FORCE, sizeof FORCE);

    double mass, *product = test_new(2 * c->b.rows, sizeof *product), *rest = product + c->b.rows;
    CHECK_OK(sp_reduced_mass(&context, &c->b.body, false, 1, c->b.U, &mass, NULL));
    for (int64_t i = 0; i < c->b.rows; i++)
        c->b.U[i] /= sqrt(mass);
    sp_elastic_tangent_times(&context, &c->b.body, rest, c->b.U, product);
    for (int64_t i = 0; i < c->b.rows; i++)
        c->eigenvalue += c->b.U[i] * product[i];
}

static void cantilever_free(cantilever *c)
{
    held_block_free(&c->b);
}

/* A model of the cantilever with an integrator, and the body as observers see it. */
typedef struct running {
    sp_model model;
    sp_external_loads loads;
    sp_run_body body;
} running;

static void begin(cantilever *c, enum sp_model_kind kind, enum sp_integrator_kind integrator, running *r)
{
    sp_model_description d = {.kind = kind,
                              .space = &c->b.body,
                              .r = 1,
                              .rows = c->b.rows,
                              .U = c->b.U,
                              .eigenvalue = &c->eigenvalue,
                              .load_count = 1,
                              .loads = &c->load};
    memcpy(d.gravity, GRAVITY, sizeof GRAVITY);
    CHECK_OK(sp_model_new(&context, &d, &r->model));
    sp_load_set_at_ends(&r->model.loads, integrator == SP_STATIC);
    r->loads = sp_model_external(&r->model);
    r->body = (sp_run_body){.context = &context,
                            .mesh = &c->b.mesh,
                            .space = &c->b.body,
                            .model = &r->model,
                            .load_count = 1,
                            .loads = &c->load,
                            .damping_mass = integrator == SP_STATIC ? 0 : 0.5,
                            .damping_stiffness = integrator == SP_STATIC ? 0 : 1e-3,
                            .statics = integrator == SP_STATIC,
                            .step = 0.01};
    memcpy(r->body.gravity, GRAVITY, sizeof GRAVITY);
    const sp_integrator_parameters parameters = {.kind = integrator,
                                                 .step = 0.01,
                                                 .beta = 0.25,
                                                 .gamma = 0.5,
                                                 .damping_mass = r->body.damping_mass,
                                                 .damping_stiffness = r->body.damping_stiffness};
    CHECK_OK(sp_integrator_new(&context, &r->model.system, &r->loads, &parameters, NULL, NULL, &r->body.integrator));
}

static void running_free(running *r)
{
    sp_integrator_free(r->body.integrator);
    sp_model_free(&r->model);
}

/* The sum of the load and the weight, and of their moments about the origin, at the displaced vertices. */
static void sum_loads(const cantilever *c, const running *r, double sum[6])
{
    const int64_t vertices = c->b.mesh.vertex_count;
    double *u = test_new(3 * vertices, sizeof *u), *mass = test_new(vertices, sizeof *mass);
    sp_model_at_vertices(&r->model, sp_integrator_q(r->body.integrator), NULL, vertices, NULL, u);
    sp_fe_space_vertex_mass(&c->b.body, true, mass); /* row sums, by which gravity acts */

    memset(sum, 0, 6 * sizeof *sum);
    for (int64_t v = 0; v < vertices; v++) {
        double place[3], force[3], moment[3];
        for (int i = 0; i < 3; i++) {
            place[i] = c->b.mesh.vertices[3 * v + i] + u[3 * v + i];
            force[i] = mass[v] * GRAVITY[i] + (v == c->load.id ? FORCE[i] : 0);
        }
        sp_cross3(place, force, moment);
        for (int i = 0; i < 3; i++) {
            sum[i] += force[i];
            sum[3 + i] += moment[i];
        }
    }
}

/* In equilibrium the reactions balance the load and the weight, also in a basis that is far from the solution, since a
 * translation of all supports translates the whole body. Moments balance at the displaced vertices, for a model of
 * finite strain. */
TEST(reactions_balance_the_loads)
{
    static const enum sp_model_kind kinds[] = {SP_MODEL_NONLINEAR, SP_MODEL_LINEAR, SP_MODEL_MODAL};
    OWNED(cantilever) c;
    make_cantilever(&c);

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        OWNED(running) r;
        OWNED_POINTER(sp_reactions) *reactions = NULL;
        begin(&c, kinds[k], SP_STATIC, &r);
        CHECK_OK(sp_reactions_new(&r.body, &reactions));
        const sp_observer observer = sp_reactions_observer(reactions);
        CHECK_OK(sp_integrator_step(r.body.integrator));
        CHECK_OK(observer.frame(observer.self, 1));

        CHECK(sp_reactions_count(reactions) == 1 && !strcmp(sp_reactions_names(reactions)[0], "fixed"), "groups");
        double loads[6];
        sum_loads(&c, &r, loads);
        for (int i = 0; i < (kinds[k] == SP_MODEL_NONLINEAR ? 6 : 3); i++)
            CHECK_NEAR(sp_reactions_sums(reactions)[i], -loads[i], 1e-8 * fabs(loads[2]));

        const double left = sp_reactions_unbalanced(reactions);
        CHECK(kinds[k] == SP_MODEL_MODAL ? left > 0.01 : left == -1, "model %zu: %g", k, left);
    }
}

/* In linear statics a correction of any basis is the full-order linear solution. */
TEST(correction_is_exact_in_linear_statics)
{
    OWNED(cantilever) c;
    OWNED(running) full = {0};
    OWNED(running) modal = {0};
    OWNED_POINTER(sp_static_correction) *correction = NULL;
    make_cantilever(&c);
    begin(&c, SP_MODEL_LINEAR, SP_STATIC, &full);
    begin(&c, SP_MODEL_MODAL, SP_STATIC, &modal);
    CHECK_OK(sp_integrator_step(full.body.integrator));
    CHECK_OK(sp_integrator_step(modal.body.integrator));

    const int64_t vertices = c.b.mesh.vertex_count;
    double *u = test_new(3 * vertices, sizeof *u), *v = test_new(3 * vertices, sizeof *v), difference = 0, size = 0,
           before = 0, gained = 0;
    sp_model_at_vertices(&full.model, sp_integrator_q(full.body.integrator), NULL, vertices, NULL, u);
    sp_model_at_vertices(&modal.model, sp_integrator_q(modal.body.integrator), NULL, vertices, NULL, v);
    for (int64_t i = 0; i < 3 * vertices; i++)
        before = fmax(before, fabs(u[i] - v[i]));

    CHECK_OK(sp_static_correction_new(&modal.body, &correction));
    CHECK_OK(sp_static_correction_add(correction, v));
    for (int64_t i = 0; i < 3 * vertices; i++) {
        difference = fmax(difference, fabs(u[i] - v[i]));
        size = fmax(size, fabs(u[i]));
    }
    CHECK(before > 0.05 * size && difference < 1e-9 * size, "%g before, %g, of %g", before, difference, size);

    /* ½ eᵀR is the difference of the energies of both solutions, whose energies are half of the work of the loads. */
    double energy[2][SP_WORK_COUNT];
    sp_integrator_energies(full.body.integrator, energy[0]);
    sp_integrator_energies(modal.body.integrator, energy[1]);
    gained = energy[0][SP_WORK_STORED] - energy[1][SP_WORK_STORED];
    CHECK_NEAR(sp_static_correction_energy(correction), gained, 1e-8 * gained);
}

/* M (q̈ + αq̇) = F − f(q) − β K q̇ in one coordinate, with numbers by hand. */
TEST(acceleration_balances)
{
    OWNED(cantilever) c;
    OWNED(running) r;
    double work[2], acceleration;
    make_cantilever(&c);
    begin(&c, SP_MODEL_MODAL, SP_NEWMARK, &r);
    CHECK_OK(sp_integrator_step(r.body.integrator));
    CHECK_OK(sp_run_body_accelerate(&r.body, work, &acceleration));

    double mass, weight[3], force = 0;
    CHECK_OK(sp_reduced_mass(&context, &c.b.body, false, 1, c.b.U, &mass, weight));
    for (int i = 0; i < 3; i++)
        force += c.b.U[3 * c.load.id + i] * FORCE[i] + weight[i] * GRAVITY[i];
    const double q = *sp_integrator_q(r.body.integrator), v = *sp_integrator_v(r.body.integrator),
                 expected = (force - c.eigenvalue * (q + r.body.damping_stiffness * v)) / mass;
    CHECK_NEAR(acceleration, expected, 1e-11 * fabs(force));
}

/* A spring depends on the displacement, which a correction of given forces does not know. */
TEST(springs_are_refused)
{
    OWNED(cantilever) c;
    OWNED(running) r;
    OWNED_POINTER(sp_static_correction) *correction = NULL;
    make_cantilever(&c);
    c.load = (sp_load){.end = INFINITY, .kind = SP_LOAD_SPRING, .id = c.b.mesh.vertex_count - 1, .stiffness = 10};
    begin(&c, SP_MODEL_GALERKIN, SP_NEWMARK, &r);
    CHECK(sp_static_correction_new(&r.body, &correction) == SP_USAGE && strstr(context.message, "load 1 is a spring"),
          "%s", context.message);
}
