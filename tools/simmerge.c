/* simmerge: joins shards of training into the file that one run would have written. */
#include "formats/cubature.h"
#include "tools/common/inputs.h"

#include <stdlib.h>
#include <string.h>

typedef struct shard {
    const char *path;
    json_t *meta, *result;
    sp_poses poses;
    int64_t first, total;
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];
} shard;

static void read_shard(sp_context *context, const char *path, shard *s)
{
    static const char *const kinds[] = {"training", NULL};
    sp_file file;
    tool_read(path, NULL, kinds, false, &file);
    s->path = strcmp(path, "-") ? path : "standard input";
    tool_check(sp_training_read(context, &file, &s->poses, &s->first, &s->total, s->mesh, s->basis), path);
    s->meta = json_incref(file.meta);
    s->result = json_incref(file.result);
    sp_file_free(&file);
}

/* ---- whether they are parts of one whole ---- */

static bool same(const json_t *a, const json_t *b)
{
    return a == b || json_equal(a, b);
}

/* By content: on another machine a file may have another name. */
static bool same_inputs(const json_t *a, const json_t *b)
{
    bool equal = json_array_size(a) == json_array_size(b);
    for (size_t i = 0; equal && i < json_array_size(a); i++)
        equal = same(json_object_get(json_array_get(a, i), "sha256"), json_object_get(json_array_get(b, i), "sha256"));
    return equal;
}

/* Every parameter of `a` but the shard is that of `b`. */
static void check_parameters(const shard *a, const shard *b, const shard *to)
{
    const char *name;
    json_t *value, *other = json_object_get(b->meta, "parameters");
    json_object_foreach(json_object_get(a->meta, "parameters"), name,
                        value) if (strcmp(name, "shard") && !same(value, json_object_get(other, name)))
        tool_fail(SP_INPUT, to->path, "it was made in another way than %s: its parameter %.40s differs",
                  a == to ? b->path : a->path, name);
}

static void check_alike(const shard *a, const shard *b)
{
    static const char *const keys[] = {"tool", "version", "seed"};
    tool_check_hash(b->path, "mesh", b->mesh, a->mesh);
    tool_check_hash(b->path, "basis", b->basis, a->basis);
    if (b->poses.r != a->poses.r)
        tool_fail(SP_INPUT, b->path, "its poses have %lld coordinates, those of %s %lld", (long long)b->poses.r,
                  a->path, (long long)a->poses.r);
    check_parameters(a, b, b);
    check_parameters(b, a, b);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!same(json_object_get(a->meta, keys[i]), json_object_get(b->meta, keys[i])))
            tool_fail(SP_INPUT, b->path, "it was made in another way than %s: its %s differs", a->path, keys[i]);
    if (!same_inputs(json_object_get(a->meta, "inputs"), json_object_get(b->meta, "inputs")))
        tool_fail(SP_INPUT, b->path, "it was made from other files than %s", a->path);
    if (b->total != a->total)
        tool_fail(SP_INPUT, b->path, "it is a part of %lld poses, %s of %lld", (long long)b->total, a->path,
                  (long long)a->total);
}

