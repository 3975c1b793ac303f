/* --checkpoint of simulate: the recorded frames and the state of a run, saved from time to time, so that the same
 * command resumes from there and ends with the same bytes. */
#ifndef TOOLS_SIMULATE_KEEP_H
#define TOOLS_SIMULATE_KEEP_H

#include "base/state.h"
#include "tools/common/checkpoint.h"

/* A run, created as it is before its first step. */
typedef struct simulate_kept_run {
    void *self;
    int64_t steps;    /* of the complete run; −1: not known before it ends */
    const char *what; /* what is counted: "steps" */
    /* Saves or loads everything that the rest of the run takes from earlier steps, after this number of them. */
    void (*state)(void *self, int64_t done, sp_state *state);
    /* Loading: records once more what was saved when it was recorded, one frame (or line) per call. */
    void (*record)(void *self, sp_state *state);
} simulate_kept_run;

typedef struct simulate_keep simulate_keep;

/* Call when all inputs are read, the run is created, and its frame at the start is recorded. path NULL returns NULL,
 * for which the other calls do nothing. partial: the checkpoint exists and is kept. */
simulate_keep *keep_open(const char *path, bool partial, const simulate_kept_run *run);

/* The number of steps that an earlier run of the program has made; the run is then in the state after these. */
int64_t keep_resume(simulate_keep *keep);

/* The last step to take: that of the complete run, or with `partial` the last that was made before. */
int64_t keep_end(const simulate_keep *keep, int64_t steps);

/* Records in `result` where an incomplete run ends; its number of steps must be known. */
void keep_report(const simulate_keep *keep, json_t *result);

/* Where recorded frames are saved; NULL: nowhere. */
sp_state *keep_recording(simulate_keep *keep);

/* Call after each step, when it is recorded: saves the state from time to time. */
void keep_step(simulate_keep *keep, int64_t done);

/* The fraction of the remaining work that is done, for progress. */
double keep_fraction(const simulate_keep *keep, int64_t done, int64_t steps);

/* Removes the checkpoint, unless it is kept: call after the outputs are renamed. */
void keep_finish(simulate_keep *keep);

#endif
