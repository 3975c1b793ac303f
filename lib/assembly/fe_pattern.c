/* The sparse pattern of matrices over the free degrees of freedom. */
#include "assembly/fe_space.h"

#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

/* Lists the vertices that share an element with each vertex, sorted, the vertex itself included. */
static int vertex_neighbours(sp_context *context, const sp_mesh *mesh, sp_pool *pool, int64_t **start,
                             int64_t **neighbour)
{
    int64_t vertices = mesh->vertex_count, elements = sp_mesh_element_count(mesh);

    int64_t *first = sp_pool_new(pool, vertices + 1, sizeof *first),
            *user = sp_pool_raw(pool, sp_mesh_node_count(mesh), sizeof *user);
    *start = sp_pool_new(pool, vertices + 1, sizeof **start);
    SP_PASS(sp_allocated(context, !pool->failed));

    /* The elements of each vertex, by a counting sort. */
    int nodes;
    for (int64_t e = 0; e < elements; e++) {
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            first[node[a] + 1]++;
    }

    for (int64_t v = 0; v < vertices; v++)
        first[v + 1] += first[v];
    int64_t *fill = sp_pool_copy(pool, first, vertices + 1, sizeof *fill);
    SP_PASS(sp_allocated(context, fill));

    for (int64_t e = 0; e < elements; e++) {
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            user[fill[node[a]]++] = e;
    }

    /* A bound of the number of neighbours, with those that several elements share counted several times. */
    int64_t bound = 0;
    for (int64_t v = 0; v < vertices; v++)
        for (int64_t k = first[v]; k < first[v + 1]; k++) {
            sp_mesh_nodes(mesh, user[k], &nodes);
            bound += nodes;
        }

    *neighbour = sp_pool_raw(pool, bound, sizeof **neighbour);
    SP_PASS(sp_allocated(context, *neighbour));

    /* seen[w] = v + 1 if w was found for v. */
    int64_t *seen = fill, at = 0;
    memset(seen, 0, (size_t)(vertices + 1) * sizeof *seen);

    for (int64_t v = 0; v < vertices; v++) {
        (*start)[v] = at;
        for (int64_t k = first[v]; k < first[v + 1]; k++) {
            const int64_t *node = sp_mesh_nodes(mesh, user[k], &nodes);
            for (int a = 0; a < nodes; a++)
                if (seen[node[a]] != v + 1) {
                    seen[node[a]] = v + 1;
                    (*neighbour)[at++] = node[a];
                }
        }

        /* Columns of the pattern increase. */
        qsort(*neighbour + (*start)[v], (size_t)(at - (*start)[v]), sizeof **neighbour, sp_compare_integers);
    }
    (*start)[vertices] = at;
    return SP_OK;
}

/* Number of free components of a vertex below component c (3: all). */
static int free_below(const sp_fe_space *space, int64_t vertex, int c)
{
    int count = 0;
    for (int i = 0; i < c; i++)
        count += space->dof[3 * vertex + i] >= 0;
    return count;
}

/* Builds the pattern by nodes, unless it has too many columns. */
static int pattern_by_nodes(sp_context *context, sp_fe_space *space, const int64_t *start, const int64_t *neighbour)
{
    const int64_t vertices = space->mesh->vertex_count;
    int64_t at = 0;
    if (space->dof_count > SP_NODES_MOST)
        return SP_OK;

    sp_nodes *nodes = sp_pool_new(&space->pool, 1, sizeof *nodes);
    SP_PASS(sp_allocated(context, nodes));
    nodes->row = sp_pool_raw(&space->pool, vertices + 1, sizeof *nodes->row);
    nodes->start = sp_pool_raw(&space->pool, vertices + 1, sizeof *nodes->start);
    nodes->index = sp_pool_raw(&space->pool, start[vertices], sizeof *nodes->index);
    SP_PASS(sp_allocated(context, !space->pool.failed));

    for (int64_t v = 0, row = 0; v < vertices; v++) {
        const int rows = free_below(space, v, 3);
        if (rows == 0)
            continue;
        nodes->row[nodes->count] = row;
        nodes->start[nodes->count++] = at;
        row += rows;

        /* A vertex is named by its first free degree of freedom and the number of these. */
        for (int64_t k = start[v]; k < start[v + 1]; k++) {
            const int64_t *dof = space->dof + 3 * neighbour[k];
            const int width = free_below(space, neighbour[k], 3);
            if (width > 0)
                nodes->index[at++] = (int32_t)(4 * (dof[0] >= 0 ? dof[0] : dof[1] >= 0 ? dof[1] : dof[2]) + width);
        }
    }

    nodes->row[nodes->count] = space->dof_count;
    nodes->start[nodes->count] = at;
    space->pattern.nodes = nodes;
    return SP_OK;
}

