#include "assembly/assumed.h"

#include "assembly/points_kernel.h"

enum { POINTS = 8, NODES = 8 };

/* Voigt order xx, yy, zz, yz, zx, xy, strains with engineering shear. */
static const int first[6] = {0, 1, 2, 1, 2, 0}, second[6] = {0, 1, 2, 2, 0, 1},
                 voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};

/* A field at all points: displacement gradients, strains or stresses. */
typedef sp_lanes gradients[POINTS][9];
typedef sp_lanes tensors[POINTS][6];

SP_INLINE void gradients_of(const sp_element_lanes *data, sp_lanes u[][3], gradients H)
{
    for (int g = 0; g < POINTS; g++)
        displacement_gradient(NODES, (sp_lanes(*)[3])data->gradient[g], u, H[g]);
}

/* sym(UᵀV). */
SP_INLINE void product_strain(const sp_lanes *U, const sp_lanes *V, sp_lanes *E)
{
    for (int k = 0; k < 6; k++) {
        const int i = first[k], j = second[k];
        E[k] = U[i] * V[j] + U[3 + i] * V[3 + j] + U[6 + i] * V[6 + j];
        if (k >= 3)
            E[k] += U[j] * V[i] + U[3 + j] * V[3 + i] + U[6 + j] * V[6 + i];
    }
}

/* sym(D + HᵀD). */
SP_INLINE void strain_rate(const sp_lanes *H, const sp_lanes *D, sp_lanes *E)
{
    product_strain(H, D, E);
    for (int k = 0; k < 6; k++)
        E[k] += k < 3 ? D[4 * k] : D[3 * first[k] + second[k]] + D[3 * second[k] + first[k]];
}

/* The Green–Lagrange strain sym(H + ½ HᵀH). */
SP_INLINE void green_strain(const sp_lanes *H, sp_lanes *E)
{
    sp_lanes half[9];
    for (int k = 0; k < 9; k++)
        half[k] = 0.5 * H[k];
    strain_rate(half, H, E);
}

/* P += (I + H) S. */
SP_INLINE void add_first_stress(const sp_lanes *H, const sp_lanes *S, sp_lanes *P)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[3 * i + j] += H[3 * i] * S[voigt[0][j]] + H[3 * i + 1] * S[voigt[1][j]] + H[3 * i + 2] * S[voigt[2][j]] +
                            S[voigt[i][j]];
}

/* P += U S. */
SP_INLINE void add_turned_stress(const sp_lanes *U, const sp_lanes *S, sp_lanes *P)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[3 * i + j] += U[3 * i] * S[voigt[0][j]] + U[3 * i + 1] * S[voigt[1][j]] + U[3 * i + 2] * S[voigt[2][j]];
}

SP_INLINE void hooke(const sp_element_lanes *data, const sp_lanes *E, sp_lanes *S)
{
    for (int k = 0; k < 6; k++) {
        S[k] = data->C[6 * k] * E[0];
        for (int m = 1; m < 6; m++)
            S[k] += data->C[6 * k + m] * E[m];
    }
}

/* SP_HEX8B: replaces the trace by its mean over the volume. The map is its own adjoint. */
SP_INLINE void average_traces(const sp_element_lanes *data, tensors E)
{
    sp_lanes volume = {0}, sum = {0};

    for (int g = 0; g < POINTS; g++) {
        volume += data->weight[g];
        sum += data->weight[g] * (E[g][0] + E[g][1] + E[g][2]);
    }

    /* Ē = E + (mean of tr E − tr E)/3 I */
    for (int g = 0; g < POINTS; g++) {
        const sp_lanes change = (sum / volume - (E[g][0] + E[g][1] + E[g][2])) / 3;
        for (int k = 0; k < 3; k++)
            E[g][k] += change;
    }
}

