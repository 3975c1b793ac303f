/* Columns in blocks, partly outside of memory: mass-PCA, Gram–Schmidt and random projection of them. */
#include "assembly/fe_space.h"
#include "basis/pca.h"
#include "basis/random_projection.h"
#include "bodies.h"
#include "test.h"

#include <lapacke.h>

/* ---- a store with blocks outside of memory: an array that is accessed by rectangles only ---- */

typedef struct elsewhere {
    int64_t rows;
    double *values;
    int64_t loads, saves;
    int64_t fails_at; /* number of the save that finds the disk full; 0: none */
} elsewhere;

static int load(sp_context *c, void *data, int64_t row, int64_t height, int64_t first, int64_t width, double *to)
{
    elsewhere *e = data;
    (void)c;
    e->loads++;
    for (int64_t k = 0; k < width; k++)
        memcpy(to + k * height, e->values + (first + k) * e->rows + row, (size_t)height * 8);
    return SP_OK;
}

static int save(sp_context *c, void *data, int64_t row, int64_t height, int64_t first, int64_t width,
                const double *from)
{
    elsewhere *e = data;
    if (++e->saves == e->fails_at)
        return sp_fail(c, SP_SYSTEM, "full");
    for (int64_t k = 0; k < width; k++)
        memcpy(e->values + (first + k) * e->rows + row, from + k * height, (size_t)height * 8);
    return SP_OK;
}

/* A copy of A [rows, count] with `resident` blocks in memory. */
static void open_store(int64_t rows, int64_t count, const double *A, int64_t resident, elsewhere *e, sp_store *store)
{
    *e = (elsewhere){.rows = rows, .values = test_new(rows * count, 8)};
    sp_store_new(rows, &(sp_store_outside){.data = e, .load = load, .save = save}, store);
    for (int64_t c = 0; c < count; c++) { /* column by column, each in two pieces */
        CHECK_OK(sp_store_grow(&context, store, c + 1, resident + 1));
        CHECK_OK(sp_store_write(&context, store, 0, rows / 3, c, 1, A + c * rows));
        CHECK_OK(sp_store_write(&context, store, rows / 3, rows - rows / 3, c, 1, A + c * rows + rows / 3));
    }
    CHECK_OK(sp_store_evict(&context, store, resident));
}

enum method { PCA, GRAM_SCHMIDT, RANDOM, METHODS };

static void run(enum method method, const sp_metric *metric, int64_t most, sp_store *store, double *value,
                int64_t *rank)
{
    if (method == RANDOM)
        CHECK_OK(sp_random_projection(&context, most, store));
    if (method == PCA)
        CHECK_OK(sp_mass_pca(&context, metric, most, store, value, rank));
    else
        CHECK_OK(sp_mass_gram_schmidt(&context, metric, most, 1e-10, store, value, rank));
}

static void same_bytes(const sp_metric *metric, int64_t count, const double *A)
{
    int64_t rows = metric->rows, most = 40, blocks = (count + SP_STORE_WIDTH - 1) / SP_STORE_WIDTH;
    double *whole = test_new(rows * count, 8), *part = test_new(rows * most, 8), *values = test_new(count, 8),
           *other = test_new(count, 8), error;
    for (enum method method = PCA; method < METHODS; method++) {
        sp_store store;
        int64_t rank, rank2;

        memcpy(whole, A, (size_t)(rows * count) * 8);
        CHECK_OK(sp_store_over(&context, rows, count, whole, &store));
        run(method, metric, most, &store, values, &rank);
        CHECK(store.count == most, "%lld columns", (long long)store.count);
        CHECK_OK(sp_store_orthogonality(&context, metric, &store, &error));
        CHECK(error < 1e-13, "method %d: orthonormal to %g", method, error);
        sp_store_free(&store);

        for (int64_t resident = 0; resident <= blocks; resident++) {
            elsewhere e;
            open_store(rows, count, A, resident, &e, &store);
            context.threads = 1 + (int)(resident % 2);
            run(method, metric, most, &store, other, &rank2);
            context.threads = 1;
            CHECK(rank == rank2 && store.count == most, "rank %lld and %lld", (long long)rank, (long long)rank2);
            CHECK_OK(sp_store_read(&context, &store, 0, rows, 0, most, part));
            CHECK(!memcmp(part, whole, (size_t)(rows * most) * 8), "method %d, %lld blocks in memory: other bytes",
                  method, (long long)resident);
            CHECK(!memcmp(values, other, (size_t)count * 8), "method %d, %lld blocks in memory: other values", method,
                  (long long)resident);
            CHECK(resident == blocks || e.loads > 0, "nothing was ever loaded");
            CHECK(resident < blocks || e.loads == 0, "all is in memory, but %lld loads", (long long)e.loads);
            sp_store_free(&store);
        }
    }
}

