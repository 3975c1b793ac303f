#include "linear/sparse.h"

#include "base/lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1 << 20 }; /* number of operations below which more threads do not pay */

void sp_sparse_free(sp_sparse *matrix)
{
    sp_pool_free(&matrix->pool);
    *matrix = (sp_sparse){0};
}

/* Whether the matrix is A ⊗ I₃, bit for bit. */
static bool is_threefold(const sp_sparse *matrix)
{
    if (matrix->order % 3)
        return false;
    for (int64_t row = 0; row < matrix->order; row += 3) {
        /* The three rows have equal values, at columns that differ by their component. */
        int64_t first = matrix->start[row], count = matrix->start[row + 1] - first;

        for (int c = 1; c < 3; c++)
            if (matrix->start[row + c + 1] - matrix->start[row + c] != count)
                return false;

        for (int64_t k = first; k < first + count; k++)
            for (int c = 0; c < 3; c++)
                if (matrix->index[k] % 3 || matrix->index[k + c * count] != matrix->index[k] + c ||
                    matrix->value[k + c * count] != matrix->value[k])
                    return false;
    }
    return true;
}

int sp_sparse_keep_third(sp_context *context, sp_sparse *matrix)
{
    int64_t third = matrix->order / 3, kept = 0;
    if (!is_threefold(matrix))
        return SP_OK;

    matrix->third_start = sp_pool_raw(&matrix->pool, third + 1, sizeof *matrix->third_start);
    matrix->third_index = sp_pool_raw(&matrix->pool, matrix->start[matrix->order] / 3, sizeof *matrix->third_index);
    matrix->third_value = sp_pool_raw(&matrix->pool, matrix->start[matrix->order] / 3, sizeof *matrix->third_value);

    SP_PASS(sp_allocated(context, !matrix->pool.failed));

    for (int64_t i = 0; i < third; i++) {
        matrix->third_start[i] = kept;
        for (int64_t k = matrix->start[3 * i]; k < matrix->start[3 * i + 1]; k++) {
            matrix->third_index[kept] = matrix->index[k];
            matrix->third_value[kept++] = matrix->value[k];
        }
    }
    matrix->third_start[third] = kept;
    return SP_OK;
}

int sp_sparse_compress(sp_context *context, const sp_sparse *matrix, sp_sparse *compressed)
{
    int64_t kept = 0, n = matrix->order;
    for (int64_t k = 0; k < matrix->start[n]; k++)
        kept += matrix->value[k] != 0;

    *compressed = (sp_sparse){.order = n};
    compressed->start = sp_pool_raw(&compressed->pool, n + 1, sizeof *compressed->start);
    compressed->index = sp_pool_raw(&compressed->pool, kept, sizeof *compressed->index);
    compressed->value = sp_pool_raw(&compressed->pool, kept, sizeof *compressed->value);

    if (compressed->pool.failed) {
        sp_sparse_free(compressed);
        return sp_fail_memory(context);
    }

    /* The entries that are not zero, in their order. */
    kept = 0;
    for (int64_t row = 0; row < n; row++) {
        compressed->start[row] = kept;
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            if (matrix->value[k] != 0) {
                compressed->index[kept] = matrix->index[k];
                compressed->value[kept++] = matrix->value[k];
            }
    }
    compressed->start[n] = kept;

    int status = sp_sparse_keep_third(context, compressed);
    if (status != SP_OK)
        sp_sparse_free(compressed);
    return status;
}

