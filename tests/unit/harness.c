/* Runs the tests of a program and frees what they own. */
#include "test.h"

enum { MOST_TESTS = 100 };

typedef struct named_test {
    const char *name;
    void (*run)(void);
} named_test;

/* An array of a test, in a list of which the last is the first. */
typedef struct owned_array {
    struct owned_array *next;
    void *data;
} owned_array;

long test_checks, test_failures;
bool test_skipped;

static named_test tests[MOST_TESTS];
static int test_count;
static void (*before_tests)(void), (*after_tests)(void);
static owned_array *arrays;

void test_register(const char *name, void (*run)(void))
{
    if (test_count == MOST_TESTS)
        abort();
    tests[test_count++] = (named_test){name, run};
}

void test_register_around(void (*before)(void), void (*after)(void))
{
    before_tests = before ? before : before_tests;
    after_tests = after ? after : after_tests;
}

void *test_new(int64_t count, size_t size)
{
    owned_array *array = malloc(sizeof *array);
    if (!array || count < 0 || !(array->data = calloc((size_t)count, size)))
        abort();
    array->next = arrays;
    arrays = array;
    return array->data;
}

/* Frees the arrays that are younger than `kept`. */
static void free_arrays(const owned_array *kept)
{
    while (arrays != kept) {
        owned_array *array = arrays;
        arrays = array->next;
        free(array->data);
        free(array);
    }
}

/* max(a, b) of numbers ≥ 0, NaN if one of them is; fmax would drop it. */
static double larger(double a, double b)
{
    return isnan(a) || b <= a ? a : b;
}

double max_abs(int64_t n, const double *x)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = larger(most, fabs(x[i]));
    return most;
}

double max_difference(int64_t n, const double *x, const double *y)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = larger(most, fabs(x[i] - y[i]));
    return most;
}

double relative_difference(int64_t n, const double *x, const double *y)
{
    return max_difference(n, x, y) / max_abs(n, y);
}

double dot_product(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

double norm2(int64_t n, const double *x)
{
    return sqrt(dot_product(n, x, x));
}

double distance2(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

/* A test without any check fails, since it could not. */
static bool run_test(int number)
{
    test_checks = test_failures = 0;
    test_skipped = false;
    tests[number].run();

    const bool good = test_failures == 0 && (test_checks > 0 || test_skipped);
    printf("# %ld checks\n%sok %d - %s%s\n", test_checks, good ? "" : "not ", number + 1, tests[number].name,
           test_skipped ? " # SKIP" : "");
    fflush(stdout);
    return good;
}

int test_all(void)
{
    bool good = true;
    if (before_tests)
        before_tests();

    const owned_array *kept = arrays;
    for (int i = 0; i < test_count; i++) {
        good &= run_test(i);
        free_arrays(kept);
    }

    if (after_tests)
        after_tests();
    free_arrays(NULL);
    printf("1..%d\n", test_count);
    return !good;
}
