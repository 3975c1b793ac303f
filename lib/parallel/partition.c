#include "parallel/partition.h"

#include "assembly/elastic.h"
#include "basis/modes.h"
#include "geometry/morton.h"
#include "mesh/cut.h"

#include <math.h>
#include <string.h>

enum { EVERY_AXIS = 7 };

/* Sets the fixed components of each vertex; all of a vertex that no element uses. */
static void find_axes(const sp_mesh *mesh, uint8_t *axes)
{
    memset(axes, EVERY_AXIS, (size_t)mesh->vertex_count);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            axes[node[a]] = 0;
    }

    for (int64_t i = 0; i < mesh->fixed_count; i++)
        axes[mesh->fixed[i]] |= mesh->fixed_axes[i];
}

/* Numbers the vertices with a free component along the curve. */
static int number_vertices(sp_context *context, const sp_mesh *mesh, sp_partition *p)
{
    sp_pool scratch = {0};
    const sp_morton *along = sp_morton_order(&scratch, mesh->vertex_count, mesh->vertices);

    if (!along) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    for (int64_t k = 0; k < mesh->vertex_count; k++) {
        const int64_t v = along[k].index;
        p->number[v] = -1;
        if (p->axes[v] == EVERY_AXIS)
            continue;
        p->number[v] = p->total;
        p->vertex[p->total++] = v;
        p->dof_count += 3 - __builtin_popcount(p->axes[v]);
    }
    sp_pool_free(&scratch);
    return SP_OK;
}

int sp_partition_new(sp_context *context, const sp_mesh *mesh, int rank, int ranks, sp_partition *p)
{
    *p = (sp_partition){.rank = rank, .ranks = ranks};
    p->vertex = sp_pool_raw(&p->pool, mesh->vertex_count, sizeof *p->vertex);
    p->number = sp_pool_raw(&p->pool, mesh->vertex_count, sizeof *p->number);
    p->axes = sp_pool_raw(&p->pool, mesh->vertex_count, sizeof *p->axes);
    SP_PASS(sp_allocated(context, !p->pool.failed));

    find_axes(mesh, p->axes);
    SP_PASS(number_vertices(context, mesh, p));

    if (p->total == 0)
        return sp_fail(context, SP_INPUT, "no degree of freedom is free");
    if (ranks > p->total)
        return sp_fail(context, SP_USAGE, "%d ranks share the %lld free vertices of the mesh: run fewer", ranks,
                       (long long)p->total);

    /* Equal parts of the curve: ranks have neighbouring vertices. */
    p->first = p->total * rank / ranks;
    p->count = p->total * (rank + 1) / ranks - p->first;
    return SP_OK;
}

void sp_partition_free(sp_partition *partition)
{
    sp_pool_free(&partition->pool);
}

static bool is_own(const sp_partition *p, int64_t vertex)
{
    return p->number[vertex] >= p->first && p->number[vertex] < p->first + p->count;
}

int sp_partition_part(sp_context *context, const sp_mesh *mesh, const sp_partition *partition, sp_pool *pool,
                      sp_mesh *part, int64_t **origin)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    sp_pool scratch = {0};
    bool *keep = sp_pool_new(&scratch, elements, sizeof *keep);
    sp_mesh bare = *mesh; /* a shallow copy */
    bare.surface = (sp_embedded_surface){0};
    bare.set_count = 0;
    int status = sp_allocated(context, keep);

    /* Every element with an own vertex: the rows of own vertices are complete. */
    for (int64_t e = 0; e < elements && status == SP_OK; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            keep[e] |= is_own(partition, node[a]);
    }

    if (status == SP_OK)
        status = sp_mesh_keep(context, &bare, keep, pool, part, origin);
    sp_pool_free(&scratch);
    return status;
}

/* ---- rows ---- */

/* One of the own vertices while its rows are copied. */
typedef struct row_source {
    const sp_fe_space *space;
    const sp_partition *partition;
    const int64_t *origin;
    const sp_sparse *K, *M;
} row_source;

/* The row of the first free component of vertex v of the part. */
static int64_t first_row(const sp_fe_space *space, int64_t v)
{
    int c = 0;
    while (space->dof[3 * v + c] < 0)
        c++;
    return space->dof[3 * v + c];
}

