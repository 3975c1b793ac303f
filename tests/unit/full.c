/* Full-order systems in time: implicit Euler, BDF2, linearly implicit and exact steps against closed forms; prescribed
 * vertices, ground planes with friction, iterative solvers, sub-stepping, continued runs. */
#include "allocations.h"
#include "assembly/elastic.h"
#include "assembly/viscous.h"
#include "fixture.h"
#include "integrate/integrate.h"
#include "model/models.h"

#include <complex.h>

OWNER(sp_integrator)

/* ---- a body, its loads and prescribed motion, and runs ---- */

typedef struct build {
    bool linear, lumped, loose; /* loose: nothing is fixed; otherwise the face x = 0 is fixed */
    double young, poisson;      /* 0: the materials of bodies.h */
    enum sp_law law;
} build;

typedef struct thing {
    sp_pool pool; /* of all vectors of a test */
    sp_mesh mesh;
    sp_fe_space body;
    sp_system system;
    int64_t rows, n;
    double *mass; /* [vertices] */
} thing;

static double *vector(thing *t, int64_t n)
{
    return sp_pool_new(&t->pool, n, sizeof(double));
}

static void finish_thing(thing *t, build k)
{
    if (k.young > 0) {
        t->mesh.materials[0].young = k.young;
        t->mesh.materials[0].poisson = k.poisson;
    }
    t->mesh.materials[0].law = k.law;
    CHECK_OK(sp_fe_space_new(&context, &t->mesh, &t->body));
    CHECK_OK(sp_full_system_new(&context, &t->body, k.linear, k.lumped, NULL, &t->system));
    t->rows = 3 * t->mesh.vertex_count;
    t->n = t->system.n;
    t->mass = vector(t, t->mesh.vertex_count);
    sp_fe_space_vertex_mass(&t->body, true, t->mass);
}

static void make_thing(int nx, int ny, int nz, double edge, double distort, build k, thing *t)
{
    *t = (thing){0};
    make_box(nx, ny, nz, edge, distort, &t->mesh);
    if (!k.loose)
        fix_end(&t->mesh, 0.5 * edge);
    finish_thing(t, k);
}

static void thing_free(thing *t)
{
    sp_full_system_free(&t->system);
    sp_fe_space_free(&t->body);
    sp_mesh_free(&t->mesh);
    sp_pool_free(&t->pool);
}

/* A constant vector on every free vertex. */
static double *uniform(thing *t, double x, double y, double z)
{
    double *q = vector(t, t->n), value[3] = {x, y, z};
    for (int64_t i = 0; i < t->n; i++)
        q[i] = value[t->body.free[i] % 3];
    return q;
}

static double *weight(thing *t, double x, double y, double z)
{
    double *f = uniform(t, x, y, z);
    for (int64_t i = 0; i < t->n; i++)
        f[i] *= t->mass[t->body.free[i] / 3];
    return f;
}

/* A smooth field, zero on the fixed face. */
static double *bend(thing *t, double size)
{
    double *q = vector(t, t->n);
    for (int64_t i = 0; i < t->n; i++) {
        const double *x = t->mesh.vertices + t->body.free[i] / 3 * 3,
                     part[3] = {0.3 * x[0] * x[1], x[0] * x[0], -2 * x[0] * x[0] + 0.2 * x[0] * x[2]};
        q[i] = size * part[t->body.free[i] % 3];
    }
    return q;
}

typedef struct drive {
    thing *t;
    const double *force;    /* [n], times cos(swing time) */
    double swing;           /* rad/s */
    double v[3], a[3], lag; /* fixed vertices: u = v t + a (½ t² + lag t) + shake sin(beat t) */
    double shake[3], beat;
    sp_spring spring; /* acts from spring_from on, with an anchor that moves at spring_speed; stiffness 0: no spring */
    double spring_from, spring_speed;
    bool acting;
} drive;

static void drive_mean(void *self, double t0, double t1, double *f)
{
    const drive *d = self;
    const double part = d->swing == 0 ? 1 : (sin(d->swing * t1) - sin(d->swing * t0)) / (d->swing * (t1 - t0));
    for (int64_t i = 0; i < d->t->n; i++)
        f[i] = d->force ? part * d->force[i] : 0;
}

static bool drive_springs(void *self, double t0, double t1)
{
    drive *d = self;
    const double middle = 0.5 * (t0 + t1);
    const bool acts = d->spring.stiffness > 0 && middle >= d->spring_from,
               changed = acts != d->acting || (acts && d->spring_speed != 0);
    if (!changed)
        return false;
    d->acting = acts;
    d->spring.anchor[0] = 0.5 + d->spring_speed * middle;
    d->t->system.set_springs(d->t->system.self, acts, &d->spring);
    return true;
}

static void drive_held(void *self, double time, double *u, double *v)
{
    const drive *d = self;
    for (int64_t i = 0; i < d->t->rows; i++)
        if (d->t->body.dof[i] < 0) {
            const int c = (int)(i % 3);
            u[i] = d->v[c] * time + d->a[c] * (0.5 * time + d->lag) * time + d->shake[c] * sin(d->beat * time);
            v[i] = d->v[c] + d->a[c] * time + d->shake[c] * d->beat * cos(d->beat * time);
        }
}

static sp_external_loads driven(drive *d, bool prescribed)
{
    return (sp_external_loads){
        .self = d, .mean = drive_mean, .springs = drive_springs, .prescribed = prescribed ? drive_held : NULL};
}

static sp_integrator_parameters with(enum sp_integrator_kind kind, double h)
{
    return (sp_integrator_parameters){
        .kind = kind, .step = h, .beta = kind == SP_LINEAR_EULER ? 1 : 0.25, .gamma = 0.5};
}

static sp_integrator *begin_run(const sp_system *system, const sp_external_loads *forcing, sp_integrator_parameters p,
                                const double *q, const double *v)
{
    sp_integrator *it = NULL;
    CHECK_OK(sp_integrator_new(&context, system, forcing, &p, q, v, &it));
    return it;
}

