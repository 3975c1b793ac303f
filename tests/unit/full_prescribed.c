/* Full-order systems with prescribed vertices: against dense algebra, moving frames, energy. */
#include "assembly/elastic.h"
#include "full_models.h"

/* ---- prescribed vertices ---- */

/* Dense matrices over all vertices, at rest. */
static void dense(thing *t, const sp_viscous *viscous, bool lumped, double *M, double *K, double *D)
{
    double *unit = vector(t, t->rows), *rest = vector(t, t->rows);
    for (int64_t j = 0; j < t->rows; j++) {
        unit[j] = 1;
        sp_elastic_tangent_times(&context, &t->body, rest, unit, K + t->rows * j);
        sp_viscous_times(&context, viscous, rest, unit, D + t->rows * j);
        if (lumped)
            M[t->rows * j + j] = t->mass[j / 3];
        else
            sp_fe_space_mass_times(&context, &t->body, 3, unit, M + t->rows * j);
        unit[j] = 0;
    }
}

/* Gaussian elimination with pivots; overwrites A [n, n, column major] and b. */
static void solve_dense(int64_t n, double *A, double *b)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k; i < n; i++)
            if (fabs(A[n * k + i]) > fabs(A[n * k + pivot]))
                pivot = i;
        for (int64_t j = k; j < n; j++) {
            const double swap = A[n * j + k];
            A[n * j + k] = A[n * j + pivot];
            A[n * j + pivot] = swap;
        }
        const double swap = b[k];
        b[k] = b[pivot];
        b[pivot] = swap;
        for (int64_t i = k + 1; i < n; i++) {
            const double factor = A[n * k + i] / A[n * k + k];
            for (int64_t j = k; j < n; j++)
                A[n * j + i] -= factor * A[n * j + k];
            b[i] -= factor * b[k];
        }
    }
    for (int64_t k = n; k-- > 0;) {
        for (int64_t j = k + 1; j < n; j++)
            b[k] -= A[n * j + k] * b[j];
        b[k] /= A[n * k + k];
    }
}

/* The free rows of A x, over all vertices. */
static void free_rows(const thing *t, const double *A, double scale, const double *x, double *y)
{
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j < t->rows; j++)
            y[i] += scale * A[t->rows * j + t->body.free[i]] * x[j];
}

/* The linear model with shaking prescribed vertices, both dampings, strain-rate damping, loads and a spring, against
 * the same steps by dense matrices, M a + C v + K u over all vertices. */
