/* Directions of fibres by element: against regions with explicit directions, turned bodies, differences, and helices
 * against their formula in cylindrical coordinates. */
#include "assembly/elastic.h"
#include "assembly/element.h"
#include "cubature/cubature.h"
#include "fixture.h"
#include "material/law.h"
#include "reduced/galerkin.h"
#include "reduced/polynomial.h"

#include <lapacke.h>

/* A rotation by the quaternion (2, 1, −4, 2)/5. */
static const double turn[9] = {-0.6, -0.64, -0.48, 0, 0.6, -0.8, 0.8, -0.48, -0.36};

static void turned(const double R[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static void mean_of_corners(const sp_mesh *mesh, int64_t element, double x[3])
{
    int nodes;
    const int64_t *node = sp_mesh_nodes(mesh, element, &nodes);
    for (int c = 0; c < 3; c++) {
        x[c] = 0;
        for (int a = 0; a < nodes; a++)
            x[c] += mesh->vertices[3 * node[a] + c] / nodes;
    }
}

/* A field of unit vectors whose direction varies along the body. */
static void direction_of(const sp_mesh *mesh, int64_t element, double a[3])
{
    double x[3];
    mean_of_corners(mesh, element, x);
    double polar = 0.3 + 0.7 * x[0], azimuth = 0.2 - 1.1 * x[1] + 0.5 * x[2];
    a[0] = sin(polar) * cos(azimuth);
    a[1] = sin(polar) * sin(azimuth);
    a[2] = cos(polar);
}

static void add_directions(sp_mesh *mesh)
{
    int64_t elements = sp_mesh_element_count(mesh);
    mesh->fibre = sp_pool_new(&mesh->pool, 3 * elements, sizeof *mesh->fibre);
    for (int64_t e = 0; e < elements; e++)
        direction_of(mesh, e, mesh->fibre + 3 * e);
}

/* Every element becomes a region of its own, with its direction. */
static void add_regions(sp_mesh *mesh)
{
    int64_t elements = sp_mesh_element_count(mesh);
    sp_material shared = mesh->materials[0];
    mesh->material_count = elements;
    mesh->materials = sp_pool_new(&mesh->pool, elements, sizeof *mesh->materials);
    for (int64_t e = 0; e < elements; e++) {
        mesh->materials[e] = shared;
        snprintf(mesh->materials[e].name, SP_NAME_LENGTH, "element %d", (int)e);
        direction_of(mesh, e, mesh->materials[e].fibre_direction);
        mesh->region[e] = e;
    }
}

static void split_in_place(sp_mesh *mesh)
{
    sp_mesh split;
    CHECK_OK(sp_mesh_split(&context, mesh, &split));
    sp_mesh_free(mesh);
    *mesh = split;
}

/* Doubles λ and μ of every third element, exactly. */
static void add_factors(sp_mesh *mesh)
{
    int64_t elements = sp_mesh_element_count(mesh);
    mesh->factor = sp_pool_new(&mesh->pool, 2 * elements, sizeof *mesh->factor);
    for (int64_t e = 0; e < elements; e++)
        mesh->factor[2 * e] = mesh->factor[2 * e + 1] = e % 3 ? 1 : 2;
}

enum { ENERGY, FORCE, TANGENT, SECOND, STRESS, DENSITY, OUTPUTS };

/* All results of elements at u [2 rows], a displacement and a direction. */
static void evaluate(const sp_mesh *mesh, const double *u, double *out[OUTPUTS])
{
    OWNED(sp_fe_space) body;
    int64_t rows = 3 * mesh->vertex_count, elements = sp_mesh_element_count(mesh);
    const int64_t pair[2] = {0, 1}, sizes[OUTPUTS] = {1, rows, rows, rows, 6 * elements, elements};
    CHECK_OK(sp_mesh_check(&context, mesh, 1e-3));
    CHECK_OK(sp_fe_space_new(&context, mesh, &body));
    for (int k = 0; k < OUTPUTS; k++)
        out[k] = calloc((size_t)sizes[k], 8);
    *out[ENERGY] = sp_elastic_force(&context, &body, u, out[FORCE]);
    sp_elastic_tangent_times(&context, &body, u, u + rows, out[TANGENT]);
    CHECK_OK(sp_elastic_second(&context, &body, 2, u, 1, pair, out[SECOND]));
    CHECK_OK(sp_elastic_fields(&context, &body, u, NULL, out[STRESS], out[DENSITY]));
}

/* To the last bit, for every law and kind of fibres, hexahedra and the tetrahedra split from them, with factors of
 * elements. The direction of the region has no influence. */
TEST(directions_equal_regions)
{
    for (int k = 2 * SP_LAW_COUNT; k < 2 * TEST_LAWS; k++) {
        static const char *const names[OUTPUTS] = {"energy", "force",  "tangent", "second derivative",
                                                   "stress", "density"};
        sp_mesh mesh[2];
        double *out[2][OUTPUTS], *u = NULL;
        for (int s = 0; s < 2; s++) {
            make_box(3, 2, 2, 1, 0.1, &mesh[s]);
            mesh[s].materials[0] = test_law(k / 2);
            (s ? add_regions : add_directions)(&mesh[s]);
            add_factors(&mesh[s]);
            if (k % 2)
                split_in_place(&mesh[s]);
            u = realloc(u, (size_t)(6 * mesh[s].vertex_count) * 8);
            random_field(6 * mesh[s].vertex_count, 3, u);
            for (int64_t i = 0; i < 3 * mesh[s].vertex_count; i++)
                u[i] *= 0.1;
            evaluate(&mesh[s], u, out[s]);
        }
        const int64_t rows = 3 * mesh[0].vertex_count, elements = sp_mesh_element_count(&mesh[0]),
                      sizes[OUTPUTS] = {1, rows, rows, rows, 6 * elements, elements};
        for (int q = 0; q < OUTPUTS; q++)
            CHECK(!memcmp(out[0][q], out[1][q], (size_t)sizes[q] * 8) && max_abs(sizes[q], out[0][q]) > 0,
                  "%s, %s fibres: %s differs by %g", sp_law_name(mesh[0].materials[0].law),
                  sp_fibre_name(mesh[0].materials[0].fibre), names[q], max_difference(sizes[q], out[0][q], out[1][q]));
        for (int s = 0; s < 2; s++) {
            for (int q = 0; q < OUTPUTS; q++)
                free(out[s][q]);
            sp_mesh_free(&mesh[s]);
        }
        free(u);
    }
}

/* Body, directions and displacements rotated by R: forces rotate, the energy stays. */
TEST(turned_bodies)
{
    double worst = 0;
    for (int k = 2 * SP_LAW_COUNT; k < 2 * TEST_LAWS; k++) {
        sp_mesh mesh[2];
        double *out[2][OUTPUTS], *u[2];
        int64_t rows = 0;
        for (int s = 0; s < 2; s++) {
            make_box(3, 2, 2, 1, 0.1, &mesh[s]);
            mesh[s].materials[0] = test_law(k / 2);
            add_directions(&mesh[s]);
            if (k % 2)
                split_in_place(&mesh[s]);
            rows = 3 * mesh[s].vertex_count;
            u[s] = calloc((size_t)(2 * rows), 8);
            random_field(2 * rows, 3, u[s]);
            for (int64_t i = 0; i < rows; i++)
                u[s][i] *= 0.1;
            double x[3];
            for (int64_t v = 0; s && v < rows / 3; v++) {
                turned(turn, memcpy(x, mesh[s].vertices + 3 * v, sizeof x), mesh[s].vertices + 3 * v);
                turned(turn, memcpy(x, u[s] + 3 * v, sizeof x), u[s] + 3 * v);
                turned(turn, memcpy(x, u[s] + rows + 3 * v, sizeof x), u[s] + rows + 3 * v);
            }
            for (int64_t e = 0; s && e < sp_mesh_element_count(&mesh[s]); e++)
                turned(turn, memcpy(x, mesh[s].fibre + 3 * e, sizeof x), mesh[s].fibre + 3 * e);
            for (int i = 0; s && i < 3; i++)
                turned(turn, memcpy(x, mesh[s].materials[0].frame + 3 * i, sizeof x),
                       mesh[s].materials[0].frame + 3 * i);
            evaluate(&mesh[s], u[s], out[s]);
        }
        CHECK_NEAR(*out[1][ENERGY], *out[0][ENERGY], 1e-12 * *out[0][ENERGY]);
        for (int q = FORCE; q <= TANGENT; q++) {
            double size = max_abs(rows, out[0][q]), x[3];
            for (int64_t v = 0; v < rows / 3; v++)
                turned(turn, memcpy(x, out[0][q] + 3 * v, sizeof x), out[0][q] + 3 * v);
            worst = fmax(worst, max_difference(rows, out[1][q], out[0][q]) / size);
        }
        for (int s = 0; s < 2; s++) {
            for (int q = 0; q < OUTPUTS; q++)
                free(out[s][q]);
            free(u[s]);
            sp_mesh_free(&mesh[s]);
        }
    }
    NOTE("forces and products of turned bodies: %.1e", worst);
    CHECK(worst < 1e-12, "%g", worst);
}

/* Force against differences of the energy, and tangent against differences of the force: second order from a step to
 * half of it. In half of the cases the fibres are active. */
TEST(differences)
{
    for (int k = 2 * SP_LAW_COUNT; k < 2 * TEST_LAWS; k++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        make_box(3, 2, 2, 1, 0.1, &mesh);
        mesh.materials[0] = test_law(k / 2);
        add_directions(&mesh);
        if (k % 2)
            split_in_place(&mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        mesh.materials[0].fibre_tension = k / 2 % 2 ? 1.4 : 0;
        int64_t rows = 3 * mesh.vertex_count;
        double *u = test_new(7 * rows, 8), *d = u + rows, *f = d + rows, *y = f + rows, *at = y + rows,
               *plus = at + rows, *minus = plus + rows;
        random_field(2 * rows, 3, u);
        for (int64_t i = 0; i < rows; i++)
            u[i] *= 0.1;
        sp_elastic_force(&context, &body, u, f);
        sp_elastic_tangent_times(&context, &body, u, d, y);
        double error[2][2], size[2] = {0, max_abs(rows, y)}, slope = 0;
        for (int64_t i = 0; i < rows; i++) {
            slope += f[i] * d[i];
            size[0] += fabs(f[i] * d[i]);
        }
        for (int s = 0; s < 2; s++) {
            double step = s ? 5e-4 : 1e-3, energy[2];
            for (int side = 0; side < 2; side++) {
                for (int64_t i = 0; i < rows; i++)
                    at[i] = u[i] + (side ? -step : step) * d[i];
                energy[side] = sp_elastic_force(&context, &body, at, side ? minus : plus);
            }
            error[0][s] = fabs((energy[0] - energy[1]) / (2 * step) - slope);
            error[1][s] = 0;
            for (int64_t i = 0; i < rows; i++)
                error[1][s] = fmax(error[1][s], fabs((plus[i] - minus[i]) / (2 * step) - y[i]));
        }
        for (int q = 0; q < 2; q++)
            CHECK(error[q][1] < 1e-5 * size[q] && fabs(log2(error[q][0] / error[q][1]) - 2) < 0.1,
                  "%s, %s fibres: %s has errors %g and %g of %g", sp_law_name(mesh.materials[0].law),
                  sp_fibre_name(mesh.materials[0].fibre), q ? "tangent" : "force", error[q][0], error[q][1], size[q]);
    }
}

/* The energy and force of an element at u [24] by its quadrature points and the law, independent of the code of the
 * body. */
static double by_points(const sp_mesh *mesh, int64_t element, const double *u, double f[8][3])
{
    int nodes;
    const int64_t *node = sp_mesh_nodes(mesh, element, &nodes);
    double X[24], sum = 0;
    sp_quadrature quadrature;
    sp_reference reference;
    sp_law_lanes law;
    sp_material own;
    for (int a = 0; a < nodes; a++)
        memcpy(X + 3 * a, mesh->vertices + 3 * node[a], 3 * sizeof *X);
    const int type = nodes == 8 ? SP_HEX8 : SP_TET4;
    sp_reference_at(type, sp_element_stiffness_rule(type, mesh->quadrature), &reference);
    sp_element_quadrature(&reference, X, &quadrature);
    for (int l = 0; l < SP_LANES; l++)
        sp_law_set(&law, l, sp_mesh_material(mesh, element, &own));
    memset(f, 0, 24 * sizeof(double));
    for (int g = 0; g < quadrature.count; g++) {
        sp_lanes H[9], W, P[9];
        for (int k = 0; k < 9; k++) {
            double h = 0;
            for (int a = 0; a < nodes; a++)
                h += u[3 * node[a] + k / 3] * quadrature.gradient[g][a][k % 3];
            H[k] = (sp_lanes){0} + h;
        }
        sp_law_evaluate(&law, H, false, &W, P, NULL);
        sum += quadrature.weight[g] * W[0];
        for (int a = 0; a < nodes; a++)
            for (int k = 0; k < 9; k++)
                f[a][k / 3] += quadrature.weight[g] * P[k][0] * quadrature.gradient[g][a][k % 3];
    }
    return sum;
}

/* Active tension that is set after the body was made: energy and force are those of the quadrature points, also with
 * edge lengths; second derivatives are those without it; stresses are F⁻¹P. */
TEST(tension)
{
    double worst[3] = {0};
    for (int k = 2 * SP_LAW_COUNT; k < 2 * TEST_LAWS; k++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        const int64_t pair[2] = {0, 1};
        make_box(3, 2, 2, 1, 0.1, &mesh);
        mesh.materials[0] = test_law(k / 2);
        add_directions(&mesh);
        if (k % 2)
            split_in_place(&mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        const int64_t rows = 3 * mesh.vertex_count, elements = sp_mesh_element_count(&mesh);
        double *u = test_new(6 * rows, 8), *f = u + 2 * rows, *sum = f + rows,
               *second[2] = {sum + rows, sum + 2 * rows}, energy = 0, H[9], *stress = test_new(6 * elements, 8);
        random_field(2 * rows, 3, u);
        for (int64_t i = 0; i < rows; i++)
            u[i] *= 0.1;
        CHECK_OK(sp_elastic_second(&context, &body, 2, u, 1, pair, second[0]));
        mesh.materials[0].fibre_tension = 1.7;
        CHECK_OK(sp_elastic_second(&context, &body, 2, u, 1, pair, second[1]));
        worst[0] = fmax(worst[0], max_difference(rows, second[0], second[1]) / max_abs(rows, second[0]));
        for (int64_t e = 0; e < elements; e++) {
            int nodes;
            const int64_t *node = sp_mesh_nodes(&mesh, e, &nodes);
            double own[8][3];
            energy += by_points(&mesh, e, u, own);
            for (int a = 0; a < nodes; a++)
                for (int i = 0; i < 3; i++)
                    sum[3 * node[a] + i] += own[a][i];
        }
        worst[1] = fmax(worst[1], fabs(sp_elastic_force(&context, &body, u, f) / energy - 1));
        worst[1] = fmax(worst[1], max_difference(rows, f, sum) / max_abs(rows, sum));
        random_field(9, 5, H);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            for (int i = 0; i < 3; i++) {
                u[3 * v + i] = 0;
                for (int j = 0; j < 3; j++)
                    u[3 * v + i] += 0.2 * H[3 * i + j] * mesh.vertices[3 * v + j];
            }
        CHECK_OK(sp_elastic_fields(&context, &body, u, NULL, stress, NULL));
        for (int64_t e = 0; e < elements; e++) { /* P = F S */
            static const int voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
            sp_material own;
            sp_law_lanes law;
            sp_lanes lanes[9], W, P[9];
            for (int i = 0; i < 9; i++)
                lanes[i] = (sp_lanes){0} + 0.2 * H[i];
            for (int l = 0; l < SP_LANES; l++)
                sp_law_set(&law, l, sp_mesh_material(&mesh, e, &own));
            sp_law_evaluate(&law, lanes, false, &W, P, NULL);
            for (int i = 0; i < 9; i++) {
                double product = stress[6 * e + voigt[i / 3][i % 3]];
                for (int j = 0; j < 3; j++)
                    product += 0.2 * H[i / 3 * 3 + j] * stress[6 * e + voigt[j][i % 3]];
                worst[2] = fmax(worst[2], fabs(product - P[i][0]));
            }
        }
    }
    NOTE("second derivatives %.1e, energy and force %.1e, stress %.1e Pa", worst[0], worst[1], worst[2]);
    CHECK(worst[0] < 1e-10 && worst[1] < 1e-12 && worst[2] < 1e-11, "%g %g %g", worst[0], worst[1], worst[2]);
}

/* Compressed bodies with active fibres: the definite matrix of every element is positive semidefinite, hence their sum,
 * and its stiffness along any direction is at least that of the fibre tension alone. */
TEST(definite_tangent)
{
    for (int k = 2 * SP_LAW_COUNT; k < 2 * TEST_LAWS; k++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        sp_sparse K[3];
        make_box(2, 1, 1, 1, 0.1, &mesh);
        mesh.materials[0] = test_law(k / 2);
        add_directions(&mesh);
        if (k % 2)
            split_in_place(&mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_fe_space_pattern(&context, &body));
        const int64_t rows = 3 * mesh.vertex_count;
        double *u = test_new(rows, 8), *A = test_new(rows * rows, 8), *value = test_new(rows, 8);
        for (int64_t i = 0; i < rows; i++)
            u[i] = -0.35 * mesh.vertices[i];
        for (int s = 0; s < 3; s++) { /* exact with and without tension, definite with it */
            mesh.materials[0].fibre_tension = s == 1 ? 0 : 0.8;
            CHECK_OK(sp_fe_space_matrix(&context, &body, &K[s]));
            sp_elastic_tangent(&context, &body, u, 1, s == 2, NULL, &K[s]);
        }
        double lowest[2];
        for (int less = 0; less < 2; less++) {
            memset(A, 0, (size_t)(rows * rows) * 8);
            for (int64_t row = 0; row < rows; row++)
                for (int64_t i = K[2].start[row]; i < K[2].start[row + 1]; i++)
                    A[K[2].index[i] * rows + row] = K[2].value[i] - (less ? K[0].value[i] - K[1].value[i] : 0);
            CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', (int)rows, A, (int)rows, value) == 0, "dsyev");
            lowest[less] = value[0] / value[rows - 1];
        }
        const bool by_pairs =
            body.classes[0].gram != NULL; /* at quadrature points all of ∂P/∂F is projected, including the tension */
        CHECK(lowest[0] > -1e-13 && (!by_pairs || lowest[1] > -1e-13),
              "%s, %s fibres: lowest eigenvalues %g %g of the largest", sp_law_name(mesh.materials[0].law),
              sp_fibre_name(mesh.materials[0].fibre), lowest[0], lowest[1]);
        for (int s = 0; s < 3; s++)
            sp_sparse_free(&K[s]);
    }
}

/* Cubature of all elements with weight 1, and polynomials where they exist, equal the projected force. For cubature and
 * projection this holds after changes of the fibre tension too. */
TEST(reduced_models)
{
    enum { R = 5 };
    double worst[2] = {0};
    for (int k = 2 * SP_LAW_COUNT; k < 2 * TEST_LAWS; k++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        sp_reduced_force direct, other[2];
        make_box(3, 2, 2, 1, 0.1, &mesh);
        mesh.materials[0] = test_law(k / 2);
        add_directions(&mesh);
        if (k % 2)
            split_in_place(&mesh);
        fix_end(&mesh, 0.2);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        int64_t rows = 3 * mesh.vertex_count, elements = sp_mesh_element_count(&mesh);
        double *U = test_new(rows * R, 8), q[R], f[R], g[R], K[R * R], L[R * R];
        for (int j = 0; j < R; j++) {
            random_field(rows, 20 + (uint64_t)j, U + j * rows);
            for (int64_t i = 0; i < rows; i++)
                U[j * rows + i] *= body.dof[i] >= 0;
        }
        random_field(R, 40, q);
        for (int j = 0; j < R; j++)
            q[j] *= 0.05;
        OWNED(sp_cubature) cubature = {.r = R, .count = elements};
        cubature.element = sp_pool_new(&cubature.pool, elements, 8);
        cubature.weight = sp_pool_new(&cubature.pool, elements, 8);
        for (int64_t e = 0; e < elements; e++) {
            cubature.element[e] = e;
            cubature.weight[e] = 1;
        }
        sp_polynomials polynomials;
        sp_polynomial_report report;
        bool quadratic = sp_material_quadratic(&mesh.materials[0]);
        CHECK_OK(sp_galerkin_force_new(&context, &body, R, U, &direct));
        CHECK_OK(sp_cubature_force_new(&context, &body, &cubature, R, U, &other[0]));
        int status = sp_polynomials_new(&context, &body, R, U, &(sp_polynomial_parameters){0}, &polynomials, &report);
        CHECK(status == (quadratic ? SP_OK : SP_INPUT), "%s: %d", sp_law_name(mesh.materials[0].law), status);
        if (quadratic)
            CHECK_OK(sp_polynomial_reduced_force(&context, &polynomials, R, &other[1]));
        double product[2][R];
        mesh.materials[0].fibre_tension = 1.2;
        direct.evaluate(direct.self, q, false, f, K);
        other[0].evaluate(other[0].self, q, false, g, L);
        CHECK(direct.active && other[0].active && !(quadratic && other[1].active), "who follows");
        CHECK(max_difference(R, f, g) < 1e-12 * max_abs(R, f), "with tension forces differ by %g",
              max_difference(R, f, g));
        for (int j = 0; j < R; j++)
            CHECK(max_difference(R - j, K + j * R + j, L + j * R + j) < 1e-12 * max_abs(R * R, K),
                  "with tension stiffnesses differ");
        for (int s = 0; s < 2; s++) { /* products use the change without an evaluation in between */
            mesh.materials[0].fibre_tension = s ? 0 : 1.2;
            other[0].times(other[0].self, q, q, product[s]);
        }
        CHECK(max_difference(R, product[0], product[1]) > 1e-3 * max_abs(R, product[0]), "the products are the same");
        memcpy(g, f, sizeof f);
        direct.evaluate(direct.self, q, false, f, K);
        CHECK(max_difference(R, f, g) > 1e-3 * max_abs(R, f), "the tension had no part");
        for (int s = 0; s < 1 + quadratic; s++) {
            other[s].evaluate(other[s].self, q, false, g, L);
            worst[s] = fmax(worst[s], max_difference(R, f, g) / max_abs(R, f));
            for (int j = 0; j < R; j++)
                worst[s] = fmax(worst[s], max_difference(R - j, K + j * R + j, L + j * R + j) / max_abs(R * R, K));
            other[s].destroy(other[s].self);
        }
        direct.destroy(direct.self);
        if (quadratic)
            sp_polynomials_free(&polynomials);
    }
    NOTE("cubature %.1e, polynomials %.1e", worst[0], worst[1]);
    CHECK(worst[0] > 0 && worst[0] < 1e-12 && worst[1] > 0 && worst[1] < 1e-12, "%g %g", worst[0], worst[1]);
}

/* Two directions on equal voxels make two classes. */
TEST(classes)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    make_box(4, 2, 2, 0.5, 0, &mesh);
    mesh.materials[0] = test_law(SP_LAW_COUNT);
    add_directions(&mesh);
    for (int64_t e = 0; e < mesh.block[SP_HEX8].count; e++)
        memcpy(mesh.fibre + 3 * e, e % 4 == 3 ? (double[]){0, 1, 0} : (double[]){0.6, 0, 0.8}, 3 * sizeof *mesh.fibre);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK(body.class_count == 2, "%lld classes", (long long)body.class_count);
}

/* In coordinates of the axis the direction at the azimuth φ is (−cos α sin φ, cos α cos φ, sin α). */
static void check_helix(const sp_mesh *mesh, const double centre[3], double angle)
{
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        double x[3], own[3] = {0}, expected[3];
        const double *a = mesh->fibre + 3 * e;
        mean_of_corners(mesh, e, x);
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 3; c++)
                own[i] += turn[3 * c + i] * (x[c] - centre[c]);
        double phi = atan2(own[1], own[0]), alpha = angle / 180 * acos(-1);
        turned(turn, (double[]){-cos(alpha) * sin(phi), cos(alpha) * cos(phi), sin(alpha)}, expected);
        if (mesh->region[e] == 1) /* at least 0.1 from the axis, so that φ is accurate to rounding */
            CHECK(hypot(own[0], own[1]) > 0.1 && max_difference(3, a, expected) < 1e-14,
                  "%g degrees, element %lld: %g %g %g, not %g %g %g", angle, (long long)e, a[0], a[1], a[2],
                  expected[0], expected[1], expected[2]);
        else if (mesh->region[e] == 0)
            CHECK(a[0] == 2.0 / 7 && a[1] == -3.0 / 7 && a[2] == 6.0 / 7, "element %lld keeps its region's",
                  (long long)e);
        else
            CHECK(a[0] == 0 && a[1] == 0 && a[2] == 0, "element %lld has none", (long long)e);
    }
}

TEST(helices)
{
    const double angles[] = {0, 90, 30, -55, 123};
    for (int k = 0; k < 10; k++) {
        OWNED(sp_mesh) mesh;
        sp_helix helix = {.centre = {-0.7, 0.4, 0.9}, .angle = angles[k / 2]};
        turned(turn, (double[]){0, 0, 3.7}, helix.axis);
        make_box(4, 3, 2, 0.5, 0.2, &mesh);
        mesh.material_count = 3;
        mesh.materials = sp_pool_new(&mesh.pool, 3, sizeof *mesh.materials);
        for (int m = 0; m < 3; m++) {
            mesh.materials[m] = test_law(m < 2 ? SP_LAW_COUNT : 0);
            mesh.materials[m].name[0] = (char)('a' + m);
        }
        for (int64_t e = 0; e < mesh.block[SP_HEX8].count; e++)
            mesh.region[e] = e % 3;
        if (k % 2)
            split_in_place(&mesh);
        CHECK_OK(sp_mesh_wind(&context, &mesh, 1, &helix));
        CHECK_OK(sp_mesh_check(&context, &mesh, 1e-3));
        check_helix(&mesh, helix.centre, helix.angle);
    }
    OWNED(sp_mesh) mesh;
    sp_helix helix = {.axis = {0, 0, -2}, .centre = {0.75, 0.75, 5}};
    make_box(3, 3, 1, 0.5, 0, &mesh);
    mesh.materials[0] = test_law(SP_LAW_COUNT);
    CHECK_OK(sp_mesh_wind(&context, &mesh, 0, &helix));
    CHECK(mesh.fibre[12] == 0 && mesh.fibre[13] == 0 && mesh.fibre[14] == -1, "on the axis: %g %g %g", mesh.fibre[12],
          mesh.fibre[13], mesh.fibre[14]);
    /* east of the axis −z a ring points south */
    CHECK(mesh.fibre[15] == 0 && mesh.fibre[16] == -1 && mesh.fibre[17] == 0, "beside it: %g %g %g", mesh.fibre[15],
          mesh.fibre[16], mesh.fibre[17]);
    for (int bad = 0; bad < 4; bad++) {
        sp_helix wrong = helix;
        *(bad == 0   ? &wrong.axis[2]
          : bad == 1 ? &wrong.centre[1]
          : bad == 2 ? &wrong.angle
                     : &wrong.axis[0]) = bad == 0   ? 0
                                         : bad == 3 ? INFINITY
                                                    : NAN;
        CHECK(sp_mesh_wind(&context, &mesh, 0, &wrong) == SP_INPUT && !strncmp(context.message, "helix: ", 7), "%d: %s",
              bad, context.message);
    }
}

static void refused(const char *message, int law, double x, double y, double z)
{
    OWNED(sp_mesh) mesh;
    make_box(2, 1, 1, 1, 0, &mesh);
    mesh.materials[0] = test_law(law);
    add_directions(&mesh);
    memcpy(mesh.fibre + 3, (double[]){x, y, z}, 3 * sizeof *mesh.fibre);
    if (law < SP_LAW_COUNT)
        memset(mesh.fibre, 0, 3 * sizeof *mesh.fibre);
    int status = sp_mesh_check(&context, &mesh, 1e-3);
    CHECK(message ? status == SP_INPUT && strstr(context.message, message) : status == SP_OK, "%g %g %g: %s", x, y, z,
          context.message);
}

TEST(refusals)
{
    enum { WITH = SP_LAW_COUNT, WITHOUT = 0 };
    refused(NULL, WITH, 0.6, -0.8, 0);
    refused(NULL, WITH, 0.6, -0.8 - 0.9e-6, 0);
    refused(NULL, WITHOUT, 0, 0, 0);
    refused("fibre: the direction of element 1 has the length 1.000002 instead of 1", WITH, 1.000002, 0, 0);
    refused("fibre: the direction of element 1 has the length 0 instead of 1", WITH, 0, 0, 0);
    refused("fibre: element 1: y = nan is not finite", WITH, 1, NAN, 0);
    refused("fibre: element 1: z = inf is not finite", WITH, 0, 0, INFINITY);
    refused("fibre: element 1: x = nan is not finite", WITHOUT, NAN, 0, 0);
    refused("fibre: element 1 has a direction, but its region \"gum\" has no fibres", WITHOUT, 0, 0, 1);
}
