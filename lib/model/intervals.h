/* Which of many intervals of time hold a time that mostly moves little. */
#ifndef SP_MODEL_INTERVALS_H
#define SP_MODEL_INTERVALS_H

#include "base/memory.h"

typedef struct sp_intervals {
    int64_t count;
    const double *start, *end;  /* [count] */
    int64_t *by_start, *by_end; /* [count] numbers of the intervals in the order of these */
    int64_t started, ended;     /* so many of by_start and of by_end lie behind the last question */
    int64_t *acting;            /* [count] the answer */
    int64_t acting_count;
} sp_intervals;

/* Copies of start and end [count], start < end; memory from the pool, whose `failed` tells where there is none. */
void sp_intervals_new(sp_pool *pool, int64_t count, const double *start, const double *end, sp_intervals *intervals);

/* acting [acting_count]: the numbers, ascending, of the intervals with start ≤ t1 and end > t0, for t0 ≤ t1. Times may
 * come in any order; only intervals that begin or end between the last question and this one are visited, or all of
 * them where those are many. */
void sp_intervals_ask(sp_intervals *intervals, double t0, double t1);

#endif
