#include "formats/loads.h"

#include "formats/csv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The kinds: their values behind the target, and how many of them there are. A spring may have three more. */
static const struct {
    const char *name, *fields;
    int values;
} kinds[] = {
    [SP_LOAD_VERTEX] = {"vertex", "id,fx,fy,fz", 3},
    [SP_LOAD_SURFACE] = {"surface", "id,fx,fy,fz", 3},
    [SP_LOAD_REGION] = {"region", "id,fx,fy,fz", 3},
    [SP_LOAD_ALL] = {"all", ",fx,fy,fz", 3},
    [SP_LOAD_PRESSURE] = {"pressure", "id,p", 1},
    [SP_LOAD_SET] = {"set", "id,fx,fy,fz", 3},
    [SP_LOAD_TRACTION] = {"traction", "id,tx,ty,tz", 3},
    [SP_LOAD_ROTATION] = {"rotation", "id,wx,wy,wz,cx,cy,cz", 6},
    [SP_LOAD_ACCELERATION] = {"acceleration", "id,ax,ay,az", 3},
    [SP_LOAD_SPRING] = {"spring", "id,x,y,z,stiffness", 4},
};

enum { ID = 3, KINDS = sizeof kinds / sizeof kinds[0] }; /* the field of the vertex, region or set */

static const char *const force_names[] = {"fx", "fy", "fz"}, *const spring_names[] = {"stiffness", "x1", "y1", "z1"},
                         *const point_names[] = {"cx", "cy", "cz"};

typedef struct loads_parser {
    sp_places places;
    sp_pool *pool; /* of tables */
} loads_parser;

/* A set by its name, with or without "set:" in front: of faces only, or the one that is meant where vertices are. */
static int find_set(sp_context *context, const sp_text *text, sp_word id, const sp_mesh *mesh, bool of_faces,
                    const sp_mesh_set **set)
{
    const sp_word prefix = sp_word_of(SP_SET_PREFIX);
    char shown[SP_TEXT_QUOTE], name[SP_NAME_LENGTH], all[400];
    if (id.length >= prefix.length && memcmp(id.at, prefix.at, (size_t)prefix.length) == 0)
        id = (sp_word){id.at + prefix.length, id.length - prefix.length};
    snprintf(name, sizeof name, "%.*s", (int)(id.length < SP_NAME_LENGTH ? id.length : 0), id.at);
    *set = of_faces ? sp_mesh_find_set(mesh, name, SP_SET_FACES) : sp_mesh_find_any_set(mesh, name);
    sp_mesh_list_sets(mesh, all, sizeof all);
    return *set ? SP_OK
                : sp_text_fail(context, text, "id: the mesh has no set%s \"%s\"%s%s", of_faces ? " of faces" : "",
                               sp_word_show(id, shown), *all ? ", only " : "", all);
}

static int target(sp_context *context, const sp_text *text, sp_word id, sp_places *places, sp_load *load)
{
    char shown[SP_TEXT_QUOTE];
    const bool none = id.length == 0 || sp_word_is(id, "-"),
               set = id.length > 4 && memcmp(id.at, SP_SET_PREFIX, sizeof SP_SET_PREFIX - 1) == 0;

    load->id = -1;
    switch (load->kind) {
    case SP_LOAD_ALL:
        return none ? SP_OK
                    : sp_text_fail(context, text, "id: \"%s\", but kind all takes none (leave it empty)",
                                   sp_word_show(id, shown));
    case SP_LOAD_SET:
        return find_set(context, text, id, places->mesh, false, &load->set);
    case SP_LOAD_TRACTION:
        return find_set(context, text, id, places->mesh, true, &load->set);
    case SP_LOAD_PRESSURE:
    case SP_LOAD_ROTATION:
    case SP_LOAD_ACCELERATION:
        if (none)
            return SP_OK;
        if (load->kind == SP_LOAD_PRESSURE && set)
            return find_set(context, text, id, places->mesh, true, &load->set);
        return sp_csv_region(context, text, "id", id, places->mesh, &load->id);
    case SP_LOAD_REGION:
        return sp_csv_region(context, text, "id", id, places->mesh, &load->id);
    case SP_LOAD_VERTEX:
    case SP_LOAD_SURFACE:
    case SP_LOAD_SPRING:
        break;
    }
    return sp_csv_vertex(context, text, "id", id, load->kind == SP_LOAD_SURFACE, places, &load->id);
}

/* ---- courses ---- */

