/* ---- the coefficients ----
 *
 *     W = 1/2 sum K0_kl q_k q_l + sum b_ijk q_i q_j q_k + sum c_ijkl q_i q_j q_k q_l
 *
 * where the sums of the cubic and the quartic part run over i <= j <= k <= l, each monomial once. A row of pairs has
 * MODEL_STRIDE numbers: zeros, then one number for each pair k <= l, l fastest. K0 is one row. The quartic part has a
 * row for each j and each i <= j, i fastest, with c_ijkl for k >= j. It begins at the last multiple of 4 that is not
 * behind the pair (j, j), with zeros before that pair. The cubic part has such a row for each i, with b_ikl for
 * k >= i. */

/*< tables >*/

#define MODEL_PAIRS (MODEL_R * (MODEL_R + 1) / 2)

/* The place of the pair (k, k) in a row of pairs. */
static int model_at(int k)
{
    return MODEL_STRIDE - MODEL_PAIRS + k * MODEL_R - k * (k - 1) / 2;
}

/* ---- force and stiffness ----
 *
 * The stiffness is the second derivative of W. Each monomial q_i q_j q_k q_l contributes once for each two of its four
 * factors. With N_i[kl] = sum_j c_ijkl q_j and M_j[kl] = sum_i c_ijkl q_i these are, for the factors
 *
 *     1, 2:             K_ij += sum_kl c_ijkl q_k q_l
 *     1, 3 and 1, 4:    K_ik += sum_l N_i[kl] q_l,  K_il += sum_k N_i[kl] q_k
 *     2, 3 and 2, 4:    the same with M_j
 *     3, 4:             K_kl += sum_j q_j M_j[kl]
 *
 * so that every coefficient is read once and multiplied three times. Two equal factors count twice. A cubic monomial
 * q_i q_j q_k acts as a part of N_i, and K_jk += q_i b_ijk. */

/* N = b, K += x b, and the sum of b s is returned. */
static model_real model_begin_row(int count, const model_real *MODEL_RESTRICT b, const model_real *MODEL_RESTRICT s,
                                  model_real x, model_real *MODEL_RESTRICT N, model_real *MODEL_RESTRICT K)
{
    model_real sum[MODEL_LANES] = {0};
    for (int n = 0; n < count; n += MODEL_LANES)
        for (int t = 0; t < MODEL_LANES; t++) {
            N[n + t] = b[n + t];
            K[n + t] += x * b[n + t];
            sum[t] += s[n + t] * b[n + t];
        }
    return model_sum(sum);
}

/* N += x c, M += y c, and the sum of c s is returned. */
static model_real model_add_row(int count, const model_real *MODEL_RESTRICT c, const model_real *MODEL_RESTRICT s,
                                model_real x, model_real y, model_real *MODEL_RESTRICT N, model_real *MODEL_RESTRICT M)
{
    model_real sum[MODEL_LANES] = {0};
    for (int n = 0; n < count; n += MODEL_LANES)
        for (int t = 0; t < MODEL_LANES; t++) {
            N[n + t] += x * c[n + t];
            M[n + t] += y * c[n + t];
            sum[t] += s[n + t] * c[n + t];
        }
    return model_sum(sum);
}

/* y += the symmetric product of a triangle of pairs from (i, i) on with q, where the diagonal counts twice: the parts
 * of the factors 1, 3 and 1, 4. Rows are read MODEL_LANES numbers at a time, beyond their end, where q is 0. */
static void model_add_product(int i, const model_real *MODEL_RESTRICT N, const model_real *MODEL_RESTRICT q,
                              model_real *MODEL_RESTRICT y)
{
    for (int k = i; k < MODEL_R; N += MODEL_R - k, k++) {
        const model_real factor = q[k];
        model_real sum[MODEL_LANES] = {0};
        for (int l = k; l < MODEL_R; l += MODEL_LANES)
            for (int t = 0; t < MODEL_LANES; t++) {
                sum[t] += N[l - k + t] * q[l + t];
                y[l + t] += N[l - k + t] * factor;
            }
        y[k] += model_sum(sum);
    }
}

/* s_kl = q_k q_l: a row after the other, whose ends the next one overwrites. */
static void model_fill_products(const model_real *MODEL_RESTRICT q, model_real *MODEL_RESTRICT s)
{
    s += model_at(0);
    for (int k = 0; k < MODEL_R; s += MODEL_R - k, k++)
        for (int l = k; l < MODEL_R; l += MODEL_LANES)
            for (int t = 0; t < MODEL_LANES; t++)
                s[l - k + t] = q[k] * q[l + t];
}

