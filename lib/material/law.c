#include "material/law_internal.h"

#include <math.h>
#include <stddef.h>

/* W and its derivatives by a = I_C, b = II_C and J; `rest` = 2W_a + 4W_b + W_J. */
typedef struct invariants {
    sp_lanes W, W_a, W_b, W_J, W_aa, W_ab, W_aJ, W_bb, W_bJ, W_JJ, rest;
} invariants;

void sp_law_set(sp_law_lanes *law, int lane, const sp_material *material)
{
    double lambda, mu;

    sp_lame(material->young, material->poisson, &lambda, &mu);
    law->law = material->law;
    law->fibre = material->fibre;

    bool mooney = material->law == SP_LAW_MOONEY_RIVLIN, stable = material->law == SP_LAW_STABLE_NEO_HOOKEAN;
    law->constant[0][lane] = mooney ? material->mooney[0] : stable ? lambda + 5 * mu / 6 : lambda;
    law->constant[1][lane] = mooney ? material->mooney[1] : stable ? 4 * mu / 3 : mu;
    law->constant[2][lane] = mooney ? material->mooney[2] : 0;

    law->fibre_stiffness[lane] = material->fibre_stiffness;
    law->fibre_exponent[lane] = material->fibre_exponent;
    law->fibre_tension[lane] = material->fibre_tension;
    for (int i = 0; i < 3; i++)
        law->fibre_direction[i][lane] = material->fibre_direction[i];

    if (material->law == SP_LAW_LINEAR) {
        double C[36];
        sp_material_linear(material, C);
        for (int k = 0; k < 36; k++)
            law->C[k][lane] = C[k];
    }
}

/* ---- functions of one number, lane by lane ---- */

enum function { LOG1P, EXPM1, POWER };

/* ln(1 + x), eˣ − 1 or (1 + x)^(−2/3) − 1, in place. */
static void apply(enum function function, double *x)
{
    for (int l = 0; l < SP_LANES; l++)
        x[l] = function == LOG1P ? log1p(x[l]) : function == EXPM1 ? expm1(x[l]) : expm1(-2.0 / 3.0 * log1p(x[l]));
}

SP_INLINE sp_lanes of_lanes(enum function function, sp_lanes x)
{
    apply(function, (double *)&x);
    return x;
}

SP_INLINE sp_lanes lanes_sqrt(sp_lanes x)
{
    for (int l = 0; l < SP_LANES; l++)
        x[l] = sqrt(x[l]);
    return x;
}

/* ---- laws in the invariants: a3 = a − 3, b3 = b − 3, j = J − 1; d2 = |C − I|² ---- */

SP_INLINE void neo_hookean(const sp_lanes *c, sp_lanes a3, sp_lanes j, invariants *w)
{
    /* W = μ/2 (I_C − 3) − μ ln J + λ/2 ln²J */
    sp_lanes zero = a3 * 0, lambda = c[0], mu = c[1], logarithm = of_lanes(LOG1P, j), J = j + 1;
    *w = (invariants){.W = mu * a3 / 2 - mu * logarithm + lambda / 2 * logarithm * logarithm};

    w->W_a = mu / 2;
    w->W_J = (lambda * logarithm - mu) / J;
    w->W_JJ = (lambda + mu - lambda * logarithm) / (J * J);
    w->W_b = w->W_aa = w->W_ab = w->W_aJ = w->W_bb = w->W_bJ = zero;
    w->rest = (mu * j + lambda * logarithm) / J;
}

/* Adds m (J^(−2/3) a − 3) to w; p = J^(−2/3) − 1. */
SP_INLINE void add_isochoric_first(sp_lanes m, sp_lanes a3, sp_lanes j, sp_lanes p, invariants *w)
{
    sp_lanes a = a3 + 3, J = j + 1, q = p + 1;

    w->W += m * (a * p + a3);
    w->W_a += m * q;
    w->W_J += -2.0 / 3.0 * m * a * q / J;
    w->W_aJ += -2.0 / 3.0 * m * q / J;
    w->W_JJ += 10.0 / 9.0 * m * a * q / (J * J);
    w->rest += 2.0 / 3.0 * m * q * (3 * j - a3) / J;
}