/* ξ_j of a point of the 2³ Gauss points, in the order of sp_reference_at: ±1/√3. */
SP_INLINE double place(int point, int j)
{
    return (point >> j & 1 ? 1 : -1) * 0.57735026918962576451;
}

/* x ← B⁻¹ x. */
SP_INLINE void solve_modes(const sp_lanes *factor, sp_lanes x[9])
{
    /* B = L Lᵀ with the reciprocals of the diagonal of L: x ← L⁻¹ x, then x ← L⁻ᵀ x. */
    for (int i = 0; i < 9; i++) {
        const sp_lanes *row = factor + i * (i + 1) / 2;
        for (int k = 0; k < i; k++)
            x[i] -= row[k] * x[k];
        x[i] *= row[i];
    }

    for (int i = 8; i >= 0; i--) {
        const sp_lanes *row = factor + i * (i + 1) / 2;
        x[i] *= row[i];
        for (int k = 0; k < i; k++)
            x[k] -= row[k] * x[i];
    }
}

/* SP_HEX8I: subtracts the nine modes. Orthogonal in the energy, so that the adjoint leaves C Ē as it is. */
SP_INLINE void condense_modes(const sp_element_lanes *data, tensors E)
{
    sp_lanes x[9] = {{0}}, S[6];

    /* B α = Σ_g ξ_j (C E_g) a_j */
    for (int g = 0; g < POINTS; g++) {
        hooke(data, E[g], S);
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++) {
                const sp_lanes *a = data->axis[j];
                x[3 * j + i] += place(g, j) * (S[voigt[i][0]] * a[0] + S[voigt[i][1]] * a[1] + S[voigt[i][2]] * a[2]);
            }
    }

    solve_modes(data->factor, x);

    /* Ē_g = E_g − Σ_j ξ_j sym(α_j ⊗ a_j)/w_g */
    for (int g = 0; g < POINTS; g++)
        for (int j = 0; j < 3; j++) {
            const sp_lanes scale = place(g, j) / data->weight[g];
            for (int k = 0; k < 6; k++) {
                const int s = first[k], t = second[k];
                sp_lanes mode = x[3 * j + s] * data->axis[j][t];
                if (k >= 3)
                    mode += x[3 * j + t] * data->axis[j][s];
                E[g][k] -= scale * mode;
            }
        }
}

/* S(E); E becomes Ē. Returns the energy ½ Σ w Ē:C:Ē. */
SP_CLONES static void assumed_stress(const sp_element_lanes *data, tensors E, tensors S, sp_lanes *energy)
{
    sp_lanes sum = {0};

    if (data->type == SP_HEX8B)
        average_traces(data, E);
    else
        condense_modes(data, E);

    for (int g = 0; g < POINTS; g++) {
        hooke(data, E[g], S[g]);
        sp_lanes density = {0};
        for (int k = 0; k < 6; k++)
            density += S[g][k] * E[g][k];
        sum += data->weight[g] * density;
    }

    /* Forces take the adjoint of the map from E to Ē. */
    if (data->type == SP_HEX8B)
        average_traces(data, S);
    *energy = 0.5 * sum;
}

/* The stress at u and the energy, with the tension T of fibres, whose energy T aᵀEa has the strain of the
 * displacement. */
static void stress_at(const sp_element_lanes *data, gradients H, tensors S, sp_lanes *energy)
{
    const sp_lanes *a = data->law.fibre_direction;
    tensors E;
    sp_lanes along = {0};

    for (int g = 0; g < POINTS; g++) {
        green_strain(H[g], E[g]);
        if (!data->active)
            continue;
        for (int k = 0; k < 6; k++)
            along += data->weight[g] * E[g][k] * a[first[k]] * a[second[k]];
    }

    assumed_stress(data, E, S, energy);
    if (!data->active)
        return;

    *energy += data->law.fibre_tension * along;
    /* S += T a aᵀ */
    for (int g = 0; g < POINTS; g++)
        for (int k = 0; k < 6; k++)
            S[g][k] += data->law.fibre_tension * a[first[k]] * a[second[k]];
}