double sp_sparse_entry(const sp_sparse *matrix, int64_t row, int64_t column)
{
    int64_t low = matrix->start[row], high = matrix->start[row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (matrix->index[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }

    return low < matrix->start[row + 1] && matrix->index[low] == column ? matrix->value[low] : 0;
}

double sp_sparse_trace(const sp_sparse *matrix)
{
    double sum = 0;
    for (int64_t row = 0; row < matrix->order; row++)
        sum += sp_sparse_entry(matrix, row, row);
    return sum;
}

int sp_sparse_check(sp_context *context, const sp_sparse *matrix, double tolerance)
{
    double largest = 0;

    if (matrix->start[0] != 0)
        return sp_fail(context, SP_INPUT, "the first row does not start at 0");

    for (int64_t row = 0; row < matrix->order; row++) {
        if (matrix->start[row + 1] < matrix->start[row])
            return sp_fail(context, SP_INPUT, "row %lld ends before it starts", (long long)row);

        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++) {
            int64_t column = matrix->index[k];
            if (column < 0 || column >= matrix->order)
                return sp_fail(context, SP_INPUT, "row %lld names column %lld of %lld", (long long)row,
                               (long long)column, (long long)matrix->order);

            if (k > matrix->start[row] && column <= matrix->index[k - 1])
                return sp_fail(context, SP_INPUT, "row %lld: its columns do not increase", (long long)row);

            if (!isfinite(matrix->value[k]))
                return sp_fail(context, SP_INPUT, "row %lld, column %lld is not finite", (long long)row,
                               (long long)column);

            largest = fmax(largest, fabs(matrix->value[k]));
        }
    }

    /* Every entry needs its counterpart: a single triangle is not a symmetric matrix. */
    for (int64_t row = 0; row < matrix->order; row++)
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            if (matrix->value[k] != 0 &&
                !(fabs(matrix->value[k] - sp_sparse_entry(matrix, matrix->index[k], row)) <= tolerance * largest))
                return sp_fail(context, SP_INPUT,
                               "row %lld, column %lld: the matrix is not symmetric (both triangles are needed)",
                               (long long)row, (long long)matrix->index[k]);
    return SP_OK;
}

/* Rows ascend, so that the counterparts in each row are met one after the other. next [order] is scratch. */
static bool has_symmetric_pattern(const sp_sparse *matrix, int64_t *next)
{
    memcpy(next, matrix->start, (size_t)matrix->order * sizeof *next);
    for (int64_t row = 0; row < matrix->order; row++)
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++) {
            const int64_t column = matrix->index[k], at = next[column]++;
            if (at >= matrix->start[column + 1] || matrix->index[at] != row)
                return false;
        }
    return true;
}

/* Compressed rows of Aᵀ. next [order] is scratch. */
static void transpose_pattern(const sp_sparse *matrix, int64_t *next, int64_t *start, int64_t *index)
{
    const int64_t n = matrix->order;

    memset(start, 0, (size_t)(n + 1) * sizeof *start);
    for (int64_t k = 0; k < matrix->start[n]; k++)
        start[matrix->index[k] + 1]++;
    for (int64_t row = 0; row < n; row++) {
        start[row + 1] += start[row];
        next[row] = start[row];
    }
    for (int64_t row = 0; row < n; row++)
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            index[next[matrix->index[k]]++] = row;
}

int sp_sparse_pattern(sp_context *context, const sp_sparse *matrix, sp_sparse *pattern)
{
    const int64_t n = matrix->order, entries = matrix->start[n];
    sp_pool scratch = {0};
    int status;

    *pattern = (sp_sparse){.order = n, .start = matrix->start, .index = matrix->index};
    int64_t *next = sp_pool_raw(&scratch, n, sizeof *next);
    SP_TRY(sp_allocated(context, next));
    if (has_symmetric_pattern(matrix, next))
        goto done;

    int64_t *start = sp_pool_raw(&scratch, n + 1, sizeof *start),
            *index = sp_pool_raw(&scratch, entries, sizeof *index);
    pattern->start = sp_pool_raw(&pattern->pool, n + 1, sizeof *pattern->start);
    pattern->index = sp_pool_raw(&pattern->pool, 2 * entries, sizeof *pattern->index);
    SP_TRY(sp_allocated(context, !scratch.failed && !pattern->pool.failed));
    transpose_pattern(matrix, next, start, index);

    /* Both lists of a row ascend. */
    int64_t at = 0;
    for (int64_t row = 0; row < n; row++) {
        pattern->start[row] = at;
        for (int64_t a = matrix->start[row], b = start[row]; a < matrix->start[row + 1] || b < start[row + 1];) {
            const int64_t own = a < matrix->start[row + 1] ? matrix->index[a] : n,
                          other = b < start[row + 1] ? index[b] : n;
            pattern->index[at++] = own < other ? own : other;
            a += own <= other;
            b += other <= own;
        }
    }
    pattern->start[n] = at;
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_sparse_free(pattern);
    return status;
}

typedef double two __attribute__((vector_size(16)));

SP_INLINE two two_at(const double *x)
{
    two v;
    memcpy(&v, x, sizeof v);
    return v;
}

/* y = (A ⊗ I₃) x: the sums of sp_sparse_times in the same order, three at a time. */
static void third_times(const sp_context *context, const sp_sparse *matrix, int64_t count, const double *x, double *y)
{
    int64_t n = matrix->order;
#pragma omp parallel for schedule(static)                                                                              \
    num_threads(context->threads) if (matrix->third_start[n / 3] * count > SMALL / 3)
    for (int64_t i = 0; i < n / 3; i++) {
        const int64_t first = matrix->third_start[i], end = matrix->third_start[i + 1];

        /* Two independent sums hide latency; the last column may be computed twice. */
        for (int64_t column = 0; column < count; column += 2) {
            const int64_t other = column + 1 < count ? column + 1 : column;
            const double *x0 = x + column * n, *x1 = x + other * n;
            two s0 = {0}, s1 = {0};
            double last0 = 0, last1 = 0;

            for (int64_t k = first; k < end; k++) {
                const double a = matrix->third_value[k], *u = x0 + matrix->third_index[k],
                             *v = x1 + matrix->third_index[k];
                s0 += a * two_at(u);
                last0 += a * u[2];
                s1 += a * two_at(v);
                last1 += a * v[2];
            }

            memcpy(y + column * n + 3 * i, (double[]){s0[0], s0[1], last0}, 24);
            memcpy(y + other * n + 3 * i, (double[]){s1[0], s1[1], last1}, 24);
        }
    }
}

