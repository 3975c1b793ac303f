/* Sparse rectangular matrices in compressed rows. */
#ifndef SP_LINEAR_RECTANGULAR_H
#define SP_LINEAR_RECTANGULAR_H

#include "base/context.h"
#include "base/memory.h"

typedef struct sp_rectangular {
    int64_t rows, columns;
    int64_t *start, *index; /* [rows + 1], [start[rows]] columns, ascending in each row */
    double *value;          /* [start[rows]] */
} sp_rectangular;

/* u [rows] = A y and y [columns] = Aᵀ u. */
void sp_rectangular_times(const sp_rectangular *A, const double *y, double *u);
void sp_rectangular_transposed_times(const sp_rectangular *A, const double *u, double *y);

/* Aᵀ and A B; their memory is that of the pool. */
int sp_rectangular_transpose(sp_context *context, const sp_rectangular *A, sp_pool *pool,
                             sp_rectangular *transpose) SP_MUST_USE;
int sp_rectangular_product(sp_context *context, const sp_rectangular *A, const sp_rectangular *B, sp_pool *pool,
                           sp_rectangular *product) SP_MUST_USE;

#endif
