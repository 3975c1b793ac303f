/* simscene --replay: the steps of a log of simserve. All functions end the process on failure. */
#ifndef TOOLS_SCENE_REPLAY_H
#define TOOLS_SCENE_REPLAY_H

#include "api/loaded_scene.h"
#include "tools/simulate/options.h"

typedef struct scene_replay scene_replay;

/* Reads the log and records it as an input; the choice receives its steps and integration. NULL for the path NULL. */
scene_replay *scene_replay_open(sp_context *context, const char *path, simulate_choice *choice);

/* Checks that the log belongs to the scene, which has been loaded. NULL is allowed here and below. */
void scene_replay_begin(scene_replay *replay, sp_loaded_scene *scene);

/* Before a step, counted from 1: applies the inputs that acted in it. After it: ends the process unless the state is
 * that of the server. */
void scene_replay_apply(scene_replay *replay, int64_t step);
void scene_replay_check(scene_replay *replay, int64_t step);

void scene_replay_close(scene_replay *replay);

#endif
