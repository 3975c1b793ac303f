#include "formats/scene_trajectory.h"

#include "formats/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a block consists of, in this order in the file; those of extent 0 are left out. */
enum series {
    TIME,
    POSE,
    TWIST,
    Q,
    QDOT,
    WRENCH,
    ENERGY,
    COUNTS,
    HAND,
    COUPLING,
    DEVICE,
    CONTACT_COUNT,
    CONTACT_BODY,
    CONTACT_POINT,
    CONTACT_PLACE,
    CONTACT_FORCE,
    SERIES
};

static const char *const series_name[SERIES] = {
    "time",          "pose",          "twist",    "q",      "qdot",          "wrench",       "energy",
    "counts",        "hand",          "coupling", "device", "contact/count", "contact/body", "contact/point",
    "contact/place", "contact/force",
};

static const int64_t MOST = (int64_t)1 << 40; /* coordinates: frames stay far below 2⁶³ bytes */
static const int64_t MOST_BODIES = (int64_t)1 << 32;

/* What is recorded. */
typedef struct layout {
    int64_t bodies, r;
    bool coupled, contacts;
} layout;

static bool of_contacts(enum series series)
{
    return series >= CONTACT_BODY;
}

static enum sp_type series_type(enum series series)
{
    return series == COUNTS || series == CONTACT_COUNT         ? SP_I8
           : series == CONTACT_BODY || series == CONTACT_POINT ? SP_I4
                                                               : SP_F8;
}

static size_t series_size(enum series series)
{
    return series_type(series) == SP_I4 ? sizeof(int32_t) : 8;
}

/* Shape of a series of `count` frames or contacts; returns its rank. */
static int series_shape(enum series series, layout recorded, int64_t count, int64_t shape[3])
{
    static const int64_t width[SERIES] = {[POSE] = 7,
                                          [TWIST] = 6,
                                          [WRENCH] = 6,
                                          [ENERGY] = SP_SCENE_TRAJECTORY_ENERGIES,
                                          [COUNTS] = SP_SCENE_TRAJECTORY_COUNTS,
                                          [HAND] = 7,
                                          [COUPLING] = 6,
                                          [DEVICE] = 6,
                                          [CONTACT_BODY] = 2,
                                          [CONTACT_PLACE] = 3,
                                          [CONTACT_FORCE] = 3};
    shape[0] = count;
    shape[1] = series == Q || series == QDOT ? recorded.r : width[series];
    shape[2] = 0;
    if (series == POSE || series == TWIST || series == WRENCH) {
        shape[2] = shape[1];
        shape[1] = recorded.bodies;
        return 3;
    }
    return series == TIME || series == CONTACT_COUNT || series == CONTACT_POINT ? 1 : 2;
}

/* Values of a series in one frame, or for one contact, 0 where it is not recorded. */
static int64_t series_width(enum series series, layout recorded)
{
    int64_t shape[3];
    const int rank = series_shape(series, recorded, 1, shape);
    if ((series >= HAND && series <= DEVICE && !recorded.coupled) || (series >= CONTACT_COUNT && !recorded.contacts))
        return 0;
    return rank == 1 ? 1 : rank == 2 ? shape[1] : shape[1] * shape[2];
}

/* Bytes of a frame without contacts and their number. */
static int64_t frame_bytes(layout recorded)
{
    int64_t width = 0;
    for (enum series i = 0; i < CONTACT_COUNT; i++)
        width += series_width(i, recorded);
    return 8 * width;
}

/* Offsets of the bodies' coordinates; −1 where there are too many of them. */
static int64_t place_bodies(int64_t count, sp_scene_trajectory_body *bodies)
{
    int64_t r = 0;
    for (int64_t b = 0; b < count; b++) {
        if (bodies[b].r < 0 || bodies[b].r > MOST - r)
            return -1;
        bodies[b].offset = r;
        r += bodies[b].r;
    }
    return r;
}

/* As in scenes. */
static bool is_name(const char *name)
{
    const size_t length =
        strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-[]"); /* copies: NAME[3] */
    return length > 0 && length < SP_SCENE_NAME && !name[length];
}

/* ---- writing ---- */

struct sp_scene_trajectory_writer {
    sp_context *context;
    sp_writer *writer;
    sp_pool pool;
    layout recorded;
    int64_t block, room, count; /* number of the block, its frames when full, those that it has */
    void *data[SERIES];         /* of frames */
    sp_list list[SERIES];       /* of contacts */
    bool failed;                /* nothing more goes to the file */
};

