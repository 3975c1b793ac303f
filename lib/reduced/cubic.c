#include "reduced/cubic.h"

#include <math.h>
#include <string.h>

static const double SYMMETRY = 1e-9;

void sp_cubic_free(sp_cubic_force *force)
{
    sp_pool_free(&force->pool);
    *force = (sp_cubic_force){0};
}

int sp_cubic_new(sp_context *context, int64_t r, sp_cubic_force *force)
{
    *force = (sp_cubic_force){.r = r};

    if (r < 1 || r > 2000)
        return sp_fail(context, SP_INPUT, "%lld reduced coordinates: polynomials take 1 to 2000", (long long)r);

    force->linear = sp_pool_new(&force->pool, r * r, sizeof(double));
    force->quadratic = sp_pool_new(&force->pool, r * (r * (r + 1) / 2), sizeof(double));
    force->cubic = sp_pool_new(&force->pool, r * sp_cubic_triples(r), sizeof(double));

    if (!force->pool.failed)
        return SP_OK;
    sp_cubic_free(force);
    return sp_fail_memory(context);
}

static int64_t pair_column(int64_t r, int64_t i, int64_t j)
{
    return i <= j ? sp_polynomial_pair(r, i, j) : sp_polynomial_pair(r, j, i);
}

/* The number of permutations of the factors of a monomial. */
static double orders2(int64_t i, int64_t j)
{
    return i == j ? 1 : 2;
}

/* For i ≤ j ≤ k. */
static double orders3(int64_t i, int64_t j, int64_t k)
{
    return i == j && j == k ? 1 : i == j || j == k ? 3 : 6;
}

/* Mean of some values that should be equal, and their largest deviation from it; *largest is raised to their largest
 * magnitude. */
static double mean_of(int count, const double *values, double *largest, double *deviation)
{
    double mean = 0;
    for (int i = 0; i < count; i++) {
        mean += values[i] / count;
        *largest = fmax(*largest, fabs(values[i]));
    }

    for (int i = 0; i < count; i++)
        *deviation = fmax(*deviation, fabs(values[i] - mean));
    return mean;
}

static void put(double *gram, int64_t N, int64_t row, int64_t column, double value)
{
    gram[column * N + row] = gram[row * N + column] = value;
}

static void fill_linear(const sp_cubic_force *force, double *gram, int64_t N, double *largest, double *deviation)
{
    int64_t r = force->r;
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = i; j < r; j++)
            put(gram, N, i, j,
                mean_of(2, (double[]){force->linear[i * r + j], force->linear[j * r + i]}, largest, deviation));
}

/* T_ijk from the rows i, j and k of S. */
static void fill_quadratic(const sp_cubic_force *force, double *gram, int64_t N, double *largest, double *deviation)
{
    int64_t r = force->r, pairs = r * (r + 1) / 2;
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = i; j < r; j++)
            for (int64_t k = j; k < r; k++) {
                /* S_a,ij = (3/2) T_aij n_ij, so that each of the three rows gives the same T_ijk. */
                double of[3] = {force->quadratic[i * pairs + sp_cubic_pair(r, j, k)] / (1.5 * orders2(j, k)),
                                force->quadratic[j * pairs + sp_cubic_pair(r, i, k)] / (1.5 * orders2(i, k)),
                                force->quadratic[k * pairs + sp_cubic_pair(r, i, j)] / (1.5 * orders2(i, j))};
                double T = mean_of(3, of, largest, deviation);

                /* W₃ sums over all three places, each of which gets the symmetric value. */
                put(gram, N, i, pair_column(r, j, k), T);
                put(gram, N, j, pair_column(r, i, k), T);
                put(gram, N, k, pair_column(r, i, j), T);
            }
}

/* Q_ijkl from the rows i, j, k and l of C. */
static void fill_cubic(const sp_cubic_force *force, double *gram, int64_t N, double *largest, double *deviation)
{
    int64_t r = force->r, triples = sp_cubic_triples(r);
    const double *C = force->cubic;
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = i; j < r; j++)
            for (int64_t k = j; k < r; k++)
                for (int64_t l = k; l < r; l++) {
                    /* C_a,ijk = ½ Q_aijk n_ijk, so that each of the four rows gives the same Q_ijkl. */
                    double of[4] = {C[i * triples + sp_cubic_triple(r, j, k, l)] / (0.5 * orders3(j, k, l)),
                                    C[j * triples + sp_cubic_triple(r, i, k, l)] / (0.5 * orders3(i, k, l)),
                                    C[k * triples + sp_cubic_triple(r, i, j, l)] / (0.5 * orders3(i, j, l)),
                                    C[l * triples + sp_cubic_triple(r, i, j, k)] / (0.5 * orders3(i, j, k))};
                    double Q = mean_of(4, of, largest, deviation);

                    /* Four indices make two pairs in three ways. */
                    put(gram, N, pair_column(r, i, j), pair_column(r, k, l), Q);
                    put(gram, N, pair_column(r, i, k), pair_column(r, j, l), Q);
                    put(gram, N, pair_column(r, i, l), pair_column(r, j, k), Q);
                }
}

