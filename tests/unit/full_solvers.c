/* Solvers and sub-stepping of full-order systems. */
#include "full_models.h"

/* ---- solvers ---- */

TEST(solvers_agree)
{
    static const char *const name[] = {"direct", "Jacobi", "reused"};
    OWNED(thing) t;
    make_thing(6, 2, 2, 0.05, 0.1, (build){.young = 5e4, .poisson = 0.3}, &t);
    drive d = {.t = &t, .force = weight(&t, 0, 2, -9.81), .swing = 20};
    const sp_external_loads forcing = driven(&d, false);
    double *direct = vector(&t, t.n);
    for (int solver = SP_SOLVER_DIRECT; solver <= SP_SOLVER_REUSED; solver++) {
        sp_integrator_parameters p = with(SP_NEWMARK, 4e-3);
        int64_t before[3], solves, products, factorizations;
        p.damping_stiffness = 1e-3;
        CHECK_OK(sp_full_system_solver(&t.system, (enum sp_solver)solver, 0));
        sp_full_system_solves(&t.system, &before[0], &before[1], &before[2]);
        OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, NULL, bend(&t, 20));
        steps(it, 25);
        sp_full_system_solves(&t.system, &solves, &products, &factorizations);
        solves -= before[0], products -= before[1], factorizations -= before[2];
        const sp_integrator_report *report = sp_integrator_reported(it);
        NOTE("%s: %lld iterations, %lld solves, %lld products, %lld factorizations", name[solver],
             (long long)report->newton_iterations, (long long)solves, (long long)products, (long long)factorizations);
        if (solver == SP_SOLVER_DIRECT) {
            memcpy(direct, sp_integrator_q(it), (size_t)t.n * 8);
            CHECK(solves == 0 && products == 0 && factorizations == report->factorizations, "counts");
        } else {
            const double off = max_difference(t.n, sp_integrator_q(it), direct);
            CHECK(off <= 1e-9 * max_abs(t.n, direct), "%s: off by %g of %g", name[solver], off, max_abs(t.n, direct));
            CHECK(solves == report->newton_iterations && products >= solves, "%lld solves for %lld iterations",
                  (long long)solves, (long long)report->newton_iterations);
            CHECK(solver == SP_SOLVER_JACOBI ? factorizations == 0 : factorizations >= 1 && factorizations < solves / 2,
                  "%lld factorizations in %lld solves", (long long)factorizations, (long long)solves);
            CHECK(report->newton_iterations <= 25 * 6, "%lld iterations: inexact steps",
                  (long long)report->newton_iterations);
        }
    }
    /* linear response by the factor, for any solver of the steps; with another matrix than the factor that is kept */
    double *q = bend(&t, 1), *b = weight(&t, 1, 2, 3), *zero = vector(&t, t.n), *x = vector(&t, t.n),
           *other = vector(&t, t.n);
    CHECK_OK(sp_full_system_solver(&t.system, SP_SOLVER_DIRECT, 0));
    CHECK_OK(sp_full_system_respond(&t.system, 1, b, x));
    for (int solver = SP_SOLVER_JACOBI; solver <= SP_SOLVER_REUSED; solver++) {
        CHECK_OK(sp_full_system_solver(&t.system, (enum sp_solver)solver, 0));
        t.system.matrix_start(t.system.self, 1e6);
        t.system.matrix_add(t.system.self, q, 1, 1, false, NULL);
        CHECK_OK(t.system.matrix_factor(t.system.self));
        CHECK_OK(t.system.matrix_solve(t.system.self, b, other));
        CHECK_OK(sp_full_system_respond(&t.system, 1, b, other));
        CHECK(max_difference(t.n, other, x) <= 1e-13 * max_abs(t.n, x), "%s: response off by %g of %g", name[solver],
              max_difference(t.n, other, x), max_abs(t.n, x));
    }
    /* a stale factor: a new one is made, and the solution is found */
    int64_t solves, products, before, after;
    CHECK_OK(sp_full_system_solver(&t.system, SP_SOLVER_REUSED, 1e-12));
    for (int k = 0; k < 3; k++) {
        t.system.matrix_start(t.system.self, k ? 0 : 1e9);
        t.system.matrix_add(t.system.self, zero, 1, 1, false, NULL);
        sp_full_system_solves(&t.system, &solves, &products, &before);
        CHECK_OK(t.system.matrix_factor(t.system.self));
        CHECK_OK(t.system.matrix_solve(t.system.self, b, other));
        sp_full_system_solves(&t.system, &solves, &products, &after);
        CHECK(after - before == (k < 2), "solve %d: %lld factorizations", k, (long long)(after - before));
    }
}

/* A column under so much load that K becomes indefinite: iterative solvers detect that, Newton's method continues with
 * the definite matrix, and all end in the same buckled shape. */
