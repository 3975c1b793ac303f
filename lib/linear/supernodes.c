#include "linear/supernodes.h"

enum {
    COLUMNS = 8
}; /* of a supernode, that one sweep over its rows takes: a row of x is then loaded and stored once for eight entries of
      L */

typedef struct part {
    const double *L;    /* [rows, columns, column major] of a supernode, below the triangle of some of its columns */
    const int64_t *row; /* [rows] in x */
    int64_t rows, stride;
} part;

/* x −= L v */
SP_INLINE void subtract(const part *below, int columns, int groups, const sp_lanes *v, sp_lanes *x)
{
    for (int64_t i = 0; i < below->rows; i++) {
        sp_lanes *to = x + below->row[i] * groups;
        for (int g = 0; g < groups; g++) {
            sp_lanes sum = to[g];
            for (int j = 0; j < columns; j++)
                sum -= below->L[j * below->stride + i] * v[j * groups + g];
            to[g] = sum;
        }
    }
}

/* v −= Lᵀ x */
SP_INLINE void subtract_transposed(const part *below, int columns, int groups, sp_lanes *v, const sp_lanes *x)
{
    for (int64_t i = 0; i < below->rows; i++) {
        const sp_lanes *from = x + below->row[i] * groups;
        for (int j = 0; j < columns; j++)
            for (int g = 0; g < groups; g++)
                v[j * groups + g] -= below->L[j * below->stride + i] * from[g];
    }
}

/* The columns whose triangle stands at L, and whose rows are `here` in x. */
SP_INLINE void forward(const double *L, int columns, int groups, const part *below, sp_lanes *here, sp_lanes *x)
{
    sp_lanes v[COLUMNS * SP_SUPERNODES_GROUPS];
    for (int j = 0; j < columns; j++)
        for (int g = 0; g < groups; g++) {
            sp_lanes sum = here[j * groups + g];
            for (int i = 0; i < j; i++)
                sum -= L[i * below->stride + j] * v[i * groups + g];
            here[j * groups + g] = v[j * groups + g] = sum * (1 / L[j * below->stride + j]);
        }
    subtract(below, columns, groups, v, x);
}

SP_INLINE void backward(const double *L, int columns, int groups, const part *below, sp_lanes *here, const sp_lanes *x)
{
    sp_lanes v[COLUMNS * SP_SUPERNODES_GROUPS];
    for (int k = 0; k < columns * groups; k++)
        v[k] = here[k];
    subtract_transposed(below, columns, groups, v, x);
    for (int j = columns - 1; j >= 0; j--)
        for (int g = 0; g < groups; g++) {
            sp_lanes sum = v[j * groups + g];
            for (int i = j + 1; i < columns; i++)
                sum -= L[j * below->stride + i] * v[i * groups + g];
            here[j * groups + g] = v[j * groups + g] = sum * (1 / L[j * below->stride + j]);
        }
}

/* Numbers of columns and groups are constants in the loops, so that v stays in registers. */
SP_INLINE void eliminate(bool back, const double *L, int columns, int groups, const part *below, sp_lanes *here,
                         sp_lanes *x)
{
    if (back)
        backward(L, columns, groups, below, here, x);
    else
        forward(L, columns, groups, below, here, x);
}

SP_INLINE void sweep(const cholmod_factor *factor, bool back, int groups, sp_lanes *x)
{
    const int64_t *super = factor->super, *start = factor->pi, *value = factor->px, *row = factor->s,
                  supernodes = (int64_t)factor->nsuper;
    for (int64_t k = 0; k < supernodes; k++) {
        const int64_t s = back ? supernodes - 1 - k : k, first = super[s], width = super[s + 1] - first,
                      rows = start[s + 1] - start[s], last = (width - 1) / COLUMNS * COLUMNS;
        for (int64_t c = 0; c <= last; c += COLUMNS) {
            const int64_t at = back ? last - c : c;
            const int columns = width - at < COLUMNS ? (int)(width - at) : COLUMNS;
            const double *L = (const double *)factor->x + value[s] + at * rows + at;
            const part below = {
                .L = L + columns, .row = row + start[s] + at + columns, .rows = rows - at - columns, .stride = rows};
            sp_lanes *here = x + (first + at) * groups;
            switch (columns) {
            case 1:
                eliminate(back, L, 1, groups, &below, here, x);
                break;
            case 2:
                eliminate(back, L, 2, groups, &below, here, x);
                break;
            case 3:
                eliminate(back, L, 3, groups, &below, here, x);
                break;
            case 4:
                eliminate(back, L, 4, groups, &below, here, x);
                break;
            case 5:
                eliminate(back, L, 5, groups, &below, here, x);
                break;
            case 6:
                eliminate(back, L, 6, groups, &below, here, x);
                break;
            case 7:
                eliminate(back, L, 7, groups, &below, here, x);
                break;
            default:
                eliminate(back, L, COLUMNS, groups, &below, here, x);
                break;
            }
        }
    }
}

SP_NATIVE void sp_supernodes_sweep(const cholmod_factor *factor, bool back, int groups, sp_lanes *x)
{
    switch (groups) {
    case 1:
        sweep(factor, back, 1, x);
        break;
    case 2:
        sweep(factor, back, 2, x);
        break;
    default:
        sweep(factor, back, SP_SUPERNODES_GROUPS, x);
        break;
    }
}

void sp_supernodes_gather(int64_t n, const int64_t *row, int64_t count, int groups, const double *b, sp_lanes *x)
{
    const int width = groups * SP_LANES;
    double *by_rows = (double *)x;
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < width; c++)
            by_rows[i * width + c] = c < count ? b[c * n + (row ? row[i] : i)] : 0;
}

void sp_supernodes_scatter(int64_t n, const int64_t *row, int64_t count, int groups, const sp_lanes *x, double *b)
{
    const int width = groups * SP_LANES;
    const double *by_rows = (const double *)x;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < count; c++)
            b[c * n + (row ? row[i] : i)] = by_rows[i * width + c];
}
