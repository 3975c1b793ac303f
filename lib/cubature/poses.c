#include "cubature/blocks.h"

#include "assembly/batch.h"
#include "base/random.h"
#include "linear/dense.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

void sp_poses_free(sp_poses *poses)
{
    sp_pool_free(&poses->pool);
    *poses = (sp_poses){0};
}

/* ---- forces of all elements of a body for a batch of displacements ---- */

void sp_poses_displacements(bool by_rows, const double *U, int64_t rows, int64_t r, int64_t count, const double *q,
                            int64_t width, double *u)
{
    if (count < width)
        memset(u, 0, (size_t)(rows * width) * sizeof *u);

    cblas_dgemm(CblasRowMajor, by_rows ? CblasNoTrans : CblasTrans, CblasTrans, (int)rows, (int)count, (int)r, 1, U,
                (int)(by_rows ? r : rows), q, (int)r, 0, u, (int)width);
}

int64_t sp_poses_width(int64_t rows, int64_t memory)
{
    int64_t bytes = rows * 2 * SP_POSES_SUMS * (int64_t)sizeof(double), width = SP_POSES_WIDEST;

    while (width > SP_LANES && width * bytes > (memory > 0 ? memory : INT64_C(1) << 30))
        width /= 2;
    return width;
}

SP_INLINE void gather_corners(int nodes, const int64_t *node, int64_t width, const double *at, sp_lanes to[][3])
{
    for (int a = 0; a < nodes; a++)
        for (int i = 0; i < 3; i++)
            to[a][i] = *(const sp_lanes *)(at + (3 * node[a] + i) * width);
}

SP_CLONES void sp_poses_gather(int nodes, const int64_t *node, int64_t width, const double *at, sp_lanes to[][3])
{
    if (nodes == 4)
        gather_corners(4, node, width, at, to);
    else if (nodes == 8)
        gather_corners(8, node, width, at, to);
    else
        gather_corners(nodes, node, width, at, to);
}

/* Adds lanes to the rows of the nodes: the inverse of sp_poses_gather. */
SP_CLONES static void add_rows(int nodes, const int64_t *node, int64_t width, sp_lanes from[][3], double *at)
{
    for (int a = 0; a < nodes; a++)
        for (int i = 0; i < 3; i++)
            *(sp_lanes *)(at + (3 * node[a] + i) * width) += from[a][i];
}

/* Adds the forces of all elements at the first `used` displacements of the batch to f. */
static void add_forces(const sp_fe_space *body, int64_t used, int64_t width, const double *u, sp_element_lanes *data,
                       double *f)
{
    int64_t elements = sp_mesh_element_count(body->mesh);
    for (int64_t e = 0; e < elements; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(body->mesh, e, &nodes);
        /* One element at eight poses at a time. */
        sp_element_lanes_fill(body, e, data);
        for (int64_t g = 0; g < used; g += SP_LANES) {
            sp_lanes displacement[SP_ELEMENT_NODES][3], force[SP_ELEMENT_NODES][3], energy;

            sp_poses_gather(nodes, node, width, u + g, displacement);
            sp_batch_force(data, displacement, force, &energy);
            add_rows(nodes, node, width, force, f + g);
        }
    }
}

double *sp_poses_basis(sp_pool *pool, int64_t rows, int64_t r, const double *U)
{
    double *W = sp_pool_raw(pool, rows * r, sizeof *W);
    if (!W)
        return NULL;

    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < rows; i++)
            W[i * r + j] = U[j * rows + i];
    return W;
}

static bool finite_force(const sp_poses *poses, int64_t t)
{
    for (int64_t i = 0; i < poses->r; i++)
        if (!isfinite(poses->force[t * poses->r + i]))
            return false;
    return true;
}

