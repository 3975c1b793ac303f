/* Time integration and statics: orders of convergence, energy, damping, loads, known solutions. */
#include "allocations.h"
#include "assembly/elastic.h"
#include "basis/derivatives.h"
#include "basis/modes.h"
#include "fixture.h"
#include "integrate/integrate.h"
#include "linear/dense.h"
#include "model/loads.h"
#include "model/models.h"

#include <assert.h>

OWNER(sp_integrator)

/* ---- a cantilever and its reduced model ---- */

enum { R = BENDING_FIELDS };

typedef struct model {
    sp_mesh mesh;
    sp_fe_space body;
    int64_t rows;
    double *U;
    sp_polynomials polynomials;
    sp_system reduced;
} model;

static void no_force(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    memset(f, 0, (size_t)((const sp_system *)self)->n * 8);
}

static bool no_springs(void *self, double t0, double t1)
{
    (void)self, (void)t0, (void)t1;
    return false;
}

static sp_external_loads nothing(const sp_system *system)
{
    return (sp_external_loads){.self = (void *)system, .mean = no_force, .springs = no_springs};
}

static void make_cantilever(sp_mesh *mesh)
{
    int64_t added;
    make_box(8, 2, 2, 0.1, 0, mesh);
    added = fix_end(mesh, 0.01);
    CHECK(added == 9, "%lld fixed vertices", (long long)added);
}

/* A basis that is sufficient for the integrators. */
static void make_model(model *m)
{
    *m = (model){0};
    make_cantilever(&m->mesh);
    CHECK_OK(sp_fe_space_new(&context, &m->mesh, &m->body));
    m->rows = 3 * m->mesh.vertex_count;
    m->U = test_new(m->rows * R, 8);
    bending_fields(&m->mesh, m->U);
    sp_polynomial_parameters parameters = {0};
    sp_polynomial_report report;
    CHECK_OK(sp_polynomials_new(&context, &m->body, R, m->U, &parameters, &m->polynomials, &report));
    CHECK_OK(sp_polynomial_system_new(&context, &m->polynomials, R, m->U, m->rows, m->mesh.vertices, &m->reduced));
}

static void model_free(model *m)
{
    sp_reduced_system_free(&m->reduced);
    sp_polynomials_free(&m->polynomials);
    sp_fe_space_free(&m->body);
    sp_mesh_free(&m->mesh);
}

static const double start_velocity[R] = {6, 2, 0, 0, 0, -3, 0, 0};

/* q at time T with steps of h. */
static void run(const sp_system *system, sp_integrator_parameters parameters, double h, double T, double *q)
{
    sp_external_loads forcing = nothing(system);
    OWNED_POINTER(sp_integrator) *it;
    parameters.step = h;
    CHECK_OK(sp_integrator_new(&context, system, &forcing, &parameters, NULL, start_velocity, &it));
    for (int64_t step = 0; step < llround(T / h); step++)
        CHECK_OK(sp_integrator_step(it));
    memcpy(q, sp_integrator_q(it), (size_t)system->n * 8);
}

TEST(second_order_in_time)
{
    OWNED(model) m;
    make_model(&m);
    const char *name[] = {"newmark", "energy", "central"};
    for (int kind = SP_NEWMARK; kind <= SP_CENTRAL; kind++)
        for (int damped = 0; damped < (kind == SP_CENTRAL ? 1 : 2); damped++) {
            sp_integrator_parameters parameters = {.kind = (enum sp_integrator_kind)kind,
                                                   .beta = 0.25,
                                                   .gamma = 0.5,
                                                   .damping_mass = damped ? 2 : 0,
                                                   .damping_stiffness = damped ? 1e-3 : 0};
            double q[4][R], error[3], h = 2e-4;
            for (int s = 0; s < 4; s++)
                run(&m.reduced, parameters, h / (1 << s), 0.05, q[s]);
            for (int s = 0; s < 3; s++) {
                error[s] = 0;
                for (int j = 0; j < R; j++)
                    error[s] = fmax(error[s], fabs(q[s][j] - q[s + 1][j]));
            }
            CHECK_ORDERS(error, 2, 0.1, 0.05, "%s%s", name[kind], damped ? ", damped" : "");
        }
}

TEST(energy_step_keeps_energy)
{
    OWNED(model) m;
    make_model(&m);
    sp_external_loads forcing = nothing(&m.reduced);
    double drift[2] = {0};
    for (int kind = SP_NEWMARK; kind <= SP_ENERGY; kind++) {
        OWNED_POINTER(sp_integrator) *it;
        sp_integrator_parameters parameters = {
            .kind = (enum sp_integrator_kind)kind, .step = 2e-3, .beta = 0.25, .gamma = 0.5};
        double energy[SP_WORK_COUNT], first;
        CHECK_OK(sp_integrator_new(&context, &m.reduced, &forcing, &parameters, NULL, start_velocity, &it));
        sp_integrator_energies(it, energy);
        first = energy[0] + energy[1];
        for (int64_t step = 0; step < 100000; step++) {
            if (sp_integrator_step(it) != SP_OK) {
                CHECK(kind == SP_NEWMARK, "%s",
                      context.message); /* Newmark's method may become unstable; the energy-conserving step must not */
                drift[kind] = INFINITY;
                break;
            }
            if (step % 10 == 0) {
                sp_integrator_energies(it, energy);
                drift[kind] = fmax(drift[kind], fabs(energy[0] + energy[1] - first) / first);
            }
        }
    }
    NOTE("largest relative change of energy over 1e5 steps: energy step %.2e, Newmark %.2e", drift[SP_ENERGY],
         drift[SP_NEWMARK]);
    CHECK(drift[SP_ENERGY] <= 1e-10, "energy changed by %g", drift[SP_ENERGY]);
    CHECK(drift[SP_NEWMARK] > 1e-6, "Newmark's change of energy is %g: the motion is too tame for this test",
          drift[SP_NEWMARK]);
}

