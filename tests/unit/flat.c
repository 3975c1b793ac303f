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

static void one_of_type(int type, const double *X, int quadrature, const sp_material *material, sp_mesh *mesh)
{
    const int corners = sp_element_types[type].nodes;
    *mesh = (sp_mesh){.vertex_count = corners, .quadrature = quadrature, .material_count = 1};
    mesh->block[type].count = 1;
    mesh->vertices = sp_pool_copy(&mesh->pool, X, 3 * corners, sizeof *X);
    int64_t *corner = sp_pool_new(&mesh->pool, corners, sizeof *corner);
    for (int a = 0; a < corners; a++)
        corner[a] = a;
    mesh->block[type].node = corner;
    mesh->region = sp_pool_new(&mesh->pool, 1, sizeof *mesh->region);
    mesh->materials = sp_pool_copy(&mesh->pool, material, 1, sizeof *material);
    mesh->surface.width = 8;
}

static void one_element(int corners, const double *X, int quadrature, const sp_material *material, sp_mesh *mesh)
{
    one_of_type(corners == 8 ? SP_HEX8 : SP_TET4, X, quadrature, material, mesh);
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

/* ---- the reference of assumed strains ---- */

enum { ASSUMED_POINTS = 8, MODES = 9 };

/* B ← B⁻¹ by Gauss and Jordan, B [9, 9] positive definite. */
static void exact_inverse(exact B[MODES][MODES])
{
    for (int k = 0; k < MODES; k++) {
        const exact pivot = B[k][k];
        B[k][k] = 1;
        for (int j = 0; j < MODES; j++)
            B[k][j] /= pivot;
        for (int i = 0; i < MODES; i++) {
            const exact factor = B[i][k];
            if (i == k)
                continue;
            B[i][k] = 0;
            for (int j = 0; j < MODES; j++)
                B[i][j] -= factor * B[k][j];
        }
    }
}

/* The nine modes sym(e_i ⊗ ∇ξ_j⁰) ξ_j det J⁰/det J at the points. */
static void exact_modes(const double *X, exact mode[ASSUMED_POINTS][MODES][STRAIN])
{
    const exact root = EXACT(0.577350269189625764509148780501957456);
    exact slope[8][3], axis[3][3], det, here;
    for (int g = -1; g < ASSUMED_POINTS; g++) {
        exact gradient[8][3], xi[3];
        for (int j = 0; j < 3; j++)
            xi[j] = g < 0 ? 0 : (g >> j & 1 ? root : -root);
        for (int a = 0; a < 8; a++)
            for (int i = 0; i < 3; i++) {
                const signed char *of = sp_corner_place[SP_HEXAHEDRON][a];
                slope[a][i] =
                    of[i] * (1 + of[(i + 1) % 3] * xi[(i + 1) % 3]) * (1 + of[(i + 2) % 3] * xi[(i + 2) % 3]) / 8;
            }
        exact_gradients(8, X, slope, g < 0 ? &det : &here, gradient);
        if (g < 0) { /* ∇ξ_j = Σ_a ∇N_a ξ_j(a) */
            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++) {
                    axis[j][i] = 0;
                    for (int a = 0; a < 8; a++)
                        axis[j][i] += gradient[a][i] * sp_corner_place[SP_HEXAHEDRON][a][j];
                }
            continue;
        }
        for (int m = 0; m < MODES; m++) {
            for (int k = 0; k < STRAIN; k++)
                mode[g][m][k] = 0;
            for (int i = 0; i < 3; i++)
                mode[g][m][voigt[m % 3][i]] += xi[m / 3] * det / here * axis[m / 3][i];
        }
    }
}

/* The assumed strains of the strains E [8, 6] at the points. */
static void exact_assumed(int type, const reference *r, const double C[36], exact mode[][MODES][STRAIN],
                          exact B[MODES][MODES], exact E[][STRAIN])
{
    exact volume = 0, mean = 0, a[MODES] = {0};
    for (int g = 0; g < r->points; g++) {
        volume += r->weight[g];
        mean += r->weight[g] * (E[g][0] + E[g][1] + E[g][2]);
        for (int m = 0; m < MODES; m++)
            for (int k = 0; k < 36; k++)
                a[m] += r->weight[g] * mode[g][m][k / 6] * C[k] * E[g][k % 6];
    }
    for (int g = 0; g < r->points; g++) {
        const exact trace = E[g][0] + E[g][1] + E[g][2];
        for (int k = 0; k < 3 && type == SP_HEX8B; k++)
            E[g][k] += (mean / volume - trace) / 3;
        for (int m = 0; m < MODES * MODES && type == SP_HEX8I; m++)
            for (int k = 0; k < STRAIN; k++)
                E[g][k] -= mode[g][m / MODES][k] * B[m / MODES][m % MODES] * a[m % MODES];
    }
}

