/* Disjoint sets (union-find): a forest over entries 0, 1, …, each with its parent; a root is its own parent,
 * and the lowest entry of its set. Begin with parent[i] = i. */
#ifndef SP_BASE_FOREST_H
#define SP_BASE_FOREST_H

#include <stdint.h>

/* The root of an entry in a forest, in which the parent of a root is itself; halves the path for later searches. */
static inline int64_t sp_forest_root(int64_t *parent, int64_t entry)
{
    while (parent[entry] != entry) {
        parent[entry] = parent[parent[entry]];
        entry = parent[entry];
    }
    return entry;
}

/* Joins two trees; the lower root becomes the root. */
static inline void sp_forest_join(int64_t *parent, int64_t one, int64_t other)
{
    one = sp_forest_root(parent, one);
    other = sp_forest_root(parent, other);
    parent[one < other ? other : one] = one < other ? one : other;
}

#endif
