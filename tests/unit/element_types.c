/* Tests of every element type: shape functions, integration points and faces against their definitions, patch tests,
 * derivatives against finite differences, rigid motions, and reduced forces against projected forces. */
#include "assembly/elastic.h"
#include "assembly/element.h"
#include "assembly/gradients.h"
#include "base/vec3.h"
#include "fixture.h"
#include "linear/cholesky.h"
#include "mesh/element_geometry.h"
#include "mesh/element_type.h"
#include "model/loads.h"
#include "pointshell/transfer.h"
#include "reduced/polynomial.h"
#include "typed_mesh.h"

#include <assert.h>
#include <lapacke.h>

OWNER(sp_cholesky)
OWNER(sp_polynomial_force)

/* A place inside an element of the shape. */
static void inner_place(sp_element_shape shape, uint64_t k, double xi[3])
{
    double r[3];
    for (int i = 0; i < 3; i++)
        r[i] = sp_random_uniform(11, k, (uint64_t)i);
    if (shape == SP_TETRAHEDRON)
        for (int i = 0; i < 3; i++)
            xi[i] = r[i] / 3;
    else {
        xi[0] = shape == SP_WEDGE ? r[0] / 2 : 2 * r[0] - 1;
        xi[1] = shape == SP_WEDGE ? r[1] / 2 : 2 * r[1] - 1;
        xi[2] = 2 * r[2] - 1;
    }
}

TEST(shape_functions)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        const sp_element_type *of = &sp_element_types[t];
        double shape[SP_ELEMENT_NODES], slope[SP_ELEMENT_NODES][3], xi[3];
        for (int a = 0; a < of->nodes; a++) {
            sp_element_node(t, a, xi);
            sp_element_shape_functions(t, xi, shape, slope);
            for (int b = 0; b < of->nodes; b++)
                CHECK(fabs(shape[b] - (a == b)) < 1e-15, "%s: N_%d at node %d is %g", of->name, b, a, shape[b]);
        }
        for (uint64_t k = 0; k < 5; k++) {
            double sum = 0, rate[3] = {0}, x[3] = {0};
            inner_place(of->shape, k, xi);
            sp_element_shape_functions(t, xi, shape, slope);
            for (int a = 0; a < of->nodes; a++) {
                double node[3];
                sp_element_node(t, a, node);
                sum += shape[a];
                for (int i = 0; i < 3; i++) {
                    rate[i] += slope[a][i];
                    x[i] += shape[a] * node[i];
                }
            }
            for (int i = 0; i < 3; i++)
                CHECK(fabs(sum - 1) < 1e-14 && fabs(rate[i]) < 1e-14 && fabs(x[i] - xi[i]) < 1e-14,
                      "%s: sum %g, slope %g, place %g", of->name, sum - 1, rate[i], x[i] - xi[i]);
            for (int i = 0; i < 3; i++) {
                double more[3] = {xi[0], xi[1], xi[2]}, less[3] = {xi[0], xi[1], xi[2]}, up[SP_ELEMENT_NODES],
                       down[SP_ELEMENT_NODES], unused[SP_ELEMENT_NODES][3];
                more[i] += 1e-5;
                less[i] -= 1e-5;
                sp_element_shape_functions(t, more, up, unused);
                sp_element_shape_functions(t, less, down, unused);
                for (int a = 0; a < of->nodes; a++)
                    CHECK(fabs((up[a] - down[a]) / 2e-5 - slope[a][i]) < 1e-9, "%s: slope of N_%d along %d", of->name,
                          a, i);
            }
        }
    }
}

/* ∫ x^i y^j z^k over an element in natural coordinates. */
static double moment(sp_element_shape shape, int i, int j, int k)
{
    const double along[2] = {2.0 / (k + 1) * (k % 2 == 0), 0};
    if (shape == SP_TETRAHEDRON)
        return tgamma(i + 1) * tgamma(j + 1) * tgamma(k + 1) / tgamma(i + j + k + 4);
    if (shape == SP_WEDGE)
        return tgamma(i + 1) * tgamma(j + 1) / tgamma(i + j + 3) * along[0];
    return 2.0 / (i + 1) * (i % 2 == 0) * 2.0 / (j + 1) * (j % 2 == 0) * along[0];
}

