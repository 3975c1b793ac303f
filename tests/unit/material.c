/* Materials: parameters that are refused, and the stiffness of the linear laws. */
#include "material/material.h"
#include "base/random.h"
#include "material/stress.h"
#include "test.h"

static double uniform(uint64_t stream, int64_t index)
{
    return 2 * sp_random_uniform(7, stream, (uint64_t)index) - 1;
}

static sp_material rubber(const char *name)
{
    sp_material material = {.law = SP_LAW_STVK, .density = 1000, .young = 1e6, .poisson = 0.3};
    snprintf(material.name, sizeof material.name, "%s", name);
    return material;
}

static const int voigt[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};

/* A rotation from a random unit quaternion. */
static void random_rotation(uint64_t stream, double R[9])
{
    double q[4], norm = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = sp_random_normal(7, stream, (uint64_t)i);
        norm += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++)
        q[i] /= sqrt(norm);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double entries[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                               2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                               2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, entries, sizeof entries);
}

static double energy(const double C[36], double E[3][3])
{
    double e[6], w = 0;
    for (int i = 0; i < 6; i++)
        e[i] = (i < 3 ? 1 : 2) * E[voigt[i][0]][voigt[i][1]];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            w += 0.5 * e[i] * C[6 * i + j] * e[j];
    return w;
}

static int voigt_of(int i, int j)
{
    return i == j ? i : 6 - i - j; /* (1,2) → 3, (2,0) → 4, (0,1) → 5 */
}

/* A linear material with the 21 constants of A Aᵀ + 1, A random: no symmetry at all. */
static sp_material anisotropic(double own[36])
{
    sp_material material = rubber("wood");
    material.law = SP_LAW_LINEAR;
    random_rotation(20, material.frame);
    for (int i = 0, next = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            own[6 * i + j] = i == j;
            for (int k = 0; k < 6; k++)
                own[6 * i + j] += uniform(21, 6 * i + k) * uniform(21, 6 * j + k);
            if (j >= i)
                material.stiffness[next++] = own[6 * i + j];
        }
    return material;
}

/* The compliance by definition: strain 1/E along a pull, −ν/E across, 1/G in shear with G = E/(2(1+ν)). */
TEST(isotropic_stiffness)
{
    double C[36], lambda, mu;
    for (int n = 0; n < 4; n++) {
        sp_material material = rubber("steel");
        material.young = 3e5 * (n + 1);
        material.poisson = (double[]){-0.7, 0, 0.3, 0.4999}[n];
        CHECK_OK(sp_material_check(&context, &material));
        CHECK_OK(sp_material_stiffness(&context, &material, C));
        double E = material.young, nu = material.poisson;
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) {
                double sum = 0;
                for (int k = 0; k < 6; k++)
                    sum += C[6 * i + k] * (k == j ? (k < 3 ? 1 / E : 2 * (1 + nu) / E) : k < 3 && j < 3 ? -nu / E : 0);
                CHECK_NEAR(sum, i == j, 1e-11);
            }
        sp_lame(E, nu, &lambda, &mu);
        CHECK_NEAR(C[1], lambda, 0);
        CHECK_NEAR(C[21], mu, 0);
        CHECK_NEAR(C[0], lambda + 2 * mu, 1e-15 * C[0]);
        double strain[3][3] = {{0.1, 0.02, -0.03}, {0.02, -0.05, 0.04}, {-0.03, 0.04, 0.07}}, square = 0;
        for (int i = 0; i < 9; i++)
            square += strain[i / 3][i % 3] * strain[i / 3][i % 3];
        CHECK_NEAR(energy(C, strain), lambda / 2 * 0.12 * 0.12 + mu * square, 1e-14 * C[0]);
    }
}

/* Closed forms: a bar of 1 mm² at the stretches 4/3 and 2/3 and a constrained pull (README of the shared meshes). */
TEST(stvk_stress)
{
    sp_material material = rubber("bar");
    double C[36];
    material.young = 7;
    CHECK_OK(sp_material_stiffness(&context, &material, C));
    const double stretch[2] = {4.0 / 3, 2.0 / 3}, force[2] = {3.629629629629627, -1.2962962962962954};
    for (int i = 0; i < 2; i++) {
        double s = stretch[i], e = (s * s - 1) / 2, across = -material.poisson * e;
        CHECK_NEAR(s * (C[0] * e + C[1] * across + C[2] * across), force[i], 1e-14);
        CHECK_NEAR(C[6] * e + C[7] * across + C[8] * across, 0, 1e-14);
    }
    material.young = 7e6;
    CHECK_OK(sp_material_stiffness(&context, &material, C));
    double e = (1.01 * 1.01 - 1) / 2;
    CHECK_NEAR(1.01 * C[0] * e, 95648.94230769236, 1e-8);
    CHECK_NEAR(C[6] * e / 1.01, 40184.69154607771, 1e-8);
}