static int compare_first(const void *a, const void *b)
{
    const shard *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sorted: each pose is in exactly one of them. */
static void check_cover(int count, const shard *shards)
{
    int64_t total = shards[0].total, next = 0;
    for (int i = 0; i <= count; i++) {
        int64_t first = i < count ? shards[i].first : total, end = i < count ? first + shards[i].poses.count : total;
        if (first > next)
            tool_fail(SP_INPUT, NULL, "poses %lld to %lld of %lld are in none of the files", (long long)next,
                      (long long)first - 1, (long long)total);
        if (first < next)
            tool_fail(SP_INPUT, shards[i].path, "poses %lld to %lld are in %s too", (long long)first,
                      (long long)(end < next ? end : next) - 1, shards[i - 1].path);
        next = end;
    }
}

/* ---- the whole ---- */

static void join(int count, const shard *shards, sp_poses *whole)
{
    int64_t r = shards[0].poses.r;
    *whole = (sp_poses){.r = r, .count = shards[0].total};
    whole->q = tool_allocate_raw(&whole->pool, r * whole->count, sizeof *whole->q);
    whole->force = tool_allocate_raw(&whole->pool, r * whole->count, sizeof *whole->force);
    for (int i = 0; i < count; i++) {
        const sp_poses *part = &shards[i].poses;
        memcpy(whole->q + r * shards[i].first, part->q, (size_t)(r * part->count) * sizeof *whole->q);
        memcpy(whole->force + r * shards[i].first, part->force, (size_t)(r * part->count) * sizeof *whole->force);
    }
}

/* That of the run without --shard: how the work was divided is not recorded. Names of inputs are those of the first
 * shard. A file that another program made has no record to keep. */
static json_t *joined_meta(const shard *first)
{
    static const char *const kept[] = {"tool", "version", "parameters", "seed", "inputs", "history"};
    json_t *meta;
    if (!json_object_get(first->meta, "tool"))
        meta = tool_meta_new("training");
    else {
        meta = json_pack("{s:s, s:s}", "kind", "training", "format_version", SP_FORMAT_VERSION);
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            if (json_object_get(first->meta, kept[i]))
                json_object_set_new(meta, kept[i], json_deep_copy(json_object_get(first->meta, kept[i])));
        json_object_del(json_object_get(meta, "parameters"), "shard");
    }
    json_object_set_new(meta, "mesh", json_string(first->mesh));
    json_object_set_new(meta, "basis", json_string(first->basis));
    return meta;
}

/* Each warning of the shards once. */
static json_t *join_warnings(int count, const shard *shards)
{
    json_t *seen = json_object(), *warnings = json_array(), *warning, *nothing;
    const char *text;
    size_t w;
    for (int i = 0; i < count; i++)
        json_array_foreach(json_object_get(shards[i].result, "warnings"), w, warning) if (json_is_string(warning))
            json_object_set_new(seen, json_string_value(warning), json_null());
    json_object_foreach(seen, text, nothing) json_array_append_new(warnings, json_string(text));
    json_decref(seen);
    return warnings;
}

static json_t *report(int count, const shard *shards)
{
    json_t *result = tool_result_new(), *amplitude = json_object_get(shards[0].result, "amplitude");
    int64_t shrunk = 0;
    for (int i = 0; i < count; i++) {
        int64_t own = json_integer_value(json_object_get(shards[i].result, "shrunk_poses"));
        shrunk += own > 0 && own <= shards[i].poses.count ? own : 0;
    }
    json_object_set_new(result, "warnings", join_warnings(count, shards));
    json_object_set(result, "amplitude", json_is_number(amplitude) ? amplitude : json_null());
    json_object_set_new(result, "shrunk_poses", json_integer(shrunk));
    return result;
}

static const tool_spec spec = {
    .name = "simmerge",
    .arguments = "FILE...",
    .least = 1,
    .most = -1,
    .summary = "Joins shards of training into one file.",
    .options = NULL,
    .option_count = 0,
    .common = TOOL_OUTPUT,
    .examples = "  simmerge part1.npz part2.npz part3.npz -o training.npz\n",
};

int main(int argc, char **argv)
{
    sp_poses whole;
    sp_context *context = tool_begin(&spec, argc, argv);
    int count = tool_argument_count();
    shard *shards = calloc((size_t)count, sizeof *shards);
    if (!shards)
        tool_out_of_memory();
    for (int i = 0; i < count; i++) {
        read_shard(context, tool_argument(i), &shards[i]);
        check_alike(&shards[0], &shards[i]);
    }
    qsort(shards, (size_t)count, sizeof *shards, compare_first);
    check_cover(count, shards);
    join(count, shards, &whole);
    tool_output *output = tool_output_open(tool_output_path());
    json_t *meta = joined_meta(&shards[0]);
    tool_check(sp_training_write(context, tool_output_writer(output), meta, &whole, 0, whole.count),
               tool_output_path());
    tool_output_finish(output, report(count, shards));
    tool_say("%d shards, %lld poses in %lld coordinates", count, (long long)whole.count, (long long)whole.r);
    json_decref(meta);
    sp_poses_free(&whole);
    for (int i = 0; i < count; i++) {
        sp_poses_free(&shards[i].poses);
        json_decref(shards[i].meta);
        json_decref(shards[i].result);
    }
    free(shards);
    return tool_end();
}
