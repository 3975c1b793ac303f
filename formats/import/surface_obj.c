/* Wavefront OBJ: positions (v) and polygons (f) with their groups. Normals, texture coordinates, lines, points and
 * free-form geometry are skipped. */
#include "formats/import/surface_internal.h"

#include <string.h>

typedef struct obj_reader {
    sp_surface_builder *builder;
    sp_text text;
    /* Faces may name vertices that are defined later: the largest such number is checked at the end. */
    int64_t later, later_line;
    /* The group of the next faces. It becomes a group of the surface at its first face; group_known is set then. */
    sp_word group;
    bool group_known;
    /* Hash table of names with open addressing: a slot is an index + 1, or 0. */
    sp_pool scratch;
    int64_t *slot;
    int64_t capacity; /* power of two, at least twice the number of names */
} obj_reader;

/* ---- group names ---- */

/* Copies the name as UTF-8, since names are stored in JSON. Bytes that are not UTF-8 are read as Latin-1, so that
 * different names remain different. */
static int copy_name(obj_reader *obj, char **name)
{
    sp_surface_builder *builder = obj->builder;
    bool recode = !sp_word_utf8(obj->group);
    char *to = sp_pool_raw(&builder->pool, 2 * obj->group.length + 1, 1);
    SP_PASS(sp_allocated(builder->context, to));
    *name = to;

    for (int64_t i = 0; i < obj->group.length; i++) {
        unsigned char byte = (unsigned char)obj->group.at[i];
        if (byte == '\t')
            byte = ' ';

        if (byte < ' ' || byte == 127) {
            sp_pool_drop(&builder->pool, *name);
            return sp_text_fail(builder->context, &obj->text,
                                "the name of the group of this face has a control character (%d)", byte);
        }

        if (recode && byte >= 0x80) {
            *to++ = (char)(0xc0 | byte >> 6);
            *to++ = (char)(0x80 | (byte & 0x3f));
        } else {
            *to++ = (char)byte;
        }
    }
    *to = 0;
    return SP_OK;
}

static int64_t *find_slot(const obj_reader *obj, const char *name)
{
    char **names = obj->builder->names.data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    for (int64_t at = (int64_t)((hash ^ hash >> 32) & (uint64_t)(obj->capacity - 1));;
         at = (at + 1) & (obj->capacity - 1))
        if (obj->slot[at] == 0 || strcmp(names[obj->slot[at] - 1], name) == 0)
            return &obj->slot[at];
}

static int grow(obj_reader *obj)
{
    int64_t *old = obj->slot;
    char **names = obj->builder->names.data;
    obj->capacity = obj->capacity ? 2 * obj->capacity : 64;
    obj->slot = sp_pool_new(&obj->scratch, obj->capacity, sizeof *obj->slot);
    SP_PASS(sp_allocated(obj->builder->context, obj->slot));
    for (int64_t i = 0; i < obj->builder->names.count; i++)
        *find_slot(obj, names[i]) = i + 1;
    sp_pool_drop(&obj->scratch, old);
    return SP_OK;
}

/* Makes the current group the one of new triangles. */
static int enter_group(obj_reader *obj)
{
    sp_surface_builder *builder = obj->builder;
    char *name = NULL;

    if (obj->group_known)
        return SP_OK;
    if (2 * builder->names.count >= obj->capacity)
        SP_PASS(grow(obj));

    SP_PASS(copy_name(obj, &name));
    int64_t *slot = find_slot(obj, name);

    if (*slot) {
        sp_pool_drop(&builder->pool, name);
    } else {
        char **added = sp_list_add(&builder->names, 1, sizeof *added);
        SP_PASS(sp_allocated(builder->context, added));
        *added = name;
        *slot = builder->names.count;
    }

    builder->group_now = *slot - 1;
    obj->group_known = true;
    return SP_OK;
}

/* The name is the rest of the line, since names of materials may contain blanks. */
static void set_group(obj_reader *obj)
{
    sp_text_rest(&obj->text, &obj->group);
    if (obj->group.length == 0)
        obj->group = sp_word_of("default");
    obj->group_known = false;
}

/* ---- statements ---- */

static int parse_vertex(obj_reader *obj)
{
    static const char *const axis[] = {"x", "y", "z"};
    sp_context *context = obj->builder->context;
    int status = SP_OK;
    double *vertex = sp_list_add(&obj->builder->vertices, 1, 3 * sizeof *vertex);
    SP_PASS(sp_allocated(context, vertex));
    for (int i = 0; i < 3; i++)
        SP_TRY(sp_text_need_number(context, &obj->text, axis[i], &vertex[i]));
done:
    return status; /* a weight or a colour may follow */
}

