/* Elements of any flatness against extended precision: gradients of shape functions, forces and tangents of every law,
 * energies that damp, second derivatives, and polynomials. The reference computes displacement gradients and sums in
 * numbers of 128 bits from the same double coordinates; only laws that are not quadratic in the strain are evaluated in
 * doubles, at the rounded gradient. */
#include "assembly/elastic.h"
#include "assembly/element.h"
#include "assembly/viscous.h"
#include "bodies.h"
#include "linear/sparse.h"
#include "material/law.h"
#include "reduced/polynomial.h"
#include "test.h"

#include <float.h>

/* 113 bits of mantissa: an extension of the compiler on x86, long double on ARM */
#if defined(__SIZEOF_FLOAT128__)
typedef __float128 exact;
#define EXACT(x) x##Q
#else
_Static_assert(LDBL_MANT_DIG >= 113, "there is no type of 128 bits");
typedef long double exact;
#define EXACT(x) x##L
#endif

static sp_context context;

enum { SHAPES = 9, LEVELS = 9, POINTS = 27, STRAIN = 6 };
static const double thickness[LEVELS] = {1, 0.3, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8};
static const int voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};

/* ---- elements ---- */

/* The corners of a shape flattened to h, X [corners, 3]; returns the number of corners. Shapes 0 to 3 are tetrahedra: a
 * square with two corners lifted, a corner of a cube, a needle, and the square turned; 4 to 8 hexahedra: a box, a box
 * turned, one sheared along its plane, one with all corners moved, and that turned. */
static int flat_shape(int shape, double h, double X[24])
{
    static const double tet[3][4][3] = {{{0, 0, 0}, {1, 0, 1}, {1, 1, 0}, {0, 1, 1}},
                                        {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                        {{0, 0, 0}, {1, 0, 0}, {0.5, 1, 0}, {0.5, 0.2, 1}}};
    const int corners = shape < 4 ? 4 : 8;
    const bool turned = shape == 3 || shape == 5 || shape == 8;
    for (int a = 0; a < corners; a++) {
        double x[3];
        for (int i = 0; i < 3; i++)
            x[i] = corners == 4 ? tet[shape % 3][a][i] : 0.5 * (1 + sp_corner_place[SP_HEXAHEDRON][a][i]);
        for (int i = 0; i < 3; i++)
            x[i] += shape >= 7 ? 0.12 * (2 * sp_random_uniform(3, (uint64_t)a, (uint64_t)i) - 1) : 0;
        x[2] *= h;
        if (shape == 2) /* the needle is thin in two directions */
            x[1] *= h;
        x[0] += shape == 6 ? 0.7 * x[1] : 0;
        static const double R[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6};
        for (int i = 0; i < 3; i++)
            X[3 * a + i] = turned ? R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2] : x[i];
    }
    return corners;
}

static void one_element(int corners, const double *X, int quadrature, const sp_material *material, sp_mesh *mesh)
{
    *mesh = (sp_mesh){.vertex_count = corners, .quadrature = quadrature, .material_count = 1};
    mesh->block[SP_HEX8].count = corners == 8;
    mesh->block[SP_TET4].count = corners == 4;
    mesh->vertices = sp_pool_copy(&mesh->pool, X, 3 * corners, sizeof *X);
    int64_t *corner = sp_pool_new(&mesh->pool, corners, sizeof *corner);
    for (int a = 0; a < corners; a++)
        corner[a] = a;
    *(corners == 8 ? &mesh->block[SP_HEX8].node : &mesh->block[SP_TET4].node) = corner;
    mesh->region = sp_pool_new(&mesh->pool, 1, sizeof *mesh->region);
    mesh->materials = sp_pool_copy(&mesh->pool, material, 1, sizeof *material);
    mesh->surface.width = 8;
}

/* ---- the reference ---- */

typedef struct reference {
    int corners, points;
    exact weight[POINTS], gradient[POINTS][8][3];
} reference;

