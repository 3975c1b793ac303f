#include "formats/export/obj_write.h"

#include "formats/export/stream.h"

#include <math.h>

int sp_obj_write(sp_context *context, int descriptor, const char *comment, int64_t vertex_count, const double *vertices,
                 int64_t triangle_count, const int64_t *triangles)
{
    for (int64_t i = 0; i < 3 * vertex_count; i++)
        if (!isfinite(vertices[i]))
            return sp_fail(context, SP_INPUT, "vertex %lld of the surface is not finite", (long long)(i / 3));
    for (int64_t i = 0; i < 3 * triangle_count; i++)
        if (triangles[i] < 0 || triangles[i] >= vertex_count)
            return sp_fail(context, SP_INPUT, "triangle %lld names vertex %lld of %lld", (long long)(i / 3),
                           (long long)triangles[i], (long long)vertex_count);

    sp_stream stream;
    sp_stream_begin(&stream, descriptor);
    if (comment)
        sp_stream_print(&stream, "# %s\n", comment);

    for (int64_t v = 0; v < vertex_count; v++)
        sp_stream_print(&stream, "v %.9g %.9g %.9g\n", vertices[3 * v], vertices[3 * v + 1], vertices[3 * v + 2]);
    for (int64_t t = 0; t < triangle_count; t++)
        sp_stream_print(&stream, "f %lld %lld %lld\n", (long long)triangles[3 * t] + 1,
                        (long long)triangles[3 * t + 1] + 1, (long long)triangles[3 * t + 2] + 1);
    return sp_stream_end(context, &stream);
}
