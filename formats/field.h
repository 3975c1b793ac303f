/* Files of the type field (field.md). */
#ifndef SP_FORMATS_FIELD_H
#define SP_FORMATS_FIELD_H

#include "formats/file.h"
#include "geometry/field.h"

/* Moves the arrays from `file` to `field` (the file's members are empty afterwards). SP_INPUT names the member. */
int sp_field_read(sp_context *context, sp_file *file, sp_field *field) SP_MUST_USE;

/* Adds "cells" to `meta`, writes it and the members; the caller ends with the result. */
int sp_field_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_field *field) SP_MUST_USE;

#endif
