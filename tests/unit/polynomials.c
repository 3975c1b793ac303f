/* The reduced polynomials: against the projected full force, finite differences, parts, sub-bases, threads. */
#include "assembly/elastic.h"
#include "fixture.h"
#include "reduced/galerkin.h"
#include "reduced/linear.h"
#include "reduced/polynomial.h"

#include <lapacke.h>

OWNER(sp_polynomial_batch)
OWNER(sp_polynomial_force)

enum { R = 9 };

typedef struct reduced {
    sp_mesh mesh;
    sp_fe_space body;
    int64_t rows;
    double *U;
    sp_polynomials polynomials;
} reduced;

static void make_reduced(int variant, const sp_polynomial_parameters *parameters, reduced *m)
{
    sp_polynomial_report report;
    make_variant(variant, &m->mesh);
    CHECK_OK(sp_fe_space_new(&context, &m->mesh, &m->body));
    m->rows = 3 * m->mesh.vertex_count;
    m->U = test_new(m->rows * R, 8);
    random_field(m->rows * R, 21, m->U);
    CHECK_OK(sp_polynomials_new(&context, &m->body, R, m->U, parameters, &m->polynomials, &report));
    int64_t most = 28 * m->mesh.block[SP_HEX8].count + 6 * m->mesh.block[SP_TET4].count;
    CHECK(report.rows <= most * m->polynomials.part_count, "%lld rows", (long long)report.rows);
}

static void reduced_free(reduced *m)
{
    sp_polynomials_free(&m->polynomials);
    sp_fe_space_free(&m->body);
    sp_mesh_free(&m->mesh);
}

/* q such that |Uq|∞ is a fraction of the box. */
static void pose(const reduced *m, double fraction, uint64_t stream, double *q, double *u)
{
    double low[3], high[3], largest = 0, size = 0;
    sp_mesh_box(&m->mesh, low, high);
    for (int i = 0; i < 3; i++)
        size = fmax(size, high[i] - low[i]);
    random_field(R, stream, q);
    for (int64_t i = 0; i < m->rows; i++) {
        u[i] = 0;
        for (int j = 0; j < R; j++)
            u[i] += m->U[j * m->rows + i] * q[j];
        largest = fmax(largest, fabs(u[i]));
    }
    for (int j = 0; j < R; j++)
        q[j] *= fraction * size / largest;
    for (int64_t i = 0; i < m->rows; i++)
        u[i] *= fraction * size / largest;
}

TEST(equals_the_projected_force)
{
    for (int variant = 0; variant < TEST_VARIANTS; variant++) {
        OWNED(reduced) m;
        OWNED_POINTER(sp_polynomial_force) *force;
        sp_polynomial_parameters parameters = {0};
        make_reduced(variant, &parameters, &m);
        CHECK_OK(sp_polynomial_force_new(&context, &m.polynomials, R, &force));
        double *u = test_new(m.rows, 8), *f = test_new(m.rows, 8), *Kv = test_new(m.rows, 8), q[R], g[R], K[R * R],
               worst = 0, worst_tangent = 0;
        for (uint64_t trial = 0; trial < 3; trial++) {
            pose(&m, 0.3, 30 + trial, q, u);
            double energy = sp_elastic_force(&context, &m.body, u, f),
                   reduced_energy = sp_polynomial_force_evaluate(force, q, g, K);
            CHECK_NEAR(reduced_energy, energy, 1e-11 * energy);
            for (int j = 0; j < R; j++) {
                double sum = 0, size = 0;
                for (int64_t i = 0; i < m.rows; i++) {
                    sum += m.U[j * m.rows + i] * f[i];
                    size += fabs(m.U[j * m.rows + i] * f[i]);
                }
                worst = fmax(worst, fabs(sum - g[j]) / size);
                sp_elastic_tangent_times(&context, &m.body, u, m.U + j * m.rows, Kv);
                for (int k = 0; k < R; k++) {
                    sum = size = 0;
                    for (int64_t i = 0; i < m.rows; i++) {
                        sum += m.U[k * m.rows + i] * Kv[i];
                        size += fabs(m.U[k * m.rows + i] * Kv[i]);
                    }
                    worst_tangent = fmax(worst_tangent, fabs(sum - K[k >= j ? j * R + k : k * R + j]) / size);
                }
            }
        }
        NOTE("variant %d: force %.1e, stiffness %.1e of the sums of absolute terms", variant, worst, worst_tangent);
        CHECK(worst <= 1e-11, "force off by %g", worst);
        CHECK(worst_tangent <= 1e-11, "stiffness off by %g", worst_tangent);
    }
}