TEST(held_linear_model_against_dense)
{
    static const enum sp_integrator_kind kinds[] = {SP_NEWMARK, SP_EULER, SP_LINEAR_EULER, SP_STATIC};
    const double h = 4e-3, alpha = 1.5, stiff = 2e-3, beta = 0.7;
    for (int lumped = 0; lumped < 2; lumped++)
        for (size_t k = 0; k < 4; k++) {
            OWNED(thing) t = {0};
            OWNED(sp_viscous) viscous = {0};
            make_thing(2, 1, 1, 0.1, 0.1, (build){.linear = true, .lumped = lumped}, &t);
            const bool resting = kinds[k] == SP_STATIC;
            CHECK_OK(sp_viscous_new(&context, &t.body, &(sp_viscosity){200, 300}, &viscous));
            CHECK_OK(sp_full_system_damp(&t.system, &viscous));
            const int64_t n = t.n, rows = t.rows;
            double *M = vector(&t, rows * rows), *K = vector(&t, rows * rows), *D = vector(&t, rows * rows),
                   *A = vector(&t, n * n), *b = vector(&t, n), *u0 = vector(&t, rows), *v0 = vector(&t, rows);
            double *u1 = vector(&t, rows), *v1 = vector(&t, rows), *u = vector(&t, rows), *before = vector(&t, rows),
                   *after = vector(&t, rows), *f = vector(&t, n), *a = vector(&t, n);
            dense(&t, &viscous, lumped, M, K, D);
            drive d = {.t = &t,
                       .force = weight(&t, 1, 2, -9),
                       .swing = 90,
                       .v = {0.4, 0.1, 0.2},
                       .a = {3, -5, 2},
                       .shake = {0.01, 0.02, -0.01},
                       .beat = 70,
                       .spring = {t.mesh.vertex_count - 1, {0.5, 0.2, 0.3}, 400}};
            const sp_external_loads forcing = driven(&d, true);
            sp_integrator_parameters p = with(kinds[k], h);
            p.damping_mass = resting ? 0 : alpha;
            p.damping_stiffness = resting ? 0 : stiff;
            if (kinds[k] == SP_LINEAR_EULER)
                p.beta = beta;
            OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, NULL, NULL);
            for (int64_t e = 0; e < rows * rows; e++)
                D[e] += stiff * K[e]; /* h C without αM */
            const double *anchor = d.spring.anchor;
            for (int i = 0; i < 3; i++) { /* the spring: no part of C */
                const int64_t row = 3 * d.spring.vertex + i;
                K[rows * row + row] += d.spring.stiffness;
            }
            double worst = 0, largest = 0;
            drive_held(&d, 0, u0, v0);
            for (int s = 0; s < 12; s++) {
                const double t0 = s * h, t1 = (s + 1) * h;
                const bool newmark = kinds[k] == SP_NEWMARK, linear = kinds[k] == SP_LINEAR_EULER;
                steps(it, 1);
                if (newmark && s == 0) { /* the first acceleration */
                    drive_held(&d, 0.5 * h, u, after);
                    for (int64_t i = 0; i < rows; i++)
                        before[i] = (after[i] - v0[i]) / (0.5 * h) + alpha * 0.5 * (after[i] + v0[i]);
                    drive_mean(&d, 0, 0.5 * h, a);
                    for (int64_t i = 0; i < n; i++)
                        before[t.body.free[i]] = alpha * v0[t.body.free[i]];
                    free_rows(&t, M, -1, before, a);
                    free_rows(&t, K, -1, u0, a);
                    free_rows(&t, D, -1, v0, a);
                    for (int i = 0; i < 3; i++)
                        a[t.body.dof[3 * d.spring.vertex + i]] -=
                            d.spring.stiffness * (t.mesh.vertices[3 * d.spring.vertex + i] - anchor[i]);
                    for (int64_t i = 0; i < n; i++)
                        for (int64_t j = 0; j < n; j++)
                            A[n * j + i] = M[rows * t.body.free[j] + t.body.free[i]];
                    solve_dense(n, A, a);
                }
                memcpy(u1, u0, (size_t)rows * 8);
                memcpy(v1, v0, (size_t)rows * 8);
                drive_held(&d, t1, u1, v1);
                /* the unknown is v₁ (STATIC: u₁), with u₁ = u₀ + g h v₁ + the rest of u; M a₁ = M (v₁ − w) / (γ h) */
                const double gh = newmark ? 0.5 * h : h, reach = linear ? beta : resting ? 1 : gh / h;
                const double m = newmark ? 2 / h : 1 / h;
                memset(b, 0, (size_t)n * 8);
                drive_mean(&d, newmark ? t1 - 0.5 * h : t0, newmark ? t1 + 0.5 * h : t1, b);
                for (int i = 0; i < 3; i++)
                    b[t.body.dof[3 * d.spring.vertex + i]] -=
                        d.spring.stiffness * (t.mesh.vertices[3 * d.spring.vertex + i] - anchor[i]);
                if (resting) {
                    memset(u, 0, (size_t)rows * 8);
                    drive_held(&d, t1, u, after);
                    free_rows(&t, K, -1, u, b);
                } else {
                    double *w = before, *inertia = after;
                    for (int64_t i = 0; i < rows; i++) { /* the prescribed part of u₁ and v₁ */
                        const bool prescribed = t.body.dof[i] < 0;
                        u[i] = prescribed ? (linear ? u0[i] + beta * (u1[i] - u0[i]) : u1[i])
                               : newmark  ? u0[i] + 0.5 * h * v0[i]
                                          : u0[i];
                        w[i] = prescribed ? (linear ? (u1[i] - u0[i]) / h : v1[i]) : 0;
                    }
                    free_rows(&t, K, -1, u, b);
                    free_rows(&t, D, -1, w, b);
                    double *early = vector(&t, rows), *late = vector(&t, rows);
                    drive_held(&d, newmark ? t1 - 0.5 * h : t0, u, early);
                    drive_held(&d, newmark ? t1 + 0.5 * h : t1, u, late);
                    for (int64_t i = 0; i < rows; i++)
                        inertia[i] = t.body.dof[i] < 0 ? (late[i] - early[i]) / h + alpha * 0.5 * (late[i] + early[i])
                                                       : -m * v0[i] - (newmark ? a[t.body.dof[i]] : 0);
                    free_rows(&t, M, -1, inertia, b);
                }
                for (int64_t i = 0; i < n; i++)
                    for (int64_t j = 0; j < n; j++) {
                        const int64_t e = rows * t.body.free[j] + t.body.free[i];
                        A[n * j + i] = resting ? K[e] : (m + alpha) * M[e] + D[e] + reach * h * K[e];
                    }
                solve_dense(n, A, b);
                for (int64_t i = 0; i < n; i++) {
                    const int64_t at = t.body.free[i];
                    if (resting) {
                        u1[at] = b[i];
                        v1[at] = 0;
                        continue;
                    }
                    v1[at] = b[i];
                    u1[at] = u0[at] + (newmark ? 0.5 * h * (v0[at] + b[i]) : h * b[i]);
                    a[i] = newmark ? m * (b[i] - v0[at]) - a[i] : 0;
                }
                sp_fe_space_gather(&t.body, u1, f);
                worst = fmax(worst, max_difference(n, f, sp_integrator_q(it)));
                largest = fmax(largest, max_abs(n, f));
                sp_fe_space_gather(&t.body, v1, f);
                worst = fmax(worst, h * max_difference(n, f, sp_integrator_v(it)));
                for (int64_t i = 0; i < rows; i++)
                    CHECK(sp_integrator_prescribed(it)[i] == (t.body.dof[i] < 0 ? u1[i] : 0),
                          "a held vertex is not where it should be");
                memcpy(u0, u1, (size_t)rows * 8);
                memcpy(v0, v1, (size_t)rows * 8);
            }
            NOTE("integrator %d%s: off by %.1e of %.2g m", (int)kinds[k], lumped ? ", lumped" : "", worst, largest);
            CHECK(worst <= 1e-9 * largest, "integrator %d: off by %g of %g", (int)kinds[k], worst, largest);
        }
}

