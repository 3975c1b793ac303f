#include "base/vec3.h"
#include "formats/export/gltf_internal.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Normals of quantized targets are fractions of at most 1. Where they are larger the target is divided by a gain, and
 * its weights are multiplied by it; beyond this gain positions would lose too many digits, and normals stay floats. */
static const double GAIN_MOST = 8;

/* ---- arrays ---- */

static int type_size(enum type type)
{
    return type == BYTE ? 1 : type == SHORT || type == UNSIGNED_SHORT ? 2 : 4;
}

int sp_gltf_unit(const array *a)
{
    if (a->whole || a->type == FLOAT)
        return 0;
    if (a->type == BYTE)
        return 127;
    return a->type == SHORT ? 32767 : 65535;
}

int64_t sp_gltf_tuple(const array *a)
{
    const int bytes = a->components * type_size(a->type);
    return a->use == VERTICES ? (bytes + 3) / 4 * 4 : bytes;
}

static double number(const array *a, int64_t i, int c)
{
    const int64_t at = i * a->stride + a->from[c];
    return a->whole ? (double)a->whole[at] : a->single ? (double)a->single[at] : a->real[at];
}

static double stored(const array *a, double value, int c)
{
    const int unit = sp_gltf_unit(a);
    const double scaled = (value - a->offset[c]) / a->scale;
    return unit ? rint(unit * scaled) : a->whole ? scaled : (double)(float)scaled;
}

static void survey(array *a)
{
    const int unit = sp_gltf_unit(a);

    for (int c = 0; c < 4; c++) {
        a->low[c] = INFINITY;
        a->high[c] = -INFINITY;
    }

    for (int64_t i = 0; i < a->count; i++) {
        double errors = 0, squares = 0;
        for (int c = 0; c < a->components; c++) {
            const double value = number(a, i, c), kept = stored(a, value, c),
                         back = (unit ? kept / unit : kept) * a->scale + a->offset[c];

            a->low[c] = fmin(a->low[c], kept);
            a->high[c] = fmax(a->high[c], kept);
            a->most = fmax(a->most, fabs(value));
            errors += (back - value) * (back - value);
            squares += value * value;
        }

        a->error = fmax(a->error, sqrt(errors));
        a->length = fmax(a->length, sqrt(squares));
    }
}

static void write_array(sp_stream *stream, const array *a)
{
    static const unsigned char zero[4] = {0};
    const int size = type_size(a->type);
    const int64_t padding = sp_gltf_tuple(a) - a->components * size;

    for (int64_t i = 0; i < a->count; i++) {
        unsigned char bytes[16];
        for (int c = 0; c < a->components; c++) {
            const double kept = stored(a, number(a, i, c), c);
            const float single = (float)kept;
            uint32_t bits;
            if (a->type == FLOAT)
                memcpy(&bits, &single, sizeof bits);
            else
                bits = (uint32_t)(int64_t)kept;

            for (int b = 0; b < size; b++)
                bytes[c * size + b] = (unsigned char)(bits >> 8 * b);
        }

        sp_stream_bytes(stream, bytes, (size_t)(a->components * size));
        sp_stream_bytes(stream, zero, (size_t)padding);
    }

    sp_stream_bytes(stream, zero, (size_t)(-a->count * sp_gltf_tuple(a) & 3));
}

/* ---- what is stored ---- */

/* Adds an array, which is surveyed, and returns its number. */
static int64_t add(document *d, array a)
{
    array *to = &d->arrays[d->array_count];
    *to = a;
    to->scale = a.scale > 0 ? a.scale : 1;
    to->begin = d->bytes;
    survey(to);
    d->bytes += (to->count * sp_gltf_tuple(to) + 3) / 4 * 4;
    return d->array_count++;
}

static array vectors(const double *real, int64_t count, enum type type)
{
    return (array){.real = real, .count = count, .stride = 3, .from = {0, 1, 2}, .components = 3, .type = type};
}

static double largest(int64_t count, const double *values)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

