#include "tools/reduce/family.h"

#include "api/saved.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 6, LEAST_TRAINED = 5 };

void reduce_family_read(sp_context *context, const tool_mesh *mesh, const tool_texts *files, reduce_family *family)
{
    family->count = files->count;
    family->path = files->value;
    family->load_count = tool_allocate(&family->pool, files->count, sizeof *family->load_count);
    family->loads = tool_allocate(&family->pool, files->count, sizeof *family->loads);

    for (int64_t f = 0; f < files->count; f++) {
        int64_t length;
        const char *text = tool_read_bytes(files->value[f], "loads", &family->pool, &length);
        tool_check(sp_loads_parse(context, text, length, &mesh->mesh, &family->pool, &family->load_count[f],
                                  &family->loads[f]),
                   files->value[f]);
        family->sum = sp_saved_sum(family->sum, text, length);
        if (!family->load_count[f])
            tool_fail(SP_INPUT, files->value[f], "it has no loads");
        for (int64_t i = 0; i < family->load_count[f]; i++)
            if (family->loads[f][i].start >= family->duration)
                tool_fail(SP_INPUT, files->value[f], "load %lld begins at %g s, and the motion ends at %g s",
                          (long long)i + 1, family->loads[f][i].start, family->duration);
    }
}

void reduce_family_free(reduce_family *family)
{
    sp_pool_free(&family->pool);
}

/* ---- members ---- */

static reduce_member new_member(reduce_family *family, double amplitude)
{
    return (reduce_member){.weight = tool_allocate(&family->pool, family->count, sizeof(double)),
                           .amplitude = amplitude,
                           .course = REDUCE_AS_GIVEN,
                           .longer = 1};
}

static int64_t pairs_of(const reduce_family *family)
{
    const int64_t pairs = family->count * (family->count - 1) / 2;
    return pairs < MOST_PAIRS ? pairs : MOST_PAIRS;
}

int64_t reduce_family_corners(const reduce_family *family)
{
    return family->count ? family->count + pairs_of(family) : 1;
}

int64_t reduce_family_trained(const reduce_family *family)
{
    const int64_t corners = reduce_family_corners(family);
    return !family->count ? 1 : corners > LEAST_TRAINED ? corners : LEAST_TRAINED;
}

/* Random numbers of a stream; those that judge and those that are trained have streams of their own. */
static reduce_member draw(reduce_family *family, uint64_t stream)
{
    enum { AMPLITUDE, COURSE, LATER, LONGER, WEIGHTS };
    double sum = 0, uniform[WEIGHTS];

    for (int i = 0; i < WEIGHTS; i++)
        uniform[i] = sp_random_uniform(family->seed, stream, (uint64_t)i);
    reduce_member member = new_member(family, family->low + (family->high - family->low) * uniform[AMPLITUDE]);
    member.course = (enum reduce_course)(uniform[COURSE] * REDUCE_COURSES);

    if (member.course != REDUCE_AS_GIVEN) {
        member.later = 0.2 * uniform[LATER];
        member.longer = pow(2, 2 * uniform[LONGER] - 1);
    }

    /* Exponential numbers over their sum are uniform on the simplex. */
    for (int64_t f = 0; f < family->count; f++)
        sum += member.weight[f] = -log(sp_random_uniform(family->seed, stream, (uint64_t)(WEIGHTS + f)));
    for (int64_t f = 0; f < family->count; f++)
        member.weight[f] /= sum;
    return member;
}

reduce_member reduce_family_draw(reduce_family *family, int64_t number)
{
    return draw(family, 2 * (uint64_t)number);
}

