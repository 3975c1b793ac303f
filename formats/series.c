#include "formats/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 20, BLOCK_FRAMES = 4096 };

/* ---- the series of a kind ---- */

/* Series i of the file type, NULL after the last. */
static const sp_member_rule *series_of(const sp_kind *kind, int i)
{
    for (const sp_member_rule *rule = kind->rules; rule->name; rule++)
        if (sp_rule_numbered(rule) && i-- == 0)
            return rule;
    return NULL;
}

static bool by_frames(const sp_member_rule *rule)
{
    return rule->shape[0] == 'n' && strcspn(rule->shape, ",") == 1;
}

/* Number of values in a row, 0 if the series is not recorded. */
static int64_t width_of(const sp_kind *kind, const sp_member_rule *rule, const void *object, const json_t *meta)
{
    int64_t shape[SP_RANK_MAX], width = 1;
    const int rank = sp_rule_shape(kind, rule->shape, object, shape);
    for (int i = 1; i < rank; i++)
        width *= shape[i];
    return sp_rule_belongs(kind, rule, object, meta, NULL) ? width : 0;
}

static size_t size_of(const sp_member_rule *rule)
{
    return rule->type == SP_I4 ? sizeof(int32_t) : sizeof(double);
}

/* The extent that counts the rows of a series. */
static int64_t *length_of(const sp_kind *kind, const sp_member_rule *rule, void *object)
{
    const sp_symbol *symbol = kind->symbols;
    const size_t length = strcspn(rule->shape, ",");
    while (strncmp(symbol->name, rule->shape, length) || symbol->name[length])
        symbol++;
    return (int64_t *)((char *)object + symbol->at);
}

static void **pointer_of(const sp_member_rule *rule, void *object)
{
    return (void **)((char *)object + rule->at);
}

/* ---- writing ---- */

struct sp_series_writer {
    sp_context *context;
    sp_writer *writer;
    const sp_kind *kind;
    void *object;
    int64_t block, capacity, count; /* number of the block, its capacity in frames, and its number of frames */
    int64_t width[SP_SERIES_MOST];
    sp_list rows[SP_SERIES_MOST]; /* of the block; for series by frames with memory for complete blocks */
    bool failed;                  /* nothing more is written to the file */
};

static void free_writer(sp_series_writer *series)
{
    for (int i = 0; i < SP_SERIES_MOST; i++)
        sp_list_free(&series->rows[i]);
    free(series);
}

int sp_series_begin(sp_context *context, sp_writer *writer, const sp_kind *kind, const json_t *meta, void *object,
                    sp_series_writer **result)
{
    sp_series_writer *series = calloc(1, sizeof *series);
    const sp_member_rule *rule;
    int64_t bytes = 0;
    int status;

    SP_PASS(sp_allocated(context, series));
    *series = (sp_series_writer){.context = context, .writer = writer, .kind = kind, .object = object};

    for (int i = 0; (rule = series_of(kind, i)); i++) {
        series->width[i] = width_of(kind, rule, object, meta);
        bytes += rule->apart ? 0 : series->width[i] * (int64_t)size_of(rule);
    }
    /* From the size of a frame alone, so that the same frames give the same bytes. */
    const int64_t fit = BLOCK_BYTES / bytes;
    series->capacity = fit < 1 ? 1 : fit > BLOCK_FRAMES ? BLOCK_FRAMES : fit;

    for (int i = 0; (rule = series_of(kind, i)); i++) {
        if (by_frames(rule) && !sp_list_add(&series->rows[i], series->capacity * series->width[i], size_of(rule))) {
            free_writer(series);
            return sp_fail_memory(context);
        }
        series->rows[i].count = 0;
    }

    SP_TRY(sp_kind_write(context, writer, kind, meta, object));
    *result = series;
    return SP_OK;
done:
    free_writer(series);
    return status;
}

static int write_block(sp_series_writer *series)
{
    const sp_member_rule *rule;
    int status = SP_OK;

    for (int i = 0; (rule = series_of(series->kind, i)); i++) {
        char name[SP_MEMBER_NAME];
        if (series->width[i] == 0)
            continue;
        *length_of(series->kind, rule, series->object) = series->rows[i].count / series->width[i];
        sp_rule_member(rule, series->block, name);
        SP_TRY(sp_rule_write(series->context, series->writer, series->kind, rule, name, series->object,
                             series->rows[i].data));
        series->rows[i].count = 0;
    }

    series->block++;
    series->count = 0;
done:
    series->failed = status != SP_OK;
    return status;
}

int sp_series_append(sp_series_writer *series, const void *const *from, int64_t rows)
{
    const sp_member_rule *rule;
    for (int i = 0; (rule = series_of(series->kind, i)); i++) {
        const int64_t values = series->width[i] * (by_frames(rule) ? 1 : rows);
        void *to = values ? sp_list_add(&series->rows[i], values, size_of(rule)) : NULL;
        if (to)
            memcpy(to, from[i], (size_t)values * size_of(rule));
        else if (values) {
            series->failed = true;
            return sp_fail_memory(series->context);
        }
    }
    return ++series->count == series->capacity ? write_block(series) : SP_OK;
}

