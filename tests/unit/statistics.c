/* Statistics of signals: rainflow counts of the example of ASTM E1049, spectra of known processes with their
 * confidence, and many motions under random loads against exact stationary densities. */
#include "ensemble/ensemble.h"
#include "ensemble/lanes.h"
#include "fixture.h"
#include "model/course.h"
#include "statistics/rainflow.h"
#include "statistics/welch.h"

/* ---- cycles ---- */

/* The sum of the counts of a range. */
static double cycles_of(const sp_list *cycles, double range)
{
    double sum = 0;
    for (int64_t i = 0; i < cycles->count; i++) {
        const sp_cycle *cycle = &((const sp_cycle *)cycles->data)[i];
        sum += fabs(cycle->range - range) < 1e-12 ? cycle->count : 0;
    }
    return sum;
}

/* ASTM E1049-85, figure 6: the reversals -2, 1, -3, 5, -1, 3, -4, 4, -2, here with values between them, with plateaus,
 * and with values at the reversals twice. */
TEST(rainflow_of_the_standard)
{
    static const double plain[] = {-2, 1, -3, 5, -1, 3, -4, 4, -2},
                        between[] = {-2, 0,  0.5, 0.5, 1, -1, -3, -3, 2, 5, 5,  5,
                                     0,  -1, 1,   3,   3, -4, -4, 0,  0, 4, -2, -2},
                        due[11] = {0, 0, 0, 0.5, 1.5, 0, 0.5, 0, 1, 0.5, 0};
    const struct {
        const double *value;
        int64_t count;
    } signals[] = {{plain, sizeof plain / 8}, {between, sizeof between / 8}};

    for (int k = 0; k < 2; k++) {
        OWNED(sp_list) cycles = {0};
        CHECK_OK(sp_rainflow(&context, signals[k].count, signals[k].value, &cycles));
        for (int range = 0; range < 11; range++)
            CHECK(cycles_of(&cycles, range) == due[range], "signal %d, range %d: %g cycles", k, range,
                  cycles_of(&cycles, range));
        CHECK(cycles.count == 7, "%lld cycles and halves", (long long)cycles.count);

        /* Miner's sum with the slope 1 is the mean range over the strength. */
        CHECK_NEAR(sp_cycles_damage(cycles.count, cycles.data, 10, 1), (3 * 0.5 + 4 * 1.5 + 6 * 0.5 + 8 + 9 * 0.5) / 10,
                   1e-14);
    }

    OWNED(sp_list) none = {0};
    CHECK_OK(sp_rainflow(&context, 4, (double[]){7, 7, 7, 7}, &none));
    CHECK(none.count == 0, "%lld cycles of a constant", (long long)none.count);
}

/* ---- spectra ---- */

/* A sine with whole periods in a piece has its power ½a² in three lines, and white noise of the variance s² the density
 * 2 s²/rate, of which 95 % of the bins have it in their interval. */
TEST(spectra)
{
    enum { SIZE = 256, COUNT = 8192, LINE = 20 };
    OWNED(sp_pool) pool = {0};
    sp_welch sine, noise;
    const double rate = 50, amplitude = 3, deviation = 0.7;
    double *x = test_new(COUNT, 8), *y = test_new(COUNT, 8), power = 0;

    CHECK_OK(sp_welch_new(&context, SIZE, rate, &pool, &sine));
    CHECK_OK(sp_welch_new(&context, SIZE, rate, &pool, &noise));
    for (int i = 0; i < COUNT; i++) {
        x[i] = 5 + amplitude * sin(2 * M_PI * LINE * i / SIZE + 0.3);
        y[i] = deviation * sp_random_normal(3, 1, (uint64_t)i);
    }
    sp_welch_add(&sine, COUNT, x);
    sp_welch_add(&noise, COUNT, y);
    sp_welch_add(&noise, SIZE - 1, y); /* shorter than a piece */

    double density, low, high, mean = 0;
    int inside = 0;
    for (int64_t k = 1; k + 1 < sine.bins; k++) {
        sp_welch_density(&sine, k, &density, &low, &high);
        power += density * rate / SIZE;
        CHECK(labs((long)k - LINE) <= 1 || density < 1e-20, "bin %lld: %g", (long long)k, density);

        sp_welch_density(&noise, k, &density, &low, &high);
        const double due = 2 * deviation * deviation / rate;
        inside += low <= due && due <= high;
        mean += density / due / (double)(sine.bins - 2);
    }
    CHECK_NEAR(power, 0.5 * amplitude * amplitude, 1e-12);
    NOTE("noise: mean density %.3f of the due one, %d of %lld bins within their interval", mean, inside,
         (long long)sine.bins - 2);
    CHECK_NEAR(mean, 1, 0.05);
    CHECK(inside >= 112, "%d", inside); /* 0.95 · 127 − 4 √(127 · 0.05 · 0.95) */
    CHECK(noise.pieces == 63, "%lld pieces", (long long)noise.pieces);

    /* Tables of the χ² distribution: 95 % points with 10 and 100 degrees of freedom */
    CHECK_NEAR(sp_chi_square(10, 1.6448536), 18.307, 0.02);
    CHECK_NEAR(sp_chi_square(100, -1.6448536), 77.929, 0.02);
}