TEST(buckling_is_found_out)
{
    OWNED(thing) t;
    make_thing(8, 1, 1, 0.05, 0, (build){.young = 1e5, .poisson = 0.2}, &t);
    double *q = vector(&t, t.n), *b = vector(&t, t.n), *x = vector(&t, t.n), *direct = vector(&t, t.n);
    for (int64_t i = 0; i < t.n; i++) /* compressed by a quarter */
        q[i] = t.body.free[i] % 3 ? 0 : -0.25 * t.mesh.vertices[t.body.free[i]];
    random_field(t.n, 9, b);
    for (int solver = SP_SOLVER_DIRECT; solver <= SP_SOLVER_REUSED; solver++) {
        CHECK_OK(sp_full_system_solver(&t.system, (enum sp_solver)solver, 0));
        t.system.matrix_start(t.system.self, 1e9); /* REUSED has a good factor of another matrix */
        t.system.matrix_add(t.system.self, q, 1, 1, false, NULL);
        CHECK_OK(t.system.matrix_factor(t.system.self));
        t.system.matrix_start(t.system.self, 0);
        t.system.matrix_add(t.system.self, q, 1, 1, false, NULL);
        int status = t.system.matrix_factor(t.system.self);
        CHECK(solver == SP_SOLVER_DIRECT ? status == SP_NUMERICAL : true, "an indefinite matrix was factored");
        if (status == SP_OK)
            status = t.system.matrix_solve(t.system.self, b, x);
        CHECK(status == SP_NUMERICAL, "solver %d took an indefinite matrix", solver);
    }
    /* twice the Euler load of a column clamped at one end, π² E I / (4 L²), at a small angle, followed in time */
    double section = 0.05 * 0.05, load = 2 * 9.8696 * 1e5 * section * section / 12 / (4 * 0.4 * 0.4);
    for (int kind = 0; kind < 2; kind++)
        for (int solver = SP_SOLVER_DIRECT; solver <= SP_SOLVER_REUSED; solver++) {
            drive d = {.t = &t};
            double *force = vector(&t, t.n);
            for (int64_t i = 0; i < t.n; i++)
                if (t.mesh.vertices[t.body.free[i] / 3 * 3] > 0.39)
                    force[i] = (t.body.free[i] % 3 == 0 ? -1 : t.body.free[i] % 3 == 2 ? 0.02 : 0) * load / 4;
            d.force = force;
            const sp_external_loads forcing = driven(&d, false);
            CHECK_OK(sp_full_system_solver(&t.system, (enum sp_solver)solver, 0));
            sp_integrator_parameters p = with(kind ? SP_LINEAR_EULER : SP_STATIC, kind ? 0.05 : 1);
            p.damping_mass = kind ? 5 : 0;
            OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, kind ? q : NULL, NULL);
            steps(it, kind ? 3 : 1);
            CHECK(sp_integrator_reported(it)->indefinite > 0, "kind %d, solver %d: nothing was indefinite", kind,
                  solver);
            if (solver == SP_SOLVER_DIRECT)
                memcpy(direct, sp_integrator_q(it), (size_t)t.n * 8);
            const double off = max_difference(t.n, sp_integrator_q(it), direct);
            NOTE("%s, solver %d: %g m, %lld of %lld matrices indefinite", kind ? "linearly implicit Euler" : "statics",
                 solver, max_abs(t.n, direct), (long long)sp_integrator_reported(it)->indefinite,
                 (long long)sp_integrator_reported(it)->factorizations);
            CHECK(off <= 1e-6 * max_abs(t.n, direct), "kind %d, solver %d: off by %g of %g m", kind, solver, off,
                  max_abs(t.n, direct));
            CHECK(kind || max_abs(t.n, direct) > 0.05, "nothing buckled: %g m", max_abs(t.n, direct));
        }
}