reduce_member reduce_family_train(reduce_family *family, int64_t number)
{
    const int64_t corners = reduce_family_corners(family);
    if (family->count && number >= corners) {
        reduce_member member = draw(family, 2 * (uint64_t)(number - corners) + 1);
        member.course = (enum reduce_course)(1 + (number - corners) % (REDUCE_COURSES - 1)); /* each kind of them */
        return member;
    }

    reduce_member member = new_member(family, family->high);
    int64_t pair = number - family->count;
    if (number < family->count)
        member.weight[number] = 1;
    for (int64_t a = 0; a < family->count; a++)
        for (int64_t b = a + 1; b < family->count; b++, pair--)
            if (pair == 0)
                member.weight[a] = member.weight[b] = 0.5;
    return member;
}

/* ---- text ---- */

/* Multiplies the load's effect. */
static void scale(sp_load *load, double factor)
{
    if (load->kind == SP_LOAD_SPRING) {
        load->stiffness *= factor;
        return;
    }
    for (int i = 0; i < 3; i++)
        load->force[i] *= load->kind == SP_LOAD_ROTATION ? sqrt(factor) : factor;
}

/* The course of a member for a load that begins, acts and ends. */
static void change_course(const reduce_family *family, const reduce_member *member, sp_load *load)
{
    const bool ends = load->end < family->duration;
    if (load->course.kind != SP_COURSE_CONSTANT || load->kind == SP_LOAD_SPRING || !ends ||
        member->course == REDUCE_AS_GIVEN)
        return;

    const double length = member->longer * (load->end - load->start);
    load->start += member->later * (family->duration - load->start);
    load->end = load->start + length;
    if (member->course == REDUCE_RAMP)
        load->course.kind = SP_COURSE_RAMP;
    if (member->course == REDUCE_HALF_SINE)
        load->course = (sp_course){.kind = SP_COURSE_SINE, .frequency = 0.5 / length};
}

/* The lines of a list of loads, which is freed. */
static const char *print_list(reduce_family *family, sp_list *list)
{
    char *text;
    size_t length;

    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        tool_out_of_memory();
    sp_loads_print(list->count, list->data, stream);
    if (fclose(stream))
        tool_out_of_memory();
    sp_list_free(list);

    const char *copy = tool_allocate_copy(&family->pool, text, (int64_t)length + 1, 1);
    free(text);
    return copy;
}

/* The loads of a member; ramps: in place of their course. */
static const char *print(reduce_family *family, const reduce_member *member, bool ramps)
{
    sp_list list = {0};

    for (int64_t f = 0; f < family->count; f++)
        for (int64_t i = 0; i < family->load_count[f] && member->weight[f] > 0; i++) {
            sp_load *load = tool_list_add(&list, 1, sizeof *load);
            *load = family->loads[f][i];
            scale(load, member->amplitude * member->weight[f]);
            if (ramps) {
                load->start = 0;
                load->end = 1;
                load->moving = false;
                if (load->kind != SP_LOAD_SPRING)
                    load->course = (sp_course){.kind = SP_COURSE_RAMP};
            } else
                change_course(family, member, load);
        }

    return print_list(family, &list);
}

const char *reduce_family_text(reduce_family *family, const reduce_member *member)
{
    return print(family, member, false);
}

const char *reduce_family_ramps(reduce_family *family, const reduce_member *member)
{
    return print(family, member, true);
}

const char *reduce_family_all(reduce_family *family)
{
    sp_list list = {0};

    for (int64_t f = 0; f < family->count; f++)
        for (int64_t i = 0; i < family->load_count[f]; i++) {
            const sp_load *load = &family->loads[f][i];
            const bool spring = load->kind == SP_LOAD_SPRING;
            for (int axis = 0; axis < (spring ? 3 : 1); axis++) {
                sp_load *to = tool_list_add(&list, 1, sizeof *to);
                *to = *load;
                to->start = 0;
                to->end = 1;
                to->course = (sp_course){.kind = SP_COURSE_CONSTANT};
                if (!spring)
                    continue;
                to->kind = SP_LOAD_VERTEX;
                to->moving = false;
                for (int k = 0; k < 3; k++)
                    to->force[k] = k == axis;
            }
        }
    return list.count ? print_list(family, &list) : "";
}
