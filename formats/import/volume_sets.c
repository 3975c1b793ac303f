#include "formats/import/volume_sets.h"

struct sp_volume_set *sp_volume_sets_find(const struct sp_volume_sets *sets, int level, sp_word name)
{
    struct sp_volume_set *set = sets->list.data;
    for (int64_t i = sets->chain[sp_word_hash(name) % SP_VOLUME_CHAINS]; i > 0; i = set[i - 1].next)
        if (set[i - 1].level == level && sp_word_same(set[i - 1].name, name))
            return &set[i - 1];
    return NULL;
}

int sp_volume_sets_need(struct sp_volume_reader *reader, struct sp_volume_sets *sets, int level, sp_word name,
                        int64_t *number)
{
    struct sp_volume_set *set = sp_volume_sets_find(sets, level, name);
    if (!set) {
        int64_t *first = &sets->chain[sp_word_hash(name) % SP_VOLUME_CHAINS];
        const struct sp_volume_set new = {.name = name, .level = level, .next = *first};
        const int status = sp_volume_push(reader, &sets->list, &new, sizeof new);
        *number = sets->list.count - 1;
        if (status == SP_OK)
            *first = sets->list.count;
        return status;
    }
    *number = set - (struct sp_volume_set *)sets->list.data;
    return SP_OK;
}

int sp_volume_sets_add(struct sp_volume_reader *reader, struct sp_volume_sets *sets, int64_t set,
                       struct sp_volume_member member)
{
    sp_list *list = &((struct sp_volume_set *)sets->list.data)[set].members;
    struct sp_volume_member *last = list->count ? (struct sp_volume_member *)list->data + list->count - 1 : NULL;
    /* Consecutive numbers that a card defines are combined to one range. */
    if (last && !member.listed && member.set < 0 && !last->listed && last->set < 0 && last->step == 1 &&
        member.step == 1 && last->last < INT64_MAX && member.first == last->last + 1) {
        last->last = member.last;
        return SP_OK;
    }
    return sp_volume_push(reader, list, &member, sizeof member);
}

int sp_volume_sets_index(struct sp_volume_reader *reader, struct sp_volume_sets *sets, const struct sp_volume_ids *ids,
                         int64_t count, const void *numbers, size_t stride)
{
    sets->ids = ids;
    sets->numbers = numbers;
    sets->stride = stride;
    sets->count = count;
    sets->stamp = sp_pool_new(&reader->pool, count, sizeof *sets->stamp);
    return sp_allocated(reader->context, sets->stamp);
}

int sp_volume_sets_add_index(struct sp_volume_reader *reader, struct sp_volume_sets *sets, int64_t index,
                             sp_list *indices)
{
    if (index < 0 || sets->stamp[index] == sets->visit)
        return SP_OK;
    sets->stamp[index] = sets->visit;
    return sp_volume_push(reader, indices, &index, sizeof index);
}

/* A range is visited by its numbers or by the records, whichever are fewer. */
static int visit_range(struct sp_volume_reader *reader, struct sp_volume_sets *sets,
                       const struct sp_volume_member *member, sp_list *indices)
{
    int64_t steps = (member->last - member->first) / member->step;
    int status = SP_OK;

    if (steps < sets->count) {
        for (int64_t i = 0; status == SP_OK && i <= steps; i++)
            status = sp_volume_sets_add_index(reader, sets,
                                              sp_volume_ids_find(sets->ids, member->first + i * member->step), indices);
        return status;
    }

    for (int64_t i = 0; status == SP_OK && i < sets->count; i++) {
        int64_t id = *(const int64_t *)(const void *)((const char *)sets->numbers + (size_t)i * sets->stride);
        if (id >= member->first && id <= member->last && (id - member->first) % member->step == 0)
            status = sp_volume_sets_add_index(reader, sets, i, indices);
    }
    return status;
}

/* Nested sets are visited with an explicit stack, each member of a set once, so that neither the depth nor the
 * repetitions of a file matter. */
int sp_volume_sets_resolve(struct sp_volume_reader *reader, struct sp_volume_sets *sets,
                           const struct sp_volume_set *wanted, sp_list *indices)
{
    sp_list work = {0};
    struct sp_volume_set *set = sets->list.data;
    int status = SP_OK;

    indices->count = 0;
    sets->visit++;
    struct sp_volume_member task = {.set = wanted - set, .upto = wanted->members.count};
    SP_TRY(sp_volume_push(reader, &work, &task, sizeof task));

    while (work.count > 0) {
        struct sp_volume_member next = ((struct sp_volume_member *)work.data)[--work.count];
        struct sp_volume_set *s = &set[next.set];
        int64_t from = s->visit == sets->visit ? s->done : 0;
        if (next.upto <= from)
            continue;

        /* Members that this visit has passed already are not repeated. */
        s->visit = sets->visit;
        s->done = next.upto;

        for (int64_t i = from; i < next.upto; i++) {
            const struct sp_volume_member *member = (struct sp_volume_member *)s->members.data + i;
            if (member->set >= 0) {
                SP_TRY(sp_volume_push(reader, &work, member, sizeof *member));
            } else if (member->listed && sp_volume_ids_find(sets->ids, member->first) < 0) {
                if (sets->unknown++ == 0)
                    sets->unknown_first = member->first;
            } else
                SP_TRY(visit_range(reader, sets, member, indices));
        }
    }
done:
    sp_list_free(&work);
    return status;
}

void sp_volume_sets_free(struct sp_volume_sets *sets)
{
    for (int64_t i = 0; i < sets->list.count; i++)
        sp_list_free(&((struct sp_volume_set *)sets->list.data)[i].members);
    sp_list_free(&sets->list);
}
