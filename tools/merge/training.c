/* Shards of training: poses with their forces. */
#include "formats/cubature.h"
#include "tools/merge/shard.h"

#include <string.h>

static void read(sp_context *context, sp_file *file, merge_shard *shard)
{
    sp_poses *poses = shard->data = tool_allocate(&shard->pool, 1, sizeof *poses);
    tool_check(sp_training_read(context, file, poses, &shard->first, &shard->total, shard->mesh, shard->basis),
               shard->path);
    shard->end = shard->first + poses->count;
}

static void compare(const merge_shard *a, const merge_shard *b)
{
    const sp_poses *one = a->data, *other = b->data;
    if (one->r != other->r)
        tool_fail(SP_INPUT, b->path, "its poses have %lld coordinates, those of %s %lld", (long long)other->r, a->path,
                  (long long)one->r);
}

static json_t *join(sp_context *context, int64_t count, const merge_shard *shards, const char *mesh, json_t *meta,
                    tool_output *output)
{
    const int64_t r = ((const sp_poses *)shards[0].data)->r;
    sp_poses whole = {.r = r, .count = shards[0].total};
    json_t *result = json_object(), *amplitude = json_object_get(shards[0].result, "amplitude");
    int64_t shrunk = 0;
    (void)mesh;
    whole.q = tool_allocate_raw(&whole.pool, r * whole.count, sizeof *whole.q);
    whole.force = tool_allocate_raw(&whole.pool, r * whole.count, sizeof *whole.force);
    for (int64_t i = 0; i < count; i++) {
        const sp_poses *part = shards[i].data;
        const int64_t own = merge_integer(&shards[i], "shrunk_poses");
        memcpy(whole.q + r * shards[i].first, part->q, (size_t)(r * part->count) * sizeof *whole.q);
        memcpy(whole.force + r * shards[i].first, part->force, (size_t)(r * part->count) * sizeof *whole.force);
        shrunk += own > 0 && own <= part->count ? own : 0;
    }
    tool_facts(meta, sp_kind_training.meta, {"mesh", .text = shards[0].mesh}, {"basis", .text = shards[0].basis});
    tool_check(sp_training_write(context, tool_output_writer(output), meta, &whole, 0, whole.count),
               tool_output_path());
    tool_facts(result, sp_kind_training.result,
               {"amplitude", .real = json_number_value(amplitude), .none = !json_is_number(amplitude)},
               {"shrunk_poses", .integer = shrunk});
    tool_say("%lld shards, %lld poses in %lld coordinates", (long long)count, (long long)whole.count, (long long)r);
    sp_poses_free(&whole);
    return result;
}

static void release(merge_shard *shard)
{
    sp_poses_free(shard->data);
}

const merge_kind merge_training = {.kind = "training",
                                   .whole = "training",
                                   .items = "poses",
                                   .read = read,
                                   .compare = compare,
                                   .join = join,
                                   .release = release};
