/* The broad phase: which of many bodies are near each other, by boxes about them.
 *
 * Bodies are sorted into a tree by halving them at the median along the axis in which their centres are spread most,
 * and the tree is searched against itself: n log n operations and those for the pairs found, whatever the sizes of the
 * boxes and wherever they are. What is unbounded is compared with every other box.
 *
 * Only pairs that this finds have a state in a world (contact/scene.h): it begins in the step in which their bounds
 * (contact/bound.h) overlap and is released in the first one in which they do not. Apart, no point of the one can be in
 * contact with the other, so that nothing depends on what is given up: coherence begins anew, and friction's anchors
 * last as long as a contact does, which is no longer. */
#ifndef SP_CONTACT_BROAD_H
#define SP_CONTACT_BROAD_H

#include "base/context.h"
#include "base/memory.h"

/* Closed; low > high or NaN on some axis: empty, it overlaps nothing. Infinite where the body is unbounded. */
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

/* For up to `count` boxes < 2³¹. */
int sp_broad_new(sp_context *context, int64_t count, sp_broad **broad) SP_MUST_USE;
void sp_broad_free(sp_broad *broad); /* NULL is allowed */

/* Pairs i < j of the boxes [count] that overlap, ascending, into `pairs` of int32_t pairs, which are the caller's.
 * still [count] (NULL: none is): two of these are no pair. Allocates only where there are more pairs than ever before.
 * SP_SYSTEM: no memory. */
int sp_broad_find(sp_context *context, sp_broad *broad, const sp_box *box, const bool *still,
                  sp_list *pairs) SP_MUST_USE;

/* Pairs from -> to [count] in the order of their entry `which`, each below `entries`, those that are equal as they
 * were; place [entries] is room. */
void sp_sort_pairs(int which, int64_t count, int64_t entries, const int32_t *from, int32_t *to, int64_t *place);

#endif
