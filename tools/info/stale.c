#include "tools/info/stale.h"

#include "formats/container.h"
#include "formats/plain.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 12 }; /* digits of a hash, as in the summary */

typedef struct stale {
    sp_context *context;
    const json_t *history;
    int64_t count;
    const char *const *arguments;
    bool *used;         /* [count] the argument has the name of an input */
    const char *beside; /* a path whose folder has the inputs */
    const char *naming; /* the path of the last input that no other input names */
    int64_t reasons;
    FILE *stream;
    sp_pool pool;
} stale;

SP_PRINTF(2, 3) static void reason(stale *s, const char *format, ...)
{
    s->reasons++;
    if (!s->stream)
        return;
    va_list values;
    va_start(values, format);
    vfprintf(s->stream, format, values);
    va_end(values);
    putc('\n', s->stream);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* `name` in the folder of `neighbour`. */
static const char *beside(stale *s, const char *neighbour, const char *name)
{
    const size_t folder = (size_t)(base_name(neighbour) - neighbour), length = strlen(name);
    char *path = tool_allocate(&s->pool, (int64_t)(folder + length + 1), 1);
    memcpy(path, neighbour, folder);
    memcpy(path + folder, name, length + 1);
    return path;
}

static bool keep_texts(void *data, const char *name)
{
    (void)data;
    return !strcmp(name, "meta") || !strcmp(name, "result");
}

/* The hash of the file at `path` as an input has it recorded: of the members of an archive, else of the bytes. */
static void hash_now(stale *s, const char *path, bool archive, char hash[SP_HASH_LENGTH])
{
    if (!archive) {
        int64_t count = 0;
        const char *bytes = tool_read_bytes(path, "", &s->pool, &count);
        sp_hash_bytes(count, bytes, hash);
        return;
    }
    sp_file file = {0};
    int descriptor = tool_open_input(path);
    tool_check(sp_file_read_some(s->context, descriptor, false, keep_texts, &file), path);
    tool_close_input(descriptor);
    memcpy(hash, file.hash, SP_HASH_LENGTH);
    sp_file_free(&file);
}

/* True if the file has the recorded content. */
static bool same(stale *s, const char *path, bool archive, const char *recorded, char now[SP_HASH_LENGTH])
{
    hash_now(s, path, archive, now);
    return !strcmp(now, recorded);
}

/* One input. Several arguments may have its name: it is enough that one of them has its content. */
static void judge(stale *s, const char *name, const char *recorded, bool via, bool archive)
{
    char now[SP_HASH_LENGTH] = "";
    const char *path = NULL;
    bool found = false;

    for (int64_t i = 0; i < s->count && !found; i++)
        if (!strcmp(base_name(s->arguments[i]), base_name(name))) {
            s->used[i] = true;
            path = s->arguments[i];
            found = same(s, path, archive, recorded, now);
        }

    if (!path) {
        path = beside(s, via && s->naming ? s->naming : s->beside, name);
        if (access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR)) {
            reason(s, "%s: missing", path);
            return;
        }
        found = same(s, path, archive, recorded, now);
    }

    if (!via)
        s->naming = path;
    if (!found)
        reason(s, "%s: its content is %.*s now and was %.*s", path, SHOWN, now, SHOWN, recorded);
}

static void judge_record(stale *s, const json_t *input, const char *path)
{
    const char *name = json_string_value(json_object_get(input, "name")),
               *hash = json_string_value(json_object_get(input, "sha256"));
    const bool via = json_object_get(input, "via") != NULL,
               archive = json_is_true(json_object_get(input, "archive")) || json_object_get(s->history, hash);
    if (!name || !*name || !sp_is_plain(name) || !hash || strlen(hash) != SP_HASH_LENGTH - 1)
        tool_fail(SP_INPUT, path, "meta: inputs: an entry has no usable name and hash");
    if (!strcmp(name, "standard input") || !strcmp(name, "unnamed"))
        reason(s, "%s: an input had no name, and cannot be looked up", path);
    else
        judge(s, name, hash, via, archive);
}

int64_t stale_reasons(sp_context *context, const json_t *meta, const char *path, int64_t count,
                      const char *const *arguments, FILE *stream)
{
    const char *version = json_string_value(json_object_get(meta, "version"));
    const json_t *inputs = json_object_get(meta, "inputs"), *input;

    if (!json_object_get(meta, "tool"))
        tool_fail(SP_INPUT, path, "it does not say how it was made");
    if (!version || !sp_is_plain(version) || !json_is_array(inputs))
        tool_fail(SP_INPUT, path, "meta: it has no version or no inputs");

    stale s = {.context = context,
               .history = json_object_get(meta, "history"),
               .count = count,
               .arguments = arguments,
               .beside = path,
               .stream = stream};
    s.used = tool_allocate(&s.pool, count, sizeof *s.used);

    if (strcmp(version, SUPPLE_VERSION))
        reason(&s, "%s: made by version %s, and this is %s", path, version, SUPPLE_VERSION);

    size_t i;
    json_array_foreach(inputs, i, input) judge_record(&s, input, path);
    for (int64_t a = 0; a < count; a++)
        if (!s.used[a])
            reason(&s, "%s: %s was made without a file of this name", arguments[a], path);

    const int64_t reasons = s.reasons;
    sp_pool_free(&s.pool);
    return reasons;
}
