#include "contact/broad.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number of boxes in a leaf, which are compared one by one. */
enum { LEAF = 4 };

/* Boxes first … end − 1 in the order of the tree. The first child of a node follows it; second: index of the other, 0
 * for a leaf. */
typedef struct node {
    sp_box box;
    int32_t first, end, second;
    bool still; /* all boxes are at rest */
} node;

struct sp_broad {
    sp_pool pool;
    int64_t count;            /* largest number of boxes */
    int64_t bounded;          /* number of boxes in the tree now */
    int64_t unbounded;        /* number of boxes outside the tree */
    int32_t *order;           /* [count] the bounded boxes, initialized with the order of the previous run */
    int32_t *unbounded_boxes; /* [count] the unbounded boxes */
    sp_box *box;              /* [count] in the order of the tree */
    bool *still;              /* [count] in the order of the tree */
    double *centre;           /* [count, 3] by number */
    uint8_t *kind;            /* [count] by number */
    int32_t nodes;
    node *node;         /* [count + 1] */
    int64_t *place;     /* [count] */
    const sp_box *from; /* the boxes of this run */
    sp_list *found;
};

enum { EMPTY, BOUNDED, UNBOUNDED };

int sp_broad_new(sp_context *context, int64_t count, sp_broad **result)
{
    sp_broad *broad = calloc(1, sizeof *broad);
    *result = NULL;
    SP_PASS(sp_allocated(context, broad));

    broad->count = count;
    broad->order = sp_pool_raw(&broad->pool, count, sizeof *broad->order);
    broad->unbounded_boxes = sp_pool_raw(&broad->pool, count, sizeof *broad->unbounded_boxes);
    broad->box = sp_pool_raw(&broad->pool, count, sizeof *broad->box);
    broad->still = sp_pool_raw(&broad->pool, count, sizeof *broad->still);
    broad->centre = sp_pool_raw(&broad->pool, 3 * count, sizeof *broad->centre);
    broad->kind = sp_pool_new(&broad->pool, count, sizeof *broad->kind);
    broad->node = sp_pool_raw(&broad->pool, count + 1, sizeof *broad->node);
    broad->place = sp_pool_raw(&broad->pool, count, sizeof *broad->place);

    if (broad->pool.failed) {
        sp_broad_free(broad);
        return sp_fail_memory(context);
    }

    *result = broad;
    return SP_OK;
}

void sp_broad_free(sp_broad *broad)
{
    if (!broad)
        return;
    sp_pool_free(&broad->pool);
    free(broad);
}

/* ---- the tree ---- */

static uint8_t kind_of(const sp_box *box)
{
    bool infinite = false;
    for (int k = 0; k < 3; k++) {
        if (!(box->low[k] <= box->high[k]))
            return EMPTY;
        infinite |= isinf(box->low[k]) || isinf(box->high[k]);
    }
    return infinite ? UNBOUNDED : BOUNDED;
}

/* Keeps the order of boxes that stay in the tree, which is nearly sorted. */
static void update_order(sp_broad *broad, const sp_box *box)
{
    int64_t kept = 0;
    broad->unbounded = 0;

    for (int64_t i = 0; i < broad->bounded; i++)
        if (kind_of(&box[broad->order[i]]) == BOUNDED)
            broad->order[kept++] = broad->order[i];

    for (int64_t i = 0; i < broad->count; i++) {
        const uint8_t before = broad->kind[i], kind = broad->kind[i] = kind_of(&box[i]);
        if (kind == BOUNDED && before != BOUNDED)
            broad->order[kept++] = (int32_t)i;
        else if (kind == UNBOUNDED)
            broad->unbounded_boxes[broad->unbounded++] = (int32_t)i;
        for (int k = 0; k < 3 && kind == BOUNDED; k++)
            broad->centre[3 * i + k] = 0.5 * box[i].low[k] + 0.5 * box[i].high[k];
    }

    broad->bounded = kept;
    broad->from = box;
}

