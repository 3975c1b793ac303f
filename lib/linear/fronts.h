/* Numeric Cholesky factorization by the multifrontal method (Duff and Reid 1983; Liu 1992): each supernode is
 * eliminated in a dense matrix, its front, to which the updates of its children are added; what it leaves is its own
 * update for its parent.
 *
 * Subtrees with little work are tasks, and so are the fronts above them, whose tiles are tasks again. The division into
 * tasks depends on the pattern only, and all sums have a fixed order: the factor has the same bytes for any number of
 * threads. */
#ifndef SP_LINEAR_FRONTS_H
#define SP_LINEAR_FRONTS_H

#include "linear/symbolic.h"

typedef struct sp_fronts sp_fronts;

/* Workspace for factorizations of this pattern by context->threads threads. Keeps a pointer to `symbolic`. */
int sp_fronts_new(sp_context *context, const sp_symbolic *symbolic, sp_fronts **fronts) SP_MUST_USE;
void sp_fronts_free(sp_fronts *fronts); /* NULL is allowed */

/* A task of a factorization, for measurements (bench/factor.c): a whole unit, or a part of a unit above the subtrees,
 * in the order in which they depend on each other: columns of children's updates that are added to the panel; the panel
 * by tiles (diagonal, rows below, products); tiles of the update; and columns that are added to it. */
enum sp_task_kind {
    SP_TASK_UNIT,
    SP_TASK_ADD_TO_PANEL,
    SP_TASK_DIAGONAL,
    SP_TASK_ROWS,
    SP_TASK_PRODUCT,
    SP_TASK_UPDATE,
    SP_TASK_ADD_TO_UPDATE
};

typedef struct sp_task {
    enum sp_task_kind kind;
    int64_t unit;
    int64_t c, i, j; /* first column of the eliminated tiles, first row and column of the tile; of columns that are
                      * added: the first one in the child's update, and the child */
    double seconds;
} sp_task;

/* Calls `watch` after each task, on the thread that ran it. */
void sp_fronts_watch(sp_fronts *fronts, void (*watch)(void *data, const sp_task *task), void *data);

/* Bytes that updates take at least: those of the subtrees of all threads, and at their peak those of units that run one
 * after the other. */
double sp_fronts_memory(const sp_fronts *fronts);

/* Factors the matrix into L [symbolic->value[symbolic->count]]. Calls of BLAS are made by each thread alone
 * (linear/blas.h).
 *
 * sign NULL: A = L Lᵀ. Returns SP_NUMERICAL, with a message, if a pivot is not positive; *pivot is then the first such
 * column. Otherwise A = L S Lᵀ without pivoting, and sign [order] receives the diagonal S of ±1; SP_NUMERICAL then
 * means that a pivot is not finite, or below 1e-14 of the largest entry, so that its sign is not certain. */
int sp_fronts_factor(sp_fronts *fronts, const sp_sparse *matrix, double *L, double *sign, int64_t *pivot) SP_MUST_USE;

#endif
