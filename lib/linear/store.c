#include "linear/store.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    MOST_ROUNDS = 5, /* largest number of projections that are repeated because little of a column was left */
    WIDTH = SP_STORE_WIDTH,
    AT_A_TIME = 8, /* columns of a metric product, which reads the matrix once for them */
    SLAB = 8192,   /* rows of a product by rows; SUB of them are one task */
    SUB = 512,
    GRAM_ROWS = 1024,      /* rows of a block that stay in the cache while those of all earlier blocks are read */
    GRAM_PANEL = 4096,     /* least number of rows in a separately summed panel */
    MOST_GRAM_PANELS = 64, /* largest number of such panels */
};

/* ---- location of the columns ---- */

void sp_store_new(int64_t rows, const sp_store_outside *outside, sp_store *store)
{
    *store = (sp_store){.rows = rows};
    if (outside)
        store->outside = *outside;
}

int sp_store_over(sp_context *context, int64_t rows, int64_t count, double *A, sp_store *store)
{
    *store = (sp_store){.rows = rows, .columns = A};
    return sp_store_grow(context, store, count, INT64_MAX);
}

void sp_store_free(sp_store *store)
{
    sp_pool_free(&store->pool);
    sp_list_free(&store->blocks);
    *store = (sp_store){0};
}

static double **blocks_of(const sp_store *store)
{
    return store->blocks.data;
}

int sp_store_grow(sp_context *context, sp_store *store, int64_t count, int64_t resident)
{
    int64_t blocks = (count + WIDTH - 1) / WIDTH, before = (store->count + WIDTH - 1) / WIDTH;
    SP_PASS(sp_dense_fits(context, store->rows, count));

    for (int64_t b = before; b < blocks && b == store->resident && b < resident; b++) {
        double **to = sp_list_add(&store->blocks, 1, sizeof *to);
        /* The caller's columns, or memory of the pool. */
        double *block = store->columns ? store->columns + b * WIDTH * store->rows
                                       : sp_pool_raw(&store->pool, store->rows * WIDTH, sizeof *block);

        SP_PASS(sp_allocated(context, to && block));
        *to = block;
        store->resident++;
    }

    if (store->resident < blocks && !store->outside.save)
        return sp_fail_memory(context);

    store->count = count;
    return SP_OK;
}

/* Number of columns in the block that begins at `first`. */
static int64_t block_width(const sp_store *store, int64_t first)
{
    return store->count - first < WIDTH ? store->count - first : WIDTH;
}

int sp_store_evict(sp_context *context, sp_store *store, int64_t resident)
{
    int status = SP_OK;
    while (status == SP_OK && store->resident > resident) {
        int64_t b = store->resident - 1;
        double *block = blocks_of(store)[b];
        /* The last block in memory goes first, so that those in memory stay the first. */
        if (b * WIDTH < store->count)
            status = store->outside.save(context, store->outside.data, 0, store->rows, b * WIDTH,
                                         block_width(store, b * WIDTH), block);

        if (status == SP_OK) {
            sp_pool_drop(&store->pool, block);
            store->blocks.count = store->resident = b;
        }
    }
    return status;
}

/* Number of columns of a rectangle, from `first` on, that are in one block in memory or in the backing store. */
static int64_t run_length(const sp_store *store, int64_t first, int64_t width)
{
    if (first >= store->resident * WIDTH)
        return width;
    int64_t left = WIDTH - first % WIDTH;
    return left < width ? left : width;
}

static double *in_memory(const sp_store *store, int64_t column)
{
    return column < store->resident * WIDTH ? blocks_of(store)[column / WIDTH] + column % WIDTH * store->rows : NULL;
}

int sp_store_read(sp_context *context, const sp_store *store, int64_t row, int64_t height, int64_t first, int64_t width,
                  double *to)
{
    int status = SP_OK;
    for (int64_t run; width > 0 && status == SP_OK; first += run, width -= run, to += run * height) {
        const double *from = in_memory(store, first);
        run = run_length(store, first, width);

        if (!from) {
            status = store->outside.load(context, store->outside.data, row, height, first, run, to);
            continue;
        }

        for (int64_t c = 0; c < run; c++)
            memcpy(to + c * height, from + c * store->rows + row, (size_t)height * sizeof *to);
    }
    return status;
}