/* ½ E:C:E with E turned into the material's frame, and every entry of the tensor turned with four sums. */
TEST(rotated_stiffness)
{
    double own[36], C[36];
    sp_material material = anisotropic(own);
    const double *R = material.frame;
    CHECK_OK(sp_material_check(&context, &material));
    CHECK_OK(sp_material_stiffness(&context, &material, C));
    for (int n = 0; n < 20; n++) {
        double E[3][3], turned[3][3] = {{0}};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                E[i][j] = uniform(22, 9 * n + 3 * (i < j ? i : j) + (i < j ? j : i));
        for (int a = 0; a < 9; a++)
            for (int i = 0; i < 9; i++)
                turned[a / 3][a % 3] += R[3 * (a / 3) + i / 3] * E[i / 3][i % 3] * R[3 * (a % 3) + i % 3];
        CHECK_NEAR(energy(C, E), energy(own, turned), 1e-13);
    }
    for (int row = 0; row < 6; row++)
        for (int column = 0; column < 6; column++) {
            int i = voigt[row][0], j = voigt[row][1], k = voigt[column][0], l = voigt[column][1];
            double sum = 0;
            for (int n = 0; n < 81; n++) {
                int a = n / 27, b = n / 9 % 3, c = n / 3 % 3, d = n % 3;
                sum += R[3 * a + i] * R[3 * b + j] * R[3 * c + k] * R[3 * d + l] *
                       own[6 * voigt_of(a, b) + voigt_of(c, d)];
            }
            CHECK_NEAR(C[6 * row + column], sum, 1e-13);
            CHECK(C[6 * row + column] == C[6 * column + row], "symmetric to the last bit");
        }
}

/* A fibre along the first axis of the frame resists along that direction in the body; isotropy has no direction. */
TEST(frame_rows_are_the_axes)
{
    double own[36], C[36], unturned[36], along[3][3], across[3][3];
    sp_material fibre = anisotropic(own), steel = rubber("steel");
    for (int i = 0, next = 0; i < 6; i++)
        for (int j = i; j < 6; j++)
            fibre.stiffness[next++] = i != j ? 0 : i == 0 ? 1e6 : 1e-6;
    CHECK_OK(sp_material_check(&context, &fibre));
    CHECK_OK(sp_material_stiffness(&context, &fibre, C));
    for (int i = 0; i < 9; i++) {
        along[i / 3][i % 3] = fibre.frame[i / 3] * fibre.frame[i % 3];
        across[i / 3][i % 3] = fibre.frame[3 + i / 3] * fibre.frame[3 + i % 3];
    }
    CHECK_NEAR(energy(C, along), 5e5, 1e-7);
    CHECK_NEAR(energy(C, across), 0, 1e-6);

    CHECK_OK(sp_material_stiffness(&context, &steel, unturned));
    for (int i = 0, next = 0; i < 6; i++)
        for (int j = i; j < 6; j++)
            fibre.stiffness[next++] = unturned[6 * i + j];
    CHECK_OK(sp_material_stiffness(&context, &fibre, C));
    for (int i = 0; i < 36; i++)
        CHECK_NEAR(C[i], unturned[i], 1e-14 * unturned[0]);
}

#define REFUSED_MATERIAL(text, ...)                                                                                    \
    do {                                                                                                               \
        double own[36];                                                                                                \
        sp_material m = anisotropic(own);                                                                              \
        __VA_ARGS__;                                                                                                   \
        context.message[0] = 0;                                                                                        \
        int status_ = sp_material_check(&context, &m);                                                                 \
        CHECK(status_ == SP_INPUT, "status %d", status_);                                                              \
        CHECK(strcmp(context.message, text) == 0, "says \"%s\"", context.message);                                     \
    } while (0)

