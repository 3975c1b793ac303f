/* Comparison functions for qsort and bsearch. */
#ifndef SP_BASE_COMPARE_H
#define SP_BASE_COMPARE_H

#include <stdint.h>

/* int64_t, increasing. */
static inline int sp_compare_integers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Points, double [3], in the order of x, then y, then z. */
static inline int sp_compare3(const void *a, const void *b)
{
    const double *x = a, *y = b;
    for (int k = 0; k < 3; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return 0;
}

#endif
