/* Sparse factorizations: against dense ones of LAPACK, against known eigenvalues, and the same bytes for any number of
 * threads. */
#include "linear/cholesky.h"
#include "base/random.h"
#include "grid.h"
#include "linear/fronts.h"
#include "test.h"

#include <lapacke.h>
#include <malloc.h>

OWNER(sp_cholesky)
OWNER(sp_fronts)

/* The call of posix_memalign that fails, counted down; 0: none. */
static long failing;
#if !defined(__SANITIZE_ADDRESS__)
int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    long left;
#pragma omp atomic capture
    left = --failing;
    *memory = left == 0 ? NULL : memalign(alignment, bytes);
    return *memory ? 0 : 12; /* ENOMEM */
}
#endif

enum { SIDE = 24, ORDER = SIDE * SIDE * SIDE, MOST_THREADS = 7 };

static double random_number(uint64_t stream, int64_t i)
{
    return 2 * sp_random_uniform(1, stream, (uint64_t)i) - 1;
}

/* Symmetric [n, n] with about `each` entries in a row, also as a sparse matrix. */
static void make_random(int n, int each, uint64_t stream, double diagonal, double *dense, sp_sparse *A)
{
    memset(dense, 0, (size_t)n * (size_t)n * sizeof *dense);
    for (int k = 0; k < n * each; k++) {
        const int i = (int)(sp_random_uniform(1, stream, (uint64_t)(3 * k)) * n),
                  j = (int)(sp_random_uniform(1, stream, (uint64_t)(3 * k + 1)) * n);
        dense[i + n * j] = dense[j + n * i] = random_number(stream, 3 * k + 2);
    }
    for (int i = 0; i < n; i++)
        dense[i + n * i] += diagonal;

    *A = (sp_sparse){.order = n};
    A->start = sp_pool_new(&A->pool, n + 1, sizeof *A->start);
    A->index = sp_pool_new(&A->pool, n * n, sizeof *A->index);
    A->value = sp_pool_new(&A->pool, n * n, sizeof *A->value);
    for (int i = 0; i < n; i++) {
        A->start[i + 1] = A->start[i];
        for (int j = 0; j < n; j++)
            if (dense[i + n * j] != 0 || i == j) {
                A->index[A->start[i + 1]] = j;
                A->value[A->start[i + 1]++] = dense[i + n * j];
            }
    }
}

