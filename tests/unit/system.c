/* Modal derivatives of general second-order systems: a closed form, and the derivatives of meshes. */
#include "basis/system.h"
#include "assembly/elastic.h"
#include "basis/derivatives.h"
#include "basis/modes.h"
#include "bodies.h"
#include "test.h"

#include <string.h>

/* ---- the chain of Fermi, Pasta, Ulam and Tsingou ---- */

/* n unit masses between n + 1 springs of force d + ALPHA d², with fixed ends. Modes and derivatives are known:
 *
 *     ω_k = 2 sin(πk/2N),  ψ_k(s) = √(2/N) sin(πks/N),  N = n + 1,
 *     Φ_ij = −(2α/√(2N)) Σ_l ω_i ω_j/ω_l ([l = i + j] + [l = |i − j|] − [l = 2N − i − j]) ψ_l,
 *
 * since a spring s has the elongation ω_k √(2/N) cos(πk(s + ½)/N) in mode k, and the products of three cosines sum to
 * ±N/4 or 0 over the springs. */
enum { N = 13, MASSES = N - 1, MOST = 8 * N };
static const double ALPHA = 0.25;

static double frequency(int k)
{
    return 2 * sin(M_PI * k / (2 * N));
}

static double mode(int k, int64_t s)
{
    return sqrt(2. / N) * sin(M_PI * k * (double)(s + 1) / N);
}

static double derivative_of_chain(int i, int j, int64_t s)
{
    double sum = 0;
    for (int l = 1; l < N; l++) {
        const int coupling = (l == i + j) + (l == abs(i - j)) - (l == 2 * N - i - j);
        sum += coupling * frequency(i) * frequency(j) / frequency(l) * mode(l, s);
    }
    return -2 * ALPHA / sqrt(2. * N) * sum;
}

typedef struct triples {
    int64_t count, index[3][MOST];
    double value[MOST];
} triples;

static void add_triple(triples *t, int64_t i, int64_t j, int64_t k, double value)
{
    const int64_t index[3] = {i, j, k};
    for (int a = 0; a < 3; a++)
        t->index[a][t->count] = index[a];
    t->value[t->count++] = value;
}

/* Each spring has the second derivatives 2α a_i a_j a_k, with a = −1, 1 at its ends. once: sorted indices only, added
 * up over the springs. */
static void chain_tensor(bool once, triples *t)
{
    t->count = 0;
    for (int64_t s = 0; s <= MASSES && !once; s++)
        for (int c = 0; c < 8; c++) {
            const int64_t v[3] = {s - 1 + (c & 1), s - 1 + (c >> 1 & 1), s - 1 + (c >> 2)};
            const int parity = (c & 1) + (c >> 1 & 1) + (c >> 2);
            bool held = false;
            for (int a = 0; a < 3; a++)
                held |= v[a] < 0 || v[a] >= MASSES;
            if (!held)
                add_triple(t, v[0], v[1], v[2], (parity % 2 ? 1 : -1) * 2 * ALPHA);
        }

    /* On the diagonal the two springs of a mass cancel. */
    for (int64_t s = 0; s + 1 < MASSES && once; s++) {
        add_triple(t, s + 1, s, s, 2 * ALPHA);
        add_triple(t, s, s + 1, s + 1, -2 * ALPHA);
    }
}

/* The matrix with `diagonal` and `beside` it. */
static sp_sparse band(double diagonal, double beside)
{
    sp_sparse A = {.order = MASSES};
    A.start = sp_pool_new(&A.pool, MASSES + 1, sizeof *A.start);
    A.index = sp_pool_new(&A.pool, 3 * MASSES, sizeof *A.index);
    A.value = sp_pool_new(&A.pool, 3 * MASSES, sizeof *A.value);
    int64_t at = 0;
    for (int64_t i = 0; i < MASSES; i++) {
        for (int64_t j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < MASSES && (j == i || beside != 0)) {
                A.index[at] = j;
                A.value[at++] = i == j ? diagonal : beside;
            }
        A.start[i + 1] = at;
    }
    return A;
}

