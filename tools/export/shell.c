#include "tools/export/shell.h"

#include "formats/export/csv_write.h"
#include "formats/export/vtu.h"
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

/* Of the largest sphere about the point. */
static double radius_of(const sp_shell *shell, int64_t p)
{
    const int level = sp_shell_level_of(shell, p);
    return level < shell->levels ? shell->radius[sp_shell_node(shell, level, p)] : 0;
}

static void write_line(sp_stream *stream, int64_t count, const double *values)
{
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            sp_stream_bytes(stream, " ", 1);
        sp_stream_number(stream, values[i]);
    }
}

static void write_ply(sp_stream *stream, const sp_shell *shell)
{
    static const char *const names[] = {"x", "y", "z", "nx", "ny", "nz", "area", "radius"};
    sp_stream_print(stream, "ply\nformat ascii 1.0\ncomment pointshell, normals inward\nelement vertex %lld\n",
                    (long long)shell->count);
    for (int i = 0; i < TOOL_COUNT(names); i++)
        sp_stream_print(stream, "property double %s\n", names[i]);
    sp_stream_print(stream, "property int level\nend_header\n");
    for (int64_t p = 0; p < shell->count; p++) {
        const double *x = shell->points + 3 * p, *n = shell->normals + 3 * p;
        write_line(stream, 8, (double[]){x[0], x[1], x[2], n[0], n[1], n[2], shell->area[p], radius_of(shell, p)});
        sp_stream_print(stream, " %d\n", sp_shell_level_of(shell, p));
    }
}

static void write_vtk(sp_stream *stream, const sp_shell *shell)
{
    const long long n = shell->count;
    sp_stream_print(
        stream, "# vtk DataFile Version 3.0\npointshell, normals inward\nASCII\nDATASET POLYDATA\nPOINTS %lld double\n",
        n);
    for (int64_t p = 0; p < n; p++) {
        write_line(stream, 3, shell->points + 3 * p);
        sp_stream_print(stream, "\n");
    }
    sp_stream_print(stream, "VERTICES %lld %lld\n", n, 2 * n);
    for (int64_t p = 0; p < n; p++)
        sp_stream_print(stream, "1 %lld\n", (long long)p);
    sp_stream_print(stream, "POINT_DATA %lld\nNORMALS normal double\n", n);
    for (int64_t p = 0; p < n; p++) {
        write_line(stream, 3, shell->normals + 3 * p);
        sp_stream_print(stream, "\n");
    }
    for (int radius = 0; radius < 2; radius++) {
        sp_stream_print(stream, "SCALARS %s double 1\nLOOKUP_TABLE default\n", radius ? "radius" : "area");
        for (int64_t p = 0; p < n; p++) {
            sp_stream_number(stream, radius ? radius_of(shell, p) : shell->area[p]);
            sp_stream_print(stream, "\n");
        }
    }
    for (int parent = 0; parent < 2; parent++) {
        sp_stream_print(stream, "SCALARS %s int 1\nLOOKUP_TABLE default\n", parent ? "parent" : "level");
        for (int64_t p = 0; p < n; p++)
            sp_stream_print(stream, "%lld\n",
                            parent ? (long long)shell->parent[p] : (long long)sp_shell_level_of(shell, p));
    }
}

static int write_vtu(sp_context *context, int descriptor, const sp_shell *shell)
{
    static const char *const xyz[3] = {"X", "Y", "Z"};
    const int64_t n = shell->count;
    sp_pool pool = {0};
    int64_t *single = sp_pool_raw(&pool, n, sizeof *single), *level = sp_pool_raw(&pool, n, sizeof *level);
    double *radius = sp_pool_raw(&pool, n, sizeof *radius);
    if (pool.failed) {
        sp_pool_free(&pool);
        return sp_fail_memory(context);
    }
    for (int64_t p = 0; p < n; p++) {
        single[p] = p;
        level[p] = sp_shell_level_of(shell, p);
        radius[p] = radius_of(shell, p);
    }
    const sp_vtu_array arrays[] = {{.name = "normal", .components = 3, .components_named = xyz, .real = shell->normals},
                                   {.name = "area", .components = 1, .real = shell->area},
                                   {.name = "radius", .components = 1, .real = radius},
                                   {.name = "level", .components = 1, .whole = level},
                                   {.name = "parent", .components = 1, .whole = shell->parent}};
    const sp_vtu vtu = {.vertex_count = n,
                        .vertices = shell->points,
                        .single_count = n,
                        .single = single,
                        .array_count = TOOL_COUNT(arrays),
                        .arrays = arrays};
    const int status = sp_vtu_write(context, descriptor, &vtu);
    sp_pool_free(&pool);
    return status;
}

static int write_text(sp_context *context, int descriptor, enum tool_shell_format format, const sp_shell *shell)
{
    sp_stream stream;
    sp_stream_begin(&stream, descriptor);
    if (format == TOOL_SHELL_CSV)
        write_csv(&stream, shell);
    else if (format == TOOL_SHELL_OBJ)
        write_obj(&stream, shell);
    else if (format == TOOL_SHELL_PLY)
        write_ply(&stream, shell);
    else
        write_vtk(&stream, shell);
    return sp_stream_end(context, &stream);
}

void tool_export_shell(sp_context *context, enum tool_shell_format format, const char *path, const char *target)
{
    static const char *const kinds[] = {"pointshell", NULL};
    sp_file file;
    sp_shell shell;
    tool_read(path, NULL, kinds, false, &file);
    tool_check(sp_pointshell_read(context, &file, &shell), path);
    tool_output *output = tool_output_open(target);
    const int descriptor = tool_output_descriptor(output);
    tool_check(format == TOOL_SHELL_VTU ? write_vtu(context, descriptor, &shell)
                                        : write_text(context, descriptor, format, &shell),
               target);
    tool_output_finish(output, NULL);
    tool_say("%lld points", (long long)shell.count);
    sp_shell_free(&shell);
    sp_file_free(&file);
}
