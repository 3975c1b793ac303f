/* Files of kind motion: round trips, the block sizes of scene_trajectory.md, truncated files, and refusals. */
#include "formats/scene_trajectory.h"
#include "formats_test.h"

static int read_motion(int descriptor, void *to)
{
    sp_scene_trajectory object, *into = to ? to : &object;
    int status = sp_scene_trajectory_read(&context, descriptor, false, into);
    if (status == SP_OK && !to)
        sp_scene_trajectory_free(&object);
    return status;
}

static int read_partial(int descriptor, void *to)
{
    sp_scene_trajectory object, *into = to ? to : &object;
    int status = sp_scene_trajectory_read(&context, descriptor, true, into);
    if (status == SP_OK && !to)
        sp_scene_trajectory_free(&object);
    return status;
}

/* ---- round trip ---- */

enum { MOST_BODIES = 300, MOST_R = 35, MOST_CONTACTS = 5 };

/* A different number for each entry of each series. */
static double value(int series, int64_t frame, int64_t at)
{
    return (double)series + 16 * (double)frame + (double)at / 4096;
}

static sp_pose pose_of(int series, int64_t frame, int64_t body)
{
    const double angle = 0.001 * (double)(frame + body);
    return (sp_pose){{value(series, frame, body), -value(series, frame, body), 1}, {cos(angle), 0, sin(angle), 0}};
}

static int64_t contacts_of(int64_t frame, int64_t bodies)
{
    return bodies > 1 ? frame * 7 % (MOST_CONTACTS + 1) : 0;
}

typedef struct frame_data {
    sp_pose pose[MOST_BODIES];
    double twist[6 * MOST_BODIES], wrench[6 * MOST_BODIES], q[MOST_R], qdot[MOST_R], place[3 * MOST_CONTACTS],
        force[3 * MOST_CONTACTS];
    int32_t body[2 * MOST_CONTACTS], point[MOST_CONTACTS];
    sp_scene_frame frame;
} frame_data;

static void fill(frame_data *d, const sp_scene_trajectory_layout *shape, int64_t f)
{
    d->frame = (sp_scene_frame){
        .time = 0.01 * (double)f, .pose = d->pose, .twist = d->twist, .q = d->q, .qdot = d->qdot, .wrench = d->wrench};
    for (int64_t b = 0; b < shape->body_count; b++)
        d->pose[b] = pose_of(0, f, b);
    for (int64_t i = 0; i < 6 * shape->body_count; i++) {
        d->twist[i] = value(1, f, i);
        d->wrench[i] = value(2, f, i);
    }
    for (int64_t i = 0; i < shape->r; i++) {
        d->q[i] = value(3, f, i);
        d->qdot[i] = value(4, f, i);
    }
    for (int i = 0; i < SP_SCENE_TRAJECTORY_ENERGIES; i++)
        d->frame.energy[i] = value(5, f, i);
    for (int i = 0; i < SP_SCENE_TRAJECTORY_COUNTS; i++)
        d->frame.counts[i] = 100 * f + i;
    d->frame.hand = pose_of(6, f, 0);
    for (int i = 0; i < 6; i++) {
        d->frame.coupling[i] = value(7, f, i);
        d->frame.device[i] = value(8, f, i);
    }
    d->frame.contacts =
        (sp_scene_trajectory_contacts){contacts_of(f, shape->body_count), d->body, d->point, d->place, d->force};
    for (int64_t c = 0; c < d->frame.contacts.count; c++) {
        d->body[2 * c] = (int32_t)(c % shape->body_count);
        d->body[2 * c + 1] = (int32_t)((c + 1) % shape->body_count);
        d->point[c] = (int32_t)(1000 * f + c);
        for (int64_t i = 3 * c; i < 3 * c + 3; i++) {
            d->place[i] = value(9, f, i);
            d->force[i] = value(10, f, i);
        }
    }
}

static frame_data data;

