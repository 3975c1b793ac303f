#include "formats/container_internal.h"

#include <stdio.h>

const struct sp_type_of_npy sp_types_of_npy[] = {
    [SP_F8] = {"<f8", 8}, [SP_F4] = {"<f4", 4}, [SP_I8] = {"<i8", 8}, [SP_I4] = {"<i4", 4}, [SP_U1] = {"|u1", 1}};

void sp_hash_text(const struct sha256_ctx *state, char hash[SP_HASH_LENGTH])
{
    struct sha256_ctx copy = *state;
    unsigned char digest[SHA256_DIGEST_SIZE];
    sha256_digest(&copy, SHA256_DIGEST_SIZE, digest);
    for (int i = 0; i < SHA256_DIGEST_SIZE; i++)
        snprintf(hash + 2 * i, 3, "%02x", digest[i]);
}

void sp_hash_bytes(int64_t count, const void *bytes, char hash[SP_HASH_LENGTH])
{
    struct sha256_ctx state;
    sha256_init(&state);
    sha256_update(&state, (size_t)count, bytes);
    sp_hash_text(&state, hash);
}
