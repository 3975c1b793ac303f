#include "parallel/multigrid.h"

#include "base/compare.h"
#include "base/random.h"

#include <lapacke.h>
#include <math.h>
#include <petscksp.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST = 6, DEGREE = 3, POWER_STEPS = 20 };

/* Rows of blocks of `rows` × `columns` numbers. */
typedef struct block_matrix {
    int rows, columns;
    int64_t count;        /* rows of blocks */
    const int64_t *start; /* [count + 1] */
    int32_t *place;       /* [start[count]] of each block in the vectors of `halo` */
    const double *value;  /* [start[count], rows, columns row major] */
    sp_halo halo;         /* of the columns */
} block_matrix;

/* The blocks of a matrix column by column, for products with its transpose. */
typedef struct block_columns {
    const int64_t *start; /* [own + ghosts of the columns + 1] */
    const int64_t *entry; /* [start[own + ghosts]] */
    const int32_t *row;   /* of each entry, increasing within a column */
} block_columns;

typedef struct level {
    block_matrix A;
    const double *mass;  /* [start[count], 3] on the finest level, else NULL */
    double *inverse;     /* [own, rows, rows] of the blocks of the diagonal */
    double largest;      /* eigenvalue of inverse · A, with a margin */
    block_matrix P;      /* from the next level; none on the last */
    block_columns down;  /* of P */
    sp_lanes *x, *r, *d; /* [(own + ghosts) · rows]: solution, load and then residual, step */
} level;

struct sp_multigrid {
    sp_pool pool;
    const sp_context *context;
    int count;
    level *levels; /* the finest is the first */
    /* the last level as a dense inverse on every rank */
    int order, *part, *part_start; /* [ranks] numbers of each rank in `collected` */
    double *inverse;               /* [order, order] */
    double *collected;             /* [order, 8] */
};

/* ---- products ---- */

/* y += sign · the product of one row of blocks with x; R and C are constants. */
#define ROW_TIMES(R, C)                                                                                                \
    for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {                                                          \
        const double *block = m->value + (R) * (C)*k;                                                                  \
        const sp_lanes *from = x + (int64_t)m->place[k] * (C);                                                         \
        for (int a = 0; a < (R); a++)                                                                                  \
            for (int b = 0; b < (C); b++)                                                                              \
                sum[a] += block[a * (C) + b] * from[b];                                                                \
    }

SP_CLONES static void rows_times(const block_matrix *m, int64_t first, int64_t end, const sp_lanes *x, double sign,
                                 sp_lanes *y)
{
    for (int64_t i = first; i < end; i++) {
        sp_lanes sum[WIDEST] = {{0}};
        if (m->rows == 3 && m->columns == 3) {
            ROW_TIMES(3, 3)
        } else if (m->rows == 3) {
            ROW_TIMES(3, 6)
        } else {
            ROW_TIMES(6, 6)
        }

        for (int a = 0; a < m->rows; a++)
            y[i * m->rows + a] += sign * sum[a];
    }
}

/* Rows of blocks that a thread takes at a time. */
enum { CHUNK = 512 };

static void clear(const sp_multigrid *mg, int64_t count, sp_lanes *x)
{
#pragma omp parallel for schedule(static) num_threads(mg->context->threads)
    for (int64_t first = 0; first < count; first += 3 * CHUNK)
        memset(x + first, 0, (size_t)(count - first < 3 * CHUNK ? count - first : 3 * CHUNK) * sizeof *x);
}

/* y += sign · A x, after the ghosts of x were exchanged. */
static void add_product(const sp_multigrid *mg, const block_matrix *m, double sign, sp_lanes *x, sp_lanes *y)
{
    sp_halo_exchange(&m->halo, m->columns, x);
#pragma omp parallel for schedule(static) num_threads(mg->context->threads)
    for (int64_t first = 0; first < m->count; first += CHUNK)
        rows_times(m, first, first + CHUNK < m->count ? first + CHUNK : m->count, x, sign, y);
}