/* The cubic part: K receives K_jk, `rows` the parts of N, and `force` its force. */
static void model_add_cubic(const model_real *MODEL_RESTRICT q, const model_real *MODEL_RESTRICT s,
                            model_real *MODEL_RESTRICT K, model_real *MODEL_RESTRICT rows,
                            model_real *MODEL_RESTRICT force)
{
    const model_real *b = model_cubic;
    for (int n = 0; n < MODEL_STRIDE; n++)
        K[n] = 0;
    for (int i = 0; i < MODEL_PADDED; i++)
        force[i] = 0;
    for (int i = 0; i < MODEL_R; i++) {
        const int first = model_at(i) / MODEL_LANES * MODEL_LANES, count = MODEL_STRIDE - first;
        force[i] = model_begin_row(count, b, s + first, q[i], rows, K + first);
        b += count;
        rows += count;
    }
    model_add_product(0, K + model_at(0), q, force);
}

/* The quartic part: K receives K_kl and K_ij, `rows` N and M. */
static void model_add_quartic(const model_real *MODEL_RESTRICT q, const model_real *MODEL_RESTRICT s,
                              model_real *MODEL_RESTRICT M, model_real *MODEL_RESTRICT K,
                              model_real *MODEL_RESTRICT rows)
{
    const model_real *c = model_quartic;
    model_real *own = rows; /* N_j */
    for (int j = 0; j < MODEL_R; j++) {
        const int first = model_at(j) / MODEL_LANES * MODEL_LANES, count = MODEL_STRIDE - first;
        model_real *end = rows; /* of N_i */

        for (int n = 0; n < count; n++)
            M[n] = 0;

        for (int i = 0; i <= j; i++, c += count) {
            end += MODEL_STRIDE - model_at(i) / MODEL_LANES * MODEL_LANES;
            K[model_at(i) + j - i] += model_add_row(count, c, s + first, q[j], q[i], end - count, M);
        }

        for (int n = 0; n < count; n++) {
            own[n] += M[n];
            K[first + n] += q[j] * M[n];
        }
        own += count;
    }
}

/* K += the parts of the factors 1, 3 and 1, 4 and of 2, 3 and 2, 4. */
static void model_add_rows(const model_real *MODEL_RESTRICT q, const model_real *MODEL_RESTRICT rows,
                           model_real *MODEL_RESTRICT K)
{
    model_real y[MODEL_PADDED];
    K += model_at(0);
    for (int i = 0; i < MODEL_R; K += MODEL_R - i, i++) {
        const int at = model_at(i), first = at / MODEL_LANES * MODEL_LANES;
        for (int k = 0; k < MODEL_PADDED; k++)
            y[k] = 0;
        model_add_product(i, rows + at - first, q, y);
        for (int k = i; k < MODEL_R; k++)
            K[k - i] += y[k];
        rows += MODEL_STRIDE - first;
    }
}

/* Both triangles of K, with K0, from the sums of the parts in `pairs`. */
static void model_finish_stiffness(const model_real *MODEL_RESTRICT pairs, model_real factor,
                                   model_real *MODEL_RESTRICT K)
{
    for (int i = 0; i < MODEL_R; i++) {
        const int at = model_at(i) - i;
        for (int j = i; j < MODEL_R; j++) {
            const model_real part = pairs[at + j];
            K[i * MODEL_WIDTH + j] = K[j * MODEL_WIDTH + i] =
                factor * (model_quadratic[at + j] + (i == j ? part + part : part));
        }
    }
}

/* f, K and W at q. K q = K0 q + 2 f2 + 3 f3 with the quadratic force f2 and the cubic force f3, and
 * W = q (K0 q / 2 + f2 / 3 + f3 / 4). The force needs K, so that all are evaluated, whether the `stiffness` is wanted
 * or not. */
static void model_evaluate(model_state *state, const model_real *q, int stiffness)
{
    model_scratch *w = &state->scratch;
    model_real *s = w->pairs[0], *K = w->pairs[1], *rows = w->rows, linear[MODEL_PADDED], quadratic[MODEL_PADDED];

    (void)stiffness;
    if (model_kept(state, q, 1))
        return;
    q = w->place; /* has zeros at its end */

    model_fill_products(q, s);
    model_add_cubic(q, s, K, rows, quadratic);
    model_add_quartic(q, s, w->pairs[2], K, rows);
    model_add_rows(q, rows, K);
    model_finish_stiffness(K, w->factor, w->K);

    for (int i = 0; i < MODEL_PADDED; i++)
        linear[i] = 0;
    model_add_product(0, model_quadratic + model_at(0), q, linear);

    for (int i = 0; i < MODEL_R; i++) /* the diagonal came twice */
        linear[i] = w->factor * (linear[i] - model_quadratic[model_at(i)] * q[i]);

    model_times(w->K, q, w->force);
    w->energy = 0;

    for (int i = 0; i < MODEL_R; i++) {
        const model_real second = w->factor * quadratic[i];
        w->force[i] = (w->force[i] + 2 * linear[i] + second) / 3;
        w->energy += q[i] * ((w->force[i] + linear[i]) / 4 + second / 12);
    }
}