static int write_shape(sp_context *context, sp_writer *writer, json_t *meta, const sp_scene_trajectory_layout *shape)
{
    json_t *bodies = json_array();
    for (int64_t b = 0; b < shape->body_count; b++) {
        const sp_scene_trajectory_body *body = &shape->bodies[b];
        if (json_array_append_new(bodies, json_pack("{s:s, s:s, s:I}", "name", body->name, "model", body->model, "r",
                                                    (json_int_t)body->r))) {
            json_decref(bodies);
            return sp_fail_memory(context);
        }
    }
    if (json_object_set_new(meta, "bodies", bodies) ||
        json_object_set_new(meta, "coupled", json_boolean(shape->coupled)) ||
        json_object_set_new(meta, "contacts", json_boolean(shape->contacts)))
        return sp_fail_memory(context);
    return sp_file_write_meta(writer, meta);
}

static int check_shape(sp_context *context, const sp_scene_trajectory_layout *shape)
{
    int64_t r = 0;
    if (shape->body_count < 1 || shape->body_count > MOST_BODIES)
        return sp_fail(context, SP_USAGE, "a motion of %lld bodies", (long long)shape->body_count);
    for (int64_t b = 0; b < shape->body_count; b++) {
        const sp_scene_trajectory_body *body = &shape->bodies[b];
        if (!is_name(body->name) || !is_name(body->model) || body->r < 0 || body->r > MOST - r)
            return sp_fail(context, SP_USAGE,
                           "a motion whose body %lld is \"%.64s\" of model \"%.64s\" with %lld coordinates behind %lld",
                           (long long)b, body->name, body->model, (long long)body->r, (long long)r);
        r += body->r;
    }
    return r == shape->r ? SP_OK
                         : sp_fail(context, SP_USAGE, "a motion of %lld reduced coordinates whose bodies have %lld",
                                   (long long)shape->r, (long long)r);
}

int sp_scene_trajectory_begin(sp_context *context, sp_writer *writer, json_t *meta,
                              const sp_scene_trajectory_layout *shape, sp_scene_trajectory_writer **result)
{
    int status = check_shape(context, shape);
    if (status != SP_OK)
        return status;
    sp_scene_trajectory_writer *motion = calloc(1, sizeof *motion);
    if (!motion)
        return sp_fail_memory(context);
    motion->context = context;
    motion->writer = writer;
    motion->recorded = (layout){shape->body_count, shape->r, shape->coupled, shape->contacts};
    motion->room = sp_block_capacity(frame_bytes(motion->recorded));
    for (enum series i = 0; i < CONTACT_BODY; i++)
        motion->data[i] = sp_pool_raw(&motion->pool, motion->room * series_width(i, motion->recorded), series_size(i));
    status = motion->pool.failed ? sp_fail_memory(context) : write_shape(context, writer, meta, shape);
    if (status != SP_OK) {
        sp_pool_free(&motion->pool);
        free(motion);
        return status;
    }
    *result = motion;
    return SP_OK;
}

static int write_block(sp_scene_trajectory_writer *motion)
{
    int status = SP_OK;
    for (enum series i = 0; i < SERIES; i++) {
        char name[SP_MEMBER_NAME];
        int64_t shape[3];
        const int64_t width = series_width(i, motion->recorded);
        const int rank = series_shape(i, motion->recorded,
                                      of_contacts(i) && width ? motion->list[i].count / width : motion->count, shape);
        const void *data = of_contacts(i) && motion->list[i].count ? motion->list[i].data : motion->data[i];
        if (width == 0)
            continue;
        sp_block_member(series_name[i], motion->block, name);
        if (series_type(i) == SP_F8)
            SP_TRY(sp_writer_numbers(motion->writer, name, false, rank, shape, data));
        else
            SP_TRY(sp_writer_array(motion->writer, name, series_type(i), false, rank, shape, data));
    }
    for (enum series i = CONTACT_BODY; i < SERIES; i++)
        motion->list[i].count = 0;
    motion->block++;
    motion->count = 0;
done:
    motion->failed = status != SP_OK;
    return status;
}

