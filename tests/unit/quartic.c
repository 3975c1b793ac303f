/* The Hessian of a quartic form from its distinct coefficients, against the sum over all indices. */
#include "reduced/quartic.h"
#include "tests/unit/test.h"

static void order(int64_t index[4])
{
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && index[j] < index[j - 1]; j--) {
            const int64_t other = index[j];
            index[j] = index[j - 1];
            index[j - 1] = other;
        }
}

/* Some number for every multiset of indices. */
static double coefficient(int64_t i, int64_t j, int64_t k, int64_t l)
{
    int64_t s[4] = {i, j, k, l};
    order(s);
    return sin(1 + 0.7 * (double)s[0] + 1.3 * (double)s[1] + 2.1 * (double)s[2] + 0.37 * (double)s[3]);
}

static void fill(sp_quartic *form, sp_pool *pool, int64_t r)
{
    sp_quartic_new(pool, r, form);
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = a; b < r; b++)
            for (int64_t c = b; c < r; c++)
                for (int64_t d = c; d < r; d++)
                    sp_quartic_set(form, a, b, c, d, coefficient(a, b, c, d));
}

TEST(as_the_whole_sum)
{
    for (int64_t r = 1; r <= 22; r++) {
        OWNED(sp_pool) pool = {0};
        sp_quartic form, shared;
        double q[22], hessian[253], again[253];
        fill(&form, &pool, r);
        sp_quartic_share(&pool, &form, &shared);
        for (int64_t i = 0; i < r; i++)
            q[i] = cos(1.7 * (double)i + 1);
        sp_quartic_hessian(&form, q, hessian);
        sp_quartic_hessian(&shared, q, again);
        CHECK(!memcmp(hessian, again, (size_t)(r * (r + 1) / 2) * sizeof *hessian), "r = %d, shared", (int)r);
        for (int64_t i = 0, ij = 0; i < r; i++)
            for (int64_t j = i; j < r; j++, ij++) {
                double sum = 0, size = 0;
                for (int64_t k = 0; k < r; k++)
                    for (int64_t l = 0; l < r; l++) {
                        sum += coefficient(i, j, k, l) * q[k] * q[l];
                        size += fabs(coefficient(i, j, k, l) * q[k] * q[l]);
                    }
                CHECK(fabs(hessian[ij] - sum) <= 4e-15 * size, "r = %d, (%d, %d): %.17g is not %.17g", (int)r, (int)i,
                      (int)j, hessian[ij], sum);
            }
    }
}

/* W = q_a q_b q_c q_d with equal and different indices: its second derivatives by hand. */
TEST(monomials)
{
    sp_pool pool = {0};
    sp_quartic form;
    double hessian[15], q[5] = {2, 3, 5, 7, 11};
    sp_quartic_new(&pool, 5, &form);
    sp_quartic_set(&form, 1, 1, 1, 1, 12); /* 12 = ∂⁴(q₁⁴)/2 */
    sp_quartic_hessian(&form, q, hessian);
    CHECK_NEAR(hessian[5], 12 * 9, 0); /* ∂²(q₁⁴)/∂q₁² */
    sp_pool_free(&pool);
    sp_quartic_new(&pool, 5, &form);
    sp_quartic_set(&form, 0, 2, 3, 4, 0.5);
    sp_quartic_hessian(&form, q, hessian);
    CHECK_NEAR(hessian[2], 7 * 11, 0); /* ∂²/∂q₀∂q₂ of q₀ q₂ q₃ q₄ */
    CHECK_NEAR(hessian[0], 0, 0);
    sp_pool_free(&pool);
    sp_quartic_new(&pool, 5, &form);
    sp_quartic_set(&form, 0, 0, 4, 4, 2);
    sp_quartic_hessian(&form, q, hessian);
    CHECK_NEAR(hessian[0], 2 * 121, 0);    /* q₀² q₄² */
    CHECK_NEAR(hessian[4], 4 * 2 * 11, 0); /* mixed */
    CHECK_NEAR(hessian[14], 2 * 4, 0);
    sp_pool_free(&pool);
}