/* Galerkin projection, with fixed vertices and more columns than a block of registers has: against products of the full
 * tangent, column by column. */
TEST(direct_projection_is_the_projection)
{
    enum { MANY = 37 };
    for (int variant = 0; variant < TEST_VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        sp_reduced_force force;
        make_variant(variant, &mesh);
        CHECK_OK(sp_mesh_fix_half_space(&context, &mesh, (double[]){1, 0, 0}, 0.1, 5,
                                        &(int64_t){0})); /* x and z only: vertices with one free component */
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        int64_t rows = 3 * mesh.vertex_count;
        double *U = test_new(rows * MANY, 8), *u = test_new(rows, 8), *f = test_new(rows, 8), *Kv = test_new(rows, 8);
        double q[MANY], g[MANY], alone[MANY], *K = test_new(MANY * MANY, 8), *definite = test_new(MANY * MANY, 8),
                                              value[MANY], worst = 0;
        random_field(rows * MANY, 77, U);
        for (int64_t i = 0; i < rows * MANY; i++)
            U[i] = body.dof[i % rows] < 0 ? 0 : U[i];
        CHECK_OK(sp_galerkin_force_new(&context, &body, MANY, U, &force));
        random_field(MANY, 78, q);
        for (int64_t i = 0; i < rows; i++)
            for (int j = 0; j < MANY; j++)
                u[i] += U[j * rows + i] * (q[j] *= i == 0 ? 0.05 : 1);
        double energy = sp_elastic_force(&context, &body, u, f);
        CHECK_NEAR(force.evaluate(force.self, q, false, g, K), energy, 1e-12 * energy);
        CHECK_NEAR(force.evaluate(force.self, q, false, alone, NULL), energy, 1e-12 * energy);
        for (int j = 0; j < MANY; j++) {
            double sum = 0, size = 0;
            for (int64_t i = 0; i < rows; i++) {
                sum += U[j * rows + i] * f[i];
                size += fabs(U[j * rows + i] * f[i]);
            }
            worst = fmax(worst, fmax(fabs(sum - g[j]), fabs(sum - alone[j])) / size);
            sp_elastic_tangent_times(&context, &body, u, U + j * rows, Kv);
            for (int k = j; k < MANY; k++) {
                sum = size = 0;
                for (int64_t i = 0; i < rows; i++) {
                    sum += U[k * rows + i] * Kv[i];
                    size += fabs(U[k * rows + i] * Kv[i]);
                }
                worst = fmax(worst, fabs(sum - K[j * MANY + k]) / size);
            }
        }
        CHECK(worst < 1e-12, "variant %d: off by %g of the sums of absolute terms", variant, worst);
        /* compressed, K is indefinite and its definite variant is not */
        for (int j = 0; j < MANY; j++)
            q[j] *= 8;
        force.evaluate(force.self, q, false, NULL, K);
        force.evaluate(force.self, q, true, NULL, definite);
        CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', MANY, definite, MANY, value) == 0 &&
                  value[0] > -1e-9 * value[MANY - 1],
              "least eigenvalue %g of %g", value[0], value[MANY - 1]);
        force.destroy(force.self);
    }
}

TEST(derivatives_have_slope_two)
{
    OWNED(reduced) m;
    OWNED_POINTER(sp_polynomial_force) *force;
    sp_polynomial_parameters parameters = {0};
    make_reduced(1, &parameters, &m);
    CHECK_OK(sp_polynomial_force_new(&context, &m.polynomials, R, &force));
    double *u = test_new(m.rows, 8), q[R], v[R], w[R], f[R], plus[R], minus[R], K[R * R], energy_error[3],
           force_error[3];
    pose(&m, 0.3, 40, q, u);
    random_field(R, 41, v);
    sp_polynomial_force_evaluate(force, q, f, K);
    for (int s = 0; s < 3; s++) {
        double h = 0.1 / (1 << s), slope = 0;
        for (int j = 0; j < R; j++) {
            w[j] = q[j] + h * v[j];
            slope += f[j] * v[j];
        }
        double up = sp_polynomial_force_evaluate(force, w, plus, NULL);
        for (int j = 0; j < R; j++)
            w[j] = q[j] - h * v[j];
        double down = sp_polynomial_force_evaluate(force, w, minus, NULL);
        energy_error[s] = fabs((up - down) / (2 * h) - slope);
        force_error[s] = 0;
        for (int j = 0; j < R; j++) {
            double Kv = 0;
            for (int k = 0; k < R; k++)
                Kv += K[j >= k ? k * R + j : j * R + k] * v[k];
            force_error[s] = fmax(force_error[s], fabs((plus[j] - minus[j]) / (2 * h) - Kv));
        }
    }
    NOTE("slopes %.3f %.3f (energy), %.3f %.3f (force)", log2(energy_error[0] / energy_error[1]),
         log2(energy_error[1] / energy_error[2]), log2(force_error[0] / force_error[1]),
         log2(force_error[1] / force_error[2]));
    for (int s = 0; s < 2; s++) {
        CHECK_NEAR(log2(energy_error[s] / energy_error[s + 1]), 2, 0.02);
        CHECK_NEAR(log2(force_error[s] / force_error[s + 1]), 2, 0.02);
    }
}

