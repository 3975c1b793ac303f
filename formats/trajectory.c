#include "formats/trajectory.h"

#include "formats/blocks.h"

#include <stdlib.h>
#include <string.h>

/* What a block consists of, in this order in the file; those of extent 0 are left out. */
enum series { TIME, Q, QDOT, U, UDOT, ENERGY, ESTIMATE, ENERGY_ESTIMATE, SERIES };

static const char *const series_name[SERIES] = {"time", "q",      "qdot",     "u",
                                                "udot", "energy", "estimate", "energy_estimate"};

/* What is known of held vertices, members before the first block. */
enum prescribed { PRESCRIBED_VERTEX, PRESCRIBED_AXES, PRESCRIBED_GROUP, PRESCRIBED_FRAMES, PRESCRIBED };

static const char *const prescribed_name[PRESCRIBED] = {"held/vertex", "held/axes", "held/group", "held/frames"};

static const int64_t MOST = (int64_t)1 << 40; /* coordinates and points: frames stay far below 2⁶³ bytes */

/* What is recorded: coordinates, points, whether estimates in either norm. */
typedef struct layout {
    int64_t r, points;
    bool estimates, energy_estimates;
} layout;

/* Shape of a series of `frames` frames; returns its rank. */
static int series_shape(enum series series, layout recorded, int64_t frames, int64_t shape[3])
{
    shape[0] = frames;
    shape[1] = series == Q || series == QDOT ? recorded.r : series == ENERGY ? SP_ENERGY_COUNT : recorded.points;
    shape[2] = 3;
    return series == TIME || series == ESTIMATE || series == ENERGY_ESTIMATE ? 1
           : series == U || series == UDOT                                   ? 3
                                                                             : 2;
}

/* Values of a series in one frame, 0 where it is not recorded. */
static int64_t series_width(enum series series, layout recorded)
{
    int64_t shape[3];
    int rank = series_shape(series, recorded, 1, shape);
    if (series == ESTIMATE)
        return recorded.estimates;
    if (series == ENERGY_ESTIMATE)
        return recorded.energy_estimates;
    return rank == 1 ? 1 : rank == 2 ? shape[1] : shape[1] * shape[2];
}

/* ---- writing ---- */

struct sp_trajectory_writer {
    sp_context *context;
    sp_writer *writer;
    sp_pool pool;
    layout recorded;
    int64_t block, room, count; /* number of the block, its frames when full, those that it has */
    double *data[SERIES];
    bool failed; /* nothing more goes to the file */
};

static int write_prescribed(sp_context *context, sp_writer *writer, int64_t count,
                            const sp_prescribed_record *prescribed)
{
    sp_pool pool = {0};
    int64_t *number[PRESCRIBED];
    uint8_t *axes = sp_pool_raw(&pool, count, 1);
    int status = SP_OK;
    for (int i = 0; i < PRESCRIBED; i++)
        number[i] = sp_pool_raw(&pool, count, sizeof **number);
    if (pool.failed)
        status = sp_fail_memory(context);
    for (int64_t k = 0; k < count && status == SP_OK; k++) {
        number[PRESCRIBED_VERTEX][k] = prescribed[k].vertex;
        number[PRESCRIBED_GROUP][k] = prescribed[k].group;
        number[PRESCRIBED_FRAMES][k] = prescribed[k].frames;
        axes[k] = prescribed[k].axes;
    }
    for (int i = 0; i < PRESCRIBED && status == SP_OK; i++)
        status = i == PRESCRIBED_AXES ? sp_writer_array(writer, prescribed_name[i], SP_U1, false, 1, &count, axes)
                                      : sp_writer_array(writer, prescribed_name[i], SP_I8, false, 1, &count, number[i]);
    sp_pool_free(&pool);
    return status;
}

static int write_shape(sp_context *context, sp_writer *writer, json_t *meta, const sp_trajectory_layout *shape)
{
    if (json_object_set_new(meta, "r", json_integer(shape->r)) ||
        json_object_set_new(meta, "points", json_integer(shape->point_count)) ||
        json_object_set_new(meta, "vertices", json_integer(shape->vertex_count)) ||
        (shape->estimates && (json_object_set_new(meta, "estimates", json_true()) ||
                              json_object_set_new(meta, "energy_estimates", json_true()))))
        return sp_fail_memory(context);
    int status;
    SP_TRY(sp_file_write_meta(writer, meta));
    if (shape->point_count && shape->vertex)
        SP_TRY(sp_writer_array(writer, "vertex", SP_I8, false, 1, &shape->point_count, shape->vertex));
    if (shape->prescribed_count)
        SP_TRY(write_prescribed(context, writer, shape->prescribed_count, shape->prescribed));
done:
    return status;
}

