#include "reduced/mass.h"

#include "base/lanes.h"
#include "linear/gram.h"

#include <string.h>

/* product += m W over the nodes of one element, for `count` consecutive numbers, at most eight. */
SP_INLINE void add_lanes(int nodes, const int64_t *node, const double *mass, int64_t width, int64_t count,
                         const double *W, double *product)
{
    const size_t size = (size_t)count * sizeof *W;
    sp_lanes x[SP_ELEMENT_NODES];

    for (int b = 0; b < nodes; b++) {
        x[b] = (sp_lanes){0};
        memcpy(&x[b], W + node[b] * width, size);
    }

    for (int a = 0; a < nodes; a++) {
        sp_lanes sum = {0}, old = {0};
        for (int b = 0; b < nodes; b++)
            sum += x[b] * mass[a * nodes + b];
        memcpy(&old, product + node[a] * width, size);
        old += sum;
        memcpy(product + node[a] * width, &old, size);
    }
}

/* The same for all coordinates: the three rows of a vertex are contiguous, `width` numbers, and so are those of its
 * displacements. */
SP_INLINE void add_width(int nodes, const int64_t *node, const double *mass, int64_t width, const double *W,
                         double *product)
{
    int64_t at = 0;
    for (; at + SP_LANES <= width; at += SP_LANES)
        add_lanes(nodes, node, mass, width, SP_LANES, W + at, product + at);
    if (at < width)
        add_lanes(nodes, node, mass, width, width - at, W + at, product + at);
}

SP_CLONES static void add_corners(int nodes, const int64_t *node, const double *mass, int64_t width, const double *W,
                                  double *product)
{
    if (nodes == 8)
        add_width(8, node, mass, width, W, product);
    else if (nodes == 4)
        add_width(4, node, mass, width, W, product);
    else
        add_width(nodes, node, mass, width, W, product);
}

/* The same for the lumped mass, one vertex at a time; mass [vertices]. */
static void lumped_times(const sp_fe_space *space, int64_t region, int64_t r, const double *W, double *mass,
                         double *product)
{
    const sp_mesh *mesh = space->mesh;

    /* The mass of a vertex is the sum of the row sums of its elements. */
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        double own[SP_ELEMENT_NODES];
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        if (region >= 0 && mesh->region[e] != region)
            continue;

        sp_element_class_lumped(&space->classes[space->element_class[e]], own);
        for (int a = 0; a < nodes; a++)
            mass[node[a]] += own[a];
    }

    /* The three rows of a vertex have 3 r numbers. */
    for (int64_t i = 0; i < 3 * mesh->vertex_count * r; i++)
        product[i] += mass[i / (3 * r)] * W[i];
}

/* product [3·vertices, r, row major] += M W */
static void mass_times(const sp_context *context, const sp_fe_space *space, int64_t region, int64_t r, const double *W,
                       double *product)
{
    const sp_mesh *mesh = space->mesh;
#pragma omp parallel num_threads(context->threads) if (mesh->vertex_count * r > 1 << 17)
    SP_EACH_BATCH(space, b)
    {
        const sp_batch *batch = &space->batches[b];
        for (int l = 0; l < batch->count; l++) {
            int nodes;
            const int64_t e = batch->element[l], *node = sp_mesh_nodes(mesh, e, &nodes);
            if (region < 0 || mesh->region[e] == region)
                add_corners(nodes, node, space->classes[space->element_class[e]].mass, 3 * r, W, product);
        }
    }
}

int sp_reduced_mass_of_region(sp_context *context, const sp_fe_space *space, bool lumped, int64_t region, int64_t r,
                              const double *U, const double *W, double *mass, double *gravity)
{
    enum { ROWS = 3 * 256 }; /* at a time, in columns */
    const int64_t rows = 3 * space->mesh->vertex_count;
    sp_pool scratch = {0};
    double *product = sp_pool_new(&scratch, rows * r, sizeof *product),
           *block = sp_pool_raw(&scratch, ROWS * r, sizeof *block);
    double *diagonal = lumped ? sp_pool_new(&scratch, space->mesh->vertex_count, sizeof *diagonal) : NULL;

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    /* M U */
    if (lumped)
        lumped_times(space, region, r, W, diagonal, product);
    else
        mass_times(context, space, region, r, W, product);

    /* Uᵀ(M U) is summed in blocks of rows, which are transposed because sums run down the columns. */
    memset(mass, 0, (size_t)(r * r) * sizeof *mass);
    if (gravity)
        memset(gravity, 0, (size_t)(3 * r) * sizeof *gravity);
    for (int64_t first = 0; first < rows; first += ROWS) {
        const int64_t count = rows - first < ROWS ? rows - first : ROWS;
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < r; j++)
                block[j * ROWS + i] = product[(first + i) * r + j];

        sp_gram_add_two(count, r, U + first, rows, block, ROWS, mass, r);
        if (!gravity)
            continue;

        /* UᵀM e is the sum over the rows of one component */
        for (int64_t j = 0; j < r; j++)
            for (int64_t i = 0; i < count; i += 3)
                for (int axis = 0; axis < 3; axis++)
                    gravity[3 * j + axis] += block[j * ROWS + i + axis];
    }

    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < j; i++)
            mass[i * r + j] = mass[j * r + i];
    sp_pool_free(&scratch);
    return SP_OK;
}

double *sp_reduced_rows(sp_pool *pool, int64_t rows, int64_t r, const double *U)
{
    double *W = sp_pool_raw(pool, rows * r + SP_LANES, sizeof *W);
    if (!W)
        return NULL;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < r; j++)
            W[i * r + j] = U[j * rows + i];
    memset(W + rows * r, 0, SP_LANES * sizeof *W);
    return W;
}

int sp_reduced_mass(sp_context *context, const sp_fe_space *space, bool lumped, int64_t r, const double *U,
                    double *mass, double *gravity)
{
    sp_pool scratch = {0};
    const double *W = sp_reduced_rows(&scratch, 3 * space->mesh->vertex_count, r, U);
    int status =
        W ? sp_reduced_mass_of_region(context, space, lumped, -1, r, U, W, mass, gravity) : sp_fail_memory(context);
    sp_pool_free(&scratch);
    return status;
}