static void steps(sp_integrator *it, int64_t count)
{
    for (int64_t s = 0; s < count; s++)
        if (sp_integrator_step(it) != SP_OK) {
            CHECK(false, "%s", context.message);
            return;
        }
}

static double distance(int64_t n, const double *a, const double *b)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fabs(a[i] - b[i]) <= most ? most : fabs(a[i] - b[i]); /* keeps NaN */
    return most;
}

static double size(int64_t n, const double *a)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(a[i]));
    return most;
}

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Kinetic + stored − work + dissipated. */
static double balance(sp_integrator *it)
{
    double e[SP_WORK_COUNT];
    sp_integrator_energies(it, e);
    return e[SP_WORK_KINETIC] + e[SP_WORK_STORED] - e[SP_WORK_EXTERNAL] + e[SP_WORK_DISSIPATED];
}

/* ---- systems whose factorization fails on request of a test ---- */

static void (*real_start)(void *self, double mass_scale);
static double (*real_add)(void *self, const double *q, double scale, double spring_scale, bool definite, double *f);
static int (*real_factor)(void *self);
static double seen_mass, seen_spring, fail_below, fail_above = INFINITY;

static void watched_start(void *self, double mass_scale)
{
    seen_mass = mass_scale;
    real_start(self, mass_scale);
}

static double watched_add(void *self, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    if (spring_scale != 0)
        seen_spring = spring_scale;
    return real_add(self, q, scale, spring_scale, definite, f);
}

static int watched_factor(void *self)
{
    return seen_mass < fail_below || seen_spring > fail_above ? SP_NUMERICAL : real_factor(self);
}

static sp_system watched(const sp_system *system)
{
    sp_system copy = *system;
    real_start = copy.matrix_start;
    real_add = copy.matrix_add;
    real_factor = copy.matrix_factor;
    copy.matrix_start = watched_start;
    copy.matrix_add = watched_add;
    copy.matrix_factor = watched_factor;
    fail_below = 0;
    fail_above = INFINITY;
    return copy;
}

/* ---- oscillators: M = 1, K = λ ---- */

enum { MOST_OSCILLATORS = 8 };

typedef struct oscillators {
    sp_system system;
    double lambda[MOST_OSCILLATORS], S[MOST_OSCILLATORS], force[MOST_OSCILLATORS];
    double change; /* s: force after that is −½ of it */
} oscillators;

static double osc_force(void *self, const double *q, double *f)
{
    const oscillators *o = self;
    double energy = 0;
    for (int64_t i = 0; i < o->system.n; i++) {
        energy += 0.5 * o->lambda[i] * q[i] * q[i];
        if (f)
            f[i] = o->lambda[i] * q[i];
    }
    return energy;
}

static void osc_start(void *self, double mass_scale)
{
    oscillators *o = self;
    for (int64_t i = 0; i < o->system.n; i++)
        o->S[i] = mass_scale;
}

static double osc_add(void *self, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    oscillators *o = self;
    (void)spring_scale, (void)definite;
    for (int64_t i = 0; i < o->system.n; i++)
        o->S[i] += scale * o->lambda[i];
    return osc_force(self, q, f);
}

static int osc_factor(void *self)
{
    (void)self;
    return SP_OK;
}

static int osc_solve(void *self, const double *b, double *x)
{
    const oscillators *o = self;
    for (int64_t i = 0; i < o->system.n; i++)
        x[i] = b[i] / o->S[i];
    return SP_OK;
}

static void osc_mass(void *self, const double *x, double *y)
{
    memcpy(y, x, (size_t)((oscillators *)self)->system.n * sizeof *x);
}

static int osc_mass_solve(void *self, const double *b, double *x)
{
    osc_mass(self, b, x);
    return SP_OK;
}

static void osc_tangent(void *self, const double *q, const double *v, double *y)
{
    (void)q;
    osc_force(self, v, y);
}

static void osc_mean(void *self, double t0, double t1, double *f)
{
    const oscillators *o = self;
    const double middle = 0.5 * (t0 + t1);
    for (int64_t i = 0; i < o->system.n; i++)
        f[i] = o->force[i] * (middle < o->change ? 1 : -0.5);
}

static const sp_fe_space no_body; /* for linearly implicit Euler */

static sp_external_loads make_oscillators(oscillators *o, int n, const double *lambda)
{
    *o = (oscillators){.change = INFINITY};
    memcpy(o->lambda, lambda, (size_t)n * sizeof *lambda);
    o->system = (sp_system){.self = o,
                            .n = n,
                            .constant = true,
                            .force = osc_force,
                            .matrix_start = osc_start,
                            .matrix_add = osc_add,
                            .matrix_factor = osc_factor,
                            .matrix_solve = osc_solve,
                            .mass_times = osc_mass,
                            .mass_solve = osc_mass_solve,
                            .tangent_times = osc_tangent,
                            .cubic = true,
                            .vertices = {.space = &no_body},
                            .eigenvalue = o->lambda};
    return (sp_external_loads){.self = o, .mean = osc_mean};
}

/* ---- order of convergence ---- */

