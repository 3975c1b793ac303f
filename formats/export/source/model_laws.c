/* ---- the elements ----
 *
 *     W = sum_e w_e W_e(B_e q) + 1/2 q^T C q
 *
 * B_e are the rows of U of the nodes a = 1, 2, ... of an element, relative to those of node 0. With the displacements
 * u = B_e q the displacement gradient at a Gauss point is H = sum_a u_a grad N_a^T. The law gives the energy density,
 * the first Piola-Kirchhoff stress P and the tangent A = dP/dH, from which
 *
 *     f_a = sum_points weight P grad N_a,     K_ab = sum_points weight grad N_a . A . grad N_b.
 *
 * C is what the weighted sum lacks of the linear part of the force, or zero.
 *
 *     kinds       [materials, 2] the law, and the law of the fibres or 0
 *     constants   [materials, MODEL_CONSTANTS] of the law 3 numbers, Pa; of the fibres
 *                 the stiffness, Pa, the exponent and the direction; C [6, 6] of the law
 *                 that is quadratic in the strain, Pa
 *     shapes      [shapes, 5] material, treatment of the strain or 0, nodes, Gauss points,
 *                 first number in `geometry`
 *     geometry    of each shape: 54 numbers of incompatible modes, if it has them; of each
 *                 point the weight, m3, and grad N_a, 1/m: x, y and z of the nodes 1, 2, ...,
 *                 each with zeros up to a multiple of 4 numbers, the stride of the shape
 *     elements    the shape of each element
 *     weights     w_e
 *     rows        of each element B_e, rows of MODEL_WIDTH numbers for x, y and z of the
 *                 nodes 1, 2, ...
 *     correction  C, MODEL_R rows of MODEL_WIDTH numbers */

#define MODEL_QUADRATIC 1
#define MODEL_NEO_HOOKEAN 2
#define MODEL_MOONEY_RIVLIN 3
#define MODEL_COROTATIONAL 4
#define MODEL_ISOCHORIC_NEO_HOOKEAN 5
#define MODEL_STABLE_NEO_HOOKEAN 6
#define MODEL_STVK_FIBRES 7
#define MODEL_FUNG_FIBRES 8
#define MODEL_MEAN_DILATATION 9
#define MODEL_INCOMPATIBLE_MODES 10

/* Whether the model has a law, fibres or a treatment of the strain: bit n of MODEL_PARTS for the number n. */
/*< parts >*/
#define MODEL_HAS(part) (MODEL_PARTS >> (part)&1)
#define MODEL_HAS_INVARIANTS                                                                                           \
    (MODEL_HAS(MODEL_NEO_HOOKEAN) || MODEL_HAS(MODEL_MOONEY_RIVLIN) || MODEL_HAS(MODEL_ISOCHORIC_NEO_HOOKEAN) ||       \
     MODEL_HAS(MODEL_STABLE_NEO_HOOKEAN))
#define MODEL_HAS_POWERS (MODEL_HAS(MODEL_MOONEY_RIVLIN) || MODEL_HAS(MODEL_ISOCHORIC_NEO_HOOKEAN))
#define MODEL_HAS_FIBRES (MODEL_HAS(MODEL_STVK_FIBRES) || MODEL_HAS(MODEL_FUNG_FIBRES))
#define MODEL_HAS_ASSUMED (MODEL_HAS(MODEL_MEAN_DILATATION) || MODEL_HAS(MODEL_INCOMPATIBLE_MODES))

/*< tables >*/

enum { MODEL_CONSTANTS = 44, MODEL_SHAPE = 5, MODEL_MODES = 54, MODEL_TANGENT = 81 };

/* What a law gives at a point: the energy density, P [9] and A [9, 9], of which the upper triangle is computed. Indices
 * are 3 i + j for H_ij. */
typedef struct model_point {
    model_real W, P[9], A[MODEL_TANGENT];
} model_point;

#if MODEL_HAS_INVARIANTS || MODEL_HAS(MODEL_FUNG_FIBRES)
/* ---- functions of one number ---- */

#define MODEL_LN2 MODEL_NUMBER(0.69314718055994530942)

static model_real model_infinity(void)
{
    model_real x = MODEL_NUMBER(1e30);
    while (model_finite(x))
        x *= x;
    return x;
}

