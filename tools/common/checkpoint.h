/* Checkpoints (--checkpoint FILE): what a long computation has done so far, in a file to which every finished piece is appended at
 * once, so that a second call with the same options goes on where the first was stopped, at whatever moment, and ends with the same
 * bytes. What goes on must depend on nothing but the records.
 *
 * The file: a line "Supple checkpoint 1", the SHA-256 of all that the result depends on (tool, version, parameters, seed, inputs), then
 * records: the length of the data in 8 bytes, the data, the SHA-256 of everything in the file before it. A last record that was cut
 * short is what a kill leaves; it is dropped. Anything else that does not fit is damage. The bytes are those of the machine. */
#ifndef TOOLS_COMMON_CHECKPOINT_H
#define TOOLS_COMMON_CHECKPOINT_H

#include "tools/common/tool.h"

#define TOOL_CHECKPOINT_OPTION(text)                                                                                                       \
    {                                                                                                                                      \
        "checkpoint", 0, TOOL_TEXT, text, "FILE", .help = "keep what is done in FILE and go on from there; removed when all is written",   \
                                                  .silent = true                                                                           \
    }

typedef struct tool_checkpoint tool_checkpoint;

/* Call after all inputs have been read. A file that is not there is made; one of another computation, a damaged one, one that another
 * process writes to, the output itself end the process with one line. path NULL: gives NULL, which the other calls take and do nothing. */
tool_checkpoint *tool_checkpoint_open(const char *path);

/* The next record of an earlier call into `to`, which has room for `most` bytes; returns its length, −1 behind the last. */
int64_t tool_checkpoint_next(tool_checkpoint *checkpoint, void *to, int64_t most);

/* Appends a record of two parts; only after tool_checkpoint_next gave −1. On disk at least every two seconds. */
void tool_checkpoint_add(tool_checkpoint *checkpoint, const void *head, int64_t head_count, const void *body, int64_t body_count);

/* For records that cannot be right although their hash is: fails as for damage. */
noreturn void tool_checkpoint_damaged(const tool_checkpoint *checkpoint);

/* Removes the file: call after the output has its name. */
void tool_checkpoint_finish(tool_checkpoint *checkpoint);

#endif