SP_CLONES static void columns_times(const block_matrix *m, const block_columns *columns, int64_t first, int64_t end,
                                    const sp_lanes *x, sp_lanes *y)
{
    for (int64_t j = first; j < end; j++) {
        sp_lanes sum[WIDEST] = {{0}};

        /* y = Aᵀ x, by the blocks of each column */
        for (int64_t k = columns->start[j]; k < columns->start[j + 1]; k++) {
            const double *block = m->value + m->rows * m->columns * columns->entry[k];
            const sp_lanes *from = x + (int64_t)columns->row[k] * m->rows;
            for (int a = 0; a < m->rows; a++)
                for (int b = 0; b < m->columns; b++)
                    sum[b] += block[a * m->columns + b] * from[a];
        }

        for (int b = 0; b < m->columns; b++)
            y[j * m->columns + b] = sum[b];
    }
}

/* y = Pᵀ x. */
static void restrict_to(const sp_multigrid *mg, const level *l, const sp_lanes *x, sp_lanes *y)
{
    const block_matrix *P = &l->P;
    const int64_t count = P->halo.own + P->halo.ghosts;

#pragma omp parallel for schedule(static) num_threads(mg->context->threads)
    for (int64_t first = 0; first < count; first += CHUNK)
        columns_times(P, &l->down, first, first + CHUNK < count ? first + CHUNK : count, x, y);

    sp_halo_add(&P->halo, P->columns, y);
}

/* ---- the cycle ---- */

/* d = old · d + new · inverse · r, x += d. */
SP_CLONES static void step_rows(const level *l, int64_t first, int64_t end, double old, double new)
{
    const int b = l->A.rows;

    for (int64_t i = first; i < end; i++) {
        const double *block = l->inverse + b * b * i;
        for (int a = 0; a < b; a++) {
            sp_lanes sum = block[a * b] * l->r[i * b];
            for (int c = 1; c < b; c++)
                sum += block[a * b + c] * l->r[i * b + c];
            l->d[i * b + a] = old * l->d[i * b + a] + new *sum;
            l->x[i * b + a] += l->d[i * b + a];
        }
    }
}

static void step(const sp_multigrid *mg, const level *l, double old, double new)
{
#pragma omp parallel for schedule(static) num_threads(mg->context->threads)
    for (int64_t first = 0; first < l->A.count; first += CHUNK)
        step_rows(l, first, first + CHUNK < l->A.count ? first + CHUNK : l->A.count, old, new);
}

/* Chebyshev polynomials of the fourth kind, which need no lower bound of the spectrum (Lottes, Numer. Linear Algebra
 * Appl. 30, 2023, without its optimal weights): x gains; r is the residual before, and with `residual` after it. */
static void smooth(const sp_multigrid *mg, level *l, bool residual)
{
    clear(mg, l->A.halo.own * l->A.rows, l->d);

    /* The coefficients of the recurrence of these polynomials, with the largest eigenvalue as the scale */
    for (int k = 1; k <= DEGREE; k++) {
        step(mg, l, (2.0 * k - 3) / (2 * k + 1) * (k > 1), (8.0 * k - 4) / (2 * k + 1) / l->largest);
        if (k < DEGREE || residual)
            add_product(mg, &l->A, -1, l->d, l->r);
    }
}

/* The solution on the last level, from the loads of all ranks. */
static void solve_last(const sp_multigrid *mg, level *l)
{
    const int own = (int)(l->A.halo.own * l->A.rows);

    MPI_Allgatherv((double *)l->r, own * SP_LANES, MPI_DOUBLE, mg->collected, mg->part, mg->part_start, MPI_DOUBLE,
                   MPI_COMM_WORLD);
    const int first = (int)(l->A.halo.first * l->A.rows);

    /* Every rank multiplies its own rows of the inverse. */
    for (int i = 0; i < own; i++) {
        sp_lanes sum = {0};
        for (int j = 0; j < mg->order; j++) {
            sp_lanes load;
            memcpy(&load, mg->collected + j * SP_LANES, sizeof load);
            sum += mg->inverse[(int64_t)(first + i) * mg->order + j] * load;
        }
        l->x[i] = sum;
    }
}

