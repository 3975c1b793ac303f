#include "tools/export/pointshell.h"

#include "formats/export/csv_write.h"
#include "formats/export/vtu.h"
#include "formats/pointshell.h"
#include "tools/common/tool.h"

static void write_csv(sp_stream *stream, const sp_pointshell *pointshell)
{
    static const char *const names[] = {"x", "y", "z", "nx", "ny", "nz", "area", "level", "parent"};
    for (int i = 0; i < 9; i++)
        sp_csv_name(stream, i == 0, names[i]);
    sp_csv_end(stream);
    for (int64_t p = 0; p < pointshell->count; p++) {
        const double rest[3] = {pointshell->area[p], sp_pointshell_level_of(pointshell, p),
                                (double)pointshell->parent[p]};
        sp_csv_numbers(stream, true, 3, pointshell->points + 3 * p);
        sp_csv_numbers(stream, false, 3, pointshell->normals + 3 * p);
        sp_csv_numbers(stream, false, 3, rest);
        sp_csv_end(stream);
    }
}

static void write_obj(sp_stream *stream, const sp_pointshell *pointshell)
{
    for (int64_t p = 0; p < pointshell->count; p++) {
        const double *x = pointshell->points + 3 * p, *n = pointshell->normals + 3 * p;
        sp_stream_print(stream, "v %.9g %.9g %.9g\nvn %.9g %.9g %.9g\n", x[0], x[1], x[2], n[0], n[1], n[2]);
    }
    for (int64_t p = 1; p <= pointshell->count; p++)
        sp_stream_print(stream, "p %lld\n", (long long)p);
}

/* Of the largest sphere about the point. */
static double radius_of(const sp_pointshell *pointshell, int64_t p)
{
    const int level = sp_pointshell_level_of(pointshell, p);
    return level < pointshell->levels ? pointshell->radius[sp_pointshell_node(pointshell, level, p)] : 0;
}

static void write_line(sp_stream *stream, int64_t count, const double *values)
{
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            sp_stream_bytes(stream, " ", 1);
        sp_stream_number(stream, values[i]);
    }
}

static void write_ply(sp_stream *stream, const sp_pointshell *pointshell)
{
    static const char *const names[] = {"x", "y", "z", "nx", "ny", "nz", "area", "radius"};
    sp_stream_print(stream, "ply\nformat ascii 1.0\ncomment pointshell, normals inward\nelement vertex %lld\n",
                    (long long)pointshell->count);
    for (int i = 0; i < TOOL_COUNT(names); i++)
        sp_stream_print(stream, "property double %s\n", names[i]);
    sp_stream_print(stream, "property int level\nend_header\n");
    for (int64_t p = 0; p < pointshell->count; p++) {
        const double *x = pointshell->points + 3 * p, *n = pointshell->normals + 3 * p;
        write_line(stream, 8,
                   (double[]){x[0], x[1], x[2], n[0], n[1], n[2], pointshell->area[p], radius_of(pointshell, p)});
        sp_stream_print(stream, " %d\n", sp_pointshell_level_of(pointshell, p));
    }
}

static void write_vtk(sp_stream *stream, const sp_pointshell *pointshell)
{
    const long long n = pointshell->count;

    sp_stream_print(
        stream, "# vtk DataFile Version 3.0\npointshell, normals inward\nASCII\nDATASET POLYDATA\nPOINTS %lld double\n",
        n);
    for (int64_t p = 0; p < n; p++) {
        write_line(stream, 3, pointshell->points + 3 * p);
        sp_stream_print(stream, "\n");
    }

    sp_stream_print(stream, "VERTICES %lld %lld\n", n, 2 * n);
    for (int64_t p = 0; p < n; p++)
        sp_stream_print(stream, "1 %lld\n", (long long)p);

    sp_stream_print(stream, "POINT_DATA %lld\nNORMALS normal double\n", n);
    for (int64_t p = 0; p < n; p++) {
        write_line(stream, 3, pointshell->normals + 3 * p);
        sp_stream_print(stream, "\n");
    }

    for (int radius = 0; radius < 2; radius++) {
        sp_stream_print(stream, "SCALARS %s double 1\nLOOKUP_TABLE default\n", radius ? "radius" : "area");
        for (int64_t p = 0; p < n; p++) {
            sp_stream_number(stream, radius ? radius_of(pointshell, p) : pointshell->area[p]);
            sp_stream_print(stream, "\n");
        }
    }

    for (int parent = 0; parent < 2; parent++) {
        sp_stream_print(stream, "SCALARS %s int 1\nLOOKUP_TABLE default\n", parent ? "parent" : "level");
        for (int64_t p = 0; p < n; p++)
            sp_stream_print(stream, "%lld\n",
                            parent ? (long long)pointshell->parent[p]
                                   : (long long)sp_pointshell_level_of(pointshell, p));
    }
}

static int write_vtu(sp_context *context, int descriptor, const sp_pointshell *pointshell)
{
    static const char *const xyz[3] = {"X", "Y", "Z"};
    const int64_t n = pointshell->count;
    sp_pool pool = {0};
    int64_t *single = tool_allocate_raw(&pool, n, sizeof *single), *level = tool_allocate_raw(&pool, n, sizeof *level);
    double *radius = tool_allocate_raw(&pool, n, sizeof *radius);

    for (int64_t p = 0; p < n; p++) {
        single[p] = p;
        level[p] = sp_pointshell_level_of(pointshell, p);
        radius[p] = radius_of(pointshell, p);
    }

    const sp_vtu_array arrays[] = {
        {.name = "normal", .components = 3, .components_named = xyz, .real = pointshell->normals},
        {.name = "area", .components = 1, .real = pointshell->area},
        {.name = "radius", .components = 1, .real = radius},
        {.name = "level", .components = 1, .whole = level},
        {.name = "parent", .components = 1, .whole = pointshell->parent}};
    const sp_vtu vtu = {.vertex_count = n,
                        .vertices = pointshell->points,
                        .single_count = n,
                        .single = single,
                        .array_count = TOOL_COUNT(arrays),
                        .arrays = arrays};

    const int status = sp_vtu_write(context, descriptor, &vtu);
    sp_pool_free(&pool);
    return status;
}

static int write_text(sp_context *context, int descriptor, enum tool_pointshell_format format,
                      const sp_pointshell *pointshell)
{
    sp_stream stream;
    sp_stream_begin(&stream, descriptor);
    if (format == TOOL_SHELL_CSV)
        write_csv(&stream, pointshell);
    else if (format == TOOL_SHELL_OBJ)
        write_obj(&stream, pointshell);
    else if (format == TOOL_SHELL_PLY)
        write_ply(&stream, pointshell);
    else
        write_vtk(&stream, pointshell);
    return sp_stream_end(context, &stream);
}

void tool_export_pointshell(sp_context *context, enum tool_pointshell_format format, const char *path,
                            const char *target)
{
    static const char *const kinds[] = {"pointshell", NULL};
    sp_file file;
    sp_pointshell pointshell;

    tool_read(path, NULL, kinds, false, &file);
    tool_check(sp_pointshell_read(context, &file, &pointshell), path);

    tool_output *output = tool_output_open(target);
    const int descriptor = tool_output_descriptor(output);
    tool_check(format == TOOL_SHELL_VTU ? write_vtu(context, descriptor, &pointshell)
                                        : write_text(context, descriptor, format, &pointshell),
               target);
    tool_output_finish(output, NULL);

    tool_say("%lld points", (long long)pointshell.count);
    sp_pointshell_free(&pointshell);
    sp_file_free(&file);
}