/* With loads and both kinds of damping the balance kinetic + stored = work − dissipated is exact too. */
TEST(energy_step_balances_work)
{
    OWNED(model) m;
    make_model(&m);
    sp_load loads[2] = {{0, 0.03, SP_LOAD_VERTEX, 80, {0, 30, 50}, .stiffness = 0},
                        {0.01, INFINITY, SP_LOAD_SPRING, 70, {1, 0.2, 0.5}, .stiffness = 4000}};
    OWNED(sp_load_set) loading;
    CHECK_OK(sp_load_set_new(&context, &m.body, m.U, R, 2, loads, (double[]){0, 0, -9.81}, &m.reduced, &loading));
    sp_external_loads forcing = sp_load_set_external(&loading);
    OWNED_POINTER(sp_integrator) *it;
    sp_integrator_parameters parameters = {
        .kind = SP_ENERGY, .step = 1e-3, .damping_mass = 3, .damping_stiffness = 2e-3};
    double energy[SP_WORK_COUNT], worst = 0, largest = 0, dissipated = 0;
    CHECK_OK(sp_integrator_new(&context, &m.reduced, &forcing, &parameters, NULL, NULL, &it));
    for (int step = 0; step < 300; step++) {
        CHECK_OK(sp_integrator_step(it));
        sp_integrator_energies(it, energy);
        largest = fmax(largest, fabs(energy[2]));
        worst = fmax(worst, fabs(energy[0] + energy[1] - energy[2] + energy[3]));
        CHECK(energy[3] >= dissipated, "damping gave energy back");
        dissipated = energy[3];
    }
    NOTE("balance %.1e of %.3g J, %lld iterations in 300 steps", worst / largest, largest,
         (long long)sp_integrator_reported(it)->newton_iterations);
    CHECK(worst <= 1e-10 * largest, "balance off by %g of %g J", worst, largest);
    CHECK(dissipated > 0.01 * largest, "nothing was dissipated");
    CHECK(sp_integrator_reported(it)->newton_iterations < 300 * 6, "Newton converges only linearly: %lld iterations",
          (long long)sp_integrator_reported(it)->newton_iterations);
}

/* The Newmark matrix is the true Jacobian, damping included: iterations stay few at a tight tolerance. */
TEST(newmark_converges_quadratically)
{
    OWNED(model) m;
    make_model(&m);
    sp_external_loads forcing = nothing(&m.reduced);
    OWNED_POINTER(sp_integrator) *it;
    sp_integrator_parameters parameters = {.kind = SP_NEWMARK,
                                           .step = 4e-3,
                                           .beta = 0.25,
                                           .gamma = 0.5,
                                           .damping_mass = 1,
                                           .damping_stiffness = 5e-3,
                                           .tolerance = 1e-12};
    CHECK_OK(sp_integrator_new(&context, &m.reduced, &forcing, &parameters, NULL, start_velocity, &it));
    for (int step = 0; step < 100; step++)
        CHECK_OK(sp_integrator_step(it));
    const sp_integrator_report *report = sp_integrator_reported(it);
    NOTE("%.2f iterations a step, at most %lld, residual %.1e", (double)report->newton_iterations / 100,
         (long long)report->worst_iterations, report->worst_residual);
    CHECK(report->newton_iterations < 600, "%lld iterations in 100 steps", (long long)report->newton_iterations);
}

TEST(reduced_steps_allocate_nothing)
{
#if defined(__SANITIZE_ADDRESS__)
    SKIP("sanitizers have their own malloc");
#endif
    OWNED(model) m;
    make_model(&m);
    OWNED(sp_polynomials) parts;
    sp_polynomial_report report;
    sp_reduced_viscosity viscosity;
    CHECK_OK(sp_polynomials_new(&context, &m.body, R, m.U, &(sp_polynomial_parameters){.by_constant = true}, &parts,
                                &report));
    CHECK_OK(sp_polynomial_viscosity(&context, &parts, R, 1, m.mesh.materials, &(sp_viscosity){10, 20}, &viscosity));
    sp_reduced_system_damp(&m.reduced, &viscosity);
    sp_load load = {0, 1, SP_LOAD_VERTEX, 80, {0, 3, 5}, .stiffness = 0};
    OWNED(sp_load_set) loading;
    CHECK_OK(sp_load_set_new(&context, &m.body, m.U, R, 1, &load, (double[]){0, 0, -9.81}, &m.reduced, &loading));
    sp_external_loads forcing = sp_load_set_external(&loading);
    for (int kind = SP_NEWMARK; kind <= SP_STATIC; kind++)
        for (int semi = 0; semi <= (kind == SP_NEWMARK); semi++) {
            OWNED_POINTER(sp_integrator) *it;
            sp_integrator_parameters parameters = {.kind = (enum sp_integrator_kind)kind,
                                                   .step = 1e-4,
                                                   .beta = 0.25,
                                                   .gamma = 0.5,
                                                   .semi_implicit = semi,
                                                   .damping_mass = kind == SP_STATIC ? 0 : 1};
            CHECK_OK(sp_integrator_new(&context, &m.reduced, &forcing, &parameters, NULL, NULL, &it));
            CHECK_OK(sp_integrator_step(it));
            long before = allocations;
            for (int step = 0; step < 20; step++)
                CHECK_OK(sp_integrator_step(it));
            CHECK(allocations == before, "integrator %d: %ld allocations in 20 steps", kind, allocations - before);
        }
}

