/* Orderings and their fill, for comparison only (linear/fill.h). */
#include "linear/fill.h"

#include "linear/order.h"

#include <stdlib.h>

/* Searches for a peripheral row; each ends farther out than the one before, and two or three are usual. */
enum { TRIES = 16 };

typedef struct ranked {
    int64_t degree, row;
} ranked;

static int compare_ranks(const void *a, const void *b)
{
    const ranked *p = a, *q = b;
    return p->degree != q->degree ? (p->degree > q->degree) - (p->degree < q->degree)
                                  : (p->row > q->row) - (p->row < q->row);
}

static int64_t degree_of(const sp_sparse *matrix, int64_t row)
{
    return matrix->start[row + 1] - matrix->start[row];
}

/* Reverse Cuthill–McKee (Cuthill & McKee 1969; Liu & Sherman 1976). */
typedef struct walker {
    const sp_sparse *matrix;
    int64_t *mark;  /* [order] number of the last search that reached a row; PLACED: the row has its final position */
    int64_t *queue; /* [order] rows in the order in which the search reached them */
    ranked *around; /* [largest degree] */
    int64_t walks;
} walker;

static const int64_t PLACED = -1;

/* Breadth-first search from root over all rows that have no position yet, with the neighbours of a row by ascending
 * degree. `count` receives the number of rows reached, `rim` the first position in the queue of the last level. Returns
 * the number of levels. */
static int64_t walk(walker *w, int64_t root, int64_t *count, int64_t *rim)
{
    const sp_sparse *matrix = w->matrix;
    int64_t levels = 0, end = 1, stamp = ++w->walks;

    w->queue[0] = root;
    w->mark[root] = stamp;
    *count = 1;
    for (int64_t level = 0; level < end; level = end, end = *count) {
        end = *count;
        *rim = level;
        levels++;
        for (int64_t i = level; i < end; i++) {
            /* The neighbours that no search of this root has reached, by ascending degree. */
            int64_t row = w->queue[i], found = 0;
            for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++) {
                int64_t other = matrix->index[k];
                if (w->mark[other] == PLACED || w->mark[other] == stamp)
                    continue;
                w->mark[other] = stamp;
                w->around[found++] = (ranked){.degree = degree_of(matrix, other), .row = other};
            }

            qsort(w->around, (size_t)found, sizeof *w->around, compare_ranks);
            for (int64_t k = 0; k < found; k++)
                w->queue[(*count)++] = w->around[k].row;
        }
    }
    return levels;
}

static int order_cuthill_mckee(sp_context *context, const sp_sparse *matrix, sp_pool *pool, int64_t *permutation)
{
    int64_t n = matrix->order, largest = 0, place = n;

    for (int64_t row = 0; row < n; row++)
        largest = degree_of(matrix, row) > largest ? degree_of(matrix, row) : largest;

    walker w = {.matrix = matrix,
                .mark = sp_pool_new(pool, n, sizeof *w.mark),
                .queue = sp_pool_raw(pool, n, sizeof *w.queue),
                .around = sp_pool_raw(pool, largest, sizeof *w.around)};

    SP_PASS(sp_allocated(context, !pool->failed));

    for (int64_t seed = 0; seed < n; seed++)
        while (w.mark[seed] != PLACED) {
            int64_t root = seed, count, rim, levels = walk(&w, root, &count, &rim);

            /* A search starts from a row of least degree in the last level, as long as that is farther out. */
            for (int tries = 1; tries < TRIES; tries++) {
                int64_t candidate = w.queue[rim];
                for (int64_t i = rim; i < count; i++)
                    if (degree_of(matrix, w.queue[i]) < degree_of(matrix, candidate))
                        candidate = w.queue[i];
                int64_t farther = walk(&w, candidate, &count, &rim);
                root = candidate;
                if (farther <= levels)
                    break;
                levels = farther;
            }

            /* The queue that the last search left begins at the root, and is placed from the end. */
            for (int64_t i = 0; i < count; i++) {
                w.mark[w.queue[i]] = PLACED;
                permutation[--place] = w.queue[i];
            }
        }
    return SP_OK;
}

static int order_by_count(sp_context *context, const sp_sparse *matrix, sp_pool *pool, int64_t *permutation)
{
    ranked *rows = sp_pool_raw(pool, matrix->order, sizeof *rows);

    SP_PASS(sp_allocated(context, rows));

    for (int64_t row = 0; row < matrix->order; row++)
        rows[row] = (ranked){.degree = degree_of(matrix, row), .row = row};
    qsort(rows, (size_t)matrix->order, sizeof *rows, compare_ranks);
    for (int64_t i = 0; i < matrix->order; i++)
        permutation[i] = rows[i].row;
    return SP_OK;
}

int sp_fill_order(sp_context *context, const sp_sparse *matrix, const int64_t *node, enum sp_ordering ordering,
                  int64_t *permutation)
{
    sp_pool pool = {0};
    int status = SP_OK;

    switch (ordering) {
    case SP_ORDERING_CUTHILL_MCKEE:
        status = order_cuthill_mckee(context, matrix, &pool, permutation);
        break;
    case SP_ORDERING_COUNT:
        status = order_by_count(context, matrix, &pool, permutation);
        break;
    case SP_ORDERING_DEGREE:
        status = sp_order_degree(context, matrix, permutation);
        break;
    case SP_ORDERING_DISSECTION:
        status = sp_order_dissection(context, matrix, node, permutation);
        break;
    case SP_ORDERING_NATURAL:
    default:
        for (int64_t row = 0; row < matrix->order; row++)
            permutation[row] = row;
    }

    sp_pool_free(&pool);
    return status;
}