static const struct {
    const char *name;
    enum sp_integrator_kind kind;
    bool semi;
    double step;
} movers[] = {{"Newmark", SP_NEWMARK, false, 1e-2},
              {"Newmark, one iteration", SP_NEWMARK, true, 1e-2},
              {"central differences", SP_CENTRAL, false, 5e-4},
              {"Euler", SP_EULER, false, 1e-2},
              {"BDF2", SP_BDF2, false, 1e-2},
              {"linearly implicit Euler", SP_LINEAR_EULER, false, 1e-2},
              {"statics", SP_STATIC, false, 1e-2}};
enum { MOVERS = sizeof movers / sizeof *movers };

static sp_integrator_parameters moving(int k)
{
    sp_integrator_parameters p = with(movers[k].kind, movers[k].step);
    p.semi_implicit = movers[k].semi;
    p.tolerance = 1e-12;
    return p;
}

/* Prescribed vertices at a constant velocity of several elements per step: a body that moves with them has no forces,
 * with any damping of strain. A law that is undefined for inverted elements fails if the code combines vertices of
 * different times. */
TEST(uniform_motion_costs_nothing)
{
    for (int model = 0; model < 4; model++)
        for (int lumped = 0; lumped < 2; lumped++)
            for (int k = 0; k < MOVERS; k++) {
                OWNED(thing) t;
                OWNED(sp_viscous) viscous;
                make_thing(2, 1, 1, 0.1, 0.15,
                           (build){.linear = model == 2,
                                   .lumped = lumped,
                                   .young = 1e5,
                                   .poisson = 0.3,
                                   .law = model % 2 ? SP_LAW_NEO_HOOKEAN : SP_LAW_STVK},
                           &t);
                CHECK_OK(sp_viscous_new(&context, &t.body, &(sp_viscosity){20, 30}, &viscous));
                drive d = {.t = &t,
                           /* prescribed vertices ahead of the body, or passing through it */
                           .v = {model == 3 ? -40 : 40, -10, 25}};
                const sp_external_loads forcing = driven(&d, true);
                sp_integrator_parameters p = moving(k);
                const bool resting = p.kind == SP_STATIC;
                if (!resting) {
                    CHECK_OK(sp_full_system_damp(&t.system, &viscous));
                    p.damping_stiffness = 1e-3;
                }
                if (p.kind == SP_CENTRAL)
                    p.step = 1e-4;
                OWNED_POINTER(sp_integrator) *it =
                    begin_run(&t.system, &forcing, p, NULL, resting ? NULL : uniform(&t, d.v[0], d.v[1], d.v[2]));
                steps(it, 12);
                const double time = 12 * p.step;
                const double off =
                    max_difference(t.n, sp_integrator_q(it), uniform(&t, d.v[0] * time, d.v[1] * time, d.v[2] * time));
                CHECK(off <= 1e-10, "%s, model %d: strained by %g m", movers[k].name, model, off);
                double e[SP_WORK_COUNT];
                sp_integrator_energies(it, e);
                /* rounding of u² E edge, 23 m² · 1e4 N/m */
                CHECK(e[SP_WORK_STORED] < 1e-9 && fabs(e[SP_WORK_DISSIPATED]) < 1e-9 &&
                          fabs(e[SP_WORK_EXTERNAL]) < 1e-9,
                      "%s, model %d: energies %g %g %g", movers[k].name, model, e[1], e[2], e[3]);
                const sp_integrator_report *report = sp_integrator_reported(it);
                CHECK(report->newton_iterations <= 2 * 12 && report->parted == 0 && report->indefinite == 0,
                      "%s, model %d: %lld iterations, %lld indefinite", movers[k].name, model,
                      (long long)report->newton_iterations, (long long)report->indefinite);
            }
}

/* A bent and damped body oscillates in the same way, with the same Newton iterations, if a constant velocity is added
 * to everything. */
