/* Stress stiffness, the stiffness of loads, and linear buckling. */
#include "basis/buckling.h"
#include "assembly/elastic.h"
#include "base/vec3.h"
#include "fixture.h"
#include "linear/dense.h"
#include "model/load_stiffness.h"
#include "typed_mesh.h"

#include <lapacke.h>

/* A box without fixed vertices, of one type and law. */
static void loose_box(int type, const sp_material *material, sp_mesh *mesh, sp_fe_space *body)
{
    make_typed(type, 2, 2, 1, 0.5, 0.08, false, mesh);
    if (material)
        mesh->materials[0] = *material;
    CHECK_OK(sp_fe_space_new(&context, mesh, body));
    CHECK_OK(sp_fe_space_pattern(&context, body));
}

static double quadratic_form(const sp_sparse *A, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t row = 0; row < A->order; row++)
        for (int64_t k = A->start[row]; k < A->start[row + 1]; k++)
            sum += x[row] * A->value[k] * y[A->index[k]];
    return sum;
}

/* K_σ(u) of a body whose components are all free. */
static void stress_stiffness(const sp_fe_space *body, const double *u, sp_sparse *S)
{
    CHECK_OK(sp_fe_space_matrix(&context, body, S));
    sp_elastic_stress_stiffness(&context, body, u, 1, S);
}

/* An infinitesimal rotation w = θ × X turns the internal forces: K_σ(u) w = θ × f at every vertex, with f = K(0) u.
 * (∫ ∇w σ ∇N_a dV = [θ]× ∫ σ ∇N_a dV.) For every type of element and every law. */
TEST(rotation_turns_forces)
{
    const double theta[3] = {0.3, -0.7, 0.5};
    for (int type = 0; type < SP_ELEMENT_TYPES; type++)
        for (int k = 0; k < TEST_LAWS; k += type == SP_HEX8 || type == SP_TET10 ? 1 : TEST_LAWS) {
            const sp_material material = test_law(k);
            OWNED(sp_mesh) mesh;
            OWNED(sp_fe_space) body;
            OWNED(sp_sparse) S;
            loose_box(type, &material, &mesh, &body);
            const int64_t rows = 3 * mesh.vertex_count;
            double *u = sp_pool_new(&mesh.pool, 5 * rows, sizeof *u), *f = u + rows, *w = f + rows, *y = w + rows,
                   *rest = y + rows, worst = 0, largest = 0;
            random_field(rows, 3, u);
            sp_elastic_tangent_times(&context, &body, rest, u, f);
            for (int64_t v = 0; v < mesh.vertex_count; v++)
                sp_cross3(theta, mesh.vertices + 3 * v, w + 3 * v);
            stress_stiffness(&body, u, &S);
            sp_sparse_times(&context, &S, 1, w, y);
            for (int64_t v = 0; v < mesh.vertex_count; v++) {
                double turned[3];
                sp_cross3(theta, f + 3 * v, turned);
                for (int c = 0; c < 3; c++) {
                    worst = fmax(worst, fabs(turned[c] - y[3 * v + c]));
                    largest = fmax(largest, fabs(turned[c]));
                }
            }
            CHECK(worst < 1e-13 * largest, "%s, law %d: %.2e of %.2e", sp_element_types[type].name, k, worst, largest);
        }
}

/* The third derivative of an energy that is quadratic in the strain, W''' [u, v, v], is vᵀK_σ(u)v + 2 uᵀK_σ(v)v. The
 * left side is a central difference of the tangent, which is a quadratic polynomial in u, so that any step is exact. */
