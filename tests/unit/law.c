/* Laws at points: finite differences with their slope, rest, objectivity, isotropy, inversion, projections, published
 * values. */
#include "material/law.h"
#include "base/random.h"
#include "bodies.h"
#include "test.h"

#include <cblas.h>
#include <lapacke.h>

/* In lane `l`: H = F − I. */
static void evaluate(const sp_material *material, const double F[9], bool definite, double *W, double *P, double *A)
{
    sp_law_lanes law;
    sp_lanes H[9], energy, stress[9], tangent[SP_TANGENT_ENTRIES];
    for (int l = 0; l < SP_LANES; l++) {
        sp_law_set(&law, l, material);
        for (int k = 0; k < 9; k++)
            H[k][l] = F[k] - (k % 4 == 0);
    }
    sp_law_evaluate(&law, H, definite, &energy, stress, tangent);
    *W = energy[3];
    for (int k = 0; P && k < 9; k++)
        P[k] = stress[k][3];
    for (int p = 0, at = 0; A && p < 9; p++)
        for (int q = p; q < 9; q++, at++)
            A[9 * p + q] = A[9 * q + p] = tangent[at][3];
}

static void deformation(int stream, double size, bool inverted, double F[9])
{
    for (int k = 0; k < 9; k++)
        F[k] = (k % 4 == 0) + size * sp_random_normal(5, (uint64_t)stream, (uint64_t)k);
    if (inverted)
        for (int k = 0; k < 3; k++)
            F[3 * k + 1] = -F[3 * k + 1];
}

static double determinant(const double F[9])
{
    return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) + F[2] * (F[3] * F[7] - F[4] * F[6]);
}

/* Central differences along a direction: errors of W against P and of P against A fall with the square of the step. */
static void check_differences(const sp_material *m, const double F[9], const double D[9])
{
    double W, P[9], A[81], error[2][2], size[2] = {0, 0};
    evaluate(m, F, false, &W, P, A);
    for (int s = 0; s < 2; s++) {
        double step = s ? 5e-4 : 1e-3, plus[9], minus[9], W1, W0, P1[9], P0[9], slope = 0;
        for (int k = 0; k < 9; k++) {
            plus[k] = F[k] + step * D[k];
            minus[k] = F[k] - step * D[k];
            slope += P[k] * D[k];
        }
        evaluate(m, plus, false, &W1, P1, NULL);
        evaluate(m, minus, false, &W0, P0, NULL);
        error[0][s] = fabs((W1 - W0) / (2 * step) - slope);
        error[1][s] = 0;
        size[0] = fabs(slope);
        for (int k = 0; k < 9; k++) {
            double product = cblas_ddot(9, A + 9 * k, 1, D, 1);
            error[1][s] = fmax(error[1][s], fabs((P1[k] - P0[k]) / (2 * step) - product));
            size[1] = fmax(size[1], fabs(product));
        }
    }
    for (int q = 0; q < 2; q++) {
        double rounding = 1e-11 * (1 + size[q]);
        CHECK(error[q][1] < 1e-4 * (1 + size[q]), "%s, %s fibres, J = %g: %s differs by %g", sp_law_name(m->law),
              sp_fibre_name(m->fibre), determinant(F), q ? "A" : "P", error[q][1]);
        CHECK(error[q][1] < rounding || fabs(log2(error[q][0] / error[q][1]) - 2) < 0.2,
              "%s, %s fibres, J = %g: %s has errors %g and %g", sp_law_name(m->law), sp_fibre_name(m->fibre),
              determinant(F), q ? "A" : "P", error[q][0], error[q][1]);
    }
}

TEST(stress_and_tangent_are_derivatives)
{
    int turned = 0;
    for (int k = 0; k < TEST_LAWS; k++)
        for (int t = 0; t < 12; t++) {
            sp_material m = test_law(k);
            double F[9], D[9];
            deformation(10 + t, 0.3, t % 3 == 2 && sp_law_everywhere(m.law), F);
            deformation(40 + t, 1, false, D);
            if (!sp_law_everywhere(m.law) && determinant(F) < 0.1)
                continue;
            turned += determinant(F) < 0;
            check_differences(&m, F, D);
        }
    CHECK(turned > 20, "only %d turned", turned);
}

