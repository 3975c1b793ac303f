/* Bases: mass-orthonormalization, mass-PCA, principal angles, on made-up columns with known answers. */
#include "basis/angles.h"
#include "basis/pca.h"
#include "basis/projection.h"
#include "bodies.h"
#include "test.h"

enum { ROWS = 600 };

static double diagonal[ROWS];

static sp_metric lumped(void)
{
    for (int i = 0; i < ROWS; i++)
        diagonal[i] = 0.5 + sp_random_uniform(3, 9, (uint64_t)i);
    return (sp_metric){.rows = ROWS, .diagonal = diagonal};
}

/* Random mass-orthonormal columns. */
static void orthonormal(const sp_metric *metric, int64_t count, uint64_t stream, double *Q)
{
    double *R = test_new(count * count, 8);
    int64_t rank;
    random_field(ROWS * count, stream, Q);
    CHECK_OK(sp_metric_orthonormalize(&context, metric, count, Q, 1e-12, R, &rank));
    CHECK(rank == count, "rank %lld", (long long)rank);
}

TEST(orthonormalization_survives_near_dependence)
{
    sp_metric metric = lumped();
    enum { COUNT = 40 };
    double *A = calloc(ROWS * COUNT, 8), *Q = test_new(ROWS * COUNT, 8), *R = test_new(COUNT * COUNT, 8), error,
           worst = 0;
    int64_t rank;

    random_field(ROWS * COUNT, 1, A);
    for (int c = 1; c < COUNT;
         c++) /* each column is the previous one plus a millionth; two columns are exact copies, one is zero */
        for (int i = 0; i < ROWS; i++)
            A[c * ROWS + i] = c == 7 || c == 23 ? A[(c - 1) * ROWS + i]
                              : c == 30         ? 0
                                                : A[(c - 1) * ROWS + i] + 1e-6 * A[c * ROWS + i];
    memcpy(A + 31 * ROWS, A + 29 * ROWS, ROWS * 8);
    random_field(8 * ROWS, 2, A + 32 * ROWS);

    memcpy(Q, A, ROWS * COUNT * 8);
    CHECK_OK(sp_metric_orthonormalize(&context, &metric, COUNT, Q, 1e-10, R, &rank));
    CHECK(rank == COUNT - 4, "rank %lld of %d", (long long)rank, COUNT - 4);
    CHECK_OK(sp_metric_orthogonality(&context, &metric, COUNT, Q, &error));
    CHECK(error < 1e-14 * COUNT, "orthonormal to %g", error);

    for (int c = 0; c < COUNT; c++) /* A = QR */
        for (int i = 0; i < ROWS; i++) {
            double sum = 0;
            for (int k = 0; k <= c; k++)
                sum += Q[k * ROWS + i] * R[c * COUNT + k];
            worst = fmax(worst, fabs(sum - A[c * ROWS + i]));
        }
    NOTE("orthonormal to %.1e, A - QR %.1e", error, worst);
    CHECK(worst < 1e-12, "A - QR is %g", worst);
    free(A);
}

/* Columns with known singular values over twelve decades: all are accurate. */
TEST(pca_finds_known_singular_values)
{
    sp_metric metric = lumped();
    enum { RANK = 7, COUNT = 12 };
    double *Q = test_new(ROWS * RANK, 8), *A = test_new(ROWS * COUNT, 8), V[RANK][COUNT], singular[COUNT];
    orthonormal(&metric, RANK, 3, Q);
    for (int k = 0; k < RANK; k++) /* orthonormal rows: a discrete cosine transform */
        for (int c = 0; c < COUNT; c++)
            V[k][c] = sqrt(2.0 / COUNT) * cos(3.14159265358979323846 * (k + 1) * (c + 0.5) / COUNT);
    for (int c = 0; c < COUNT; c++)
        for (int k = 0; k < RANK; k++)
            for (int i = 0; i < ROWS; i++)
                A[c * ROWS + i] += Q[k * ROWS + i] * pow(10, -2 * k) * V[k][c];
    int64_t rank;
    OWNED(sp_store) store;
    CHECK_OK(sp_store_over(&context, ROWS, COUNT, A, &store));
    CHECK_OK(sp_mass_pca(&context, &metric, 0, &store, singular, &rank));
    CHECK(rank >= RANK, "rank %lld", (long long)rank);
    for (int k = 0; k < RANK; k++)
        CHECK_NEAR(singular[k] / pow(10, -2 * k), 1, 1e-15 / pow(10, -2 * k) + 1e-13);
    for (int k = 0; k < 4; k++) { /* the singular vectors too, up to sign */
        double dot = 0;
        for (int i = 0; i < ROWS; i++)
            dot += Q[k * ROWS + i] * diagonal[i] * A[k * ROWS + i];
        CHECK_NEAR(fabs(dot), 1, 1e-9);
    }
}