/* The reduced model with all unit vectors is the full-order model and has the same motion. */
TEST(full_model_equals_its_own_reduction)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    sp_system full, reduced;
    OWNED(sp_polynomials) polynomials;
    sp_polynomial_parameters parameters = {0};
    sp_polynomial_report report;
    make_box(2, 1, 1, 0.2, 0.1, &mesh);
    fix_end(&mesh, 0.05);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    int64_t n = body.dof_count, rows = 3 * mesh.vertex_count;
    double *U = test_new(rows * n, 8);
    for (int64_t i = 0; i < n; i++)
        U[i * rows + body.free[i]] = 1;
    CHECK_OK(sp_polynomials_new(&context, &body, n, U, &parameters, &polynomials, &report));
    CHECK_OK(sp_polynomial_system_new(&context, &polynomials, n, U, rows, mesh.vertices, &reduced));
    CHECK_OK(sp_full_system_new(&context, &body, false, false, NULL, &full));
    sp_load loads[2] = {{0, 0.02, SP_LOAD_ALL, -1, {0, 5, 40}, .stiffness = 0},
                        {0.01, 1, SP_LOAD_SPRING, mesh.vertex_count - 1, {0.5, 0.1, 0.4}, .stiffness = 300}};
    for (int kind = SP_NEWMARK; kind <= SP_STATIC; kind++) {
        OWNED(sp_load_set) a, b;
        CHECK_OK(sp_load_set_new(&context, &body, NULL, 0, 2, loads, (double[]){0, 0, -9.81}, &full, &a));
        CHECK_OK(sp_load_set_new(&context, &body, U, n, 2, loads, (double[]){0, 0, -9.81}, &reduced, &b));
        sp_external_loads fa = sp_load_set_external(&a), fb = sp_load_set_external(&b);
        OWNED_POINTER(sp_integrator) *ia, *ib;
        sp_integrator_parameters p = {.kind = (enum sp_integrator_kind)kind,
                                      .step = kind == SP_CENTRAL ? 2e-4 : 2e-3,
                                      .beta = 0.25,
                                      .gamma = 0.5,
                                      .damping_mass = 1,
                                      .damping_stiffness = 1e-3};
        CHECK_OK(sp_integrator_new(&context, &full, &fa, &p, NULL, NULL, &ia));
        CHECK_OK(sp_integrator_new(&context, &reduced, &fb, &p, NULL, NULL, &ib));
        double worst = 0, largest = 0;
        for (int step = 0; step < 20; step++) {
            CHECK_OK(sp_integrator_step(ia));
            CHECK_OK(sp_integrator_step(ib));
            for (int64_t i = 0; i < n; i++) {
                worst = fmax(worst, fabs(sp_integrator_q(ia)[i] - sp_integrator_q(ib)[i]));
                largest = fmax(largest, fabs(sp_integrator_q(ia)[i]));
            }
        }
        CHECK(largest > (kind == SP_CENTRAL ? 1e-5 : 1e-4), "integrator %d: nothing moves", kind);
        CHECK(worst <= 1e-8 * largest, "integrator %d: full and reduced differ by %g of %g", kind, worst, largest);
    }
    sp_full_system_free(&full);
    sp_reduced_system_free(&reduced);
}

/* A pressure on a closed surface has no resultant force, no torque, and Σ F·X = −3 p V by the divergence theorem. On
 * one region it acts on the faces of that region. */
TEST(pressure_is_balanced)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    make_box(4, 3, 2, 0.1, 0, &mesh);
    mesh.materials = sp_pool_new(&mesh.pool, 2, sizeof *mesh.materials);
    mesh.material_count = 2;
    mesh.materials[0] = mesh.materials[1] = test_material();
    strcpy(mesh.materials[1].name, "end");
    sp_mesh_region_box(&mesh, (double[]){0.3, -1, -1}, (double[]){1, 1, 1}, 1); /* the last layer in x */
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    double *f = test_new(body.dof_count, 8);
    for (int64_t id = -1; id < 2; id++) {
        sp_load load = {0, INFINITY, SP_LOAD_PRESSURE, id, {5000}, .stiffness = 0};
        double sum[3] = {0}, torque[3] = {0}, virial = 0;
        CHECK_OK(sp_load_force(&context, &body, 1, &load, f));
        for (int64_t v = 0; v < mesh.vertex_count; v++) {
            const double *X = mesh.vertices + 3 * v, *F = f + 3 * v;
            for (int c = 0; c < 3; c++) {
                sum[c] += F[c];
                torque[c] += X[(c + 1) % 3] * F[(c + 2) % 3] - X[(c + 2) % 3] * F[(c + 1) % 3];
                virial += X[c] * F[c];
            }
        }
        /* the faces of the end push it back with p times its section, and the rest in the other direction */
        CHECK_NEAR(sum[0], id < 0 ? 0 : (id ? -1 : 1) * 5000 * 0.3 * 0.2, 1e-9);
        CHECK_NEAR(sum[1], 0, 1e-9);
        CHECK_NEAR(sum[2], 0, 1e-9);
        if (id < 0)
            for (int c = 0; c < 3; c++)
                CHECK_NEAR(torque[c], 0, 1e-9);
        if (id < 0)
            CHECK_NEAR(virial, -3 * 5000 * 0.4 * 0.3 * 0.2, 1e-9);
    }
    CHECK(sp_load_force(&context, &body, 1, &(sp_load){0, 1, SP_LOAD_PRESSURE, 2, {1}, .stiffness = 0}, f) == SP_INPUT,
          "region 2 of 2 was accepted");
}

/* A system whose matrices cannot be factored in some whole steps: those steps are halved. */
static struct {
    sp_system inner;
    double scale, least; /* of the mass; below `least` the step is a whole one */
    bool fails;
    int64_t halved;
} brittle;

static void brittle_start(void *self, double mass_scale)
{
    brittle.scale = mass_scale;
    brittle.inner.matrix_start(self, mass_scale);
}

static int brittle_factor(void *self)
{
    return brittle.fails && brittle.scale < brittle.least ? sp_fail(&context, SP_NUMERICAL, "a whole step")
                                                          : brittle.inner.matrix_factor(self);
}