TEST(moving_frames_are_alike)
{
    static const enum sp_integrator_kind kinds[] = {SP_NEWMARK, SP_EULER, SP_BDF2, SP_LINEAR_EULER};
    for (int k = 0; k < 4; k++) {
        int64_t iterations[2];
        double *q[2], e[2][SP_WORK_COUNT];
        OWNED(thing) t;
        make_thing(3, 1, 1, 0.1, 0.1, (build){.young = 1e5, .poisson = 0.3}, &t);
        for (int fast = 0; fast < 2; fast++) {
            drive d = {.t = &t, .force = weight(&t, 0, 3, -9), .v = {20.0 * fast, -12.0 * fast, 30.0 * fast}};
            const sp_external_loads forcing = driven(&d, true);
            sp_integrator_parameters p = with(kinds[k], 5e-3);
            p.damping_stiffness = 5e-3;
            double *v = bend(&t, 30), *frame = uniform(&t, d.v[0], d.v[1], d.v[2]);
            for (int64_t i = 0; i < t.n; i++)
                v[i] += frame[i];
            OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, NULL, v);
            steps(it, 20);
            q[fast] = vector(&t, t.n);
            for (int64_t i = 0; i < t.n; i++)
                q[fast][i] = sp_integrator_q(it)[i] - frame[i] * 20 * p.step;
            iterations[fast] = sp_integrator_reported(it)->newton_iterations;
            sp_integrator_energies(it, e[fast]);
        }
        NOTE("integrator %d: %lld iterations, moving %lld; %.1e of %.2g m off", (int)kinds[k], (long long)iterations[0],
             (long long)iterations[1], max_difference(t.n, q[0], q[1]), max_abs(t.n, q[0]));
        CHECK(max_difference(t.n, q[0], q[1]) <= 1e-8 * max_abs(t.n, q[0]), "integrator %d: off by %g", (int)kinds[k],
              max_difference(t.n, q[0], q[1]));
        CHECK(llabs(iterations[0] - iterations[1]) <= 3, "integrator %d: %lld and %lld iterations", (int)kinds[k],
              (long long)iterations[0], (long long)iterations[1]);
        CHECK_NEAR(e[0][SP_WORK_STORED], e[1][SP_WORK_STORED], 1e-7 * e[0][SP_WORK_STORED]);
    }
}

/* Speeding up at a constant rate a, a body in the shape that weight −a gives it keeps that shape: by the inertia M_fh a
 * of fixed vertices, for consistent mass. And at a constant velocity v under damping αM the shape of weight −αv.
 * Newmark and central differences take the parabola exactly, the two Eulers their own, u = a (½ t² + ½ h t). */
TEST(accelerated_and_dragged_shapes_stay)
{
    for (int linear = 0; linear < 2; linear++)
        for (int lumped = 0; lumped < 2; lumped++) {
            OWNED(thing) t = {0};
            make_thing(2, 1, 1, 0.1, 0.15, (build){.linear = linear, .lumped = lumped, .young = 1e5, .poisson = 0.3},
                       &t);
            const double a[3] = {30, -20, 60}, alpha = 4;
            double *shape = vector(&t, t.n);
            drive d = {.t = &t, .force = weight(&t, -a[0], -a[1], -a[2])};
            sp_external_loads forcing = driven(&d, false);
            sp_integrator_parameters p = with(SP_STATIC, 1);
            p.tolerance = 1e-13;
            sp_integrator *it = begin_run(&t.system, &forcing, p, NULL, NULL);
            steps(it, 1);
            memcpy(shape, sp_integrator_q(it), (size_t)t.n * sizeof *shape);
            CHECK(max_abs(t.n, shape) > 5e-3, "too stiff a body: %g m", max_abs(t.n, shape));
            sp_integrator_free(it);
            for (int dragged = 0; dragged < 2; dragged++)
                for (int k = 0; k < MOVERS; k++) {
                    p = moving(k);
                    if (p.kind == SP_STATIC || (p.kind == SP_BDF2 && !dragged)) /* BDF2 starts with a step of Euler */
                        continue;
                    d = (drive){.t = &t, .lag = p.kind == SP_EULER || p.kind == SP_LINEAR_EULER ? 0.5 * p.step : 0};
                    for (int c = 0; c < 3; c++)
                        *(dragged ? &d.v[c] : &d.a[c]) = dragged ? a[c] / alpha : a[c];
                    p.damping_mass = dragged ? alpha : 0;
                    p.damping_stiffness =
                        p.kind == SP_CENTRAL
                            ? 0
                            : 1e-3; /* uniform velocities: no force; central differences use v of the half step */
                    forcing = driven(&d, true);
                    it = begin_run(&t.system, &forcing, p, shape, dragged ? uniform(&t, d.v[0], d.v[1], d.v[2]) : NULL);
                    double *expected = vector(&t, t.n);
                    steps(it, 15);
                    const double time = 15 * p.step;
                    for (int64_t i = 0; i < t.n; i++) {
                        const int c = (int)(t.body.free[i] % 3);
                        expected[i] = shape[i] + d.v[c] * time + d.a[c] * (0.5 * time + d.lag) * time;
                    }
                    const double off = max_difference(t.n, sp_integrator_q(it), expected);
                    CHECK(off <= 1e-8 * max_abs(t.n, shape) + 1e-10,
                          "%s, linear %d, lumped %d, dragged %d: off by %g m", movers[k].name, linear, lumped, dragged,
                          off);
                    sp_integrator_free(it);
                }
        }
}

