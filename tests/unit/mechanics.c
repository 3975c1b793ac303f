/* The unreduced mechanics: energy, force, stiffness and second derivatives by finite differences; rigid motions; patch
 * test; mass; independence of threads. */
#include "assembly/elastic.h"
#include "assembly/element.h"
#include "bodies.h"
#include "test.h"

/* The bodies of all tests: voxels, distorted hexahedra, tetrahedra, a mix of regions with an anisotropic material. */
enum { VARIANTS = 4 };

static void make_variant(int variant, sp_mesh *mesh)
{
    sp_mesh box;
    make_box(3, 2, 2, 0.5, variant == 0 ? 0 : 0.15, &box);
    if (variant == 2) {
        CHECK_OK(sp_mesh_split(&context, &box, mesh));
        sp_mesh_free(&box);
        return;
    }
    *mesh = box;
    if (variant == 3) {
        mesh->materials = sp_pool_new(&mesh->pool, 2, sizeof *mesh->materials);
        mesh->material_count = 2;
        mesh->materials[0] = test_material();
        mesh->materials[1] = test_material();
        strcpy(mesh->materials[1].name, "fibres");
        mesh->materials[1].law = SP_LAW_LINEAR;
        double c[21] = {4e6, 1e6, 0.8e6, 0, 0, 0, 2e6, 0.9e6, 0, 0, 0, 1.5e6, 0, 0, 0, 0.4e6, 0, 0, 0.5e6, 0, 0.6e6};
        memcpy(mesh->materials[1].stiffness, c, sizeof c);
        double s = 0.6, k = 0.8, frame[9] = {k, s, 0, -s, k, 0, 0, 0, 1};
        memcpy(mesh->materials[1].frame, frame, sizeof frame);
        for (int64_t e = 0; e < mesh->block[SP_HEX8].count; e += 2)
            mesh->region[e] = 1;
    }
    CHECK_OK(sp_mesh_fix_list(&context, mesh, 2, (int64_t[]){0, 5}, 7));
    CHECK_OK(sp_mesh_fix_list(&context, mesh, 1, (int64_t[]){9}, 2));
}

/* The finite difference's error must fall with the square of the step: returns the observed slope between two steps. */
static double slope(double coarse, double fine, double ratio)
{
    return log(coarse / fine) / log(ratio);
}