/* The number of vertices in the row of v; with `column` also their numbers. */
static int64_t list_columns(const row_source *s, int64_t v, int32_t *column)
{
    const sp_sparse *K = s->K;
    const int64_t row = first_row(s->space, v);
    int64_t count = 0, last = -1;

    /* The columns of a row are ordered, so that the components of a vertex follow each other. */
    for (int64_t k = K->start[row]; k < K->start[row + 1]; k++) {
        const int64_t w = s->space->free[K->index[k]] / 3;
        if (w == last)
            continue;
        last = w;
        if (column)
            column[count] = (int32_t)s->partition->number[s->origin[w]];
        count++;
    }
    return count;
}

/* The blocks of one row of K, component c of vertex v; the columns of K have the order of the blocks. */
static double copy_stiffness(const row_source *s, int64_t row, int c, double *block)
{
    const sp_sparse *K = s->K;
    int64_t at = -1, last = -1;
    double diagonal = 0;

    /* Columns ascend, so that another vertex opens the next block. */
    for (int64_t k = K->start[row]; k < K->start[row + 1]; k++) {
        const int64_t dof = s->space->free[K->index[k]];
        at += dof / 3 != last;
        last = dof / 3;
        block[9 * at + 3 * c + dof % 3] = K->value[k];
        if (K->index[k] == row)
            diagonal = K->value[k];
    }
    return diagonal;
}

/* The same of M, whose entries are some of K's. */
static double copy_mass(const row_source *s, int64_t row, int c, double *mass)
{
    const sp_sparse *K = s->K, *M = s->M;
    int64_t at = -1, last = -1, m = M->start[row];
    double diagonal = 0;

    for (int64_t k = K->start[row]; k < K->start[row + 1]; k++) {
        const int64_t w = s->space->free[K->index[k]] / 3;
        at += w != last;
        last = w;

        if (m == M->start[row + 1] || M->index[m] != K->index[k])
            continue;
        if (M->index[m] == row)
            diagonal = M->value[m];
        mass[3 * at + c] += M->value[m++];
    }
    return diagonal;
}

/* The rows of own vertex i, which is v in the part. */
static void copy_rows(const row_source *s, int64_t v, int64_t i, sp_block_rows *rows)
{
    const int64_t entries = rows->start[i + 1] - rows->start[i];
    int32_t *column = rows->column + rows->start[i];
    double *block = rows->stiffness + 9 * rows->start[i], *mass = rows->mass + 3 * rows->start[i], size = 0;

    memset(block, 0, (size_t)(9 * entries) * sizeof *block);
    memset(mass, 0, (size_t)(3 * entries) * sizeof *mass);
    list_columns(s, v, column);

    for (int c = 0; c < 3; c++) {
        const int64_t row = s->space->dof[3 * v + c];
        if (row < 0)
            continue;
        const double diagonal = copy_stiffness(s, row, c, block);
        size = fmax(size, diagonal);
        rows->trace[0] += diagonal;
        rows->trace[1] += copy_mass(s, row, c, mass);
    }

    /* A fixed component has the largest diagonal entry of its vertex on the diagonal, by which the block stays
     * regular. */
    for (int64_t k = 0; k < entries; k++)
        for (int c = 0; c < 3; c++)
            if (column[k] == rows->first + i && s->space->dof[3 * v + c] < 0)
                block[9 * k + 4 * c] = size;
}

/* own [count]: the vertex of the part that each own vertex is. */
static void find_own(const sp_partition *p, const sp_mesh *part, const int64_t *origin, int64_t *own)
{
    for (int64_t v = 0; v < part->vertex_count; v++)
        if (is_own(p, origin[v]))
            own[p->number[origin[v]] - p->first] = v;
}