int sp_series_finish(sp_series_writer *series)
{
    int status = SP_OK;
    if (series->count && !series->failed)
        status = write_block(series);
    free_writer(series);
    return status;
}

/* ---- reading, one block at a time ---- */

static bool wants_meta(void *data, const char *name)
{
    (void)data;
    return !strcmp(name, "meta");
}

int sp_series_open(sp_context *context, int descriptor, bool partial, const sp_kind *kind, sp_series_stream *stream)
{
    const char *const kinds[] = {kind->name, NULL};
    sp_pool pool = {0};
    sp_array first;
    *stream = (sp_series_stream){.context = context, .kind = kind};

    int status = sp_reader_open(context, descriptor, partial, &stream->reader);
    if (status != SP_OK)
        return status;

    SP_TRY(sp_reader_next(stream->reader, &pool, wants_meta, NULL, &first));
    SP_TRY(sp_file_meta(context, stream->reader, &first, kinds, &stream->meta));
    if (!stream->meta)
        status = sp_fail(context, SP_INPUT, "it has no meta member: not written by Supple");
done:
    sp_pool_free(&pool);
    if (status != SP_OK)
        sp_series_close(stream);
    return status;
}

typedef struct asking {
    const sp_series_stream *stream;
    const void *object;
} asking;

static bool wanted(void *data, const char *name)
{
    const sp_series_stream *stream = ((asking *)data)->stream;
    const void *object = ((asking *)data)->object;
    const sp_member_rule *rule = sp_kind_rule(stream->kind, name);
    if (!rule)
        return !strcmp(name, "result");
    if (sp_rule_numbered(rule))
        return width_of(stream->kind, rule, object, stream->meta) > 0;
    return (rule->with && sp_kind_rule(stream->kind, rule->with)) || /* checked when all members are known */
           sp_rule_belongs(stream->kind, rule, object, stream->meta, NULL);
}

/* Adds a member to those that were read, with its data in their pool, and sets the object's pointer by its rule. */
static int add_member(sp_series_stream *stream, sp_members *members, const sp_member_rule *rule, const sp_array *array,
                      void *object)
{
    sp_array *read, *larger = sp_pool_raw(&members->pool, members->count + 1, sizeof *larger);
    SP_PASS(sp_allocated(stream->context, larger));
    if (members->count)
        memcpy(larger, members->arrays, (size_t)members->count * sizeof *larger);
    larger[members->count++] = *array;
    members->arrays = larger;
    SP_PASS(sp_rule_read(stream->context, members, stream->kind, rule, array->name, object, &read));
    *pointer_of(rule, object) = read->data;
    return SP_OK;
}

/* Handles a member before the first block. */
static int read_head(sp_series_stream *stream, const sp_member_rule *rule, sp_array *array, void *object)
{
    if (sp_members_find(&stream->head, array->name) || stream->blocks)
        return sp_fail(stream->context, SP_INPUT, "%s: it occurs twice, or behind the first block", array->name);
    /* Values of a type that is not read are not there, and the rule refuses them. */
    if (array->data) {
        array->data = sp_pool_copy(&stream->head.pool, array->data, array->count, (size_t)array->size);
        SP_PASS(sp_allocated(stream->context, array->data));
    }
    return add_member(stream, &stream->head, rule, array, object);
}

/* Handles a member of a series, which must belong to the expected block. */
static int read_series(sp_series_stream *stream, const sp_member_rule *rule, const sp_array *array, void *object)
{
    char due[SP_MEMBER_NAME];
    sp_rule_member(rule, stream->blocks, due);
    if (strcmp(array->name, due))
        return sp_fail(stream->context, SP_INPUT, "member %s does not belong to block %lld, which is due", array->name,
                       (long long)stream->blocks);
    if (sp_members_find(&stream->block, due))
        return sp_fail(stream->context, SP_INPUT, "member %s occurs twice", due);
    if (by_frames(rule) && array->rank && array->shape[0] == 0)
        return sp_fail(stream->context, SP_INPUT, "%s: it has no frame", due);
    return add_member(stream, &stream->block, rule, array, object);
}

/* Checks the presence of members before the first block. */
static int check_head(const sp_series_stream *stream, const void *object)
{
    for (const sp_member_rule *rule = stream->kind->rules; rule->name; rule++) {
        const bool belongs = sp_rule_belongs(stream->kind, rule, object, stream->meta, &stream->head),
                   there = sp_members_find(&stream->head, rule->name) != NULL;
        if (!sp_rule_numbered(rule) && there != belongs && (there || !rule->optional))
            return sp_fail(stream->context, SP_INPUT, "member %s is missing", there ? rule->with : rule->name);
    }
    return SP_OK;
}

