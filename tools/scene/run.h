/* The motion of a scene step by step. All functions end the process on failure. */
#ifndef TOOLS_SCENE_RUN_H
#define TOOLS_SCENE_RUN_H

#include "api/loaded_scene.h"
#include "tools/simulate/options.h"

/* The options of scenes only. */
typedef struct simulate_scene_choice {
    bool contacts;       /* record every contact point */
    const char *timings; /* CSV of the wall time of each step */
    const char *replay;  /* log of simserve whose steps are taken again */
} simulate_scene_choice;

/* Runs simulate for a scene. With a log to replay, the choice receives its steps and integration. */
void simulate_scene(sp_context *context, const char *path, simulate_choice *choice,
                    const simulate_scene_choice *scene_choice);

#endif
