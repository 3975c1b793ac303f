/* Sound: interpolation against sines, the Fourier transform against its definition, the radiation of spheres and of a
 * piston against closed forms and quadrature in one dimension, filters and rates. */
#include "base/fourier.h"
#include "sound/kernel.h"
#include "sound/pressure.h"
#include "sound/spectrogram.h"
#include "test.h"

#include <complex.h>

OWNER(sp_pressure)

static sp_pool pool;

/* ---- interpolation ---- */

TEST(interpolation_is_that_of_band_limited_signals)
{
    enum { N = 400 };
    OWNED(sp_kernel) value, derivative;
    double x[N], taps[400], worst[2] = {0, 0};
    CHECK_OK(sp_kernel_new(&context, 0.45, 0.55, false, &value));
    CHECK_OK(sp_kernel_new(&context, 0.42, 0.5, true, &derivative));
    CHECK(2 * value.half <= 400 && 2 * derivative.half <= 400, "%lld taps", (long long)value.half);

    for (double f = 0.001; f <= 0.42; f *= 1.5) {
        for (int i = 0; i < N; i++)
            x[i] = sin(2 * M_PI * f * (i - 190));

        for (double p = 200; p < 203; p += 0.0371) {
            const int from = (int)floor(p);
            double sum = 0, slope = 0;
            sp_kernel_taps(&value, p - from, taps);
            for (int64_t j = 0; j < 2 * value.half; j++)
                sum += taps[j] * x[from - value.half + 1 + j];
            sp_kernel_taps(&derivative, p - from, taps);
            for (int64_t j = 0; j < 2 * derivative.half; j++)
                slope += taps[j] * x[from - derivative.half + 1 + j];
            worst[0] = fmax(worst[0], fabs(sum - sin(2 * M_PI * f * (p - 190))));
            worst[1] = fmax(worst[1], fabs(slope / (2 * M_PI * f) - cos(2 * M_PI * f * (p - 190))));
        }
    }

    /* 80 dB, and linear interpolation between 1024 fractions; the error of the derivative grows with π/(2πf) below
     * the cutoff, where lines are exact. */
    NOTE("values within %.1e, slopes within %.1e of the amplitude", worst[0], worst[1]);
    CHECK(worst[0] < 2e-4, "%g", worst[0]);
    CHECK(worst[1] < 1e-3, "%g", worst[1]);
}

TEST(constants_and_lines_are_exact)
{
    for (int derivative = 0; derivative < 2; derivative++) {
        OWNED(sp_kernel) kernel;
        double taps[400];
        CHECK_OK(sp_kernel_new(&context, 0.4, 0.5, derivative, &kernel));
        for (double f = 0; f < 1; f += 0.0777) {
            double sum = 0, moment = 0;
            sp_kernel_taps(&kernel, f, taps);
            for (int64_t j = 0; j < 2 * kernel.half; j++) {
                sum += taps[j];
                moment += taps[j] * (double)(j - kernel.half + 1);
            }
            CHECK_NEAR(sum, derivative ? 0 : 1, 1e-13);
            CHECK_NEAR(moment, derivative ? 1 : f, 1e-12);
        }
    }
    sp_kernel none;
    CHECK(sp_kernel_new(&context, 0.5, 0.5, false, &none) == SP_USAGE, "an empty transition");
}

/* ---- the Fourier transform ---- */

TEST(transform_is_its_definition)
{
    enum { N = 64 };
    double re[N], im[N], root[N], worst = 0;
    double complex x[N];
    for (int j = 0; j < N; j++) {
        re[j] = sin(j * j * 0.37);
        im[j] = cos(j * 1.7 + 0.2 * j * j);
        x[j] = re[j] + im[j] * I;
    }
    sp_fourier_roots(N, root);
    sp_fourier(N, root, re, im);
    for (int k = 0; k < N; k++) {
        double complex sum = 0;
        for (int j = 0; j < N; j++)
            sum += x[j] * cexp(-2 * M_PI * I * (j * k % N) / N);
        worst = fmax(worst, cabs(sum - (re[k] + im[k] * I)));
    }
    CHECK(worst < 1e-12, "%g", worst);
}

