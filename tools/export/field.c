#include "tools/export/field.h"

#include "formats/export/obj_write.h"
#include "formats/field.h"
#include "geometry/isosurface.h"
#include "tools/common/tool.h"

void tool_export_level(sp_context *context, int count, const char *const *paths, const char *target, double level)
{
    static const char *const kinds[] = {"field", NULL};
    sp_file file;
    sp_field field;
    sp_surface surface;
    char comment[80];

    if (count > 1)
        tool_fail(SP_USAGE, NULL, "--level is of one file, a distance field");
    tool_read(paths[0], NULL, kinds, false, &file);
    tool_check(sp_field_read(context, &file, &field), paths[0]);

    tool_output *output = tool_output_open(target);
    tool_check(sp_isosurface(context, &field, level, NULL, &surface), paths[0]);

    if (surface.triangle_count == 0)
        tool_warn(paths[0], "no point is at the distance of %g m", level);
    else if (sp_field_meets_box(&field, level))
        tool_warn(paths[0], "the surface at %g m meets the box and is open there", level);

    snprintf(comment, sizeof comment, "distance %.9g m", level);
    tool_check(sp_obj_write(context, tool_output_descriptor(output), comment, surface.vertex_count, surface.vertices,
                            surface.triangle_count, surface.triangles),
               target);
    tool_output_finish(output, NULL);
    tool_say("%lld vertices, %lld triangles", (long long)surface.vertex_count, (long long)surface.triangle_count);

    sp_surface_free(&surface);
    sp_field_free(&field);
    sp_file_free(&file);
}