TEST(bad_materials_are_refused)
{
    REFUSED_MATERIAL("material: the name is not UTF-8 at byte 1", strcpy(m.name, "a\xC0\x80"));
    REFUSED_MATERIAL("material: the name is not UTF-8 at byte 0", strcpy(m.name, "\xED\xA0\x80"));
    REFUSED_MATERIAL("material: the name is not UTF-8 at byte 2", strcpy(m.name, "ab\xE2\x82"));
    REFUSED_MATERIAL("material: the name has a control character at byte 3", strcpy(m.name, "two\nlines"));
    REFUSED_MATERIAL("material \"H\xC3\xA4ngebr\xC3\xBC"
                     "cke\": there is no law number 7",
                     strcpy(m.name, "H\xC3\xA4ngebr\xC3\xBC"
                                    "cke");
                     m.law = SP_LAW_COUNT);
    REFUSED_MATERIAL("material \"wood\": density inf kg/m3 is not positive and finite", m.density = INFINITY);
    REFUSED_MATERIAL("material \"wood\": mass damping -1 1/s is negative or not finite", m.damping_mass = -1);
    REFUSED_MATERIAL("material \"wood\": stiffness damping nan s is negative or not finite", m.damping_stiffness = NAN);
    REFUSED_MATERIAL("material \"wood\": Young's modulus 0 Pa is not positive and finite", m.law = SP_LAW_STVK;
                     m.young = 0);
    REFUSED_MATERIAL("material \"wood\": Poisson's ratio 0.5 is not between -1 and 0.5", m.law = SP_LAW_NEO_HOOKEAN;
                     m.poisson = 0.5);
    REFUSED_MATERIAL("material \"wood\": Poisson's ratio -1 is not between -1 and 0.5", m.law = SP_LAW_STVK;
                     m.poisson = -1);
    REFUSED_MATERIAL("material \"wood\": mu01 + mu10 = -1 Pa is not positive", m.law = SP_LAW_MOONEY_RIVLIN;
                     m.mooney[0] = -1);
    REFUSED_MATERIAL("material \"wood\": v1 = 0 Pa is not positive", m.law = SP_LAW_MOONEY_RIVLIN; m.mooney[0] = 1);
    REFUSED_MATERIAL("material \"wood\": elastic constant 20 is nan", m.stiffness[20] = NAN);
    REFUSED_MATERIAL("material \"wood\": elastic constant C11 = -2 Pa is not positive", m.stiffness[0] = -2);
    REFUSED_MATERIAL("material \"wood\": entry 4 of the frame is nan", m.frame[4] = NAN);
    REFUSED_MATERIAL("material \"wood\": rows 0 and 0 of the frame have the scalar product 4 instead of 1",
                     for (int i = 0; i < 3; i++) m.frame[i] *= 2);
    REFUSED_MATERIAL("material \"wood\": rows 0 and 1 of the frame have the scalar product 1 instead of 0",
                     memcpy(m.frame + 3, m.frame, 3 * sizeof(double)));
    REFUSED_MATERIAL("material \"wood\": the frame is left handed", for (int i = 0; i < 3; i++) m.frame[i] *= -1);
}

/* On a matrix with known eigenvalues: the unit matrix plus s (v vᵀ) with |v| = 1 has the eigenvalue 1 + s. */
TEST(definiteness)
{
    double own[36], v[6], norm = 0;
    sp_material material = anisotropic(own);
    for (int i = 0; i < 6; i++) {
        v[i] = 1 + i;
        norm += v[i] * v[i];
    }
    const double s[4] = {-0.999, -1.001, -1, 5};
    for (int n = 0; n < 4; n++) {
        for (int i = 0, next = 0; i < 6; i++)
            for (int j = i; j < 6; j++)
                material.stiffness[next++] = 1e9 * ((i == j) + s[n] * v[i] * v[j] / norm);
        bool definite = sp_material_check(&context, &material) == SP_OK;
        CHECK(definite == (1 + s[n] > 0), "eigenvalue %g", 1 + s[n]);
    }
    CHECK(strcmp(context.message, "material \"wood\": the elastic constants are not positive definite (row 6)") == 0,
          "%s", context.message);
}