int sp_scene_trajectory_append(sp_scene_trajectory_writer *motion, const sp_scene_frame *frame)
{
    const sp_scene_trajectory_contacts *contacts = &frame->contacts;
    const void *const from[SERIES] = {&frame->time,   frame->pose,     frame->twist,    frame->q,
                                      frame->qdot,    frame->wrench,   frame->energy,   frame->counts,
                                      &frame->hand,   frame->coupling, frame->device,   &contacts->count,
                                      contacts->body, contacts->point, contacts->place, contacts->force};
    for (enum series i = 0; i < SERIES; i++) {
        const int64_t width = series_width(i, motion->recorded),
                      values = of_contacts(i) ? contacts->count * width : width;
        if (values == 0)
            continue;
        void *to = of_contacts(i) ? sp_list_add(&motion->list[i], values, series_size(i))
                                  : (char *)motion->data[i] + (size_t)(motion->count * width) * series_size(i);
        if (!to) {
            motion->failed = true;
            return sp_fail_memory(motion->context);
        }
        memcpy(to, from[i], (size_t)values * series_size(i));
    }
    return ++motion->count == motion->room ? write_block(motion) : SP_OK;
}

int sp_scene_trajectory_finish(sp_scene_trajectory_writer *motion)
{
    int status = SP_OK;
    if (motion->count && !motion->failed)
        status = write_block(motion);
    for (enum series i = 0; i < SERIES; i++)
        sp_list_free(&motion->list[i]);
    sp_pool_free(&motion->pool);
    free(motion);
    return status;
}

/* ---- reading ---- */

/* A file between its blocks. */
typedef struct input {
    sp_context *context;
    sp_reader *reader;
    sp_scene_trajectory motion;
    layout recorded;
    sp_pool pool; /* of the block that is being read */
    int64_t block;
    double last_time;
    /* of the block: */
    sp_array array[SERIES];
    bool read[SERIES];
    int64_t frames, contacts; /* −1: not known yet */
} input;

static int read_bool(sp_context *context, const json_t *meta, const char *key, bool *value)
{
    const json_t *entry = json_object_get(meta, key);
    if (!json_is_boolean(entry))
        return sp_fail(context, SP_INPUT, "meta: \"%s\" is missing or neither true nor false", key);
    *value = json_is_true(entry);
    return SP_OK;
}

static int read_body(sp_context *context, const json_t *entry, int64_t b, json_t *names, sp_scene_trajectory_body *body)
{
    const char *name = json_string_value(json_object_get(entry, "name")),
               *model = json_string_value(json_object_get(entry, "model"));
    const json_t *r = json_object_get(entry, "r");
    if (!name || !model || !is_name(name) || !is_name(model))
        return sp_fail(context, SP_INPUT, "meta: \"bodies\": entry %lld has no usable \"name\" and \"model\"",
                       (long long)b);
    if (json_object_get(names, name))
        return sp_fail(context, SP_INPUT, "meta: \"bodies\": %s stands twice", name);
    if (json_object_set_new(names, name, json_true()))
        return sp_fail_memory(context);
    if (!json_is_integer(r) || json_integer_value(r) < 0 || json_integer_value(r) > MOST)
        return sp_fail(context, SP_INPUT, "meta: \"bodies\": \"r\" of %s is not a whole number from 0 to %lld", name,
                       (long long)MOST);
    *body = (sp_scene_trajectory_body){.r = json_integer_value(r)};
    memcpy(body->name, name, strlen(name) + 1);
    memcpy(body->model, model, strlen(model) + 1);
    return SP_OK;
}

static int read_shape(input *in)
{
    sp_context *context = in->context;
    sp_scene_trajectory *motion = &in->motion;
    const json_t *bodies = json_object_get(motion->meta, "bodies");
    json_t *names = json_object();
    int status;
    motion->body_count = (int64_t)json_array_size(bodies);
    if (motion->body_count < 1 || motion->body_count > MOST_BODIES) {
        status = sp_fail(context, SP_INPUT, "meta: \"bodies\" is missing or not an array of bodies");
        goto done;
    }
    motion->bodies = sp_pool_new(&motion->pool, motion->body_count, sizeof *motion->bodies);
    if (!motion->bodies) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t b = 0; b < motion->body_count; b++)
        SP_TRY(read_body(context, json_array_get(bodies, (size_t)b), b, names, &motion->bodies[b]));
    motion->r = place_bodies(motion->body_count, motion->bodies);
    if (motion->r < 0) {
        status = sp_fail(context, SP_INPUT, "meta: \"bodies\": they have more than %lld coordinates", (long long)MOST);
        goto done;
    }
    SP_TRY(read_bool(context, motion->meta, "coupled", &motion->coupled));
    SP_TRY(read_bool(context, motion->meta, "contacts", &motion->with_contacts));
    SP_TRY(sp_json_hash(context, motion->meta, "scene", motion->hash));
    motion->hash[0] = 0;
    in->recorded = (layout){motion->body_count, motion->r, motion->coupled, motion->with_contacts};
done:
    json_decref(names);
    return status;
}