TEST(spectra_have_the_amplitude_of_sines)
{
    enum { COUNT = 20000 };
    static double x[COUNT];
    sp_spectrogram s;
    for (int i = 0; i < COUNT; i++)
        x[i] = 0.3 * sin(2 * M_PI * 100 / 4096.0 * i + 1) + 0.02;
    CHECK_OK(sp_spectrogram_new(&context, COUNT, x, 4096, 5, &pool, &s));
    CHECK_NEAR(sp_spectrogram_at(&s, 2, 100), 0.3, 1e-9);
    CHECK_NEAR(sp_spectrogram_at(&s, 2, 0), 0.02, 1e-9);
    CHECK(sp_spectrogram_at(&s, 2, 110) < 1e-4, "%g", sp_spectrogram_at(&s, 2, 110));
}

/* ---- surfaces ---- */

typedef struct surface {
    int64_t vertices, triangles;
    double *x;
    int64_t *corner;
} surface;

/* A sphere from an octahedron, its triangles divided into n². */
static surface sphere(double radius, int n)
{
    const int64_t count = 8 * n * n;
    surface s = {3 * count, count, sp_pool_new(&pool, 9 * count, sizeof(double)),
                 sp_pool_new(&pool, 3 * count, sizeof(int64_t))};
    int64_t at = 0;
    for (int side = 0; side < 8; side++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 2 * (n - i) - 1; j++) {
                const int k = j / 2, odd = j % 2; /* upright triangles, and those between two of them */
                const int corners[3][2] = {{i + odd, k}, {i + 1, k + odd}, {i, k + 1}};
                const int sign[3] = {side & 1 ? -1 : 1, side & 2 ? -1 : 1, side & 4 ? -1 : 1},
                          turned = sign[0] * sign[1] * sign[2] < 0;
                for (int c = 0; c < 3; c++) {
                    const int *p = corners[turned ? 2 - c : c];
                    double d[3] = {sign[0] * p[0], sign[1] * p[1], sign[2] * (n - p[0] - p[1])},
                           length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
                    for (int q = 0; q < 3; q++)
                        s.x[3 * (3 * at + c) + q] = radius * d[q] / length;
                    s.corner[3 * at + c] = 3 * at + c;
                }
                at++;
            }
    return s;
}

/* A disk in the plane z = 0, in rings, that faces +z. */
static surface disk(double radius, int rings, int sectors)
{
    const int64_t count = (int64_t)2 * rings * sectors;
    surface s = {3 * count, 0, sp_pool_new(&pool, 9 * count, sizeof(double)),
                 sp_pool_new(&pool, 3 * count, sizeof(int64_t))};
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < sectors; j++)
            for (int half = 0; half < (i ? 2 : 1); half++) {
                const int ring[2][3] = {{i, i + 1, i + 1}, {i, i + 1, i}},
                          sector[2][3] = {{j, j, j + 1}, {j, j + 1, j + 1}};
                for (int c = 0; c < 3; c++) {
                    const double r = radius * ring[half][c] / rings, angle = 2 * M_PI * sector[half][c] / sectors;
                    s.x[3 * (3 * s.triangles + c)] = r * cos(angle);
                    s.x[3 * (3 * s.triangles + c) + 1] = r * sin(angle);
                    s.corner[3 * s.triangles + c] = 3 * s.triangles + c;
                }
                s.triangles++;
            }
    return s;
}