#if MODEL_HAS_INVARIANTS
/* ln(1 + x) = k ln 2 + 2 artanh s with 1 + x = 2^k m, m between the roots of 1/2 and 2, and s = (m - 1) / (m + 1). */
static model_real model_log1p(model_real x)
{
    const model_real root = MODEL_NUMBER(1.41421356237309504880);
    model_real m = 1 + x, rest = x - (m - 1), sum = 0;
    int k = 0;

    if (!(m > 0) || !model_finite(m))
        return x;
    for (; m > root; k++)
        m /= 2, rest /= 2;
    for (; m * root < 1; k--)
        m *= 2, rest *= 2;

    const model_real s = (m - 1 + rest) / (m + 1), square = s * s;
    for (int n = 21; n > 0; n -= 2)
        sum = sum * square + 1 / MODEL_NUMBER(n);
    return MODEL_NUMBER(k) * MODEL_LN2 + 2 * s * sum;
}
#endif

#if MODEL_HAS_POWERS || MODEL_HAS(MODEL_FUNG_FIBRES)
/* e^x - 1 = 2^k (1 + (e^r - 1)) - 1 with x = k ln 2 + r, where ln 2 is the sum of two numbers. */
static model_real model_expm1(model_real x)
{
    const model_real large = MODEL_NUMBER(MODEL_SINGLE ? 120 : 1400), high = MODEL_NUMBER(0.693145751953125),
                     low = MODEL_NUMBER(1.42860682030941723212e-6);
    model_real sum = 1;

    if (!(x > -large))
        return x < 0 ? -1 : x;
    if (!(x < large))
        return model_infinity();

    int k = (int)(x / MODEL_LN2 + (x < 0 ? MODEL_NUMBER(-0.5) : MODEL_NUMBER(0.5)));
    const model_real r = (x - MODEL_NUMBER(k) * high) - MODEL_NUMBER(k) * low;
    for (int n = 15; n > 1; n--)
        sum = 1 + r * sum / MODEL_NUMBER(n);
    sum *= r;

    for (; k > 0; k--)
        sum = 2 * sum + 1;
    for (; k < 0; k++)
        sum = (sum - 1) / 2;
    return sum;
}
#endif
#endif

/* ---- matrices ---- */

#if MODEL_HAS_INVARIANTS || MODEL_HAS(MODEL_COROTATIONAL)
static void model_multiply(const model_real *A, const model_real *B, model_real *C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

static model_real model_square_sum(int count, const model_real *x)
{
    model_real sum = 0;
    for (int k = 0; k < count; k++)
        sum += x[k] * x[k];
    return sum;
}

#endif

#if MODEL_HAS_INVARIANTS
static void model_cofactor(const model_real *A, model_real *C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            C[3 * i + j] = A[3 * i1 + j1] * A[3 * i2 + j2] - A[3 * i1 + j2] * A[3 * i2 + j1];
        }
}
#endif

/* F = I + H. */
static void model_deformation(const model_real *H, model_real *F)
{
    for (int k = 0; k < 9; k++)
        F[k] = H[k] + MODEL_NUMBER(k % 4 == 0);
}

#if MODEL_HAS(MODEL_QUADRATIC) || MODEL_HAS_ASSUMED
/* ---- the law that is quadratic in the strain: W = 1/2 E : C : E ----
 *
 * Strains and stresses have the order xx, yy, zz, yz, zx, xy, and strains twice the shear. */

static const int model_first[6] = {0, 1, 2, 1, 2, 0}, model_second[6] = {0, 1, 2, 2, 0, 1},
                 model_voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};

/* sym(F^T D), of which sym((I + H/2)^T H) is the Green-Lagrange strain. */
static void model_strain_of(const model_real *F, const model_real *D, model_real *E)
{
    for (int k = 0; k < 6; k++) {
        const int i = model_first[k], j = model_second[k];
        E[k] = F[i] * D[j] + F[3 + i] * D[3 + j] + F[6 + i] * D[6 + j];
        if (k >= 3)
            E[k] += F[j] * D[i] + F[3 + j] * D[3 + i] + F[6 + j] * D[6 + i];
    }
}

static void model_green_strain(const model_real *H, model_real *E)
{
    model_real half[9];
    for (int k = 0; k < 9; k++)
        half[k] = H[k] / 2 + MODEL_NUMBER(k % 4 == 0);
    model_strain_of(half, H, E);
}

static void model_hooke(const model_real *C, const model_real *E, model_real *S)
{
    for (int k = 0; k < 6; k++) {
        S[k] = 0;
        for (int m = 0; m < 6; m++)
            S[k] += C[6 * k + m] * E[m];
    }
}