int sp_trajectory_begin(sp_context *context, sp_writer *writer, json_t *meta, const sp_trajectory_layout *shape,
                        sp_trajectory_writer **result)
{
    if (shape->r < 0 || shape->r > MOST || shape->point_count < 0 || shape->point_count > MOST ||
        (shape->r == 0 && shape->point_count == 0))
        return sp_fail(context, SP_USAGE, "a trajectory of %lld reduced coordinates and %lld points",
                       (long long)shape->r, (long long)shape->point_count);
    if (!shape->vertex && shape->point_count && shape->point_count != shape->vertex_count)
        return sp_fail(context, SP_USAGE,
                       "a trajectory of %lld points without their numbers, where the mesh has %lld vertices",
                       (long long)shape->point_count, (long long)shape->vertex_count);
    sp_trajectory_writer *trajectory = calloc(1, sizeof *trajectory);
    if (!trajectory)
        return sp_fail_memory(context);
    trajectory->context = context;
    trajectory->writer = writer;
    trajectory->recorded = (layout){shape->r, shape->point_count, shape->estimates, shape->estimates};
    int64_t width = 0;
    for (enum series i = 0; i < SERIES; i++)
        width += series_width(i, trajectory->recorded);
    trajectory->room = sp_block_capacity(8 * width);
    for (enum series i = 0; i < SERIES; i++)
        trajectory->data[i] =
            sp_pool_raw(&trajectory->pool, trajectory->room * series_width(i, trajectory->recorded), sizeof(double));
    int status = trajectory->pool.failed ? sp_fail_memory(context) : write_shape(context, writer, meta, shape);
    if (status != SP_OK) {
        sp_pool_free(&trajectory->pool);
        free(trajectory);
        return status;
    }
    *result = trajectory;
    return SP_OK;
}

static int write_block(sp_trajectory_writer *trajectory)
{
    int status = SP_OK;
    for (enum series i = 0; i < SERIES; i++) {
        char name[SP_MEMBER_NAME];
        int64_t shape[3];
        int rank = series_shape(i, trajectory->recorded, trajectory->count, shape);
        if (series_width(i, trajectory->recorded) == 0)
            continue;
        sp_block_member(series_name[i], trajectory->block, name);
        SP_TRY(sp_writer_numbers(trajectory->writer, name, false, rank, shape, trajectory->data[i]));
    }
    trajectory->block++;
    trajectory->count = 0;
done:
    trajectory->failed = status != SP_OK;
    return status;
}

int sp_trajectory_append(sp_trajectory_writer *trajectory, const sp_frame *frame)
{
    const double *from[SERIES] = {&frame->time, frame->q,      frame->qdot,         frame->u,
                                  frame->udot,  frame->energy, &frame->estimate[0], &frame->estimate[1]};
    for (enum series i = 0; i < SERIES; i++) {
        int64_t width = series_width(i, trajectory->recorded);
        if (width)
            memcpy(trajectory->data[i] + trajectory->count * width, from[i], (size_t)width * sizeof(double));
    }
    return ++trajectory->count == trajectory->room ? write_block(trajectory) : SP_OK;
}

int sp_trajectory_finish(sp_trajectory_writer *trajectory)
{
    int status = SP_OK;
    if (trajectory->count && !trajectory->failed)
        status = write_block(trajectory);
    sp_pool_free(&trajectory->pool);
    free(trajectory);
    return status;
}

/* ---- reading, one block at a time ---- */

struct sp_trajectory_stream {
    sp_context *context;
    sp_reader *reader;
    sp_trajectory state;   /* meta, shape, vertex; at the end the rest */
    sp_pool pool;          /* of the block that was given out last */
    int64_t block, frames; /* passed */
    double last_time;
    bool ended;
    unsigned prescribed; /* bits of the members about held vertices that were read */
};

static layout layout_of(const sp_trajectory *trajectory)
{
    return (layout){trajectory->r, trajectory->point_count, trajectory->estimates, trajectory->energy_estimates};
}

