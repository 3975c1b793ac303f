/* Inputs: reading them, and their record in the provenance of outputs. */
#include "tools/common/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tool_open_input(const char *path)
{
    if (!strcmp(path, "-")) {
        if (tool.stdin_used)
            tool_fail(SP_USAGE, NULL, "standard input (-) can be read only once");
        tool.stdin_used = true;
        tool_claim_read(path, STDIN_FILENO);
        return STDIN_FILENO;
    }

    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;

    if (descriptor < 0)
        tool_fail(errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO ? SP_SYSTEM : SP_INPUT, path,
                  "cannot open: %s", strerror(errno));

    if (fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode))
        tool_fail(SP_INPUT, path, "cannot open: it is a folder");
    if (fstat(descriptor, &about) == 0 && (S_ISBLK(about.st_mode) || (S_ISCHR(about.st_mode) && !isatty(descriptor))))
        tool_fail(SP_INPUT, path, "cannot open: it is a device; inputs are files and pipes");

    tool_claim_read(path, descriptor);
    return descriptor;
}

void tool_close_input(int descriptor)
{
    if (descriptor != STDIN_FILENO)
        close(descriptor);
}

const char *tool_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "./" says nothing. */
static const char *without_dot(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        for (path += 2; *path == '/'; path++)
            ;
    return path;
}

/* The base name; for a file that an input names, its path relative to the folder of that input, as written there. */
static const char *recorded_name(const char *path, bool named_inside)
{
    const char *first = without_dot(tool.naming           ? tool.naming
                                    : tool.argument_count ? tool.arguments[0]
                                                          : ""),
               *name = tool_base_name(path);
    size_t folder = (size_t)(tool_base_name(first) - first);
    path = without_dot(path);
    if (named_inside && !strncmp(path, first, folder) && path[folder] != '/')
        name = path + folder;
    return strcmp(path, "-") ? name : "standard input";
}

/* archive: the hash is that of the members, not of the bytes. */
static void record_input(const char *path, const char *option, const char *hash, const json_t *meta, bool archive)
{
    bool named_inside = option && !tool_options_has(option), ours = meta && json_object_get(meta, "tool");

    json_t *input = json_pack("{s:s, s:s}", "name", recorded_name(path, named_inside), "sha256", hash);
    if (!input) /* a name that is not UTF-8 */
        input = json_pack("{s:s, s:s}", "name", "unnamed", "sha256", hash);

    if (option)
        json_object_set_new(input, named_inside ? "via" : "option", json_string(option));
    if (archive && !ours)
        json_object_set_new(input, "archive", json_true());

    json_array_append_new(tool.inputs, input);
    if (!ours)
        return;

    /* What a file was made of, with the history of its own inputs */
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(meta, "history"), key, value) if (!json_object_get(tool.history, key))
        json_object_set(tool.history, key, value);

    json_t *entry = json_object();
    const char *const kept[] = {"kind", "output", "tool", "version", "parameters", "seed", "inputs"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_object_get(meta, kept[i]))
            json_object_set(entry, kept[i], json_object_get(meta, kept[i]));
    json_object_set_new(tool.history, hash, entry);
}

void tool_named_in(const char *path)
{
    tool.naming = path;
}

void tool_record_input(const char *path, const char *option, const char *hash, const json_t *meta)
{
    record_input(path, option, hash, meta, meta != NULL);
}

void tool_record_archive(const char *path, const char *option, const char *hash, const json_t *meta)
{
    record_input(path, option, hash, meta, true);
}

void tool_read(const char *path, const char *option, const char *const *kinds, bool foreign, sp_file *file)
{
    int descriptor = tool_open_input(path);
    const int status = sp_file_read(&tool.context, descriptor, kinds, foreign, false, file);
    if (status == SP_INPUT && !option && strstr(tool.context.message, "it is a file of kind"))
        tool_hint("usage: %s", tool_usage()); /* the most frequent cause is another order of the arguments */
    tool_check(status, path);
    tool_close_input(descriptor);
    record_input(path, option, file->hash, file->meta, true);
}

static noreturn void refuse_size(const char *path, int64_t most, const char *what)
{
    tool_fail(SP_INPUT, path, "it has more than %lld MiB, the most that is read %s", (long long)(most >> 20), what);
}

