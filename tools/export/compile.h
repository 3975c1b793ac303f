/* Runs the C compiler in a temporary folder. */
#ifndef TOOLS_EXPORT_COMPILE_H
#define TOOLS_EXPORT_COMPILE_H

#include "tools/common/tool.h"

typedef struct tool_bytes {
    const char *name; /* of a file */
    char *bytes;
    int64_t count;
} tool_bytes;

/* A file without a name, for writers that need a descriptor, and its contents, from `pool`. */
int tool_memory_open(const char *path);
void tool_memory_read(int descriptor, const char *path, sp_pool *pool, tool_bytes *to);

/* The path of a program that PATH finds, from `pool`; NULL: there is none. */
char *tool_find_program(const char *name, sp_pool *pool);

/* Writes the files into a new folder in $TMPDIR or /tmp, runs the command there without a shell, and reads the file
 * `result->name`, from `pool`. Its folder is removed whatever happens, also when this program is killed. A command that
 * fails or takes more than ten minutes ends the program, with the first line that the command has written; `path` is
 * for messages. */
void tool_compile(const char *path, const char *const *command, int count, const tool_bytes *files, sp_pool *pool,
                  tool_bytes *result);

#endif