int sp_poses_evaluate(sp_context *context, const sp_fe_space *body, const double *U, int64_t memory, int64_t first,
                      int64_t last, sp_poses *poses, int64_t *shrunk)
{
    enum { HALVINGS = 30 };
    int64_t rows = 3 * body->mesh->vertex_count, r = poses->r, done = 0;
    sp_pool scratch = {0};
    int status;

    SP_TRY(sp_dense_fits(context, rows, r));

    /* Blocks end at multiples of their width, whatever the first pose is, so that shards divide poses into the same
     * blocks. */
    int64_t width = sp_poses_width(rows, memory), start = first / width,
            blocks = last > first ? (last + width - 1) / width - start : 0;

    int threads = context->threads < SP_POSES_SUMS ? context->threads : SP_POSES_SUMS;
    double *space = sp_pool_raw(&scratch, 2 * rows * width * threads, sizeof *space);
    sp_element_lanes *data = sp_pool_raw(&scratch, threads, sizeof *data);

    SP_TRY(sp_allocated(context, !scratch.failed));

    bool stop = false;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t from = b == 0 ? first : (start + b) * width, end = (start + b + 1) * width,
                count = (end < last ? end : last) - from, ready;
        double *u = space + 2 * rows * width * omp_get_thread_num(), *f = u + rows * width;
        sp_element_lanes *own = &data[omp_get_thread_num()];

        /* A loop of OpenMP cannot be left: the blocks that remain are skipped. */
        if (stop)
            continue;

        sp_element_lanes_start(own);
        memset(f, 0, (size_t)(rows * width) * sizeof *f);
        sp_poses_displacements(false, U, rows, r, count, poses->q + from * r, width, u);
        add_forces(body, width, width, u, own, f);

        /* f = Uᵀ Σ f_e for the poses of the block */
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasTrans, (int)count, (int)r, (int)rows, 1, f, (int)width, U,
                    (int)rows, 0, poses->force + from * r, (int)r);

#pragma omp atomic capture
        ready = ++done;
        if (omp_get_thread_num() == 0 && sp_progress(context, (double)ready / (double)blocks) != SP_OK)
            stop = true;
    }

    if (stop)
        status = SP_SYSTEM; /* with the message of sp_progress */

    if (shrunk)
        *shrunk = 0;

    /* If the caller counts them, poses that invert an element are halved until their force is finite. */
    const int most = shrunk ? HALVINGS : 0;
    for (int64_t t = first; status == SP_OK && t < last; t++) {
        sp_element_lanes_start(data);

        int halvings = 0;
        for (; halvings < most && !finite_force(poses, t); halvings++) {
            for (int64_t i = 0; i < r; i++)
                poses->q[t * r + i] *= 0.5;
            memset(space + rows * width, 0, (size_t)(rows * width) * sizeof *space);
            sp_poses_displacements(false, U, rows, r, 1, poses->q + t * r, width, space);
            add_forces(body, SP_LANES, width, space, data, space + rows * width);
            cblas_dgemv(CblasColMajor, CblasTrans, (int)rows, (int)r, 1, U, (int)rows, space + rows * width, (int)width,
                        0, poses->force + t * r, 1);
        }

        if (shrunk)
            *shrunk += halvings > 0;

        if (!finite_force(poses, t))
            status = sp_fail(context, SP_INPUT, "pose %lld: an element is inverted, where its material has no value",
                             (long long)t);
    }
done:
    sp_pool_free(&scratch);
    return status;
}

void sp_poses_sample(const sp_context *context, int64_t r, const double *deviation, const double *centre, int64_t first,
                     int64_t count, double *q)
{
    for (int64_t t = 0; t < count; t++)
        for (int64_t i = 0; i < r; i++)
            q[t * r + i] = (centre ? centre[i] : 0) +
                           deviation[i] * sp_random_normal(context->seed, (uint64_t)(first + t), (uint64_t)i);
}

double sp_poses_amplitude(const sp_fe_space *body, const double *u, double stiffness, double part)
{
    double low[3], high[3], diagonal = 0, largest = 0;

    sp_mesh_box(body->mesh, low, high);

    for (int i = 0; i < 3; i++)
        diagonal += (high[i] - low[i]) * (high[i] - low[i]);

    /* The square of the largest displacement. */
    for (int64_t v = 0; v < body->mesh->vertex_count; v++)
        largest = fmax(largest, u[3 * v] * u[3 * v] + u[3 * v + 1] * u[3 * v + 1] + u[3 * v + 2] * u[3 * v + 2]);

    return largest > 0 ? part * sqrt(diagonal / largest * stiffness) : 0;
}