static bool wanted(void *data, const char *name)
{
    const layout *recorded = data;
    for (enum series i = 0; i < SERIES; i++)
        if (sp_block_is(series_name[i], name))
            return series_width(i, *recorded) > 0;
    return !strcmp(name, "result");
}

/* A member of a series, which has to be of the block that is due; keeps it until the block is whole. */
static int take_series(input *in, sp_array *array)
{
    sp_context *context = in->context;
    int64_t shape[3];
    enum series series = 0;
    char due[SP_MEMBER_NAME];
    for (; series < SERIES; series++) {
        sp_block_member(series_name[series], in->block, due);
        if (!strcmp(array->name, due))
            break;
    }
    if (series == SERIES)
        return sp_fail(context, SP_INPUT, "member %s does not belong to block %lld, which is due", array->name,
                       (long long)in->block);
    if (in->read[series])
        return sp_fail(context, SP_INPUT, "member %s stands twice", array->name);
    int64_t *count = of_contacts(series) ? &in->contacts : &in->frames;
    const int rank = series_shape(series, in->recorded, *count, shape);
    const int status = sp_block_take(context, &in->pool, array, series_type(series), rank, shape);
    if (status != SP_OK)
        return status;
    if (array->shape[0] == 0 && !of_contacts(series))
        return sp_fail(context, SP_INPUT, "%s: it has no frame", array->name);
    *count = array->shape[0];
    in->array[series] = *array;
    in->read[series] = true;
    return SP_OK;
}

/* Quaternions at the end of each of the poses of a series. */
static int check_poses(const input *in, enum series series)
{
    const sp_array *array = &in->array[series];
    const double *value = array->data;
    const int64_t in_frame = series == POSE ? in->recorded.bodies : 1;
    for (int64_t i = 0; i < in->frames * in_frame; i++) {
        const double *q = value + 7 * i + 3;
        const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(fabs(length - 1) <= 1e-6))
            return sp_fail(in->context, SP_INPUT, "%s: frame %lld of the block: quaternion %lld has length %.9g",
                           array->name, (long long)(i / in_frame), (long long)(i % in_frame), length);
    }
    return SP_OK;
}

static int check_counts(const input *in)
{
    const sp_array *array = &in->array[COUNTS];
    const int64_t *value = array->data;
    for (int64_t i = 0; i < array->count; i++)
        if (value[i] < 0)
            return sp_fail(in->context, SP_INPUT, "%s: value %lld is %lld", array->name, (long long)i,
                           (long long)value[i]);
    return SP_OK;
}

static int check_contacts(const input *in)
{
    sp_context *context = in->context;
    const sp_array *array = &in->array[CONTACT_COUNT];
    const int64_t *count = array->data;
    int64_t left = in->contacts;
    for (int64_t f = 0; f < in->frames; f++) {
        if (count[f] < 0 || count[f] > left)
            return sp_fail(context, SP_INPUT, "%s: frame %lld of the block has %lld contacts, the block has %lld",
                           array->name, (long long)f, (long long)count[f], (long long)in->contacts);
        left -= count[f];
    }
    if (left)
        return sp_fail(context, SP_INPUT, "%s: its frames have %lld contacts, the block has %lld", array->name,
                       (long long)(in->contacts - left), (long long)in->contacts);
    const int32_t *body = in->array[CONTACT_BODY].data, *point = in->array[CONTACT_POINT].data;
    for (int64_t c = 0; c < in->contacts; c++) {
        const int32_t *pair = body + 2 * c;
        if (pair[0] < 0 || pair[0] >= in->recorded.bodies || pair[1] < 0 || pair[1] >= in->recorded.bodies ||
            pair[0] == pair[1])
            return sp_fail(context, SP_INPUT, "%s: contact %lld is of bodies %d and %d of %lld",
                           in->array[CONTACT_BODY].name, (long long)c, pair[0], pair[1],
                           (long long)in->recorded.bodies);
        if (point[c] < 0)
            return sp_fail(context, SP_INPUT, "%s: contact %lld is of point %d", in->array[CONTACT_POINT].name,
                           (long long)c, point[c]);
    }
    return SP_OK;
}

