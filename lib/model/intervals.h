/* Finds which of many time intervals contain a query time that usually advances in small steps. */
#ifndef SP_MODEL_INTERVALS_H
#define SP_MODEL_INTERVALS_H

#include "base/memory.h"

typedef struct sp_intervals {
    int64_t count;
    const double *start, *end;  /* [count] */
    int64_t *by_start, *by_end; /* [count] numbers of the intervals sorted by start and by end */
    int64_t started, ended;     /* numbers of entries of by_start and by_end that precede the last query */
    int64_t *acting;            /* [count] the result */
    int64_t acting_count;
} sp_intervals;

/* Copies start and end [count], start < end. Memory is from the pool, whose `failed` tells if it was out of memory. */
void sp_intervals_new(sp_pool *pool, int64_t count, const double *start, const double *end, sp_intervals *intervals);

/* Sets acting [acting_count] to the numbers, ascending, of the intervals with start ≤ t1 and end > t0, for t0 ≤ t1.
 * Times may come in any order; only intervals that begin or end between the last query and this one are visited, or all
 * of them if those are many. */
void sp_intervals_find(sp_intervals *intervals, double t0, double t1);

#endif
