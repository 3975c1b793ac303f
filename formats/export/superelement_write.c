#include "formats/export/superelement_write.h"

#include "formats/export/stream.h"

#include <stdio.h>

/* ---- JSON ---- */

static void write_matrix_names(sp_stream *stream, const char *stem, const char *matrix, bool last)
{
    static const char *const formats[][2] = {{"npy", "npy"}, {"matrix_market", "mtx"}};
    sp_stream_print(stream, "    \"%s\": {", matrix);
    for (int i = 0; i < 2; i++) {
        char name[4200];
        snprintf(name, sizeof name, "%s-%s.%s", stem, matrix, formats[i][1]);
        sp_stream_print(stream, "\"%s\": ", formats[i][0]);
        sp_stream_quoted(stream, name);
        sp_stream_print(stream, i == 0 ? ", " : "}");
    }
    sp_stream_print(stream, last ? "\n" : ",\n");
}

static void write_vertices(sp_stream *stream, const sp_interface *interface)
{
    sp_stream_print(stream, ", \"vertices\": [");
    for (int64_t k = 0; k < interface->vertex_count; k++)
        sp_stream_print(stream, k ? ", %lld" : "%lld", (long long)interface->vertices[k]);
    sp_stream_print(stream, "]");
}

static void write_interface(sp_stream *stream, const sp_interface *interface, bool last)
{
    sp_stream_print(stream, "    {\"name\": ");
    sp_stream_quoted(stream, interface->name);
    sp_stream_print(stream, ", \"frame\": \"%s\", \"first\": %lld, \"coordinates\": %lld, \"origin\": [",
                    sp_interface_frame_name(interface->frame), (long long)interface->first,
                    (long long)interface->count);
    for (int c = 0; c < 3; c++)
        sp_stream_print(stream, c ? ", %.17g" : "%.17g", interface->origin[c]);
    sp_stream_print(stream, "]");
    if (interface->vertices)
        write_vertices(stream, interface);
    sp_stream_print(stream, last ? "}\n" : "},\n");
}

int sp_superelement_write(sp_context *context, int descriptor, const sp_superelement *model, const char *stem,
                          const char *mesh, const char *basis)
{
    sp_stream stream;

    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream, "{\n  \"format\": \"supple superelement\",\n  \"format_version\": \"1.0\",\n");
    sp_stream_print(&stream, "  \"coordinates\": %lld,\n  \"mesh\": \"%s\",\n  \"basis\": \"%s\",\n",
                    (long long)model->r, mesh, basis);

    sp_stream_print(&stream, "  \"matrices\": {\n");
    write_matrix_names(&stream, stem, "mass", false);
    write_matrix_names(&stream, stem, "stiffness", false);
    if (model->damping)
        write_matrix_names(&stream, stem, "damping", false);
    write_matrix_names(&stream, stem, "gravity", true);
    sp_stream_print(&stream, "  },\n  \"interfaces\": [\n");

    for (int64_t i = 0; i < model->interface_count; i++)
        write_interface(&stream, &model->interfaces[i], i + 1 == model->interface_count);
    sp_stream_print(&stream, "  ]\n}\n");
    return sp_stream_end(context, &stream);
}

/* ---- OpenFAST ---- */

static void write_rows(sp_stream *stream, const char *title, int64_t r, const double *matrix)
{
    sp_stream_print(stream, "!%s\n!Dimension: %lld\n", title, (long long)r);
    for (int64_t i = 0; i < r; i++) {
        for (int64_t j = 0; j < r; j++)
            sp_stream_print(stream, " %.16E", matrix ? matrix[j * r + i] : 0.0);
        sp_stream_print(stream, "\n");
    }
}

int sp_extptfm_write(sp_context *context, int descriptor, const sp_superelement *model, const double acceleration[3])
{
    const int64_t r = model->r;
    sp_stream stream;

    if (model->interface_count != 1 || model->interfaces[0].count != 6)
        return sp_fail(context, SP_INPUT,
                       "OpenFAST's external superelement has one interface of 6 coordinates, the basis has %lld of "
                       "%lld in all",
                       (long long)model->interface_count,
                       (long long)(model->interface_count ? model->interfaces[model->interface_count - 1].first +
                                                                model->interfaces[model->interface_count - 1].count
                                                          : 0));

    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream,
                    "!Superelement written by Supple %s: 6 interface coordinates, %lld modes\n!Flex 5 Format\n",
                    SUPPLE_VERSION, (long long)r - 6);
    sp_stream_print(&stream, "!Dimension: %lld\n!Time increment in simulation: 1.0\n", (long long)r);
    sp_stream_print(&stream, "!Total simulation time in file: 1.0\n");

    write_rows(&stream, "Mass Matrix (Units (kg,m))", r, model->mass);
    write_rows(&stream, "Stiffness Matrix (Units (N,m))", r, model->stiffness);
    write_rows(&stream, "Damping Matrix (Units (N,m,kg))", r, model->damping);

    /* Two times with the same force, that of gravity, which is therefore constant in time. */
    sp_stream_print(&stream, "!Loading and Wave Elevation (Units (N,m))\n");
    sp_stream_print(&stream, "!Dimension: 1 time column - %lld force columns - 1 wave elevation column\n",
                    (long long)r);
    for (int t = 0; t < 2; t++) {
        sp_stream_print(&stream, " %.16E", (double)t);
        for (int64_t i = 0; i < r; i++) {
            double force = 0;
            for (int c = 0; c < 3; c++)
                force += model->gravity[3 * i + c] * acceleration[c];
            sp_stream_print(&stream, " %.16E", force);
        }
        sp_stream_print(&stream, " %.16E\n", 0.0);
    }

    return sp_stream_end(context, &stream);
}