/* Where positions are stored by another scale and from another origin: quantized ones, so that they and the targets
 * use all integers, and those of a mesh far from its origin, whose rounding to float would show. */
static void place(document *d, const sp_animated_mesh *mesh, mesh_plan *plan)
{
    double low[3], high[3], side = 0, far = 0, half = 0;

    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = mesh->rest[k];
        for (int64_t v = 1; v < mesh->vertex_count; v++) {
            low[k] = fmin(low[k], mesh->rest[3 * v + k]);
            high[k] = fmax(high[k], mesh->rest[3 * v + k]);
        }
        side = fmax(side, high[k] - low[k]);
        far = fmax(far, fmax(fabs(low[k]), fabs(high[k])));
    }

    plan->scale = 1;
    plan->placed = d->quantize || (far > 2 * side && !d->animation->bodies[0].skin);
    if (plan->placed)
        for (int k = 0; k < 3; k++) {
            plan->offset[k] = (float)(low[k] + (high[k] - low[k]) / 2);
            half = fmax(half, fmax(high[k] - plan->offset[k], plan->offset[k] - low[k]));
        }
    if (!d->quantize)
        return;

    half = fmax(half, largest(3 * mesh->target_count * mesh->vertex_count, mesh->targets));
    plan->scale = half > 0 ? nextafterf((float)half, INFINITY) : 1;
}

static void plan_mesh(document *d, const sp_animated_mesh *mesh, mesh_plan *plan)
{
    const int64_t count = mesh->vertex_count;
    const enum type fine = d->quantize ? SHORT : FLOAT;
    place(d, mesh, plan);

    array positions = vectors(mesh->rest, count, fine);
    positions.bounded = true;
    positions.scale = plan->scale;
    memcpy(positions.offset, plan->offset, sizeof plan->offset);
    plan->first = add(d, positions);

    add(d, vectors(mesh->normals, count, fine));
    add(d, (array){.whole = mesh->triangles,
                   .count = 3 * mesh->triangle_count,
                   .stride = 1,
                   .components = 1,
                   .type = count < 65536 ? UNSIGNED_SHORT : UNSIGNED_INT,
                   .use = INDICES});

    if (mesh->colors)
        add(d, (array){.single = mesh->colors,
                       .count = count,
                       .stride = 3,
                       .from = {0, 1, 2},
                       .components = 3,
                       .type = UNSIGNED_SHORT});

    memset(positions.offset, 0, sizeof positions.offset);

    /* The gain divides a target whose normals change by more than 1, so that they fit into bytes; its weights are
     * multiplied by it. */
    for (int64_t i = 0; i < mesh->target_count; i++) {
        const double *change = mesh->normal_targets + 3 * i * count, most = largest(3 * count, change);
        const bool fraction = d->quantize && most <= GAIN_MOST;
        plan->gain[i] = fraction ? fmax(1, most) : 1;
        positions.real = mesh->targets + 3 * i * count;
        positions.scale = plan->scale * plan->gain[i];
        add(d, positions);

        array normals = vectors(change, count, fraction ? BYTE : FLOAT);
        normals.scale = plan->gain[i];
        add(d, normals);
    }
}

static array samples(const double *real, int64_t count, int64_t stride, int components)
{
    return (array){
        .real = real, .count = count, .stride = stride, .components = components, .type = FLOAT, .use = SAMPLES};
}

/* Whether rows of numbers differ from the first. */
static bool changes(const double *rows, int64_t count, int64_t width)
{
    if (rows)
        for (int64_t i = 1; i < count; i++)
            if (memcmp(rows + i * width, rows, (size_t)width * sizeof *rows))
                return true;
    return false;
}