/* M (v₁ − v₀) + h f(q₁) over all vertices, fixed ones at their places and speeds: nothing at free ones but the load's
 * impulse, so that the momentum of all changes by that and what holds them. The forces are those of the elements, not
 * of the system. */
TEST(momentum_of_a_shaken_body)
{
    const double h = 5e-3;
    for (int lumped = 0; lumped < 2; lumped++) {
        OWNED(thing) t;
        make_thing(2, 2, 1, 0.1, 0.15, (build){.lumped = lumped, .young = 1e5, .poisson = 0.3}, &t);
        drive d = {.t = &t,
                   .force = weight(&t, 5, 0, -9.81),
                   .swing = 100,
                   .shake = {0.02, -0.03, 0.01},
                   .beat = 60,
                   .v = {1, 0, 0}};
        const sp_external_loads forcing = driven(&d, true);
        sp_integrator_parameters p = with(SP_EULER, h);
        p.tolerance = 1e-12;
        OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, NULL, NULL);
        double *v0 = vector(&t, t.rows), *v1 = vector(&t, t.rows), *u = vector(&t, t.rows), *M = vector(&t, t.rows),
               *f = vector(&t, t.rows), *load = vector(&t, t.n);
        double worst = 0, largest = 0, reaction[3] = {0}, outside[3] = {0}, momentum[3] = {0};
        drive_held(&d, 0, u, v1);
        for (int s = 0; s < 30; s++) {
            memcpy(v0, v1, (size_t)t.rows * 8);
            steps(it, 1);
            drive_held(&d, (s + 1) * h, u, v1);
            sp_fe_space_scatter(&t.body, sp_integrator_q(it), u);
            sp_fe_space_scatter(&t.body, sp_integrator_v(it), v1);
            for (int64_t i = 0; i < t.rows; i++) {
                v0[i] = v1[i] - v0[i];
                M[i] = lumped ? t.mass[i / 3] * v0[i] : 0;
            }
            if (!lumped)
                sp_fe_space_mass_times(&context, &t.body, 3, v0, M);
            sp_elastic_force(&context, &t.body, u, f);
            drive_mean(&d, s * h, (s + 1) * h, load);
            for (int64_t i = 0; i < t.rows; i++) {
                const int64_t dof = t.body.dof[i];
                const double rest = M[i] + h * (f[i] - (dof >= 0 ? load[dof] : 0));
                momentum[i % 3] += t.mass[i / 3] * v0[i];
                if (dof >= 0) {
                    worst = fmax(worst, fabs(rest));
                    largest = fmax(largest, fabs(h * f[i]));
                    outside[i % 3] += h * load[dof];
                } else
                    reaction[i % 3] += rest;
            }
        }
        CHECK(worst <= 1e-10 * largest, "impulses off by %g of %g N s", worst, largest);
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(momentum[c], reaction[c] + outside[c], 1e-9 * largest);
    }
}

/* A displacement (F − 1) X of the boundary stretches every element alike, also with curved faces: the patch test, for
 * statics and for the energy of every law. */
