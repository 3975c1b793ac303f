#include "formats/scene_trajectory.h"

#include "formats/kind_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MOST = (int64_t)1 << 40; /* coordinates: frames stay far below 2⁶³ bytes */
static const int64_t MOST_BODIES = (int64_t)1 << 32;

/* ---- the table ---- */

#define AT(member) .at = offsetof(sp_scene_trajectory, member)
static const sp_symbol symbols[] = {{"b", .at = offsetof(sp_scene_trajectory, body_count), .given = true},
                                    {"r", .at = offsetof(sp_scene_trajectory, r), .given = true},
                                    {"n", .at = offsetof(sp_scene_trajectory, frame_count)},
                                    {"m", .at = offsetof(sp_scene_trajectory, contact_count)},
                                    {0}};

static const sp_member_rule rules[] = {
    {"time/B", "n", SP_F8, AT(time), .unit = "s", .meaning = "strictly increasing over all blocks"},
    {"pose/B", "n, b, 7", SP_F8, AT(pose), .unit = "m, 1", .meaning = "x, y, z of the origin of the body's frame"},
    {"twist/B", "n, b, 6", SP_F8, AT(twist), .unit = "m/s, rad/s",
     .meaning = "velocity of that origin, angular velocity, both in the world"},
    {"q/B", "n, r", SP_F8, WITH("r"), AT(q), .meaning = "reduced coordinates, body after body"},
    {"qdot/B", "n, r", SP_F8, WITH("r"), AT(qdot), .unit = "1/s", .meaning = "their rates"},
    {"wrench/B", "n, b, 6", SP_F8, AT(wrench), .unit = "N, N m",
     .meaning = "force and torque of all contacts of the body"},
    {"energy/B", "n, 3", SP_F8, AT(energy), .unit = "J", .meaning = "kinetic, strain and gravity"},
    {"counts/B", "n, 4", SP_I8, AT(counts), FROM(0), .meaning = "the maxima over the steps since the previous frame"},
    {"hand/B", "n, 7", SP_F8, WITH("coupled"), AT(hand), .unit = "m, 1", .meaning = "pose of the manipulandum"},
    {"coupling/B", "n, 6", SP_F8, WITH("coupled"), AT(coupling), .unit = "N, N m",
     .meaning = "force of the coupling's springs on the body"},
    {"device/B", "n, 6", SP_F8, WITH("coupled"), AT(device), .unit = "N, N m",
     .meaning = "force and torque that the device renders"},
    {"contact/count/B", "n", SP_I8, WITH("contacts"), AT(contact_begin), .apart = true,
     .meaning = "number of contacts of the frame"},
    {"contact/body/B", "m, 2", SP_I4, WITH("contacts"), AT(contact_body), BELOW("b"), .apart = true,
     .meaning = "the body of the point (or sphere) and the other one"},
    {"contact/point/B", "m", SP_I4, WITH("contacts"), AT(contact_point), FROM(0), .apart = true,
     .meaning = "the point, counted from 0"},
    {"contact/place/B", "m, 3", SP_F8, WITH("contacts"), AT(contact_place), .apart = true, .unit = "m",
     .meaning = "in the world"},
    {"contact/force/B", "m, 3", SP_F8, WITH("contacts"), AT(contact_force), .apart = true, .unit = "N",
     .meaning = "in the world, on the first body"},
    {0}};
#undef AT

static const sp_fact scene_trajectory_meta[] = {
    {"bodies", SP_OBJECTS, .meaning = "one {`name`, `model`, `r`} for each body in order, b ≥ 1"},
    {"coupled", SP_BOOLEAN, .meaning = "whether a body is coupled to a manipulandum"},
    {"contacts", SP_BOOLEAN, .meaning = "whether contacts are recorded"},
    {"scene", SP_HASH, .meaning = "of the text of the scene"},
    {0}};

