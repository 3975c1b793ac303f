/* Parts of a mesh as meshes of their own. */
#include "mesh/cut.h"

#include <stdlib.h>
#include <string.h>

typedef struct piece_size {
    int64_t piece, elements;
} piece_size;

/* More elements first; of equal ones that with the first element. */
static int compare_sizes(const void *a, const void *b)
{
    const piece_size *x = a, *y = b;
    if (x->elements != y->elements)
        return x->elements > y->elements ? -1 : 1;
    return x->piece < y->piece ? -1 : x->piece > y->piece;
}

int sp_mesh_pieces_by_size(sp_context *context, const sp_mesh *mesh, int64_t *label, int64_t *count)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    int status = sp_mesh_components(context, mesh, label, count);
    if (status != SP_OK)
        return status;
    sp_pool pool = {0};
    piece_size *size = sp_pool_new(&pool, *count, sizeof *size);
    int64_t *rank = sp_pool_raw(&pool, *count, sizeof *rank);
    if (pool.failed)
        status = sp_fail_memory(context);
    for (int64_t p = 0; p < *count && status == SP_OK; p++)
        size[p].piece = p;
    for (int64_t e = 0; e < elements && status == SP_OK; e++)
        size[label[e]].elements++;
    if (status == SP_OK) {
        qsort(size, (size_t)*count, sizeof *size, compare_sizes);
        for (int64_t p = 0; p < *count; p++)
            rank[size[p].piece] = p;
        for (int64_t e = 0; e < elements; e++)
            label[e] = rank[label[e]];
    }
    sp_pool_free(&pool);
    return status;
}

/* New numbers of the kept entries, −1 for the rest; returns their number. */
static int64_t renumber(int64_t count, int64_t *number)
{
    int64_t next = 0;
    for (int64_t i = 0; i < count; i++)
        number[i] = number[i] ? next++ : -1;
    return next;
}

static void keep_elements(const sp_mesh *mesh, const int64_t *element, const int64_t *vertex, sp_mesh *part)
{
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        const int64_t to = element[e];
        if (to < 0)
            continue;
        int corners;
        const int64_t *corner = sp_mesh_corners(mesh, e, &corners);
        int64_t *target = corners == 8 ? part->hex + 8 * to : part->tet + 4 * (to - part->hex_count);
        for (int a = 0; a < corners; a++)
            target[a] = vertex[corner[a]];
        part->region[to] = mesh->region[e];
        if (mesh->factor)
            memcpy(part->factor + 2 * to, mesh->factor + 2 * e, 2 * sizeof *mesh->factor);
        if (mesh->fibre)
            memcpy(part->fibre + 3 * to, mesh->fibre + 3 * e, 3 * sizeof *mesh->fibre);
    }
}

static void keep_vertices(const sp_mesh *mesh, const int64_t *vertex, sp_mesh *part, int64_t *origin)
{
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (vertex[v] >= 0) {
            origin[vertex[v]] = v;
            memcpy(part->vertices + 3 * vertex[v], mesh->vertices + 3 * v, 3 * sizeof *mesh->vertices);
        }
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        if (vertex[mesh->fixed[i]] >= 0) {
            part->fixed[part->fixed_count] = vertex[mesh->fixed[i]];
            part->fixed_axes[part->fixed_count++] = mesh->fixed_axes[i];
        }
}

/* surface_vertex: new numbers of the surface's vertices. */
static void keep_surface(const sp_mesh *mesh, const int64_t *element, const int64_t *surface_vertex, sp_mesh *part)
{
    const sp_embedded_surface *from = &mesh->surface;
    sp_embedded_surface *to = &part->surface;
    for (int64_t v = 0; v < from->vertex_count; v++) {
        const int64_t at = surface_vertex[v];
        if (at < 0)
            continue;
        memcpy(to->vertices + 3 * at, from->vertices + 3 * v, 3 * sizeof *to->vertices);
        memcpy(to->weights + to->width * at, from->weights + from->width * v,
               (size_t)to->width * sizeof *to->weights); /* tetrahedra use the first four */
        to->element[at] = element[from->element[v]];
    }
    for (int64_t t = 0; t < from->triangle_count; t++) {
        const int64_t *corner = from->triangles + 3 * t;
        if (surface_vertex[corner[0]] < 0 || surface_vertex[corner[1]] < 0 || surface_vertex[corner[2]] < 0)
            continue;
        for (int i = 0; i < 3; i++)
            to->triangles[3 * to->triangle_count + i] = surface_vertex[corner[i]];
        to->triangle_count++;
    }
}

