/* Laws whose energy is quadratic in the Green–Lagrange strain, and the damping that is linear in its rate. */
#include "material/law_internal.h"

/* Voigt order xx, yy, zz, yz, zx, xy: indices of each component, and the component of each pair of indices. */
static const int first[6] = {0, 1, 2, 1, 2, 0}, second[6] = {0, 1, 2, 2, 0, 1},
                 voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};

/* H to F and the Green–Lagrange strain E = ½(H + Hᵀ + HᵀH) [xx, yy, zz, yz, zx, xy], tensor components. */
SP_INLINE void green_strain(const sp_lanes *H, sp_lanes *F, sp_lanes *E)
{
    for (int k = 0; k < 9; k++)
        F[k] = H[k] + (k % 4 == 0);
    for (int k = 0; k < 6; k++) {
        const int i = first[k], j = second[k];
        E[k] = 0.5 * (H[3 * i + j] + H[3 * j + i] + (H[i] * H[j] + H[3 + i] * H[3 + j] + H[6 + i] * H[6 + j]));
    }
}

/* sym(UᵀV), in the same order. */
SP_INLINE void symmetric_product(const sp_lanes *U, const sp_lanes *V, sp_lanes *E)
{
    for (int k = 0; k < 6; k++) {
        const int i = first[k], j = second[k];
        E[k] = 0.5 * (U[i] * V[j] + U[3 + i] * V[3 + j] + U[6 + i] * V[6 + j] +
                      (U[j] * V[i] + U[3 + j] * V[3 + i] + U[6 + j] * V[6 + i]));
    }
}

/* The stress λ tr(E) I + 2μ E. */
SP_INLINE void isotropic_stress(const sp_lanes *c, const sp_lanes *E, sp_lanes *S)
{
    const sp_lanes pressure = c[0] * (E[0] + E[1] + E[2]);
    for (int k = 0; k < 6; k++)
        S[k] = k < 3 ? pressure + 2 * c[1] * E[k] : 2 * c[1] * E[k];
}

/* P += F S. */
SP_INLINE void add_first_stress(const sp_lanes *F, const sp_lanes *S, sp_lanes *P)
{
    for (int i = 0; i < 3; i++) {
        const sp_lanes *f = F + 3 * i;
        P[3 * i] += f[0] * S[0] + f[1] * S[5] + f[2] * S[4];
        P[3 * i + 1] += f[0] * S[5] + f[1] * S[1] + f[2] * S[3];
        P[3 * i + 2] += f[0] * S[4] + f[1] * S[3] + f[2] * S[2];
    }
}

/* A_ij,kl += λ F_ij F_kl + μ (F_il F_kj + (FFᵀ)_ik δ_jl): the tangent without its geometric part. */
SP_INLINE void add_isotropic_tangent(const sp_lanes *c, const sp_lanes *F, sp_lanes *A)
{
    sp_lanes B[9], scaled[9], sheared[9];

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            B[3 * i + k] = c[1] * (F[3 * i] * F[3 * k] + F[3 * i + 1] * F[3 * k + 1] + F[3 * i + 2] * F[3 * k + 2]);

    for (int k = 0; k < 9; k++) {
        scaled[k] = c[0] * F[k];
        sheared[k] = c[1] * F[k];
    }

    /* p = 3i + j, q = 3k + l */
    for (int p = 0, at = 0; p < 9; p++)
        for (int q = p; q < 9; q++, at++) {
            A[at] += scaled[p] * F[q] + sheared[3 * (p / 3) + q % 3] * F[3 * (q / 3) + p % 3];
            if (p % 3 == q % 3)
                A[at] += B[3 * (p / 3) + q / 3];
        }
}

/* A_ij,kl += δ_ik S_jl: the geometric part. */
SP_INLINE void add_geometric_tangent(const sp_lanes *S, sp_lanes *A)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int l = j; l < 3; l++)
                A[sp_tangent_entry(3 * i + j, 3 * i + l)] += S[voigt[j][l]];
}

SP_CLONES void sp_law_stvk(const sp_law_lanes *law, const sp_lanes *H, sp_lanes *W, sp_lanes *P, sp_lanes *A)
{
    sp_lanes F[9], E[6], S[6];
    green_strain(H, F, E);
    /* S = λ tr(E) I + 2μ E, W = ½ S:E, P = F S */
    isotropic_stress(law->constant, E, S);

    *W += 0.5 * (S[0] * E[0] + S[1] * E[1] + S[2] * E[2]) + (S[3] * E[3] + S[4] * E[4] + S[5] * E[5]);
    if (P)
        add_first_stress(F, S, P);
    if (!A)
        return;
    add_isotropic_tangent(law->constant, F, A);
    add_geometric_tangent(S, A);
}

/* Component k of the stress C e, e = E with twice the shears. */
SP_INLINE sp_lanes linear_stress(const sp_law_lanes *law, const sp_lanes *E, int k)
{
    sp_lanes normal = law->C[6 * k] * E[0] + law->C[6 * k + 1] * E[1] + law->C[6 * k + 2] * E[2];
    return normal + 2 * (law->C[6 * k + 3] * E[3] + law->C[6 * k + 4] * E[4] + law->C[6 * k + 5] * E[5]);
}