/* More rows than one slab, more columns than two blocks, some of them dependent. */
TEST(blocks_elsewhere_give_the_same_bytes)
{
    enum { ROWS = 8400, COUNT = 75 };
    double *A = test_new(ROWS * COUNT, 8), *diagonal = test_new(ROWS, 8);
    random_field(ROWS * COUNT, 1, A);
    for (int i = 0; i < ROWS; i++) {
        diagonal[i] = 0.5 + sp_random_uniform(3, 9, (uint64_t)i);
        A[40 * ROWS + i] = A[3 * ROWS + i] - 2 * A[38 * ROWS + i];
        A[70 * ROWS + i] = 0;
    }
    same_bytes(&(sp_metric){.rows = ROWS, .diagonal = diagonal}, COUNT, A);

    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_sparse) M;
    make_box(4, 4, 5, 0.1, 0.2, &mesh);
    mesh.fixed[0] = 0;
    mesh.fixed_axes[0] = 7;
    mesh.fixed_count = 1;
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_fe_space_mass_compressed(&context, &body, false, &M));
    int64_t rows = 3 * mesh.vertex_count;
    A = test_new(rows * 45, 8);
    random_field(rows * 45, 2, A);
    for (int64_t c = 0; c < 45; c++)
        A[c * rows] = A[c * rows + 1] = A[c * rows + 2] = 0;
    same_bytes(&(sp_metric){.rows = rows, .matrix = &M, .dof = body.dof}, 45, A);
}

TEST(a_full_disk_is_said)
{
    enum { ROWS = 90, COUNT = 40 };
    double A[ROWS * COUNT], diagonal[ROWS], value[COUNT];
    elsewhere e;
    sp_store store;
    int64_t rank;
    random_field(ROWS * COUNT, 5, A);
    for (int i = 0; i < ROWS; i++)
        diagonal[i] = 1;
    open_store(ROWS, COUNT, A, 0, &e, &store);
    e.fails_at = e.saves + 2;
    CHECK(sp_mass_pca(&context, &(sp_metric){.rows = ROWS, .diagonal = diagonal}, 0, &store, value, &rank) == SP_SYSTEM,
          "no failure");
    CHECK(!strcmp(context.message, "full"), "%s", context.message);
    sp_store_free(&store);
}

/* ---- against a dense computation: M = LLᵀ, singular values of LᵀA by LAPACK (thesis §2.8.1) ---- */