static void random_rotation(int stream, double R[9])
{
    double q[4], n = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = sp_random_normal(7, (uint64_t)stream, (uint64_t)i);
        n += q[i] * q[i];
    }
    double w = q[0], x = q[1], y = q[2], z = q[3], s = 2 / n;
    const double entries[9] = {1 - s * (y * y + z * z), s * (x * y - w * z),     s * (x * z + w * y),
                               s * (x * y + w * z),     1 - s * (x * x + z * z), s * (y * z - w * x),
                               s * (x * z - w * y),     s * (y * z + w * x),     1 - s * (x * x + y * y)};
    memcpy(R, entries, sizeof entries);
}

static void multiply(bool transpose, const double *A, const double *B, double *C)
{
    cblas_dgemm(CblasRowMajor, transpose ? CblasTrans : CblasNoTrans, CblasNoTrans, 3, 3, 3, 1, A, 3, B, 3, 0, C, 3);
}

/* Rotating the deformed body rotates the stress; rotating the undeformed body changes nothing for an isotropic
 * material. */
TEST(objective_and_isotropic)
{
    for (int k = 0; k < TEST_LAWS; k++)
        for (int t = 0; t < 6; t++) {
            sp_material m = test_law(k);
            double F[9], Q[9], QF[9], QP[9], FQ[9], PQ[9], W, P[9], W1, P1[9];
            deformation(70 + t, 0.3, t > 3 && sp_law_everywhere(m.law), F);
            if (!sp_law_everywhere(m.law) && determinant(F) < 0.05)
                continue;
            random_rotation(90 + t, Q);
            multiply(false, Q, F, QF);
            multiply(false, F, Q, FQ);
            evaluate(&m, F, false, &W, P, NULL);
            multiply(false, Q, P, QP);
            multiply(false, P, Q, PQ);
            evaluate(&m, QF, false, &W1, P1, NULL);
            CHECK_NEAR(W1, W, 1e-12 * (1 + fabs(W)));
            for (int i = 0; i < 9; i++)
                CHECK_NEAR(P1[i], QP[i], 1e-11 * (1 + fabs(W)));
            if (m.law == SP_LAW_LINEAR || m.fibre)
                continue;
            evaluate(&m, FQ, false, &W1, P1, NULL);
            CHECK_NEAR(W1, W, 1e-12 * (1 + fabs(W)));
            for (int i = 0; i < 9; i++)
                CHECK_NEAR(P1[i], PQ[i], 1e-11 * (1 + fabs(W)));
        }
}

/* At rest: no energy, no stress, Hooke's stiffness; for a strain of 1e-9 stress is that of Hooke to many digits,
 * without cancellation. */