TEST(force_is_gradient_of_energy)
{
    for (int variant = 0; variant < VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        make_variant(variant, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        int64_t n = 3 * mesh.vertex_count;
        double *u = test_new(n, 8), *v = test_new(n, 8), *w = test_new(n, 8), *f = test_new(n, 8), error[3];
        random_field(n, 1, u);
        random_field(n, 2, v);
        for (int64_t i = 0; i < n; i++)
            u[i] *= 0.1;
        sp_elastic_force(&context, &body, u, f);
        double exact = 0;
        for (int64_t i = 0; i < n; i++)
            exact += f[i] * v[i];
        for (int s = 0; s < 3; s++) {
            double h = 0.04 / (1 << s), plus, minus;
            for (int64_t i = 0; i < n; i++)
                w[i] = u[i] + h * v[i];
            plus = sp_elastic_force(&context, &body, w, NULL);
            for (int64_t i = 0; i < n; i++)
                w[i] = u[i] - h * v[i];
            minus = sp_elastic_force(&context, &body, w, NULL);
            error[s] = fabs((plus - minus) / (2 * h) - exact);
        }
        NOTE("variant %d: error of the difference quotient %.2e of %.2e, slope %.3f %.3f", variant, error[2],
             fabs(exact), slope(error[0], error[1], 2), slope(error[1], error[2], 2));
        CHECK_NEAR(slope(error[0], error[1], 2), 2, 0.02); /* W is a quartic: the error is exactly quadratic in h */
        CHECK_NEAR(slope(error[1], error[2], 2), 2, 0.02);
    }
}

TEST(tangent_is_derivative_of_force)
{
    for (int variant = 0; variant < VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        OWNED(sp_sparse) K;
        make_variant(variant, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_fe_space_pattern(&context, &body));
        CHECK_OK(sp_fe_space_matrix(&context, &body, &K));
        int64_t n = 3 * mesh.vertex_count, m = body.dof_count;
        double *u = test_new(n, 8), *v = test_new(n, 8), *w = test_new(n, 8), *plus = test_new(n, 8),
               *minus = test_new(n, 8), *y = test_new(n, 8);
        double *x = test_new(m, 8), *Kx = test_new(m, 8), *f = test_new(n, 8), error[3], size = 0, matrix_error = 0;
        random_field(n, 1, u);
        for (int64_t i = 0; i < n; i++)
            u[i] *= 0.1;
        random_field(m, 2, x);
        sp_fe_space_scatter(&body, x, v);
        double energy = sp_elastic_tangent(&context, &body, u, 1, false, f, &K);
        CHECK_OK(sp_sparse_check(&context, &K, 1e-14));
        sp_sparse_times(&context, &K, 1, x, Kx);
        sp_elastic_tangent_times(&context, &body, u, v, y);
        for (int64_t i = 0; i < m; i++) {
            size = fmax(size, fabs(Kx[i]));
            matrix_error = fmax(matrix_error, fabs(Kx[i] - y[body.free[i]]));
        }
        CHECK(matrix_error <= 1e-13 * size, "matrix and matrix-free product differ by %g of %g", matrix_error, size);
        CHECK_NEAR(energy, sp_elastic_force(&context, &body, u, w), 1e-14 * energy);
        for (int64_t i = 0; i < n; i++)
            CHECK(fabs(w[i] - f[i]) <= 1e-12 * size, "forces differ at %lld", (long long)i);
        for (int s = 0; s < 3; s++) {
            double h = 0.04 / (1 << s);
            for (int64_t i = 0; i < n; i++)
                w[i] = u[i] + h * v[i];
            sp_elastic_force(&context, &body, w, plus);
            for (int64_t i = 0; i < n; i++)
                w[i] = u[i] - h * v[i];
            sp_elastic_force(&context, &body, w, minus);
            error[s] = 0;
            for (int64_t i = 0; i < n; i++)
                error[s] = fmax(error[s], fabs((plus[i] - minus[i]) / (2 * h) - y[i]));
        }
        CHECK_NEAR(slope(error[0], error[1], 2), 2, 0.01);
        CHECK_NEAR(slope(error[1], error[2], 2), 2, 0.01);
        NOTE("variant %d: slope %.4f %.4f", variant, slope(error[0], error[1], 2), slope(error[1], error[2], 2));
    }
}

/* f(u) = f₁ + f₂ + f₃ with f₂ homogeneous of degree 2: (f(hw) + f(−hw))/h² → ∂²f[w,w] with no error but rounding. */
TEST(second_derivative_matches_force)
{
    for (int variant = 0; variant < VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        make_variant(variant, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        int64_t n = 3 * mesh.vertex_count, pair[6] = {0, 0, 0, 1, 1, 0};
        double *U = test_new(2 * n, 8), *H = test_new(3 * n, 8), *w = test_new(n, 8), *f[4];
        random_field(2 * n, 3, U);
        CHECK_OK(sp_elastic_second(&context, &body, 2, U, 3, pair, H));
        double size = 0, wrong = 0, asymmetric = 0;
        for (int k = 0; k < 4; k++) {
            f[k] = calloc((size_t)n, 8);
            double a = k & 1 ? -0.01 : 0.01, b = k & 2 ? -0.01 : 0.01;
            for (int64_t i = 0; i < n; i++)
                w[i] = a * U[i] + b * U[n + i];
            sp_elastic_force(&context, &body, w, f[k]);
        }
        for (int64_t i = 0; i < n; i++) {
            double mixed =
                (f[0][i] - f[1][i] - f[2][i] + f[3][i]) / (4 * 1e-4); /* ∂²f[U₀,U₁]: cubic and linear parts cancel */
            size = fmax(size, fabs(H[n + i]));
            wrong = fmax(wrong, fabs(mixed - H[n + i]));
            asymmetric = fmax(asymmetric, fabs(H[n + i] - H[2 * n + i]));
        }
        CHECK(wrong <= 1e-10 * size, "variant %d: second derivative off by %g of %g", variant, wrong, size);
        CHECK(asymmetric <= 1e-13 * size, "variant %d: H not symmetric: %g", variant, asymmetric);
        for (int k = 0; k < 4; k++)
            free(f[k]);
    }
}

TEST(rigid_motions_cost_nothing)
{
    for (int variant = 0; variant < VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        make_variant(variant, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        int64_t n = 3 * mesh.vertex_count;
        double *u = test_new(n, 8), *f = test_new(n, 8), c = cos(2.0), s = sin(2.0);
        for (int64_t v = 0; v < mesh.vertex_count; v++) { /* 115° about an axis (1,1,1)/√3, and a shift */
            const double *x = mesh.vertices + 3 * v;
            double mean = (x[0] + x[1] + x[2]) / 3, k = s / sqrt(3.0);
            double y[3] = {x[0] * c + mean * (1 - c) + k * (x[2] - x[1]), x[1] * c + mean * (1 - c) + k * (x[0] - x[2]),
                           x[2] * c + mean * (1 - c) + k * (x[1] - x[0])};
            for (int i = 0; i < 3; i++)
                u[3 * v + i] = y[i] - x[i] + 3;
        }
        double energy = sp_elastic_force(&context, &body, u, f), largest = 0;
        for (int64_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(f[i]));
        CHECK(energy < 1e-9, "energy %g J of a body of 1 MPa and 1.5 m³", energy);
        CHECK(largest < 1e-7, "largest force %g N", largest);
    }
}

/* Energies at rest are those of products with the tangent, for every law with active fibres, on hexahedra and on
 * tetrahedra, for numbers of columns beside those of the lanes. */
TEST(energies_at_rest)
{
    enum { COLUMNS = 11 };
    for (int k = 0; k < 2 * TEST_LAWS; k++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        double energy[3][COLUMNS];
        make_box(3, 2, 2, 1, 0.1, &mesh);
        mesh.materials[0] = test_law(k / 2);
        if (k % 2) {
            OWNED(sp_mesh) box = mesh;
            CHECK_OK(sp_mesh_split(&context, &box, &mesh));
        }
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        mesh.materials[0].fibre_tension = mesh.materials[0].fibre ? 1.4 : 0;
        const int64_t n = 3 * mesh.vertex_count;
        double *U = test_new((COLUMNS + 2) * n, 8), *rest = U + COLUMNS * n, *y = rest + n;
        random_field(COLUMNS * n, 5, U);
        for (int t = 0; t < 3; t++) {
            sp_context own = context;
            own.threads = 1 << t;
            CHECK_OK(sp_elastic_rest_energies(&own, &body, COLUMNS, U, energy[t]));
            CHECK(!memcmp(energy[t], energy[0], sizeof *energy), "energies differ with %d threads", own.threads);
        }
        for (int c = 0; c < COLUMNS; c++) {
            double exact = 0;
            sp_elastic_tangent_times(&context, &body, rest, U + c * n, y);
            for (int64_t i = 0; i < n; i++)
                exact += U[c * n + i] * y[i];
            CHECK_NEAR(energy[0][c], exact, 1e-12 * exact);
        }
    }
}

/* The energy of a small rotation is of second order in the rounding, so that rigid columns are found. */
TEST(rotations_have_no_energy)
{
    for (int variant = 0; variant < VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        double energy[2];
        make_variant(variant, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        const int64_t n = 3 * mesh.vertex_count;
        double *U = test_new(2 * n, 8);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            for (int i = 0; i < 3; i++) {
                const double *x = mesh.vertices + 3 * v, axis[3] = {0.3, -0.7, 0.4};
                const int j = (i + 1) % 3, k = (i + 2) % 3;
                U[3 * v + i] = 5 + axis[j] * x[k] - axis[k] * x[j];
            }
        random_field(n, 6, U + n);
        CHECK_OK(sp_elastic_rest_energies(&context, &body, 2, U, energy));
        CHECK(fabs(energy[0]) < 1e-26 * energy[1], "a rotation has %g of %g", energy[0], energy[1]);
    }
}

/* A homogeneous deformation leaves inner vertices in equilibrium, on distorted elements too, and its energy is
 * V·½E:C:E. */
TEST(patch_test)
{
    const double D[9] = {0.1, 0.05, -0.02, 0.03, -0.07, 0.04, -0.01, 0.02, 0.06};
    for (int variant = 1; variant < 3; variant++) {
        OWNED(sp_mesh) mesh;
        sp_mesh box;
        make_box(3, 3, 3, 0.5, 0.15, &box);
        mesh = box;
        if (variant == 2)
            CHECK_OK(sp_mesh_split(&context, &box, &mesh));
        OWNED(sp_fe_space) body;
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        int64_t n = 3 * mesh.vertex_count;
        double *u = test_new(n, 8), *f = test_new(n, 8), E[6], C[36], expected = 0, volume = 0;
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    u[3 * v + i] += D[3 * i + j] * mesh.vertices[3 * v + j];
        double energy = sp_elastic_force(&context, &body, u, f), boundary = 0, inner = 0;
        int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};
        for (int k = 0; k < 6; k++) {
            int i = at[k][0], j = at[k][1];
            E[k] = D[3 * i + j] + D[3 * j + i];
            for (int m = 0; m < 3; m++)
                E[k] += D[3 * m + i] * D[3 * m + j];
            E[k] *= k < 3 ? 0.5 : 1;
        }
        CHECK_OK(sp_material_stiffness(&context, &mesh.materials[0], C));
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                expected += 0.5 * E[i] * C[6 * i + j] * E[j];
        for (int64_t e = 0; e < sp_mesh_element_count(&mesh); e++)
            volume += sp_mesh_element_volume(&mesh, e);
        for (int k = 0; k < 4; k++)
            for (int j = 0; j < 4; j++)
                for (int i = 0; i < 4; i++)
                    for (int c = 0; c < 3; c++) {
                        double size = fabs(f[3 * ((k * 4 + j) * 4 + i) + c]);
                        bool is_inner = i > 0 && i < 3 && j > 0 && j < 3 && k > 0 && k < 3;
                        inner = is_inner ? fmax(inner, size) : inner;
                        boundary = is_inner ? boundary : fmax(boundary, size);
                    }
        CHECK_NEAR(energy, expected * volume, variant == 1 ? 1e-12 * energy : 1e-12 * energy);
        CHECK(inner <= 1e-12 * boundary, "inner force %g of %g", inner, boundary);
        if (variant == 2)
            sp_mesh_free(&box);
    }
}

/* Free vertices: the mass is A ⊗ I₃ and products read A alone; a vertex fixed in one component ends that. Against the
 * sums by entries. */
TEST(thirds_of_a_mass_multiply_as_the_whole)
{
    for (int prescribed = 0; prescribed < 3; prescribed++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        OWNED(sp_sparse) M;
        make_box(4, 3, 2, 0.2, 0.1, &mesh);
        if (prescribed)
            CHECK_OK(sp_mesh_fix_list(&context, &mesh, 2, (int64_t[]){3, 17}, prescribed == 1 ? 7 : 2));
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_fe_space_mass_compressed(&context, &body, false, &M));
        CHECK((M.third_value != NULL) == (prescribed < 2), "held %d: thirds %s", prescribed,
              M.third_value ? "kept" : "not kept");
        enum { COUNT = 5 };
        int64_t n = body.dof_count;
        double *x = test_new(n * COUNT, 8), *y = test_new(n * COUNT, 8), worst = 0;
        random_field(n * COUNT, 4, x);
        sp_sparse_times(&context, &M, COUNT, x, y);
        for (int64_t c = 0; c < COUNT; c++)
            for (int64_t row = 0; row < n; row++) {
                double sum = 0, size = 0;
                for (int64_t k = M.start[row]; k < M.start[row + 1]; k++) {
                    sum += M.value[k] * x[c * n + M.index[k]];
                    size += fabs(M.value[k] * x[c * n + M.index[k]]);
                }
                worst = fmax(worst, fabs(sum - y[c * n + row]) / size);
            }
        CHECK(worst < 1e-15, "held %d: off by %g", prescribed, worst);
    }
}

/* The matrices over the pattern and without its zeros against the product by elements, where vertices are fixed in
 * none, some and all of their components. */
TEST(mass_of_held_vertices)
{
    for (int variant = 0; variant < VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        OWNED(sp_sparse) whole, M;
        make_variant(variant, &mesh);
        mesh.fixed_count = 0;
        for (int axes = 1; axes < 8; axes++)
            CHECK_OK(sp_mesh_fix_list(&context, &mesh, 1, (int64_t[]){2 * axes + 1}, axes));
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_fe_space_pattern(&context, &body));
        CHECK_OK(sp_fe_space_matrix(&context, &body, &whole));
        CHECK_OK(sp_fe_space_mass(&context, &body, false, &whole));
        CHECK_OK(sp_fe_space_mass_compressed(&context, &body, false, &M));
        const int64_t n = body.dof_count, all = 3 * mesh.vertex_count;
        double *x = test_new(n, 8), *y = test_new(n, 8), *z = test_new(n, 8), *u = test_new(all, 8),
               *f = test_new(all, 8), worst = 0, largest = 0;
        random_field(n, 6, x);
        sp_fe_space_scatter(&body, x, u);
        sp_fe_space_mass_times(&context, &body, 3, u, f);
        sp_sparse_times(&context, &whole, 1, x, y);
        sp_sparse_times(&context, &M, 1, x, z);
        for (int64_t i = 0; i < n; i++) {
            worst = fmax(worst, fmax(fabs(y[i] - f[body.free[i]]), fabs(z[i] - f[body.free[i]])));
            largest = fmax(largest, fabs(f[body.free[i]]));
        }
        CHECK(worst < 1e-14 * largest, "variant %d: off by %g of %g", variant, worst, largest);
        CHECK(M.start[n] < whole.start[n] / 2, "%lld of %lld entries", (long long)M.start[n],
              (long long)whole.start[n]);
    }
}

TEST(mass_sums_to_the_body)
{
    for (int variant = 0; variant < VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        OWNED(sp_sparse) M, L;
        make_variant(variant, &mesh);
        mesh.fixed_count = 0;
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_fe_space_pattern(&context, &body));
        CHECK_OK(sp_fe_space_matrix(&context, &body, &M));
        CHECK_OK(sp_fe_space_matrix(&context, &body, &L));
        CHECK_OK(sp_fe_space_mass(&context, &body, false, &M));
        CHECK_OK(sp_fe_space_mass(&context, &body, true, &L));
        double volume = 0, sum = 0, lumped = 0, row_error = 0;
        for (int64_t e = 0; e < sp_mesh_element_count(&mesh); e++)
            volume += sp_mesh_element_volume(&mesh, e);
        for (int64_t row = 0; row < M.order; row++) {
            double a = 0, b = 0;
            for (int64_t k = M.start[row]; k < M.start[row + 1]; k++) {
                a += M.value[k];
                b += L.value[k];
            }
            sum += a;
            lumped += b;
            row_error = fmax(row_error, fabs(a - b));
        }
        CHECK_NEAR(sum, 3 * 1000 * volume, 1e-9);
        CHECK_NEAR(lumped, 3 * 1000 * volume, 1e-9);
        CHECK(row_error < 1e-12, "row sums differ by %g", row_error);
    }
}