/* The product of row a of a node, whose columns come from the nodes `index`, with x: two sums, since a single one would
 * wait for every addition. */
SP_INLINE double row_times(const int32_t *index, int64_t count, const double *a, const double *x)
{
    double third = 0;
    two pair = {0};
    for (int64_t k = 0; k < count; k++) {
        const int width = index[k] & 3;
        const double *u = x + (index[k] >> 2);
        /* Of three columns two are multiplied at once. */
        if (width == 3) {
            pair += two_at(a) * two_at(u);
            third += a[2] * u[2];
        } else
            for (int c = 0; c < width; c++)
                third += a[c] * u[c];

        a += width;
    }
    return pair[0] + pair[1] + third;
}

SP_CLONES static void range_times(const sp_sparse *matrix, int64_t begin, int64_t end, const double *x, double *y)
{
    const sp_nodes *nodes = matrix->nodes;
    for (int64_t node = begin; node < end; node++)
        for (int64_t row = nodes->row[node]; row < nodes->row[node + 1]; row++)
            y[row] = row_times(nodes->index + nodes->start[node], nodes->start[node + 1] - nodes->start[node],
                               matrix->value + matrix->start[row], x);
}

static void nodes_times(const sp_context *context, const sp_sparse *matrix, const double *x, double *y)
{
    enum { RANGE = 512 };
    const int64_t count = matrix->nodes->count;
#pragma omp parallel for schedule(static) num_threads(context->threads) if (matrix->start[matrix->order] > SMALL)
    for (int64_t begin = 0; begin < count; begin += RANGE)
        range_times(matrix, begin, begin + RANGE < count ? begin + RANGE : count, x, y);
}

/* Eight columns, interleaved in x [order, 8]: every entry of the matrix is read once and multiplied by one SIMD vector
 * of x. Column c < count of the rows [begin, end) goes to y [order, column major]. */
typedef struct beside {
    const sp_sparse *matrix;
    int64_t count;
    const sp_lanes *x;
    double *y;
} beside;

SP_INLINE void put_row(const beside *b, int64_t row, sp_lanes sum)
{
    for (int64_t c = 0; c < b->count; c++)
        b->y[c * b->matrix->order + row] = sum[c];
}

SP_CLONES static void rows_beside(const beside *b, int64_t begin, int64_t end)
{
    const sp_sparse *matrix = b->matrix;
    for (int64_t row = begin; row < end; row++) {
        sp_lanes sum = {0};
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            sum += matrix->value[k] * b->x[matrix->index[k]];
        put_row(b, row, sum);
    }
}

/* The same for A ⊗ I₃, rows 3·begin to 3·end. */
SP_CLONES static void thirds_beside(const beside *b, int64_t begin, int64_t end)
{
    const sp_sparse *matrix = b->matrix;
    for (int64_t i = begin; i < end; i++) {
        sp_lanes sum[3] = {{0}, {0}, {0}};

        for (int64_t k = matrix->third_start[i]; k < matrix->third_start[i + 1]; k++) {
            const double a = matrix->third_value[k];
            const sp_lanes *u = b->x + matrix->third_index[k];
            sum[0] += a * u[0];
            sum[1] += a * u[1];
            sum[2] += a * u[2];
        }

        for (int j = 0; j < 3; j++)
            put_row(b, 3 * i + j, sum[j]);
    }
}

/* The same sums in registers of four doubles (AVX2), since the compiler does not split the lanes well. */
typedef double half __attribute__((vector_size(32)));

SP_INLINE void put_halves(const beside *b, int64_t row, const half *low, const half *high)
{
    for (int64_t c = 0; c < b->count; c++)
        b->y[c * b->matrix->order + row] = c < 4 ? (*low)[c] : (*high)[c - 4];
}

SP_INLINE void add_halves(const beside *b, int64_t k, half *low, half *high)
{
    const half *u = (const half *)(b->x + b->matrix->index[k]);
    *low += b->matrix->value[k] * u[0];
    *high += b->matrix->value[k] * u[1];
}