/* Anchors that move leave the matrix of a linear system as it is; stiffnesses and vertices do not. */
TEST(springs_keep_a_linear_factor)
{
    OWNED(thing) t;
    make_thing(3, 1, 1, 0.1, 0.1, (build){.linear = true}, &t);
    double *q = bend(&t, 0.1), *f = vector(&t, t.n), *x = vector(&t, t.n), *zero = vector(&t, t.n),
           *product = vector(&t, t.n);
    sp_spring spring[6];
    const int64_t expected[6] = {1, 1, 2, 3, 4, 4}; /* anchor; stiffness; vertex; none; none again */
    for (int k = 0; k < 6; k++) {
        int64_t solves, products, factorizations;
        spring[k] = (sp_spring){k < 3 ? 7 : 6, {0.1 * k, 0, 0}, k < 2 ? 300 : 500};
        t.system.set_springs(t.system.self, k < 4, k < 4 ? &spring[k] : NULL);
        t.system.matrix_start(t.system.self, 100);
        t.system.matrix_add(t.system.self, q, 0.5, 2, false, NULL);
        CHECK_OK(t.system.matrix_factor(t.system.self));
        sp_full_system_solves(&t.system, &solves, &products, &factorizations);
        CHECK(factorizations == expected[k], "change %d: %lld factorizations", k, (long long)factorizations);
        /* S q = 100 M q + ½ K q + 2 K_s q */
        t.system.mass_times(t.system.self, q, f);
        t.system.tangent_times(t.system.self, zero, q, product);
        for (int64_t i = 0; i < t.n; i++)
            f[i] = 100 * f[i] + 0.5 * product[i] +
                   (k < 4 && t.body.free[i] / 3 == spring[k].vertex ? 2 * spring[k].stiffness * q[i] : 0);
        CHECK_OK(t.system.matrix_solve(t.system.self, f, x));
        CHECK(max_difference(t.n, x, q) <= 1e-11 * max_abs(t.n, q), "change %d: off by %g", k,
              max_difference(t.n, x, q));
    }
    /* along a motion whose anchor moves in every step */
    drive d = {.t = &t, .spring = {11, {0.5, 0.1, 0.2}, 400}, .spring_speed = 0.3};
    const sp_external_loads forcing = driven(&d, false);
    OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, with(SP_EULER, 1e-2), NULL, NULL);
    int64_t solves, products, before, after;
    steps(it, 1);
    sp_full_system_solves(&t.system, &solves, &products, &before);
    steps(it, 10);
    sp_full_system_solves(&t.system, &solves, &products, &after);
    CHECK(after == before, "%lld factorizations in 10 steps", (long long)(after - before));
}

/* A linear body on a ground with damping βK: the matrix has the ground's stiffness, undamped, where the body is. One
 * iteration then solves a step in which no vertex comes or goes. */
TEST(grounds_of_linear_bodies_under_damping)
{
    OWNED(thing) t;
    drive d = {.t = &t};
    d.force = block_on_ground(&t, 2, (build){.linear = true, .young = 1e5, .poisson = 0.3}, 0, 5e3, 0.1, 0);
    const sp_external_loads forcing = driven(&d, false);
    sp_integrator_parameters p = with(SP_NEWMARK, 2e-3);
    p.damping_stiffness = 1e-3;
    double *q = resting_place(&t, 5e3, 1);
    OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, q, uniform(&t, 0.2, 0, -0.001));
    steps(it, 20);
    NOTE("%lld iterations in 20 steps", (long long)sp_integrator_reported(it)->newton_iterations);
    CHECK(sp_integrator_reported(it)->newton_iterations <= 20 * 1 + 2, "%lld iterations in 20 steps",
          (long long)sp_integrator_reported(it)->newton_iterations);
}

/* ---- sub-stepping ---- */

/* Quarters because halves fail: the same bytes as steps of a quarter. A sub-step that fails finally leaves the state of
 * the previous one, prescribed vertices included. */