static blob write_motion(const sp_scene_trajectory_layout *shape, int64_t frames)
{
    sp_writer *writer;
    sp_scene_trajectory_writer *motion;
    int descriptor = new_file();
    json_t *meta = json_loads(META("scene_trajectory", ",\"scene\":\"" HASH "\""), 0, NULL), *result = json_object();
    CHECK_OK(sp_writer_open(&context, descriptor, &writer));
    CHECK_OK(sp_scene_trajectory_begin(&context, writer, meta, shape, &motion));
    for (int64_t f = 0; f < frames; f++) {
        fill(&data, shape, f);
        CHECK_OK(sp_scene_trajectory_append(motion, &data.frame));
    }
    CHECK_OK(sp_scene_trajectory_finish(motion));
    CHECK_OK(sp_file_write_result(writer, result));
    CHECK_OK(sp_writer_close(writer));
    json_decref(meta);
    json_decref(result);
    blob bytes = blob_of(descriptor);
    close(descriptor);
    return bytes;
}

static bool frame_is_right(const sp_scene_trajectory *m, const sp_scene_trajectory_layout *shape, int64_t f)
{
    const int64_t b = shape->body_count, r = shape->r;
    fill(&data, shape, f);
    const sp_scene_frame *frame = &data.frame;
    if (m->time[f] != frame->time || !same(m->pose + 7 * b * f, data.pose, 7 * b) ||
        !same(m->twist + 6 * b * f, data.twist, 6 * b) || !same(m->wrench + 6 * b * f, data.wrench, 6 * b) ||
        !same(m->energy + 3 * f, frame->energy, 3) || !same(m->counts + 4 * f, frame->counts, 4))
        return false;
    if (r && (!same(m->q + r * f, data.q, r) || !same(m->qdot + r * f, data.qdot, r)))
        return false;
    if (shape->coupled && (!same(m->hand + 7 * f, &frame->hand, 7) || !same(m->coupling + 6 * f, frame->coupling, 6) ||
                           !same(m->device + 6 * f, frame->device, 6)))
        return false;
    if (!shape->contacts)
        return true;
    const int64_t first = m->contact_begin[f], count = frame->contacts.count;
    return m->contact_begin[f + 1] - first == count && same(m->contact_body + 2 * first, data.body, count) &&
           !memcmp(m->contact_point + first, data.point, (size_t)count * sizeof(int32_t)) &&
           same(m->contact_place + 3 * first, data.place, 3 * count) &&
           same(m->contact_force + 3 * first, data.force, 3 * count);
}

/* Bytes of a frame: 1 + 7b + 6b + 2r + 6b + 3 + 4 values of eight, and 7 + 6 + 6 where coupled. */
static const struct {
    int64_t bodies, r[3];
    bool coupled, contacts;
    int64_t frames, room;
} cases[] = {
    {1, {0}, false, false, 4100, 4096},      /* 216: 4854, of which 4096 */
    {3, {0, 30, 5}, true, true, 900, 851},   /* 8 (8 + 57 + 70) + 152 = 1232 */
    {3, {0, 30, 5}, false, true, 7, 970},    /* 1080 */
    {MOST_BODIES, {0}, false, true, 50, 22}, /* 8 (8 + 5700) = 45664 */
    {2, {0}, true, true, 1, 2016},           /* 8 (8 + 38) + 152 = 520; the one frame has no contact */
};

static sp_scene_trajectory_body bodies[MOST_BODIES];

static sp_scene_trajectory_layout shape_of(int i)
{
    sp_scene_trajectory_layout shape = {cases[i].bodies, bodies, 0, cases[i].coupled, cases[i].contacts};
    for (int b = 0; b < cases[i].bodies; b++) {
        bodies[b] = (sp_scene_trajectory_body){.r = b < 3 ? cases[i].r[b] : 0, .offset = shape.r};
        snprintf(bodies[b].name, sizeof bodies[b].name, "body[%d]", b);
        snprintf(bodies[b].model, sizeof bodies[b].model, "m.%d", b / 2);
        shape.r += bodies[b].r;
    }
    return shape;
}

