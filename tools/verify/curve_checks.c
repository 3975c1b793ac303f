/* Curves of periodic motions: multipliers, special points, amplitudes from the coefficients, and the equation of
 * backbones. */
#include "periodic/curve.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <string.h>

enum { PHASES_PER_HARMONIC = 64 };

static int64_t count_of(const artefact *file, const char *name)
{
    return json_integer_value(json_object_get(file->result, name));
}

static void check_counts(verify *v, artefact *file)
{
    static const char *const names[] = {NULL, "folds", "branch_points", "period_doublings", "neimark_sacker"};
    const sp_curve_file *c = &file->curve;
    bool ok = count_of(file, "points") == c->n;
    for (int event = 1; event < SP_CURVE_EVENTS; event++) {
        int64_t count = 0;
        for (int64_t i = 0; i < c->n; i++)
            count += c->event[i] == event;
        ok &= count_of(file, names[event]) == count;
    }
    verify_fact(v, file, "counts of points", ok, "%lld points", (long long)c->n);
}

/* Multipliers [2r, 2] of a point: by decreasing modulus, complex ones in pairs, and what `stable` says of the first.
 * Their product, the growth of volume in the phase space, is at most 1 (Liouville); without damping it is 1, and
 * multipliers are in pairs μ, 1/μ. Those that are 0 were not computed. */
static void check_multipliers(verify *v, artefact *file)
{
    const sp_curve_file *c = &file->curve;
    const bool is_free = c->kind == SP_PERIODIC_BACKBONE;

    const double margin = is_free ? 1e-3 : 1e-6;
    double pairs = 0, growth = 0, reciprocal = 0;
    bool ordered = true, marked = true;

    for (int64_t i = 0; i < c->n; i++) {
        const double *m = c->multiplier + i * 4 * c->r, first = hypot(m[0], m[1]);
        double product = 0, imaginary = 0, before = INFINITY;
        int64_t count = 0;

        for (int64_t k = 0; k < 2 * c->r; k++) {
            const double modulus = hypot(m[2 * k], m[2 * k + 1]);
            ordered &= modulus <= before * (1 + 1e-12);
            before = modulus;
            count += modulus > 0;
            product += modulus > 0 ? log(modulus) : 0;
            imaginary += m[2 * k + 1];
        }

        /* μ_k μ_(n-1-k) = 1 where multipliers are sorted by modulus. */
        if (is_free)
            for (int64_t k = 0; k < count; k++)
                reciprocal = verify_worse(
                    fabs(hypot(m[2 * k], m[2 * k + 1]) * hypot(m[2 * (count - 1 - k)], m[2 * (count - 1 - k) + 1]) - 1),
                    reciprocal);

        pairs = verify_worse(fabs(imaginary) / first, pairs);
        growth = verify_worse(product, growth);
        marked &= (first <= 1 + margin) == (c->stable[i] == 1);
    }

    verify_fact(v, file, "multipliers by decreasing modulus", ordered, "%lld points", (long long)c->n);
    verify_number(v, file, "sum of the imaginary parts of multipliers", pairs, 1e-10);
    verify_fact(v, file, "stable where no multiplier exceeds 1", marked, "margin %.0e", margin);
    verify_number(v, file, "growth of volume, logarithm of the product of multipliers", growth, 1e-6);
    if (is_free)
        verify_number(v, file, "multipliers in pairs of product 1", reciprocal, 1e-5);
}

/* The distance of the multipliers m [2r, 2] from what a special point says. */
static double event_error(const double *m, int64_t count, int event)
{
    double least = INFINITY;
    for (int64_t k = 0; k < count; k++) {
        const double re = m[2 * k], im = m[2 * k + 1];
        if (event == SP_CURVE_TORUS)
            least = fabs(im) > 1e-6 ? fmin(least, fabs(hypot(re, im) - 1)) : least;
        else
            least = fmin(least, hypot(re - (event == SP_CURVE_FOLD ? 1 : -1), im));
    }
    return least;
}

/* At folds a multiplier is 1, and the parameter of the curve is extreme among the points beside it; at period doublings
 * a multiplier is −1, at Neimark-Sacker points a pair is on the unit circle. Free motion always has multipliers 1. */