/* sine:HZ or sine:HZ:DEGREES */
static int parse_sine(sp_context *context, const sp_text *text, sp_word field, sp_course *course)
{
    const char *colon = memchr(field.at, ':', (size_t)field.length);
    sp_word frequency = {field.at, colon ? colon - field.at : field.length};
    SP_PASS(sp_text_field_number(context, text, "course: Hz", frequency, &course->frequency));
    if (!(course->frequency > 0))
        return sp_text_fail(context, text, "course: a sine of %g Hz", course->frequency);
    if (colon) {
        const sp_word degrees = {colon + 1, field.length - frequency.length - 1};
        SP_PASS(sp_text_field_number(context, text, "course: degrees", degrees, &course->phase));
        course->phase *= M_PI / 180;
    }
    return SP_OK;
}

/* Pairs "A B;A B;…" of numbers, into arrays of which the first increases; first and second name the numbers. */
static int parse_pairs(sp_context *context, const sp_text *text, sp_word field, sp_pool *pool, const char *words,
                       const char *first, const char *second, int64_t *count, double **one, double **other)
{
    int64_t most = 1;
    for (int64_t i = 0; i < field.length; i++)
        most += field.at[i] == ';';
    double *a = *one = sp_pool_raw(pool, most, sizeof *a), *b = *other = sp_pool_raw(pool, most, sizeof *b);
    SP_PASS(sp_allocated(context, !pool->failed));

    /* A second reader over the bytes of this field. */
    sp_text pairs = *text;
    pairs.at = field.at;
    pairs.stop = field.at + field.length;

    *count = 0;
    for (bool more = true; more; ++*count) {
        sp_word pair, part[2] = {{0}};
        more = sp_text_field(&pairs, ';', &pair);
        sp_text inside = pairs;
        inside.at = pair.at;
        inside.stop = pair.at + pair.length;

        for (int i = 0; i < 2; i++)
            if (!sp_text_word(&inside, &part[i]))
                return sp_text_fail(context, text, "course: pair %lld of the table is not %s", (long long)*count + 1,
                                    words);

        SP_PASS(sp_text_field_number(context, text, first, part[0], &a[*count]));
        SP_PASS(sp_text_field_number(context, text, second, part[1], &b[*count]));
        if (sp_text_more(&inside))
            return sp_text_fail(context, text, "course: pair %lld of the table is not %s", (long long)*count + 1,
                                words);

        if (*count > 0 && !(a[*count] > a[*count - 1]))
            return sp_text_fail(context, text, "%s: those of the table do not increase at %g", first, a[*count]);
    }
    return SP_OK;
}

/* T F;T F;…: times after t0 and factors. */
static int parse_table(sp_context *context, const sp_text *text, sp_word field, sp_pool *pool, sp_course *course)
{
    double *time, *factor;
    SP_PASS(parse_pairs(context, text, field, pool, "TIME FACTOR", "course: time", "course: factor", &course->count,
                        &time, &factor));
    course->time = time;
    course->factor = factor;
    return SP_OK;
}

/* RATE:SEED:F S;F S;…: a power spectral density, realized at once. */
static int parse_random(sp_context *context, const sp_text *text, sp_word field, sp_pool *pool, sp_load *load)
{
    const char *colon = memchr(field.at, ':', (size_t)field.length),
               *second = colon ? memchr(colon + 1, ':', (size_t)(field.at + field.length - colon - 1)) : NULL;
    sp_course_spectrum *s = sp_pool_new(pool, 1, sizeof *s);
    double *frequency, *density;
    int64_t seed;

    SP_PASS(sp_allocated(context, s));
    if (!second)
        return sp_text_fail(context, text, "course: a random one is random:RATE:SEED:FREQUENCY DENSITY;…");
    if (!isfinite(load->end))
        return sp_text_fail(context, text, "course: a random one must end some time");

    const sp_word rate = {field.at, colon - field.at}, number = {colon + 1, second - colon - 1},
                  table = {second + 1, field.at + field.length - second - 1};
    SP_PASS(sp_text_field_number(context, text, "course: rate", rate, &s->rate));
    if (!(s->rate > 0))
        return sp_text_fail(context, text, "course: a rate of %g Hz", s->rate);
    if (!sp_word_integer(number, &seed) || seed < 0)
        return sp_text_fail(context, text, "course: the seed is not a whole number from 0 on");
    s->seed = (uint64_t)seed;

    SP_PASS(parse_pairs(context, text, table, pool, "FREQUENCY DENSITY", "course: frequency", "course: density",
                        &s->count, &frequency, &density));
    s->frequency = frequency;
    s->density = density;
    for (int64_t k = 0; k < s->count; k++) {
        if (!(frequency[k] > 0 && frequency[k] <= 0.5 * s->rate))
            return sp_text_fail(context, text,
                                "course: a frequency of %g Hz; those of a density are above 0 and at most half of the "
                                "rate, %g Hz",
                                frequency[k], 0.5 * s->rate);
        if (!(density[k] > 0))
            return sp_text_fail(context, text, "course: a density of %g at %g Hz", density[k], frequency[k]);
    }
    if (s->count < 2)
        return sp_text_fail(context, text, "course: a density at one frequency; it needs two at least");

    sp_context own = *context;
    const int status = sp_course_realize(&own, s, load->end - load->start, pool, &load->course);
    return status == SP_OK      ? SP_OK
           : status == SP_INPUT ? sp_text_fail(context, text, "course: %.300s", own.message)
                                : sp_fail(context, status, "%s", own.message);
}