TEST(random_matrices_as_by_lapack)
{
    enum { MOST = 90, COLUMNS = 19 };
    double *dense = test_new(MOST * MOST, 8), *b = test_new(MOST * COLUMNS, 8), *x = test_new(MOST * COLUMNS, 8),
           *expected = test_new(MOST * COLUMNS, 8);
    for (int trial = 0; trial < 60; trial++) {
        const int n = 1 + (trial * 37) % MOST, each = trial % 4, counts[] = {1, 2, COLUMNS};
        OWNED(sp_sparse) A;
        OWNED_POINTER(sp_cholesky) *factor = NULL;
        make_random(n, each, (uint64_t)trial, 8 + each, dense, &A);
        for (int i = 0; i < n * COLUMNS; i++)
            expected[i] = b[i] = random_number(100, i);
        CHECK(LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', n, COLUMNS, dense, n, expected, n) == 0, "trial %d", trial);
        CHECK_OK(sp_cholesky_new(&context, &A, NULL, &factor));
        CHECK_OK(sp_cholesky_factor(factor, &A));
        for (int k = 0; k < 3; k++) {
            CHECK_OK(sp_cholesky_solve(factor, counts[k], b, x));
            CHECK(relative_difference(n * counts[k], x, expected) < 1e-13, "order %d, %d columns: %g", n, counts[k],
                  relative_difference(n * counts[k], x, expected));
        }
    }
}

/* The pivot is a position in the factor: the leading block before it is positive definite, and with it, it is not. */
TEST(the_first_pivot_that_fails)
{
    enum { N = 80 };
    double *dense = test_new(N * N, 8), *leading = test_new(N * N, 8);
    int refused = 0;
    for (int trial = 0; trial < 40; trial++) {
        OWNED(sp_sparse) A;
        OWNED_POINTER(sp_cholesky) *factor = NULL;
        make_random(N, 3, (uint64_t)(200 + trial), 1 + 0.2 * trial, dense, &A);
        CHECK_OK(sp_cholesky_new(&context, &A, NULL, &factor));
        const int32_t *position = sp_cholesky_position(factor);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                leading[position[i] + N * position[j]] = dense[i + N * j];
        const int failed = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', N, leading, N);
        refused += failed > 0;
        CHECK(sp_cholesky_factor(factor, &A) == (failed ? SP_NUMERICAL : SP_OK), "trial %d", trial);
        char expected[100];
        snprintf(expected, sizeof expected, "the matrix is not positive definite (pivot %d of %d)", failed - 1, N);
        if (failed)
            CHECK(!strcmp(context.message, expected), "%s, not %s", context.message, expected);
        CHECK(failed || sp_cholesky_solve(factor, 1, dense, leading) == SP_OK, "trial %d", trial);
        CHECK(!failed || sp_cholesky_solve(factor, 1, dense, leading) == SP_NUMERICAL, "solved without a factor");
    }
    CHECK(refused > 5 && refused < 35, "%d of 40 are refused", refused);
}

/* Fronts of several tiles, and several subtrees, also for one right-hand side: backward errors of rounding (the bound
 * of theory is the largest number of entries in a row of L, 600, times 1.1e-16), and the same bytes. */
TEST(large_fronts_for_any_number_of_threads)
{
    enum { COLUMNS = 30 };
    const int counts[] = {1, 3, COLUMNS};
    OWNED(sp_sparse) K;
    make_grid(SIDE, (const double[]){0.01, 0.02, 0.04}, &K);
    double *b = test_new(ORDER * COLUMNS, 8), *first = test_new(ORDER * COLUMNS, 8), *x = test_new(ORDER * COLUMNS, 8),
           *y = test_new(ORDER * COLUMNS, 8);
    for (int i = 0; i < ORDER * COLUMNS; i++)
        b[i] = random_number(3, i);

    for (int k = 0; k < 3; k++)
        for (int threads = 1; threads <= MOST_THREADS; threads = 2 * threads + 1) {
            OWNED_POINTER(sp_cholesky) *factor = NULL;
            context.threads = threads;
            CHECK_OK(sp_cholesky_new(&context, &K, NULL, &factor));
            CHECK(sp_cholesky_nonzeros(factor) > 1e6, "too few entries of L for solves in tasks: %g",
                  sp_cholesky_nonzeros(factor));
            CHECK_OK(sp_cholesky_factor(factor, &K));
            CHECK_OK(sp_cholesky_solve(factor, counts[k], b, threads == 1 ? first : x));

            if (threads > 1) {
                CHECK(!memcmp(first, x, (size_t)(ORDER * counts[k]) * 8), "%d columns: other bytes with %d threads",
                      counts[k], threads);
                continue;
            }

            sp_sparse_times(&context, &K, counts[k], first, y);
            for (int c = 0; c < counts[k]; c++) {
                const double *residual = y + c * ORDER, *solution = first + c * ORDER;
                const double error = max_difference(ORDER, residual, b + c * ORDER) /
                                     (12 * max_abs(ORDER, solution)); /* ‖K‖ is nearly 12 */
                CHECK(error < 1e-14, "column %d: backward error %g", c, error);
            }
        }
    context.threads = 1;
}

/* The workspaces are those of the threads at the analysis. */
TEST(more_threads_after_the_analysis)
{
    enum { COLUMNS = 50 };
    OWNED(sp_sparse) K;
    OWNED_POINTER(sp_cholesky) *factor = NULL;
    make_grid(SIDE, (const double[]){0, 0, 0}, &K);
    double *b = test_new(ORDER * COLUMNS, 8), *first = test_new(ORDER * COLUMNS, 8), *x = test_new(ORDER * COLUMNS, 8);
    for (int i = 0; i < ORDER * COLUMNS; i++)
        b[i] = random_number(6, i);
    context.threads = 2;
    CHECK_OK(sp_cholesky_new(&context, &K, NULL, &factor));
    for (context.threads = 1; context.threads <= MOST_THREADS; context.threads += MOST_THREADS - 1) {
        CHECK_OK(sp_cholesky_factor(factor, &K));
        CHECK_OK(sp_cholesky_solve(factor, COLUMNS, b, context.threads == 1 ? first : x));
    }
    CHECK(!memcmp(first, x, sizeof *x * ORDER * COLUMNS), "other bytes");
    context.threads = 1;
}

/* All tasks that may run before the pivot are tried, whatever fails beside them. */
TEST(one_failure_for_any_number_of_threads)
{
    char expected[sizeof context.message];
    OWNED(sp_sparse) K;
    make_grid(SIDE, (const double[]){0, 0, 0}, &K);
    for (int64_t k = 0; k < K.order; k += 997)
        for (int64_t e = K.start[k]; e < K.start[k + 1]; e++)
            if (K.index[e] == k)
                K.value[e] = -1;
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        OWNED_POINTER(sp_cholesky) *factor = NULL;
        context.threads = threads;
        CHECK_OK(sp_cholesky_new(&context, &K, NULL, &factor));
        CHECK(sp_cholesky_factor(factor, &K) == SP_NUMERICAL, "%d threads", threads);
        if (threads == 1)
            memcpy(expected, context.message, sizeof expected);
        CHECK(!strcmp(context.message, expected), "%s, not %s", context.message, expected);
    }
    context.threads = 1;
}