/* ---- an oscillator under white noise ---- */

enum { MOTIONS = 1200, R = BENDING_FIELDS };

/* One coordinate of a cantilever that bends: a Duffing oscillator m q̈ + αm q̇ + V'(q) = w. */
typedef struct oscillator {
    sp_mesh mesh;
    sp_fe_space body;
    double *U;
    sp_polynomials polynomials;
    sp_polynomial_force *force;
    sp_model_description description;
    double frequency;  /* Hz, of small motions */
    double alpha, end; /* 1/s, s */
    sp_load load;
    double *last; /* [MOTIONS] q at the end */
    int64_t count;
} oscillator;

static double potential(const oscillator *o, double q)
{
    return sp_polynomial_force_evaluate(o->force, &q, NULL, NULL);
}

static void make_oscillator(oscillator *o)
{
    sp_polynomial_report report;
    double zero = 0, K;
    *o = (oscillator){0};
    make_box(8, 2, 2, 0.1, 0, &o->mesh);
    fix_end(&o->mesh, 0.01);
    CHECK_OK(sp_fe_space_new(&context, &o->mesh, &o->body));
    const int64_t rows = 3 * o->mesh.vertex_count;
    o->U = test_new(rows * R, 8);
    bending_fields(&o->mesh, o->U);
    CHECK_OK(sp_polynomials_new(&context, &o->body, 1, o->U, &(sp_polynomial_parameters){0}, &o->polynomials, &report));
    CHECK_OK(sp_polynomial_force_new(&context, &o->polynomials, 1, &o->force));
    o->description = (sp_model_description){.kind = SP_MODEL_POLYNOMIALS,
                                            .space = &o->body,
                                            .r = 1,
                                            .rows = rows,
                                            .U = o->U,
                                            .polynomials = &o->polynomials};
    sp_polynomial_force_evaluate(o->force, &zero, NULL, &K);
    o->frequency = sqrt(K / o->polynomials.mass[0]) / (2 * M_PI);
    o->alpha = 2 * 0.05 * 2 * M_PI * o->frequency;
    o->end = 20 / o->frequency;
    o->last = test_new(MOTIONS, 8);
}

static void oscillator_free(oscillator *o)
{
    sp_polynomial_force_free(o->force);
    sp_polynomials_free(&o->polynomials);
    sp_fe_space_free(&o->body);
    sp_mesh_free(&o->mesh);
}

static int describe(void *self, int64_t number, sp_pool *pool, sp_ensemble_motion *motion)
{
    const oscillator *o = self;
    sp_load *load = sp_pool_copy(pool, &o->load, 1, sizeof *load);
    sp_course_spectrum *spectrum = sp_pool_copy(pool, o->load.course.spectrum, 1, sizeof *spectrum);
    SP_PASS(sp_allocated(&context, !pool->failed));
    spectrum->seed = 1000 + (uint64_t)number;
    SP_PASS(sp_course_realize(&context, spectrum, o->end, pool, &load->course));
    *motion = (sp_ensemble_motion){.load_count = 1, .loads = load, .damping_mass = o->alpha};
    return SP_OK;
}

static int take(void *self, const sp_ensemble_block *block)
{
    oscillator *o = self;
    for (int m = 0; m < block->count; m++) {
        CHECK(block->status[m] == SP_OK, "%s", block->reason[m]);
        o->last[o->count++] = block->q[SP_MOTIONS + m]; /* frames: the start and the end */
    }
    return SP_OK;
}

