#include "linear/fronts.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    TILE = 256,       /* rows and columns of a tile: products of tiles run at nine tenths of the speed of large ones */
    ADD_COLUMNS = 128 /* columns of an update that are added in one task */
};
#define LEAST_ADDED 1e5   /* fewer numbers are added at once */
#define LEAST_PIVOT 1e-14 /* of L S Lᵀ, relative to the largest entry: smaller ones have no certain sign */

/* What a thread needs for one front. */
typedef struct worker {
    int32_t *where;   /* [order] the row in the front of each row that it has */
    int32_t *to;      /* [most rows] the row in the front of each row of a child's update */
    double *stack[2]; /* updates of the subtree at even and at odd depths */
    int64_t top[2];   /* numbers in use */
    double *scaled;   /* [TILE, TILE] a tile times S; NULL for definite matrices */
} worker;

struct sp_fronts {
    sp_pool pool;
    sp_context *context;
    const sp_symbolic *symbolic;
    int32_t *child, *next; /* [count] the first child of a supernode, and its next sibling; −1: none */
    bool *odd;             /* [count] depth in its subtree */
    int64_t room[2];       /* numbers in the stacks of a worker */
    int64_t most_rows;
    int threads;     /* as there were at the analysis */
    worker *workers; /* [threads] */
    char *tokens;    /* [count + 1] an address for each unit, for depend clauses only */
    double **update; /* [count] lower triangle [m, m, column major] of the rows below a supernode */
    /* During a factorization */
    const sp_sparse *matrix;
    double *L, *sign;
    double least; /* pivots of L S Lᵀ are larger */
    bool cancelled;
    int64_t failed;                                 /* first column whose pivot failed; order: none */
    bool memory;                                    /* false after a failed allocation */
    void (*watch)(void *data, const sp_task *task); /* or NULL */
    void *watch_data;
};

/* A front: its panel L [rows, columns] and its update [below, below]. */
typedef struct front {
    sp_fronts *all;
    int64_t first; /* column */
    int rows, columns, below;
    int tile; /* rows and columns of the tiles of the triangle */
    double *L, *U;
    double *sign; /* [columns] or NULL */
    bool shared;  /* tiles are tasks */
    int64_t unit;
} front;

static int64_t below(const sp_symbolic *s, int64_t k)
{
    return sp_symbolic_rows(s, k) - sp_symbolic_columns(s, k);
}

/* The largest numbers of entries on the two stacks, over all subtrees. Each update is on the stack of its depth, even
 * or odd: when the parent adds the updates of its children, these are on top of theirs. */
static void measure_stacks(sp_fronts *f)
{
    const sp_symbolic *s = f->symbolic;

    for (int64_t u = 0; u < s->unit_count; u++) {
        int64_t top[2] = {0};
        for (int64_t k = s->units[u].last - 1; k >= s->units[u].first; k--)
            f->odd[k] = !f->odd[s->parent[k]];

        for (int64_t k = s->units[u].first; k <= s->units[u].last; k++) {
            const bool odd = f->odd[k];
            if (k < s->units[u].last)
                top[odd] += below(s, k) * below(s, k);
            if (top[odd] > f->room[odd])
                f->room[odd] = top[odd];
            for (int32_t c = f->child[k]; c >= s->units[u].first; c = f->next[c])
                top[!odd] -= below(s, c) * below(s, c);
        }
    }
}

int sp_fronts_new(sp_context *context, const sp_symbolic *s, sp_fronts **result)
{
    sp_fronts *f = calloc(1, sizeof *f);
    int status;

    SP_PASS(sp_allocated(context, f));
    f->context = context;
    f->symbolic = s;
    f->threads = context->threads;

    f->child = sp_pool_raw(&f->pool, s->count, sizeof *f->child);
    f->next = sp_pool_raw(&f->pool, s->count, sizeof *f->next);
    f->odd = sp_pool_new(&f->pool, s->count, sizeof *f->odd);
    f->tokens = sp_pool_new(&f->pool, s->count + 1, sizeof *f->tokens);
    f->update = sp_pool_new(&f->pool, s->count, sizeof *f->update);
    f->workers = sp_pool_new(&f->pool, context->threads, sizeof *f->workers);
    SP_TRY(sp_allocated(context, !f->pool.failed));

    /* Children ascend in the lists, in which their updates are added. */
    for (int64_t k = 0; k < s->count; k++)
        f->child[k] = -1;
    for (int64_t k = s->count - 1; k >= 0; k--)
        if (s->parent[k] >= 0) {
            f->next[k] = f->child[s->parent[k]];
            f->child[s->parent[k]] = (int32_t)k;
        } else
            f->next[k] = -1;

    for (int64_t k = 0; k < s->count; k++)
        if (sp_symbolic_rows(s, k) > f->most_rows)
            f->most_rows = sp_symbolic_rows(s, k);
    measure_stacks(f);

    for (int t = 0; t < context->threads; t++) {
        worker *w = &f->workers[t];
        w->where = sp_pool_raw(&f->pool, s->order, sizeof *w->where);
        w->to = sp_pool_raw(&f->pool, f->most_rows, sizeof *w->to);
        for (int odd = 0; odd < 2; odd++)
            w->stack[odd] = sp_pool_raw(&f->pool, f->room[odd], sizeof *w->stack[odd]);
    }
    SP_TRY(sp_allocated(context, !f->pool.failed));
done:
    if (status == SP_OK)
        *result = f;
    else
        sp_fronts_free(f);
    return status;
}

