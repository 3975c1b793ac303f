/* What the writer, the reader and the zip directory of the container share; nobody else includes it. */
#ifndef SP_FORMATS_CONTAINER_INTERNAL_H
#define SP_FORMATS_CONTAINER_INTERNAL_H

#include "formats/container.h"

#include <nettle/sha2.h>

/* By enum sp_type, to SP_U1: what .npy calls it, bytes of a value. */
extern const struct sp_type_of_npy {
    const char *descriptor;
    int size;
} sp_types_of_npy[];

/* The hash so far; the state may go on. */
void sp_hash_text(const struct sha256_ctx *state, char hash[SP_HASH_LENGTH]);

/* ---- the zip directory ---- */

/* Adds name (with ".npy") and size of a member to the hash of a listing, which begins at 0. */
void sp_zip_list(uint64_t *listing, const char *name, size_t length, uint64_t size);

/* Whether the bytes that end the archive, from byte `first` of it on, are its directory and end record, and the
 * directory lists so many members, with this listing. */
bool sp_zip_directory_agrees(const char *bytes, int64_t count, int64_t first, int64_t members, uint64_t listing);

#endif