/* Parts by region and constant sum to the whole, also after an edit of the materials. */
TEST(parts_sum_to_the_whole)
{
    OWNED(reduced) m, edited;
    sp_polynomial_parameters apart = {.by_group = true, .by_constant = true}, whole = {0};
    make_reduced(3, &apart, &m);
    CHECK(m.polynomials.part_count == 4, "%lld parts", (long long)m.polynomials.part_count);
    make_variant(3, &edited.mesh);
    edited.mesh.materials[0].young *= 3;
    edited.mesh.materials[1].poisson = 0.4;
    sp_polynomial_report report;
    CHECK_OK(sp_fe_space_new(&context, &edited.mesh, &edited.body));
    edited.rows = m.rows;
    edited.U = test_new(m.rows * R, 8);
    memcpy(edited.U, m.U, (size_t)(m.rows * R) * 8);
    CHECK_OK(sp_polynomials_new(&context, &edited.body, R, edited.U, &whole, &edited.polynomials, &report));
    int64_t N = sp_polynomial_order(R);
    double worst = 0, largest = 0;
    for (int64_t p = 0; p < m.polynomials.part_count; p++) {
        sp_polynomial_part *part = &m.polynomials.parts[p];
        const sp_material *material = &edited.mesh.materials[!strcmp(part->group, "stiff")];
        double lambda, mu;
        sp_lame(material->young, material->poisson, &lambda, &mu);
        part->value = part->constant == SP_CONSTANT_LAMBDA ? lambda : mu;
    }
    for (int64_t i = 0; i < N * N; i++) {
        double sum = 0;
        for (int64_t p = 0; p < m.polynomials.part_count; p++)
            sum += m.polynomials.parts[p].value * m.polynomials.parts[p].gram[i];
        worst = fmax(worst, fabs(sum - edited.polynomials.parts[0].gram[i]));
        largest = fmax(largest, fabs(sum));
    }
    NOTE("edited parts against recomputing: %.1e", worst / largest);
    CHECK(worst <= 1e-12 * largest, "off by %g of %g", worst, largest);
}

/* The Gram matrix of all parts with their values [N, N] for the box and random columns. */
static void box_gram(sp_mesh *mesh, bool by_constant, double *gram)
{
    const sp_polynomial_parameters parameters = {.by_constant = by_constant};
    const int64_t rows = 3 * mesh->vertex_count, N = sp_polynomial_order(R);
    OWNED(sp_pool) pool = {0};
    OWNED(sp_fe_space) body;
    OWNED(sp_polynomials) polynomials;
    sp_polynomial_report report;
    double *U = test_new(rows * R, 8);
    random_field(rows * R, 22, U);
    CHECK_OK(sp_fe_space_new(&context, mesh, &body));
    CHECK_OK(sp_polynomials_new(&context, &body, R, U, &parameters, &polynomials, &report));
    memcpy(gram, sp_polynomials_gram(&polynomials, &pool), (size_t)(N * N) * 8);
}

/* The largest difference, beside the root of the two entries on the diagonal. */
static double gram_difference(int64_t N, const double *A, const double *B)
{
    double worst = 0;
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < N; i++)
            worst = fmax(worst, fabs(A[j * N + i] - B[j * N + i]) / sqrt(B[i * N + i] * B[j * N + j]));
    return worst;
}

/* The λ part of a hexahedron has few rows, and the closer the hexahedron is to a box, the more of its products are
 * rounding: parts sum to the whole however small the difference is. */
