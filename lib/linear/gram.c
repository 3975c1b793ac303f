#include "linear/gram.h"

#include "base/lanes.h"

#include <string.h>

enum {
    HEIGHT = 4,  /* columns on the left of a tile; on the right there are as many as keep its sums in registers */
    BLOCK = 512, /* rows at a time, so that the left columns of a tile stay in the first-level cache */
    PANEL = 96,  /* columns on the right of one pass, which stay in the second-level cache */
};

/* The operands of a tile of C. */
typedef struct operands {
    int64_t rows, lda, ldb, ldc;
    int64_t above; /* number of wanted rows of column 0 of the tile, one more in each column after it */
    const double *left, *right;
    double *C;
} operands;

#define LANES 2
#define WIDTH 3
#define VERSION
#define NAMED(x) x##_2
#define EVEN 0, 2
#define ODD 1, 3
#include "linear/gram_kernel.h"

#if defined(__x86_64__)
#define LANES 4
#define WIDTH 3
#define VERSION SP_NARROW
#define NAMED(x) x##_4
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#include "linear/gram_kernel.h"

#define LANES 8
#define WIDTH 6
#define VERSION SP_NATIVE
#define NAMED(x) x##_8
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#include "linear/gram_kernel.h"
#endif

void sp_gram_add_two(int64_t rows, int64_t m, const double *A, int64_t lda, const double *B, int64_t ldb, double *C,
                     int64_t ldc)
{
#if defined(__x86_64__)
    if (sp_lanes_native()) {
        add_8(rows, m, A, lda, B, ldb, C, ldc);
        return;
    }
    if (sp_lanes_narrow()) {
        add_4(rows, m, A, lda, B, ldb, C, ldc);
        return;
    }
#endif
    add_2(rows, m, A, lda, B, ldb, C, ldc);
}

void sp_gram_add(int64_t rows, int64_t m, const double *A, int64_t lda, double *C, int64_t ldc)
{
    sp_gram_add_two(rows, m, A, lda, A, lda, C, ldc);
}
