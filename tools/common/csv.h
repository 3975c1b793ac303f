/* Fields of tables that programs write as comma-separated values (RFC 4180). */
#ifndef TOOLS_COMMON_CSV_H
#define TOOLS_COMMON_CSV_H

#include "base/context.h"
#include "base/memory.h"

/* A text as a field, from the pool: in quotes where it has a comma, a quote or the end of a line. */
const char *tool_csv_field(sp_pool *pool, const char *format, ...) SP_PRINTF(2, 3);

/* Takes the next field off the line, which it changes: without its quotes. NULL after the last one. */
char *tool_csv_next(char **line);

#endif
