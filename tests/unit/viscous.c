/* Damping by strain rate, S_D = φ tr(Ė) I + 2ψ Ė: the force of the body against its definition, its polynomials against
 * the body, and motions by the integrators. */
#include "assembly/viscous.h"
#include "assembly/elastic.h"
#include "assembly/element.h"
#include "fixture.h"
#include "integrate/integrate.h"
#include "model/models.h"
#include "reduced/viscous.h"

#include <lapacke.h>

OWNER(sp_integrator)

enum { R = BENDING_FIELDS };

static const sp_viscosity two_viscosities[2] = {{70, 300}, {-20, 45}};

/* The displacement of a large deformation: a rotation, shear and random noise. */
static void deform(const sp_mesh *mesh, double amount, uint64_t stream, double *u)
{
    random_field(3 * mesh->vertex_count, stream, u);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * v;
        double *to = u + 3 * v, c = cos(amount), s = sin(amount);
        to[0] = 0.05 * to[0] + (c - 1) * x[0] - s * x[1] + 0.2 * amount * x[2];
        to[1] = 0.05 * to[1] + s * x[0] + (c - 1) * x[1];
        to[2] = 0.05 * to[2] + 0.1 * amount * x[0];
    }
}

static double gap(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum) / norm2(n, b);
}

/* ---- the body ---- */

/* F = I + Σ u_a ∇N_aᵀ. */
static void gradient_of(int corners, const int64_t *corner, const double gradient[8][3], const double *u, double scale,
                        const double *v, double F[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            F[i][j] = i == j;
            for (int a = 0; a < corners; a++)
                F[i][j] += (u[3 * corner[a] + i] + scale * v[3 * corner[a] + i]) * gradient[a][j];
        }
}

/* The textbook's: f_a = ∫ F S_D ∇N_a dV, with Ė by central differences of E(u + s v), which are exact for the quadratic
 * E. */
static void force_by_definition(const sp_mesh *mesh, const sp_viscosity *viscosity, const double *u, const double *v,
                                double *f)
{
    memset(f, 0, (size_t)(3 * mesh->vertex_count) * 8);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        sp_viscosity of = viscosity[mesh->region[e]];
        double X[24];
        sp_quadrature quadrature;
        sp_reference reference;
        for (int a = 0; a < nodes; a++)
            memcpy(X + 3 * a, mesh->vertices + 3 * node[a], 24);
        const int type = nodes == 8 ? SP_HEX8 : SP_TET4;
        sp_reference_at(type, sp_element_stiffness_rule(type, mesh->quadrature), &reference);
        sp_element_quadrature(&reference, X, &quadrature);
        for (int g = 0; g < quadrature.count; g++) {
            double F[3][3], A[2][3][3], rate[3][3], S[3][3], trace = 0;
            gradient_of(nodes, node, quadrature.gradient[g], u, 0, v, F);
            for (int side = 0; side < 2; side++)
                gradient_of(nodes, node, quadrature.gradient[g], u, side ? -0.5 : 0.5, v, A[side]);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    rate[i][j] = 0;
                    for (int k = 0; k < 3; k++)
                        rate[i][j] += 0.5 * (A[0][k][i] * A[0][k][j] - A[1][k][i] * A[1][k][j]);
                }
            for (int i = 0; i < 3; i++)
                trace += rate[i][i];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    S[i][j] = (i == j) * of.phi * trace + 2 * of.psi * rate[i][j];
            for (int a = 0; a < nodes; a++)
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        for (int k = 0; k < 3; k++)
                            f[3 * node[a] + i] +=
                                quadrature.weight[g] * F[i][j] * S[j][k] * quadrature.gradient[g][a][k];
        }
    }
}

TEST(force_is_that_of_the_stress)
{
    for (int variant = 0; variant < TEST_VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        OWNED(sp_viscous) viscous;
        make_variant(variant, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_viscous_new(&context, &body, two_viscosities, &viscous));
        int64_t rows = 3 * mesh.vertex_count;
        double *u = test_new(rows, 8), *v = test_new(rows, 8), *y = test_new(rows, 8), *f = test_new(rows, 8);
        deform(&mesh, 0.7, 3, u);
        random_field(rows, 4, v);
        sp_viscous_times(&context, &viscous, u, v, y);
        force_by_definition(&mesh, two_viscosities, u, v, f);
        NOTE("variant %d: %.1e", variant, gap(rows, y, f));
        CHECK(gap(rows, y, f) <= 1e-12, "off by %g", gap(rows, y, f));
        CHECK(dot_product(rows, v, y) > 0, "power %g W", dot_product(rows, v, y));
    }
}