SP_INLINE void isochoric_neo_hookean(const sp_lanes *c, sp_lanes a3, sp_lanes j, invariants *w)
{
    /* W = μ/2 (J^(−2/3) I_C − 3) + κ/4 (J² − 1 − 2 ln J) */
    sp_lanes kappa = c[0] + 2.0 / 3.0 * c[1], J = j + 1;
    *w = (invariants){.W = kappa / 4 * (j * (J + 1) - 2 * of_lanes(LOG1P, j))};

    w->W_J = kappa / 2 * j * (J + 1) / J;
    w->W_JJ = kappa / 2 * (1 + 1 / (J * J));
    w->rest = w->W_J;
    w->W_a = w->W_b = w->W_aa = w->W_ab = w->W_aJ = w->W_bb = w->W_bJ = a3 * 0;
    add_isochoric_first(c[1] / 2, a3, j, of_lanes(POWER, j), w);
}

SP_INLINE void mooney_rivlin(const sp_lanes *c, sp_lanes a3, sp_lanes b3, sp_lanes j, invariants *w)
{
    /* W = mu01 (J^(−4/3) II_C − 3) + mu10 (J^(−2/3) I_C − 3) + v1 (J − 1)², q = J^(−4/3), p2 = q − 1 */
    sp_lanes m = c[0], b = b3 + 3, J = j + 1, p = of_lanes(POWER, j), q = (p + 1) * (p + 1), p2 = p * (p + 2);
    *w = (invariants){.W = c[2] * j * j + m * (b * p2 + b3)};

    w->W_b = m * q;
    w->W_J = 2 * c[2] * j - 4.0 / 3.0 * m * b * q / J;
    w->W_bJ = -4.0 / 3.0 * m * q / J;
    w->W_JJ = 2 * c[2] + 28.0 / 9.0 * m * b * q / (J * J);
    w->rest = 2 * c[2] * j + 4.0 / 3.0 * m * q * (3 * j - b3) / J;
    w->W_a = w->W_aa = w->W_ab = w->W_aJ = w->W_bb = a3 * 0;
    add_isochoric_first(c[1], a3, j, p, w);
}

SP_INLINE void stable_neo_hookean(const sp_lanes *c, sp_lanes a3, sp_lanes j, invariants *w)
{
    /* (J − a)² = (j − 3m/(4l))², without its value at rest */
    sp_lanes zero = a3 * 0, l = c[0], m = c[1], more = a3 + 4; /* I_C + 1 */

    *w = (invariants){.W = m / 2 * (a3 - of_lanes(LOG1P, a3 / 4)) + l / 2 * j * j - 0.75 * m * j};
    w->W_a = m / 2 * (a3 + 3) / more;
    w->W_J = l * j - 0.75 * m;
    w->W_aa = m / 2 / (more * more);
    w->W_JJ = l + zero;
    w->W_b = w->W_ab = w->W_aJ = w->W_bb = w->W_bJ = zero;
    w->rest = l * j + m * a3 / (4 * more);
}

/* ---- matrices of lanes ---- */

SP_INLINE void multiply(const sp_lanes *A, const sp_lanes *B, sp_lanes *C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

SP_INLINE void cofactor(const sp_lanes *A, sp_lanes *C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            C[3 * i + j] = A[3 * i1 + j1] * A[3 * i2 + j2] - A[3 * i1 + j2] * A[3 * i2 + j1];
        }
}

SP_INLINE sp_lanes square_sum(const sp_lanes *A)
{
    sp_lanes sum = A[0] * A[0];
    for (int k = 1; k < 9; k++)
        sum += A[k] * A[k];
    return sum;
}

/* Data of a strain from which the invariants are computed. */
typedef struct strain {
    sp_lanes F[9], C[9], D[9];       /* D = C − I = H + Hᵀ + HᵀH */
    sp_lanes g_a[9], g_b[9], g_J[9]; /* gradients of the invariants: 2F, 2(aF − FC), cof F */
    sp_lanes a3, b3, j, d2;
} strain;

