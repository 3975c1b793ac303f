#include "reduced/quartic.h"

#include "base/lanes.h"

#include <string.h>

/* Coefficients of a pair b ≤ c: for d = c … r − 1 in groups of four, and for those that are left one by one; in a group
 * for every vector of four a ≤ b, the vectors of its d. */
enum { WIDE = 4 };
typedef double wide __attribute__((vector_size(8 * WIDE)));
typedef double wide_anywhere __attribute__((vector_size(8 * WIDE), aligned(8)));

static int64_t vectors(int64_t b)
{
    return b / WIDE + 1;
}

static int64_t pair(int64_t r, int64_t b, int64_t c)
{
    return b * r - b * (b - 1) / 2 + (c - b);
}

static void new_workspace(sp_pool *pool, sp_quartic *f)
{
    f->q = sp_pool_new(pool, f->width + WIDE, sizeof(double));
    f->M = sp_pool_new(pool, f->r * f->width + WIDE, sizeof(double));
    f->t = sp_pool_new(pool, f->width, sizeof(double));
}

void sp_quartic_new(sp_pool *pool, int64_t r, sp_quartic *f)
{
    int64_t total = 0;
    *f = (sp_quartic){.r = r, .width = (r + WIDE - 1) / WIDE * WIDE};
    f->start = sp_pool_raw(pool, r * (r + 1) / 2, sizeof *f->start);

    /* Each d ≥ c has the coefficients of a ≤ b, padded to whole vectors. */
    if (!f->start)
        return;
    for (int64_t b = 0, bc = 0; b < r; b++)
        for (int64_t c = b; c < r; c++) {
            f->start[bc++] = total;
            total += (r - c) * vectors(b) * WIDE;
        }

    f->value = sp_pool_new(pool, total, sizeof(double));
    new_workspace(pool, f);
}

void sp_quartic_share(sp_pool *pool, const sp_quartic *original, sp_quartic *f)
{
    *f = *original;
    new_workspace(pool, f);
}

void sp_quartic_set(sp_quartic *f, int64_t a, int64_t b, int64_t c, int64_t d, double value)
{
    const int64_t n = d - c, whole = (f->r - c) / WIDE * WIDE, grouped = n < whole, wide_b = vectors(b) * WIDE;
    const int64_t at =
        grouped ? n / WIDE * WIDE * wide_b + a / WIDE * WIDE * WIDE + n % WIDE * WIDE + a % WIDE : n * wide_b + a;

    static const double shares[] = {1, 1, 2, 6, 24};
    int same = 1;
    double repeated = 1;
    const int64_t index[] = {a, b, c, d};

    /* e_abcd = ∂⁴W / Π m! = 2c / Π m! with the multiplicities m of the indices */
    for (int k = 1; k <= 4; k++)
        if (k < 4 && index[k] == index[k - 1])
            same++;
        else {
            repeated *= shares[same];
            same = 1;
        }

    f->value[f->start[pair(f->r, b, c)] + at] = value * 2 / repeated;
}

/* The sums of the entries of each of four vectors. */
SP_INLINE wide sums(wide a, wide b, wide c, wide d)
{
    const wide ab = sp_shuffle(a, b, 0, 4, 2, 6) + sp_shuffle(a, b, 1, 5, 3, 7),
               cd = sp_shuffle(c, d, 0, 4, 2, 6) + sp_shuffle(c, d, 1, 5, 3, 7);
    return sp_shuffle(ab, cd, 0, 1, 4, 5) + sp_shuffle(ab, cd, 2, 3, 6, 7);
}