int sp_store_write(sp_context *context, sp_store *store, int64_t row, int64_t height, int64_t first, int64_t width,
                   const double *from)
{
    int status = SP_OK;
    for (int64_t run; width > 0 && status == SP_OK; first += run, width -= run, from += run * height) {
        double *to = in_memory(store, first);
        run = run_length(store, first, width);
        if (!to) {
            status = store->outside.save(context, store->outside.data, row, height, first, run, from);
            continue;
        }
        for (int64_t c = 0; c < run; c++)
            memcpy(to + c * store->rows + row, from + c * height, (size_t)height * sizeof *to);
    }
    return status;
}

int sp_store_load(sp_context *context, const sp_store *store, int64_t first, double *buffer, double **columns)
{
    *columns = in_memory(store, first);
    if (*columns)
        return SP_OK;
    *columns = buffer;
    return store->outside.load(context, store->outside.data, 0, store->rows, first, block_width(store, first), buffer);
}

/* Writes back a block from sp_store_load; does nothing if it is in memory. */
static int save_block(sp_context *context, sp_store *store, int64_t first, const double *columns)
{
    if (in_memory(store, first))
        return SP_OK;
    return store->outside.save(context, store->outside.data, 0, store->rows, first, block_width(store, first), columns);
}

int sp_store_keep(sp_context *context, sp_store *store, int64_t count, const int64_t *index)
{
    sp_pool scratch = {0};
    double *column = sp_pool_raw(&scratch, store->rows, sizeof *column);
    int status = sp_allocated(context, column);
    /* Columns move forwards only, so that none is overwritten before it has moved. */
    for (int64_t c = 0; c < count && status == SP_OK; c++) {
        if (index[c] == c)
            continue;
        status = sp_store_read(context, store, 0, store->rows, index[c], 1, column);
        if (status == SP_OK)
            status = sp_store_write(context, store, 0, store->rows, c, 1, column);
    }
    if (status == SP_OK)
        store->count = count;
    sp_pool_free(&scratch);
    return status;
}

/* ---- sweeps ---- */

/* Workspace of one call on a store. */
typedef struct workspace {
    sp_pool pool;
    double *block, *other; /* [rows, WIDTH] buffers for two blocks; NULL if all are in memory */
    double *product;       /* [rows, WIDTH] M times a block */
    double *metric;        /* for sp_metric_times */
    double *inner, *h;     /* for sp_dense_inner; [WIDTH, WIDTH] */
} workspace;

static int64_t metric_work(const sp_metric *metric)
{
    return metric->diagonal || !metric->dof ? 1 : 2 * metric->matrix->order * AT_A_TIME;
}

static int workspace_new(sp_context *context, const sp_metric *metric, const sp_store *store, workspace *w)
{
    *w = (workspace){0};

    if (store->resident * WIDTH < store->count) {
        w->block = sp_pool_raw(&w->pool, store->rows * WIDTH, sizeof(double));
        w->other = sp_pool_raw(&w->pool, store->rows * WIDTH, sizeof(double));
    }

    if (metric) {
        int64_t width = store->count < WIDTH ? store->count : WIDTH;
        w->product = sp_pool_raw(&w->pool, store->rows * width, sizeof(double));
        w->metric = sp_pool_raw(&w->pool, metric_work(metric), sizeof(double));
        w->inner = sp_pool_raw(&w->pool, sp_dense_inner_work(width, width), sizeof(double));
        w->h = sp_pool_raw(&w->pool, WIDTH * WIDTH, sizeof(double));
    }

    if (!w->pool.failed)
        return SP_OK;
    sp_pool_free(&w->pool);
    return sp_fail_memory(context);
}

static int64_t gram_panel(int64_t rows)
{
    int64_t panel = (rows + MOST_GRAM_PANELS - 1) / MOST_GRAM_PANELS;
    return panel < GRAM_PANEL ? GRAM_PANEL : panel;
}

/* Number of doubles for the partial Gram matrices of one block's columns, one for each panel of rows. */
static int64_t gram_parts(int64_t rows, int64_t count)
{
    return (rows + gram_panel(rows) - 1) / gram_panel(rows) * ((count + WIDTH - 1) / WIDTH) * WIDTH * WIDTH;
}

int64_t sp_store_workspace(const sp_metric *metric, int64_t rows, int64_t count)
{
    int64_t blocks = 3 * WIDTH * rows + metric_work(metric) + sp_dense_inner_work(WIDTH, WIDTH) + WIDTH * WIDTH +
                     gram_parts(rows, count),
            slabs = 2 * (rows < SLAB ? rows : SLAB) * count;
    return (int64_t)sizeof(double) * (blocks > slabs ? blocks : slabs);
}

