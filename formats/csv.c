#include "formats/csv.h"

#include <math.h>
#include <string.h>

static bool begins(sp_word word, const char *with)
{
    const int64_t length = (int64_t)strlen(with);
    return word.length >= length && memcmp(word.at, with, (size_t)length) == 0;
}

/* Joins the three fields of a place near:X,Y,Z, which its commas have separated. Returns the number of fields. */
static int join_place(int place, int count, sp_word *field)
{
    if (place == 0 || place + 2 >= count || place + 2 >= SP_CSV_FIELDS || !sp_place_begins(field[place]))
        return count;
    field[place].length = field[place + 2].at + field[place + 2].length - field[place].at;
    for (int i = place + 1; i < SP_CSV_FIELDS; i++)
        field[i] = i + 2 < SP_CSV_FIELDS ? field[i + 2] : (sp_word){0};
    return count - 2;
}

int sp_csv_parse(sp_context *context, const char *bytes, int64_t count, const sp_csv *csv, sp_list *list)
{
    sp_text text;
    sp_text_open(&text, bytes, count, "#", "", false);

    for (bool first = true; sp_text_line(&text); first = false) {
        sp_word field[SP_CSV_FIELDS] = {{0}};
        const int fields = join_place(csv->place, sp_text_fields(&text, ',', SP_CSV_FIELDS, field), field);
        if (first && begins(field[0], csv->header))
            continue;

        const int64_t index = list->count;
        void *item = sp_list_add(list, 1, csv->size);
        SP_PASS(sp_allocated(context, item));
        memset(item, 0, csv->size);
        SP_PASS(csv->line(csv->data, context, &text, field, fields, item, index));
    }
    return SP_OK;
}

int sp_csv_index(sp_context *context, const sp_text *text, const char *name, const char *what, sp_word field,
                 int64_t most, int64_t *index)
{
    char shown[SP_TEXT_QUOTE];
    if (!sp_word_integer(field, index))
        return sp_text_fail(context, text, "%s: \"%s\" is not a whole number", name, sp_word_show(field, shown));
    if (*index < 0 || *index >= most)
        return sp_text_fail(context, text, "%s: %s %lld of %lld", name, what, (long long)*index, (long long)most);
    return SP_OK;
}

int sp_csv_vertex(sp_context *context, const sp_text *text, const char *name, sp_word field, bool surface,
                  sp_places *places, int64_t *vertex)
{
    const sp_mesh *mesh = places->mesh;
    const char *what = surface ? "surface vertex" : "vertex";
    if (sp_place_begins(field))
        return sp_places_find(context, places, text, name, what, field, surface, vertex);
    return sp_csv_index(context, text, name, surface ? "surface" : what, field,
                        surface ? mesh->surface.vertex_count : mesh->vertex_count, vertex);
}

int sp_csv_region(sp_context *context, const sp_text *text, const char *name, sp_word field, const sp_mesh *mesh,
                  int64_t *region)
{
    char shown[SP_TEXT_QUOTE], known[SP_MATERIAL_LIST];
    int64_t number;
    *region = sp_material_find(mesh->material_count, mesh->materials, field.at, (size_t)field.length);
    if (*region >= 0)
        return SP_OK;
    if (!sp_word_integer(field, &number))
        return sp_text_fail(context, text, "%s: the mesh has no region \"%s\", only %s", name,
                            sp_word_show(field, shown), sp_material_list(mesh->material_count, mesh->materials, known));
    return sp_csv_index(context, text, name, "region", field, mesh->material_count, region);
}

/* ---- values over time ---- */

typedef struct sample {
    int64_t key;
    double time, value[SP_SERIES_VALUES];
} sample;

typedef struct series_parser {
    const sp_series_kind *kind;
    int64_t *last;  /* [keys] number of the last line of each key, from 1; 0: none yet */
    int64_t *lines; /* [keys] number of lines of each key */
} series_parser;

