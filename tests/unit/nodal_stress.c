/* Stress at nodes: exact for homogeneous deformations of every element type at finite strain, and for stresses that are
 * linear in space in elements of second order. */
#include "assembly/nodal_stress.h"
#include "material/stress.h"
#include "test.h"
#include "typed_mesh.h"

TEST(homogeneous)
{
    static const double H[3][3] = {{0.1, 0.05, -0.02}, {0.03, -0.08, 0.04}, {0, 0.06, 0.07}};
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        make_typed(t, 2, 2, 1, 0.5, 0.05, true, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        double *u = sp_pool_new(&mesh.pool, 3 * mesh.vertex_count, sizeof *u),
               *stress = sp_pool_new(&mesh.pool, 6 * mesh.vertex_count, sizeof *stress);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    u[3 * v + i] += H[i][j] * mesh.vertices[3 * v + j];
        CHECK_OK(sp_elastic_nodal_stress(&context, &body, u, stress));
        /* σ = F (λ tr E I + 2μ E) Fᵀ / J */
        double lambda, mu, F[3][3], E[3][3], S[3][3], due[6] = {0}, trace = 0;
        static const int voigt[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};
        sp_lame(mesh.materials[0].young, mesh.materials[0].poisson, &lambda, &mu);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                F[i][j] = H[i][j] + (i == j);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                E[i][j] = -0.5 * (i == j);
                for (int k = 0; k < 3; k++)
                    E[i][j] += 0.5 * F[k][i] * F[k][j];
                trace += i == j ? E[i][j] : 0;
            }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                S[i][j] = lambda * trace * (i == j) + 2 * mu * E[i][j];
        const double J = F[0][0] * (F[1][1] * F[2][2] - F[1][2] * F[2][1]) -
                         F[0][1] * (F[1][0] * F[2][2] - F[1][2] * F[2][0]) +
                         F[0][2] * (F[1][0] * F[2][1] - F[1][1] * F[2][0]);
        for (int k = 0; k < 6; k++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    due[k] += F[voigt[k][0]][a] * S[a][b] * F[voigt[k][1]][b] / J;
        double worst = 0;
        for (int64_t i = 0; i < 6 * mesh.vertex_count; i++)
            worst = fmax(worst, fabs(stress[i] - due[i % 6]));
        CHECK(worst <= 1e-11 * fabs(due[0]), "%s: off by %g of %g Pa", sp_element_types[t].name, worst, due[0]);
    }
}

/* Pure bending, u = c (x y, −x²/2, 0) with Poisson's ratio 0: σxx = E c y. */
TEST(bending)
{
    const double c = 1e-8;
    for (int t = 0; t < SP_ELEMENT_TYPES; t++) {
        if (sp_element_types[t].nodes == sp_element_types[t].corners)
            continue;
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        make_typed(t, 2, 2, 1, 0.5, 0, true, &mesh);
        mesh.materials[0].poisson = 0;
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        double *u = sp_pool_new(&mesh.pool, 3 * mesh.vertex_count, sizeof *u),
               *stress = sp_pool_new(&mesh.pool, 6 * mesh.vertex_count, sizeof *stress), worst = 0;
        for (int64_t v = 0; v < mesh.vertex_count; v++) {
            const double *x = mesh.vertices + 3 * v;
            u[3 * v] = c * x[0] * x[1];
            u[3 * v + 1] = -0.5 * c * x[0] * x[0];
        }
        CHECK_OK(sp_elastic_nodal_stress(&context, &body, u, stress));
        const double E = mesh.materials[0].young;
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            for (int k = 0; k < 6; k++)
                worst = fmax(worst, fabs(stress[6 * v + k] - (k ? 0 : E * c * mesh.vertices[3 * v + 1])));
        CHECK(worst <= 1e-6 * E * c, "%s: off by %g of %g Pa", sp_element_types[t].name, worst, E * c);
    }
}

TEST(invariants)
{
    CHECK_NEAR(sp_cauchy_mises((const double[]){3, 0, 0, 0, 0, 0}), 3, 1e-15);
    CHECK_NEAR(sp_cauchy_mises((const double[]){5, 5, 5, 0, 0, 0}), 0, 1e-15);
    CHECK_NEAR(sp_cauchy_mises((const double[]){0, 0, 0, 0, 0, 2}), 2 * sqrt(3), 1e-15);
}