TEST(chain_has_the_known_derivatives)
{
    enum { MODES = 7 }; /* i + j exceeds N: all three couplings */
    OWNED(sp_sparse) K = band(2, -1);
    sp_tensor H[2];
    triples t;
    double U[MODES * MASSES], *derivative = test_new(MODES * MODES * MASSES, 8), residual;
    int64_t pair[2 * MODES * MODES];

    for (int k = 0; k < MODES; k++)
        for (int64_t s = 0; s < MASSES; s++)
            U[k * MASSES + s] = mode(k + 6, s);
    for (int c = 0; c < MODES * MODES; c++) {
        pair[2 * c] = c / MODES;
        pair[2 * c + 1] = c % MODES;
    }

    for (int once = 0; once < 2; once++) {
        chain_tensor(once, &t);
        CHECK_OK(sp_tensor_new(&context, MASSES, t.count, t.index[0], t.index[1], t.index[2], t.value, once, &H[once]));
        CHECK(sp_tensor_symmetric(&H[once], 1e-15), "the force of the chain has a potential");
        CHECK_OK(sp_system_derivatives(&context, &K, &H[once], U, MODES * MODES, pair, derivative, &residual));
        CHECK(residual < 1e-13, "residual %g", residual);

        double worst = 0, largest = 0;
        for (int c = 0; c < MODES * MODES; c++)
            for (int64_t s = 0; s < MASSES; s++) {
                const double exact = derivative_of_chain((int)pair[2 * c] + 6, (int)pair[2 * c + 1] + 6, s);
                worst = fmax(worst, fabs(derivative[c * MASSES + s] - exact));
                largest = fmax(largest, fabs(exact));
            }
        CHECK(worst < 1e-13 * largest, "once %d: %g beside the closed form, of %g", once, worst, largest);
        sp_tensor_free(&H[once]);
    }
}

/* The bytes of a column are the same alone. */
TEST(columns_do_not_depend_on_others)
{
    enum { MODES = 5, PAIRS = 70 };
    OWNED(sp_sparse) K = band(2, -1);
    OWNED(sp_tensor) H;
    triples t;
    double U[MODES * MASSES], *all = test_new(PAIRS * MASSES, 8), one[MASSES], residual;
    int64_t pair[2 * PAIRS];

    chain_tensor(false, &t);
    CHECK_OK(sp_tensor_new(&context, MASSES, t.count, t.index[0], t.index[1], t.index[2], t.value, false, &H));
    for (int k = 0; k < MODES; k++)
        for (int64_t s = 0; s < MASSES; s++)
            U[k * MASSES + s] = mode(k + 1, s);
    for (int c = 0; c < 2 * PAIRS; c++)
        pair[c] = (c * 7 + c / 3) % MODES;

    CHECK_OK(sp_system_derivatives(&context, &K, &H, U, PAIRS, pair, all, &residual));
    for (int c = 0; c < PAIRS; c++) {
        CHECK_OK(sp_system_derivatives(&context, &K, &H, U, 1, pair + 2 * c, one, &residual));
        CHECK(!memcmp(one, all + c * MASSES, sizeof one), "pair %d differs alone", c);
    }
}

/* ---- a mesh ---- */

/* The tensor of a bar, from the exact second derivatives of its force along pairs of unknowns, gives the derivatives
 * that are made from the mesh. */
TEST(mesh_has_the_same_derivatives)
{
    enum { MODES = 4, PAIRS = MODES * (MODES + 1) / 2 };
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_sparse) K, M;
    make_box(2, 1, 1, 0.2, 0.05, &mesh);
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        if (mesh.vertices[3 * v] < 0.1)
            CHECK_OK(sp_mesh_fix_list(&context, &mesh, 1, &v, 7));
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_elastic_stiffness(&context, &body, &K));
    CHECK_OK(sp_fe_space_mass_compressed(&context, &body, false, &M));

    const int64_t n = body.dof_count, rows = 3 * mesh.vertex_count, most = n * n * n;
    double *unit = test_new(n * rows, 8), *column = test_new(rows, 8), *value = test_new(most, 8);
    int64_t *index[3], count = 0;
    for (int a = 0; a < 3; a++)
        index[a] = calloc((size_t)most, 8);
    for (int64_t j = 0; j < n; j++)
        unit[j * rows + body.free[j]] = 1;

    for (int64_t j = 0; j < n; j++)
        for (int64_t k = 0; k < n; k++) {
            CHECK_OK(sp_elastic_second(&context, &body, n, unit, 1, (int64_t[]){j, k}, column));
            for (int64_t i = 0; i < n; i++)
                if (column[body.free[i]] != 0) {
                    index[0][count] = i, index[1][count] = j, index[2][count] = k;
                    value[count++] = column[body.free[i]];
                }
        }
    OWNED(sp_tensor) H;
    CHECK_OK(sp_tensor_new(&context, n, count, index[0], index[1], index[2], value, false, &H));
    CHECK(sp_tensor_symmetric(&H, 1e-12), "the force of a body has a potential");

    double *psi = test_new(MODES * n, 8), *U = test_new(MODES * rows, 8), lambda[MODES], modal_residual[MODES],
           residual;
    sp_modes_report report;
    CHECK_OK(sp_modes(&context, &K, &M, NULL, 0, NULL, &(sp_modes_parameters){.count = MODES}, lambda, psi,
                      modal_residual, &report));
    for (int k = 0; k < MODES; k++)
        sp_fe_space_scatter(&body, psi + k * n, U + k * rows);

    int64_t pair[2 * PAIRS], at = 0;
    for (int64_t i = 0; i < MODES; i++)
        for (int64_t j = i; j < MODES; j++) {
            pair[at++] = i;
            pair[at++] = j;
        }
    double *of_mesh = test_new(PAIRS * rows, 8), *of_system = test_new(PAIRS * n, 8);
    sp_derivatives_report whole;
    CHECK_OK(sp_modal_derivatives(&context, &body, MODES, U, PAIRS, pair, 0, NULL, NULL, of_mesh, &whole));
    CHECK_OK(sp_system_derivatives(&context, &K, &H, psi, PAIRS, pair, of_system, &residual));

    double worst = 0, largest = 0;
    for (int c = 0; c < PAIRS; c++)
        for (int64_t i = 0; i < n; i++) {
            const double expected = of_mesh[c * rows + body.free[i]];
            worst = fmax(worst, fabs(of_system[c * n + i] - expected));
            largest = fmax(largest, fabs(expected));
        }
    CHECK(worst < 1e-10 * largest, "%g beside the derivatives of the mesh, of %g", worst, largest);

    for (int a = 0; a < 3; a++)
        free(index[a]);
}

