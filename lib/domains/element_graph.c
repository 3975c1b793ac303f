/* The graph of the elements of a mesh (domains.h). */
#include "domains/domains.h"

#include <stdlib.h>

enum { FACE_CORNERS = 3 }; /* corners that neighbours have in common */

/* The elements of each vertex, by their corners. */
static int list_elements(sp_context *context, const sp_mesh *mesh, sp_element_graph *graph)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    int corners;
    int64_t *start = graph->vertex_start = sp_pool_new(&graph->pool, mesh->vertex_count + 1, sizeof *start);
    SP_PASS(sp_allocated(context, start));

    /* A counting sort: the number of elements of each vertex, then their places. */
    for (int64_t e = 0; e < elements; e++) {
        const int64_t *corner = sp_mesh_corner_nodes(mesh, e, &corners);
        for (int a = 0; a < corners; a++)
            start[corner[a] + 1]++;
    }

    for (int64_t v = 0; v < mesh->vertex_count; v++)
        start[v + 1] += start[v];

    int64_t *list = graph->vertex_element = sp_pool_raw(&graph->pool, start[mesh->vertex_count], sizeof *list);
    SP_PASS(sp_allocated(context, list));

    for (int64_t e = 0; e < elements; e++) {
        const int64_t *corner = sp_mesh_corner_nodes(mesh, e, &corners);
        for (int a = 0; a < corners; a++)
            list[start[corner[a]]++] = e;
    }

    /* Filling has moved the beginnings to the ends: they move back by one. */
    for (int64_t v = mesh->vertex_count; v > 0; v--)
        start[v] = start[v - 1];
    start[0] = 0;
    return SP_OK;
}

static int compare_elements(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Finds the neighbours of an element, increasing, and returns their number. common [elements] is zero before and after;
 * found has room for all elements around the corners. */
static int64_t find_neighbours(const sp_mesh *mesh, const sp_element_graph *graph, int64_t element, uint8_t *common,
                               sp_list *found)
{
    int corners;
    int64_t count = 0, *list = found->data;
    const int64_t *corner = sp_mesh_corner_nodes(mesh, element, &corners);

    /* An element is a neighbour when its third common corner is found. */
    for (int a = 0; a < corners; a++)
        for (int64_t k = graph->vertex_start[corner[a]]; k < graph->vertex_start[corner[a] + 1]; k++) {
            const int64_t other = graph->vertex_element[k];

            if (other != element && ++common[other] == FACE_CORNERS)
                list[count++] = other;
        }

    for (int a = 0; a < corners; a++)
        for (int64_t k = graph->vertex_start[corner[a]]; k < graph->vertex_start[corner[a] + 1]; k++)
            common[graph->vertex_element[k]] = 0;

    qsort(list, (size_t)count, sizeof *list, compare_elements);
    return count;
}

/* The largest number of elements around the corners of one element. */
static int64_t most_around(const sp_mesh *mesh, const sp_element_graph *graph)
{
    int64_t most = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int corners;
        int64_t around = 0;
        const int64_t *corner = sp_mesh_corner_nodes(mesh, e, &corners);
        for (int a = 0; a < corners; a++)
            around += graph->vertex_start[corner[a] + 1] - graph->vertex_start[corner[a]];
        most = around > most ? around : most;
    }
    return most;
}

int sp_element_graph_new(sp_context *context, const sp_mesh *mesh, sp_element_graph *graph)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    sp_pool scratch = {0};
    sp_list found = {0}, index = {0};
    int status;
    *graph = (sp_element_graph){0};

    SP_TRY(list_elements(context, mesh, graph));
    uint8_t *common = sp_pool_new(&scratch, elements, sizeof *common);
    graph->start = sp_pool_new(&graph->pool, elements + 1, sizeof *graph->start);

    if (!common || !graph->start || !sp_list_reserve(&found, most_around(mesh, graph), sizeof(int64_t))) {
        status = sp_fail_memory(context);
        goto done;
    }

    /* The lists of all elements, one after another. */
    for (int64_t e = 0; e < elements; e++) {
        const int64_t count = find_neighbours(mesh, graph, e, common, &found), *list = found.data;
        int64_t *to = sp_list_add(&index, count, sizeof *to);
        SP_TRY(sp_allocated(context, to));
        for (int64_t k = 0; k < count; k++)
            to[k] = list[k];
        graph->start[e + 1] = index.count;
    }

    graph->index = sp_pool_copy(&graph->pool, index.data, index.count, sizeof(int64_t));
    if (!graph->index)
        status = sp_fail_memory(context);
done:
    sp_list_free(&found);
    sp_list_free(&index);
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_element_graph_free(graph);
    return status;
}

void sp_element_graph_free(sp_element_graph *graph)
{
    sp_pool_free(&graph->pool);
    *graph = (sp_element_graph){0};
}

int sp_domains_pieces(sp_context *context, const sp_mesh *mesh, const sp_element_graph *graph, int64_t *side,
                      int64_t *count)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    sp_pool scratch = {0};
    int64_t *piece = sp_pool_raw(&scratch, elements, sizeof *piece),
            *stack = sp_pool_raw(&scratch, elements, sizeof *stack), pieces = 0;
    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    for (int64_t e = 0; e < elements; e++)
        piece[e] = -1;
    for (int64_t s = 0; s < *count; s++)
        for (int64_t e = 0; e < elements; e++) {
            int64_t height = 0;

            if (side[e] != s || piece[e] >= 0)
                continue;

            /* A search over the neighbours on the same side. */
            piece[stack[height++] = e] = pieces;
            while (height > 0) {
                const int64_t from = stack[--height];
                for (int64_t k = graph->start[from]; k < graph->start[from + 1]; k++) {
                    const int64_t to = graph->index[k];
                    if (side[to] == s && piece[to] < 0)
                        piece[stack[height++] = to] = pieces;
                }
            }

            pieces++;
        }

    for (int64_t e = 0; e < elements; e++)
        side[e] = piece[e];
    *count = pieces;
    sp_pool_free(&scratch);
    return SP_OK;
}