TEST(orders_of_convergence)
{
    static const struct {
        const char *name;
        enum sp_integrator_kind kind;
        double beta, order;
        int parts; /* 1: every third step is sub-stepped, by a quarter and a half */
    } cases[] = {{"Newmark", SP_NEWMARK, 0.25, 2, 0},
                 {"Euler", SP_EULER, 0, 1, 0},
                 {"BDF2", SP_BDF2, 0, 2, 0},
                 {"BDF2, steps that change", SP_BDF2, 0, 2, 1},
                 {"linearly implicit Euler", SP_LINEAR_EULER, 1, 1, 0},
                 {"linearly implicit Euler, beta 1/2", SP_LINEAR_EULER, 0.5, 1, 0}};
    enum { LEVELS = 4, FIRST = 48 };
    const double T = 0.03125;
    OWNED(thing) t = {0};
    make_thing(2, 1, 1, 0.1, 0.1, (build){.young = 2e5, .poisson = 0.3}, &t);
    drive d = {.t = &t, .force = weight(&t, 3, 0, -20), .swing = 50};
    const sp_external_loads forcing = driven(&d, false);
    const double *v = bend(&t, 60);
    double *reference = vector(&t, t.n);
    for (size_t k = 0; k < sizeof cases / sizeof *cases + 2;
         k++) { /* the first two are the reference, extrapolated: the error of the trapezoidal rule is even in h */
        const bool fine = k < 2;
        const size_t c = fine ? 0 : k - 2;
        double error[LEVELS];
        for (int level = 0; level < (fine ? 1 : LEVELS); level++) {
            const int count = fine ? FIRST << (3 + k) : FIRST << level;
            const double h = T / count;
            sp_system system = watched(&t.system);
            sp_integrator_parameters p = with(cases[c].kind, h);
            p.beta = cases[c].beta;
            p.damping_mass = 2;
            p.damping_stiffness = 2e-4;
            p.halvings = 2;
            OWNED_POINTER(sp_integrator) *it = begin_run(&system, &forcing, p, NULL, v);
            for (int s = 0; s < count; s++) {
                /* ca h² is at most 2.78 in a whole step, and at least 4 in a half, 9 in a half that follows one and at
                 * most 11.2, in a quarter 16 or more */
                fail_below = cases[c].parts && s % 3 == 1 ? (s % 2 ? 3.5 : 13) / (h * h) : 0;
                steps(it, 1);
            }
            for (int64_t i = 0; i < t.n && fine; i++)
                reference[i] += (k ? 4.0 : -1.0) / 3 * sp_integrator_q(it)[i];
            if (!fine)
                error[level] = distance(t.n, sp_integrator_q(it), reference);
            if (cases[c].parts) {
                const sp_integrator_report *report = sp_integrator_reported(it);
                CHECK(report->parted == count / 3 && fabs(report->smallest_part - 0.25) < 1e-9,
                      "%lld steps in parts, the smallest of %g", (long long)report->parted, report->smallest_part);
            }
        }
        if (fine)
            continue;
        NOTE("%s: errors %.2e to %.2e of %.2g m, orders %.2f %.2f %.2f", cases[c].name, error[0], error[LEVELS - 1],
             size(t.n, reference), log2(error[0] / error[1]), log2(error[1] / error[2]), log2(error[2] / error[3]));
        CHECK_NEAR(log2(error[2] / error[3]), cases[c].order, 0.1);
        CHECK(error[LEVELS - 1] < 0.03 * size(t.n, reference), "far off");
    }
}

/* ---- oscillators against recurrences ---- */

/* With w = v + iωq an undamped oscillator is w' = iωw, and each method is a recurrence for one complex number. */
TEST(oscillators_follow_their_recurrences)
{
    const double omega[3] = {1, 30, 900}, h = 0.02, lambda[3] = {1, 900, 810000};
    for (int bdf2 = 0; bdf2 < 2; bdf2++) {
        oscillators o;
        const sp_external_loads forcing = make_oscillators(&o, 3, lambda);
        const double q0[3] = {0.3, -0.2, 1e-3}, v0[3] = {0.5, 2, 0.7};
        sp_integrator_parameters p = with(bdf2 ? SP_BDF2 : SP_EULER, h);
        p.tolerance = 1e-15;
        p.halvings = 1;
        sp_system system = watched(&o.system);
        OWNED_POINTER(sp_integrator) *it = begin_run(&system, &forcing, p, q0, v0);
        double complex w[3], last[3], next;
        double scale[3], before = 0, worst = 0;
        for (int i = 0; i < 3; i++) {
            w[i] = last[i] = v0[i] + I * omega[i] * q0[i];
            scale[i] = cabs(w[i]);
        }
        for (int s = 0; s < 40; s++) {
            const int parts = s % 5 == 3 ? 2 : 1;
            fail_below = parts == 2 ? 3.5 / (h * h) : 0;
            steps(it, 1);
            for (int part = 0; part < parts; part++) {
                const double step = h / parts, r = bdf2 && before > 0 ? step / before : 0;
                for (int i = 0; i < 3; i++) {
                    /* the derivative at the end of the parabola through three points, by Newton's divided differences:
                     * w[1,0] + (t₁ − t₀) w[1,0,−1] */
                    const double c1 = 1 / step + (r > 0 ? 1 / (step + before) : 0),
                                 cl = r > 0 ? step / (before * (step + before)) : 0, c0 = -c1 - cl;
                    next = -(c0 * w[i] + cl * last[i]) / (c1 - I * omega[i]);
                    last[i] = w[i];
                    w[i] = next;
                }
                before = step;
            }
            for (int i = 0; i < 3; i++)
                worst =
                    fmax(worst, cabs(sp_integrator_v(it)[i] + I * omega[i] * sp_integrator_q(it)[i] - w[i]) / scale[i]);
        }
        NOTE("%s: off by %.1e", bdf2 ? "BDF2" : "Euler", worst);
        CHECK(worst <= 1e-12, "off by %g", worst);
    }
    /* The numerical damping of Euler's method: the energy decreases by 1/(1 + ω²h²) in every step, and none of that
     * counts as dissipated. */
    oscillators o;
    sp_external_loads forcing = make_oscillators(&o, 1, (double[]){25});
    sp_integrator *it = begin_run(&o.system, &forcing, with(SP_EULER, 0.1), (double[]){1}, (double[]){2});
    double e[SP_WORK_COUNT];
    steps(it, 12);
    sp_integrator_energies(it, e);
    CHECK_NEAR((e[0] + e[1]) / 14.5, pow(1.25, -12), 1e-12);
    CHECK_NEAR(e[SP_WORK_DISSIPATED], 0, 0);
    sp_integrator_free(it);
    /* steps of 10⁵ periods: both methods damp every motion; Euler by 1/(ωh) in a step */
    for (int bdf2 = 0; bdf2 < 2; bdf2++) {
        forcing = make_oscillators(&o, 2, (double[]){1e6, 1e12});
        it = begin_run(&o.system, &forcing, with(bdf2 ? SP_BDF2 : SP_EULER, 600), (double[]){1, 1},
                       (double[]){1e3, 1e6});
        steps(it, 4);
        CHECK(size(2, sp_integrator_q(it)) < 1e-5, "%g left", size(2, sp_integrator_q(it)));
        sp_integrator_free(it);
    }
}