/* product = M × `width` columns. */
static void times(const sp_context *context, const sp_metric *metric, int64_t width, const double *columns,
                  const workspace *w)
{
    for (int64_t c = 0; c < width; c += AT_A_TIME)
        sp_metric_times(context, metric, width - c < AT_A_TIME ? width - c : AT_A_TIME, columns + c * metric->rows,
                        w->product + c * metric->rows, w->metric);
}

/* part [blocks, WIDTH, width] = the blocks' columns times `width` columns of the product, over the rows [row, end). */
static void inner_rows(int64_t rows, int64_t row, int64_t end, int64_t blocks, double *const *block, const int *heights,
                       int64_t width, const double *product, double *part)
{
    for (int64_t at = row; at < end; at += GRAM_ROWS)
        for (int64_t b = 0; b < blocks; b++)
            cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, heights[b == blocks - 1], (int)width,
                        (int)(end - at < GRAM_ROWS ? end - at : GRAM_ROWS), 1, block[b] + at, (int)rows, product + at,
                        (int)rows, at > row, part + b * WIDTH * width, WIDTH);
}

/* Computes the rows before·WIDTH… of `width` columns of G [count, …], the first of which is at G: blocks of WIDTH
 * columns, the last one with `last` columns, times the product. */
static void gram_columns(const sp_context *context, const sp_store *store, int64_t blocks, double *const *block,
                         int64_t last, int64_t width, const workspace *w, double *parts, double *G)
{
    const int heights[2] = {WIDTH, (int)last};
    int64_t rows = store->rows, panel = gram_panel(rows), panels = (rows + panel - 1) / panel,
            size = blocks * WIDTH * width;

#pragma omp parallel for schedule(dynamic) num_threads(context->threads) if (panels > 1)
    for (int64_t p = 0; p < panels; p++)
        inner_rows(rows, p * panel, (p + 1) * panel < rows ? (p + 1) * panel : rows, blocks, block, heights, width,
                   w->product, parts + p * size);

    /* The panels are added in order, so that the sums do not depend on the threads. */
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t c = 0; c < width; c++)
            for (int64_t i = 0; i < heights[b == blocks - 1]; i++) {
                double sum = 0;
                for (int64_t p = 0; p < panels; p++)
                    sum += parts[p * size + (b * width + c) * WIDTH + i];
                G[c * store->count + b * WIDTH + i] = sum;
            }
}

int sp_store_gram(sp_context *context, const sp_metric *metric, const sp_store *store, double *G)
{
    int64_t count = store->count;
    workspace w;
    int status = workspace_new(context, metric, store, &w);
    if (status != SP_OK)
        return status;

    double *parts = sp_pool_raw(&w.pool, gram_parts(store->rows, count), sizeof *parts);
    SP_TRY(sp_allocated(context, parts));

    memset(G, 0, (size_t)(count * count) * sizeof *G);
    for (int64_t first = 0; first < count; first += WIDTH) {
        int64_t width = block_width(store, first), here = first / WIDTH,
                near = here < store->resident ? here : store->resident; /* number of earlier blocks in memory */

        double *block, *other;
        SP_TRY(sp_store_load(context, store, first, w.block, &block));
        times(context, metric, width, block, &w);

        /* Earlier blocks in memory are one product, those outside are loaded one by one. */
        if (near)
            gram_columns(context, store, near, blocks_of(store), WIDTH, width, &w, parts, G + first * count);

        for (int64_t b = near; b < here; b++) {
            SP_TRY(sp_store_load(context, store, b * WIDTH, w.other, &other));
            gram_columns(context, store, 1, &other, WIDTH, width, &w, parts, G + first * count + b * WIDTH);
        }

        gram_columns(context, store, 1, &block, width, width, &w, parts, G + first * count + first);

        for (int64_t c = 0; c < width; c++)
            for (int64_t i = c + 1; i < width; i++)
                G[(first + c) * count + first + i] = 0;

        SP_TRY(
            sp_progress(context, (double)(first + width) * (double)(first + width) / ((double)count * (double)count)));
    }
done:
    sp_pool_free(&w.pool);
    return status;
}