SP_CLONES static void add_force(const sp_element_lanes *data, int g, const sp_lanes P[9], sp_lanes f[][3])
{
    add_stress(NODES, (sp_lanes(*)[3])data->gradient[g], &data->weight[g], P, f);
}

SP_CLONES static void forces(const sp_element_lanes *data, gradients H, tensors S, sp_lanes f[][3])
{
    clear(NODES, f);
    for (int g = 0; g < POINTS; g++) {
        sp_lanes P[9] = {{0}};
        /* P = F S */
        add_first_stress(H[g], S[g], P);
        add_force(data, g, P, f);
    }
}

void sp_assumed_force(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes f[8][3], sp_lanes *energy)
{
    gradients H;
    tensors S;
    gradients_of(data, u, H);
    stress_at(data, H, S, energy);
    forces(data, H, S, f);
}

/* S as a matrix; with definite 0 in the lanes where an invariant is negative. */
SP_INLINE void stress_matrix(const sp_lanes S[6], bool definite, sp_lanes matrix[9])
{
    const sp_lanes minor = S[1] * S[2] - S[3] * S[3], trace = S[0] + S[1] + S[2],
                   second_one = minor + S[0] * S[2] - S[4] * S[4] + S[0] * S[1] - S[5] * S[5],
                   third = S[0] * minor - S[5] * (S[5] * S[2] - S[3] * S[4]) + S[4] * (S[5] * S[3] - S[1] * S[4]);

    for (int k = 0; k < 9; k++)
        matrix[k] = S[voigt[k / 3][k % 3]];

    if (!definite)
        return;

    /* The invariants of a semidefinite matrix are not negative. */
    for (int l = 0; l < SP_LANES; l++) {
        if (trace[l] >= 0 && second_one[l] >= 0 && third[l] >= 0)
            continue;
        for (int k = 0; k < 9; k++)
            matrix[k][l] = 0;
    }
}

/* Column (c, i) of the tangent's part F S(sym(Fᵀ∇v)), for v = e_i at node c, into the blocks a ≤ c. */
SP_CLONES static void add_column(const sp_element_lanes *data, gradients H, int c, int i, sp_lanes block[][9])
{
    tensors E, S;
    sp_lanes unused, f[NODES][3];

    /* The strain rate of v = e_i N_c. */
    for (int g = 0; g < POINTS; g++) {
        sp_lanes D[9] = {{0}};
        for (int j = 0; j < 3; j++)
            D[3 * i + j] = data->gradient[g][c][j];
        strain_rate(H[g], D, E[g]);
    }

    assumed_stress(data, E, S, &unused);
    forces(data, H, S, f);

    /* Column i of the blocks (a, c). */
    for (int a = 0; a <= c; a++)
        for (int k = 0; k < 3; k++)
            block[sp_packed(NODES, a, c)][3 * k + i] += f[a][k];
}

/* The stiffness of the stresses S alone. */
static void set_stress_stiffness(const sp_element_lanes *data, tensors S, bool definite, sp_lanes block[][9])
{
    clear_blocks(NODES, block);
    for (int g = 0; g < POINTS; g++) {
        sp_lanes matrix[9];
        stress_matrix(S[g], definite, matrix);
        add_stress_blocks(NODES, (sp_lanes(*)[3])data->gradient[g], &data->weight[g], matrix, block);
    }
}

void sp_assumed_tangent(const sp_element_lanes *data, sp_lanes u[8][3], bool definite, sp_lanes f[8][3],
                        sp_lanes block[][9], sp_lanes *energy)
{
    gradients H;
    tensors S;
    gradients_of(data, u, H);
    stress_at(data, H, S, energy);
    forces(data, H, S, f);

    set_stress_stiffness(data, S, definite, block);

    for (int c = 0; c < NODES; c++)
        for (int i = 0; i < 3; i++)
            add_column(data, H, c, i, block);
}

