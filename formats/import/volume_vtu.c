/* VTK's XML format for unstructured grids (.vtu) in one piece. A scanner for the subset of XML that VTK writes finds
 * the arrays that are used. Their values are text, base64, or appended after an underscore, raw or in base64. The
 * headers and compression of binary values are handled in volume_vtu_values.c. */
#include "formats/import/volume_vtk_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 16, MOST_ATTRIBUTES = 32 };
enum { POINTS, CONNECTIVITY, OFFSETS, TYPES, REGIONS, ARRAYS };

static const char *const array_names[ARRAYS] = {"Points", "connectivity", "offsets", "types", "regions"};

/* An array as described by the file. */
struct vtu_array {
    const struct sp_volume_vtk_type *type; /* NULL: the array is missing */
    bool text, appended;
    int64_t offset;       /* of appended arrays */
    const char *at, *end; /* the contents of the element */
};

struct vtu_tag {
    sp_word name;
    bool closes, empty; /* </name>, <name/> */
    int count;
    struct {
        sp_word name, value;
    } attribute[MOST_ATTRIBUTES];
};

struct vtu {
    struct sp_volume_reader in;
    struct vtu_array array[ARRAYS];
    struct vtu_array *inside; /* the array whose element is open, NULL: none that is used */
    sp_word open[MOST_DEPTH];
    int depth, header_bytes;
    bool big_endian;
    sp_word compressor;              /* empty: none */
    int64_t point_count, cell_count; /* −1: no piece yet */
    const char *appended;            /* first byte after the underscore, NULL: none */
    bool appended_base64;
    const char *file_end;
    struct sp_volume_vtk_cells cells;
    /* the array that is being read */
    const struct vtu_array *current;
    const char *values; /* NULL if they are text */
};

/* ---- tags ---- */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static void skip_blanks(sp_text *text)
{
    while (text->at < text->end && is_blank(*text->at))
        text->at++;
}

/* Scans letters, digits and the other characters in VTK's names; empty if there is none. */
static sp_word scan_name(sp_text *text)
{
    const char *begin = text->at;
    while (text->at < text->end && !is_blank(*text->at) && *text->at && !strchr("<>/=\"'?&", *text->at))
        text->at++;
    return (sp_word){begin, text->at - begin};
}

static int fail_tag(struct vtu *vtu)
{
    return sp_volume_fail_here(&vtu->in, "the XML is damaged here, or more than a .vtu needs");
}

static int scan_attribute(struct vtu *vtu, struct vtu_tag *tag)
{
    sp_text *text = &vtu->in.text;
    sp_word name = scan_name(text);

    skip_blanks(text);
    if (name.length < 1 || tag->count == MOST_ATTRIBUTES || text->at == text->end || *text->at != '=')
        return fail_tag(vtu);
    text->at++;
    skip_blanks(text);

    if (text->at == text->end || (*text->at != '"' && *text->at != '\''))
        return fail_tag(vtu);
    const char *begin = text->at + 1, *end = memchr(begin, *text->at, (size_t)(text->end - begin));
    if (!end)
        return fail_tag(vtu);

    tag->attribute[tag->count].name = name;
    tag->attribute[tag->count++].value = (sp_word){begin, end - begin};
    text->at = end + 1;
    return SP_OK;
}

/* Scans the tag that begins at text->at with '<'. */
static int scan_tag(struct vtu *vtu, struct vtu_tag *tag)
{
    sp_text *text = &vtu->in.text;

    tag->count = 0;
    text->at++;
    tag->closes = text->at < text->end && *text->at == '/';
    text->at += tag->closes;
    tag->name = scan_name(text);
    if (tag->name.length < 1)
        return fail_tag(vtu);

    for (;;) {
        skip_blanks(text);
        if (text->at == text->end)
            return fail_tag(vtu);
        if (*text->at == '>' || *text->at == '/')
            break;
        SP_PASS(scan_attribute(vtu, tag));
    }

    tag->empty = *text->at == '/';
    text->at += tag->empty;
    if (text->at == text->end || *text->at != '>' || (tag->closes && (tag->empty || tag->count)))
        return fail_tag(vtu);
    text->at++;
    return SP_OK;
}

