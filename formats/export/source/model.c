/*< origin >*/
#include "model.h"

#if defined(__cplusplus) || !defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L
#define MODEL_RESTRICT __restrict
#else
#define MODEL_RESTRICT restrict
#endif

/* The square root: gcc and clang need no header for it. Define MODEL_SQRT to take another function. */
#if !defined(MODEL_SQRT) && defined(__GNUC__)
#define MODEL_SQRT(x) (MODEL_SINGLE ? (model_real)__builtin_sqrtf((float)(x)) : (model_real)__builtin_sqrt((double)(x)))
#elif !defined(MODEL_SQRT)
#include <math.h>
#define MODEL_SQRT(x) ((model_real)sqrt((double)(x)))
#endif

#define MODEL_NUMBER(x) ((model_real)(x))
#define MODEL_PAIRS (MODEL_R * (MODEL_R + 1) / 2)

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

/* The place of the pair (k, k) in a row of pairs. */
static int model_at(int k)
{
    return MODEL_STRIDE - MODEL_PAIRS + k * MODEL_R - k * (k - 1) / 2;
}

static int model_finite(model_real x)
{
    return x - x == 0;
}

static model_real model_dot(const model_real *x, const model_real *y)
{
    model_real sum = 0;
    for (int i = 0; i < MODEL_R; i++)
        sum += x[i] * y[i];
    return sum;
}

static model_real model_norm(const model_real *x)
{
    return MODEL_SQRT(model_dot(x, x));
}

static model_real model_magnitude(model_real x)
{
    return x < 0 ? -x : x;
}

static model_real model_larger(model_real x, model_real y)
{
    return x > y ? x : y;
}

static void model_copy(const model_real *from, model_real *to)
{
    for (int i = 0; i < MODEL_R; i++)
        to[i] = from[i];
}