TEST(round_trip)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sp_scene_trajectory_layout shape = shape_of((int)i);
        blob bytes = write_motion(&shape, cases[i].frames);
        for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
            OWNED(sp_scene_trajectory) got = {0};
            const int status = read_blob(bytes, as_pipe, read_motion, &got);
            CHECK(status == SP_OK, "case %d: %s", (int)i, context.message);
            if (status != SP_OK)
                continue;
            CHECK(got.frame_count == cases[i].frames && got.body_count == shape.body_count && got.r == shape.r &&
                      got.coupled == shape.coupled && got.with_contacts == shape.contacts,
                  "case %d", (int)i);
            int64_t wrong = 0;
            for (int64_t f = 0; f < got.frame_count; f++)
                wrong += !frame_is_right(&got, &shape, f);
            CHECK(wrong == 0, "case %d: %d frames differ", (int)i, (int)wrong);
            for (int64_t b = 0; b < shape.body_count; b++)
                CHECK(!strcmp(got.bodies[b].name, bodies[b].name) && !strcmp(got.bodies[b].model, bodies[b].model) &&
                          got.bodies[b].r == bodies[b].r && got.bodies[b].offset == bodies[b].offset,
                      "case %d: body %d", (int)i, (int)b);
            CHECK(!got.q == !shape.r && !got.hand == !shape.coupled && !got.contact_begin == !shape.contacts,
                  "case %d: absent arrays", (int)i);
            CHECK(!strcmp(json_string_value(json_object_get(got.meta, "scene")), HASH) && strlen(got.hash) == 64 &&
                      !got.truncated && got.result,
                  "case %d: end", (int)i);
        }
        blob again = write_motion(&shape, cases[i].frames);
        CHECK(again.size == bytes.size && !memcmp(again.data, bytes.data, (size_t)bytes.size), "case %d: other bytes",
              (int)i);
        free(again.data);
        free(bytes.data);
    }
}

TEST(blocks_and_order)
{
    static const char *const series[] = {"time",         "pose",          "twist",         "q",
                                         "qdot",         "wrench",        "energy",        "counts",
                                         "hand",         "coupling",      "device",        "contact/count",
                                         "contact/body", "contact/point", "contact/place", "contact/force"};
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        const sp_scene_trajectory_layout shape = shape_of(i);
        blob bytes = write_motion(&shape, cases[i].frames);
        OWNED(sp_file) file = {0};
        CHECK_OK(read_blob(bytes, false, read_any, &file));
        int64_t at = 1, frames = 0; /* after meta */
        for (int64_t block = 0; frames < cases[i].frames; block++) {
            const int64_t left = cases[i].frames - frames, expected = left < cases[i].room ? left : cases[i].room;
            for (int s = 0; s < 16; s++) {
                char name[SP_MEMBER_NAME];
                if (((s == 3 || s == 4) && !shape.r) || (s >= 8 && s <= 10 && !shape.coupled) ||
                    (s >= 11 && !shape.contacts))
                    continue;
                snprintf(name, sizeof name, "%s/%06d", series[s], (int)block);
                const sp_array *array = &file.members.arrays[at++];
                CHECK(!strcmp(array->name, name), "case %d: %s instead of %s", i, array->name, name);
                CHECK(s >= 12 || array->shape[0] == expected, "case %d: %s has %d frames", i, name,
                      (int)array->shape[0]);
            }
            frames += expected;
        }
        CHECK(at == file.members.count || at == file.members.count - 1, "case %d: %d of %d members", i, (int)at,
              (int)file.members.count);
        free(bytes.data);
    }
}

TEST(shapes_refused)
{
    sp_writer *writer;
    sp_scene_trajectory_writer *motion;
    int descriptor = new_file();
    json_t *meta = json_object();
    CHECK_OK(sp_writer_open(&context, descriptor, &writer));
    sp_scene_trajectory_layout shape = shape_of(1);
    shape.body_count = 0;
    CHECK(sp_scene_trajectory_begin(&context, writer, meta, &shape, &motion) == SP_USAGE, "no body");
    shape = shape_of(1);
    shape.r++;
    CHECK(sp_scene_trajectory_begin(&context, writer, meta, &shape, &motion) == SP_USAGE, "the sum of r");
    shape = shape_of(1);
    bodies[1].r = INT64_MAX;
    CHECK(sp_scene_trajectory_begin(&context, writer, meta, &shape, &motion) == SP_USAGE, "r");
    shape = shape_of(1);
    strcpy(bodies[2].model, "a,b");
    CHECK(sp_scene_trajectory_begin(&context, writer, meta, &shape, &motion) == SP_USAGE, "a name");
    sp_writer_abandon(writer);
    json_decref(meta);
    close(descriptor);
}