static void check_events(verify *v, artefact *file)
{
    static const char *const names[] = {[SP_CURVE_FOLD] = "multiplier 1 at folds",
                                        [SP_CURVE_DOUBLING] = "multiplier -1 at period doublings",
                                        [SP_CURVE_TORUS] = "multipliers of modulus 1 at Neimark-Sacker points"};
    const sp_curve_file *c = &file->curve;
    const bool sweep = c->kind == SP_PERIODIC_FORCE;
    const double *parameter = sweep ? c->factor : c->frequency;
    double error[SP_CURVE_EVENTS] = {0}, beyond = 0;
    int64_t count[SP_CURVE_EVENTS] = {0};

    for (int64_t i = 0; i < c->n; i++) {
        const int event = c->event[i];
        count[event]++;
        if (event == SP_CURVE_REGULAR || event == SP_CURVE_BRANCH)
            continue;

        error[event] = verify_worse(event_error(c->multiplier + i * 4 * c->r, 2 * c->r, event), error[event]);
        if (event != SP_CURVE_FOLD || i == 0 || i + 1 == c->n)
            continue;

        /* A fold is an extremum of the parameter: it lies outside of the interval of its neighbours. */
        const double low = fmin(parameter[i - 1], parameter[i + 1]), high = fmax(parameter[i - 1], parameter[i + 1]);
        beyond = verify_worse(fmin(parameter[i] - low, high - parameter[i]) / fmax(fabs(high), 1e-300), beyond);
    }

    if (c->kind != SP_PERIODIC_BACKBONE)
        for (int event = SP_CURVE_FOLD; event < SP_CURVE_EVENTS; event++)
            if (count[event] && names[event])
                verify_number(v, file, names[event], error[event], 1e-4);
    if (count[SP_CURVE_FOLD])
        verify_number(v, file, sweep ? "factors beyond folds, relative" : "frequencies beyond folds, relative", beyond,
                      1e-8);
}

/* The angle of a phase. */
static double angle(int64_t phase, int64_t phases)
{
    return 2 * M_PI * (double)phase / (double)phases;
}

/* q and the second derivative of q by Ωt at an angle. */
static void motion_at(const sp_curve_file *c, const double *coefficient, double theta, double *q, double *second)
{
    memcpy(q, coefficient, (size_t)c->r * sizeof *q);
    memset(second, 0, (size_t)c->r * sizeof *second);
    for (int64_t k = 1; 2 * k < c->columns; k++) {
        const double cosine = cos((double)k * theta), sine = sin((double)k * theta), *a, *b;
        a = coefficient + (2 * k - 1) * c->r;
        b = a + c->r;
        for (int64_t i = 0; i < c->r; i++) {
            const double wave = a[i] * cosine + b[i] * sine;
            q[i] += wave;
            second[i] -= (double)(k * k) * wave;
        }
    }
}

/* Half of the range over many phases: less than the exact one by a relative (H π / phases)² / 2 at most. */
static void check_amplitudes(verify *v, artefact *file)
{
    const sp_curve_file *c = &file->curve;
    const json_t *probe = json_object_get(file->meta, "probe");
    const int64_t vertex = json_integer_value(json_array_get(probe, 0)),
                  axis = json_integer_value(json_array_get(probe, 1));
    const int64_t phases = PHASES_PER_HARMONIC * c->columns;

    artefact *basis = verify_find(v, file->basis_hash);
    if (json_is_true(json_object_get(file->meta, "probe_surface"))) {
        verify_note(v, file, "amplitudes", "the probe is on the embedded surface");
        return;
    }

    if (!basis || !basis->columns.U) {
        verify_skip(v, file, "amplitudes", "its basis is not among the files (%.12s)", file->basis_hash);
        return;
    }

    const int64_t row = 3 * vertex + axis;
    if (vertex < 0 || axis < 0 || axis > 2 || row >= basis->columns.rows || basis->columns.count < c->r) {
        verify_fact(v, file, "probe", false, "the basis has %lld rows and %lld columns", (long long)basis->columns.rows,
                    (long long)basis->columns.count);
        return;
    }

    sp_pool pool = {0};
    double *q = tool_allocate_raw(&pool, c->r, sizeof *q), *second = tool_allocate_raw(&pool, c->r, sizeof *second);
    double error = 0;

    for (int64_t i = 0; i < c->n; i++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t phase = 0; phase < phases; phase++) {
            double u = 0;
            motion_at(c, c->coefficient + i * c->columns * c->r, angle(phase, phases), q, second);
            for (int64_t j = 0; j < c->r; j++)
                u += q[j] * basis->columns.U[j * basis->columns.rows + row];
            low = fmin(low, u);
            high = fmax(high, u);
        }
        error = verify_worse(fabs(c->amplitude[i] - 0.5 * (high - low)) / fmax(c->amplitude[i], 1e-300), error);
    }

    verify_number(v, file, "amplitudes", error, 1e-3);
    sp_pool_free(&pool);
}