static int parse_course(sp_context *context, const sp_text *text, sp_word field, sp_pool *pool, sp_load *load)
{
    static const char sine[] = "sine:", table[] = "table:", random[] = "random:";
    char shown[SP_TEXT_QUOTE];
    const int of_sine = sizeof sine - 1, of_table = sizeof table - 1, of_random = sizeof random - 1;

    if (sp_word_is(field, "ramp")) {
        load->course.kind = SP_COURSE_RAMP;
        return isfinite(load->end) ? SP_OK : sp_text_fail(context, text, "course: a ramp must end some time");
    }

    if (field.length > of_sine && memcmp(field.at, sine, (size_t)of_sine) == 0) {
        load->course.kind = SP_COURSE_SINE;
        return parse_sine(context, text, (sp_word){field.at + of_sine, field.length - of_sine}, &load->course);
    }

    if (field.length > of_table && memcmp(field.at, table, (size_t)of_table) == 0) {
        load->course.kind = SP_COURSE_TABLE;
        return parse_table(context, text, (sp_word){field.at + of_table, field.length - of_table}, pool, &load->course);
    }

    if (field.length > of_random && memcmp(field.at, random, (size_t)of_random) == 0)
        return parse_random(context, text, (sp_word){field.at + of_random, field.length - of_random}, pool, load);

    return sp_text_fail(context, text,
                        "course: \"%s\" is not ramp, sine:HZ, sine:HZ:DEGREES, table:TIME FACTOR;… or "
                        "random:RATE:SEED:FREQUENCY DENSITY;…",
                        sp_word_show(field, shown));
}

/* ---- lines ---- */

static int parse_kind(sp_context *context, const sp_text *text, sp_word field, sp_load *load)
{
    char shown[SP_TEXT_QUOTE];
    int kind = 0;
    while (kind < KINDS && !sp_word_is(field, kinds[kind].name))
        kind++;
    load->kind = (enum sp_load_kind)kind;
    return kind < KINDS ? SP_OK
                        : sp_text_fail(context, text,
                                       "kind: \"%s\" is not one of vertex, surface, region, all, pressure, set, "
                                       "traction, rotation, acceleration, spring",
                                       sp_word_show(field, shown));
}

static int parse_times(sp_context *context, const sp_text *text, const sp_word *field, sp_load *load)
{
    SP_PASS(sp_text_field_number(context, text, "t0", field[0], &load->start));
    if (load->start < 0)
        return sp_text_fail(context, text, "t0: the load acts from %g s", load->start);
    load->end = INFINITY;
    if (!sp_word_same(field[1], sp_word_of("inf")))
        SP_PASS(sp_text_field_number(context, text, "t1", field[1], &load->end));
    if (!(load->end > load->start))
        return sp_text_fail(context, text, "t1: the load acts from %g to %g s", load->start, load->end);
    if (load->moving && isinf(load->end))
        return sp_text_fail(context, text, "t1: a moving anchor must arrive some time");
    return SP_OK;
}