TEST(laws_have_names)
{
    for (int i = 0; i < SP_LAW_COUNT; i++) {
        enum sp_law law = SP_LAW_COUNT;
        CHECK_OK(sp_law_from_name(&context, sp_law_name((enum sp_law)i), &law));
        CHECK((int)law == i, "law %d", i);
    }
    enum sp_law law;
    CHECK(strcmp(sp_law_name(SP_LAW_MOONEY_RIVLIN), "mooney-rivlin") == 0, "named as documented");
    CHECK(sp_law_from_name(&context, "hooke", &law) == SP_INPUT, "accepted");
    CHECK(strstr(context.message, "\"hooke\"") != NULL, "%s", context.message);
    sp_material material = rubber("gum");
    double C[36];
    material.law = SP_LAW_NEO_HOOKEAN;
    CHECK(sp_material_stiffness(&context, &material, C) == SP_INPUT, "accepted");
    CHECK(strcmp(context.message, "material \"gum\": the law neo-hookean is not linear in the Green-Lagrange strain") ==
              0,
          "%s", context.message);
}

/* Cauchy's stress F S Fᵀ / J of random F and S in full, its von Mises stress by components, and the largest eigenvalue
 * λ as the number for which (λ + h) I − σ is positive definite and (λ − h) I − σ is not. */
TEST(stress_agrees_with_the_full_tensor)
{
    static const int place[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    for (uint64_t trial = 0; trial < 200; trial++) {
        double F[3][3], S[6], E[6], sigma[3][3] = {{0}};
        for (uint64_t i = 0; i < 9; i++)
            F[i / 3][i % 3] = (i % 4 == 0) + 0.3 * (2 * sp_random_uniform(5, trial, i) - 1);
        for (uint64_t i = 0; i < 6; i++)
            S[i] = trial % 5 == 4 ? (i < 3 ? 7 : 0) : 2 * sp_random_uniform(6, trial, i) - 1;
        const double J = F[0][0] * (F[1][1] * F[2][2] - F[1][2] * F[2][1]) -
                         F[0][1] * (F[1][0] * F[2][2] - F[1][2] * F[2][0]) +
                         F[0][2] * (F[1][0] * F[2][1] - F[1][1] * F[2][0]);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double product = 0;
                for (int k = 0; k < 3; k++) {
                    product += F[k][i] * F[k][j];
                    for (int l = 0; l < 3; l++)
                        sigma[i][j] += F[i][k] * S[place[k][l]] * F[j][l] / J;
                }
                E[place[i][j]] = 0.5 * (product - (i == j));
            }
        const double a = sigma[0][0], b = sigma[1][1], c = sigma[2][2], d = sigma[1][2], e = sigma[2][0],
                     f = sigma[0][1];
        CHECK_NEAR(
            sp_stress_mises(E, S),
            sqrt(0.5 * ((a - b) * (a - b) + (b - c) * (b - c) + (c - a) * (c - a)) + 3 * (d * d + e * e + f * f)),
            1e-12);
        const double components[6] = {a, b, c, d, e, f};
        CHECK_NEAR(sp_tensor_largest(components), sp_stress_largest(E, S),
                   1e-6); /* acos near 1 loses half the digits */
        for (int sign = -1; sign <= 1; sign += 2) {
            const double l = sp_stress_largest(E, S) + sign * 1e-6, A = l - a, B = l - b, C = l - c;
            const bool definite =
                A > 0 && A * B - f * f > 0 && A * (B * C - d * d) - f * (f * C + d * e) - e * (f * d + B * e) > 0;
            CHECK(definite == (sign > 0), "trial %d: %g is not the largest eigenvalue", (int)trial, l);
        }
    }
    const double none[6] = {0}, tension[6] = {100, 0, 0, 0, 0, 0}, shear[6] = {0, 0, 0, 0, 5, 0};
    CHECK_NEAR(sp_stress_mises(none, tension), 100, 1e-12);
    CHECK_NEAR(sp_stress_largest(none, tension), 100, 1e-12);
    CHECK_NEAR(sp_stress_mises(none, shear), 5 * sqrt(3), 1e-12);
    CHECK_NEAR(sp_stress_largest(none, shear), 5, 1e-12);
    const double flat[6] = {-0.5, 0, 0, 0, 0, 0};
    CHECK(sp_stress_mises(flat, tension) == 0 && sp_stress_largest(flat, tension) == 0, "J = 0");
    const double undefined[6] = {NAN, 0, 0, 0, 0, 0};
    CHECK(isnan(sp_stress_mises(none, undefined)) && isnan(sp_cauchy_mises(undefined)), "a stress that is no number");
    CHECK(isnan(sp_stress_largest(none, undefined)) && isnan(sp_tensor_largest(undefined)), "its largest value");
    CHECK(isnan(sp_stress_mises(undefined, tension)), "a strain that is no number");
}