static double area_of(const surface *s)
{
    double sum = 0;
    for (int64_t t = 0; t < s->triangles; t++) {
        const double *a = s->x + 9 * t;
        double u[3], v[3], n[3];
        for (int k = 0; k < 3; k++) {
            u[k] = a[3 + k] - a[k];
            v[k] = a[6 + k] - a[k];
        }
        for (int k = 0; k < 3; k++)
            n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        sum += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    return sum;
}

/* ---- recordings ---- */

enum { FRAMES = 8000 };
static const double density = 1.2, speed = 340;

typedef struct setup {
    enum sp_radiation_kind kind;
    double listener[3], rate, out, band[2];
} setup;

static int make_pressure(const surface *s, const setup *u, int64_t r, sp_pressure **pressure)
{
    const sp_pressure_parameters p = {.radiation = {.kind = u->kind,
                                                    .listener = {u->listener[0], u->listener[1], u->listener[2]},
                                                    .density = density,
                                                    .speed = speed,
                                                    .rate = u->rate},
                                      .rate = u->out,
                                      .band = {u->band[0], u->band[1]}};
    return sp_pressure_new(&context, s->vertices, s->x, s->triangles, s->corner, r, &p, pressure);
}

static sp_pressure *pressure_of(const surface *s, const setup *u, const double *column)
{
    sp_pressure *pressure = NULL;
    CHECK_OK(make_pressure(s, u, column ? 1 : 0, &pressure));
    if (pressure && column)
        sp_pressure_column(pressure, 0, column);
    return pressure;
}

/* The pressure for the rates q̇ [FRAMES] of one coordinate. */
static int64_t record(const surface *s, const setup *u, const double *column, const double *rates, double **samples)
{
    int64_t count = 0;
    OWNED_POINTER(sp_pressure) *pressure = pressure_of(s, u, column);
    *samples = NULL;
    if (!pressure)
        return 0;
    CHECK_OK(sp_pressure_add(pressure, 3001, rates)); /* in parts */
    CHECK_OK(sp_pressure_add(pressure, FRAMES - 3001, rates + 3001));
    CHECK_OK(sp_pressure_finish(pressure, &pool, &count, samples));
    return count;
}

/* The complex amplitude of the steady sound of a tone exp(iωt) of unit velocity, by the last 3000 samples of the sounds
 * of its real part. */
static double complex steady(const surface *s, const setup *u, const double *column, double frequency)
{
    static double rates[FRAMES];
    double *p;
    double complex sum = 0;
    double weight = 0;
    for (int i = 0; i < FRAMES; i++)
        rates[i] = cos(2 * M_PI * frequency * i / u->rate) * (i < 2000 ? 0.5 - 0.5 * cos(M_PI * i / 2000) : 1);
    const int64_t count = record(s, u, column, rates, &p), from = count - 3000;
    for (int64_t i = from; i < count; i++) {
        const double w = 0.5 - 0.5 * cos(2 * M_PI * ((double)(i - from) + 0.5) / 3000);
        sum += w * p[i] * cexp(-2 * M_PI * I * frequency * (double)i / u->out);
        weight += w;
    }
    return 2 * sum / weight;
}

/* Radial displacements of unit length, times a factor with which the triangles displace as much as the sphere. */
static double *radial(const surface *s, double radius)
{
    double *column = sp_pool_new(&pool, 3 * s->vertices, sizeof *column), volume = 0;
    for (int64_t t = 0; t < s->triangles; t++) {
        const double *a = s->x + 9 * t, *b = a + 3, *c = b + 3;
        volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                   a[2] * (b[0] * c[1] - b[1] * c[0])) /
                  6;
    }
    for (int64_t i = 0; i < 3 * s->vertices; i++)
        column[i] = 4 * M_PI * radius * radius / (3 * volume) * s->x[i];
    return column;
}

static double complex exact_pulsation(double radius, double distance, double omega)
{
    const double k = omega / speed;
    return density * I * omega * radius * radius / distance * cexp(-I * k * (distance - radius)) / (1 + I * k * radius);
}

TEST(small_pulsating_sphere_is_exact)
{
    const double a = 0.004;
    const surface s = sphere(a, 12);
    const double *column = radial(&s, a);
    for (int kind = 0; kind < 3; kind += 2)
        for (int octave = 0; octave < 3; octave++) {
            const double f = 500 << octave, ka = 2 * M_PI * f / speed * a;
            const setup u = {
                kind ? SP_RADIATION_MONOPOLE : SP_RADIATION_PLANE_WAVE, {0.3, 0.4, 0.5}, 44100, 44100, {0, 20000}};
            const double complex exact = exact_pulsation(a, sqrt(0.5), 2 * M_PI * f),
                                 ratio = steady(&s, &u, column, f) / exact;
            NOTE("kind %d, ka = %.3f: amplitude %.5f, phase %.5f of the exact sphere", kind, ka, cabs(ratio),
                 carg(ratio));
            /* To the second order in ka the amplitudes are 1 − k²a²/6 + k²a²/2 and that + k²a²/18; the plane wave is
             * early by ka/3. A thousandth is the polyhedron's. */
            CHECK_NEAR(cabs(ratio), 1, 0.5 * ka * ka + 1e-3);
            CHECK_NEAR(carg(ratio), kind ? 0 : ka / 3, ka * ka + 1e-3);
        }
}

