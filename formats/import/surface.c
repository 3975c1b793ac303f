#include "formats/import/surface_internal.h"

#include <string.h>
#include <strings.h>

enum kind { UNKNOWN, OBJ, PLY, STL_TEXT, STL_BINARY, OFF };

static bool name_ends(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcasecmp(name + length - tail, ending) == 0;
}

/* Detects a text model by its first word. OBJ, which has no magic number, is assumed only if the name does not
 * determine the file type. */
static enum kind kind_by_word(const char *name, const char *bytes, int64_t count)
{
    static const char *const statements[] = {"v", "vn", "vt", "f", "g", "o", "s", "mtllib", "usemtl"};
    sp_text text;
    sp_word word = {0};
    bool homogeneous, any_dimension;

    sp_text_open(&text, bytes, count, "#", "", false);
    if (sp_text_line(&text))
        sp_text_word(&text, &word);
    if (sp_surface_off_key(word, &homogeneous, &any_dimension) > 0)
        return OFF;

    if (sp_word_same(word, sp_word_of("solid")))
        /* The header of a binary STL may begin with this word too, but is then usually filled with zeros. */
        return memchr(bytes, 0, count < 84 ? (size_t)count : 84) ? STL_BINARY : STL_TEXT;

    if (name_ends(name, ".obj"))
        return OBJ;
    if (name_ends(name, ".ply"))
        return PLY;
    if (name_ends(name, ".stl"))
        return STL_BINARY;
    if (name_ends(name, ".off"))
        return OFF;

    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (sp_word_same(word, sp_word_of(statements[i])))
            return OBJ;
    return UNKNOWN;
}

static enum kind find_kind(const char *name, const char *bytes, int64_t count)
{
    if (count >= 4 && memcmp(bytes, "ply", 3) == 0 && strchr("\n\r \t", bytes[3]) && bytes[3])
        return PLY;
    if (sp_surface_is_stl_binary(bytes, count))
        return STL_BINARY;
    return kind_by_word(name, bytes, count);
}

static int parse(sp_surface_builder *builder, const char *name, const char *bytes, int64_t count,
                 enum sp_surface_groups groups)
{
    switch (find_kind(name, bytes, count)) {
    case OBJ:
        return sp_surface_parse_obj(builder, bytes, count, groups);
    case PLY:
        return sp_surface_parse_ply(builder, bytes, count);
    case STL_TEXT:
        return sp_surface_parse_stl_text(builder, bytes, count);
    case STL_BINARY:
        return sp_surface_parse_stl_binary(builder, bytes, count);
    case OFF:
        return sp_surface_parse_off(builder, bytes, count);
    case UNKNOWN:
        break;
    }
    return sp_fail(builder->context, SP_INPUT,
                   "neither the content nor the ending of the name is one of OBJ, PLY, STL and OFF");
}

int sp_surface_parse(sp_context *context, const char *name, const void *bytes, int64_t count,
                     enum sp_surface_groups groups, sp_surface *surface)
{
    sp_surface_builder builder = {.context = context};
    *surface = (sp_surface){0};
    if (count <= 0)
        return sp_fail(context, SP_INPUT, "the file is empty");
    int status;
    SP_TRY(parse(&builder, name, bytes, count, groups));
    SP_TRY(sp_surface_finish(&builder, surface));
done:
    sp_surface_builder_free(&builder);
    return status;
}
