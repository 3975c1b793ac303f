/* Sparse matrices in compressed rows. */
#ifndef SP_LINEAR_SPARSE_H
#define SP_LINEAR_SPARSE_H

#include "base/context.h"
#include "base/memory.h"

/* The same pattern by nodes, which are up to three rows with the same columns, as the free components of a vertex are:
 * products read a ninth of its indices. */
typedef struct sp_nodes {
    int64_t count;
    int64_t *row;   /* [count + 1] first row of each node */
    int64_t *start; /* [count + 1] */
    int32_t *index; /* [start[count]] of the nodes that its columns belong to, 4 · first column + number of columns */
} sp_nodes;

enum { SP_NODES_MOST = INT32_MAX / 4 }; /* columns of a pattern by nodes */

/* Square, structurally symmetric, both triangles stored, columns of a row strictly increasing: so the same arrays are
 * the compressed columns of the transpose, which is what CHOLMOD takes. */
typedef struct sp_sparse {
    sp_pool pool;
    int64_t order;
    int64_t *start; /* [order + 1], start[0] = 0 */
    int64_t *index; /* [start[order]] column of each entry */
    double *value;  /* [start[order]] */
    /* A matrix A ⊗ I₃, as a mass is, keeps A beside it, for products alone: a third of the numbers to be read. NULL: it
     * is none. */
    int64_t *third_start, *third_index;
    double *third_value;
    const sp_nodes *nodes; /* of the pattern, for products alone; not owned; NULL: not known */
} sp_sparse;

void sp_sparse_free(sp_sparse *matrix);

/* A copy without stored zeros: a mass matrix over the pattern of a stiffness matrix has a third of its entries, and
 * another third is enough for products where the three components of every vertex are free. Its values are not to be
 * changed afterwards. */
int sp_sparse_compress(sp_context *context, const sp_sparse *matrix, sp_sparse *compressed) SP_MUST_USE;

/* Puts A beside a matrix that is A ⊗ I₃ bit for bit; another stays as it is. */
int sp_sparse_keep_third(sp_context *context, sp_sparse *matrix) SP_MUST_USE;

/* Entry (row, column), 0 where it is not stored; the sum of the diagonal. */
double sp_sparse_entry(const sp_sparse *matrix, int64_t row, int64_t column);
double sp_sparse_trace(const sp_sparse *matrix);

/* start monotone, columns in range and increasing, finite values, symmetric within `tolerance` times the largest entry.
 * SP_INPUT names the row. */
int sp_sparse_check(sp_context *context, const sp_sparse *matrix, double tolerance) SP_MUST_USE;

/* y = A x for `count` columns, x and y [order, count, column major]. Parallel over rows. */
void sp_sparse_times(const sp_context *context, const sp_sparse *matrix, int64_t count, const double *x, double *y);

#endif