static void exact_gradients(int corners, const double *X, exact slope[8][3], exact *det, exact gradient[8][3])
{
    exact J[3][3] = {{0}}, c[3][3];
    for (int a = 0; a < corners; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                J[i][j] += (exact)X[3 * a + i] * slope[a][j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] = J[(i + 1) % 3][(j + 1) % 3] * J[(i + 2) % 3][(j + 2) % 3] -
                      J[(i + 1) % 3][(j + 2) % 3] * J[(i + 2) % 3][(j + 1) % 3];
    *det = J[0][0] * c[0][0] + J[0][1] * c[0][1] + J[0][2] * c[0][2];
    for (int a = 0; a < corners; a++)
        for (int i = 0; i < 3; i++)
            gradient[a][i] = (c[i][0] * slope[a][0] + c[i][1] * slope[a][1] + c[i][2] * slope[a][2]) / *det;
}

static void exact_element(int corners, const double *X, int quadrature, reference *r)
{
    const exact two[2] = {-EXACT(0.577350269189625764509148780501957456),
                          EXACT(0.577350269189625764509148780501957456)};
    const exact three[3] = {-EXACT(0.774596669241483377035853079956479922), 0,
                            EXACT(0.774596669241483377035853079956479922)},
                of_three[3] = {EXACT(5.0) / 9, EXACT(8.0) / 9, EXACT(5.0) / 9};
    r->corners = corners;
    r->points = corners == 4 ? 1 : quadrature * quadrature * quadrature;
    for (int g = 0; g < r->points; g++) {
        exact slope[8][3], det, weight = 1;
        for (int a = 0; a < corners; a++)
            for (int i = 0; i < 3; i++) {
                const int n[3] = {g % quadrature, g / quadrature % quadrature, g / (quadrature * quadrature)};
                exact f[3];
                for (int k = 0; k < 3; k++)
                    f[k] =
                        corners == 4
                            ? 0
                            : (1 + sp_corner_place[SP_HEXAHEDRON][a][k] * (quadrature == 2 ? two[n[k]] : three[n[k]])) /
                                  2;
                slope[a][i] = corners == 4 ? (a == 0 ? -1 : a == i + 1)
                                           : sp_corner_place[SP_HEXAHEDRON][a][i] * f[(i + 1) % 3] * f[(i + 2) % 3] / 2;
                if (a == 0 && i == 0)
                    for (int k = 0; k < 3 && corners == 8 && quadrature == 3; k++)
                        weight *= of_three[n[k]];
            }
        exact_gradients(corners, X, slope, &det, r->gradient[g]);
        r->weight[g] = corners == 4 ? det / 6 : det * weight;
    }
}

/* H = Σ (u_a − u_0) ∇N_aᵀ at a point, and the size of its terms. */
static double exact_strain(const reference *r, int g, const double *u, exact H[9])
{
    double terms = 0;
    for (int k = 0; k < 9; k++)
        H[k] = 0;
    for (int a = 1; a < r->corners; a++) {
        double moved = 0, steep = 0;
        for (int i = 0; i < 3; i++) {
            const exact d = (exact)u[3 * a + i] - u[i];
            moved += (double)(d * d);
            steep += (double)(r->gradient[g][a][i] * r->gradient[g][a][i]);
            for (int j = 0; j < 3; j++)
                H[3 * i + j] += d * r->gradient[g][a][j];
        }
        terms += sqrt(moved * steep);
    }
    return terms;
}

/* P and A at H: in extended precision where the law is quadratic in the strain and has no fibres, else in doubles. */
static void exact_stress(const sp_material *m, const exact H[9], exact P[9], exact A[81])
{
    if (sp_material_quadratic(m) && m->fibre == SP_FIBRE_NONE) {
        double C[36];
        exact F[9], e[STRAIN], S[STRAIN];
        CHECK_OK(sp_material_stiffness(&context, m, C));
        for (int k = 0; k < 9; k++)
            F[k] = H[k] + (k % 4 == 0);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                exact D = H[3 * i + j] + H[3 * j + i];
                for (int n = 0; n < 3; n++)
                    D += H[3 * n + i] * H[3 * n + j];
                e[voigt[i][j]] = i == j ? D / 2 : D;
            }
        for (int k = 0; k < STRAIN; k++) {
            S[k] = 0;
            for (int n = 0; n < STRAIN; n++)
                S[k] += C[6 * k + n] * e[n];
        }
        for (int p = 0; p < 9; p++) {
            P[p] = 0;
            for (int n = 0; n < 3; n++)
                P[p] += F[3 * (p / 3) + n] * S[voigt[n][p % 3]];
            for (int q = 0; q < 9; q++) {
                A[9 * p + q] = p / 3 == q / 3 ? S[voigt[p % 3][q % 3]] : 0;
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++)
                        A[9 * p + q] +=
                            F[3 * (p / 3) + a] * C[6 * voigt[a][p % 3] + voigt[q % 3][b]] * F[3 * (q / 3) + b];
            }
        }
        return;
    }
    sp_law_lanes law;
    sp_lanes lanes[9], W, stress[9], tangent[SP_TANGENT_ENTRIES];
    for (int l = 0; l < SP_LANES; l++) {
        sp_law_set(&law, l, m);
        for (int k = 0; k < 9; k++)
            lanes[k][l] = (double)H[k];
    }
    sp_law_evaluate(&law, lanes, false, &W, stress, tangent);
    for (int p = 0, at = 0; p < 9; p++) {
        P[p] = stress[p][0];
        for (int q = p; q < 9; q++, at++)
            A[9 * p + q] = A[9 * q + p] = tangent[at][0];
    }
}

