#include "formats/import/surface_internal.h"

#include "base/compare.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { UNKNOWN, OBJ, PLY, STL_TEXT, STL_BINARY, OFF };

void sp_surface_polygon(sp_surface_builder *builder)
{
    builder->corners = 0;
}

int sp_surface_corner(sp_surface_builder *builder, int64_t vertex)
{
    if (builder->corners == 0)
        builder->first = vertex;
    if (builder->corners >= 2) {
        int64_t *triangle = sp_list_add(&builder->triangles, 1, 3 * sizeof *triangle);
        if (!triangle)
            return sp_fail_memory(builder->context);
        triangle[0] = builder->first;
        triangle[1] = builder->previous;
        triangle[2] = vertex;
        if (builder->names.count > 0) {
            int64_t *group = sp_list_add(&builder->group, 1, sizeof *group);
            if (!group)
                return sp_fail_memory(builder->context);
            *group = builder->group_now;
        }
    }
    if (builder->corners == 3) {
        int64_t *quad = sp_list_add(&builder->quads, 1, sizeof *quad);
        if (!quad)
            return sp_fail_memory(builder->context);
        *quad = builder->triangles.count - 2;
    } else if (builder->corners == 4)
        builder->quads.count--;
    builder->previous = vertex;
    builder->corners++;
    return SP_OK;
}

static bool name_ends(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcasecmp(name + length - tail, ending) == 0;
}

/* A text model by its first word; of OBJ, which has no magic, only where the name does not say what it is. */
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
        /* the header of a binary STL may begin with this word too, but is then filled with zeros as a rule */
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

/* A polygon of four corners: its first triangle, and its corners as points in space, in their order. */
typedef struct quad {
    int64_t triangle;
    double corner[4][3];
} quad;

static int compare_corners(const quad *a, const quad *b)
{
    int order = 0;
    for (int k = 0; k < 4 && order == 0; k++)
        order = sp_compare3(a->corner[k], b->corner[k]);
    return order;
}

static int compare_quads(const void *a, const void *b)
{
    const quad *x = a, *y = b;
    const int order = compare_corners(x, y);
    return order ? order : x->triangle < y->triangle ? -1 : 1;
}

/* A polygon that stands there twice, perhaps the other way round: both get the diagonal of the first, so that they are
 * known as two sides of one. */
static int match_diagonals(const sp_list *list, sp_surface *surface)
{
    const int64_t *first = list->data;
    sp_pool scratch = {0};
    quad *quads = sp_pool_raw(&scratch, list->count, sizeof *quads);
    if (!quads)
        return SP_SYSTEM;
    for (int64_t i = 0; i < list->count; i++) {
        const int64_t *t = surface->triangles + 3 * first[i], corner[4] = {t[0], t[1], t[2], t[5]};
        quads[i].triangle = first[i];
        for (int k = 0; k < 4; k++)
            memcpy(quads[i].corner[k], surface->vertices + 3 * corner[k], sizeof quads[i].corner[k]);
        qsort(quads[i].corner, 4, sizeof *quads[i].corner, sp_compare3);
    }
    qsort(quads, (size_t)list->count, sizeof *quads, compare_quads);
    for (int64_t i = 1; i < list->count; i++) {
        if (compare_corners(&quads[i], &quads[i - 1]) != 0)
            continue;
        const int64_t *other = surface->triangles + 3 * quads[i - 1].triangle;
        int64_t *t = surface->triangles + 3 * quads[i].triangle, corner[4] = {t[0], t[1], t[2], t[5]};
        const double *end = surface->vertices + 3 * other[0], *opposite = surface->vertices + 3 * other[2];
        for (int k = 1; k < 4; k += 2)
            if (sp_compare3(surface->vertices + 3 * corner[k], end) == 0 &&
                sp_compare3(surface->vertices + 3 * corner[(k + 2) % 4], opposite) == 0) {
                memcpy(t,
                       (int64_t[]){corner[k], corner[(k + 1) % 4], corner[(k + 2) % 4], corner[(k + 2) % 4],
                                   corner[(k + 3) % 4], corner[k]},
                       6 * sizeof *t);
                break;
            }
    }
    sp_pool_free(&scratch);
    return SP_OK;
}

/* Moves what was read into arrays of the right size. */
static int finish(sp_surface_builder *builder, sp_surface *surface)
{
    static const char only[] = "default";
    int64_t triangle_count = builder->triangles.count;
    if (triangle_count == 0)
        return sp_fail(builder->context, SP_INPUT, "the model has no triangles");
    sp_pool *pool = &builder->pool;
    surface->vertex_count = builder->vertices.count;
    surface->vertices = sp_pool_copy(pool, builder->vertices.data, builder->vertices.count, 3 * sizeof(double));
    sp_list_free(&builder->vertices);
    surface->triangle_count = triangle_count;
    surface->triangles = sp_pool_copy(pool, builder->triangles.data, triangle_count, 3 * sizeof(int64_t));
    sp_list_free(&builder->triangles);
    surface->group_count = builder->names.count > 0 ? builder->names.count : 1;
    if (builder->names.count > 0) {
        surface->group = sp_pool_copy(pool, builder->group.data, triangle_count, sizeof(int64_t));
        surface->groups = sp_pool_copy(pool, builder->names.data, builder->names.count, sizeof(char *));
    } else {
        surface->group = sp_pool_new(pool, triangle_count, sizeof(int64_t));
        surface->groups = sp_pool_new(pool, 1, sizeof(char *));
        if (surface->groups)
            surface->groups[0] = sp_pool_copy(pool, only, sizeof only, 1);
    }
    if (pool->failed || match_diagonals(&builder->quads, surface) != SP_OK) {
        *surface = (sp_surface){0};
        return sp_fail_memory(builder->context);
    }
    surface->pool = *pool;
    *pool = (sp_pool){0};
    return SP_OK;
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
    SP_TRY(finish(&builder, surface));
done:
    sp_list_free(&builder.vertices);
    sp_list_free(&builder.triangles);
    sp_list_free(&builder.quads);
    sp_list_free(&builder.group);
    sp_list_free(&builder.names);
    sp_pool_free(&builder.pool);
    return status;
}
