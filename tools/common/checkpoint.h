/* Checkpoints (--checkpoint FILE): the progress of a long computation, in a file to which every finished piece is
 * appended at once, so that a second call with the same options resumes where the first was interrupted, at whatever
 * moment, and ends with the same bytes. The continuation must depend on nothing but the records.
 *
 * The file has a line "Supple checkpoint 1", the SHA-256 of everything that the result depends on (tool, version,
 * parameters, seed, inputs), then records: the length of the data in 8 bytes, the data, and the SHA-256 of everything
 * in the file before it. A last record that is truncated is the result of a kill; it is dropped. Any other mismatch is
 * damage. The bytes depend on the machine.
 *
 * A run with a state, which proceeds in steps, writes its records in pairs: the output since the previous pair, and the
 * complete state. The length of the latter is written as a negative number, and later records do not hash it: only the
 * last two states are needed, and the data of earlier ones are released to the file system, if it supports holes. Each
 * length is followed by its complement, so that a wrong one is not mistaken for a truncated record. The last pair
 * counts only as a whole. */
#ifndef TOOLS_COMMON_CHECKPOINT_H
#define TOOLS_COMMON_CHECKPOINT_H

#include "tools/common/tool.h"

typedef struct tool_checkpoint tool_checkpoint;

/* Call after all inputs have been read. A missing file is created; a file of another computation, a damaged one, one
 * that another process writes to, or the output itself end the process with one line. path NULL returns NULL, for which
 * the other calls do nothing. */
tool_checkpoint *tool_checkpoint_open(const char *path);

/* Reads the next record of an earlier run into `to`, at most `most` bytes; returns its length, −1 after the last. */
int64_t tool_checkpoint_next(tool_checkpoint *checkpoint, void *to, int64_t most);

/* Appends a record of two parts; only after tool_checkpoint_next returned −1. On disk at least every two seconds. */
void tool_checkpoint_add(tool_checkpoint *checkpoint, const void *head, int64_t head_count, const void *body,
                         int64_t body_count);

/* Sets the message when a signal stops the process: "FILE keeps 12 of `all` WHAT"; all < 0: the total is not known. The
 * number is that of the records, or for a run with a state the argument of `keeps` after each pair. */
void tool_checkpoint_counts(tool_checkpoint *checkpoint, int64_t all, const char *what);
void tool_checkpoint_keeps(tool_checkpoint *checkpoint, int64_t done);

/* For runs with a state, instead of the two calls above. The pieces that earlier runs added are passed to `piece` in
 * order; then the last state is written to `state` (bytes). False if there is none. */
bool tool_checkpoint_resume(tool_checkpoint *checkpoint, void (*piece)(void *data, const void *bytes, int64_t count),
                            void *data, sp_list *state);

/* Appends a pair; only after tool_checkpoint_resume. On disk on return if `durable`. */
void tool_checkpoint_pair(tool_checkpoint *checkpoint, const void *piece, int64_t piece_count, const void *state,
                          int64_t state_count, bool durable);

/* For records with invalid contents but a valid hash: fails as for damage. */
noreturn void tool_checkpoint_damaged(const tool_checkpoint *checkpoint);

/* Closes the file, which is kept. */
void tool_checkpoint_leave(tool_checkpoint *checkpoint);

/* Removes the file: call after the output has its name. */
void tool_checkpoint_finish(tool_checkpoint *checkpoint);

#endif