void sp_fronts_free(sp_fronts *fronts)
{
    if (!fronts)
        return;
    sp_pool_free(&fronts->pool);
    free(fronts);
}

double sp_fronts_memory(const sp_fronts *f)
{
    const sp_symbolic *s = f->symbolic;
    double now = 0, most = 0;

    for (int64_t u = 0; u < s->unit_count; u++) {
        const double m = (double)below(s, s->units[u].last);
        now += m * m;
        most = fmax(most, now);
        for (int64_t c = s->units[u].child; c >= 0; c = s->units[c].sibling) {
            const double taken = (double)below(s, s->units[c].last);
            now -= taken * taken;
        }
    }
    const double stacks = (double)(f->threads * (f->room[0] + f->room[1]));
    return (most + stacks) * sizeof **f->update;
}

void sp_fronts_watch(sp_fronts *f, void (*watch)(void *data, const sp_task *task), void *data)
{
    f->watch = watch;
    f->watch_data = data;
}

static double task_begin(const front *a)
{
    return a->shared && a->all->watch ? omp_get_wtime() : 0;
}

static void task_end(const front *a, enum sp_task_kind kind, int64_t c, int64_t i, int64_t j, double start)
{
    if (a->shared && a->all->watch)
        a->all->watch(
            a->all->watch_data,
            &(sp_task){.kind = kind, .unit = a->unit, .c = c, .i = i, .j = j, .seconds = omp_get_wtime() - start});
}

/* The first column that fails does not depend on the order in which tasks run: what comes before it is always tried. */
static void fail_at(sp_fronts *f, int64_t column)
{
#pragma omp critical(sp_fronts)
    if (column < f->failed)
#pragma omp atomic write
        f->failed = column;
}

static bool is_lost(sp_fronts *f, int64_t column)
{
    int64_t failed;
#pragma omp atomic read
    failed = f->failed;
    return failed < column;
}

/* A = L S Lᵀ of a tile, without pivoting; returns the column of a pivot that is below `least` or not finite, else −1.
 */
static int eliminate_indefinite(int n, double *A, int stride, double least, double *sign)
{
    for (int p = 0; p < n; p++) {
        double *column = A + (int64_t)p * stride;
        if (!(fabs(column[p]) > least && isfinite(column[p])))
            return p;
        sign[p] = column[p] < 0 ? -1 : 1;
        column[p] = sqrt(fabs(column[p]));
        for (int i = p + 1; i < n; i++)
            column[i] /= sign[p] * column[p];

        for (int j = p + 1; j < n; j++)
            for (int i = j; i < n; i++)
                A[i + (int64_t)j * stride] -= sign[p] * column[j] * column[i];
    }
    return -1;
}

/* The triangle of the diagonal tile that begins at column c of the front. */
static void eliminate_diagonal(const front *a, int c, int n)
{
    double *A = a->L + c + (int64_t)c * a->rows;
    const double start = task_begin(a);

    if (is_lost(a->all, a->first + c))
        return;
    int at = a->sign ? eliminate_indefinite(n, A, a->rows, a->all->least, a->sign + c)
                     : LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, a->rows) - 1;
    for (int p = 0; at < 0 && p < n; p++) /* dpotrf passes over numbers that are not finite */
        if (!isfinite(A[p + (int64_t)p * a->rows]))
            at = p;
    if (at >= 0)
        fail_at(a->all, a->first + c + at);
    task_end(a, SP_TASK_DIAGONAL, c, c, c, start);
}

