#include "tools/common/skin.h"

#include "tools/common/tool.h"

#include <stdlib.h>
#include <string.h>

/* Is the side between two vertices of an element one of its edges, not a diagonal of a face? */
static bool is_element_edge(const sp_mesh *mesh, int64_t element, int64_t a, int64_t b)
{
    int nodes, at[2] = {0, 0};
    int64_t within;
    const int64_t *node = sp_mesh_nodes(mesh, element, &nodes);
    for (int c = 0; c < nodes; c++) {
        at[0] = node[c] == a ? c : at[0];
        at[1] = node[c] == b ? c : at[1];
    }
    return sp_element_on_edge(sp_mesh_type(mesh, element, &within), at[0], at[1]);
}

static int compare_edges(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void collect_edges(tool_skin *skin, const int64_t *element)
{
    int64_t *edges = tool_allocate_raw(&skin->pool, 3 * skin->triangle_count, 2 * sizeof *edges), count = 0, kept = 0;

    for (int64_t t = 0; t < skin->triangle_count; t++)
        for (int s = 0; s < 3; s++) {
            int64_t a = skin->triangles[3 * t + s], b = skin->triangles[3 * t + (s + 1) % 3];
            if (!is_element_edge(skin->mesh, element[t], skin->vertex[a], skin->vertex[b]))
                continue;
            edges[2 * count] = a < b ? a : b;
            edges[2 * count++ + 1] = a < b ? b : a;
        }

    qsort(edges, (size_t)count, 2 * sizeof *edges, compare_edges);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || compare_edges(edges + 2 * i, edges + 2 * (i - 1))) {
            memmove(edges + 2 * kept, edges + 2 * i, 2 * sizeof *edges);
            kept++;
        }

    skin->edges = edges;
    skin->edge_count = kept;
}

static void open_boundary(sp_context *context, tool_skin *skin)
{
    const sp_mesh *mesh = skin->mesh;
    int64_t *triangles, *element, *number = tool_allocate(&skin->pool, mesh->vertex_count, sizeof *number), count = 0;
    tool_check(sp_mesh_boundary(context, mesh, &skin->pool, &skin->triangle_count, &triangles, &element), NULL);

    /* First a mark at each vertex of the boundary, then its number in the skin */
    for (int64_t i = 0; i < 3 * skin->triangle_count; i++)
        number[triangles[i]] = 1;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        count += number[v];

    int64_t *vertex = tool_allocate_raw(&skin->pool, count, sizeof *vertex);
    double *rest = tool_allocate_raw(&skin->pool, 3 * count, sizeof *rest);

    for (int64_t v = 0, at = 0; v < mesh->vertex_count; v++)
        if (number[v]) {
            vertex[at] = v;
            memcpy(rest + 3 * at, mesh->vertices + 3 * v, 3 * sizeof *rest);
            number[v] = at++;
        }

    for (int64_t i = 0; i < 3 * skin->triangle_count; i++)
        triangles[i] = number[triangles[i]];

    skin->vertex_count = count;
    skin->vertex = vertex;
    skin->rest = rest;
    skin->triangles = triangles;

    collect_edges(skin, element);
}

void tool_skin_open(sp_context *context, const sp_mesh *mesh, bool boundary, tool_skin *skin)
{
    const sp_embedded_surface *surface = &mesh->surface;
    *skin = (tool_skin){.mesh = mesh, .embedded = !boundary && surface->triangle_count > 0};
    if (!skin->embedded) {
        open_boundary(context, skin);
        return;
    }
    skin->vertex_count = surface->vertex_count;
    skin->triangle_count = surface->triangle_count;
    skin->rest = surface->vertices;
    skin->triangles = surface->triangles;
}

void tool_skin_close(tool_skin *skin)
{
    sp_pool_free(&skin->pool);
}

void tool_skin_values(const tool_skin *skin, int width, const double *values, double *out)
{
    const sp_embedded_surface *surface = &skin->mesh->surface;
    for (int64_t v = 0; v < skin->vertex_count; v++) {
        double *to = out + v * width;

        if (!skin->embedded) {
            memcpy(to, values + skin->vertex[v] * width, (size_t)width * sizeof *to);
            continue;
        }

        int nodes;
        const int64_t *node = sp_mesh_nodes(skin->mesh, surface->element[v], &nodes);
        memset(to, 0, (size_t)width * sizeof *to);
        for (int c = 0; c < nodes; c++)
            for (int i = 0; i < width; i++)
                to[i] += surface->weights[v * surface->width + c] * values[node[c] * width + i];
    }
}

void tool_skin_positions(const tool_skin *skin, double scale, const double *u, double *positions)
{
    tool_skin_values(skin, 3, u, positions);
    for (int64_t i = 0; i < 3 * skin->vertex_count; i++)
        positions[i] = skin->rest[i] + scale * positions[i];
}