SP_INLINE void measure(const sp_lanes *H, strain *s)
{
    sp_lanes trace = H[0] + H[4] + H[8], cofH[9], second;

    for (int k = 0; k < 9; k++)
        s->F[k] = H[k] + (k % 4 == 0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            s->D[3 * i + j] = H[3 * i + j] + H[3 * j + i] + H[i] * H[j] + H[3 + i] * H[3 + j] + H[6 + i] * H[6 + j];
            s->C[3 * i + j] = s->D[3 * i + j] + (i == j);
        }

    /* Invariants as polynomials in H, none of which cancels near rest. */
    cofactor(H, cofH);
    second = cofH[0] + cofH[4] + cofH[8];
    s->a3 = 2 * trace + square_sum(H);
    s->d2 = square_sum(s->D);
    s->b3 = 2 * s->a3 + (s->a3 * s->a3 - s->d2) / 2;
    s->j = trace + second + H[0] * cofH[0] + H[1] * cofH[1] + H[2] * cofH[2];

    /* cof F − I; cof F itself only if tangents need it. */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s->g_J[3 * i + j] = (i == j ? trace : trace * 0) - H[3 * j + i] + cofH[3 * i + j];
    for (int k = 0; k < 9; k++)
        s->g_a[k] = 2 * s->F[k];
}

/* A += 2W_a δ + W_b ∂²b + W_J ∂²J + the outer products of the gradients. */
SP_INLINE void add_tangent(const strain *s, const invariants *w, sp_lanes *A)
{
    const sp_lanes *F = s->F;
    sp_lanes B[9], h_a[9], h_b[9], h_J[9]; /* B = FFᵀ */

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            B[3 * i + k] = F[3 * i] * F[3 * k] + F[3 * i + 1] * F[3 * k + 1] + F[3 * i + 2] * F[3 * k + 2];

    for (int k = 0; k < 9; k++) {
        h_a[k] = w->W_aa * s->g_a[k] + w->W_ab * s->g_b[k] + w->W_aJ * s->g_J[k];
        h_b[k] = w->W_ab * s->g_a[k] + w->W_bb * s->g_b[k] + w->W_bJ * s->g_J[k];
        h_J[k] = w->W_aJ * s->g_a[k] + w->W_bJ * s->g_b[k] + w->W_JJ * s->g_J[k];
    }

    for (int p = 0, at = 0; p < 9; p++)
        for (int q = p; q < 9; q++, at++) {
            int i = p / 3, j = p % 3, k = q / 3, l = q % 3;
            sp_lanes sum = s->g_a[p] * h_a[q] + s->g_b[p] * h_b[q] + s->g_J[p] * h_J[q];

            /* ∂²b = 2(a δ_ik δ_jl + 2F_ij F_kl − δ_ik C_jl − F_il F_kj − B_ik δ_jl) */
            sp_lanes second = 2 * F[p] * F[q] - F[3 * i + l] * F[3 * k + j];
            if (i == k)
                second -= s->C[3 * j + l];
            if (j == l)
                second -= B[3 * i + k];
            if (p == q)
                second += s->a3 + 3;
            sum += 2 * w->W_b * second;
            if (p == q)
                sum += 2 * w->W_a;

            /* ∂²J = ε_ikm ε_jln F_mn */
            if (i != k && j != l) {
                int m = 3 - i - k, n = 3 - j - l;
                bool even = ((k - i + 3) % 3 == 1) == ((l - j + 3) % 3 == 1);
                sum += even ? w->W_J * F[3 * m + n] : -w->W_J * F[3 * m + n];
            }
            A[at] += sum;
        }
}

/* ---- the rotation nearest to F ---- */

