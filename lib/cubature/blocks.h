/* Batches of poses: a block of displacements of the whole body, by rows, so that poses are SIMD lanes. Shared by
 * poses.c and training.c. */
#ifndef SP_CUBATURE_BLOCKS_H
#define SP_CUBATURE_BLOCKS_H

#include "base/lanes.h"
#include "cubature/poses.h"

enum {
    SP_POSES_SUMS = 8,   /* number of partial sums, independent of the threads */
    SP_POSES_WIDEST = 32 /* largest number of poses in a batch */
};

/* U [rows, r, column major] by rows; NULL, with pool->failed set: out of memory. */
double *sp_poses_basis(sp_pool *pool, int64_t rows, int64_t r, const double *U);

/* The number of poses in a batch, from two arrays of full vectors for each of SP_POSES_SUMS threads. It is independent
 * of the actual number of threads, since products of other widths round differently. It is a power of two, so that
 * shards that begin at multiples of SP_POSES_WIDEST split poses into the same blocks. memory: bytes, 0: 1 GiB. */
int64_t sp_poses_width(int64_t rows, int64_t memory);

/* Displacements u [rows, width, row major] = U q of poses q [r, count], U [rows, r] by rows or by columns; columns of u
 * beyond them are 0. */
void sp_poses_displacements(bool by_rows, const double *U, int64_t rows, int64_t r, int64_t count, const double *q,
                            int64_t width, double *u);

/* Gathers the rows of the nodes from an array [3·vertices, width], eight columns from `at` on. The number of nodes
 * is a compile-time constant in the inner loops over all elements and poses. */
void sp_poses_gather(int nodes, const int64_t *node, int64_t width, const double *at, sp_lanes to[][3]);

/* sum += forces · rows of the nodes, as gathered by sp_poses_gather. */
SP_INLINE void sp_poses_dot(int nodes, const int64_t *node, int64_t width, sp_lanes force[][3], const double *at,
                            sp_lanes *sum)
{
    sp_lanes each[3] = {{0}};
    for (int a = 0; a < nodes; a++)
        for (int i = 0; i < 3; i++)
            each[i] += force[a][i] * *(const sp_lanes *)(at + (3 * node[a] + i) * width);
    *sum += each[0] + each[1] + each[2];
}

/* sum += scale² fᵀCf: of the forces on all nodes but the first, with the upper triangle of C by rows, doubled off the
 * diagonal. */
SP_INLINE void sp_poses_square(int rows, const double *C, sp_lanes force[][3], const double *scale, sp_lanes *sum)
{
    const sp_lanes *f = &force[1][0];
    sp_lanes square = {0};
    for (int i = 0; i < rows; i++) {
        sp_lanes product = {0};
        for (int j = i; j < rows; j++)
            product += *C++ * f[j];
        square += f[i] * product;
    }
    *sum += square * *(const sp_lanes *)scale * *(const sp_lanes *)scale;
}

#endif
