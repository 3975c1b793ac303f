#include "assembly/fe_space.h"

#include <stdlib.h>
#include <string.h>

static void row_sums(const sp_element_class *class, double *mass)
{
    const int nodes = class->nodes;
    for (int a = 0; a < nodes; a++) {
        mass[a] = 0;
        for (int b = 0; b < nodes; b++)
            mass[a] += class->mass[a * nodes + b];
    }
}

void sp_element_class_lumped(const sp_element_class *class, double *mass)
{
    const int nodes = class->nodes;

    double total = 0, diagonal = 0;
    row_sums(class, mass);

    /* Row sums of elements of second order may be negative: they get the diagonal, scaled to the mass (HRZ lumping). */
    for (int a = 0; a < nodes; a++) {
        total += mass[a];
        diagonal += class->mass[a * (nodes + 1)];
    }

    if (nodes == sp_element_types[class->type].corners)
        return;

    for (int a = 0; a < nodes; a++)
        mass[a] = total / diagonal * class->mass[a * (nodes + 1)];
}

void sp_fe_space_vertex_mass(const sp_fe_space *space, bool lumped, double *mass)
{
    const sp_mesh *mesh = space->mesh;
    int64_t elements = sp_mesh_element_count(mesh);

    memset(mass, 0, (size_t)mesh->vertex_count * sizeof *mass);
    for (int64_t e = 0; e < elements; e++) {
        int nodes;
        double own[SP_ELEMENT_NODES];
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        const sp_element_class *class = &space->classes[space->element_class[e]];

        /* Row sums of the consistent mass are its product with a unit translation. */
        if (lumped)
            sp_element_class_lumped(class, own);
        else
            row_sums(class, own);
        for (int a = 0; a < nodes; a++)
            mass[node[a]] += own[a];
    }
}

/* Computes ρ ∫ N_a N_c dV for all pairs of vertices a and c that share an element. The entry of a pair is at start[a] +
 * k, where k is the position of c's first free component in a row of a; all other entries are 0. Only a ninth of the
 * entries of the pattern is written, so that they stay in the cache. Returns NULL if out of memory. */
static double *pair_masses(const sp_context *context, const sp_fe_space *space, sp_pool *pool, int64_t **start)
{
    const sp_mesh *mesh = space->mesh;
    int64_t *first = *start = sp_pool_new(pool, mesh->vertex_count + 1, sizeof *first);
    if (!first)
        return NULL;

    /* All rows of a vertex have the same length. */
    for (int64_t row = 0; row < space->dof_count; row++)
        first[space->free[row] / 3 + 1] = space->pattern.start[row + 1] - space->pattern.start[row];

    for (int64_t v = 0; v < mesh->vertex_count; v++)
        first[v + 1] += first[v];

    double *pairs = sp_pool_new(pool, first[mesh->vertex_count], sizeof *pairs);
    if (!pairs)
        return NULL;

    /* Only pairs of vertices neither of which is fixed; blocks of one color share no vertex. */
    for (int64_t color = 0; color < space->color_count; color++)
#pragma omp parallel for schedule(static) num_threads(context->threads)
        for (int64_t part = space->color_parts[color]; part < space->color_parts[color + 1]; part++)
            for (int64_t b = space->part_start[part]; b < space->part_start[part + 1]; b++)
                for (int l = 0; l < space->batches[b].count; l++) {
                    const int64_t element = space->batches[b].element[l];
                    int nodes;
                    const int64_t *node = sp_mesh_nodes(mesh, element, &nodes);
                    const double *mass = space->classes[space->element_class[element]].mass;
                    const int32_t *offset = space->offset + space->offset_start[element];

                    for (int a = 0; a < nodes; a++)
                        for (int c = 0; c < nodes; c++)
                            if (first[node[a]] < first[node[a] + 1] && first[node[c]] < first[node[c] + 1])
                                pairs[first[node[a]] + offset[a * nodes + c]] += mass[a * nodes + c];
                }
    return pairs;
}

/* One row of the consistent mass matrix over the pattern; returns its length. */
static int64_t mass_row(const sp_fe_space *space, const double *pairs, const int64_t *start, int64_t row, double *value)
{
    const int64_t *column = space->pattern.index + space->pattern.start[row],
                  length = space->pattern.start[row + 1] - space->pattern.start[row];

    const int64_t vertex = space->free[row] / 3, component = space->free[row] - 3 * vertex;

    /* A vertex has one mass for its three components: the entries of other components are 0. */
    for (int64_t k = 0, last = -1, first = 0; k < length; k++) {
        const int64_t of = space->free[column[k]] / 3;
        if (of != last)
            first = k;
        last = of;
        value[k] = space->free[column[k]] - 3 * of == component ? pairs[start[vertex] + first] : 0;
    }
    return length;
}