TEST(rules)
{
    static const struct {
        sp_rule rule;
        sp_element_shape shape;
        /* together: the exact degree in x and in y (hexahedron), in x and y (wedge) or in x, y and z (tetrahedron);
         * along: in z */
        int points, together, along;
    } of[] = {{SP_RULE_GAUSS_2, SP_HEXAHEDRON, 8, 3, 3},  {SP_RULE_GAUSS_3, SP_HEXAHEDRON, 27, 5, 5},
              {SP_RULE_TET_1, SP_TETRAHEDRON, 1, 1, 1},   {SP_RULE_TET_4, SP_TETRAHEDRON, 4, 2, 2},
              {SP_RULE_TET_15, SP_TETRAHEDRON, 15, 5, 5}, {SP_RULE_WEDGE_2, SP_WEDGE, 2, 1, 3},
              {SP_RULE_WEDGE_6, SP_WEDGE, 6, 2, 3},       {SP_RULE_WEDGE_9, SP_WEDGE, 9, 2, 5},
              {SP_RULE_WEDGE_18, SP_WEDGE, 18, 4, 5}};
    for (size_t r = 0; r < sizeof of / sizeof *of; r++) {
        double place[SP_QUADRATURE_MAX][3], weight[SP_QUADRATURE_MAX];
        const int count = sp_rule_points(of[r].rule, place, weight);
        CHECK(count == of[r].points, "rule %d has %d points", (int)of[r].rule, count);
        for (int i = 0; i <= 5; i++)
            for (int j = 0; j <= 5; j++)
                for (int k = 0; k <= of[r].along; k++) {
                    const int degree = of[r].shape == SP_HEXAHEDRON    ? (i > j ? i : j)
                                       : of[r].shape == SP_TETRAHEDRON ? i + j + k
                                                                       : i + j;
                    if (degree > of[r].together)
                        continue;
                    double sum = 0;
                    for (int g = 0; g < count; g++)
                        sum += weight[g] * pow(place[g][0], i) * pow(place[g][1], j) * pow(place[g][2], k);
                    CHECK_NEAR(sum, moment(of[r].shape, i, j, k), 1e-15 * 8);
                }
    }
}

/* The volume by the divergence theorem over the triangles of the boundary. It is right only if faces are oriented
 * outward and neighbours agree. */
TEST(boundaries)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_pool) pool = {0};
        int64_t count, *triangle, *element;
        make_typed(t, 3, 2, 2, 0.5, 0, true, &mesh);
        CHECK(sp_mesh_check(&context, &mesh, 1e-3) == SP_OK, "%s: %s", sp_element_types[t].name, context.message);
        CHECK(sp_mesh_boundary(&context, &mesh, &pool, &count, &triangle, &element) == SP_OK, "%s", context.message);
        double volume = 0;
        for (int64_t k = 0; k < count; k++) {
            const double *a = mesh.vertices + 3 * triangle[3 * k], *b = mesh.vertices + 3 * triangle[3 * k + 1],
                         *c = mesh.vertices + 3 * triangle[3 * k + 2];
            volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                       a[2] * (b[0] * c[1] - b[1] * c[0])) /
                      6;
        }
        CHECK_NEAR(volume, 12 * 0.125, 1e-13);
        CHECK_NEAR(sp_mesh_volume(&mesh), 12 * 0.125, 1e-13);
    }
}

/* Mirrored elements of every type are found, and are mirrored back. */
TEST(mirrors)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        OWNED(sp_mesh) mesh;
        signed char mirror[SP_ELEMENT_NODES];
        const int nodes = sp_element_types[t].nodes;
        make_typed(t, 1, 1, 1, 1, 0.05, false, &mesh);
        const double volume = sp_mesh_volume(&mesh);
        sp_element_mirror(t, mirror);
        for (int a = 0; a < nodes; a++)
            CHECK(mirror[mirror[a]] == a, "%s: node %d", sp_element_types[t].name, a);
        int64_t old[SP_ELEMENT_NODES], *node = mesh.block[t].node;
        memcpy(old, node, (size_t)nodes * sizeof *old);
        for (int a = 0; a < nodes; a++)
            node[a] = old[mirror[a]];
        CHECK(sp_mesh_inverted(&mesh, false) == 1 && sp_mesh_folded(&mesh) == 0, "%s", sp_element_types[t].name);
        CHECK(sp_mesh_inverted(&mesh, true) == 1, "%s", sp_element_types[t].name);
        CHECK_NEAR(sp_mesh_volume(&mesh), volume, 1e-14);
    }
}