static void fall(const sp_fe_space *body, const sp_system *system, const sp_integrator_parameters *parameters,
                 const double times[2])
{
    sp_load load = {times[0], times[1], SP_LOAD_ALL, -1, {7, 0, 0}, .stiffness = 0};
    OWNED(sp_load_set) loading;
    CHECK_OK(sp_load_set_new(&context, body, NULL, 0, 1, &load, (double[]){0, 0, -9.81}, system, &loading));
    sp_external_loads forcing = sp_load_set_external(&loading);
    OWNED_POINTER(sp_integrator) *it;
    double momentum[3] = {0}, *Mv = test_new(system->n, 8), mass = 0;
    for (int64_t e = 0; e < body->mesh->block[SP_HEX8].count; e++)
        mass += 1000 * sp_mesh_element_volume(body->mesh, e);
    CHECK_OK(sp_integrator_new(&context, system, &forcing, parameters, NULL, NULL, &it));
    for (int step = 0; sp_integrator_time(it) < 0.4 - 1e-9;
         step++) { /* BDF2 has transferred all of it except 3^-(steps) by then */
        brittle.fails = step == 0 || step == 3 || step == 4 || step == 9;
        CHECK_OK(sp_integrator_step(it));
    }
    system->mass_times(system->self, sp_integrator_v(it), Mv);
    for (int64_t i = 0; i < system->n; i++)
        momentum[i % 3] += Mv[i];
    CHECK_NEAR(momentum[0], 7 * (times[1] - times[0]), 1e-9);
    CHECK_NEAR(momentum[1], 0, 1e-9);
    CHECK_NEAR(momentum[2], -9.81 * 0.4 * mass, 1e-8);
    brittle.halved += sp_integrator_reported(it)->parted;
}

/* A free body falls under gravity with v = g t, and the impulse of a load is exact for any times of the load: with
 * every integrator, with Newmark's method for any γ, and in halved steps. */
TEST(free_fall_and_impulse)
{
    enum { GAMMAS = 4 };
    static const double gammas[GAMMAS] = {0.5, 0.6, 0.9, 1},
                        times[][2] = {{0.013, 0.0471}, {0, 0.005},     {0.002, 0.003},   {0, 0.01},
                                      {0.01, 0.015},   {0.006, 0.009}, {0.0335, 0.0342}, {0.0361, 0.0391}};
    static const enum sp_integrator_kind kinds[] = {SP_NEWMARK, SP_ENERGY, SP_CENTRAL,
                                                    SP_EULER,   SP_BDF2,   SP_LINEAR_EULER};
    enum { WITHOUT = 2 }; /* SP_STATIC and SP_EXACT */
    static_assert(sizeof kinds / sizeof *kinds + WITHOUT == SP_INTEGRATOR_COUNT, "an integrator lacks its tests");
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    FREED_BY(sp_full_system_free) sp_system system;
    make_box(2, 2, 1, 0.1, 0.1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_full_system_new(&context, &body, false, false, NULL, &system));
    sp_system halved = system;
    brittle.inner = system;
    halved.matrix_start = brittle_start;
    halved.matrix_factor = brittle_factor;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t t = 0; t < sizeof times / sizeof *times; t++) /* not all of them aligned with the steps */
            for (int g = 0; g < (kinds[k] == SP_NEWMARK ? GAMMAS : 1); g++) {
                const double gamma = gammas[g], h = kinds[k] == SP_CENTRAL ? 2e-4 : 1e-2,
                             beta = kinds[k] == SP_LINEAR_EULER ? 1 : 0.25 * (gamma + 0.5) * (gamma + 0.5);
                sp_integrator_parameters p = {.kind = kinds[k], .step = h, .beta = beta, .gamma = gamma, .halvings = 2};
                fall(&body, &system, &p, times[t]);
                /* a₁ is (q₁ − q₀) / (β h²), (1 to 5/3)² / h² or 1 / h² of half of h, or of h: that makes a step a whole
                 * one */
                brittle.least = kinds[k] == SP_NEWMARK ? 2 / (beta * h * h) : 2.9 / (h * h);
                if (kinds[k] == SP_NEWMARK || kinds[k] == SP_BDF2 || kinds[k] == SP_EULER)
                    fall(&body, &halved, &p, times[t]);
            }
    CHECK(brittle.halved > 100, "%lld steps were halved",
          (long long)brittle.halved); /* not all: Newton's method factors nothing if it starts in equilibrium */
}

