#include "basis/inertia_derivatives.h"

#include "basis/derivatives.h"

#include <stdlib.h>

/* ---- selection ---- */

typedef struct candidate {
    double weight;
    /* i is a mode; c for order 1 too, else the index in the list of all of the derivative that this one is made from */
    int64_t order, i, c;
    int64_t place, number;
} candidate;

static int heavier(const void *left, const void *right)
{
    const candidate *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    if (a->c != b->c)
        return a->c < b->c ? -1 : 1;
    return (a->i > b->i) - (a->i < b->i);
}

static int by_place(const void *left, const void *right)
{
    const candidate *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

static int by_pair(const void *left, const void *right)
{
    const candidate *a = left, *b = right;
    if (a->i != b->i)
        return a->i < b->i ? -1 : 1;
    return (a->c > b->c) - (a->c < b->c);
}

static int add(sp_context *context, sp_list *list, candidate one)
{
    candidate *to = sp_list_add(list, 1, sizeof *to);

    SP_PASS(sp_allocated(context, to));
    *to = one;
    return SP_OK;
}

/* Appends the `most` candidates of largest weight of one order to the list of all. Weights do not increase with the
 * order, so that nothing made from the others could be selected in the end. */
static int select_heaviest(sp_context *context, sp_list *level, int64_t most, sp_list *all)
{
    int status = SP_OK;

    /* The heaviest first, to cut the list, then by pair, as the result is sorted. */
    qsort(level->data, (size_t)level->count, sizeof(candidate), heavier);
    level->count = level->count < most ? level->count : most;
    qsort(level->data, (size_t)level->count, sizeof(candidate), by_pair);

    for (int64_t k = 0; k < level->count && status == SP_OK; k++) {
        candidate one = ((candidate *)level->data)[k];
        one.place = all->count;
        status = add(context, all, one);
    }

    level->count = 0;
    return status;
}

int sp_inertia_derivatives_choose(sp_context *context, int64_t mode_count, const double *weight, int order,
                                  int64_t most, sp_list *pair, sp_list *derivative_order)
{
    sp_list all = {0}, level = {0};
    int64_t first = 0;
    int status = SP_OK;

    if (order < 1 || most < 1)
        return sp_fail(context, SP_USAGE, "derivatives of order %d, %lld of them", order, (long long)most);

    /* Order 1: the pairs i ≤ j of modes, since the modal derivative is symmetric. */
    for (int64_t i = 0; i < mode_count; i++)
        for (int64_t j = i; j < mode_count; j++)
            SP_TRY(add(context, &level, (candidate){.weight = weight[i] * weight[j], .order = 1, .i = i, .c = j}));
    SP_TRY(select_heaviest(context, &level, most, &all));

    /* Order k: each mode with each derivative of order k − 1 that was selected. */
    for (int64_t k = 2; k <= order; k++) {
        int64_t end = all.count;
        for (int64_t c = first; c < end; c++)
            for (int64_t i = 0; i < mode_count; i++)
                SP_TRY(add(
                    context, &level,
                    (candidate){.weight = weight[i] * ((candidate *)all.data)[c].weight, .order = k, .i = i, .c = c}));
        first = end;
        SP_TRY(select_heaviest(context, &level, most, &all));
    }

    /* Select among all orders together. The factors of a selected derivative have a larger weight, or the same weight
     * and a lower order, so that they are selected too and precede it. */
    candidate *list = all.data;
    int64_t count = all.count < most ? all.count : most;

    qsort(list, (size_t)all.count, sizeof *list, heavier);
    for (int64_t k = 0; k < all.count; k++)
        list[k].number = k < count;
    qsort(list, (size_t)all.count, sizeof *list, by_place);

    int64_t *pairs = sp_list_add(pair, 2 * count, sizeof *pairs),
            *orders = sp_list_add(derivative_order, count, sizeof *orders);
    SP_TRY(sp_allocated(context, pairs && orders));

    /* The factors come before, so that their numbers are known. */
    for (int64_t k = 0, number = 0; k < all.count; k++) {
        if (!list[k].number)
            continue;
        pairs[2 * number] = list[k].i;
        pairs[2 * number + 1] = list[k].order == 1 ? list[k].c : mode_count + list[list[k].c].number;
        orders[number] = list[k].order;
        list[k].number = number++;
    }
done:
    sp_list_free(&all);
    sp_list_free(&level);
    return status;
}

/* ---- computation ---- */

int sp_inertia_derivatives(sp_context *context, const sp_fe_space *space, const sp_sparse *K,
                           sp_flexibility *flexibility, int64_t mode_count, int64_t pair_count, const int64_t *pair,
                           double *all, sp_inertia_derivatives_report *report)
{
    const int64_t rows = 3 * space->mesh->vertex_count;
    sp_pool scratch = {0};
    double *work = sp_pool_raw(&scratch, sp_derivatives_work(space, SP_DERIVATIVES_WIDTH), sizeof *work);
    int status = sp_allocated(context, !scratch.failed);
    *report = (sp_inertia_derivatives_report){0};
    sp_derivatives_report block = {0};

    for (int64_t first = 0, count; first < pair_count && status == SP_OK; first += count) {
        /* A block has only derivatives that are made from columns before the block. */
        for (count = 0; count < SP_DERIVATIVES_WIDTH && first + count < pair_count &&
                        pair[2 * (first + count) + 1] < mode_count + first;
             count++) {
        }

        if (count == 0) {
            status = sp_fail(context, SP_USAGE, "derivative %lld is made of one that does not come before it",
                             (long long)first + 1);
            break;
        }

        status = sp_solve_derivatives(context, space, K, flexibility, mode_count + first, all, count, pair + 2 * first,
                                      all + (mode_count + first) * rows, work, &block);
        report->residual = block.residual;
        if (status == SP_OK)
            status = sp_progress(context, (double)(first + count) / (double)pair_count);
    }
    sp_pool_free(&scratch);
    return status;
}