/* A linear displacement of a patch has a constant strain: no force on inner nodes, and the energy of that strain. */
TEST(patches)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        for (int curved = 0; curved < 2; curved++) {
            OWNED(sp_mesh) mesh = {0};
            OWNED(sp_fe_space) body = {0};
            OWNED(sp_pool) pool = {0};
            int64_t count, *triangle, *element;
            /* the points of these types do not integrate the gradients of curved elements exactly */
            if (curved && (t == SP_HEX20R || t == SP_TET10 || t == SP_WEDGE15 || t == SP_HEX20 || t == SP_HEX27))
                continue;
            make_typed(t, 3, 3, 3, 0.4, 0.06, !curved, &mesh);
            CHECK(sp_fe_space_new(&context, &mesh, &body) == SP_OK, "%s: %s", sp_element_types[t].name,
                  context.message);
            CHECK(sp_mesh_boundary(&context, &mesh, &pool, &count, &triangle, &element) == SP_OK, "%s",
                  context.message);
            char *outer = sp_pool_new(&pool, mesh.vertex_count, 1);
            for (int64_t k = 0; k < 3 * count; k++)
                outer[triangle[k]] = 1;
            static const double A[9] = {0.03, 0.01, -0.02, 0.04, -0.05, 0.015, 0.02, -0.01, 0.035};
            double *u = sp_pool_new(&pool, 3 * mesh.vertex_count, sizeof *u),
                   *f = sp_pool_new(&pool, 3 * mesh.vertex_count, sizeof *f), largest = 0, inner = 0, E[9], trace = 0,
                   square = 0;
            for (int64_t i = 0; i < 3 * mesh.vertex_count; i++)
                for (int j = 0; j < 3; j++)
                    u[i] += A[3 * (i % 3) + j] * mesh.vertices[i / 3 * 3 + j];
            const double energy = sp_elastic_force(&context, &body, u, f);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    E[3 * i + j] = 0.5 * (A[3 * i + j] + A[3 * j + i]);
                    for (int k = 0; k < 3; k++)
                        E[3 * i + j] += 0.5 * A[3 * k + i] * A[3 * k + j];
                    trace += i == j ? E[3 * i + j] : 0;
                    square += E[3 * i + j] * E[3 * i + j];
                }
            for (int64_t i = 0; i < 3 * mesh.vertex_count; i++) {
                largest = fmax(largest, fabs(f[i]));
                inner = outer[i / 3] ? inner : fmax(inner, fabs(f[i]));
            }
            const double lambda = 1e6 * 0.3 / (1.3 * 0.4), mu = 1e6 / 2.6;
            CHECK(inner <= 2e-13 * largest, "%s%s: force %g of %g inside", sp_element_types[t].name,
                  curved ? ", curved" : "", inner, largest);
            CHECK_NEAR(energy / (sp_mesh_volume(&mesh) * (0.5 * lambda * trace * trace + mu * square)), 1, 1e-12);
        }
}

/* Makes a body that is fixed at one side and has a smooth displacement. */
static void make_body(int t, int law, held_block *b)
{
    make_typed(t, 2, 1, 2, 0.3, 0.05, false, &b->mesh);
    b->mesh.materials[0] = law < 0 ? test_material() : test_law(law);
    hold_block(4, b);
}