/* Products by nodes, of matrices with values of noise: vertices with one, two and three free components, and enough
 * rows that threads are used. */
TEST(nodes_multiply_as_rows)
{
    for (int large = 0; large < 2; large++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        OWNED(sp_sparse) K;
        make_box(large ? 17 : 4, large ? 17 : 3, large ? 17 : 2, 0.2, 0.1, &mesh);
        for (int axes = 1; axes < 8; axes++)
            CHECK_OK(sp_mesh_fix_list(&context, &mesh, 2, (int64_t[]){3 * axes, 3 * axes + 1}, axes));
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_fe_space_pattern(&context, &body));
        CHECK_OK(sp_fe_space_matrix(&context, &body, &K));
        const int64_t n = body.dof_count, entries = K.start[n];
        double *x = test_new(n, 8), *y[3], worst = 0;
        CHECK(K.nodes && K.nodes->row[K.nodes->count] == n, "the rows of the nodes");
        CHECK(!large || entries > 1 << 20, "only %lld entries", (long long)entries);
        random_field(entries, 4, K.value);
        random_field(n, 5, x);
        for (int t = 0; t < 3; t++) {
            sp_context own = context;
            own.threads = 1 << t;
            y[t] = calloc((size_t)n, 8);
            sp_sparse_times(&own, &K, 1, x, y[t]);
            CHECK(!memcmp(y[t], y[0], (size_t)n * 8), "another product with %d threads", own.threads);
        }
        for (int64_t row = 0; row < n; row++) {
            double sum = 0, size = 0;
            for (int64_t k = K.start[row]; k < K.start[row + 1]; k++) {
                sum += K.value[k] * x[K.index[k]];
                size += fabs(K.value[k] * x[K.index[k]]);
            }
            worst = fmax(worst, fabs(sum - y[0][row]) / size);
        }
        CHECK(worst < 2e-15, "off by %g", worst);
        for (int t = 0; t < 3; t++)
            free(y[t]);
    }
}