static void make_room(const sp_mesh *mesh, int64_t surface_vertices, sp_mesh *part)
{
    sp_pool *pool = &part->pool;
    sp_embedded_surface *surface = &part->surface;
    const int64_t elements = sp_mesh_element_count(part);
    part->vertices = sp_pool_raw(pool, part->vertex_count, 3 * sizeof *part->vertices);
    part->hex = sp_pool_raw(pool, part->hex_count, 8 * sizeof *part->hex);
    part->tet = sp_pool_raw(pool, part->tet_count, 4 * sizeof *part->tet);
    part->region = sp_pool_raw(pool, elements, sizeof *part->region);
    part->factor = mesh->factor ? sp_pool_raw(pool, elements, 2 * sizeof *part->factor) : NULL;
    part->fibre = mesh->fibre ? sp_pool_raw(pool, elements, 3 * sizeof *part->fibre) : NULL;
    part->fixed = sp_pool_raw(pool, mesh->fixed_count, sizeof *part->fixed);
    part->fixed_axes = sp_pool_raw(pool, mesh->fixed_count, sizeof *part->fixed_axes);
    part->quadrature = mesh->quadrature;
    part->material_count = mesh->material_count;
    part->materials = sp_pool_copy(pool, mesh->materials, mesh->material_count, sizeof *mesh->materials);
    surface->vertex_count = surface_vertices;
    surface->width = part->hex_count > 0 ? 8 : 4;
    surface->vertices = sp_pool_raw(pool, surface_vertices, 3 * sizeof *surface->vertices);
    surface->weights = sp_pool_raw(pool, surface_vertices, (size_t)surface->width * sizeof *surface->weights);
    surface->element = sp_pool_raw(pool, surface_vertices, sizeof *surface->element);
    surface->triangles = sp_pool_raw(pool, mesh->surface.triangle_count, 3 * sizeof *surface->triangles);
}

int sp_mesh_keep(sp_context *context, const sp_mesh *mesh, const bool *keep, sp_pool *pool, sp_mesh *part,
                 int64_t **origin)
{
    const int64_t elements = sp_mesh_element_count(mesh), surface_count = mesh->surface.vertex_count;
    sp_pool scratch = {0};
    int64_t *element = sp_pool_new(&scratch, elements, sizeof *element),
            *vertex = sp_pool_new(&scratch, mesh->vertex_count, sizeof *vertex);
    int64_t *surface_vertex = sp_pool_new(&scratch, surface_count, sizeof *surface_vertex);
    int status = SP_OK;
    *part = (sp_mesh){0};
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t e = 0; e < elements; e++) {
        int corners;
        const int64_t *corner = sp_mesh_corners(mesh, e, &corners);
        element[e] = keep[e];
        for (int a = 0; a < corners && keep[e]; a++)
            vertex[corner[a]] = 1;
        *(e < mesh->hex_count ? &part->hex_count : &part->tet_count) += keep[e];
    }
    for (int64_t v = 0; v < surface_count; v++)
        surface_vertex[v] = keep[mesh->surface.element[v]];
    renumber(elements, element);
    part->vertex_count = renumber(mesh->vertex_count, vertex);
    make_room(mesh, renumber(surface_count, surface_vertex), part);
    *origin = sp_pool_raw(pool, part->vertex_count, sizeof **origin);
    if (part->pool.failed || !*origin) {
        status = sp_fail_memory(context);
        goto done;
    }
    keep_elements(mesh, element, vertex, part);
    keep_vertices(mesh, vertex, part, *origin);
    keep_surface(mesh, element, surface_vertex, part);
done:
    if (status != SP_OK)
        sp_mesh_free(part);
    sp_pool_free(&scratch);
    return status;
}
