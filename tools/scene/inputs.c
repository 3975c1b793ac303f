#include "tools/scene/inputs.h"

#include "tools/common/tool.h"

#include <math.h>
#include <string.h>

/* Positions [m], velocities [m/s, rad/s] and forces [N] beyond these are mistakes, which would end the run. */
static const double MOST_POSE = 1e6, MOST_FORCE = 1e9;

static bool in_range(int64_t count, const double *value, double most)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(value[i]) <= most))
            return false;
    return true;
}

static enum scene_refusal refusal_of(enum sp_drive drive)
{
    switch (drive) {
    case SP_DRIVE_DONE:
        return SCENE_ACCEPTED;
    case SP_DRIVE_NO_BODY:
    case SP_DRIVE_NO_VERTEX:
        return SCENE_NO_TARGET;
    case SP_DRIVE_NOT_DRIVEN:
        return SCENE_NOT_DRIVEN;
    default:
        return SCENE_NOT_A_VALUE;
    }
}

static enum scene_refusal set_force(scene_inputs *inputs, sp_loaded_scene *scene, const sp_scene_log_input *input)
{
    sp_contact_scene_force force;
    const enum sp_drive drive = sp_scene_force(scene, input->body, input->vertex, input->value, &force);
    int64_t i = 0;

    if (drive != SP_DRIVE_DONE)
        return refusal_of(drive);
    while (i < inputs->count && (inputs->at[i].body != input->body || inputs->at[i].vertex != input->vertex))
        i++;

    const bool zero = force.force[0] == 0 && force.force[1] == 0 && force.force[2] == 0;
    if (zero && i == inputs->count)
        return SCENE_ACCEPTED;

    if (i == SCENE_INPUT_FORCES)
        return SCENE_TOO_MANY;

    /* A zero force is removed: the last one fills its place. */
    if (zero) {
        inputs->count--;
        inputs->at[i] = inputs->at[inputs->count];
        inputs->force[i] = inputs->force[inputs->count];
    } else {
        inputs->count += i == inputs->count;
        inputs->at[i].body = input->body;
        inputs->at[i].vertex = input->vertex;
        inputs->force[i] = force;
    }

    sp_contact_scene_set_forces(scene->contact, inputs->count, inputs->force);
    return SCENE_ACCEPTED;
}

static enum scene_refusal set_clutch(sp_loaded_scene *scene, double held)
{
    if (held != 0 && held != 1)
        return SCENE_NOT_A_VALUE;
    return refusal_of(sp_scene_clutch(scene, held == 1));
}

enum scene_refusal scene_inputs_apply(scene_inputs *inputs, sp_loaded_scene *scene, const sp_scene_log_input *input)
{
    const bool force = input->kind == SP_SCENE_LOG_FORCE;
    if (!in_range(SP_SCENE_LOG_VALUES, input->value, force ? MOST_FORCE : MOST_POSE))
        return SCENE_NOT_A_VALUE;
    if (force)
        return set_force(inputs, scene, input);
    if (input->kind == SP_SCENE_LOG_CLUTCH)
        return set_clutch(scene, input->value[0]);
    return refusal_of(sp_scene_drive(scene, input->body, input->value, input->value + 7));
}

/* FNV-1a over words of 64 bits. */
static uint64_t add_words(uint64_t sum, int64_t count, const double *value)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, &value[i], sizeof word);
        sum = (sum ^ word) * 0x100000001b3;
        sum ^= sum >> 32; /* high bits of a word reach low bits of the sum */
    }
    return sum;
}

int64_t scene_checksum(const sp_loaded_scene *scene, double *q)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (int64_t i = 0; i < scene->input.scene.body_count; i++) {
        sp_pose pose;
        double twist[6];
        const int64_t r = scene->bodies[i].r;

        sp_contact_scene_body_now(scene->contact, i, &pose, twist, r ? q : NULL, NULL);
        sum = add_words(sum, 3, pose.x);
        sum = add_words(sum, 4, pose.q);
        sum = add_words(sum, 6, twist);
        sum = add_words(sum, r, q);

        /* A second call, for the rates: one scratch array holds either. */
        if (r) {
            sp_contact_scene_body_now(scene->contact, i, &pose, twist, NULL, q);
            sum = add_words(sum, r, q);
        }
    }

    /* The log keeps it as a signed integer. */
    int64_t signed_sum;
    memcpy(&signed_sum, &sum, sizeof signed_sum);
    return signed_sum;
}

int64_t scene_most_coordinates(const sp_loaded_scene *scene)
{
    int64_t most = 0;
    for (int64_t i = 0; i < scene->input.scene.body_count; i++)
        most = scene->bodies[i].r > most ? scene->bodies[i].r : most;
    return most;
}

void scene_warn(const sp_loaded_scene *scene, const char *path)
{
    sp_remarks remarks = {0};
    sp_scene_judge(scene, "--dt", "--semi-implicit", &remarks);
    tool_warn_remarks(path, &remarks);
}