/* f [24] and K [24, 24] of an element with an assumed strain: f = Σ w B̄ᵀ C Ē, K = Σ w B̄ᵀ C B̄ and the geometric part,
 * whose stress is that of the displacement's strain. */
static void exact_assumed_forces(int type, const double *X, const reference *r, const double C[36], const double *u,
                                 exact f[24], exact K[24 * 24])
{
    static exact mode[ASSUMED_POINTS][MODES][STRAIN], column[24][ASSUMED_POINTS][STRAIN];
    exact B[MODES][MODES] = {{0}}, E[ASSUMED_POINTS][STRAIN], stress[ASSUMED_POINTS][STRAIN], volume = 0, mean = 0;
    exact_modes(X, mode);
    for (int g = 0; g < r->points; g++)
        for (int m = 0; m < MODES * MODES; m++)
            for (int k = 0; k < 36; k++)
                B[m / MODES][m % MODES] += r->weight[g] * mode[g][m / MODES][k / 6] * C[k] * mode[g][m % MODES][k % 6];
    exact_inverse(B);

    for (int g = 0; g < r->points; g++) {
        exact H[9];
        exact_strain(r, g, u, H);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                exact D = H[3 * i + j] + H[3 * j + i];
                for (int n = 0; n < 3; n++)
                    D += H[3 * n + i] * H[3 * n + j];
                E[g][voigt[i][j]] = i == j ? D / 2 : D;
            }
        for (int c = 0; c < 24; c++) {
            for (int k = 0; k < STRAIN; k++)
                column[c][g][k] = 0;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) /* F_ci ∂_j N, symmetrized: twice the shears */
                    column[c][g][voigt[i][j]] += (H[3 * (c % 3) + i] + (c % 3 == i)) * r->gradient[g][c / 3][j];
        }
    }
    exact_assumed(type, r, C, mode, B, E);
    for (int c = 0; c < 24; c++)
        exact_assumed(type, r, C, mode, B, column[c]);

    for (int g = 0; g < r->points; g++) {
        for (int k = 0; k < STRAIN; k++) {
            stress[g][k] = 0;
            for (int m = 0; m < STRAIN; m++)
                stress[g][k] += C[6 * k + m] * E[g][m];
        }
        volume += r->weight[g];
        mean += r->weight[g] * (stress[g][0] + stress[g][1] + stress[g][2]) / 3;
    }
    for (int c = 0; c < 24; c++) {
        f[c] = 0;
        for (int g = 0; g < r->points; g++)
            for (int k = 0; k < STRAIN; k++)
                f[c] += r->weight[g] * column[c][g][k] * stress[g][k];
    }
    for (int g = 0; g < r->points; g++) {
        const exact third = (stress[g][0] + stress[g][1] + stress[g][2]) / 3;
        for (int k = 0; k < 3 && type == SP_HEX8B; k++)
            stress[g][k] += mean / volume - third;
    }
    for (int at = 0; at < 24 * 24; at++) {
        const int c = at / 24, d = at % 24;
        K[at] = 0;
        for (int g = 0; g < r->points; g++) {
            for (int k = 0; k < 36; k++)
                K[at] += r->weight[g] * column[c][g][k / 6] * C[k] * column[d][g][k % 6];
            for (int k = 0; k < 9 && c % 3 == d % 3; k++)
                K[at] += r->weight[g] * r->gradient[g][c / 3][k / 3] * stress[g][voigt[k / 3][k % 3]] *
                         r->gradient[g][d / 3][k % 3];
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

/* Largest differences of force and tangent in units of what rounding can change. type: of an assumed strain, else
 * SP_HEX8 or SP_TET4. */
static void compare(int type, const double *X, const sp_fe_space *body, const sp_material *m, const reference *r,
                    const double *u, double *force, double *tangent)
{
    double f[24], of_force, of_tangent;
    exact expected[24], stiffness[24 * 24];
    OWNED(sp_sparse) K;
    const int rows = 3 * r->corners;
    exact_forces(r, m, u, expected, stiffness, &of_force, &of_tangent);
    if (sp_element_assumed(type)) {
        double C[36];
        CHECK_OK(sp_material_stiffness(&context, m, C));
        exact_assumed_forces(type, X, r, C, u, expected, stiffness);
    }
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
}

TEST(forces_and_tangents)
{
    double worst[LEVELS][2] = {{0}};
    for (int level = 0; level < LEVELS; level++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int quadrature = 2; quadrature <= 3; quadrature++)
                for (int law = 0; law < TEST_LAWS; law++) {
                    double X[24], u[24], here[2] = {0};
                    OWNED(sp_mesh) mesh = {0};
                    OWNED(sp_fe_space) body = {0};
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
                        compare(corners == 8 ? SP_HEX8 : SP_TET4, X, &body, &material, &r, u, &here[0], &here[1]);
                    }
                    CHECK(here[0] <= 20 && here[1] <= 20,
                          "shape %d, thickness %g, %d points, %s, %s fibres: %g and %g roundings", shape,
                          thickness[level], r.points, sp_law_name(material.law), sp_fibre_name(material.fibre), here[0],
                          here[1]);
                    for (int k = 0; k < 2; k++)
                        worst[level][k] = fmax(worst[level][k], here[k]);
                }
    for (int level = 0; level < LEVELS; level++)
        NOTE("thickness %g: force off by %.1f, tangent by %.1f roundings", thickness[level], worst[level][0],
             worst[level][1]);
}

/* Hexahedra with an assumed strain, flat or not: forces and tangents; and at rest the energies, the products with the
 * tangent and the derivatives of second and third order, which are differences of tangents. */
TEST(assumed_strains)
{
    double worst[2][LEVELS][2] = {{{0}}};
    for (int level = 0; level < LEVELS; level++)
        for (int shape = 4; shape < SHAPES; shape++)
            for (int law = SP_LAW_STVK; law <= SP_LAW_LINEAR; law++)
                for (int which = 0; which < 2; which++) {
                    const int type = which ? SP_HEX8I : SP_HEX8B;
                    double X[24], u[24], here[2] = {0};
                    OWNED(sp_mesh) mesh;
                    OWNED(sp_fe_space) body;
                    reference r;
                    sp_material material = test_law(law);
                    material.fibre = SP_FIBRE_NONE;
                    flat_shape(shape, thickness[level], X);
                    one_of_type(type, X, 2, &material, &mesh);
                    exact_element(8, X, 2, &r);
                    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
                    CHECK_OK(sp_fe_space_pattern(&context, &body));
                    for (int kind = 0; kind < 3; kind++) {
                        displace(8, X, thickness[level], kind, u);
                        compare(type, X, &body, &material, &r, u, &here[0], &here[1]);
                    }
                    CHECK(here[0] <= 20 && here[1] <= 20, "%s, shape %d, thickness %g: %g and %g roundings",
                          sp_element_types[type].name, shape, thickness[level], here[0], here[1]);
                    for (int k = 0; k < 2; k++)
                        worst[which][level][k] = fmax(worst[which][level][k], here[k]);
                }
    for (int level = 0; level < LEVELS; level++)
        NOTE("thickness %g: hex8b off by %.1f and %.1f, hex8i by %.1f and %.1f roundings", thickness[level],
             worst[0][level][0], worst[0][level][1], worst[1][level][0], worst[1][level][1]);
}

/* K(u) − K(0) has a part that is linear and one that is quadratic in u, so that derivatives are exact differences:
 * ∂²f [u, v] = ½ (K(u) − K(−u)) v and ∂³f [u, u, v] = (K(u) + K(−u) − 2 K(0)) v. The other functions of assumed strains
 * in a flat body: K v, vᵀK(0)v, polynomials, and for a uniform strain the stress stiffness of plain hexahedra. */
TEST(assumed_derivatives)
{
    for (int t = 0; t < 2; t++) {
        enum { PLUS, MINUS, REST, SECOND, THIRD, FIELDS };
        static const int64_t pair[2] = {0, 1}, triple[3] = {0, 0, 1};
        const int type = t ? SP_HEX8I : SP_HEX8B;
        sp_mesh mesh, plain;
        sp_fe_space body, other;
        sp_sparse K[2];
        OWNED(sp_polynomials) made;
        sp_polynomial_report report;
        make_box(3, 2, 2, 0.3, 0.05, &mesh);
        make_box(3, 2, 2, 0.3, 0.05, &plain);
        plain.quadrature = 2;
        const int64_t rows = 3 * mesh.vertex_count;
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            plain.vertices[3 * v + 2] = mesh.vertices[3 * v + 2] *= 1e-3;
        mesh.block[type] = mesh.block[SP_HEX8];
        mesh.block[SP_HEX8] = (sp_element_block){0};
        OWNED(sp_pool) pool = {0};
        double *U = sp_pool_new(&pool, 2 * rows, sizeof *U), *y = sp_pool_new(&pool, FIELDS * rows, sizeof *y),
               *u = sp_pool_new(&pool, rows, sizeof *u), energies[2];
        for (int64_t i = 0; i < rows; i++) { /* displacements of about the thickness */
            U[i] = 1e-4 * (2 * sp_random_uniform(31, 0, (uint64_t)i) - 1);
            U[rows + i] = 1e-4 * (2 * sp_random_uniform(31, 1, (uint64_t)i) - 1);
        }
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_fe_space_pattern(&context, &body));
        CHECK(body.classes[0].gram == NULL, "not evaluated at points");
        sp_elastic_tangent_times(&context, &body, U, U + rows, y + PLUS * rows);
        for (int64_t i = 0; i < rows; i++)
            u[i] = -U[i];
        sp_elastic_tangent_times(&context, &body, u, U + rows, y + MINUS * rows);
        memset(u, 0, (size_t)rows * sizeof *u);
        sp_elastic_tangent_times(&context, &body, u, U + rows, y + REST * rows);
        CHECK_OK(sp_elastic_second(&context, &body, 2, U, 1, pair, y + SECOND * rows));
        CHECK_OK(sp_elastic_third(&context, &body, 2, U, 1, triple, y + THIRD * rows));
        double size = 0, off[3] = {0}, energy = 0;
        for (int64_t i = 0; i < rows; i++) {
            const double plus = y[i], minus = y[rows + i], rest = y[2 * rows + i];
            size = fmax(size, fabs(plus));
            energy += rest * U[rows + i];
            off[0] = fmax(off[0], fabs(y[SECOND * rows + i] - 0.5 * (plus - minus)));
            off[1] = fmax(off[1], fabs(y[THIRD * rows + i] - (plus + minus - 2 * rest)));
        }
        CHECK_OK(sp_fe_space_matrix(&context, &body, &K[0]));
        sp_elastic_tangent(&context, &body, U, 1, false, NULL, &K[0]);
        for (int64_t row = 0; row < K[0].order; row++) {
            double sum = -y[PLUS * rows + body.free[row]];
            for (int64_t k = K[0].start[row]; k < K[0].start[row + 1]; k++)
                sum += K[0].value[k] * U[rows + body.free[K[0].index[k]]];
            off[2] = fmax(off[2], fabs(sum));
        }
        sp_sparse_free(&K[0]);
        for (int k = 0; k < 3; k++)
            CHECK(off[k] <= 1e-13 * size, "%s: part %d off by %g of %g", sp_element_types[type].name, k, off[k], size);
        CHECK_OK(sp_elastic_rest_energies(&context, &body, 2, U, energies));
        CHECK(fabs(energies[1] - energy) <= 1e-13 * energy, "%g J, not %g J", energies[1], energy);

        CHECK_OK(sp_polynomials_new(&context, &body, 2, U, &(sp_polynomial_parameters){0}, &made, &report));
        for (int trial = 0; trial < 4; trial++) {
            const double q[2] = {cos(trial), sin(trial)},
                         P[5] = {q[0], q[1], q[0] * q[0] / 2, q[0] * q[1], q[1] * q[1] / 2};
            double sum = 0;
            for (int c = 0; c < 25; c++)
                sum += 0.5 * made.parts[0].gram[c] * P[c / 5] * P[c % 5];
            for (int64_t i = 0; i < rows; i++)
                u[i] = q[0] * U[i] + q[1] * U[rows + i];
            const double expected = sp_elastic_force(&context, &body, u, NULL);
            CHECK(fabs(sum - expected) <= 1e-12 * expected, "%g J, not %g J", sum, expected);
        }

        CHECK_OK(sp_fe_space_new(&context, &plain, &other));
        CHECK_OK(sp_fe_space_pattern(&context, &other));
        static const double gradient[9] = {0.1, 0.2, -0.3, 0.4, -0.2, 0.1, 0.3, 0.2, 0.25};
        for (int64_t i = 0; i < rows; i++) {
            u[i] = 0;
            for (int j = 0; j < 3; j++)
                u[i] += gradient[3 * (i % 3) + j] * mesh.vertices[i / 3 * 3 + j];
        }
        CHECK_OK(sp_fe_space_matrix(&context, &body, &K[0]));
        CHECK_OK(sp_fe_space_matrix(&context, &other, &K[1]));
        sp_elastic_stress_stiffness(&context, &body, u, 1, &K[0]);
        sp_elastic_stress_stiffness(&context, &other, u, 1, &K[1]);
        double largest = 0, differs = 0;
        for (int64_t k = 0; k < K[0].start[K[0].order]; k++) {
            largest = fmax(largest, fabs(K[1].value[k]));
            differs = fmax(differs, fabs(K[0].value[k] - K[1].value[k]));
        }
        /* rounding of u changes its gradient by ε |u|/h, here 1e-13 */
        CHECK(differs <= 1e-12 * largest, "stress stiffness off by %g of %g", differs, largest);
        sp_sparse_free(&K[0]), sp_sparse_free(&K[1]);
        sp_fe_space_free(&body), sp_fe_space_free(&other);
        sp_mesh_free(&mesh), sp_mesh_free(&plain);
    }
}