TEST(pca_is_that_of_the_dense_problem)
{
    enum { N = 60, COUNT = 37 };
    static double A[N * COUNT], U[N * COUNT], L[N * N], Z[N * COUNT], left[N * COUNT], expected[COUNT], value[COUNT],
        LU[N], work[COUNT];
    int64_t start[N + 1] = {0}, index[3 * N], rank, entries = 0;
    double entry[3 * N], unused, diagonal_entry[N], off[N];

    for (int i = 0; i < N; i++) {
        diagonal_entry[i] = 2 + sp_random_uniform(1, 5, (uint64_t)i);
        off[i] = 0.9 * sp_random_uniform(1, 6, (uint64_t)i);
    }
    for (int i = 0; i < N; i++) {
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < N) {
                index[entries] = j;
                entry[entries++] = L[j * N + i] = j == i ? diagonal_entry[i] : off[i < j ? i : j];
            }
        start[i + 1] = entries;
    }

    sp_sparse M = {.order = N, .start = start, .index = index, .value = entry};
    sp_metric metric = {.rows = N, .matrix = &M};
    random_field(N * COUNT, 8, A);
    for (int c = 0; c < COUNT; c++)
        for (int i = 0; i < N; i++)
            A[c * N + i] *= pow(0.7, c);

    CHECK(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', N, L, N) == 0, "M is not positive definite");
    for (int c = 0; c < COUNT; c++)
        for (int i = 0; i < N; i++)
            for (int k = i; k < N; k++)
                Z[c * N + i] += L[i * N + k] * A[c * N + k];
    CHECK(LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'S', 'N', N, COUNT, Z, N, expected, left, N, &unused, 1, work) == 0,
          "LAPACK");

    OWNED(sp_store) store;
    memcpy(U, A, sizeof U);
    CHECK_OK(sp_store_over(&context, N, COUNT, U, &store));
    CHECK_OK(sp_mass_pca(&context, &metric, 0, &store, value, &rank));
    CHECK(rank == COUNT, "rank %lld", (long long)rank);

    double worst = 0;
    for (int c = 0; c < COUNT; c++) {
        CHECK_NEAR(value[c], expected[c], 1e-14 * expected[0]);
        double gap = 1, dot = 0; /* LᵀU is the left singular vector, up to sign and rounding over the gap */
        for (int o = 0; o < COUNT; o++)
            if (o != c)
                gap = fmin(gap, fabs(expected[c] - expected[o]) / expected[0]);

        for (int i = 0; i < N; i++) {
            LU[i] = 0;
            for (int k = i; k < N; k++)
                LU[i] += L[i * N + k] * U[c * N + k];
            dot += LU[i] * left[c * N + i];
        }
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs(LU[i] - (dot < 0 ? -1 : 1) * left[c * N + i]) * gap);
    }
    NOTE("vectors agree to %.1e over the gap", worst);
    CHECK(worst < 1e-13, "vectors differ by %g", worst);
}

/* One-sided Jacobi in long double: singular values of the columns of A [rows, count], descending. */
static void jacobi(int rows, int count, long double *A, long double *value)
{
    for (int sweep = 0; sweep < 40; sweep++)
        for (int p = 0; p < count; p++)
            for (int q = p + 1; q < count; q++) {
                long double a = 0, b = 0, g = 0;
                for (int i = 0; i < rows; i++) {
                    a += A[p * rows + i] * A[p * rows + i];
                    b += A[q * rows + i] * A[q * rows + i];
                    g += A[p * rows + i] * A[q * rows + i];
                }

                if (fabsl(g) <= 1e-19L * sqrtl(a * b))
                    continue;
                long double z = (b - a) / (2 * g), t = (z < 0 ? -1 : 1) / (fabsl(z) + sqrtl(1 + z * z)),
                            c = 1 / sqrtl(1 + t * t), s = c * t;
                for (int i = 0; i < rows; i++) {
                    long double x = A[p * rows + i], y = A[q * rows + i];
                    A[p * rows + i] = c * x - s * y;
                    A[q * rows + i] = s * x + c * y;
                }
            }

    for (int c = 0; c < count; c++) {
        long double square = 0;
        for (int i = 0; i < rows; i++)
            square += A[c * rows + i] * A[c * rows + i];
        long double v = sqrtl(square);
        int at = c;
        for (; at > 0 && value[at - 1] < v; at--)
            value[at] = value[at - 1];
        value[at] = v;
    }
}