/* A deformed body in rigid motion, v = ω × x + c, has no strain rate. */
TEST(rigid_motions_cost_nothing)
{
    for (int variant = 0; variant < TEST_VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        OWNED(sp_viscous) viscous;
        make_variant(variant, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_viscous_new(&context, &body, two_viscosities, &viscous));
        int64_t rows = 3 * mesh.vertex_count;
        double *u = test_new(rows, 8), *v = test_new(rows, 8), *y = test_new(rows, 8), omega[3] = {0.3, -1, 0.7}, size;
        deform(&mesh, 1.1, 5, u);
        random_field(rows, 6, v);
        sp_viscous_times(&context, &viscous, u, v, y);
        size = norm2(rows, y) / norm2(rows, v);
        for (int64_t i = 0; i < mesh.vertex_count; i++)
            for (int c = 0; c < 3; c++) {
                int a = (c + 1) % 3, b = (c + 2) % 3;
                v[3 * i + c] = omega[a] * (mesh.vertices[3 * i + b] + u[3 * i + b]) -
                               omega[b] * (mesh.vertices[3 * i + a] + u[3 * i + a]) + 2;
            }
        sp_viscous_times(&context, &viscous, u, v, y);
        CHECK(norm2(rows, y) <= 1e-13 * size * norm2(rows, v), "variant %d: %g N of %g", variant, norm2(rows, y),
              size * norm2(rows, v));
    }
}

/* One cube of edge a, stretched along x by s at the rate ṡ with its sides fixed: Ė_xx = s ṡ, so that its end pulls with
 * a²(φ + 2ψ) s² ṡ (F S N with F_xx = s) and its sides push with a² φ s ṡ each. */
TEST(one_cube_drawn_out)
{
    const double a = 0.4, s = 1.3, rate = 0.7, phi = 90, psi = 25;
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_viscous) viscous;
    make_box(1, 1, 1, a, 0, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_viscous_new(&context, &body, &(sp_viscosity){phi, psi}, &viscous));
    double u[24] = {0}, v[24] = {0}, y[24];
    for (int i = 0; i < 8; i++) {
        u[3 * i] = (s - 1) * mesh.vertices[3 * i];
        v[3 * i] = rate * mesh.vertices[3 * i];
    }
    sp_viscous_times(&context, &viscous, u, v, y);
    for (int i = 0; i < 8; i++)
        for (int c = 0; c < 3; c++) {
            double side = mesh.vertices[3 * i + c] > 0 ? 0.25 : -0.25; /* a quarter of the face for each corner */
            CHECK_NEAR(y[3 * i + c], side * a * a * (c == 0 ? (phi + 2 * psi) * s * s * rate : phi * s * rate), 1e-12);
        }
}

/* The sparse matrix, with vertices fixed in part, is that of the products. */
TEST(matrix_gives_the_products)
{
    for (int variant = 0; variant < TEST_VARIANTS; variant++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        OWNED(sp_viscous) viscous;
        OWNED(sp_sparse) D;
        make_variant(variant, &mesh);
        CHECK_OK(
            sp_mesh_fix_half_space(&context, &mesh, (double[]){1, 0, 0}, 0.1, 5, &(int64_t){0})); /* x and z only */
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_viscous_new(&context, &body, two_viscosities, &viscous));
        CHECK_OK(sp_fe_space_pattern(&context, &body));
        CHECK_OK(sp_fe_space_matrix(&context, &body, &D));
        int64_t rows = 3 * mesh.vertex_count, n = body.dof_count;
        double *u = test_new(rows, 8), *v = test_new(rows, 8), *y = test_new(rows, 8), *free_v = test_new(n, 8),
               *of_D = test_new(n, 8), *of_times = test_new(n, 8);
        deform(&mesh, 0.5, 7, u);
        random_field(n, 8, free_v);
        sp_fe_space_scatter(&body, free_v, v);
        sp_viscous_times(&context, &viscous, u, v, y);
        sp_fe_space_gather(&body, y, of_times);
        sp_viscous_matrix(&context, &viscous, u, 2.5, &D);
        sp_viscous_matrix(&context, &viscous, u, -1.5, &D);
        sp_sparse_times(&context, &D, 1, free_v, of_D);
        CHECK(gap(n, of_D, of_times) <= 1e-13, "variant %d: off by %g", variant, gap(n, of_D, of_times));
    }
}