/* x for the load r, from 0. */
static void cycle(const sp_multigrid *mg, int at)
{
    level *l = &mg->levels[at];
    clear(mg, l->A.halo.own * l->A.rows, l->x);

    if (at == mg->count - 1) {
        solve_last(mg, l);
        return;
    }

    /* Smooth, restrict the residual, correct from the coarse level, and smooth again */
    level *coarse = l + 1;
    smooth(mg, l, true);
    restrict_to(mg, l, l->r, coarse->r);
    cycle(mg, at + 1);

    clear(mg, l->A.halo.own * l->A.rows, l->d);
    add_product(mg, &l->P, 1, coarse->x, l->d);
#pragma omp parallel for schedule(static) num_threads(mg->context->threads)
    for (int64_t i = 0; i < l->A.halo.own * l->A.rows; i++)
        l->x[i] += l->d[i];

    add_product(mg, &l->A, -1, l->d, l->r);
    smooth(mg, l, false);
}

/* ---- columns ---- */

static void to_lanes(const sp_multigrid *mg, int64_t n, int64_t count, const double *columns, sp_lanes *x)
{
#pragma omp parallel for schedule(static) num_threads(mg->context->threads)
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < SP_LANES; c++)
            x[i][c] = c < count ? columns[c * n + i] : 0;
}

static void from_lanes(const sp_multigrid *mg, int64_t n, int64_t count, const sp_lanes *x, double *columns)
{
#pragma omp parallel for schedule(static) num_threads(mg->context->threads)
    for (int64_t first = 0; first < n; first += CHUNK)
        for (int64_t c = 0; c < count; c++)
            for (int64_t i = first; i < n && i < first + CHUNK; i++)
                columns[c * n + i] = x[i][c];
}

SP_CLONES static void mass_rows(const level *l, int64_t first, int64_t end, const sp_lanes *x, sp_lanes *y)
{
    const block_matrix *m = &l->A;
    for (int64_t i = first; i < end; i++) {
        sp_lanes sum[3] = {{0}};
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
            for (int a = 0; a < 3; a++)
                sum[a] += l->mass[3 * k + a] * x[3 * (int64_t)m->place[k] + a];
        memcpy(y + 3 * i, sum, sizeof sum);
    }
}

/* y = M x on the finest level. */
static void mass_product(const sp_multigrid *mg, const level *l, sp_lanes *x, sp_lanes *y)
{
    sp_halo_exchange(&l->A.halo, 3, x);
#pragma omp parallel for schedule(static) num_threads(mg->context->threads)
    for (int64_t first = 0; first < l->A.count; first += CHUNK)
        mass_rows(l, first, first + CHUNK < l->A.count ? first + CHUNK : l->A.count, x, y);
}

void sp_multigrid_apply(sp_multigrid *mg, enum sp_multigrid_operation operation, int64_t count, const double *x,
                        double *y)
{
    level *l = mg->levels;
    const int64_t n = 3 * l->A.count;
    for (int64_t c = 0; c < count; c += SP_LANES) {
        const int64_t width = count - c < SP_LANES ? count - c : SP_LANES;
        const sp_lanes *result = l->r;

        if (operation == SP_CYCLE) {
            to_lanes(mg, n, width, x + c * n, l->r);
            cycle(mg, 0);
            result = l->x;
        } else {
            to_lanes(mg, n, width, x + c * n, l->d);
            if (operation == SP_TIMES_M)
                mass_product(mg, l, l->d, l->r);
            else {
                clear(mg, n, l->r);
                add_product(mg, &l->A, 1, l->d, l->r);
            }
        }

        from_lanes(mg, n, width, result, y + c * n);
    }
}

int sp_multigrid_levels(const sp_multigrid *mg)
{
    return mg->count;
}

/* ---- setup ---- */

