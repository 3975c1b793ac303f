/* simmerge: joins shards into the file that one run would have written. */
#include "tools/common/trajectory.h"
#include "tools/merge/shard.h"

#include <string.h>

static const tool_spec spec = {
    .name = "simmerge",
    .arguments = "[MESH] FILE...",
    .least = 1,
    .most = -1,
    .summary = "Joins the shards of one stage of the precomputation into one file.",
    .options = NULL,
    .option_count = 0,
    .common = TOOL_OUTPUT,
    .examples = "  simmerge part1.npz part2.npz part3.npz -o training.npz\n"
                "  simmerge spoon.npz part1.npz part2.npz -o snapshots.npz\n",
};

/* What the arguments are: the shards, and for sketches their mesh. */
typedef struct named {
    const merge_kind *kind;
    int64_t count;
    const char **shards, *mesh;
} named;

static void add_argument(sp_context *context, const char *path, named *all)
{
    static const merge_kind *const kinds[] = {&merge_training, &merge_derivatives, &merge_snapshots, &merge_polynomials,
                                              &merge_ensemble};
    char name[SP_KIND_LENGTH];
    const merge_kind *kind = NULL;

    tool_peek_kind(context, path, name);

    if (!strcmp(name, "mesh")) {
        if (all->mesh)
            tool_fail(SP_USAGE, path, "a second mesh");
        all->mesh = path;
        return;
    }

    for (int i = 0; i < TOOL_COUNT(kinds); i++)
        kind = strcmp(kinds[i]->kind, name) ? kind : kinds[i];
    if (!kind)
        tool_fail(SP_INPUT, path, "it is a file of kind %s, of which there are no shards", name);

    if (all->kind && kind != all->kind)
        tool_fail(SP_INPUT, path, "it is a file of kind %s, %s of kind %s", name, all->shards[0], all->kind->kind);

    all->kind = kind;
    all->shards[all->count++] = path;
}

static named sort_arguments(sp_context *context, sp_pool *pool)
{
    named all = {.shards = tool_allocate(pool, tool_argument_count(), sizeof *all.shards)};
    for (int i = 0; i < tool_argument_count(); i++)
        add_argument(context, tool_argument(i), &all);
    if (!all.kind)
        tool_fail(SP_USAGE, NULL, "no shard was named");
    if (all.kind->needs_mesh && !all.mesh)
        tool_fail(SP_USAGE, NULL, "shards of %s are thinned out by the mass of their mesh: name its file too",
                  all.kind->kind);
    if (!all.kind->needs_mesh && all.mesh)
        tool_fail(SP_USAGE, all.mesh, "shards of %s are joined without a mesh", all.kind->kind);
    return all;
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    sp_pool pool = {0};

    const named all = sort_arguments(context, &pool);
    merge_shard *shards = tool_allocate(&pool, all.count, sizeof *shards);
    merge_read(context, all.kind, all.count, all.shards, shards);

    tool_output *output = tool_output_open(tool_output_path());
    json_t *meta = merge_meta(all.kind->whole, &shards[0]), *result = tool_result_new(),
           *joined = all.kind->join(context, all.count, shards, all.mesh, meta, output);

    tool_facts(result, sp_facts_of_result,
               {"warnings", .json = merge_warnings(all.count, shards, json_object_get(result, "warnings"))});
    json_object_del(joined, "warnings");
    json_object_update(result, joined);
    json_decref(joined);

    tool_output_finish(output, result);
    json_decref(meta);

    for (int64_t i = 0; i < all.count; i++) {
        all.kind->release(&shards[i]);
        json_decref(shards[i].meta);
        json_decref(shards[i].result);
        sp_pool_free(&shards[i].pool);
    }
    sp_pool_free(&pool);
    return tool_end();
}