/* The end states of motions under white noise for which the mean energy ½ m v² is ½ `energy` in equilibrium: 2D = G/2
 * for the one-sided density G of the generalized force, and the density of states is exp(−E/energy), energy = D/(αm).
 */
static void move(oscillator *o, double energy)
{
    const double step = 1 / (40 * o->frequency), mass = o->polynomials.mass[0];
    const int64_t vertex = o->mesh.vertex_count - 1, rows = 3 * o->mesh.vertex_count;
    double share = 0, frequency[] = {0.02 * o->frequency, 10 * o->frequency};
    int axis = 0;
    for (int c = 0; c < 3; c++)
        if (fabs(o->U[3 * vertex + c]) > fabs(share)) {
            share = o->U[3 * vertex + c];
            axis = c;
        }
    CHECK(share != 0 && rows > 0, "the vertex does not move");

    const double density = 4 * o->alpha * mass * energy / (share * share), densities[] = {density, density};
    const sp_course_spectrum spectrum = {
        .rate = 1 / step, .seed = 1, .count = 2, .frequency = frequency, .density = densities};
    o->load = (sp_load){.end = o->end, .kind = SP_LOAD_VERTEX, .id = vertex, .course.spectrum = &spectrum};
    o->load.force[axis] = 1;
    o->count = 0;
    const sp_ensemble e = {.description = &o->description,
                           .parameters = {.kind = SP_NEWMARK, .step = step, .beta = 0.25, .gamma = 0.5, .halvings = 6},
                           .steps = 800,
                           .every = 800,
                           .end = MOTIONS,
                           .keep_q = true,
                           .self = o,
                           .describe = describe,
                           .take = take};
    CHECK_OK(sp_ensemble_run(&context, &e));
    CHECK(o->count == MOTIONS, "%lld motions", (long long)o->count);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest distance between the distribution of the end states and that of exp(−V(q)/energy). */
static double kolmogorov(oscillator *o, double energy)
{
    enum { PARTS = 40000 };
    double worst = 0, total = 0, below = 0, reach = 1;
    qsort(o->last, MOTIONS, sizeof *o->last, by_size);
    while (potential(o, reach) > 40 * energy || potential(o, -reach) > 40 * energy)
        reach *= 0.9;
    while (potential(o, reach) < 40 * energy)
        reach *= 1.1;

    for (int i = 0; i < PARTS; i++)
        total += exp(-potential(o, reach * (2 * (i + 0.5) / PARTS - 1)) / energy);
    for (int i = 0, next = 0; i < PARTS; i++) {
        below += exp(-potential(o, reach * (2 * (i + 0.5) / PARTS - 1)) / energy) / total;
        while (next < MOTIONS && o->last[next] < reach * (2 * (i + 1.0) / PARTS - 1)) {
            worst = fmax(worst, fmax(fabs(next - below * MOTIONS), fabs(next + 1 - below * MOTIONS)) / MOTIONS);
            next++;
        }
    }
    return worst;
}

TEST(stationary_densities_of_an_oscillator)
{
    OWNED(oscillator) o;
    make_oscillator(&o);

    /* Where the cubic part of the force is as large as the linear one: V(q) = ½ K q² + ¼ K q⁴/a², and V(a) = ¾ K a² */
    const double small = 1e-6, K = 2 * potential(&o, small) / (small * small);
    double a = 1e-3;
    while (potential(&o, a) < 0.75 * K * a * a)
        a *= 1.01;
    NOTE("%.2f Hz, hardening by half at %.3g", o.frequency, a);

    const double levels[] = {1e-6 * K * a * a, 0.5 * K * a * a};
    for (int k = 0; k < 2; k++) {
        double square = 0;
        move(&o, levels[k]);
        for (int m = 0; m < MOTIONS; m++)
            square += o.last[m] * o.last[m] / MOTIONS;

        const double distance = kolmogorov(&o, levels[k]), bound = 1.358 / sqrt(MOTIONS), linear = levels[k] / K;
        NOTE("%s: mean square %.4f of the linear one, distance of the distributions %.4f, 95 %% bound %.4f",
             k ? "large" : "small", square / linear, distance, bound);
        CHECK(distance <= bound, "%g", distance);
        if (k == 0) /* σ² = energy/K; its standard error is √(2/n) */
            CHECK_NEAR(square / linear, 1, 3 * sqrt(2.0 / MOTIONS));
        else
            CHECK(square < 0.9 * linear, "%g: it does not harden", square / linear);
    }
}