/* The linear model in its first mode oscillates as cos ωt and decays with the Rayleigh damping ratio. */
TEST(linear_mode_swings_and_decays)
{
    OWNED(model) m;
    OWNED(sp_sparse) K, M;
    FREED_BY(sp_full_system_free) sp_system system;
    make_model(&m);
    CHECK_OK(sp_fe_space_pattern(&context, &m.body));
    CHECK_OK(sp_fe_space_matrix(&context, &m.body, &K));
    CHECK_OK(sp_fe_space_matrix(&context, &m.body, &M));
    CHECK_OK(sp_fe_space_mass(&context, &m.body, false, &M));
    double *rest = test_new(m.rows, 8), lambda[3], residual[3], *mode = test_new(3 * m.body.dof_count, 8);
    sp_elastic_tangent(&context, &m.body, rest, 1, false, NULL, &K);
    sp_modes_report report;
    CHECK_OK(sp_modes(&context, &K, &M, NULL, 0, NULL, &(sp_modes_parameters){.count = 3, .certify = true}, lambda,
                      mode, residual, &report));
    CHECK(report.certified == 2 && report.below == 2, "%lld eigenvalues below the third", (long long)report.certified);
    CHECK_OK(sp_full_system_new(&context, &m.body, true, false, NULL, &system));
    double omega = sqrt(lambda[0]), alpha = 0.4, beta = 2e-4, zeta = 0.5 * (alpha / omega + beta * omega),
           h = 6.283185307179586 / omega / 400;
    sp_external_loads forcing = nothing(&system);
    OWNED_POINTER(sp_integrator) *it;
    sp_integrator_parameters p = {
        .kind = SP_NEWMARK, .step = h, .beta = 0.25, .gamma = 0.5, .damping_mass = alpha, .damping_stiffness = beta};
    for (int64_t i = 0; i < m.body.dof_count; i++)
        mode[i] *= 0.01;
    CHECK_OK(sp_integrator_new(&context, &system, &forcing, &p, mode, NULL, &it));
    int64_t tip = 0;
    for (int64_t i = 0; i < m.body.dof_count; i++)
        if (fabs(mode[i]) > fabs(mode[tip]))
            tip = i;
    double worst = 0, wd = omega * sqrt(1 - zeta * zeta);
    for (int step = 1; step <= 1200; step++) {
        CHECK_OK(sp_integrator_step(it));
        double t = step * h,
               exact = mode[tip] * exp(-zeta * omega * t) * (cos(wd * t) + zeta * omega / wd * sin(wd * t));
        worst = fmax(worst, fabs(sp_integrator_q(it)[tip] - exact));
    }
    NOTE("ω %.4g rad/s, ζ %.4g: largest deviation in three periods %.1e of the amplitude", omega, zeta,
         worst / fabs(mode[tip]));
    CHECK(worst < 2e-3 * fabs(mode[tip]), "off by %g",
          worst / fabs(mode[tip])); /* trapezoidal rule: (ωh)²/12 of phase per radian: 4e-4 in 3 periods */
    CHECK(sp_integrator_reported(it)->newton_iterations <= 2 * 1200, "a linear step took more than two iterations");
}

TEST(central_differences_refuse_large_steps)
{
    OWNED(model) m;
    make_model(&m);
    sp_external_loads forcing = nothing(&m.reduced);
    sp_integrator *it;
    sp_integrator_parameters p = {.kind = SP_CENTRAL, .step = 1};
    CHECK(sp_integrator_new(&context, &m.reduced, &forcing, &p, NULL, start_velocity, &it) == SP_USAGE,
          "a step of 1 s was accepted");
    CHECK(strstr(context.message, "2/omega"), "message: %s", context.message);
}

/* Springs do not damp but are part of the Newton matrix: with stiff springs and stiffness damping a linear step takes
 * one iteration, and a static state in equilibrium takes none. */
TEST(stiff_springs_with_damping)
{
    OWNED(model) m = {0};
    sp_system systems[2];
    make_model(&m);
    CHECK_OK(sp_full_system_new(&context, &m.body, true, false, NULL, &systems[0]));
    CHECK_OK(sp_full_system_new(&context, &m.body, false, false, NULL, &systems[1]));
    sp_load load = {0, INFINITY, SP_LOAD_SPRING, 80, {0.8, 0.2, 0.3}, .stiffness = 1e7};
    for (int nonlinear = 0; nonlinear <= 1; load.stiffness = 1e4, nonlinear++)
        for (int kind = SP_NEWMARK; kind <= SP_STATIC; kind++) {
            sp_load_set loading;
            OWNED_POINTER(sp_integrator) *it = NULL;
            sp_integrator_parameters p = {.kind = (enum sp_integrator_kind)kind,
                                          .step = 1e-3,
                                          .beta = 0.25,
                                          .gamma = 0.5,
                                          .damping_stiffness = kind == SP_STATIC ? 0 : 0.1};
            CHECK_OK(sp_load_set_new(&context, &m.body, NULL, 0, 1, &load, (double[]){0, 0, 0}, &systems[nonlinear],
                                     &loading));
            sp_external_loads forcing = sp_load_set_external(&loading);
            int status = sp_integrator_new(&context, &systems[nonlinear], &forcing, &p, NULL, NULL, &it);
            if (kind == SP_CENTRAL) { /* far above 2/omega of the spring and the damping */
                CHECK(status == SP_USAGE, "central differences took a step of 1 ms");
                sp_load_set_free(&loading);
                continue;
            }
            CHECK(status == SP_OK, "%s", context.message);
            for (int step = 0; step < 4; step++)
                CHECK_OK(sp_integrator_step(it));
            const sp_integrator_report *report = sp_integrator_reported(it);
            CHECK(report->newton_iterations <= (nonlinear           ? 40
                                                : kind == SP_STATIC ? 2
                                                                    : 8),
                  "integrator %d: %lld iterations in 4 steps", kind, (long long)report->newton_iterations);
            sp_load_set_free(&loading);
        }
    sp_full_system_free(&systems[0]);
    sp_full_system_free(&systems[1]);
}

/* ---- statics ---- */