static double size_of(int count, const exact *values)
{
    double largest = 0;
    for (int k = 0; k < count; k++)
        largest = fmax(largest, fabs((double)values[k]));
    return largest;
}

/* f [24] and K [24, 24] with what rounding of u by one part in 2^53 can change in any of their entries. */
static void exact_forces(const reference *r, const sp_material *m, const double *u, exact f[24], exact K[24 * 24],
                         double *of_force, double *of_tangent)
{
    for (int k = 0; k < 24 * 24; k++)
        K[k] = 0;
    for (int k = 0; k < 24; k++)
        f[k] = 0;
    *of_force = *of_tangent = 0;
    for (int g = 0; g < r->points; g++) {
        exact H[9], P[9], A[81];
        const double terms = exact_strain(r, g, u, H), w = (double)r->weight[g];
        double steep = 0;
        exact_stress(m, H, P, A);
        for (int a = 0; a < r->corners; a++)
            steep = fmax(steep, size_of(3, r->gradient[g][a]));
        *of_force += w * steep * (size_of(9, P) + size_of(81, A) * terms);
        *of_tangent += w * steep * steep * size_of(81, A) * (1 + terms);
        for (int c = 0; c < r->corners; c++) {
            exact B[9][3] = {{0}}; /* A ∇N_c */
            for (int p = 0; p < 9; p++) {
                f[3 * c + p / 3] += r->weight[g] * P[p] * r->gradient[g][c][p % 3];
                for (int k = 0; k < 9; k++)
                    B[p][k / 3] += A[9 * p + k] * r->gradient[g][c][k % 3];
            }
            for (int a = 0; a < r->corners; a++)
                for (int p = 0; p < 9; p++)
                    for (int k = 0; k < 3; k++)
                        K[24 * (3 * a + p / 3) + 3 * c + k] += r->weight[g] * r->gradient[g][a][p % 3] * B[p][k];
        }
    }
}

/* ---- tests ---- */

/* Displacements of the corners: 0 rest; 1 noise of a twentieth of the thickness; 2 a large smooth deformation with a
 * turn, and noise. */
static void displace(int corners, const double *X, double h, int kind, double *u)
{
    static const double H[9] = {-0.1, -0.4, 0.1, 0.5, 0.05, -0.2, 0.05, 0.15, 0.1};
    for (int a = 0; a < corners; a++)
        for (int i = 0; i < 3; i++) {
            u[3 * a + i] = kind == 0 ? 0 : 0.05 * h * (2 * sp_random_uniform(11, (uint64_t)a, (uint64_t)i) - 1);
            for (int j = 0; j < 3 && kind == 2; j++)
                u[3 * a + i] += H[3 * i + j] * X[3 * a + j];
        }
}

