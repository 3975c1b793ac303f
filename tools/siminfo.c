/* siminfo: the contents and the provenance of a file. */
#include "formats/kinds.h"
#include "tools/common/tool.h"
#include "tools/info/fill.h"
#include "tools/info/script.h"
#include "tools/info/stale.h"
#include "tools/info/summary.h"
#include "tools/process/blas.h"

#include <string.h>

static struct {
    bool json, members, script, hash, fill, stale, partial, self_test;
} chosen;

static const tool_option options[] = {
    {"json", 0, TOOL_FLAG, &chosen.json, .help = "print meta, result and the table of members as one JSON object",
     .silent = true},
    {"members", 0, TOOL_FLAG, &chosen.members, .only = "!json",
     .help = "print only the table of members, every block of a series", .silent = true},
    {"script", 0, TOOL_FLAG, &chosen.script, .only = "!json !members",
     .help = "print a shell script that remakes the file", .silent = true},
    {"hash", 0, TOOL_FLAG, &chosen.hash, .only = "!json !members !script", .help = "print only the hash",
     .silent = true},
    {"fill", 0, TOOL_FLAG, &chosen.fill, .only = "!json !members !script !hash",
     .help = "print the nonzeros of a matrix and of its Cholesky factor for five orderings", .silent = true},
    {"stale", 0, TOOL_FLAG, &chosen.stale, .only = "!json !members !script !hash !fill",
     .help =
         "tell whether an input has another content now, or the version is another: exit 0 up to date, 1 out of date",
     .silent = true},
    {"partial", 0, TOOL_FLAG, &chosen.partial, .only = "!stale", .help = "read a file that was cut as far as it goes",
     .silent = true},
    {"self-test", 0, TOOL_FLAG, &chosen.self_test, .only = "!json !members !script !hash !fill !stale !partial",
     .help = "no FILE: whether the BLAS of this build computes rightly on several threads", .silent = true},
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

/* Only the data that is shown stays in memory. The summary changes members as it takes them: the table shows a copy. */
static int read_file(sp_context *context, int descriptor, info_file *info)
{
    SP_PASS(sp_file_read_some(context, descriptor, chosen.partial, wanted, &info->file));
    info->member_count = info->file.members.count;
    info->members = sp_pool_copy(&info->pool, info->file.members.arrays, info->member_count, sizeof *info->members);
    if (!info->members)
        return sp_fail_memory(context);
    return SP_OK;
}

static const tool_spec spec = {
    .name = "siminfo",
    .arguments = "FILE [INPUT...]",
    .files = "npz json",
    .least = 1,
    .alone = &chosen.self_test,
    .most = -1,
    .summary = "What is in a file, and how it was made.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = 0,
    .examples = "  siminfo basis.npz\n  siminfo --script poly.npz > remake.sh\n"
                "  siminfo --json modes.npz | jq .result\n  siminfo --stale poly.npz meshes/spoon.npz\n"
                "  siminfo --self-test\n",
};

/* SP_NO if the file is out of date. */
static int judge(sp_context *context, const sp_file *file, const char *path)
{
    const int count = tool_argument_count() - 1;
    sp_pool pool = {0};
    const char **inputs = tool_allocate(&pool, count, sizeof *inputs);
    for (int i = 0; i < count; i++)
        inputs[i] = tool_argument(i + 1);
    const int64_t reasons =
        stale_reasons(context, file->meta, path, count, inputs, tool_quiet() ? NULL : tool_stdout());
    sp_pool_free(&pool);
    return reasons ? SP_NO : SP_OK;
}

/* Prints the libraries of this build, and what their test says. */
static int test_libraries(sp_context *context)
{
    char libraries[300];
    process_blas_versions(libraries, sizeof libraries);
    if (!tool_quiet())
        fprintf(tool_stdout(), "%s\n", libraries);
    tool_check(process_blas_test(context), NULL);
    if (!tool_quiet())
        fprintf(tool_stdout(), "matrix products on several threads at once are right\n");
    return tool_end();
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    if (chosen.self_test && tool_argument_count() == 0)
        return test_libraries(context);
    if (chosen.self_test)
        tool_fail(SP_USAGE, NULL, "--self-test takes no file");

    const char *path = tool_argument(0), *slash = strrchr(path, '/');
    info_file info = {0};
    if (tool_argument_count() > 1 && !chosen.stale)
        tool_fail(SP_USAGE, NULL, "one file expected; inputs are named with --stale only");
    int verdict = SP_OK, descriptor = tool_open_input(path);
    tool_check(read_file(context, descriptor, &info), path);
    tool_close_input(descriptor);
    FILE *stream = tool_stdout();
    if (chosen.stale)
        verdict = judge(context, &info.file, path);
    else if (chosen.hash)
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
    const int status = tool_end();
    return status == SP_OK ? verdict : status;
}
