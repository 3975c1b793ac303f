/* Shared by the writer, the reader and the zip directory of the container only. */
#ifndef SP_FORMATS_CONTAINER_INTERNAL_H
#define SP_FORMATS_CONTAINER_INTERNAL_H

#include "formats/container.h"

#include <nettle/sha2.h>

/* Indexed by enum sp_type, up to SP_U1: the .npy descriptor and the size of a value in bytes. */
extern const struct sp_type_of_npy {
    const char *descriptor;
    int size;
} sp_types_of_npy[];

/* The hash so far; hashing may continue. */
void sp_hash_text(const struct sha256_ctx *state, char hash[SP_HASH_LENGTH]);

/* ---- the zip directory ---- */

/* Whether a name is not empty and printable ASCII without blanks, as the names of needed members are. */
bool sp_zip_plain(const char *name, size_t length);

/* Adds name (with ".npy"; other names than plain ones are "") and size of a member to the hash of the list of members,
 * which starts at 0. */
void sp_zip_list(uint64_t *listing, const char *name, size_t length, uint64_t size);

/* Returns true if the last bytes of the archive, from byte `first` on, are its directory and end record, and the
 * directory has this number of members and this hash of the list. */
bool sp_zip_directory_agrees(const char *bytes, int64_t count, int64_t first, int64_t members, uint64_t listing);

#endif