static int add_lumped(sp_context *context, const sp_fe_space *space, sp_sparse *matrix)
{
    double *mass = sp_memory_new((size_t)space->mesh->vertex_count * sizeof *mass);
    SP_PASS(sp_allocated(context, mass));

    sp_fe_space_vertex_mass(space, true, mass);
    /* Only the diagonal. */
    for (int64_t row = 0; row < matrix->order; row++)
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            if (matrix->index[k] == row)
                matrix->value[k] += mass[space->free[row] / 3];
    free(mass);
    return SP_OK;
}

int sp_fe_space_mass(sp_context *context, const sp_fe_space *space, bool lumped, sp_sparse *matrix)
{
    if (lumped)
        return add_lumped(context, space, matrix);

    sp_pool scratch = {0};
    int64_t *start;
    const double *pairs = pair_masses(context, space, &scratch, &start);
    double *value = sp_pool_raw(&scratch, 3 * space->mesh->vertex_count, sizeof *value);
    int status = sp_allocated(context, !scratch.failed);

    for (int64_t row = 0; row < matrix->order && status == SP_OK; row++) {
        const int64_t length = mass_row(space, pairs, start, row, value);
        for (int64_t k = 0; k < length; k++)
            matrix->value[matrix->start[row] + k] += value[k];
    }
    sp_pool_free(&scratch);
    return status;
}

static int consistent_compressed(sp_context *context, const sp_fe_space *space, sp_sparse *matrix)
{
    const int64_t n = space->dof_count, most = space->pattern.start[n];
    sp_pool scratch = {0};

    int64_t *start, kept = 0;
    const double *pairs = pair_masses(context, space, &scratch, &start);
    double *value = sp_pool_raw(&scratch, 3 * space->mesh->vertex_count, sizeof *value);

    /* Arrays of the size of the pattern, though a third is filled: pages that are never written use no memory. */
    *matrix = (sp_sparse){.order = n};
    matrix->start = sp_pool_raw(&matrix->pool, n + 1, sizeof *matrix->start);
    matrix->index = sp_pool_raw(&matrix->pool, most, sizeof *matrix->index);
    matrix->value = sp_pool_raw(&matrix->pool, most, sizeof *matrix->value);

    int status = sp_allocated(context, !scratch.failed && !matrix->pool.failed);

    for (int64_t row = 0; row < n && status == SP_OK; row++) {
        const int64_t length = mass_row(space, pairs, start, row, value);
        /* Entries of other components, which are 0, are left out. */
        matrix->start[row] = kept;
        for (int64_t k = 0; k < length; k++)
            if (value[k] != 0) {
                matrix->index[kept] = space->pattern.index[space->pattern.start[row] + k];
                matrix->value[kept++] = value[k];
            }
    }

    sp_pool_free(&scratch);
    if (status == SP_OK) {
        matrix->start[n] = kept;
        status = sp_sparse_keep_third(context, matrix);
    }
    if (status != SP_OK)
        sp_sparse_free(matrix);
    return status;
}

int sp_fe_space_mass_compressed(sp_context *context, sp_fe_space *space, bool lumped, sp_sparse *matrix)
{
    sp_sparse full = {0};
    int status;
    SP_TRY(sp_fe_space_pattern(context, space));
    if (!lumped)
        return consistent_compressed(context, space, matrix);

    SP_TRY(sp_fe_space_matrix(context, space, &full));
    SP_TRY(add_lumped(context, space, &full));
    status = sp_sparse_compress(context, &full, matrix);
done:
    sp_sparse_free(&full);
    return status;
}

/* Blocks of one color share no vertex. */
void sp_fe_space_mass_times(const sp_context *context, const sp_fe_space *space, int64_t width, const double *fields,
                            double *product)
{
    for (int64_t color = 0; color < space->color_count; color++)
#pragma omp parallel for schedule(static) num_threads(context->threads)
        for (int64_t part = space->color_parts[color]; part < space->color_parts[color + 1]; part++)
            for (int64_t b = space->part_start[part]; b < space->part_start[part + 1]; b++)
                for (int l = 0; l < space->batches[b].count; l++) {
                    int64_t element = space->batches[b].element[l];
                    int nodes;
                    const int64_t *node = sp_mesh_nodes(space->mesh, element, &nodes);
                    const double *mass = space->classes[space->element_class[element]].mass;

                    for (int i = 0; i < nodes; i++)
                        for (int j = 0; j < nodes; j++) {
                            const double m = mass[i * nodes + j], *from = fields + node[j] * width;
                            double *to = product + node[i] * width;
                            for (int64_t c = 0; c < width; c++)
                                to[c] += m * from[c];
                        }
                }
}
