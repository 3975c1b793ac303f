/* PLY: a text header that lists elements (with their number) and their properties (numbers, or lists of numbers), then
 * their values as text, one element per line, or in binary of either byte order. The reader uses x, y and z of "vertex"
 * and the list vertex_indices (or vertex_index) of "face", and skips everything else. */
#include "formats/import/surface_internal.h"

#include <math.h>
#include <string.h>

enum type { I1, U1, I2, U2, I4, U4, F4, F8, NO_TYPE };
enum role { X, Y, Z, CORNERS, OTHER };
enum { ELEMENT_VERTEX, ELEMENT_FACE, ELEMENT_OTHER };

static const int64_t size_of[] = {1, 1, 2, 2, 4, 4, 4, 8, 0};

typedef struct ply_property {
    enum type type;
    enum type count_type; /* NO_TYPE: not a list */
    enum role role;
} ply_property;

typedef struct ply_element {
    int kind;
    char name[SP_TEXT_QUOTE]; /* quoted, for messages */
    int64_t count;
    int64_t first_property, property_count;
    bool has_lists;
} ply_element;

typedef struct ply_reader {
    sp_surface_builder *builder;
    sp_context *context;
    bool ascii, big_endian;
    sp_text text;
    sp_list elements, properties;
    int64_t vertex_count;
    int64_t row; /* current element, for messages */
} ply_reader;

/* ---- header ---- */

static bool parse_type(sp_text *text, enum type *type)
{
    static const struct {
        const char *name;
        enum type type;
    } names[] = {{"char", I1},  {"uchar", U1},  {"short", I2},   {"ushort", U2}, {"int", I4},   {"uint", U4},
                 {"float", F4}, {"double", F8}, {"int8", I1},    {"uint8", U1},  {"int16", I2}, {"uint16", U2},
                 {"int32", I4}, {"uint32", U4}, {"float32", F4}, {"float64", F8}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sp_text_match(text, names[i].name)) {
            *type = names[i].type;
            return true;
        }
    return false;
}

static ply_element *last_element(const ply_reader *ply)
{
    return ply->elements.count > 0 ? (ply_element *)ply->elements.data + ply->elements.count - 1 : NULL;
}

static const ply_property *properties_of(const ply_reader *ply, const ply_element *element)
{
    return element->property_count > 0 ? (const ply_property *)ply->properties.data + element->first_property : NULL;
}

static int parse_element(ply_reader *ply)
{
    sp_text *text = &ply->text;
    sp_word name;
    ply_element *element = sp_list_add(&ply->elements, 1, sizeof *element);
    SP_PASS(sp_allocated(ply->context, element));

    *element = (ply_element){.kind = ELEMENT_OTHER, .first_property = ply->properties.count};
    sp_text_quote(text, element->name);
    if (!sp_text_word(text, &name))
        return sp_text_fail(ply->context, &ply->text, "the element has no name");

    SP_PASS(sp_text_need_integer(ply->context, text, "count of the element", &element->count));
    if (element->count < 0)
        return sp_text_fail(ply->context, &ply->text, "element %s has a count of %lld", element->name,
                            (long long)element->count);

    if (sp_word_is(name, "vertex"))
        element->kind = ELEMENT_VERTEX;
    if (sp_word_is(name, "face"))
        element->kind = ELEMENT_FACE;

    if (element->kind != ELEMENT_OTHER)
        for (int64_t i = 0; i + 1 < ply->elements.count; i++)
            if (((ply_element *)ply->elements.data)[i].kind == element->kind)
                return sp_text_fail(ply->context, &ply->text, "element %s for the second time", element->name);

    if (element->kind == ELEMENT_VERTEX)
        ply->vertex_count = element->count;
    return SP_OK;
}

static enum role find_role(sp_text *text, const ply_element *element, bool list)
{
    static const char *const axis[] = {"x", "y", "z"};
    if (element->kind == ELEMENT_VERTEX && !list)
        for (int i = 0; i < 3; i++)
            if (sp_text_match(text, axis[i]))
                return (enum role)(X + i);
    if (element->kind == ELEMENT_FACE && list &&
        (sp_text_match(text, "vertex_indices") || sp_text_match(text, "vertex_index")))
        return CORNERS;
    return OTHER;
}

