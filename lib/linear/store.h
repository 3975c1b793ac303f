/* An out-of-core tall matrix: blocks of SP_STORE_WIDTH columns, the first of them in memory, the rest in the caller's
 * backing store (such as a scratch file; the library itself does no file I/O).
 *
 * All computations on a column matrix process the same blocks in the same order, wherever they are. The bytes of a
 * result therefore do not depend on the number of blocks in memory, and a matrix in memory is the special case of all
 * blocks. */
#ifndef SP_LINEAR_STORE_H
#define SP_LINEAR_STORE_H

#include "linear/dense.h"

enum { SP_STORE_WIDTH = 32 };

/* The backing store of the other blocks: rectangles of rows [row, row + height) and columns [first, first + width),
 * packed [height, width, column major]. Data that were never saved are never loaded. Both functions may be NULL: all
 * blocks are in memory. */
typedef struct sp_store_outside {
    void *data;
    int (*load)(sp_context *context, void *data, int64_t row, int64_t height, int64_t first, int64_t width, double *to);
    int (*save)(sp_context *context, void *data, int64_t row, int64_t height, int64_t first, int64_t width,
                const double *from);
} sp_store_outside;

typedef struct sp_store {
    sp_pool pool;
    int64_t rows, count;
    int64_t resident; /* number of blocks in memory */
    sp_list blocks;   /* of double *: the blocks in memory, [rows, SP_STORE_WIDTH] each */
    double *columns;  /* sp_store_over: the caller's [rows, count]; else NULL */
    sp_store_outside outside;
} sp_store;

/* A matrix without columns. outside NULL: all blocks are in memory. */
void sp_store_new(int64_t rows, const sp_store_outside *outside, sp_store *store);

/* The caller's columns A [rows, count], modified in place. */
int sp_store_over(sp_context *context, int64_t rows, int64_t count, double *A, sp_store *store) SP_MUST_USE;

void sp_store_free(sp_store *store);

/* Enlarges the matrix to `count` columns, not less than it has; new blocks are placed in memory while fewer than
 * `resident` are there. New columns must be written before they are read. */
int sp_store_grow(sp_context *context, sp_store *store, int64_t count, int64_t resident) SP_MUST_USE;

/* Moves blocks to the backing store until at most `resident` are in memory. */
int sp_store_evict(sp_context *context, sp_store *store, int64_t resident) SP_MUST_USE;

/* Rectangles, packed [height, width, column major]. */
int sp_store_read(sp_context *context, const sp_store *store, int64_t row, int64_t height, int64_t first, int64_t width,
                  double *to) SP_MUST_USE;
int sp_store_write(sp_context *context, sp_store *store, int64_t row, int64_t height, int64_t first, int64_t width,
                   const double *from) SP_MUST_USE;

/* Columns [first, …) of the block that begins there, up to the end of the matrix: *columns points to them in memory, or
 * to `buffer` [rows, SP_STORE_WIDTH], into which they were read. */
int sp_store_load(sp_context *context, const sp_store *store, int64_t first, double *buffer,
                  double **columns) SP_MUST_USE;

/* Keeps only these columns, in this order; index [count] increasing. */
int sp_store_keep(sp_context *context, sp_store *store, int64_t count, const int64_t *index) SP_MUST_USE;

/* A ← A C with C [count, to, column major], to ≤ count: by rows, in place, in slabs of 8192 rows, each read and written
 * once. */
int sp_store_times(sp_context *context, sp_store *store, int64_t to, const double *C) SP_MUST_USE;

/* Multiplies every column by its factor. */
int sp_store_scale(sp_context *context, sp_store *store, const double *factor) SP_MUST_USE;

/* square[c] = uᵀMu of every column. */
int sp_store_squares(sp_context *context, const sp_metric *metric, const sp_store *store, double *square) SP_MUST_USE;

/* The upper triangle of G = AᵀMA [count, count, column major], 0 below it; one product with M and one pass over the
 * columns before it for each block. */
int sp_store_gram(sp_context *context, const sp_metric *metric, const sp_store *store, double *G) SP_MUST_USE;

/* Fixes the sign of each column as sp_dense_fix_signs does. */
int sp_store_fix_signs(sp_context *context, sp_store *store) SP_MUST_USE;

/* M-orthonormal basis of the columns, in order: A = Q R with R [count, count, column major] upper triangular, and A
 * replaced by Q. Left-looking block Gram–Schmidt: every block is projected twice against all earlier ones, then its
 * columns against each other, repeatedly while a column loses more than half of its length, and all of it again if a
 * column has become much shorter. Columns that depend on earlier ones (the residual is at most `threshold` of the
 * column's norm) are 0 in Q and have a zero row in R. rank receives the number of other columns. SP_NUMERICAL if
 * columns are still not orthogonal after some rounds; with the threshold 0, where columns may be rounding alone, they
 * are left so. */
int sp_store_orthonormalize(sp_context *context, const sp_metric *metric, sp_store *store, double threshold, double *R,
                            int64_t *rank) SP_MUST_USE;

/* Largest |QᵀMQ − I| over the nonzero columns of Q. */
int sp_store_orthogonality(sp_context *context, const sp_metric *metric, const sp_store *store,
                           double *error) SP_MUST_USE;

/* The same for columns in memory: A [rows, count] is replaced by Q; Q [rows, count]. */
int sp_metric_orthonormalize(sp_context *context, const sp_metric *metric, int64_t count, double *A, double threshold,
                             double *R, int64_t *rank) SP_MUST_USE;
int sp_metric_orthogonality(sp_context *context, const sp_metric *metric, int64_t count, const double *Q,
                            double *error) SP_MUST_USE;

/* Workspace in bytes of any of these calls for `rows` rows and `count` columns, without R and C. */
int64_t sp_store_workspace(const sp_metric *metric, int64_t rows, int64_t count);

#endif