static int parse_load(void *data, sp_context *context, const sp_text *text, const sp_word *field, int count, void *item,
                      int64_t index)
{
    loads_parser *parser = data;
    sp_load *load = item;
    (void)index;

    if (count < 3)
        return sp_text_fail(context, text, "%d fields, expected t0,t1,kind,id,fx,fy,fz", count);
    SP_PASS(parse_kind(context, text, field[2], load));

    /* A course is one field more than the kind needs; three more of a spring are the end of its anchor's motion. */
    const bool spring = load->kind == SP_LOAD_SPRING;
    const int due = ID + 1 + kinds[load->kind].values;
    load->moving = spring && count == due + 3;
    const bool course = !spring && count == due + 1;
    if (count != due && !load->moving && !course)
        return sp_text_fail(context, text, "%d fields, expected t0,t1,%s,%s%s", count, kinds[load->kind].name,
                            kinds[load->kind].fields, spring ? ", or x1,y1,z1 too where its anchor moves" : "");

    SP_PASS(parse_times(context, text, field, load));
    SP_PASS(target(context, text, field[ID], &parser->places, load));

    const sp_word *value = field + ID + 1;
    for (int i = 0; i < (load->kind == SP_LOAD_PRESSURE ? 1 : 3); i++)
        SP_PASS(sp_text_field_number(context, text, force_names[i], value[i], &load->force[i]));
    if (load->kind == SP_LOAD_ROTATION)
        for (int i = 0; i < 3; i++)
            SP_PASS(sp_text_field_number(context, text, point_names[i], value[3 + i], &load->point[i]));

    if (spring) {
        SP_PASS(sp_text_field_number(context, text, spring_names[0], value[3], &load->stiffness));
        if (load->stiffness < 0)
            return sp_text_fail(context, text, "stiffness: %g N/m is negative", load->stiffness);
    }
    if (load->moving)
        for (int i = 0; i < 3; i++)
            SP_PASS(sp_text_field_number(context, text, spring_names[1 + i], value[4 + i], &load->anchor_end[i]));

    if (course)
        SP_PASS(parse_course(context, text, field[due], parser->pool, load));
    return SP_OK;
}

int sp_loads_parse(sp_context *context, const char *bytes, int64_t count, const sp_mesh *mesh, sp_pool *pool,
                   int64_t *load_count, sp_load **loads)
{
    loads_parser parser = {.places = {.mesh = mesh, .text = "loads"}, .pool = pool};
    const sp_csv csv = {.header = "t0", .place = ID, .size = sizeof(sp_load), .line = parse_load, .data = &parser};
    sp_list list = {0};
    int status;
    SP_TRY(sp_csv_parse(context, bytes, count, &csv, &list));
    *load_count = list.count;
    *loads = sp_pool_copy(pool, list.data, list.count, sizeof **loads);
    if (!*loads)
        status = sp_fail_memory(context);
done:
    sp_places_free(&parser.places);
    sp_list_free(&list);
    return status;
}

/* ---- text ---- */

static void print_target(const sp_load *load, FILE *stream)
{
    if (load->set)
        fprintf(stream, "%s%s", load->kind == SP_LOAD_TRACTION ? "" : SP_SET_PREFIX, load->set->name);
    else if (load->id >= 0)
        fprintf(stream, "%lld", (long long)load->id);
}

static void print_values(const sp_load *load, FILE *stream)
{
    const double tail[SP_LOAD_SPRING + 1][6] = {
        [SP_LOAD_ROTATION] = {load->point[0], load->point[1], load->point[2]},
        [SP_LOAD_SPRING] = {load->stiffness, load->anchor_end[0], load->anchor_end[1], load->anchor_end[2]}};
    const int values = kinds[load->kind].values, first = values < 3 ? values : 3,
              more = values - first + (load->moving ? 3 : 0);

    for (int i = 0; i < first; i++)
        fprintf(stream, ",%.17g", load->force[i]);
    for (int i = 0; i < more; i++)
        fprintf(stream, ",%.17g", tail[load->kind][i]);
}

static void print_pairs(int64_t count, const double *one, const double *other, FILE *stream)
{
    for (int64_t i = 0; i < count; i++)
        fprintf(stream, "%s%.17g %.17g", i ? ";" : "", one[i], other[i]);
}

static void print_course(const sp_course *course, FILE *stream)
{
    const sp_course_spectrum *spectrum = course->spectrum;
    switch (course->kind) {
    case SP_COURSE_CONSTANT:
        return;
    case SP_COURSE_RAMP:
        fputs(",ramp", stream);
        return;
    case SP_COURSE_SINE:
        fprintf(stream, ",sine:%.17g:%.17g", course->frequency, course->phase * 180 / M_PI);
        return;
    case SP_COURSE_TABLE:
        if (spectrum) {
            fprintf(stream, ",random:%.17g:%llu:", spectrum->rate, (unsigned long long)spectrum->seed);
            print_pairs(spectrum->count, spectrum->frequency, spectrum->density, stream);
            return;
        }
        fputs(",table:", stream);
        print_pairs(course->count, course->time, course->factor, stream);
    }
}

void sp_loads_print(int64_t count, const sp_load *loads, FILE *stream)
{
    fputs("t0,t1,kind,id,fx,fy,fz\n", stream);
    for (int64_t i = 0; i < count; i++) {
        fprintf(stream, "%.17g,%.17g,%s,", loads[i].start, loads[i].end, kinds[loads[i].kind].name);
        print_target(&loads[i], stream);
        print_values(&loads[i], stream);
        print_course(&loads[i].course, stream);
        putc('\n', stream);
    }
}
