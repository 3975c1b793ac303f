/* Nonnegative least squares: against all subsets of columns, against problems made with a known optimal solution, and
 * by the KKT conditions recomputed here in long double. */
#include "linear/nnls.h"
#include "base/random.h"
#include "test.h"

#include <lapacke.h>

OWNER(sp_nnls_set)

static double random_normal(void)
{
    static uint64_t index;
    return sp_random_normal(17, 1, index++);
}

static double *random_matrix(int64_t m, int64_t n)
{
    double *A = malloc((size_t)(m * n + 1) * sizeof *A);
    for (int64_t i = 0; i < m * n; i++)
        A[i] = random_normal();
    return A;
}

static double dot(int64_t m, const double *x, const double *y)
{
    long double sum = 0;
    for (int64_t i = 0; i < m; i++)
        sum += (long double)x[i] * y[i];
    return (double)sum;
}

/* KKT residual and ‖b − A w‖/‖b‖ as the header defines them; a negative weight makes it infinite. */
static double recomputed(int64_t m, int64_t n, const double *A, int64_t stride, const double *b, const double *w,
                         double *residual)
{
    double *r = test_new(m, sizeof *r), worst = 0, b_norm = sqrt(dot(m, b, b));
    for (int64_t i = 0; i < m; i++) {
        long double sum = b[i];
        for (int64_t j = 0; j < n; j++)
            sum -= (long double)A[j * stride + i] * w[j];
        r[i] = (double)sum;
    }
    for (int64_t j = 0; j < n; j++) {
        double length = sqrt(dot(m, A + j * stride, A + j * stride)),
               h = length > 0 ? dot(m, A + j * stride, r) / length / b_norm : 0;
        if (!(w[j] >= 0))
            worst = INFINITY;
        worst = fmax(worst, w[j] > 0 ? fabs(h) : h);
    }
    *residual = sqrt(dot(m, r, r)) / b_norm;
    return worst;
}

/* Solves, and checks the report. */
static void solve(int64_t m, int64_t n, const double *A, const double *b, double *w, sp_nnls_report *report)
{
    double residual;
    CHECK_OK(sp_nnls(&context, m, n, A, m, b, &(sp_nnls_parameters){0}, w, report));
    double kkt = recomputed(m, n, A, m, b, w, &residual);
    int64_t positive = 0;
    for (int64_t j = 0; j < n; j++)
        positive += w[j] > 0;
    CHECK(kkt <= 1e-12, "%lld x %lld: KKT residual %.3g", (long long)m, (long long)n, kkt);
    CHECK_NEAR(report->kkt, kkt, 1e-13);
    CHECK_NEAR(report->residual, residual, 1e-13);
    CHECK(report->positive == positive && report->reached, "%lld positive, %lld reported", (long long)positive,
          (long long)report->positive);
}

TEST(all_subsets)
{
    for (int trial = 0; trial < 150; trial++) {
        int64_t m = 1 + trial % 11, n = 1 + trial / 11 % 8;
        double *A = random_matrix(m, n), *b = random_matrix(m, 1), w[8], best = sqrt(dot(m, b, b)), norm = best;
        if (trial % 3 == 0) /* in the cone of the columns, or near */
            for (int64_t i = 0; i < m; i++)
                b[i] = A[i] + (n > 2 ? 2 * A[2 * m + i] : 0);
        best = norm = sqrt(dot(m, b, b));
        for (int64_t subset = 1; subset < INT64_C(1) << n; subset++) {
            double C[88], x[11];
            int64_t k = 0;
            for (int64_t j = 0; j < n; j++)
                if (subset >> j & 1)
                    memcpy(C + m * k++, A + m * j, (size_t)m * sizeof *C);
            if (k > m)
                continue;
            memcpy(x, b, (size_t)m * sizeof *x);
            bool feasible = LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', (int)m, (int)k, 1, C, (int)m, x, (int)m) == 0;
            for (int64_t j = 0; j < k; j++)
                feasible &= x[j] >= 0;
            if (feasible)
                best = fmin(best, sqrt(dot(m - k, x + k, x + k)));
        }
        sp_nnls_report report;
        solve(m, n, A, b, w, &report);
        CHECK_NEAR(report.residual, best / norm, 1e-13);
        free(A);
        free(b);
    }
}

