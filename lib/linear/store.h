/* A tall matrix of columns that may be larger than memory: blocks of SP_STORE_WIDTH columns, the first of them in
 * memory, the rest wherever the caller keeps them (a scratch file; the library itself touches none).
 *
 * Everything that computes on a store goes over the same blocks in the same order, wherever they are. So the bytes of a
 * result do not depend on how many of them are in memory, and a matrix in memory is the case of all of them. */
#ifndef SP_LINEAR_STORE_H
#define SP_LINEAR_STORE_H

#include "linear/dense.h"

enum { SP_STORE_WIDTH = 32 };

/* Where the other blocks are: rectangles of rows [row, row + height) and columns [first, first + width), packed
 * [height, width, column major]. What was never saved is never loaded. Both may be NULL: all blocks are in memory. */
typedef struct sp_store_outside {
    void *data;
    int (*load)(sp_context *context, void *data, int64_t row, int64_t height, int64_t first, int64_t width, double *to);
    int (*save)(sp_context *context, void *data, int64_t row, int64_t height, int64_t first, int64_t width,
                const double *from);
} sp_store_outside;

typedef struct sp_store {
    sp_pool pool;
    int64_t rows, count;
    int64_t resident; /* so many blocks are in memory */
    sp_list blocks;   /* of double *: [rows, SP_STORE_WIDTH] each, those in memory */
    double *columns;  /* sp_store_over: the caller's [rows, count]; else NULL */
    sp_store_outside outside;
} sp_store;

/* A store of no columns yet. outside NULL: all in memory. */
void sp_store_new(int64_t rows, const sp_store_outside *outside, sp_store *store);

/* The caller's columns A [rows, count], worked on in place. */
int sp_store_over(sp_context *context, int64_t rows, int64_t count, double *A, sp_store *store) SP_MUST_USE;

void sp_store_free(sp_store *store);

/* Makes it `count` columns, not less than it has; new blocks come into memory while fewer than `resident` are there.
 * New columns have to be written before they are read. */
int sp_store_grow(sp_context *context, sp_store *store, int64_t count, int64_t resident) SP_MUST_USE;

/* Moves blocks out until at most `resident` are in memory. */
int sp_store_evict(sp_context *context, sp_store *store, int64_t resident) SP_MUST_USE;

/* Rectangles, packed [height, width, column major]. */
int sp_store_read(sp_context *context, const sp_store *store, int64_t row, int64_t height, int64_t first, int64_t width,
                  double *to) SP_MUST_USE;
int sp_store_write(sp_context *context, sp_store *store, int64_t row, int64_t height, int64_t first, int64_t width,
                   const double *from) SP_MUST_USE;

/* Columns [first, …) of the block that begins there, as far as the store goes: *columns is where they are in memory, or
 * `buffer` [rows, SP_STORE_WIDTH], into which they were read. */
int sp_store_load(sp_context *context, const sp_store *store, int64_t first, double *buffer,
                  double **columns) SP_MUST_USE;

/* Only these columns from now on, in this order; index [count] increasing. */
int sp_store_keep(sp_context *context, sp_store *store, int64_t count, const int64_t *index) SP_MUST_USE;

/* A ← A C with C [count, to, column major], to ≤ count: by rows, in place, in slabs of 8192 rows, each read and written
 * once. */
int sp_store_times(sp_context *context, sp_store *store, int64_t to, const double *C) SP_MUST_USE;

/* Every column times its factor. */
int sp_store_scale(sp_context *context, sp_store *store, const double *factor) SP_MUST_USE;

/* square[c] = uᵀMu of every column. */
int sp_store_squares(sp_context *context, const sp_metric *metric, const sp_store *store, double *square) SP_MUST_USE;

/* The upper triangle of G = AᵀMA [count, count, column major], 0 below it; one product with M and one pass over the
 * columns before it for each block. */
int sp_store_gram(sp_context *context, const sp_metric *metric, const sp_store *store, double *G) SP_MUST_USE;

/* The sign of each column as sp_dense_fix_signs has it. */
int sp_store_fix_signs(sp_context *context, sp_store *store) SP_MUST_USE;

/* M-orthonormal basis of the columns, in order: A = Q R with R [count, count, column major] upper triangular, Q in the
 * place of A. Block Gram–Schmidt, left-looking: every block is projected twice off all earlier ones, then its columns
 * off each other, as often as that leaves less than half of one, and all of it again where a column has become much
 * shorter. Columns that depend on earlier ones (what is left is at most `threshold` of the column's norm) are 0 in Q
 * and have a zero row in R. rank receives the number of others. */
int sp_store_orthonormalize(sp_context *context, const sp_metric *metric, sp_store *store, double threshold, double *R,
                            int64_t *rank) SP_MUST_USE;

/* Largest |QᵀMQ − I| over the columns of Q that are not zero. */
int sp_store_orthogonality(sp_context *context, const sp_metric *metric, const sp_store *store,
                           double *error) SP_MUST_USE;

/* The same for columns in memory: A [rows, count] becomes Q; Q [rows, count]. */
int sp_metric_orthonormalize(sp_context *context, const sp_metric *metric, int64_t count, double *A, double threshold,
                             double *R, int64_t *rank) SP_MUST_USE;
int sp_metric_orthogonality(sp_context *context, const sp_metric *metric, int64_t count, const double *Q,
                            double *error) SP_MUST_USE;

/* Bytes of workspace that any of these calls takes on `rows` rows and `count` columns, R and C not included. */
int64_t sp_store_workspace(const sp_metric *metric, int64_t rows, int64_t count);

#endif
