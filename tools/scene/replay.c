#include "tools/scene/replay.h"

#include "tools/common/inputs.h"
#include "tools/scene/inputs.h"

#include <string.h>

struct scene_replay {
    const char *path;
    sp_scene_log log;
    sp_loaded_scene *scene;
    scene_inputs inputs;
    int64_t next; /* input */
    double *q;    /* scratch */
    sp_pool pool;
};

scene_replay *scene_replay_open(sp_context *context, const char *path, simulate_choice *choice)
{
    if (!path)
        return NULL;

    sp_pool pool = {0};
    scene_replay *replay = tool_allocate(&pool, 1, sizeof *replay);
    *replay = (scene_replay){.path = path, .pool = pool};

    const int descriptor = tool_open_input(path);
    tool_check(sp_scene_log_read(context, descriptor, &replay->log), path);
    tool_close_input(descriptor);
    tool_record_archive(path, "replay", replay->log.hash, replay->log.meta);

    const sp_scene_log_run *run = &replay->log.run;
    choice->steps = replay->log.step_count;
    choice->step = run->step;
    choice->integrator = (int)run->integrator;
    choice->semi_implicit = run->semi_implicit;
    choice->beta = run->beta;
    choice->beta_given = true;
    choice->gamma = run->gamma;
    choice->tolerance = run->tolerance;
    choice->iterations = run->iterations;

    return replay;
}

void scene_replay_begin(scene_replay *replay, sp_loaded_scene *scene)
{
    if (!replay)
        return;
    const char *hash = json_string_value(json_object_get(replay->log.meta, "scene"));
    if (!hash || strcmp(hash, scene->input.hash))
        tool_fail(SP_INPUT, replay->path, "it is the log of another scene than %s, or of another version of it",
                  scene->input.path);
    replay->scene = scene;
    replay->q = tool_allocate(&replay->pool, scene_most_coordinates(scene), sizeof(double));
}

void scene_replay_apply(scene_replay *replay, int64_t step)
{
    if (!replay)
        return;
    for (int64_t i = 0; i < replay->log.count[step - 1]; i++, replay->next++) {
        const sp_scene_log_input input = sp_scene_log_at(&replay->log, replay->next);
        if (scene_inputs_apply(&replay->inputs, replay->scene, &input) != SCENE_ACCEPTED)
            tool_fail(SP_INPUT, replay->path, "input %lld, of step %lld, is not possible in this scene",
                      (long long)replay->next, (long long)step);
    }
}

void scene_replay_check(scene_replay *replay, int64_t step)
{
    if (!replay || scene_checksum(replay->scene, replay->q) == replay->log.check[step - 1])
        return;
    tool_hint("the models, the version or the processor may differ from those of the server");
    tool_fail(SP_NUMERICAL, replay->path, "step %lld leads to another state than on the server", (long long)step);
}

void scene_replay_close(scene_replay *replay)
{
    if (!replay)
        return;
    sp_scene_log_free(&replay->log);
    sp_pool pool = replay->pool;
    sp_pool_free(&pool);
}