/* `count` rows from `row` on, below the diagonal tile of n columns at c: A ← A L⁻ᵀ S. */
static void eliminate_rows(const front *a, int c, int n, int row, int count)
{
    double *A = a->L + row + (int64_t)c * a->rows;
    const double start = task_begin(a);

    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, count, n, 1,
                a->L + c + (int64_t)c * a->rows, a->rows, A, a->rows);
    if (a->sign)
        for (int j = 0; j < n; j++)
            if (a->sign[c + j] < 0)
                cblas_dscal(count, -1, A + (int64_t)j * a->rows, 1);
    task_end(a, SP_TASK_ROWS, c, row, c, start);
}

/* C ← β C − L_i S L_jᵀ for the rows i and j of the panel and its columns from c on, n of them; the lower triangle where
 * i = j. */
static void subtract(const front *a, int c, int n, int i, int rows, int j, int columns, double beta, double *C,
                     int stride)
{
    const double *left = a->L + i + (int64_t)c * a->rows, *right = a->L + j + (int64_t)c * a->rows;
    int right_stride = a->rows;
    const double start = task_begin(a);

    if (a->sign) {
        double *scaled = a->all->workers[omp_get_thread_num()].scaled;
        for (int k = 0; k < n; k++)
            for (int l = 0; l < columns; l++)
                scaled[l + k * TILE] = a->sign[c + k] * right[l + (int64_t)k * a->rows];
        right = scaled;
        right_stride = TILE;
    }
    if (!a->sign && i == j)
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, rows, n, -1, left, a->rows, beta, C, stride);
    else
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, columns, n, -1, left, a->rows, right, right_stride,
                    beta, C, stride);
    task_end(a, j < a->columns ? SP_TASK_PRODUCT : SP_TASK_UPDATE, c, i, j, start);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* The end of the tile of rows that begins at `row` of the panel. */
static int tile_end(const front *a, int row)
{
    return row < a->columns ? least(row + a->tile, a->columns) : least(row + TILE, a->rows);
}

/* The panel by tiles: each column of tiles is eliminated, and subtracted from those on its right. The first entry of a
 * tile stands for it in depend clauses. */
static void eliminate_tiles(const front *a)
{
    const int64_t rows = a->rows;
    const int columns = a->columns;
    double *L = a->L;

    for (int c = 0; c < columns; c += a->tile) {
        const int end = tile_end(a, c);
#pragma omp task if (a->shared) depend(inout : L[c + c * rows])
        eliminate_diagonal(a, c, end - c);

        for (int i = end; i < rows; i = tile_end(a, i)) {
#pragma omp task if (a->shared) depend(in : L[c + c * rows]) depend(inout : L[i + c * rows])
            eliminate_rows(a, c, end - c, i, tile_end(a, i) - i);
        }
        for (int j = end; j < columns; j = tile_end(a, j))
            for (int i = j; i < rows; i = tile_end(a, i)) {
#pragma omp task if (a->shared) depend(in : L[i + c * rows], L[j + c * rows]) depend(inout : L[i + j * rows])
                subtract(a, c, end - c, i, tile_end(a, i) - i, j, tile_end(a, j) - j, 1, L + i + j * rows, a->rows);
            }
    }
#pragma omp taskwait
}

/* U = −L S Lᵀ of the rows below, by tiles. */
static void update_tiles(const front *a)
{
    const int step = a->sign ? a->tile : a->columns;

    for (int j = 0; j < a->below; j += TILE)
        for (int i = j; i < a->below; i += TILE) {
#pragma omp task if (a->shared)
            for (int c = 0; c < a->columns; c += step)
                subtract(a, c, least(step, a->columns - c), a->columns + i, least(TILE, a->below - i), a->columns + j,
                         least(TILE, a->below - j), c > 0, a->U + i + (int64_t)j * a->below, a->below);
        }
#pragma omp taskwait
}

/* Adds columns [from, end) of the update of a child; row i of it is row to[i] of the matrix at `sum`. */
static void add_columns(const front *a, const int32_t *to, int64_t child, int64_t from, int64_t end, double *sum,
                        int64_t stride)
{
    const int64_t m = below(a->all->symbolic, child);
    const double *update = a->all->update[child], start = task_begin(a);

    for (int64_t k = from; k < end; k++) {
        const double *column = update + k * m;
        double *target = sum + to[k] * stride;
        for (int64_t i = k; i < m; i++)
            target[to[i]] += column[i];
    }
    task_end(a, sum == a->L ? SP_TASK_ADD_TO_PANEL : SP_TASK_ADD_TO_UPDATE, from, child, 0, start);
}

