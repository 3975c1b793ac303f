/* Full-order systems on ground planes with friction. */
#include "full_models.h"

/* ---- ground planes ---- */

static double ground_push(const thing *t, const double *q, double kappa)
{
    double push = 0;
    for (int64_t i = 0; i < t->n; i++)
        if (t->body.free[i] % 3 == 2)
            push += kappa * fmax(0, 1e-9 - t->mesh.vertices[t->body.free[i]] - q[i]);
    return push;
}

TEST(bodies_rest_on_grounds)
{
    for (int linear = 0; linear < 2; linear++) {
        OWNED(thing) t;
        const double kappa = 2e3;
        drive d = {.t = &t};
        d.force = block_on_ground(&t, 2, (build){.linear = linear, .young = 1e5, .poisson = 0.2}, 0, kappa, 0.3, 0);
        const sp_external_loads forcing = driven(&d, false);
        OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, with(SP_STATIC, 1), NULL, NULL);
        steps(it, 5); /* its feet spread, and their anchors are renewed each time */
        CHECK_NEAR(ground_push(&t, sp_integrator_q(it), kappa), gravity, 1e-8 * gravity); /* 1 kg */
    }
    /* as good as rigid: depth = weight / (4 κ) at each corner */
    OWNED(thing) t;
    const double kappa = 1e3;
    drive d = {.t = &t};
    d.force = block_on_ground(&t, 1, (build){.young = 1e11, .poisson = 0.2}, 0, kappa, 0.1, 0);
    const sp_external_loads forcing = driven(&d, false);
    OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, with(SP_STATIC, 1), NULL, NULL);
    steps(it, 2);
    for (int64_t v = 0; v < 4; v++)
        CHECK_NEAR(1e-9 - sp_integrator_q(it)[3 * v + 2], gravity / (4 * kappa), 1e-6 * gravity / (4 * kappa));
}

/* Energy → force → stiffness by differences, away from the surface; two ground planes in a corner, one with and one
 * without α. */
TEST(ground_derivatives)
{
    thing t;
    make_thing(2, 1, 1, 0.1, 0, (build){.linear = true, .loose = true}, &t);
    CHECK_OK(sp_full_system_grounds(
        &t.system, 2, (sp_ground[]){{{0.36, 0.48, 0.8}, 0.09, 500, 0.25, 0}, {{-1, 0, 0}, -0.15, 800, 0, 0}}));
    double *q = vector(&t, t.n), *f = vector(&t, t.n), *f0 = vector(&t, t.n), *x = vector(&t, t.n),
           *u = vector(&t, t.rows), *y = vector(&t, t.n), *z = vector(&t, t.n);
    t.system.vertices.begin(t.system.self, q);
    random_field(t.n, 5, q);
    for (int64_t i = 0; i < t.n; i++)
        q[i] *= 1e-4;
    double smallest = INFINITY;
    for (int64_t v = 0; v < t.mesh.vertex_count; v++) {
        const double *X = t.mesh.vertices + 3 * v;
        smallest = fmin(smallest, fmin(fabs(0.36 * X[0] + 0.48 * X[1] + 0.8 * X[2] - 0.09), fabs(0.15 - X[0])));
    }
    CHECK(smallest > 1e-3, "a vertex at the surface: %g", smallest);
    random_field(t.n, 6, x);
    /* differences of a quadratic are exact to rounding */
    const double s = 1e-4;
    double energy[2];
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < t.n; i++)
            y[i] = q[i] + (side ? -s : s) * x[i];
        energy[side] = t.system.force(t.system.self, y, side ? f0 : f);
    }
    for (int64_t i = 0; i < t.n; i++)
        y[i] = (f[i] - f0[i]) / (2 * s);
    t.system.force(t.system.self, q, f0);
    CHECK_NEAR((energy[0] - energy[1]) / (2 * s), dot_product(t.n, f0, x), 1e-9 * fabs(dot_product(t.n, f0, x)));
    t.system.matrix_start(t.system.self, 2); /* (2 M + K + K_g) x by the force, solved back */
    t.system.matrix_add(t.system.self, q, 1, 1, false, NULL);
    CHECK_OK(t.system.matrix_factor(t.system.self));
    t.system.mass_times(t.system.self, x, z);
    for (int64_t i = 0; i < t.n; i++)
        z[i] = 2 * z[i] + y[i];
    CHECK_OK(t.system.matrix_solve(t.system.self, z, f));
    CHECK(max_difference(t.n, f, x) <= 1e-8, "stiffness off by %g", max_difference(t.n, f, x));
    /* and its products */
    const sp_supports *supports = sp_full_system_supports(&t.system);
    double *product = vector(&t, t.n);
    sp_fe_space_scatter(&t.body, x, u);
    t.system.tangent_times(t.system.self, q, x, product);
    double *full = vector(&t, t.rows);
    sp_fe_space_scatter(&t.body, q, full);
    sp_supports_grounds_times(supports, full, 1, u, product);
    CHECK(max_difference(t.n, product, y) <= 1e-8 * max_abs(t.n, y), "products off by %g of %g",
          max_difference(t.n, product, y), max_abs(t.n, y));
    thing_free(&t);
    /* invalid numbers */
    const sp_ground wrong[] = {{{0, 0, 0}, 0, 1, 0, 0},   {{0, 0, 1}, NAN, 1, 0, 0}, {{0, 0, 1}, 0, 0, 0, 0},
                               {{0, 0, 1}, 0, 1, 1.5, 0}, {{0, 0, 1}, 0, 1, 0, -1},  {{0, NAN, 1}, 0, 1, 0, 0}};
    make_thing(1, 1, 1, 0.1, 0, (build){.loose = true}, &t);
    for (size_t g = 0; g < sizeof wrong / sizeof *wrong; g++)
        CHECK(sp_full_system_grounds(&t.system, 1, &wrong[g]) == SP_USAGE, "ground %zu was taken", g);
    thing_free(&t);
}

