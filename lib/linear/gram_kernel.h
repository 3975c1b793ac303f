/* One version of the sums of gram.c, which includes this file once for every register width. The includer defines
 * LANES, doubles in a register; WIDTH, columns of a tile; VERSION, the function attribute that selects the instruction
 * set; NAMED(x), x with the width in its name. */

typedef double NAMED(lanes) __attribute__((vector_size(LANES * 8)));

SP_INLINE NAMED(lanes) NAMED(at)(const double *x, int64_t count)
{
    NAMED(lanes) v = {0};
    memcpy(&v, x, count >= LANES ? sizeof v : (size_t)count * sizeof *x);
    return v;
}

/* Lane i: the sum of the lanes of v[i]. */
SP_INLINE NAMED(lanes) NAMED(sums)(const NAMED(lanes) v[LANES])
{
    NAMED(lanes) sum[LANES];
#pragma GCC unroll 8
    for (int i = 0; i < LANES; i++)
        sum[i] = v[i];
#pragma GCC unroll 3
    for (int count = LANES / 2; count > 0; count /= 2)
#pragma GCC unroll 4
        for (int i = 0; i < count; i++)
            sum[i] = sp_shuffle(sum[2 * i], sum[2 * i + 1], EVEN) + sp_shuffle(sum[2 * i], sum[2 * i + 1], ODD);
    return sum[0];
}

SP_INLINE void NAMED(step)(const operands *o, int height, int width, int64_t row, int64_t count, NAMED(lanes) * sum)
{
    NAMED(lanes) left[HEIGHT];
#pragma GCC unroll 4
    for (int i = 0; i < height; i++)
        left[i] = NAMED(at)(o->left + i * o->lda + row, count);
#pragma GCC unroll 6
    for (int j = 0; j < width; j++) {
        const NAMED(lanes) right = NAMED(at)(o->right + j * o->ldb + row, count);
#pragma GCC unroll 4
        for (int i = 0; i < height; i++)
            sum[j * HEIGHT + i] += left[i] * right;
    }
}

/* height and width are compile-time constants in all uses. */
SP_INLINE void NAMED(tile)(const operands *o, int height, int width)
{
    NAMED(lanes) sum[HEIGHT * WIDTH];
    double total[HEIGHT * WIDTH];
    int64_t row = 0;

#pragma GCC unroll 24
    for (int k = 0; k < HEIGHT * WIDTH; k++)
        sum[k] = (NAMED(lanes)){0};

    for (; row + LANES <= o->rows; row += LANES)
        NAMED(step)(o, height, width, row, LANES, sum);
    if (row < o->rows)
        NAMED(step)(o, height, width, row, o->rows - row, sum);

#pragma GCC unroll 6
    for (int k = 0; k < HEIGHT * width; k += LANES) {
        const NAMED(lanes) some = NAMED(sums)(sum + k);
        memcpy(total + k, &some, sizeof some);
    }

    /* Only the entries on and above the diagonal are wanted. */
    for (int j = 0; j < width; j++)
        for (int i = 0; i < height && i < o->above + j; i++)
            o->C[j * o->ldc + i] += total[j * HEIGHT + i];
}

SP_INLINE void NAMED(tile_of_width)(const operands *o, int height, int64_t width)
{
    switch (width) {
    case 1:
        NAMED(tile)(o, height, 1);
        break;
    case 2:
        NAMED(tile)(o, height, 2);
        break;
#if WIDTH > 3
    case 3:
        NAMED(tile)(o, height, 3);
        break;
    case 4:
        NAMED(tile)(o, height, 4);
        break;
    case 5:
        NAMED(tile)(o, height, 5);
        break;
#endif
    default:
        NAMED(tile)(o, height, WIDTH);
        break;
    }
}

VERSION static void NAMED(add)(int64_t rows, int64_t m, const double *A, int64_t lda, const double *B, int64_t ldb,
                               double *C, int64_t ldc)
{
    /* Blocks of equal size, since a short one needs as many sums of lanes as a full one. */
    const int64_t blocks = (rows + BLOCK - 1) / BLOCK, depth = blocks > 0 ? (rows / blocks / LANES + 1) * LANES : 0;

    /* Blocks of rows, panels of columns on the right, and in these tiles on and above the diagonal. */
    for (int64_t row = 0; row < rows; row += depth)
        for (int64_t panel = 0; panel < m; panel += PANEL) {
            const int64_t end = panel + PANEL < m ? panel + PANEL : m;
            for (int64_t i = 0; i < end; i += HEIGHT)
                for (int64_t j = i < panel ? panel : i; j < end; j += WIDTH) {
                    const operands o = {.rows = rows - row < depth ? rows - row : depth,
                                        .lda = lda,
                                        .ldb = ldb,
                                        .ldc = ldc,
                                        .above = j - i + 1,
                                        .left = A + i * lda + row,
                                        .right = B + j * ldb + row,
                                        .C = C + j * ldc + i};

                    switch (m - i) {
                    case 1:
                        NAMED(tile_of_width)(&o, 1, end - j);
                        break;
                    case 2:
                        NAMED(tile_of_width)(&o, 2, end - j);
                        break;
                    case 3:
                        NAMED(tile_of_width)(&o, 3, end - j);
                        break;
                    default:
                        NAMED(tile_of_width)(&o, HEIGHT, end - j);
                        break;
                    }
                }
        }
}

#undef LANES
#undef WIDTH
#undef VERSION
#undef NAMED
#undef EVEN
#undef ODD