/* b = A w + r with r ⟂ the columns of positive weight (and, ties, some of weight 0), at an obtuse angle with all
 * others: then w is the minimum, and the only one where positive and tied columns are independent. near > 0: the active
 * columns are one column and `near` times random ones, and r is as small, because the square of the condition magnifies
 * its rounding. */
static double *known(int64_t m, int64_t n, int64_t positive, int64_t ties, double near, double *b, double *w)
{
    double *A = random_matrix(m, n), *r = random_matrix(m, 1), length = sqrt(dot(m, r, r));
    for (int64_t i = 0; i < m; i++)
        r[i] /= length;
    memset(b, 0, (size_t)m * sizeof *b);
    for (int64_t j = 0; j < n; j++) {
        double *a = A + j * m;
        if (near > 0 && j > 0 && j < positive)
            for (int64_t i = 0; i < m; i++)
                a[i] = A[i] + near * a[i];
        for (int pass = 0; pass < 2; pass++) {
            double along = dot(m, a, r);
            for (int64_t i = 0; i < m; i++)
                a[i] -= along * r[i];
        }
        for (int64_t i = 0; i < m && j >= positive + ties; i++)
            a[i] -= (0.1 + (double)(j % 5)) * r[i];
        w[j] = j < positive ? 1 + (double)(j % 7) : 0;
        for (int64_t i = 0; i < m; i++)
            b[i] += w[j] * a[i];
    }
    for (int64_t i = 0; i < m; i++)
        b[i] += (near > 0 ? near : 3) * r[i];
    free(r);
    return A;
}

TEST(known_solutions)
{
    static const int64_t cases[][4] = {{10, 6, 3, 0},    {30, 20, 8, 4},   {200, 150, 60, 20},  {500, 40, 40, 0},
                                       {60, 300, 20, 5}, {100, 90, 0, 10}, {2000, 300, 150, 30}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t m = cases[c][0], n = cases[c][1];
        double *b = test_new(m, 8), *expected = test_new(n, 8), *w = test_new(n, 8), worst = 0;
        double *A = known(m, n, cases[c][2], cases[c][3], 0, b, expected);
        sp_nnls_report report;
        solve(m, n, A, b, w, &report);
        for (int64_t j = 0; j < n; j++)
            worst = fmax(worst, fabs(w[j] - expected[j]));
        CHECK(worst <= 1e-11, "%lld x %lld: a weight is off by %.3g", (long long)m, (long long)n, worst);
        free(A);
    }
}

TEST(nearly_dependent)
{
    /* Weights are known to about condition times rounding, as long as the gradient of a column that is missing, about
     * near², is above rounding; beyond that others may stand in for it, and the fit is the same: ‖b − A w‖² exceeds the
     * least by at most 2 KKT Σ w‖a‖ ‖b‖, here Σ w‖a‖ < 2 ‖b‖. */
    static const double near[] = {1e-3, 1e-5, 1e-6, 1e-7};
    for (int c = 0; c < 4; c++)
        for (int tall = 0; tall < 2; tall++) {
            enum { M = 400, N = 120 };
            int64_t m = tall ? M : 60, n = tall ? N : 600; /* by the Gram matrix; by the columns */
            double b[M], expected[600], w[600], worst = 0;
            double *A = known(m, n, 12, 0, near[c], b, expected);
            sp_nnls_report report;
            solve(m, n, A, b, w, &report);
            for (int64_t j = 0; j < n; j++)
                worst = fmax(worst, fabs(w[j] - expected[j]));
            CHECK_NEAR(report.residual * report.residual, near[c] * near[c] / dot(m, b, b), 4e-13);
            CHECK(near[c] < 1e-5 || worst <= 1e-13 / near[c], "%lld x %lld, %.0e: a weight is off by %.3g",
                  (long long)m, (long long)n, near[c], worst);
            NOTE("active columns %.0e apart: KKT %.1e, weights to %.1e, %lld changes", near[c], report.kkt, worst,
                 (long long)report.iterations);
            free(A);
        }
}