/* v₁ = (v₀ − hλq₀ + hf)/(1 + hc + βh²λ), q₁ = q₀ + hv₁. With D for the denominator the map has the determinant 1/D and
 * the trace 1 + (1 − h²λ)/D: by Jury's conditions it is stable iff 4 + 2hc + (2β − 1) h²λ > 0, for every h iff β ≥ ½.
 */
TEST(linear_euler_of_oscillators)
{
    oscillators o;
    const double lambda[4] = {0, 4, 9e4, 1e8}, q0[4] = {1, 2, -0.01, 1e-4}, v0[4] = {-1, 3, 2, 1}, h = 0.03;
    double q[4], v[4], alpha = 0.3, stiff = 2e-3, worst = 0, e[SP_WORK_COUNT], work = 0, dissipated = 0;
    sp_external_loads forcing = make_oscillators(&o, 4, lambda);
    memcpy(o.force, (double[]){1, -2, 30, 1e3}, sizeof lambda);
    o.change = 0.25;
    sp_integrator_parameters p = with(SP_LINEAR_EULER, h);
    p.beta = 0.7;
    p.damping_mass = alpha;
    p.damping_stiffness = stiff;
    sp_integrator *it = begin_run(&o.system, &forcing, p, q0, v0);
    memcpy(q, q0, sizeof q);
    memcpy(v, v0, sizeof v);
    for (int s = 0; s < 30; s++) {
        steps(it, 1);
        for (int i = 0; i < 4; i++) {
            const double c = alpha + stiff * lambda[i], f = o.force[i] * ((s + 0.5) * h < o.change ? 1 : -0.5);
            v[i] = (v[i] - h * lambda[i] * q[i] + h * f) / (1 + h * c + p.beta * h * h * lambda[i]);
            q[i] += h * v[i];
            work += h * f * v[i];
            dissipated += h * c * v[i] * v[i];
            worst = fmax(worst, fabs(sp_integrator_v(it)[i] - v[i]) + fabs(sp_integrator_q(it)[i] - q[i]));
        }
    }
    sp_integrator_energies(it, e);
    CHECK(worst <= 1e-13, "off by %g", worst);
    CHECK_NEAR(e[SP_WORK_EXTERNAL], work, 1e-12 * fabs(work));
    CHECK_NEAR(e[SP_WORK_DISSIPATED], dissipated, 1e-12 * dissipated);
    sp_integrator_free(it);
    for (int side = 0; side < 6; side++) { /* x = h²λ below and above the limit 4/(1 − 2β) = 200 of β = 0.49, without
                                              and with damping; and far out at ½ and 1 */
        const double hc = side < 2 || side > 3 ? 0 : 8, limit = (4 + 2 * hc) / (1 - 2 * 0.49),
                     x = side > 3 ? 1e9 : limit * (side % 2 ? 1.02 : 0.98);
        forcing = make_oscillators(&o, 1, (double[]){x / (h * h)});
        p = with(SP_LINEAR_EULER, h);
        p.beta = side == 4 ? 0.5 : side == 5 ? 1 : 0.49;
        p.damping_mass = hc / h;
        it = begin_run(&o.system, &forcing, p, (double[]){1}, (double[]){0});
        steps(it, 20000);
        const double now = fabs(sp_integrator_q(it)[0]);
        CHECK(side < 4 && side % 2 ? now > 1e6 : now < 2.5, "beta %g, h²λ %g: %g", p.beta, x, now);
        sp_integrator_free(it);
    }
}

/* ---- exact oscillators ---- */

/* The matrix exponential of (q, v, 1) in long double, by squaring: for weak springs, of which the equilibrium is far
 * away. */
static void exponential(long double lambda, long double c, long double f, double q, double v, long double t,
                        double to[2])
{
    enum { SQUARINGS = 16, TERMS = 12 };
    long double A[3][3] = {{0, 1, 0}, {-lambda, -c, f}}, E[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                term[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, product[3][3];
    for (int k = 1; k <= TERMS + SQUARINGS; k++) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                product[i][j] = 0;
                for (int l = 0; l < 3; l++)
                    product[i][j] += k <= TERMS ? term[i][l] * A[l][j] * t / (k * (1 << SQUARINGS)) : E[i][l] * E[l][j];
            }
        memcpy(k <= TERMS ? term : E, product, sizeof E);
        for (int i = 0; i < 9 && k <= TERMS; i++)
            (&E[0][0])[i] += (&term[0][0])[i];
    }
    for (int i = 0; i < 2; i++)
        to[i] = (double)(E[i][0] * q + E[i][1] * v + E[i][2]);
}

/* In long double, by the eigenvalues −c/2 ± √(c²/4 − λ), about the equilibrium; λ = 0 and equal eigenvalues by their
 * own formulas. */
