/* Shards of polynomials: some of the sums of the Gram matrices. */
#include "formats/polynomials.h"
#include "tools/merge/shard.h"

#include <string.h>

static void read(sp_context *context, sp_file *file, merge_shard *shard)
{
    sp_polynomials *sums = shard->data = tool_allocate(&shard->pool, 1, sizeof *sums);
    tool_check(sp_polynomial_sums_read(context, file, sums, shard->mesh, shard->basis), shard->path);
    shard->first = sums->first_sum;
    shard->end = sums->end_sum;
    shard->total = SP_POLYNOMIAL_SUMS;
}

static void compare(const merge_shard *a, const merge_shard *b)
{
    const sp_polynomials *one = a->data, *other = b->data;
    bool same = one->r == other->r && one->part_count == other->part_count && one->lumped == other->lumped &&
                one->density == other->density && one->symmetrized == other->symmetrized;
    for (int64_t p = 0; same && p < one->part_count; p++)
        same = one->parts[p].constant == other->parts[p].constant && one->parts[p].value == other->parts[p].value &&
               !strcmp(one->parts[p].group, other->parts[p].group);
    if (!same)
        tool_fail(SP_INPUT, b->path, "its coordinates or parts are not those of %s", a->path);
}

static json_t *join(sp_context *context, int64_t count, const merge_shard *shards, const char *mesh, json_t *meta,
                    tool_output *output)
{
    sp_polynomials *parts, whole;
    sp_pool pool = {0};
    json_t *result = json_object();
    const int64_t rows = merge_sum(count, shards, "rows");
    (void)mesh;
    parts = tool_allocate(&pool, count, sizeof *parts);
    for (int64_t i = 0; i < count; i++)
        parts[i] = *(const sp_polynomials *)shards[i].data;
    tool_check(sp_polynomials_join(context, count, parts, &whole), NULL);
    tool_facts(meta, sp_kind_polynomials.meta, {"mesh", .text = shards[0].mesh}, {"basis", .text = shards[0].basis});
    tool_check(sp_polynomials_write(context, tool_output_writer(output), meta, &whole), tool_output_path());
    const double N = (double)sp_polynomial_order(whole.r);
    tool_facts(result, sp_kind_polynomials.result, {"rows", .integer = rows},
               {"flops", .real = (double)rows * N * (N + 1)});
    tool_say("%lld shards, polynomials of %lld coordinates", (long long)count, (long long)whole.r);
    sp_polynomials_free(&whole);
    sp_pool_free(&pool);
    return result;
}

static void release(merge_shard *shard)
{
    sp_polynomials_free(shard->data);
}

const merge_kind merge_polynomials = {.kind = "polynomial_sums",
                                      .whole = "polynomials",
                                      .items = "sums",
                                      .read = read,
                                      .compare = compare,
                                      .join = join,
                                      .release = release};
