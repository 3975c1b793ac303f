#include "linear/supernodes.h"

typedef struct part {
    const double *L;    /* [rows, columns, column major] of a supernode, below the triangle of some of its columns */
    const int64_t *row; /* [rows] in x */
    int64_t rows, stride, pitch; /* pitch: registers in a row of x */
} part;

#define LANES 8
#define COLUMNS 8
#define WIDEST SP_SUPERNODES_GROUPS
#define NAMED(x) x##_8
#include "linear/supernodes_kernel.h"

/* Twelve of the sixteen registers hold six columns for the eight right-hand sides of a group, two hold the row of x. */
#define LANES 4
#define COLUMNS 6
#define WIDEST 2
#define NAMED(x) x##_4
#include "linear/supernodes_kernel.h"

SP_NATIVE static void sweep_native(const cholmod_factor *factor, bool back, int groups, sp_lanes *x)
{
    switch (groups) {
    case 1:
        sweep_8(factor, back, 1, 1, x);
        break;
    case 2:
        sweep_8(factor, back, 2, 2, x);
        break;
    default:
        sweep_8(factor, back, SP_SUPERNODES_GROUPS, SP_SUPERNODES_GROUPS, x);
        break;
    }
}

SP_NARROW static void sweep_narrow(const cholmod_factor *factor, bool back, int groups, sp_lanes *x)
{
    sweep_4(factor, back, 2, 2 * groups, (lanes_4 *)x);
}

bool sp_supernodes_fast(void)
{
    return sp_lanes_native() || sp_lanes_narrow();
}

void sp_supernodes_sweep(const cholmod_factor *factor, bool back, int groups, sp_lanes *x)
{
    (sp_lanes_native() ? sweep_native : sweep_narrow)(factor, back, groups, x);
}

void sp_supernodes_gather(int64_t n, const int64_t *row, int64_t count, int groups, const double *b, sp_lanes *x)
{
    const int width = groups * SP_LANES;
    double *by_rows = (double *)x;

    /* Right-hand sides side by side, with zeros up to complete vectors. */
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