static const sp_fact scene_trajectory_result[] = {
    {"pairs_by_gradient", SP_INTEGER,
     .meaning = "pairs of a point shell and a distance field whose forces are along gradients of the distance"},
    {"pairs_by_normal", SP_INTEGER, .meaning = "those whose forces are along the normals of the points"},
    {"most_nodes_visited", SP_INTEGER, .meaning = "the largest number of nodes that a step visited"},
    {"most_points_in_contact", SP_INTEGER, .meaning = "the largest number of penetrating points of a step"},
    {"deepest_level", SP_INTEGER, .meaning = "the deepest level of a step"},
    {"steps_in_contact", SP_INTEGER, .meaning = "steps with a penetrating point"},
    {"steps_cut_short", SP_INTEGER, .meaning = "steps in which the budget of the traversal left levels out"},
    {"steps_in_contact_cut_short", SP_INTEGER, .meaning = "those of them in contact"},
    {"steps_wholly_inside", SP_INTEGER,
     .meaning = "steps in which all points of a body penetrated another one, deeper than the extent of the points"},
    {"steps_passed_through", SP_INTEGER,
     .meaning = "steps in which points passed through a thin body between two evaluations of contact"},
    {"cycles_out_of_balance", SP_INTEGER,
     .meaning = "cycles of static coupling in which the forces were not balanced to 1 %, although the device had "
                "rested for 200 cycles"},
    {"steps_at_speed_limit", SP_INTEGER, .meaning = "steps in which a speed limit of the coupling was active"},
    {"steps_with_free_directions", SP_INTEGER,
     .meaning = "steps in which neither contact nor coupling resisted along a direction"},
    {"lowest_distance", SP_NUMBER, .null = true, .unit = "m",
     .meaning = "the smallest evaluated distance; null: no bodies came near each other"},
    {"penetration_by_size", SP_NUMBER,
     .meaning = "largest penetration depth of a pair of bodies relative to the size of the smaller one"},
    {"contact_stiffness", SP_NUMBER, .unit = "N/m", .meaning = "the penalty stiffness of each point"},
    {"stiffest_contact", SP_NUMBER,
     .meaning = "h² times the largest eigenvalue of the contact stiffness of a free body, relative to its mass and "
                "moments of inertia"},
    {"lean_of_normals", SP_NUMBER,
     .meaning = "deviation of contact forces along point normals from those along the gradients of the distances, "
                "relative to their lengths"},
    {"energy_rise", SP_NUMBER, .unit = "J",
     .meaning = "largest excess of the total energy of a recorded frame over that at the start"},
    {"work_of_paths", SP_NUMBER, .unit = "J",
     .meaning =
         "work of bodies on paths on other bodies, and of the inertial forces of frames on bodies that feel them"},
    {"energy_first", SP_NUMBERS, .unit = "J", .meaning = "kinetic, strain and gravitational energy at the start"},
    {"energy_last", SP_NUMBERS, .unit = "J", .meaning = "the same at the end"},
    {"partial_steps", SP_INTEGER, .when = "`--partial`", .meaning = "steps that were done"},
    {0}};

const sp_kind sp_kind_scene_trajectory = {"scene_trajectory", symbols, rules, scene_trajectory_meta,
                                          scene_trajectory_result};

/* Computes offsets of the bodies' coordinates; returns −1 if there are too many. */
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

/* Names as in scenes. */
static bool is_name(const char *name)
{
    const size_t length =
        strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-[]"); /* copies: NAME[3] */
    return length > 0 && length < SP_SCENE_NAME && !name[length];
}

/* ---- writing ---- */

struct sp_scene_trajectory_writer {
    sp_series_writer *series;
    sp_scene_trajectory file; /* only its extents are used */
};

static int set_meta(sp_context *context, json_t *meta, const sp_scene_trajectory_layout *shape)
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
    bool failed = json_object_set_new(meta, "bodies", bodies) ||
                  json_object_set_new(meta, "coupled", json_boolean(shape->coupled)) ||
                  json_object_set_new(meta, "contacts", json_boolean(shape->contacts));
    return failed ? sp_fail_memory(context) : SP_OK;
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
    sp_scene_trajectory_writer *motion = NULL;
    int status;
    SP_TRY(check_shape(context, shape));
    SP_TRY(set_meta(context, meta, shape));
    motion = calloc(1, sizeof *motion);
    SP_PASS(sp_allocated(context, motion));
    motion->file = (sp_scene_trajectory){.body_count = shape->body_count, .r = shape->r};
    SP_TRY(sp_series_begin(context, writer, &sp_kind_scene_trajectory, meta, &motion->file, &motion->series));
    *result = motion;
    return SP_OK;
done:
    free(motion);
    return status;
}

int sp_scene_trajectory_append(sp_scene_trajectory_writer *motion, const sp_scene_frame *frame)
{
    const sp_scene_trajectory_contacts *contacts = &frame->contacts;
    return sp_series_append(motion->series,
                            (const void *[]){&frame->time, frame->pose, frame->twist, frame->q, frame->qdot,
                                             frame->wrench, frame->energy, frame->counts, &frame->hand, frame->coupling,
                                             frame->device, &contacts->count, contacts->body, contacts->point,
                                             contacts->place, contacts->force},
                            contacts->count);
}

int sp_scene_trajectory_finish(sp_scene_trajectory_writer *motion)
{
    const int status = sp_series_finish(motion->series);
    free(motion);
    return status;
}

/* ---- reading ---- */

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
        return sp_fail(context, SP_INPUT, "meta: \"bodies\": %s occurs twice", name);
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