TEST(parts_of_nearly_boxes)
{
    const int64_t N = sp_polynomial_order(R);
    double *whole = test_new(N * N, 8), *parts = test_new(N * N, 8), worst = 0;
    for (int quadrature = 2; quadrature <= 3; quadrature++)
        for (int power = -15; power <= -1; power++) {
            OWNED(sp_mesh) box;
            make_box(3, 2, 2, 0.3, pow(10, power), &box);
            box.quadrature = quadrature;
            for (int64_t v = 0; v < box.vertex_count; v++) {
                double *X = box.vertices + 3 * v, x = X[0];
                X[0] = cos(0.3) * x - sin(0.3) * X[1];
                X[1] = sin(0.3) * x + cos(0.3) * X[1];
            }
            box_gram(&box, false, whole);
            box_gram(&box, true, parts);
            const double off = gram_difference(N, parts, whole);
            worst = fmax(worst, off);
            CHECK(off < 1e-12, "corners off by 1e%d of an edge, %d points an axis: parts off by %g", power, quadrature,
                  off);
        }
    NOTE("parts of nearly boxes against the whole: %.1e", worst);
}

/* No cancellation far from the origin: edges of whole numbers are exact there. */
TEST(far_from_the_origin)
{
    const int64_t N = sp_polynomial_order(R);
    double *near = test_new(N * N, 8), *far = test_new(N * N, 8);
    OWNED(sp_mesh) box;
    make_box(3, 2, 2, 1, 0, &box);
    box.vertices[3 * 17] += 0.25; /* one moved corner, so that its elements are no boxes */
    box_gram(&box, false, near);
    for (int64_t i = 0; i < 3 * box.vertex_count; i++)
        box.vertices[i] += 1 << 20;
    box_gram(&box, false, far);
    CHECK(gram_difference(N, far, near) < 1e-14, "off by %g a thousand kilometres away", gram_difference(N, far, near));
}

TEST(leading_coordinates_need_no_recomputing)
{
    OWNED(reduced) m;
    sp_polynomial_parameters parameters = {0};
    sp_polynomial_report report;
    OWNED(sp_polynomials) few;
    OWNED_POINTER(sp_polynomial_force) *sub, *own;
    make_reduced(0, &parameters, &m);
    CHECK_OK(sp_polynomials_new(&context, &m.body, 4, m.U, &parameters, &few, &report));
    CHECK_OK(sp_polynomial_force_new(&context, &m.polynomials, 4, &sub));
    CHECK_OK(sp_polynomial_force_new(&context, &few, 4, &own));
    double q[4], f[4], g[4], A[16], B[16];
    random_field(4, 50, q);
    sp_polynomial_force_evaluate(sub, q, f, A);
    sp_polynomial_force_evaluate(own, q, g, B);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(f[i], g[i], 1e-12 * fabs(g[i]) + 1e-9);
    for (int i = 0; i < 16; i++)
        if (i % 4 >= i / 4) /* the lower triangle */
            CHECK_NEAR(A[i], B[i], 1e-11 * fabs(B[i]) + 1e-6);
    CHECK(sp_polynomial_force_new(&context, &few, 5, &sub) == SP_USAGE, "five of four coordinates were accepted");
}

TEST(same_bytes_for_any_threads)
{
    SKIP_UNDER_SANITIZERS("bytes are no matter of sanitizers");
    sp_polynomial_parameters parameters = {0};
    double *first = NULL;
    int64_t N = sp_polynomial_order(R);
    for (int threads = 1; threads <= 4; threads *= 2) {
        OWNED(reduced) m;
        context.threads = threads;
        make_reduced(2, &parameters, &m);
        if (!first) {
            first = malloc((size_t)(N * N) * 8);
            memcpy(first, m.polynomials.parts[0].gram, (size_t)(N * N) * 8);
        }
        CHECK(!memcmp(first, m.polynomials.parts[0].gram, (size_t)(N * N) * 8), "bytes differ with %d threads",
              threads);
    }
    context.threads = 2;
    free(first);
}

TEST(memory_is_bounded)
{
    OWNED(reduced) m;
    sp_polynomial_parameters parameters = {0}, tight = {.memory = 3 << 20}, none = {.memory = 1 << 10};
    sp_polynomial_report report;
    sp_polynomials other;
    make_reduced(2, &parameters, &m);
    CHECK_OK(sp_polynomials_new(&context, &m.body, R, m.U, &tight, &other, &report));
    int64_t N = sp_polynomial_order(R);
    for (int64_t i = 0; i < N * N; i++)
        CHECK_NEAR(other.parts[0].gram[i], m.polynomials.parts[0].gram[i], 1e-9 * fabs(m.polynomials.parts[0].gram[0]));
    sp_polynomials_free(&other);
    CHECK(sp_polynomials_new(&context, &m.body, R, m.U, &none, &other, &report) == SP_SYSTEM, "a kilobyte was enough");
}