/* y = A x for a symmetric A with rows of MODEL_WIDTH; y [MODEL_WIDTH]. */
static void model_times(const model_real *MODEL_RESTRICT A, const model_real *MODEL_RESTRICT x,
                        model_real *MODEL_RESTRICT y)
{
    for (int j = 0; j < MODEL_WIDTH; j++)
        y[j] = 0;
    for (int i = 0; i < MODEL_R; i++)
        for (int j = 0; j < MODEL_WIDTH; j++)
            y[j] += A[i * MODEL_WIDTH + j] * x[i];
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

enum { MODEL_LANES = 4 };

static model_real model_sum(const model_real *lanes)
{
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

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
 * W = q (K0 q / 2 + f2 / 3 + f3 / 4). */
static void model_evaluate(model_state *state, const model_real *q)
{
    model_scratch *w = &state->scratch;
    model_real *s = w->pairs[0], *K = w->pairs[1], *rows = w->rows, linear[MODEL_PADDED], quadratic[MODEL_PADDED];

    /* Values at the same q with the same stiffness are kept. */
    int same = w->known && w->factor == state->stiffness_factor;
    for (int i = 0; i < MODEL_R && same; i++)
        same = w->place[i] == q[i];
    if (same)
        return;

    model_copy(q, w->place);
    w->known = 1;
    w->factor = state->stiffness_factor;
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

void model_force(model_state *state, const model_real *q, model_real *f)
{
    model_evaluate(state, q ? q : state->q);
    model_copy(state->scratch.force, f);
}

void model_stiffness(model_state *state, const model_real *q, model_real *K)
{
    model_evaluate(state, q ? q : state->q);
    for (int i = 0; i < MODEL_R; i++)
        model_copy(state->scratch.K + i * MODEL_WIDTH, K + i * MODEL_R);
}

model_real model_energy(model_state *state, const model_real *q)
{
    model_evaluate(state, q ? q : state->q);
    return state->scratch.energy;
}

/* ---- mass, damping and external forces ---- */

void model_mass(const model_state *state, model_real *M)
{
    for (int i = 0; i < MODEL_R; i++)
        for (int j = 0; j < MODEL_R; j++)
            M[i * MODEL_R + j] = state->density_factor * model_mass_matrix[i * MODEL_WIDTH + j];
}

/* y = M x. */
static void model_mass_times(const model_state *state, const model_real *x, model_real *y)
{
    model_times(model_mass_matrix, x, y);
    for (int i = 0; i < MODEL_R; i++)
        y[i] *= state->density_factor;
}

model_real model_kinetic_energy(const model_state *state)
{
    model_real product[MODEL_WIDTH];
    model_mass_times(state, state->v, product);
    return model_dot(state->v, product) / 2;
}

/* `damping` = (alpha M + beta K(q)) v. */
static void model_damp(model_state *state, const model_real *q, const model_real *v)
{
    const model_real alpha = state->damping_mass, beta = state->damping_stiffness;
    model_real *damping = state->scratch.damping, *product = state->scratch.product;
    for (int i = 0; i < MODEL_WIDTH; i++)
        damping[i] = 0;
    if (beta > 0) {
        model_evaluate(state, q);
        model_times(state->scratch.K, v, damping);
    }
    if (alpha > 0)
        model_mass_times(state, v, product);
    for (int i = 0; i < MODEL_R; i++)
        damping[i] = beta * damping[i] + (alpha > 0 ? alpha * product[i] : 0);
}

/* The force and that of gravity, into `external`. */
static void model_load(model_state *state, const model_real *force)
{
    const model_real *g = state->gravity;
    for (int i = 0; i < MODEL_R; i++)
        state->scratch.external[i] =
            state->density_factor *
                (model_gravity[3 * i] * g[0] + model_gravity[3 * i + 1] * g[1] + model_gravity[3 * i + 2] * g[2]) +
            (force ? force[i] : 0);
}

/* ---- linear equations ---- */

/* S, of which the upper triangle is read, becomes D U with U = L^T of S = L D L^T, and `inverse` that of D. Returns 0
 * where S is not positive definite. */
static int model_factor(model_real *MODEL_RESTRICT S, model_real *MODEL_RESTRICT inverse)
{
    for (int k = 0; k < MODEL_R; k++) {
        const model_real pivot = S[k * MODEL_WIDTH + k];
        if (!(pivot > 0) || !model_finite(pivot))
            return 0;
        inverse[k] = 1 / pivot;

        for (int j = k + 1; j < MODEL_R; j++) {
            const model_real factor = S[k * MODEL_WIDTH + j] * inverse[k];
            const model_real *MODEL_RESTRICT from = S + k * MODEL_WIDTH;
            model_real *MODEL_RESTRICT to = S + j * MODEL_WIDTH;
            for (int l = j / 4 * 4; l < MODEL_WIDTH; l += 4) /* what is below the diagonal is never read */
                for (int t = 0; t < 4; t++)
                    to[l + t] -= factor * from[l + t];
        }
    }
    return 1;
}

/* x = S^-1 b from the factors; x may be b. */
static void model_solve(const model_real *S, const model_real *inverse, const model_real *b, model_real *x)
{
    if (x != b)
        model_copy(b, x);
    for (int k = 0; k < MODEL_R; k++) {
        const model_real factor = x[k] * inverse[k];
        for (int l = k + 1; l < MODEL_R; l++)
            x[l] -= factor * S[k * MODEL_WIDTH + l];
    }
    for (int k = MODEL_R - 1; k >= 0; k--) {
        model_real sum = x[k];
        for (int l = k + 1; l < MODEL_R; l++)
            sum -= S[k * MODEL_WIDTH + l] * x[l];
        x[k] = sum * inverse[k];
    }
}

/* One rotation of Jacobi's method, which removes A_ij of the symmetric A [MODEL_WIDTH] and turns the rows of V. */
static void model_rotate(model_real *A, model_real *V, int i, int j)
{
    const model_real off = A[i * MODEL_WIDTH + j];
    if (off == 0)
        return;

    /* The smaller root of t^2 + 2 half t - 1 = 0 rotates by at most 45 degrees. */
    const model_real half = (A[j * MODEL_WIDTH + j] - A[i * MODEL_WIDTH + i]) / (2 * off),
                     t = (half < 0 ? -1 : 1) / ((half < 0 ? -half : half) + MODEL_SQRT(half * half + 1)),
                     c = 1 / MODEL_SQRT(t * t + 1), s = t * c;

    for (int k = 0; k < MODEL_R; k++) {
        const model_real x = A[k * MODEL_WIDTH + i], y = A[k * MODEL_WIDTH + j];
        A[k * MODEL_WIDTH + i] = c * x - s * y;
        A[k * MODEL_WIDTH + j] = s * x + c * y;
    }

    for (int k = 0; k < MODEL_R; k++) {
        const model_real x = A[i * MODEL_WIDTH + k], y = A[j * MODEL_WIDTH + k], u = V[i * MODEL_WIDTH + k],
                         v = V[j * MODEL_WIDTH + k];
        A[i * MODEL_WIDTH + k] = c * x - s * y;
        A[j * MODEL_WIDTH + k] = s * x + c * y;
        V[i * MODEL_WIDTH + k] = c * u - s * v;
        V[j * MODEL_WIDTH + k] = s * u + c * v;
    }
}

/* Sum of the magnitudes of the diagonal of A: what rounding is measured by. */
static model_real model_size_of(const model_real *A)
{
    model_real size = 0;
    for (int i = 0; i < MODEL_R; i++)
        size += model_magnitude(A[i * MODEL_WIDTH + i]);
    return size;
}

/* Jacobi's method: V receives the eigenvectors of A as its rows, and the diagonal of A the eigenvalues. */
static void model_diagonalize(model_real *A, model_real *V)
{
    enum { SWEEPS = 30 };
    int more = 1;
    for (int sweep = 0; sweep < SWEEPS && more; sweep++) {
        const model_real size = model_size_of(A);
        more = 0;
        for (int i = 0; i < MODEL_R; i++)
            for (int j = i + 1; j < MODEL_R; j++) {
                const model_real sum = size + model_magnitude(A[i * MODEL_WIDTH + j]);
                more |= sum > size;
                model_rotate(A, V, i, j);
            }
    }
}

/* The eigenvectors of S, whose upper triangle is read, and `inverse` of the absolute values of its eigenvalues, none of
 * which counts as less than 1e-8 of the largest. Returns 0 where S is singular. */
static int model_decompose(model_scratch *w)
{
    const model_real rounding = MODEL_NUMBER(MODEL_SINGLE ? 5e-7 : 1e-15) * MODEL_R;
    model_real largest = 0, smallest;

    for (int i = 0; i < MODEL_R; i++)
        for (int j = i; j < MODEL_R; j++) {
            w->A[i * MODEL_WIDTH + j] = w->A[j * MODEL_WIDTH + i] = w->S[i * MODEL_WIDTH + j];
            w->V[i * MODEL_WIDTH + j] = w->V[j * MODEL_WIDTH + i] = i == j;
        }

    if (!model_finite(model_size_of(w->A)))
        return 0;
    model_diagonalize(w->A, w->V);

    /* Diagonal entries of A are the eigenvalues then. */
    smallest = model_magnitude(w->A[0]);
    for (int i = 0; i < MODEL_R; i++) {
        w->inverse[i] = model_magnitude(w->A[i * MODEL_WIDTH + i]);
        largest = model_larger(largest, w->inverse[i]);
        smallest = w->inverse[i] < smallest ? w->inverse[i] : smallest;
    }

    if (!(smallest > rounding * largest))
        return 0;

    for (int i = 0; i < MODEL_R; i++)
        w->inverse[i] = 1 / model_larger(w->inverse[i], MODEL_NUMBER(1e-8) * largest);
    return 1;
}

/* x = V^T |D|^-1 V b. */
static void model_solve_decomposed(const model_scratch *w, const model_real *b, model_real *x)
{
    for (int k = 0; k < MODEL_R; k++)
        x[k] = 0;
    for (int i = 0; i < MODEL_R; i++) {
        const model_real *row = w->V + i * MODEL_WIDTH, part = model_dot(row, b) * w->inverse[i];
        for (int k = 0; k < MODEL_R; k++)
            x[k] += part * row[k];
    }
}