TEST(differences)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        for (int law = -1; law < SP_LAW_COUNT; law++) {
            OWNED(held_block) b = {0};
            if (law >= 0 && (t == SP_HEX8B || t == SP_HEX8I) && law > 1)
                continue;
            if (law == SP_LAW_STVK)
                continue;
            make_body(t, law, &b);
            OWNED(sp_pool) pool = {0};
            double *u = sp_pool_new(&pool, b.rows, sizeof *u), *f = sp_pool_new(&pool, b.rows, sizeof *f),
                   *y = sp_pool_new(&pool, b.rows, sizeof *y), *g = sp_pool_new(&pool, b.rows, sizeof *g),
                   *v = b.U + b.rows, error[2][3];
            for (int64_t i = 0; i < b.rows; i++)
                u[i] = 0.2 * b.U[i];
            sp_elastic_force(&context, &b.body, u, f);
            sp_elastic_tangent_times(&context, &b.body, u, v, y);
            double due = 0, slope[3] = {0}, size = 0;
            for (int64_t i = 0; i < b.rows; i++) {
                due += f[i] * v[i];
                size = fmax(size, fabs(y[i]));
            }
            for (int s = 0; s < 3; s++) {
                const double h = 0.02 / (1 << s);
                double W[2], off = 0;
                for (int64_t i = 0; i < b.rows; i++)
                    u[i] = 0.2 * b.U[i] + h * v[i];
                W[0] = sp_elastic_force(&context, &b.body, u, f);
                for (int64_t i = 0; i < b.rows; i++)
                    u[i] = 0.2 * b.U[i] - h * v[i];
                W[1] = sp_elastic_force(&context, &b.body, u, g);
                slope[s] = (W[0] - W[1]) / (2 * h);
                for (int64_t i = 0; i < b.rows; i++)
                    off = fmax(off, fabs((f[i] - g[i]) / (2 * h) - y[i]));
                error[0][s] = fabs(slope[s] - due) / fabs(due);
                error[1][s] = off / size;
            }
            CHECK_ORDERS(error[0], 2, 0.1, 0.1, "%s, law %d: force", sp_element_types[t].name, law);
            CHECK_ORDERS(error[1], 2, 0.1, 0.1, "%s, law %d: tangent", sp_element_types[t].name, law);
            /* the assembled matrix gives the same product */
            OWNED(sp_sparse) K;
            for (int64_t i = 0; i < b.rows; i++)
                u[i] = 0.2 * b.U[i];
            CHECK(sp_fe_space_pattern(&context, &b.body) == SP_OK && sp_fe_space_matrix(&context, &b.body, &K) == SP_OK,
                  "%s", context.message);
            sp_elastic_tangent(&context, &b.body, u, 1, false, f, &K);
            double off = 0;
            for (int64_t row = 0; row < K.order; row++) {
                double sum = 0;
                for (int64_t k = K.start[row]; k < K.start[row + 1]; k++)
                    sum += K.value[k] * v[b.body.free[K.index[k]]];
                off = fmax(off, fabs(sum - y[b.body.free[row]]));
            }
            CHECK(off <= 1e-13 * size, "%s: K v differs by %g of %g", sp_element_types[t].name, off, size);
        }
}

/* A rotated body has no energy and no force. */
TEST(rotations)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        make_typed(t, 2, 2, 1, 0.3, 0.05, false, &mesh);
        CHECK(sp_fe_space_new(&context, &mesh, &body) == SP_OK, "%s", context.message);
        static const double R[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6};
        double *u = sp_pool_new(&mesh.pool, 3 * mesh.vertex_count, sizeof *u),
               *f = sp_pool_new(&mesh.pool, 3 * mesh.vertex_count, sizeof *f), largest = 0;
        for (int64_t i = 0; i < 3 * mesh.vertex_count; i++) {
            u[i] = 0.7 - mesh.vertices[i];
            for (int j = 0; j < 3; j++)
                u[i] += R[3 * (i % 3) + j] * mesh.vertices[i / 3 * 3 + j];
        }
        const double energy = sp_elastic_force(&context, &body, u, f);
        for (int64_t i = 0; i < 3 * mesh.vertex_count; i++)
            largest = fmax(largest, fabs(f[i]));
        CHECK(energy <= 1e-20 * 1e6 && largest <= 1e-9 * 1e6 * 0.09, "%s: energy %g, force %g",
              sp_element_types[t].name, energy, largest);
    }
}

/* Gradients in SIMD lanes are those of single elements, also where elements are so flat and oblique to their own axes
 * that double precision would lose digits: their third axis leans by all but a thousandth into their plane. */