/* The sums for one pair b ≤ c; returns the end of its coefficients. M_b and M_c are rows b and c. */
SP_INLINE const double *add_pair(int r, int width, int b, int c, const double *restrict e, const double *restrict q,
                                 double *restrict M, wide *restrict t)
{
    const int n = b / WIDE + 1;
    double *const Mb = M + (long)b * width, *const Mc = M + (long)c * width;
    const double w = q[b] * q[c];
    double along = 0; /* Σ_d f_bcd q_d, with f_bcd = Σ_a e_abcd q_a */
    int d = c;

    for (int v = 0; v < n; v++)
        t[v] = (wide){0};

    /* Four d at a time: M_da += e_abcd q_b q_c, and t_a = Σ_d e_abcd q_d for the rows b and c. */
    for (; d + WIDE <= r; d += WIDE) {
        double *const M0 = M + (long)d * width, *const M1 = M0 + width, *const M2 = M1 + width, *const M3 = M2 + width;
        wide s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        for (int v = 0; v < n; v++, e += WIDE * WIDE) {
            const wide e0 = *(const wide *)e, e1 = *(const wide *)(e + WIDE), e2 = *(const wide *)(e + 2 * WIDE),
                       e3 = *(const wide *)(e + 3 * WIDE), qa = *(const wide *)(q + WIDE * v);
            s0 += e0 * qa, s1 += e1 * qa, s2 += e2 * qa, s3 += e3 * qa;
            t[v] += (e0 * q[d] + e1 * q[d + 1]) + (e2 * q[d + 2] + e3 * q[d + 3]);
            *(wide *)(M0 + WIDE * v) += e0 * w;
            *(wide *)(M1 + WIDE * v) += e1 * w;
            *(wide *)(M2 + WIDE * v) += e2 * w;
            *(wide *)(M3 + WIDE * v) += e3 * w;
        }

        /* M_db += f_bcd q_c, M_dc += f_bcd q_b, M_cb += f_bcd q_d */
        const wide f = sums(s0, s1, s2, s3), fq = f * *(const wide_anywhere *)(q + d), fb = f * q[b], fc = f * q[c];
        along += (fq[0] + fq[1]) + (fq[2] + fq[3]);
        M0[b] += fc[0], M1[b] += fc[1], M2[b] += fc[2], M3[b] += fc[3];
        M0[c] += fb[0], M1[c] += fb[1], M2[c] += fb[2], M3[c] += fb[3];
    }

    /* The same for each d that is left. */
    for (; d < r; d++) {
        double *const Md = M + (long)d * width;
        wide s = {0};
        for (int v = 0; v < n; v++, e += WIDE) {
            const wide here = *(const wide *)e;
            s += here * *(const wide *)(q + WIDE * v);
            t[v] += here * q[d];
            *(wide *)(Md + WIDE * v) += here * w;
        }

        const double f = (s[0] + s[1]) + (s[2] + s[3]);
        along += f * q[d];
        Md[b] += f * q[c];
        Md[c] += f * q[b];
    }

    /* M_ba += t_a q_c, M_ca += t_a q_b */
    Mc[b] += along;
    for (int v = 0; v < n; v++) {
        *(wide *)(Mb + WIDE * v) += t[v] * q[c];
        *(wide *)(Mc + WIDE * v) += t[v] * q[b];
    }

    return e;
}

SP_CLONES static void accumulate(int r, int width, const double *e, const double *q, double *M, wide *t)
{
    for (int b = 0; b < r; b++)
        for (int c = b; c < r; c++)
            e = add_pair(r, width, b, c, e, q, M, t);
}

void sp_quartic_hessian(sp_quartic *f, const double *q, double *hessian)
{
    const int64_t r = f->r, width = f->width;

    memcpy(f->q, q, (size_t)r * sizeof *q);
    memset(f->M, 0, (size_t)(r * width) * sizeof *f->M);
    accumulate((int)r, (int)width, f->value, f->q, f->M, (wide *)f->t);

    /* ∂²W/∂q_i∂q_j = M_ij + M_ji, where M is 0 above the diagonal. */
    for (int64_t i = 0; i < r; i++) {
        *hessian++ = 2 * f->M[i * width + i];
        for (int64_t j = i + 1; j < r; j++)
            *hessian++ = f->M[j * width + i];
    }
}