static int follow(sp_context *context, const sp_text *text, const sp_series_kind *kind, const sample *before,
                  const sample *now)
{
    const double step = now->time - before->time;
    if (!(now->time > before->time))
        return sp_text_fail(context, text, "%s: %.17g s after %.17g s for the same %s, expected more", kind->names[0],
                            now->time, before->time, kind->names[1]);
    if (!isfinite(step))
        return sp_text_fail(context, text, "%s: %g s after %g s is too long a step", kind->names[0], now->time,
                            before->time);
    for (int k = 0; k < kind->width; k++)
        if (!isfinite((now->value[k] - before->value[k]) / step))
            return sp_text_fail(context, text, "%s: from %g to %g %s in %g s, which has no finite rate",
                                kind->names[2 + k], before->value[k], now->value[k], kind->unit, step);
    return SP_OK;
}

static int parse_sample(void *data, sp_context *context, const sp_text *text, const sp_word *field, int count,
                        void *item, int64_t index)
{
    series_parser *parser = data;
    const sp_series_kind *kind = parser->kind;
    sample *now = item, *first = now - index;

    if (count != 2 + kind->width)
        return sp_text_fail(context, text, "%d fields, expected %s", count, kind->fields);

    SP_PASS(sp_text_field_number(context, text, kind->names[0], field[0], &now->time));
    SP_PASS(kind->key(kind->data, context, text, field[1], &now->key));
    for (int k = 0; k < kind->width; k++)
        SP_PASS(sp_text_field_number(context, text, kind->names[2 + k], field[2 + k], &now->value[k]));

    if (kind->check)
        SP_PASS(kind->check(kind->data, context, text, now->key, now->value));

    /* Lines of one key follow each other in time; `last` is the number of its last line plus 1. */
    if (parser->last[now->key] > 0)
        SP_PASS(follow(context, text, kind, &first[parser->last[now->key] - 1], now));
    parser->last[now->key] = index + 1;
    parser->lines[now->key]++;
    return SP_OK;
}

/* Makes one series for each key that has lines, in the order of the lines; `last` becomes the index of the key's
 * series. */
static int sort_samples(sp_context *context, series_parser *parser, const sp_list *list, sp_pool *pool,
                        int64_t *series_count, sp_series **series)
{
    const sp_series_kind *kind = parser->kind;
    int64_t used = 0, at = 0;

    /* One array holds the samples of all keys; each series is a part of it. */
    for (int64_t key = 0; key < kind->keys; key++)
        used += parser->lines[key] > 0;
    *series = sp_pool_new(pool, used, sizeof **series);
    double *time = sp_pool_raw(pool, list->count, sizeof *time),
           *value = sp_pool_raw(pool, list->count * kind->width, sizeof *value);
    SP_PASS(sp_allocated(context, !pool->failed));

    *series_count = 0;
    for (int64_t key = 0; key < kind->keys; key++) {
        if (parser->lines[key] == 0)
            continue;
        parser->last[key] = *series_count;
        (*series)[(*series_count)++] = (sp_series){.key = key, .time = time + at, .value = value + at * kind->width};
        at += parser->lines[key];
    }

    for (int64_t i = 0; i < list->count; i++) {
        const sample *from = (const sample *)list->data + i;
        sp_series *to = &(*series)[parser->last[from->key]];
        to->time[to->count] = from->time;
        memcpy(to->value + to->count * kind->width, from->value, (size_t)kind->width * sizeof *value);
        to->count++;
    }
    return SP_OK;
}

int sp_series_parse(sp_context *context, const char *bytes, int64_t count, const sp_series_kind *kind, sp_pool *pool,
                    int64_t *series_count, sp_series **series)
{
    sp_pool scratch = {0};
    series_parser parser = {kind, sp_pool_new(&scratch, kind->keys, sizeof(int64_t)),
                            sp_pool_new(&scratch, kind->keys, sizeof(int64_t))};
    const sp_csv csv = {.header = kind->names[0],
                        .place = kind->places ? 1 : 0,
                        .size = sizeof(sample),
                        .line = parse_sample,
                        .data = &parser};
    sp_list list = {0};

    int status = sp_allocated(context, !scratch.failed);
    if (status == SP_OK)
        status = sp_csv_parse(context, bytes, count, &csv, &list);
    if (status == SP_OK)
        status = sort_samples(context, &parser, &list, pool, series_count, series);

    sp_list_free(&list);
    sp_pool_free(&scratch);
    return status;
}