/* ∫ D exp(−ikR)/(4πR) dS over the sphere by Gauss-like midpoints over the polar angle. */
static double complex sphere_quadrature(double radius, double distance, double k, bool plane)
{
    enum { N = 20000 };
    double complex sum = 0;
    for (int i = 0; i < N; i++) {
        const double mu = -1 + 2 * (i + 0.5) / N,
                     R = sqrt(radius * radius + distance * distance - 2 * radius * distance * mu),
                     D = 1 + (plane ? (distance * mu - radius) / R : 0);
        sum += D * cexp(-I * k * R) / R * radius * radius / N;
    }
    return sum;
}

/* The polyhedron tends to the sphere with the square of its edges. */
TEST(large_sphere_tends_to_the_integral)
{
    const double a = 0.05, distance = 0.4, f = 4000, omega = 2 * M_PI * f, k = omega / speed;
    for (int kind = 0; kind < 3; kind += 2) {
        const setup u = {
            kind ? SP_RADIATION_MONOPOLE : SP_RADIATION_PLANE_WAVE, {0, 0, distance}, 44100, 44100, {0, 20000}};
        const double complex expected = density * I * omega * sphere_quadrature(a, distance, k, kind == 0),
                             closed = density * I * omega * a * a / distance * cexp(-I * k * distance) * sin(k * a) /
                                      (k * a);
        double error[3];
        if (kind == 2)
            CHECK(cabs(expected - closed) < 1e-6 * cabs(closed), "the quadrature");
        for (int i = 0; i < 3; i++) {
            const surface s = sphere(a, 12 << i);
            error[i] = cabs(steady(&s, &u, radial(&s, a), f) / expected - 1);
        }
        CHECK_ORDERS(error, 2, 0.2, 0.2, "kind %d", kind);
        CHECK(error[2] < 2e-3, "%g", error[2]);
    }
}

TEST(piston_in_a_baffle_is_exact_on_its_axis)
{
    const double a = 0.1, distance = 0.3;
    const surface s = disk(a, 40, 120);
    double *column = sp_pool_new(&pool, 3 * s.vertices, sizeof *column);
    for (int64_t v = 0; v < s.vertices; v++)
        column[3 * v + 2] = M_PI * a * a / area_of(&s);
    for (int octave = 0; octave < 4; octave++) {
        const double f = 1000 << octave, k = 2 * M_PI * f / speed;
        const setup front = {SP_RADIATION_BAFFLE, {0, 0, distance}, 44100, 44100, {0, 20000}},
                    back = {SP_RADIATION_BAFFLE, {0, 0, -distance}, 44100, 44100, {0, 20000}};
        const double complex exact = density * speed * (cexp(-I * k * distance) - cexp(-I * k * hypot(distance, a))),
                             ratio = steady(&s, &front, column, f) / exact;
        NOTE("%g Hz: amplitude %.5f, phase %.5f of the exact piston", f, cabs(ratio), carg(ratio));
        CHECK(cabs(ratio - 1) < 4e-3, "%g", cabs(ratio - 1));
        CHECK(cabs(steady(&s, &back, column, f)) == 0, "sound behind the baffle");
    }
}

/* ---- time ---- */

static double pulse(double t, double width)
{
    return exp(-t * t / (2 * width * width));
}

/* A pulse arrives in front of nothing, with the shape of its acceleration, within a small part of a sample. */
TEST(pulse_arrives_on_time)
{
    const double a = 0.004, distance = sqrt(0.5), width = 1.5e-4, rate = 44100;
    const surface s = sphere(a, 12);
    const double *column = radial(&s, a);
    static double rates[FRAMES];
    const setup u = {SP_RADIATION_MONOPOLE, {0.3, 0.4, 0.5}, rate, rate, {0, 20000}};
    double *p, shift = 0, weight = 0, worst = 0, most = 0;
    for (int i = 0; i < FRAMES; i++)
        rates[i] = pulse(i / rate - 0.01, width);
    const int64_t count = record(&s, &u, column, rates, &p);
    for (int64_t i = 0; i < count; i++) {
        const double t = (double)i / rate - 0.01 - distance / speed, v = pulse(t, width),
                     exact = density * a * a / distance * -t / (width * width) * v,
                     slope = density * a * a / distance * (t * t / (width * width) - 1) / (width * width) * v;
        shift -= (p[i] - exact) * slope;
        weight += slope * slope;
        worst = fmax(worst, fabs(p[i] - exact));
        most = fmax(most, fabs(exact));
    }
    NOTE("late by %.4f samples, error %.1e of the peak", shift / weight * rate, worst / most);
    CHECK_NEAR(shift / weight * rate, 0, 0.05);
    CHECK(worst < 0.01 * most, "%g of %g", worst, most);
}