/* HELD: none of them. */
static int held_member(const char *name)
{
    int i = 0;
    while (i < PRESCRIBED && strcmp(prescribed_name[i], name))
        i++;
    return i;
}

static bool wanted(void *data, const char *name)
{
    const sp_trajectory *state = data;
    if (!strcmp(name, "result") || (!strcmp(name, "vertex") && state->point_count))
        return true;
    if (held_member(name) < PRESCRIBED)
        return true;
    for (enum series i = 0; i < SERIES; i++)
        if (sp_block_is(series_name[i], name))
            return series_width(i, layout_of(state)) > 0;
    return false;
}

int sp_trajectory_continue(sp_context *context, sp_reader *reader, json_t *meta, sp_trajectory_stream **result)
{
    int status;
    sp_trajectory_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        sp_reader_close(reader);
        json_decref(meta);
        return sp_fail_memory(context);
    }
    stream->context = context;
    stream->reader = reader;
    sp_trajectory *state = &stream->state;
    state->meta = meta;
    SP_TRY(sp_json_integer(context, meta, "r", 0, MOST, &state->r));
    SP_TRY(sp_json_integer(context, meta, "points", 0, MOST, &state->point_count));
    SP_TRY(sp_json_integer(context, meta, "vertices", 1, MOST, &state->vertex_count));
    SP_TRY(sp_json_hash(context, meta, "mesh", state->hash));
    SP_TRY(sp_json_hash(context, meta, "basis", state->hash));
    state->hash[0] = 0;
    double ignored[2];
    if (json_object_get(meta, "load_end"))
        SP_TRY(sp_json_number(context, meta, "load_end", ignored));
    if (json_object_get(meta, "damping"))
        SP_TRY(sp_json_numbers(context, meta, "damping", 2, ignored));
    state->estimates = json_is_true(json_object_get(meta, "estimates"));
    state->energy_estimates = json_is_true(json_object_get(meta, "energy_estimates"));
    if (state->r == 0 && state->point_count == 0)
        status = sp_fail(context, SP_INPUT, "meta: \"r\" and \"points\" are both 0: nothing is recorded");
done:
    if (status != SP_OK)
        sp_trajectory_close(stream);
    else
        *result = stream;
    return status;
}

int sp_trajectory_open(sp_context *context, int descriptor, bool partial, sp_trajectory_stream **result)
{
    sp_reader *reader;
    json_t *meta;
    int status = sp_blocks_open(context, descriptor, partial, "trajectory", &reader, &meta);
    return status == SP_OK ? sp_trajectory_continue(context, reader, meta, result) : status;
}

const json_t *sp_trajectory_meta(const sp_trajectory_stream *stream)
{
    return stream->state.meta;
}

static int take_vertex(sp_trajectory_stream *stream, sp_pool *pool, sp_array *array)
{
    sp_trajectory *state = &stream->state;
    int status;
    if (state->vertex || stream->block)
        return sp_fail(stream->context, SP_INPUT, "vertex: it stands twice, or behind the first block");
    SP_TRY(sp_block_take(stream->context, pool, array, SP_I8, 1, &state->point_count));
    int64_t *vertex = array->data;
    for (int64_t i = 0; i < state->point_count; i++)
        if (vertex[i] < 0 || vertex[i] >= state->vertex_count)
            return sp_fail(stream->context, SP_INPUT, "vertex: point %lld is vertex %lld of %lld", (long long)i,
                           (long long)vertex[i], (long long)state->vertex_count);
    state->vertex = sp_pool_copy(&state->pool, vertex, state->point_count, sizeof *vertex);
    if (!state->vertex)
        status = sp_fail_memory(stream->context);
done:
    return status;
}

