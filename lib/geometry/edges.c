#include "geometry/edges.h"

/* One pass of a stable counting sort by a vertex of the edge. */
static void sort_by(int64_t count, const sp_edge_use *from, sp_edge_use *to, int64_t *start, int64_t vertex_count,
                    bool by_low)
{
    for (int64_t v = 0; v <= vertex_count; v++)
        start[v] = 0;

    /* start[v] becomes the place of the first edge of vertex v, then moves on behind each one that is written. */
    for (int64_t i = 0; i < count; i++)
        start[(by_low ? from[i].low : from[i].high) + 1]++;
    for (int64_t v = 0; v < vertex_count; v++)
        start[v + 1] += start[v];

    for (int64_t i = 0; i < count; i++)
        to[start[by_low ? from[i].low : from[i].high]++] = from[i];
}

sp_edge_use *sp_edge_uses(sp_pool *pool, int64_t vertex_count, int64_t triangle_count, const int64_t *triangles,
                          const uint8_t *live, int64_t *count)
{
    int64_t n = 0;
    for (int64_t t = 0; t < triangle_count; t++)
        n += !live || live[t] ? 3 : 0;

    sp_edge_use *uses = sp_pool_raw(pool, n, sizeof *uses);
    sp_edge_use *other = sp_pool_raw(pool, n, sizeof *other);
    int64_t *start = sp_pool_raw(pool, vertex_count + 1, sizeof *start);
    *count = n;
    if (pool->failed)
        return NULL;

    n = 0;
    for (int64_t t = 0; t < triangle_count; t++) {
        if (live && !live[t])
            continue;
        for (int k = 0; k < 3; k++) {
            int64_t a = triangles[3 * t + k], b = triangles[3 * t + (k + 1) % 3];
            uses[n++] = (sp_edge_use){a < b ? a : b, a < b ? b : a, 3 * t + k};
        }
    }

    /* Stable: sorting by high first and then by low leaves equal edges in the order of their corners. */
    sort_by(n, uses, other, start, vertex_count, false);
    sort_by(n, other, uses, start, vertex_count, true);

    sp_pool_drop(pool, other);
    sp_pool_drop(pool, start);
    return uses;
}

int64_t sp_edge_end(const sp_edge_use *uses, int64_t count, int64_t first)
{
    int64_t end = first + 1;
    while (end < count && uses[end].low == uses[first].low && uses[end].high == uses[first].high)
        end++;
    return end;
}
