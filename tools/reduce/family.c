#include "tools/reduce/family.h"

#include "api/saved.h"
#include "base/random.h"
#include "pointshell/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 6, LEAST_TRAINED = 5, MORE_TOUCHED = 2 };

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

void reduce_family_note(reduce_family *family, const char *path)
{
    int64_t length;
    const char *bytes = tool_read_bytes(path, "frame", &family->pool, &length);
    family->sum = sp_saved_sum(family->sum, bytes, length);
}

/* Returns true if a force on the place moves nothing: all vertices that carry it are fixed. */
static bool is_fixed(const sp_mesh *mesh, const tool_place *place)
{
    const int64_t *corner;
    const double *weight;
    const int corners = tool_place_corners(mesh, place, &corner, &weight);

    for (int c = 0; c < corners; c++) {
        int64_t at = 0;
        while (at < mesh->fixed_count && mesh->fixed[at] < corner[c])
            at++;
        if (weight[c] != 0 && !(at < mesh->fixed_count && mesh->fixed[at] == corner[c] && mesh->fixed_axes[at] == 7))
            return false;
    }
    return true;
}

void reduce_family_touch(const tool_place_names *names, const char *text, double force, reduce_family *family)
{
    const sp_mesh *mesh = names->mesh;
    sp_list list = {0};

    /* Where a force moves the body */
    tool_places_parse(names, text, &list);
    tool_place *places = list.data;
    for (int64_t i = 0; i < list.count; i++)
        if (!is_fixed(mesh, &places[i]))
            places[family->place_count++] = places[i];
    if (!family->place_count)
        tool_fail(SP_USAGE, NULL, "--touch: all these vertices are fixed");
    if (family->place_count < list.count)
        tool_say("%lld of the vertices of --touch are fixed, and are left out",
                 (long long)(list.count - family->place_count));
    family->places = tool_allocate_copy(&family->pool, places, family->place_count, sizeof *places);
    sp_list_free(&list);
    family->force = force;
    family->sum = sp_saved_sum(family->sum, text, (int64_t)strlen(text));
    family->sum = sp_saved_sum(family->sum, (const char *)&force, sizeof force);

    /* Some of these that are far from each other */
    double *points = tool_allocate(&family->pool, 3 * family->place_count, sizeof *points);
    for (int64_t i = 0; i < family->place_count; i++) {
        const tool_place *place = &family->places[i];
        const double *vertices = place->surface ? mesh->surface.vertices : mesh->vertices;
        memcpy(points + 3 * i, vertices + 3 * place->vertex, 3 * sizeof *points);
    }
    family->spread_count = family->place_count < REDUCE_SPREAD ? family->place_count : REDUCE_SPREAD;
    family->spread = tool_allocate(&family->pool, family->spread_count, sizeof *family->spread);
    tool_check(sp_farthest_order(names->context, family->place_count, points, 0, family->spread_count, family->spread),
               NULL);
}

bool reduce_family_varies(const reduce_family *family)
{
    return family->count > 0 || family->place_count > 0;
}

void reduce_family_free(reduce_family *family)
{
    sp_pool_free(&family->pool);
}

/* ---- members ---- */

enum reduce_purpose { JUDGE, TRAIN, WITNESS };

/* Far beyond the numbers of members. */
static const uint64_t witness_streams = UINT64_C(1) << 40, touch_streams = UINT64_C(1) << 41;

static reduce_member new_member(reduce_family *family, double amplitude)
{
    return (reduce_member){.weight = tool_allocate(&family->pool, family->count, sizeof(double)),
                           .amplitude = amplitude,
                           .course = REDUCE_AS_GIVEN,
                           .longer = 1};
}

int64_t reduce_family_largest_count(const reduce_family *family)
{
    return family->place_count ? 4 : 0;
}

static int64_t pairs_of(const reduce_family *family)
{
    const int64_t pairs = family->count * (family->count - 1) / 2;
    return pairs < MOST_PAIRS ? pairs : MOST_PAIRS;
}

int64_t reduce_family_corners(const reduce_family *family)
{
    const int64_t touches = 3 * family->spread_count + reduce_family_largest_count(family);
    return reduce_family_varies(family) ? family->count + pairs_of(family) + touches : 1;
}

int64_t reduce_family_trained(const reduce_family *family)
{
    const int64_t corners = reduce_family_corners(family), touched = family->place_count ? MORE_TOUCHED : 0;
    if (!reduce_family_varies(family))
        return 1;
    return corners + touched > LEAST_TRAINED ? corners + touched : LEAST_TRAINED;
}