TEST(silence_stays_silence)
{
    const surface s = sphere(0.01, 4);
    static const double rates[FRAMES];
    const setup u = {SP_RADIATION_PLANE_WAVE, {0, 0, 1}, 44100, 48000, {20, 20000}};
    double *p;
    const int64_t count = record(&s, &u, radial(&s, 0.01), rates, &p);
    CHECK(count > 8000, "%lld samples", (long long)count);
    for (int64_t i = 0; i < count; i++)
        CHECK(p[i] == 0, "sample %lld is %g", (long long)i, p[i]);
}

/* Rates, and band limits: what passes is exact, what does not is gone. */
TEST(rates_and_bands)
{
    const double a = 0.004;
    const surface s = sphere(a, 24);
    const double *column = radial(&s, a);
    const struct {
        double rate, out, low, high, frequency, gain, tolerance;
    } cases[] = {
        {44100, 44100, 0, 20000, 1000, 1, 1e-3},   {44100, 48000, 0, 20000, 1000, 1, 1e-3},
        {44100, 48000, 0, 20000, 15000, 1, 2e-3},  {96000, 44100, 0, 20000, 15000, 1, 2e-3},
        {96000, 44100, 0, 20000, 25000, 0, 5e-4},  {44099.3, 44100, 0, 20000, 100, 1, 1e-3},
        {22050, 44100, 0, 10000, 5000, 1, 1e-3},   {44100, 44100, 200, 20000, 200, M_SQRT1_2, 2e-3},
        {44100, 44100, 0, 1000, 1250, 0.5, 0.03},  {44100, 44100, 0, 1000, 990, 1, 1e-3},
        {44100, 44100, 0, 1000, 1500, 0, 5e-4},    {44100, 44100, 0, 1000, 3000, 0, 5e-4},
        {44100, 44100, 0, 5000, 7500, 0, 5e-4},    {44100, 44100, 0, 5000, 10000, 0, 5e-4},
        {96000, 96000, 0, 20000, 30000, 0, 5e-4},  {96000, 44100, 0, 3000, 2900, 1, 1e-3},
        {96000, 44100, 0, 3000, 4500, 0, 5e-4},    {44100, 48000, 0, 3000, 2900, 1, 1e-3},
        {44100, 48000, 0, 3000, 6000, 0, 5e-4},    {44100, 44100, 200, 20000, 100, 0.0624, 2e-3},
        {44100, 44100, 200, 20000, 2000, 1, 2e-3},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double f = cases[i].frequency, omega = 2 * M_PI * f, k = omega / speed;
        const setup u = {
            SP_RADIATION_MONOPOLE, {0.3, 0.4, 0.5}, cases[i].rate, cases[i].out, {cases[i].low, cases[i].high}};
        const double complex exact = density * I * omega * a * a / sqrt(0.5) * cexp(-I * k * sqrt(0.5)) * sin(k * a) /
                                     (k * a),
                             ratio = steady(&s, &u, column, f) / exact;

        NOTE("%g to %g per second, %g Hz: %.5f", cases[i].rate, cases[i].out, f, cabs(ratio));
        CHECK_NEAR(cabs(ratio), cases[i].gain, cases[i].tolerance + (cases[i].gain > 0 ? 1e-3 : 0));
        OWNED_POINTER(sp_pressure) *pressure = pressure_of(&s, &u, column);
        CHECK_NEAR(sp_pressure_gain(pressure, f), cases[i].gain, cases[i].tolerance);
        CHECK_NEAR(sp_pressure_gain(pressure, f), cabs(ratio), 2e-3);
        if (cases[i].gain == 1 && cases[i].low == 0)
            CHECK_NEAR(carg(ratio), 0, 2e-3);
    }
}

