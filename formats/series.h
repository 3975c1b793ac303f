/* Files of frames in blocks (trajectory.md, scene_trajectory.md; the frames of ensemble.md are motions), written as the
 * frames are computed and readable meanwhile. Members before the first block are as in other file types; each block has
 * a member of each series, "q/000017", with a row for each of its frames (first extent "n") or a number of rows that
 * depends on the frames (any other first extent). The rows of the type's table that end in "/B" are the series. */
#ifndef SP_FORMATS_SERIES_H
#define SP_FORMATS_SERIES_H

#include "formats/kinds.h"

enum { SP_SERIES_MOST = 16 };

/* ---- writing ---- */

typedef struct sp_series_writer sp_series_writer;

/* Writes meta and the members of `object` before the first block; the object, which gives all extents except those of
 * blocks, must be valid until the end. The caller keeps the sp_writer. */
int sp_series_begin(sp_context *context, sp_writer *writer, const sp_kind *kind, const json_t *meta, void *object,
                    sp_series_writer **series) SP_MUST_USE;

/* Copies one frame: `from` has the values of each series in the order of the table, `rows` is the number of rows of
 * those that are not by frames. Complete blocks are written to the file. Allocates only when a block has more rows than
 * any before. */
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
    /* Checks relations between members of a complete block; may be NULL. */
    int (*check)(struct sp_series_stream *stream, void *object);
    sp_members head, block; /* members before the first block, and those of the current block */
    int64_t blocks, frames; /* numbers read so far */
    double last;            /* of the first series: time, number */
    bool ended;
} sp_series_stream;

/* Opens a stream after the first member, which must be meta of a file of this type. */
int sp_series_open(sp_context *context, int descriptor, bool partial, const sp_kind *kind,
                   sp_series_stream *stream) SP_MUST_USE;

/* Reads the next block into `object`, which has the extents of meta: its pointers are to the values, valid until the
 * following call, and those of members before the first block are to memory of `head`; "n" is the number of frames of
 * the block, 0 at the end. It checks that every block has the shapes that meta gives, times (the first series)
 * increase, values are finite, and that there is a frame. With `partial` a truncated or damaged file is read up to its
 * last complete block. */
int sp_series_next(sp_series_stream *stream, void *object) SP_MUST_USE;

/* Reads everything, with the values in `owned` [SP_SERIES_MOST] by series. */
int sp_series_read(sp_series_stream *stream, void *object, sp_list *owned) SP_MUST_USE;

void sp_series_close(sp_series_stream *stream);

/* For `check`: SP_INPUT unless the quaternions of `count` poses [count, 7] of the series `name` have length 1 within
 * 10⁻⁶; in_frame: the number of poses in each frame. */
int sp_series_check_poses(const sp_series_stream *stream, const char *name, const double *pose, int64_t count,
                          int64_t in_frame) SP_MUST_USE;

#endif