/* A random touch: it begins in the first half of the motion, and acts for a tenth to a half of it. */
static reduce_touch draw_touch(const reduce_family *family, uint64_t stream)
{
    enum { PLACE, COURSE, START, LENGTH, FORCE, NUMBERS = FORCE + 3 };
    double uniform[NUMBERS];

    for (int i = 0; i < NUMBERS; i++)
        uniform[i] = sp_random_uniform(family->seed, stream, (uint64_t)i);
    reduce_touch touch = {.place = &family->places[(int64_t)(uniform[PLACE] * (double)family->place_count)],
                          .start = 0.5 * uniform[START] * family->duration,
                          .course = (enum reduce_course)(1 + (int)(uniform[COURSE] * (REDUCE_COURSES - 1)))};
    touch.end = touch.start + (0.1 + 0.4 * uniform[LENGTH]) * family->duration;
    for (int i = 0; i < 3; i++)
        touch.force[i] = (2 * uniform[FORCE + i] - 1) * family->force;
    return touch;
}

/* Random numbers of a stream; those that judge, those that are trained and those of the witness have streams of their
 * own, and touches others than files. */
static reduce_member draw(reduce_family *family, enum reduce_purpose purpose, int64_t number)
{
    enum { AMPLITUDE, COURSE, LATER, LONGER, WEIGHTS };
    const uint64_t stream = 2 * (uint64_t)number + (purpose == TRAIN) + (purpose == WITNESS ? witness_streams : 0);
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
    if (family->place_count)
        member.touch = draw_touch(family, touch_streams + stream);
    return member;
}

reduce_member reduce_family_draw(reduce_family *family, int64_t number)
{
    return draw(family, JUDGE, number);
}

reduce_member reduce_family_witness(reduce_family *family, int64_t number)
{
    return draw(family, WITNESS, number);
}

/* A sudden touch that ends, so that it is heard, on one of the vertices far from each other. */
static reduce_touch sudden_touch(const reduce_family *family, int64_t place)
{
    return (reduce_touch){.place = &family->places[family->spread[place % family->spread_count]],
                          .end = family->duration / 3,
                          .course = REDUCE_AS_GIVEN};
}

/* A force at a corner of the box: four of them are trained, no two of which share an edge; opposite ones judge. */
static reduce_member largest_touch(reduce_family *family, int64_t number, double sign)
{
    static const int direction[4][3] = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
    reduce_member member = new_member(family, family->high);

    if (family->count)
        member.weight[number % family->count] = 1;
    member.touch = sudden_touch(family, number);
    for (int i = 0; i < 3; i++)
        member.touch.force[i] = sign * direction[number][i] * family->force;
    return member;
}

reduce_member reduce_family_largest(reduce_family *family, int64_t number)
{
    return largest_touch(family, number, -1);
}

reduce_member reduce_family_train(reduce_family *family, int64_t number)
{
    const int64_t corners = reduce_family_corners(family), of_files = family->count + pairs_of(family);
    if (reduce_family_varies(family) && number >= corners) {
        reduce_member member = draw(family, TRAIN, number - corners);
        member.course = (enum reduce_course)(1 + (number - corners) % (REDUCE_COURSES - 1)); /* each kind of them */
        return member;
    }

    const int64_t touched = number - of_files;
    if (touched >= 3 * family->spread_count && family->place_count)
        return largest_touch(family, touched - 3 * family->spread_count, 1);

    reduce_member member = new_member(family, family->high);
    if (touched >= 0 && family->place_count) {
        member.touch = sudden_touch(family, touched / 3);
        member.touch.force[touched % 3] = family->force;
        return member;
    }

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

/* A load on a place. */
static sp_load place_load(const tool_place *place, double start, double end, const double *force)
{
    sp_load load = {.start = start,
                    .end = end,
                    .kind = place->surface ? SP_LOAD_SURFACE : SP_LOAD_VERTEX,
                    .id = place->vertex,
                    .course = {.kind = SP_COURSE_CONSTANT}};
    memcpy(load.force, force, sizeof load.force);
    return load;
}

static void set_course(enum reduce_course course, sp_load *load)
{
    if (course == REDUCE_RAMP)
        load->course.kind = SP_COURSE_RAMP;
    if (course == REDUCE_HALF_SINE)
        load->course = (sp_course){.kind = SP_COURSE_SINE, .frequency = 0.5 / (load->end - load->start)};
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
    set_course(member->course, load);
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

    if (member->touch.place) {
        const reduce_touch *touch = &member->touch;
        sp_load *load = tool_list_add(&list, 1, sizeof *load);
        *load = place_load(touch->place, ramps ? 0 : touch->start, ramps ? 1 : touch->end, touch->force);
        set_course(ramps ? REDUCE_RAMP : touch->course, load);
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

    for (int64_t i = 0; i < family->spread_count; i++)
        for (int axis = 0; axis < 3; axis++) {
            double force[3] = {0};
            force[axis] = family->force;
            *(sp_load *)tool_list_add(&list, 1, sizeof(sp_load)) =
                place_load(&family->places[family->spread[i]], 0, 1, force);
        }
    return list.count ? print_list(family, &list) : "";
}