/* ---- in reduced coordinates ---- */

typedef struct reduced {
    sp_mesh mesh;
    sp_fe_space body;
    int64_t rows;
    double *U;
    sp_polynomials polynomials;
    sp_viscous viscous;
    sp_reduced_viscosity of_parts, of_body;
} reduced;

static void make_reduced(int variant, int rank, reduced *m)
{
    sp_polynomial_report report;
    make_variant(variant, &m->mesh);
    CHECK_OK(sp_fe_space_new(&context, &m->mesh, &m->body));
    CHECK_OK(sp_fe_space_pattern(&context, &m->body));
    m->rows = 3 * m->mesh.vertex_count;
    m->U = test_new(m->rows * R, 8);
    random_field(m->rows * R, 21, m->U);
    CHECK_OK(sp_polynomials_new(&context, &m->body, R, m->U, &(sp_polynomial_parameters){.by_constant = true},
                                &m->polynomials, &report));
    CHECK_OK(sp_viscous_new(&context, &m->body, two_viscosities, &m->viscous));
    CHECK_OK(sp_polynomial_viscosity(&context, &m->polynomials, rank, m->mesh.material_count, m->mesh.materials,
                                     two_viscosities, &m->of_parts));
    CHECK_OK(sp_galerkin_viscosity(&context, &m->viscous, rank, m->U, &m->of_body));
}

static void reduced_free(reduced *m)
{
    m->of_parts.destroy(m->of_parts.self);
    m->of_body.destroy(m->of_body.self);
    sp_viscous_free(&m->viscous);
    sp_polynomials_free(&m->polynomials);
    sp_fe_space_free(&m->body);
    sp_mesh_free(&m->mesh);
}

static void both_triangles(int r, double *D)
{
    for (int j = 0; j < r; j++)
        for (int i = 0; i < j; i++)
            D[j * r + i] = D[i * r + j];
}

/* D(q)v = Uᵀ f(Uq, Uv) by the definition; the matrix and the products of either kind agree; no eigenvalue is below 0.
 */
TEST(polynomials_are_the_projected_force)
{
    for (int variant = 0; variant < TEST_VARIANTS; variant++)
        for (int rank = R; rank > 4; rank -= 3) {
            OWNED(reduced) m;
            make_reduced(variant, rank, &m);
            double *u = test_new(m.rows, 8), *v = test_new(m.rows, 8), *f = test_new(m.rows, 8), q[R] = {0}, w[R] = {0},
                   y[2][R], D[2][R * R], value[R], worst = 0, least = INFINITY;
            for (uint64_t trial = 0; trial < 3; trial++) {
                random_field(rank, 30 + trial, q);
                random_field(rank, 40 + trial, w);
                for (int64_t i = 0; i < m.rows; i++) {
                    u[i] = v[i] = 0;
                    for (int j = 0; j < rank; j++) {
                        u[i] += m.U[j * m.rows + i] * (q[j] *= i == 0 ? 0.3 : 1);
                        v[i] += m.U[j * m.rows + i] * w[j];
                    }
                }
                force_by_definition(&m.mesh, two_viscosities, u, v, f);
                m.of_parts.matrix(m.of_parts.self, q, D[0]);
                m.of_body.matrix(m.of_body.self, q, D[1]);
                m.of_parts.times(m.of_parts.self, q, w, y[0]);
                m.of_body.times(m.of_body.self, q, w, y[1]);
                for (int k = 0; k < 2; k++) {
                    both_triangles(rank, D[k]);
                    for (int j = 0; j < rank; j++) {
                        double sum = 0, size = 0, of_matrix = dot_product(rank, D[k] + j * rank, w);
                        for (int64_t i = 0; i < m.rows; i++) {
                            sum += m.U[j * m.rows + i] * f[i];
                            size += fabs(m.U[j * m.rows + i] * f[i]);
                        }
                        worst = fmax(worst, fmax(fabs(sum - y[k][j]), fabs(sum - of_matrix)) / size);
                    }
                    CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', rank, D[k], rank, value) == 0, "dsyev");
                    least = fmin(least, value[0] / value[rank - 1]);
                }
            }
            NOTE("variant %d, %d coordinates: %.1e of the sums of absolute terms, least eigenvalue %.1e of the largest",
                 variant, rank, worst, least);
            CHECK(worst <= 1e-12, "off by %g", worst);
            CHECK(least > -1e-12, "least eigenvalue %g of the largest", least);
        }
}