static void analytic(long double lambda, long double c, long double f, double q, double v, long double t, double to[2])
{
    if (lambda > 0 && lambda < 1e-4L) {
        exponential(lambda, c, f, q, v, t, to);
        return;
    }
    if (lambda == 0) {
        to[0] = (double)(c > 1e-3L ? q + f / c * t - (v - f / c) * expm1l(-c * t) / c
                                   : q + v * t * (1 - c * t / 2 + c * c * t * t / 6) +
                                         f * t * t * (0.5L - c * t / 6 + c * c * t * t / 24));
        to[1] = (double)(c > 0 ? v * expl(-c * t) - f / c * expm1l(-c * t) : v + f * t);
        return;
    }
    const long double x = q - f / lambda, square = c * c / 4 - lambda;
    if (square == 0) {
        const long double s = c / 2, b = v + s * x, decay = expl(-s * t);
        to[0] = (double)(f / lambda + (x + b * t) * decay);
        to[1] = (double)((b - s * (x + b * t)) * decay);
        return;
    }
    const long double complex big = -c / 2 - csqrtl((long double complex)square), small = lambda / big,
                              C = (v - big * x) / (small - big), D = x - C;
    to[0] = (double)(f / lambda + creall(C * cexpl(small * t) + D * cexpl(big * t)));
    to[1] = (double)creall(C * small * cexpl(small * t) + D * big * cexpl(big * t));
}

TEST(exact_steps)
{
    /* undamped, under-, critically, nearly critically, over- and far overdamped, rigid with and without damping, tiny
     * λ; short and long steps */
    static const double cases[][2] = {{100, 0},   {100, 3},   {100, 20},  {100, 20 + 1e-6}, {100, 20 - 1e-6},
                                      {100, 90},  {100, 1e4}, {1e-3, 50}, {0, 0},           {0, 7},
                                      {0, 1e-5},  {1e-13, 0}, {1e-9, 0},  {1e-6, 1e-4},     {1e-9, 3},
                                      {1e10, 10}, {1e8, 3e6}, {0, 1e-9}};
    double worst = 0, semigroup = 0, energy = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (double h = 1e-3; h < 20; h *= 3) {
            const double lambda = cases[k][0], c = cases[k][1], q0 = 0.3, v0 = -0.2, f = 5;
            double got[3][2], expected[2], one[2];
            oscillators o;
            for (int run = 0; run < 3; run++) { /* one step, two half steps, and one more with the other force */
                const sp_external_loads forcing = make_oscillators(&o, 1, &lambda);
                o.force[0] = f;
                o.change = run == 2 ? h : INFINITY;
                sp_integrator_parameters p = with(SP_EXACT, run == 1 ? 0.5 * h : h);
                p.damping_mass = c;
                OWNED_POINTER(sp_integrator) *it = begin_run(&o.system, &forcing, p, &q0, &v0);
                steps(it, run == 0 ? 1 : 2);
                got[run][0] = sp_integrator_q(it)[0];
                got[run][1] = sp_integrator_v(it)[0];
                double e[SP_WORK_COUNT];
                sp_integrator_energies(it, e);
                const double start = 0.5 * (v0 * v0 + lambda * q0 * q0);
                energy = fmax(energy, fabs(e[0] + e[1] - start - e[2] + e[3]) / (start + e[0] + e[1] + fabs(e[2])));
                CHECK(c == 0 ? e[3] == 0 : e[3] >= -1e-14 * (start + fabs(e[2])), "dissipated %g", e[3]);
            }
            analytic(lambda, c, f, q0, v0, h, one);
            analytic(lambda, c, -0.5 * f, one[0], one[1], h, expected);
            /* rounding: of the phase √λ h, and of numbers as large as the state and the equilibrium's, which long
             * double shares */
            const double phase = 1 + (c * c < 4 * lambda ? sqrt(lambda) * h : 0),
                         sizes[2] = {fabs(q0) + fabs(v0) * fmin(h, lambda > 0 ? 1 / sqrt(lambda) : h) + fabs(one[0]) +
                                         fabs(expected[0]),
                                     fabs(v0) + sqrt(lambda) * fabs(q0) + fabs(one[1]) + fabs(expected[1])};
            for (int i = 0; i < 2; i++) {
                const double off = fmax(fabs(got[0][i] - one[i]), fabs(got[2][i] - expected[i])) / (sizes[i] * phase);
                worst = fmax(worst, off);
                semigroup = fmax(semigroup, fabs(got[1][i] - got[0][i]) / (sizes[i] * phase));
                CHECK(off <= 1e-12, "lambda %g, c %g, h %g: %s off by %.2g", lambda, c, h, i ? "v" : "q", off);
            }
        }
    NOTE("off by at most %.1e, two halves by %.1e, energy by %.1e", worst, semigroup, energy);
    CHECK(semigroup <= 1e-12, "two halves differ by %g", semigroup);
    CHECK(energy <= 1e-13, "energy by %g", energy);
    oscillators o; /* a rigid mode that rounding made negative; models that exact steps do not support */
    const sp_external_loads forcing = make_oscillators(&o, 1, (double[]){-1e-9});
    sp_integrator *it = begin_run(&o.system, &forcing, with(SP_EXACT, 0.5), (double[]){1}, (double[]){2});
    steps(it, 3);
    CHECK_NEAR(sp_integrator_q(it)[0], 4, 1e-15);
    sp_integrator_free(it);
    sp_integrator_parameters p = with(SP_EXACT, 0.5);
    o.system.eigenvalue = NULL;
    CHECK(sp_integrator_new(&context, &o.system, &forcing, &p, NULL, NULL, &it) == SP_USAGE, "no oscillators");
    p = with(SP_EULER, 0.5);
    p.halvings = -1;
    CHECK(sp_integrator_new(&context, &o.system, &forcing, &p, NULL, NULL, &it) == SP_USAGE, "-1 halvings");
}

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
                worst = fmax(worst, distance(n, f, sp_integrator_q(it)));
                largest = fmax(largest, size(n, f));
                sp_fe_space_gather(&t.body, v1, f);
                worst = fmax(worst, h * distance(n, f, sp_integrator_v(it)));
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
                    distance(t.n, sp_integrator_q(it), uniform(&t, d.v[0] * time, d.v[1] * time, d.v[2] * time));
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
             (long long)iterations[1], distance(t.n, q[0], q[1]), size(t.n, q[0]));
        CHECK(distance(t.n, q[0], q[1]) <= 1e-8 * size(t.n, q[0]), "integrator %d: off by %g", (int)kinds[k],
              distance(t.n, q[0], q[1]));
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
            CHECK(size(t.n, shape) > 5e-3, "too stiff a body: %g m", size(t.n, shape));
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
                    const double off = distance(t.n, sp_integrator_q(it), expected);
                    CHECK(off <= 1e-8 * size(t.n, shape) + 1e-10, "%s, linear %d, lumped %d, dragged %d: off by %g m",
                          movers[k].name, linear, lumped, dragged, off);
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
        CHECK(distance(t.n, q, f) <= 1e-13, "off by %g m", distance(t.n, q, f));
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
        numerical += 0.5 * dot(t.n, v0, y);
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
        numerical += 0.5 * (dot(t.n, f1, q0) - dot(t.n, f0, q0));
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
            CHECK(distance(t.n, free_y, expected) <= 1e-12 * largest, "tangent of moving held vertices off by %g",
                  distance(t.n, free_y, expected));
            /* inertia: M du over all vertices, its free rows in two parts, and for a uniform field the mass that is
             * there */
            double *inertia = vector(&t, t.rows), *coupled = vector(&t, t.n), sum = 0, mass = 0;
            t.system.vertices.inertia_times(t.system.self, du, inertia);
            t.system.mass_times(t.system.self, qdot, free_y);
            t.system.vertices.prescribed_inertia(t.system.self, du, coupled);
            for (int64_t i = 0; i < t.n; i++)
                CHECK_NEAR(inertia[t.body.free[i]], free_y[i] - coupled[i], 1e-14);
            if (!lumped)
                CHECK(size(t.n, coupled) > 1e-2 * size(t.rows, inertia), "no coupling");
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