/* Skips <?…?> and <!--…-->; *skipped receives whether there was one. */
static int skip_comment(struct vtu *vtu, bool *skipped)
{
    static const char *const marks[2][2] = {{"<?", "?>"}, {"<!--", "-->"}};
    sp_text *text = &vtu->in.text;
    size_t left = (size_t)(text->end - text->at);

    *skipped = false;
    for (int i = 0; i < 2; i++)
        if (left >= strlen(marks[i][0]) && memcmp(text->at, marks[i][0], strlen(marks[i][0])) == 0) {
            const char *end = memmem(text->at, left, marks[i][1], strlen(marks[i][1]));
            if (!end)
                return fail_tag(vtu);
            text->at = end + strlen(marks[i][1]);
            *skipped = true;
            return SP_OK;
        }
    return SP_OK;
}

/* The value of an attribute, empty if it is missing. */
static sp_word attribute(const struct vtu_tag *tag, const char *name)
{
    for (int i = 0; i < tag->count; i++)
        if (sp_word_is(tag->attribute[i].name, name))
            return tag->attribute[i].value;
    return (sp_word){"", 0};
}

static int attribute_count(struct vtu *vtu, const struct vtu_tag *tag, const char *name, int64_t *value)
{
    char shown[SP_TEXT_QUOTE];
    sp_word word = attribute(tag, name);
    if (sp_word_integer(word, value) && *value >= 0)
        return SP_OK;
    return sp_volume_fail_here(&vtu->in, "%s=\"%s\" is no count", name, sp_word_show(word, shown));
}

/* ---- interpretation of tags ---- */

static int open_file(struct vtu *vtu, const struct vtu_tag *tag)
{
    char shown[SP_TEXT_QUOTE];
    sp_word type = attribute(tag, "type"), order = attribute(tag, "byte_order"), header = attribute(tag, "header_type");

    if (!sp_word_is(tag->name, "VTKFile"))
        return sp_fail(vtu->in.context, SP_INPUT, "the file does not begin with <VTKFile>: it is no .vtu file");
    if (!sp_word_is(type, "UnstructuredGrid"))
        return sp_volume_fail_here(&vtu->in, "a file of type '%s' is not supported (UnstructuredGrid is)",
                                   sp_word_show(type, shown));

    vtu->compressor = attribute(tag, "compressor");
    vtu->big_endian = sp_word_is(order, "BigEndian");
    if (order.length > 0 && !vtu->big_endian && !sp_word_is(order, "LittleEndian"))
        return sp_volume_fail_here(&vtu->in, "byte order '%s' is not supported (LittleEndian and BigEndian are)",
                                   sp_word_show(order, shown));

    vtu->header_bytes = sp_word_is(header, "UInt64") ? 8 : 4;
    if (header.length > 0 && !sp_word_is(header, "UInt64") && !sp_word_is(header, "UInt32"))
        return sp_volume_fail_here(&vtu->in, "header type '%s' is not supported (UInt32 and UInt64 are)",
                                   sp_word_show(header, shown));
    return SP_OK;
}

static int open_piece(struct vtu *vtu, const struct vtu_tag *tag)
{
    if (vtu->point_count >= 0)
        return sp_volume_fail_here(&vtu->in, "a file of several pieces is not supported; merge them");
    SP_PASS(attribute_count(vtu, tag, "NumberOfPoints", &vtu->point_count));
    return attribute_count(vtu, tag, "NumberOfCells", &vtu->cell_count);
}

/* The role of this array, −1 if it is not used. */
static int find_role(struct vtu *vtu, const struct vtu_tag *tag, const struct sp_volume_vtk_type *type)
{
    char shown[SP_TEXT_QUOTE];
    sp_word section = vtu->depth > 0 ? vtu->open[vtu->depth - 1] : (sp_word){"", 0}, name = attribute(tag, "Name");
    sp_word components = attribute(tag, "NumberOfComponents");
    bool single = components.length == 0 || sp_word_is(components, "1");

    if (sp_word_is(section, "Points"))
        return POINTS;
    for (int i = CONNECTIVITY; i <= TYPES && sp_word_is(section, "Cells"); i++)
        if (sp_word_is(name, array_names[i]))
            return i;

    if (!sp_word_is(section, "CellData") || !sp_volume_vtk_is_region(name))
        return -1;

    if (single && type && type->kind != 'f' && !vtu->array[REGIONS].type)
        return REGIONS;
    sp_volume_note(&vtu->in, "the array %s is not taken as regions: %s", sp_word_show(name, shown),
                   vtu->array[REGIONS].type ? "there is one already" : "it is not of one integer for each cell");
    return -1;
}