/* Hessian products at rest, D(u)v and D(u), each for one law: against sums in extended precision. */
TEST(products)
{
    for (int level = 0; level < LEVELS; level++)
        for (int shape = 0; shape < SHAPES; shape++) {
            enum { VECTORS = 2 };
            static const int64_t pair[2] = {0, 1};
            double X[24], U[48], u[24], h[24], y[24], size[3] = {0}, off[3] = {0};
            exact expected[24] = {0}, damped[24] = {0}, matrix[24 * 24] = {0};
            OWNED(sp_mesh) mesh;
            OWNED(sp_fe_space) body;
            OWNED(sp_viscous) viscous;
            OWNED(sp_sparse) D;
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
        }
}

/* The Gram matrix of polynomials over linear strains sym(∇uⁱ) and products sym(∇uⁱᵀ∇uʲ), each entry relative to the
 * roots of its diagonal entries. */
TEST(polynomials)
{
    enum { R = 3, N = R + R * (R + 1) / 2 };
    double worst[LEVELS] = {0};
    for (int level = 0; level < LEVELS; level++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int quadrature = 2; quadrature <= 3; quadrature++) {
                double X[24], U[24 * R], C[36], off = 0;
                exact gram[N * N] = {0};
                OWNED(sp_mesh) mesh;
                OWNED(sp_fe_space) body;
                reference r;
                OWNED(sp_polynomials) made;
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
            }
    for (int level = 0; level < LEVELS; level++)
        NOTE("thickness %g: %.1f roundings", thickness[level], worst[level]);
}

/* More classes of elements than polynomials keep factors of, with slivers among them: energy of the polynomials against
 * that of the elements. */
TEST(many_classes)
{
    enum { R = 4, N = R + R * (R + 1) / 2 };
    OWNED(sp_mesh) box, mesh;
    OWNED(sp_fe_space) body;
    sp_polynomials made;
    sp_polynomial_report report;
    make_box(6, 5, 5, 0.2, 0.2, &box);
    CHECK_OK(sp_mesh_split(&context, &box, &mesh));
    const int64_t rows = 3 * mesh.vertex_count;
    double *U = test_new(R * rows, 8), *u = test_new(rows, 8), worst = 0;
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
}

BEFORE_TESTS()
{
    context.threads = 1;
}
