/* Checkpoints (--checkpoint FILE): what a long computation has done so far, in a file to which every finished piece is
 * appended at once, so that a second call with the same options goes on where the first was stopped, at whatever
 * moment, and ends with the same bytes. What goes on must depend on nothing but the records.
 *
 * The file: a line "Supple checkpoint 1", the SHA-256 of all that the result depends on (tool, version, parameters,
 * seed, inputs), then records: the length of the data in 8 bytes, the data, the SHA-256 of everything in the file
 * before it. A last record that was cut short is what a kill leaves; it is dropped. Anything else that does not fit is
 * damage. The bytes are those of the machine.
 *
 * A run with a state, which goes through steps, writes its records in pairs: what came out since the pair before, and
 * all of the state. The length of the latter is written as a negative number, and no later record hashes it: only the
 * last two states are wanted, and the data of those before are given back to the file system, where it can take them
 * out of a file. Behind each length stands its complement, so that a wrong one is not taken for a record that was cut
 * short. The last pair counts only as a whole. */
#ifndef TOOLS_COMMON_CHECKPOINT_H
#define TOOLS_COMMON_CHECKPOINT_H

#include "tools/common/tool.h"

typedef struct tool_checkpoint tool_checkpoint;

/* Call after all inputs have been read. A file that is not there is made; one of another computation, a damaged one,
 * one that another process writes to, the output itself end the process with one line. path NULL: gives NULL, which the
 * other calls take and do nothing. */
tool_checkpoint *tool_checkpoint_open(const char *path);

/* The next record of an earlier call into `to`, which has room for `most` bytes; returns its length, −1 behind the
 * last. */
int64_t tool_checkpoint_next(tool_checkpoint *checkpoint, void *to, int64_t most);

/* Appends a record of two parts; only after tool_checkpoint_next gave −1. On disk at least every two seconds. */
void tool_checkpoint_add(tool_checkpoint *checkpoint, const void *head, int64_t head_count, const void *body,
                         int64_t body_count);

/* What a line says when a signal stops the process: "FILE keeps 12 of `all` WHAT"; all < 0: how many there will be is
 * not known. So many are the records, or for a run with a state what `keeps` says after each pair. */
void tool_checkpoint_counts(tool_checkpoint *checkpoint, int64_t all, const char *what);
void tool_checkpoint_keeps(tool_checkpoint *checkpoint, int64_t done);

/* For runs with a state, in the place of the two calls above. What earlier calls added, piece by piece in order, is
 * given to `piece`; then the last state comes into `state` (bytes). False where there is none. */
bool tool_checkpoint_resume(tool_checkpoint *checkpoint, void (*piece)(void *data, const void *bytes, int64_t count),
                            void *data, sp_list *state);

/* Appends a pair; only after tool_checkpoint_resume. On disk when it returns where `durable`. */
void tool_checkpoint_pair(tool_checkpoint *checkpoint, const void *piece, int64_t piece_count, const void *state,
                          int64_t state_count, bool durable);

/* For records that cannot be right although their hash is: fails as for damage. */
noreturn void tool_checkpoint_damaged(const tool_checkpoint *checkpoint);

/* Closes the file, which stays. */
void tool_checkpoint_leave(tool_checkpoint *checkpoint);

/* Removes the file: call after the output has its name. */
void tool_checkpoint_finish(tool_checkpoint *checkpoint);

#endif