#define PETSC_TRY(call)                                                                                                \
    do {                                                                                                               \
        if ((call) != 0) {                                                                                             \
            status = sp_fail(context, SP_NUMERICAL, "PETSc makes no multigrid hierarchy of the matrix");               \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* The numbers of the blocks of columns in a row of blocks, increasing; returns their number. */
static PetscErrorCode list_blocks(Mat matrix, int64_t row, int rows, int columns, sp_list *list, int64_t *count)
{
    list->count = 0;

    for (int a = 0; a < rows; a++) {
        PetscInt entries;
        const PetscInt *column;
        PetscCall(MatGetRow(matrix, (PetscInt)(row * rows + a), &entries, &column, NULL));
        for (PetscInt k = 0; k < entries; k++) {
            const int64_t *last = list->count ? (int64_t *)list->data + list->count - 1 : NULL;
            if (!last || *last != column[k] / columns)
                *(int64_t *)sp_list_add(list, 1, sizeof(int64_t)) = column[k] / columns;
        }
        PetscCall(MatRestoreRow(matrix, (PetscInt)(row * rows + a), &entries, &column, NULL));
    }

    qsort(list->data, (size_t)list->count, sizeof(int64_t), sp_compare_integers);
    int64_t kept = 0, *number = list->data;
    for (int64_t k = 0; k < list->count; k++)
        if (k == 0 || number[k] != number[kept - 1])
            number[kept++] = number[k];
    *count = kept;
    return 0;
}

static PetscErrorCode fill_blocks(Mat matrix, int64_t row, int rows, int columns, int64_t count, const int64_t *number,
                                  double *value)
{
    memset(value, 0, (size_t)(count * rows * columns) * sizeof *value);
    for (int a = 0; a < rows; a++) {
        PetscInt entries;
        const PetscInt *column;
        const PetscScalar *from;
        PetscCall(MatGetRow(matrix, (PetscInt)(row * rows + a), &entries, &column, &from));

        for (PetscInt k = 0; k < entries; k++) {
            const int64_t of = column[k] / columns,
                          *found = bsearch(&of, number, (size_t)count, sizeof of, sp_compare_integers);
            value[(found - number) * rows * columns + a * columns + column[k] % columns] = from[k];
        }
        PetscCall(MatRestoreRow(matrix, (PetscInt)(row * rows + a), &entries, &column, &from));
    }
    return 0;
}

/* Numbers of blocks become places in the vectors. */
static int place_blocks(sp_context *context, sp_pool *pool, const int64_t *range, const int64_t *number,
                        block_matrix *m)
{
    const int64_t entries = m->start[m->count];

    m->place = sp_pool_raw(pool, entries, sizeof *m->place);
    SP_PASS(sp_allocated(context, m->place));

    SP_PASS(sp_halo_new(context, pool, range, entries, number, WIDEST, &m->halo));

    for (int64_t k = 0; k < entries; k++)
        m->place[k] = (int32_t)sp_halo_place(&m->halo, number[k]);
    return SP_OK;
}

/* The own rows of a matrix of PETSc. */
static int take_matrix(sp_context *context, sp_pool *pool, Mat matrix, int rows, int columns, block_matrix *m)
{
    PetscInt first, end;
    const PetscInt *ranges;
    int ranks;
    sp_list list = {0};
    sp_pool scratch = {0};
    int status = SP_OK;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PETSC_TRY(MatGetOwnershipRange(matrix, &first, &end));
    PETSC_TRY(MatGetOwnershipRangesColumn(matrix, &ranges));

    *m = (block_matrix){.rows = rows, .columns = columns, .count = (end - first) / rows};
    int64_t *start = sp_pool_new(pool, m->count + 1, sizeof *start),
            *range = sp_pool_raw(&scratch, ranks + 1, sizeof *range), count;
    SP_TRY(sp_allocated(context, start && range));

    for (int r = 0; r <= ranks; r++)
        range[r] = ranges[r] / columns;

    /* First the numbers of blocks, then the blocks */
    for (int64_t i = 0; i < m->count; i++) {
        PETSC_TRY(list_blocks(matrix, first / rows + i, rows, columns, &list, &count));
        start[i + 1] = start[i] + count;
    }

    double *value = sp_pool_raw(pool, start[m->count] * rows, (size_t)columns * sizeof *value);
    int64_t *number = sp_pool_raw(&scratch, start[m->count], sizeof *number);
    SP_TRY(sp_allocated(context, value && number));

    for (int64_t i = 0; i < m->count; i++) {
        PETSC_TRY(list_blocks(matrix, first / rows + i, rows, columns, &list, &count));
        memcpy(number + start[i], list.data, (size_t)count * sizeof *number);
        PETSC_TRY(
            fill_blocks(matrix, first / rows + i, rows, columns, count, list.data, value + start[i] * rows * columns));
    }

    m->start = start;
    m->value = value;
    SP_TRY(place_blocks(context, pool, range, number, m));
done:
    sp_list_free(&list);
    sp_pool_free(&scratch);
    return status;
}

static int list_columns(sp_context *context, sp_pool *pool, const block_matrix *m, block_columns *columns)
{
    const int64_t count = m->halo.own + m->halo.ghosts, entries = m->start[m->count];
    int64_t *start = sp_pool_new(pool, count + 2, sizeof *start), *entry = sp_pool_raw(pool, entries, sizeof *entry);
    int32_t *row = sp_pool_raw(pool, entries, sizeof *row);
    SP_PASS(sp_allocated(context, start && entry && row));

    /* Counting sort by column: start[j + 1] moves to the end of column j. */
    for (int64_t k = 0; k < entries; k++)
        start[m->place[k] + 2]++;

    for (int64_t j = 0; j < count; j++)
        start[j + 2] += start[j + 1];

    for (int64_t i = 0; i < m->count; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            const int64_t at = start[m->place[k] + 1]++;
            entry[at] = k;
            row[at] = (int32_t)i;
        }
    *columns = (block_columns){.start = start, .entry = entry, .row = row};
    return SP_OK;
}

/* The inverse of a symmetric matrix [n, n] without the directions in which it is singular. */
static int pseudo_inverse(sp_context *context, int n, double *matrix)
{
    sp_pool scratch = {0};

    double *vector = sp_pool_copy(&scratch, matrix, (int64_t)n * n, sizeof *vector),
           *value = sp_pool_raw(&scratch, n, sizeof *value);
    int status = sp_allocated(context, !scratch.failed);
    if (status == SP_OK && LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', n, vector, n, value) != 0)
        status = sp_fail(context, SP_NUMERICAL, "a matrix of the multigrid hierarchy has no inverse");

    memset(matrix, 0, (size_t)n * (size_t)n * sizeof *matrix);

    /* Σ v vᵀ / λ over the directions that are not singular */
    for (int k = 0; k < n && status == SP_OK; k++)
        if (value[k] > 1e-12 * value[n - 1])
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    matrix[(int64_t)i * n + j] += vector[(int64_t)k * n + i] * vector[(int64_t)k * n + j] / value[k];
    sp_pool_free(&scratch);
    return status;
}

static int invert_diagonal(sp_context *context, sp_pool *pool, level *l)
{
    const block_matrix *m = &l->A;
    const int size = m->rows * m->rows;
    int status = SP_OK;

    l->inverse = sp_pool_new(pool, m->count, (size_t)size * sizeof *l->inverse);
    SP_PASS(sp_allocated(context, l->inverse));

    for (int64_t i = 0; i < m->count && status == SP_OK; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
            if (m->place[k] == i) {
                memcpy(l->inverse + size * i, m->value + size * k, (size_t)size * sizeof *l->inverse);
                status = pseudo_inverse(context, m->rows, l->inverse + size * i);
            }
    return status;
}

/* ‖x‖² of each lane over all ranks. */
static sp_lanes squares(int64_t n, const sp_lanes *x)
{
    sp_lanes sum = {0};
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, SP_LANES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* The largest eigenvalue of inverse · A, by power iterations from eight random vectors. */
static void find_largest(const sp_multigrid *mg, level *l)
{
    const int64_t n = l->A.halo.own * l->A.rows;

    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < SP_LANES; c++)
            l->d[i][c] =
                sp_random_normal(mg->context->seed, 30, (uint64_t)(SP_LANES * (l->A.halo.first * l->A.rows + i) + c));
    l->largest = 0;

    for (int step_count = 0; step_count < POWER_STEPS; step_count++) {
        /* ‖(inverse · A) x‖ / ‖x‖ approaches the largest eigenvalue from below. */
        const sp_lanes before = squares(n, l->d);
        memset(l->r, 0, (size_t)n * sizeof *l->r);
        add_product(mg, &l->A, 1, l->d, l->r);
        memset(l->x, 0, (size_t)n * sizeof *l->x);
        step(mg, l, 0, 1); /* d = inverse · r */

        const sp_lanes after = squares(n, l->d);
        for (int c = 0; c < SP_LANES; c++)
            l->largest = fmax(l->largest, sqrt(after[c] / before[c]));

        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < SP_LANES; c++)
                l->d[i][c] /= sqrt(after[c]);
    }

    /* The margin makes up for what power iterations leave. */
    l->largest *= 1.1;
}

static int finish_level(sp_context *context, sp_multigrid *mg, int at)
{
    level *l = &mg->levels[at];

    /* A vector of the level has room for the ghosts of A and for those that P from it has. */
    int64_t ghosts = l->A.halo.ghosts;
    if (at > 0 && mg->levels[at - 1].P.halo.ghosts > ghosts)
        ghosts = mg->levels[at - 1].P.halo.ghosts;
    const int64_t length = (l->A.halo.own + ghosts) * l->A.rows;

    l->x = sp_pool_new(&mg->pool, length, sizeof *l->x);
    l->r = sp_pool_new(&mg->pool, length, sizeof *l->r);
    l->d = sp_pool_new(&mg->pool, length, sizeof *l->d);
    SP_PASS(sp_allocated(context, !mg->pool.failed));

    int status = at < mg->count - 1 || at == 0 ? invert_diagonal(context, &mg->pool, l) : SP_OK;
    if (status == SP_OK && at < mg->count - 1)
        find_largest(mg, l);
    return status;
}

static int invert_last(sp_context *context, sp_multigrid *mg)
{
    enum { MOST = 6000 };
    const level *l = &mg->levels[mg->count - 1];
    const block_matrix *m = &l->A;
    const int ranks = m->halo.ranks, own = (int)(m->count * m->rows) * SP_LANES;

    mg->part = sp_pool_raw(&mg->pool, ranks, sizeof *mg->part);
    mg->part_start = sp_pool_raw(&mg->pool, ranks, sizeof *mg->part_start);
    SP_PASS(sp_allocated(context, !mg->pool.failed));

    /* Where the part of each rank begins in the whole vector */
    MPI_Allgather(&own, 1, MPI_INT, mg->part, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) {
        mg->part_start[r] = mg->order * SP_LANES;
        mg->order += mg->part[r] / SP_LANES;
    }

    if (mg->order > MOST)
        return sp_fail(context, SP_NUMERICAL, "the last level of multigrid has still %d unknowns", mg->order);

    mg->inverse = sp_pool_new(&mg->pool, mg->order, (size_t)mg->order * sizeof *mg->inverse);
    mg->collected = sp_pool_new(&mg->pool, mg->order, SP_LANES * sizeof *mg->collected);
    SP_PASS(sp_allocated(context, !mg->pool.failed));

    /* Every rank adds its rows; the sum is the whole matrix. */
    for (int64_t i = 0; i < m->count; i++)
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            const int64_t place = m->place[k],
                          column = place < m->halo.own ? m->halo.first + place : m->halo.ghost[place - m->halo.own];
            for (int a = 0; a < m->rows; a++)
                for (int b = 0; b < m->rows; b++)
                    mg->inverse[((m->halo.first + i) * m->rows + a) * mg->order + column * m->rows + b] =
                        m->value[k * m->rows * m->rows + a * m->rows + b];
        }

    MPI_Allreduce(MPI_IN_PLACE, mg->inverse, mg->order * mg->order, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return pseudo_inverse(context, mg->order, mg->inverse);
}

/* GAMG's hierarchy; of its cycle only the matrices are used. */
static int make_hierarchy(sp_context *context, Mat A, sp_multigrid *mg)
{
    PC pc = NULL;
    Mat *P = NULL, *coarse = NULL;
    PetscInt levels = 0, count;
    int status = SP_OK;

    PETSC_TRY(PCCreate(PETSC_COMM_WORLD, &pc));
    PETSC_TRY(PCSetOperators(pc, A, A));
    PETSC_TRY(PCSetType(pc, PCGAMG));
    PETSC_TRY(PCSetOptionsPrefix(pc, "supple_"));

    PETSC_TRY(PetscOptionsSetValue(NULL, "-supple_mg_levels_pc_type", "jacobi"));
    /* Couplings |a_ij| < 0.01 √(a_ii a_jj) do not join vertices to an aggregate: conjugate gradients take 37 instead of
     * 59 steps on a dragon of 412,746 tetrahedra. */
    PETSC_TRY(PetscOptionsSetValue(NULL, "-supple_pc_gamg_threshold", "0.01"));

    /* The matrices that PCGetInterpolations and PCGetCoarseOperators return belong to the caller. */
    PETSC_TRY(PCSetFromOptions(pc));
    PETSC_TRY(PCSetUp(pc));

    PETSC_TRY(PCMGGetLevels(pc, &levels));
    PETSC_TRY(PCGetInterpolations(pc, &count, &P));
    PETSC_TRY(PCGetCoarseOperators(pc, &count, &coarse));
    PETSC_TRY(PCDestroy(&pc));

    mg->count = (int)levels;
    mg->levels = sp_pool_new(&mg->pool, mg->count, sizeof *mg->levels);
    SP_TRY(sp_allocated(context, mg->levels));

    for (int at = 0; at < mg->count - 1; at++) { /* PETSc counts from the coarsest */
        const int from = mg->count - 2 - at;
        SP_TRY(take_matrix(context, &mg->pool, P[from], at == 0 ? 3 : 6, 6, &mg->levels[at].P));
        PETSC_TRY(MatDestroy(&P[from]));
        SP_TRY(list_columns(context, &mg->pool, &mg->levels[at].P, &mg->levels[at].down));
        SP_TRY(take_matrix(context, &mg->pool, coarse[from], 6, 6, &mg->levels[at + 1].A));
        PETSC_TRY(MatDestroy(&coarse[from]));
    }
done:
    for (PetscInt i = 0; i < levels - 1; i++) {
        (void)(P && MatDestroy(&P[i]));
        (void)(coarse && MatDestroy(&coarse[i]));
    }
    (void)PetscFree(P);
    (void)PetscFree(coarse);
    (void)PCDestroy(&pc);
    return status;
}

/* The mass of each block of the finest level, which has the blocks of a row in another order. */
static int place_mass(sp_context *context, const sp_block_rows *rows, sp_multigrid *mg)
{
    level *l = &mg->levels[0];
    const block_matrix *m = &l->A;
    double *mass = sp_pool_new(&mg->pool, m->start[m->count], 3 * sizeof *mass);

    SP_PASS(sp_allocated(context, mass));

    for (int64_t i = 0; i < m->count; i++)
        for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            const int64_t place = sp_halo_place(&m->halo, rows->column[k]);
            for (int64_t at = m->start[i]; at < m->start[i + 1]; at++)
                if (m->place[at] == place)
                    memcpy(mass + 3 * at, rows->mass + 3 * k, 3 * sizeof *mass);
        }
    l->mass = mass;
    return SP_OK;
}

int sp_multigrid_new(sp_context *context, const sp_block_rows *rows, Mat *A, sp_multigrid **multigrid)
{
    sp_multigrid *mg = calloc(1, sizeof *mg);
    int status;
    SP_PASS(sp_allocated(context, mg));

    mg->context = context;
    SP_TRY(make_hierarchy(context, *A, mg));

    SP_TRY(take_matrix(context, &mg->pool, *A, 3, 3, &mg->levels[0].A));
    PETSC_TRY(MatDestroy(A));
    SP_TRY(place_mass(context, rows, mg));

    sp_memory_return();
    for (int at = 0; at < mg->count; at++)
        SP_TRY(finish_level(context, mg, at));
    SP_TRY(invert_last(context, mg));
done:
    if (status == SP_OK)
        *multigrid = mg;
    else
        sp_multigrid_free(mg);
    return status;
}

void sp_multigrid_free(sp_multigrid *mg)
{
    if (mg)
        sp_pool_free(&mg->pool);
    free(mg);
}
