/* OFF (Geomview): a keyword [ST][C][N][4][n]OFF, which may be missing; the counts of vertices, faces and edges; for
 * each vertex a line that begins with its position; for each face its number of corners and their vertices from 0, on
 * one line or several, then a colour, which is skipped with the rest of the line. */
#include "formats/import/surface_internal.h"

#include <string.h>

static bool pass(sp_word word, int64_t *used, const char *prefix)
{
    size_t size = strlen(prefix);
    if ((size_t)(word.length - *used) < size || memcmp(word.at + *used, prefix, size) != 0)
        return false;
    *used += (int64_t)size;
    return true;
}

int64_t sp_surface_off_key(sp_word word, bool *homogeneous, bool *any_dimension)
{
    int64_t used = 0;
    bool four = false, any = false;

    *homogeneous = *any_dimension = false;
    if (!pass(word, &used, "off")) {
        pass(word, &used, "ST");
        pass(word, &used, "C");
        pass(word, &used, "N");
        four = pass(word, &used, "4");
        any = pass(word, &used, "n");
        if (!pass(word, &used, "OFF"))
            return 0;
    }

    for (int64_t i = used; i < word.length; i++)
        if (word.at[i] < '0' || word.at[i] > '9')
            return 0;

    *homogeneous = four;
    *any_dimension = any;
    return used;
}

/* Parses the keyword and the counts, which may share a line. */
static int parse_header(sp_surface_builder *builder, sp_text *text, bool *homogeneous, int64_t *vertex_count,
                        int64_t *face_count)
{
    sp_context *context = builder->context;
    bool any_dimension = false;
    *homogeneous = false;

    if (!sp_text_line(text))
        return sp_fail(context, SP_INPUT, "the file has no content but comments");

    sp_text behind = *text;
    sp_word word = {0};
    sp_text_word(&behind, &word);
    text->at += sp_surface_off_key(word, homogeneous, &any_dimension);

    if (any_dimension)
        return sp_text_fail(context, text, "OFF of any dimension (nOFF) is not read");
    if (sp_text_match(text, "BINARY"))
        return sp_text_fail(context, text, "binary OFF is not read");

    if (!sp_text_more(text) && !sp_text_line(text))
        return sp_text_fail(context, text, "the file ends before the counts of vertices and faces");
    SP_PASS(sp_text_need_integer(context, text, "count of vertices", vertex_count));
    SP_PASS(sp_text_need_integer(context, text, "count of faces", face_count));
    /* The shortest vertex is "0 0 0" with a line end, the shortest face is "3 0 0 0". */
    int64_t capacity = text->end - text->next + 1;
    if (*vertex_count < 0 || *vertex_count > capacity / 6 || *face_count < 0 || *face_count > capacity / 8)
        return sp_text_fail(context, text, "%lld vertices and %lld faces cannot be in the %lld bytes that follow",
                            (long long)*vertex_count, (long long)*face_count, (long long)(capacity - 1));
    return SP_OK;
}

static int parse_vertex(sp_context *context, sp_text *text, bool homogeneous, double vertex[3])
{
    static const char *const axis[] = {"x", "y", "z"};
    double weight = 1;
    for (int i = 0; i < 3; i++)
        SP_PASS(sp_text_need_number(context, text, axis[i], &vertex[i]));
    if (homogeneous)
        SP_PASS(sp_text_need_number(context, text, "w", &weight));
    if (homogeneous)
        for (int i = 0; i < 3; i++) {
            vertex[i] /= weight;
            if (!__builtin_isfinite(vertex[i]))
                return sp_text_fail(context, text, "%s divided by w = %g is not finite", axis[i], weight);
        }
    return SP_OK;
}

static int parse_face(sp_surface_builder *builder, sp_text *text, int64_t face)
{
    sp_context *context = builder->context;
    int64_t corners, vertex;

    SP_PASS(sp_text_need_integer(context, text, "count of corners", &corners));
    if (corners < 3)
        return sp_text_fail(context, text, "face %lld has %lld corners, fewer than 3", (long long)face,
                            (long long)corners);
    sp_surface_polygon(builder);

    for (int64_t i = 0; i < corners; i++) {
        if (!sp_text_more(text) && !sp_text_line(text))
            return sp_text_fail(context, text, "the file ends after %lld of %lld corners of face %lld", (long long)i,
                                (long long)corners, (long long)face);
        SP_PASS(sp_text_need_integer(context, text, "vertex of a face", &vertex));
        if (vertex < 0 || vertex >= builder->vertices.count)
            return sp_text_fail(context, text, "face %lld names vertex %lld of %lld (from 0)", (long long)face,
                                (long long)vertex, (long long)builder->vertices.count);
        SP_PASS(sp_surface_corner(builder, vertex));
    }
    return SP_OK;
}

int sp_surface_parse_off(sp_surface_builder *builder, const char *bytes, int64_t count)
{
    sp_context *context = builder->context;
    sp_text text;
    bool homogeneous;
    int64_t vertex_count, face_count;

    sp_text_open(&text, bytes, count, "#", "", false);
    SP_PASS(parse_header(builder, &text, &homogeneous, &vertex_count, &face_count));
    double *vertices = sp_list_add(&builder->vertices, vertex_count, 3 * sizeof *vertices);
    SP_PASS(sp_allocated(context, vertices));

    for (int64_t i = 0; i < vertex_count; i++) {
        if (!sp_text_line(&text))
            return sp_text_fail(context, &text, "the file ends after %lld of %lld vertices", (long long)i,
                                (long long)vertex_count);
        SP_PASS(parse_vertex(context, &text, homogeneous, vertices + 3 * i));
    }

    for (int64_t i = 0; i < face_count; i++) {
        if (!sp_text_line(&text))
            return sp_text_fail(context, &text, "the file ends after %lld of %lld faces", (long long)i,
                                (long long)face_count);
        SP_PASS(parse_face(builder, &text, i));
    }

    if (sp_text_line(&text))
        return sp_text_fail(context, &text, "something follows the last of %lld faces", (long long)face_count);
    return SP_OK;
}
