/* Sparse matrices in compressed rows. */
#ifndef SP_LINEAR_SPARSE_H
#define SP_LINEAR_SPARSE_H

#include "base/context.h"
#include "base/memory.h"

/* The same pattern by nodes. A node is up to three rows with the same columns, such as the free components of a vertex:
 * products read a ninth of the indices. */
typedef struct sp_nodes {
    int64_t count;
    int64_t *row;   /* [count + 1] first row of each node */
    int64_t *start; /* [count + 1] */
    int32_t *index; /* [start[count]] of the nodes that its columns belong to, 4 · first column + number of columns */
} sp_nodes;

enum { SP_NODES_MOST = INT32_MAX / 4 }; /* largest number of columns of a pattern by nodes */

/* Square, structurally symmetric, both triangles stored, columns of a row strictly increasing: the same arrays are the
 * compressed columns of the transpose. */
typedef struct sp_sparse {
    sp_pool pool;
    int64_t order;
    int64_t *start; /* [order + 1], start[0] = 0 */
    int64_t *index; /* [start[order]] column of each entry */
    double *value;  /* [start[order]] */
    /* For a matrix A ⊗ I₃, such as a mass matrix, a copy of A for products only, which reads a third of the numbers.
     * NULL: the matrix is not of this form. */
    int64_t *third_start, *third_index;
    double *third_value;
    const sp_nodes *nodes; /* of the pattern, for products only; not owned; NULL: not known */
} sp_sparse;

void sp_sparse_free(sp_sparse *matrix);

/* A copy without stored zeros: a mass matrix over the pattern of a stiffness matrix has a third of its entries, and
 * products need only another third of these if the three components of every vertex are free. Its values must not be
 * changed afterwards. */
int sp_sparse_compress(sp_context *context, const sp_sparse *matrix, sp_sparse *compressed) SP_MUST_USE;

/* Stores A with a matrix that is A ⊗ I₃ bit for bit; other matrices are not changed. */
int sp_sparse_keep_third(sp_context *context, sp_sparse *matrix) SP_MUST_USE;

/* Entry (row, column), 0 if it is not stored; the sum of the diagonal. */
double sp_sparse_entry(const sp_sparse *matrix, int64_t row, int64_t column);
double sp_sparse_trace(const sp_sparse *matrix);

/* Checks that start is monotone, columns are in range and increasing, values are finite, and the matrix is symmetric
 * within `tolerance` times the largest entry. SP_INPUT names the row. */
int sp_sparse_check(sp_context *context, const sp_sparse *matrix, double tolerance) SP_MUST_USE;

/* The pattern of A + Aᵀ without values, in the order of the columns: a view of the matrix, if its pattern is symmetric
 * as it should be, or else a copy. A matrix that is symmetric within a tolerance may store a small entry in one
 * triangle only. Free with sp_sparse_free. */
int sp_sparse_pattern(sp_context *context, const sp_sparse *matrix, sp_sparse *pattern) SP_MUST_USE;

/* y = A x for `count` columns, x and y [order, count, column major]. Parallel over rows. */
void sp_sparse_times(const sp_context *context, const sp_sparse *matrix, int64_t count, const double *x, double *y);

#endif
