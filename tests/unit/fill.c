/* Orderings and the fill of the Cholesky factor, against elimination on a dense array of booleans and exact counts. */
#include "linear/fill.h"
#include "linear/cholesky.h"
#include "linear/symbolic.h"
#include "test.h"

OWNER(sp_cholesky)

/* A pattern as a dense array, both triangles and the diagonal. */
typedef struct pattern {
    int64_t n;
    bool *at; /* [n, n] */
} pattern;

static pattern pattern_new(int64_t n)
{
    pattern p = {n, calloc((size_t)(n * n), 1)};
    for (int64_t i = 0; i < n; i++)
        p.at[i * n + i] = true;
    return p;
}

static void join(pattern *p, int64_t i, int64_t j)
{
    p->at[i * p->n + j] = p->at[j * p->n + i] = true;
}

/* Positive definite by its diagonal, so that it can be factored too. */
static sp_sparse matrix_of(const pattern *p)
{
    sp_sparse m = {.order = p->n};
    m.start = sp_pool_new(&m.pool, p->n + 1, 8);
    m.index = sp_pool_new(&m.pool, p->n * p->n, 8);
    m.value = sp_pool_new(&m.pool, p->n * p->n, 8);
    for (int64_t i = 0, at = 0; i < p->n; m.start[++i] = at)
        for (int64_t j = 0; j < p->n; j++)
            if (p->at[i * p->n + j]) {
                m.index[at] = j;
                m.value[at++] = i == j ? (double)p->n : -0.5;
            }
    return m;
}