TEST(lane_gradients)
{
    static const double R[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6};
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        for (int flat = 0; flat < 2; flat++) {
            OWNED(sp_mesh) mesh = {0};
            OWNED(sp_fe_space) space = {0};
            sp_lane_gradients geometry;
            double worst = 0;
            if (t == SP_HEX8B || t == SP_HEX8I)
                continue; /* they are not evaluated at points */
            make_typed(t, 4, 2, 1, 0.3, flat ? 0.01 : 0.06, false, &mesh);
            for (int64_t v = 0; flat && v < mesh.vertex_count; v++) {
                double *X = mesh.vertices + 3 * v;
                const double x[3] = {X[0] + X[2], X[1], 1e-3 * X[2]};
                for (int i = 0; i < 3; i++)
                    X[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
            }
            mesh.materials[0].law = SP_LAW_NEO_HOOKEAN; /* hexahedra are evaluated at points too */
            CHECK(sp_fe_space_new(&context, &mesh, &space) == SP_OK, "%s: %s", sp_element_types[t].name,
                  context.message);
            for (int64_t first = 0; first < space.class_count; first += SP_LANES) {
                int64_t class[SP_LANES];
                for (int l = 0; l < SP_LANES; l++)
                    class[l] = (first + l) % space.class_count;
                sp_lane_gradients_load(&space, class, &geometry);
                for (int g = 0; g < geometry.points; g++) {
                    sp_lanes gradient[SP_ELEMENT_NODES][3], weight;
                    sp_lane_gradients_at(&geometry, g, gradient, &weight);
                    for (int l = 0; l < SP_LANES; l++) {
                        double X[SP_ELEMENT_NODES][3], own[SP_ELEMENT_NODES][3], size = 0, off = 0;
                        sp_mesh_element_places(&mesh, space.classes[class[l]].element, X);
                        const sp_reference *reference = &space.references[2 * t];
                        const double det = sp_element_gradients(t, X[0], reference->slope[g], own);
                        CHECK_NEAR(weight[l] / (det * reference->weight[g]), 1, 1e-14);
                        for (int a = 0; a < geometry.nodes; a++)
                            for (int i = 0; i < 3; i++) {
                                size = fmax(size, fabs(own[a][i]));
                                off = fmax(off, fabs(own[a][i] - gradient[a][i][l]));
                            }
                        worst = fmax(worst, off / size);
                    }
                }
            }
            CHECK(worst < 1e-14, "%s, flat %d: %g", sp_element_types[t].name, flat, worst);
        }
}

/* Consistent and lumped masses sum to the mass of the body. Lumped masses are positive. The consistent mass is exact
 * for products of linear fields where the element is straight. */
TEST(masses)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        make_typed(t, 2, 2, 2, 0.5, 0, true, &mesh);
        CHECK(sp_fe_space_new(&context, &mesh, &body) == SP_OK, "%s", context.message);
        const int64_t n = mesh.vertex_count;
        double *m = sp_pool_new(&mesh.pool, n, sizeof *m), *x = sp_pool_new(&mesh.pool, n, sizeof *x),
               *y = sp_pool_new(&mesh.pool, n, sizeof *y), total = 0, moment2 = 0, least = INFINITY;
        sp_fe_space_vertex_mass(&body, true, m);
        for (int64_t v = 0; v < n; v++) {
            x[v] = mesh.vertices[3 * v];
            total += m[v];
            least = fmin(least, m[v]);
        }
        sp_fe_space_mass_times(&context, &body, 1, x, y);
        for (int64_t v = 0; v < n; v++)
            moment2 += x[v] * y[v];
        CHECK_NEAR(total, 1000, 1e-9);
        CHECK(least > 0, "%s: mass %g", sp_element_types[t].name, least);
        if (sp_element_types[t].nodes != 8) /* 2³ points are exact on boxes too */
            CHECK_NEAR(moment2, 1000.0 / 3, 1e-9);
    }
}

/* Reduced polynomials are equal to the projection of the force. */
TEST(reduced_forces)
{
    enum { R = 4 };
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        OWNED(held_block) b;
        OWNED(sp_polynomials) polynomials;
        OWNED_POINTER(sp_polynomial_force) *force;
        sp_polynomial_report report;
        const sp_polynomial_parameters parameters = {0};
        make_body(t, -1, &b);
        CHECK(sp_polynomials_new(&context, &b.body, R, b.U, &parameters, &polynomials, &report) == SP_OK, "%s",
              context.message);
        CHECK(sp_polynomial_force_new(&context, &polynomials, R, &force) == SP_OK, "%s", context.message);
        double q[R] = {0.1, -0.07, 0.05, 0.12}, g[R], K[R * R], due[R] = {0}, size = 0, off = 0;
        double *u = sp_pool_new(&b.mesh.pool, b.rows, sizeof *u), *f = sp_pool_new(&b.mesh.pool, b.rows, sizeof *f);
        for (int j = 0; j < R; j++)
            for (int64_t i = 0; i < b.rows; i++)
                u[i] += q[j] * b.U[j * b.rows + i];
        const double energy = sp_elastic_force(&context, &b.body, u, f),
                     reduced = sp_polynomial_force_evaluate(force, q, g, K);
        for (int j = 0; j < R; j++) {
            for (int64_t i = 0; i < b.rows; i++)
                due[j] += b.U[j * b.rows + i] * f[i];
            size = fmax(size, fabs(due[j]));
            off = fmax(off, fabs(due[j] - g[j]));
        }
        CHECK_NEAR(reduced / energy, 1, 1e-12);
        CHECK(off <= 1e-12 * size, "%s: %g of %g", sp_element_types[t].name, off, size);
    }
}

/* The consistent forces of a pressure: no resultant and no torque on a closed surface, and Σ F·X = −3 p V by the
 * divergence theorem, also where faces are curved. */