/* Sylvester's law of inertia, small against LAPACK and large against the known eigenvalues. */
TEST(negative_eigenvalues)
{
    enum { N = 70 };
    double *dense = test_new(N * N, 8), eigenvalue[N];
    int64_t count;
    for (int trial = 0; trial < 20; trial++) {
        OWNED(sp_sparse) A;
        int64_t expected = 0;
        make_random(N, 3, (uint64_t)(300 + trial), 0.5 + trial % 3, dense, &A);
        CHECK_OK(sp_cholesky_negative(&context, &A, NULL, &count));
        CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', N, dense, N, eigenvalue) == 0, "dsyev");
        for (int i = 0; i < N; i++)
            expected += eigenvalue[i] < 0;
        CHECK(count == expected, "trial %d: %lld of %lld", trial, (long long)count, (long long)expected);
    }

    OWNED(sp_sparse) K;
    make_grid(SIDE, (const double[]){0, 0, 0}, &K);
    const double shift = 0.31;
    int64_t expected = 0;
    for (int i = 0; i < ORDER; i++) {
        const int k[3] = {i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE};
        double sum = 0;
        for (int axis = 0; axis < 3; axis++)
            sum += 2 - 2 * cos((k[axis] + 1) * M_PI / (SIDE + 1));
        expected += sum < shift;
    }
    for (int64_t i = 0; i < K.order; i++)
        for (int64_t e = K.start[i]; e < K.start[i + 1]; e++)
            if (K.index[e] == i)
                K.value[e] -= shift;
    for (context.threads = 1; context.threads <= 2; context.threads++) {
        CHECK_OK(sp_cholesky_negative(&context, &K, NULL, &count));
        CHECK(count == expected && expected > 3, "%lld of %lld", (long long)count, (long long)expected);
    }
    context.threads = 1;
}

