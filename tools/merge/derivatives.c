/* Shards of modal derivatives: some of the pairs. */
#include "formats/columns.h"
#include "tools/merge/shard.h"

#include <string.h>

static void read(sp_context *context, sp_file *file, merge_shard *shard)
{
    sp_columns *columns = shard->data = tool_allocate(&shard->pool, 1, sizeof *columns);
    tool_check(sp_columns_read(context, file, -1, columns), shard->path);
    if (columns->total && !columns->pair)
        tool_fail(SP_INPUT, shard->path, "member pair is missing, which shards have");
    memcpy(shard->mesh, columns->mesh, sizeof shard->mesh);
    shard->first = columns->first;
    shard->end = columns->total ? columns->end : columns->count;
    shard->total = columns->total ? columns->total : columns->count;
}

static void compare(const merge_shard *a, const merge_shard *b)
{
    const sp_columns *one = a->data, *other = b->data;
    if (one->rows != other->rows || one->order != other->order || one->source != other->source)
        tool_fail(SP_INPUT, b->path, "its derivatives are of another mesh or of other modes than those of %s", a->path);
}

static json_t *join(sp_context *context, int64_t count, const merge_shard *shards, const char *mesh, json_t *meta,
                    tool_output *output)
{
    static const char *const same[] = {"factor_nonzeros", "factor_flops"};
    const sp_columns *first = shards[0].data;
    sp_columns whole = {.rows = first->rows,
                        .count = shards[0].total,
                        .order = first->order,
                        .source = first->source,
                        .interface_count = first->interface_count,
                        .interfaces = first->interfaces};
    json_t *result = json_object();
    (void)mesh;

    memcpy(whole.mesh, shards[0].mesh, sizeof whole.mesh);
    whole.U = tool_allocate_raw(&whole.pool, whole.count, (size_t)whole.rows * sizeof *whole.U);
    whole.pair = first->pair ? tool_allocate_raw(&whole.pool, 2 * whole.count, sizeof *whole.pair) : NULL;
    for (int64_t i = 0; i < count; i++) {
        const sp_columns *part = shards[i].data;
        memcpy(whole.U + whole.rows * shards[i].first, part->U, (size_t)(whole.rows * part->count) * sizeof *whole.U);
        if (whole.pair)
            memcpy(whole.pair + 2 * shards[i].first, part->pair, (size_t)(2 * part->count) * sizeof *whole.pair);
    }
    tool_check(sp_columns_write(context, tool_output_writer(output), meta, &whole), tool_output_path());

    if (json_object_get(shards[0].result, "iterations"))
        tool_facts(result, sp_kind_derivatives.result,
                   {"iterations", .integer = (int64_t)merge_largest(count, shards, "iterations")});
    if (json_object_get(shards[0].result, "of_order")) /* shards are of order 1 */
        tool_facts(result, sp_kind_derivatives.result, {"of_order", .count = 1, .integers = &whole.count});
    for (int i = 0; i < TOOL_COUNT(same); i++)
        if (json_object_get(shards[0].result, same[i]))
            json_object_set(result, same[i], json_object_get(shards[0].result, same[i]));
    tool_facts(result, sp_kind_derivatives.result,
               {"largest_residual", .real = merge_largest(count, shards, "largest_residual")});

    tool_say("%lld shards, %lld derivatives", (long long)count, (long long)whole.count);
    sp_columns_free(&whole);
    return result;
}

static void release(merge_shard *shard)
{
    sp_columns_free(shard->data);
}

const merge_kind merge_derivatives = {.kind = "derivatives",
                                      .whole = "derivatives",
                                      .items = "pairs",
                                      .read = read,
                                      .compare = compare,
                                      .join = join,
                                      .release = release};
