/* The broad phase: finds the pairs of bodies whose bounding boxes overlap.
 *
 * The bodies are sorted into a tree by splitting at the median along the axis in which their centres are spread most,
 * and the tree is searched against itself. This takes O(n log n) operations plus those for the pairs found, whatever
 * the sizes and places of the boxes. Unbounded bodies are compared with every other box.
 *
 * Only the pairs found here have a state in a contact scene (scene/scene.h). The state is created in the step in
 * which the bounds (contact/bound.h) of the two bodies first overlap, and is released in the first step in which they
 * do not. While the bounds are apart no point of one body can be in contact with the other, so releasing the state
 * changes no result: temporal coherence starts anew, and a friction anchor never outlasts its contact. */
#ifndef SP_CONTACT_BROAD_H
#define SP_CONTACT_BROAD_H

#include "base/context.h"
#include "base/memory.h"

/* A closed box. It is empty, and overlaps nothing, if low > high or a bound is NaN on some axis; it is infinite for an
 * unbounded body. */
typedef struct sp_box {
    double low[3], high[3];
} sp_box;

static inline bool sp_boxes_overlap(const sp_box *a, const sp_box *b)
{
    bool overlap = true;
    for (int k = 0; k < 3; k++)
        overlap &= (a->low[k] <= b->high[k]) & (b->low[k] <= a->high[k]);
    return overlap;
}

typedef struct sp_broad sp_broad;

/* `count` is the largest number of boxes, < 2³¹. */
int sp_broad_new(sp_context *context, int64_t count, sp_broad **broad) SP_MUST_USE;
void sp_broad_free(sp_broad *broad); /* NULL is allowed */

/* Writes the overlapping pairs i < j of the boxes [count], in ascending order, into the caller's list `pairs` of pairs
 * of int32_t. still [count] marks bodies at rest, two of which form no pair (NULL: no body is at rest). Allocates only
 * when there are more pairs than ever before. SP_SYSTEM: out of memory. */
int sp_broad_find(sp_context *context, sp_broad *broad, const sp_box *box, const bool *still,
                  sp_list *pairs) SP_MUST_USE;

/* Stable counting sort of the pairs from -> to [count] by their entry `which` (0 or 1), whose values are below
 * `entries`. place [entries] is scratch. */
void sp_sort_pairs(int which, int64_t count, int64_t entries, const int32_t *from, int32_t *to, int64_t *place);

#endif