static int parse_property(ply_reader *ply)
{
    char quote[SP_TEXT_QUOTE];
    ply_element *element = last_element(ply);
    if (!element)
        return sp_text_fail(ply->context, &ply->text, "a property before the first element");
    ply_property *property = sp_list_add(&ply->properties, 1, sizeof *property);
    SP_PASS(sp_allocated(ply->context, property));

    *property = (ply_property){.count_type = NO_TYPE};
    bool list = sp_text_match(&ply->text, "list");
    if ((list && !parse_type(&ply->text, &property->count_type)) || !parse_type(&ply->text, &property->type))
        return sp_text_fail(ply->context, &ply->text, "expected a type, found %s", sp_text_quote(&ply->text, quote));

    if (!sp_text_more(&ply->text))
        return sp_text_fail(ply->context, &ply->text, "the property has no name");
    sp_text_quote(&ply->text, quote);
    property->role = find_role(&ply->text, element, list);

    const ply_property *others = properties_of(ply, element);
    if (property->role != OTHER)
        for (int64_t i = 0; i < element->property_count; i++)
            if (others[i].role == property->role)
                return sp_text_fail(ply->context, &ply->text, "property %s for the second time", quote);

    element->property_count++;
    element->has_lists |= list;
    return SP_OK;
}

static int parse_format(ply_reader *ply)
{
    char quote[SP_TEXT_QUOTE];
    sp_text *text = &ply->text;

    if (!sp_text_line(text) || !sp_text_match(text, "format"))
        return sp_text_fail(ply->context, text, "the second line of a PLY file must be its format");
    sp_text_quote(text, quote);

    ply->ascii = sp_text_match(text, "ascii");
    ply->big_endian = sp_text_match(text, "binary_big_endian");
    if (!ply->ascii && !ply->big_endian && !sp_text_match(text, "binary_little_endian"))
        return sp_text_fail(ply->context, text, "expected ascii, binary_little_endian or binary_big_endian, found %s",
                            quote);

    sp_text_quote(text, quote);
    if (!sp_text_match(text, "1.0"))
        return sp_text_fail(ply->context, text, "expected version 1.0 of PLY, found %s", quote);
    return SP_OK;
}

/* Checks that elements of this kind have a property with this role. */
static int check_role(const ply_reader *ply, int kind, const char *element_name, enum role role, const char *name)
{
    const ply_element *elements = ply->elements.data;
    for (int64_t i = 0; i < ply->elements.count; i++) {
        const ply_property *properties = properties_of(ply, &elements[i]);
        if (elements[i].kind == kind)
            for (int64_t j = 0; j < elements[i].property_count; j++)
                if (properties[j].role == role)
                    return SP_OK;
    }
    return sp_text_fail(ply->context, &ply->text, "the header has no element %s with a property %s", element_name,
                        name);
}

/* Parses the header. Afterwards the text is behind end_header, in a binary file at the first value. */
static int parse_header(ply_reader *ply)
{
    sp_text *text = &ply->text;
    char quote[SP_TEXT_QUOTE];
    bool ended = false;

    if (!sp_text_line(text) || !sp_text_match(text, "ply"))
        return sp_text_fail(ply->context, text, "a PLY file must begin with \"ply\"");
    /* Lines of some old files end with a lone CR; an LF after end_header is then part of a value. */
    bool lone_carriage = text->stop < text->end && *text->stop == '\r' && text->next == text->stop + 1;
    SP_PASS(parse_format(ply));

    while (!ended && sp_text_line(text)) {
        if (sp_text_match(text, "element"))
            SP_PASS(parse_element(ply));
        else if (sp_text_match(text, "property"))
            SP_PASS(parse_property(ply));
        else if (sp_text_match(text, "end_header"))
            ended = true;
        else if (!sp_text_match(text, "comment") && !sp_text_match(text, "obj_info"))
            return sp_text_fail(ply->context, &ply->text, "%s is not a header line of PLY", sp_text_quote(text, quote));
    }
    if (!ended)
        return sp_text_fail(ply->context, &ply->text, "the file ends before end_header");

    SP_PASS(check_role(ply, ELEMENT_VERTEX, "vertex", X, "x"));
    SP_PASS(check_role(ply, ELEMENT_VERTEX, "vertex", Y, "y"));
    SP_PASS(check_role(ply, ELEMENT_VERTEX, "vertex", Z, "z"));
    SP_PASS(check_role(ply, ELEMENT_FACE, "face", CORNERS, "list vertex_indices"));

    if (!ply->ascii) {
        sp_text_seek(text, lone_carriage && text->stop < text->end ? text->stop + 1 : text->next);
        text->binary = true; /* until here messages name the line */
    }
    return SP_OK;
}