/* Largest differences of force and tangent in units of what rounding can change. */
static void compare(const sp_fe_space *body, const sp_material *m, const reference *r, const double *u, double *force,
                    double *tangent)
{
    double f[24], of_force, of_tangent;
    exact expected[24], stiffness[24 * 24];
    sp_sparse K;
    const int rows = 3 * r->corners;
    exact_forces(r, m, u, expected, stiffness, &of_force, &of_tangent);
    CHECK_OK(sp_fe_space_matrix(&context, body, &K));
    sp_elastic_tangent(&context, body, u, 1, false, f, &K);
    for (int i = 0; i < rows; i++)
        *force = fmax(*force, fabs((double)(f[i] - expected[i])) / (of_force * DBL_EPSILON));
    for (int i = 0; i < rows; i++)
        for (int64_t at = K.start[i]; at < K.start[i + 1]; at++) {
            const int j = (int)K.index[at];
            *tangent = fmax(*tangent, fabs((double)(K.value[at] - stiffness[24 * i + j])) / (of_tangent * DBL_EPSILON));
            for (int64_t other = K.start[j]; other < K.start[j + 1]; other++)
                if (K.index[other] == i)
                    CHECK(K.value[other] == K.value[at], "entry %d, %d is not symmetric", i, j);
        }
    sp_sparse_free(&K);
}

static void forces_and_tangents(void)
{
    double worst[LEVELS][2] = {{0}};
    for (int level = 0; level < LEVELS; level++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int quadrature = 2; quadrature <= 3; quadrature++)
                for (int law = 0; law < TEST_LAWS; law++) {
                    double X[24], u[24], here[2] = {0};
                    sp_mesh mesh;
                    sp_fe_space body;
                    reference r;
                    const sp_material material = test_law(law);
                    const int corners = flat_shape(shape, thickness[level], X);
                    /* the other laws use the same quadrature points */
                    if (quadrature == 3 && (corners == 4 || law > 0))
                        continue;
                    if (law > 0 && level != 2 && level != 5 && level != LEVELS - 1)
                        continue;
                    one_element(corners, X, quadrature, &material, &mesh);
                    exact_element(corners, X, quadrature, &r);
                    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
                    CHECK_OK(sp_fe_space_pattern(&context, &body));
                    for (int kind = 0; kind < 3; kind++) {
                        displace(corners, X, thickness[level], kind, u);
                        compare(&body, &material, &r, u, &here[0], &here[1]);
                    }
                    CHECK(here[0] <= 20 && here[1] <= 20,
                          "shape %d, thickness %g, %d points, %s, %s fibres: %g and %g roundings", shape,
                          thickness[level], r.points, sp_law_name(material.law), sp_fibre_name(material.fibre), here[0],
                          here[1]);
                    for (int k = 0; k < 2; k++)
                        worst[level][k] = fmax(worst[level][k], here[k]);
                    sp_fe_space_free(&body);
                    sp_mesh_free(&mesh);
                }
    for (int level = 0; level < LEVELS; level++)
        NOTE("thickness %g: force off by %.1f, tangent by %.1f roundings", thickness[level], worst[level][0],
             worst[level][1]);
}