/* Weights of derivatives span ten decades: the small singular values keep their digits relative to themselves. */
TEST(graded_columns_keep_their_digits)
{
    enum { ROWS = 240, COUNT = 41 };
    static double A[ROWS * COUNT], diagonal[ROWS], value[COUNT];
    static long double exact[ROWS * COUNT], expected[COUNT];
    int64_t rank;
    double worst = 0;
    random_field(ROWS * COUNT, 12, A);
    for (int i = 0; i < ROWS; i++)
        diagonal[i] = 0.5 + sp_random_uniform(3, 9, (uint64_t)i);
    for (int c = 0; c < COUNT; c++) /* in no order */
        for (int i = 0; i < ROWS; i++) {
            A[c * ROWS + i] *= pow(10, -10.0 * (c * 17 % COUNT) / (COUNT - 1));
            exact[c * ROWS + i] = sqrtl(diagonal[i]) * A[c * ROWS + i];
        }
    jacobi(ROWS, COUNT, exact, expected);
    OWNED(sp_store) store;
    CHECK_OK(sp_store_over(&context, ROWS, COUNT, A, &store));
    CHECK_OK(sp_mass_pca(&context, &(sp_metric){.rows = ROWS, .diagonal = diagonal}, 0, &store, value, &rank));
    CHECK(rank == COUNT, "rank %lld", (long long)rank);
    for (int c = 0; c < COUNT; c++)
        worst = fmax(worst, fabs(value[c] / (double)expected[c] - 1));
    NOTE("from %.2g to %.2g, off by %.1e relative to themselves", value[0], value[COUNT - 1], worst);
    CHECK(worst < 1e-12, "off by %g", worst);
}

/* Frames of many motions in few degrees of freedom: most depend on earlier ones to all digits, and none of their
 * rounding may be taken for a direction. */
TEST(many_dependent_columns)
{
    enum { ROWS = 400, PARTS = 130, MOTIONS = 10, FRAMES = 100, COUNT = MOTIONS * FRAMES };
    static double A[ROWS * COUNT], W[ROWS * PARTS], diagonal[ROWS], R[COUNT * COUNT], value[COUNT], expected[ROWS];
    double *copy = test_new((int64_t)ROWS * COUNT, 8), unused, work[ROWS], orthogonality, worst = 0;
    int64_t independent, rank;

    /* The amplitudes of the parts span 17 decades, and each has a frequency of its own. */
    random_field(ROWS * PARTS, 21, W);
    for (int i = 0; i < ROWS; i++)
        diagonal[i] = 0.5 + sp_random_uniform(4, 9, (uint64_t)i);
    for (int m = 0; m < MOTIONS; m++)
        for (int t = 0; t < FRAMES; t++)
            for (int k = 0; k < PARTS; k++) {
                const double size = pow(10, -17.0 * k / PARTS) * (sp_random_uniform(5, (uint64_t)m, (uint64_t)k) - 0.5),
                             course = size * (1 - cos(0.01 * (1 + k) * (1 + 0.3 * m) * t));
                for (int i = 0; i < ROWS; i++)
                    A[(m * FRAMES + t) * ROWS + i] += W[k * ROWS + i] * course;
            }
    for (int64_t i = 0; i < (int64_t)ROWS * COUNT; i++)
        copy[i] = sqrt(diagonal[i % ROWS]) * A[i];
    CHECK(LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'N', ROWS, COUNT, copy, ROWS, expected, &unused, 1, &unused, 1, work) ==
              0,
          "no singular values");

    memcpy(copy, A, sizeof A);
    const sp_metric metric = {.rows = ROWS, .diagonal = diagonal};
    CHECK_OK(sp_metric_orthonormalize(&context, &metric, COUNT, copy, 1e-15, R, &independent));
    CHECK_OK(sp_metric_orthogonality(&context, &metric, COUNT, copy, &orthogonality));
    NOTE("%lld of %d columns, orthonormal to %.1e", (long long)independent, COUNT, orthogonality);
    CHECK(independent <= ROWS && orthogonality < 1e-11, "%lld columns, orthonormal to %g", (long long)independent,
          orthogonality);

    OWNED(sp_store) store;
    CHECK_OK(sp_store_over(&context, ROWS, COUNT, A, &store));
    CHECK_OK(sp_mass_pca(&context, &metric, 20, &store, value, &rank));
    for (int i = 0; i < ROWS; i++)
        worst = fmax(worst, fabs((i < rank ? value[i] : 0) - expected[i]) / expected[0]);
    NOTE("rank %lld, singular values off by %.1e of the largest", (long long)rank, worst);
    CHECK(worst < 1e-12, "off by %g", worst);
}