TEST(failed_steps_are_parted)
{
    static const enum sp_integrator_kind kinds[] = {SP_NEWMARK, SP_EULER, SP_BDF2, SP_LINEAR_EULER, SP_ENERGY};
    const double h = 1.0 / 256;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        OWNED(scene) s, r;
        make_scene(kinds[k], false, &s);
        make_scene(kinds[k], false, &r);
        s.d.spring.stiffness = r.d.spring.stiffness = 0; /* those are of a whole step */
        if (kinds[k] == SP_NEWMARK ||
            kinds[k] == SP_BDF2) /* the force about time 0 is that over the first half of the first step */
            memset(s.d.shake, 0, sizeof s.d.shake), memset(r.d.shake, 0, sizeof r.d.shake), s.d.v[1] = r.d.v[1] = 0.7;
        const sp_external_loads forcing = driven(&s.d, s.prescribed), fine = driven(&r.d, r.prescribed);
        sp_system system = watched(&s.t.system);
        sp_integrator_parameters p = scene_parameters(kinds[k], h);
        p.halvings = 2;
        double *v = bend(&s.t, 20);
        OWNED_POINTER(sp_integrator) *it = begin_run(&system, &forcing, p, NULL, v),
                                     *small = begin_run(&r.t.system, &fine, scene_parameters(kinds[k], h / 4), NULL, v);
        const bool linear = kinds[k] == SP_LINEAR_EULER;
        /* the property of matrices of quarters that halves lack: Newmark 4/h², Euler and the first step of BDF2 1/h²,
         * then 9/4, twice 1/h² of the energy step, with 1 + α γ h; a half must not reach 10 */
        const double scale = kinds[k] == SP_NEWMARK ? 4 : kinds[k] == SP_BDF2 || kinds[k] == SP_EULER ? 1 : 2;
        double *before = vector(&s.t, s.t.n);
        for (int step = 0; step < 6; step++) {
            fail_below = linear ? 0 : 11.5 * scale / (h * h);
            fail_above = linear ? 0.2 * h * h : INFINITY;
            steps(it, 1);
            steps(small, 4);
            double e[2][SP_WORK_COUNT];
            sp_integrator_energies(it, e[0]);
            sp_integrator_energies(small, e[1]);
            CHECK(memcmp(sp_integrator_q(it), sp_integrator_q(small), (size_t)s.t.n * 8) == 0 &&
                      memcmp(sp_integrator_v(it), sp_integrator_v(small), (size_t)s.t.n * 8) == 0,
                  "integrator %d, step %d: parts are not small steps: %g", (int)kinds[k], step,
                  max_difference(s.t.n, sp_integrator_q(it), sp_integrator_q(small)));
            CHECK(memcmp(e[0], e[1], sizeof e[0]) == 0, "integrator %d, step %d: energies %g %g %g %g and %g %g %g %g",
                  (int)kinds[k], step, e[0][0], e[0][1], e[0][2], e[0][3], e[1][0], e[1][1], e[1][2], e[1][3]);
        }
        const sp_integrator_report *report = sp_integrator_reported(it);
        CHECK(report->parted == 6 && report->smallest_part == 0.25 && report->steps == 6, "%lld parted, %g",
              (long long)report->parted, report->smallest_part);
        CHECK(sp_integrator_time(it) == 6 * h, "time %g", sp_integrator_time(it));
        /* every sub-step fails: the state stays */
        fail_below = linear ? 0 : INFINITY;
        fail_above = linear ? 0 : INFINITY;
        memcpy(before, sp_integrator_q(it), (size_t)s.t.n * 8);
        const double left = balance(it);
        CHECK(sp_integrator_step(it) == SP_NUMERICAL, "a step that cannot be done was done");
        CHECK(memcmp(before, sp_integrator_q(it), (size_t)s.t.n * 8) == 0,
              "integrator %d: a failed step moved the body", (int)kinds[k]);
        CHECK_NEAR(balance(it), left, 1e-13);
        CHECK(sp_integrator_time(it) == 6 * h && report->steps == 6 && report->parted == 6, "a failed step counts");
        if (s.prescribed) {
            double *u = vector(&s.t, s.t.rows), *w = vector(&s.t, s.t.rows), *f = vector(&s.t, s.t.n),
                   *g = vector(&s.t, s.t.n);
            drive_held(&s.d, 6 * h, u, w);
            CHECK(memcmp(u, sp_integrator_prescribed(it), (size_t)s.t.rows * 8) == 0 &&
                      memcmp(w, sp_integrator_prescribed_velocity(it), (size_t)s.t.rows * 8) == 0,
                  "held vertices went on without the body");
            s.t.system.force(s.t.system.self, sp_integrator_q(it), f);
            s.t.system.vertices.prescribe(s.t.system.self, u, w);
            s.t.system.force(s.t.system.self, sp_integrator_q(it), g);
            CHECK(memcmp(f, g, (size_t)s.t.n * 8) == 0, "the system has held vertices elsewhere");
        }
        fail_below = 0;
        fail_above = INFINITY;
        steps(it, 1); /* and continues */
        steps(small, 4);
        CHECK(max_difference(s.t.n, sp_integrator_q(it), sp_integrator_q(small)) <
                  0.05 * max_abs(s.t.n, sp_integrator_q(small)),
              "a whole step is far from four");
    }
}

/* Without an artificial failure: a load so sudden that Newton's method fails. */
TEST(hard_steps_are_parted)
{
    OWNED(thing) t;
    make_thing(4, 1, 1, 0.05, 0.1, (build){.young = 2e4, .poisson = 0.4, .law = SP_LAW_NEO_HOOKEAN}, &t);
    drive d = {.t = &t, .force = weight(&t, 900, 500, -700)};
    const sp_external_loads forcing = driven(&d, false);
    sp_integrator_parameters p = with(SP_EULER, 0.03);
    p.iterations = 6;
    sp_integrator *it = begin_run(&t.system, &forcing, p, NULL, NULL);
    CHECK(sp_integrator_step(it) == SP_NUMERICAL, "too easy a load");
    sp_integrator_free(it);
    p.halvings = 8;
    it = begin_run(&t.system, &forcing, p, NULL, NULL);
    steps(it, 3);
    const sp_integrator_report *report = sp_integrator_reported(it);
    NOTE("%lld of 3 steps in parts, the smallest of %g", (long long)report->parted, report->smallest_part);
    CHECK(report->parted >= 1 && report->smallest_part < 1, "not in parts");
    sp_integrator_free(it);
}