int sp_polynomials_from_cubic(sp_context *context, const sp_cubic_force *force, sp_polynomials *polynomials,
                              double asymmetry[3])
{
    static void (*const fill[3])(const sp_cubic_force *, double *, int64_t, double *,
                                 double *) = {fill_linear, fill_quadratic, fill_cubic};
    static const char *const degree[3] = {"linear", "quadratic", "cubic"};
    int64_t r = force->r, N = sp_polynomial_order(r);

    *polynomials = (sp_polynomials){.r = r, .part_count = 1, .density = 1, .symmetrized = true};
    polynomials->mass = sp_pool_new(&polynomials->pool, r * r, sizeof(double));
    polynomials->gravity = sp_pool_new(&polynomials->pool, 3 * r, sizeof(double));
    polynomials->parts = sp_pool_new(&polynomials->pool, 1, sizeof *polynomials->parts);
    double *gram = sp_pool_new(&polynomials->pool, N * N, sizeof *gram);
    if (polynomials->pool.failed) {
        sp_polynomials_free(polynomials);
        return sp_fail_memory(context);
    }

    /* A force does not tell its mass: M = 1, without gravity. */
    polynomials->parts[0] = (sp_polynomial_part){.group = "all", .constant = SP_CONSTANT_ALL, .value = 1, .gram = gram};
    for (int64_t i = 0; i < r; i++)
        polynomials->mass[i * r + i] = 1;

    for (int d = 0; d < 3; d++) {
        double largest = 0, deviation = 0;
        fill[d](force, gram, N, &largest, &deviation);
        asymmetry[d] = largest > 0 ? deviation / largest : 0;

        if (isfinite(largest) && asymmetry[d] <= SYMMETRY)
            continue;

        sp_polynomials_free(polynomials);
        if (!isfinite(largest))
            return sp_fail(context, SP_INPUT, "the %s coefficients are too large", degree[d]);
        return sp_fail(context, SP_INPUT,
                       "the %s coefficients are those of no energy: their tensor is symmetric to %.1e only", degree[d],
                       asymmetry[d]);
    }
    return SP_OK;
}

int sp_cubic_from_polynomials(sp_context *context, const sp_polynomials *polynomials, sp_cubic_force *force)
{
    int64_t r = polynomials->r, N = sp_polynomial_order(r), pairs = r * (r + 1) / 2, triples = sp_cubic_triples(r);
    sp_pool scratch = {0};
    SP_PASS(sp_cubic_new(context, r, force));

    const double *gram = sp_polynomials_gram(polynomials, &scratch);
    if (!gram) {
        sp_cubic_free(force);
        return sp_fail_memory(context);
    }
#define PAIR(i, j) pair_column(r, i, j)
#define A(p, q) gram[(q)*N + (p)]

    /* S_a,ij = (3/2) T_aij n_ij and C_a,ijk = ½ Q_aijk n_ijk with T and Q symmetrized */
    for (int64_t a = 0; a < r; a++)
        for (int64_t i = 0; i < r; i++) {
            force->linear[a * r + i] = A(a, i);
            for (int64_t j = i; j < r; j++) {
                double T = (A(a, PAIR(i, j)) + A(i, PAIR(a, j)) + A(j, PAIR(a, i))) / 3;
                force->quadratic[a * pairs + sp_cubic_pair(r, i, j)] = 1.5 * orders2(i, j) * T;
                for (int64_t k = j; k < r; k++) {
                    double Q = (A(PAIR(a, i), PAIR(j, k)) + A(PAIR(a, j), PAIR(i, k)) + A(PAIR(a, k), PAIR(i, j))) / 3;
                    force->cubic[a * triples + sp_cubic_triple(r, i, j, k)] = 0.5 * orders3(i, j, k) * Q;
                }
            }
        }
#undef A
#undef PAIR

    sp_pool_free(&scratch);
    return SP_OK;
}