int sp_store_scale(sp_context *context, sp_store *store, const double *factor)
{
    workspace w;
    int status = workspace_new(context, NULL, store, &w);
    if (status != SP_OK)
        return status;

    for (int64_t first = 0; first < store->count; first += WIDTH) {
        double *block;
        SP_TRY(sp_store_load(context, store, first, w.block, &block));

        for (int64_t c = 0; c < block_width(store, first); c++)
            for (int64_t i = 0; i < store->rows; i++)
                block[c * store->rows + i] *= factor[first + c];
        SP_TRY(save_block(context, store, first, block));
    }
done:
    sp_pool_free(&w.pool);
    return status;
}

int sp_store_fix_signs(sp_context *context, sp_store *store)
{
    workspace w;
    int status = workspace_new(context, NULL, store, &w);
    if (status != SP_OK)
        return status;

    for (int64_t first = 0; first < store->count; first += WIDTH) {
        double *block;
        SP_TRY(sp_store_load(context, store, first, w.block, &block));
        sp_dense_fix_signs(store->rows, block_width(store, first), block);
        SP_TRY(save_block(context, store, first, block));
    }
done:
    sp_pool_free(&w.pool);
    return status;
}

int sp_store_squares(sp_context *context, const sp_metric *metric, const sp_store *store, double *square)
{
    workspace w;
    int status = workspace_new(context, metric, store, &w);
    if (status != SP_OK)
        return status;

    for (int64_t first = 0; first < store->count; first += WIDTH) {
        double *block;
        SP_TRY(sp_store_load(context, store, first, w.block, &block));

        times(context, metric, block_width(store, first), block, &w);
        for (int64_t c = 0; c < block_width(store, first); c++)
            square[first + c] =
                fmax(0, sp_dense_dot(store->rows, block + c * store->rows, w.product + c * store->rows));
    }
done:
    sp_pool_free(&w.pool);
    return status;
}

int sp_store_times(sp_context *context, sp_store *store, int64_t to, const double *C)
{
    sp_pool scratch = {0};
    int64_t most = store->rows < SLAB ? store->rows : SLAB, m = store->count;
    double *from = sp_pool_raw(&scratch, most * m, sizeof *from),
           *product = sp_pool_raw(&scratch, most * to, sizeof *product);
    int status = sp_allocated(context, !scratch.failed);

    /* A slab has all columns of some rows, so that the product takes their place. */
    for (int64_t row = 0; status == SP_OK && m && to && row < store->rows; row += SLAB) {
        int64_t height = store->rows - row < SLAB ? store->rows - row : SLAB;
        SP_TRY(sp_store_read(context, store, row, height, 0, m, from));

#pragma omp parallel for schedule(dynamic) num_threads(context->threads) if (height > SUB)
        for (int64_t first = 0; first < height; first += SUB)
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)(height - first < SUB ? height - first : SUB),
                        (int)to, (int)m, 1, from + first, (int)height, C, (int)m, 0, product + first, (int)height);

        SP_TRY(sp_store_write(context, store, row, height, 0, to, product));
        SP_TRY(sp_progress(context, (double)(row + height) / (double)store->rows));
    }

    if (status == SP_OK)
        store->count = to;
done:
    sp_pool_free(&scratch);
    return status;
}

/* ---- orthonormalization ---- */

/* Subtracts from a block its components along the blocks before it, and adds these to R [count of the store, width]:
 * its columns of R. product: M × block. */
static int project_off_earlier(sp_context *context, const sp_metric *metric, const sp_store *store, int64_t first,
                               double *block, double *R, const workspace *w)
{
    int64_t rows = store->rows, width = block_width(store, first);
    for (int64_t before = 0; before < first; before += WIDTH) {
        double *Q;
        SP_PASS(sp_store_load(context, store, before, w->other, &Q));

        /* h = QᵀM b, b ← b − Q h */
        sp_dense_inner(context, metric->rows, WIDTH, Q, width, w->product, w->h, w->inner);
        sp_dense_add(context, rows, WIDTH, Q, width, w->h, -1, block);

        for (int64_t c = 0; c < width; c++)
            for (int64_t j = 0; j < WIDTH; j++)
                R[c * store->count + before + j] += w->h[c * WIDTH + j];
    }
    return SP_OK;
}

/* Orthogonalizes one column against the `before` ones of its block, twice. Returns its remaining norm (0: dependent);
 * *shrunk receives the factor by which it was longer. r: receives its components. */