void sp_assumed_tangent_times(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3], sp_lanes y[8][3])
{
    gradients H, D;
    tensors S, E, change;
    sp_lanes unused;
    gradients_of(data, u, H);
    gradients_of(data, v, D);
    stress_at(data, H, S, &unused);

    for (int g = 0; g < POINTS; g++)
        strain_rate(H[g], D[g], E[g]);
    assumed_stress(data, E, change, &unused);

    /* P = D S + F Ṡ */
    clear(NODES, y);
    for (int g = 0; g < POINTS; g++) {
        sp_lanes P[9] = {{0}};
        add_turned_stress(D[g], S[g], P);
        add_first_stress(H[g], change[g], P);
        add_force(data, g, P, y);
    }
}

/* S of the strain of linear elasticity. */
static void linear_stress(const sp_element_lanes *data, gradients H, tensors S, sp_lanes *energy)
{
    static const sp_lanes rest[9] = {{0}};
    tensors E;

    for (int g = 0; g < POINTS; g++)
        strain_rate(rest, H[g], E[g]);
    assumed_stress(data, E, S, energy);
}

void sp_assumed_stress_stiffness(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes block[][9])
{
    gradients H;
    tensors S;
    sp_lanes unused;
    gradients_of(data, u, H);
    linear_stress(data, H, S, &unused);
    set_stress_stiffness(data, S, false, block);
}

void sp_assumed_rest_energy(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes *energy)
{
    gradients H;
    tensors S;
    gradients_of(data, u, H);
    linear_stress(data, H, S, energy);
    *energy *= 2; /* uᵀK(0)u */
}

/* S(sym(UᵀV)). */
static void product_stress(const sp_element_lanes *data, gradients U, gradients V, tensors S)
{
    tensors E;
    sp_lanes unused;

    for (int g = 0; g < POINTS; g++)
        product_strain(U[g], V[g], E[g]);
    assumed_stress(data, E, S, &unused);
}

void sp_assumed_second(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3], sp_lanes h[8][3])
{
    static const sp_lanes rest[9] = {{0}};
    gradients U, V;
    tensors of_u, of_v, of_both;
    sp_lanes unused;

    gradients_of(data, u, U);
    gradients_of(data, v, V);
    linear_stress(data, U, of_u, &unused);
    linear_stress(data, V, of_v, &unused);
    product_stress(data, U, V, of_both);

    /* ∂²f [u, v] = ∫ (U S(V) + V S(U) + S(sym UᵀV)) ∇N dV, at F = 1 */
    clear(NODES, h);
    for (int g = 0; g < POINTS; g++) {
        sp_lanes P[9] = {{0}};
        add_turned_stress(U[g], of_v[g], P);
        add_turned_stress(V[g], of_u[g], P);
        add_first_stress(rest, of_both[g], P);
        add_force(data, g, P, h);
    }
}

void sp_assumed_third(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3], sp_lanes w[8][3],
                      sp_lanes h[8][3])
{
    gradients U, V, W;
    tensors of_vw, of_wu, of_uv;

    gradients_of(data, u, U);
    gradients_of(data, v, V);
    gradients_of(data, w, W);
    product_stress(data, V, W, of_vw);
    product_stress(data, W, U, of_wu);
    product_stress(data, U, V, of_uv);

    /* ∂³f [u, v, w] = ∫ (U S(sym VᵀW) + V S(sym WᵀU) + W S(sym UᵀV)) ∇N dV */
    clear(NODES, h);
    for (int g = 0; g < POINTS; g++) {
        sp_lanes P[9] = {{0}};
        add_turned_stress(U[g], of_vw[g], P);
        add_turned_stress(V[g], of_wu[g], P);
        add_turned_stress(W[g], of_uv[g], P);
        add_force(data, g, P, h);
    }
}