/* Singular values in the energy of known columns; the basis is orthonormal in the mass, and its first k columns leave
 * of the columns, in the energy, what their other singular values hold (Eckart and Young), for every k. */
TEST(pca_in_the_energy)
{
    const sp_metric mass = lumped();
    double stiffness[ROWS], singular[9], error;
    for (int i = 0; i < ROWS; i++)
        stiffness[i] = pow(10, 4 * sp_random_uniform(4, 1, (uint64_t)i));
    const sp_metric energy = {.rows = ROWS, .diagonal = stiffness};

    enum { RANK = 5, COUNT = 9 };
    double *Q = test_new(ROWS * RANK, 8), *A = test_new(ROWS * COUNT, 8), *U = test_new(ROWS * COUNT, 8);
    orthonormal(&energy, RANK, 11, Q);
    for (int c = 0; c < COUNT; c++)
        for (int k = 0; k < RANK; k++)
            for (int i = 0; i < ROWS; i++)
                A[c * ROWS + i] += Q[k * ROWS + i] * pow(10, -k) * sqrt(2.0 / COUNT) *
                                   cos(3.14159265358979323846 * (k + 1) * (c + 0.5) / COUNT);

    memcpy(U, A, ROWS * COUNT * 8);
    int64_t rank;
    OWNED(sp_store) store;
    CHECK_OK(sp_store_over(&context, ROWS, COUNT, U, &store));
    CHECK_OK(sp_energy_pca(&context, &energy, &mass, RANK, &store, singular, &rank));
    CHECK(store.count == RANK && rank >= RANK, "%lld columns, rank %lld", (long long)store.count, (long long)rank);
    CHECK_OK(sp_metric_orthogonality(&context, &mass, RANK, U, &error));
    CHECK(error < 1e-13, "orthonormal to %g", error);

    double *R = test_new(RANK * RANK, 8);
    int64_t independent;
    CHECK_OK(sp_metric_orthonormalize(&context, &energy, RANK, U, 1e-12, R, &independent));
    for (int k = 0; k < RANK; k++) { /* column k of the energy's own Gram-Schmidt takes σ_k of the columns */
        double taken = 0;
        for (int c = 0; c < COUNT; c++) {
            double dot = 0;
            for (int i = 0; i < ROWS; i++)
                dot += U[k * ROWS + i] * stiffness[i] * A[c * ROWS + i];
            taken += dot * dot;
        }
        CHECK_NEAR(sqrt(taken) / pow(10, -k), 1, 1e-8);
        CHECK_NEAR(singular[k] / pow(10, -k), 1, 1e-10);
    }
}

/* The first columns stay, small ones too, and the others follow as their principal directions beyond that space: here
 * known ones, with a part in that space that must not matter. */