/* Conditions for threads: every element is in one batch, and parts of a color share no vertex. */
TEST(parts_of_a_color_are_apart)
{
    for (int variant = 0; variant <= VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        if (variant < VARIANTS)
            make_variant(variant, &mesh);
        else
            make_box(20, 17, 13, 0.1, 0, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        const int64_t elements = sp_mesh_element_count(&mesh);
        int *seen = test_new(elements, sizeof *seen), missing = 0, shared = 0;
        int64_t *owner = test_new(mesh.vertex_count, sizeof *owner), largest = 0;
        for (int64_t color = 0; color < body.color_count; color++) {
            for (int64_t v = 0; v < mesh.vertex_count; v++)
                owner[v] = -1;
            for (int64_t part = body.color_parts[color]; part < body.color_parts[color + 1]; part++)
                for (int64_t b = body.part_start[part]; b < body.part_start[part + 1]; b++)
                    for (int l = 0; l < body.batches[b].count; l++) {
                        int nodes;
                        const int64_t e = body.batches[b].element[l], *node = sp_mesh_nodes(&mesh, e, &nodes);
                        seen[e]++;
                        for (int a = 0; a < nodes; a++) {
                            shared += owner[node[a]] >= 0 && owner[node[a]] != part;
                            owner[node[a]] = part;
                        }
                    }
            largest = body.color_parts[color + 1] - body.color_parts[color] > largest
                          ? body.color_parts[color + 1] - body.color_parts[color]
                          : largest;
        }
        for (int64_t e = 0; e < elements; e++)
            missing += seen[e] != 1;
        CHECK(missing == 0 && shared == 0, "variant %d: %d elements missing or twice, %d vertices shared", variant,
              missing, shared);
        CHECK(body.part_start[body.color_parts[body.color_count]] == body.batch_count, "batches behind the last part");
        CHECK(variant < VARIANTS || largest >= 4, "at most %lld parts at a time", (long long)largest);
    }
}

TEST(same_bytes_for_any_threads)
{
    SKIP_UNDER_SANITIZERS("bytes are no matter of sanitizers");
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    make_box(9, 7, 5, 0.1, 0.1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_fe_space_pattern(&context, &body));
    int64_t n = 3 * mesh.vertex_count;
    double *u = test_new(n, 8), *f[3], energy[3];
    sp_sparse K[3];
    random_field(n, 4, u);
    for (int64_t i = 0; i < n; i++)
        u[i] *= 0.02;
    for (int t = 0; t < 3; t++) {
        sp_context own = context;
        own.threads = 1 << t;
        f[t] = calloc((size_t)n, 8);
        CHECK_OK(sp_fe_space_matrix(&own, &body, &K[t]));
        energy[t] = sp_elastic_tangent(&own, &body, u, 1, false, f[t], &K[t]);
        CHECK(energy[t] == energy[0], "energy differs by %g with %d threads", energy[t] - energy[0], own.threads);
        CHECK(!memcmp(f[t], f[0], (size_t)n * 8), "forces differ with %d threads", own.threads);
        CHECK(!memcmp(K[t].value, K[0].value, (size_t)K[0].start[K[0].order] * 8), "stiffness differs with %d threads",
              own.threads);
    }
    for (int t = 0; t < 3; t++) {
        free(f[t]);
        sp_sparse_free(&K[t]);
    }
}

/* One trilinear hexahedron, neo-Hookean at rest = linear: the printed stiffness of an independent code (2×2×2 points).
 */
TEST(stiffness_of_one_hexahedron)
{
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    int64_t count;
    char *text = read_whole(test_meshes(), "reference/neohookean-hex8-2.csv", &count);
    CHECK(text, "cannot read the reference");
    if (!text)
        return;
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_sparse) K;
    make_box(1, 1, 1, 1, 0, &mesh);
    mesh.quadrature = 2;
    mesh.materials[0].young = 7e6;
    /* the file's corners are in the order of binary counting; ours go around */
    const double X[8][3] = {{0, 0, 0},    {1.2, 0, -0.1}, {-0.05, 1.1, 0},    {1, 0.9, 0.1},
                            {0, 0, 1.03}, {1.2, 0, 1.1},  {-0.05, 1.01, 0.9}, {1, 0.95, 0.81}};
    const int64_t corner[8] = {0, 1, 3, 2, 4, 5, 7, 6};
    memcpy(mesh.vertices, X, sizeof X);
    memcpy(mesh.block[SP_HEX8].node, corner, sizeof corner);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_fe_space_pattern(&context, &body));
    CHECK_OK(sp_fe_space_matrix(&context, &body, &K));
    double rest[24] = {0}, worst = 0, largest = 0;
    sp_elastic_tangent(&context, &body, rest, 1, false, NULL, &K);
    /* lines "row,column,value", numbered from 1 */
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        int i, j;
        double expected;
        CHECK(sscanf(line, "%d,%d,%lf", &i, &j, &expected) == 3, "cannot read line %s", line);
        worst = fmax(worst, fabs(expected - K.value[K.start[i - 1] + j - 1]));
        largest = fmax(largest, fabs(expected));
    }
    CHECK(worst <= 2.4e-5 * largest, "stiffness off by %g of %g", worst, largest);
    NOTE("largest difference %.3g of %.3g", worst, largest);
    free(text);
}

BEFORE_TESTS()
{
    context.threads = 2;
}