/* The lower triangle after elimination in this order: each row connects all later rows that it is connected to. */
static double eliminate(const pattern *p, const int64_t *order)
{
    int64_t n = p->n;
    double count = 0;
    bool *a = malloc((size_t)(n * n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = p->at[order[i] * n + order[j]];
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = k; i < n; i++)
            if (a[i * n + k]) {
                count++;
                for (int64_t j = k + 1; j < n; j++)
                    a[i * n + j] = a[i * n + j] || (i > k && a[j * n + k]);
            }
    free(a);
    return count;
}

static bool is_permutation(int64_t n, const int64_t *order)
{
    bool *seen = test_new(n, 1), good = true;
    for (int64_t i = 0; i < n; i++) {
        good = good && order[i] >= 0 && order[i] < n && !seen[order[i]];
        if (good)
            seen[order[i]] = true;
    }
    return good;
}

/* Orders, checks the permutation and both counts; returns the count. */
static double fill_of(const pattern *p, const int64_t *node, enum sp_ordering ordering, int64_t *order)
{
    OWNED(sp_sparse) m = matrix_of(p);
    double nonzeros = -1;
    for (int64_t i = 0; i < p->n; i++)
        order[i] = -7;
    CHECK_OK(sp_fill_order(&context, &m, node, ordering, order));
    if (!is_permutation(p->n, order))
        CHECK(false, "ordering %d of %lld rows is no permutation", ordering, (long long)p->n);
    else {
        CHECK_OK(sp_symbolic_nonzeros(&context, &m, order, &nonzeros));
        CHECK_NEAR(nonzeros, eliminate(p, order), 0);
    }
    return nonzeros;
}

static uint64_t state;

static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

static void shuffle(int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = below(i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

TEST(random_patterns_agree_with_dense_elimination)
{
    int64_t order[80];
    state = 1;
    for (int trial = 0; trial < 60; trial++) {
        int64_t n = 1 + below(80), joins = below(1 + 3 * n);
        pattern p = pattern_new(n);
        for (int64_t i = 0; i < joins; i++)
            join(&p, below(n), below(n));
        for (int ordering = 0; ordering < SP_ORDERINGS; ordering++)
            fill_of(&p, NULL, (enum sp_ordering)ordering, order);
        shuffle(n, order);
        OWNED(sp_sparse) m = matrix_of(&p);
        double nonzeros;
        CHECK_OK(sp_symbolic_nonzeros(&context, &m, order, &nonzeros));
        CHECK_NEAR(nonzeros, eliminate(&p, order), 0);
        free(p.at);
    }
}

/* A path has a factor without fill, 2n - 1, from either end and from both ends inwards. */
TEST(a_tridiagonal_matrix_does_not_fill)
{
    enum { N = 60 };
    int64_t order[N], name[N];
    pattern p = pattern_new(N), hidden = pattern_new(N);
    state = 2;
    shuffle(N, name);
    for (int64_t i = 0; i + 1 < N; i++) {
        join(&p, i, i + 1);
        join(&hidden, name[i], name[i + 1]);
    }
    CHECK_NEAR(fill_of(&p, NULL, SP_ORDERING_NATURAL, order), 2 * N - 1, 0);
    CHECK_NEAR(fill_of(&p, NULL, SP_ORDERING_COUNT, order), 2 * N - 1, 0);
    CHECK(order[0] == 0 && order[1] == N - 1 && order[2] == 1, "the ends do not come first: %lld %lld",
          (long long)order[0], (long long)order[1]);
    CHECK_NEAR(fill_of(&p, NULL, SP_ORDERING_DEGREE, order), 2 * N - 1, 0);
    CHECK_NEAR(fill_of(&hidden, NULL, SP_ORDERING_DEGREE, order), 2 * N - 1, 0);
    CHECK(fill_of(&hidden, NULL, SP_ORDERING_NATURAL, order) > 2 * N - 1, "a shuffled path fills");
    CHECK_NEAR(fill_of(&hidden, NULL, SP_ORDERING_CUTHILL_MCKEE, order), 2 * N - 1, 0);
    CHECK(order[0] == name[0] || order[0] == name[N - 1], "it does not begin at an end of the path");
    free(p.at);
    free(hidden.at);
}

/* One row connected to all others: full fill if it is first, no fill if it is last. */
TEST(an_arrow_fills_from_its_tip_only)
{
    enum { N = 50 };
    int64_t order[N];
    pattern p = pattern_new(N);
    for (int64_t i = 1; i < N; i++)
        join(&p, 0, i);
    CHECK_NEAR(fill_of(&p, NULL, SP_ORDERING_NATURAL, order), N * (N + 1) / 2, 0);
    CHECK_NEAR(fill_of(&p, NULL, SP_ORDERING_COUNT, order), 2 * N - 1, 0);
    CHECK(order[N - 1] == 0, "the tip is not last");
    CHECK_NEAR(fill_of(&p, NULL, SP_ORDERING_DEGREE, order), 2 * N - 1, 0);
    CHECK_NEAR(fill_of(&p, NULL, SP_ORDERING_CUTHILL_MCKEE, order), 2 * N - 1,
               0); /* a leaf is the root: the tip is next to last */
    CHECK(order[N - 2] == 0, "the tip is not next to last");
    free(p.at);
}

/* A grid of 6 x 40 with shuffled numbers: levels are diagonals of at most 6, so neighbours are less than 12 places
 * apart. */
TEST(cuthill_mckee_finds_the_band_of_a_grid)
{
    enum { WIDTH = 6, LENGTH = 40, N = WIDTH * LENGTH };
    int64_t order[N], name[N], place[N], band = 0;
    pattern p = pattern_new(N);
    state = 3;
    shuffle(N, name);
    for (int64_t i = 0; i < N; i++) {
        if (i % WIDTH + 1 < WIDTH)
            join(&p, name[i], name[i + 1]);
        if (i + WIDTH < N)
            join(&p, name[i], name[i + WIDTH]);
    }
    double fill = fill_of(&p, NULL, SP_ORDERING_CUTHILL_MCKEE, order), degree, natural;
    for (int64_t i = 0; i < N; i++)
        place[order[i]] = i;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            if (p.at[i * N + j] && place[i] - place[j] > band)
                band = place[i] - place[j];
    CHECK(band < 2 * WIDTH, "neighbours are %lld places apart", (long long)band);
    CHECK(fill <= N * (double)(band + 1), "%g entries in a band of %lld", fill, (long long)band);
    degree = fill_of(&p, NULL, SP_ORDERING_DEGREE, order);
    natural = fill_of(&p, NULL, SP_ORDERING_NATURAL, order);
    CHECK(degree < fill && fill < natural, "minimum degree %g, Cuthill-McKee %g, shuffled %g", degree, fill, natural);
    free(p.at);
}

/* The three rows of a node stay together, and the count is that of the factor of sp_cholesky. */
TEST(dissection_is_the_ordering_of_the_factorization)
{
    enum { N = 90 };
    int64_t order[N], node[N];
    pattern p = pattern_new(N);
    state = 4;
    for (int64_t i = 0; i < N; i++)
        node[i] = i / 3;
    for (int trial = 0; trial < 70; trial++) {
        int64_t a = below(N / 3), b = below(N / 3);
        for (int64_t i = 0; i < 9; i++)
            join(&p, 3 * a + i / 3, 3 * b + i % 3);
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < 3; j++)
            join(&p, i, i / 3 * 3 + j);
    double nonzeros = fill_of(&p, node, SP_ORDERING_DISSECTION, order);
    for (int64_t i = 0; i < N; i += 3)
        CHECK(order[i] % 3 == 0 && order[i + 1] == order[i] + 1 && order[i + 2] == order[i] + 2,
              "node at place %lld is torn", (long long)i);
    OWNED(sp_sparse) m = matrix_of(&p);
    OWNED_POINTER(sp_cholesky) *cholesky = NULL;
    CHECK_OK(sp_cholesky_new(&context, &m, node, &cholesky));
    if (cholesky)
        CHECK_NEAR(sp_cholesky_nonzeros(cholesky), nonzeros, 0);
    free(p.at);
}

/* A matrix that is symmetric within a tolerance may store an entry in one triangle only: the order is a permutation
 * nevertheless. */
TEST(a_pattern_of_one_triangle_is_ordered_too)
{
    enum { N = 40 };
    int64_t order[N];
    state = 5;
    for (int trial = 0; trial < 20; trial++) {
        pattern p = pattern_new(N);
        for (int64_t i = 0; i < N; i++)
            p.at[below(N) * N + below(N)] = true;
        OWNED(sp_sparse) m = matrix_of(&p);
        for (int ordering = 0; ordering < SP_ORDERINGS; ordering++) {
            CHECK_OK(sp_fill_order(&context, &m, NULL, (enum sp_ordering)ordering, order));
            CHECK(is_permutation(N, order), "ordering %d is no permutation", ordering);
        }
        free(p.at);
    }
}