TEST(held_boundary_stretches_uniformly)
{
    const double F[9] = {1.2, 0.1, -0.05, 0.03, 0.9, 0.08, 0, -0.06, 1.1};
    for (int linear = 0; linear < 2; linear++) {
        OWNED(thing) t = {0};
        int64_t list[64], count = 0;
        make_box(3, 3, 3, 0.1, 0.2, &t.mesh);
        for (int64_t v = 0; v < 64; v++)
            if (v % 4 == 0 || v % 4 == 3 || v / 4 % 4 == 0 || v / 4 % 4 == 3 || v / 16 == 0 || v / 16 == 3)
                list[count++] = v;
        CHECK_OK(sp_mesh_fix_list(&context, &t.mesh, count, list, 7));
        finish_thing(&t, (build){.linear = linear});
        CHECK(t.n == 24, "%lld free", (long long)t.n);
        double *u = vector(&t, t.rows), *zero = vector(&t, t.rows), *q = vector(&t, t.n), *f = vector(&t, t.n);
        for (int64_t v = 0; v < 64; v++)
            for (int c = 0; c < 3; c++)
                for (int e = 0; e < 3; e++)
                    u[3 * v + c] += (F[3 * c + e] - (c == e)) * t.mesh.vertices[3 * v + e];
        /* from q = 0 by Newton's method */
        t.system.vertices.prescribe(t.system.self, u, zero);
        for (int k = 0; k < 8; k++) {
            double *dq = vector(&t, t.n);
            t.system.matrix_start(t.system.self, 0);
            t.system.matrix_add(t.system.self, q, 1, 1, false, f);
            CHECK_OK(t.system.matrix_factor(t.system.self));
            CHECK_OK(t.system.matrix_solve(t.system.self, f, dq));
            for (int64_t i = 0; i < t.n; i++)
                q[i] -= dq[i];
        }
        sp_fe_space_gather(&t.body, u, f);
        CHECK(max_difference(t.n, q, f) <= 1e-13, "off by %g m", max_difference(t.n, q, f));
        /* its energy: V (½ λ tr² E + μ E:E), E Green's strain or the linear one */
        const double lambda = 1e6 * 0.3 / (1.3 * 0.4), mu = 1e6 / 2.6;
        double E[9], trace = 0, square = 0, volume = 0, energy;
        for (int c = 0; c < 3; c++)
            for (int e = 0; e < 3; e++) {
                E[3 * c + e] = 0.5 * (F[3 * c + e] + F[3 * e + c]) - (c == e);
                if (!linear)
                    E[3 * c + e] = 0.5 * (F[c] * F[e] + F[3 + c] * F[3 + e] + F[6 + c] * F[6 + e] - (c == e));
                trace += c == e ? E[3 * c + e] : 0;
                square += E[3 * c + e] * E[3 * c + e];
            }
        for (int64_t e = 0; e < t.mesh.block[SP_HEX8].count; e++)
            volume += sp_mesh_element_volume(&t.mesh, e);
        energy = volume * (0.5 * lambda * trace * trace + mu * square);
        CHECK_NEAR(t.system.force(t.system.self, q, NULL), energy, 1e-11 * energy);
    }
    /* the way there by statics, fixed vertices pulled along: what is stored is the work done on them, by the
     * trapezoidal rule over the steps to second order, exact where f is linear */
    double error[2][2];
    for (int linear = 0; linear < 2; linear++)
        for (int fine = 0; fine < 2; fine++) {
            OWNED(thing) t = {0};
            int64_t added;
            make_box(2, 1, 1, 0.1, 0.1, &t.mesh);
            CHECK_OK(sp_mesh_fix_box(&context, &t.mesh, (double[]){-1, -1, -1}, (double[]){0.05, 1, 1}, 7, &added));
            CHECK_OK(sp_mesh_fix_list(&context, &t.mesh, 1, (int64_t[]){11}, 3)); /* one corner, x and y */
            finish_thing(&t, (build){.linear = linear});
            drive d = {.t = &t, .v = {0}, .shake = {0.02, -0.03, 0.04}, .beat = 1.2};
            const sp_external_loads forcing = driven(&d, true);
            const sp_spring springs[2] = {{0, {0.1, 0.2, 0}, 5e3},
                                          {11, {0, 0, 0.1}, 3e3}}; /* at a fixed vertex, and at one fixed in part */
            t.system.set_springs(t.system.self, 2, springs);
            sp_integrator_parameters p = with(SP_STATIC, fine ? 0.05 : 0.1);
            p.tolerance = 1e-12;
            OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, NULL, NULL);
            double e[SP_WORK_COUNT], start;
            t.system.set_springs(t.system.self, 2, springs);
            steps(it, fine ? 2 : 1); /* springs have pulled the free corner to their anchors */
            sp_integrator_energies(it, e);
            start = e[SP_WORK_STORED] - e[SP_WORK_EXTERNAL];
            steps(it, fine ? 20 : 10);
            sp_integrator_energies(it, e);
            error[linear][fine] = fabs(e[SP_WORK_STORED] - e[SP_WORK_EXTERNAL] - start) / e[SP_WORK_STORED];
        }
    NOTE("stored and done: nonlinear %.1e and %.1e, order %.2f; linear %.1e", error[0][0], error[0][1],
         log2(error[0][0] / error[0][1]), error[1][1]);
    CHECK(error[1][0] <= 1e-10 && error[1][1] <= 1e-10, "linear: %g", error[1][1]);
    CHECK_NEAR(log2(error[0][0] / error[0][1]), 2, 0.15);
}

/* Work − dissipated − what the body has gained, for a body shaken at its fixed face, loaded, damped by αM + βK and
 * strain rate. */
