/* simbatch: what its files share. All functions end the process on failure. */
#ifndef TOOLS_BATCH_BATCH_H
#define TOOLS_BATCH_BATCH_H

#include "ensemble/ensemble.h"
#include "formats/ensemble.h"
#include "tools/batch/table.h"
#include "tools/common/checkpoint.h"
#include "tools/simulate/simulation.h"

/* What is recorded: the reduced coordinates, displacements of the --probe vertices, or statistics alone. */
enum { BATCH_RECORD_COORDINATES, BATCH_RECORD_PROBES, BATCH_RECORD_STATISTICS };

typedef struct batch_choice {
    simulate_choice motion;
    int record;
    bool rates, statistics;
    const char *table, *shard;
    int64_t motions, memory;
    double settle;
} batch_choice;

typedef struct batch {
    sp_context *context;
    const batch_choice *choice;
    simulation base; /* the model under --loads, from which the motions differ */
    sp_model_description description;
    batch_table table; /* no columns without --table */
    int64_t motions;   /* of the whole study */
    sp_ensemble ensemble;
    sp_pool pool;

    /* the file */
    sp_ensemble_layout layout;
    sp_ensemble_writer *writer;
    tool_checkpoint *checkpoint;
    int64_t row_bytes;
    char *rows; /* [SP_MOTIONS, row_bytes] of a block */
    int64_t written, failed, in_lanes, iterations;
    json_t *failures;
} batch;

/* motions.c: describes the motions (sp_ensemble.describe). */
int batch_describe(void *self, int64_t number, sp_pool *pool, sp_ensemble_motion *motion);

/* The number of a column for a motion. */
double batch_number(const batch *b, int64_t column, int64_t motion);

/* write.c: begins the file with what earlier calls have kept of it, receives blocks (sp_ensemble.take), and ends it. */
void batch_begin(batch *b, tool_output *output);
int batch_take(void *self, const sp_ensemble_block *block);
void batch_finish(batch *b, tool_output *output);

#endif