/* Hessian products at rest, D(u)v and D(u), each for one law: against sums in extended precision. */
static void products(void)
{
    for (int level = 0; level < LEVELS; level++)
        for (int shape = 0; shape < SHAPES; shape++) {
            enum { VECTORS = 2 };
            static const int64_t pair[2] = {0, 1};
            double X[24], U[48], u[24], h[24], y[24], size[3] = {0}, off[3] = {0};
            exact expected[24] = {0}, damped[24] = {0}, matrix[24 * 24] = {0};
            sp_mesh mesh;
            sp_fe_space body;
            sp_viscous viscous;
            sp_sparse D;
            reference r;
            const sp_material material = test_law(SP_LAW_LINEAR);
            const sp_viscosity viscosity = {0.7, 1.3};
            const int corners = flat_shape(shape, thickness[level], X), rows = 3 * corners;
            double C[36], damping[36];
            CHECK_OK(sp_material_stiffness(&context, &material, C));
            for (int k = 0; k < 36; k++)
                damping[k] = (k / 6 < 3 && k % 6 < 3 ? viscosity.phi : 0) + (k / 6 != k % 6 ? 0
                                                                             : k < 18       ? 2 * viscosity.psi
                                                                                            : viscosity.psi);
            one_element(corners, X, 2, &material, &mesh);
            exact_element(corners, X, 2, &r);
            for (int i = 0; i < 48; i++)
                U[i] = 2 * sp_random_uniform(17, 1, (uint64_t)i) - 1;
            displace(corners, X, thickness[level], 2, u);
            CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
            CHECK_OK(sp_fe_space_pattern(&context, &body));
            CHECK_OK(sp_viscous_new(&context, &body, &viscosity, &viscous));
            CHECK_OK(sp_fe_space_matrix(&context, &body, &D));
            CHECK_OK(sp_elastic_second(&context, &body, VECTORS, U, 1, pair, h)); /* U [rows, 2] */
            sp_viscous_times(&context, &viscous, u, U, y);
            sp_viscous_matrix(&context, &viscous, u, 1, &D);
            for (int g = 0; g < r.points; g++) {
                exact H[2][9], at[9], F[9], stress[3][3][3] = {{{0}}}, P[9] = {0}, Q[9] = {0};
                const double terms[3] = {exact_strain(&r, g, U, H[0]), exact_strain(&r, g, U + rows, H[1]),
                                         exact_strain(&r, g, u, at)};
                double steep = 0;
                for (int k = 0; k < 9; k++)
                    F[k] = at[k] + (k % 4 == 0);
                for (int which = 0; which < 3; which++) { /* S(sym U), S(sym V), S(sym UᵀV) */
                    exact e[6];
                    for (int i = 0; i < 3; i++)
                        for (int j = 0; j < 3; j++) {
                            exact sum = 0;
                            if (which < 2)
                                sum = H[which][3 * i + j] + H[which][3 * j + i];
                            for (int n = 0; n < 3 && which == 2; n++)
                                sum += H[0][3 * n + i] * H[1][3 * n + j] + H[0][3 * n + j] * H[1][3 * n + i];
                            e[voigt[i][j]] = i == j ? sum / 2 : sum;
                        }
                    for (int i = 0; i < 3; i++)
                        for (int j = 0; j < 3; j++)
                            for (int n = 0; n < 6; n++)
                                stress[which][i][j] += C[6 * voigt[i][j] + n] * e[n];
                }
                exact rate[6], S[6] = {0};
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++) {
                        exact sum = 0;
                        for (int n = 0; n < 3; n++)
                            sum += F[3 * n + i] * H[0][3 * n + j] + F[3 * n + j] * H[0][3 * n + i];
                        rate[voigt[i][j]] = i == j ? sum / 2 : sum;
                    }
                for (int k = 0; k < 6; k++)
                    for (int n = 0; n < 6; n++)
                        S[k] += damping[6 * k + n] * rate[n];
                for (int p = 0; p < 9; p++) {
                    P[p] = stress[2][p / 3][p % 3];
                    for (int n = 0; n < 3; n++) {
                        P[p] +=
                            H[0][3 * (p / 3) + n] * stress[1][n][p % 3] + H[1][3 * (p / 3) + n] * stress[0][n][p % 3];
                        Q[p] += F[3 * (p / 3) + n] * S[voigt[n][p % 3]];
                    }
                }
                for (int a = 0; a < corners; a++) {
                    steep = fmax(steep, size_of(3, r.gradient[g][a]));
                    for (int p = 0; p < 9; p++) {
                        expected[3 * a + p / 3] += r.weight[g] * P[p] * r.gradient[g][a][p % 3];
                        damped[3 * a + p / 3] += r.weight[g] * Q[p] * r.gradient[g][a][p % 3];
                    }
                    for (int c = 0; c < corners; c++)
                        for (int i = 0; i < 3; i++)
                            for (int k = 0; k < 3; k++)
                                for (int m = 0; m < 81; m++) /* F_iv ∂_j N_a C_vj,wl F_kw ∂_l N_c */
                                    matrix[24 * (3 * a + i) + 3 * c + k] +=
                                        r.weight[g] * F[3 * i + m / 27] * r.gradient[g][a][m / 9 % 3] *
                                        damping[6 * voigt[m / 27][m / 9 % 3] + voigt[m / 3 % 3][m % 3]] *
                                        F[3 * k + m / 3 % 3] * r.gradient[g][c][m % 3];
                }
                const double w = (double)r.weight[g] * steep, large = (1 + terms[2]) * (1 + terms[2]);
                size[0] += w * terms[0] * terms[1] * C[35];
                size[1] += w * large * terms[0] * (viscosity.phi + 2 * viscosity.psi);
                size[2] += w * large * steep * (viscosity.phi + 2 * viscosity.psi);
            }
            for (int i = 0; i < rows; i++) {
                off[0] = fmax(off[0], fabs((double)(h[i] - expected[i])) / (size[0] * DBL_EPSILON));
                off[1] = fmax(off[1], fabs((double)(y[i] - damped[i])) / (size[1] * DBL_EPSILON));
                for (int64_t at = D.start[i]; at < D.start[i + 1]; at++)
                    off[2] = fmax(off[2],
                                  fabs((double)(D.value[at] - matrix[24 * i + D.index[at]])) / (size[2] * DBL_EPSILON));
            }
            CHECK(off[0] <= 20 && off[1] <= 20 && off[2] <= 20, "shape %d, thickness %g: %g, %g, %g roundings", shape,
                  thickness[level], off[0], off[1], off[2]);
            sp_sparse_free(&D);
            sp_viscous_free(&viscous);
            sp_fe_space_free(&body);
            sp_mesh_free(&mesh);
        }
}