TEST(nothing_infinite)
{
    sp_writer *writer;
    sp_scene_trajectory_writer *motion;
    int descriptor = new_file();
    json_t *meta = json_loads(META("scene_trajectory", ""), 0, NULL);
    const sp_scene_trajectory_layout shape = shape_of(1);
    CHECK_OK(sp_writer_open(&context, descriptor, &writer));
    CHECK_OK(sp_scene_trajectory_begin(&context, writer, meta, &shape, &motion));
    fill(&data, &shape, 1);
    data.force[2] = NAN;
    CHECK_OK(sp_scene_trajectory_append(motion, &data.frame));
    CHECK(sp_scene_trajectory_finish(motion) == SP_NUMERICAL && strstr(context.message, "contact/force"), "%s",
          context.message);
    sp_writer_abandon(writer);
    json_decref(meta);
    close(descriptor);
}

/* ---- files made by hand: two bodies, one with a coordinate, coupled, with contacts ---- */

enum { FRAMES = 3, SMALL = 16, CONTACTS = 3 };

typedef struct small {
    double time[FRAMES], pose[FRAMES * 14], six[FRAMES * 12], q[FRAMES], energy[FRAMES * 3], hand[FRAMES * 7],
        three[CONTACTS * 3];
    int64_t counts[FRAMES * 4], count[FRAMES];
    int32_t body[CONTACTS * 2], point[CONTACTS];
    char name[SMALL][SP_MEMBER_NAME];
} small;

#define SHAPE                                                                                                          \
    ",\"bodies\":[{\"name\":\"a\",\"model\":\"m\",\"r\":1},{\"name\":\"b\",\"model\":\"m\",\"r\":0}],\"coupled\":"     \
    "true,\"contacts\":true"
#define MOTION META("scene_trajectory", SHAPE)

/* contacts: none in the first frame, two in the second, one in the third */
static void small_block(small *s, int number, member *m)
{
    static const char *const series[SMALL] = {"time",         "pose",          "twist",         "q",
                                              "qdot",         "wrench",        "energy",        "counts",
                                              "hand",         "coupling",      "device",        "contact/count",
                                              "contact/body", "contact/point", "contact/place", "contact/force"};
    *s = (small){.count = {0, 2, 1}, .body = {0, 1, 1, 0, 0, 1}, .point = {4, 5, 6}};
    for (int f = 0; f < FRAMES; f++) {
        s->time[f] = number * FRAMES + f;
        s->q[f] = 10 * s->time[f];
        for (int b = 0; b < 2; b++)
            s->pose[14 * f + 7 * b + 3] = 1;
        s->hand[7 * f + 6] = -1;
    }
    for (int i = 0; i < SMALL; i++)
        snprintf(s->name[i], SP_MEMBER_NAME, "%s/%06d", series[i], number);
    const member all[SMALL] = {
        {s->name[0], SP_F8, false, 1, {FRAMES}, s->time},
        {s->name[1], SP_F8, false, 3, {FRAMES, 2, 7}, s->pose},
        {s->name[2], SP_F8, false, 3, {FRAMES, 2, 6}, s->six},
        {s->name[3], SP_F8, false, 2, {FRAMES, 1}, s->q},
        {s->name[4], SP_F8, false, 2, {FRAMES, 1}, s->q},
        {s->name[5], SP_F8, false, 3, {FRAMES, 2, 6}, s->six},
        {s->name[6], SP_F8, false, 2, {FRAMES, 3}, s->energy},
        {s->name[7], SP_I8, false, 2, {FRAMES, 4}, s->counts},
        {s->name[8], SP_F8, false, 2, {FRAMES, 7}, s->hand},
        {s->name[9], SP_F8, false, 2, {FRAMES, 6}, s->six},
        {s->name[10], SP_F8, false, 2, {FRAMES, 6}, s->six},
        {s->name[11], SP_I8, false, 1, {FRAMES}, s->count},
        {s->name[12], SP_I4, false, 2, {CONTACTS, 2}, s->body},
        {s->name[13], SP_I4, false, 1, {CONTACTS}, s->point},
        {s->name[14], SP_F8, false, 2, {CONTACTS, 3}, s->three},
        {s->name[15], SP_F8, false, 2, {CONTACTS, 3}, s->three},
    };
    memcpy(m, all, sizeof all);
}