TEST(rest_is_hookes)
{
    static const int voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    for (int k = 0; k < TEST_LAWS; k++) {
        sp_material m = test_law(k), hooke = m;
        double C[36], W, P[9], A[81], F[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        if (m.fibre == SP_FIBRE_FUNG)
            hooke.fibre = SP_FIBRE_STVK;
        if (m.law != SP_LAW_LINEAR)
            hooke.law = SP_LAW_STVK;
        if (m.law == SP_LAW_MOONEY_RIVLIN) { /* μ = 2(mu01 + mu10), κ = 2 v1 */
            double mu = 2 * (m.mooney[0] + m.mooney[1]), kappa = 2 * m.mooney[2];
            hooke.young = 9 * kappa * mu / (3 * kappa + mu);
            hooke.poisson = (3 * kappa - 2 * mu) / (2 * (3 * kappa + mu));
        }
        CHECK_OK(sp_material_stiffness(&context, &hooke, C));
        evaluate(&m, F, false, &W, P, A);
        CHECK(W == 0, "%s: %g", sp_law_name(m.law), W);
        for (int p = 0; p < 9; p++) {
            CHECK(P[p] == 0, "%s: P %g", sp_law_name(m.law), P[p]);
            for (int q = 0; q < 9; q++)
                CHECK_NEAR(A[9 * p + q], C[6 * voigt[p / 3][p % 3] + voigt[q / 3][q % 3]], 1e-13 * 10);
        }
        if (m.law == SP_LAW_COROTATIONAL) /* |F − R| is as exact as F is */
            continue;
        sp_law_lanes law;
        sp_lanes H[9], energy, stress[9];
        for (int l = 0; l < SP_LANES; l++) {
            sp_law_set(&law, l, &m);
            for (int i = 0; i < 9; i++)
                H[i][l] = 1e-9 * sp_random_normal(3, 1, (uint64_t)i);
        }
        sp_law_evaluate(&law, H, false, &energy, stress, NULL);
        for (int p = 0; p < 9; p++) {
            double expected = 0;
            for (int q = 0; q < 9; q++)
                expected += C[6 * voigt[p / 3][p % 3] + voigt[q / 3][q % 3]] * H[q][0];
            CHECK_NEAR(stress[p][0], expected, 3e-8 * 1e-9 * 10); /* what is left is of second order: 1e-17 */
        }
    }
}

/* The same energy by other formulas: quadratic laws by C, fibres of both kinds agree where the exponent vanishes. */
TEST(agrees_with_the_quadratic_form)
{
    static const int voigt[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};
    for (int k = 0; k < TEST_LAWS; k++) {
        sp_material m = test_law(k), quadratic = m;
        if (m.law > SP_LAW_LINEAR)
            continue;
        if (m.fibre == SP_FIBRE_FUNG) {
            m.fibre_exponent = 1e-12;
            quadratic.fibre = SP_FIBRE_STVK;
        }
        double F[9], C[36], e[6], W, expected = 0;
        deformation(120 + k, 0.4, k % 2, F);
        CHECK_OK(sp_material_stiffness(&context, &quadratic, C));
        for (int v = 0; v < 6; v++) {
            int i = voigt[v][0], j = voigt[v][1];
            e[v] = (i == j ? 0.5 : 1) * (F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j] - (i == j));
        }
        for (int a = 0; a < 6; a++)
            for (int b = 0; b < 6; b++)
                expected += 0.5 * e[a] * C[6 * a + b] * e[b];
        evaluate(&m, F, false, &W, NULL, NULL);
        CHECK_NEAR(W, expected, 1e-11 * expected);
    }
}

/* Active tension T: its energy is ½ T (|F a|² − 1), stress T F a aᵀ, tangent T δ_ik a_j a_l, all beside what is there
 * without it; derivatives, turned bodies, and the definite tangent stay right. */