/* Jacobi rotation of rows and columns p, q of a symmetric matrix of order n, and of the columns of V. */
SP_INLINE void jacobi(int n, sp_lanes *A, sp_lanes *V, int p, int q)
{
    sp_lanes apq = A[p * n + q], difference = A[q * n + q] - A[p * n + p], tangent, cosine, sine;
    for (int l = 0; l < SP_LANES; l++) {
        /* below 1e-150 squares underflow, and `size` with them */
        double theta = 0.5 * difference[l], size = fabs(theta) + sqrt(theta * theta + apq[l] * apq[l]);
        tangent[l] = fabs(apq[l]) < 1e-150 ? 0 : (theta < 0 ? -apq[l] : apq[l]) / size;
    }

    /* The rotation by the smaller angle makes the entry (p, q) zero. */
    cosine = 1 / lanes_sqrt(1 + tangent * tangent);
    sine = tangent * cosine;

    for (int k = 0; k < n; k++) {
        sp_lanes x = A[k * n + p], y = A[k * n + q];
        A[k * n + p] = cosine * x - sine * y;
        A[k * n + q] = sine * x + cosine * y;
    }

    for (int k = 0; k < n; k++) {
        sp_lanes x = A[p * n + k], y = A[q * n + k];
        A[p * n + k] = cosine * x - sine * y;
        A[q * n + k] = sine * x + cosine * y;
    }

    for (int k = 0; k < n; k++) {
        sp_lanes x = V[k * n + p], y = V[k * n + q];
        V[k * n + p] = cosine * x - sine * y;
        V[k * n + q] = sine * x + cosine * y;
    }
}

/* Moves the eigenvalues to the diagonal of A and writes eigenvectors to the columns of V. Convergence is quadratic, so
 * that `sweeps` sweeps are exact to rounding. */
