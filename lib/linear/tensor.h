/* Sparse tensors of third order, such as the second derivatives of a force with n components. */
#ifndef SP_LINEAR_TENSOR_H
#define SP_LINEAR_TENSOR_H

#include "base/context.h"
#include "base/memory.h"

/* H[i][j][k] with H[i][j][k] = H[i][k][j]: the entries with j ≤ k, by i, then j, then k. */
typedef struct sp_tensor {
    sp_pool pool;
    int64_t order;  /* i, j and k go from 0 to order − 1 */
    int64_t *start; /* [order + 1] the entries of i are those from start[i] on */
    int64_t *j, *k; /* [start[order]] */
    double *value;  /* [start[order]] */
} sp_tensor;

/* A tensor from `count` entries in any order: value[e] at i[e], j[e], k[e]. Entries at the same place are added in
 * their order.
 *
 * With `once` the tensor is symmetric in all three indices, and each entry is given once, with its indices in any one
 * order; the entries with the other orders are added here, and an entry that is given twice is an error. Otherwise all
 * entries are given. SP_INPUT if an index is out of range, a value or a sum is not finite, or H[i][j][k] and H[i][k][j]
 * differ by more than 1e-9 of the largest entry; the mean of both is kept. */
int sp_tensor_new(sp_context *context, int64_t order, int64_t count, const int64_t *i, const int64_t *j,
                  const int64_t *k, const double *value, bool once, sp_tensor *tensor) SP_MUST_USE;
void sp_tensor_free(sp_tensor *tensor);

/* y[i] = Σ_jk H[i][j][k] u[j] v[k] [order]; the same bytes with u and v exchanged. */
void sp_tensor_times(const sp_tensor *tensor, const double *u, const double *v, double *y);

/* True if H[i][j][k] does not depend on the order of the three indices, within `tolerance` times the largest entry: the
 * second derivatives of a force that has a potential. */
bool sp_tensor_symmetric(const sp_tensor *tensor, double tolerance);

#endif
