/* The commands that made a file, out of the history in its meta (formats/container.md), as a POSIX shell script.
 *
 * What a file records of its inputs are base names, and they are part of its bytes. So every file of the script has the
 * name that was recorded; where two different files had the same name, the later one stands in a folder named by its
 * hash. */
#ifndef TOOLS_INFO_SCRIPT_H
#define TOOLS_INFO_SCRIPT_H

#include "base/context.h"

#include <jansson.h>
#include <stdio.h>

/* Writes the script that remakes the file with this meta and hash as `name` (a base name). tools: the programs that a
 * script may call, separated by blanks, since meta is what others wrote. SP_INPUT where meta has no or no usable
 * record. */
int script_write(sp_context *context, const json_t *meta, const char *hash, const char *name, const char *tools,
                 FILE *stream) SP_MUST_USE;

/* A word for the shell: as it is where that is safe, else in single quotes. */
void script_quote(const char *word, FILE *stream);

/* --name value … of recorded parameters (one value of an array after the other), each with a blank before it. SP_INPUT
 * for names and values that no option has. */
int script_options(sp_context *context, const json_t *parameters, FILE *stream) SP_MUST_USE;

#endif