/* Skips a texture or normal index after a slash, which may be missing. */
static bool skip_index(sp_text *text)
{
    int64_t index;
    return sp_text_ended(text) || *text->at == '/' || sp_text_integer(text, &index);
}

/* Parses v, v/t, v//n or v/t/n; v counts from 1, or from −1 backwards. */
static int parse_corner(obj_reader *obj)
{
    sp_context *context = obj->builder->context;
    sp_text *text = &obj->text;
    int64_t index, count = obj->builder->vertices.count;
    char quote[SP_TEXT_QUOTE];

    SP_PASS(sp_text_need_integer(context, text, "corner of a face", &index));

    for (int i = 0; i < 2 && sp_text_consume(text, '/'); i++)
        if (!skip_index(text))
            return sp_text_fail(context, text, "corner of a face: expected an integer behind the slash, found %s",
                                sp_text_quote(text, quote));

    if (!sp_text_ended(text) && *text->at != '#')
        return sp_text_fail(context, text, "corner of a face: expected a blank, found %s", sp_text_quote(text, quote));

    if (index == 0)
        return sp_text_fail(context, text, "the face names vertex 0, but vertices count from 1");
    if (index < 0 && index + count < 0)
        return sp_text_fail(context, text, "the face names vertex %lld, but only %lld vertices stand before it",
                            (long long)index, (long long)count);

    /* A face may name vertices that follow it; whether they do is checked at the end. */
    if (index > count && index > obj->later) {
        obj->later = index;
        obj->later_line = text->line;
    }

    return sp_surface_corner(obj->builder, index < 0 ? index + count : index - 1);
}

static int parse_face(obj_reader *obj, enum sp_surface_groups groups)
{
    if (groups != SP_GROUPS_NONE)
        SP_PASS(enter_group(obj));
    sp_surface_polygon(obj->builder);
    while (sp_text_more(&obj->text))
        SP_PASS(parse_corner(obj));
    if (obj->builder->corners < 3)
        return sp_text_fail(obj->builder->context, &obj->text, "the face has %lld corners, fewer than 3",
                            (long long)obj->builder->corners);
    return SP_OK;
}

static int parse_statement(obj_reader *obj, enum sp_surface_groups groups)
{
    sp_word word = {0};
    sp_text at = obj->text;
    sp_text_word(&obj->text, &word);

    if (sp_word_is(word, "v"))
        return parse_vertex(obj);
    if (sp_word_is(word, "f") || sp_word_is(word, "fo"))
        return parse_face(obj, groups);

    if (sp_word_is(word, "g") || sp_word_is(word, "o") || sp_word_is(word, "usemtl")) {
        if (groups == (*word.at == 'u' ? SP_GROUPS_MATERIAL : SP_GROUPS_GROUP))
            set_group(obj);
        else
            sp_text_rest(&obj->text, &word);
        return SP_OK;
    }
    if (sp_word_is(word, "mtllib")) { /* a path may end with a backslash, which does not join lines */
        sp_text_rest(&obj->text, &word);
        return SP_OK;
    }
    /* Other statements do not affect the triangles; but a first word with other characters shows that this is not OBJ.
     */
    for (int64_t i = 0; i < word.length; i++) {
        bool letter = (word.at[i] >= 'a' && word.at[i] <= 'z') || (word.at[i] >= 'A' && word.at[i] <= 'Z') ||
                      (i > 0 && (word.at[i] == '_' || (word.at[i] >= '0' && word.at[i] <= '9')));
        if (!letter) {
            char quote[SP_TEXT_QUOTE];
            return sp_text_fail(obj->builder->context, &at, "%s is not an OBJ statement", sp_text_quote(&at, quote));
        }
    }
    return SP_OK;
}

int sp_surface_parse_obj(sp_surface_builder *builder, const char *bytes, int64_t count, enum sp_surface_groups groups)
{
    obj_reader obj = {.builder = builder, .group = sp_word_of("default")};
    int status = SP_OK;
    sp_text_open(&obj.text, bytes, count, "#", "/", true);
    while (sp_text_line(&obj.text))
        SP_TRY(parse_statement(&obj, groups));
    if (obj.later > builder->vertices.count)
        status = sp_fail(builder->context, SP_INPUT, "line %lld: the face names vertex %lld of %lld",
                         (long long)obj.later_line, (long long)obj.later, (long long)builder->vertices.count);
done:
    sp_pool_free(&obj.scratch);
    return status;
}