/* ---- ground planes ---- */

static const double gravity = 9.81;

/* A block of edges 0.1 m whose lower face lies in the ground z ≤ 0, rotated by `slope` about y, under gravity. The
 * weight is rotated into the axes of the block. */
static double *block_on_ground(thing *t, int cells, build k, double slope, double kappa, double alpha, double friction)
{
    k.loose = true;
    make_thing(cells, cells, cells, 0.1 / cells, 0, k, t);
    /* a little inside at rest */
    CHECK_OK(sp_full_system_grounds(&t->system, 1, &(sp_ground){{0, 0, 2}, 1e-9, kappa, alpha, friction}));
    return weight(t, gravity * sin(slope), 0, -gravity * cos(slope));
}

/* Its equilibrium on a ground that only pushes, by statics on one with α. */
static double *resting_place(thing *t, double kappa, double cosine)
{
    double *f = weight(t, 0, 0, -gravity * cosine), *q = vector(t, t->n), *dq = vector(t, t->n), *r = vector(t, t->n);
    for (int k = 0; k < 12; k++) {
        t->system.vertices.begin(t->system.self, q);
        t->system.matrix_start(t->system.self,
                               k < 8 ? 1e-6 * kappa : 1e-9 * kappa); /* nothing else fixes it along the ground */
        t->system.matrix_add(t->system.self, q, 1, 1, false, r);
        CHECK_OK(t->system.matrix_factor(t->system.self));
        for (int64_t i = 0; i < t->n; i++)
            r[i] -= f[i];
        CHECK_OK(t->system.matrix_solve(t->system.self, r, dq));
        for (int64_t i = 0; i < t->n; i++)
            q[i] -= dq[i];
    }
    t->system.vertices.begin(t->system.self, q);
    return q;
}

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
    CHECK_NEAR((energy[0] - energy[1]) / (2 * s), dot(t.n, f0, x), 1e-9 * fabs(dot(t.n, f0, x)));
    t.system.matrix_start(t.system.self, 2); /* (2 M + K + K_g) x by the force, solved back */
    t.system.matrix_add(t.system.self, q, 1, 1, false, NULL);
    CHECK_OK(t.system.matrix_factor(t.system.self));
    t.system.mass_times(t.system.self, x, z);
    for (int64_t i = 0; i < t.n; i++)
        z[i] = 2 * z[i] + y[i];
    CHECK_OK(t.system.matrix_solve(t.system.self, z, f));
    CHECK(distance(t.n, f, x) <= 1e-8, "stiffness off by %g", distance(t.n, f, x));
    /* and its products */
    const sp_supports *supports = sp_full_system_supports(&t.system);
    double *product = vector(&t, t.n);
    sp_fe_space_scatter(&t.body, x, u);
    t.system.tangent_times(t.system.self, q, x, product);
    double *full = vector(&t, t.rows);
    sp_fe_space_scatter(&t.body, q, full);
    sp_supports_grounds_times(supports, full, 1, u, product);
    CHECK(distance(t.n, product, y) <= 1e-8 * size(t.n, y), "products off by %g of %g", distance(t.n, product, y),
          size(t.n, y));
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
            CHECK(size(t.n, sp_integrator_v(it)) < 0.02 * v, "%s: still at %g m/s", cases[c].name,
                  size(t.n, sp_integrator_v(it)));
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
            const double off = distance(t.n, sp_integrator_q(it), direct);
            CHECK(off <= 1e-9 * size(t.n, direct), "%s: off by %g of %g", name[solver], off, size(t.n, direct));
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
        CHECK(distance(t.n, other, x) <= 1e-13 * size(t.n, x), "%s: response off by %g of %g", name[solver],
              distance(t.n, other, x), size(t.n, x));
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
            const double off = distance(t.n, sp_integrator_q(it), direct);
            NOTE("%s, solver %d: %g m, %lld of %lld matrices indefinite", kind ? "linearly implicit Euler" : "statics",
                 solver, size(t.n, direct), (long long)sp_integrator_reported(it)->indefinite,
                 (long long)sp_integrator_reported(it)->factorizations);
            CHECK(off <= 1e-6 * size(t.n, direct), "kind %d, solver %d: off by %g of %g m", kind, solver, off,
                  size(t.n, direct));
            CHECK(kind || size(t.n, direct) > 0.05, "nothing buckled: %g m", size(t.n, direct));
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
        CHECK(distance(t.n, x, q) <= 1e-11 * size(t.n, q), "change %d: off by %g", k, distance(t.n, x, q));
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

