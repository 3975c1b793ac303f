/* Files of the type skin (skin.md). */
#ifndef SP_FORMATS_SKIN_H
#define SP_FORMATS_SKIN_H

#include "formats/file.h"
#include "skin/skin.h"

typedef struct sp_skin_file {
    sp_skin skin;
    char **names; /* [bone_count], owned by the skin's pool */
    char mesh[SP_HASH_LENGTH];
} sp_skin_file;

/* Moves the arrays from `file` to `skin` and checks what the page states: ranges, weights that sum to 1, attached
 * vertices with weight 1. */
int sp_skin_read(sp_context *context, sp_file *file, sp_skin_file *skin) SP_MUST_USE;

/* meta must already have "mesh". */
int sp_skin_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_skin *skin,
                  char *const *names) SP_MUST_USE;

#endif
