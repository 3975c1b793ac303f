/* Files of the type pointshell (pointshell.md). */
#ifndef SP_FORMATS_POINTSHELL_H
#define SP_FORMATS_POINTSHELL_H

#include "formats/file.h"
#include "pointshell/pointshell.h"

/* Moves the arrays from `file` to `pointshell` (the file's members are empty afterwards) and checks the conditions of
 * pointshell.md. SP_INPUT names the member. */
int sp_pointshell_read(sp_context *context, sp_file *file, sp_pointshell *pointshell) SP_MUST_USE;

/* Adds "points" and, if the shell deforms, "r" to `meta`, writes it and the members; the caller ends with the result.
 */
int sp_pointshell_write(sp_context *context, sp_writer *writer, json_t *meta,
                        const sp_pointshell *pointshell) SP_MUST_USE;

#endif