/* A linear body that slides in a ground with α under Newmark's trapezoidal rule. As long as no vertex enters or leaves
 * contact, all forces of a step are linear. Energy is then conserved to rounding, except for the energy of the springs
 * to the anchors at the end of every step, which counts as dissipated. Also with friction, for either mass. */
TEST(energy_along_the_ground)
{
    for (int lumped = 0; lumped < 2; lumped++)
        for (int rough = 0; rough < 2; rough++) {
            OWNED(thing) t;
            const double kappa = 2e3, alpha = rough ? 0 : 0.2, h = 1e-3;
            drive d = {.t = &t};
            d.force = block_on_ground(&t, 2, (build){.linear = true, .lumped = lumped, .young = 1e6, .poisson = 0.3}, 0,
                                      kappa, alpha, rough ? 0.15 : 0);
            const sp_external_loads forcing = driven(&d, false);
            sp_integrator_parameters p = with(SP_NEWMARK, h);
            p.tolerance = 1e-13;
            double *q = resting_place(&t, kappa, 1);
            OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, q, uniform(&t, 0.1, 0.05, 0));
            const double start = balance(it);
            double e[SP_WORK_COUNT], worst = 0, before = 0, kinetic = 0;
            for (int s = 0; s < 60; s++) {
                steps(it, 1);
                sp_integrator_energies(it, e);
                kinetic = s ? kinetic : e[SP_WORK_KINETIC];
                for (int64_t i = 2; i < t.n; i += 3)
                    CHECK(t.mesh.vertices[t.body.free[i]] > 0 || sp_integrator_q(it)[i] < 0,
                          "a foot came off: this test is not of that");
                worst = fmax(worst, fabs(balance(it) - start));
                /* a consistent mass lets a vertex gain what its neighbour loses where they move against each other */
                CHECK(e[SP_WORK_DISSIPATED] >= before - (rough && !lumped ? 1e-3 * kinetic : 0), "drag gave %g J",
                      before - e[SP_WORK_DISSIPATED]);
                before = e[SP_WORK_DISSIPATED];
            }
            NOTE("%s%s: %.2g of %.2g J lost, balance %.1e", rough ? "friction" : "alpha", lumped ? ", lumped" : "",
                 before, kinetic, worst);
            CHECK(before > 0.1 * kinetic, "nothing was lost: %g of %g", before, kinetic);
            CHECK(worst <= 1e-9 * kinetic, "balance off by %g of %g J", worst, kinetic);
        }
}

/* A block at speed v comes to rest after v²/(2μg). Each step takes μgh off the speed at the start of its way or at the
 * end: h v/2 of the distance, and the last step is not whole; then halving h halves what is off. On a slope it speeds
 * up by g (sin − μ cos) where tan > μ. */