/* A translation moves the joint at rest into the origin. */
static void plan_skin(document *d, const sp_animated_body *body, body_plan *plan)
{
    const sp_animated_skin *skin = body->skin;
    const int64_t vertices = d->animation->meshes[body->mesh].vertex_count, joints = skin->joint_count;

    plan->first = d->array_count;

    /* An attribute of glTF holds four joints and weights of a vertex. */
    for (int i = 0; i < skin->influences; i += 4) {
        const array four = {
            .count = vertices, .stride = skin->influences, .from = {i, i + 1, i + 2, i + 3}, .components = 4};
        array joint = four, weight = four;
        joint.whole = skin->joint;
        joint.type = UNSIGNED_SHORT;
        weight.real = skin->weight;
        weight.type = FLOAT;
        add(d, joint);
        add(d, weight);
    }

    for (int64_t j = 0; j < joints; j++)
        for (int k = 0; k < 16; k++)
            plan->inverse[16 * j + k] = k >= 12 && k < 15 ? -skin->at[3 * j + k - 12] : k % 5 == 0;

    array matrices = {.real = plan->inverse, .count = 16 * joints, .stride = 1, .components = 1, .type = FLOAT};
    matrices.use = SAMPLES;
    matrices.matrices = true;
    add(d, matrices);
}

/* Translation and rotation of x, y, z, qw, qx, qy, qz over the frames. */
static int64_t add_poses(document *d, const double *poses)
{
    const int64_t frames = d->animation->frame_count;
    array translation = samples(poses, frames, 7, 3), rotation = samples(poses, frames, 7, 4);
    memcpy(translation.from, (int[]){0, 1, 2, 0}, sizeof translation.from);
    memcpy(rotation.from, (int[]){4, 5, 6, 3}, sizeof rotation.from);
    const int64_t number = add(d, translation);
    add(d, rotation);
    return number;
}

static void plan_joints(document *d, const sp_animated_skin *skin, body_plan *plan)
{
    const int64_t frames = d->animation->frame_count;
    for (int64_t j = 0; j < skin->joint_count; j++) {
        const double *poses = skin->poses + 7 * frames * j;
        const bool moves = changes(poses, frames, 7);
        plan->moving[j] = moves ? add_poses(d, poses) : -1;
        d->animated |= moves;
    }
}

static void plan_body(document *d, const sp_animated_body *body, body_plan *plan)
{
    const int64_t frames = d->animation->frame_count, targets = d->animation->meshes[body->mesh].target_count;

    for (int64_t k = 0; k < frames * targets; k++)
        plan->weights[k] = body->weights[k] * d->meshes[body->mesh].gain[k % targets];

    plan->moves = changes(body->poses, frames, 7);
    plan->deforms = targets > 0 && changes(plan->weights, frames, targets);
    d->animated |= plan->moves || plan->deforms;

    if (plan->deforms)
        add(d, samples(plan->weights, frames * targets, 1, 1));
    if (body->skin)
        plan_joints(d, body->skin, plan);

    if (!plan->moves)
        return;
    plan->translation = add_poses(d, body->poses);
    plan->rotation = plan->translation + 1;
}

static int plan_times(document *d)
{
    const double *t = d->animation->times;
    array times = samples(t, d->animation->frame_count, 1, 1);
    times.bounded = true;
    for (int64_t f = 1; f < d->animation->frame_count; f++)
        if ((float)t[f] <= (float)t[f - 1])
            return sp_fail(
                d->context, SP_INPUT,
                "the times %.12g s and %.12g s are the same in single precision, in which glTF has them: take "
                "fewer frames (--every)",
                t[f - 1], t[f]);
    d->time = add(d, times);
    return SP_OK;
}

static int check_range(document *d)
{
    for (int64_t i = 0; i < d->array_count; i++)
        for (int c = 0; c < d->arrays[i].components; c++)
            if (!isfinite(d->arrays[i].low[c]) || !isfinite(d->arrays[i].high[c]))
                return sp_fail(d->context, SP_INPUT, "%.3g is too large for single precision, in which glTF has it",
                               d->arrays[i].most);
    return SP_OK;
}

