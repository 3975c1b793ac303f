/* Harmonic balance, Floquet multipliers and curves: closed forms, finite differences, time integration. */
#include "periodic/curve.h"
#include "test.h"

enum { MOST = 4 };

/* f = K q + c s³ a + e s² a + K₃ ∘ q³ with s = aᵀq: a gradient, symmetric. */
typedef struct cubic {
    int r;
    double K[MOST * MOST], a[MOST], cube, square, single[MOST];
} cubic;

static double evaluate(void *self, const double *q, bool definite, double *f, double *K)
{
    const cubic *c = self;
    double s = 0, energy = 0;
    (void)definite;
    for (int i = 0; i < c->r; i++)
        s += c->a[i] * q[i];
    for (int i = 0; i < c->r; i++) {
        double linear = 0;
        for (int j = 0; j < c->r; j++) {
            linear += c->K[j * c->r + i] * q[j];
            if (K)
                K[j * c->r + i] = c->K[j * c->r + i] + (3 * c->cube * s * s + 2 * c->square * s) * c->a[i] * c->a[j] +
                                  (i == j) * 3 * c->single[i] * q[i] * q[i];
        }
        energy += 0.5 * linear * q[i] + 0.25 * c->single[i] * pow(q[i], 4);
        if (f)
            f[i] = linear + (c->cube * s + c->square) * s * s * c->a[i] + c->single[i] * pow(q[i], 3);
    }
    return energy + 0.25 * c->cube * pow(s, 4) + c->square * pow(s, 3) / 3;
}

static sp_reduced_force force_of(cubic *c)
{
    return (sp_reduced_force){.self = c, .r = c->r, .cubic = true, .evaluate = evaluate};
}

static const cubic duffing = {.r = 1, .K = {1}, .a = {1}, .cube = 1};
static const cubic three = {.r = 3,
                            .K = {2, -0.3, 0.1, -0.3, 5, 0.4, 0.1, 0.4, 11},
                            .a = {1, -0.4, 0.3},
                            .cube = 0.8,
                            .square = 0.5,
                            .single = {0.2, 0.5, 0.1}};
static const double mass3[9] = {1.5, 0.2, 0, 0.2, 1, 0.1, 0, 0.1, 2}, load3[9] = {0.3, 0.1, -0.2},
                    still3[3] = {0.2, -0.1, 0.3}, none[MOST];

static sp_periodic_model model_of(const sp_reduced_force *force, const double *mass, int harmonics)
{
    return (sp_periodic_model){
        .force = force, .mass = mass, .constant = none, .amplitude = none, .harmonics = harmonics};
}

/* ---- the Jacobian ---- */

static void jacobian_of(enum sp_periodic_kind kind)
{
    cubic c = three;
    const sp_reduced_force force = force_of(&c);
    sp_periodic_model model = model_of(&force, mass3, 3);
    OWNED(sp_harmonic) h;
    model.constant = still3;
    model.amplitude = load3;
    model.damping_mass = 0.3;
    model.damping_stiffness = 0.05;
    model.damping_ratio = 0.02;
    CHECK_OK(sp_harmonic_new(&context, &model, &h));
    h.kind = kind;
    h.frequency = 1.3;
    h.scale = kind == SP_PERIODIC_FORCE ? 1 : 1.7;
    const int64_t n = sp_harmonic_equations(&h);
    double x[30], v[30], y[30], r0[30], r1[30], J[30 * 30], error[3];
    for (int i = 0; i <= n; i++) {
        x[i] = sin(1 + 3 * i) * 0.7;
        v[i] = cos(2 + 5 * i);
        h.reference[i % 21] = cos(3 + 7 * i);
    }
    x[n] = 0.9;
    sp_harmonic_evaluate(&h, x, r0, J, n);
    for (int k = 0; k < 3; k++) {
        const double step = 1e-2 / (1 << k);
        error[k] = 0;
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int i = 0; i <= n; i++)
                y[i] = x[i] + sign * step * v[i];
            sp_harmonic_evaluate(&h, y, sign < 0 ? r0 : r1, NULL, n);
        }
        for (int i = 0; i < n; i++) {
            double exact = 0;
            for (int j = 0; j <= n; j++)
                exact += J[j * n + i] * v[j];
            error[k] = fmax(error[k], fabs((r1[i] - r0[i]) / (2 * step) - exact));
        }
    }
    CHECK_ORDERS(error, 2, 0.02, 0.02, "kind %d", (int)kind);
}

