/* Hexahedra of linear materials in squared edge lengths (assembly/element.h). Everything is a polynomial in u: W of
 * degree 4, f of 3, K of 2. */
#include "assembly/batch_kinds.h"

enum { CORNERS = 8, PAIRS = SP_HEX_PAIRS };

/* Differences over all pairs. */
SP_INLINE void differences(sp_lanes u[8][3], sp_lanes difference[SP_HEX_PAIRS][3])
{
    for (int a = 0, p = 0; a < CORNERS; a++)
        for (int b = a + 1; b < CORNERS; b++, p++)
            for (int i = 0; i < 3; i++)
                difference[p][i] = u[a][i] - u[b][i];
}

SP_INLINE sp_lanes dot(const sp_lanes a[3], const sp_lanes b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* t = G d with G packed. */
SP_INLINE void gram_times(const sp_lanes *gram, const sp_lanes *d, sp_lanes *t)
{
    for (int p = 0; p < PAIRS; p++)
        t[p] = (sp_lanes){0};
    for (int p = 0, at = 0; p < PAIRS; p++) {
        sp_lanes sum = gram[at++] * d[p];
        for (int q = p + 1; q < PAIRS; q++, at++) {
            sum += gram[at] * d[q];
            t[q] += gram[at] * d[p];
        }
        t[p] += sum;
    }
}

/* f_a += Σ_b w_ab, f_b −= w_ab. */
SP_INLINE void pairs_to_corners(sp_lanes w[SP_HEX_PAIRS][3], sp_lanes f[8][3])
{
    for (int a = 0; a < CORNERS; a++)
        for (int i = 0; i < 3; i++)
            f[a][i] = (sp_lanes){0};
    for (int a = 0, p = 0; a < CORNERS; a++)
        for (int b = a + 1; b < CORNERS; b++, p++)
            for (int i = 0; i < 3; i++) {
                f[a][i] += w[p][i];
                f[b][i] -= w[p][i];
            }
}

/* Current edges x_ab = X_ab + u_ab, d = X·u + ½u·u (no cancellation at small u), t = G d; returns the energy per lane.
 * The tension T of fibres adds T along·d to the energy, whose second derivative by d is 0. */
SP_INLINE sp_lanes pair_state(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes x[SP_HEX_PAIRS][3], sp_lanes *t)
{
    sp_lanes d[SP_HEX_PAIRS], energy = {0};
    differences(u, x);
    for (int p = 0; p < PAIRS; p++) {
        d[p] = dot(data->edge[p], x[p]) + 0.5 * dot(x[p], x[p]);
        for (int i = 0; i < 3; i++)
            x[p][i] += data->edge[p][i];
    }
    gram_times(data->gram, d, t);
    for (int p = 0; p < PAIRS; p++)
        energy += 0.5 * t[p] * d[p];
    for (int p = 0; data->active && p < PAIRS; p++) {
        const sp_lanes pull = data->tension * data->along[p];
        energy += pull * d[p];
        t[p] += pull;
    }
    return energy;
}

/* ---- force ---- */

SP_CLONES void sp_pairs_force(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes f[8][3], sp_lanes *energy)
{
    sp_lanes x[SP_HEX_PAIRS][3], t[SP_HEX_PAIRS];
    *energy = pair_state(data, u, x, t);
    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            x[p][i] *= t[p];
    pairs_to_corners(x, f);
}

/* ---- tangent ---- */

/* Blocks a ≤ c of Σ_b Σ_d x_ab G_ab,cd x_cdᵀ: the tangent without its geometric part, at the edges x. */
SP_INLINE void material_blocks(const sp_element_lanes *data, sp_lanes x[SP_HEX_PAIRS][3],
                               sp_lanes block[SP_ELEMENT_BLOCKS][9])
{
    for (int a = 0, at = 0; a < CORNERS; a++)
        for (int c = a; c < CORNERS; c++, at++) {
            for (int k = 0; k < 9; k++)
                block[at][k] = (sp_lanes){0};
            for (int d = 0; d < CORNERS; d++) {
                if (d == c)
                    continue;
                int q = sp_pair_index(CORNERS, c, d);
                sp_lanes y[3] = {{0}, {0}, {0}};
                for (int b = 0; b < CORNERS; b++) {
                    if (b == a)
                        continue;
                    int p = sp_pair_index(CORNERS, a, b);
                    sp_lanes g = data->gram[sp_packed(PAIRS, p, q)];
                    if (a > b)
                        g = -g; /* x[p] is x_b − x_a then */
                    for (int i = 0; i < 3; i++)
                        y[i] += g * x[p][i];
                }
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        block[at][3 * i + j] += c < d ? y[i] * x[q][j] : -y[i] * x[q][j];
            }
        }
}

/* With the geometric part t_ab (δ_ac − δ_bc) I. */
SP_CLONES void sp_pairs_tangent(const sp_element_lanes *data, sp_lanes u[8][3], bool definite, sp_lanes f[8][3],
                                sp_lanes block[SP_ELEMENT_BLOCKS][9], sp_lanes *energy)
{
    sp_lanes x[SP_HEX_PAIRS][3], t[SP_HEX_PAIRS];
    *energy = pair_state(data, u, x, t);
    material_blocks(data, x, block);
    for (int a = 0, p = 0; a < CORNERS; a++)
        for (int b = a + 1; b < CORNERS; b++, p++) {
            sp_lanes tension = t[p];
            if (definite) { /* all of the fibres' tension: it pulls */
                const sp_lanes pull = data->active ? data->tension * data->along[p] : (sp_lanes){0};
                tension -= pull;
                for (int l = 0; l < SP_LANES; l++)
                    tension[l] = tension[l] > 0 ? tension[l] : 0;
                tension += pull;
            }
            for (int i = 0; i < 3; i++) {
                block[sp_packed(CORNERS, a, a)][4 * i] += tension;
                block[sp_packed(CORNERS, b, b)][4 * i] += tension;
                block[sp_packed(CORNERS, a, b)][4 * i] -= tension;
                x[p][i] *= t[p];
            }
        }
    pairs_to_corners(x, f);
}

/* ---- tangent times a vector ---- */

SP_CLONES void sp_pairs_tangent_times(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3],
                                      sp_lanes y[8][3])
{
    sp_lanes x[SP_HEX_PAIRS][3], t[SP_HEX_PAIRS], w[SP_HEX_PAIRS][3], d[SP_HEX_PAIRS], s[SP_HEX_PAIRS];
    pair_state(data, u, x, t);
    differences(v, w);
    for (int p = 0; p < PAIRS; p++)
        d[p] = dot(x[p], w[p]);
    gram_times(data->gram, d, s);
    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            w[p][i] = t[p] * w[p][i] + s[p] * x[p][i];
    pairs_to_corners(w, y);
}

