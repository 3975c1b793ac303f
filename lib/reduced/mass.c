#include "reduced/mass.h"

#include "assembly/elastic.h"
#include "base/lanes.h"
#include "linear/dense.h"

#include <cblas.h>
#include <string.h>

/* product += m W over the corners of one element, for `count` numbers beside each other at most eight. */
SP_INLINE void add_lanes(int corners, const int64_t *corner, const double *mass, int64_t width, int64_t count, const double *W, double *product)
{
    const size_t size = (size_t)count * sizeof *W;
    sp_lanes x[8];
    for (int b = 0; b < corners; b++) {
        x[b] = (sp_lanes){0};
        memcpy(&x[b], W + corner[b] * width, size);
    }
    for (int a = 0; a < corners; a++) {
        sp_lanes sum = {0}, old = {0};
        for (int b = 0; b < corners; b++)
            sum += x[b] * mass[a * corners + b];
        memcpy(&old, product + corner[a] * width, size);
        old += sum;
        memcpy(product + corner[a] * width, &old, size);
    }
}

/* The same for all: the three rows of a vertex stand together, `width` numbers, and so do those of its displacements. */
SP_INLINE void add_width(int corners, const int64_t *corner, const double *mass, int64_t width, const double *W, double *product)
{
    int64_t at = 0;
    for (; at + SP_LANES <= width; at += SP_LANES)
        add_lanes(corners, corner, mass, width, SP_LANES, W + at, product + at);
    if (at < width)
        add_lanes(corners, corner, mass, width, width - at, W + at, product + at);
}

SP_CLONES static void add_corners(int corners, const int64_t *corner, const double *mass, int64_t width, const double *W, double *product)
{
    if (corners == 8)
        add_width(8, corner, mass, width, W, product);
    else
        add_width(4, corner, mass, width, W, product);
}

int sp_reduced_mass_of_rows(sp_context *context, const sp_body *body, int64_t region, int64_t r, const double *W, double *mass, double *gravity)
{
    const sp_mesh *mesh = body->mesh;
    int64_t rows = 3 * mesh->vertex_count;
    sp_pool scratch = {0};
    int status = sp_dense_fits(context, rows, r);
    if (status != SP_OK)
        return status;
    double *product = sp_pool_new(&scratch, rows * r, sizeof *product), *result = sp_pool_raw(&scratch, r * r, sizeof *result);
    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }
#pragma omp parallel num_threads(context->threads) if (rows * r > 1 << 18)
    SP_EACH_BATCH(body, b) { /* product [rows, r, row major] = M W */
        const sp_batch *batch = &body->batches[b];
        for (int l = 0; l < batch->count; l++) {
            int corners;
            const int64_t e = batch->element[l], *corner = sp_mesh_corners(mesh, e, &corners);
            if (region < 0 || mesh->region[e] == region)
                add_corners(corners, corner, body->classes[body->element_class[e]].mass, 3 * r, W, product);
        }
    }
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)r, (int)r, (int)rows, 1, W, (int)r, product, (int)r, 0, result, (int)r);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < r; j++)
            mass[j * r + i] = 0.5 * (result[j * r + i] + result[i * r + j]);
    if (gravity) {
        memset(gravity, 0, (size_t)(3 * r) * sizeof *gravity);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < r; j++)
                gravity[3 * j + i % 3] += product[i * r + j];
    }
    sp_pool_free(&scratch);
    return SP_OK;
}

int sp_reduced_mass(sp_context *context, const sp_body *body, int64_t r, const double *U, double *mass, double *gravity)
{
    int64_t rows = 3 * body->mesh->vertex_count;
    sp_pool scratch = {0};
    double *W = sp_pool_raw(&scratch, rows * r, sizeof *W);
    if (!W)
        return sp_fail_memory(context);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < r; j++)
            W[i * r + j] = U[j * rows + i];
    int status = sp_reduced_mass_of_rows(context, body, -1, r, W, mass, gravity);
    sp_pool_free(&scratch);
    return status;
}

int sp_reduced_stiffness(sp_context *context, const sp_body *body, int64_t r, const double *U, double *K)
{
    int64_t rows = 3 * body->mesh->vertex_count;
    sp_pool scratch = {0};
    double *rest = sp_pool_new(&scratch, rows, sizeof *rest), *product = sp_pool_raw(&scratch, rows, sizeof *product);
    int status = scratch.failed ? sp_fail_memory(context) : SP_OK;
    for (int64_t j = 0; status == SP_OK && j < r; j++) {
        sp_elastic_tangent_times(context, body, rest, U + j * rows, product);
        for (int64_t i = 0; i <= j; i++)
            K[i * r + j] = K[j * r + i] = sp_dense_dot(rows, U + i * rows, product);
    }
    sp_pool_free(&scratch);
    return status;
}