static int open_array(struct vtu *vtu, const struct vtu_tag *tag)
{
    const struct sp_volume_vtk_type *type = sp_volume_vtk_xml_type(attribute(tag, "type"));
    sp_word format = attribute(tag, "format");
    char shown[SP_TEXT_QUOTE];
    int role = find_role(vtu, tag, type);
    vtu->inside = NULL;

    if (role < 0)
        return SP_OK;
    struct vtu_array *array = &vtu->array[role];

    if (array->type)
        return sp_volume_fail_here(&vtu->in, "the array %s occurs twice", array_names[role]);
    if (!type || (role != POINTS && type->kind == 'f'))
        return sp_volume_fail_here(&vtu->in, "the array %s has type '%s'", array_names[role],
                                   sp_word_show(attribute(tag, "type"), shown));
    if (role == POINTS && !sp_word_is(attribute(tag, "NumberOfComponents"), "3"))
        return sp_volume_fail_here(&vtu->in, "the array Points has not 3 components");

    array->type = type;
    array->text = format.length == 0 || sp_word_is(format, "ascii");
    array->appended = sp_word_is(format, "appended");
    if (!array->text && !array->appended && !sp_word_is(format, "binary"))
        return sp_volume_fail_here(&vtu->in, "the array %s has format '%s'", array_names[role],
                                   sp_word_show(format, shown));

    if (array->appended)
        SP_PASS(attribute_count(vtu, tag, "offset", &array->offset));
    array->at = array->end = vtu->in.text.at;
    vtu->inside = tag->empty ? NULL : array;
    return SP_OK;
}

static int open_appended(struct vtu *vtu, const struct vtu_tag *tag)
{
    sp_text *text = &vtu->in.text;
    char shown[SP_TEXT_QUOTE];
    sp_word encoding = attribute(tag, "encoding");
    vtu->appended_base64 = sp_word_is(encoding, "base64");
    if (!vtu->appended_base64 && !sp_word_is(encoding, "raw"))
        return sp_volume_fail_here(&vtu->in, "appended data of encoding '%s' are not supported (raw and base64 are)",
                                   sp_word_show(encoding, shown));
    skip_blanks(text);
    if (text->at == text->end || *text->at != '_')
        return sp_volume_fail_here(&vtu->in, "appended data do not begin with an underscore");
    vtu->appended = text->at + 1;
    return SP_OK;
}

static int use_tag(struct vtu *vtu, const struct vtu_tag *tag)
{
    if (tag->closes) {
        if (vtu->depth == 0 || vtu->open[vtu->depth - 1].length != tag->name.length ||
            memcmp(vtu->open[vtu->depth - 1].at, tag->name.at, (size_t)tag->name.length) != 0)
            return fail_tag(vtu);
        vtu->depth--;
        vtu->inside = sp_word_is(tag->name, "DataArray") ? NULL : vtu->inside;
        return SP_OK;
    }

    if (vtu->depth == 0)
        SP_PASS(open_file(vtu, tag));
    else if (sp_word_is(tag->name, "Piece"))
        SP_PASS(open_piece(vtu, tag));
    else if (sp_word_is(tag->name, "DataArray"))
        SP_PASS(open_array(vtu, tag));
    else if (sp_word_is(tag->name, "AppendedData"))
        return open_appended(vtu, tag);

    if (tag->empty)
        return SP_OK;
    if (vtu->depth == MOST_DEPTH)
        return fail_tag(vtu);
    vtu->open[vtu->depth++] = tag->name;
    return SP_OK;
}