/* Two blocks without member `skip`, with member `changed` replaced. */
static blob two_blocks(const char *meta, int skip, int changed, member other)
{
    static small blocks[2];
    member members[2 * SMALL], all[2 * SMALL + 1] = {{0}};
    int kept = 0;
    for (int i = 0; i < 2; i++)
        small_block(&blocks[i], i, members + SMALL * i);
    for (int i = 0; i < 2 * SMALL; i++)
        if (i != skip)
            all[kept++] = i == changed ? other : members[i];
    return make(meta, all, 0);
}

/* Truncated anywhere, a motion gives exactly its complete blocks. */
TEST(partial)
{
    enum { BLOCKS = 3 };
    small block;
    member members[SMALL];
    int64_t end[BLOCKS];
    int descriptor = new_file();
    sp_writer *writer;
    CHECK_OK(sp_writer_open(&context, descriptor, &writer));
    CHECK_OK(sp_writer_text(writer, "meta", MOTION));
    for (int i = 0; i < BLOCKS; i++) {
        small_block(&block, i, members);
        for (int j = 0; j < SMALL; j++)
            CHECK_OK(sp_writer_array(writer, members[j].name, members[j].type, false, members[j].rank, members[j].shape,
                                     members[j].data));
        end[i] = lseek(descriptor, 0, SEEK_CUR);
    }
    json_t *result = json_object();
    CHECK_OK(sp_file_write_result(writer, result));
    json_decref(result);
    CHECK_OK(sp_writer_close(writer));
    for (int64_t whole_size = lseek(descriptor, 0, SEEK_END), size = whole_size; size >= 0; size -= size > 64 ? 5 : 1) {
        int whole = 0;
        while (whole < BLOCKS && end[whole] <= size)
            whole++;
        OWNED(sp_scene_trajectory) got = {0};
        if (ftruncate(descriptor, size))
            abort();
        lseek(descriptor, 0, SEEK_SET);
        const int status = read_partial(descriptor, &got);
        CHECK(whole == 0 ? status == SP_INPUT : status == SP_OK, "cut to %d bytes: status %d, %s", (int)size, status,
              context.message);
        if (status != SP_OK)
            continue;
        CHECK(got.frame_count == whole * FRAMES && got.truncated == (size < whole_size) &&
                  got.contact_begin[got.frame_count] == whole * CONTACTS,
              "cut to %d bytes: %d frames, %d contacts", (int)size, (int)got.frame_count,
              (int)got.contact_begin[got.frame_count]);
        for (int64_t f = 0; f < got.frame_count; f++)
            CHECK(got.time[f] == (double)f && got.q[f] == 10 * (double)f &&
                      got.contact_begin[f] == f / 3 * 3 + (f % 3 == 2 ? 2 : 0),
                  "cut to %d: frame %d", (int)size, (int)f);
    }
    close(descriptor);
}

