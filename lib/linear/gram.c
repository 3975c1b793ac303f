#include "linear/gram.h"

#include "base/lanes.h"

#include <cblas.h>
#include <string.h>

enum {
    FEW = 256,             /* columns */
    HEIGHT = 4, WIDTH = 6, /* of a tile: its 24 sums of eight lanes stay in registers while 10 columns are read */
    BLOCK = 512,           /* rows at a time: the left columns of a tile stay in the first cache */
};

SP_INLINE sp_lanes lanes_at(const double *x, int64_t count)
{
    sp_lanes v = {0};
    memcpy(&v, x, count >= SP_LANES ? sizeof v : (size_t)count * sizeof *x);
    return v;
}

/* Lane i: the sum of the lanes of v[i]. */
SP_INLINE sp_lanes sums(const sp_lanes v[SP_LANES])
{
    sp_lanes a[4], b[2];
    for (int i = 0; i < 4; i++)
        a[i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) + __builtin_shufflevector(v[2 * i], v[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    for (int i = 0; i < 2; i++)
        b[i] = __builtin_shufflevector(a[2 * i], a[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) + __builtin_shufflevector(a[2 * i], a[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    return __builtin_shufflevector(b[0], b[1], 0, 1, 2, 3, 8, 9, 10, 11) + __builtin_shufflevector(b[0], b[1], 4, 5, 6, 7, 12, 13, 14, 15);
}

typedef struct operands {
    int64_t rows, lda, ldc, above; /* above: how many rows of column 0 of the tile are wanted; one more in each column after it */
    const double *left, *right;
    double *C;
} operands;

SP_INLINE void step(const operands *o, int height, int width, int64_t row, int64_t count, sp_lanes *sum)
{
    sp_lanes left[HEIGHT];
#pragma GCC unroll 4
    for (int i = 0; i < height; i++)
        left[i] = lanes_at(o->left + i * o->lda + row, count);
#pragma GCC unroll 6
    for (int j = 0; j < width; j++) {
        const sp_lanes right = lanes_at(o->right + j * o->lda + row, count);
#pragma GCC unroll 4
        for (int i = 0; i < height; i++)
            sum[j * HEIGHT + i] += left[i] * right;
    }
}

/* height and width are constants where this is used. */
SP_INLINE void tile(const operands *o, int height, int width)
{
    sp_lanes sum[HEIGHT * WIDTH];
    int64_t row = 0;
#pragma GCC unroll 24
    for (int k = 0; k < HEIGHT * WIDTH; k++)
        sum[k] = (sp_lanes){0};
    for (; row + SP_LANES <= o->rows; row += SP_LANES)
        step(o, height, width, row, SP_LANES, sum);
    if (row < o->rows)
        step(o, height, width, row, o->rows - row, sum);
#pragma GCC unroll 3
    for (int j = 0; j < width; j += 2) {
        const sp_lanes total = sums(sum + j * HEIGHT);
        for (int k = 0; k < 2 && j + k < width; k++)
            for (int i = 0; i < height && i < o->above + j + k; i++)
                o->C[(j + k) * o->ldc + i] += total[k * HEIGHT + i];
    }
}

SP_INLINE void tile_of_width(const operands *o, int height, int64_t width)
{
    switch (width) {
    case 1: tile(o, height, 1); break;
    case 2: tile(o, height, 2); break;
    case 3: tile(o, height, 3); break;
    case 4: tile(o, height, 4); break;
    case 5: tile(o, height, 5); break;
    default: tile(o, height, WIDTH); break;
    }
}

SP_NATIVE static void add_few(int64_t rows, int64_t m, const double *A, int64_t lda, double *C, int64_t ldc)
{
    for (int64_t row = 0; row < rows; row += BLOCK)
        for (int64_t i = 0; i < m; i += HEIGHT)
            for (int64_t j = i; j < m; j += WIDTH) {
                const operands o = {.rows = rows - row < BLOCK ? rows - row : BLOCK, .lda = lda, .ldc = ldc, .above = j - i + 1, .left = A + i * lda + row, .right = A + j * lda + row, .C = C + j * ldc + i};
                switch (m - i) {
                case 1: tile_of_width(&o, 1, m - j); break;
                case 2: tile_of_width(&o, 2, m - j); break;
                case 3: tile_of_width(&o, 3, m - j); break;
                default: tile_of_width(&o, HEIGHT, m - j); break;
                }
            }
}

void sp_gram_add(int64_t rows, int64_t m, const double *A, int64_t lda, double *C, int64_t ldc)
{
    if (m <= FEW && sp_lanes_native())
        add_few(rows, m, A, lda, C, ldc);
    else
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)m, (int)rows, 1, A, (int)lda, 1, C, (int)ldc);
}