/* The Gram matrix of polynomials over linear strains sym(∇uⁱ) and products sym(∇uⁱᵀ∇uʲ), each entry relative to the
 * roots of its diagonal entries. */
static void polynomials(void)
{
    enum { R = 3, N = R + R * (R + 1) / 2 };
    double worst[LEVELS] = {0};
    for (int level = 0; level < LEVELS; level++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int quadrature = 2; quadrature <= 3; quadrature++) {
                double X[24], U[24 * R], C[36], off = 0;
                exact gram[N * N] = {0};
                sp_mesh mesh;
                sp_fe_space body;
                reference r;
                sp_polynomials made;
                sp_polynomial_report report;
                const sp_material material = test_law(shape % 2 ? SP_LAW_STVK : SP_LAW_LINEAR);
                const int corners = flat_shape(shape, thickness[level], X), rows = 3 * corners;
                one_element(corners, X, quadrature, &material, &mesh);
                exact_element(corners, X, quadrature, &r);
                CHECK_OK(sp_material_stiffness(&context, &material, C));
                for (int i = 0; i < rows * R; i++)
                    U[i] = 2 * sp_random_uniform(19, (uint64_t)shape, (uint64_t)i) - 1;
                CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
                CHECK_OK(sp_polynomials_new(&context, &body, R, U, &(sp_polynomial_parameters){0}, &made, &report));
                for (int g = 0; g < r.points; g++) {
                    exact H[R][9], e[N][6];
                    for (int j = 0; j < R; j++)
                        exact_strain(&r, g, U + j * rows, H[j]);
                    for (int c = 0, i = 0, j = 0; c < N; c++) {
                        for (int k = 0; k < 9; k++) {
                            const int s = k / 3, t = k % 3;
                            exact sum = 0;
                            if (c < R)
                                sum = H[c][3 * s + t] + H[c][3 * t + s];
                            for (int n = 0; n < 3 && c >= R; n++)
                                sum += H[i][3 * n + s] * H[j][3 * n + t] + H[i][3 * n + t] * H[j][3 * n + s];
                            e[c][voigt[s][t]] = s == t ? sum / 2 : sum;
                        }
                        if (c >= R && ++j == R)
                            j = ++i;
                    }
                    for (int c = 0; c < N; c++)
                        for (int d = 0; d < N; d++)
                            for (int k = 0; k < 36; k++)
                                gram[c * N + d] += r.weight[g] * e[c][k / 6] * C[k] * e[d][k % 6];
                }
                for (int c = 0; c < N; c++)
                    for (int d = 0; d < N; d++)
                        off = fmax(off, fabs((double)(made.parts[0].gram[c * N + d] - gram[c * N + d])) /
                                            sqrt((double)(gram[c * N + c] * gram[d * N + d])) / DBL_EPSILON);
                worst[level] = fmax(worst[level], off);
                CHECK(off <= 100, "shape %d, thickness %g, %d points: %g roundings", shape, thickness[level], r.points,
                      off);
                sp_polynomials_free(&made);
                sp_fe_space_free(&body);
                sp_mesh_free(&mesh);
            }
    for (int level = 0; level < LEVELS; level++)
        NOTE("thickness %g: %.1f roundings", thickness[level], worst[level]);
}