/* Sets the begin of each row, and the position of each neighbour's entries in the rows of a vertex. */
static void start_rows(const sp_fe_space *space, const int64_t *start, const int64_t *neighbour, int64_t *row_start,
                       int32_t *place)
{
    int64_t entries = 0;
    for (int64_t v = 0; v < space->mesh->vertex_count; v++) {
        int32_t length = 0;
        /* The rows of a vertex have the same columns: the free components of its neighbours. */
        for (int64_t k = start[v]; k < start[v + 1]; k++) {
            place[k] = length;
            length += free_below(space, neighbour[k], 3);
        }

        for (int i = 0; i < 3; i++)
            if (space->dof[3 * v + i] >= 0) {
                row_start[space->dof[3 * v + i]] = entries;
                entries += length;
            }
    }
    row_start[space->dof_count] = entries;
}

static void fill_columns(const sp_context *context, const sp_fe_space *space, const int64_t *start,
                         const int64_t *neighbour, const int64_t *row_start, int64_t *index)
{
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t v = 0; v < space->mesh->vertex_count; v++)
        for (int i = 0; i < 3; i++) {
            int64_t row = space->dof[3 * v + i];
            if (row < 0)
                continue;

            int64_t at = row_start[row];
            for (int64_t k = start[v]; k < start[v + 1]; k++)
                for (int j = 0; j < 3; j++)
                    if (space->dof[3 * neighbour[k] + j] >= 0)
                        index[at++] = space->dof[3 * neighbour[k] + j];
        }
}

/* Sets the entry of every node in the rows of every node of its element. */
static void fill_offsets(const sp_context *context, const sp_fe_space *space, const int64_t *start,
                         const int64_t *neighbour, const int32_t *place)
{
    const sp_mesh *mesh = space->mesh;
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        int32_t *offset = space->offset + space->offset_start[e];

        for (int a = 0; a < nodes; a++)
            for (int c = 0; c < nodes; c++) {
                const int64_t *row = neighbour + start[node[a]];
                const int64_t *found = bsearch(&node[c], row, (size_t)(start[node[a] + 1] - start[node[a]]),
                                               sizeof *row, sp_compare_integers);
                offset[a * nodes + c] = place[found - neighbour];
            }
    }
}

int sp_fe_space_pattern(sp_context *context, sp_fe_space *space)
{
    if (space->pattern.start)
        return SP_OK;

    const sp_mesh *mesh = space->mesh;
    sp_pool scratch = {0};
    int64_t *start, *neighbour, elements = sp_mesh_element_count(mesh);
    int status;

    SP_TRY(vertex_neighbours(context, mesh, &scratch, &start, &neighbour));
    /* The position of each neighbour in the rows of a vertex. */
    int32_t *place = sp_pool_raw(&scratch, start[mesh->vertex_count], sizeof *place);

    int64_t *row_start = sp_pool_raw(&space->pool, space->dof_count + 1, sizeof *row_start);
    space->offset_start = sp_pool_raw(&space->pool, elements + 1, sizeof *space->offset_start);
    SP_TRY(sp_allocated(context, !scratch.failed && !space->pool.failed));
    start_rows(space, start, neighbour, row_start, place);

    int64_t *index = sp_pool_raw(&space->pool, row_start[space->dof_count], sizeof *index);
    /* An element has an offset for each pair of its nodes. */
    space->offset_start[0] = 0;
    for (int64_t e = 0; e < elements; e++) {
        int nodes;
        sp_mesh_nodes(mesh, e, &nodes);
        space->offset_start[e + 1] = space->offset_start[e] + nodes * nodes;
    }

    space->offset = sp_pool_raw(&space->pool, space->offset_start[elements], sizeof *space->offset);
    SP_TRY(sp_allocated(context, !space->pool.failed));

    fill_columns(context, space, start, neighbour, row_start, index);
    fill_offsets(context, space, start, neighbour, place);
    SP_TRY(pattern_by_nodes(context, space, start, neighbour));

    space->pattern.order = space->dof_count;
    space->pattern.start = row_start;
    space->pattern.index = index;
done:
    sp_pool_free(&scratch);
    return status;
}

int sp_fe_space_matrix(sp_context *context, const sp_fe_space *space, sp_sparse *matrix)
{
    *matrix = space->pattern;
    matrix->pool = (sp_pool){0};
    matrix->value = sp_pool_new(&matrix->pool, matrix->start[matrix->order], sizeof *matrix->value);
    return sp_allocated(context, matrix->value);
}

/* ---- vectors ---- */