/* StVK bar 3 × 1 × 1 mm on its symmetry planes with prescribed ends: N = A E (s³ − s)/2 (published with 15 digits). */
TEST(stvk_bar)
{
    for (int shorter = 0; shorter <= 1; shorter++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        FREED_BY(sp_full_system_free) sp_system system;
        OWNED_POINTER(sp_integrator) *it;
        int64_t added;
        make_box(3, 1, 1, 1, 0, &mesh);
        mesh.materials[0].young = 7;
        const double planes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        for (int c = 0; c < 3; c++)
            CHECK_OK(sp_mesh_fix_half_space(&context, &mesh, planes[c], 0.01, 1 << c, &added));
        CHECK_OK(sp_mesh_fix_half_space(&context, &mesh, (double[]){-1, 0, 0}, -2.99, 1, &added));
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        int64_t rows = 3 * mesh.vertex_count;
        double *prescribed = test_new(rows, 8), *u = test_new(rows, 8), *f = test_new(rows, 8), end = 0;
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            if (mesh.vertices[3 * v] > 2.99)
                prescribed[3 * v] = shorter ? -1 : 1;
        CHECK_OK(sp_full_system_new(&context, &body, false, false, prescribed, &system));
        /* from the stretched bar: the lateral contraction is the unknown */
        double *start = test_new(system.n, 8);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            if (body.dof[3 * v] >= 0)
                start[body.dof[3 * v]] = (shorter ? -1 : 1) * mesh.vertices[3 * v] / 3;
        sp_external_loads forcing = nothing(&system);
        sp_integrator_parameters p = {.kind = SP_STATIC, .step = 1, .tolerance = 1e-14};
        CHECK_OK(sp_integrator_new(&context, &system, &forcing, &p, start, NULL, &it));
        CHECK_OK(sp_integrator_step(it));
        memcpy(u, prescribed, (size_t)rows * 8);
        sp_fe_space_scatter(&body, sp_integrator_q(it), u);
        sp_elastic_force(&context, &body, u, f);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            if (mesh.vertices[3 * v] > 2.99)
                end += f[3 * v];
        CHECK_NEAR(end, shorter ? -1.2962962962962954 : 3.629629629629627, 2e-14);
    }
}

/* u(p) of the static state under M Ψ Λ p has ∂²u/∂p_i∂p_j = Φ_ij (thesis §2.8.4). */
TEST(derivatives_are_second_derivatives_of_statics)
{
    OWNED(model) m;
    OWNED(sp_sparse) K, M;
    FREED_BY(sp_full_system_free) sp_system system;
    make_model(&m);
    int64_t n = m.body.dof_count;
    CHECK_OK(sp_fe_space_pattern(&context, &m.body));
    CHECK_OK(sp_fe_space_matrix(&context, &m.body, &K));
    CHECK_OK(sp_fe_space_matrix(&context, &m.body, &M));
    CHECK_OK(sp_fe_space_mass(&context, &m.body, false, &M));
    double *rest = test_new(m.rows, 8), lambda[2], residual[2], *mode = test_new(2 * n, 8),
           *U = test_new(2 * m.rows, 8), *load = test_new(2 * n, 8);
    sp_elastic_tangent(&context, &m.body, rest, 1, false, NULL, &K);
    sp_modes_report report;
    CHECK_OK(
        sp_modes(&context, &K, &M, NULL, 0, NULL, &(sp_modes_parameters){.count = 2}, lambda, mode, residual, &report));
    sp_sparse_times(&context, &M, 2, mode, load);
    for (int j = 0; j < 2; j++) {
        sp_fe_space_scatter(&m.body, mode + j * n, U + j * m.rows);
        for (int64_t i = 0; i < n; i++)
            load[j * n + i] *= lambda[j];
    }
    int64_t pair[6] = {0, 0, 0, 1, 1, 1};
    double *phi = test_new(3 * m.rows, 8), *exact = test_new(n, 8), error[3][3];
    sp_derivatives_report derivatives;
    CHECK_OK(sp_modal_derivatives(&context, &m.body, 2, U, 3, pair, 0, NULL, NULL, phi, &derivatives));
    CHECK(derivatives.residual < 1e-10, "residual %g", derivatives.residual);
    CHECK_OK(sp_full_system_new(&context, &m.body, false, false, NULL, &system));
    double *f = test_new(n, 8), *q = test_new(n, 8), *r = test_new(n, 8), *dq = test_new(n, 8), *sum = test_new(n, 8);
    for (int s = 0; s < 3; s++)
        for (int c = 0; c < 3; c++) {
            double h = 0.08 / (1 << s), scale = 0;
            memset(sum, 0, (size_t)n * 8);
            /* ∂²/∂p_i∂p_j: (+,+) − (+,−) − (−,+) + (−,−) over 4h²; on the diagonal (+) + (−) over h² (the rest state is
             * 0) */
            for (int corner = 0; corner < 4; corner++) {
                double a = corner & 1 ? -h : h, b = corner & 2 ? -h : h;
                if (c != 1 && corner > 1)
                    break;
                memset(q, 0, (size_t)n * 8);
                for (int newton = 0; newton < 12; newton++) {
                    system.matrix_start(system.self, 0);
                    system.matrix_add(system.self, q, 1, 1, false, f);
                    for (int64_t i = 0; i < n; i++)
                        r[i] = f[i] - (c == 1 ? a * load[i] + b * load[n + i] : a * load[(c == 0 ? 0 : n) + i]);
                    CHECK_OK(system.matrix_factor(system.self));
                    CHECK_OK(system.matrix_solve(system.self, r, dq));
                    for (int64_t i = 0; i < n; i++)
                        q[i] -= dq[i];
                }
                for (int64_t i = 0; i < n; i++)
                    sum[i] += c == 1 ? ((corner == 0 || corner == 3) ? q[i] : -q[i]) / (4 * h * h) : q[i] / (h * h);
            }
            sp_fe_space_gather(&m.body, phi + c * m.rows, exact);
            error[c][s] = 0;
            for (int64_t i = 0; i < n; i++) {
                error[c][s] = fmax(error[c][s], fabs(sum[i] - exact[i]));
                scale = fmax(scale, fabs(exact[i]));
            }
            error[c][s] /= scale;
        }
    for (int c = 0; c < 3; c++)
        CHECK_ORDERS(error[c], 2, 0.1, 0.1, "pair %d", c);
}

/* A slender cantilever under its own weight with large deflection: many static steps and line searches. The final state
 * has no residual force. */
