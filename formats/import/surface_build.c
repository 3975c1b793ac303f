/* A surface that is built while a file is read. */
#include "formats/import/surface_internal.h"

#include "base/compare.h"
#include "geometry/pose.h"

#include <stdlib.h>
#include <string.h>

void sp_surface_polygon(sp_surface_builder *builder)
{
    builder->corners = 0;
}

int sp_surface_corner(sp_surface_builder *builder, int64_t vertex)
{
    if (builder->corners == 0)
        builder->first = vertex;

    /* A polygon becomes a fan of triangles about its first corner. */
    if (builder->corners >= 2) {
        int64_t *triangle = sp_list_add(&builder->triangles, 1, 3 * sizeof *triangle);
        SP_PASS(sp_allocated(builder->context, triangle));
        triangle[0] = builder->first;
        triangle[1] = builder->previous;
        triangle[2] = vertex;
        if (builder->names.count > 0) {
            int64_t *group = sp_list_add(&builder->group, 1, sizeof *group);
            SP_PASS(sp_allocated(builder->context, group));
            *group = builder->group_now;
        }
    }

    /* A quadrilateral is listed by its first triangle, until a fifth corner shows that it is a larger polygon. */
    if (builder->corners == 3) {
        int64_t *quad = sp_list_add(&builder->quads, 1, sizeof *quad);
        SP_PASS(sp_allocated(builder->context, quad));
        *quad = builder->triangles.count - 2;
    } else if (builder->corners == 4)
        builder->quads.count--;

    builder->previous = vertex;
    builder->corners++;
    return SP_OK;
}

/* A polygon of four corners: its first triangle, and the positions of its corners in their order. */
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

/* If a polygon occurs twice, possibly reversed, both get the diagonal of the first one, so that their triangles are
 * recognized as duplicates. */
static int match_diagonals(const sp_list *list, sp_surface *surface)
{
    const int64_t *first = list->data;
    sp_pool scratch = {0};
    quad *quads = sp_pool_raw(&scratch, list->count, sizeof *quads);
    if (!quads)
        return SP_SYSTEM;

    /* Equal polygons become neighbours: sort the corners of each, then the polygons. */
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

        /* Start at the corner where the diagonal of the first polygon ends. */
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

int sp_surface_finish(sp_surface_builder *builder, sp_surface *surface)
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

void sp_surface_builder_free(sp_surface_builder *builder)
{
    sp_list_free(&builder->vertices);
    sp_list_free(&builder->triangles);
    sp_list_free(&builder->quads);
    sp_list_free(&builder->group);
    sp_list_free(&builder->names);
    sp_pool_free(&builder->pool);
}
