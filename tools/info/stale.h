/* Whether a file is out of date: siminfo --stale. */
#ifndef TOOLS_INFO_STALE_H
#define TOOLS_INFO_STALE_H

#include "formats/file.h"

#include <stdio.h>

/* Compares the recorded inputs of the file at `path` with the files that have their names now: those of `arguments`,
 * else those in the folder of `path`. Writes a line for each reason why the file is out of date (stream NULL: none) and
 * returns their number. Ends the program if the record or an input cannot be used. */
int64_t stale_reasons(sp_context *context, const json_t *meta, const char *path, int64_t count,
                      const char *const *arguments, FILE *stream);

#endif