static double orthonormalize_column(const sp_context *context, const sp_metric *metric, int64_t before, double *block,
                                    double *r, double least, double *shrunk, const workspace *w)
{
    int64_t rows = metric->rows;
    double *column = block + before * rows, start = 0, norm = 0;
    for (int pass = 0; pass <= MOST_ROUNDS; pass++) {
        double last = norm;

        sp_metric_times(context, metric, 1, column, w->product, w->metric);
        norm = sqrt(fmax(0, sp_dense_dot(rows, column, w->product)));
        start = pass == 0 ? norm : start;

        /* If less than half is left, rounding of the original column has left components along the others: repeat. */
        if (before == 0 || pass == MOST_ROUNDS || (pass >= 2 && norm > 0.5 * last))
            break;

        sp_dense_inner(context, rows, before, block, 1, w->product, w->h, w->inner);
        sp_dense_add(context, rows, before, block, 1, w->h, -1, column);
        for (int64_t j = 0; j < before; j++)
            r[j] += w->h[j];
    }

    *shrunk = norm > 0 ? start / norm : 1;

    /* A dependent column becomes 0. */
    if (!(norm > least)) {
        memset(column, 0, (size_t)rows * sizeof *column);
        return 0;
    }

    cblas_dscal((int)rows, 1 / norm, column, 1);
    return norm;
}

/* The lengths of the columns of a block in the metric; product: M × block. */
static void lengths(int64_t rows, int64_t width, const double *block, const workspace *w, double *length)
{
    for (int64_t c = 0; c < width; c++)
        length[c] = sqrt(fmax(0, sp_dense_dot(rows, block + c * rows, w->product + c * rows)));
}

/* A block Q₀ with the coefficients R, own [width, width] among themselves, has become Q: Q₀ = Q T + Q' E with the
 * earlier blocks Q'. Its columns of R [count, width] and those of E [count, width] are in the rows of all columns; T
 * [WIDTH, WIDTH] is upper triangular. */
static void change_coefficients(int64_t count, int64_t first, int64_t width, const double *E, const double *T,
                                double *R)
{
    for (int64_t c = width - 1; c >= 0; c--) {
        double own[WIDTH], *column = R + c * count;
        memcpy(own, column + first, (size_t)(c + 1) * sizeof *own);

        /* R ← T R among themselves, and R' ← R' + E R along the earlier ones */
        for (int64_t i = 0; i <= c; i++) {
            column[first + i] = 0;
            for (int64_t k = i; k <= c; k++)
                column[first + i] += T[k * WIDTH + i] * own[k];
        }
        for (int64_t k = 0; k <= c; k++)
            cblas_daxpy((int)first, own[k], E + k * count, 1, column, 1);
    }
}

/* Orthonormalizes the columns of the block that begins at `first`; R [count, width]: its columns of R. scratch:
 * [(count + WIDTH), WIDTH]. */
static int orthonormalize_block(sp_context *context, const sp_metric *metric, const sp_store *store, int64_t first,
                                double threshold, double *block, double *R, double *scratch, const workspace *w)
{
    const int64_t rows = store->rows, count = store->count, width = block_width(store, first);
    double original[WIDTH], once[WIDTH] = {0}, most_shrunk = 1, shrunk, *E = scratch, *T = scratch + count * WIDTH;

    /* The lengths decide which columns are dependent. */
    times(context, metric, width, block, w);
    lengths(rows, width, block, w, original);

    /* Twice is enough, except for columns that depend on others of their own block, and those of which the second time
     * leaves little: they are nearly dependent on the earlier blocks. */
    SP_PASS(project_off_earlier(context, metric, store, first, block, R, w));
    if (first) {
        times(context, metric, width, block, w);
        lengths(rows, width, block, w, once);
        SP_PASS(project_off_earlier(context, metric, store, first, block, R, w));
    }

    for (int64_t c = 0; c < width; c++) {
        const double norm = orthonormalize_column(context, metric, c, block, R + c * count + first,
                                                  threshold * original[c], &shrunk, w);
        R[c * count + first + c] = norm;
        if (norm > 0)
            most_shrunk = fmax(most_shrunk, fmax(shrunk, once[c] / norm));
    }

    /* A column that lost most of its length has components along the earlier blocks again, and without these it may be
     * short again. */
    const int rounds = first ? MOST_ROUNDS : 0;
    for (int round = 0; most_shrunk > 8 && round < rounds; round++) {
        memset(scratch, 0, (size_t)((count + WIDTH) * WIDTH) * sizeof *scratch);
        most_shrunk = 1;
        times(context, metric, width, block, w);
        SP_PASS(project_off_earlier(context, metric, store, first, block, E, w));

        for (int64_t c = 0; c < width; c++) {
            const double diagonal = R[c * count + first + c];
            if (diagonal == 0)
                continue;

            const double norm = orthonormalize_column(context, metric, c, block, T + c * WIDTH,
                                                      threshold * original[c] / diagonal, &shrunk, w);
            T[c * WIDTH + c] = norm;
            if (norm > 0)
                most_shrunk = fmax(most_shrunk, fmax(shrunk, 1 / norm)); /* the norm was 1 before the projection */
        }
        change_coefficients(count, first, width, E, T, R);
    }
    if (first && threshold > 0 && most_shrunk > 8)
        return sp_fail(context, SP_NUMERICAL, "columns %lld to %lld cannot be made orthogonal to those before them",
                       (long long)first + 1, (long long)(first + width));
    return SP_OK;
}