/* ---- refusals ---- */

static void refuse(const char *what, int64_t order, int64_t count, const int64_t index[3][2], const double *value,
                   bool once)
{
    sp_tensor H;
    const int status = sp_tensor_new(&context, order, count, index[0], index[1], index[2], value, once, &H);
    CHECK(status == SP_INPUT && strstr(context.message, what), "expected \"%s\", got %d: %s", what, status,
          context.message);
}

TEST(tensors_that_are_none_are_refused)
{
    const double value[2] = {1, 2}, bad[2] = {1, NAN}, large[2] = {1e308, 1e308};
    refuse("entry 1 has the index 3, expected 0 to 2", 3, 2, (const int64_t[3][2]){{0, 1}, {0, 3}, {0, 1}}, value,
           false);
    refuse("entry 0 has the index -1", 3, 2, (const int64_t[3][2]){{0, 1}, {-1, 1}, {0, 1}}, value, true);
    refuse("entry 1 is not finite", 3, 2, (const int64_t[3][2]){{0, 1}, {0, 1}, {0, 1}}, bad, false);
    refuse("add up to inf", 3, 2, (const int64_t[3][2]){{0, 0}, {1, 1}, {1, 1}}, large, false);
    refuse("not symmetric in its last two indices: 1 at 0, 1, 2, but 2 at 0, 2, 1", 3, 2,
           (const int64_t[3][2]){{0, 0}, {1, 2}, {2, 1}}, value, false);
    refuse("not symmetric in its last two indices: 1 at 0, 1, 2, but 0 at 0, 2, 1", 3, 1,
           (const int64_t[3][2]){{0}, {1}, {2}}, value, false);
    refuse("entries 0 and 1 have the same indices", 3, 2, (const int64_t[3][2]){{0, 2}, {1, 0}, {2, 1}}, value, true);
}

/* A force without a potential is accepted, and an empty tensor is that of a linear system. */
TEST(other_tensors)
{
    const double u[3] = {1, 2, 3}, v[3] = {-1, 0.5, 2};
    double y[3];
    sp_tensor H;
    CHECK_OK(sp_tensor_new(&context, 3, 2, (const int64_t[]){0, 0}, (const int64_t[]){1, 2}, (const int64_t[]){2, 1},
                           (const double[]){4, 4}, false, &H));
    sp_tensor_times(&H, u, v, y);
    CHECK(y[0] == 4 * (u[1] * v[2] + u[2] * v[1]) && y[1] == 0 && y[2] == 0, "%g %g %g", y[0], y[1], y[2]);
    CHECK(!sp_tensor_symmetric(&H, 1e-9), "it has no potential");
    sp_tensor_free(&H);

    CHECK_OK(sp_tensor_new(&context, 3, 0, NULL, NULL, NULL, NULL, false, &H));
    sp_tensor_times(&H, u, v, y);
    CHECK(y[0] == 0 && y[1] == 0 && y[2] == 0, "%g %g %g", y[0], y[1], y[2]);
    sp_tensor_free(&H);
}