/* W = ½ eᵀCe, S = C e, P = F S, A_ij,kl = δ_ik S_jl + Σ F_ia C_aj,lb F_kb. */
SP_CLONES void sp_law_linear(const sp_law_lanes *law, const sp_lanes *H, sp_lanes *W, sp_lanes *P, sp_lanes *A)
{
    sp_lanes F[9], E[6], S[6];

    green_strain(H, F, E);
    for (int k = 0; k < 6; k++)
        S[k] = linear_stress(law, E, k);
    *W += 0.5 * (S[0] * E[0] + S[1] * E[1] + S[2] * E[2]) + (S[3] * E[3] + S[4] * E[4] + S[5] * E[5]);

    if (P)
        add_first_stress(F, S, P);
    if (!A)
        return;

    /* half = Σ_a F_ia C_aj,m, then Σ_b half F_kb. */
    sp_lanes half[9][6];
    for (int p = 0; p < 9; p++)
        for (int m = 0; m < 6; m++) {
            half[p][m] = F[3 * (p / 3)] * law->C[6 * voigt[0][p % 3] + m];
            for (int a = 1; a < 3; a++)
                half[p][m] += F[3 * (p / 3) + a] * law->C[6 * voigt[a][p % 3] + m];
        }

    for (int p = 0, at = 0; p < 9; p++)
        for (int q = p; q < 9; q++, at++)
            for (int b = 0; b < 3; b++)
                A[at] += half[p][voigt[q % 3][b]] * F[3 * (q / 3) + b];
    add_geometric_tangent(S, A);
}

bool sp_law_quadratic(const sp_law_lanes *law)
{
    return law->law <= SP_LAW_LINEAR && law->fibre != SP_FIBRE_FUNG;
}

/* The stress of the strain E, linear in E: C e + 4k (aᵀEa) a aᵀ. */
SP_INLINE void quadratic_stress(const sp_law_lanes *law, const sp_lanes *E, sp_lanes *S)
{
    const sp_lanes *a = law->fibre_direction;
    if (law->law == SP_LAW_STVK)
        isotropic_stress(law->constant, E, S);
    else
        for (int k = 0; k < 6; k++)
            S[k] = linear_stress(law, E, k);

    if (law->fibre == SP_FIBRE_NONE)
        return;

    /* 4k (aᵀEa) a aᵀ */
    sp_lanes along = E[0] * a[0] * a[0] + E[1] * a[1] * a[1] + E[2] * a[2] * a[2] +
                     2 * (E[3] * a[1] * a[2] + E[4] * a[2] * a[0] + E[5] * a[0] * a[1]);
    for (int k = 0; k < 6; k++)
        S[k] += 4 * law->fibre_stiffness * along * a[first[k]] * a[second[k]];
}

SP_CLONES void sp_law_second(const sp_law_lanes *law, const sp_lanes U[9], const sp_lanes V[9], sp_lanes P[9])
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

    sp_lanes one[9], E[6], S[6];
    for (int k = 0; k < 9; k++) {
        one[k] = (sp_lanes){0} + identity[k];
        P[k] = (sp_lanes){0};
    }

    /* U S(sym V) + V S(sym U) + S(sym(UᵀV)) */
    symmetric_product(one, V, E);
    quadratic_stress(law, E, S);
    add_first_stress(U, S, P);

    symmetric_product(one, U, E);
    quadratic_stress(law, E, S);
    add_first_stress(V, S, P);

    symmetric_product(U, V, E);
    quadratic_stress(law, E, S);
    add_first_stress(one, S, P);
}

/* P += U S(sym(VᵀW)). */
SP_INLINE void add_third(const sp_law_lanes *law, const sp_lanes *U, const sp_lanes *V, const sp_lanes *W, sp_lanes *P)
{
    sp_lanes E[6], S[6];
    symmetric_product(V, W, E);
    quadratic_stress(law, E, S);
    add_first_stress(U, S, P);
}

SP_CLONES void sp_law_third(const sp_law_lanes *law, const sp_lanes U[9], const sp_lanes V[9], const sp_lanes W[9],
                            sp_lanes P[9])
{
    for (int k = 0; k < 9; k++)
        P[k] = (sp_lanes){0};
    add_third(law, U, V, W, P);
    add_third(law, V, W, U, P);
    add_third(law, W, U, V, P);
}

SP_CLONES void sp_law_damping(const sp_lanes viscosity[2], const sp_lanes H[9], const sp_lanes D[9], sp_lanes P[9],
                              sp_lanes A[SP_TANGENT_ENTRIES])
{
    sp_lanes F[9], E[6], S[6];
    for (int k = 0; k < 9; k++)
        F[k] = H[k] + (k % 4 == 0);

    if (P) {
        for (int k = 0; k < 9; k++)
            P[k] = (sp_lanes){0};
        symmetric_product(F, D, E);
        isotropic_stress(viscosity, E, S);
        add_first_stress(F, S, P);
    }

    if (A) {
        for (int k = 0; k < SP_TANGENT_ENTRIES; k++)
            A[k] = (sp_lanes){0};
        add_isotropic_tangent(viscosity, F, A);
    }
}