TEST(pca_beyond_a_space)
{
    sp_metric metric = lumped();
    enum { FIRST = 3, RANK = 5, COUNT = FIRST + 9 };
    double *Q = test_new(ROWS * (FIRST + RANK), 8), *A = test_new(ROWS * COUNT, 8), value[COUNT], worst = 0;

    orthonormal(&metric, FIRST + RANK, 5, Q);
    for (int c = 0; c < FIRST; c++) /* the last one repeats the first */
        for (int i = 0; i < ROWS; i++)
            A[c * ROWS + i] = c == 2 ? 3 * Q[i] : (c ? 1e-6 : 1) * Q[c * ROWS + i];
    for (int c = 0; c < 9; c++)
        for (int i = 0; i < ROWS; i++) {
            for (int k = 0; k < RANK; k++)
                A[(FIRST + c) * ROWS + i] += Q[(FIRST + k) * ROWS + i] * pow(10, -k) * sqrt(2.0 / 9) *
                                             cos(3.14159265358979323846 * (k + 1) * (c + 0.5) / 9);
            A[(FIRST + c) * ROWS + i] += 100 * Q[i] - 50 * Q[ROWS + i];
        }

    int64_t rank;
    OWNED(sp_store) store;
    CHECK_OK(sp_store_over(&context, ROWS, COUNT, A, &store));
    CHECK_OK(sp_mass_pca_beyond(&context, &metric, FIRST, 5, &store, value, &rank));
    CHECK(store.count == 5 && rank == 2 + RANK, "%lld columns, rank %lld", (long long)store.count, (long long)rank);
    CHECK_NEAR(value[0], 1, 1e-12);
    CHECK_NEAR(value[1] * 1e6, 1, 1e-12);
    for (int k = 0; k < RANK; k++)
        CHECK_NEAR(value[2 + k] * pow(10, k), 1, 1e-9);

    for (int a = 0; a < 5; a++) /* columns 0, 1 and the directions 3, 4, 5 of Q, up to signs; orthonormal */
        for (int b = 0; b < 5; b++) {
            double with = 0, own = 0;
            for (int i = 0; i < ROWS; i++) {
                with += Q[(b < 2 ? b : b + 1) * ROWS + i] * diagonal[i] * A[a * ROWS + i];
                own += A[b * ROWS + i] * diagonal[i] * A[a * ROWS + i];
            }
            worst = fmax(worst, fmax(fabs(fabs(with) - (a == b)), fabs(own - (a == b))));
        }
    CHECK(worst < 1e-9, "off by %g", worst);
}

TEST(principal_angles_are_the_ones_put_in)
{
    sp_metric metric = lumped();
    enum { A = 5, B = 3 };
    double *Q = test_new(ROWS * (A + B), 8), *left = test_new(ROWS * A, 8), *right = test_new(ROWS * (B + 1), 8),
           angle[B + 1];
    const double expected[B] = {1e-9, 0.3, 1.5};
    int64_t count;

    orthonormal(&metric, A + B, 4, Q);
    for (int c = 0; c < A; c++) /* mixed, so that the two sets have no common column */
        for (int k = 0; k < A; k++)
            for (int i = 0; i < ROWS; i++)
                left[c * ROWS + i] += Q[k * ROWS + i] * (c == k ? 2 : 0.3 * (c + 1) / (k + 2));
    for (int c = 0; c < B; c++)
        for (int i = 0; i < ROWS; i++)
            right[c * ROWS + i] = cos(expected[c]) * Q[c * ROWS + i] + sin(expected[c]) * Q[(A + c) * ROWS + i];
    for (int i = 0; i < ROWS; i++) /* a dependent column adds no angle */
        right[B * ROWS + i] = right[i] - 3 * right[2 * ROWS + i];

    CHECK_OK(sp_principal_angles(&context, &metric, A, left, B + 1, right, angle, &count));
    CHECK(count == B, "%lld angles", (long long)count);
    for (int c = 0; c < B; c++)
        CHECK_NEAR(angle[c], expected[c], 1e-13);
}

/* Fields with known parts along orthonormal columns q₀ … q₄ and outside of them, where the basis is a mix of those: its
 * first r columns span q₀ … q_{r−1}, column 2 repeats what was there, and sizes differ by 300 decades. What r columns
 * miss is then known. */