/* Motion of the vertices is the same as that of a coordinate. */
TEST(vertices_are_coordinates)
{
    enum { SOME = 700 };
    const surface s = sphere(0.01, 3);
    const double *column = radial(&s, 0.01);
    const setup u = {SP_RADIATION_PLANE_WAVE, {0, 0, 0.5}, 44100, 44100, {20, 20000}};
    OWNED_POINTER(sp_pressure) *one = pressure_of(&s, &u, column), *other = pressure_of(&s, &u, NULL);
    double *v = sp_pool_new(&pool, 3 * s.vertices, sizeof *v), *p[2], worst = 0, most = 0;
    int64_t count[2];
    for (int f = 0; f < SOME; f++) {
        const double rate = pulse(f / 44100.0 - 0.003, 2e-4);
        for (int64_t i = 0; i < 3 * s.vertices; i++)
            v[i] = rate * column[i];
        CHECK_OK(sp_pressure_add(one, 1, &rate));
        CHECK_OK(sp_pressure_add(other, 1, v));
    }
    CHECK_OK(sp_pressure_finish(one, &pool, &count[0], &p[0]));
    CHECK_OK(sp_pressure_finish(other, &pool, &count[1], &p[1]));
    CHECK(count[0] == count[1] && count[0] > 500, "%lld, %lld", (long long)count[0], (long long)count[1]);
    for (int64_t i = 0; i < count[0]; i++) {
        worst = fmax(worst, fabs(p[0][i] - p[1][i]));
        most = fmax(most, fabs(p[0][i]));
    }
    CHECK(most > 0 && worst < 1e-12 * most, "%g of %g", worst, most);
}

/* The power through a sphere around a small source is that of the exact sphere, ½ ρc (ka)² |V|² 4πa²/(1 + k²a²), and
 * not more. */
TEST(power_is_that_of_the_source)
{
    const double a = 0.004, f = 2000, k = 2 * M_PI * f / speed, distance = 0.5;
    const surface s = sphere(a, 24);
    const double *column = radial(&s, a);
    double power = 0;
    const double exact = 0.5 * density * speed * k * k * a * a / (1 + k * k * a * a) * 4 * M_PI * a * a;
    for (int i = 0; i < 6; i++) { /* the corners of an octahedron */
        setup u = {SP_RADIATION_PLANE_WAVE, {0, 0, 0}, 44100, 44100, {0, 20000}};
        u.listener[i / 2] = i % 2 ? -distance : distance;
        const double p = cabs(steady(&s, &u, column, f));
        power += p * p / (2 * density * speed) * 4 * M_PI * distance * distance / 6;
    }
    NOTE("power %.5f of the exact", power / exact);
    CHECK_NEAR(power / exact, 1, k * k * a * a + 3e-3);
}

TEST(impossible_listening_is_refused)
{
    const surface s = sphere(0.01, 4);
    static const setup cases[] = {
        {SP_RADIATION_MONOPOLE, {0, 0, 0.0101}, 44100, 44100, {20, 20000}}, /* on the surface */
        {SP_RADIATION_MONOPOLE, {0, 0, 1}, 22050, 44100, {20, 20000}},      /* frames too far apart */
        {SP_RADIATION_MONOPOLE, {0, 0, 1}, 44100, 22050, {20, 20000}},
        {SP_RADIATION_MONOPOLE, {0, 0, 1}, 44100, 44100, {200, 100}},
        {SP_RADIATION_MONOPOLE, {0, 0, 1e30}, 44100, 44100, {20, 20000}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sp_pressure *pressure;
        CHECK(make_pressure(&s, &cases[i], 1, &pressure) == SP_USAGE, "case %zu", i);
    }
    const setup u = {SP_RADIATION_MONOPOLE, {0, 0, 1}, 44100, 44100, {20, 20000}};
    OWNED_POINTER(sp_pressure) *pressure = pressure_of(&s, &u, radial(&s, 0.01));
    const double rates[10] = {0};
    double *p;
    int64_t count;
    CHECK_OK(sp_pressure_add(pressure, 10, rates));
    CHECK(sp_pressure_finish(pressure, &pool, &count, &p) == SP_INPUT, "a motion that is too short");
}

AFTER_TESTS()
{
    sp_pool_free(&pool);
}
