/* Normals of meshes that deform by targets. */
#include "base/vec3.h"
#include "linear/dense.h"
#include "render/normals.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* ---- creases ---- */

int sp_split_creases(sp_context *context, const double *vertices, int64_t vertex_count, const int64_t *triangles,
                     int64_t triangle_count, sp_pool *pool, sp_split *split)
{
    const int64_t corners = 3 * triangle_count;
    int status = SP_OK;
    sp_pool own = {0};
    float *normal = sp_pool_raw(&own, 3 * corners, sizeof *normal);
    int64_t *next = sp_pool_raw(&own, vertex_count + corners, sizeof *next), /* repetition of the same vertex, or −1 */
        *first = sp_pool_raw(&own, vertex_count + corners, sizeof *first);   /* corner with its normal, or −1 */
    split->origin = sp_pool_raw(pool, vertex_count + corners, sizeof *split->origin);
    split->triangles = sp_pool_raw(pool, corners, sizeof *split->triangles);
    split->vertex_count = vertex_count;

    SP_TRY(sp_allocated(context, !own.failed && !pool->failed));

    SP_TRY(sp_corner_normals(context, vertices, vertex_count, triangles, triangle_count, normal));

    for (int64_t v = 0; v < vertex_count; v++) {
        split->origin[v] = v;
        next[v] = first[v] = -1;
    }

    /* A corner takes the repetition of its vertex that has its normal, to the bit, or makes a new one. */
    for (int64_t c = 0; c < corners; c++) {
        int64_t v = triangles[c];
        while (first[v] >= 0 && memcmp(normal + 3 * first[v], normal + 3 * c, 3 * sizeof *normal) != 0) {
            if (next[v] < 0) {
                const int64_t added = split->vertex_count++;
                split->origin[added] = triangles[c];
                next[added] = first[added] = -1;
                next[v] = added;
            }
            v = next[v];
        }

        first[v] = first[v] < 0 ? c : first[v];
        split->triangles[c] = v;
    }
done:
    sp_pool_free(&own);
    return status;
}

/* ---- normals of a shape ---- */

void sp_vertex_normals(int64_t vertex_count, const double *vertices, int64_t triangle_count, const int64_t *triangles,
                       double *normals)
{
    memset(normals, 0, 3 * (size_t)vertex_count * sizeof *normals);
    for (int64_t t = 0; t < triangle_count; t++) {
        const int64_t *corner = triangles + 3 * t;
        double side[3][3], face[3]; /* side[i]: from the corner i to the next */

        for (int i = 0; i < 3; i++) {
            sp_subtract3(vertices + 3 * corner[(i + 1) % 3], vertices + 3 * corner[i], side[i]);
            sp_normalize3(side[i]);
        }

        sp_cross3(side[0], side[1], face);
        if (!sp_normalize3(face))
            continue;

        /* Weighted by the angle at the corner, so that the division into triangles does not matter */
        for (int i = 0; i < 3; i++) {
            const double angle = acos(fmax(-1, fmin(1, -sp_dot3(side[i], side[(i + 2) % 3]))));
            for (int k = 0; k < 3; k++)
                normals[3 * corner[i] + k] += angle * face[k];
        }
    }

    for (int64_t v = 0; v < vertex_count; v++)
        sp_normalize3(normals + 3 * v);
}

/* ---- normal targets ---- */

/* x = rest + sum_i w_i target_i, or for a single target i its multiple. */
static void shape(const sp_target_mesh *mesh, const double *weights, double *positions)
{
    const int64_t rows = 3 * mesh->vertex_count;
    memcpy(positions, mesh->rest, (size_t)rows * sizeof *positions);
    for (int64_t i = 0; i < mesh->target_count; i++)
        if (weights[i] != 0)
            for (int64_t k = 0; k < rows; k++)
                positions[k] += weights[i] * mesh->targets[i * rows + k];
}

/* The derivative at rest by central differences. A weight of 1e-6 leaves an error of about 1e-10. */
static void differentiate(const sp_target_mesh *mesh, int64_t target, double *positions, double *side, double *change)
{
    static const double STEP = 1e-6;
    const int64_t rows = 3 * mesh->vertex_count;

    for (int s = 0; s < 2; s++) {
        for (int64_t k = 0; k < rows; k++)
            positions[k] = mesh->rest[k] + (s ? -STEP : STEP) * mesh->targets[target * rows + k];
        sp_vertex_normals(mesh->vertex_count, positions, mesh->triangle_count, mesh->triangles, s ? side : change);
    }

    for (int64_t k = 0; k < rows; k++)
        change[k] = (change[k] - side[k]) / (2 * STEP);
}