TEST(energy_balance_of_a_shaken_body)
{
    static const struct {
        enum sp_integrator_kind kind;
        double order;
    } cases[] = {{SP_NEWMARK, 2}, {SP_EULER, 1}, {SP_BDF2, 2}, {SP_LINEAR_EULER, 1}};
    for (int c = 0; c < 4; c++) {
        OWNED(thing) t;
        OWNED(sp_viscous) viscous;
        double error[3], e[SP_WORK_COUNT], part = 0;
        make_thing(2, 1, 1, 0.1, 0.1, (build){.young = 1e5, .poisson = 0.3}, &t);
        CHECK_OK(sp_viscous_new(&context, &t.body, &(sp_viscosity){5, 8}, &viscous));
        CHECK_OK(sp_full_system_damp(&t.system, &viscous));
        drive d = {.t = &t, .force = weight(&t, 4, 0, -9), .swing = 30, .shake = {0.01, -0.02, 0.03}, .beat = 40};
        const sp_external_loads forcing = driven(&d, true);
        for (int level = 0; level < 3; level++) {
            sp_integrator_parameters p = with(cases[c].kind, 8e-4 / (1 << level));
            p.damping_mass = 1;
            p.damping_stiffness = 5e-4;
            OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, NULL, uniform(&t, 0.4, -0.8, 1.2));
            const double start = balance(it);
            steps(it, 50 << level);
            error[level] = fabs(balance(it) - start);
            sp_integrator_energies(it, e);
            part = e[SP_WORK_DISSIPATED] / (e[SP_WORK_KINETIC] + e[SP_WORK_STORED]);
        }
        NOTE("integrator %d: off by %.1e to %.1e of %.2g J, orders %.2f %.2f; dissipated %.2g of what is there",
             (int)cases[c].kind, error[0], error[2], e[0] + e[1], log2(error[0] / error[1]), log2(error[1] / error[2]),
             part);
        CHECK_NEAR(log2(error[1] / error[2]), cases[c].order, 0.15);
        CHECK(part > 0.05, "nothing is dissipated");
    }
    /* Euler, linear: what is missing is ½ ΔvᵀMΔv + ½ ΔqᵀKΔq in every step, to rounding */
    OWNED(thing) t;
    make_thing(2, 1, 1, 0.1, 0.1, (build){.linear = true, .young = 1e5, .poisson = 0.3}, &t);
    drive d = {.t = &t, .force = weight(&t, 4, 0, -9), .swing = 30, .shake = {0.01, -0.02, 0.03}, .beat = 40};
    const sp_external_loads forcing = driven(&d, true);
    sp_integrator_parameters p = with(SP_EULER, 5e-3);
    p.damping_mass = 1;
    p.damping_stiffness = 5e-4;
    p.tolerance = 1e-14;
    OWNED_POINTER(sp_integrator) *it = begin_run(&t.system, &forcing, p, NULL, NULL);
    double *q0 = vector(&t, t.n), *v0 = vector(&t, t.n), *y = vector(&t, t.n), *still = vector(&t, t.rows),
           numerical = 0;
    for (int s = 0; s < 20; s++) {
        memcpy(q0, sp_integrator_q(it), (size_t)t.n * 8);
        memcpy(v0, sp_integrator_v(it), (size_t)t.n * 8);
        steps(it, 1);
        for (int64_t i = 0; i < t.n; i++) {
            q0[i] = sp_integrator_q(it)[i] - q0[i];
            v0[i] = sp_integrator_v(it)[i] - v0[i];
        }
        t.system.mass_times(t.system.self, v0, y);
        numerical += 0.5 * dot_product(t.n, v0, y);
        double *f0 = vector(&t, t.n),
               *f1 = vector(&t, t.n); /* Δf at free vertices, which fixed ones that have moved change too */
        t.system.force(t.system.self, sp_integrator_q(it), f1);
        for (int64_t i = 0; i < t.n; i++)
            y[i] = sp_integrator_q(it)[i] - q0[i];
        double *u = vector(&t, t.rows), *v = vector(&t, t.rows);
        drive_held(&d, s * p.step, u, v);
        t.system.vertices.prescribe(t.system.self, u, still);
        t.system.force(t.system.self, y, f0);
        drive_held(&d, (s + 1) * p.step, u, v);
        t.system.vertices.prescribe(t.system.self, u, v);
        numerical += 0.5 * (dot_product(t.n, f1, q0) - dot_product(t.n, f0, q0));
    }
    double e[SP_WORK_COUNT];
    sp_integrator_energies(it, e);
    CHECK(numerical > 0.01 * e[SP_WORK_STORED], "no numerical damping: %g", numerical);
    CHECK_NEAR(balance(it) + numerical, 0, 1e-11 * (e[0] + e[1]));
}

/* prescribed_work against differences of the energy, stiffness_times against those of the force, inertia against
 * integrals.
 */