/* Appends what there is to read, up to `most` bytes in all. */
static void read_rest(const char *path, int descriptor, int64_t most, const char *what, sp_list *list)
{
    enum { STEP = 1 << 20 };
    for (ssize_t got = 1; got > 0;) {
        char *to = tool_list_add(list, STEP, 1);
        do
            got = read(descriptor, to, STEP);
        while (got < 0 && errno == EINTR);

        if (got < 0)
            tool_fail(SP_SYSTEM, path, "cannot read: %s", strerror(errno));

        list->count -= STEP - got;
        if (list->count > most)
            refuse_size(path, most, what);
    }
}

/* A file that is mostly holes takes no room on the disk, but all of its size in memory: truncate -s 100G. Text has
 * none; a file system that compresses makes it smaller by less than this. */
static void refuse_holes(const char *path, const struct stat *about)
{
    enum { HOLES = 64, SMALL = 64 << 20 };
    const int64_t stored = (int64_t)about->st_blocks * 512;
    if (about->st_size > SMALL && about->st_size / HOLES > stored)
        tool_fail(SP_INPUT, path, "it has %lld MiB, but %lld MiB on the disk: it consists of holes",
                  (long long)about->st_size >> 20, (long long)stored >> 20);
}

static char *read_bytes(const char *path, const char *option, int64_t most, const char *what, sp_pool *pool,
                        int64_t *count)
{
    enum { PIPE_MOST = 1 << 30 };
    int descriptor = tool_open_input(path);
    struct stat about;
    const bool is_file = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
    sp_list list = {0};

    if (is_file) {
        refuse_holes(path, &about);
        if (about.st_size > most)
            refuse_size(path, most, what);
    } else if (most > PIPE_MOST) {
        most = PIPE_MOST;
        what = "from a pipe: give it as a file";
    }

    read_rest(path, descriptor, most, what, &list);
    tool_close_input(descriptor);

    char *bytes = tool_allocate(pool, list.count + 1, 1);
    memcpy(bytes, list.data, (size_t)list.count);
    *count = list.count;
    sp_list_free(&list);

    if (!option || *option) {
        char hash[SP_HASH_LENGTH];
        sp_hash_bytes(*count, bytes, hash);
        tool_record_input(path, option, hash, NULL);
    }
    return bytes;
}

char *tool_read_bytes(const char *path, const char *option, sp_pool *pool, int64_t *count)
{
    return read_bytes(path, option, (int64_t)64 << 30, "of text and models", pool, count);
}

char *tool_read_json(const char *path, const char *option, sp_pool *pool, int64_t *count)
{
    char *bytes = read_bytes(path, option, SP_JSON_BYTES, "of JSON", pool, count);
    if (*count > 3 && !memcmp(bytes, "PK\3\4", 4)) {
        tool_hint("siminfo says what is in it");
        tool_fail(SP_INPUT, path, "it is an .npz file, where JSON is expected");
    }
    return bytes;
}

void tool_record_as(const char *program, json_t *parameters)
{
    json_t *inputs = json_copy(tool.inputs),
           *history = json_copy(tool.history); /* what was written keeps those that it was made of */
    json_decref(tool.inputs);
    json_decref(tool.history);
    json_decref(tool.parameters);
    json_decref(tool.warnings);

    tool.inputs = inputs;
    tool.history = history;
    tool.parameters = parameters;
    tool.warnings = json_array();
    tool.recorded = program;
    tool.no_seed = true;
}

json_t *tool_meta_new(const char *kind)
{
    json_t *meta = json_pack("{s:s, s:s, s:s, s:s}", "kind", kind, "format_version", SP_FORMAT_VERSION, "tool",
                             tool.recorded ? tool.recorded : tool.spec->name, "version", SUPPLE_VERSION);
    json_object_set(meta, "parameters", tool.parameters);
    tool_facts(meta, sp_facts_of_meta,
               {"seed", .integer = tool.seed, .leave_out = !(tool.spec->common & TOOL_SEED) || tool.no_seed});
    json_object_set(meta, "inputs", tool.inputs);
    json_object_set(meta, "history", tool.history);
    return meta;
}

void tool_meta_output(json_t *meta, const char *option)
{
    tool_facts(meta, sp_facts_of_meta, {"output", .text = option});
}

const char *tool_text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

json_t *tool_result_new(void)
{
    json_t *result = json_object();
    json_object_set(result, "warnings", tool.warnings);
    return result;
}

bool tool_meta_has_input(const json_t *meta, const char *option)
{
    size_t i;
    json_t *input;
    json_array_foreach(json_object_get(meta, "inputs"), i, input)
    {
        const char *by = json_string_value(json_object_get(input, "option"));
        if (by && !strcmp(by, option))
            return true;
    }
    return false;
}