/* Scans all tags up to the appended data or </VTKFile>. */
static int scan_file(struct vtu *vtu)
{
    sp_text *text = &vtu->in.text;
    struct vtu_tag tag = {0};
    bool skipped;

    text->binary = true; /* from here on messages name the byte */
    text->stop = text->next = text->end;

    do {
        const char *begin = text->at;
        const char *next = memchr(begin, '<', (size_t)(text->end - begin));
        if (!next) {
            text->at = text->end;
            return vtu->depth == 0 && vtu->header_bytes == 0
                       ? sp_fail(vtu->in.context, SP_INPUT,
                                 "the file does not begin with <VTKFile>: it is no .vtu file")
                       : sp_volume_fail_here(&vtu->in, "the file ends before </VTKFile>");
        }

        text->at = next;
        /* The first text of an array that is used; VTK writes notes in elements next to it. */
        while (begin < next && is_blank(*begin))
            begin++;
        if (vtu->inside && sp_word_is(vtu->open[vtu->depth - 1], "DataArray") && begin < next &&
            vtu->inside->at == vtu->inside->end) {
            vtu->inside->at = begin;
            vtu->inside->end = next;
        }

        SP_PASS(skip_comment(vtu, &skipped));
        if (skipped)
            continue;
        SP_PASS(scan_tag(vtu, &tag));
        SP_PASS(use_tag(vtu, &tag));
    } while (!vtu->appended && (vtu->depth > 0 || vtu->header_bytes == 0));
    return SP_OK;
}

/* ---- values ---- */

/* Finds the binary values of an array, of which there must be `count`. */
static int begin_binary(struct vtu *vtu, const struct vtu_array *array, const char *name, int64_t count)
{
    char shown[SP_TEXT_QUOTE];
    struct sp_volume_vtu_stream stream = {.at = array->at,
                                          .end = array->end,
                                          .header_bytes = vtu->header_bytes,
                                          .base64 = !array->appended || vtu->appended_base64,
                                          .big_endian = vtu->big_endian,
                                          .compressed = vtu->compressor.length > 0};

    if (stream.compressed && !sp_word_is(vtu->compressor, "vtkZLibDataCompressor"))
        return sp_volume_fail_here(
            &vtu->in,
            "the array %s is compressed with %s: save the file with zlib (vtkZLibDataCompressor) or uncompressed", name,
            sp_word_show(vtu->compressor, shown));

    if (array->appended && !vtu->appended)
        return sp_volume_fail_here(&vtu->in, "the array %s is appended, but there are no appended data", name);
    if (array->appended) {
        stream.at = vtu->appended;
        stream.end = vtu->in.text.end;
        if (array->offset > stream.end - stream.at)
            return sp_volume_fail_here(&vtu->in,
                                       "the array %s begins %lld bytes behind the underscore, but %lld follow", name,
                                       (long long)array->offset, (long long)(stream.end - stream.at));
        stream.at += array->offset;
    }

    vtu->in.text.at = stream.at;
    return sp_volume_vtu_values(&vtu->in, &stream, name, count, array->type->bytes, &vtu->values);
}

/* Called before the values of an array are read and memory is allocated for them. */
static int begin_array(struct vtu *vtu, int role, int64_t count)
{
    const struct vtu_array *array = &vtu->array[role];
    sp_text *text = &vtu->in.text;
    vtu->current = array;
    vtu->values = NULL;
    if (!array->text)
        return begin_binary(vtu, array, array_names[role], count);
    text->newline = NULL;
    sp_text_seek(text, array->at);
    text->end = array->end;
    return sp_volume_check_count(&vtu->in, array_names[role], "values", count, 1);
}

static int read_integer(struct vtu *vtu, int role, int64_t i, int64_t *value)
{
    const struct sp_volume_vtk_type *type = vtu->current->type;
    if (!vtu->values)
        return sp_volume_next_integer(&vtu->in, array_names[role], value);
    if (sp_volume_vtk_integer(vtu->values + i * type->bytes, type, vtu->big_endian, value))
        return SP_OK;
    return sp_volume_fail_here(&vtu->in, "value %lld of %s is too large", (long long)i, array_names[role]);
}

static int read_real(struct vtu *vtu, int role, int64_t i, double *value)
{
    const struct sp_volume_vtk_type *type = vtu->current->type;
    if (!vtu->values)
        return sp_volume_next_number(&vtu->in, array_names[role], value);
    *value = sp_volume_vtk_real(vtu->values + i * type->bytes, type, vtu->big_endian);
    return isfinite(*value)
               ? SP_OK
               : sp_volume_fail_here(&vtu->in, "value %lld of %s is not finite", (long long)i, array_names[role]);
}

