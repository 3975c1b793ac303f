#include "formats/scene_log.h"

#include "formats/kind_tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

#define AT(member) .at = offsetof(sp_scene_log, member)
static const sp_symbol symbols[] = {
    {"n", .at = offsetof(sp_scene_log, step_count)}, {"m", .at = offsetof(sp_scene_log, input_count)}, {0}};

static const sp_member_rule rules[] = {
    {"time/B", "n", SP_F8, AT(time), .unit = "s",
     .meaning = "of the scene at the start of each step, strictly increasing"},
    {"check/B", "n", SP_I8, AT(check), .meaning = "checksum of the state at the end of the step"},
    {"count/B", "n", SP_I8, AT(count), FROM(0), .meaning = "inputs of the step"},
    {"input/kind/B", "m", SP_I4, AT(kind), WITHIN(0, SP_SCENE_LOG_KINDS - 1), .apart = true,
     .meaning = "0: a pose, 1: a force, 2: the clutch"},
    {"input/body/B", "m", SP_I4, AT(body), FROM(-1), .apart = true, .meaning = "the body, counted from 0"},
    {"input/vertex/B", "m", SP_I8, AT(vertex), FROM(-1), .apart = true,
     .meaning = "of a force: the vertex, counted from 0"},
    {"input/value/B", "m, 13", SP_F8, AT(value), .apart = true, .unit = "SI", .meaning = "of a pose: x, y, z"},
    {0}};
#undef AT

static const sp_fact scene_log_meta[] = {{"scene", SP_HASH, .meaning = "of the text of the scene"},
                                         {"bodies", SP_INTEGER, .meaning = "bodies of the scene, ≥ 1"},
                                         {"run", SP_OBJECT, .meaning = "how steps are taken"},
                                         {0}};

static const sp_fact scene_log_result[] = {
    {"steps", SP_INTEGER, .meaning = "steps that were taken"},
    {"inputs", SP_INTEGER, .meaning = "inputs that acted"},
    {"missed_deadlines", SP_INTEGER, .meaning = "deadlines that passed before the cycle before them was done"},
    {"failure", SP_STRING, .null = true, .meaning = "the message of the last step, if it failed; else null"},
    {0}};

const sp_kind sp_kind_scene_log = {"scene_log", symbols, rules, scene_log_meta, scene_log_result};

/* ---- writing ---- */

struct sp_scene_log_writer {
    sp_context *context;
    sp_series_writer *series;
    sp_scene_log file; /* its extents alone */
    sp_list kind, body, vertex, value;
};

int sp_scene_log_begin(sp_context *context, sp_writer *writer, json_t *meta, const sp_scene_log_run *run,
                       sp_scene_log_writer **result)
{
    sp_scene_log_writer *log = NULL;
    int status;
    json_t *how = json_pack("{s:f, s:I, s:f, s:f, s:b, s:f, s:I}", "step", run->step, "integrator",
                            (json_int_t)run->integrator, "beta", run->beta, "gamma", run->gamma, "semi_implicit",
                            run->semi_implicit, "tolerance", run->tolerance, "iterations", (json_int_t)run->iterations);

    if (!how || json_object_set_new(meta, "run", how))
        return sp_fail_memory(context);

    log = calloc(1, sizeof *log);
    SP_PASS(sp_allocated(context, log));

    log->context = context;
    SP_TRY(sp_series_begin(context, writer, &sp_kind_scene_log, meta, &log->file, &log->series));
    *result = log;
    return SP_OK;
done:
    free(log);
    return status;
}

int sp_scene_log_append(sp_scene_log_writer *log, double time, int64_t check, int64_t count,
                        const sp_scene_log_input *input)
{
    log->kind.count = log->body.count = log->vertex.count = log->value.count = 0;
    int32_t *kind = sp_list_add(&log->kind, count, sizeof *kind), *body = sp_list_add(&log->body, count, sizeof *body);
    int64_t *vertex = sp_list_add(&log->vertex, count, sizeof *vertex);
    double *value = sp_list_add(&log->value, SP_SCENE_LOG_VALUES * count, sizeof *value);
    if (count > 0 && (!kind || !body || !vertex || !value))
        return sp_fail_memory(log->context);
    for (int64_t i = 0; i < count; i++) {
        kind[i] = input[i].kind;
        body[i] = input[i].body;
        vertex[i] = input[i].vertex;
        memcpy(value + SP_SCENE_LOG_VALUES * i, input[i].value, sizeof input[i].value);
    }
    return sp_series_append(log->series, (const void *[]){&time, &check, &count, kind, body, vertex, value}, count);
}

int sp_scene_log_finish(sp_scene_log_writer *log)
{
    const int status = sp_series_finish(log->series);
    sp_list_free(&log->kind);
    sp_list_free(&log->body);
    sp_list_free(&log->vertex);
    sp_list_free(&log->value);
    free(log);
    return status;
}