/* More classes of elements than polynomials keep factors of, with slivers among them: energy of the polynomials against
 * that of the elements. */
static void many_classes(void)
{
    enum { R = 4, N = R + R * (R + 1) / 2 };
    sp_mesh box, mesh;
    sp_fe_space body;
    sp_polynomials made;
    sp_polynomial_report report;
    make_box(6, 5, 5, 0.2, 0.2, &box);
    CHECK_OK(sp_mesh_split(&context, &box, &mesh));
    const int64_t rows = 3 * mesh.vertex_count;
    double *U = calloc((size_t)(R * rows), 8), *u = calloc((size_t)rows, 8), worst = 0;
    for (int64_t i = 0; i < R * rows; i++)
        U[i] = 0.1 * sp_random_normal(23, 0, (uint64_t)i);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK(body.class_count > 600, "%lld classes", (long long)body.class_count);
    for (int constants = 0; constants < 2; constants++) {
        CHECK_OK(sp_polynomials_new(&context, &body, R, U, &(sp_polynomial_parameters){.by_constant = constants}, &made,
                                    &report));
        for (int trial = 0; trial < 4; trial++) {
            double q[R], P[N], energy = 0;
            for (int i = 0; i < R; i++)
                P[i] = q[i] = sp_random_normal(29, (uint64_t)trial, (uint64_t)i);
            for (int i = 0, at = R; i < R; i++)
                for (int j = i; j < R; j++)
                    P[at++] = q[i] * q[j] * (i == j ? 0.5 : 1);
            for (int64_t part = 0; part < made.part_count; part++)
                for (int c = 0; c < N; c++)
                    for (int d = 0; d < N; d++)
                        energy += 0.5 * made.parts[part].value * made.parts[part].gram[c * N + d] * P[c] * P[d];
            for (int64_t i = 0; i < rows; i++) {
                u[i] = 0;
                for (int j = 0; j < R; j++)
                    u[i] += U[j * rows + i] * q[j];
            }
            const double expected = sp_elastic_force(&context, &body, u, NULL);
            worst = fmax(worst, fabs(energy - expected) / expected);
        }
        sp_polynomials_free(&made);
    }
    NOTE("energies off by %.1e", worst);
    CHECK(worst < 1e-13, "off by %g", worst);
    free(U), free(u);
    sp_fe_space_free(&body);
    sp_mesh_free(&mesh);
    sp_mesh_free(&box);
}

int main(void)
{
    context = sp_context_default();
    context.threads = 1;
    RUN(forces_and_tangents);
    RUN(products);
    RUN(polynomials);
    RUN(many_classes);
    return test_end();
}