/* P = F S. */
static void model_first_stress(const model_real *F, const model_real *S, model_real *P)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[3 * i + j] = F[3 * i] * S[model_voigt[0][j]] + F[3 * i + 1] * S[model_voigt[1][j]] +
                           F[3 * i + 2] * S[model_voigt[2][j]];
}
#endif

#if MODEL_HAS(MODEL_QUADRATIC)
/* P = F S with S = C E, and A_ij,kl = delta_ik S_jl + sum_ab F_ia C_aj,lb F_kb. */
static void model_quadratic_law(const model_real *C, const model_real *H, int tangent, model_point *to)
{
    model_real F[9], E[6], S[6], half[9][6];

    model_deformation(H, F);
    model_green_strain(H, E);
    model_hooke(C, E, S);
    for (int k = 0; k < 6; k++)
        to->W += S[k] * E[k] / 2;
    model_first_stress(F, S, to->P);
    if (!tangent)
        return;

    for (int p = 0; p < 9; p++)
        for (int m = 0; m < 6; m++) {
            half[p][m] = 0;
            for (int a = 0; a < 3; a++)
                half[p][m] += F[3 * (p / 3) + a] * C[6 * model_voigt[a][p % 3] + m];
        }

    for (int p = 0; p < 9; p++)
        for (int q = p; q < 9; q++) {
            for (int b = 0; b < 3; b++)
                to->A[9 * p + q] += half[p][model_voigt[q % 3][b]] * F[3 * (q / 3) + b];
            if (p / 3 == q / 3)
                to->A[9 * p + q] += S[model_voigt[p % 3][q % 3]];
        }
}
#endif

#if MODEL_HAS_INVARIANTS
/* ---- laws of the invariants a = F:F, b = (a^2 - C:C) / 2 with C = F^T F, and J = det F ----
 *
 * a3 = a - 3, b3 = b - 3 and j = J - 1 are polynomials in H, so that nothing cancels near rest, and
 *
 *     P = 2 W_a H + 2 W_b (2 H + a3 F - F (C - I)) + W_J (cof F - I) + rest I,     rest = 2 W_a + 4 W_b + W_J. */

typedef struct model_invariants {
    model_real W, W_a, W_b, W_J, W_aa, W_aJ, W_bJ, W_JJ, rest;
} model_invariants;

#if MODEL_HAS(MODEL_NEO_HOOKEAN)
/* W = mu/2 (a - 3) - mu ln J + lambda/2 ln^2 J */
static void model_neo_hookean(const model_real *c, model_real a3, model_real j, model_invariants *w)
{
    const model_real lambda = c[0], mu = c[1], logarithm = model_log1p(j), J = j + 1;
    w->W = mu * a3 / 2 - mu * logarithm + lambda / 2 * logarithm * logarithm;
    w->W_a = mu / 2;
    w->W_J = (lambda * logarithm - mu) / J;
    w->W_JJ = (lambda + mu - lambda * logarithm) / (J * J);
    w->rest = (mu * j + lambda * logarithm) / J;
}
#endif

#if MODEL_HAS_POWERS
/* J^(-2/3) - 1 */
static model_real model_power(model_real j)
{
    return model_expm1(-2 * model_log1p(j) / 3);
}

/* W += m (J^(-2/3) a - 3), p = J^(-2/3) - 1 */
static void model_add_isochoric(model_real m, model_real a3, model_real j, model_real p, model_invariants *w)
{
    const model_real a = a3 + 3, J = j + 1, q = p + 1;
    w->W += m * (a * p + a3);
    w->W_a += m * q;
    w->W_J -= 2 * m * a * q / (3 * J);
    w->W_aJ -= 2 * m * q / (3 * J);
    w->W_JJ += 10 * m * a * q / (9 * J * J);
    w->rest += 2 * m * q * (3 * j - a3) / (3 * J);
}
#endif

#if MODEL_HAS(MODEL_ISOCHORIC_NEO_HOOKEAN)
/* W = mu/2 (J^(-2/3) a - 3) + kappa/4 (J^2 - 1 - 2 ln J) */
static void model_isochoric_neo_hookean(const model_real *c, model_real a3, model_real j, model_invariants *w)
{
    const model_real kappa = c[0] + 2 * c[1] / 3, J = j + 1;
    w->W = kappa / 4 * (j * (J + 1) - 2 * model_log1p(j));
    w->W_J = kappa / 2 * j * (J + 1) / J;
    w->W_JJ = kappa / 2 * (1 + 1 / (J * J));
    w->rest = w->W_J;
    model_add_isochoric(c[1] / 2, a3, j, model_power(j), w);
}
#endif