/* Two rows at a time, so that their sums do not wait for each other. */
SP_NARROW static void rows_beside_narrow(const beside *b, int64_t begin, int64_t end)
{
    const int64_t *start = b->matrix->start;
    for (int64_t row = begin; row < end; row += 2) {
        const int64_t next = row + 1 < end ? start[row + 1] : start[row], stop = row + 1 < end ? start[row + 2] : next,
                      first = start[row], last = start[row + 1],
                      both = last - first < stop - next ? last - first : stop - next;
        half low[2] = {{0}, {0}}, high[2] = {{0}, {0}};

        /* The entries that both rows have, then the rest of the longer one. */
        for (int64_t k = 0; k < both; k++) {
            add_halves(b, first + k, &low[0], &high[0]);
            add_halves(b, next + k, &low[1], &high[1]);
        }

        for (int64_t k = first + both; k < last; k++)
            add_halves(b, k, &low[0], &high[0]);
        for (int64_t k = next + both; k < stop; k++)
            add_halves(b, k, &low[1], &high[1]);

        put_halves(b, row, &low[0], &high[0]);
        if (row + 1 < end)
            put_halves(b, row + 1, &low[1], &high[1]);
    }
}

SP_NARROW static void thirds_beside_narrow(const beside *b, int64_t begin, int64_t end)
{
    const sp_sparse *matrix = b->matrix;
    for (int64_t i = begin; i < end; i++) {
        half low[3] = {{0}, {0}, {0}}, high[3] = {{0}, {0}, {0}};
        for (int64_t k = matrix->third_start[i]; k < matrix->third_start[i + 1]; k++) {
            const double a = matrix->third_value[k];
            const half *u = (const half *)(b->x + matrix->third_index[k]);
#pragma GCC unroll 3
            for (int j = 0; j < 3; j++) {
                low[j] += a * u[2 * j];
                high[j] += a * u[2 * j + 1];
            }
        }

        for (int j = 0; j < 3; j++)
            put_halves(b, 3 * i + j, &low[j], &high[j]);
    }
}

/* Multiplies up to eight columns; returns false if there is no memory to interleave them. */
static bool few_times(const sp_context *context, const sp_sparse *matrix, int64_t count, const double *x, double *y)
{
    enum { RANGE = 512 };
    const int64_t n = matrix->order, rows = matrix->third_value ? n / 3 : n;
    const bool narrow = sp_lanes_narrow() && !sp_lanes_native();
    void (*times)(const beside *, int64_t, int64_t) = narrow ? rows_beside_narrow : rows_beside;
    if (matrix->third_value)
        times = narrow ? thirds_beside_narrow : thirds_beside;

    sp_lanes *lanes = sp_memory_new((size_t)n * sizeof *lanes);
    if (!lanes)
        return false;

    const beside b = {.matrix = matrix, .count = count, .x = lanes, .y = y};

    /* The columns are interleaved by all threads before the products begin. */
#pragma omp parallel num_threads(context->threads) if (n * count > SMALL / 8)
    {
#pragma omp for schedule(static)
        for (int64_t begin = 0; begin < n; begin += RANGE)
            for (int64_t i = begin; i < n && i < begin + RANGE; i++)
                for (int64_t c = 0; c < SP_LANES; c++)
                    lanes[i][c] = c < count ? x[c * n + i] : 0;

#pragma omp for schedule(static)
        for (int64_t begin = 0; begin < rows; begin += RANGE)
            times(&b, begin, begin + RANGE < rows ? begin + RANGE : rows);
    }
    free(lanes);
    return true;
}

void sp_sparse_times(const sp_context *context, const sp_sparse *matrix, int64_t count, const double *x, double *y)
{
    int64_t n = matrix->order, done = 0;

    /* One or two columns alone cost less than eight interleaved ones. */
    while (count - done > 2 &&
           few_times(context, matrix, count - done < 8 ? count - done : 8, x + done * n, y + done * n))
        done = count - done < 8 ? count : done + 8;

    if (done == count)
        return;

    x += done * n, y += done * n, count -= done;
    /* The columns that are left: three rows at a time, by nodes, or row by row. */
    if (matrix->third_value) {
        third_times(context, matrix, count, x, y);
        return;
    }
    if (matrix->nodes && count == 1) {
        nodes_times(context, matrix, x, y);
        return;
    }

#pragma omp parallel for schedule(static) num_threads(context->threads) if (matrix->start[n] * count > SMALL)
    for (int64_t row = 0; row < n; row++) {
        for (int64_t column = 0; column < count; column++) {
            double sum = 0;
            for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
                sum += matrix->value[k] * x[column * n + matrix->index[k]];
            y[column * n + row] = sum;
        }
    }
}
