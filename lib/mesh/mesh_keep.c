/* Extraction of parts of a mesh as separate meshes. */
#include "mesh/cut.h"

#include "mesh/mesh_sets.h"

#include <string.h>

/* Numbers the kept entries in order and sets the others to −1; returns the number of kept ones. */
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

        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        /* The nodes, region, factors and fibres go with the element. */
        int64_t *target = (int64_t *)sp_mesh_nodes(part, to, &nodes);
        for (int a = 0; a < nodes; a++)
            target[a] = vertex[node[a]];

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

    /* New numbers keep the order of the old ones, so that the fixed vertices stay increasing. */
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        if (vertex[mesh->fixed[i]] >= 0) {
            part->fixed[part->fixed_count] = vertex[mesh->fixed[i]];
            part->fixed_axes[part->fixed_count++] = mesh->fixed_axes[i];
        }
}

/* surface_vertex: new numbers of the vertices of the surface. */
static void keep_surface(const sp_mesh *mesh, const int64_t *element, const int64_t *surface_vertex, sp_mesh *part)
{
    const sp_embedded_surface *from = &mesh->surface;
    sp_embedded_surface *to = &part->surface;
    for (int64_t v = 0; v < from->vertex_count; v++) {
        const int64_t at = surface_vertex[v];
        if (at < 0)
            continue;

        /* Weights beyond the nodes of the element are 0, so that fewer columns lose nothing. */
        memcpy(to->vertices + 3 * at, from->vertices + 3 * v, 3 * sizeof *to->vertices);
        memcpy(to->weights + to->width * at, from->weights + from->width * v, (size_t)to->width * sizeof *to->weights);

        to->element[at] = element[from->element[v]];
    }

    for (int64_t t = 0; t < from->triangle_count; t++) {
        const int64_t *corner = from->triangles + 3 * t;
        /* A triangle is kept if all its corners are. */
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
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        part->block[t].node =
            sp_pool_raw(pool, part->block[t].count, (size_t)sp_element_types[t].nodes * sizeof(int64_t));

    part->region = sp_pool_raw(pool, elements, sizeof *part->region);
    part->factor = mesh->factor ? sp_pool_raw(pool, elements, 2 * sizeof *part->factor) : NULL;
    part->fibre = mesh->fibre ? sp_pool_raw(pool, elements, 3 * sizeof *part->fibre) : NULL;

    part->fixed = sp_pool_raw(pool, mesh->fixed_count, sizeof *part->fixed);
    part->fixed_axes = sp_pool_raw(pool, mesh->fixed_count, sizeof *part->fixed_axes);

    part->quadrature = mesh->quadrature;
    part->up = mesh->up;
    part->folded = mesh->folded;
    part->material_count = mesh->material_count;
    part->materials = sp_pool_copy(pool, mesh->materials, mesh->material_count, sizeof *mesh->materials);

    /* The weights have as many columns as the part needs. */
    surface->vertex_count = surface_vertices;
    surface->width = sp_mesh_width(part);
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
    SP_TRY(sp_allocated(context, !scratch.failed));

    /* The kept elements, their vertices and the surface vertices in them are marked, and then numbered. */
    for (int64_t e = 0; e < elements; e++) {
        int nodes;
        int64_t within;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        element[e] = keep[e];
        if (!keep[e])
            continue;
        for (int a = 0; a < nodes; a++)
            vertex[node[a]] = 1;
        part->block[sp_mesh_type(mesh, e, &within)].count++;
    }

    for (int64_t v = 0; v < surface_count; v++)
        surface_vertex[v] = keep[mesh->surface.element[v]];

    renumber(elements, element);
    part->vertex_count = renumber(mesh->vertex_count, vertex);
    make_room(mesh, renumber(surface_count, surface_vertex), part);

    *origin = sp_pool_raw(pool, part->vertex_count, sizeof **origin);
    SP_TRY(sp_allocated(context, !part->pool.failed && *origin));

    keep_elements(mesh, element, vertex, part);
    keep_vertices(mesh, vertex, part, *origin);
    keep_surface(mesh, element, surface_vertex, part);
    status = sp_mesh_keep_sets(context, mesh, vertex, element, part);
done:
    if (status != SP_OK)
        sp_mesh_free(part);
    sp_pool_free(&scratch);
    return status;
}
