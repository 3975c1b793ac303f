/* Shared by the modules that call CHOLMOD. */
#ifndef SP_LINEAR_INTERNAL_H
#define SP_LINEAR_INTERNAL_H

#include "linear/cholesky.h"
#include "linear/suitesparse.h"

/* Starts CHOLMOD with our settings: it prints nothing and tries no ordering other than the given one. */
void sp_cholmod_start(cholmod_common *common);

/* CHOLMOD's view of the matrix: one triangle of it. The compressed rows are those of the transpose, which is the same.
 */
cholmod_sparse sp_cholmod_view(const sp_sparse *matrix);

/* Converts the status of a failed call; the message is "doing failed". */
int sp_cholmod_failure(sp_context *context, const cholmod_common *common, const char *doing);

/* Fill-reducing order of the rows: METIS on the graph of nodes, each node's rows kept together; NULL: each row is a
 * node. */
int sp_cholmod_dissect(sp_context *context, cholmod_common *common, const sp_sparse *matrix, const int64_t *node,
                       sp_pool *pool, int64_t *permutation) SP_MUST_USE;

/* The factor itself, to measure CHOLMOD's own solves (bench/). */
cholmod_factor *sp_cholesky_factor_of(sp_cholesky *cholesky);

#endif