/* ---- the material part alone ---- */

/* x_ab = X_ab + u_ab. */
SP_INLINE void current_edges(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes x[SP_HEX_PAIRS][3])
{
    differences(u, x);
    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            x[p][i] += data->edge[p][i];
}

SP_CLONES void sp_pairs_material_times(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3],
                                       sp_lanes y[8][3])
{
    sp_lanes x[SP_HEX_PAIRS][3], w[SP_HEX_PAIRS][3], rate[SP_HEX_PAIRS], s[SP_HEX_PAIRS];
    current_edges(data, u, x);
    differences(v, w);
    for (int p = 0; p < PAIRS; p++)
        rate[p] = dot(x[p], w[p]);
    gram_times(data->gram, rate, s);
    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            x[p][i] *= s[p];
    pairs_to_corners(x, y);
}

SP_CLONES void sp_pairs_material_tangent(const sp_element_lanes *data, sp_lanes u[8][3],
                                         sp_lanes block[SP_ELEMENT_BLOCKS][9])
{
    sp_lanes x[SP_HEX_PAIRS][3];
    current_edges(data, u, x);
    material_blocks(data, x, block);
}

/* ---- second derivatives at rest ---- */

SP_CLONES void sp_pairs_prepare(const sp_element_lanes *data, sp_lanes u[8][3], sp_pairs_mode *mode)
{
    sp_lanes d[SP_HEX_PAIRS];
    differences(u, mode->difference);
    for (int p = 0; p < PAIRS; p++)
        d[p] = dot(data->edge[p], mode->difference[p]);
    gram_times(data->gram, d, mode->t);
}

/* ∂²f_a/∂u² [u,v] = Σ_b (G (u·v))_ab X_ab + (G (X·u))_ab v_ab + (G (X·v))_ab u_ab. */
SP_CLONES void sp_pairs_second(const sp_element_lanes *data, const sp_pairs_mode *u, const sp_pairs_mode *v,
                               sp_lanes h[8][3])
{
    sp_lanes d[SP_HEX_PAIRS], t[SP_HEX_PAIRS], w[SP_HEX_PAIRS][3];
    for (int p = 0; p < PAIRS; p++)
        d[p] = dot(u->difference[p], v->difference[p]);
    gram_times(data->gram, d, t);
    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            w[p][i] = t[p] * data->edge[p][i] + u->t[p] * v->difference[p][i] + v->t[p] * u->difference[p][i];
    pairs_to_corners(w, h);
}