TEST(beyond_rounding)
{
    /* Columns that are so nearly dependent that their weights are lost: the result is a fit, not an error. */
    for (int trial = 0; trial < 40; trial++) {
        int64_t m = trial % 2 ? 100 : 40, n = trial % 2 ? 60 : 300;
        double b[100], expected[300], w[300], residual,
            *A = known(m, n, trial % 3 ? 20 : 6, 3, trial % 4 < 2 ? 3e-8 : 1e-9, b, expected);
        for (int64_t i = 0; trial % 5 == 0 && i < m; i++)
            b[i] += random_normal();
        sp_nnls_report report;
        CHECK_OK(sp_nnls(&context, m, n, A, m, b, &(sp_nnls_parameters){0}, w, &report));
        double kkt = recomputed(m, n, A, m, b, w, &residual);
        CHECK(kkt <= 1e-10, "KKT residual %.3g", kkt);
        free(A);
    }
}

TEST(copies)
{
    /* Columns that occur twice, with the other sign, scaled, or changed by rounding: the fit is that of the single
     * columns, and the iterations end. */
    enum { M = 40, N = 15 };
    for (int kind = 0; kind < 5; kind++) {
        double *A = random_matrix(M, 2 * N), b[M], w[2 * N], once[N];
        for (int64_t i = 0; i < M; i++) {
            b[i] = random_normal();
            for (int64_t j = 0; j < N; j++) {
                double a = A[j * M + i], *other = &A[(N + j) * M + i];
                *other = kind == 0   ? a
                         : kind == 1 ? -a
                         : kind == 2 ? 1e-30 * a
                         : kind == 3 ? a * (1 + 1e-15 * *other)
                                     : a + 1e-9 * *other;
            }
        }
        sp_nnls_report whole, half;
        solve(M, 2 * N, A, b, w, &whole);
        solve(M, N, A, b, once, &half);
        CHECK(whole.residual <= half.residual + 1e-13, "more columns fit worse: %.17g, %.17g", whole.residual,
              half.residual);
        if (kind == 0 || kind == 2 || kind == 3)
            CHECK_NEAR(whole.residual, half.residual, 1e-13);
        if (kind == 1) { /* of a column and its opposite, only the difference of the weights matters */
            double C[N * M], x[M];
            memcpy(C, A, sizeof C);
            memcpy(x, b, sizeof x);
            CHECK(LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', M, N, 1, C, M, x, M) == 0, "dgels");
            for (int j = 0; j < N; j++)
                CHECK_NEAR(w[j] - w[N + j], x[j], 1e-13);
        }
        free(A);
    }
}

TEST(degenerate)
{
    double A[] = {1, 2, 3, 0, 0, 0, -1, -2, -3}, b[] = {2, 4, 6}, zero[3] = {0}, w[9] = {7, 7, 7};
    sp_nnls_report report;
    CHECK_OK(sp_nnls(&context, 3, 3, A, 3, zero, &(sp_nnls_parameters){0}, w, &report));
    CHECK(w[0] == 0 && w[1] == 0 && w[2] == 0 && report.residual == 0 && report.kkt == 0 && report.reached,
          "b = 0: %g %g %g", w[0], w[1], w[2]);
    solve(3, 3, A, b, w, &report);
    CHECK_NEAR(w[0], 2, 1e-15);
    CHECK(w[1] == 0 && w[2] == 0 && report.positive == 1, "%g %g", w[1], w[2]);
    solve(3, 1, A + 6, b, w, &report);
    CHECK(w[0] == 0 && report.residual == 1 && report.iterations == 0, "a column away from b got %g", w[0]);
    solve(3, 1, A + 3, b, w, &report);
    CHECK(w[0] == 0, "a column of zeros got %g", w[0]);
    solve(1, 9, A, b, w, &report); /* one row */
    CHECK(report.positive == 1 && report.residual <= 1e-16, "%lld positive, residual %g", (long long)report.positive,
          report.residual);
    CHECK_OK(sp_nnls(&context, 3, 0, A, 3, b, &(sp_nnls_parameters){0}, w, &report));
    CHECK(report.residual == 1 && report.reached, "no columns: %g", report.residual);
    /* very different lengths */
    double *B = random_matrix(20, 6), c[20], x[6], y[6];
    for (int i = 0; i < 20; i++)
        c[i] = random_normal() + B[i] + B[20 + i];
    solve(20, 6, B, c, x, &report);
    for (int i = 0; i < 120; i++)
        B[i] *= pow(10, 40 * (i / 20) - 100);
    for (int i = 0; i < 20; i++)
        c[i] *= 1e-120;
    CHECK_OK(sp_nnls(&context, 20, 6, B, 20, c, &(sp_nnls_parameters){0}, y, &report));
    for (int j = 0; j < 6; j++)
        CHECK_NEAR(y[j] * pow(10, 40 * j - 100) * 1e120, x[j], 1e-13);
    free(B);
}

TEST(tolerance_and_most)
{
    enum { M = 300, N = 80 };
    double *A = random_matrix(M, N), b[M] = {0}, w[N], residual;
    for (int64_t i = 0; i < M * N; i++)
        A[i] = fabs(A[i]);
    for (int64_t j = 0; j < 60; j++)
        for (int64_t i = 0; i < M; i++)
            b[i] += (double)j * A[j * M + i];
    sp_nnls_report report, last = {.residual = 1};
    static const double tolerances[] = {0.5, 0.2, 0.1, 0.05, 0.01, 1e-6, 1e-10};
    for (int i = 0; i < 7; i++) {
        CHECK_OK(sp_nnls(&context, M, N, A, M, b, &(sp_nnls_parameters){.tolerance = tolerances[i]}, w, &report));
        recomputed(M, N, A, M, b, w, &residual);
        CHECK(residual <= tolerances[i] && report.reached, "%g asked, %g reached", tolerances[i], residual);
        CHECK_NEAR(report.residual, residual, 1e-14);
        CHECK(report.positive >= last.positive && report.positive <= 60, "%lld positive", (long long)report.positive);
        last = report;
    }
    CHECK(last.positive == 59, "%lld columns make up b", (long long)last.positive);
    last.residual = 1;
    for (int64_t most = 1; most <= 64; most *= 2) {
        CHECK_OK(sp_nnls(&context, M, N, A, M, b, &(sp_nnls_parameters){.most = most}, w, &report));
        recomputed(M, N, A, M, b, w, &residual);
        CHECK((most < 59 ? report.positive == most : report.positive >= 59) && report.reached == (most >= 59),
              "%lld of %lld", (long long)report.positive, (long long)most);
        CHECK_NEAR(report.residual, residual, 1e-14);
        CHECK(residual < last.residual, "%g after %g", residual, last.residual);
        last = report;
    }
    CHECK_OK(sp_nnls(&context, M, N, A, M, b, &(sp_nnls_parameters){.most = 1}, w,
                     &report)); /* the column closest to b, fitted */
    double best = 0;
    for (int64_t j = 0; j < N; j++)
        best = fmax(best, dot(M, A + j * M, b) / sqrt(dot(M, A + j * M, A + j * M) * dot(M, b, b)));
    CHECK_NEAR(report.residual, sqrt(1 - best * best), 1e-12);
    b[0] += 1e4; /* not reachable */
    CHECK_OK(sp_nnls(&context, M, N, A, M, b, &(sp_nnls_parameters){.tolerance = 1e-9}, w, &report));
    CHECK(!report.reached && report.kkt <= 1e-12, "a tolerance below the minimum: KKT %g", report.kkt);
    free(A);
}

TEST(refusals)
{
    double A[] = {1, 2, 3, 4}, b[] = {1, 1}, w[2];
    sp_nnls_parameters none = {0};
    sp_nnls_report report;
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e200, 1e-200};
    for (int i = 0; i < 5; i++) {
        double B[] = {1, 2, bad[i], 0}, c[] = {0, bad[i]};
        CHECK(sp_nnls(&context, 2, 2, B, 2, b, &none, w, &report) == SP_INPUT && strstr(context.message, "column 1"),
              "%g in A: %s", bad[i], context.message);
        CHECK(sp_nnls(&context, 2, 2, A, 2, c, &none, w, &report) == SP_INPUT &&
                  strstr(context.message, "right-hand side"),
              "%g in b: %s", bad[i], context.message);
        OWNED_POINTER(sp_nnls_set) *set;
        CHECK(sp_nnls_set_new(&context, 2, c, 0, &set) == SP_INPUT && !set, "%g in b of a set", bad[i]);
        CHECK_OK(sp_nnls_set_new(&context, 2, b, 0, &set));
        CHECK_OK(sp_nnls_set_add(set, 1, A, (int64_t[]){5}));
        CHECK(sp_nnls_set_add(set, 2, B, (int64_t[]){6, 7}) == SP_INPUT && sp_nnls_set_count(set) == 1,
              "%g in columns of a set", bad[i]);
        CHECK_OK(sp_nnls_set_add(set, 1, A + 2, (int64_t[]){8}));
        CHECK(sp_nnls_set_ids(set)[1] == 8 && sp_nnls_set_columns(set)[2] == 3,
              "the next column is not behind the first");
    }
    CHECK(sp_nnls(&context, 2, 2, A, 1, b, &none, w, &report) == SP_INPUT, "columns that overlap");
    CHECK(sp_nnls(&context, 0, 2, A, 1, b, &none, w, &report) == SP_INPUT, "no rows");
    CHECK(sp_nnls(&context, 2, -1, A, 2, b, &none, w, &report) == SP_INPUT, "−1 columns");
    CHECK(sp_nnls(&context, 2, 2, A, 2, b, &(sp_nnls_parameters){.tolerance = NAN}, w, &report) == SP_INPUT,
          "a tolerance that is not a number");
    CHECK(sp_nnls(&context, 2, 2, A, 2, b, &(sp_nnls_parameters){.most = -1}, w, &report) == SP_INPUT,
          "−1 weights at most");
    static const int stop = 1;
    context.cancel = &stop;
    CHECK(sp_nnls(&context, 2, 2, A, 2, b, &none, w, &report) == SP_SYSTEM, "cancelled");
    context.cancel = NULL;
    sp_nnls_set_free(NULL);
}

