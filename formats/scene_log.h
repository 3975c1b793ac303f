/* Files of the type scene_log (scene_log.md): what acted on a scene in each step of simserve, so that simscene can take
 * the same steps again. */
#ifndef SP_FORMATS_SCENE_LOG_H
#define SP_FORMATS_SCENE_LOG_H

#include "formats/series.h"

enum sp_scene_log_kind { SP_SCENE_LOG_POSE, SP_SCENE_LOG_FORCE, SP_SCENE_LOG_CLUTCH, SP_SCENE_LOG_KINDS };
enum { SP_SCENE_LOG_HAND = -1, SP_SCENE_LOG_VALUES = 13 };

/* One input. A pose: x, y, z, qw, qx, qy, qz, velocity and angular velocity of a body or of the manipulandum
 * (SP_SCENE_LOG_HAND). A force: its three components, followed by zeros, on a vertex of a body; −1: at the origin of
 * its frame. The clutch of the device (SP_SCENE_LOG_HAND): 1 held, 0 released, followed by zeros. */
typedef struct sp_scene_log_input {
    int32_t kind, body;
    int64_t vertex;
    double value[SP_SCENE_LOG_VALUES];
} sp_scene_log_input;

/* How steps are taken. */
typedef struct sp_scene_log_run {
    double step; /* s */
    int64_t integrator, iterations;
    double beta, gamma, tolerance;
    bool semi_implicit;
} sp_scene_log_run;

typedef struct sp_scene_log_writer sp_scene_log_writer;

/* Adds the run to `meta`, which already has "scene" (the hash of the scene's text) and the number of "bodies", and
 * writes it. The sp_writer stays the caller's. */
int sp_scene_log_begin(sp_context *context, sp_writer *writer, json_t *meta, const sp_scene_log_run *run,
                       sp_scene_log_writer **log) SP_MUST_USE;
/* One step: what acted from its start on, and the checksum of the state at its end. Complete blocks are written. */
int sp_scene_log_append(sp_scene_log_writer *log, double time, int64_t check, int64_t count,
                        const sp_scene_log_input *input) SP_MUST_USE;
/* Writes the last, partial block and frees the writer, also after an error. */
int sp_scene_log_finish(sp_scene_log_writer *log) SP_MUST_USE;

/* A log in memory. */
typedef struct sp_scene_log {
    json_t *meta, *result; /* owned */
    char hash[SP_HASH_LENGTH];
    sp_scene_log_run run;
    int64_t step_count, body_count;
    double *time;                  /* [step_count] s, at the start of each step */
    int64_t *count, *check;        /* [step_count] inputs of the step; checksum of the state at its end */
    int64_t input_count;           /* of all steps */
    int32_t *kind, *body;          /* [input_count] */
    int64_t *vertex;               /* [input_count] */
    double *value;                 /* [input_count, 13] */
    sp_list owned[SP_SERIES_MOST]; /* memory of these */
} sp_scene_log;

int sp_scene_log_read(sp_context *context, int descriptor, sp_scene_log *log) SP_MUST_USE;
void sp_scene_log_free(sp_scene_log *log);

/* Input i of all. */
sp_scene_log_input sp_scene_log_at(const sp_scene_log *log, int64_t i);

#endif