/* residual = normals of the sample − (n0 + sum_i w_i change_i); positions receives the former. */
static void differ(const sp_target_mesh *mesh, const double *weights, const double *normals, const double *change,
                   double *positions, double *residual)
{
    const int64_t rows = 3 * mesh->vertex_count;
    shape(mesh, weights, residual);

    sp_vertex_normals(mesh->vertex_count, residual, mesh->triangle_count, mesh->triangles, positions);
    for (int64_t k = 0; k < rows; k++)
        residual[k] = positions[k] - normals[k];

    for (int64_t i = 0; i < mesh->target_count; i++)
        if (weights[i] != 0)
            for (int64_t k = 0; k < rows; k++)
                residual[k] -= weights[i] * change[i * rows + k];
}

/* G = sum_s w wᵀ + a little, by its inverse; false where the samples are at rest. */
static bool invert_gram(int64_t count, int64_t samples, const double *weights, double *G)
{
    static const double REGULARIZATION = 1e-4; /* of the mean of the diagonal */
    double trace = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++) {
            double sum = 0;
            for (int64_t s = 0; s < samples; s++)
                sum += weights[s * count + i] * weights[s * count + j];
            G[i * count + j] = sum;
            trace += i == j ? sum : 0;
        }

    if (!(trace > 0))
        return false;

    for (int64_t i = 0; i < count; i++)
        G[i * (count + 1)] += REGULARIZATION * trace / (double)count;

    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (int)count, G, (int)count) ||
        LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', (int)count, G, (int)count))
        return false;

    /* LAPACK has filled one triangle. */
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < j; i++)
            G[j * count + i] = G[i * count + j];
    return true;
}

static void measure(const sp_target_mesh *mesh, int64_t samples, const double *weights, const double *normals,
                    const double *change, double *positions, double *residual, sp_normal_errors *errors)
{
    double sum = 0;
    int64_t counted = 0;
    for (int64_t s = 0; s < samples; s++) {
        differ(mesh, weights + s * mesh->target_count, normals, change, positions, residual);
        for (int64_t v = 0; v < mesh->vertex_count; v++) {
            const double *exact = positions + 3 * v;
            double taken[3], across[3];
            sp_subtract3(exact, residual + 3 * v, taken);
            sp_cross3(exact, taken, across);

            if (sp_norm3(exact) == 0)
                continue;

            /* The arc tangent is accurate for small angles, unlike the arc cosine. */
            const double angle = atan2(sp_norm3(across), sp_dot3(exact, taken)) * 57.29577951308232;
            errors->largest = fmax(errors->largest, angle);
            sum += angle;
            counted++;
        }
    }
    errors->mean = counted ? sum / (double)counted : 0;
}

int sp_normal_targets(sp_context *context, const sp_target_mesh *mesh, int64_t sample_count, const double *weights,
                      double *normals, double *change, sp_normal_errors *errors)
{
    const int64_t rows = 3 * mesh->vertex_count, count = mesh->target_count;
    int status = SP_OK;
    sp_pool pool = {0};
    double *positions = sp_pool_raw(&pool, rows, sizeof *positions),
           *residual = sp_pool_raw(&pool, rows, sizeof *residual),
           *product = sp_pool_new(&pool, count, (size_t)rows * sizeof *product),
           *G = sp_pool_raw(&pool, count, (size_t)count * sizeof *G);
    *errors = (sp_normal_errors){0};
    SP_TRY(sp_allocated(context, !pool.failed));

    SP_TRY(sp_dense_fits(context, rows, count));

    /* First the derivatives at rest, which are right for small weights */
    sp_vertex_normals(mesh->vertex_count, mesh->rest, mesh->triangle_count, mesh->triangles, normals);
    for (int64_t i = 0; i < count; i++)
        differentiate(mesh, i, positions, residual, change + i * rows);

    /* Then the change of all targets that fits the samples best in the least squares: residuals · wᵀ (Σ w wᵀ + ε)⁻¹ */
    if (count && invert_gram(count, sample_count, weights, G)) {
        for (int64_t s = 0; s < sample_count; s++) {
            differ(mesh, weights + s * count, normals, change, positions, residual);
            for (int64_t i = 0; i < count; i++)
                cblas_daxpy((int)rows, weights[s * count + i], residual, 1, product + i * rows, 1);
        }

        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)count, (int)count, 1, product, (int)rows,
                    G, (int)count, 1, change, (int)rows);
    }

    measure(mesh, sample_count, weights, normals, change, positions, residual, errors);
done:
    sp_pool_free(&pool);
    return status;
}
