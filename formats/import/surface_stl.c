/* STL, text and binary. Binary (little-endian): 80 arbitrary bytes, the number of triangles (u4), and for each triangle
 * 50 bytes: normal and three corners (f4), and two arbitrary bytes. Normals are skipped, since the corners determine
 * them. */
#include "formats/import/surface_internal.h"

#include <math.h>
#include <string.h>

enum { HEADER = 84, RECORD = 50 };

/* Hash table of the builder's vertices with open addressing; a slot is a vertex + 1, or 0. */
typedef struct weld_table {
    int64_t *slot;
    int64_t capacity; /* power of two, at least twice the number of vertices */
} weld_table;

static uint64_t hash_position(const double position[3])
{
    uint64_t hash = 0;
    for (int i = 0; i < 3; i++) {
        double value = position[i] + 0.0; /* −0 and 0 are the same position */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash * UINT64_C(0xd6e8feb86659fd93) >> 8;
}

static int64_t *find_slot(const weld_table *table, const double *vertices, const double position[3])
{
    int64_t at = (int64_t)(hash_position(position) & (uint64_t)(table->capacity - 1));
    for (;; at = (at + 1) & (table->capacity - 1)) {
        if (table->slot[at] == 0)
            return &table->slot[at];
        const double *other = vertices + 3 * (table->slot[at] - 1);
        if (other[0] == position[0] && other[1] == position[1] && other[2] == position[2])
            return &table->slot[at];
    }
}

static int grow(sp_surface_builder *builder, sp_pool *scratch, weld_table *table)
{
    int64_t *old = table->slot;
    const double *vertices = builder->vertices.data;
    table->capacity = table->capacity ? 2 * table->capacity : 256;
    table->slot = sp_pool_new(scratch, table->capacity, sizeof *table->slot);
    SP_PASS(sp_allocated(builder->context, table->slot));
    for (int64_t i = 0; i < builder->vertices.count; i++)
        *find_slot(table, vertices, vertices + 3 * i) = i + 1;
    sp_pool_drop(scratch, old);
    return SP_OK;
}

/* The vertex at a position; vertices are numbered in the order of first use. */
static int weld_vertex(sp_surface_builder *builder, sp_pool *scratch, weld_table *table, const double position[3],
                       int64_t *vertex)
{
    if (2 * builder->vertices.count >= table->capacity)
        SP_PASS(grow(builder, scratch, table));

    int64_t *slot = find_slot(table, builder->vertices.data, position);
    if (*slot == 0) {
        double *added = sp_list_add(&builder->vertices, 1, 3 * sizeof *added);
        SP_PASS(sp_allocated(builder->context, added));
        memcpy(added, position, 3 * sizeof *added);
        *slot = builder->vertices.count;
    }

    *vertex = *slot - 1;
    return SP_OK;
}

static uint32_t load_u4(const char *bytes)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

static double load_f4(const char *bytes)
{
    uint32_t bits = load_u4(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool sp_surface_is_stl_binary(const char *bytes, int64_t count)
{
    return count >= HEADER && count == HEADER + RECORD * (int64_t)load_u4(bytes + HEADER - 4);
}

int sp_surface_parse_stl_binary(sp_surface_builder *builder, const char *bytes, int64_t count)
{
    sp_context *context = builder->context;

    if (count < HEADER)
        return sp_fail(context, SP_INPUT,
                       "neither text nor binary STL: it does not begin with \"solid\" and has only %lld bytes",
                       (long long)count);

    int64_t triangles = load_u4(bytes + HEADER - 4);
    if (!sp_surface_is_stl_binary(bytes, count))
        return sp_fail(context, SP_INPUT,
                       "byte 80: binary STL of %lld triangles takes %lld bytes, but the file has %lld",
                       (long long)triangles, (long long)(HEADER + RECORD * triangles), (long long)count);

    sp_pool scratch = {0};
    weld_table table = {0};
    int status = SP_OK;

    for (int64_t i = 0; i < triangles; i++) {
        sp_surface_polygon(builder);
        for (int corner = 0; corner < 3; corner++) {
            double position[3];
            int64_t vertex, offset = HEADER + RECORD * i + 12 * (corner + 1);
            for (int j = 0; j < 3; j++) {
                position[j] = load_f4(bytes + offset + 4 * j);
                if (!isfinite(position[j])) {
                    status = sp_fail(context, SP_INPUT, "byte %lld: corner %d of triangle %lld is not finite",
                                     (long long)(offset + 4 * j), corner, (long long)i);
                    goto done;
                }
            }
            SP_TRY(weld_vertex(builder, &scratch, &table, position, &vertex));
            SP_TRY(sp_surface_corner(builder, vertex));
        }
    }
done:
    sp_pool_free(&scratch);
    return status;
}

/* Advances to the next line, which must begin with this word. */
static int need_line(sp_context *context, sp_text *text, const char *word)
{
    char quote[SP_TEXT_QUOTE];
    if (!sp_text_line(text))
        return sp_text_fail(context, text, "the file ends where \"%s\" should follow", word);
    if (!sp_text_match(text, word))
        return sp_text_fail(context, text, "expected \"%s\", found %s", word, sp_text_quote(text, quote));
    return SP_OK;
}

/* Parses the lines after "facet normal …". The numbers of that line are not read: they may be nan for degenerate
 * triangles. */
static int parse_facet(sp_surface_builder *builder, sp_pool *scratch, weld_table *table, sp_text *text)
{
    static const char *const axis[] = {"x", "y", "z"};
    sp_context *context = builder->context;

    SP_PASS(need_line(context, text, "outer"));
    sp_surface_polygon(builder);

    for (int corner = 0; corner < 3; corner++) {
        double position[3];
        int64_t vertex;
        SP_PASS(need_line(context, text, "vertex"));
        for (int i = 0; i < 3; i++)
            SP_PASS(sp_text_need_number(context, text, axis[i], &position[i]));
        SP_PASS(weld_vertex(builder, scratch, table, position, &vertex));
        SP_PASS(sp_surface_corner(builder, vertex));
    }

    SP_PASS(need_line(context, text, "endloop"));
    return need_line(context, text, "endfacet");
}

int sp_surface_parse_stl_text(sp_surface_builder *builder, const char *bytes, int64_t count)
{
    sp_context *context = builder->context;
    char quote[SP_TEXT_QUOTE];
    sp_text text;
    sp_pool scratch = {0};
    weld_table table = {0};
    bool inside = false;
    int status = SP_OK;

    sp_text_open(&text, bytes, count, "", "", false);
    while (sp_text_line(&text)) {
        if (inside && sp_text_match(&text, "facet")) {
            SP_TRY(parse_facet(builder, &scratch, &table, &text));
        } else if (sp_text_match(&text, inside ? "endsolid" : "solid")) {
            inside = !inside;
        } else {
            status = sp_text_fail(context, &text, "expected \"%s\", found %s",
                                  inside ? "facet\" or \"endsolid" : "solid", sp_text_quote(&text, quote));
            goto done;
        }
    }

    if (inside)
        status = sp_text_fail(context, &text, "the file ends where \"endsolid\" should follow");
done:
    sp_pool_free(&scratch);
    return status;
}
