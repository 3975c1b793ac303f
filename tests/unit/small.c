/* Small dense matrices against plain loops in long double. */
#include "linear/small.h"
#include "base/random.h"
#include "test.h"

static double random_normal(void)
{
    static uint64_t index;
    return sp_random_normal(5, 1, index++);
}

static void fill(int64_t count, double *x)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = random_normal();
}

/* Largest |A X − I|, by the sizes of A and X. */
static double inverse_error(int n, const double *A, const double *X)
{
    long double worst = 0, a = 0, x = 0;
    for (int i = 0; i < n * n; i++) {
        a = fmaxl(a, fabsl((long double)A[i]));
        x = fmaxl(x, fabsl((long double)X[i]));
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            long double sum = i == j ? -1 : 0;
            for (int k = 0; k < n; k++)
                sum += (long double)A[i * n + k] * X[k * n + j];
            worst = fmaxl(worst, fabsl(sum));
        }
    return (double)(worst / (n * a * x));
}

TEST(inverses)
{
    enum { MOST = 70 };
    static double A[MOST * MOST], X[MOST * MOST], work[MOST];
    int pivot[MOST];
    for (int n = 1; n <= MOST; n++) {
        fill(n * n, A);
        if (n > 2)
            A[0] = A[n + 1] = 0; /* needs other pivots */
        memcpy(X, A, (size_t)(n * n) * sizeof *A);
        CHECK(sp_small_invert(n, X, pivot, work), "%d rows", n);
        CHECK(inverse_error(n, A, X) < 1e-15, "%d rows: %.2e", n, inverse_error(n, A, X));
    }
}

TEST(singular_matrices_are_refused)
{
    enum { N = 20, LARGE = 66 };
    static double A[LARGE * LARGE], work[LARGE];
    int pivot[LARGE];
    fill(N * N, A);
    for (int i = 0; i < N; i++)
        A[i * N + 7] = 0;
    CHECK(!sp_small_invert(N, A, pivot, work), "a column is zero");
    fill(N * N, A);
    A[3 * N + 2] = NAN;
    CHECK(!sp_small_invert(N, A, pivot, work), "an entry is not a number");
    fill(LARGE * LARGE, A);
    for (int i = 0; i < LARGE; i++)
        A[i * LARGE + 7] = 0;
    CHECK(!sp_small_invert(LARGE, A, pivot, work), "LAPACK");
}

TEST(products)
{
    enum { MOST = 21 };
    static double A[MOST * MOST], B[MOST * MOST], C[MOST * MOST], x[MOST], y[MOST];
    fill(MOST * MOST, A);
    fill(MOST * MOST, B);
    fill(MOST, x);
    for (int m = 1; m <= MOST; m += 4)
        for (int k = 1; k <= MOST; k++)
            for (int n = 1; n <= MOST; n++) {
                double worst = 0;
                sp_small_times(m, k, n, A, B, C);
                for (int i = 0; i < m; i++)
                    for (int j = 0; j < n; j++) {
                        long double sum = 0;
                        for (int l = 0; l < k; l++)
                            sum += (long double)A[i * k + l] * B[l * n + j];
                        worst = fmax(worst, (double)fabsl(sum - C[i * n + j]));
                    }
                CHECK(worst < 1e-14 * k, "%d, %d, %d: %.2e", m, k, n, worst);
            }
    for (int m = 1; m <= MOST; m++)
        for (int n = 1; n <= MOST; n++) {
            double worst = 0;
            sp_small_apply(m, n, A, x, y);
            for (int i = 0; i < m; i++) {
                long double sum = 0;
                for (int j = 0; j < n; j++)
                    sum += (long double)A[i * n + j] * x[j];
                worst = fmax(worst, (double)fabsl(sum - y[i]));
            }
            sp_small_apply_transposed(m, n, A, x, y);
            for (int j = 0; j < n; j++) {
                long double sum = 0;
                for (int i = 0; i < m; i++)
                    sum += (long double)A[i * n + j] * x[i];
                worst = fmax(worst, (double)fabsl(sum - y[j]));
            }
            CHECK(worst < 1e-13, "%d, %d: %.2e", m, n, worst);
        }
}
