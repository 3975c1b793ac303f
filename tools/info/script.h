/* The commands that made a file, from the history in its meta (formats/container.md), as a POSIX shell script.
 *
 * A file records the base names of its inputs, and they are part of its bytes. Every file of the script therefore has
 * the recorded name; if two different files had the same name, the later one is placed in a folder named by its
 * hash. */
#ifndef TOOLS_INFO_SCRIPT_H
#define TOOLS_INFO_SCRIPT_H

#include "base/context.h"

#include <jansson.h>
#include <stdio.h>

/* Writes the script that remakes the file with this meta and hash as `name` (a base name). tools: the programs that a
 * script may call, separated by blanks, since meta is foreign data. SP_INPUT if meta has no usable record. */
int script_write(sp_context *context, const json_t *meta, const char *hash, const char *name, const char *tools,
                 FILE *stream) SP_MUST_USE;

/* Writes --name value … of recorded parameters (one value of an array after the other), each with a blank before it.
 * For names and values that no option has: SP_INPUT, or if the command is only shown, their text with "?" for control
 * characters. */
int script_options(sp_context *context, const json_t *parameters, bool shown, FILE *stream) SP_MUST_USE;

#endif
