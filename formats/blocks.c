#include "formats/blocks.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 20, BLOCK_FRAMES = 4096 };

int64_t sp_block_capacity(int64_t frame_bytes)
{
    const int64_t room = BLOCK_BYTES / frame_bytes;
    return room < 1 ? 1 : room > BLOCK_FRAMES ? BLOCK_FRAMES : room;
}

void sp_block_member(const char *series, int64_t block, char name[SP_MEMBER_NAME])
{
    snprintf(name, SP_MEMBER_NAME, "%s/%06lld", series, (long long)block);
}

bool sp_block_is(const char *series, const char *member)
{
    const char *slash = strrchr(member, '/');
    return slash && strlen(series) == (size_t)(slash - member) && !memcmp(member, series, (size_t)(slash - member));
}

static bool wants_meta(void *data, const char *name)
{
    (void)data;
    return !strcmp(name, "meta");
}

int sp_blocks_open(sp_context *context, int descriptor, bool partial, const char *kind, sp_reader **reader,
                   json_t **meta)
{
    const char *const kinds[] = {kind, NULL};
    sp_pool pool = {0};
    sp_array first;
    *meta = NULL;
    int status = sp_reader_open(context, descriptor, partial, reader);
    if (status != SP_OK)
        return status;
    status = sp_reader_next(*reader, &pool, wants_meta, NULL, &first);
    if (status == SP_OK)
        status = sp_file_meta(context, *reader, &first, kinds, meta);
    sp_pool_free(&pool);
    if (status == SP_OK && !*meta)
        status = sp_fail(context, SP_INPUT, "it has no meta member: not written by Supple");
    if (status != SP_OK)
        sp_reader_close(*reader);
    return status;
}

int sp_block_take(sp_context *context, sp_pool *pool, sp_array *array, enum sp_type type, int rank,
                  const int64_t *shape)
{
    sp_members one = {.pool = *pool, .count = 1, .arrays = array};
    sp_array *same;
    int status = sp_members_take(context, &one, array->name, type, false, rank, shape, &same);
    *pool = one.pool;
    return status;
}

int sp_block_times(sp_context *context, int64_t before, int64_t count, const double *time, double *last)
{
    for (int64_t i = 0; i < count; i++) {
        if (before + i > 0 && time[i] <= *last)
            return sp_fail(context, SP_INPUT, "time: frame %lld is at %.17g s, the one before it at %.17g s",
                           (long long)(before + i), time[i], *last);
        *last = time[i];
    }
    return SP_OK;
}

int sp_blocks_end(sp_context *context, const char *what, sp_reader *reader, int64_t frames, int64_t block, bool begun,
                  const json_t *meta, const json_t *result, bool *truncated, char hash[SP_HASH_LENGTH])
{
    *truncated = sp_reader_truncated(reader);
    if (begun && !*truncated)
        return sp_fail(context, SP_INPUT, "block %lld is not whole", (long long)block);
    if (frames == 0)
        return sp_fail(context, SP_INPUT, "the %s has no %sframe", what, *truncated ? "whole block, so no " : "");
    sp_reader_hash(reader, hash);
    if (*truncated || !json_object_get(meta, "tool"))
        return SP_OK;
    if (!result)
        return sp_fail(context, SP_INPUT, "its last member is not result: the file is cut short");
    int status = sp_json_hash(context, result, "sha256", hash);
    if (status == SP_OK && !hash[0])
        status = sp_fail(context, SP_INPUT, "result: \"sha256\" is missing");
    return status;
}