TEST(pressures)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        double sum[3] = {0}, torque[3] = {0}, virial = 0;
        make_typed(t, 2, 2, 1, 0.5, 0.05, false, &mesh);
        CHECK(sp_fe_space_new(&context, &mesh, &body) == SP_OK, "%s", context.message);
        const sp_load load = {.end = INFINITY, .kind = SP_LOAD_PRESSURE, .id = -1, .force = {5000}};
        double *f = sp_pool_new(&mesh.pool, body.dof_count, sizeof *f);
        CHECK(sp_load_force(&context, &body, 1, &load, f) == SP_OK, "%s", context.message);
        for (int64_t v = 0; v < mesh.vertex_count; v++) {
            const double *X = mesh.vertices + 3 * v, *F = f + 3 * v;
            for (int c = 0; c < 3; c++) {
                sum[c] += F[c];
                torque[c] += X[(c + 1) % 3] * F[(c + 2) % 3] - X[(c + 2) % 3] * F[(c + 1) % 3];
                virial += X[c] * F[c];
            }
        }
        for (int c = 0; c < 3; c++)
            CHECK(fabs(sum[c]) < 1e-9 && fabs(torque[c]) < 1e-9, "%s: force %g, torque %g", sp_element_types[t].name,
                  sum[c], torque[c]);
        CHECK_NEAR(virial / (-3 * 5000 * sp_mesh_volume(&mesh)), 1, 1e-12);
    }
}

/* Embeds the point ξ of an element. Its weights and gradients follow from the map of the element if the point is inside
 * of it; a point of a face may be found in a neighbour. Either way the weights reproduce the point, and it has no
 * distance from the element. */
static void check_embedded(const sp_transfer *transfer, int64_t element, const double xi[3], bool inside,
                           double worst[3])
{
    double X[SP_ELEMENT_NODES][3], shape[SP_ELEMENT_NODES], slope[SP_ELEMENT_NODES][3], point[3] = {0}, sum = 0,
                                                                                        again[3] = {0};
    sp_transferred found;
    const int type = sp_mesh_element_places(transfer->mesh, element, X), nodes = sp_element_types[type].nodes;
    sp_element_shape_functions(type, xi, shape, slope);
    for (int a = 0; a < nodes; a++)
        for (int i = 0; i < 3; i++)
            point[i] += shape[a] * X[a][i];
    sp_transfer_find(transfer, point, &found);
    for (int a = 0; a < found.corners; a++) {
        sum += found.weight[a];
        for (int i = 0; i < 3; i++)
            again[i] += found.weight[a] * transfer->mesh->vertices[3 * found.corner[a] + i];
    }
    for (int i = 0; i < 3; i++)
        worst[0] = fmax(worst[0], fabs(again[i] - point[i]));
    worst[0] = fmax(worst[0], fabs(sum - 1));
    worst[1] = fmax(worst[1], found.gap);
    int count;
    CHECK(!inside || found.corner == sp_mesh_nodes(transfer->mesh, element, &count), "%s: element %lld was not found",
          sp_element_types[type].name, (long long)element);
    for (int a = 0; inside && a < nodes; a++)
        worst[2] = fmax(worst[2], fabs(found.weight[a] - shape[a]));
}

/* Points inside of curved elements of size 1 and on all their faces are embedded by inverting the map of the element.
 */
TEST(embeddings)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_transfer) transfer;
        double worst[3] = {0};
        make_typed(t, 2, 2, 2, 1, 0.08, false, &mesh);
        CHECK(sp_mesh_check(&context, &mesh, 1e-3) == SP_OK, "%s: %s", sp_element_types[t].name, context.message);
        CHECK_OK(sp_transfer_new(&context, &mesh, &transfer));
        for (int64_t e = 0; e < mesh.block[t].count; e++)
            for (uint64_t k = 0; k < 20; k++) {
                double xi[3], along[2][3];
                signed char node[SP_FACE_NODES];
                int corners;
                inner_place(sp_element_types[t].shape, 20 * (uint64_t)e + k, xi);
                check_embedded(&transfer, e, xi, true, worst);
                const int face = (int)(k % (uint64_t)sp_element_types[t].faces);
                sp_element_face(t, face, node, &corners);
                const double s = sp_random_uniform(12, 20 * (uint64_t)e + k, 0),
                             r = sp_random_uniform(12, 20 * (uint64_t)e + k, 1);
                sp_element_face_place(t, face, corners == 4 ? 2 * s - 1 : s, corners == 4 ? 2 * r - 1 : (1 - s) * r, xi,
                                      along);
                check_embedded(&transfer, e, xi, false, worst);
            }
        NOTE("%-8s points within %.1e, distance %.1e, weights within %.1e", sp_element_types[t].name, worst[0],
             worst[1], worst[2]);
        for (int k = 0; k < 3; k++)
            CHECK(worst[k] <= 1e-12, "%s: %d: %g", sp_element_types[t].name, k, worst[k]);
    }
}

