/* What readers and writers of files in blocks share (trajectory.md, scene_trajectory.md): members "series/000017", one
 * of each series to a block. */
#ifndef SP_FORMATS_BLOCKS_H
#define SP_FORMATS_BLOCKS_H

#include "formats/file.h"

/* Frames of a full block: from the size of a frame alone, so that the same frames give the same bytes. */
int64_t sp_block_capacity(int64_t frame_bytes);

/* The name of a series' member in a block. */
void sp_block_member(const char *series, int64_t block, char name[SP_MEMBER_NAME]);

/* Whether the member of this name belongs to a block of the series. */
bool sp_block_is(const char *series, const char *member);

/* A reader behind the first member, which is meta of a file of this kind. */
int sp_blocks_open(sp_context *context, int descriptor, bool partial, const char *kind, sp_reader **reader,
                   json_t **meta) SP_MUST_USE;

/* A member that was read into the pool, judged like one of a file that was read whole (sp_members_take, C order). */
int sp_block_take(sp_context *context, sp_pool *pool, sp_array *array, enum sp_type type, int rank,
                  const int64_t *shape) SP_MUST_USE;

/* SP_INPUT where times do not increase; `before` frames came before these, the last of them at *last, which is moved
 * on. */
int sp_block_times(sp_context *context, int64_t before, int64_t count, const double *time, double *last) SP_MUST_USE;

/* Where the reader has said end: whether the file was cut, and its hash, which result (NULL: there was none) has to
 * state in files made by us. `what` it is ("trajectory") has to have a frame; `begun`: some members of `block` were
 * read, not all. */
int sp_blocks_end(sp_context *context, const char *what, sp_reader *reader, int64_t frames, int64_t block, bool begun,
                  const json_t *meta, const json_t *result, bool *truncated, char hash[SP_HASH_LENGTH]) SP_MUST_USE;

#endif
