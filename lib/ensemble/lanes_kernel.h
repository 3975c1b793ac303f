/* The loops of lanes.c, which includes this file once for each width of registers: VECTOR is a vector of doubles, ROWS
 * the rows of coefficients whose sums fit into registers with three vectors each, TARGET the attribute for the
 * processor, and NAME(x) gives names of their own. */

enum { NAME(WIDTH) = sizeof(VECTOR) / sizeof(double), NAME(GROUP) = 3 * NAME(WIDTH) };
#define AT(p) (*(VECTOR *)(p))
#define GET(p) (*(const VECTOR *)(p))
#define MOTIONS SP_MOTIONS
typedef long long NAME(mask) __attribute__((vector_size(sizeof(VECTOR))));

/* y = A x for A in tiles of 8 rows: [tiles][inner][8]. */
TARGET static void NAME(contract)(int64_t tiles, int64_t inner, const double *restrict A, const double *restrict x,
                                  double *restrict y)
{
    enum { W = NAME(WIDTH) };
    for (int64_t tile = 0; tile < tiles; tile++, A += TILE * inner, y += TILE * MOTIONS)
        for (int part = 0; part < TILE; part += ROWS)
            for (int g = 0; g < MOTIONS; g += NAME(GROUP)) {
                VECTOR sum[ROWS][3] = {{{0}}};
                const double *a = A + part, *b = x + g;

                for (int64_t l = 0; l < inner; l++, a += TILE, b += MOTIONS) {
                    const VECTOR b0 = GET(b), b1 = GET(b + W), b2 = GET(b + 2 * W);
#pragma GCC unroll 8
                    for (int i = 0; i < ROWS; i++) {
                        sum[i][0] += a[i] * b0;
                        sum[i][1] += a[i] * b1;
                        sum[i][2] += a[i] * b2;
                    }
                }

#pragma GCC unroll 8
                for (int i = 0; i < ROWS; i++)
                    for (int k = 0; k < 3; k++)
                        AT(y + (part + i) * MOTIONS + g + k * W) = sum[i][k];
            }
}

/* The entries i ≤ j ≤ k of C for one i and j, from k = j on, into the matrix H += C·x: C is symmetric, so that an entry
 * belongs to H_ij, H_ik and H_jk. Hi and Hj are the rows of i and j, from their own index on. */
TARGET static inline void NAME(expand_row)(int64_t count, const double *restrict C, const double *restrict x,
                                           const double *restrict xi, double *restrict Hij, double *restrict Hj,
                                           bool diagonal)
{
    enum { W = NAME(WIDTH) };
    for (int g = 0; g < MOTIONS; g += W) {
        const VECTOR at_i = GET(xi + g), at_j = GET(x + g), c = GET(C + g);
        VECTOR sum = GET(Hij + g) + c * at_j;
        if (!diagonal)
            AT(Hj + g) += c * at_i;

        if (diagonal)
            for (int64_t k = 1; k < count; k++) {
                const VECTOR ck = GET(C + k * MOTIONS + g);
                sum += ck * GET(x + k * MOTIONS + g);
                AT(Hij + k * MOTIONS + g) += ck * at_j;
            }
        else
            for (int64_t k = 1; k < count; k++) {
                const VECTOR ck = GET(C + k * MOTIONS + g);
                sum += ck * GET(x + k * MOTIONS + g);
                AT(Hij + k * MOTIONS + g) += ck * at_j;
                AT(Hj + k * MOTIONS + g) += ck * at_i;
            }
        AT(Hij + g) = sum;
    }
}

/* H += C·x for the rows of C of so many pairs from i ≤ j on, j fastest. */
TARGET static void NAME(expand)(int64_t r, int64_t i, int64_t j, int64_t pairs, const double *restrict C,
                                const double *restrict x, double *restrict H)
{
    for (; pairs > 0; pairs--) {
        NAME(expand_row)
        (r - j, C, x + j * MOTIONS, x + i * MOTIONS, H + pair_of(r, i, j) * MOTIONS, H + pair_of(r, j, j) * MOTIONS,
         i == j);
        C += (r - j) * MOTIONS;
        j = j + 1 < r ? j + 1 : ++i;
    }
}

/* K = K₀ + K₁ + K₂ and f = (K₀ + ½K₁ + ⅓K₂) q; K₁ is in K, and K₂ in `second`. */
TARGET static void NAME(combine)(int64_t r, const double *restrict constant, const double *restrict second,
                                 const double *restrict q, double *restrict f, double *restrict K)
{
    enum { W = NAME(WIDTH) };
    for (int g = 0; g < MOTIONS; g += W) {
        int64_t pair = g;
        for (int64_t i = 0; i < r; i++)
            AT(f + i * MOTIONS + g) = (VECTOR){0};

        for (int64_t i = 0; i < r; i++) {
            const VECTOR qi = GET(q + i * MOTIONS + g);
            VECTOR sum = GET(f + i * MOTIONS + g);
            for (int64_t j = i; j < r; j++, pair += MOTIONS) {
                const VECTOR k0 = GET(constant + pair), k1 = GET(K + pair), k2 = GET(second + pair),
                             part = k0 + 0.5 * k1 + (1.0 / 3) * k2;
                AT(K + pair) = k0 + k1 + k2;
                sum += part * GET(q + j * MOTIONS + g);
                if (j > i)
                    AT(f + j * MOTIONS + g) += part * qi;
            }
            AT(f + i * MOTIONS + g) = sum;
        }
    }
}

