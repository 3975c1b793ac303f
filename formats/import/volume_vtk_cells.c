#include "formats/import/volume_vtk_internal.h"

#include <string.h>

enum { VTK_VOXEL = 11, VTK_PYRAMID = 14 };

/* Cells of fewer than three dimensions, which meshes of solids have on their surface; corners 0: any number. */
static const struct lower_type {
    int type, corners;
} lower_types[] = {{0, 0},  {1, 1},  {2, 0},  {3, 2},  {4, 0},  {5, 3},  {6, 0},  {7, 0},
                   {8, 4},  {9, 4},  {21, 3}, {22, 6}, {23, 8}, {28, 9}, {30, 6}, {34, 7},
                   {35, 4}, {36, 0}, {68, 0}, {69, 0}, {70, 0}, {75, 0}, {76, 0}, {77, 0}};

/* On Linux `long` has 8 bytes; old files have ids of type int. */
static const struct sp_volume_vtk_type types[] = {
    {"char", "Int8", 1, 'i'},       {"unsigned_char", "UInt8", 1, 'u'},
    {"short", "Int16", 2, 'i'},     {"unsigned_short", "UInt16", 2, 'u'},
    {"int", "Int32", 4, 'i'},       {"unsigned_int", "UInt32", 4, 'u'},
    {"long", "Int64", 8, 'i'},      {"unsigned_long", "UInt64", 8, 'u'},
    {"vtktypeint64", NULL, 8, 'i'}, {"vtktypeuint64", NULL, 8, 'u'},
    {"vtkIdType", NULL, 4, 'i'},    {"float", "Float32", 4, 'f'},
    {"double", "Float64", 8, 'f'},  {"signed_char", NULL, 1, 'i'},
    {"long_long", NULL, 8, 'i'},    {"unsigned_long_long", NULL, 8, 'u'},
};

const struct sp_volume_vtk_type *sp_volume_vtk_legacy_type(sp_word name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].legacy && sp_word_same(name, sp_word_of(types[i].legacy)))
            return &types[i];
    return NULL;
}

const struct sp_volume_vtk_type *sp_volume_vtk_xml_type(sp_word name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].xml && sp_word_is(name, types[i].xml))
            return &types[i];
    return NULL;
}

static uint64_t bits_of(const char *bytes, int size, bool big_endian)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    uint64_t bits = 0;
    for (int i = 0; i < size; i++)
        bits = bits << 8 | byte[big_endian ? i : size - 1 - i];
    return bits;
}

bool sp_volume_vtk_integer(const char *bytes, const struct sp_volume_vtk_type *type, bool big_endian, int64_t *value)
{
    uint64_t bits = bits_of(bytes, type->bytes, big_endian);
    int unused = 64 - 8 * type->bytes;
    if (type->kind == 'i')
        *value = (int64_t)(bits << unused) >> unused; /* arithmetic shift in GCC and clang */
    else
        *value = (int64_t)bits;
    return type->kind == 'i' || (type->kind == 'u' && bits <= INT64_MAX);
}

double sp_volume_vtk_real(const char *bytes, const struct sp_volume_vtk_type *type, bool big_endian)
{
    uint64_t bits = bits_of(bytes, type->bytes, big_endian);
    uint32_t half = (uint32_t)bits;
    int64_t integer;
    float single;
    double number;
    if (type->kind == 'f' && type->bytes == 4) {
        memcpy(&single, &half, sizeof single);
        return single;
    }
    if (type->kind == 'f') {
        memcpy(&number, &bits, sizeof number);
        return number;
    }
    return sp_volume_vtk_integer(bytes, type, big_endian, &integer) ? (double)integer : (double)bits;
}

bool sp_volume_vtk_is_region(sp_word name)
{
    return sp_word_same(name, sp_word_of("region")) || sp_word_same(name, sp_word_of("material"));
}

static const struct lower_type *find_lower(int64_t type)
{
    for (size_t i = 0; i < sizeof lower_types / sizeof lower_types[0]; i++)
        if (lower_types[i].type == type)
            return &lower_types[i];
    return NULL;
}

static int fail_corners(struct sp_volume_reader *reader, const struct sp_volume_vtk_cells *cells, int64_t i,
                        int64_t corners, int64_t due)
{
    return sp_volume_fail(reader, cells->where[i], "cell %lld of type %lld has %lld nodes instead of %lld",
                          (long long)i, (long long)cells->type[i], (long long)corners, (long long)due);
}

/* The type of elements of a type of cells, −1 if there is none. Of several the first. */
static int find_solid(int64_t type)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (type == (type == VTK_VOXEL ? VTK_VOXEL : sp_element_types[t].vtk))
            return t;
    return -1;
}

static int add_element(struct sp_volume_reader *reader, const struct sp_volume_vtk_cells *cells, int64_t i,
                       int64_t first)
{
    /* The corners of a voxel are ordered with x fastest, then y, then z; those of a hexahedron run around the lower
     * face, then the upper one. */
    static const int voxel[8] = {0, 1, 3, 2, 4, 5, 7, 6};
    const int64_t corners = cells->end[i] - first;
    const bool pyramid = cells->type[i] == VTK_PYRAMID;
    struct sp_volume_element element = {
        .id = i, .where = cells->where[i], .type = pyramid ? SP_VOLUME_PYRAMID : find_solid(cells->type[i])};
    int64_t node[SP_ELEMENT_NODES];
    const int due = pyramid ? 5 : sp_element_types[element.type].nodes;
    if (corners != due)
        return fail_corners(reader, cells, i, corners, due);
    for (int64_t a = 0; a < corners; a++)
        node[a] = cells->corner[first + (cells->type[i] == VTK_VOXEL ? voxel[a] : a)];
    element.group = cells->region ? cells->region[i] : 0;
    return sp_volume_add_element(reader, element, node);
}

int sp_volume_vtk_build(struct sp_volume_reader *reader, const struct sp_volume_vtk_cells *cells,
                        const sp_material *material, sp_mesh *mesh)
{
    int64_t skipped = 0;

    for (int64_t i = 0; i < cells->count; i++) {
        int64_t type = cells->type[i], first = i > 0 ? cells->end[i - 1] : 0, corners = cells->end[i] - first;
        const struct lower_type *lower = find_lower(type);
        if (lower && lower->corners && lower->corners != corners)
            return fail_corners(reader, cells, i, corners, lower->corners);

        if (lower)
            skipped++;
        else if (find_solid(type) >= 0 || type == VTK_PYRAMID)
            SP_PASS(add_element(reader, cells, i, first));
        else {
            return sp_volume_fail(
                reader, cells->where[i],
                "cell %lld has type %lld, which is not supported (solids 10 to 14, 24 to 26, 29 and 32 are)",
                (long long)i, (long long)type);
        }
    }

    if (skipped)
        sp_volume_note(reader, "%lld points, lines and faces are passed over", (long long)skipped);
    return sp_volume_build_groups(reader, "region", material, 0, NULL, mesh);
}