TEST(jacobian)
{
    jacobian_of(SP_PERIODIC_RESPONSE);
    jacobian_of(SP_PERIODIC_BACKBONE);
    jacobian_of(SP_PERIODIC_FORCE);
}

/* ---- curves ---- */

typedef struct keep {
    int64_t count;
    double frequency[4000], amplitude[4000], factor[4000], mean[4000], balance[4000];
    double x[4000][64];
    double largest[4000], one[4000]; /* modulus of a multiplier, least |μ − 1| */
    bool stable[4000];
    enum sp_curve_event event[4000];
    int r, columns;
} keep;

static bool visit(void *data, const sp_curve_point *point)
{
    keep *k = data;
    const int64_t i = k->count++;
    double largest = 0;
    memcpy(k->x[i], point->coefficients, (size_t)(k->r * k->columns) * sizeof(double));
    for (int s = 0; s < 720; s++) {
        double q = point->coefficients[0];
        for (int m = 1; 2 * m < k->columns; m++)
            q += point->coefficients[(2 * m - 1) * k->r] * cos(m * M_PI * s / 360) +
                 point->coefficients[2 * m * k->r] * sin(m * M_PI * s / 360);
        largest = fmax(largest, fabs(q));
    }
    k->amplitude[i] = largest;
    k->frequency[i] = point->frequency;
    k->factor[i] = point->factor;
    k->stable[i] = point->stable;
    k->largest[i] = hypot(point->multiplier_re[0], point->multiplier_im[0]);
    k->one[i] = INFINITY;
    for (int m = 0; m < 2 * k->r; m++)
        k->one[i] = fmin(k->one[i], hypot(point->multiplier_re[m] - 1, point->multiplier_im[m]));
    k->event[i] = point->event;
    k->mean[i] = point->energy.mean;
    return k->count >= 3990;
}

/* Complete elliptic integral K(m) by the arithmetic-geometric mean. */
static double elliptic(double m)
{
    double a = 1, b = sqrt(1 - m);
    for (int i = 0; i < 20; i++) {
        const double next = 0.5 * (a + b);
        b = sqrt(a * b);
        a = next;
    }
    return M_PI / (2 * a);
}

/* q̈ + q + q³ = 0: ω(A) = π √(1 + A²) / (2 K(m)), m = A²/(2 (1 + A²)), since q = A cn(√(1 + A²) t | m). */
TEST(backbone)
{
    static keep k;
    cubic c = duffing;
    const sp_reduced_force force = force_of(&c);
    const sp_periodic_model model = model_of(&force, (double[]){1}, 15);
    sp_curve_report report;
    k = (keep){.r = 1, .columns = 31};
    CHECK_OK(sp_curve_trace(&context, &model,
                            &(sp_curve_parameters){SP_PERIODIC_BACKBONE, 0.1, 10, .start = 0.01, .energy = 50,
                                                   .most = 3000, .resolution = 0.1},
                            visit, &k, &report));
    double worst = 0;
    for (int64_t i = 0; i < k.count; i++) {
        const double A = k.amplitude[i];
        worst =
            fmax(worst, fabs(k.frequency[i] / (M_PI * sqrt(1 + A * A) / (2 * elliptic(A * A / (2 + 2 * A * A)))) - 1));
        CHECK(k.stable[i], "A = %g is unstable", A);
    }
    NOTE("%lld points up to A = %g, omega = %g, off by %.2g", (long long)k.count, k.amplitude[k.count - 1],
         k.frequency[k.count - 1], worst);
    CHECK(worst < 1e-8 && k.amplitude[k.count - 1] > 3, "%g", worst);
}

/* Under a constant load that bends it to the equilibrium η₀ the backbone starts at the frequency of K(η₀) and in its
 * mode: for q + q³ = f₀, ω² = 1 + 3q₀². A start that is large already is refused. */
