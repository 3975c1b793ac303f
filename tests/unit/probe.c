/* Frequencies from zero crossings (tools/compare/probe.h). */
#include "tools/compare/probe.c"
#include "test.h"

static const double PI = 3.14159265358979323846;

enum { COUNT = 1000 };
static double time_of[COUNT], value[COUNT];

/* A sine of 1.37 Hz, 73 samples per period, some phase: the crossings do not fall on samples. */
TEST(sampled_sine)
{
    probe_measure m;
    for (int i = 0; i < COUNT; i++) {
        time_of[i] = 0.01 * i;
        value[i] = 0.25 * sin(2 * PI * 1.37 * time_of[i] + 0.4);
    }
    probe_measure_series(COUNT, time_of, value, 0, &m);
    CHECK_NEAR(m.frequency, 1.37, 1e-4);
    CHECK_NEAR(m.amplitude, 0.25, 0.25 * 1e-3);
    CHECK(m.half_periods == 26, "%lld", (long long)m.half_periods); /* 9.99 s · 2.74 = 27.37 half periods */
    probe_measure_series(COUNT, time_of, value, 5, &m);
    CHECK_NEAR(m.frequency, 1.37, 1e-4);
    CHECK(m.half_periods == 12 || m.half_periods == 13, "%lld", (long long)m.half_periods);
}

/* Until 3 s a slow motion of large amplitude under load, then 2 Hz: only the time after the load counts. */
TEST(after_the_load)
{
    probe_measure m;
    for (int i = 0; i < COUNT; i++) {
        time_of[i] = 0.01 * i;
        value[i] = time_of[i] < 3 ? 5 * sin(2 * PI * 0.5 * time_of[i]) : sin(2 * PI * 2 * time_of[i] + 1);
    }
    probe_measure_series(COUNT, time_of, value, 3, &m);
    CHECK_NEAR(m.frequency, 2, 1e-4);
    CHECK_NEAR(m.amplitude, 5, 1e-3);
}

/* A square wave that rests at zero between its signs, 0 0 1 1 0 0 −1 −1: the crossings are in the middle of the zeros.
 */
TEST(exact_zeros)
{
    static const double wave[8] = {0, 0, 1, 1, 0, 0, -1, -1};
    probe_measure m;
    for (int i = 0; i < 80; i++) {
        time_of[i] = 0.125 * i;
        value[i] = wave[i % 8];
    }
    probe_measure_series(80, time_of, value, 0, &m);
    CHECK_NEAR(m.frequency, 1, 1e-14);
    CHECK(m.half_periods == 18, "%lld", (long long)m.half_periods); /* 19 changes of sign in ten periods */
    for (int i = 0; i < 80; i++)                                    /* it touches zero, but does not cross it */
        value[i] = fabs(wave[i % 8]);
    probe_measure_series(80, time_of, value, 0, &m);
    CHECK(m.half_periods == 0 && isnan(m.frequency), "%lld, %g", (long long)m.half_periods, m.frequency);
}

TEST(too_little)
{
    probe_measure m;
    probe_measure_series(0, time_of, value, 0, &m);
    CHECK(m.amplitude == 0 && isnan(m.frequency) && m.half_periods == 0, "%g", m.amplitude);
    time_of[0] = 0;
    time_of[1] = 1;
    value[0] = -3;
    value[1] = 1;
    probe_measure_series(2, time_of, value, 0, &m);
    CHECK(m.amplitude == 3 && isnan(m.frequency) && m.half_periods == 0, "%g", m.amplitude);
}