/* ---- random projection ---- */

TEST(random_matrix_has_its_distribution)
{
    enum { M = 1000, R = 60 };
    static double entry[M][R];
    int64_t count[3] = {0};
    double diagonal = 0, sum = 0, square = 0, n = (double)M * R, pairs = M * (M - 1) / 2.0;

    for (int i = 0; i < M; i++)
        for (int j = 0; j < R; j++) {
            entry[i][j] = sp_random_projection_entry(5, i, j);
            CHECK(entry[i][j] == 0 || fabs(entry[i][j]) == sqrt(3), "entry %g", entry[i][j]);
            count[entry[i][j] < 0 ? 0 : entry[i][j] > 0 ? 2 : 1]++;
        }

    const double p[3] = {1 / 6.0, 4 / 6.0, 1 / 6.0};
    for (int k = 0; k < 3; k++)
        CHECK_NEAR((double)count[k], n * p[k], 5 * sqrt(n * p[k] * (1 - p[k])));

    for (int i = 0; i < M; i++)
        for (int k = 0; k <= i; k++) {
            double product = 0;
            for (int j = 0; j < R; j++)
                product += entry[i][j] * entry[k][j];
            if (i == k)
                diagonal += product;
            else {
                sum += product;
                square += product * product;
            }
        }

    /* E RRᵀ = r 1: entries have mean 0, square 1, fourth power 3. Different pairs of rows are uncorrelated. */
    CHECK_NEAR(diagonal / M, R, 5 * sqrt(2.0 * R / M));
    CHECK_NEAR(sum / pairs, 0, 5 * sqrt(R / pairs));
    /* of squares: variance 2R² + 6R, covariance 2R for the 2(M − 2) pairs that share a row */
    CHECK_NEAR(square / pairs, R, 5 * sqrt((2.0 * R * R + 6 * R + 4.0 * (M - 2) * R) / pairs));

    int64_t same = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < R; j++)
            same += entry[i][j] == sp_random_projection_entry(6, i, j);
    /* two independent draws agree with probability 1/36 + 16/36 + 1/36 */
    CHECK_NEAR((double)same, n / 2, 5 * sqrt(n / 4));
}

/* What part of the columns of `from` is not in the span of the orthonormal Q, largest over columns. */
static double outside(int64_t rows, int64_t k, const double *Q, const double *diagonal, int64_t count,
                      const double *from)
{
    double worst = 0;
    for (int64_t c = 0; c < count; c++) {
        double whole = 0, rest = 0, *left = test_new(rows, 8);
        memcpy(left, from + c * rows, (size_t)rows * 8);
        for (int64_t q = 0; q < k; q++) {
            double part = 0;
            for (int64_t i = 0; i < rows; i++)
                part += Q[q * rows + i] * diagonal[i] * from[c * rows + i];
            for (int64_t i = 0; i < rows; i++)
                left[i] -= part * Q[q * rows + i];
        }
        for (int64_t i = 0; i < rows; i++) {
            whole += diagonal[i] * from[c * rows + i] * from[c * rows + i];
            rest += diagonal[i] * left[i] * left[i];
        }
        worst = fmax(worst, sqrt(rest / whole));
    }
    return worst;
}

