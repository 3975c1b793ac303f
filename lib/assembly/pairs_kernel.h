/* One version of the functions of pairs.c, which includes this file once for every register width. The includer defines
 * LANES, doubles in a register, and NAMED(x), x with the width in its name. `part` counts the registers that the lanes
 * before them take: 0, or 0 and 1 for half of the lanes. */

typedef double NAMED(lanes) __attribute__((vector_size(LANES * 8)));

/* Element `at` of an array of sp_lanes, and one that may be changed. */
#define OF(array, at) (((const NAMED(lanes) *)(array))[(SP_LANES / LANES) * (at) + part])
#define INTO(array, at) (((NAMED(lanes) *)(array))[(SP_LANES / LANES) * (at) + part])

/* Differences over all pairs of corners. */
SP_INLINE void NAMED(differences)(int part, sp_lanes u[8][3], NAMED(lanes) difference[SP_HEX_PAIRS][3])
{
    for (int a = 0, p = 0; a < CORNERS; a++)
        for (int b = a + 1; b < CORNERS; b++, p++)
            for (int i = 0; i < 3; i++)
                difference[p][i] = OF(u, 3 * a + i) - OF(u, 3 * b + i);
}

SP_INLINE NAMED(lanes) NAMED(dot)(const NAMED(lanes) a[3], const NAMED(lanes) b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* X_p·w. */
SP_INLINE NAMED(lanes) NAMED(along_edge)(const sp_element_lanes *data, int part, int p, const NAMED(lanes) w[3])
{
    return OF(data->edge, 3 * p) * w[0] + OF(data->edge, 3 * p + 1) * w[1] + OF(data->edge, 3 * p + 2) * w[2];
}

/* t = G d with G packed. */
SP_INLINE void NAMED(gram_times)(const sp_element_lanes *data, int part, const NAMED(lanes) * d, NAMED(lanes) * t)
{
    for (int p = 0; p < PAIRS; p++)
        t[p] = (NAMED(lanes)){0};

    for (int p = 0, at = 0; p < PAIRS; p++) {
        NAMED(lanes) sum = OF(data->gram, at) * d[p];
        at++;
        for (int q = p + 1; q < PAIRS; q++, at++) {
            sum += OF(data->gram, at) * d[q];
            t[q] += OF(data->gram, at) * d[p];
        }
        t[p] += sum;
    }
}

/* f_a += Σ_b w_ab, f_b −= w_ab. */
SP_INLINE void NAMED(pairs_to_corners)(int part, NAMED(lanes) w[SP_HEX_PAIRS][3], sp_lanes f[8][3])
{
    for (int k = 0; k < 3 * CORNERS; k++)
        INTO(f, k) = (NAMED(lanes)){0};

    for (int a = 0, p = 0; a < CORNERS; a++)
        for (int b = a + 1; b < CORNERS; b++, p++)
            for (int i = 0; i < 3; i++) {
                INTO(f, 3 * a + i) += w[p][i];
                INTO(f, 3 * b + i) -= w[p][i];
            }
}

/* Computes the current edges x_ab = X_ab + u_ab, d = X·u + ½u·u (which does not cancel for small u) and t = G d, and
 * returns the energy of each lane. The tension T of fibres adds T along·d to the energy; its second derivative with
 * respect to d is 0. */
SP_INLINE NAMED(lanes) NAMED(pair_state)(const sp_element_lanes *data, int part, sp_lanes u[8][3],
                                         NAMED(lanes) x[SP_HEX_PAIRS][3], NAMED(lanes) * t)
{
    NAMED(lanes) d[SP_HEX_PAIRS], energy = {0};

    NAMED(differences)(part, u, x);

    for (int p = 0; p < PAIRS; p++) {
        d[p] = NAMED(along_edge)(data, part, p, x[p]) + 0.5 * NAMED(dot)(x[p], x[p]);
        for (int i = 0; i < 3; i++)
            x[p][i] += OF(data->edge, 3 * p + i);
    }

    NAMED(gram_times)(data, part, d, t);

    /* W = ½ dᵀ G d */
    for (int p = 0; p < PAIRS; p++)
        energy += 0.5 * t[p] * d[p];

    if (!data->active)
        return energy;
    for (int p = 0; p < PAIRS; p++) {
        const NAMED(lanes) pull = OF(&data->tension, 0) * OF(data->along, p);
        energy += pull * d[p];
        t[p] += pull;
    }
    return energy;
}

/* x_ab = X_ab + u_ab. */
SP_INLINE void NAMED(current_edges)(const sp_element_lanes *data, int part, sp_lanes u[8][3],
                                    NAMED(lanes) x[SP_HEX_PAIRS][3])
{
    NAMED(differences)(part, u, x);
    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            x[p][i] += OF(data->edge, 3 * p + i);
}

/* ---- force ---- */

SP_INLINE void NAMED(force)(const sp_element_lanes *data, int part, sp_lanes u[8][3], sp_lanes f[8][3],
                            sp_lanes *energy)
{
    NAMED(lanes) x[SP_HEX_PAIRS][3], t[SP_HEX_PAIRS];
    INTO(energy, 0) = NAMED(pair_state)(data, part, u, x, t);

    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            x[p][i] *= t[p];
    NAMED(pairs_to_corners)(part, x, f);
}

/* ---- tangent ---- */

/* Blocks a ≤ c of Σ_b Σ_d x_ab G_ab,cd x_cdᵀ: the tangent without its geometric part, at the edges x. */
SP_INLINE void NAMED(material_blocks)(const sp_element_lanes *data, int part, NAMED(lanes) x[SP_HEX_PAIRS][3],
                                      sp_lanes block[][9])
{
    for (int a = 0, at = 0; a < CORNERS; a++)
        for (int c = a; c < CORNERS; c++, at++) {
            NAMED(lanes) sum[9] = {{0}};
            for (int d = 0; d < CORNERS; d++) {
                if (d == c)
                    continue;
                const int q = sp_pair_index(CORNERS, c, d);
                /* y = Σ_b G_ab,cd x_ab */
                NAMED(lanes) y[3] = {{0}};

                for (int b = 0; b < CORNERS; b++) {
                    if (b == a)
                        continue;
                    const int p = sp_pair_index(CORNERS, a, b);
                    NAMED(lanes) g = OF(data->gram, sp_packed(PAIRS, p, q));
                    if (a > b)
                        g = -g; /* here x[p] is x_b − x_a */
                    for (int i = 0; i < 3; i++)
                        y[i] += g * x[p][i];
                }

                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        sum[3 * i + j] += c < d ? y[i] * x[q][j] : -y[i] * x[q][j];
            }

            for (int k = 0; k < 9; k++)
                INTO(block, 9 * at + k) = sum[k];
        }
}

/* Adds the geometric part t_ab (δ_ac − δ_bc) I. */
SP_INLINE void NAMED(tangent)(const sp_element_lanes *data, int part, sp_lanes u[8][3], bool definite, sp_lanes f[8][3],
                              sp_lanes block[][9], sp_lanes *energy)
{
    NAMED(lanes) x[SP_HEX_PAIRS][3], t[SP_HEX_PAIRS];
    INTO(energy, 0) = NAMED(pair_state)(data, part, u, x, t);
    NAMED(material_blocks)(data, part, x, block);

    for (int a = 0, p = 0; a < CORNERS; a++)
        for (int b = a + 1; b < CORNERS; b++, p++) {
            NAMED(lanes) tension = t[p];

            /* The tension of fibres is never compressive and is kept completely. */
            if (definite) {
                const NAMED(lanes) pull = data->active ? OF(&data->tension, 0) * OF(data->along, p) : (NAMED(lanes)){0};
                tension -= pull;
                for (int l = 0; l < LANES; l++)
                    tension[l] = tension[l] > 0 ? tension[l] : 0;
                tension += pull;
            }

            /* ±t_ab I in the blocks of a and b. */
            for (int i = 0; i < 3; i++) {
                INTO(block, 9 * sp_packed(CORNERS, a, a) + 4 * i) += tension;
                INTO(block, 9 * sp_packed(CORNERS, b, b) + 4 * i) += tension;
                INTO(block, 9 * sp_packed(CORNERS, a, b) + 4 * i) -= tension;
                x[p][i] *= t[p];
            }
        }
    NAMED(pairs_to_corners)(part, x, f);
}

SP_INLINE void NAMED(material_tangent)(const sp_element_lanes *data, int part, sp_lanes u[8][3], sp_lanes block[][9])
{
    NAMED(lanes) x[SP_HEX_PAIRS][3];
    NAMED(current_edges)(data, part, u, x);
    NAMED(material_blocks)(data, part, x, block);
}

/* ---- tangent times a vector ---- */

SP_INLINE void NAMED(tangent_times)(const sp_element_lanes *data, int part, sp_lanes u[8][3], sp_lanes v[8][3],
                                    sp_lanes y[8][3])
{
    NAMED(lanes) x[SP_HEX_PAIRS][3], t[SP_HEX_PAIRS], w[SP_HEX_PAIRS][3], d[SP_HEX_PAIRS], s[SP_HEX_PAIRS];

    NAMED(pair_state)(data, part, u, x, t);
    NAMED(differences)(part, v, w);

    for (int p = 0; p < PAIRS; p++)
        d[p] = NAMED(dot)(x[p], w[p]);

    NAMED(gram_times)(data, part, d, s);

    /* δ(t x) = t w + (G (x·w)) x */
    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            w[p][i] = t[p] * w[p][i] + s[p] * x[p][i];
    NAMED(pairs_to_corners)(part, w, y);
}

SP_INLINE void NAMED(material_times)(const sp_element_lanes *data, int part, sp_lanes u[8][3], sp_lanes v[8][3],
                                     sp_lanes y[8][3])
{
    NAMED(lanes) x[SP_HEX_PAIRS][3], w[SP_HEX_PAIRS][3], rate[SP_HEX_PAIRS], s[SP_HEX_PAIRS];

    NAMED(current_edges)(data, part, u, x);
    NAMED(differences)(part, v, w);

    for (int p = 0; p < PAIRS; p++)
        rate[p] = NAMED(dot)(x[p], w[p]);
    NAMED(gram_times)(data, part, rate, s);

    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            x[p][i] *= s[p];
    NAMED(pairs_to_corners)(part, x, y);
}

/* ---- at rest ---- */

/* uᵀK(0)u: dᵀG d with d = X·u, and T along·(u_a − u_b)² of fibres. */
SP_INLINE void NAMED(rest_energy)(const sp_element_lanes *data, int part, sp_lanes u[8][3], sp_lanes *energy)
{
    NAMED(lanes) w[SP_HEX_PAIRS][3], d[SP_HEX_PAIRS], sum = {0};

    NAMED(differences)(part, u, w);
    for (int p = 0; p < PAIRS; p++) {
        d[p] = NAMED(along_edge)(data, part, p, w[p]);
        if (data->active)
            sum += OF(&data->tension, 0) * OF(data->along, p) * NAMED(dot)(w[p], w[p]);
    }

    /* dᵀ G d by rows of the upper triangle */
    for (int p = 0, at = 0; p < PAIRS; p++) {
        NAMED(lanes) t = 0.5 * OF(data->gram, at) * d[p];
        at++;
        for (int q = p + 1; q < PAIRS; q++, at++)
            t += OF(data->gram, at) * d[q];
        sum += 2 * t * d[p];
    }
    INTO(energy, 0) = sum;
}

/* Σ t_ab (δ_ac − δ_bc) I with the tensions t = G d of linear elasticity, d = X·u. */
SP_INLINE void NAMED(stress_stiffness)(const sp_element_lanes *data, int part, sp_lanes u[8][3], sp_lanes block[][9])
{
    NAMED(lanes) w[SP_HEX_PAIRS][3], d[SP_HEX_PAIRS], t[SP_HEX_PAIRS];
    NAMED(differences)(part, u, w);

    for (int p = 0; p < PAIRS; p++)
        d[p] = NAMED(along_edge)(data, part, p, w[p]);
    NAMED(gram_times)(data, part, d, t);

    for (int k = 0; k < 9 * (PAIRS + CORNERS); k++)
        INTO(block, k) = (NAMED(lanes)){0};

    for (int a = 0, p = 0; a < CORNERS; a++)
        for (int b = a + 1; b < CORNERS; b++, p++)
            for (int i = 0; i < 3; i++) {
                INTO(block, 9 * sp_packed(CORNERS, a, a) + 4 * i) += t[p];
                INTO(block, 9 * sp_packed(CORNERS, b, b) + 4 * i) += t[p];
                INTO(block, 9 * sp_packed(CORNERS, a, b) + 4 * i) -= t[p];
            }
}

SP_INLINE void NAMED(prepare)(const sp_element_lanes *data, int part, sp_lanes u[8][3], sp_pairs_mode *mode)
{
    NAMED(lanes) w[SP_HEX_PAIRS][3], d[SP_HEX_PAIRS], t[SP_HEX_PAIRS];

    NAMED(differences)(part, u, w);
    for (int p = 0; p < PAIRS; p++)
        d[p] = NAMED(along_edge)(data, part, p, w[p]);
    NAMED(gram_times)(data, part, d, t);

    for (int p = 0; p < PAIRS; p++) {
        INTO(mode->t, p) = t[p];
        for (int i = 0; i < 3; i++)
            INTO(mode->difference, 3 * p + i) = w[p][i];
    }
}

/* ∂²f_a/∂u² [u,v] = Σ_b (G (u·v))_ab X_ab + (G (X·u))_ab v_ab + (G (X·v))_ab u_ab. */
SP_INLINE void NAMED(second)(const sp_element_lanes *data, int part, const sp_pairs_mode *u, const sp_pairs_mode *v,
                             sp_lanes h[8][3])
{
    NAMED(lanes) d[SP_HEX_PAIRS], t[SP_HEX_PAIRS], w[SP_HEX_PAIRS][3];

    for (int p = 0; p < PAIRS; p++)
        d[p] = OF(u->difference, 3 * p) * OF(v->difference, 3 * p) +
               OF(u->difference, 3 * p + 1) * OF(v->difference, 3 * p + 1) +
               OF(u->difference, 3 * p + 2) * OF(v->difference, 3 * p + 2);

    NAMED(gram_times)(data, part, d, t);

    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            w[p][i] = t[p] * OF(data->edge, 3 * p + i) + OF(u->t, p) * OF(v->difference, 3 * p + i) +
                      OF(v->t, p) * OF(u->difference, 3 * p + i);
    NAMED(pairs_to_corners)(part, w, h);
}

/* w += (G (u·v))_ab x_ab. */
SP_INLINE void NAMED(add_third)(const sp_element_lanes *data, int part, const sp_pairs_mode *u, const sp_pairs_mode *v,
                                const sp_pairs_mode *x, NAMED(lanes) w[SP_HEX_PAIRS][3])
{
    NAMED(lanes) d[SP_HEX_PAIRS], t[SP_HEX_PAIRS];

    for (int p = 0; p < PAIRS; p++)
        d[p] = OF(u->difference, 3 * p) * OF(v->difference, 3 * p) +
               OF(u->difference, 3 * p + 1) * OF(v->difference, 3 * p + 1) +
               OF(u->difference, 3 * p + 2) * OF(v->difference, 3 * p + 2);
    NAMED(gram_times)(data, part, d, t);

    for (int p = 0; p < PAIRS; p++)
        for (int i = 0; i < 3; i++)
            w[p][i] += t[p] * OF(x->difference, 3 * p + i);
}

/* ∂³f_a/∂u³ [u,v,x] = Σ_b (G (u·v))_ab x_ab + (G (v·x))_ab u_ab + (G (x·u))_ab v_ab. */
SP_INLINE void NAMED(third)(const sp_element_lanes *data, int part, const sp_pairs_mode *u, const sp_pairs_mode *v,
                            const sp_pairs_mode *x, sp_lanes h[8][3])
{
    NAMED(lanes) w[SP_HEX_PAIRS][3] = {{{0}}};
    NAMED(add_third)(data, part, u, v, x, w);
    NAMED(add_third)(data, part, v, x, u, w);
    NAMED(add_third)(data, part, x, u, v, w);
    NAMED(pairs_to_corners)(part, w, h);
}

#undef OF
#undef INTO
#undef LANES
#undef NAMED