/* ---- values ---- */

static double decode(const char *bytes, enum type type, bool big_endian)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    int size = (int)size_of[type];
    uint64_t bits = 0;

    for (int i = 0; i < size; i++)
        bits = bits << 8 | byte[big_endian ? i : size - 1 - i];
    uint32_t half = (uint32_t)bits;
    float single;
    double number;

    switch (type) {
    case I1:
        return (int8_t)bits;
    case I2:
        return (int16_t)bits;
    case I4:
        return (int32_t)half;
    case F4:
        memcpy(&single, &half, sizeof single);
        return single;
    case F8:
        memcpy(&number, &bits, sizeof number);
        return number;
    default: /* unsigned integers */
        return (double)bits;
    }
}

static int read_value(ply_reader *ply, enum type type, const char *what, double *value)
{
    if (ply->ascii)
        return sp_text_need_number(ply->context, &ply->text, what, value);
    const char *bytes = sp_text_bytes(&ply->text, size_of[type]);
    if (!bytes)
        return sp_text_fail(ply->context, &ply->text, "%s: the file ends in row %lld", what, (long long)ply->row);
    *value = decode(bytes, type, ply->big_endian);
    if (!isfinite(*value)) {
        ply->text.at = bytes;
        return sp_text_fail(ply->context, &ply->text, "%s: not a finite number in row %lld", what, (long long)ply->row);
    }
    return SP_OK;
}

/* Reads an integer. Doubles represent all integers of PLY exactly. */
static int read_integer(ply_reader *ply, enum type type, const char *what, int64_t *value)
{
    double number;
    SP_PASS(read_value(ply, type, what, &number));
    if (number != floor(number) || fabs(number) > 4294967295.0)
        return sp_text_fail(ply->context, &ply->text, "%s: %g in row %lld is not an integer of 32 bits", what, number,
                            (long long)ply->row);
    *value = (int64_t)number;
    return SP_OK;
}

/* Skips values that are not used, which may be anything, such as nan. */
static int skip_values(ply_reader *ply, enum type type, int64_t count)
{
    sp_word word;
    if (!ply->ascii &&
        ((ply->text.end - ply->text.at) / size_of[type] < count || !sp_text_bytes(&ply->text, count * size_of[type])))
        return sp_text_fail(ply->context, &ply->text, "the file ends in row %lld", (long long)ply->row);
    if (ply->ascii)
        for (int64_t i = 0; i < count; i++)
            if (!sp_text_word(&ply->text, &word))
                return sp_text_fail(ply->context, &ply->text, "the line ends before the last property of its element");
    return SP_OK;
}

static int read_corners(ply_reader *ply, const ply_property *property, int64_t count)
{
    int64_t vertex = -1;

    if (count < 3)
        return sp_text_fail(ply->context, &ply->text, "face %lld has %lld corners, fewer than 3", (long long)ply->row,
                            (long long)count);
    sp_surface_polygon(ply->builder);

    for (int64_t i = 0; i < count; i++) {
        SP_PASS(read_integer(ply, property->type, "vertex of a face", &vertex));
        if (vertex < 0 || vertex >= ply->vertex_count)
            return sp_text_fail(ply->context, &ply->text, "face %lld names vertex %lld of %lld (from 0)",
                                (long long)ply->row, (long long)vertex, (long long)ply->vertex_count);
        SP_PASS(sp_surface_corner(ply->builder, vertex));
    }
    return SP_OK;
}