TEST(projection_stays_in_the_span)
{
    enum { ROWS = 600, COUNT = 50, R = 12 };
    static double A[ROWS * COUNT], U[ROWS * COUNT], P[ROWS * COUNT], Q[ROWS * COUNT], T[COUNT * COUNT], diagonal[ROWS],
        value[COUNT];
    sp_store store;
    int64_t rank;

    random_field(ROWS * COUNT, 15, A);
    for (int i = 0; i < ROWS; i++)
        diagonal[i] = 0.5 + sp_random_uniform(3, 9, (uint64_t)i);
    for (int c = 0; c < COUNT; c++)
        for (int i = 0; i < ROWS; i++)
            A[c * ROWS + i] *= pow(0.8, c);

    sp_metric metric = {.rows = ROWS, .diagonal = diagonal};
    memcpy(Q, A, sizeof Q);
    CHECK_OK(sp_metric_orthonormalize(&context, &metric, COUNT, Q, 1e-10, T, &rank));

    memcpy(U, A, sizeof U);
    CHECK_OK(sp_store_over(&context, ROWS, COUNT, U, &store));
    CHECK_OK(sp_random_projection(&context, R, &store));
    CHECK(store.count == R, "%lld columns", (long long)store.count);

    double worst = 0;
    for (int j = 0; j < R; j++) /* the sum, term by term */
        for (int i = 0; i < ROWS; i++) {
            double sum = 0;
            for (int k = 0; k < COUNT; k++)
                sum += A[k * ROWS + i] * sp_random_projection_entry(context.seed, k, j);
            worst = fmax(worst, fabs(sum - U[j * ROWS + i]));
        }
    CHECK(worst < 1e-13, "U - A R is %g", worst);
    CHECK(outside(ROWS, COUNT, Q, diagonal, R, U) < 1e-12, "outside by %g", outside(ROWS, COUNT, Q, diagonal, R, U));

    CHECK_OK(sp_mass_gram_schmidt(&context, &metric, R, 1e-10, &store, value, &rank));
    CHECK(rank == R, "rank %lld", (long long)rank);
    CHECK(outside(ROWS, COUNT, Q, diagonal, R, U) < 1e-12, "outside by %g", outside(ROWS, COUNT, Q, diagonal, R, U));
    sp_store_free(&store);

    /* Yang 2015, section 4.3.2 and Figure 11: the projection is no optimal subspace, and comes near the principal one
     */
    memcpy(P, A, sizeof P);
    CHECK_OK(sp_store_over(&context, ROWS, COUNT, P, &store));
    CHECK_OK(sp_mass_pca(&context, &metric, R, &store, value, &rank));

    double lost_random = 0, lost = 0, all = 0;
    for (int c = 0; c < COUNT; c++) {
        double square = 0, a = outside(ROWS, R, U, diagonal, 1, A + c * ROWS),
               b = outside(ROWS, R, P, diagonal, 1, A + c * ROWS);
        for (int i = 0; i < ROWS; i++)
            square += diagonal[i] * A[c * ROWS + i] * A[c * ROWS + i];
        lost_random += a * a * square;
        lost += b * b * square;
        all += square;
    }
    NOTE("%d of %d columns keep all but %.1e of the energy with PCA, all but %.1e with random projection", R, COUNT,
         lost / all, lost_random / all);
    CHECK(lost <= lost_random, "PCA loses more than random projection: it is the best subspace");
    CHECK(sp_random_projection(&context, R + 1, &store) == SP_USAGE, "more combinations than columns");
    sp_store_free(&store);
}

/* ---- few passes where they are accurate enough ---- */

enum { SPREAD_ROWS = 1000, SPREAD_COUNT = 6 * SP_STORE_WIDTH };

/* A = Q diag(value) Vᵀ: values from 1 to `least`, in even steps of their logarithm. */
static void spread_columns(const sp_metric *metric, double least, double *Q, double *value, double *A)
{
    enum { N = SPREAD_COUNT };
    static double V[N * N], R[N * N], ones[N];
    int64_t rank;
    random_field(SPREAD_ROWS * N, 31, Q);
    random_field(N * N, 32, V);
    for (int c = 0; c < N; c++) {
        ones[c] = 1;
        value[c] = pow(least, (double)c / (N - 1));
    }
    CHECK_OK(sp_metric_orthonormalize(&context, metric, N, Q, 1e-10, R, &rank));
    CHECK_OK(sp_metric_orthonormalize(&context, &(sp_metric){.rows = N, .diagonal = ones}, N, V, 1e-10, R, &rank));
    memset(A, 0, SPREAD_ROWS * N * sizeof *A);
    for (int c = 0; c < N; c++)
        for (int k = 0; k < N; k++)
            for (int i = 0; i < SPREAD_ROWS; i++)
                A[c * SPREAD_ROWS + i] += Q[k * SPREAD_ROWS + i] * value[k] * V[k * N + c];
}