/* Checks that the text has no values left, and returns to the text of the whole file. */
static int end_array(struct vtu *vtu, int role, int64_t count)
{
    if (!vtu->values && sp_volume_more(&vtu->in))
        return sp_volume_fail_here(&vtu->in, "the array %s has more than %lld values", array_names[role],
                                   (long long)count);
    vtu->in.text.end = vtu->file_end;
    vtu->in.text.newline = NULL;
    return SP_OK;
}

static int read_integers(struct vtu *vtu, int role, int64_t count, int64_t **values)
{
    SP_PASS(begin_array(vtu, role, count));
    int64_t *value = *values = sp_pool_raw(&vtu->in.pool, count, sizeof **values);
    SP_PASS(sp_allocated(vtu->in.context, value));
    for (int64_t i = 0; i < count; i++)
        SP_PASS(read_integer(vtu, role, i, &value[i]));
    return end_array(vtu, role, count);
}

static int read_points(struct vtu *vtu)
{
    int64_t count = vtu->point_count, values, where = vtu->array[POINTS].at - vtu->in.text.begin;

    if (__builtin_mul_overflow(count, (int64_t)3, &values))
        return sp_volume_fail_here(&vtu->in, "%lld points are too many", (long long)count);
    SP_PASS(begin_array(vtu, POINTS, values));

    struct sp_volume_node *node = sp_list_add(&vtu->in.nodes, count, sizeof *node);
    SP_PASS(sp_allocated(vtu->in.context, node));
    for (int64_t i = 0; i < count; i++) {
        node[i].id = i;
        node[i].where = where;
        for (int k = 0; k < 3; k++)
            SP_PASS(read_real(vtu, POINTS, 3 * i + k, &node[i].x[k]));
    }

    return end_array(vtu, POINTS, values);
}

static int read_cells(struct vtu *vtu)
{
    struct sp_volume_vtk_cells *cells = &vtu->cells;
    int64_t where = vtu->array[CONNECTIVITY].at - vtu->in.text.begin;

    SP_PASS(read_integers(vtu, OFFSETS, vtu->cell_count, &cells->end));
    for (int64_t i = 0; i < vtu->cell_count; i++) {
        int64_t before = i > 0 ? cells->end[i - 1] : 0;
        if (cells->end[i] < before)
            return sp_volume_fail_here(&vtu->in, "offset %lld of cell %lld is less than %lld", (long long)cells->end[i],
                                       (long long)i, (long long)before);
    }

    cells->count = vtu->cell_count;
    cells->corner_count = cells->count > 0 ? cells->end[cells->count - 1] : 0;
    SP_PASS(read_integers(vtu, CONNECTIVITY, cells->corner_count, &cells->corner));
    SP_PASS(read_integers(vtu, TYPES, cells->count, &cells->type));
    if (vtu->array[REGIONS].type)
        SP_PASS(read_integers(vtu, REGIONS, cells->count, &cells->region));

    cells->where = sp_pool_raw(&vtu->in.pool, cells->count, sizeof *cells->where);
    SP_PASS(sp_allocated(vtu->in.context, cells->where));
    for (int64_t i = 0; i < cells->count; i++)
        cells->where[i] = where;
    return SP_OK;
}

int sp_volume_parse_vtu(sp_context *context, const char *bytes, int64_t count, const sp_material *material,
                        sp_mesh *mesh, sp_notes *notes)
{
    struct vtu vtu = {.point_count = -1, .cell_count = -1};
    int status;

    SP_TRY(sp_volume_start(&vtu.in, context, bytes, count, "", NULL, mesh, notes));
    vtu.file_end = vtu.in.text.end;
    SP_TRY(scan_file(&vtu));

    for (int i = 0; i < REGIONS; i++)
        if (vtu.point_count < 0 || !vtu.array[i].type) {
            status = sp_fail(context, SP_INPUT, "the file has no %s%s", vtu.point_count < 0 ? "Piece" : "array ",
                             vtu.point_count < 0 ? "" : array_names[i]);
            goto done;
        }

    SP_TRY(read_points(&vtu));
    SP_TRY(read_cells(&vtu));
    SP_TRY(sp_volume_vtk_build(&vtu.in, &vtu.cells, material, mesh));
done:
    return sp_volume_finish(&vtu.in, status, mesh);
}