/* L S Lᵀ times a vector is the matrix times it, for a matrix that no Cholesky factorization has. */
TEST(indefinite_factors)
{
    OWNED(sp_sparse) K;
    OWNED(sp_symbolic) symbolic;
    OWNED_POINTER(sp_fronts) *fronts = NULL;
    make_grid(SIDE, (const double[]){-0.1, -0.2, 0.05}, &K);
    int64_t *order = test_new(ORDER, 8), pivot;
    for (int64_t i = 0; i < ORDER; i++)
        order[i] = i;

    /* On one thread and on three */
    CHECK_OK(sp_symbolic_new(&context, &K, order, &symbolic));
    CHECK_OK(sp_fronts_new(&context, &symbolic, &fronts));
    double *L = test_new(symbolic.value[symbolic.count], 8), *sign = test_new(ORDER, 8), *x = test_new(ORDER, 8),
           *y = test_new(ORDER, 8), *product = test_new(ORDER, 8), *expected = test_new(ORDER, 8);
    CHECK_OK(sp_fronts_factor(fronts, &K, L, sign, &pivot));
    double *again = test_new(symbolic.value[symbolic.count], 8);
    OWNED_POINTER(sp_fronts) *several = NULL;
    context.threads = 3;
    CHECK_OK(sp_fronts_new(&context, &symbolic, &several));
    CHECK_OK(sp_fronts_factor(several, &K, again, sign, &pivot));
    context.threads = 1;
    CHECK(!memcmp(L, again, (size_t)symbolic.value[symbolic.count] * 8), "other bytes with three threads");

    for (int i = 0; i < ORDER; i++)
        x[i] = random_number(5, i);
    sp_sparse_times(&context, &K, 1, x, expected);

    /* y = L S Lᵀ x, column by column */
    double largest = 0;
    for (int64_t s = 0; s < symbolic.count; s++)
        for (int64_t c = symbolic.first[s]; c < symbolic.first[s + 1]; c++) {
            const int64_t rows = sp_symbolic_rows(&symbolic, s), own = c - symbolic.first[s];
            const double *column = L + symbolic.value[s] + own * rows;
            const int32_t *index = symbolic.index + symbolic.start[s];
            double sum = 0;
            for (int64_t i = own; i < rows; i++)
                sum += column[i] * x[symbolic.row[index[i]]];
            for (int64_t i = own; i < rows; i++) {
                y[index[i]] += sign[c] * sum * column[i];
                largest = fmax(largest, fabs(column[i]));
            }
        }

    for (int i = 0; i < ORDER; i++)
        product[symbolic.row[i]] = y[i];
    const double error = relative_difference(ORDER, product, expected);
    CHECK(error < 1e-13 * largest * largest, "%g with entries of L up to %g", error, largest);
}

/* Also where the fronts are large, and off the diagonal. */
TEST(numbers_that_are_not_finite)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int side = 3; side <= 15; side += 6)
        for (int k = 0; k < 6; k++) {
            OWNED(sp_sparse) K;
            OWNED_POINTER(sp_cholesky) *factor = NULL;
            int64_t count;
            make_grid(side, (const double[]){0, 0, 0}, &K);
            CHECK_OK(sp_cholesky_new(&context, &K, NULL, &factor));
            const int64_t row = K.order / 2;
            for (int64_t e = K.start[row]; e < K.start[row + 1]; e++) {
                const bool diagonal = K.index[e] == row;
                if (diagonal == (k < 3) && K.index[e] >= row - 1) {
                    K.value[e] = bad[k % 3];
                    for (int64_t f = K.start[K.index[e]]; f < K.start[K.index[e] + 1]; f++)
                        if (K.index[f] == row)
                            K.value[f] = bad[k % 3];
                }
            }
            CHECK(sp_cholesky_factor(factor, &K) == SP_NUMERICAL, "side %d, case %d", side, k);
            CHECK(sp_cholesky_negative(&context, &K, NULL, &count) == SP_NUMERICAL, "side %d, case %d", side, k);
        }
}

/* The solution of A x = b [n] on one thread, whose residual is small, and on two and three threads to the same bytes.
 */
