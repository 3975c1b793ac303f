/* Full-order systems in time: implicit Euler, BDF2, linearly implicit and exact steps against closed forms; continued
 * runs, threads, memory. */
#include "allocations.h"
#include "full_models.h"

#include <complex.h>

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
                error[level] = max_difference(t.n, sp_integrator_q(it), reference);
            if (cases[c].parts) {
                const sp_integrator_report *report = sp_integrator_reported(it);
                CHECK(report->parted == count / 3 && fabs(report->smallest_part - 0.25) < 1e-9,
                      "%lld steps in parts, the smallest of %g", (long long)report->parted, report->smallest_part);
            }
        }
        if (fine)
            continue;
        NOTE("%s: errors %.2e to %.2e of %.2g m, orders %.2f %.2f %.2f", cases[c].name, error[0], error[LEVELS - 1],
             max_abs(t.n, reference), log2(error[0] / error[1]), log2(error[1] / error[2]), log2(error[2] / error[3]));
        CHECK_NEAR(log2(error[2] / error[3]), cases[c].order, 0.1);
        CHECK(error[LEVELS - 1] < 0.03 * max_abs(t.n, reference), "far off");
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
        CHECK(max_abs(2, sp_integrator_q(it)) < 1e-5, "%g left", max_abs(2, sp_integrator_q(it)));
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
              (int)kinds[k], max_difference(n, q[0], q[1]));
        CHECK(memcmp(e[0], e[1], sizeof e[0]) == 0,
              "integrator %d: in two it has other energies: %g %g %g %g and %g %g %g %g", (int)kinds[k], e[0][0],
              e[0][1], e[0][2], e[0][3], e[1][0], e[1][1], e[1][2], e[1][3]);
        /* another system starts again: accelerations from the present forces, anchors of the next step, BDF2 with a
         * step of Euler */
        NOTE("integrator %d: another system ends %.1e of %.2g m off", (int)kinds[k], max_difference(n, q[2], q[0]),
             max_abs(n, q[0]));
        CHECK(max_difference(n, q[2], q[0]) <= 1e-2 * max_abs(n, q[0]), "integrator %d: another system ends %g m off",
              (int)kinds[k], max_difference(n, q[2], q[0]));
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
                real_factor(s.t.system.self); /* updates of fronts are allocated and freed in a factorization */
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