/* Adds a whole block to what is in memory. */
static int keep_block(input *in)
{
    sp_context *context = in->context;
    sp_scene_trajectory *motion = &in->motion;
    int status;
    SP_TRY(sp_block_times(context, motion->frame_count, in->frames, in->array[TIME].data, &in->last_time));
    SP_TRY(check_poses(in, POSE));
    if (motion->coupled)
        SP_TRY(check_poses(in, HAND));
    SP_TRY(check_counts(in));
    if (motion->with_contacts)
        SP_TRY(check_contacts(in));
    for (enum series i = 0; i < SERIES; i++) {
        const int64_t values = in->array[i].count;
        void *to = in->read[i] ? sp_list_add(&motion->owned[i], values, series_size(i)) : NULL;
        if (to)
            memcpy(to, in->array[i].data, (size_t)values * series_size(i));
        else if (in->read[i])
            return sp_fail_memory(context);
    }
    motion->frame_count += in->frames;
    in->block++;
done:
    return status;
}

static int read_blocks(input *in)
{
    sp_scene_trajectory *motion = &in->motion;
    int status, whole = 0;
    for (enum series i = 0; i < SERIES; i++)
        whole += series_width(i, in->recorded) > 0;
    for (;;) {
        int missing = whole;
        sp_pool_free(&in->pool);
        memset(in->read, 0, sizeof in->read);
        in->frames = in->contacts = -1;
        while (missing) {
            sp_array array;
            SP_TRY(sp_reader_next(in->reader, &in->pool, wanted, &in->recorded, &array));
            if (!array.name[0])
                return sp_blocks_end(in->context, "motion", in->reader, motion->frame_count, in->block, missing < whole,
                                     motion->meta, motion->result, &motion->truncated, motion->hash);
            if (motion->result)
                return sp_fail(in->context, SP_INPUT, "member %s follows result, which must be the last", array.name);
            if (!strcmp(array.name, "result")) {
                SP_TRY(sp_json_from_member(in->context, &array, &motion->result));
            } else if (wanted(&in->recorded, array.name)) {
                SP_TRY(take_series(in, &array));
                missing--;
            }
        }
        SP_TRY(keep_block(in));
    }
done:
    return status;
}

/* From the numbers of contacts of frames to where those of each begin; the sums fit, as many contacts are in memory. */
static int begin_contacts(sp_context *context, sp_scene_trajectory *motion)
{
    sp_list *list = &motion->owned[CONTACT_COUNT];
    if (!sp_list_add(list, 1, sizeof(int64_t)))
        return sp_fail_memory(context);
    int64_t *begin = list->data, sum = 0;
    for (int64_t f = 0; f <= motion->frame_count; f++) {
        const int64_t count = f < motion->frame_count ? begin[f] : 0;
        begin[f] = sum;
        sum += count;
    }
    return SP_OK;
}

static void point_into_lists(sp_scene_trajectory *motion)
{
    const sp_list *owned = motion->owned;
    motion->time = owned[TIME].data;
    motion->pose = owned[POSE].data;
    motion->twist = owned[TWIST].data;
    motion->q = owned[Q].data;
    motion->qdot = owned[QDOT].data;
    motion->wrench = owned[WRENCH].data;
    motion->energy = owned[ENERGY].data;
    motion->counts = owned[COUNTS].data;
    motion->hand = owned[HAND].data;
    motion->coupling = owned[COUPLING].data;
    motion->device = owned[DEVICE].data;
    motion->contact_begin = owned[CONTACT_COUNT].data;
    motion->contact_body = owned[CONTACT_BODY].data;
    motion->contact_point = owned[CONTACT_POINT].data;
    motion->contact_place = owned[CONTACT_PLACE].data;
    motion->contact_force = owned[CONTACT_FORCE].data;
}

int sp_scene_trajectory_read(sp_context *context, int descriptor, bool partial, sp_scene_trajectory *motion)
{
    _Static_assert(sizeof motion->owned / sizeof *motion->owned == SERIES, "a list for each series");
    input in = {.context = context};
    *motion = (sp_scene_trajectory){0};
    int status = sp_blocks_open(context, descriptor, partial, "motion", &in.reader, &in.motion.meta);
    if (status != SP_OK)
        return status;
    SP_TRY(read_shape(&in));
    SP_TRY(read_blocks(&in));
    if (in.motion.with_contacts)
        SP_TRY(begin_contacts(context, &in.motion));
    point_into_lists(&in.motion);
done:
    sp_reader_close(in.reader);
    sp_pool_free(&in.pool);
    if (status == SP_OK)
        *motion = in.motion;
    else
        sp_scene_trajectory_free(&in.motion);
    return status;
}

void sp_scene_trajectory_free(sp_scene_trajectory *motion)
{
    for (enum series i = 0; i < SERIES; i++)
        sp_list_free(&motion->owned[i]);
    sp_pool_free(&motion->pool);
    json_decref(motion->meta);
    json_decref(motion->result);
    *motion = (sp_scene_trajectory){0};
}