/* Forces of smooth fields at points of a line, as in cubature: columns that are hard to distinguish. */
static double *smooth(int64_t m, int64_t n, double *b)
{
    double *A = malloc((size_t)(m * n) * sizeof *A);
    memset(b, 0, (size_t)m * sizeof *b);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double x = ((double)j + 0.5) / (double)n, k = (double)(i % 23);
            A[j * m + i] = cos(k * x + (double)i) + 0.3 * x * sin(2 * k * x);
            b[i] += A[j * m + i];
        }
    return A;
}

TEST(shapes_of_matrices)
{
    /* the last ones from the columns alone, and with a Gram matrix made on the way */
    static const int64_t sizes[][2] = {{50, 20},   {20, 50},  {1, 30},    {300, 200}, {3000, 40},
                                       {200, 700}, {40, 600}, {40, 2000}, {10, 5000}};
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++)
        for (int kind = 0; kind < 3; kind++) {
            int64_t m = sizes[c][0], n = sizes[c][1];
            double *b = random_matrix(m, 1), *w = test_new(n, 8), *A = kind < 2 ? random_matrix(m, n) : smooth(m, n, b);
            for (int64_t i = 0; kind == 1 && i < m * n; i++)
                A[i] = fabs(A[i]);
            for (int64_t i = 0; kind == 1 && i < m; i++)
                b[i] = 3 + b[i];
            sp_nnls_report report;
            solve(m, n, A, b, w, &report);
            free(A);
            free(b);
        }
    enum { M = 30, N = 12, STRIDE = 37 }; /* a part of a taller matrix */
    double *A = random_matrix(STRIDE, N), *b = random_matrix(M, 1), w[N], residual;
    sp_nnls_report report;
    CHECK_OK(sp_nnls(&context, M, N, A, STRIDE, b, &(sp_nnls_parameters){0}, w, &report));
    CHECK(recomputed(M, N, A, STRIDE, b, w, &residual) <= 1e-13, "with a stride");
    free(A);
    free(b);
}