TEST(third_derivative)
{
    static const int types[] = {SP_TET4, SP_TET10, SP_HEX8, SP_HEX8B, SP_HEX8I, SP_HEX20, SP_WEDGE15};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        sp_sparse S, T, plus, minus;
        loose_box(types[t], NULL, &mesh, &body);
        const int64_t rows = 3 * mesh.vertex_count;
        double *u = sp_pool_new(&mesh.pool, 3 * rows, sizeof *u), *v = u + rows, *moved = v + rows;
        random_field(rows, 1, u);
        random_field(rows, 2, v);
        stress_stiffness(&body, u, &S);
        stress_stiffness(&body, v, &T);
        CHECK_OK(sp_fe_space_matrix(&context, &body, &plus));
        CHECK_OK(sp_fe_space_matrix(&context, &body, &minus));
        for (int64_t i = 0; i < rows; i++)
            moved[i] = 0.1 * u[i];
        sp_elastic_tangent(&context, &body, moved, 5, false, NULL, &plus);
        for (int64_t i = 0; i < rows; i++)
            moved[i] = -moved[i];
        sp_elastic_tangent(&context, &body, moved, -5, false, NULL, &minus);
        const double expected = quadratic_form(&plus, v, v) + quadratic_form(&minus, v, v),
                     found = quadratic_form(&S, v, v) + 2 * quadratic_form(&T, u, v);
        CHECK(fabs(found - expected) < 1e-11 * (fabs(quadratic_form(&plus, v, v))), "%s: %.15g, not %.15g",
              sp_element_types[types[t]].name, found, expected);
        sp_sparse *matrices[] = {&S, &T, &plus, &minus};
        for (int m = 0; m < 4; m++)
            sp_sparse_free(matrices[m]);
    }
}

/* Minus the difference of the centrifugal forces of a body at X + u and at X. */
TEST(centrifugal_stiffness)
{
    sp_load load = {.end = 1, .kind = SP_LOAD_ROTATION, .id = -1, .force = {20, -7, 31}, .point = {0.2, 0.1, -0.4}};
    for (int region = -1; region < 2; region++) {
        OWNED(sp_mesh) mesh;
        sp_mesh moved;
        OWNED(sp_fe_space) body;
        sp_fe_space other;
        OWNED(sp_sparse) K;
        make_variant(3, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_fe_space_pattern(&context, &body));
        CHECK_OK(sp_fe_space_matrix(&context, &body, &K));
        const int64_t rows = 3 * mesh.vertex_count;
        double *u = sp_pool_new(&mesh.pool, 5 * rows, sizeof *u), *at_rest = u + rows, *at_u = at_rest + rows,
               *y = at_u + rows, *places = y + rows, worst = 0, largest = 0;
        random_field(rows, 4, u);
        load.id = region;
        sp_load_add_stiffness(&context, &body, &load, 0.75, &K);
        sp_sparse_times(&context, &K, 1, u, y);
        CHECK_OK(sp_load_distribute(&context, &body, &load, at_rest));
        moved = mesh; /* other places for the force, the mass of those at rest */
        moved.vertices = places;
        for (int64_t i = 0; i < rows; i++)
            places[i] = mesh.vertices[i] + u[i];
        other = body;
        other.mesh = &moved;
        CHECK_OK(sp_load_distribute(&context, &other, &load, at_u));
        for (int64_t i = 0; i < rows; i++) {
            worst = fmax(worst, fabs(y[i] + 0.75 * (at_u[i] - at_rest[i])));
            largest = fmax(largest, fabs(y[i]));
        }
        CHECK(worst < 1e-13 * largest, "region %d: %.2e of %.2e", region, worst, largest);
    }
}

TEST(spring_stiffness)
{
    const sp_load load = {.end = 1, .kind = SP_LOAD_SPRING, .id = 5, .stiffness = 3};
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_sparse) K;
    double sum = 0;
    loose_box(SP_TET4, NULL, &mesh, &body);
    CHECK_OK(sp_fe_space_matrix(&context, &body, &K));
    sp_load_add_stiffness(&context, &body, &load, 0.5, &K);
    for (int64_t k = 0; k < K.start[K.order]; k++)
        sum += fabs(K.value[k]);
    for (int c = 0; c < 3; c++)
        CHECK_NEAR(sp_sparse_entry(&K, 15 + c, 15 + c), 1.5, 0);
    CHECK_NEAR(sum, 4.5, 0);
}

