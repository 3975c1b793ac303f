/* Helpers for dense matrices, column major, over CBLAS and LAPACKE. Sizes are 64-bit here and checked once against the
 * 32-bit integers of the libraries (sp_dense_fits). BLAS runs on one thread (the caller's process must set this). */
#ifndef SP_LINEAR_DENSE_H
#define SP_LINEAR_DENSE_H

#include "linear/sparse.h"

/* SP_SYSTEM if rows or columns exceed a BLAS integer. */
int sp_dense_fits(sp_context *context, int64_t rows, int64_t columns) SP_MUST_USE;

/* C [m, k] = Aᵀ B for tall A [rows, m], B [rows, k]: in fixed panels of rows summed in order, panels shared by the
 * threads. work: at least sp_dense_inner_work(m, k) doubles. */
int64_t sp_dense_inner_work(int64_t m, int64_t k);
void sp_dense_inner(const sp_context *context, int64_t rows, int64_t m, const double *A, int64_t k, const double *B,
                    double *C, double *work);

/* B [rows, k] += alpha A C for tall A [rows, m], C [m, k]; panels of rows shared by the threads. */
void sp_dense_add(const sp_context *context, int64_t rows, int64_t m, const double *A, int64_t k, const double *C,
                  double alpha, double *B);

/* B [rows, k] ← B T⁻¹ for tall B and upper triangular T [k, k]; panels of rows shared by the threads. An infinite
 * diagonal entry makes its column zero. */
void sp_dense_solve_right(const sp_context *context, int64_t rows, int64_t k, const double *T, double *B);

/* Sum of products in a fixed order for any number of threads. */
double sp_dense_dot(int64_t count, const double *x, const double *y);

/* Makes the entry of largest magnitude of each column positive (the first one within 1e-6 of the largest, so that
 * rounding does not flip modes of symmetric bodies). */
void sp_dense_fix_signs(int64_t rows, int64_t count, double *columns);

/* A mass metric on full vectors: consistent (a sparse matrix over the free degrees of freedom, with dof [rows] mapping
 * each component to its row or −1) or lumped (diagonal [rows]). */
typedef struct sp_metric {
    int64_t rows;           /* 3·vertices */
    const double *diagonal; /* [rows] kg, lumped; NULL: consistent */
    const sp_sparse *matrix;
    const int64_t *dof; /* [rows]; components without a row have no mass in this metric; NULL: rows = matrix->order, the
                           same numbering */
} sp_metric;

/* y = M x for `count` full columns. work: [2·matrix->order·count] doubles (unused when lumped). */
void sp_metric_times(const sp_context *context, const sp_metric *metric, int64_t count, const double *x, double *y,
                     double *work);

#endif