/* Nearly dependent columns, of which the first directions are requested: one pass for the Gram matrix, and the subspace
 * accurate to rounding over the gap. */
TEST(first_directions_take_few_passes)
{
    enum { N = SPREAD_COUNT, R = 40, BLOCKS = N / SP_STORE_WIDTH };
    static double A[SPREAD_ROWS * N], Q[SPREAD_ROWS * N], U[SPREAD_ROWS * R], diagonal[SPREAD_ROWS], exact[N], value[N];
    int64_t rank;
    double error, tail = 0;
    elsewhere e;
    sp_store store;

    for (int i = 0; i < SPREAD_ROWS; i++)
        diagonal[i] = 0.5 + sp_random_uniform(3, 9, (uint64_t)i);
    const sp_metric metric = {.rows = SPREAD_ROWS, .diagonal = diagonal};
    spread_columns(&metric, 1e-5, Q, exact, A);

    open_store(SPREAD_ROWS, N, A, 0, &e, &store);
    e.loads = 0;
    CHECK_OK(sp_mass_pca(&context, &metric, R, &store, value, &rank));
    /* each block and those before it for the Gram matrix, one slab of the product; two blocks are left, and are read
     * for their own Gram matrix, product and signs */
    CHECK(e.loads <= BLOCKS * (BLOCKS + 1) / 2 + 1 + 3 + 1 + 2, "%lld loads", (long long)e.loads);
    CHECK(rank == N && store.count == R, "rank %lld", (long long)rank);
    CHECK_OK(sp_store_orthogonality(&context, &metric, &store, &error));
    CHECK(error < 1e-14, "orthonormal to %g", error);

    CHECK_OK(sp_store_read(&context, &store, 0, SPREAD_ROWS, 0, R, U));
    error = outside(SPREAD_ROWS, R, Q, diagonal, R, U);
    NOTE("%d of %d directions: outside of the exact ones by %.1e", R, N, error);
    CHECK(error < 1e-11 / (1 - pow(exact[R] / exact[R - 1], 2)), "outside of the exact directions by %g", error);
    for (int c = 0; c < R; c++)
        CHECK_NEAR(value[c] / exact[c], 1, 1e-13);
    for (int c = R; c < N; c++)
        tail = fmax(tail, fabs(value[c] / exact[c] - 1));
    NOTE("singular values that are left out: to %.1e of themselves", tail);
    CHECK(tail < 1e-3, "singular values that are left out are off by %g of themselves", tail);
    sp_store_free(&store);
}

/* Below the accuracy of a Gram matrix: 1e-9 squared is below rounding. */
TEST(small_directions_keep_their_digits)
{
    enum { N = SPREAD_COUNT };
    static double A[SPREAD_ROWS * N], Q[SPREAD_ROWS * N], diagonal[SPREAD_ROWS], exact[N], value[N];
    int64_t rank;
    double error, worst = 0;
    sp_store store;
    for (int i = 0; i < SPREAD_ROWS; i++)
        diagonal[i] = 0.5 + sp_random_uniform(3, 9, (uint64_t)i);
    const sp_metric metric = {.rows = SPREAD_ROWS, .diagonal = diagonal};
    for (int most = 0; most < N; most += N - 20) { /* all columns, and all but 20 */
        spread_columns(&metric, 1e-9, Q, exact, A);
        CHECK_OK(sp_store_over(&context, SPREAD_ROWS, N, A, &store));
        CHECK_OK(sp_mass_pca(&context, &metric, most, &store, value, &rank));
        CHECK(rank == N, "rank %lld", (long long)rank);
        for (int c = 0; c < N; c++)
            worst = fmax(worst, fabs(value[c] / exact[c] - 1));
        CHECK(worst < 1e-5, "off by %g", worst); /* sums of A of size 1 are rounded to 1e-15: 1e-6 of the smallest */
        CHECK_OK(sp_store_orthogonality(&context, &metric, &store, &error));
        CHECK(error < 1e-14, "orthonormal to %g", error);
        sp_store_free(&store);
    }
}
