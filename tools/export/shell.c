#include "tools/export/shell.h"

#include "formats/export/csv_write.h"
#include "formats/pointshell.h"
#include "tools/common/tool.h"

static void write_csv(sp_stream *stream, const sp_shell *shell)
{
    static const char *const names[] = {"x", "y", "z", "nx", "ny", "nz", "area", "level", "parent"};
    for (int i = 0; i < 9; i++)
        sp_csv_name(stream, i == 0, names[i]);
    sp_csv_end(stream);
    for (int64_t p = 0; p < shell->count; p++) {
        const double rest[3] = {shell->area[p], sp_shell_level_of(shell, p), (double)shell->parent[p]};
        sp_csv_numbers(stream, true, 3, shell->points + 3 * p);
        sp_csv_numbers(stream, false, 3, shell->normals + 3 * p);
        sp_csv_numbers(stream, false, 3, rest);
        sp_csv_end(stream);
    }
}

static void write_obj(sp_stream *stream, const sp_shell *shell)
{
    for (int64_t p = 0; p < shell->count; p++) {
        const double *x = shell->points + 3 * p, *n = shell->normals + 3 * p;
        sp_stream_print(stream, "v %.9g %.9g %.9g\nvn %.9g %.9g %.9g\n", x[0], x[1], x[2], n[0], n[1], n[2]);
    }
    for (int64_t p = 1; p <= shell->count; p++)
        sp_stream_print(stream, "p %lld\n", (long long)p);
}

void tool_export_shell(sp_context *context, const char *path, const char *target, bool obj)
{
    static const char *const kinds[] = {"pointshell", NULL};
    sp_file file;
    sp_shell shell;
    sp_stream stream;
    tool_read(path, NULL, kinds, false, &file);
    tool_check(sp_pointshell_read(context, &file, &shell), path);
    tool_output *output = tool_output_open(target);
    sp_stream_begin(&stream, tool_output_descriptor(output));
    obj ? write_obj(&stream, &shell) : write_csv(&stream, &shell);
    tool_check(sp_stream_end(context, &stream), target);
    tool_output_finish(output, NULL);
    tool_say("%lld points", (long long)shell.count);
    sp_shell_free(&shell);
    sp_file_free(&file);
}
