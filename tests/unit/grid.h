/* −Δ on a grid of side³ points by finite differences, zero on the boundary around them. Eigenvalues are known: the sums
 * over three axes of 2 − 2 cos(kπ / (side + 1)), k = 1 … side. */
#ifndef TESTS_UNIT_GRID_H
#define TESTS_UNIT_GRID_H

#include "linear/sparse.h"

/* tilt · (x, y, z) is added to the diagonal, for the point at (x, y, z). */
static inline void make_grid(int side, const double tilt[3], sp_sparse *K)
{
    const int64_t n = (int64_t)side * side * side;
    const int64_t stride[7] = {-(int64_t)side * side, -side, -1, 0, 1, side, (int64_t)side * side};

    *K = (sp_sparse){.order = n};
    K->start = sp_pool_new(&K->pool, n + 1, sizeof *K->start);
    K->index = sp_pool_new(&K->pool, 7 * n, sizeof *K->index);
    K->value = sp_pool_new(&K->pool, 7 * n, sizeof *K->value);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at[3] = {i / ((int64_t)side * side), i / side % side, i % side};
        int64_t end = K->start[i];
        for (int k = 0; k < 7; k++) {
            const int axis = k < 3 ? k : 6 - k;
            if (k != 3 && (k < 3 ? at[axis] == 0 : at[axis] == side - 1))
                continue;
            K->index[end] = i + stride[k];
            K->value[end] = -1;
            if (k == 3)
                K->value[end] = 6 + tilt[0] * (double)at[0] + tilt[1] * (double)at[1] + tilt[2] * (double)at[2];
            end++;
        }
        K->start[i + 1] = end;
    }
}

#endif