TEST(metas_refused)
{
    const member none = {0};
    const struct {
        const char *meta, *words;
    } table[] = {
        {META("trajectory", SHAPE), "kind trajectory, expected scene_trajectory"},
        {META("scene_trajectory", ",\"coupled\":true,\"contacts\":true"), "\"bodies\" is missing"},
        {META("scene_trajectory", ",\"bodies\":[],\"coupled\":true,\"contacts\":true"),
         "\"bodies\" is missing or not an array of bodies"},
        {META("scene_trajectory", ",\"bodies\":{\"name\":\"a\"},\"coupled\":true,\"contacts\":true"), "not an array"},
        {META("scene_trajectory", ",\"bodies\":[7],\"coupled\":true,\"contacts\":true"), "entry 0 has no usable"},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"\",\"model\":\"m\",\"r\":1}],\"coupled\":true,\"contacts\":true"),
         "entry 0 has no usable"},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"a\",\"model\":\"m,\",\"r\":1}],\"coupled\":true,\"contacts\":true"),
         "entry 0 has no usable"},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"0123456789012345678901234567890123456789012345678901234567890123\","
              "\"model\":\"m\",\"r\":1}],\"coupled\":true,\"contacts\":true"),
         "entry 0 has no usable"},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"a\",\"model\":\"m\",\"r\":1},{\"name\":\"a\",\"model\":\"m\",\"r\":1}"
              "],\"coupled\":true,\"contacts\":true"),
         "a occurs twice"},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"a\",\"model\":\"m\",\"r\":-1}],\"coupled\":true,\"contacts\":true"),
         "\"r\" of a"},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"a\",\"model\":\"m\",\"r\":1.5}],\"coupled\":true,\"contacts\":true"),
         "\"r\" of a"},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"a\",\"model\":\"m\",\"r\":9223372036854775807}],\"coupled\":true,"
              "\"contacts\":true"),
         "\"r\" of a"},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"a\",\"model\":\"m\",\"r\":1099511627776},{\"name\":\"b\",\"model\":"
              "\"m\",\"r\":1}],\"coupled\":true,\"contacts\":true"),
         "more than 1099511627776 coordinates"},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"a\",\"model\":\"m\",\"r\":1099511627776},{\"name\":\"b\",\"model\":"
              "\"m\",\"r\":0}],\"coupled\":true,\"contacts\":true"),
         "q/000000: dimension 1 is 1, expected 1099511627776"},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"a\",\"model\":\"m\",\"r\":1}],\"coupled\":1,\"contacts\":true"),
         "\"coupled\" is missing or neither"},
        {META("scene_trajectory", ",\"bodies\":[{\"name\":\"a\",\"model\":\"m\",\"r\":1}],\"coupled\":true"),
         "\"contacts\" is missing or neither"},
        {META("scene_trajectory", SHAPE ",\"scene\":\"x\""), "\"scene\""},
        {META("scene_trajectory",
              ",\"bodies\":[{\"name\":\"a\",\"model\":\"m\",\"r\":1}],\"coupled\":true,\"contacts\":true"),
         "pose/000000: dimension 1 is 2, expected 1"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        refuse(two_blocks(table[i].meta, -1, -1, none), read_motion, table[i].words, (int)i);
}