static int read_meta(sp_context *context, const json_t *meta, sp_scene_trajectory *motion)
{
    const json_t *bodies = json_object_get(meta, "bodies");
    char hash[SP_HASH_LENGTH];
    json_t *names = json_object();
    int status;

    motion->body_count = (int64_t)json_array_size(bodies);
    if (motion->body_count < 1 || motion->body_count > MOST_BODIES) {
        status = sp_fail(context, SP_INPUT, "meta: \"bodies\" is missing or not an array of bodies");
        goto done;
    }

    motion->bodies = sp_pool_new(&motion->pool, motion->body_count, sizeof *motion->bodies);
    SP_TRY(sp_allocated(context, motion->bodies));

    for (int64_t b = 0; b < motion->body_count; b++)
        SP_TRY(read_body(context, json_array_get(bodies, (size_t)b), b, names, &motion->bodies[b]));
    motion->r = place_bodies(motion->body_count, motion->bodies);
    if (motion->r < 0) {
        status = sp_fail(context, SP_INPUT, "meta: \"bodies\": they have more than %lld coordinates", (long long)MOST);
        goto done;
    }

    SP_TRY(read_bool(context, meta, "coupled", &motion->coupled));
    SP_TRY(read_bool(context, meta, "contacts", &motion->with_contacts));
    SP_TRY(sp_json_hash(context, meta, "scene", hash));
done:
    json_decref(names);
    return status;
}

/* Checks that the contacts of the frames are all contacts of the block, each between two bodies. */
static int check_contacts(const sp_series_stream *stream, const sp_scene_trajectory *motion)
{
    sp_context *context = stream->context;
    const long long block = (long long)stream->blocks;
    const int64_t *count = motion->contact_begin;
    int64_t left = motion->contact_count;

    for (int64_t f = 0; f < motion->frame_count; f++) {
        if (count[f] < 0 || count[f] > left)
            return sp_fail(context, SP_INPUT,
                           "contact/count/%06lld: frame %lld of the block has %lld contacts, the block has %lld", block,
                           (long long)f, (long long)count[f], (long long)motion->contact_count);
        left -= count[f];
    }

    if (left)
        return sp_fail(context, SP_INPUT, "contact/count/%06lld: its frames have %lld contacts, the block has %lld",
                       block, (long long)(motion->contact_count - left), (long long)motion->contact_count);

    for (int64_t c = 0; c < motion->contact_count; c++)
        if (motion->contact_body[2 * c] == motion->contact_body[2 * c + 1])
            return sp_fail(context, SP_INPUT, "contact/body/%06lld: contact %lld is of body %d with itself", block,
                           (long long)c, motion->contact_body[2 * c]);
    return SP_OK;
}

static int check_block(sp_series_stream *stream, void *object)
{
    const sp_scene_trajectory *motion = object;
    SP_PASS(sp_series_check_poses(stream, "pose", motion->pose, motion->frame_count * motion->body_count,
                                  motion->body_count));
    if (motion->coupled)
        SP_PASS(sp_series_check_poses(stream, "hand", motion->hand, motion->frame_count, 1));
    if (motion->with_contacts)
        SP_PASS(check_contacts(stream, motion));
    return SP_OK;
}

/* Converts the numbers of contacts of frames to the begin of each frame's contacts. The sums cannot overflow, since all
 * contacts are in memory. */
static int begin_contacts(sp_context *context, sp_list *list, sp_scene_trajectory *motion)
{
    SP_PASS(sp_allocated(context, sp_list_add(list, 1, sizeof(int64_t))));
    int64_t *begin = motion->contact_begin = list->data, sum = 0;
    for (int64_t f = 0; f <= motion->frame_count; f++) {
        const int64_t count = f < motion->frame_count ? begin[f] : 0;
        begin[f] = sum;
        sum += count;
    }
    return SP_OK;
}

int sp_scene_trajectory_read(sp_context *context, int descriptor, bool partial, sp_scene_trajectory *motion)
{
    sp_series_stream stream;
    *motion = (sp_scene_trajectory){0};
    int status = sp_series_open(context, descriptor, partial, &sp_kind_scene_trajectory, &stream);
    if (status != SP_OK)
        return status;

    stream.check = check_block;
    SP_TRY(read_meta(context, stream.meta, motion));
    SP_TRY(sp_series_read(&stream, motion, motion->owned));

    /* The series of counts becomes an index: where the contacts of each frame begin. */
    if (motion->with_contacts)
        for (int i = 0; i < SP_SERIES_MOST; i++)
            if (motion->owned[i].data == motion->contact_begin)
                SP_TRY(begin_contacts(context, &motion->owned[i], motion));

    motion->meta = stream.meta;
    motion->result = stream.result;
    motion->truncated = stream.truncated;
    memcpy(motion->hash, stream.hash, sizeof motion->hash);
    stream.meta = stream.result = NULL;
done:
    sp_series_close(&stream);
    if (status != SP_OK)
        sp_scene_trajectory_free(motion);
    return status;
}

void sp_scene_trajectory_free(sp_scene_trajectory *motion)
{
    for (int i = 0; i < SP_SERIES_MOST; i++)
        sp_list_free(&motion->owned[i]);
    sp_pool_free(&motion->pool);
    json_decref(motion->meta);
    json_decref(motion->result);
    *motion = (sp_scene_trajectory){0};
}
