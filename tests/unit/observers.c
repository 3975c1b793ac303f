/* What observers of a running body compute, beside exact balances and the full-order linear solution. */
#include "assembly/elastic.h"
#include "bodies.h"
#include "reduced/mass.h"
#include "run/reactions.h"
#include "run/static_correction.h"
#include "test.h"

static sp_context context;

/* A cantilever of 4 × 2 × 1 hexahedra, fixed at x = 0, with a force on a vertex at its end, and its weight. */
typedef struct cantilever {
    held_block b; /* whose column is orthonormal in the mass, and no mode */
    sp_load load;
    double eigenvalue; /* the Rayleigh quotient of the column */
} cantilever;

static const double FORCE[3] = {3, -20, 40}, GRAVITY[3] = {1, 2, -9.81};

static bool make_cantilever(cantilever *c)
{
    *c = (cantilever){0};
    make_box(4, 2, 1, 0.25, 0.1, &c->b.mesh);
    if (hold_block(&context, 1, &c->b) != SP_OK)
        return false;
    c->load = (sp_load){.end = INFINITY, .kind = SP_LOAD_VERTEX, .id = c->b.mesh.vertex_count - 1};
    memcpy(c->load.force, FORCE, sizeof FORCE);

    double mass, *product = sp_pool_new(&c->b.mesh.pool, 2 * c->b.rows, sizeof *product), *rest = product + c->b.rows;
    if (sp_reduced_mass(&context, &c->b.body, false, 1, c->b.U, &mass, NULL) != SP_OK)
        return false;
    for (int64_t i = 0; i < c->b.rows; i++)
        c->b.U[i] /= sqrt(mass);
    sp_elastic_tangent_times(&context, &c->b.body, rest, c->b.U, product);
    for (int64_t i = 0; i < c->b.rows; i++)
        c->eigenvalue += c->b.U[i] * product[i];
    return true;
}

/* A model of the cantilever with an integrator, and the body as observers see it. */
typedef struct running {
    sp_model model;
    sp_external_loads loads;
    sp_run_body body;
} running;

static bool begin(cantilever *c, enum sp_model_kind kind, enum sp_integrator_kind integrator, running *r)
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
    if (sp_model_new(&context, &d, &r->model) != SP_OK)
        return false;
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
    return sp_integrator_new(&context, &r->model.system, &r->loads, &parameters, NULL, NULL, &r->body.integrator) ==
           SP_OK;
}

static void end(running *r)
{
    sp_integrator_free(r->body.integrator);
    sp_model_free(&r->model);
}

static double mass_of(const cantilever *c)
{
    double mass = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(&c->b.mesh); e++)
        mass += c->b.mesh.materials[0].density * sp_mesh_element_volume(&c->b.mesh, e);
    return mass;
}

/* In equilibrium the reactions balance the load and the weight, and so do their moments about the origin, where the
 * body has deformed: of the full-order model to the tolerance of Newton's method; of a basis that is far from the
 * solution the forces, since a translation of all supports translates the whole body. */
static void reactions_balance_the_loads(void)
{
    static const enum sp_model_kind kinds[] = {SP_MODEL_NONLINEAR, SP_MODEL_LINEAR, SP_MODEL_MODAL};
    cantilever c;
    CHECK(make_cantilever(&c), "%s", context.message);

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        running r;
        sp_reactions *reactions;
        CHECK(begin(&c, kinds[k], SP_STATIC, &r), "%s", context.message);
        CHECK_OK(sp_reactions_new(&r.body, &reactions));
        const sp_observer observer = sp_reactions_observer(reactions);
        CHECK_OK(sp_integrator_step(r.body.integrator));
        CHECK_OK(observer.frame(observer.self, 1));

        CHECK(sp_reactions_count(reactions) == 1 && !strcmp(sp_reactions_names(reactions)[0], "fixed"), "groups");
        const double *sum = sp_reactions_sums(reactions), weight = mass_of(&c);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(sum[i], -FORCE[i] - weight * GRAVITY[i], 1e-8 * (50 + weight * 10));

        const double left = sp_reactions_unbalanced(reactions);
        CHECK(kinds[k] == SP_MODEL_MODAL ? left > 0.01 : left == -1, "model %zu: %g", k, left);
        sp_reactions_free(reactions);
        end(&r);
    }
    free_held_block(&c.b);
}

/* In linear statics a correction of any basis is the full-order linear solution. */
static void correction_is_exact_in_linear_statics(void)
{
    cantilever c;
    running full, modal;
    sp_static_correction *correction;
    CHECK(make_cantilever(&c), "%s", context.message);
    CHECK(begin(&c, SP_MODEL_LINEAR, SP_STATIC, &full) && begin(&c, SP_MODEL_MODAL, SP_STATIC, &modal), "%s",
          context.message);
    CHECK_OK(sp_integrator_step(full.body.integrator));
    CHECK_OK(sp_integrator_step(modal.body.integrator));

    const int64_t vertices = c.b.mesh.vertex_count;
    double *u = sp_pool_new(&c.b.mesh.pool, 3 * vertices, sizeof *u),
           *v = sp_pool_new(&c.b.mesh.pool, 3 * vertices, sizeof *v), difference = 0, size = 0, before = 0, gained = 0;
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

    sp_static_correction_free(correction);
    end(&modal);
    end(&full);
    free_held_block(&c.b);
}

/* M (q̈ + αq̇) = F − f(q) − β K q̇ in one coordinate, with numbers by hand. */
static void acceleration_balances(void)
{
    cantilever c;
    running r;
    double work[2], acceleration;
    CHECK(make_cantilever(&c), "%s", context.message);
    CHECK(begin(&c, SP_MODEL_MODAL, SP_NEWMARK, &r), "%s", context.message);
    CHECK_OK(sp_integrator_step(r.body.integrator));
    CHECK_OK(sp_run_body_accelerate(&r.body, work, &acceleration));

    double mass, weight[3], force = 0;
    CHECK_OK(sp_reduced_mass(&context, &c.b.body, false, 1, c.b.U, &mass, weight));
    for (int i = 0; i < 3; i++)
        force += c.b.U[3 * c.load.id + i] * FORCE[i] + weight[i] * GRAVITY[i];
    const double q = *sp_integrator_q(r.body.integrator), v = *sp_integrator_v(r.body.integrator),
                 expected = (force - c.eigenvalue * (q + r.body.damping_stiffness * v)) / mass;
    CHECK_NEAR(acceleration, expected, 1e-11 * fabs(force));
    end(&r);
    free_held_block(&c.b);
}

/* A spring depends on the displacement, which a correction of given forces does not know. */
static void springs_are_refused(void)
{
    cantilever c;
    running r;
    sp_static_correction *correction;
    CHECK(make_cantilever(&c), "%s", context.message);
    c.load = (sp_load){.end = INFINITY, .kind = SP_LOAD_SPRING, .id = c.b.mesh.vertex_count - 1, .stiffness = 10};
    CHECK(begin(&c, SP_MODEL_GALERKIN, SP_NEWMARK, &r), "%s", context.message);
    CHECK(sp_static_correction_new(&r.body, &correction) == SP_USAGE && strstr(context.message, "load 1 is a spring"),
          "%s", context.message);
    end(&r);
    free_held_block(&c.b);
}

int main(void)
{
    context = sp_context_default();
    RUN(reactions_balance_the_loads);
    RUN(correction_is_exact_in_linear_statics);
    RUN(acceleration_balances);
    RUN(springs_are_refused);
    return test_end();
}