static bool before(const double *centre, int axis, int32_t i, int32_t j)
{
    const double a = centre[3 * (int64_t)i + axis], b = centre[3 * (int64_t)j + axis];
    return a < b || (a == b && i < j);
}

static void swap(int32_t *a, int32_t *b)
{
    const int32_t c = *a;
    *a = *b;
    *b = c;
}

/* Moves the lower half of order[first … end − 1] to the front: Hoare's selection with the median of three. */
static void halve(const double *centre, int axis, int32_t *order, int64_t first, int64_t end, int64_t middle)
{
    int64_t last = end - 1;

    while (first < last) {
        const int64_t m = first + (last - first) / 2;
        /* The median of the first, the middle and the last box is the pivot, and the other two stop the searches
         * below. */
        if (before(centre, axis, order[m], order[first]))
            swap(&order[m], &order[first]);
        if (before(centre, axis, order[last], order[first]))
            swap(&order[last], &order[first]);
        if (before(centre, axis, order[last], order[m]))
            swap(&order[last], &order[m]);

        const int32_t pivot = order[m];
        int64_t i = first, j = last;
        while (i <= j) {
            while (before(centre, axis, order[i], pivot))
                i++;
            while (before(centre, axis, pivot, order[j]))
                j--;
            if (i <= j)
                swap(&order[i++], &order[j--]);
        }

        /* Only the part with the position `middle` is divided further. */
        if (middle <= j)
            last = j;
        else if (middle >= i)
            first = i;
        else
            return;
    }
}

static int widest_axis(const sp_broad *broad, int64_t first, int64_t end)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int axis = 0;
    for (int64_t i = first; i < end; i++)
        for (int k = 0; k < 3; k++) {
            const double x = broad->centre[3 * (int64_t)broad->order[i] + k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }

    /* Halves, since the difference of two large numbers might overflow */
    for (int k = 1; k < 3; k++)
        if (0.5 * high[k] - 0.5 * low[k] > 0.5 * high[axis] - 0.5 * low[axis])
            axis = k;
    return axis;
}

static void enclose(sp_box *all, const sp_box *box)
{
    for (int k = 0; k < 3; k++) {
        all->low[k] = box->low[k] < all->low[k] ? box->low[k] : all->low[k];
        all->high[k] = box->high[k] > all->high[k] ? box->high[k] : all->high[k];
    }
}

/* Builds a subtree; returns the number of its node. */
static int32_t build(sp_broad *broad, const bool *still, int64_t first, int64_t end)
{
    const int32_t number = broad->nodes++;
    node *n = &broad->node[number];
    *n = (node){.first = (int32_t)first, .end = (int32_t)end, .still = true};

    if (end - first > LEAF) {
        const int64_t middle = first + (end - first) / 2;
        halve(broad->centre, widest_axis(broad, first, end), broad->order, first, end, middle);
        build(broad, still, first, middle);
        n->second = build(broad, still, middle, end);

        const node *a = n + 1, *b = &broad->node[n->second];
        n->box = a->box;
        enclose(&n->box, &b->box);
        n->still = a->still && b->still;
        return number;
    }

    /* A leaf holds its boxes in the order of the tree. */
    n->box = broad->from[broad->order[first]];
    for (int64_t i = first; i < end; i++) {
        const int32_t body = broad->order[i];
        broad->box[i] = broad->from[body];
        broad->still[i] = still && still[body];
        enclose(&n->box, &broad->box[i]);
        n->still &= broad->still[i];
    }
    return number;
}

/* ---- the search ---- */

static bool record_pair(sp_broad *broad, int32_t i, int32_t j)
{
    int32_t *pair = sp_list_add(broad->found, 1, 2 * sizeof *pair);
    if (!pair)
        return false;
    pair[0] = i < j ? i : j;
    pair[1] = i < j ? j : i;
    return true;
}

