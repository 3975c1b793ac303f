/* A TAP producer for the unit tests: each RUN is one test; CHECK records a failure with the measured values and
 * continues. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_number, test_failures_in_this, test_failures, test_skipped_this;

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            test_failures_in_this++;                                                                                   \
            printf("# %s:%d: %s: ", __FILE__, __LINE__, #condition);                                                   \
            printf(__VA_ARGS__);                                                                                       \
            printf("\n");                                                                                              \
        }                                                                                                              \
    } while (0)

/* |measured − expected| ≤ tolerance; NaN fails. */
#define CHECK_NEAR(measured, expected, tolerance)                                                                      \
    do {                                                                                                               \
        double m_ = (measured), e_ = (expected), t_ = (tolerance);                                                     \
        CHECK(fabs(m_ - e_) <= t_, "%.17g is not %.17g within %.3g (difference %.3g)", m_, e_, t_, m_ - e_);           \
    } while (0)

/* Errors with a step, half of it and a quarter: their orders of convergence are `order` within `first` and `second`.
 * The further arguments describe the quantity. */
#define CHECK_ORDERS(error, order, first, second, ...)                                                                 \
    do {                                                                                                               \
        double one_ = log2((error)[0] / (error)[1]), two_ = log2((error)[1] / (error)[2]);                             \
        printf("# ");                                                                                                  \
        printf(__VA_ARGS__);                                                                                           \
        printf(": errors %.2e %.2e %.2e, orders %.3f %.3f\n", (error)[0], (error)[1], (error)[2], one_, two_);         \
        CHECK_NEAR(one_, order, first);                                                                                \
        CHECK_NEAR(two_, order, second);                                                                               \
    } while (0)

/* For calls that return a status. */
#define CHECK_OK(call) CHECK((call) == SP_OK, "%s", context.message)

/* Prints a measured number with a test. */
#define NOTE(...)                                                                                                      \
    do {                                                                                                               \
        printf("# ");                                                                                                  \
        printf(__VA_ARGS__);                                                                                           \
        printf("\n");                                                                                                  \
    } while (0)

/* Inside a test: it cannot run here. */
#define SKIP(reason)                                                                                                   \
    do {                                                                                                               \
        test_skipped_this = 1;                                                                                         \
        printf("# skip: %s\n", reason);                                                                                \
        return;                                                                                                        \
    } while (0)

/* For tests that take long under sanitizers and are irrelevant for memory errors. */
#if defined(__SANITIZE_ADDRESS__)
#define SKIP_UNDER_SANITIZERS(reason) SKIP(reason)
#else
#define SKIP_UNDER_SANITIZERS(reason) ((void)0)
#endif

#define RUN(test)                                                                                                      \
    do {                                                                                                               \
        test_failures_in_this = test_skipped_this = 0;                                                                 \
        test();                                                                                                        \
        test_number++;                                                                                                 \
        test_failures += test_failures_in_this > 0;                                                                    \
        printf("%sok %d - %s%s\n", test_failures_in_this ? "not " : "", test_number, #test,                            \
               test_skipped_this ? " # SKIP" : "");                                                                    \
        fflush(stdout);                                                                                                \
    } while (0)

static inline int test_end(void)
{
    printf("1..%d\n", test_number);
    return test_failures > 0;
}

/* The folder of shared meshes (environment SUPPLE_MESHES), or NULL where it is absent. */
static inline const char *test_meshes(void)
{
    const char *folder = getenv("SUPPLE_MESHES");
    return folder && *folder ? folder : NULL;
}

#endif
