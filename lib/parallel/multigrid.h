/* A cycle of algebraic multigrid on eight vectors at a time. PETSc's GAMG makes the hierarchy, smoothed aggregation
 * with the rigid motions (Vaněk, Mandel and Brezina, Computing 56, 1996); its cycle has one vector, and reads the
 * matrices eight times for eight of them. A part of the module over MPI. */
#ifndef SP_PARALLEL_MULTIGRID_H
#define SP_PARALLEL_MULTIGRID_H

#include "parallel/halo.h"
#include "parallel/partition.h"

#include <petscmat.h>

typedef struct sp_multigrid sp_multigrid;

/* *A is K − σM for PETSc, with its near-null space, and is destroyed as soon as it is not needed. Of the rows only the
 * mass is used, and may be dropped afterwards. */
int sp_multigrid_new(sp_context *context, const sp_block_rows *rows, Mat *A, sp_multigrid **multigrid) SP_MUST_USE;
void sp_multigrid_free(sp_multigrid *multigrid); /* NULL is allowed */

/* y = A x, M x, or one cycle on the load x, for `count` columns [own rows]; y must not be x. The cycle is a symmetric
 * positive definite operator. */
enum sp_multigrid_operation { SP_TIMES_A, SP_TIMES_M, SP_CYCLE };
void sp_multigrid_apply(sp_multigrid *multigrid, enum sp_multigrid_operation operation, int64_t count, const double *x,
                        double *y);

int sp_multigrid_levels(const sp_multigrid *multigrid);

#endif
