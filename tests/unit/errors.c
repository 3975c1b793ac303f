/* Errors of a motion against a reference (tools/validate/errors.h), for motions made by hand. */
#include "tools/validate/errors.h"
#include "test.h"

/* Three degrees of freedom of two vertices (0: x, z; 4: y) with the mass [2 1 0; 1 2 0; 0 0 4]. */
static sp_sparse mass(void)
{
    static int64_t start[] = {0, 2, 4, 5}, index[] = {0, 1, 0, 1, 2};
    static double value[] = {2, 1, 1, 2, 4};
    return (sp_sparse){.order = 3, .start = start, .index = index, .value = value};
}

static const int64_t vertex[] = {0, 0, 4};

static sp_trajectory_errors of_frames(int count, const double *time, const double (*a)[2][3], const double *energy_a,
                                      const double (*b)[2][3], const double *energy_b)
{
    sp_sparse m = mass();
    OWNED(sp_trajectory_error_sums) sums;
    sp_trajectory_errors errors;
    CHECK_OK(sp_trajectory_error_sums_new(&context, &m, vertex, &sums));
    for (int k = 0; k < count; k++)
        sp_trajectory_error_sums_add(&sums, &(sp_scene_trajectory_frame){time[k], a[k][0], a[k][1], energy_a[k]},
                                     &(sp_scene_trajectory_frame){time[k], b[k][0], b[k][1], energy_b[k]});
    sp_trajectory_error_sums_errors(&sums, &errors);
    return errors;
}

/* Frames at 0, 1 and 3 s, so that the intervals differ. */
TEST(by_hand)
{
    static const double time[] = {0, 1, 3};
    static const double reference[3][2][3] = {{{0, 0, 0}, {1, 0, 0}}, {{1, 1, 0}, {0, 0, 1}}, {{0, 0, 2}, {0, 0, 0}}};
    static const double motion[3][2][3] = {{{0, 0, 0}, {1, 1, 0}}, {{1, 0, 0}, {0, 0, 1}}, {{3, 4, 2}, {0, 0, 1}}};
    static const double energy[] = {0, -8, 2}, other[] = {1, -7.5, 4};
    sp_trajectory_errors e = of_frames(3, time, reference, energy, motion, other);
    /* ‖u‖²: 0, 6, 16: 3 + 22 = 25; Δu: 0, (0,−1,0): 2, (3,4,0): 18 + 24 + 32 = 74: 1 + 76 = 77 */
    CHECK_NEAR(e.position, sqrt(77.0 / 25), 1e-15);
    /* ‖v‖²: 2, 4, 0: 3 + 4 = 7; Δv: 2, 0, 4: 1 + 4 = 5 */
    CHECK_NEAR(e.velocity, sqrt(5.0 / 7), 1e-15);
    CHECK_NEAR(e.largest, 5.0 / 2, 1e-15); /* vertex 0 is off by (3, 4); vertex 4 moves by 2 */
    CHECK_NEAR(e.energy, 2.0 / 8, 1e-15);
}

/* A motion that is larger by a factor has that relative error in every linear measure. */
TEST(by_a_factor)
{
    enum { FRAMES = 50 };
    double time[FRAMES], a[FRAMES][2][3], b[FRAMES][2][3], energy[FRAMES], other[FRAMES];
    for (int k = 0; k < FRAMES; k++) {
        time[k] = 0.02 * k;
        for (int i = 0; i < 6; i++) {
            a[k][i / 3][i % 3] = sin(k + 0.7 * i);
            b[k][i / 3][i % 3] = 1.03 * a[k][i / 3][i % 3];
        }
        energy[k] = cos(k);
        other[k] = 0.9 * energy[k];
    }
    sp_trajectory_errors e = of_frames(FRAMES, time, a, energy, b, other);
    CHECK_NEAR(e.position, 0.03, 1e-14);
    CHECK_NEAR(e.velocity, 0.03, 1e-14);
    CHECK_NEAR(e.largest, 0.03, 1e-14);
    CHECK_NEAR(e.energy, 0.1, 1e-14);
}

/* sin t against sin(t + p): the mean error over whole periods is 2 sin(p/2) for any mass, and the trapezoidal rule is
 * exact there. */
TEST(late)
{
    enum { FRAMES = 101 };
    double time[FRAMES], a[FRAMES][2][3], b[FRAMES][2][3], none[FRAMES] = {0};
    for (int k = 0; k < FRAMES; k++) {
        time[k] = 2 * 3.14159265358979323846 * k / (FRAMES - 1);
        for (int i = 0; i < 6; i++) {
            a[k][i / 3][i % 3] = (1 + i) * sin(time[k]);
            b[k][i / 3][i % 3] = (1 + i) * sin(time[k] + 0.1);
        }
    }
    sp_trajectory_errors e = of_frames(FRAMES, time, a, none, b, none);
    CHECK_NEAR(e.position, 2 * sin(0.05), 1e-13);
    CHECK_NEAR(e.velocity, 2 * sin(0.05), 1e-13);
    CHECK(e.energy == 0, "%g", e.energy);
}

TEST(at_rest)
{
    static const double time[] = {0, 1}, zero[2][2][3], none[2];
    static const double moves[2][2][3] = {{{0}}, {{1}}};
    sp_trajectory_errors e = of_frames(2, time, zero, none, zero, none);
    CHECK(e.position == 0 && e.velocity == 0 && e.largest == 0 && e.energy == 0, "%g", e.position);
    e = of_frames(2, time, zero, none, moves, none);
    CHECK(isinf(e.position) && e.velocity == 0 && isinf(e.largest), "%g, %g", e.position, e.velocity);
}

BEFORE_TESTS()
{
    context.threads = 1;
}