int sp_store_orthonormalize(sp_context *context, const sp_metric *metric, sp_store *store, double threshold, double *R,
                            int64_t *rank)
{
    const int64_t count = store->count;
    workspace w;
    int status = workspace_new(context, metric, store, &w);
    if (status != SP_OK)
        return status;

    double *scratch = sp_pool_raw(&w.pool, (count + WIDTH) * WIDTH, sizeof *scratch);
    SP_TRY(sp_allocated(context, scratch));
    memset(R, 0, (size_t)(count * count) * sizeof *R);
    *rank = 0;

    for (int64_t first = 0; first < count; first += WIDTH) {
        const int64_t width = block_width(store, first);
        double *block;

        SP_TRY(sp_store_load(context, store, first, w.block, &block));
        SP_TRY(orthonormalize_block(context, metric, store, first, threshold, block, R + first * count, scratch, &w));

        for (int64_t c = 0; c < width; c++)
            *rank += R[(first + c) * count + first + c] > 0;

        SP_TRY(save_block(context, store, first, block));
        SP_TRY(
            sp_progress(context, (double)(first + width) * (double)(first + width) / ((double)count * (double)count)));
    }
done:
    sp_pool_free(&w.pool);
    return status;
}

int sp_store_orthogonality(sp_context *context, const sp_metric *metric, const sp_store *store, double *error)
{
    int64_t rows = store->rows;
    workspace w;
    int status = workspace_new(context, metric, store, &w);
    if (status != SP_OK)
        return status;

    *error = 0;
    for (int64_t first = 0; first < store->count; first += WIDTH) {
        int64_t width = block_width(store, first);
        double *block, *other;

        SP_TRY(sp_store_load(context, store, first, w.block, &block));
        times(context, metric, width, block, &w);

        /* The upper triangle of QᵀMQ by blocks, compared with the identity. */
        for (int64_t before = 0; before <= first; before += WIDTH) {
            int64_t height = block_width(store, before);
            other = block;
            if (before < first)
                SP_TRY(sp_store_load(context, store, before, w.other, &other));

            sp_dense_inner(context, rows, height, other, width, w.product, w.h, w.inner);

            /* A zero column has 0 on the diagonal. */
            for (int64_t c = 0; c < width; c++)
                for (int64_t j = 0; j < height; j++) {
                    double product = w.h[c * height + j];
                    bool diagonal = before + j == first + c; /* a zero column has 0 there */
                    *error = fmax(*error, diagonal && product != 0 ? fabs(product - 1) : fabs(product));
                }
        }
    }
done:
    sp_pool_free(&w.pool);
    return status;
}

/* ---- columns in memory ---- */

int sp_metric_orthonormalize(sp_context *context, const sp_metric *metric, int64_t count, double *A, double threshold,
                             double *R, int64_t *rank)
{
    sp_store store;
    int status = sp_store_over(context, metric->rows, count, A, &store);
    if (status == SP_OK)
        status = sp_store_orthonormalize(context, metric, &store, threshold, R, rank);
    sp_store_free(&store);
    return status;
}

int sp_metric_orthogonality(sp_context *context, const sp_metric *metric, int64_t count, const double *Q, double *error)
{
    sp_store store;
    int status = sp_store_over(context, metric->rows, count, (double *)Q, &store); /* Q is only read */
    if (status == SP_OK)
        status = sp_store_orthogonality(context, metric, &store, error);
    sp_store_free(&store);
    return status;
}