/* UᵀMU and UᵀM e from their definition with the sparse mass matrix. */
TEST(reduced_mass_is_projected)
{
    OWNED(reduced) m;
    OWNED(sp_sparse) M;
    sp_polynomial_parameters parameters = {0};
    make_reduced(3, &parameters, &m);
    CHECK_OK(sp_fe_space_pattern(&context, &m.body));
    CHECK_OK(sp_fe_space_matrix(&context, &m.body, &M));
    CHECK_OK(sp_fe_space_mass(&context, &m.body, false, &M));
    double *y = test_new(m.rows, 8);
    for (int j = 0; j < R; j++) {
        double g[3] = {0};
        sp_sparse_times(&context, &M, 1, m.U + j * m.rows, y);
        for (int i = 0; i < R; i++) {
            double sum = 0;
            for (int64_t k = 0; k < m.rows; k++)
                sum += m.U[i * m.rows + k] * y[k];
            CHECK_NEAR(m.polynomials.mass[j * R + i], sum, 1e-10);
        }
        for (int64_t k = 0; k < m.rows; k++)
            g[k % 3] += y[k];
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(m.polynomials.gravity[3 * j + c], g[c], 1e-10);
    }
}

/* Forces that share coefficients, one by one and in a batch, which serves exactly the state that it was evaluated for;
 * the linear force is that of small q. */
TEST(batches_are_many_forces)
{
    enum { COUNT = 70, SKIPPED = 13 };
    OWNED(reduced) m;
    sp_polynomial_parameters parameters = {0};
    OWNED_POINTER(sp_polynomial_force) *original;
    OWNED_POINTER(sp_polynomial_batch) *batch = NULL;
    static sp_reduced_force forces[COUNT];
    static double q[COUNT][R], f[2][R], K[2][R * R];
    const double *at[COUNT];
    make_reduced(3, &parameters, &m);
    CHECK_OK(sp_polynomial_force_new(&context, &m.polynomials, R, &original));
    for (int i = 0; i < COUNT; i++) {
        random_field(R, 100 + (uint64_t)i, q[i]);
        at[i] = i == SKIPPED ? NULL : q[i];
        CHECK_OK(sp_polynomial_force_share(&context, original, &forces[i]));
    }
    CHECK_OK(sp_polynomial_batch_new(&context, original, COUNT, forces, &batch));
    sp_polynomial_batch_evaluate(batch, at);
    for (int i = 0; i < COUNT; i++) {
        const double W = sp_polynomial_force_evaluate(original, q[i], f[0], K[0]);
        const double kept = forces[i].evaluate(forces[i].self, q[i], false, f[1], K[1]);
        double scale = 0, stiffest = 0;
        for (int j = 0; j < R; j++)
            scale = fmax(scale, fabs(f[0][j]));
        for (int j = 0; j < R * R; j++)
            stiffest = fmax(stiffest, fabs(K[0][j]));
        CHECK_NEAR(kept, W, 1e-13 * fabs(W));
        for (int j = 0; j < R; j++) {
            CHECK_NEAR(f[1][j], f[0][j], 1e-13 * scale);
            for (int k = j; k < R; k++)
                CHECK_NEAR(K[1][j * R + k], K[0][j * R + k], 1e-13 * stiffest);
        }
        q[i][0] += 1e-9; /* at another state the force is computed again */
        forces[i].evaluate(forces[i].self, q[i], false, f[1], NULL);
        sp_polynomial_force_evaluate(original, q[i], f[0], NULL);
        CHECK(!memcmp(f[0], f[1], sizeof f[0]), "force %d", i);
    }
    sp_reduced_force linear;
    static double rest[R], small[R];
    sp_polynomial_force_evaluate(original, rest, NULL, K[0]);
    CHECK_OK(sp_linear_force_new(&context, R, K[0], &linear));
    for (int j = 0; j < R; j++)
        small[j] = 1e-7 * q[0][j];
    const double W = linear.evaluate(linear.self, small, false, f[1], K[1]);
    CHECK_NEAR(W, sp_polynomial_force_evaluate(original, small, f[0], NULL), 1e-5 * W);
    double work = 0;
    for (int j = 0; j < R; j++) {
        CHECK_NEAR(f[1][j], f[0][j], 1e-5 * fabs(f[0][j]) + 1e-6 * sqrt(W));
        work += 0.5 * f[1][j] * small[j];
    }
    CHECK_NEAR(work, W, 1e-13 * W);
    CHECK(sp_linear_force_new(&context, 0, K[0], &linear) == SP_USAGE, "no coordinates");
    linear.destroy(linear.self);
    for (int i = 0; i < COUNT; i++)
        forces[i].destroy(forces[i].self);
}

BEFORE_TESTS()
{
    context.threads = 2;
}
