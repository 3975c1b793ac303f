/* The rows of K and M of one of several processes (ranks), for solvers with distributed memory (parallel/module.h).
 *
 * The vertices with a free degree of freedom are numbered along a Morton curve, and each rank owns a contiguous range
 * of these numbers. Every rank has the mesh, and assembles from the elements that have one of its own vertices. */
#ifndef SP_PARALLEL_PARTITION_H
#define SP_PARALLEL_PARTITION_H

#include "assembly/fe_space.h"

typedef struct sp_partition {
    sp_pool pool;
    int rank, ranks;
    int64_t total;        /* number of vertices with a free degree of freedom */
    int64_t first, count; /* the own ones are numbers first … first + count − 1 */
    int64_t *vertex;      /* [total] vertex of the mesh of each number */
    int64_t *number;      /* [vertices] its inverse; −1 for vertices without a free degree of freedom */
    uint8_t *axes;        /* [vertices] fixed components: bit 0 x, bit 1 y, bit 2 z */
    int64_t dof_count;    /* free degrees of freedom of all ranks */
} sp_partition;

/* Numbers the vertices. SP_INPUT if no degree of freedom is free, SP_USAGE if there are more ranks than vertices. */
int sp_partition_new(sp_context *context, const sp_mesh *mesh, int rank, int ranks,
                     sp_partition *partition) SP_MUST_USE;
void sp_partition_free(sp_partition *partition);

/* The elements that have an own vertex as a mesh of their own, without surface and sets. origin as for sp_mesh_keep. */
int sp_partition_part(sp_context *context, const sp_mesh *mesh, const sp_partition *partition, sp_pool *pool,
                      sp_mesh *part, int64_t **origin) SP_MUST_USE;

/* Rows of blocks of 3 × 3 numbers, one row of blocks for each own vertex. A component that is fixed has the identity
 * times a number of the size of its neighbours in K, and 0 in M. */
typedef struct sp_block_rows {
    sp_pool pool;
    int64_t total, first, count; /* as in sp_partition */
    int64_t *start;              /* [count + 1] */
    int32_t *column;             /* [start[count]] numbers of vertices, in no order */
    double *stiffness;           /* [start[count], 3, 3 row major] N/m */
    double *mass;                /* [start[count], 3] kg, the diagonal of each block of M; the rest of a block is 0 */
    double trace[2];             /* of the own rows of K and M over free components */
    double *rigid;       /* [3·count, 6, column major] the rigid motions about the centre, 0 at fixed components: what
                            K barely resists, for multigrid */
    int64_t free_count;  /* combinations of them that no fixed vertex resists */
    double *free_motion; /* [3·count, free_count, column major] */
} sp_block_rows;

/* Assembles the rows of the own vertices of `part`. SP_INPUT if separate pieces of the mesh can move on their own. */
int sp_block_rows_new(sp_context *context, const sp_mesh *mesh, const sp_partition *partition, sp_fe_space *part,
                      const int64_t *origin, bool lumped, sp_block_rows *rows) SP_MUST_USE;
/* K becomes K − shift · M. */
void sp_block_rows_shift(sp_block_rows *rows, double shift);
void sp_block_rows_free(sp_block_rows *rows);

/* The values of a field of the part [3·vertices of the part] at the own vertices [3·count], 0 at fixed components. */
void sp_partition_own(const sp_partition *partition, const sp_mesh *part, const int64_t *origin, const double *field,
                      double *own);

#endif