TEST(projection_misses_what_was_put_outside)
{
    sp_metric metric = lumped();
    enum { SPAN = 4, COUNT = SPAN + 1, FIELDS = 5 };
    const double part[FIELDS][SPAN + 1] = {{3, -2, 1, 0.5, 1e-12},
                                           {1e-3, 0, 1e-7, 1, 0},
                                           {0, 0, 0, 0, 7},
                                           {0, 0, 0, 0, 0},
                                           {1e-200, 0, 0, 2e-212, 3e-209}};
    const int spanned[COUNT + 1] = {0, 1, 2, 2, 3, 4}; /* by the first r columns of the basis */
    double *Q = test_new(ROWS * (SPAN + 1), 8), *B = test_new(ROWS * COUNT, 8), *X = test_new(ROWS * FIELDS, 8),
           missed[FIELDS][COUNT + 1], worst = 0;
    int64_t rank;

    orthonormal(&metric, SPAN + 1, 5, Q);
    for (int c = 0; c < COUNT; c++)
        for (int i = 0; i < ROWS; i++) {
            for (int k = 0; k < spanned[c + 1]; k++)
                B[c * ROWS + i] += Q[k * ROWS + i] * (k == spanned[c + 1] - 1 ? 2 : 0.7 * (c + 1) / (k + 2));
            B[c * ROWS + i] *= c == 1 ? 1e150 : c == 3 ? 1e-150 : 1;
        }
    for (int f = 0; f < FIELDS; f++)
        for (int k = 0; k <= SPAN; k++)
            for (int i = 0; i < ROWS; i++)
                X[f * ROWS + i] += part[f][k] * Q[k * ROWS + i];

    CHECK_OK(sp_projection_prepare(&context, &metric, COUNT, B, &rank));
    CHECK(rank == SPAN, "rank %lld", (long long)rank);
    CHECK_OK(sp_projection_measure(&context, &metric, COUNT, B, FIELDS, X, missed[0]));

    for (int f = 0; f < FIELDS; f++)
        for (int r = 0; r <= COUNT; r++) {
            double expected = 0, size = 0;
            for (int k = SPAN; k >= 0; k--) {
                expected = k >= spanned[r] ? hypot(expected, part[f][k]) : expected;
                size = hypot(size, part[f][k]);
            }
            CHECK(fabs(missed[f][r] - expected) <= 1e-14 * size, "field %d, %d columns: %.17g, expected %.17g of %g", f,
                  r, missed[f][r], expected, size);
            worst = fmax(worst, size > 0 ? fabs(missed[f][r] - expected) / size : 0);
        }
    NOTE("worst error %.1e of the field", worst);
}

/* A consistent mass over two of three components couples them: (2 1; 1 2) kg. The field (1, 0) misses of the span of
 * (0, 1) what is left after taking ½ of it: (1, −½), whose norm is √(2 − 1 + ½). The third component has no mass. */
TEST(projection_is_in_the_given_mass)
{
    int64_t start[] = {0, 2, 4}, index[] = {0, 1, 0, 1}, dof[] = {0, -1, 1}, rank;
    double value[] = {2, 1, 1, 2}, B[] = {0, 5, 1}, X[] = {1, 9, 0}, missed[2];
    sp_sparse mass = {.order = 2, .start = start, .index = index, .value = value};
    sp_metric metric = {.rows = 3, .matrix = &mass, .dof = dof};
    CHECK_OK(sp_projection_prepare(&context, &metric, 1, B, &rank));
    CHECK_OK(sp_projection_measure(&context, &metric, 1, B, 1, X, missed));
    CHECK_NEAR(missed[0], sqrt(2), 1e-15);
    CHECK_NEAR(missed[1], sqrt(1.5), 1e-15);
    double huge[] = {INFINITY, 0, 1};
    CHECK(sp_projection_measure(&context, &metric, 1, B, 1, huge, missed) == SP_INPUT, "an infinite field passes");
}