TEST(friction_stops_and_slides)
{
    static const struct {
        const char *name;
        enum sp_integrator_kind kind;
    } cases[] = {{"Newmark", SP_NEWMARK}, {"Euler", SP_EULER}, {"linearly implicit Euler", SP_LINEAR_EULER}};
    const double v = 0.5, mu = 0.4, kappa = 1e5, expected = v * v / (2 * mu * gravity);
    for (int c = 0; c < 3; c++) {
        double off[2];
        for (int fine = 0; fine < 2; fine++) {
            const double h = fine ? 5e-4 : 1e-3;
            OWNED(thing) t;
            drive d = {.t = &t};
            d.force = block_on_ground(&t, 1, (build){.lumped = true, .young = 1e7, .poisson = 0.3}, 0, kappa, 0, mu);
            const sp_external_loads forcing = driven(&d, false);
            sp_integrator_parameters p = with(cases[c].kind, h);
            p.damping_stiffness = 1e-3; /* otherwise it bounces */
            p.tolerance = 1e-9;
            double *q = resting_place(&t, kappa, 1);
            OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, q, uniform(&t, v, 0, 0));
            steps(it, (int64_t)(0.16 / h)); /* v/(μg) = 0.127 s */
            double way = 0;
            for (int64_t i = 0; i < t.n; i += 3)
                way += (sp_integrator_q(it)[i] - q[i]) / (double)t.mesh.vertex_count;
            off[fine] = way - expected;
            CHECK(max_abs(t.n, sp_integrator_v(it)) < 0.02 * v, "%s: still at %g m/s", cases[c].name,
                  max_abs(t.n, sp_integrator_v(it)));
        }
        NOTE("%s: stops after %.4f m + %.1e and %.1e m", cases[c].name, expected, off[0], off[1]);
        CHECK(fabs(off[1]) <= 0.75 * 5e-4 * v + 2e-3 * expected && off[0] / off[1] > 1.5 && off[0] / off[1] < 2.5,
              "%s: off by %g and %g of %g m", cases[c].name, off[0], off[1], expected);
    }
    /* tan 0.3: μ = 0.5 sticks. Positions of linearly implicit Euler follow the velocity after friction: nothing creeps
     * once the body has leaned. Of Euler they do not: the feet, half of the mass, are stopped after each step in which
     * the whole body, as good as rigid, has taken half of its speed and g sin h more: it creeps at 2 g sin h. With μ =
     * 0.1 both slide */
    const double slope = atan(0.3), h = 1e-3;
    for (int c = 1; c < 3; c++)
        for (int slides = 0; slides < 2; slides++) {
            OWNED(thing) t;
            drive d = {.t = &t};
            d.force = block_on_ground(&t, 1, (build){.lumped = true, .young = 1e7, .poisson = 0.3}, slope, kappa, 0,
                                      slides ? 0.1 : 0.5);
            const sp_external_loads forcing = driven(&d, false);
            sp_integrator_parameters p = with(cases[c].kind, h);
            p.damping_stiffness = 1e-3;
            p.tolerance = 1e-9;
            double *q = resting_place(&t, kappa, cos(slope)), at[2] = {0}, speed = 0;
            OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, q, NULL);
            for (int part = 0; part < 2; part++) {
                steps(it, 100);
                for (int64_t i = 0; i < t.n; i += 3) {
                    at[part] += sp_integrator_q(it)[i] / (double)t.mesh.vertex_count;
                    speed += part * sp_integrator_v(it)[i] / (double)t.mesh.vertex_count;
                }
            }
            const double creep = (at[1] - at[0]) / 0.1, pull = gravity * (sin(slope) - 0.1 * cos(slope));
            NOTE("%s, %s: creeps at %.2e m/s (2 g sin h = %.2e), speed %.3f m/s", cases[c].name,
                 slides ? "mu 0.1" : "mu 0.5", creep, 2 * gravity * sin(slope) * h, speed);
            if (slides)
                CHECK_NEAR(speed, pull * 0.2, 0.02 * pull * 0.2);
            else if (c == 1)
                CHECK_NEAR(creep, 2 * gravity * sin(slope) * h, 0.02 * 2 * gravity * sin(slope) * h);
            else
                CHECK(fabs(creep) <= 1e-6, "creeps at %g m/s", creep);
        }
}

/* A soft body dropped at an angle on a rough ground: it bounces, stays finite, and never gains energy. */
TEST(bouncing_stays_finite)
{
    for (int c = 0; c < 3; c++) {
        OWNED(thing) t;
        drive d = {.t = &t};
        const enum sp_integrator_kind kinds[] = {SP_EULER, SP_LINEAR_EULER, SP_NEWMARK};
        make_thing(1, 1, 2, 0.1, 0.1, (build){.loose = true, .young = 3e4, .poisson = 0.3}, &t);
        CHECK_OK(sp_full_system_grounds(
            &t.system, 2, (sp_ground[]){{{0.1, 0, 1}, -0.2, 2e3, 0.1, 0.5}, {{-1, 0, 0}, -0.3, 2e3, 0.1, 0.5}}));
        d.force = weight(&t, 0, 0, -gravity);
        const sp_external_loads forcing = driven(&d, false);
        sp_integrator_parameters p = with(kinds[c], 4e-3);
        p.halvings = 6;
        p.damping_stiffness = c == 2 ? 2e-3 : 0;
        OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, NULL, uniform(&t, 1, 0.2, 0));
        double e[SP_WORK_COUNT], most = 0, first = 0, lowest = 0;
        sp_integrator_energies(it, e);
        first = e[0];
        for (int s = 0; s < 300; s++) {
            steps(it, 1);
            sp_integrator_energies(it, e);
            CHECK(isfinite(e[0] + e[1] + e[2] + e[3]), "energies %g %g %g %g", e[0], e[1], e[2], e[3]);
            lowest = fmin(lowest, -e[2]);
            most = fmax(most, e[0] + e[1] - e[2]); /* work of gravity */
        }
        /* linearly implicit steps may gain a little energy when contact begins; implicit Euler must not */
        NOTE("integrator %d: energy at most %.4f of the first, fell by %.2f J, %lld steps in parts", (int)kinds[c],
             most / first, -lowest, (long long)sp_integrator_reported(it)->parted);
        CHECK(most <= first * (kinds[c] == SP_EULER ? 1 + 1e-9 : 1.1), "energy rose from %g to %g J", first, most);
        CHECK(lowest < -first, "never fell: %g of %g J", lowest, first);
    }
}