TARGET static void NAME(times)(int64_t n, const double *restrict A, const double *restrict x, double *restrict y)
{
    enum { W = NAME(WIDTH) };
    for (int g = 0; g < MOTIONS; g += W) {
        int64_t pair = g;
        for (int64_t i = 0; i < n; i++)
            AT(y + i * MOTIONS + g) = (VECTOR){0};

        for (int64_t i = 0; i < n; i++) {
            const VECTOR xi = GET(x + i * MOTIONS + g);
            VECTOR sum = GET(y + i * MOTIONS + g) + GET(A + pair) * xi;
            pair += MOTIONS;
            for (int64_t j = i + 1; j < n; j++, pair += MOTIONS) {
                const VECTOR a = GET(A + pair);
                sum += a * GET(x + j * MOTIONS + g);
                AT(y + j * MOTIONS + g) += a * xi;
            }
            AT(y + i * MOTIONS + g) = sum;
        }
    }
}

/* S = Lᵀ D⁻¹ L with the upper triangle L in the place of S, and 1 / D_ii in that of its diagonal D. Two rows at a time
 * are taken from the rest, which is then read half as often. */
TARGET static void NAME(factor)(int64_t n, double *restrict S, bool definite[MOTIONS])
{
    enum { W = NAME(WIDTH) };
    for (int g = 0; g < MOTIONS; g += W) {
        double *row = S + g;
        NAME(mask) positive = ~(NAME(mask)){0};

        for (int64_t i = 0; i < n; i += 2) {
            const bool two = i + 1 < n;
            double *Li = row, *Lk = row + (n - i) * MOTIONS;
            positive &= (NAME(mask))(GET(Li) > 0);
            const VECTOR inverse = 1 / GET(Li), first = two ? GET(Li + MOTIONS) * inverse : inverse;
            AT(Li) = inverse;
            if (!two)
                break;

            /* The second row without its part in the first */
            for (int64_t j = 0; j < n - i - 1; j++)
                AT(Lk + j * MOTIONS) -= first * GET(Li + (j + 1) * MOTIONS);
            positive &= (NAME(mask))(GET(Lk) > 0);
            const VECTOR second = 1 / GET(Lk);
            AT(Lk) = second;

            row = Lk + (n - i - 1) * MOTIONS;
            double *rest = row;
            for (int64_t j = i + 2; j < n; j++) {
                const double *li = Li + (j - i) * MOTIONS, *lk = Lk + (j - i - 1) * MOTIONS;
                const VECTOR a = GET(li) * inverse, b = GET(lk) * second;
                for (int64_t k = 0; k < n - j; k++)
                    AT(rest + k * MOTIONS) -= a * GET(li + k * MOTIONS) + b * GET(lk + k * MOTIONS);
                rest += (n - j) * MOTIONS;
            }
        }

        for (int l = 0; l < W; l++)
            definite[g + l] = positive[l] != 0;
    }
}

TARGET static void NAME(substitute)(int64_t n, const double *restrict L, double *restrict x)
{
    enum { W = NAME(WIDTH) };
    for (int g = 0; g < MOTIONS; g += W) {
        const double *row = L + g;
        for (int64_t i = 0; i < n; i++) {
            const VECTOR xi = GET(x + i * MOTIONS + g) * GET(row);
            for (int64_t j = 1; j < n - i; j++)
                AT(x + (i + j) * MOTIONS + g) -= xi * GET(row + j * MOTIONS);
            row += (n - i) * MOTIONS;
        }

        for (int64_t i = n - 1; i >= 0; i--) {
            row -= (n - i) * MOTIONS;
            VECTOR sum = GET(x + i * MOTIONS + g);
            for (int64_t j = 1; j < n - i; j++)
                sum -= GET(row + j * MOTIONS) * GET(x + (i + j) * MOTIONS + g);
            AT(x + i * MOTIONS + g) = sum * GET(row);
        }
    }
}

TARGET static void NAME(dot)(int64_t n, const double *restrict x, const double *restrict y, double *restrict sums)
{
    enum { W = NAME(WIDTH) };
    for (int g = 0; g < MOTIONS; g += W) {
        VECTOR sum = {0};
        for (int64_t i = 0; i < n; i++)
            sum += GET(x + i * MOTIONS + g) * GET(y + i * MOTIONS + g);
        AT(sums + g) = sum;
    }
}

static const kernel NAME(kernel) = {NAME(contract), NAME(expand),     NAME(combine), NAME(times),
                                    NAME(factor),   NAME(substitute), NAME(dot)};

#undef AT
#undef GET
#undef MOTIONS
#undef NAME
#undef VECTOR
#undef ROWS
#undef TARGET