#if MODEL_HAS(MODEL_MOONEY_RIVLIN)
/* W = mu01 (J^(-4/3) b - 3) + mu10 (J^(-2/3) a - 3) + v1 (J - 1)^2 */
static void model_mooney_rivlin(const model_real *c, model_real a3, model_real b3, model_real j, model_invariants *w)
{
    const model_real m = c[0], b = b3 + 3, J = j + 1, p = model_power(j), q = (p + 1) * (p + 1);
    w->W = c[2] * j * j + m * (b * p * (p + 2) + b3);
    w->W_b = m * q;
    w->W_J = 2 * c[2] * j - 4 * m * b * q / (3 * J);
    w->W_bJ = -4 * m * q / (3 * J);
    w->W_JJ = 2 * c[2] + 28 * m * b * q / (9 * J * J);
    w->rest = 2 * c[2] * j + 4 * m * q * (3 * j - b3) / (3 * J);
    model_add_isochoric(c[1], a3, j, p, w);
}
#endif

#if MODEL_HAS(MODEL_STABLE_NEO_HOOKEAN)
/* W = m/2 (a - 3) + l/2 (J - 1 - 3 m / (4 l))^2 - m/2 ln(a + 1), without its value at rest */
static void model_stable_neo_hookean(const model_real *c, model_real a3, model_real j, model_invariants *w)
{
    const model_real l = c[0], m = c[1], more = a3 + 4;
    w->W = m / 2 * (a3 - model_log1p(a3 / 4)) + l / 2 * j * j - 3 * m * j / 4;
    w->W_a = m / 2 * (a3 + 3) / more;
    w->W_J = l * j - 3 * m / 4;
    w->W_aa = m / 2 / (more * more);
    w->W_JJ = l;
    w->rest = l * j + m * a3 / (4 * more);
}
#endif

/* Returns 0 where the law is not defined. */
static int model_derive(int law, const model_real *c, model_real a3, model_real b3, model_real j, model_invariants *w)
{
    (void)b3;
    switch (law) {
#if MODEL_HAS(MODEL_STABLE_NEO_HOOKEAN)
    case MODEL_STABLE_NEO_HOOKEAN:
        model_stable_neo_hookean(c, a3, j, w);
        return 1;
#endif
#if MODEL_HAS(MODEL_NEO_HOOKEAN)
    case MODEL_NEO_HOOKEAN:
        model_neo_hookean(c, a3, j, w);
        break;
#endif
#if MODEL_HAS(MODEL_ISOCHORIC_NEO_HOOKEAN)
    case MODEL_ISOCHORIC_NEO_HOOKEAN:
        model_isochoric_neo_hookean(c, a3, j, w);
        break;
#endif
#if MODEL_HAS(MODEL_MOONEY_RIVLIN)
    case MODEL_MOONEY_RIVLIN:
        model_mooney_rivlin(c, a3, b3, j, w);
        break;
#endif
    default:
        return 0;
    }

    return j > -1;
}

/* The upper triangle of A: 2 W_a I + W_b d2b + W_J d2J and the outer products of the gradients g of a, b and J, with
 *
 *     d2b = 2 (a delta_ik delta_jl + 2 F_ij F_kl - delta_ik C_jl - F_il F_kj - B_ik delta_jl),  B = F F^T,
 *     d2J = eps_ikm eps_jln F_mn. */
static void model_invariant_tangent(const model_real *F, const model_real *C, model_real a, model_real g[3][9],
                                    const model_invariants *w, model_real *A)
{
    const model_real W[3][3] = {{w->W_aa, 0, w->W_aJ}, {0, 0, w->W_bJ}, {w->W_aJ, w->W_bJ, w->W_JJ}};
    model_real h[3][9], B[9];

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            B[3 * i + k] = F[3 * i] * F[3 * k] + F[3 * i + 1] * F[3 * k + 1] + F[3 * i + 2] * F[3 * k + 2];
    for (int m = 0; m < 3; m++)
        for (int k = 0; k < 9; k++)
            h[m][k] = W[m][0] * g[0][k] + W[m][1] * g[1][k] + W[m][2] * g[2][k];

    for (int p = 0; p < 9; p++)
        for (int q = p; q < 9; q++) {
            const int i = p / 3, j = p % 3, k = q / 3, l = q % 3;
            model_real sum = g[0][p] * h[0][q] + g[1][p] * h[1][q] + g[2][p] * h[2][q],
                       second = 2 * F[p] * F[q] - F[3 * i + l] * F[3 * k + j];
            if (i == k)
                second -= C[3 * j + l];
            if (j == l)
                second -= B[3 * i + k];
            if (p == q)
                second += a;
            sum += 2 * w->W_b * second;
            if (p == q)
                sum += 2 * w->W_a;
            if (i != k && j != l) {
                const int even = ((k - i + 3) % 3 == 1) == ((l - j + 3) % 3 == 1);
                const model_real part = w->W_J * F[3 * (3 - i - k) + 3 - j - l];
                sum += even ? part : -part;
            }
            A[9 * p + q] += sum;
        }
}

