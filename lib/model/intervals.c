#include "model/intervals.h"

#include <stdlib.h>
#include <string.h>

typedef struct event {
    double time;
    int64_t number;
} event;

static int by_time(const void *a, const void *b)
{
    const event *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
                              : (x->number > y->number) - (x->number < y->number);
}

static void sort(int64_t count, const double *time, event *events, int64_t *order)
{
    for (int64_t i = 0; i < count; i++)
        events[i] = (event){time[i], i};

    qsort(events, (size_t)count, sizeof *events, by_time);
    for (int64_t i = 0; i < count; i++)
        order[i] = events[i].number;
}

void sp_intervals_new(sp_pool *pool, int64_t count, const double *start, const double *end, sp_intervals *intervals)
{
    event *events = sp_pool_raw(pool, count, sizeof *events);

    *intervals = (sp_intervals){.count = count,
                                .start = sp_pool_copy(pool, start, count, sizeof *start),
                                .end = sp_pool_copy(pool, end, count, sizeof *end)};
    intervals->by_start = sp_pool_raw(pool, count, sizeof(int64_t));
    intervals->by_end = sp_pool_raw(pool, count, sizeof(int64_t));
    intervals->acting = sp_pool_raw(pool, count, sizeof(int64_t));

    if (pool->failed)
        return;
    sort(count, start, events, intervals->by_start);
    sort(count, end, events, intervals->by_end);

    sp_pool_drop(pool, events);
}

/* Returns the number of the sorted times that are ≤ t, starting from the previous number. */
static int64_t pass(int64_t count, const int64_t *order, const double *time, int64_t at, double t)
{
    /* Time rarely goes back, and each step passes few times. */
    while (at < count && time[order[at]] <= t)
        at++;
    while (at > 0 && !(time[order[at - 1]] <= t))
        at--;
    return at;
}

/* Inserts a number or removes it. */
static void set(sp_intervals *x, int64_t number, bool in)
{
    int64_t low = 0, high = x->acting_count;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (x->acting[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }

    const bool there = low < x->acting_count && x->acting[low] == number;
    if (in == there)
        return;

    /* The numbers stay in ascending order, so that sums over them have a fixed order. */
    if (in) {
        memmove(x->acting + low + 1, x->acting + low, (size_t)(x->acting_count++ - low) * sizeof *x->acting);
        x->acting[low] = number;
    } else
        memmove(x->acting + low, x->acting + low + 1, (size_t)(--x->acting_count - low) * sizeof *x->acting);
}

static void set_passed(sp_intervals *x, const int64_t *order, int64_t a, int64_t b, double t0, double t1)
{
    for (int64_t i = a < b ? a : b; i < (a < b ? b : a); i++)
        set(x, order[i], x->start[order[i]] <= t1 && x->end[order[i]] > t0);
}

void sp_intervals_find(sp_intervals *x, double t0, double t1)
{
    enum { MANY = 8 }; /* if more than one interval in this many begins or ends, all are visited */
    const int64_t started = pass(x->count, x->by_start, x->start, x->started, t1),
                  ended = pass(x->count, x->by_end, x->end, x->ended, t0);

    /* Only intervals that begin or end between the previous time and this one can have changed. */
    if (llabs(started - x->started) + llabs(ended - x->ended) <= x->count / MANY) {
        set_passed(x, x->by_start, x->started, started, t0, t1);
        set_passed(x, x->by_end, x->ended, ended, t0, t1);
    } else {
        x->acting_count = 0;
        for (int64_t i = 0; i < x->count; i++)
            if (x->start[i] <= t1 && x->end[i] > t0)
                x->acting[x->acting_count++] = i;
    }

    x->started = started;
    x->ended = ended;
}