/* A member about held vertices; the first of them says how many there are. */
static int take_held(sp_trajectory_stream *stream, sp_pool *pool, sp_array *array, int which)
{
    sp_trajectory *state = &stream->state;
    sp_context *context = stream->context;
    int status;
    if (stream->prescribed >> which & 1 || stream->block)
        return sp_fail(context, SP_INPUT, "%s: it stands twice, or behind the first block", prescribed_name[which]);
    const int64_t any = -1;
    SP_TRY(sp_block_take(context, pool, array, which == PRESCRIBED_AXES ? SP_U1 : SP_I8, 1,
                         stream->prescribed ? &state->prescribed_count : &any));
    const int64_t *number = array->data;
    const uint8_t *axes = array->data;
    if (!stream->prescribed) {
        state->prescribed_count = array->shape[0];
        state->prescribed = sp_pool_new(&state->pool, state->prescribed_count, sizeof *state->prescribed);
        if (!state->prescribed)
            return sp_fail_memory(context);
    }
    stream->prescribed |= 1u << which;
    for (int64_t k = 0; k < state->prescribed_count; k++) {
        sp_prescribed_record *prescribed = &state->prescribed[k];
        const int64_t value = which == PRESCRIBED_AXES ? axes[k] : number[k],
                      low = which == PRESCRIBED_VERTEX  ? (k ? prescribed[-1].vertex + 1 : 0)
                            : which == PRESCRIBED_GROUP ? -1
                                                        : 1,
                      high = which == PRESCRIBED_VERTEX ? state->vertex_count - 1
                             : which == PRESCRIBED_AXES ? 7
                                                        : MOST;
        if (value < low || value > high)
            return sp_fail(context, SP_INPUT, "%s: entry %lld is %lld, expected %lld to %lld", prescribed_name[which],
                           (long long)k, (long long)value, (long long)low, (long long)high);
        switch (which) {
        case PRESCRIBED_VERTEX:
            prescribed->vertex = value;
            break;
        case PRESCRIBED_AXES:
            prescribed->axes = (uint8_t)value;
            break;
        case PRESCRIBED_GROUP:
            prescribed->group = value;
            break;
        default:
            prescribed->frames = value;
        }
    }
done:
    return status;
}

/* A member of a series: puts it into the block, which has to be the one that is due. */
static int take_series(sp_trajectory_stream *stream, sp_pool *pool, sp_array *array, sp_trajectory *block,
                       double *data[SERIES])
{
    sp_context *context = stream->context;
    int64_t shape[3];
    enum series series = 0;
    char due[SP_MEMBER_NAME];
    for (; series < SERIES; series++) {
        sp_block_member(series_name[series], stream->block, due);
        if (!strcmp(array->name, due))
            break;
    }
    if (series == SERIES)
        return sp_fail(context, SP_INPUT, "member %s does not belong to block %lld, which is due", array->name,
                       (long long)stream->block);
    if (data[series])
        return sp_fail(context, SP_INPUT, "member %s stands twice", array->name);
    int rank = series_shape(series, layout_of(block), block->frame_count ? block->frame_count : -1, shape);
    int status = sp_block_take(context, pool, array, SP_F8, rank, shape);
    if (status != SP_OK)
        return status;
    if (array->shape[0] == 0)
        return sp_fail(context, SP_INPUT, "%s: it has no frame", array->name);
    block->frame_count = array->shape[0];
    data[series] = array->data;
    return SP_OK;
}

/* The end of the file. `begun`: some members of a block were read, but not all. */
static int finish(sp_trajectory_stream *stream, bool begun)
{
    sp_trajectory *state = &stream->state;
    stream->ended = true;
    return sp_blocks_end(stream->context, "trajectory", stream->reader, stream->frames, stream->block, begun,
                         state->meta, state->result, &state->truncated, state->hash);
}