static void model_invariant_law(int law, const model_real *c, const model_real *H, int tangent, model_point *to)
{
    const model_real trace = H[0] + H[4] + H[8];
    model_real F[9], C[9], D[9], FD[9], cofactor[9], g[3][9];
    model_invariants w = {0, 0, 0, 0, 0, 0, 0, 0, 0};

    /* D = C - I */
    model_deformation(H, F);
    model_cofactor(H, cofactor);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            D[3 * i + j] = H[3 * i + j] + H[3 * j + i] + H[i] * H[j] + H[3 + i] * H[3 + j] + H[6 + i] * H[6 + j];
            C[3 * i + j] = D[3 * i + j] + MODEL_NUMBER(i == j);
        }
    const model_real a3 = 2 * trace + model_square_sum(9, H), b3 = 2 * a3 + (a3 * a3 - model_square_sum(9, D)) / 2,
                     j1 = trace + (cofactor[0] + cofactor[4] + cofactor[8]) +
                          (H[0] * cofactor[0] + H[1] * cofactor[1] + H[2] * cofactor[2]);
    if (!model_derive(law, c, a3, b3, j1, &w)) {
        to->W = model_infinity();
        for (int k = 0; k < 9; k++)
            to->P[k] = to->W - to->W;
        return;
    }

    /* Gradients: 2 F, 2 (a F - F C) = 2 ((2 + a3) F - F D), and cof F, at first without I. */
    model_multiply(F, D, FD);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int k = 3 * i + j;
            g[0][k] = 2 * F[k];
            g[1][k] = 2 * ((2 + a3) * F[k] - FD[k]);
            g[2][k] = (i == j ? trace : 0) - H[3 * j + i] + cofactor[k];
        }

    to->W += w.W;
    for (int k = 0; k < 9; k++) {
        to->P[k] += 2 * w.W_a * H[k] + 2 * w.W_b * (2 * H[k] + a3 * F[k] - FD[k]) + w.W_J * g[2][k];
        if (k % 4 == 0) {
            to->P[k] += w.rest;
            g[2][k] += 1;
        }
    }
    if (tangent)
        model_invariant_tangent(F, C, a3 + 3, g, &w, to->A);
}
#endif

#if MODEL_HAS(MODEL_COROTATIONAL)
/* ---- the corotational law: W = mu |F - R|^2 + lambda/2 (R : (F - R))^2 ---- */

/* The rotation with the largest R : F. Its quaternion is the eigenvector of the largest eigenvalue of N (Horn 1987). */
static void model_rotation(const model_real *F, model_real *R)
{
    model_real N[16] = {F[0] + F[4] + F[8], F[7] - F[5], F[2] - F[6], F[3] - F[1], 0,
                        F[0] - F[4] - F[8], F[1] + F[3], F[2] + F[6], 0,           0,
                        F[4] - F[0] - F[8], F[5] + F[7], 0,           0,           0,
                        F[8] - F[0] - F[4]},
               V[16];
    int best = 0;

    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            N[4 * i + j] = N[i < j ? 4 * i + j : 4 * j + i];
            V[4 * i + j] = MODEL_NUMBER(i == j);
        }
    model_diagonalize(4, 4, N, V);
    for (int i = 1; i < 4; i++)
        best = N[5 * i] > N[5 * best] ? i : best;

    const model_real w = V[4 * best], x = V[4 * best + 1], y = V[4 * best + 2], z = V[4 * best + 3],
                     scale = 2 / (w * w + x * x + y * y + z * z);
    R[0] = 1 - scale * (y * y + z * z);
    R[1] = scale * (x * y - w * z);
    R[2] = scale * (x * z + w * y);
    R[3] = scale * (x * y + w * z);
    R[4] = 1 - scale * (x * x + z * z);
    R[5] = scale * (y * z - w * x);
    R[6] = scale * (x * z - w * y);
    R[7] = scale * (y * z + w * x);
    R[8] = 1 - scale * (x * x + y * y);
}

