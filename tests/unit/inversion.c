/* Motion and statics of all laws under loads with large deflections and with inverted elements. */
#include "assembly/elastic.h"
#include "fixture.h"
#include "integrate/integrate.h"
#include "model/models.h"

OWNER(sp_integrator)

/* ---- bodies with a force that acts until `until` ---- */

typedef struct scene {
    sp_mesh mesh;
    sp_fe_space body;
    sp_system system;
    double *load; /* [dof_count] N */
    double until; /* s */
} scene;

static void pull(void *self, double t0, double t1, double *f)
{
    const scene *s = self;
    double part = t1 <= s->until ? 1 : t0 >= s->until ? 0 : (s->until - t0) / (t1 - t0);
    for (int64_t i = 0; i < s->system.n; i++)
        f[i] = part * s->load[i];
}

static void finish_scene(scene *s, enum sp_law law, int held_axis)
{
    int64_t added;
    double normal[3] = {0};
    normal[held_axis] = 1;
    s->until = INFINITY;
    s->mesh.quadrature = 2;
    s->mesh.materials[0].law = law;
    memcpy(s->mesh.materials[0].mooney, (double[]){1e5, 1e5, 5e5}, 3 * sizeof(double));
    CHECK_OK(sp_mesh_fix_half_space(&context, &s->mesh, normal, 0.01, 7, &added));
    CHECK_OK(sp_fe_space_new(&context, &s->mesh, &s->body));
    CHECK_OK(sp_full_system_new(&context, &s->body, false, false, NULL, &s->system));
    s->load = test_new(s->body.dof_count, 8);
}

/* 6 × 2 × 2 hexahedra of 0.1 m, or tetrahedra of them, fixed at x = 0; `force` N upwards, spread over the 9 vertices of
 * the other end. */
static void make_cantilever(scene *s, enum sp_law law, bool cut, double force)
{
    *s = (scene){0};
    make_box(6, 2, 2, 0.1, 0, &s->mesh);
    if (cut)
        split_mesh(&s->mesh);
    finish_scene(s, law, 0);
    for (int64_t v = 6; v < s->mesh.vertex_count; v += 7)
        s->load[s->body.dof[3 * v + 2]] = force / 9;
}

/* 4 × 4 × 3 hexahedra of 0.1 m, fixed at z = 0; `force` N down on the middle of the top. */
static void make_block(scene *s, enum sp_law law, double force)
{
    *s = (scene){0};
    make_box(4, 4, 3, 0.1, 0, &s->mesh);
    finish_scene(s, law, 2);
    s->load[s->body.dof[3 * (3 * 25 + 12) + 2]] = -force;
}

static void scene_free(scene *s)
{
    sp_full_system_free(&s->system);
    sp_fe_space_free(&s->body);
    sp_mesh_free(&s->mesh);
}

/* The number of inverted elements at q. */
static int64_t inside_out(const scene *s, const double *q)
{
    sp_mesh moved = s->mesh;
    int64_t rows = 3 * s->mesh.vertex_count;
    double *x = test_new(rows, 8);
    sp_fe_space_scatter(&s->body, q, x);
    for (int64_t i = 0; i < rows; i++)
        x[i] += s->mesh.vertices[i];
    moved.vertices = x;
    int64_t count = sp_mesh_inverted(&moved, false);
    return count;
}

static bool all_finite(int64_t count, const double *x)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static double furthest(int64_t count, const double *x)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* ---- large deflection: the energy balance is of second order in the step ---- */