TEST(large_static_bending)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    FREED_BY(sp_full_system_free) sp_system system;
    OWNED(sp_load_set) loading;
    OWNED_POINTER(sp_integrator) *it;
    make_box(24, 1, 1, 0.1, 0, &mesh);
    mesh.materials[0].young = 2e5;
    fix_end(&mesh, 0.01);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_full_system_new(&context, &body, false, false, NULL, &system));
    CHECK_OK(sp_load_set_new(&context, &body, NULL, 0, 0, NULL, (double[]){0, 0, -9.81}, &system, &loading));
    sp_external_loads forcing = sp_load_set_external(&loading);
    sp_integrator_parameters p = {.kind = SP_STATIC, .step = 1};
    CHECK_OK(sp_integrator_new(&context, &system, &forcing, &p, NULL, NULL, &it));
    CHECK_OK(sp_integrator_step(it));
    double *f = test_new(system.n, 8), worst = 0, size = 0, drop = 0;
    system.force(system.self, sp_integrator_q(it), f);
    for (int64_t i = 0; i < system.n; i++) {
        worst = fmax(worst, fabs(f[i] - loading.gravity[i]));
        size = fmax(size, fabs(loading.gravity[i]));
        if (body.free[i] % 3 == 2)
            drop = fmin(drop, sp_integrator_q(it)[i]);
    }
    NOTE("2.4 m beam drops by %.3f m in %lld iterations, %lld halvings", -drop,
         (long long)sp_integrator_reported(it)->newton_iterations, (long long)sp_integrator_reported(it)->halvings);
    CHECK(worst < 1e-7 * size, "force left: %g of %g", worst, size);
    CHECK(drop < -1, "it drops by %g m only", -drop);
}

/* W = ¼ (a² - 1)² + ½ b² in a = (q₀ + 2 q₁)/√5, b = (2 q₀ - q₁)/√5: a ridge at a = 0 between two valleys at ±1. */
static double two_valleys(void *self, const double *q, bool definite, double *f, double *K)
{
    double a = (q[0] + 2 * q[1]) / sqrt(5), b = (2 * q[0] - q[1]) / sqrt(5), fa = a * (a * a - 1), ka = 3 * a * a - 1;
    (void)self, (void)definite;
    if (f) {
        f[0] = (fa + 2 * b) / sqrt(5);
        f[1] = (2 * fa - b) / sqrt(5);
    }
    if (K) {
        K[0] = (ka + 4) / 5;
        K[1] = (2 * ka - 2) / 5;
        K[3] = (4 * ka + 1) / 5;
    }
    return 0.25 * (a * a - 1) * (a * a - 1) + 0.5 * b * b;
}

/* The Newton step would go to the ridge, which is an equilibrium too. */
TEST(reduced_statics_leave_a_ridge)
{
    sp_reduced_force valleys = {.r = 2, .evaluate = two_valleys};
    for (int side = -1; side <= 1; side += 2) {
        sp_system system;
        OWNED_POINTER(sp_integrator) *it = NULL;
        double start[2] = {side * 0.1 / sqrt(5) + 0.6 / sqrt(5),
                           side * 0.2 / sqrt(5) - 0.3 / sqrt(5)}; /* a = ±0.1, b = 0.3 */
        sp_integrator_parameters p = {.kind = SP_STATIC, .step = 1, .tolerance = 1e-10};
        CHECK_OK(sp_reduced_system_new(&context, &valleys, (double[]){1, 0, 0, 1}, NULL, 0, NULL, &system));
        sp_external_loads forcing = nothing(&system);
        CHECK_OK(sp_integrator_new(&context, &system, &forcing, &p, start, NULL, &it));
        if (!it) {
            sp_reduced_system_free(&system);
            return;
        }
        CHECK_OK(sp_integrator_step(it));
        CHECK_NEAR(sp_integrator_q(it)[0], side / sqrt(5), 1e-9);
        CHECK_NEAR(sp_integrator_q(it)[1], side * 2 / sqrt(5), 1e-9);
        CHECK(sp_integrator_reported(it)->indefinite > 0, "no matrix was indefinite");
        sp_reduced_system_free(&system);
    }
}

/* One coordinate with two wells, W = q⁴/4 − q²/2. Its matrix cannot be factored for |q| > 2, as a matrix lost to
 * rounding. */
typedef struct wells {
    double matrix;
    bool far;
} wells;

static double wells_force(void *self, const double *q, double *f)
{
    (void)self;
    if (f)
        f[0] = pow(q[0], 3) - q[0];
    return pow(q[0], 4) / 4 - q[0] * q[0] / 2;
}

static void wells_start(void *self, double mass_scale)
{
    *(wells *)self = (wells){mass_scale, false};
}

static double wells_add(void *self, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    wells *w = self;
    (void)spring_scale;
    w->matrix += scale * (3 * q[0] * q[0] - !definite);
    w->far |= fabs(q[0]) > 2;
    return wells_force(self, q, f);
}

static int wells_factor(void *self)
{
    const wells *w = self;
    return w->far || w->matrix <= 0 ? sp_fail(&context, SP_NUMERICAL, "not positive definite") : SP_OK;
}

static int wells_solve(void *self, const double *b, double *x)
{
    x[0] = b[0] / ((const wells *)self)->matrix;
    return SP_OK;
}

static void half_a_newton(void *self, double t0, double t1, double *f)
{
    (void)self, (void)t0, (void)t1;
    f[0] = 0.5;
}

/* The load exceeds 2/√27, the load of the limit point: the state has to jump to the other well, where q³ − q = ½. Whole
 * Newton steps lead to 3.7, where the matrix cannot be factored. The line search has to reach the equilibrium without
 * dividing the load. */