TEST(active_fibres)
{
    const double T = 1.9, rest[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double smallest = INFINITY;
    for (int k = SP_LAW_COUNT; k < TEST_LAWS; k++)
        for (int t = 0; t < 6; t++) {
            sp_material passive = test_law(k), m = passive;
            const double *a = m.fibre_direction;
            double F[9], D[9], Q[9], QF[9], QP[9], W, P[9], A[81], W0, P0[9], A0[81], W1, P1[9], value[9], square = -1;
            m.fibre_tension = T;
            deformation(70 + t, 0.3, t > 3 && sp_law_everywhere(m.law), F);
            deformation(40 + t, 1, false, D);
            if (!sp_law_everywhere(m.law) && determinant(F) < 0.1)
                continue;
            check_differences(&m, F, D);
            evaluate(&m, F, false, &W, P, A);
            evaluate(&passive, F, false, &W0, P0, A0);
            for (int i = 0; i < 3; i++) {
                const double f = F[3 * i] * a[0] + F[3 * i + 1] * a[1] + F[3 * i + 2] * a[2];
                square += f * f;
                for (int j = 0; j < 3; j++)
                    CHECK_NEAR(P[3 * i + j] - P0[3 * i + j], T * f * a[j], 1e-12 * (1 + fabs(W)));
            }
            CHECK_NEAR(W - W0, T / 2 * square, 1e-12 * (1 + fabs(W)));
            for (int p = 0; p < 9; p++)
                for (int q = 0; q < 9; q++)
                    CHECK_NEAR(A[9 * p + q] - A0[9 * p + q], p / 3 == q / 3 ? T * a[p % 3] * a[q % 3] : 0,
                               1e-11 * (1 + fabs(W)));
            random_rotation(90 + t, Q);
            multiply(false, Q, F, QF);
            multiply(false, Q, P, QP);
            evaluate(&m, QF, false, &W1, P1, NULL);
            CHECK_NEAR(W1, W, 1e-12 * (1 + fabs(W)));
            for (int i = 0; i < 9; i++)
                CHECK_NEAR(P1[i], QP[i], 1e-11 * (1 + fabs(W)));
            evaluate(&m, F, true, &W, NULL, A);
            CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', 9, A, 9, value) == 0, "dsyev");
            smallest = fmin(smallest, value[0] / value[8]);
            evaluate(&m, rest, false, &W, P, NULL);
            CHECK(W == 0, "at rest: %g", W);
            for (int i = 0; i < 9; i++)
                CHECK_NEAR(P[i], T * a[i / 3] * a[i % 3], 1e-15);
        }
    CHECK(smallest > -1e-14, "the definite tangent has an eigenvalue of %g of the largest", smallest);
}

/* Strongly deformed points: general, inverted, with two or three equal principal stretches, one of them 0, with a
 * nearest rotation that is not unique or does not exist. */
static void strong_deformation(int t, double F[9])
{
    static const double stretch[][3] = {{0.5, 0.5, 0.5},  {0.4, 0.4, 1.2},  {1.3, 0.3, 0.3}, {0.7, 0.2, 0},
                                        {1.1, 0.5, -0.5}, {0.6, 0.6, -0.6}, {0, 0, 0}};
    double U[9], V[9], product[9];
    deformation(150 + t, 0.5, t >= 6, F);
    if (t < 9)
        return;
    random_rotation(170 + t, U);
    random_rotation(190 + t, V);
    for (int i = 0; i < 9; i++)
        product[i] = U[i] * stretch[t - 9][i % 3];
    multiply(false, product, V, F);
}

/* Negative eigenvalues become 0, the others stay: against LAPACK's own decomposition. */
TEST(projection)
{
    int indefinite = 0;
    for (int k = 0; k < TEST_LAWS; k++)
        for (int t = 0; t < 16; t++) {
            sp_material m = test_law(k);
            double F[9], W, A[81], D[81], V[81], value[9], size = 0;
            strong_deformation(t, F);
            if (!sp_law_everywhere(m.law) && determinant(F) < 0.1)
                continue;
            evaluate(&m, F, false, &W, NULL, A);
            evaluate(&m, F, true, &W, NULL, D);
            memcpy(V, A, sizeof A);
            CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', 9, V, 9, value) == 0, "dsyev");
            indefinite += value[0] < -1e-9;
            for (int i = 0; i < 9; i++)
                size = fmax(size, fabs(value[i]));
            for (int p = 0; p < 9; p++)
                for (int q = 0; q < 9; q++) {
                    double expected = 0;
                    for (int i = 0; i < 9; i++)
                        expected += fmax(0, value[i]) * V[9 * i + p] * V[9 * i + q];
                    CHECK_NEAR(D[9 * p + q], expected, 1e-13 * size * 10);
                }
        }
    CHECK(indefinite > 20, "only %d indefinite", indefinite);
}

/* Where a law is undefined: +∞ and NaN in that lane, and correct values in the others. */
TEST(inversion)
{
    for (int k = 0; k < TEST_LAWS; k++) {
        sp_material m = test_law(k);
        sp_law_lanes law;
        sp_lanes H[9], energy, stress[9], tangent[SP_TANGENT_ENTRIES];
        double W, F[9] = {-0.5, 0, 0, 0, 1.1, 0.2, 0, 0, 1}, P[9], inward = 0;
        for (int l = 0; l < SP_LANES; l++) {
            sp_law_set(&law, l, &m);
            for (int i = 0; i < 9; i++)
                H[i][l] = l == 2 ? F[i] - (i % 4 == 0) : 0.01 * i;
        }
        sp_law_evaluate(&law, H, true, &energy, stress, tangent);
        for (int l = 0; l < SP_LANES; l++) {
            bool none = l == 2 && !sp_law_everywhere(m.law);
            CHECK(none ? energy[l] == INFINITY : isfinite(energy[l]) && energy[l] > 0, "%s lane %d: %g",
                  sp_law_name(m.law), l, energy[l]);
            for (int p = 0; p < 9; p++)
                CHECK(none ? isnan(stress[p][l]) : isfinite(stress[p][l]), "%s lane %d: %g", sp_law_name(m.law), l,
                      stress[p][l]);
        }
        if (m.law != SP_LAW_COROTATIONAL && m.law != SP_LAW_STABLE_NEO_HOOKEAN)
            continue;
        m.fibre = SP_FIBRE_NONE;
        evaluate(&m, F, false, &W, P, NULL);
        inward = P[0]; /* −P is the force: positive drives F₁₁ up, back to 1 */
        CHECK(inward < 0, "%s pushes an inverted element on: %g", sp_law_name(m.law), inward);
        double zero[9] = {0};
        evaluate(&m, zero, true, &W, P, NULL);
        CHECK(isfinite(W) && isfinite(P[0]), "a point: %g", W);
    }
}

/* Entries whose squares underflow, between equal eigenvalues. */
TEST(tiny_shear)
{
    for (int k = 0; k < TEST_LAWS; k++) {
        sp_material m = test_law(k);
        double W, P[9], A[81], F[9] = {1, 1e-170, 0, 1e-170, 1, 0, 0, 0, 1};
        for (int definite = 0; definite < 2; definite++) {
            evaluate(&m, F, definite, &W, P, A);
            for (int p = 0; p < 81; p++)
                CHECK(isfinite(A[p]) && isfinite(P[p / 9]) && isfinite(W), "%s: entry %d is %g", sp_law_name(m.law), p,
                      A[p]);
        }
    }
}

/* FinEtoolsDeforNonlinear, E 7e6, ν 0.3: Cauchy stress PFᵀ/J. */
TEST(published_points)
{
    sp_material m = {.law = SP_LAW_STVK, .young = 7e6, .poisson = 0.3};
    double F[9] = {1.01, 0, 0, 0, 1, 0, 0, 0, 1}, W, P[9];
    evaluate(&m, F, false, &W, P, NULL);
    CHECK_NEAR(P[0] * 1.01 / 1.01, 95648.94230769236, 1e-6);
    CHECK_NEAR(P[4] / 1.01, 40184.69154607771, 1e-6);
    m.law = SP_LAW_NEO_HOOKEAN;
    F[0] = 1.1;
    evaluate(&m, F, false, &W, P, NULL);
    CHECK_NEAR(P[0], 863901.0097711232, 1e-6);
    CHECK_NEAR(P[4] / 1.1, 349914.99578510894, 1e-6);
    /* CalculiX beamnh: C10 (J^(−2/3) I1 − 3) + (J − 1)²/D1 under the Cauchy stress 2 along x */
    m = (sp_material){.law = SP_LAW_MOONEY_RIVLIN, .mooney = {0, 1.92505, 1 / 0.026}};
    double G[9] = {1.17656006, 0, 0, 0, 0.92590576, 0, 0, 0, 0.92590576};
    evaluate(&m, G, false, &W, P, NULL);
    CHECK_NEAR(P[0] * G[0] / determinant(G), 2, 1e-6);
    CHECK_NEAR(P[4] * G[4] / determinant(G), 0, 1e-6);
}