static int fill_rows(sp_context *context, const row_source *s, sp_block_rows *rows)
{
    sp_pool scratch = {0};
    int64_t *own = sp_pool_raw(&scratch, rows->count, sizeof *own);

    rows->start = sp_pool_new(&rows->pool, rows->count + 1, sizeof *rows->start);
    if (!own || !rows->start) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    find_own(s->partition, s->space->mesh, s->origin, own);
    for (int64_t i = 0; i < rows->count; i++)
        rows->start[i + 1] = rows->start[i] + list_columns(s, own[i], NULL);

    const int64_t entries = rows->start[rows->count];
    rows->column = sp_pool_raw(&rows->pool, entries, sizeof *rows->column);
    rows->stiffness = sp_pool_raw(&rows->pool, entries, 9 * sizeof *rows->stiffness);
    rows->mass = sp_pool_raw(&rows->pool, entries, 3 * sizeof *rows->mass);

    int status = sp_allocated(context, !rows->pool.failed);
    for (int64_t i = 0; i < rows->count && status == SP_OK; i++)
        copy_rows(s, own[i], i, rows);
    sp_pool_free(&scratch);
    return status;
}

/* The combinations `mix` of the rigid motions at the own vertices. */
static void fill_motions(const sp_mesh *mesh, const sp_partition *p, const sp_rigid_frame *frame, int64_t count,
                         const double *mix, double *columns)
{
    for (int64_t i = 0; i < 3 * p->count; i++) {
        const int64_t v = p->vertex[p->first + i / 3];
        const int c = (int)(i % 3);
        double motion[6];

        sp_rigid_motion_at(frame, mesh->vertices + 3 * v, c, motion);
        for (int64_t m = 0; m < count; m++) {
            double sum = 0;
            for (int j = 0; j < 6; j++)
                sum += mix[6 * m + j] * motion[j];
            columns[3 * p->count * m + i] = p->axes[v] >> c & 1 ? 0 : sum;
        }
    }
}

static int find_motions(sp_context *context, const sp_mesh *mesh, const sp_partition *p, sp_block_rows *rows)
{
    double each[36] = {0}, mix[36];
    sp_rigid_frame frame;

    /* The identity gives the six rigid motions, for multigrid; `mix` gives those that the supports leave free. */
    for (int m = 0; m < 6; m++)
        each[7 * m] = 1;
    SP_PASS(sp_rigid_combinations(context, mesh, &frame, mix, &rows->free_count));

    rows->rigid = sp_pool_raw(&rows->pool, 18 * p->count, sizeof *rows->rigid);
    rows->free_motion = sp_pool_raw(&rows->pool, 3 * p->count * rows->free_count, sizeof *rows->free_motion);
    SP_PASS(sp_allocated(context, !rows->pool.failed));

    fill_motions(mesh, p, &frame, 6, each, rows->rigid);
    fill_motions(mesh, p, &frame, rows->free_count, mix, rows->free_motion);
    return SP_OK;
}

int sp_block_rows_new(sp_context *context, const sp_mesh *mesh, const sp_partition *partition, sp_fe_space *part,
                      const int64_t *origin, bool lumped, sp_block_rows *rows)
{
    *rows = (sp_block_rows){.total = partition->total, .first = partition->first, .count = partition->count};
    sp_sparse K = {0}, M = {0};
    int status;
    SP_TRY(find_motions(context, mesh, partition, rows));
    SP_TRY(sp_elastic_stiffness(context, part, &K));
    SP_TRY(sp_fe_space_mass_compressed(context, part, lumped, &M));

    const row_source source = {.space = part, .partition = partition, .origin = origin, .K = &K, .M = &M};
    SP_TRY(fill_rows(context, &source, rows));
done:
    sp_sparse_free(&K);
    sp_sparse_free(&M);
    return status;
}

void sp_block_rows_shift(sp_block_rows *rows, double shift)
{
    for (int64_t k = 0; k < rows->start[rows->count]; k++)
        for (int c = 0; c < 3; c++)
            rows->stiffness[9 * k + 4 * c] -= shift * rows->mass[3 * k + c];
}

void sp_block_rows_free(sp_block_rows *rows)
{
    sp_pool_free(&rows->pool);
}

void sp_partition_own(const sp_partition *p, const sp_mesh *part, const int64_t *origin, const double *field,
                      double *own)
{
    for (int64_t v = 0; v < part->vertex_count; v++)
        if (is_own(p, origin[v]))
            for (int c = 0; c < 3; c++)
                own[3 * (p->number[origin[v]] - p->first) + c] = p->axes[origin[v]] >> c & 1 ? 0 : field[3 * v + c];
}
