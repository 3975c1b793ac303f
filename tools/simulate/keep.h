/* --checkpoint of simulate: what a run has recorded and where it is, kept now and then, so that the same command goes
 * on from there and ends with the same bytes. */
#ifndef TOOLS_SIMULATE_KEEP_H
#define TOOLS_SIMULATE_KEEP_H

#include "base/state.h"
#include "tools/common/checkpoint.h"

/* A run, made as it is before its first step. */
typedef struct simulate_kept_run {
    void *self;
    int64_t steps; /* of the whole */
    /* All that the rest of the run takes from the steps before, after this many of them. */
    void (*state)(void *self, int64_t done, sp_state *state);
    /* Loading: records once more what was saved when it was recorded, one frame (or line) after the other, as often as
     * it is called. */
    void (*record)(void *self, sp_state *state);
} simulate_kept_run;

typedef struct simulate_keep simulate_keep;

/* Call when all inputs are read and the run is made, its frame at the start recorded. path NULL: gives NULL, which the
 * other calls take and do nothing. partial: the checkpoint is there and stays. */
simulate_keep *keep_open(const char *path, bool partial, const simulate_kept_run *run);

/* Steps that an earlier call of the program has done: the run is then where it was after these. */
int64_t keep_resume(simulate_keep *keep);

/* The last step to take: that of the whole run, or where `partial` the last that was done before. */
int64_t keep_end(const simulate_keep *keep, int64_t steps);

/* Says in `result` where a run that is not whole ends. */
void keep_report(const simulate_keep *keep, json_t *result);

/* Where what is recorded is saved, frame by frame; NULL: nowhere. */
sp_state *keep_recording(simulate_keep *keep);

/* After each step, when it is recorded: keeps it where it is time. */
void keep_step(simulate_keep *keep, int64_t done);

/* The part of what was left to this call, for progress. */
double keep_fraction(const simulate_keep *keep, int64_t done, int64_t steps);

/* Removes the checkpoint, unless it stays: call after the outputs have their names. */
void keep_finish(simulate_keep *keep);

#endif