static double energy_error(scene *s, double step, double *reach, double *iterations)
{
    sp_external_loads forcing = {.self = s, .mean = pull};
    sp_integrator_parameters parameters = {
        .kind = SP_NEWMARK, .step = step, .beta = 0.25, .gamma = 0.5, .damping_mass = 0.5, .damping_stiffness = 1e-3};
    OWNED_POINTER(sp_integrator) *it;
    double energy[SP_WORK_COUNT], most = 0, worst = 0;
    int64_t steps = llround(0.12 / step);
    *reach = 0;
    CHECK_OK(sp_integrator_new(&context, &s->system, &forcing, &parameters, NULL, NULL, &it));
    for (int64_t k = 0; k < steps; k++) {
        CHECK_OK(sp_integrator_step(it));
        sp_integrator_energies(it, energy);
        most = fmax(most, fabs(energy[2]));
        worst = fmax(worst, fabs(energy[0] + energy[1] - energy[2] + energy[3]));
        *reach = fmax(*reach, furthest(s->system.n, sp_integrator_q(it)));
    }
    *iterations = (double)sp_integrator_reported(it)->newton_iterations / (double)steps;
    return worst / most;
}

TEST(bending_far)
{
    for (int law = SP_LAW_STVK; law < SP_LAW_COUNT; law++) {
        OWNED(scene) s = {0};
        double reach, iterations, error[2];
        if (law == SP_LAW_LINEAR)
            continue;
        make_cantilever(&s, (enum sp_law)law, law % 2, 500);
        for (int k = 0; k < 2; k++)
            error[k] = energy_error(&s, 2e-3 / (1 << k), &reach, &iterations);
        NOTE("%s: up to %.2f m, %.1f iterations a step, balance %.1e, %.1e", sp_law_name((enum sp_law)law), reach,
             iterations, error[0], error[1]);
        CHECK(reach > 0.15, "bent by %g m only", reach);
        CHECK(error[0] < 0.05 && error[1] < 0.35 * error[0], "balance %g, %g", error[0], error[1]);
        CHECK(iterations < 8, "%g iterations a step", iterations);
    }
}

/* ---- inverted: E h² on one vertex, Young's modulus 1 MPa, elements of 0.1 m ---- */

static const double push = 1e4;

/* Statics under the push, then without it: back at rest, elements and all. */
TEST(statics)
{
    for (int law = SP_LAW_STVK; law < SP_LAW_COUNT; law++) {
        OWNED(scene) s = {0};
        OWNED_POINTER(sp_integrator) *it = NULL;
        if (law == SP_LAW_LINEAR)
            continue;
        make_block(&s, (enum sp_law)law, push);
        s.until = 1;
        sp_external_loads forcing = {.self = &s, .mean = pull};
        sp_integrator_parameters parameters = {.kind = SP_STATIC, .step = 1};
        CHECK_OK(sp_integrator_new(&context, &s.system, &forcing, &parameters, NULL, NULL, &it));
        CHECK_OK(sp_integrator_step(it));
        int64_t turned = inside_out(&s, sp_integrator_q(it));
        CHECK(sp_law_everywhere((enum sp_law)law) ? turned > 0 : turned == 0, "%s: %lld elements inside out",
              sp_law_name((enum sp_law)law), (long long)turned);
        CHECK_OK(sp_integrator_step(it));
        CHECK(furthest(s.system.n, sp_integrator_q(it)) < 1e-9, "%s: %g m from rest", sp_law_name((enum sp_law)law),
              furthest(s.system.n, sp_integrator_q(it)));
    }
}

/* Runs to the end or to the first failure; returns the status. The whole state must be finite. */
static int run(scene *s, sp_integrator_parameters parameters, int64_t steps, int64_t *most, int64_t *last,
               double *reach)
{
    sp_external_loads forcing = {.self = s, .mean = pull};
    OWNED_POINTER(sp_integrator) *it = NULL;
    double energy[SP_WORK_COUNT];
    *most = 0;
    CHECK_OK(sp_integrator_new(&context, &s->system, &forcing, &parameters, NULL, NULL, &it));
    int status = SP_OK;
    for (int64_t k = 0; k < steps && status == SP_OK; k++) {
        status = sp_integrator_step(it);
        *last = inside_out(s, sp_integrator_q(it));
        *most = *last > *most ? *last : *most;
        sp_integrator_energies(it, energy);
        CHECK(all_finite(s->system.n, sp_integrator_q(it)) && all_finite(s->system.n, sp_integrator_v(it)) &&
                  all_finite(SP_WORK_COUNT, energy),
              "not finite");
    }
    *reach = furthest(s->system.n, sp_integrator_q(it));
    const sp_integrator_report *r = sp_integrator_reported(it);
    NOTE("%s: %lld steps, at most %lld inside out, %lld iterations, %lld halvings; in the end %lld inside out, %.2g m "
         "from rest",
         sp_law_name(s->mesh.materials[0].law), (long long)r->steps, (long long)*most, (long long)r->newton_iterations,
         (long long)r->halvings, (long long)*last, *reach);
    return status;
}