SP_INLINE void eigenvectors(int n, int sweeps, sp_lanes *A, sp_lanes *V)
{
    for (int k = 0; k < n * n; k++)
        V[k] = A[0] * 0 + (k % (n + 1) == 0);
    for (int sweep = 0; sweep < sweeps; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                jacobi(n, A, V, p, q);
}

/* The quaternion of R is the eigenvector of the largest eigenvalue of a symmetric 4 × 4 matrix (Horn 1987), for any F.
 */
SP_CLONES static void rotation_by_eigenvectors(const sp_lanes F[9], sp_lanes R[9])
{
    sp_lanes N[16], V[16], q[4], best;
    N[0] = F[0] + F[4] + F[8];
    N[5] = F[0] - F[4] - F[8];
    N[10] = F[4] - F[0] - F[8];
    N[15] = F[8] - F[0] - F[4];
    N[1] = N[4] = F[7] - F[5];
    N[2] = N[8] = F[2] - F[6];
    N[3] = N[12] = F[3] - F[1];
    N[6] = N[9] = F[1] + F[3];
    N[7] = N[13] = F[2] + F[6];
    N[11] = N[14] = F[5] + F[7];

    eigenvectors(4, 6, N, V);

    best = N[0];
    for (int k = 0; k < 4; k++)
        q[k] = V[4 * k];
    for (int c = 1; c < 4; c++)
        for (int l = 0; l < SP_LANES; l++)
            if (N[5 * c][l] > best[l]) {
                best[l] = N[5 * c][l];
                for (int k = 0; k < 4; k++)
                    q[k][l] = V[4 * k + c][l];
            }

    /* The rotation of the quaternion, which need not have the length 1. */
    sp_lanes w = q[0], x = q[1], y = q[2], z = q[3];
    sp_lanes scale = 2 / (w * w + x * x + y * y + z * z);
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

/* Newton's iteration R ← (R + R⁻ᵀ)/2 (Higham 1986), started from F scaled to |F|² = 3. It takes a tenth of the work and
 * is used in lanes in which det F then shows that no singular value is below 0.17: seven iterations bring this to 1 +
 * 1e-19. */
SP_CLONES void sp_nearest_rotation(const sp_lanes F[9], sp_lanes R[9])
{
    const double enough = 0.25;
    sp_lanes scale = lanes_sqrt(3 / square_sum(F)), first, other[9];
    bool all = true;

    for (int k = 0; k < 9; k++)
        R[k] = scale * F[k];

    /* R⁻ᵀ = cof R / det R */
    for (int step = 0; step < 7; step++) {
        sp_lanes C[9], determinant;
        cofactor(R, C);
        determinant = R[0] * C[0] + R[1] * C[1] + R[2] * C[2];
        first = step == 0 ? determinant : first;
        for (int k = 0; k < 9; k++)
            R[k] = 0.5 * R[k] + 0.5 / determinant * C[k];
    }

    /* Lanes in which F is nearly singular, or a reflection, take the other way. */
    for (int l = 0; l < SP_LANES; l++)
        all = all && first[l] > enough;
    if (all)
        return;

    rotation_by_eigenvectors(F, other);
    for (int l = 0; l < SP_LANES; l++) {
        if (first[l] > enough)
            continue;
        for (int k = 0; k < 9; k++)
            R[k][l] = other[k][l];
    }
}

/* Corotational: P = 2μ(F − R) + λ (tr S − 3) R with S = RᵀF. The derivative of R is δR = R[ω]× with (tr S I − S) ω =
 * axial(RᵀδF). With G = tr S I − S and the columns c_k of R [e_k]× it is Σ c_k G⁻¹_kl c_lᵀ. G is singular where the
 * nearest rotation changes; its inverse is bounded by the value for a stretch of 1e-3. */
SP_CLONES static void corotational(const sp_law_lanes *law, const sp_lanes *H, sp_lanes *W, sp_lanes *P, sp_lanes *A)
{
    sp_lanes lambda = law->constant[0], mu = law->constant[1], F[9], R[9], D[9], volume;

    for (int k = 0; k < 9; k++)
        F[k] = H[k] + (k % 4 == 0);
    sp_nearest_rotation(F, R);

    for (int k = 0; k < 9; k++)
        D[k] = F[k] - R[k];
    volume = R[0] * D[0];
    for (int k = 1; k < 9; k++)
        volume += R[k] * D[k];

    /* W = μ|F − R|² + λ/2 (R:(F − R))² */
    *W += mu * square_sum(D) + lambda / 2 * volume * volume;
    if (P)
        for (int k = 0; k < 9; k++)
            P[k] += 2 * mu * D[k] + lambda * volume * R[k];
    if (!A)
        return;

    sp_lanes S[9], G[9], V[9], rotated[3][9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[3 * i + j] = R[i] * F[j] + R[3 + i] * F[3 + j] + R[6 + i] * F[6 + j];
    sp_lanes trace = S[0] + S[4] + S[8];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            G[3 * i + j] = (i == j ? trace : trace * 0) - (S[3 * i + j] + S[3 * j + i]) / 2;

    eigenvectors(3, 6, G, V);

    for (int m = 0; m < 3; m++) {
        /* R [v]× for the eigenvector v: column j of [v]× is v × e_j */
        sp_lanes v[3] = {V[m], V[3 + m], V[6 + m]}, cross[9], root = G[4 * m];

        for (int l = 0; l < SP_LANES; l++)
            root[l] = 1 / sqrt(root[l] > 1e-3 ? root[l] : 1e-3);
        cross[0] = cross[4] = cross[8] = v[0] * 0;
        cross[1] = -v[2];
        cross[2] = v[1];
        cross[3] = v[2];
        cross[5] = -v[0];
        cross[6] = -v[1];
        cross[7] = v[0];

        multiply(R, cross, rotated[m]);
        for (int k = 0; k < 9; k++)
            rotated[m][k] *= root;
    }

    /* A = 2μ I + λ R ⊗ R + (λ (tr S − 3) − 2μ) ∂R/∂F, with ∂R/∂F from the three products */
    sp_lanes change_frames = lambda * volume - 2 * mu;
    for (int p = 0, at = 0; p < 9; p++)
        for (int q = p; q < 9; q++, at++) {
            A[at] +=
                lambda * R[p] * R[q] + change_frames * (rotated[0][p] * rotated[0][q] + rotated[1][p] * rotated[1][q] +
                                                        rotated[2][p] * rotated[2][q]);
            if (p == q)
                A[at] += 2 * mu;
        }
}

/* ---- fibres ---- */

SP_CLONES static void fibres(const sp_law_lanes *law, const sp_lanes *H, sp_lanes *W, sp_lanes *P, sp_lanes *A)
{
    const sp_lanes *a = law->fibre_direction;

    sp_lanes Ha[3], f[3], e = a[0] * 0, first, second, k = law->fibre_stiffness;
    /* e = I₅ − 1 for |a| = 1 */
    for (int i = 0; i < 3; i++) {
        Ha[i] = H[3 * i] * a[0] + H[3 * i + 1] * a[1] + H[3 * i + 2] * a[2];
        f[i] = Ha[i] + a[i];
        e += (2 * a[i] + Ha[i]) * Ha[i];
    }

    /* W = k/2 (I₅ − 1)², or k/2c (exp(c (I₅ − 1)²) − 1) */
    if (law->fibre == SP_FIBRE_STVK) {
        *W += k / 2 * e * e;
        first = k * e;
        second = k;
    } else {
        sp_lanes c = law->fibre_exponent, growth = of_lanes(EXPM1, c * e * e);
        *W += k / (2 * c) * growth;
        first = k * e * (growth + 1);
        second = k * (growth + 1) * (1 + 2 * c * e * e);
    }

    /* Active tension: W = T/2 (I₅ − 1) */
    *W += law->fibre_tension / 2 * e;
    first += law->fibre_tension / 2;

    /* P = 2W₅ Fa aᵀ, A = 4W₅₅ Fa aᵀ ⊗ Fa aᵀ + 2W₅ I ⊗ a aᵀ */
    if (P)
        for (int i = 0; i < 9; i++)
            P[i] += 2 * first * f[i / 3] * a[i % 3];
    if (!A)
        return;
    for (int p = 0, at = 0; p < 9; p++)
        for (int q = p; q < 9; q++, at++) {
            A[at] += 4 * second * (f[p / 3] * a[p % 3]) * (f[q / 3] * a[q % 3]);
            if (p / 3 == q / 3)
                A[at] += 2 * first * a[p % 3] * a[q % 3];
        }
}

/* ---- positive semidefinite tangents ---- */

/* Returns true if the matrices of all lanes are positive definite, up to a pivot of the size of rounding. */
static bool all_definite(const sp_lanes *A)
{
    sp_lanes L[SP_TANGENT_ENTRIES];
    for (int k = 0; k < SP_TANGENT_ENTRIES; k++)
        L[k] = A[k];

    /* Cholesky's factorization without roots, of all lanes. */
    for (int p = 0; p < 9; p++) {
        for (int l = 0; l < SP_LANES; l++)
            if (!(L[sp_tangent_entry(p, p)][l] > 1e-14 * fabs(A[sp_tangent_entry(p, p)][l])))
                return false;

        for (int i = p + 1; i < 9; i++)
            for (int j = i; j < 9; j++)
                L[sp_tangent_entry(i, j)] -=
                    L[sp_tangent_entry(p, i)] * L[sp_tangent_entry(p, j)] / L[sp_tangent_entry(p, p)];
    }
    return true;
}

/* Transforms the matrix to the frames U of stress and V of the body: every row and then every column of A, as a 3 × 3
 * matrix X, becomes UᵀXV. */
SP_INLINE void change_frames(const sp_lanes *U, const sp_lanes *V, sp_lanes *A)
{
    for (int columns = 0; columns < 2; columns++)
        for (int p = 0; p < 9; p++) {
            sp_lanes X[9], Y[9];
            const int step = columns ? 9 : 1;
            sp_lanes *at = A + (columns ? p : 9 * p);
            for (int k = 0; k < 9; k++)
                X[k] = at[step * k];

            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    Y[3 * i + j] = U[i] * X[j] + U[3 + i] * X[3 + j] + U[6 + i] * X[6 + j];
            multiply(Y, V, X);
            for (int k = 0; k < 9; k++)
                at[step * k] = X[k];
        }
}

/* F = U diag V with rotations U and V. */
SP_INLINE void principal_frames(const sp_lanes *H, sp_lanes *U, sp_lanes *V)
{
    sp_lanes F[9], R[9], S[9], rotated[9];

    for (int k = 0; k < 9; k++)
        F[k] = H[k] + (k % 4 == 0);

    /* S = RᵀF = V diag Vᵀ, U = R V */
    sp_nearest_rotation(F, R);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rotated[3 * i + j] = R[i] * F[j] + R[3 + i] * F[3 + j] + R[6 + i] * F[6 + j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[3 * i + j] = (rotated[3 * i + j] + rotated[3 * j + i]) / 2;

    eigenvectors(3, 6, S, V);
    multiply(R, V, U);
}

/* Returns true if, in the principal frames, stretches are coupled with shears, or shears of different planes with each
 * other, by rounding only. This holds if the material has no directions. */
static bool uncoupled(const sp_lanes *A)
{
    static const int group[9] = {0, 1, 2, 1, 0, 3, 2, 3, 0};

    double largest[SP_LANES] = {0}, coupling[SP_LANES] = {0};
    for (int p = 0; p < 9; p++)
        for (int q = p; q < 9; q++)
            for (int l = 0; l < SP_LANES; l++) {
                double *to = group[p] == group[q] ? largest : coupling;
                to[l] = fmax(to[l], fabs(A[9 * p + q][l]));
            }

    for (int l = 0; l < SP_LANES; l++)
        if (!(coupling[l] <= 1e-13 * largest[l]))
            return false;
    return true;
}

/* Removes the negative eigenvalues of a symmetric matrix of order n. */
SP_INLINE void drop_negative(int n, int sweeps, sp_lanes *A)
{
    sp_lanes V[81];
    eigenvectors(n, sweeps, A, V);
    for (int k = 0; k < n; k++)
        for (int l = 0; l < SP_LANES; l++)
            A[(n + 1) * k][l] = fmax(0, A[(n + 1) * k][l]);

    /* A = V max(diag, 0) Vᵀ */
    sp_lanes value[9];
    for (int k = 0; k < n; k++)
        value[k] = A[(n + 1) * k];
    for (int p = 0; p < n; p++)
        for (int q = p; q < n; q++) {
            sp_lanes sum = V[n * p] * value[0] * V[n * q];
            for (int k = 1; k < n; k++)
                sum += V[n * p + k] * value[k] * V[n * q + k];
            A[n * p + q] = A[n * q + p] = sum;
        }
}

/* In the principal frames the tangent of an isotropic law decomposes into stretches and the shears of three planes,
 * whose eigenvalues are cheap. Other tangents are decomposed as a whole. */
SP_CLONES static void project_definite(const sp_lanes *H, sp_lanes *A)
{
    enum { SWEEPS = 10 }; /* 8 sweeps would leave 2e-12 for equal stretches with a fibre */

    sp_lanes full[81], U[9], V[9];
    for (int p = 0; p < 9; p++)
        for (int q = p; q < 9; q++)
            full[9 * p + q] = full[9 * q + p] = A[sp_tangent_entry(p, q)];

    principal_frames(H, U, V);
    change_frames(U, V, full);
    if (uncoupled(full)) {
        static const int plane[3][2] = {{1, 3}, {2, 6}, {5, 7}};
        sp_lanes stretch[9], shear[3][4], still[18], *back = still + 9;

        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) {
                stretch[3 * p + q] = full[36 * p + 4 * q];
                still[3 * p + q] = U[3 * q + p];
                back[3 * p + q] = V[3 * q + p];
            }

        /* The three stretches together, and the shears of each plane. */
        drop_negative(3, 6, stretch);
        for (int k = 0; k < 3; k++) {
            for (int c = 0; c < 4; c++)
                shear[k][c] = full[9 * plane[k][c / 2] + plane[k][c % 2]];
            drop_negative(2, 1, shear[k]);
        }

        /* Back in the frames of F. */
        for (int k = 0; k < 81; k++)
            full[k] = A[0] * 0;
        for (int k = 0; k < 9; k++)
            full[36 * (k / 3) + 4 * (k % 3)] = stretch[k];
        for (int k = 0; k < 12; k++)
            full[9 * plane[k / 4][k % 4 / 2] + plane[k / 4][k % 2]] = shear[k / 4][k % 4];
        change_frames(still, back, full);
    } else {
        for (int p = 0; p < 9; p++)
            for (int q = p; q < 9; q++)
                full[9 * p + q] = full[9 * q + p] = A[sp_tangent_entry(p, q)];
        drop_negative(9, SWEEPS, full);
    }

    for (int p = 0; p < 9; p++)
        for (int q = p; q < 9; q++)
            A[sp_tangent_entry(p, q)] = full[9 * p + q];
}

/* ---- evaluation ---- */

SP_INLINE void of_invariants(const sp_law_lanes *law, const sp_lanes *H, sp_lanes *W, sp_lanes *P, sp_lanes *A)
{
    strain s;
    invariants w;

    measure(H, &s);
    switch (law->law) {
    case SP_LAW_NEO_HOOKEAN:
        neo_hookean(law->constant, s.a3, s.j, &w);
        break;
    case SP_LAW_ISOCHORIC_NEO_HOOKEAN:
        isochoric_neo_hookean(law->constant, s.a3, s.j, &w);
        break;
    case SP_LAW_MOONEY_RIVLIN:
        mooney_rivlin(law->constant, s.a3, s.b3, s.j, &w);
        break;
    default:
        stable_neo_hookean(law->constant, s.a3, s.j, &w);
    }

    /* P = 2W_a H + 2W_b (2H + (I_C − 3)F − FD) + W_J (cof F − I) + `rest` I */
    *W += w.W;
    sp_lanes FD[9];
    multiply(s.F, s.D, FD);
    if (P)
        for (int k = 0; k < 9; k++) {
            P[k] += 2 * w.W_a * H[k] + 2 * w.W_b * (2 * H[k] + s.a3 * s.F[k] - FD[k]) + w.W_J * s.g_J[k];
            if (k % 4 == 0)
                P[k] += w.rest;
        }
    if (!A)
        return;

    /* aF − FC = (2 + a3)F − FD */
    for (int k = 0; k < 9; k++) {
        s.g_b[k] = 2 * ((2 + s.a3) * s.F[k] - FD[k]);
        s.g_J[k] += k % 4 == 0;
    }
    add_tangent(&s, &w, A);
}

SP_CLONES static void invariant_law(const sp_law_lanes *law, const sp_lanes *H, sp_lanes *W, sp_lanes *P, sp_lanes *A)
{
    if (!P)
        of_invariants(law, H, W, NULL, NULL);
    else if (!A)
        of_invariants(law, H, W, P, NULL);
    else
        of_invariants(law, H, W, P, A);
}

/* Laws with ln J or a power of J are undefined for inverted elements. */
static void refuse_inverted(const sp_law_lanes *law, const sp_lanes *H, sp_lanes *W, sp_lanes *P, sp_lanes *A)
{
    if (sp_law_everywhere(law->law))
        return;

    for (int l = 0; l < SP_LANES; l++) {
        double F[9];
        for (int k = 0; k < 9; k++)
            F[k] = H[k][l] + (k % 4 == 0);
        double J = F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
                   F[2] * (F[3] * F[7] - F[4] * F[6]);

        if (J > 0)
            continue;
        (*W)[l] = INFINITY;
        if (P)
            for (int k = 0; k < 9; k++)
                P[k][l] = NAN;
        if (A)
            for (int k = 0; k < SP_TANGENT_ENTRIES; k++)
                A[k][l] = NAN;
    }
}

void sp_law_evaluate(const sp_law_lanes *law, const sp_lanes H[9], bool definite, sp_lanes *W, sp_lanes P[9],
                     sp_lanes A[SP_TANGENT_ENTRIES])
{
    sp_lanes own[9];
    /* The tangent comes with the stress, whether the caller wants it or not. */
    sp_lanes *stress = P ? P : A ? own : NULL;

    *W = (sp_lanes){0};
    if (stress)
        for (int k = 0; k < 9; k++)
            stress[k] = (sp_lanes){0};
    if (A)
        for (int k = 0; k < SP_TANGENT_ENTRIES; k++)
            A[k] = (sp_lanes){0};

    switch (law->law) {
    case SP_LAW_STVK:
        sp_law_stvk(law, H, W, stress, A);
        break;
    case SP_LAW_LINEAR:
        sp_law_linear(law, H, W, stress, A);
        break;
    case SP_LAW_COROTATIONAL:
        corotational(law, H, W, stress, A);
        break;
    case SP_LAW_NEO_HOOKEAN:
    case SP_LAW_MOONEY_RIVLIN:
    case SP_LAW_ISOCHORIC_NEO_HOOKEAN:
    case SP_LAW_STABLE_NEO_HOOKEAN:
        invariant_law(law, H, W, stress, A);
        break;
    case SP_LAW_COUNT:
        break;
    }
    if (law->fibre != SP_FIBRE_NONE)
        fibres(law, H, W, stress, A);
    refuse_inverted(law, H, W, stress, A);

    if (A && definite && !all_definite(A))
        project_definite(H, A);
}
