/* BLAS, LAPACK, our own factorization and ARPACK run on the calling thread alone, from one thread and from several:
 * they end, and give the same bytes for any number of threads. The sizes are above those from which OpenBLAS divides
 * its work. */
#include "linear/blas.h"
#include "base/random.h"
#include "basis/modes.h"
#include "grid.h"
#include "linear/cholesky.h"
#include "test.h"
#include "tools/process/blas.h"

#include <cblas.h>
#include <lapacke.h>
#include <omp.h>
#include <signal.h>
#include <unistd.h>

OWNER(sp_cholesky)

enum { N = 520, ENTRIES = N * N, RESULTS = 8, MOST_THREADS = 3, SECONDS = 200 };

/* A product that waits for threads that never come does not end. */
static void too_late(int number)
{
    static const char text[] = "Bail out! a call of BLAS or LAPACK has not returned\n";
    (void)!write(STDOUT_FILENO, text, sizeof text - 1);
    _exit(number);
}

static void fill(double *matrix, uint64_t stream)
{
    for (int i = 0; i < ENTRIES; i++)
        matrix[i] = sp_random_uniform(1, stream, (uint64_t)i) - 0.5;
}

/* result [RESULTS, N · N]: products, factors, eigenvalues and singular values of two random matrices. Levels 1 and 2
 * have one vector of N · N entries. */
static void compute(double *result)
{
    /* aligned: where a sum begins within a block of lanes changes its last bits */
    double *a = aligned_alloc(64, ENTRIES * 8), *b = aligned_alloc(64, ENTRIES * 8),
           *work = aligned_alloc(64, ENTRIES * 8), *s[RESULTS];
    lapack_int pivot[N];
    fill(a, 1);
    fill(b, 2);
    memset(result, 0, RESULTS * ENTRIES * sizeof *result);
    for (int i = 0; i < RESULTS; i++)
        s[i] = result + i * ENTRIES;

    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, N, N, N, 1, a, N, b, N, 0, s[0], N);
    cblas_dsyr2k(CblasColMajor, CblasLower, CblasNoTrans, N, N, 1, a, N, b, N, 0, s[1], N);
    for (int i = 0; i < N; i++)
        s[2][i + i * N] = N;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, N, N, 1, a, N, 1, s[2], N);
    CHECK(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', N, s[2], N) == 0, "dpotrf");
    memcpy(s[3], b, ENTRIES * 8);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, N, N, 1, s[2], N, s[3], N);
    memcpy(s[4], a, ENTRIES * 8);
    CHECK(LAPACKE_dgetrf(LAPACK_COL_MAJOR, N, N, s[4], N, pivot) == 0, "dgetrf");
    memcpy(work, s[1], ENTRIES * 8);
    CHECK(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', N, work, N, s[5]) == 0, "dsyevd");
    memcpy(s[5] + N, work, (ENTRIES - N) * 8);
    memcpy(work, a, ENTRIES * 8);
    CHECK(LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', N, N, work, N, s[6], NULL, N, NULL, N) == 0, "dgesdd");
    s[7][0] = cblas_ddot(ENTRIES, a, 1, b, 1);
    s[7][1] = cblas_dnrm2(ENTRIES, a, 1);
    s[7][2] = cblas_dasum(ENTRIES, b, 1);
    cblas_dgemv(CblasColMajor, CblasTrans, N, N, 1, a, N, b, 1, 0, s[7] + N, 1);
    cblas_dsymv(CblasColMajor, CblasLower, N, 1, s[1], N, b, 1, 0, s[7] + 2 * N, 1);

    free(a);
    free(b);
    free(work);
}

TEST(dense_from_one_thread_and_from_several)
{
    double *result = aligned_alloc(64, (MOST_THREADS + 1) * RESULTS * ENTRIES * sizeof *result);
    const double *first = result;
    compute(result);
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; t++)
            compute(result + (t + 1) * RESULTS * ENTRIES);
        for (int t = 0; t < threads; t++)
            for (int i = 0; i < RESULTS; i++)
                CHECK(!memcmp(first + i * ENTRIES, result + ((t + 1) * RESULTS + i) * ENTRIES, ENTRIES * 8),
                      "result %d of thread %d of %d has other bytes", i, t, threads);
    }
    free(result);
}

/* A calling program that has given BLAS threads of its own, as for libsupple. */
TEST(alone_among_threads_of_a_caller)
{
    double *result = aligned_alloc(64, 2 * RESULTS * ENTRIES * sizeof *result);
    compute(result);
    omp_set_num_threads(MOST_THREADS);
    const int threads = sp_blas_alone_begin();
    compute(result + RESULTS * ENTRIES);
    sp_blas_alone_end(threads);
    CHECK(omp_get_max_threads() == MOST_THREADS, "%d threads are left", omp_get_max_threads());
    CHECK(!memcmp(result, result + RESULTS * ENTRIES, RESULTS * ENTRIES * 8), "other bytes");
    omp_set_num_threads(1);
    free(result);
}

static void make_unit(int64_t n, sp_sparse *M)
{
    *M = (sp_sparse){.order = n};
    M->start = sp_pool_new(&M->pool, n + 1, sizeof *M->start);
    M->index = sp_pool_new(&M->pool, n, sizeof *M->index);
    M->value = sp_pool_new(&M->pool, n, sizeof *M->value);
    for (int64_t i = 0; i < n; i++) {
        M->index[i] = i;
        M->value[i] = 1;
        M->start[i + 1] = i + 1;
    }
}

TEST(sparse_for_any_number_of_threads)
{
    enum { SIDE = 18, ORDER = SIDE * SIDE * SIDE, MODES = 6, COLUMNS = 20 };
    OWNED(sp_sparse) K, M;
    make_grid(SIDE, (const double[]){1e-3, 2e-3, 4e-3}, &K); /* all eigenvalues are different */
    make_unit(ORDER, &M);
    const size_t size = (2 * MODES * ORDER + 2 * MODES + COLUMNS * ORDER) * sizeof(double);
    double *result[MOST_THREADS], *right = test_new(COLUMNS * ORDER, sizeof *right), residual[MODES];
    for (int i = 0; i < COLUMNS * ORDER; i++)
        right[i] = sp_random_uniform(1, 3, (uint64_t)i);
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        double *to = result[threads - 1] = malloc(size);
        context.threads = threads;
        for (int arpack = 0; arpack < 2; arpack++, to += MODES * (ORDER + 1)) {
            sp_modes_report report;
            CHECK_OK(sp_modes(&context, &K, &M, NULL, 0, NULL,
                              &(sp_modes_parameters){.count = MODES, .arpack = arpack, .tolerance = 1e-12}, to,
                              to + MODES, residual, &report));
        }
        OWNED_POINTER(sp_cholesky) *factor;
        CHECK_OK(sp_cholesky_new(&context, &K, NULL, &factor));
        CHECK_OK(sp_cholesky_factor(factor, &K));
        CHECK_OK(sp_cholesky_solve(factor, COLUMNS, right, to));
        CHECK(!memcmp(result[0], result[threads - 1], size), "other bytes with %d threads", threads);
    }
    for (int i = 0; i < MODES; i++)
        CHECK_NEAR(result[0][i], result[0][MODES * (ORDER + 1) + i], 1e-10);
    context.threads = 1;
    for (int i = 0; i < MOST_THREADS; i++)
        free(result[i]);
}

TEST(products_at_once)
{
    for (int i = 0; i < 5; i++)
        CHECK_OK(process_blas_test(&context));
}

BEFORE_TESTS()
{
    signal(SIGALRM, too_late);
    alarm(SECONDS);
}