/* Adds the columns [from, end) of a child's update, in tasks where the front is shared. */
static void add_update(const front *a, const worker *w, int64_t child, int64_t from, int64_t end, double *sum,
                       int64_t stride)
{
    const int32_t *to = w->to;

    if (!a->shared || (double)(end - from) * (double)below(a->all->symbolic, child) < LEAST_ADDED) {
        add_columns(a, to, child, from, end, sum, stride);
        return;
    }
    for (int64_t k = from; k < end; k += ADD_COLUMNS) {
        const int64_t stop = end - k < ADD_COLUMNS ? end : k + ADD_COLUMNS;
#pragma omp task
        add_columns(a, to, child, k, stop, sum, stride);
    }
#pragma omp taskwait
}

/* Sets w->to, minus `shift`, and returns how many columns of the child's update belong to the panel. */
static int64_t map_child(const sp_symbolic *s, const worker *w, int64_t child, int32_t columns, int32_t shift)
{
    const int32_t *row = s->index + s->start[child] + sp_symbolic_columns(s, child);
    const int64_t m = below(s, child);
    int64_t inside = 0;

    for (int64_t i = 0; i < m; i++) {
        const int32_t to = w->where[row[i]];
        inside += to < columns;
        w->to[i] = to - shift;
    }
    return inside;
}

/* The panel of supernode k: the entries of the matrix, and the updates of the children as far as they concern it. */
static void assemble_panel(const front *a, const worker *w, int64_t k)
{
    const sp_symbolic *s = a->all->symbolic;
    const sp_sparse *matrix = a->all->matrix;
    const int32_t *index = s->index + s->start[k];

    for (int32_t i = 0; i < a->rows; i++)
        w->where[index[i]] = i;

    memset(a->L, 0, (size_t)a->rows * (size_t)a->columns * sizeof *a->L);
    for (int c = 0; c < a->columns; c++) {
        const int64_t j = a->first + c, row = s->row[j];
        double *column = a->L + (int64_t)c * a->rows;
        for (int64_t e = matrix->start[row]; e < matrix->start[row + 1]; e++) {
            const int32_t i = s->position[matrix->index[e]];
            if (i >= j)
                column[w->where[i]] = matrix->value[e];
        }
    }

    for (int32_t child = a->all->child[k]; child >= 0; child = a->all->next[child]) {
        const int64_t inside = map_child(s, w, child, a->columns, 0);
        add_update(a, w, child, 0, inside, a->L, a->rows);
    }
}

/* The update of supernode k: that of its own columns, and what is left of those of its children. */
static void assemble_update(const front *a, const worker *w, int64_t k)
{
    const sp_symbolic *s = a->all->symbolic;

    if (a->shared || a->sign)
        update_tiles(a);
    else
        subtract(a, 0, a->columns, a->columns, a->below, a->columns, a->below, 0, a->U, a->below);

    for (int32_t child = a->all->child[k]; child >= 0; child = a->all->next[child]) {
        const int64_t inside = map_child(s, w, child, a->columns, a->columns);
        add_update(a, w, child, inside, below(s, child), a->U, a->below);
    }
}

/* Eliminates supernode k of a unit, whose update goes to its worker's stack, or, from its last one, to memory of its
 * own. */
static void eliminate(sp_fronts *f, const sp_unit *own, int64_t k)
{
    const sp_symbolic *s = f->symbolic;
    worker *w = &f->workers[omp_get_thread_num()];
    const bool odd = f->odd[k], last = k == own->last;
    const int64_t m = below(s, k), columns = sp_symbolic_columns(s, k), tiles = (columns + TILE - 1) / TILE;
    front a = {.all = f,
               .first = s->first[k],
               .rows = (int)sp_symbolic_rows(s, k),
               .columns = (int)columns,
               .below = (int)m,
               .tile = (int)((columns + tiles - 1) / tiles),
               .L = f->L + s->value[k],
               .sign = f->sign ? f->sign + s->first[k] : NULL,
               .shared = own->shared,
               .unit = own - s->units};

    assemble_panel(&a, w, k);
    if (a.shared || a.sign)
        eliminate_tiles(&a);
    else {
        eliminate_diagonal(&a, 0, a.columns);
        if (m > 0)
            eliminate_rows(&a, 0, a.columns, a.columns, a.below);
    }

    if (m > 0) {
        a.U = f->update[k] = last ? sp_memory_new((size_t)(m * m) * sizeof *a.U) : w->stack[odd] + w->top[odd];
        if (!last)
            w->top[odd] += m * m;
        if (a.U)
            assemble_update(&a, w, k);
        else
#pragma omp atomic write
            f->memory = false;
    }

    /* The updates of the children were taken. */
    for (int32_t child = f->child[k]; child >= 0; child = f->next[child])
        if (child >= own->first)
            w->top[!odd] -= below(s, child) * below(s, child);
        else {
            free(f->update[child]);
            f->update[child] = NULL;
        }
}