static int read_property(ply_reader *ply, const ply_property *property, double *vertex)
{
    static const char *const axis[] = {"x", "y", "z"};
    int64_t count = 0;

    if (property->count_type == NO_TYPE) {
        if (property->role == OTHER)
            return skip_values(ply, property->type, 1);
        return read_value(ply, property->type, axis[property->role - X], &vertex[property->role - X]);
    }

    SP_PASS(read_integer(ply, property->count_type, "length of a list", &count));
    if (count < 0)
        return sp_text_fail(ply->context, &ply->text, "a list of row %lld has %lld values", (long long)ply->row,
                            (long long)count);

    if (property->role == CORNERS)
        return read_corners(ply, property, count);
    return skip_values(ply, property->type, count);
    return SP_OK;
}

/* Checks that the file can contain this many elements, with all lists empty, before memory is allocated for them. */
static int check_space(const ply_reader *ply, const ply_element *element, int64_t *row_size)
{
    const ply_property *properties = properties_of(ply, element);
    int64_t left = ply->text.end - ply->text.next;
    int64_t capacity = left + ply->ascii; /* the last line may have no line end */
    *row_size = 0;
    for (int64_t i = 0; i < element->property_count; i++) {
        enum type first = properties[i].count_type == NO_TYPE ? properties[i].type : properties[i].count_type;
        *row_size += ply->ascii ? 2 : size_of[first]; /* as text: a digit and a blank or line end */
    }
    if (element->count > capacity / *row_size)
        return sp_text_fail(ply->context, &ply->text, "%lld elements %s cannot be in the %lld bytes that follow",
                            (long long)element->count, element->name, (long long)left);
    return SP_OK;
}

static int read_element(ply_reader *ply, const ply_element *element)
{
    const ply_property *properties = properties_of(ply, element);
    double *vertices = NULL;
    int64_t row_size;

    if (element->property_count == 0)
        return SP_OK;
    SP_PASS(check_space(ply, element, &row_size));

    /* Binary rows of an element that is not used have one size and are passed over at once. */
    if (!ply->ascii && element->kind == ELEMENT_OTHER && !element->has_lists) {
        sp_text_bytes(&ply->text, row_size * element->count);
        return SP_OK;
    }

    if (element->kind == ELEMENT_VERTEX) {
        vertices = sp_list_add(&ply->builder->vertices, element->count, 3 * sizeof *vertices);
        SP_PASS(sp_allocated(ply->context, vertices));
    }

    for (ply->row = 0; ply->row < element->count; ply->row++) {
        if (ply->ascii && !sp_text_line(&ply->text))
            return sp_text_fail(ply->context, &ply->text, "the file ends after %lld of %lld elements %s",
                                (long long)ply->row, (long long)element->count, element->name);
        for (int64_t i = 0; i < element->property_count; i++)
            SP_PASS(read_property(ply, &properties[i], vertices ? vertices + 3 * ply->row : NULL));
        if (ply->ascii && sp_text_more(&ply->text))
            return sp_text_fail(ply->context, &ply->text, "the line has more values than its element has properties");
    }
    return SP_OK;
}

/* Checks that nothing follows the last element: other bytes than blanks, line ends and zeros indicate a wrong count. */
static int check_end(ply_reader *ply)
{
    for (const char *at = ply->text.next; at < ply->text.end; at++)
        if (*at && !strchr(" \t\r\n", *at))
            return sp_text_fail(ply->context, &ply->text, "%lld bytes follow the last element",
                                (long long)(ply->text.end - ply->text.next));
    return SP_OK;
}

int sp_surface_parse_ply(sp_surface_builder *builder, const char *bytes, int64_t count)
{
    ply_reader ply = {.builder = builder, .context = builder->context};
    int status;
    sp_text_open(&ply.text, bytes, count, "", "", false);
    SP_TRY(parse_header(&ply));
    const ply_element *elements = ply.elements.data;
    for (int64_t i = 0; i < ply.elements.count; i++)
        SP_TRY(read_element(&ply, &elements[i]));
    SP_TRY(check_end(&ply));
done:
    sp_list_free(&ply.elements);
    sp_list_free(&ply.properties);
    return status;
}