/* The push for 0.03 s, then mass damping. dt = 10 ms is several periods of an element, where whole Newton steps without
 * a line search on the potential diverge. */
TEST(dynamics)
{
    for (int law = SP_LAW_NEO_HOOKEAN; law < SP_LAW_COUNT; law++)
        for (int large = 0; large < 2; large++) {
            OWNED(scene) s;
            int64_t most, last;
            double reach;
            make_block(&s, (enum sp_law)law, large ? 2 * push : push);
            s.until = 0.03;
            sp_integrator_parameters parameters = {
                .kind = SP_NEWMARK, .step = large ? 0.01 : 2e-3, .beta = 0.25, .gamma = 0.5, .damping_mass = 40};
            int status = run(&s, parameters, large ? 50 : 80, &most, &last, &reach);
            CHECK(status == SP_OK, "%s", context.message);
            CHECK(last == 0 && reach < 0.02, "%s: %lld inside out, %g m from rest", sp_law_name((enum sp_law)law),
                  (long long)last, reach);
            if (law == SP_LAW_COROTATIONAL || law == SP_LAW_STABLE_NEO_HOOKEAN)
                CHECK(most > 0, "%s: nothing was turned", sp_law_name((enum sp_law)law));
        }
}

/* A step that cannot be solved ends with one line that names an element, and the previous state stays. */
TEST(failures)
{
    const sp_integrator_parameters parameters[] = {
        {.kind = SP_NEWMARK, .step = 2e-3, .beta = 0.25, .gamma = 0.5, .semi_implicit = true},
        {.kind = SP_CENTRAL, .step = 6e-4},
        {.kind = SP_NEWMARK, .step = 2e-3, .beta = 0.25, .gamma = 0.5, .iterations = 4},
        {.kind = SP_STATIC, .step = 1, .iterations = 2},
    };
    const double force[] = {push, 5 * push, 20 * push, 1e4 * push};
    for (int k = 0; k < 4; k++) {
        OWNED(scene) s;
        int64_t most, last;
        double reach;
        make_block(&s, SP_LAW_NEO_HOOKEAN, force[k]);
        int status = run(&s, parameters[k], 40, &most, &last, &reach);
        NOTE("%s", context.message);
        CHECK(status == SP_NUMERICAL, "status %d", status);
        CHECK(strstr(context.message, "invert") && strstr(context.message, "element ") &&
                  strstr(context.message, "stable-neo-hookean"),
              "%s", context.message);
    }
}

/* Simpson's rule along the step is exact for cubic forces only. */
TEST(energy_step_wants_cubic_forces)
{
    for (int law = SP_LAW_STVK; law < SP_LAW_COUNT; law++) {
        OWNED(scene) s = {0};
        sp_integrator *it;
        if (law == SP_LAW_LINEAR)
            continue;
        make_block(&s, (enum sp_law)law, push);
        sp_external_loads forcing = {.self = &s, .mean = pull};
        sp_integrator_parameters parameters = {.kind = SP_ENERGY, .step = 1e-3};
        int status = sp_integrator_new(&context, &s.system, &forcing, &parameters, NULL, NULL, &it);
        CHECK(status == (law == SP_LAW_STVK ? SP_OK : SP_USAGE), "%s: status %d", sp_law_name((enum sp_law)law),
              status);
        if (status == SP_OK)
            sp_integrator_free(it);
    }
}