TEST(one_at_a_time)
{
    enum { M = 250, N = 90 };
    double b[M], w[N], expected[N], residual;
    int64_t id[N];
    double *A = known(M, N, 40, 10, 0, b, expected);
    sp_nnls_report whole, report;
    solve(M, N, A, b, w, &whole);
    for (int64_t j = 0; j < N; j++)
        id[j] = 1000 + j;
    for (int way = 0; way < 4; way++) { /* single; blocks of 7; both, solved at the end only; single, with drops and
                                           everything offered again */
        OWNED_POINTER(sp_nnls_set) *set = NULL;
        double last = 1;
        int64_t step = way == 1 || way == 2 ? 7 : 1;
        CHECK_OK(sp_nnls_set_new(&context, M, b, way, &set));
        CHECK(sp_nnls_set_count(set) == 0 && !memcmp(sp_nnls_set_residual(set), b, sizeof b), "a new set");
        for (int64_t at = 0; at < N; at += step) {
            int64_t j = (at / step * 37 % ((N + step - 1) / step)) * step,
                    count = N - j < step ? N - j : step; /* in no order */
            CHECK_OK(sp_nnls_set_add(set, count, A + j * M, id + j));
            if (way == 2)
                continue;
            CHECK_OK(sp_nnls_set_solve(set, &(sp_nnls_parameters){0}, &report));
            CHECK(report.residual <= last + 1e-14 && report.kkt <= 1e-12, "%g after %g, KKT %g", report.residual, last,
                  report.kkt);
            last = report.residual;
            if (way == 3 && at % 9 == 8) {
                sp_nnls_set_drop(set);
                CHECK(sp_nnls_set_count(set) == report.positive, "%lld columns stay, %lld are positive",
                      (long long)sp_nnls_set_count(set), (long long)report.positive);
                CHECK_OK(sp_nnls_set_solve(set, &(sp_nnls_parameters){0}, &report));
                CHECK(report.iterations == 0, "%lld changes after a drop", (long long)report.iterations);
                CHECK_NEAR(report.residual, last, 1e-14);
            }
        }
        if (way == 3) { /* the dropped columns again */
            bool there[N] = {false};
            for (int64_t i = 0; i < sp_nnls_set_count(set); i++)
                there[sp_nnls_set_ids(set)[i] - 1000] = true;
            for (int64_t j = 0; j < N; j++)
                if (!there[j])
                    CHECK_OK(sp_nnls_set_add(set, 1, A + j * M, id + j));
        }
        CHECK_OK(sp_nnls_set_solve(set, &(sp_nnls_parameters){0}, &report));
        CHECK(sp_nnls_set_count(set) == N && report.reached, "%lld columns", (long long)sp_nnls_set_count(set));
        const double *weights = sp_nnls_set_weights(set), *columns = sp_nnls_set_columns(set),
                     *r = sp_nnls_set_residual(set);
        CHECK(recomputed(M, N, columns, M, b, weights, &residual) <= 1e-12, "way %d", way);
        CHECK_NEAR(sqrt(dot(M, r, r) / dot(M, b, b)), residual, 1e-14);
        for (int64_t i = 0; i < N; i++) {
            int64_t j = sp_nnls_set_ids(set)[i] - 1000;
            CHECK(!memcmp(columns + i * M, A + j * M, M * sizeof *A), "column %lld is not the one of that name",
                  (long long)i);
            CHECK_NEAR(weights[i], expected[j], 1e-11);
        }
    }
    free(A);
}