/* Tests the box at i against those at first … end − 1. */
static bool meet_box(sp_broad *broad, int64_t i, int64_t first, int64_t end)
{
    bool well = true;
    for (int64_t j = first; j < end; j++)
        if (sp_boxes_overlap(&broad->box[i], &broad->box[j]) && !(broad->still[i] && broad->still[j]))
            well = well && record_pair(broad, broad->order[i], broad->order[j]);
    return well;
}

static bool meet(sp_broad *broad, const node *a, const node *b)
{
    if ((a->still && b->still) || !sp_boxes_overlap(&a->box, &b->box))
        return true;

    if (!a->second && !b->second) {
        bool well = true;
        for (int64_t i = a->first; i < a->end && well; i++)
            if (sp_boxes_overlap(&broad->box[i], &b->box))
                well = meet_box(broad, i, b->first, b->end);
        return well;
    }

    /* The inner node with more boxes is opened. */
    if (!a->second || (b->second && b->end - b->first > a->end - a->first)) {
        const node *other = a;
        a = b;
        b = other;
    }
    return meet(broad, a + 1, b) && meet(broad, &broad->node[a->second], b);
}

static bool meet_itself(sp_broad *broad, const node *n)
{
    bool well = true;
    if (n->still)
        return true;
    if (n->second)
        return meet_itself(broad, n + 1) && meet_itself(broad, &broad->node[n->second]) &&
               meet(broad, n + 1, &broad->node[n->second]);
    for (int64_t i = n->first; i < n->end && well; i++)
        well = meet_box(broad, i, i + 1, n->end);
    return well;
}

static bool meet_unbounded(sp_broad *broad, const bool *still)
{
    const sp_box *box = broad->from;
    for (int64_t w = 0; w < broad->unbounded; w++) {
        const int32_t i = broad->unbounded_boxes[w];
        for (int32_t j = 0; j < broad->count; j++) {
            const bool once = broad->kind[j] != UNBOUNDED || j > i;
            if (once && sp_boxes_overlap(&box[i], &box[j]) && broad->kind[j] != EMPTY &&
                !(still && still[i] && still[j]) && !record_pair(broad, i, j))
                return false;
        }
    }
    return true;
}

void sp_sort_pairs(int which, int64_t count, int64_t entries, const int32_t *from, int32_t *to, int64_t *place)
{
    /* Sorting by counting keeps the order of equal entries, so that callers sort by the second entry before the
     * first. */
    memset(place, 0, (size_t)entries * sizeof *place);
    for (int64_t i = 0; i < count; i++)
        place[from[2 * i + which]]++;

    for (int64_t i = 0, sum = 0; i < entries; i++) {
        const int64_t here = place[i];
        place[i] = sum;
        sum += here;
    }

    for (int64_t i = 0; i < count; i++)
        memcpy(to + 2 * place[from[2 * i + which]]++, from + 2 * i, 2 * sizeof *to);
}

int sp_broad_find(sp_context *context, sp_broad *broad, const sp_box *box, const bool *still, sp_list *pairs)
{
    pairs->count = 0;
    broad->found = pairs;
    broad->nodes = 0;

    update_order(broad, box);
    if (broad->bounded)
        build(broad, still, 0, broad->bounded);
    if ((broad->bounded && !meet_itself(broad, broad->node)) || !meet_unbounded(broad, still))
        return sp_fail_memory(context);

    const int64_t found = pairs->count;
    if (!sp_list_add(pairs, found, 2 * sizeof(int32_t))) /* scratch for sorting */
        return sp_fail_memory(context);
    pairs->count = found;

    /* Sorted by both bodies, pairs come in the same order whatever the tree. */
    int32_t *list = pairs->data, *other = list + 2 * found;
    sp_sort_pairs(1, found, broad->count, list, other, broad->place);
    sp_sort_pairs(0, found, broad->count, other, list, broad->place);
    return SP_OK;
}
