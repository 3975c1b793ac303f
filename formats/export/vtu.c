#include "formats/export/vtu.h"

#include "formats/export/stream.h"

#include <math.h>

const char *const sp_vtu_tensor[6] = {"XX", "YY", "ZZ", "XY", "YZ", "XZ"};

enum { VTK_VERTEX = 1, VTK_TRIANGLE = 5 };

/* A list of cells of one type. */
typedef struct cell_list {
    int64_t count;
    int nodes;
    uint8_t type;
    const int64_t *node;
} cell_list;

enum { LISTS = SP_ELEMENT_TYPES + 2 };

static void list_cells(const sp_vtu *vtu, cell_list list[LISTS])
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        list[t] = (cell_list){vtu->block[t].count, sp_element_types[t].nodes, (uint8_t)sp_element_types[t].vtk,
                              vtu->block[t].node};
    list[SP_ELEMENT_TYPES] = (cell_list){vtu->triangle_count, 3, VTK_TRIANGLE, vtu->triangle};
    list[SP_ELEMENT_TYPES + 1] = (cell_list){vtu->single_count, 1, VTK_VERTEX, vtu->single};
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static const char BYTE_ORDER_NAME[] = "LittleEndian";
#else
static const char BYTE_ORDER_NAME[] = "BigEndian";
#endif

void sp_vtu_from_voigt(int64_t count, double *tensors)
{
    for (int64_t i = 0; i < count; i++) {
        double *t = tensors + 6 * i, yz = t[3], zx = t[4], xy = t[5];
        t[3] = xy;
        t[4] = yz;
        t[5] = zx;
    }
}

static int64_t cell_count(const sp_vtu *vtu)
{
    cell_list list[LISTS];
    int64_t count = 0;
    list_cells(vtu, list);
    for (int s = 0; s < LISTS; s++)
        count += list[s].count;
    return count;
}

static int64_t node_count(const sp_vtu *vtu)
{
    cell_list list[LISTS];
    int64_t count = 0;
    list_cells(vtu, list);
    for (int s = 0; s < LISTS; s++)
        count += list[s].count * list[s].nodes;
    return count;
}

/* Number of values of an array in the file. */
static int64_t value_count(const sp_vtu *vtu, const sp_vtu_array *array)
{
    return (array->cells ? cell_count(vtu) : vtu->vertex_count) * array->components;
}

/* Writes an XML entry. *offset is the start of its block relative to the underscore, and is advanced to the end of the
 * block. */
static void describe(sp_stream *stream, const char *type, const char *name, int components, const char *const *named,
                     int64_t tuples, int64_t bytes, int64_t *offset)
{
    sp_stream_print(stream, "<DataArray type=\"%s\" Name=\"", type);
    sp_stream_xml(stream, name);
    sp_stream_print(stream, "\" NumberOfComponents=\"%d\" ", components);
    if (named)
        for (int i = 0; i < components; i++) {
            sp_stream_print(stream, "ComponentName%d=\"", i);
            sp_stream_xml(stream, named[i]);
            sp_stream_print(stream, "\" ");
        }
    if (tuples >= 0)
        sp_stream_print(stream, "NumberOfTuples=\"%lld\" ", (long long)tuples);
    sp_stream_print(stream, "format=\"appended\" offset=\"%lld\"/>\n", (long long)*offset);
    *offset += 8 + bytes;
}

static void describe_data(sp_stream *stream, const sp_vtu *vtu, bool cells, int64_t *offset)
{
    sp_stream_print(stream, cells ? "<CellData>\n" : "<PointData>\n");
    for (int64_t i = 0; i < vtu->array_count; i++) {
        const sp_vtu_array *array = &vtu->arrays[i];
        if (array->cells == cells)
            describe(stream, array->real ? "Float64" : "Int64", array->name, array->components, array->components_named,
                     -1, 8 * value_count(vtu, array), offset);
    }
    sp_stream_print(stream, cells ? "</CellData>\n" : "</PointData>\n");
}

static void block_start(sp_stream *stream, int64_t bytes)
{
    uint64_t size = (uint64_t)bytes;
    sp_stream_bytes(stream, &size, sizeof size);
}

static void block(sp_stream *stream, int64_t values, const void *data)
{
    block_start(stream, 8 * values);
    sp_stream_bytes(stream, data, 8 * (size_t)values);
}