TEST(set_with_bounds)
{
    enum { M = 200, N = 120 };
    double b[M], *A = smooth(M, N, b);
    OWNED_POINTER(sp_nnls_set) *set;
    sp_nnls_report report;
    CHECK_OK(sp_nnls_set_new(&context, M, b, 0, &set));
    for (int64_t j = 0; j < N; j++) {
        int64_t id = j * 53 % N;
        CHECK_OK(sp_nnls_set_add(set, 1, A + id * M, &id));
        CHECK_OK(sp_nnls_set_solve(set, &(sp_nnls_parameters){.most = 9, .tolerance = 1e-3}, &report));
        CHECK(report.positive <= 9 && report.reached == (report.residual <= 1e-3), "%lld positive, residual %g",
              (long long)report.positive, report.residual);
    }
    CHECK_OK(sp_nnls_set_solve(set, &(sp_nnls_parameters){.tolerance = 1e-3}, &report));
    CHECK(report.reached && report.residual <= 1e-3, "residual %g", report.residual);
    CHECK_OK(sp_nnls_set_solve(set, &(sp_nnls_parameters){0}, &report));
    CHECK(report.reached && report.kkt <= 1e-12, "KKT %g", report.kkt);
    free(A);
}

TEST(same_bytes)
{
    static const int64_t sizes[][2] = {{5000, 300}, {700, 1100}, {60, 20000}};
    for (int c = 0; c < 3; c++) {
        int64_t m = sizes[c][0], n = sizes[c][1];
        double *b = test_new(m, 8), *w = test_new(3 * n, 8), *A = c == 0 ? random_matrix(m, n) : smooth(m, n, b);
        for (int64_t i = 0; c == 0 && i < m; i++)
            b[i] = A[i] + 2 * A[7 * m + i] + random_normal();
        sp_nnls_report report[3];
        for (int i = 0; i < 3; i++) {
            context.threads = 1 << i;
            CHECK_OK(sp_nnls(&context, m, n, A, m, b, &(sp_nnls_parameters){.most = 150}, w + i * n, &report[i]));
        }
        CHECK(!memcmp(w, w + n, (size_t)n * 8) && !memcmp(w, w + 2 * n, (size_t)n * 8), "weights of %lld x %lld",
              (long long)m, (long long)n);
        CHECK(report[0].residual == report[1].residual && report[0].kkt == report[2].kkt &&
                  report[0].iterations == report[2].iterations,
              "reports");
        for (int i = 0; i < 3 && c < 2; i++) {
            context.threads = 1 << i;
            OWNED_POINTER(sp_nnls_set) *set;
            int64_t id[200], first = 0;
            for (int j = 0; j < 200; j++)
                id[j] = j;
            CHECK_OK(sp_nnls_set_new(&context, m, b, 0, &set));
            for (int block = 1; first < 200; first += block, block = 7 * block % 60)
                for (int j = 0; j < 1; j++) {
                    CHECK_OK(
                        sp_nnls_set_add(set, first + block < 200 ? block : 200 - first, A + first * m, id + first));
                    CHECK_OK(sp_nnls_set_solve(set, &(sp_nnls_parameters){0}, &report[i]));
                }
            memcpy(w + i * n, sp_nnls_set_weights(set), 200 * 8);
        }
        if (c < 2)
            CHECK(!memcmp(w, w + n, 200 * 8) && !memcmp(w, w + 2 * n, 200 * 8), "weights of a set, %lld rows",
                  (long long)m);
        free(A);
    }
    context.threads = 1;
}