/* What acts at the end of a static step. */
TEST(shares)
{
    sp_load load = {.start = 1, .end = 3, .kind = SP_LOAD_ROTATION};
    CHECK_NEAR(sp_load_static_share(&load, 2, 2), 0.5, 1e-15);
    CHECK_NEAR(sp_load_static_share(&load, 3, 1), 1, 1e-15);
    CHECK_NEAR(sp_load_static_share(&load, 1, 1), 0, 0);
    load.course = (sp_course){.kind = SP_COURSE_RAMP};
    CHECK_NEAR(sp_load_static_share(&load, 2, 1), 0.5, 1e-15);
    CHECK_NEAR(sp_load_static_share(&load, 3, 1), 1, 1e-15);
    CHECK_NEAR(sp_load_static_share(&load, 4, 1), 0, 0);
    load = (sp_load){.start = 1, .end = 3, .kind = SP_LOAD_SPRING};
    CHECK_NEAR(sp_load_static_share(&load, 2, 1), 1, 0);
    CHECK_NEAR(sp_load_static_share(&load, 4, 1), 0, 0);
}

/* All μ of S φ = μ K φ by LAPACK, ascending. */
static double *dense_spectrum(const sp_sparse *K, const sp_sparse *S)
{
    const int64_t n = K->order;
    double *A = test_new(n * n, 8), *B = test_new(n * n, 8), *mu = calloc((size_t)n, 8);
    for (int64_t row = 0; row < n; row++)
        for (int64_t k = K->start[row]; k < K->start[row + 1]; k++) {
            A[n * row + K->index[k]] = S->value[k];
            B[n * row + K->index[k]] = K->value[k];
        }
    CHECK(LAPACKE_dsygvd(LAPACK_COL_MAJOR, 1, 'N', 'U', (int)n, A, (int)n, B, (int)n, mu) == 0, "LAPACK");
    return mu;
}

/* A distorted block under a random load, whose stress stiffness is of either sign, against LAPACK. */
TEST(against_dense)
{
    enum { COUNT = 12, ROOM = 4 };
    OWNED(held_block) b;
    OWNED(sp_sparse) K, S;
    sp_buckling_report report;
    double factor[COUNT + ROOM], residual[COUNT + ROOM];
    make_variant(1, &b.mesh);
    hold_block(1, &b);
    CHECK_OK(sp_elastic_stiffness(&context, &b.body, &K));
    CHECK_OK(sp_fe_space_matrix(&context, &b.body, &S));
    sp_elastic_stress_stiffness(&context, &b.body, b.U, -1, &S);
    const int64_t n = b.body.dof_count;
    double *vector = test_new(n * (COUNT + ROOM), 8), *mu = dense_spectrum(&K, &S), worst = 0;
    CHECK_OK(sp_buckling(&context, &K, &S, NULL,
                         &(sp_buckling_parameters){.count = COUNT, .space_left = ROOM, .certify = true}, factor, vector,
                         residual, &report));
    CHECK(report.found == COUNT && report.certified == report.below, "%lld found, %lld of %lld below",
          (long long)report.found, (long long)report.below, (long long)report.certified);
    CHECK(mu[0] < -0.1 * mu[n - 1], "the spectrum has one sign: %g to %g", mu[0], mu[n - 1]);
    for (int i = 0; i < COUNT; i++) {
        worst = fmax(worst, fabs(factor[i] * mu[n - 1 - i] - 1));
        CHECK(residual[i] < 1e-8, "residual %d is %.1e", i, residual[i]);
        CHECK_NEAR(quadratic_form(&K, vector + i * n, vector + i * n), 1, 1e-12);
    }
    CHECK(worst < 1e-12, "factors differ by %.1e", worst);
    CHECK_NEAR(report.next * mu[n - 1 - COUNT], 1, 1e-6);
    NOTE("factors %.6g to %.6g, worst error %.1e, %lld solves", factor[0], factor[COUNT - 1], worst,
         (long long)report.solves);
    free(mu);
}