/* Prescribed motion, oscillating loads, moving springs and ground planes, in all models that support them; h is a power
 * of two, so that times of sub-steps are exact. */
typedef struct scene {
    thing t;
    drive d;
    bool prescribed;
} scene;

static void make_scene(enum sp_integrator_kind kind, bool linear, scene *s)
{
    const bool energy = kind == SP_ENERGY;
    make_thing(2, 1, 1, 0.1, 0.1, (build){.linear = linear, .young = 1e5, .poisson = 0.3}, &s->t);
    s->prescribed = !energy;
    s->d = (drive){.t = &s->t,
                   .force = weight(&s->t, 3, 0, -9.81),
                   .swing = kind == SP_NEWMARK || kind == SP_BDF2 ? 0 : 70,
                   .spring = {11, {0.5, 0.1, 0.2}, 40},
                   .spring_from = 11.5 / 512};
    if (!energy) {
        memcpy(s->d.shake, (double[]){0.01, 0.02, -0.01}, sizeof s->d.shake);
        s->d.beat = 50;
        CHECK_OK(sp_full_system_grounds(
            &s->t.system, 1,
            &(sp_ground){{0.2, 0, 1}, 0.01, 500, 0.2, kind == SP_BDF2 || kind == SP_STATIC ? 0 : 0.3}));
    }
}

static sp_integrator_parameters scene_parameters(enum sp_integrator_kind kind, double h)
{
    sp_integrator_parameters p = with(kind, h);
    p.damping_mass = kind == SP_STATIC ? 0 : 1;
    p.damping_stiffness = kind == SP_STATIC ? 0 : 1e-3;
    return p;
}

static void scene_free(scene *s)
{
    thing_free(&s->t);
}

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
                  distance(s.t.n, sp_integrator_q(it), sp_integrator_q(small)));
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
        CHECK(distance(s.t.n, sp_integrator_q(it), sp_integrator_q(small)) < 0.05 * size(s.t.n, sp_integrator_q(small)),
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

/* ---- continued runs ---- */

TEST(runs_go_on)
{
    static const enum sp_integrator_kind kinds[] = {SP_NEWMARK, SP_EULER,  SP_LINEAR_EULER, SP_BDF2,
                                                    SP_CENTRAL, SP_STATIC, SP_ENERGY};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const double h = kinds[k] == SP_CENTRAL ? 1.0 / 8192 : 1.0 / 512;
        double *q[3] = {0}, e[3][SP_WORK_COUNT];
        int64_t n = 0;
        /* a whole run; a run in two parts; two parts, the second with another system of the same body */
        for (int run = 0; run < 3; run++) {
            OWNED(scene) s;
            make_scene(kinds[k], false, &s);
            s.d.swing = 70;
            s.d.spring_from = 11.5 * h;
            s.d.spring_speed = 0.5;
            s.d.v[1] = kinds[k] == SP_CENTRAL
                           ? 3000
                           : 0; /* far away when springs begin to act: the limit of stability is that at rest */
            n = s.t.n;
            if (run == 0)
                for (int i = 0; i < 3; i++)
                    q[i] = calloc((size_t)(2 * n), 8);
            sp_external_loads forcing = driven(&s.d, s.prescribed);
            const sp_integrator_parameters p = scene_parameters(kinds[k], h);
            OWNED_POINTER(sp_integrator) *first;
            sp_integrator *it;
            double *v = bend(&s.t, kinds[k] == SP_STATIC ? 0 : 20);
            for (int64_t i = 0; i < n; i++)
                v[i] += s.d.v[s.t.body.free[i] % 3];
            first = it = begin_run(&s.t.system, &forcing, p, NULL, v);
            steps(first, run ? 12 : 24);
            thing other = s.t;
            if (run) {
                double *q1 = vector(&s.t, n), *v1 = vector(&s.t, n); /* the caller has its own */
                memcpy(q1, sp_integrator_q(first), (size_t)n * 8);
                memcpy(v1, sp_integrator_v(first), (size_t)n * 8);
                if (run == 2) {
                    CHECK_OK(sp_full_system_new(&context, &s.t.body, false, false, NULL, &other.system));
                    if (s.prescribed)
                        CHECK_OK(
                            sp_full_system_grounds(&other.system, 1, sp_full_system_supports(&s.t.system)->grounds));
                    s.d.acting = false;
                    s.d.t = &other;
                }
                it = begin_run(&other.system, &forcing, p, q1, v1);
                CHECK_OK(sp_integrator_continue(it, first));
                CHECK(sp_integrator_time(it) == 12 * h && sp_integrator_reported(it)->steps == 12, "time %g",
                      sp_integrator_time(it));
                steps(it, 12);
            }
            memcpy(q[run], sp_integrator_q(it), (size_t)n * 8);
            memcpy(q[run] + n, sp_integrator_v(it), (size_t)n * 8);
            sp_integrator_energies(it, e[run]);
            if (it != first)
                sp_integrator_free(it);
            if (run == 2)
                sp_full_system_free(&other.system);
        }
        CHECK(memcmp(q[0], q[1], (size_t)(2 * n) * 8) == 0, "integrator %d: in two it moves otherwise: %g",
              (int)kinds[k], distance(n, q[0], q[1]));
        CHECK(memcmp(e[0], e[1], sizeof e[0]) == 0,
              "integrator %d: in two it has other energies: %g %g %g %g and %g %g %g %g", (int)kinds[k], e[0][0],
              e[0][1], e[0][2], e[0][3], e[1][0], e[1][1], e[1][2], e[1][3]);
        /* another system starts again: accelerations from the present forces, anchors of the next step, BDF2 with a
         * step of Euler */
        NOTE("integrator %d: another system ends %.1e of %.2g m off", (int)kinds[k], distance(n, q[2], q[0]),
             size(n, q[0]));
        CHECK(distance(n, q[2], q[0]) <= 1e-2 * size(n, q[0]), "integrator %d: another system ends %g m off",
              (int)kinds[k], distance(n, q[2], q[0]));
        for (int run = 0; run < 3; run++)
            free(q[run]);
    }
    oscillators o;
    const sp_external_loads forcing = make_oscillators(&o, 1, (double[]){4});
    OWNED_POINTER(sp_integrator) *a = begin_run(&o.system, &forcing, with(SP_EULER, 0.1), NULL, NULL),
                                 *b = begin_run(&o.system, &forcing, with(SP_EULER, 0.2), NULL, NULL);
    CHECK(sp_integrator_continue(b, a) == SP_USAGE, "another step was taken for the same");
}

