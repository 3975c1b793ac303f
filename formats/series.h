/* Files of frames in blocks (trajectory.md, scene_trajectory.md), written as the frames are computed, readable while
 * they come. Members before the first block are as in other kinds; each block has a member of each series, "q/000017",
 * with a row for each of its frames (first extent "n") or for each of what its frames together have so many of (any
 * other first extent). The rows of the kind's table that end in "/B" are the series. */
#ifndef SP_FORMATS_SERIES_H
#define SP_FORMATS_SERIES_H

#include "formats/kinds.h"

enum { SP_SERIES_MOST = 16 };

/* ---- writing ---- */

typedef struct sp_series_writer sp_series_writer;

/* Writes meta and the members of `object` before the first block; the object, which says every extent but those of
 * blocks, is needed until the end. The sp_writer stays the caller's. */
int sp_series_begin(sp_context *context, sp_writer *writer, const sp_kind *kind, const json_t *meta, void *object,
                    sp_series_writer **series) SP_MUST_USE;

/* Copies one frame: `from` has the values of each series in the order of the table, `rows` of those that are not by
 * frames. Whole blocks go to the file. Allocates only where a block has more rows than any before. */
int sp_series_append(sp_series_writer *series, const void *const *from, int64_t rows) SP_MUST_USE;

/* Writes the last, partial block and frees the writer, also after an error. */
int sp_series_finish(sp_series_writer *series) SP_MUST_USE;

/* ---- reading ---- */

typedef struct sp_series_stream {
    sp_context *context;
    sp_reader *reader;
    const sp_kind *kind;
    json_t *meta, *result; /* owned; result, hash and truncated are known at the end */
    char hash[SP_HASH_LENGTH];
    bool truncated;
    /* Of a whole block, what several members say something about; may be NULL. */
    int (*check)(struct sp_series_stream *stream, void *object);
    sp_members head, block; /* members that were read: before the first block, of the block that is being read */
    int64_t blocks, frames; /* passed */
    double last_time;
    bool ended;
} sp_series_stream;

/* A stream behind the first member, which is meta of a file of this kind. */
int sp_series_open(sp_context *context, int descriptor, bool partial, const sp_kind *kind,
                   sp_series_stream *stream) SP_MUST_USE;

/* The next block into `object`, which says every extent of meta: its pointers are to the values, until the following
 * call, and those of members before the first block to memory of `head`; "n" is the frames of the block, 0 at the end.
 * Checks that every block has the snapshots that meta promises, times (the first series) increase, values are finite,
 * and that there is a frame. With `partial` a cut or damaged file is read up to its last whole block. */
int sp_series_next(sp_series_stream *stream, void *object) SP_MUST_USE;

/* All of it, the values in `owned` [SP_SERIES_MOST] by series. */
int sp_series_read(sp_series_stream *stream, void *object, sp_list *owned) SP_MUST_USE;

void sp_series_close(sp_series_stream *stream);

#endif