/* S = diag(s) and K = I: factors are 1/s. Equal ones belong together, none is positive, fewer are positive than
 * wanted. */
static void diagonal(int64_t n, const double *s, int64_t count, int expected_status, int64_t expected_found)
{
    OWNED(sp_sparse) K = {.order = n};
    sp_sparse S;
    sp_buckling_report report;
    K.start = sp_pool_new(&K.pool, n + 1, sizeof *K.start);
    K.index = sp_pool_new(&K.pool, n, sizeof *K.index);
    K.value = sp_pool_new(&K.pool, n, sizeof *K.value);
    S = K;
    S.value = sp_pool_new(&K.pool, n, sizeof *S.value);
    for (int64_t i = 0; i < n; i++) {
        K.start[i + 1] = i + 1;
        K.index[i] = i;
        K.value[i] = 1;
        S.value[i] = s[i];
    }
    double *vector = test_new(n * (count + 4), 8), factor[20], residual[20];
    const int status = sp_buckling(&context, &K, &S, NULL, &(sp_buckling_parameters){.count = count, .space_left = 4},
                                   factor, vector, residual, &report);
    CHECK(status == expected_status, "status %d: %s", status, context.message);
    if (status == SP_OK)
        CHECK(report.found == expected_found, "%lld found, not %lld", (long long)report.found,
              (long long)expected_found);
}

TEST(signs_and_multiples)
{
    enum { N = 60 };
    double s[N];
    for (int i = 0; i < N; i++)
        s[i] = i < 3 ? 1 : i < 5 ? 0.5 : -0.1 - 0.01 * i;
    diagonal(N, s, 2, SP_OK, 3); /* of a triple factor all three */
    diagonal(N, s, 5, SP_OK, 5);
    diagonal(N, s, 8, SP_OK, 5); /* no more are positive */
    for (int i = 0; i < N; i++)
        s[i] = -1 - 0.01 * i;
    diagonal(N, s, 2, SP_NUMERICAL, 0);
}

/* A box that is turned and compressed to λ of its length along x: laws that are quadratic in the strain soften below
 * 1/√3, in every element at once; others do not. */
TEST(softening)
{
    static const double stretch[] = {1.2, 0.6, 0.58, 0.57, 0.3};
    for (int type = 0; type < SP_ELEMENT_TYPES; type++)
        for (int law = 0; law < (type == SP_HEX8B || type == SP_HEX8I ? 1 : 2); law++) {
            sp_material material = test_material();
            OWNED(sp_mesh) mesh;
            OWNED(sp_fe_space) body;
            material.law = law ? SP_LAW_NEO_HOOKEAN : SP_LAW_STVK;
            loose_box(type, &material, &mesh, &body);
            double *u = sp_pool_new(&mesh.pool, 3 * mesh.vertex_count, sizeof *u);
            for (size_t k = 0; k < sizeof stretch / sizeof *stretch; k++) {
                int64_t first;
                for (int64_t v = 0; v < mesh.vertex_count; v++) {
                    const double *X = mesh.vertices + 3 * v, x = stretch[k] * X[0];
                    u[3 * v] = 0.6 * x - 0.8 * X[1] - X[0];
                    u[3 * v + 1] = 0.8 * x + 0.6 * X[1] - X[1];
                }
                const int64_t expected = !law && stretch[k] < sqrt(1.0 / 3) ? sp_mesh_element_count(&mesh) : 0,
                              count = sp_elastic_softened(&body, u, &first);
                CHECK(count == expected && first == (expected ? 0 : -1), "%s, law %d, stretch %g: %lld, first %lld",
                      sp_element_types[type].name, law, stretch[k], (long long)count, (long long)first);
            }
        }
}