/* ---- reading ---- */

static int read_run(sp_context *context, const json_t *meta, sp_scene_log_run *run)
{
    json_t *how = json_object_get(meta, "run");
    json_int_t integrator, iterations;
    int semi_implicit;

    if (!how || json_unpack(how, "{s:F, s:I, s:F, s:F, s:b, s:F, s:I}", "step", &run->step, "integrator", &integrator,
                            "beta", &run->beta, "gamma", &run->gamma, "semi_implicit", &semi_implicit, "tolerance",
                            &run->tolerance, "iterations", &iterations))
        return sp_fail(context, SP_INPUT, "meta: \"run\" is missing or incomplete");

    run->integrator = integrator;
    run->iterations = iterations;
    run->semi_implicit = semi_implicit;

    if (!(run->step > 0 && run->step <= 1e300) || integrator < 0 || integrator > 1 ||
        !(run->beta > 0 && run->beta <= 1) || !(run->gamma >= 0 && run->gamma <= 1) ||
        !(run->tolerance >= 0 && run->tolerance <= 1) || iterations < 1 || iterations > 10000)
        return sp_fail(context, SP_INPUT, "meta: \"run\": a value is out of range");
    return SP_OK;
}

static int read_bodies(sp_context *context, const json_t *meta, int64_t *count)
{
    const json_t *bodies = json_object_get(meta, "bodies");
    *count = json_integer_value(bodies);
    if (!json_is_integer(bodies) || *count < 1 || *count > INT32_MAX)
        return sp_fail(context, SP_INPUT, "meta: \"bodies\" is missing or no number of bodies");
    return SP_OK;
}

/* The steps' inputs are all of the block's, each for a body of the scene. */
static int check_block(sp_series_stream *stream, void *object)
{
    const sp_scene_log *log = object;
    const long long block = (long long)stream->blocks;
    int64_t left = log->input_count;

    for (int64_t i = 0; i < log->step_count; i++) {
        if (log->count[i] > left)
            return sp_fail(stream->context, SP_INPUT,
                           "count/%06lld: step %lld of the block has %lld inputs, of %lld left", block, (long long)i,
                           (long long)log->count[i], (long long)left);
        left -= log->count[i];
    }

    if (left)
        return sp_fail(stream->context, SP_INPUT, "count/%06lld: its steps have %lld inputs, the block has %lld", block,
                       (long long)(log->input_count - left), (long long)log->input_count);

    for (int64_t i = 0; i < log->input_count; i++)
        if (log->kind[i] == SP_SCENE_LOG_CLUTCH && log->body[i] != SP_SCENE_LOG_HAND)
            return sp_fail(stream->context, SP_INPUT,
                           "input/body/%06lld: input %lld, a clutch, is for body %d, expected -1", block, (long long)i,
                           log->body[i]);
        else if (log->body[i] >= log->body_count || (log->kind[i] == SP_SCENE_LOG_FORCE && log->body[i] < 0))
            return sp_fail(stream->context, SP_INPUT, "input/body/%06lld: input %lld is for body %d of %lld", block,
                           (long long)i, log->body[i], (long long)log->body_count);
    return SP_OK;
}

int sp_scene_log_read(sp_context *context, int descriptor, sp_scene_log *log)
{
    sp_series_stream stream;
    char scene[SP_HASH_LENGTH];
    *log = (sp_scene_log){0};
    int status = sp_series_open(context, descriptor, false, &sp_kind_scene_log, &stream);
    if (status != SP_OK)
        return status;

    /* The checker runs after each block. */
    stream.check = check_block;
    SP_TRY(read_run(context, stream.meta, &log->run));
    SP_TRY(read_bodies(context, stream.meta, &log->body_count));
    SP_TRY(sp_json_hash(context, stream.meta, "scene", scene));
    SP_TRY(sp_series_read(&stream, log, log->owned));

    log->meta = stream.meta;
    log->result = stream.result;
    memcpy(log->hash, stream.hash, sizeof log->hash);
    stream.meta = stream.result = NULL;
done:
    sp_series_close(&stream);
    if (status != SP_OK)
        sp_scene_log_free(log);
    return status;
}

void sp_scene_log_free(sp_scene_log *log)
{
    for (int i = 0; i < SP_SERIES_MOST; i++)
        sp_list_free(&log->owned[i]);
    json_decref(log->meta);
    json_decref(log->result);
    *log = (sp_scene_log){0};
}

sp_scene_log_input sp_scene_log_at(const sp_scene_log *log, int64_t i)
{
    sp_scene_log_input input = {.kind = log->kind[i], .body = log->body[i], .vertex = log->vertex[i]};
    memcpy(input.value, log->value + SP_SCENE_LOG_VALUES * i, sizeof input.value);
    return input;
}