static void check_solution(const sp_sparse *A, uint64_t stream, double bound, const char *name)
{
    const int64_t n = A->order;
    double *b = test_new(n, 8), *x = test_new(n, 8), *first = test_new(n, 8);
    for (int64_t i = 0; i < n; i++)
        b[i] = random_number(stream, i);

    for (context.threads = 1; context.threads <= 3; context.threads++) {
        OWNED_POINTER(sp_cholesky) *factor = NULL;
        CHECK_OK(sp_cholesky_new(&context, A, NULL, &factor));
        CHECK_OK(sp_cholesky_factor(factor, A));
        CHECK_OK(sp_cholesky_solve(factor, 1, b, context.threads == 1 ? first : x));
        CHECK(context.threads == 1 || !memcmp(first, x, (size_t)n * 8), "%s: other bytes with %d threads", name,
              context.threads);
    }
    context.threads = 1;

    sp_sparse_times(&context, A, 1, first, x);
    CHECK(relative_difference(n, x, b) < bound, "%s: residual %g", name, relative_difference(n, x, b));
}

/* A single front, many trees, rows without an entry off the diagonal, and none at all. */
TEST(patterns_of_all_kinds)
{
    enum { N = 600 };
    static const char *const names[] = {"one front", "many trees", "a diagonal"};
    double *dense = test_new(N * N, 8);
    for (int kind = 0; kind < 3; kind++) {
        OWNED(sp_sparse) A;
        make_random(N, 0, 1, 2, dense, &A);
        A.index = sp_pool_new(&A.pool, N * N, 8);
        A.value = sp_pool_new(&A.pool, N * N, 8);
        for (int i = 0; i < N; i++) {
            int64_t at = A.start[i];
            for (int j = 0; j < N; j++)
                if (i == j || kind == 0 || (kind == 1 && i / 2 == j / 2)) {
                    A.index[at] = j;
                    A.value[at++] = i == j ? N : -0.5;
                }
            A.start[i + 1] = at;
        }
        check_solution(&A, 7, 1e-14, names[kind]);
    }
}

/* More subtrees than there are tasks, all below one front: two entries in each of many rows beside a dense block. */
TEST(many_small_trees)
{
    enum { SMALL = 20000, DENSE = 1100, N = SMALL + DENSE };
    OWNED(sp_sparse) A = {.order = N};
    A.start = sp_pool_new(&A.pool, N + 1, sizeof *A.start);
    A.index = sp_pool_raw(&A.pool, 3 * SMALL + DENSE * (2 * SMALL / DENSE + 2 + DENSE), sizeof *A.index);
    A.value = sp_pool_raw(&A.pool, 3 * SMALL + DENSE * (2 * SMALL / DENSE + 2 + DENSE), sizeof *A.value);

    /* Row i < SMALL meets columns i and i + DENSE / 2 of the dense block, modulo its size. */
    for (int64_t i = 0, at = 0; i < N; i++) {
        const int64_t k = i - SMALL;
        if (k < 0) {
            const int64_t a = i % DENSE, b = (i + DENSE / 2) % DENSE;
            const int64_t column[] = {i, SMALL + (a < b ? a : b), SMALL + (a < b ? b : a)};
            for (int e = 0; e < 3; e++, at++) {
                A.index[at] = column[e];
                A.value[at] = e == 0 ? 3 : -1;
            }
        }
        for (int64_t j = 0; k >= 0 && j < N; j++)
            if (j >= SMALL || j % DENSE == k || (j + DENSE / 2) % DENSE == k) {
                A.index[at] = j;
                A.value[at++] = j < SMALL ? -1 : i == j ? 3 * DENSE : 1;
            }
        A.start[i + 1] = at;
    }

    check_solution(&A, 11, 1e-13, "many small trees");
}

static volatile int stop = 1;