TEST(preloaded)
{
    static keep k;
    cubic c = {.r = 2, .K = {1, -0.2, -0.2, 3}, .a = {1, 1}, .cube = 1};
    const sp_reduced_force force = force_of(&c);
    sp_periodic_model model = model_of(&force, (double[]){1, 0, 0, 1}, 7);
    sp_curve_report report;
    double q0[2] = {0.7, 0.4}, f[2], K[4];
    evaluate(&c, q0, false, f, K);
    model.constant = f;
    const double half = 0.5 * (K[0] + K[3]), root = hypot(0.5 * (K[0] - K[3]), K[1]);
    sp_curve_parameters parameters = {
        SP_PERIODIC_BACKBONE, 0.1, 20, .mode = 1, .start = 1e-3, .energy = INFINITY, .most = 2, .resolution = 0.1};
    for (parameters.mode = 0; parameters.mode < 2; parameters.mode++) {
        const double omega = sqrt(half + (parameters.mode ? root : -root));
        k = (keep){.r = 2, .columns = 15};
        CHECK_OK(sp_curve_trace(&context, &model, &parameters, visit, &k, &report));
        CHECK_NEAR(k.frequency[0], omega, 1e-5 * omega);
        CHECK_NEAR(k.x[0][0], q0[0], 1e-5);
        const double a = k.x[0][2], b = k.x[0][3]; /* of cos Ωt: (K − ω²) (a, b) = 0 */
        CHECK_NEAR((K[0] - omega * omega) * a + K[2] * b, 0, 1e-5 * K[2] * 1e-3);
        CHECK_NEAR(hypot(a, b), 1e-3, 1e-5);
    }
    parameters.mode = 0;
    parameters.start = 1;
    k = (keep){.r = 2, .columns = 15};
    CHECK(sp_curve_trace(&context, &model, &parameters, visit, &k, &report) == SP_USAGE &&
              strstr(context.message, "too large") && k.count == 0,
          "%s", context.message);
}

/* A linear model: (K − Ω²M + iΩC) q = f₁ in closed form, with all kinds of damping. */
TEST(linear)
{
    static keep k;
    cubic c = {.r = 2, .K = {3, -1, -1, 2}};
    const sp_reduced_force force = force_of(&c);
    sp_periodic_model model = model_of(&force, (double[]){1, 0, 0, 2}, 1);
    sp_curve_report report;
    model.amplitude = (double[]){1, 0.5};
    model.damping_mass = 0.05;
    model.damping_stiffness = 0.02;
    k = (keep){.r = 2, .columns = 3};
    CHECK_OK(sp_curve_trace(&context, &model,
                            &(sp_curve_parameters){SP_PERIODIC_RESPONSE, 0.2, 3, .most = 3000, .resolution = 0.1},
                            visit, &k, &report));
    double worst = 0;
    for (int64_t i = 0; i < k.count; i++) {
        const double w = k.frequency[i], k00 = 3 - w * w, k11 = 2 - 2 * w * w;
        /* residuals of the real and the imaginary part with q = a − i b */
        const double *x = k.x[i], *a = x + 2, *b = x + 4, C[4] = {0.05 + 0.06, -0.02, -0.02, 0.1 + 0.04};
        const double error[4] = {k00 * a[0] - a[1] + w * (C[0] * b[0] + C[1] * b[1]) - 1,
                                 -a[0] + k11 * a[1] + w * (C[2] * b[0] + C[3] * b[1]) - 0.5,
                                 k00 * b[0] - b[1] - w * (C[0] * a[0] + C[1] * a[1]),
                                 -b[0] + k11 * b[1] - w * (C[2] * a[0] + C[3] * a[1])};
        for (int j = 0; j < 4; j++)
            worst = fmax(worst, fabs(error[j]));
        CHECK(k.stable[i] && k.event[i] == SP_CURVE_REGULAR, "a linear response is unstable at %g", w);
    }
    NOTE("%lld points, off by %.2g, balance %.2g", (long long)k.count, worst, report.worst_balance);
    CHECK(worst < 1e-9 && report.worst_balance < 1e-8, "%g %g", worst, report.worst_balance);
    CHECK_NEAR(k.frequency[k.count - 1], 3, 1e-8);
}