/* The shares of the nodes of a flat face, from textbooks: a square of 4, 8 and 9 nodes, a triangle of 3 and 6. */
TEST(shares_of_faces)
{
    static const struct {
        int type, face, nodes;
        double corner, edge, middle;
    } of[] = {{SP_HEX8, 4, 4, 1.0 / 4, 0, 0},
              {SP_HEX20, 4, 8, -1.0 / 12, 1.0 / 3, 0},
              {SP_HEX27, 4, 9, 1.0 / 36, 1.0 / 9, 4.0 / 9},
              {SP_TET4, 3, 3, 1.0 / 3, 0, 0},
              {SP_TET10, 3, 6, 0, 1.0 / 3, 0},
              {SP_WEDGE15, 3, 6, 0, 1.0 / 3, 0},
              {SP_WEDGE18, 0, 9, 1.0 / 36, 1.0 / 9, 4.0 / 9}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        double X[SP_ELEMENT_NODES][3], area[SP_FACE_NODES][3], total[3] = {0};
        signed char node[SP_FACE_NODES];
        int corners;
        for (int a = 0; a < sp_element_types[of[k].type].nodes; a++)
            sp_element_node(of[k].type, a, X[a]);
        const int nodes = sp_element_face(of[k].type, of[k].face, node, &corners);
        sp_element_face_areas(of[k].type, of[k].face, X, area, NULL);
        CHECK(nodes == of[k].nodes, "%s: %d nodes", sp_element_types[of[k].type].name, nodes);
        for (int a = 0; a < nodes; a++)
            for (int i = 0; i < 3; i++)
                total[i] += area[a][i];
        const double size = sp_norm3(total);
        for (int a = 0; a < nodes; a++)
            CHECK_NEAR(sp_dot3(area[a], total) / (size * size),
                       a < corners       ? of[k].corner
                       : a < 2 * corners ? of[k].edge
                                         : of[k].middle,
                       1e-14);
    }
}

/* A cantilever of one layer of elements, eight times as long as it is thick, under a load at its end: types that do not
 * lock are within a few per cent of Timoshenko's beam, 4 F L³/(E h⁴) (1 + …). */
TEST(cantilevers)
{
    static const double least[] = {[SP_HEX8] = 0.5,     [SP_TET4] = 0.2,   [SP_TET10] = 0.97, [SP_HEX20] = 0.98,
                                   [SP_HEX20R] = 0.98,  [SP_HEX27] = 0.98, [SP_WEDGE6] = 0.3, [SP_WEDGE15] = 0.97,
                                   [SP_WEDGE18] = 0.97, [SP_HEX8B] = 0.5,  [SP_HEX8I] = 0.97};
    static_assert(sizeof least / sizeof *least == SP_ELEMENT_TYPES,
                  "an element type lacks the bound of its cantilever");
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        int64_t added;
        /* a single row of elements of reduced integration has a deformation without energy */
        const int rows = t == SP_HEX20R ? 2 : 1;
        make_typed(t, 8, rows, 1, 1, 0, true, &mesh);
        mesh.materials[0].poisson = 0;
        CHECK(sp_mesh_fix_half_space(&context, &mesh, (double[]){1, 0, 0}, 0.01, 7, &added) == SP_OK, "%s",
              context.message);
        CHECK(sp_fe_space_new(&context, &mesh, &body) == SP_OK, "%s", context.message);
        OWNED(sp_sparse) K;
        OWNED_POINTER(sp_cholesky) *factor;
        CHECK(sp_elastic_stiffness(&context, &body, &K) == SP_OK, "%s", context.message);
        int64_t *node = sp_pool_new(&mesh.pool, body.dof_count, sizeof *node), ends = 0;
        double *load = sp_pool_new(&mesh.pool, body.dof_count, sizeof *load), deflection = 0;
        sp_fe_space_nodes(&body, node);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            ends += mesh.vertices[3 * v] > 7.99;
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            if (mesh.vertices[3 * v] > 7.99)
                load[body.dof[3 * v + 2]] = 1.0 / (double)ends;
        CHECK(sp_cholesky_new(&context, &K, node, &factor) == SP_OK, "%s", context.message);
        double *x = sp_pool_new(&mesh.pool, body.dof_count, sizeof *x);
        CHECK(sp_cholesky_factor(factor, &K) == SP_OK && sp_cholesky_solve(factor, 1, load, x) == SP_OK, "%s",
              context.message);
        for (int64_t i = 0; i < body.dof_count; i++)
            deflection += load[i] * x[i];
        /* bending 4 L³/(E h⁴) and shear L/(k G A) with k = 5/6, G = E/2 */
        const double beam = (4 * 512 / 1e6 + 8 * 1.2 / 0.5e6) / rows, ratio = deflection / beam;
        printf("# %-8s deflection %.4f of the beam's\n", sp_element_types[t].name, ratio);
        CHECK(ratio >= least[t] && ratio < 1.01, "%s: %g", sp_element_types[t].name, ratio);
    }
}