TEST(held_operators)
{
    for (int linear = 0; linear < 2; linear++)
        for (int lumped = 0; lumped < 2; lumped++) {
            OWNED(thing) t = {0};
            make_box(2, 1, 1, 0.1, 0.15, &t.mesh);
            CHECK_OK(sp_mesh_fix_list(&context, &t.mesh, 4, (int64_t[]){0, 3, 6, 9}, 7));
            CHECK_OK(sp_mesh_fix_list(&context, &t.mesh, 2, (int64_t[]){2, 5}, 1)); /* fixed in part */
            finish_thing(&t, (build){.linear = linear, .lumped = lumped});
            CHECK_OK(sp_full_system_grounds(&t.system, 1,
                                            /* some vertices are well below, the others well above */
                                            &(sp_ground){{0.6, 0, 0.8}, 0.15, 3e3, 0.4, 0}));
            const sp_spring springs[3] = {{0, {0.1, 0.2, 0}, 5e3}, {2, {0, 0, 0.1}, 3e3}, {7, {0, 0, 0.1}, 1e3}};
            t.system.set_springs(t.system.self, 3, springs);
            double *q = vector(&t, t.n), *u = vector(&t, t.rows), *du = vector(&t, t.rows), *zero = vector(&t, t.rows),
                   *f = vector(&t, t.rows), *other = vector(&t, t.rows), *y = vector(&t, t.rows);
            random_field(t.n, 1, q);
            random_field(t.rows, 2, u);
            random_field(t.rows, 3, du);
            for (int64_t i = 0; i < t.rows; i++)
                u[i] *= 0.01;
            for (int64_t i = 0; i < t.n; i++)
                q[i] *= 0.01;
            t.system.vertices.prescribe(t.system.self, u, zero);
            t.system.vertices.begin(t.system.self, q);
            for (int64_t i = 0; i < t.n; i++)
                q[i] += 1e-3 * sin((double)i);
            double slope[2], error[2], values[2];
            for (int k = 0; k < 2; k++) {
                const double s = k ? 5e-4 : 1e-3;
                for (int side = 0; side < 2; side++) {
                    for (int64_t i = 0; i < t.rows; i++)
                        other[i] = u[i] + (side ? -s : s) * du[i];
                    t.system.vertices.prescribe(t.system.self, other, zero);
                    values[side] = t.system.force(t.system.self, q, NULL);
                }
                t.system.vertices.prescribe(t.system.self, u, zero);
                slope[k] = (values[0] - values[1]) / (2 * s);
                error[k] = fabs(slope[k] - t.system.vertices.prescribed_work(t.system.self, q, du));
            }
            CHECK(linear ? error[1] <= 1e-7 * fabs(slope[1])
                         : fabs(log2(error[0] / error[1]) - 2) < 0.1 && error[1] < 1e-4 * fabs(slope[1]),
                  "held work off by %g and %g of %g J", error[0], error[1], slope[1]);
            /* stiffness over all vertices */
            t.system.vertices.stiffness_times(t.system.self, q, du, y);
            double worst[2] = {0}, largest = 0;
            for (int k = 0; k < 2; k++) {
                const double s = k ? 5e-5 : 1e-4;
                double *full = vector(&t, t.rows);
                memcpy(full, u, (size_t)t.rows * 8);
                sp_fe_space_scatter(&t.body, q, full);
                for (int64_t i = 0; i < t.rows; i++)
                    other[i] = (linear ? 0 : full[i]) + s * du[i];
                sp_elastic_force(&context, &t.body, other, f);
                for (int64_t i = 0; i < t.rows; i++)
                    other[i] -= 2 * s * du[i];
                double *back = vector(&t, t.rows);
                sp_elastic_force(&context, &t.body, other, back);
                for (int64_t i = 0; i < t.rows; i++) {
                    worst[k] = fmax(worst[k], fabs((f[i] - back[i]) / (2 * s) - y[i]));
                    largest = fmax(largest, fabs(y[i]));
                }
            }
            CHECK(fabs(log2(worst[0] / worst[1]) - 2) < 0.1 && worst[1] < 1e-4 * largest,
                  "stiffness off by %g and %g of %g", worst[0], worst[1], largest);
            /* the tangent sees the velocities of fixed vertices: the free rows of the same */
            double *qdot = vector(&t, t.n), *free_y = vector(&t, t.n), *expected = vector(&t, t.n);
            sp_fe_space_gather(&t.body, du, qdot);
            t.system.vertices.prescribe(t.system.self, u, du);
            t.system.tangent_times(t.system.self, q, qdot, free_y);
            sp_fe_space_gather(&t.body, y, expected);
            CHECK(max_difference(t.n, free_y, expected) <= 1e-12 * largest, "tangent of moving held vertices off by %g",
                  max_difference(t.n, free_y, expected));
            /* inertia: M du over all vertices, its free rows in two parts, and for a uniform field the mass that is
             * there */
            double *inertia = vector(&t, t.rows), *coupled = vector(&t, t.n), sum = 0, mass = 0;
            t.system.vertices.inertia_times(t.system.self, du, inertia);
            t.system.mass_times(t.system.self, qdot, free_y);
            t.system.vertices.prescribed_inertia(t.system.self, du, coupled);
            for (int64_t i = 0; i < t.n; i++)
                CHECK_NEAR(inertia[t.body.free[i]], free_y[i] - coupled[i], 1e-14);
            if (!lumped)
                CHECK(max_abs(t.n, coupled) > 1e-2 * max_abs(t.rows, inertia), "no coupling");
            for (int64_t i = 0; i < t.rows; i++)
                other[i] = i % 3 == 1;
            t.system.vertices.inertia_times(t.system.self, other, inertia);
            for (int64_t e = 0; e < t.mesh.block[SP_HEX8].count; e++)
                mass += 1000 * sp_mesh_element_volume(&t.mesh, e);
            for (int64_t i = 0; i < t.rows; i++)
                sum += inertia[i];
            CHECK_NEAR(sum, mass, 1e-13 * mass);
        }
}