/* The polynomials of the same basis and number of coordinates. */
static artefact *polynomials_of(const verify *v, const artefact *file)
{
    for (int64_t i = 0; i < v->count; i++)
        if (!strcmp(v->files[i].kind, "polynomials") && !strcmp(v->files[i].basis_hash, file->basis_hash) &&
            v->files[i].polynomials.r == file->curve.r)
            return &v->files[i];
    return NULL;
}

/* Fourier coefficients up to H of Ω²M q″ + f(q), and of f alone, for one point; their norms. */
static void harmonic_residual(const sp_curve_file *c, const sp_polynomials *p, const double *gram, int64_t point,
                              double *work, double *residual, double *force)
{
    const int64_t r = c->r, phases = 4 * c->columns, N = sp_polynomial_order(r);
    const double omega = 2 * M_PI * c->frequency[point];
    double *q = work, *second = q + r, *f = second + r, *z = f + r, *Az = z + N, *R = Az + N, *F = R + c->columns * r;
    memset(R, 0, (size_t)(2 * c->columns * r) * sizeof *R);

    for (int64_t phase = 0; phase < phases; phase++) {
        const double theta = angle(phase, phases);
        motion_at(c, c->coefficient + point * c->columns * r, theta, q, second);

        /* z: monomials up to degree 2; f = ∂/∂q of zᵀ A z / 2. */
        verify_monomials(r, q, z);
        for (int64_t i = 0; i < N; i++)
            Az[i] = sp_dense_dot(N, gram + i * N, z);
        verify_gram_force(r, q, Az, f);

        for (int64_t i = 0; i < r; i++) {
            double balance = f[i];
            for (int64_t j = 0; j < r; j++)
                balance += omega * omega * p->mass[j * r + i] * second[j];
            for (int64_t k = 0; k < c->columns; k++) {
                const double harmonic = (double)((k + 1) / 2), wave = k % 2 ? cos(harmonic * theta)
                                                                      : k   ? sin(harmonic * theta)
                                                                            : 1;
                R[k * r + i] += wave * balance;
                F[k * r + i] += wave * f[i];
            }
        }
    }

    *residual = *force = 0;
    for (int64_t k = 0; k < c->columns * r; k++) {
        *residual += R[k] * R[k];
        *force += F[k] * F[k];
    }
    *residual = sqrt(*residual);
    *force = sqrt(*force);
}

/* The equations of harmonic balance of free motion. Those of other curves have loads and damping, which the file does
 * not have. */
static void check_balance(verify *v, artefact *file)
{
    const sp_curve_file *c = &file->curve;
    artefact *polynomials = polynomials_of(v, file);

    if (c->kind != SP_PERIODIC_BACKBONE)
        return;
    if (!polynomials) {
        verify_skip(v, file, "harmonic balance", "polynomials of its basis and coordinates are not among the files");
        return;
    }

    const int64_t N = sp_polynomial_order(c->r);
    sp_pool pool = {0};
    const double *gram = verify_gram_sum(&polynomials->polynomials, &pool);
    double *work = tool_allocate_raw(&pool, 3 * c->r + 2 * N + 2 * c->columns * c->r, sizeof *work), worst = 0;

    for (int64_t i = 0; i < c->n; i++) {
        double residual, force;
        harmonic_residual(c, &polynomials->polynomials, gram, i, work, &residual, &force);
        worst = verify_worse(residual / force, worst);
    }

    verify_number(v, file, "harmonic balance, of the force", worst, 1e-8);
    sp_pool_free(&pool);
}

void verify_curve(verify *v, artefact *file)
{
    check_counts(v, file);
    check_multipliers(v, file);
    check_events(v, file);
    check_amplitudes(v, file);
    check_balance(v, file);
}