int sp_trajectory_next(sp_trajectory_stream *stream, sp_trajectory *block)
{
    sp_trajectory *state = &stream->state;
    double *data[SERIES] = {NULL};
    int missing = 0;
    int status = SP_OK;
    sp_pool_free(&stream->pool);
    *block = *state;
    block->pool = (sp_pool){0};
    for (enum series i = 0; i < SERIES; i++)
        missing += series_width(i, layout_of(state)) > 0;
    int whole = missing;
    while (missing && !stream->ended) {
        sp_array array;
        SP_TRY(sp_reader_next(stream->reader, &stream->pool, wanted, state, &array));
        if (!array.name[0]) {
            SP_TRY(finish(stream, missing < whole));
            *block = *state;
            block->pool = (sp_pool){0};
            block->frame_count = 0;
            return SP_OK;
        }
        if (state->result) {
            status = sp_fail(stream->context, SP_INPUT, "member %s follows result, which must be the last", array.name);
            goto done;
        }
        if (!wanted(state, array.name))
            continue;
        if (!strcmp(array.name, "result")) {
            SP_TRY(sp_json_from_member(stream->context, &array, &state->result));
        } else if (!strcmp(array.name, "vertex")) {
            SP_TRY(take_vertex(stream, &stream->pool, &array));
            block->vertex = state->vertex;
        } else if (held_member(array.name) < PRESCRIBED) {
            SP_TRY(take_held(stream, &stream->pool, &array, held_member(array.name)));
            block->prescribed = state->prescribed;
            block->prescribed_count = state->prescribed_count;
        } else {
            SP_TRY(take_series(stream, &stream->pool, &array, block, data));
            missing--;
        }
    }
    if (stream->ended)
        return SP_OK;
    for (int i = 0; i < PRESCRIBED && stream->prescribed; i++)
        if (!(stream->prescribed >> i & 1)) {
            status = sp_fail(stream->context, SP_INPUT, "member %s is missing", prescribed_name[i]);
            goto done;
        }
    if (state->point_count && !state->vertex && state->point_count != state->vertex_count) {
        status = sp_fail(stream->context, SP_INPUT, "member vertex is missing: %lld points of %lld vertices",
                         (long long)state->point_count, (long long)state->vertex_count);
        goto done;
    }
    SP_TRY(sp_block_times(stream->context, stream->frames, block->frame_count, data[TIME], &stream->last_time));
    block->time = data[TIME];
    block->q = data[Q];
    block->qdot = data[QDOT];
    block->u = data[U];
    block->udot = data[UDOT];
    block->energy = data[ENERGY];
    block->estimate = data[ESTIMATE];
    block->energy_estimate = data[ENERGY_ESTIMATE];
    stream->frames += block->frame_count;
    stream->block++;
done:
    if (status != SP_OK)
        *block = (sp_trajectory){0};
    return status;
}

void sp_trajectory_close(sp_trajectory_stream *stream)
{
    if (!stream)
        return;
    sp_reader_close(stream->reader);
    sp_pool_free(&stream->pool);
    sp_trajectory_free(&stream->state);
    free(stream);
}

/* ---- reading, all of it ---- */

int sp_trajectory_read(sp_context *context, int descriptor, bool partial, sp_trajectory *trajectory)
{
    sp_trajectory_stream *stream;
    sp_trajectory all = {0};
    *trajectory = all;
    int status = sp_trajectory_open(context, descriptor, partial, &stream);
    if (status != SP_OK)
        return status;
    for (;;) {
        sp_trajectory block;
        SP_TRY(sp_trajectory_next(stream, &block));
        if (block.frame_count == 0)
            break;
        all.frame_count += block.frame_count;
        const double *from[SERIES] = {block.time, block.q,      block.qdot,     block.u,
                                      block.udot, block.energy, block.estimate, block.energy_estimate};
        for (enum series i = 0; i < SERIES; i++) {
            int64_t more = block.frame_count * series_width(i, layout_of(&block));
            double *to = from[i] ? sp_list_add(&all.owned[i], more, sizeof(double)) : NULL;
            if (to)
                memcpy(to, from[i], (size_t)more * sizeof(double));
            else if (from[i]) {
                status = sp_fail_memory(context);
                goto done;
            }
        }
    }
    *trajectory = stream->state;
    stream->state = (sp_trajectory){0};
    memcpy(trajectory->owned, all.owned, sizeof all.owned);
    trajectory->frame_count = all.frame_count;
    trajectory->time = all.owned[TIME].data;
    trajectory->q = all.owned[Q].data;
    trajectory->qdot = all.owned[QDOT].data;
    trajectory->u = all.owned[U].data;
    trajectory->udot = all.owned[UDOT].data;
    trajectory->energy = all.owned[ENERGY].data;
    trajectory->estimate = all.owned[ESTIMATE].data;
    trajectory->energy_estimate = all.owned[ENERGY_ESTIMATE].data;
done:
    sp_trajectory_close(stream);
    if (status != SP_OK)
        for (enum series i = 0; i < SERIES; i++)
            sp_list_free(&all.owned[i]);
    return status;
}

void sp_trajectory_free(sp_trajectory *trajectory)
{
    for (enum series i = 0; i < SERIES; i++)
        sp_list_free(&trajectory->owned[i]);
    sp_pool_free(&trajectory->pool);
    json_decref(trajectory->meta);
    json_decref(trajectory->result);
    *trajectory = (sp_trajectory){0};
}
