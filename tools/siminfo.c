/* siminfo: what is in a file, and how it was made. */
#include "formats/kinds.h"
#include "tools/common/tool.h"
#include "tools/info/fill.h"
#include "tools/info/script.h"
#include "tools/info/summary.h"

#include <stdlib.h>
#include <string.h>

static struct {
    bool json, members, script, hash, fill, partial;
} chosen;

static const tool_option options[] = {
    {"json", 0, TOOL_FLAG, &chosen.json, .help = "meta, result and the table of members as one JSON object",
     .silent = true},
    {"members", 0, TOOL_FLAG, &chosen.members, .help = "only the table of members, every block of a series",
     .silent = true},
    {"script", 0, TOOL_FLAG, &chosen.script, .help = "a shell script that remakes the file", .silent = true},
    {"hash", 0, TOOL_FLAG, &chosen.hash, .help = "only the hash", .silent = true},
    {"fill", 0, TOOL_FLAG, &chosen.fill, .help = "nonzeros of a matrix and of its Cholesky factor over orderings",
     .silent = true},
    {"partial", 0, TOOL_FLAG, &chosen.partial, .help = "read a file that was cut as far as it goes", .silent = true},
};

static bool wanted(void *data, const char *name)
{
    const sp_file *file = data;
    if (!sp_member_known(sp_file_kind(file), name))
        return false;
    if (chosen.fill && (!file->meta || !strcmp(sp_file_kind(file), "sparse"))) /* SciPy's files have no meta */
        return true;
    return !strcmp(name, "meta") || !strcmp(name, "result") || (file->meta && summary_wants(sp_file_kind(file), name));
}

static int find_hash(sp_context *context, sp_reader *reader, sp_file *file)
{
    file->truncated = sp_reader_truncated(reader);
    if (file->truncated || !json_object_get(file->meta, "tool")) {
        sp_reader_hash(reader, file->hash);
        return SP_OK;
    }
    int status = sp_json_hash(context, file->result, "sha256", file->hash);
    if (status == SP_OK && !file->hash[0])
        status = sp_fail(context, SP_INPUT,
                         file->result ? "result: \"sha256\" is missing"
                                      : "its last member is not result: the file is cut short");
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_names(sp_context *context, info_file *info)
{
    const char **names = sp_pool_raw(&info->pool, info->member_count, sizeof *names);
    if (!names)
        return sp_fail_memory(context);
    for (int64_t i = 0; i < info->member_count; i++)
        names[i] = info->members[i].name;
    qsort(names, (size_t)info->member_count, sizeof *names, compare_names);
    for (int64_t i = 1; i < info->member_count; i++)
        if (!strcmp(names[i - 1], names[i]))
            return sp_fail(context, SP_INPUT, "member %s stands twice", names[i]);
    return SP_OK;
}

/* Like sp_file_read, but only the data that is shown stays in memory. */
static int read_file(sp_context *context, int descriptor, info_file *info)
{
    sp_file *file = &info->file;
    sp_list kept = {0}, table = {0};
    sp_reader *reader = NULL;
    int status;
    SP_TRY(sp_reader_open(context, descriptor, chosen.partial, &reader));
    for (;;) {
        sp_array array;
        SP_TRY(sp_reader_next(reader, &file->members.pool, wanted, file, &array));
        if (!array.name[0])
            break;
        if (file->result) {
            status = sp_fail(context, SP_INPUT, "member %s follows result, which must be the last", array.name);
            goto done;
        }
        info_member *row = sp_list_add(&table, 1, sizeof *row);
        sp_array *to = array.data ? sp_list_add(&kept, 1, sizeof array) : NULL;
        if (!row || (array.data && !to)) {
            status = sp_fail_memory(context);
            goto done;
        }
        *row = (info_member){
            .type = array.type, .fortran = array.fortran, .rank = array.rank, .size = array.size, .count = array.count};
        memcpy(row->name, array.name, sizeof row->name);
        memcpy(row->shape, array.shape, sizeof row->shape);
        if (to)
            *to = array;
        if (table.count == 1)
            SP_TRY(sp_file_meta(context, reader, &array, NULL, &file->meta));
        if (file->meta && !strcmp(array.name, "result"))
            SP_TRY(sp_json_from_member(context, &array, &file->result));
    }
    SP_TRY(find_hash(context, reader, file));
    info->member_count = table.count;
    info->members = sp_pool_copy(&info->pool, table.data, table.count, sizeof(info_member));
    file->members.count = kept.count;
    file->members.arrays = sp_pool_copy(&file->members.pool, kept.data, kept.count, sizeof(sp_array));
    if (!info->members || !file->members.arrays)
        status = sp_fail_memory(context);
    else
        status = check_names(context, info);
done:
    sp_list_free(&kept);
    sp_list_free(&table);
    sp_reader_close(reader);
    return status;
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(
        &(tool_spec){
            "siminfo", "FILE", 1, 1, "What is in a file, and how it was made.", options, TOOL_COUNT(options), 0,
            "  siminfo basis.npz\n  siminfo --script poly.npz > remake.sh\n  siminfo --json modes.npz | jq .result\n"},
        argc, argv);
    const char *path = tool_argument(0), *slash = strrchr(path, '/');
    info_file info = {0};
    if (chosen.json + chosen.members + chosen.script + chosen.hash + chosen.fill > 1)
        tool_fail(SP_USAGE, NULL, "--json, --members, --script, --hash and --fill exclude each other");
    int descriptor = tool_open_input(path);
    tool_check(read_file(context, descriptor, &info), path);
    tool_close_input(descriptor);
    FILE *stream = tool_stdout();
    if (chosen.hash)
        fprintf(stream, "%s\n", info.file.hash);
    else if (chosen.members)
        summary_members(&info, false, stream);
    else if (chosen.json) {
        json_t *all = summary_json(&info);
        json_dumpf(all, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        putc('\n', stream);
        json_decref(all);
    } else if (chosen.script) {
        if (!json_object_get(info.file.meta, "tool"))
            tool_fail(SP_INPUT, path, "it does not say how it was made");
        tool_check(
            script_write(context, info.file.meta, info.file.hash, slash ? slash + 1 : path, SUPPLE_TOOLS, stream),
            path);
    } else if (chosen.fill)
        tool_check(fill_print(context, &info.file, stream), path);
    else
        tool_check(summary_print(context, &info, strcmp(path, "-") ? path : "standard input", stream), path);
    sp_file_free(&info.file);
    sp_pool_free(&info.pool);
    return tool_end();
}