static void data_blocks(sp_stream *stream, const sp_vtu *vtu, bool cells)
{
    for (int64_t i = 0; i < vtu->array_count; i++) {
        const sp_vtu_array *array = &vtu->arrays[i];
        if (array->cells == cells)
            block(stream, value_count(vtu, array), array->real ? (const void *)array->real : array->whole);
    }
}

static int check_finite(sp_context *context, const sp_vtu *vtu)
{
    for (int64_t i = 0; i < vtu->array_count; i++) {
        const sp_vtu_array *array = &vtu->arrays[i];
        if (array->real)
            for (int64_t k = 0; k < value_count(vtu, array); k++)
                if (!isfinite(array->real[k]))
                    return sp_fail(context, SP_INPUT, "%s: value %lld is not finite: it is not written", array->name,
                                   (long long)k);
    }
    return SP_OK;
}

int sp_vtu_write(sp_context *context, int descriptor, const sp_vtu *vtu)
{
    cell_list shape[LISTS];
    sp_stream stream;
    int64_t offset = 0, cells = cell_count(vtu), end = 0;
    SP_PASS(check_finite(context, vtu));
    list_cells(vtu, shape);
    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream,
                    "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" "
                    "header_type=\"UInt64\">\n<UnstructuredGrid>\n",
                    BYTE_ORDER_NAME);
    if (vtu->time || vtu->field_count > 0) {
        sp_stream_print(&stream, "<FieldData>\n");
        if (vtu->time)
            describe(&stream, "Float64", "TimeValue", 1, NULL, 1, 8, &offset);
        for (int64_t i = 0; i < vtu->field_count; i++)
            describe(&stream, "Float64", vtu->fields[i].name, 1, NULL, vtu->fields[i].count, 8 * vtu->fields[i].count,
                     &offset);
        sp_stream_print(&stream, "</FieldData>\n");
    }
    sp_stream_print(&stream, "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n", (long long)vtu->vertex_count,
                    (long long)cells);
    describe_data(&stream, vtu, false, &offset);
    describe_data(&stream, vtu, true, &offset);
    sp_stream_print(&stream, "<Points>\n");
    describe(&stream, "Float64", "Points", 3, NULL, -1, 24 * vtu->vertex_count, &offset);
    sp_stream_print(&stream, "</Points>\n<Cells>\n");
    describe(&stream, "Int64", "connectivity", 1, NULL, -1, 8 * node_count(vtu), &offset);
    describe(&stream, "Int64", "offsets", 1, NULL, -1, 8 * cells, &offset);
    describe(&stream, "UInt8", "types", 1, NULL, -1, cells, &offset);
    sp_stream_print(&stream, "</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");

    if (vtu->time)
        block(&stream, 1, vtu->time);
    for (int64_t i = 0; i < vtu->field_count; i++)
        block(&stream, vtu->fields[i].count, vtu->fields[i].real);
    data_blocks(&stream, vtu, false);
    data_blocks(&stream, vtu, true);
    block(&stream, 3 * vtu->vertex_count, vtu->vertices);
    block_start(&stream, 8 * node_count(vtu));
    for (int s = 0; s < LISTS; s++)
        sp_stream_bytes(&stream, shape[s].node, 8 * (size_t)(shape[s].count * shape[s].nodes));
    block_start(&stream, 8 * cells);
    for (int s = 0; s < LISTS; s++)
        for (int64_t i = 0; i < shape[s].count; i++) {
            end += shape[s].nodes;
            sp_stream_bytes(&stream, &end, sizeof end);
        }
    block_start(&stream, cells);
    for (int s = 0; s < LISTS; s++)
        for (int64_t i = 0; i < shape[s].count; i++)
            sp_stream_bytes(&stream, &shape[s].type, 1);
    sp_stream_print(&stream, "\n</AppendedData>\n</VTKFile>\n");
    return sp_stream_end(context, &stream);
}

int sp_pvd_write(sp_context *context, int descriptor, int64_t count, const double *time, const char *const *names)
{
    sp_stream stream;
    sp_stream_begin(&stream, descriptor);
    sp_stream_print(
        &stream,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"%s\">\n<Collection>\n",
        BYTE_ORDER_NAME);
    for (int64_t i = 0; i < count; i++) {
        sp_stream_print(&stream, "<DataSet timestep=\"%.17g\" group=\"\" part=\"0\" file=\"", time[i]);
        sp_stream_xml(&stream, names[i]);
        sp_stream_print(&stream, "\"/>\n");
    }
    sp_stream_print(&stream, "</Collection>\n</VTKFile>\n");
    return sp_stream_end(context, &stream);
}
