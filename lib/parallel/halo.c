#include "parallel/halo.h"

#include "base/compare.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLES = SP_LANES };

/* The named blocks of other ranks once each, increasing. */
static int64_t distinct(const int64_t *range, int rank, int64_t count, const int64_t *named, int64_t *ghost)
{
    int64_t kept = 0, last = 0;
    for (int64_t i = 0; i < count; i++)
        if (named[i] < range[rank] || named[i] >= range[rank + 1])
            ghost[kept++] = named[i];

    qsort(ghost, (size_t)kept, sizeof *ghost, sp_compare_integers);
    for (int64_t i = 0; i < kept; i++)
        if (i == 0 || ghost[i] != ghost[last - 1])
            ghost[last++] = ghost[i];
    return last;
}

/* Tells every rank which of its blocks are ghosts here. */
static int exchange_names(sp_context *context, sp_pool *pool, const int64_t *range, sp_halo *h)
{
    h->count = sp_pool_new(pool, h->ranks, sizeof *h->count);
    h->start = sp_pool_new(pool, h->ranks, sizeof *h->start);
    h->sent = sp_pool_new(pool, h->ranks, sizeof *h->sent);
    h->from = sp_pool_new(pool, h->ranks, sizeof *h->from);
    SP_PASS(sp_allocated(context, !pool->failed));

    /* Ghosts are sorted, so that those of one rank follow each other. */
    for (int64_t i = 0, r = 0; i < h->ghosts; i++) {
        while (h->ghost[i] >= range[r + 1])
            r++;
        h->count[r]++;
    }

    /* How many blocks each rank wants of the others; after that, which */
    MPI_Alltoall(h->count, 1, MPI_INT, h->sent, 1, MPI_INT, MPI_COMM_WORLD);

    for (int r = 0; r < h->ranks; r++) {
        h->start[r] = r ? h->start[r - 1] + h->count[r - 1] : 0;
        h->from[r] = (int)h->sent_total;
        h->sent_total += h->sent[r];
    }

    int64_t *wanted = sp_pool_raw(pool, h->sent_total, sizeof *wanted);
    h->index = sp_pool_raw(pool, h->sent_total, sizeof *h->index);
    SP_PASS(sp_allocated(context, !pool->failed));
    MPI_Alltoallv(h->ghost, h->count, h->start, MPI_INT64_T, wanted, h->sent, h->from, MPI_INT64_T, MPI_COMM_WORLD);

    /* Numbers of blocks become places among the own ones. */
    for (int64_t i = 0; i < h->sent_total; i++)
        h->index[i] = (int32_t)(wanted[i] - h->first);
    sp_pool_drop(pool, wanted);
    return SP_OK;
}

int sp_halo_new(sp_context *context, sp_pool *pool, const int64_t *range, int64_t count, const int64_t *named,
                int widest, sp_halo *h)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    *h = (sp_halo){.first = range[rank], .own = range[rank + 1] - range[rank]};
    MPI_Comm_size(MPI_COMM_WORLD, &h->ranks);

    h->ghost = sp_pool_raw(pool, count, sizeof *h->ghost);
    SP_PASS(sp_allocated(context, h->ghost));
    h->ghosts = distinct(range, rank, count, named, h->ghost);

    int status = exchange_names(context, pool, range, h);
    if (status == SP_OK)
        h->buffer = sp_pool_raw(pool, h->sent_total * widest, sizeof *h->buffer);
    h->request = sp_pool_raw(pool, 2 * h->ranks, sizeof(MPI_Request));
    return pool->failed ? sp_fail_memory(context) : status;
}

int64_t sp_halo_place(const sp_halo *h, int64_t number)
{
    if (number >= h->first && number < h->first + h->own)
        return number - h->first;

    const int64_t *found = bsearch(&number, h->ghost, (size_t)h->ghosts, sizeof number, sp_compare_integers);
    return h->own + (found - h->ghost);
}

/* Between ghosts here and the buffer of their owners; `back`: from the ghosts to the buffers. */
static void transfer(const sp_halo *h, int width, bool back, sp_lanes *ghosts)
{
    MPI_Request *request = h->request;
    int count = 0;
    const int unit = width * DOUBLES;

    /* All messages are on their way before the first is waited for. */
    for (int r = 0; r < h->ranks; r++) {
        double *here = (double *)(ghosts + (int64_t)h->start[r] * width),
               *there = (double *)(h->buffer + (int64_t)h->from[r] * width);
        if (h->count[r] > 0)
            (back ? MPI_Isend(here, h->count[r] * unit, MPI_DOUBLE, r, 1, MPI_COMM_WORLD, &request[count++])
                  : MPI_Irecv(here, h->count[r] * unit, MPI_DOUBLE, r, 1, MPI_COMM_WORLD, &request[count++]));
        if (h->sent[r] > 0)
            (back ? MPI_Irecv(there, h->sent[r] * unit, MPI_DOUBLE, r, 1, MPI_COMM_WORLD, &request[count++])
                  : MPI_Isend(there, h->sent[r] * unit, MPI_DOUBLE, r, 1, MPI_COMM_WORLD, &request[count++]));
    }

    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
}

void sp_halo_exchange(const sp_halo *h, int width, sp_lanes *x)
{
    if (h->ranks == 1)
        return;

    for (int64_t i = 0; i < h->sent_total; i++)
        memcpy(h->buffer + i * width, x + (int64_t)h->index[i] * width, (size_t)width * sizeof *x);
    transfer(h, width, false, x + h->own * width);
}

void sp_halo_add(const sp_halo *h, int width, sp_lanes *x)
{
    if (h->ranks == 1)
        return;
    transfer(h, width, true, x + h->own * width);

    for (int64_t i = 0; i < h->sent_total; i++)
        for (int c = 0; c < width; c++)
            x[(int64_t)h->index[i] * width + c] += h->buffer[i * width + c];
}