/* Returns true if memory is out or the caller has cancelled. */
static bool must_end(sp_fronts *f)
{
    bool memory;

#pragma omp atomic read
    memory = f->memory;
    if (!f->context->cancel || !*f->context->cancel)
        return !memory;
#pragma omp atomic write
    f->cancelled = true;
    return true;
}

static void eliminate_unit(sp_fronts *f, const sp_unit *own)
{
    worker *w = &f->workers[omp_get_thread_num()];
    const double start = f->watch ? omp_get_wtime() : 0;

    w->top[0] = w->top[1] = 0;
    for (int64_t k = own->first; k <= own->last; k++)
        if (!must_end(f) && !is_lost(f, f->symbolic->first[k]))
            eliminate(f, own, k);
    if (f->watch)
        f->watch(
            f->watch_data,
            &(sp_task){.kind = SP_TASK_UNIT, .unit = own - f->symbolic->units, .seconds = omp_get_wtime() - start});
}

/* Children are made before their parent, which waits for all of them. */
static void eliminate_all(sp_fronts *f)
{
    const int64_t units = f->symbolic->unit_count;
    const int threads = units > 1 || (units == 1 && f->symbolic->units[0].shared) ? f->threads : 1;
    char *token = f->tokens;
    (void)token; /* used in depend clauses only */

#pragma omp parallel num_threads(threads)
    if (omp_get_thread_num() == 0) /* it makes the tasks, and all threads take them */
        for (int64_t u = 0, count; u < units; u += count) {
            const sp_unit *own = &f->symbolic->units[u];
            count = sp_symbolic_batch(f->symbolic, u, 1);
#pragma omp task depend(inout : token[u]) depend(in : token[own->parent])
            for (int64_t i = 0; i < count; i++)
                eliminate_unit(f, own + i);
        }
}

/* Memory for L S Lᵀ and its least pivot. What a failed pivot leaves behind is computed on, but not used: signs begin as
 * 1. */
static int prepare_signs(sp_fronts *f, const sp_sparse *matrix, double *sign)
{
    for (int t = 0; t < f->threads; t++)
        if (!f->workers[t].scaled) {
            f->workers[t].scaled = sp_pool_raw(&f->pool, TILE * TILE, sizeof *f->workers[t].scaled);
            SP_PASS(sp_allocated(f->context, f->workers[t].scaled));
        }

    f->least = 0;
    for (int64_t e = 0; e < matrix->start[matrix->order]; e++)
        f->least = fmax(f->least, LEAST_PIVOT * fabs(matrix->value[e]));
    for (int64_t i = 0; i < matrix->order; i++)
        sign[i] = 1;
    return SP_OK;
}

int sp_fronts_factor(sp_fronts *f, const sp_sparse *matrix, double *L, double *sign, int64_t *pivot)
{
    const int64_t n = f->symbolic->order;

    if (sign)
        SP_PASS(prepare_signs(f, matrix, sign));
    f->matrix = matrix;
    f->L = L;
    f->sign = sign;
    f->failed = n;
    f->memory = true;
    f->cancelled = false;

    eliminate_all(f);

    /* Nothing is left, unless the factorization ended early. */
    for (int64_t u = 0; u < f->symbolic->unit_count; u++) {
        free(f->update[f->symbolic->units[u].last]);
        f->update[f->symbolic->units[u].last] = NULL;
    }
    if (!f->memory)
        return sp_fail_memory(f->context);
    if (f->cancelled)
        return sp_fail(f->context, SP_SYSTEM, "cancelled");

    *pivot = f->failed;
    if (f->failed == n)
        return SP_OK;
    return sp_fail(f->context, SP_NUMERICAL,
                   sign ? "the matrix has no factorization without pivoting (pivot %lld of %lld)"
                        : "the matrix is not positive definite (pivot %lld of %lld)",
                   (long long)f->failed, (long long)n);
}
