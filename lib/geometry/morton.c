#include "geometry/morton.h"

/* Puts two zero bits between the 21 low bits. */
static uint64_t interleave(uint64_t x)
{
    /* Every line halves the groups of bits that stay together: 16, 8, 4, 2, 1. */
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

sp_morton *sp_morton_order(sp_pool *pool, int64_t count, const double *points)
{
    sp_morton *order = sp_pool_raw(pool, count, sizeof *order);
    sp_morton *other = sp_pool_raw(pool, count, sizeof *other);

    if (pool->failed)
        return NULL;

    /* One scale for all axes keeps the cells of the curve cubes, so that near codes mean near points. */
    double low[3] = {0}, side = 0;
    if (count > 0)
        for (int k = 0; k < 3; k++) {
            double high = low[k] = points[k];
            for (int64_t i = 1; i < count; i++) {
                double x = points[3 * i + k];
                low[k] = x < low[k] ? x : low[k];
                high = x > high ? x : high;
            }
            side = high - low[k] > side ? high - low[k] : side;
        }

    /* 2^21 − 1, the largest number of 21 bits. */
    const double scale = side > 0 ? 2097151.0 / side : 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t code = 0;
        for (int k = 0; k < 3; k++)
            code |= interleave((uint64_t)((points[3 * i + k] - low[k]) * scale)) << k;
        order[i] = (sp_morton){code, i};
    }
    /* Radix sort by bytes. It is stable, so that equal codes stay in the order of their index. */
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t start[257] = {0};
        for (int64_t i = 0; i < count; i++)
            start[(order[i].code >> shift & 255) + 1]++;
        for (int b = 0; b < 256; b++)
            start[b + 1] += start[b];
        for (int64_t i = 0; i < count; i++)
            other[start[order[i].code >> shift & 255]++] = order[i];
        sp_morton *swap = order;
        order = other;
        other = swap;
    }

    sp_pool_drop(pool, other);
    return order;
}

int64_t sp_morton_cut(const sp_morton *order, int64_t begin, int64_t end)
{
    const uint64_t differing = order[begin].code ^ order[end - 1].code;
    if (differing == 0)
        return begin + (end - begin) / 2;

    /* The codes agree above this bit and are sorted, so that those with the bit follow those without it. */
    const uint64_t bit = (uint64_t)1 << (63 - __builtin_clzll(differing));
    int64_t low = begin, high = end - 1; /* order[low] lacks the bit, order[high] has it */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (order[middle].code & bit)
            high = middle;
        else
            low = middle;
    }
    return high;
}
