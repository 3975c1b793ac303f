/* Exchange of the values at vertices of other ranks that the rows of this rank name. A part of the module over MPI. */
#ifndef SP_PARALLEL_HALO_H
#define SP_PARALLEL_HALO_H

#include "base/context.h"
#include "base/lanes.h"
#include "base/memory.h"

/* Blocks are numbered contiguously over the ranks. A vector of a rank has its own blocks and behind them the ghosts,
 * blocks of other ranks, in the order of their numbers. */
typedef struct sp_halo {
    int64_t first, own, ghosts;
    int ranks;
    int64_t *ghost;     /* [ghosts] numbers, increasing */
    int *count, *start; /* [ranks] ghosts from each rank, and their place behind the own blocks */
    int *sent, *from;   /* [ranks] own blocks that each rank has as ghosts, and their place in `index` */
    int64_t sent_total;
    int32_t *index;   /* [sent_total] */
    sp_lanes *buffer; /* [sent_total, widest block] */
    void *request;    /* [2·ranks] of MPI */
} sp_halo;

/* range [ranks + 1]: the first block of each rank; ghosts need not be sorted and may be repeated. widest: rows of a
 * block. Every rank calls this. */
int sp_halo_new(sp_context *context, sp_pool *pool, const int64_t *range, int64_t count, const int64_t *named,
                int widest, sp_halo *halo) SP_MUST_USE;

/* Place of a block in the vectors: own or ghost. */
int64_t sp_halo_place(const sp_halo *halo, int64_t number);

/* Sets the ghosts of x [own + ghosts, width] from their owners. */
void sp_halo_exchange(const sp_halo *halo, int width, sp_lanes *x);

/* Adds the ghosts to the values of their owners, in the order of the ranks. */
void sp_halo_add(const sp_halo *halo, int width, sp_lanes *x);

#endif