/* Elements with nodes that are moved at random, of the types whose mass has points of its own. Those that are folded at
 * points of the mass only are kept if the eigenvalues of the mass matrix that assembly makes are positive. */
TEST(folds_at_points_of_the_mass)
{
    static const int types[] = {SP_TET10, SP_HEX20R, SP_WEDGE6, SP_WEDGE15};
    static const double reach[] = {0.6, 1.2, 2, 0.6}; /* of the moves, in natural coordinates */

    for (int k = 0; k < 4; k++) {
        const int t = types[k], nodes = sp_element_types[t].nodes;
        int64_t node[SP_ELEMENT_NODES], region = 0, kept = 0, refused = 0, whole = 0, at_nodes = 0;
        double X[SP_ELEMENT_NODES][3], mass[SP_ELEMENT_NODES * SP_ELEMENT_NODES], value[SP_ELEMENT_NODES];
        sp_mesh mesh = {.vertex_count = nodes, .vertices = X[0], .quadrature = 2, .region = &region};
        mesh.block[t] = (sp_element_block){1, node};
        sp_reference stiffness, masses;
        sp_reference_at(t, sp_element_types[t].stiffness, &stiffness);
        sp_reference_at(t, sp_element_types[t].mass, &masses);

        for (uint64_t i = 0; i < 3000; i++) {
            for (int a = 0; a < nodes; a++) {
                node[a] = a;
                sp_element_node(t, a, X[a]);
                for (int c = 0; c < 3; c++)
                    X[a][c] += (0.02 + reach[k] * (double)(i % 50) / 50) *
                               (sp_random_uniform(12, i, (uint64_t)(3 * a + c)) - 0.5);
            }

            sp_quadrature points;
            const bool stiff = sp_element_quadrature(&stiffness, X[0], &points) > 0,
                       strict = sp_mesh_element_positive(&mesh, 0, NULL);
            sp_element_volume_mass(&masses, X[0], NULL, mass);
            CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', nodes, mass, nodes, value) == 0, "eigenvalues");
            /* a decision within the rounding of either is none */
            if (fabs(value[0]) < 1e-10 * value[nodes - 1])
                continue;

            sp_mesh_folds of_corners, of_masses, of_nodes;
            mesh.folded = true;
            const bool lenient = sp_mesh_element_positive(&mesh, 0, NULL),
                       indefinite = sp_mesh_element_mass_indefinite(&mesh, 0);
            sp_mesh_find_folds(&mesh, &of_corners, &of_masses, &of_nodes);
            mesh.folded = false;
            CHECK(lenient == (stiff && value[0] > 0), "%s %d: %d, stiffness %d, mass %g", sp_element_types[t].name,
                  (int)i, lenient, stiff, value[0]);
            CHECK(indefinite == (stiff && value[0] < 0), "%s %d: %g", sp_element_types[t].name, (int)i, value[0]);
            CHECK(!strict || lenient, "what is positive at every point has a positive mass");
            CHECK(of_masses.count == (lenient && !strict) && of_corners.count == 0 &&
                      of_nodes.count == (strict && !(sp_mesh_node_jacobian(&mesh, 0) > 0)),
                  "%s %d: kinds", sp_element_types[t].name, (int)i);
            whole += strict;
            kept += of_masses.count;
            at_nodes += of_nodes.count;
            refused += indefinite;
        }
        NOTE("%-8s %d positive at all points, %d of them folded at a node; %d kept, %d with an indefinite mass",
             sp_element_types[t].name, (int)whole, (int)at_nodes, (int)kept, (int)refused);
        /* A wedge6 has as many points as nodes: by Sylvester's law of inertia one negative weight leaves a negative
         * eigenvalue. */
        CHECK(whole > 0 && at_nodes > 0 && (kept > 0) == (t != SP_WEDGE6) && refused > 0, "%s: every kind was met",
              sp_element_types[t].name);
    }
}
