#include "linear/supernodes.h"

#include <cblas.h>

typedef struct part {
    const double *L;    /* [rows, columns, column major] of a supernode, below the triangle of some of its columns */
    const int32_t *row; /* [rows] in x */
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

SP_NATIVE static void sweep_native(const sp_symbolic *symbolic, const double *L, const sp_unit *unit, bool back,
                                   int groups, sp_lanes *x)
{
    switch (groups) {
    case 1:
        sweep_8(symbolic, L, unit, back, 1, 1, x);
        break;
    case 2:
        sweep_8(symbolic, L, unit, back, 2, 2, x);
        break;
    default:
        sweep_8(symbolic, L, unit, back, SP_SUPERNODES_GROUPS, SP_SUPERNODES_GROUPS, x);
        break;
    }
}

SP_NARROW static void sweep_narrow(const sp_symbolic *symbolic, const double *L, const sp_unit *unit, bool back,
                                   int groups, sp_lanes *x)
{
    sweep_4(symbolic, L, unit, back, 2, 2 * groups, (lanes_4 *)x);
}

bool sp_supernodes_fast(void)
{
    return sp_lanes_native() || sp_lanes_narrow();
}

/* What the children of a unit have left outside is added in their order; what it leaves begins at 0. Rows of x have
 * `width` numbers `step` apart, and are `pitch` numbers apart. */
static void add_children(const sp_symbolic *s, const sp_unit *unit, int64_t pitch, int64_t width, int64_t step,
                         double *x)
{
    const int64_t outside = sp_symbolic_rows(s, unit->last) - sp_symbolic_columns(s, unit->last);

    for (int64_t i = 0; i < outside; i++)
        for (int64_t c = 0; c < width; c++)
            x[(unit->outside + i) * pitch + c * step] = 0;

    for (int64_t k = unit->child; k >= 0; k = s->units[k].sibling) {
        const sp_unit *child = &s->units[k];
        const int64_t rows = sp_symbolic_rows(s, child->last) - sp_symbolic_columns(s, child->last);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t c = 0; c < width; c++)
                x[child->target[i] * pitch + c * step] += x[(child->outside + i) * pitch + c * step];
    }
}

void sp_supernodes_sweep(const sp_symbolic *symbolic, const double *L, const sp_unit *unit, bool back, int groups,
                         sp_lanes *x)
{
    if (!back)
        add_children(symbolic, unit, groups * SP_LANES, groups * SP_LANES, 1, (double *)x);
    (sp_lanes_native() ? sweep_native : sweep_narrow)(symbolic, L, unit, back, groups, x);
}

void sp_supernodes_gather(int64_t first, int64_t end, const int32_t *row, int64_t n, int64_t count, int groups,
                          const double *b, sp_lanes *x)
{
    const int width = groups * SP_LANES;
    double *by_rows = (double *)x;

    /* Right-hand sides side by side, with zeros up to complete vectors. */
    for (int64_t i = first; i < end; i++)
        for (int c = 0; c < width; c++)
            by_rows[i * width + c] = c < count ? b[c * n + (row ? row[i] : i)] : 0;
}

void sp_supernodes_scatter(int64_t first, int64_t end, const int32_t *row, int64_t n, int64_t count, int groups,
                           const sp_lanes *x, double *b)
{
    const int width = groups * SP_LANES;
    const double *by_rows = (const double *)x;

    for (int64_t i = first; i < end; i++)
        for (int64_t c = 0; c < count; c++)
            b[c * n + (row ? row[i] : i)] = by_rows[i * width + c];
}

/* Rows of x that are not consecutive pass through `work` [rows, count]. */
static void below_forward(const part *below, int columns, int64_t n, int64_t count, double *here, double *x,
                          double *work)
{
    const int rows = (int)below->rows, stride = (int)below->stride;

    if (count == 1)
        cblas_dgemv(CblasColMajor, CblasNoTrans, rows, columns, 1, below->L, stride, here, 1, 0, work, 1);
    else
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, (int)count, columns, 1, below->L, stride, here,
                    (int)n, 0, work, rows);
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i < rows; i++)
            x[c * n + below->row[i]] -= work[c * rows + i];
}

static void below_backward(const part *below, int columns, int64_t n, int64_t count, double *here, const double *x,
                           double *work)
{
    const int rows = (int)below->rows, stride = (int)below->stride;

    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i < rows; i++)
            work[c * rows + i] = x[c * n + below->row[i]];
    if (count == 1)
        cblas_dgemv(CblasColMajor, CblasTrans, rows, columns, -1, below->L, stride, work, 1, 1, here, 1);
    else
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, columns, (int)count, rows, -1, below->L, stride, work,
                    rows, 1, here, (int)n);
}

void sp_supernodes_columns(const sp_symbolic *s, const double *L, const sp_unit *unit, bool back, int64_t count,
                           double *x, double *work)
{
    const int64_t n = s->places;
    const int32_t *index = back ? s->index : s->inside;
    const CBLAS_TRANSPOSE transposed = back ? CblasTrans : CblasNoTrans;

    if (!back)
        add_children(s, unit, 1, count, n, x);
    for (int64_t k = unit->first; k <= unit->last; k++) {
        const int64_t node = back ? unit->first + unit->last - k : k;
        const int columns = (int)sp_symbolic_columns(s, node), rows = (int)sp_symbolic_rows(s, node);
        const double *triangle = L + s->value[node];
        double *here = x + s->first[node];
        const part below = {
            .L = triangle + columns, .row = index + s->start[node] + columns, .rows = rows - columns, .stride = rows};

        if (back && below.rows > 0)
            below_backward(&below, columns, n, count, here, x, work);
        if (count == 1)
            cblas_dtrsv(CblasColMajor, CblasLower, transposed, CblasNonUnit, columns, triangle, rows, here, 1);
        else
            cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, transposed, CblasNonUnit, columns, (int)count, 1,
                        triangle, rows, here, (int)n);
        if (!back && below.rows > 0)
            below_forward(&below, columns, n, count, here, x, work);
    }
}