static int allocate(document *d)
{
    const sp_animation *animation = d->animation;
    int64_t most = 1 + 3 * animation->body_count;

    d->meshes = sp_pool_new(&d->pool, animation->mesh_count, sizeof *d->meshes);
    d->bodies = sp_pool_new(&d->pool, animation->body_count, sizeof *d->bodies);

    SP_PASS(sp_allocated(d->context, !d->pool.failed));

    for (int64_t m = 0; m < animation->mesh_count; m++) {
        most += 4 + 2 * animation->meshes[m].target_count;
        d->meshes[m].gain = sp_pool_new(&d->pool, animation->meshes[m].target_count, sizeof *d->meshes[m].gain);
    }

    for (int64_t b = 0; b < animation->body_count; b++) {
        const sp_animated_skin *skin = animation->bodies[b].skin;
        if (skin) {
            most += skin->influences / 2 + 1 + 2 * skin->joint_count;
            d->bodies[b].moving = sp_pool_new(&d->pool, skin->joint_count, sizeof *d->bodies[b].moving);
            d->bodies[b].inverse = sp_pool_new(&d->pool, 16 * skin->joint_count, sizeof *d->bodies[b].inverse);
        }
        d->bodies[b].weights = sp_pool_new(&d->pool, animation->frame_count,
                                           (size_t)animation->meshes[animation->bodies[b].mesh].target_count *
                                               sizeof *d->bodies[b].weights);
    }

    d->arrays = sp_pool_new(&d->pool, most, sizeof *d->arrays);
    return sp_allocated(d->context, !d->pool.failed);
}

/* Node 0 is the root, then one for each body; a mesh that is placed has one of its own below a pose. */
static int plan(document *d)
{
    const sp_animation *animation = d->animation;
    int64_t with_pose = 0;
    int status = allocate(d);

    for (int64_t m = 0; m < animation->mesh_count && status == SP_OK; m++) {
        if (animation->meshes[m].triangle_count == 0)
            return sp_fail(d->context, SP_INPUT, "%s has no triangles", animation->meshes[m].name);
        plan_mesh(d, &animation->meshes[m], &d->meshes[m]);
    }

    for (int64_t b = 0; b < animation->body_count && status == SP_OK; b++)
        if (animation->bodies[b].skin)
            plan_skin(d, &animation->bodies[b], &d->bodies[b]);

    for (int64_t b = 0; b < animation->body_count && status == SP_OK; b++) {
        const sp_animated_body *body = &animation->bodies[b];
        plan_body(d, body, &d->bodies[b]);
        const bool below = body->poses && d->meshes[body->mesh].placed;
        d->bodies[b].node = below ? 1 + animation->body_count + with_pose++ : 1 + b;
    }

    for (int64_t b = 0, node = 1 + animation->body_count + with_pose; b < animation->body_count; b++) {
        d->bodies[b].joint = node;
        node += animation->bodies[b].skin ? animation->bodies[b].skin->joint_count : 0;
    }

    if (status == SP_OK && d->animated)
        status = plan_times(d);
    return status == SP_OK ? check_range(d) : status;
}

/* ---- its error ----
 *
 * Of positions p and targets t with the weights w, of which rounding makes p', t' and w':
 * p' + sum w' t' - p - sum w t = (p' - p) + sum w' (t' - t) + sum (w' - w) t. The rotations of unit quaternions whose
 * difference has the length e differ by 2 e in norm. */

/* Of a vertex whose position before the skin is wrong by `error` and is at most `length` from the origin: the matrices
 * and the translations along a chain of joints add theirs, and rotations and weights that are wrong act on no more than
 * the distances that can add up. */
