/* A TAP producer for the unit tests: each TEST runs once, in the order of the file; CHECK records a failure with the
 * measured values and continues. What a test makes is freed at its end: arrays of test_new, and variables that are
 * OWNED. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first argument of library calls; one thread unless BEFORE_TESTS sets more. */
extern struct sp_context context;

/* Of the test that runs: executed checks, those that failed. */
extern long test_checks, test_failures;
extern bool test_skipped;

/* Runs the tests of this program; returns the exit code. */
int test_all(void);

void test_register(const char *name, void (*run)(void));
void test_register_around(void (*before)(void), void (*after)(void));

/* TEST(name) { … } */
#define TEST(test)                                                                                                     \
    static void test(void);                                                                                            \
    __attribute__((constructor)) static void register_##test(void)                                                     \
    {                                                                                                                  \
        test_register(#test, test);                                                                                    \
    }                                                                                                                  \
    static void test(void)

/* What precedes the first test of a program and follows the last one. */
#define BEFORE_TESTS()                                                                                                 \
    static void before_tests(void);                                                                                    \
    __attribute__((constructor)) static void register_before_tests(void)                                               \
    {                                                                                                                  \
        test_register_around(before_tests, NULL);                                                                      \
    }                                                                                                                  \
    static void before_tests(void)
#define AFTER_TESTS()                                                                                                  \
    static void after_tests(void);                                                                                     \
    __attribute__((constructor)) static void register_after_tests(void)                                                \
    {                                                                                                                  \
        test_register_around(NULL, after_tests);                                                                       \
    }                                                                                                                  \
    static void after_tests(void)

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        test_checks++;                                                                                                 \
        if (!(condition)) {                                                                                            \
            test_failures++;                                                                                           \
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
        test_skipped = true;                                                                                           \
        printf("# skip: %s\n", reason);                                                                                \
        return;                                                                                                        \
    } while (0)

/* For tests that take long under sanitizers and are irrelevant for memory errors. */
#if defined(__SANITIZE_ADDRESS__)
#define SKIP_UNDER_SANITIZERS(reason) SKIP(reason)
#else
#define SKIP_UNDER_SANITIZERS(reason) ((void)0)
#endif

/* count × size bytes, zeroed, freed at the end of the test. An own block of memory, so that sanitizers see its ends. */
void *test_new(int64_t count, size_t size);

/* Of arrays. A NaN among the numbers is the result, so that no comparison passes by it. */
double max_abs(int64_t n, const double *x);
double max_difference(int64_t n, const double *x, const double *y);
double relative_difference(int64_t n, const double *x, const double *y); /* max |x − y| / max |y| */
double dot_product(int64_t n, const double *x, const double *y);
double norm2(int64_t n, const double *x);
double distance2(int64_t n, const double *x, const double *y);

/* A variable that this function frees at the end of its scope. */
#define FREED_BY(function) __attribute__((cleanup(function)))

/* OWNED(sp_mesh) mesh: freed by sp_mesh_free(&mesh) at the end of its scope. A scope that can be left before the
 * variable is set gives it the value {0}. */
#define OWNED(type) FREED_BY(type##_free) type

/* OWNED_POINTER(sp_run) *run: freed by sp_run_free(run), for a type that the file names by OWNER(sp_run). */
#define OWNED_POINTER(type) FREED_BY(drop_##type) type
#define OWNER(type)                                                                                                    \
    static inline void drop_##type(type **owned)                                                                       \
    {                                                                                                                  \
        type##_free(*owned);                                                                                           \
    }

/* The folder of shared meshes (environment SUPPLE_MESHES), or NULL where it is absent. */
static inline const char *test_meshes(void)
{
    const char *folder = getenv("SUPPLE_MESHES");
    return folder && *folder ? folder : NULL;
}

#endif