TEST(whole_steps_that_lead_too_far)
{
    wells w = {0};
    sp_system system = {.self = &w,
                        .n = 1,
                        .force = wells_force,
                        .matrix_start = wells_start,
                        .matrix_add = wells_add,
                        .matrix_factor = wells_factor,
                        .matrix_solve = wells_solve};
    sp_external_loads forcing = {.mean = half_a_newton, .springs = no_springs};
    sp_integrator_parameters parameters = {.kind = SP_STATIC, .step = 1};
    OWNED_POINTER(sp_integrator) *it;
    double start = -1, root = 1.1914878839531187;
    CHECK_NEAR(pow(root, 3) - root, 0.5, 1e-15);
    CHECK_OK(sp_integrator_new(&context, &system, &forcing, &parameters, &start, NULL, &it));
    CHECK_OK(sp_integrator_step(it));
    CHECK_NEAR(sp_integrator_q(it)[0], root, 1e-9);
    CHECK(sp_integrator_reported(it)->load_steps == 1, "%lld parts of the load",
          (long long)sp_integrator_reported(it)->load_steps);
}

/* The active intervals are those that a check of every interval finds, in the same order, at times that advance, go
 * back, jump far, and coincide with ends. */
TEST(intervals_are_found_without_visiting_each)
{
    enum { COUNT = 700, QUESTIONS = 20000 };
    static double start[COUNT], end[COUNT];
    OWNED(sp_pool) pool = {0};
    sp_intervals intervals;
    for (int i = 0; i < COUNT; i++) { /* multiples of 1/64: many are equal, and queries coincide with them */
        start[i] = floor(6400 * sp_random_uniform(3, 1, (uint64_t)i)) / 64;
        end[i] = i % 97 == 0 ? INFINITY
                             : start[i] + (1 + floor((i % 5 ? 100 : 6400) * sp_random_uniform(3, 2, (uint64_t)i))) / 64;
    }
    sp_intervals_new(&pool, COUNT, start, end, &intervals);
    CHECK(!pool.failed, "no memory");
    double t = 0;
    int64_t wrong = 0;
    for (uint64_t k = 0; k < QUESTIONS; k++) {
        const double dice = sp_random_uniform(3, 3, k), step = floor(4 * sp_random_uniform(3, 4, k)) / 64;
        t = dice < 0.01 ? floor(14000 * sp_random_uniform(3, 5, k)) / 64 - 5 : dice < 0.3 ? t - step : t + step;
        const double t1 = k % 1000 == 0 ? INFINITY : t + floor(3 * sp_random_uniform(3, 6, k)) / 64;
        sp_intervals_find(&intervals, t, t1);
        int64_t count = 0;
        bool right = true;
        for (int64_t i = 0; i < COUNT; i++)
            if (start[i] <= t1 && end[i] > t) {
                right &= count < intervals.acting_count && intervals.acting[count] == i;
                count++;
            }
        wrong += !right || count != intervals.acting_count;
    }
    CHECK(wrong == 0, "%lld of %d answers are wrong", (long long)wrong, QUESTIONS);
}

/* The mean load of steps and of parts of steps equals, to the last bit, the sum over all loads in their order; the same
 * for springs. */
TEST(many_loads_add_up_in_their_order)
{
    enum { COUNT = 300 };
    static sp_load loads[COUNT];
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    FREED_BY(sp_full_system_free) sp_system system;
    OWNED(sp_load_set) loading;
    make_box(2, 1, 1, 0.2, 0.1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_full_system_new(&context, &body, false, false, NULL, &system));
    for (int i = 0; i < COUNT; i++) {
        const double from = floor(90 * sp_random_uniform(4, 1, (uint64_t)i)) / 100;
        loads[i] =
            (sp_load){from,
                      i % 50 == 0 ? INFINITY : from + 0.01 + floor(20 * sp_random_uniform(4, 2, (uint64_t)i)) / 100,
                      i % 3 == 0   ? SP_LOAD_SPRING
                      : i % 7 == 0 ? SP_LOAD_PRESSURE
                                   : SP_LOAD_VERTEX,
                      i % 7 == 0 && i % 3 ? -1 : i % mesh.vertex_count,
                      {sp_random_uniform(4, 3, (uint64_t)i), sp_random_uniform(4, 4, (uint64_t)i), 0.1},
                      .stiffness = i % 3 == 0 ? 10 + i : 0};
    }
    CHECK_OK(sp_load_set_new(&context, &body, NULL, 0, COUNT, loads, (double[]){0, 0, -9.81}, &system, &loading));
    sp_external_loads forcing = sp_load_set_external(&loading);
    const int64_t n = system.n;
    double *f = test_new(n, 8), *expected = test_new(n, 8);
    for (int k = 0; k < 400; k++) {
        const double step = 0.01 / (1 << k % 4),
                     t0 = 0.01 * (k < 150   ? k
                                  : k < 250 ? 250 - k
                                            : (k * 37) % 130),
                     t1 = t0 + step, middle = 0.5 * (t0 + t1);
        forcing.mean(forcing.self, t0, t1, f);
        memcpy(expected, loading.gravity, (size_t)n * 8);
        for (int64_t l = 0; l < loading.force_count; l++) {
            double share = (fmin(t1, loading.loads[l]->end) - fmax(t0, loading.loads[l]->start)) / (t1 - t0);
            for (int64_t i = 0; i < n && share >= 1e-12; i++)
                expected[i] += (share > 1 - 1e-12 ? 1 : share) * loading.columns[n * l + i];
        }
        CHECK(!memcmp(f, expected, (size_t)n * 8), "other bits from %g to %g s", t0, t1);
        forcing.springs(forcing.self, t0, t1);
        int64_t acting = 0;
        for (int l = 0; l < COUNT; l++)
            if (loads[l].kind == SP_LOAD_SPRING && loads[l].start <= middle && middle < loads[l].end) {
                CHECK(acting < loading.acting_count && loading.acting[acting].vertex == loads[l].id &&
                          loading.acting[acting].stiffness == loads[l].stiffness,
                      "spring %lld at %g s", (long long)acting, middle);
                acting++;
            }
        CHECK(acting == loading.acting_count, "%lld springs act, %lld expected", (long long)loading.acting_count,
              (long long)acting);
    }
}

BEFORE_TESTS()
{
    context.threads = 2;
}