static double skin_error(const document *d, int64_t b, double error, double length)
{
    const sp_animated_skin *skin = d->animation->bodies[b].skin;
    const body_plan *plan = &d->bodies[b];
    const array *matrices = &d->arrays[plan->first + skin->influences / 2];
    double weights = 0, joints = 0;

    length += matrices->most * sqrt(3);

    for (int64_t j = 0; j < skin->joint_count; j++) {
        double farthest = 0;
        for (int64_t f = 0; f < d->animation->frame_count; f++)
            farthest = fmax(farthest, sp_norm3(skin->poses + 7 * (d->animation->frame_count * j + f)));
        length += farthest;
    }

    for (int i = 0; i < skin->influences / 4; i++)
        weights +=
            2 * d->arrays[plan->first + 2 * i + 1].error; /* the sum of four errors is twice their norm at most */

    for (int64_t j = 0; j < skin->joint_count; j++) {
        const double rounding = FLT_EPSILON * (length + 1); /* of poses that do not move, at least */
        joints += plan->moving[j] < 0
                      ? rounding
                      : d->arrays[plan->moving[j]].error + 2 * d->arrays[plan->moving[j] + 1].error * length;
    }

    return error + matrices->error * sqrt(3) + joints + weights * length;
}

static double body_error(const document *d, int64_t b)
{
    const sp_animated_body *body = &d->animation->bodies[b];
    const sp_animated_mesh *mesh = &d->animation->meshes[body->mesh];
    const body_plan *plan = &d->bodies[b];
    const array *positions = &d->arrays[d->meshes[body->mesh].first], *target = positions + (mesh->colors ? 4 : 3);
    double error = 0, reach = 0;

    if (body->weights)
        for (int64_t f = 0; f < d->animation->frame_count; f++) {
            double sum = 0, length = 0;
            for (int64_t i = 0; i < mesh->target_count; i++) {
                const double gain = d->meshes[body->mesh].gain[i], w = body->weights[f * mesh->target_count + i],
                             rounded = (float)plan->weights[f * mesh->target_count + i] / gain;
                sum += fabs(rounded) * target[2 * i].error + fabs(rounded - w) * target[2 * i].length;
                length += fabs(w) * target[2 * i].length;
            }
            error = fmax(error, sum);
            reach = fmax(reach, length);
        }

    error += positions->error;
    if (body->skin)
        return skin_error(d, b, error, positions->length + reach);
    if (plan->moves)
        error += d->arrays[plan->translation].error + 2 * d->arrays[plan->rotation].error * (positions->length + reach);
    return error;
}

/* ---- the file ---- */

static void write_word(sp_stream *stream, int64_t word)
{
    unsigned char bytes[4];
    for (int b = 0; b < 4; b++)
        bytes[b] = (unsigned char)(word >> 8 * b);
    sp_stream_bytes(stream, bytes, sizeof bytes);
}

int sp_gltf_write(sp_context *context, int descriptor, const sp_animation *animation, bool quantize,
                  sp_gltf_report *report)
{
    document d = {.context = context, .animation = animation, .quantize = quantize};
    sp_stream stream;
    int status;
    assert(animation->body_count > 0 && animation->frame_count > 0);

    *report = (sp_gltf_report){0};
    SP_TRY(plan(&d));

    /* The JSON is written twice: first to learn its length, which stands before it. */
    sp_stream_begin(&stream, -1);
    sp_gltf_print_json(&stream, &d);
    const int64_t json = stream.total, total = 12 + 8 + json + 8 + d.bytes;
    if (total > UINT32_MAX) {
        status =
            sp_fail(context, SP_INPUT, "it would be %.1f GiB, and a .glb holds at most 4", ldexp((double)total, -30));
        goto done;
    }

    sp_stream_begin(&stream, descriptor);
    sp_stream_bytes(&stream, "glTF", 4);
    write_word(&stream, 2);
    write_word(&stream, total);
    write_word(&stream, json);
    sp_stream_bytes(&stream, "JSON", 4);
    /* the chunk begins at a multiple of four, as it did when it was counted */
    sp_gltf_print_json(&stream, &d);
    write_word(&stream, d.bytes);
    sp_stream_bytes(&stream, "BIN\0", 4);

    for (int64_t i = 0; i < d.array_count; i++)
        write_array(&stream, &d.arrays[i]);

    SP_TRY(sp_stream_end(context, &stream));
    report->bytes = total;
    for (int64_t b = 0; b < animation->body_count; b++)
        report->error = fmax(report->error, body_error(&d, b));
done:
    sp_pool_free(&d.pool);
    return status;
}