/* ---- against time integration ---- */

/* M v̇ = f₀ + p f₁ cos Ωt − C v − f − β K v by Runge and Kutta's method of order 4, over periods. */
typedef struct run {
    cubic *c;
    double alpha, beta, omega, load[MOST];
} run;

static void slope(const run *r, double time, const double *z, double *dz)
{
    const int n = r->c->r;
    double f[MOST], K[MOST * MOST];
    evaluate(r->c, z, false, f, K);
    for (int i = 0; i < n; i++) { /* the mass is 1 */
        dz[i] = z[n + i];
        dz[n + i] = r->load[i] * cos(r->omega * time) - r->alpha * z[n + i] - f[i];
        for (int j = 0; j < n; j++)
            dz[n + i] -= r->beta * K[j * n + i] * z[n + j];
    }
}

static void integrate(const run *r, int periods, int steps, double *z)
{
    const int n = 2 * r->c->r;
    const double h = 2 * M_PI / r->omega / steps;
    for (int64_t s = 0; s < (int64_t)periods * steps; s++) {
        double k[4][2 * MOST], y[2 * MOST];
        slope(r, (double)s * h, z, k[0]);
        for (int stage = 1; stage < 4; stage++) {
            for (int i = 0; i < n; i++)
                y[i] = z[i] + (stage < 3 ? 0.5 : 1) * h * k[stage - 1][i];
            slope(r, ((double)s + (stage < 3 ? 0.5 : 1)) * h, y, k[stage]);
        }
        for (int i = 0; i < n; i++)
            z[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

/* z = (q, q̇) at the phase 0 of a point. */
static void state_at(const keep *k, int64_t i, double *z)
{
    for (int j = 0; j < k->r; j++) {
        z[j] = k->x[i][j];
        z[k->r + j] = 0;
        for (int m = 1; 2 * m < k->columns; m++) {
            z[j] += k->x[i][(2 * m - 1) * k->r + j];
            z[k->r + j] += m * k->frequency[i] * k->x[i][2 * m * k->r + j];
        }
    }
}

/* A hardening resonance with both folds: each point is periodic under time integration; a small perturbation of a
 * stable point decays, and that of an unstable one grows. */
TEST(folded)
{
    static keep k;
    cubic c = {.r = 2, .K = {1, 0, 0, 8}, .a = {1, 0.5}, .cube = 1, .square = 0.3};
    const sp_reduced_force force = force_of(&c);
    sp_periodic_model model = model_of(&force, (double[]){1, 0, 0, 1}, 15);
    sp_curve_report report;
    model.amplitude = (double[]){0.2, 0.1};
    model.damping_mass = 0.05;
    model.damping_stiffness = 0.01;
    k = (keep){.r = 2, .columns = 31};
    CHECK_OK(sp_curve_trace(&context, &model,
                            &(sp_curve_parameters){SP_PERIODIC_RESPONSE, 0.8, 2.2, .most = 3000, .resolution = 0.1},
                            visit, &k, &report));
    NOTE("%lld points, %lld folds, %lld iterations, %lld factors, residual %.2g, balance %.2g", (long long)k.count,
         (long long)report.events[SP_CURVE_FOLD], (long long)report.continuation.iterations,
         (long long)report.continuation.factorizations, report.worst_residual, report.worst_balance);
    CHECK(report.events[SP_CURVE_FOLD] == 2, "%lld folds", (long long)report.events[SP_CURVE_FOLD]);
    CHECK(report.worst_balance < 1e-8, "balance %g", report.worst_balance);
    int unstable = 0, tested = 0;
    double worst = 0;
    for (int64_t i = 3; i < k.count; i += 7) {
        const run r = {&c, 0.05, 0.01, k.frequency[i], {0.2, 0.1}};
        double z[4], start[4];
        state_at(&k, i, start);
        memcpy(z, start, sizeof z);
        integrate(&r, 1, 2000, z);
        double missed = 0, size = 0;
        for (int j = 0; j < 4; j++) {
            missed = fmax(missed, fabs(z[j] - start[j]));
            size = fmax(size, fabs(start[j]));
        }
        worst = fmax(worst, missed / size);
        memcpy(z, start, sizeof z);
        z[0] += 1e-6;
        integrate(&r, 60, 400, z);
        double away = 0;
        for (int j = 0; j < 4; j++)
            away = fmax(away, fabs(z[j] - start[j]));
        if (fabs(k.largest[i] - 1) > 0.05) { /* away from the folds, where perturbations need long */
            tested++;
            unstable += !k.stable[i];
            CHECK(k.stable[i] ? away < 2e-6 : away > 1e-5, "at %g, stable %d: a perturbation of 1e-6 becomes %g",
                  k.frequency[i], k.stable[i], away);
        }
    }
    NOTE("%d points integrated, %d unstable; a period misses by %.2g", tested, unstable, worst);
    CHECK(worst < 1e-4 && unstable > 3 && unstable < tested, "%g %d", worst, unstable);
}

/* At a fold one multiplier is 1, and the parameter is extreme among the points beside it, whatever the resolution. */
static int check_folds(const keep *k, const double *parameter)
{
    int folds = 0;
    for (int64_t i = 1; i + 1 < k->count; i++) {
        const double before = parameter[i - 1], here = parameter[i], after = parameter[i + 1];
        if (k->event[i] != SP_CURVE_FOLD)
            continue;
        folds++;
        CHECK(k->one[i] < 1e-4, "a fold at %g: a multiplier is off 1 by %g", here, k->one[i]);
        CHECK((here > before && here > after) || (here < before && here < after),
              "a fold at %.9g between %.9g and %.9g", here, before, after);
    }
    return folds;
}

TEST(folds)
{
    static keep k;
    cubic c = {.r = 2, .K = {1, 0, 0, 8}, .a = {1, 0.5}, .cube = 1, .square = 0.3};
    const sp_reduced_force force = force_of(&c);
    sp_periodic_model model = model_of(&force, (double[]){1, 0, 0, 1}, 9);
    sp_curve_report report;
    model.damping_mass = 0.05;
    for (int i = 0; i < 12; i++) {
        const double size = 0.12 + 0.02 * (i % 6), resolution = 0.04 + 0.012 * i;
        model.amplitude = (double[]){size, 0.5 * size};
        for (int sweep = 0; sweep < 2; sweep++) {
            const sp_curve_parameters response = {SP_PERIODIC_RESPONSE, 0.8, 2.6, .most = 3000,
                                                  .resolution = resolution},
                                      factors = {SP_PERIODIC_FORCE,       0, 1 / size, 1.5, .most = 3000,
                                                 .resolution = resolution};
            k = (keep){.r = 2, .columns = 19};
            CHECK_OK(sp_curve_trace(&context, &model, sweep ? &factors : &response, visit, &k, &report));
            const int found = check_folds(&k, sweep ? k.factor : k.frequency);
            CHECK(found == 2, "sweep %d, force %g, resolution %g: %d folds", sweep, size, resolution, found);
            CHECK(report.worst_event < 1e-4, "%g", report.worst_event);
        }
    }
}

/* The frequency of a force sweep is the same, and its folds are those of the hysteresis. */
TEST(sweep)
{
    static keep k;
    cubic c = duffing;
    const sp_reduced_force force = force_of(&c);
    sp_periodic_model model = model_of(&force, (double[]){1}, 9);
    sp_curve_report report;
    model.amplitude = (double[]){1};
    model.damping_ratio = 0.02;
    k = (keep){.r = 1, .columns = 19};
    CHECK_OK(sp_curve_trace(&context, &model,
                            &(sp_curve_parameters){SP_PERIODIC_FORCE, 0, 1, 1.6, .most = 3000, .resolution = 0.1},
                            visit, &k, &report));
    NOTE("%lld points, %lld folds", (long long)k.count, (long long)report.events[SP_CURVE_FOLD]);
    CHECK(report.events[SP_CURVE_FOLD] == 2, "%lld", (long long)report.events[SP_CURVE_FOLD]);
    CHECK_NEAR(k.factor[k.count - 1], 1, 1e-8);
    CHECK_NEAR(k.frequency[k.count - 1], 1.6, 1e-15);
}

/* ---- multipliers ---- */

/* A linear oscillator has μ = exp((−α/2 ± i√(ω² − α²/4)) T), without damping on the unit circle, whatever its
 * frequency: here 1.3 and 333 times that of the motion. One of 10⁶ times is eliminated: its multipliers are 0. */
TEST(multipliers)
{
    cubic c = {.r = 3, .K = {4, 0, 0, 0, 250000, 0, 0, 0, 2.25e12}};
    const sp_reduced_force force = force_of(&c);
    sp_periodic_model model = model_of(&force, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 3);
    sp_harmonic h;
    sp_floquet f;
    for (int damped = 0; damped < 2; damped++) {
        double x[23] = {0};
        const double T = 2 * M_PI / 1.5, alpha = damped ? 0.2 : 0;
        model.damping_mass = alpha;
        CHECK_OK(sp_harmonic_new(&context, &model, &h));
        CHECK_OK(sp_floquet_new(&context, &h, &f));
        x[21] = 1.5;
        CHECK_OK(sp_floquet_multipliers(&context, &f, &h, x));
        const double w[2] = {sqrt(4 - alpha * alpha / 4), sqrt(250000 - alpha * alpha / 4)};
        for (int k = 0; k < 4; k++)
            CHECK_NEAR(hypot(f.re[k], f.im[k]), exp(-0.5 * alpha * T), damped ? 4e-5 : 1e-9);
        for (int k = 0; k < 2; k++) { /* the phase error is (ωh)⁶/100800 ωT with ωh near 1, and less than 0.01 */
            double nearest = INFINITY;
            for (int i = 0; i < 4; i++)
                nearest = fmin(nearest, hypot(f.re[i] - exp(-0.5 * alpha * T) * cos(w[k] * T),
                                              f.im[i] - exp(-0.5 * alpha * T) * sin(w[k] * T)));
            CHECK(nearest < 1.1 * w[k] * T * (k ? 1 : 1e-6) / 100800, "mode %d: off by %g", k, nearest);
        }
        CHECK(f.re[4] == 0 && f.im[4] == 0 && f.re[5] == 0 && f.im[5] == 0, "%g %g", f.re[4], f.re[5]);
        sp_floquet_free(&f);
        sp_harmonic_free(&h);
    }
}

/* W = ½·4q₁² + ½·4.84q₂² + ½q₁²q₂² and, with a third coordinate, ½·10¹²(q₃ + b q₂)², which pins q₃ to −b q₂. */
typedef struct hill {
    int r;
    double b;
} hill;

static double evaluate_hill(void *self, const double *q, bool definite, double *f, double *K)
{
    const hill *h = self;
    const double x = q[0], y = q[1], stiff = 1e12, s = h->r > 2 ? q[2] + h->b * y : 0;
    (void)definite;
    if (f) {
        f[0] = 4 * x + x * y * y;
        f[1] = 4.84 * y + x * x * y + stiff * h->b * s;
        if (h->r > 2)
            f[2] = stiff * s;
    }
    if (K) {
        K[0] = 4 + y * y;
        K[1] = 2 * x * y;
        K[h->r + 1] = 4.84 + x * x + (h->r > 2 ? stiff * h->b * h->b : 0);
        if (h->r > 2) {
            K[2] = 0;
            K[5] = stiff * h->b;
            K[8] = stiff;
        }
    }
    return 2 * x * x + 2.42 * y * y + 0.5 * x * x * y * y + 0.5 * stiff * s * s;
}

/* The larger multiplier of m ÿ + c ẏ + (4.84 + q₁²) y = 0, q₁ = Re e^{iωt}/(4 − ω² + iω c₁), by Runge and Kutta's
 * method. */
static double hill_multiplier(double omega, double c1, double mass, double c2)
{
    const int steps = 40000;
    const double h = 2 * M_PI / omega / steps, re = 4 - omega * omega, im = omega * c1, size = re * re + im * im;
    double phi[2][2] = {{1, 0}, {0, 1}};
    for (int column = 0; column < 2; column++)
        for (int s = 0; s < steps; s++) {
            double *z = phi[column], k[4][2], y[2] = {z[0], z[1]};
            for (int stage = 0; stage < 4; stage++) {
                const double part = stage == 0  ? 0
                                    : stage < 3 ? 0.5
                                                : 1,
                             t = omega * h * (s + part), q = (re * cos(t) + im * sin(t)) / size;
                for (int i = 0; i < 2 && stage; i++)
                    y[i] = z[i] + part * h * k[stage - 1][i];
                k[stage][0] = y[1];
                k[stage][1] = -(c2 * y[1] + (4.84 + q * q) * y[0]) / mass;
            }
            for (int i = 0; i < 2; i++)
                z[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
        }
    const double trace = phi[0][0] + phi[1][1], det = phi[0][0] * phi[1][1] - phi[0][1] * phi[1][0],
                 root = 0.25 * trace * trace - det;
    return root > 0 ? 0.5 * fabs(trace) + sqrt(root) : sqrt(det);
}

/* q₁ vibrates up to 60 by itself, and the stiffness of q₂ swings by nearly 1000 times: modulus and mark are those of
 * Hill's equation at every point. With the third coordinate its mass is that of both, 1 + b². */
static void hills(int r, double b)
{
    static keep k;
    hill h = {r, b};
    const sp_reduced_force force = {.self = &h, .r = r, .cubic = true, .evaluate = evaluate_hill};
    const double mass = 1 + (r > 2 ? b * b : 0), zeta = 0.002;
    sp_periodic_model model =
        model_of(&force, r > 2 ? (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1} : (double[]){1, 0, 0, 1}, 7);
    sp_curve_report report;
    model.amplitude = (double[]){1, 0, 0};
    model.damping_mass = 4 * zeta; /* both coordinates have α; 2ζω of the first one */
    k = (keep){.r = r, .columns = 15};
    CHECK_OK(sp_curve_trace(
        &context, &model,
        &(sp_curve_parameters){SP_PERIODIC_RESPONSE, 0.4 * M_PI, 0.9 * M_PI, .most = 3000, .resolution = 0.1}, visit,
        &k, &report));
    double worst = 0;
    int unstable = 0, wrong = 0;
    for (int64_t i = 0; i < k.count; i++) {
        const double own = exp(-2 * zeta * 2 * M_PI / k.frequency[i]), /* of q₁, linear */
            exact = fmax(own, hill_multiplier(k.frequency[i], 4 * zeta, mass, 4 * zeta * mass));
        worst = fmax(worst, fabs(k.largest[i] / exact - 1));
        unstable += !k.stable[i];
        wrong += fabs(exact - 1) > 1e-4 && k.stable[i] != (exact < 1);
    }
    NOTE("%lld points, %d unstable, %d wrong, modulus off by %.2g", (long long)k.count, unstable, wrong, worst);
    CHECK(wrong == 0 && unstable > 5 && worst < 1e-4, "%d wrong, %d unstable, %g", wrong, unstable, worst);
}

TEST(parametric)
{
    hills(2, 0);
    hills(3, 0.5);
}

/* ---- what is refused ---- */

TEST(refusals)
{
    static keep k;
    cubic c = duffing;
    const sp_reduced_force force = force_of(&c);
    sp_periodic_model model = model_of(&force, (double[]){1}, 3);
    const sp_curve_parameters response = {SP_PERIODIC_RESPONSE, 0.5, 2, .most = 100, .resolution = 0.1};
    sp_curve_report report;
    k = (keep){.r = 1, .columns = 7};
    CHECK(sp_curve_trace(&context, &model, &response, visit, &k, &report) == SP_USAGE &&
              strstr(context.message, "no component"),
          "%s", context.message);
    model.amplitude = (double[]){0.1};
    CHECK(sp_curve_trace(&context, &model, &response, visit, &k, &report) == SP_USAGE &&
              strstr(context.message, "no damping"),
          "%s", context.message);
    CHECK(k.count == 0, "points were passed");
}