TEST(cancelled)
{
    OWNED(sp_sparse) K;
    OWNED_POINTER(sp_cholesky) *factor = NULL;
    make_grid(SIDE, (const double[]){0, 0, 0}, &K);
    CHECK_OK(sp_cholesky_new(&context, &K, NULL, &factor));
    context.cancel = &stop;
    CHECK(sp_cholesky_factor(factor, &K) == SP_SYSTEM && !strcmp(context.message, "cancelled"), "%s", context.message);
    context.cancel = NULL;
    CHECK_OK(sp_cholesky_factor(factor, &K));
}

TEST(no_pivot)
{
    int64_t start[] = {0, 2, 4}, index[] = {0, 1, 0, 1}, count;
    double value[] = {0, 1, 1, 0};
    const sp_sparse A = {.order = 2, .start = start, .index = index, .value = value};
    CHECK(sp_cholesky_negative(&context, &A, NULL, &count) == SP_NUMERICAL, "%s", context.message);
    CHECK(!strcmp(context.message, "the matrix has no factorization without pivoting (pivot 0 of 2)"), "%s",
          context.message);
}

/* Memory that is out in a task ends the factorization, which can be repeated. */
TEST(memory_that_is_out_within_tasks)
{
    OWNED(sp_sparse) K;
    make_grid(SIDE, (const double[]){0, 0, 0}, &K);
#if defined(__SANITIZE_ADDRESS__)
    SKIP("the sanitizer has an allocator of its own");
#endif
    for (context.threads = 1; context.threads <= 3; context.threads += 2) {
        OWNED_POINTER(sp_cholesky) *factor = NULL;
        int failures = 0;
        CHECK_OK(sp_cholesky_new(&context, &K, NULL, &factor));
        for (;; failures++) {
            failing = failures + 1;
            const int status = sp_cholesky_factor(factor, &K);
            if (status == SP_OK)
                break;
            CHECK(status == SP_SYSTEM && !strcmp(context.message, "out of memory"), "%s", context.message);
        }
        failing = 0;
        CHECK(failures > 10, "only %d updates have memory of their own", failures);
        CHECK_OK(sp_cholesky_factor(factor, &K));
    }
    context.threads = 1;
}

static double a_megabyte(void)
{
    return 1e6;
}

/* Said before it is allocated, with the sum of the parts that it has. */
TEST(memory_that_does_not_suffice)
{
    OWNED(sp_sparse) K;
    OWNED_POINTER(sp_cholesky) *factor = NULL;
    double needed = 0, left = 0;
    make_grid(SIDE, (const double[]){0, 0, 0}, &K);
    CHECK_OK(sp_cholesky_new(&context, &K, NULL, &factor));
    context.memory_left = a_megabyte;
    OWNED_POINTER(sp_cholesky) *refused = NULL;
    CHECK(sp_cholesky_new(&context, &K, NULL, &refused) == SP_SYSTEM && !refused, "%s", context.message);
    CHECK(sscanf(context.message, "the factorization needs %lf GB of memory, and %lf GB are left", &needed, &left) == 2,
          "%s", context.message);
    CHECK(left == 0.001 && needed > 8e-9 * sp_cholesky_nonzeros(factor) &&
              needed < 4 * 8e-9 * sp_cholesky_nonzeros(factor),
          "%s", context.message);
    context.memory_left = NULL;
}

TEST(matrices_of_no_row)
{
    int64_t start[1] = {0};
    const sp_sparse A = {.order = 0, .start = start};
    OWNED_POINTER(sp_cholesky) *factor = NULL;
    int64_t count = 1;
    CHECK_OK(sp_cholesky_new(&context, &A, NULL, &factor));
    CHECK_OK(sp_cholesky_factor(factor, &A));
    CHECK_OK(sp_cholesky_solve(factor, 2, NULL, NULL));
    CHECK_OK(sp_cholesky_negative(&context, &A, NULL, &count));
    CHECK(count == 0, "%lld", (long long)count);
}