/* With a basis of all affine motions the polynomials too know that a rotation of the deformed body, q̇ = ω × x, costs
 * nothing: the Gram matrix may not be symmetrized for that. */
TEST(reduced_rotations_cost_nothing)
{
    enum { AFFINE = 12 };
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_polynomials) polynomials;
    sp_polynomial_report report;
    sp_reduced_viscosity viscosity;
    make_variant(1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    int64_t rows = 3 * mesh.vertex_count;
    double *U = test_new(rows * AFFINE, 8), q[AFFINE], v[AFFINE] = {0}, y[AFFINE], omega[3] = {0.5, 0.2, -0.9}, size;
    for (int64_t i = 0; i < mesh.vertex_count; i++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 4; k++) /* column 4c + k moves along c by x_k, or by 1 */
                U[(4 * c + k) * rows + 3 * i + c] = k < 3 ? mesh.vertices[3 * i + k] : 1;
    CHECK_OK(sp_polynomials_new(&context, &body, AFFINE, U, &(sp_polynomial_parameters){.by_constant = true},
                                &polynomials, &report));
    CHECK_OK(sp_polynomial_viscosity(&context, &polynomials, AFFINE, 1, mesh.materials, two_viscosities, &viscosity));
    random_field(AFFINE, 50, q); /* x' = x + A x + t */
    random_field(AFFINE, 51, v);
    viscosity.times(viscosity.self, q, v, y);
    size = norm2(AFFINE, y) / norm2(AFFINE, v);
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 4; k++) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            v[4 * c + k] = omega[a] * (q[4 * b + k] + (k == b)) - omega[b] * (q[4 * a + k] + (k == a));
        }
    viscosity.times(viscosity.self, q, v, y);
    CHECK(norm2(AFFINE, y) <= 1e-13 * size * norm2(AFFINE, v), "%g of %g", norm2(AFFINE, y), size * norm2(AFFINE, v));
    viscosity.destroy(viscosity.self);
}