TEST(members_refused)
{
    static const double back[3] = {5, 4, 6}, again[3] = {2, 3, 4}, late[4] = {3, 4, 5, 6}, zeros[64];
    static double poses[42], hands[21], bad[36];
    static const int64_t negative[12] = {0, 0, -1}, wide[3] = {0, 4, 1}, under[3] = {0, 1, 1}, less[3] = {4, -2, 1},
                         far[3] = {INT64_MAX, INT64_MAX, 5};
    static const int32_t beyond[6] = {0, 1, 1, 2, 0, 1}, below[6] = {0, 1, -1, 0, 0, 1}, itself[6] = {0, 1, 1, 1, 0, 1},
                         points[3] = {0, -1, 0};
    const member none = {0};
    for (int i = 0; i < 6; i++)
        poses[7 * i + 3] = i == 3 ? 1 + 2e-6 : 1;
    for (int i = 0; i < 3; i++)
        hands[7 * i + 4] = i == 2 ? NAN : 1;
    bad[35] = INFINITY;
    blob good = two_blocks(MOTION, -1, -1, none);
    CHECK_OK(read_blob(good, true, read_motion, NULL));
    free(good.data);
    for (int i = 0; i < SMALL; i++) {
        REFUSE(two_blocks(MOTION, i, -1, none), read_motion, "block 0");
        REFUSE(two_blocks(MOTION, SMALL + i, -1, none), read_motion, "block 1 is not whole");
    }
    const struct {
        int changed; /* series, of the second block */
        member other;
        const char *words;
    } table[] = {
        {0, {"time/000001", SP_F8, false, 1, {3}, back}, "frame 4 is at 4 s"},
        {0, {"time/000001", SP_F8, false, 1, {3}, again}, "frame 3 is at 2 s"},
        {0, {"time/000001", SP_F8, false, 1, {0}, again}, "it has no frame"},
        {0, {"time/000002", SP_F8, false, 1, {3}, late}, "block 1"},
        {0, {"time/1", SP_F8, false, 1, {3}, late}, "block 1"},
        {0, {"time/000001", SP_F8, false, 1, {4}, late}, "dimension 0 is 3, expected 4"},
        {0, {"time/000001", SP_I8, false, 1, {3}, negative}, "its values are i8"},
        {1, {"time/000001", SP_F8, false, 1, {3}, late}, "occurs twice"},
        {1,
         {"pose/000001", SP_F8, false, 3, {3, 2, 7}, poses},
         "pose/000001: frame 1 of the block: quaternion 1 has length 1.000002"},
        {2, {"twist/000001", SP_F8, false, 3, {3, 2, 6}, bad}, "value 35 is not finite"},
        {2, {"twist/000001", SP_F8, false, 2, {3, 12}, zeros}, "it has 2 dimensions, expected 3"},
        {3, {"q/000001", SP_F8, false, 1, {3}, zeros}, "it has 1 dimensions"},
        {7,
         {"counts/000001", SP_I8, false, 2, {3, 4}, negative},
         "counts/000001: value (0, 2) is -1, expected at least 0"},
        {7, {"counts/000001", SP_F8, false, 2, {3, 4}, zeros}, "its values are f8"},
        {8, {"hand/000001", SP_F8, false, 2, {3, 7}, hands}, "not finite"},
        {8, {"hand/000001", SP_F8, false, 2, {3, 7}, zeros}, "quaternion 0 has length 0"},
        {11,
         {"contact/count/000001", SP_I8, false, 1, {3}, wide},
         "frame 1 of the block has 4 contacts, the block has 3"},
        {11, {"contact/count/000001", SP_I8, false, 1, {3}, under}, "its frames have 2 contacts, the block has 3"},
        {11, {"contact/count/000001", SP_I8, false, 1, {3}, less}, "frame 0 of the block has 4 contacts"},
        {11, {"contact/count/000001", SP_I8, false, 1, {3}, far}, "has 9223372036854775807 contacts"},
        {11, {"contact/count/000001", SP_I8, false, 1, {3}, negative}, "frame 2 of the block has -1 contacts"},
        {12,
         {"contact/body/000001", SP_I4, false, 2, {3, 2}, beyond},
         "contact/body/000001: value (1, 1) is 2, expected 0 to 1"},
        {12, {"contact/body/000001", SP_I4, false, 2, {3, 2}, below}, "contact/body/000001: value (1, 0) is -1"},
        {12, {"contact/body/000001", SP_I4, false, 2, {3, 2}, itself}, "contact 1 is of body 1 with itself"},
        {12, {"contact/body/000001", SP_I8, false, 2, {3, 2}, negative}, "its values are i8"},
        {13, {"contact/point/000001", SP_I4, false, 1, {3}, points}, "contact/point/000001: value 1 is -1"},
        {14, {"contact/place/000001", SP_F8, false, 2, {2, 3}, zeros}, "dimension 0 is 2, expected 3"},
        {15, {"contact/force/000001", SP_F8, false, 2, {3, 3}, bad + 27}, "value 8 is not finite"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        refuse(two_blocks(MOTION, -1, SMALL + table[i].changed, table[i].other), read_motion, table[i].words, (int)i);
    REFUSE(make(MOTION, NULL, 0), read_motion, "the scene_trajectory has no frame");
    member members[SMALL + 1] = {{0}};
    small block;
    small_block(&block, 0, members);
    REFUSE(make(MOTION, members, NO_RESULT), read_motion, "its last member is not result");
    REFUSE(make(NULL, members, NO_RESULT), read_motion, "no meta member");
}

/* Columns in the other order and whole numbers of half the size are what container.md allows. */
TEST(orders_and_widths)
{
    static double turned[42];
    static const int32_t narrow[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    for (int i = 0; i < 6; i++)
        turned[18 + i] = 1; /* [3, 2, 7] with the first index fastest: component 3 is at 18 to 23 */
    turned[0] = 5;
    blob bytes = two_blocks(MOTION, -1, SMALL + 1, (member){"pose/000001", SP_F8, true, 3, {3, 2, 7}, turned});
    sp_scene_trajectory got;
    CHECK_OK(read_blob(bytes, false, read_motion, &got));
    CHECK(got.pose[3 * 14] == 5 && got.pose[3 * 14 + 3] == 1, "the order");
    sp_scene_trajectory_free(&got);
    free(bytes.data);
    bytes = two_blocks(MOTION, -1, SMALL + 7, (member){"counts/000001", SP_I4, false, 2, {3, 4}, narrow});
    CHECK_OK(read_blob(bytes, false, read_motion, &got));
    CHECK(got.counts[12] == 0 && got.counts[23] == 11, "the width");
    sp_scene_trajectory_free(&got);
    free(bytes.data);
}
