/* AᵀA and AᵀB in the versions for all register widths that this processor has, not only the one that it selects. */
#define sp_gram_add tested_gram_add
#define sp_gram_add_two tested_gram_add_two
#include "linear/gram.c"
#include "base/random.h"
#include "test.h"

typedef void (*sum)(int64_t rows, int64_t m, const double *A, int64_t lda, const double *B, int64_t ldb, double *C,
                    int64_t ldc);

enum { MOST = 260, ROWS = 1100, LDA = ROWS + 3, LDB = ROWS + 5, LDC = MOST + 2 };

/* All widths of tiles, both sides of a panel; fewer rows than a SIMD register, and none; nothing is written below the
 * diagonal. */
static void check_sums(const char *name, sum add, const double *A, const double *B, int64_t ldb)
{
    double *C = malloc(sizeof(double) * LDC * MOST);
    for (int m = 1; m <= MOST; m += m < 32 ? 1 : 57)
        for (int rows = 0; rows <= ROWS; rows += rows < 20 ? 3 : 359) {
            double worst = 0;
            bool kept = true;
            for (int i = 0; i < LDC * MOST; i++)
                C[i] = 0.25;
            add(rows, m, A, LDA, B, ldb, C, LDC);
            for (int j = 0; j < MOST; j++)
                for (int i = 0; i < LDC; i++) {
                    double expected = 0.25;
                    for (int k = 0; k < rows && i <= j && j < m; k++)
                        expected += A[i * LDA + k] * B[j * ldb + k];
                    if (i <= j && j < m)
                        worst = fmax(worst, fabs(C[j * LDC + i] - expected));
                    else
                        kept &= C[j * LDC + i] == 0.25;
                }
            CHECK(worst < 1e-13 * (rows + 10), "%s, %d columns of %d rows: off by %g", name, m, rows, worst);
            CHECK(kept, "%s, %d columns of %d rows: written outside the triangle", name, m, rows);
        }
    free(C);
}

TEST(all_versions)
{
    static const struct {
        const char *name;
        sum add;
    } versions[] = {
        {"two lanes", add_2},
#if defined(__x86_64__)
        {"four lanes", add_4},
        {"eight lanes", add_8},
#endif
        {"chosen", tested_gram_add_two},
    };
    double *A = malloc(sizeof(double) * LDA * MOST), *B = malloc(sizeof(double) * LDB * MOST);
    for (int i = 0; i < LDA * MOST; i++)
        A[i] = sp_random_uniform(9, 1, (uint64_t)i) - 0.5;
    for (int i = 0; i < LDB * MOST; i++)
        B[i] = sp_random_uniform(9, 2, (uint64_t)i) - 0.5;
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
#if defined(__x86_64__)
        if ((versions[v].add == add_4 && !sp_lanes_narrow()) || (versions[v].add == add_8 && !sp_lanes_native()))
            continue;
#endif
        check_sums(versions[v].name, versions[v].add, A, A, LDA);
        check_sums(versions[v].name, versions[v].add, A, B, LDB);
    }
    free(A);
    free(B);
}
