/* One version of the sweeps of supernodes.c, which includes this file once for every register width. The includer
 * defines LANES, doubles in a register; COLUMNS, columns of a supernode in one pass over its rows, so that a row of x
 * is loaded and stored once for that many entries of L; WIDEST, registers of a row of x in one pass; NAMED(x), x with
 * the width in its name. */

typedef double NAMED(lanes) __attribute__((vector_size(LANES * 8)));

/* x −= L v */
SP_INLINE void NAMED(subtract)(const part *below, int columns, int width, const NAMED(lanes) * v, NAMED(lanes) * x)
{
    for (int64_t i = 0; i < below->rows; i++) {
        NAMED(lanes) *to = x + below->row[i] * below->pitch;
        for (int g = 0; g < width; g++) {
            NAMED(lanes) sum = to[g];
            for (int j = 0; j < columns; j++)
                sum -= below->L[j * below->stride + i] * v[j * width + g];
            to[g] = sum;
        }
    }
}

/* v −= Lᵀ x */
SP_INLINE void NAMED(subtract_transposed)(const part *below, int columns, int width, NAMED(lanes) * v,
                                          const NAMED(lanes) * x)
{
    for (int64_t i = 0; i < below->rows; i++) {
        const NAMED(lanes) *from = x + below->row[i] * below->pitch;
        for (int j = 0; j < columns; j++)
            for (int g = 0; g < width; g++)
                v[j * width + g] -= below->L[j * below->stride + i] * from[g];
    }
}

/* The columns whose triangle is at L, and whose rows of x are at `here`. */
SP_INLINE void NAMED(forward)(const double *L, int columns, int width, const part *below, NAMED(lanes) * here,
                              NAMED(lanes) * x)
{
    NAMED(lanes) v[COLUMNS * WIDEST];
    for (int j = 0; j < columns; j++)
        for (int g = 0; g < width; g++) {
            NAMED(lanes) sum = here[j * below->pitch + g];
            for (int i = 0; i < j; i++)
                sum -= L[i * below->stride + j] * v[i * width + g];
            here[j * below->pitch + g] = v[j * width + g] = sum * (1 / L[j * below->stride + j]);
        }

    /* The rows below: x −= L v. */
    NAMED(subtract)(below, columns, width, v, x);
}

SP_INLINE void NAMED(backward)(const double *L, int columns, int width, const part *below, NAMED(lanes) * here,
                               const NAMED(lanes) * x)
{
    NAMED(lanes) v[COLUMNS * WIDEST];
    for (int j = 0; j < columns; j++)
        for (int g = 0; g < width; g++)
            v[j * width + g] = here[j * below->pitch + g];

    /* v −= Lᵀ x from the rows below, then the triangle from its last column on. */
    NAMED(subtract_transposed)(below, columns, width, v, x);
    for (int j = columns - 1; j >= 0; j--)
        for (int g = 0; g < width; g++) {
            NAMED(lanes) sum = v[j * width + g];
            for (int i = j + 1; i < columns; i++)
                sum -= L[j * below->stride + i] * v[i * width + g];
            here[j * below->pitch + g] = v[j * width + g] = sum * (1 / L[j * below->stride + j]);
        }
}

/* The numbers of columns and registers are compile-time constants in the loops, so that v stays in registers. */
SP_INLINE void NAMED(eliminate)(bool back, const double *L, int columns, int width, const part *below,
                                NAMED(lanes) * here, NAMED(lanes) * x)
{
    if (back)
        NAMED(backward)(L, columns, width, below, here, x);
    else
        NAMED(forward)(L, columns, width, below, here, x);
}

/* Processes `width` of the `pitch` registers of a row of x at a time. */
SP_INLINE void NAMED(sweep)(const sp_symbolic *symbolic, const double *L, const sp_unit *unit, bool back, int width,
                            int pitch, NAMED(lanes) * x)
{
    const int32_t *index = back ? symbolic->index : symbolic->inside;

    for (int64_t k = unit->first; k <= unit->last; k++) {
        const int64_t s = back ? unit->first + unit->last - k : k, first = symbolic->first[s],
                      wide = sp_symbolic_columns(symbolic, s), rows = sp_symbolic_rows(symbolic, s),
                      last = (wide - 1) / COLUMNS * COLUMNS;

        /* A few columns of the supernode at a time, from its end in the backward sweep. */
        for (int64_t c = 0; c <= last; c += COLUMNS) {
            const int64_t at = back ? last - c : c;
            const int columns = wide - at < COLUMNS ? (int)(wide - at) : COLUMNS;
            const double *here_L = L + symbolic->value[s] + at * rows + at;
            const part below = {.L = here_L + columns,
                                .row = index + symbolic->start[s] + at + columns,
                                .rows = rows - at - columns,
                                .stride = rows,
                                .pitch = pitch};

            for (int g = 0; g < pitch; g += width) {
                NAMED(lanes) *here = x + (first + at) * pitch + g;
                switch (columns) {
                case 1:
                    NAMED(eliminate)(back, here_L, 1, width, &below, here, x + g);
                    break;
                case 2:
                    NAMED(eliminate)(back, here_L, 2, width, &below, here, x + g);
                    break;
                case 3:
                    NAMED(eliminate)(back, here_L, 3, width, &below, here, x + g);
                    break;
                case 4:
                    NAMED(eliminate)(back, here_L, 4, width, &below, here, x + g);
                    break;
                case 5:
                    NAMED(eliminate)(back, here_L, 5, width, &below, here, x + g);
                    break;
#if COLUMNS > 6
                case 6:
                    NAMED(eliminate)(back, here_L, 6, width, &below, here, x + g);
                    break;
                case 7:
                    NAMED(eliminate)(back, here_L, 7, width, &below, here, x + g);
                    break;
#endif
                default:
                    NAMED(eliminate)(back, here_L, COLUMNS, width, &below, here, x + g);
                    break;
                }
            }
        }
    }
}

#undef LANES
#undef COLUMNS
#undef WIDEST
#undef NAMED
