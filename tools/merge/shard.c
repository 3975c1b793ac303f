#include "tools/merge/shard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static void check_parameters(const merge_shard *a, const merge_shard *b, const merge_shard *to)
{
    const char *name;
    json_t *value, *other = json_object_get(b->meta, "parameters");
    json_object_foreach(json_object_get(a->meta, "parameters"), name,
                        value) if (strcmp(name, "shard") && !same(value, json_object_get(other, name)))
        tool_fail(SP_INPUT, to->path, "it was made in another way than %s: its parameter %.40s differs",
                  a == to ? b->path : a->path, name);
}

static void check_alike(const merge_kind *kind, const merge_shard *a, const merge_shard *b)
{
    static const char *const keys[] = {"tool", "version", "seed"};
    tool_check_hash(b->path, "mesh", b->mesh, a->mesh);
    if (*a->basis || *b->basis)
        tool_check_hash(b->path, "basis", b->basis, a->basis);
    kind->compare(a, b);
    check_parameters(a, b, b);
    check_parameters(b, a, b);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!same(json_object_get(a->meta, keys[i]), json_object_get(b->meta, keys[i])))
            tool_fail(SP_INPUT, b->path, "it was made in another way than %s: its %s differs", a->path, keys[i]);
    if (!same_inputs(json_object_get(a->meta, "inputs"), json_object_get(b->meta, "inputs")))
        tool_fail(SP_INPUT, b->path, "it was made from other files than %s", a->path);
    if (b->total != a->total)
        tool_fail(SP_INPUT, b->path, "it is a part of %lld %s, %s of %lld", (long long)b->total, kind->items, a->path,
                  (long long)a->total);
}

static int compare_first(const void *a, const void *b)
{
    const merge_shard *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sorted: each item is in exactly one of them. */
static void check_cover(const merge_kind *kind, int64_t count, const merge_shard *shards)
{
    int64_t total = shards[0].total, next = 0;
    for (int64_t i = 0; i <= count; i++) {
        int64_t first = i < count ? shards[i].first : total, end = i < count ? shards[i].end : total;
        if (first > next)
            tool_fail(SP_INPUT, NULL, "%s %lld to %lld of %lld are in none of the files", kind->items, (long long)next,
                      (long long)first - 1, (long long)total);
        if (first < next)
            tool_fail(SP_INPUT, shards[i].path, "%s %lld to %lld are in %s too", kind->items, (long long)first,
                      (long long)(end < next ? end : next) - 1, shards[i - 1].path);
        next = end;
    }
}

static void read_shard(sp_context *context, const merge_kind *kind, const char *path, merge_shard *shard)
{
    const char *const kinds[] = {kind->kind, NULL};
    sp_file file;

    *shard = (merge_shard){.path = strcmp(path, "-") ? path : "standard input"};
    if (kind->open) {
        if (!strcmp(path, "-"))
            tool_fail(SP_USAGE, NULL, "shards of %s are read twice, which standard input cannot be", kind->kind);
        kind->open(context, shard);
        return;
    }

    tool_read(path, NULL, kinds, false, &file);
    shard->meta = json_incref(file.meta);
    shard->result = json_incref(file.result);
    kind->read(context, &file, shard);
    sp_file_free(&file);
}

void merge_read(sp_context *context, const merge_kind *kind, int64_t count, const char *const *paths,
                merge_shard *shards)
{
    for (int64_t i = 0; i < count; i++) {
        read_shard(context, kind, paths[i], &shards[i]);
        check_alike(kind, &shards[0], &shards[i]);
    }
    qsort(shards, (size_t)count, sizeof *shards, compare_first);
    check_cover(kind, count, shards);
}

/* ---- the whole ---- */

json_t *merge_meta(const char *whole, const merge_shard *first)
{
    static const char *const kept[] = {"tool", "version", "parameters", "seed", "inputs", "history"};
    if (!json_object_get(first->meta, "tool"))
        return tool_meta_new(whole);
    json_t *meta = json_pack("{s:s, s:s}", "kind", whole, "format_version", SP_FORMAT_VERSION);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_object_get(first->meta, kept[i]))
            json_object_set_new(meta, kept[i], json_deep_copy(json_object_get(first->meta, kept[i])));
    json_object_del(json_object_get(meta, "parameters"), "shard");
    return meta;
}

json_t *merge_warnings(int64_t count, const merge_shard *shards, json_t *own)
{
    json_t *seen = json_object(), *warnings = json_array(), *warning, *nothing;
    const char *text;
    size_t w;
    for (int64_t i = 0; i < count; i++)
        json_array_foreach(json_object_get(shards[i].result, "warnings"), w, warning) if (json_is_string(warning))
            json_object_set_new(seen, json_string_value(warning), json_null());
    json_object_foreach(seen, text, nothing) json_array_append_new(warnings, json_string(text));
    json_array_extend(warnings, own);
    json_decref(seen);
    return warnings;
}

int64_t merge_integer(const merge_shard *shard, const char *name)
{
    return json_integer_value(json_object_get(shard->result, name));
}

int64_t merge_sum(int64_t count, const merge_shard *shards, const char *name)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        if (__builtin_add_overflow(sum, merge_integer(&shards[i], name), &sum))
            tool_fail(SP_INPUT, shards[i].path, "result: \"%s\" is out of range", name);
    return sum;
}

double merge_largest(int64_t count, const merge_shard *shards, const char *name)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, json_number_value(json_object_get(shards[i].result, name)));
    return largest;
}