TEST(parts_that_are_missing)
{
    OWNED(reduced) m;
    OWNED(sp_polynomials) whole;
    sp_polynomial_report report;
    sp_reduced_viscosity none;
    make_reduced(3, R, &m);
    CHECK_OK(
        sp_polynomials_new(&context, &m.body, R, m.U, &(sp_polynomial_parameters){.by_group = true}, &whole, &report));
    CHECK(sp_polynomial_viscosity(&context, &whole, R, 2, m.mesh.materials, two_viscosities, &none) == SP_INPUT &&
              strstr(context.message, "--by-constant"),
          "%s", context.message);
    m.polynomials.symmetrized = true;
    CHECK(sp_polynomial_viscosity(&context, &m.polynomials, R, 2, m.mesh.materials, two_viscosities, &none) ==
                  SP_INPUT &&
              strstr(context.message, "made from a force"),
          "%s", context.message);
    const sp_viscosity bad[] = {{1, -1}, {-1, 1}, {NAN, 1}, {1, INFINITY}}, good[] = {{0, 0}, {-2, 3}, {5, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(sp_viscosity_check(&context, bad[i]) == SP_USAGE, "%g, %g passed", bad[i].phi, bad[i].psi);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK_OK(sp_viscosity_check(&context, good[i]));
}

/* ---- motions ---- */

static void no_force(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    memset(f, 0, (size_t)((const sp_system *)self)->n * 8);
}

static sp_external_loads nothing(const sp_system *system)
{
    return (sp_external_loads){.self = (void *)system, .mean = no_force};
}

/* A cantilever with smooth fields that vanish at its end, its reduced system with this damping. */
typedef struct model {
    sp_mesh mesh;
    sp_fe_space body;
    int64_t rows;
    double *U;
    sp_polynomials polynomials;
    sp_system system;
} model;

static void make_model(sp_viscosity viscosity, model *m)
{
    sp_polynomial_report report;
    sp_reduced_viscosity reduced_viscosity;
    make_box(8, 2, 2, 0.1, 0, &m->mesh);
    fix_end(&m->mesh, 0.01);
    CHECK_OK(sp_fe_space_new(&context, &m->mesh, &m->body));
    m->rows = 3 * m->mesh.vertex_count;
    m->U = test_new(m->rows * R, 8);
    bending_fields(&m->mesh, m->U);
    CHECK_OK(sp_polynomials_new(&context, &m->body, R, m->U, &(sp_polynomial_parameters){.by_constant = true},
                                &m->polynomials, &report));
    CHECK_OK(sp_polynomial_system_new(&context, &m->polynomials, R, m->U, m->rows, m->mesh.vertices, &m->system));
    CHECK_OK(
        sp_polynomial_viscosity(&context, &m->polynomials, R, 1, m->mesh.materials, &viscosity, &reduced_viscosity));
    sp_reduced_system_damp(&m->system, &reduced_viscosity);
}

static void model_free(model *m)
{
    sp_reduced_system_free(&m->system);
    sp_polynomials_free(&m->polynomials);
    sp_fe_space_free(&m->body);
    sp_mesh_free(&m->mesh);
}

static const double start_velocity[R] = {6, 2, 0, 0, 0, -3, 0, 0};

/* kinetic + strain + dissipated is constant with the energy-conserving step, and nearly so with the others, better with
 * smaller steps */
TEST(energy_is_balanced)
{
    OWNED(model) m;
    make_model((sp_viscosity){1500, 3000}, &m);
    sp_external_loads forcing = nothing(&m.system);
    for (int kind = SP_NEWMARK; kind <= SP_CENTRAL; kind++) {
        double worst[2] = {0}, lost = 0;
        for (int half = 0; half < 2; half++) {
            OWNED_POINTER(sp_integrator) *it;
            double h = kind == SP_ENERGY ? 2e-3 : 2e-4, energy[SP_WORK_COUNT], first, dissipated = 0;
            h /= 1 + half;
            sp_integrator_parameters parameters = {
                .kind = (enum sp_integrator_kind)kind, .step = h, .beta = 0.25, .gamma = 0.5};
            CHECK_OK(sp_integrator_new(&context, &m.system, &forcing, &parameters, NULL, start_velocity, &it));
            sp_integrator_energies(it, energy);
            first = energy[SP_WORK_KINETIC];
            for (int64_t step = 0; step < llround(0.2 / h); step++) {
                CHECK_OK(sp_integrator_step(it));
                sp_integrator_energies(it, energy);
                worst[half] = fmax(worst[half], fabs(energy[SP_WORK_KINETIC] + energy[SP_WORK_STORED] +
                                                     energy[SP_WORK_DISSIPATED] - first) /
                                                    first);
                CHECK(energy[SP_WORK_DISSIPATED] >= dissipated, "damping gave energy back");
                dissipated = energy[SP_WORK_DISSIPATED];
            }
            lost = dissipated / first;
        }
        NOTE("integrator %d: balance within %.1e, at half the step %.1e; %.0f %% dissipated", kind, worst[0], worst[1],
             100 * lost);
        CHECK(lost > 0.2 && lost < 1, "%g of the energy was dissipated", lost);
        if (kind == SP_ENERGY)
            CHECK(worst[0] <= 1e-11 && worst[1] <= 1e-11, "balance off by %g", worst[0]);
        else
            CHECK(worst[0] < 0.01 && worst[1] < 0.6 * worst[0], "balance off by %g and %g", worst[0], worst[1]);
    }
}

/* Newmark's and the energy-conserving step are still of second order, and Newton's method needs few iterations. */
TEST(second_order_in_time)
{
    OWNED(model) m;
    make_model((sp_viscosity){400, 900}, &m);
    sp_external_loads forcing = nothing(&m.system);
    for (int kind = SP_NEWMARK; kind <= SP_ENERGY; kind++) {
        double q[4][R], error[3];
        for (int s = 0; s < 4; s++) {
            OWNED_POINTER(sp_integrator) *it;
            double h = 2e-4 / (1 << s);
            sp_integrator_parameters parameters = {
                .kind = (enum sp_integrator_kind)kind, .step = h, .beta = 0.25, .gamma = 0.5};
            CHECK_OK(sp_integrator_new(&context, &m.system, &forcing, &parameters, NULL, start_velocity, &it));
            for (int64_t step = 0; step < llround(0.05 / h); step++)
                CHECK_OK(sp_integrator_step(it));
            memcpy(q[s], sp_integrator_q(it), sizeof q[s]);
            double mean =
                (double)sp_integrator_reported(it)->newton_iterations / (double)sp_integrator_reported(it)->steps;
            CHECK(mean <= 4, "%g iterations a step", mean);
        }
        for (int s = 0; s < 3; s++) {
            error[s] = 0;
            for (int j = 0; j < R; j++)
                error[s] = fmax(error[s], fabs(q[s][j] - q[s + 1][j]));
        }
        CHECK_ORDERS(error, 2, 0.1, 0.1, "integrator %d", kind);
    }
}

/* At rest D for φ = βλ and ψ = βμ is βK: linear bodies move as with Rayleigh's stiffness damping, and the limit of
 * central differences is the same. */
TEST(linear_bodies_are_damped_as_by_rayleigh)
{
    const double beta = 2e-4;
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_viscous) viscous;
    sp_system damped[2];
    double lambda, mu;
    make_box(6, 2, 2, 0.1, 0.1, &mesh);
    fix_end(&mesh, 0.02);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    sp_lame(mesh.materials[0].young, mesh.materials[0].poisson, &lambda, &mu);
    CHECK_OK(sp_viscous_new(&context, &body, &(sp_viscosity){beta * lambda, beta * mu}, &viscous));
    for (int k = 0; k < 2; k++)
        CHECK_OK(sp_full_system_new(&context, &body, true, false, NULL, &damped[k]));
    CHECK_OK(sp_full_system_damp(&damped[1], &viscous));
    int64_t n = body.dof_count;
    double *v = test_new(n, 8), *q[2] = {calloc((size_t)n, 8), calloc((size_t)n, 8)}, energy[2][SP_WORK_COUNT],
           limit[2];
    random_field(n, 60, v);
    for (int kind = SP_NEWMARK; kind <= SP_CENTRAL; kind++) {
        for (int k = 0; k < 2; k++) {
            OWNED_POINTER(sp_integrator) *it;
            sp_external_loads forcing = nothing(&damped[k]);
            sp_integrator_parameters parameters = {.kind = (enum sp_integrator_kind)kind,
                                                   .step = kind == SP_CENTRAL ? 1e-5 : 1e-3,
                                                   .beta = 0.25,
                                                   .gamma = 0.5,
                                                   .damping_stiffness = k ? 0 : beta};
            CHECK_OK(sp_integrator_new(&context, &damped[k], &forcing, &parameters, NULL, v, &it));
            for (int step = 0; step < 40; step++)
                CHECK_OK(sp_integrator_step(it));
            memcpy(q[k], sp_integrator_q(it), (size_t)n * 8);
            sp_integrator_energies(it, energy[k]);
            limit[k] = sp_integrator_reported(it)->stability_limit;
        }
        CHECK(gap(n, q[1], q[0]) <= 1e-9, "integrator %d: off by %g", kind, gap(n, q[1], q[0]));
        CHECK_NEAR(energy[1][SP_WORK_DISSIPATED], energy[0][SP_WORK_DISSIPATED], 1e-9 * energy[0][SP_WORK_DISSIPATED]);
        CHECK(energy[0][SP_WORK_DISSIPATED] > 0, "nothing was dissipated");
        if (kind == SP_CENTRAL)
            CHECK_NEAR(limit[1], limit[0], 1e-2 * limit[0]); /* estimates of an eigenvalue from two starts */
    }
    free(q[0]), free(q[1]);
    for (int k = 0; k < 2; k++)
        sp_full_system_free(&damped[k]);
}

/* With a basis of all free degrees of freedom the reduced motion is that of the body: the polynomials' D against the
 * sparse one, step by step. */
TEST(full_model_equals_its_own_reduction)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_polynomials) polynomials;
    sp_polynomial_report report;
    OWNED(sp_viscous) viscous;
    sp_reduced_viscosity viscosity;
    sp_system systems[2];
    make_box(2, 1, 1, 0.2, 0.1, &mesh);
    fix_end(&mesh, 0.05);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    int64_t n = body.dof_count, rows = 3 * mesh.vertex_count;
    double *U = test_new(rows * n, 8), *v = test_new(n, 8), *q[2] = {calloc((size_t)n, 8), calloc((size_t)n, 8)};
    for (int64_t j = 0; j < n; j++)
        U[j * rows + body.free[j]] = 1;
    CHECK_OK(sp_polynomials_new(&context, &body, n, U, &(sp_polynomial_parameters){.by_constant = true}, &polynomials,
                                &report));
    CHECK_OK(sp_viscous_new(&context, &body, two_viscosities, &viscous));
    CHECK_OK(sp_full_system_new(&context, &body, false, false, NULL, &systems[0]));
    CHECK_OK(sp_full_system_damp(&systems[0], &viscous));
    CHECK_OK(sp_polynomial_system_new(&context, &polynomials, n, U, rows, mesh.vertices, &systems[1]));
    CHECK_OK(sp_polynomial_viscosity(&context, &polynomials, n, 1, mesh.materials, two_viscosities, &viscosity));
    sp_reduced_system_damp(&systems[1], &viscosity);
    random_field(n, 61, v);
    for (int kind = SP_NEWMARK; kind <= SP_CENTRAL; kind++)
        for (int semi_implicit = 0; semi_implicit <= (kind == SP_NEWMARK); semi_implicit++) {
            for (int k = 0; k < 2; k++) {
                OWNED_POINTER(sp_integrator) *it;
                sp_external_loads forcing = nothing(&systems[k]);
                sp_integrator_parameters parameters = {.kind = (enum sp_integrator_kind)kind,
                                                       .step = kind == SP_CENTRAL ? 1e-4 : 2e-3,
                                                       .beta = 0.25,
                                                       .gamma = 0.5,
                                                       .semi_implicit = semi_implicit};
                CHECK_OK(sp_integrator_new(&context, &systems[k], &forcing, &parameters, NULL, v, &it));
                for (int step = 0; step < 30; step++)
                    CHECK_OK(sp_integrator_step(it));
                memcpy(q[k], sp_integrator_q(it), (size_t)n * 8);
            }
            CHECK(gap(n, q[1], q[0]) <= 1e-8, "integrator %d: off by %g", kind, gap(n, q[1], q[0]));
        }
    free(q[0]), free(q[1]);
    for (int k = 0; k < 2; k++)
        (k ? sp_reduced_system_free : sp_full_system_free)(&systems[k]);
}

/* Many batches for each thread, with 1, 2 and 4 threads. */
TEST(same_bytes_for_any_threads)
{
    SKIP_UNDER_SANITIZERS("bytes are no matter of sanitizers");
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_viscous) viscous;
    make_box(32, 32, 20, 0.1, 0.1, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK(body.batch_count > 2048, "%lld batches", (long long)body.batch_count);
    CHECK_OK(sp_viscous_new(&context, &body, two_viscosities, &viscous));
    int64_t rows = 3 * mesh.vertex_count;
    double *u = test_new(rows, 8), *v = test_new(rows, 8), *first = test_new(rows, 8), *y = test_new(rows, 8);
    deform(&mesh, 0.3, 9, u);
    random_field(rows, 10, v);
    for (int threads = 1; threads <= 4; threads *= 2) {
        context.threads = threads;
        sp_viscous_times(&context, &viscous, u, v, threads == 1 ? first : y);
        CHECK(threads == 1 || !memcmp(first, y, (size_t)rows * 8), "bytes differ with %d threads", threads);
    }
    context.threads = 2;
}

BEFORE_TESTS()
{
    context.threads = 2;
}
