#include "tools/export/curve.h"

#include "formats/curve.h"
#include "formats/export/curve_write.h"
#include "tools/common/scene.h"
#include "tools/common/trajectory.h"

#include <string.h>

bool tool_export_is_curve(sp_context *context, int count, const char *const *paths)
{
    char kind[SP_KIND_LENGTH];
    if (count != 1 || tool_is_scene(paths[0]))
        return false;
    tool_peek_any_kind(context, paths[0], kind);
    return !strcmp(kind, "curve");
}

void tool_export_curve(sp_context *context, const char *path, const char *target)
{
    sp_file file;
    sp_curve_file curve;
    sp_stream stream;
    tool_read(path, NULL, (const char *const[]){"curve", NULL}, false, &file);
    tool_check(sp_curve_read(context, &file, &curve), path);
    sp_file_free(&file);
    tool_output *output = tool_output_open(target);
    sp_stream_begin(&stream, tool_output_descriptor(output));
    sp_curve_write_csv(&stream, &curve);
    tool_check(sp_stream_end(context, &stream), target);
    tool_output_finish(output, NULL);
    sp_curve_file_free(&curve);
}