/* The change of R is R [omega]x with G omega = axial(R^T dF), G = tr S I - S and S = R^T F. With the eigenvectors v of
 * G dR/dF is the sum of the outer products of R [v]x, divided by the eigenvalues. G is singular where R jumps; its
 * inverse is bounded by its value for a stretch of 1e-3. */
static void model_corotational_tangent(const model_real *F, const model_real *R, model_real lambda, model_real mu,
                                       model_real volume, model_real *A)
{
    model_real S[9], G[9], V[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, bent[3][9];
    const model_real turn = lambda * volume - 2 * mu;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[3 * i + j] = R[i] * F[j] + R[3 + i] * F[3 + j] + R[6 + i] * F[6 + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            G[3 * i + j] = (i == j ? S[0] + S[4] + S[8] : 0) - (S[3 * i + j] + S[3 * j + i]) / 2;
    model_diagonalize(3, 3, G, V);

    for (int m = 0; m < 3; m++) {
        const model_real *v = V + 3 * m, cross[9] = {0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};
        const model_real root = 1 / MODEL_SQRT(model_larger(G[4 * m], MODEL_NUMBER(1e-3)));
        model_multiply(R, cross, bent[m]);
        for (int k = 0; k < 9; k++)
            bent[m][k] *= root;
    }

    for (int p = 0; p < 9; p++)
        for (int q = p; q < 9; q++) {
            A[9 * p + q] += lambda * R[p] * R[q] +
                            turn * (bent[0][p] * bent[0][q] + bent[1][p] * bent[1][q] + bent[2][p] * bent[2][q]);
            if (p == q)
                A[9 * p + q] += 2 * mu;
        }
}

static void model_corotational_law(const model_real *c, const model_real *H, int tangent, model_point *to)
{
    const model_real lambda = c[0], mu = c[1];
    model_real F[9], R[9], D[9], volume = 0;

    model_deformation(H, F);
    model_rotation(F, R);
    for (int k = 0; k < 9; k++) {
        D[k] = F[k] - R[k];
        volume += R[k] * D[k];
    }

    to->W += mu * model_square_sum(9, D) + lambda / 2 * volume * volume;
    for (int k = 0; k < 9; k++)
        to->P[k] += 2 * mu * D[k] + lambda * volume * R[k];
    if (tangent)
        model_corotational_tangent(F, R, lambda, mu, volume, to->A);
}
#endif

#if MODEL_HAS_FIBRES
/* ---- fibres along d: with e = |F d|^2 - 1, W = k/2 e^2 or k/(2 c) (exp(c e^2) - 1) ----
 *
 * P = 2 W' F d d^T,  A = 4 W'' F d d^T x F d d^T + 2 W' I x d d^T */

static void model_fibres(int law, const model_real *c, const model_real *H, int tangent, model_point *to)
{
    const model_real k = c[3], *d = c + 5;
    model_real f[3], e = 0, slope, curvature;

    for (int i = 0; i < 3; i++) {
        const model_real Hd = H[3 * i] * d[0] + H[3 * i + 1] * d[1] + H[3 * i + 2] * d[2];
        f[i] = Hd + d[i];
        e += (2 * d[i] + Hd) * Hd;
    }

    (void)law;
    to->W += k / 2 * e * e;
    slope = k * e;
    curvature = k;
#if MODEL_HAS(MODEL_FUNG_FIBRES)
    if (law == MODEL_FUNG_FIBRES) {
        const model_real growth = model_expm1(c[4] * e * e);
        to->W += k / (2 * c[4]) * growth - k / 2 * e * e;
        slope = k * e * (growth + 1);
        curvature = k * (growth + 1) * (1 + 2 * c[4] * e * e);
    }
#endif

    for (int i = 0; i < 9; i++)
        to->P[i] += 2 * slope * f[i / 3] * d[i % 3];
    for (int p = 0; p < 9 && tangent; p++)
        for (int q = p; q < 9; q++) {
            to->A[9 * p + q] += 4 * curvature * (f[p / 3] * d[p % 3]) * (f[q / 3] * d[q % 3]);
            if (p / 3 == q / 3)
                to->A[9 * p + q] += 2 * slope * d[p % 3] * d[q % 3];
        }
}
#endif
