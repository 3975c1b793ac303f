/* Files of the type ensemble (ensemble.md): motions in blocks, a row for each, written as they are computed. */
#ifndef SP_FORMATS_ENSEMBLE_H
#define SP_FORMATS_ENSEMBLE_H

#include "ensemble/ensemble.h"
#include "formats/series.h"

/* Failures of motions that a file names with their reason. */
enum { SP_ENSEMBLE_FAILURES = 100 };

/* A file, or of a stream the motions of one block; r, the counts and `time` are known before the first block. */
typedef struct sp_ensemble_file {
    int64_t r;            /* coordinates that are recorded; 0: none */
    int64_t point_count;  /* vertices whose displacement is recorded; 0: none */
    int64_t frame_count;  /* of each motion */
    int64_t vertex_count; /* of the mesh */
    int64_t column_count; /* parameters of each motion */
    int64_t signal_count; /* of the statistics: 3 for each point, or the coordinates */
    int64_t motion_count; /* rows */
    int64_t *vertex;      /* [point_count] */
    double *time;         /* [frame_count] s */
    int64_t *motion;      /* [motion_count] number of each, increasing */
    int64_t *status;      /* [motion_count] 0, or the exit code of a motion that failed, whose numbers are 0 */
    int64_t *iterations;  /* [motion_count] of Newton's method */
    double *parameters;   /* [motion_count, column_count] */
    double *q, *qdot;     /* [motion_count, frame_count, r]; NULL: not recorded */
    double *u;            /* [motion_count, frame_count, point_count, 3] m; NULL: not recorded */
    double *statistics[SP_ENSEMBLE_STATISTICS]; /* [motion_count, signal_count] each; NULL: not recorded */
} sp_ensemble_file;

/* ---- writing ---- */

/* What is known of a file before its first motion. meta must have "mesh" and "basis"; the rest is added to it. */
typedef struct sp_ensemble_layout {
    sp_ensemble_file file; /* the counts, `vertex` and `time` */
    int64_t motions;       /* of the whole study, of which a file may be a part */
    bool rates, statistics;
    const char *const *columns; /* [column_count] names of the parameters */
} sp_ensemble_layout;

typedef struct sp_ensemble_row {
    int64_t motion, status, iterations;
    const double *parameters, *q, *qdot, *u, *statistics[SP_ENSEMBLE_STATISTICS];
} sp_ensemble_row;

typedef struct sp_ensemble_writer sp_ensemble_writer;
int sp_ensemble_begin(sp_context *context, sp_writer *writer, json_t *meta, const sp_ensemble_layout *layout,
                      sp_ensemble_writer **ensemble) SP_MUST_USE;
int sp_ensemble_append(sp_ensemble_writer *ensemble, const sp_ensemble_row *row) SP_MUST_USE;
int sp_ensemble_finish(sp_ensemble_writer *ensemble) SP_MUST_USE; /* frees it, also after an error */

/* ---- reading ---- */

/* One block at a time: `next` fills `block` with the motions of the next one, motion_count = 0 at the end, and only
 * then are result, hash and truncated known. Everything in `block` belongs to the stream. */
typedef struct sp_ensemble_stream {
    sp_series_stream series;
    sp_ensemble_file block;
} sp_ensemble_stream;
int sp_ensemble_open(sp_context *context, int descriptor, bool partial, sp_ensemble_stream *stream) SP_MUST_USE;
int sp_ensemble_next(sp_ensemble_stream *stream) SP_MUST_USE;
void sp_ensemble_close(sp_ensemble_stream *stream);

/* Everything at once; `kept` has its memory. */
typedef struct sp_ensemble_contents {
    sp_ensemble_stream stream;
    sp_list owned[SP_SERIES_MOST];
} sp_ensemble_contents;
int sp_ensemble_read(sp_context *context, int descriptor, bool partial, sp_ensemble_contents *contents) SP_MUST_USE;
void sp_ensemble_contents_free(sp_ensemble_contents *contents);

#endif
