/* States of the public library as bytes: what base/state.h copies, and behind it a checksum of these bytes and of the
 * object that they belong to. Damaged bytes, and those of another object, are therefore recognized before anything is
 * changed. The checksum is no protection against bytes that somebody forges. */
#ifndef SP_API_SAVED_H
#define SP_API_SAVED_H

#include "base/state.h"

#include <supple/status.h>

/* Adds bytes to a checksum that starts as 0. Bytes that differ in one word of eight give different checksums. */
uint64_t sp_saved_sum(uint64_t sum, const void *bytes, int64_t count);

/* Copies the state to the buffer of *size bytes (NULL: not), and sets *size to what is needed. object: a checksum of
 * what another object must have in common to load the state. */
supple_status sp_saved_write(const char *function, const sp_state *state, uint64_t object, void *buffer, size_t *size);

/* Sets the state to load the bytes, which it borrows; false if they are not those of such an object. */
bool sp_saved_read(const void *buffer, size_t size, uint64_t object, sp_state *state);

#endif