/* The first series increases: times, or the numbers of motions. */
static int check_order(sp_series_stream *stream, const sp_member_rule *rule, const void *values, int64_t count)
{
    const int name = (int)strcspn(rule->name, "/");
    for (int64_t i = 0; i < count; i++) {
        const double value = rule->type == SP_I8 ? (double)((const int64_t *)values)[i] : ((const double *)values)[i];
        if (stream->frames + i > 0 && value <= stream->last)
            return sp_fail(stream->context, SP_INPUT, "%.*s: frame %lld is at %.17g%s, the one before it at %.17g%s",
                           name, rule->name, (long long)(stream->frames + i), value, rule->unit ? " s" : "",
                           stream->last, rule->unit ? " s" : "");
        stream->last = value;
    }
    return SP_OK;
}

/* Releases the previous block; returns the number of members of a block. */
static int begin_block(sp_series_stream *stream, void *object, int64_t length)
{
    const sp_member_rule *rule;
    int members = 0;
    for (int i = 0; (rule = series_of(stream->kind, i)); i++) {
        *pointer_of(rule, object) = NULL;
        *length_of(stream->kind, rule, object) = length;
        members += width_of(stream->kind, rule, object, stream->meta) > 0;
    }
    sp_members_free(&stream->block);
    return members;
}

/* Handles the end of the file. */
static int end(sp_series_stream *stream, void *object)
{
    stream->ended = true;
    stream->truncated = sp_reader_truncated(stream->reader);
    if (stream->block.count && !stream->truncated)
        return sp_fail(stream->context, SP_INPUT, "block %lld is not whole", (long long)stream->blocks);
    if (stream->frames == 0)
        return sp_fail(stream->context, SP_INPUT, "the %s has no %sframe", stream->kind->name,
                       stream->truncated ? "whole block, so no " : "");
    begin_block(stream, object, 0);
    return sp_file_hash(stream->context, stream->reader, stream->meta, stream->result, stream->hash);
}

int sp_series_next(sp_series_stream *stream, void *object)
{
    const sp_member_rule *first = series_of(stream->kind, 0);
    asking by = {stream, object};

    if (stream->ended)
        return SP_OK;

    /* Until every series of the block was read; members before the first block and those that are not known may lie
     * between. */
    for (int missing = begin_block(stream, object, -1); missing;) {
        sp_array array;
        SP_PASS(sp_reader_next(stream->reader, &stream->block.pool, wanted, &by, &array));

        if (!array.name[0])
            return end(stream, object);
        if (stream->result)
            return sp_fail(stream->context, SP_INPUT, "member %s follows result, which must be the last", array.name);

        if (!wanted(&by, array.name))
            continue;

        const sp_member_rule *rule = sp_kind_rule(stream->kind, array.name);
        if (!rule) {
            SP_PASS(sp_json_from_member(stream->context, &array, &stream->result));
        } else if (!sp_rule_numbered(rule)) {
            SP_PASS(read_head(stream, rule, &array, object));
        } else {
            SP_PASS(read_series(stream, rule, &array, object));
            missing--;
        }
    }

    if (stream->blocks == 0)
        SP_PASS(check_head(stream, object));

    const int64_t frames = *length_of(stream->kind, first, object);
    SP_PASS(check_order(stream, first, *pointer_of(first, object), frames));
    if (stream->check)
        SP_PASS(stream->check(stream, object));

    stream->frames += frames;
    stream->blocks++;
    return SP_OK;
}

void sp_series_close(sp_series_stream *stream)
{
    sp_reader_close(stream->reader);
    sp_members_free(&stream->head);
    sp_members_free(&stream->block);
    json_decref(stream->meta);
    json_decref(stream->result);
    *stream = (sp_series_stream){0};
}

/* ---- reading everything ---- */

int sp_series_read(sp_series_stream *stream, void *object, sp_list *owned)
{
    const sp_member_rule *rule;

    do {
        SP_PASS(sp_series_next(stream, object));

        for (int i = 0; (rule = series_of(stream->kind, i)); i++) {
            const void *from = *pointer_of(rule, object);
            const int64_t values =
                *length_of(stream->kind, rule, object) * width_of(stream->kind, rule, object, stream->meta);
            void *to = from ? sp_list_add(&owned[i], values, size_of(rule)) : NULL;
            if (to)
                memcpy(to, from, (size_t)values * size_of(rule));
            else if (from)
                return sp_fail_memory(stream->context);
        }
    } while (!stream->ended);

    for (int i = 0; (rule = series_of(stream->kind, i)); i++) {
        const int64_t width = width_of(stream->kind, rule, object, stream->meta);
        *pointer_of(rule, object) = owned[i].data;
        if (width)
            *length_of(stream->kind, rule, object) = owned[i].count / width;
    }
    return SP_OK;
}

int sp_series_check_poses(const sp_series_stream *stream, const char *name, const double *pose, int64_t count,
                          int64_t in_frame)
{
    for (int64_t i = 0; i < count; i++) {
        const double *q = pose + 7 * i + 3;
        const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(fabs(length - 1) <= 1e-6))
            return sp_fail(stream->context, SP_INPUT,
                           "%s/%06lld: frame %lld of the block: quaternion %lld has length %.9g", name,
                           (long long)stream->blocks, (long long)(i / in_frame), (long long)(i % in_frame), length);
    }
    return SP_OK;
}
