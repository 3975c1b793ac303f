/* Orderings of sparse symmetric matrices, and the nonzeros of the Cholesky factor under each (thesis, section 2.8.1 and
 * Figure 2.10). Only patterns are looked at: no number of the matrix is read. For comparison only: what factors are
 * made with chooses its ordering itself (linear/cholesky.h). */
#ifndef SP_LINEAR_FILL_H
#define SP_LINEAR_FILL_H

#include "linear/sparse.h"

enum sp_ordering {
    SP_ORDERING_NATURAL,       /* as it stands */
    SP_ORDERING_CUTHILL_MCKEE, /* reverse Cuthill–McKee: breadth first from a row at the rim, backwards */
    SP_ORDERING_COUNT,         /* ascending number of entries of the rows */
    SP_ORDERING_DEGREE,        /* approximate minimum degree (AMD) */
    SP_ORDERING_DISSECTION,    /* nested dissection (METIS) on the graph of nodes: that of sp_cholesky_new */
    SP_ORDERINGS
};

/* permutation [order]: the row of the matrix that stands at each place. node as for sp_cholesky_new, looked at by
 * nested dissection only. Rows with equal claims keep their order. */
int sp_fill_order(sp_context *context, const sp_sparse *matrix, const int64_t *node, enum sp_ordering ordering,
                  int64_t *permutation) SP_MUST_USE;

/* Nonzeros of L, diagonal included, of P A Pᵀ = L Lᵀ: from the elimination tree, in about the time of reading the
 * matrix and without the memory of L. A double, since it may be beyond what any memory holds. */
int sp_fill_count(sp_context *context, const sp_sparse *matrix, const int64_t *permutation,
                  double *nonzeros) SP_MUST_USE;

#endif
