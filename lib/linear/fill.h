/* Orderings of sparse symmetric matrices, and the number of nonzeros of the Cholesky factor under each (thesis, section
 * 2.8.1 and Figure 2.10). Only patterns are used: no value of the matrix is read. For comparison only: factorizations
 * choose their ordering themselves (linear/cholesky.h). */
#ifndef SP_LINEAR_FILL_H
#define SP_LINEAR_FILL_H

#include "linear/sparse.h"

enum sp_ordering {
    SP_ORDERING_NATURAL,       /* the given order */
    SP_ORDERING_CUTHILL_MCKEE, /* reverse Cuthill–McKee: breadth first from a peripheral row, reversed */
    SP_ORDERING_COUNT,         /* ascending number of entries of the rows */
    SP_ORDERING_DEGREE,        /* approximate minimum degree (AMD) */
    SP_ORDERING_DISSECTION,    /* nested dissection (METIS) on the graph of nodes: that of sp_cholesky_new */
    SP_ORDERINGS
};

/* permutation [order]: the row of the matrix at each position. node as for sp_cholesky_new, used by nested dissection
 * only. Ties keep their order. */
int sp_fill_order(sp_context *context, const sp_sparse *matrix, const int64_t *node, enum sp_ordering ordering,
                  int64_t *permutation) SP_MUST_USE;

#endif