/* ---- threads, memory ---- */

TEST(same_bytes_for_any_threads)
{
    SKIP_UNDER_SANITIZERS("bytes are no matter of sanitizers");
    static const enum sp_integrator_kind kinds[] = {SP_NEWMARK, SP_EULER, SP_BDF2, SP_LINEAR_EULER};
    for (size_t k = 0; k < 4; k++) {
        double *first = NULL;
        for (int threads = 1; threads <= 4; threads *= 2) {
            context.threads = threads;
            OWNED(thing) t;
            make_thing(6, 3, 3, 0.05, 0.1, (build){.young = 5e4, .poisson = 0.3, .linear = k == 1}, &t);
            CHECK_OK(sp_full_system_grounds(&t.system, 1,
                                            &(sp_ground){{0, 0, 1}, 0.01, 300, 0.2, kinds[k] == SP_BDF2 ? 0 : 0.4}));
            CHECK_OK(sp_full_system_solver(&t.system,
                                           k == 0   ? SP_SOLVER_REUSED
                                           : k == 3 ? SP_SOLVER_JACOBI
                                                    : SP_SOLVER_DIRECT,
                                           0));
            drive d = {.t = &t,
                       .force = weight(&t, 3, 0, -30),
                       .shake = {0.01, 0.02, -0.01},
                       .beat = 50,
                       .spring = {t.mesh.vertex_count - 1, {0.5, 0.1, 0.2}, 40},
                       .spring_speed = 1};
            const sp_external_loads forcing = driven(&d, true);
            OWNED_POINTER(sp_integrator) *it =
                begin_run(&t.system, &forcing, scene_parameters(kinds[k], 4e-3), NULL, NULL);
            double state[SP_WORK_COUNT];
            steps(it, 2);
            sp_integrator_energies(it, state);
            double *all = test_new(2 * t.n + SP_WORK_COUNT, 8);
            memcpy(all, sp_integrator_q(it), (size_t)t.n * 8);
            memcpy(all + t.n, sp_integrator_v(it), (size_t)t.n * 8);
            memcpy(all + 2 * t.n, state, sizeof state);
            if (!first)
                first = all;
            else {
                CHECK(memcmp(first, all, (size_t)(2 * t.n + SP_WORK_COUNT) * 8) == 0,
                      "integrator %d: %d threads give other bytes", (int)kinds[k], threads);
            }
        }
    }
    context.threads = 1;
}

TEST(steps_allocate_nothing)
{
#if defined(__SANITIZE_ADDRESS__)
    SKIP("sanitizers have their own malloc");
#endif
    static const enum sp_integrator_kind kinds[] = {SP_NEWMARK,      SP_EULER,   SP_BDF2,
                                                    SP_LINEAR_EULER, SP_CENTRAL, SP_STATIC};
    long taken = 0; /* by the first solver, which is direct */
    for (size_t k = 0; k < 6; k++)
        for (int solver = SP_SOLVER_DIRECT; solver <= SP_SOLVER_REUSED; solver++) {
            OWNED(scene) s;
            make_scene(kinds[k], solver == SP_SOLVER_JACOBI && k % 2, &s);
            CHECK_OK(sp_full_system_solver(&s.t.system, (enum sp_solver)solver, 0));
            const sp_external_loads forcing = driven(&s.d, s.prescribed);
            sp_system system = watched(&s.t.system);
            const double h = kinds[k] == SP_CENTRAL ? 1.0 / 8192 : 1.0 / 512;
            sp_integrator_parameters p = scene_parameters(kinds[k], h);
            p.halvings = 2;
            OWNED_POINTER(sp_integrator) *it = begin_run(&system, &forcing, p, NULL, NULL);
            steps(it, 2);
            int64_t solves, products, factorizations, later;
            long before = allocations;
            s.t.system.matrix_start(s.t.system.self, 1);
            const int status =
                real_factor(s.t.system.self); /* memory that CHOLMOD allocates and frees in a factorization */
            sp_full_system_solves(&s.t.system, &solves, &products, &factorizations);
            const long each = allocations - before;
            CHECK(status == SP_OK && (solver != SP_SOLVER_JACOBI || each == 0), "%ld allocations", each);
            before = allocations;
            for (int step = 0; step < 12; step++) {
                fail_below = step % 4 == 3 && kinds[k] == SP_NEWMARK ? 5 / (h * h) : 0; /* also with sub-steps */
                steps(it, 1);
            }
            before = allocations - before;
            sp_full_system_solves(&s.t.system, &solves, &products, &later);
            taken = taken ? taken : each;
            CHECK(before == taken * (later - factorizations),
                  "integrator %d, solver %d: %ld allocations in %lld factorizations, of which one takes %ld",
                  (int)kinds[k], solver, before, (long long)(later - factorizations), taken);
        }
    oscillators o;
    const sp_external_loads forcing = make_oscillators(&o, 2, (double[]){4, 0});
    OWNED_POINTER(sp_integrator) *it = begin_run(&o.system, &forcing, with(SP_EXACT, 0.1), NULL, NULL);
    const long before = allocations;
    steps(it, 5);
    CHECK(allocations == before, "exact: %ld allocations", allocations - before);
}

BEFORE_TESTS()
{
    context.threads = 1; /* small bodies; see same_bytes_for_any_threads */
}
