/* The connected pieces of a mesh, by size and after a cut. */
#include "mesh/cut.h"

#include <stdlib.h>

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
    SP_PASS(sp_mesh_components(context, mesh, label, count));

    sp_pool pool = {0};
    piece_size *size = sp_pool_new(&pool, *count, sizeof *size);
    int64_t *rank = sp_pool_raw(&pool, *count, sizeof *rank);

    if (pool.failed) {
        sp_pool_free(&pool);
        return sp_fail_memory(context);
    }

    for (int64_t p = 0; p < *count; p++)
        size[p].piece = p;
    for (int64_t e = 0; e < elements; e++)
        size[label[e]].elements++;

    /* Pieces get their rank by size. */
    qsort(size, (size_t)*count, sizeof *size, compare_sizes);
    for (int64_t p = 0; p < *count; p++)
        rank[size[p].piece] = p;
    for (int64_t e = 0; e < elements; e++)
        label[e] = rank[label[e]];
    sp_pool_free(&pool);
    return SP_OK;
}

/* The number of pieces (label [elements], below `pieces`) without a fixed vertex. */
static int count_free_pieces(sp_context *context, const sp_mesh *mesh, const int64_t *label, int64_t pieces,
                             int64_t *count)
{
    sp_pool pool = {0};
    uint8_t *fixed = sp_pool_new(&pool, mesh->vertex_count, 1), *piece_fixed = sp_pool_new(&pool, pieces, 1);
    *count = pieces;

    if (pool.failed) {
        sp_pool_free(&pool);
        return sp_fail_memory(context);
    }

    for (int64_t i = 0; i < mesh->fixed_count; i++)
        fixed[mesh->fixed[i]] = 1;

    /* A piece is not free from its first fixed vertex on. */
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            if (fixed[node[a]] && !piece_fixed[label[e]]) {
                piece_fixed[label[e]] = 1;
                --*count;
            }
    }
    sp_pool_free(&pool);
    return SP_OK;
}

int sp_mesh_count_cut(sp_context *context, const sp_mesh *mesh, const sp_mesh *cut, const int64_t *origin,
                      sp_cut_counts *counts)
{
    sp_pool pool = {0};
    int64_t *label = sp_pool_raw(&pool, sp_mesh_element_count(mesh), sizeof *label);
    int status = sp_allocated(context, label);

    *counts = (sp_cut_counts){.copies = cut->vertex_count - mesh->vertex_count};
    /* Copies of one vertex are contiguous. */
    for (int64_t v = mesh->vertex_count; v < cut->vertex_count; v++)
        counts->doubled += v == mesh->vertex_count || origin[v] != origin[v - 1];

    if (status == SP_OK)
        status = sp_mesh_components(context, mesh, label, &counts->pieces_before);
    if (status == SP_OK)
        status = sp_mesh_components(context, cut, label, &counts->pieces);
    if (status == SP_OK)
        status = count_free_pieces(context, cut, label, counts->pieces, &counts->free_pieces);
    sp_pool_free(&pool);
    return status;
}
