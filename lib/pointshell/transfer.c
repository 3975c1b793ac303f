/* How points of a pointshell move with a reduced basis of the mesh that they are embedded in (thesis §3.6). */
#include "pointshell/transfer.h"

#include <math.h>
#include <string.h>

#include "mesh/element_geometry.h"
#include "pointshell/pointshell.h"

enum { STEPS = 50 };

/* A place in an element: the nearest one to a point, as far as natural coordinates tell. */
typedef struct place {
    int corners;
    double shape[8], gradient[8][3]; /* N_a and ∂N_a/∂X [1/m] there */
    double gap[3];                   /* m, from it to the point */
} place;

/* N_a and ∂N_a/∂ξ of a hexahedron, or of a tetrahedron by its barycentric coordinates ξ of corners 1 … 3. */
static void natural(int corners, const double xi[3], double shape[8], double slope[8][3])
{
    for (int a = 0; a < corners; a++) {
        if (corners == 4) {
            shape[a] = a > 0 ? xi[a - 1] : 1 - xi[0] - xi[1] - xi[2];
            for (int k = 0; k < 3; k++)
                slope[a][k] = a > 0 ? a - 1 == k : -1;
            continue;
        }
        double factor[3];
        for (int k = 0; k < 3; k++)
            factor[k] = 0.5 * (1 + sp_hex_corner[a][k] * xi[k]);
        shape[a] = factor[0] * factor[1] * factor[2];
        for (int k = 0; k < 3; k++)
            slope[a][k] = 0.5 * sp_hex_corner[a][k] * factor[(k + 1) % 3] * factor[(k + 2) % 3];
    }
}

/* X(ξ) and the inverse of ∂X/∂ξ; false where that has none. */
static bool map(int corners, const double X[8][3], const double shape[8], const double slope[8][3], double x[3],
                double inverse[3][3])
{
    double J[3][3] = {{0}}; /* J[i][k] = ∂x_i/∂ξ_k */
    x[0] = x[1] = x[2] = 0;
    for (int a = 0; a < corners; a++)
        for (int i = 0; i < 3; i++) {
            x[i] += shape[a] * X[a][i];
            for (int k = 0; k < 3; k++)
                J[i][k] += slope[a][k] * X[a][i];
        }
    const double det = sp_determinant(J[0], J[1], J[2]);
    if (!(det > 0))
        return false;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;
            inverse[k][i] = (J[a][c] * J[b][d] - J[a][d] * J[b][c]) / det;
        }
    return true;
}

/* Into the element: each coordinate of a hexahedron by itself, the sum of a tetrahedron's with its negative ones at 0.
 */
static void clamp(int corners, double xi[3])
{
    if (corners == 8) {
        for (int k = 0; k < 3; k++)
            xi[k] = fmin(fmax(xi[k], -1), 1);
        return;
    }
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        xi[k] = fmax(xi[k], 0);
        sum += xi[k];
    }
    for (int k = 0; k < 3 && sum > 1; k++)
        xi[k] /= sum;
}

/* Newton's method for X(ξ) = point from the centre (one step where X is linear); it is kept where the map can be
 * inverted. */
static void find_place(const sp_mesh *mesh, int64_t element, const double point[3], place *p)
{
    const int64_t *corner = sp_mesh_corners(mesh, element, &p->corners);
    double X[8][3], x[3], xi[3], inverse[3][3] = {{0}}, slope[8][3];
    for (int a = 0; a < p->corners; a++)
        memcpy(X[a], mesh->vertices + 3 * corner[a], sizeof X[a]);
    for (int k = 0; k < 3; k++)
        xi[k] = p->corners == 8 ? 0 : 0.25;
    for (int step = 0; step < STEPS; step++) {
        double next[3] = {xi[0], xi[1], xi[2]}, change = 0;
        natural(p->corners, xi, p->shape, slope);
        if (!map(p->corners, (const double(*)[3])X, p->shape, (const double(*)[3])slope, x, inverse))
            break;
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++)
                next[k] += inverse[k][i] * (point[i] - x[i]);
            next[k] = p->corners == 8 ? fmin(fmax(next[k], -1.5), 1.5) : next[k];
            change = fmax(change, fabs(next[k] - xi[k]));
            xi[k] = next[k];
        }
        if (change < 1e-14)
            break;
    }
    clamp(p->corners, xi);
    natural(p->corners, xi, p->shape, slope);
    if (!map(p->corners, (const double(*)[3])X, p->shape, (const double(*)[3])slope, x, inverse))
        memset(inverse, 0, sizeof inverse);
    for (int k = 0; k < 3; k++)
        p->gap[k] = point[k] - x[k];
    for (int a = 0; a < p->corners; a++)
        for (int i = 0; i < 3; i++) {
            p->gradient[a][i] = 0;
            for (int k = 0; k < 3; k++)
                p->gradient[a][i] += slope[a][k] * inverse[k][i];
        }
}

static double element_distance(void *data, int64_t element, const double point[3])
{
    place p;
    find_place(data, element, point, &p);
    return p.gap[0] * p.gap[0] + p.gap[1] * p.gap[1] + p.gap[2] * p.gap[2];
}

int sp_transfer_new(sp_context *context, const sp_mesh *mesh, sp_transfer *carrier)
{
    const int64_t n = sp_mesh_element_count(mesh);
    sp_pool pool = {0};
    *carrier = (sp_transfer){.mesh = mesh};
    double *low = sp_pool_raw(&pool, 3 * n, sizeof *low), *high = sp_pool_raw(&pool, 3 * n, sizeof *high);
    if (pool.failed) {
        sp_pool_free(&pool);
        return sp_fail_memory(context);
    }
    for (int64_t i = 0; i < 3 * n; i++) {
        int corners;
        const int64_t *corner = sp_mesh_corners(mesh, i / 3, &corners);
        low[i] = INFINITY;
        high[i] = -INFINITY;
        for (int a = 0; a < corners; a++) {
            low[i] = fmin(low[i], mesh->vertices[3 * corner[a] + i % 3]);
            high[i] = fmax(high[i], mesh->vertices[3 * corner[a] + i % 3]);
        }
    }
    const int status = sp_box_tree_new(context, n, low, high, &carrier->tree);
    sp_pool_free(&pool);
    return status;
}

void sp_transfer_free(sp_transfer *carrier)
{
    sp_box_tree_free(&carrier->tree);
    *carrier = (sp_transfer){0};
}

void sp_transfer_find(const sp_transfer *carrier, const double point[3], sp_transferred *carried)
{
    place p;
    double square;
    const int64_t element =
        sp_box_tree_nearest(&carrier->tree, point, element_distance, (void *)carrier->mesh, &square);
    find_place(carrier->mesh, element, point, &p);
    carried->corner = sp_mesh_corners(carrier->mesh, element, &carried->corners);
    carried->gap = sqrt(square);
    memcpy(carried->gradient, p.gradient, sizeof p.gradient);
    for (int a = 0; a < p.corners; a++) {
        carried->weight[a] = p.shape[a];
        for (int i = 0; i < 3; i++)
            carried->weight[a] += p.gradient[a][i] * p.gap[i];
    }
}

void sp_transferred_rows(const sp_transferred *carried, int64_t height, int64_t modes, const double *U,
                         const double weight[8], double *rows)
{
    for (int64_t j = 0; j < modes; j++)
        for (int k = 0; k < 3; k++) {
            double sum = 0;
            for (int a = 0; a < carried->corners; a++)
                sum += weight[a] * U[j * height + 3 * carried->corner[a] + k];
            rows[k * modes + j] = sum;
        }
}

/* The gradient of the motion times a direction. */
static void carry_direction(const sp_transferred *carried, int64_t height, int64_t modes, const double *U,
                            const double direction[3], double *rows)
{
    double weight[8];
    for (int a = 0; a < carried->corners; a++) {
        weight[a] = 0;
        for (int i = 0; i < 3; i++)
            weight[a] += carried->gradient[a][i] * direction[i];
    }
    sp_transferred_rows(carried, height, modes, U, weight, rows);
}

int sp_pointshell_transfer(sp_context *context, const sp_mesh *mesh, int64_t modes, const double *U, bool tangents,
                           sp_pointshell *pointshell, sp_pointshell_motion_report *report)
{
    int status;
    sp_transfer carrier;
    double low[3], high[3], gap = 0;
    int64_t outside = 0;
    const int64_t height = 3 * mesh->vertex_count;
    *report = (sp_pointshell_motion_report){0};
    sp_mesh_box(mesh, low, high);
    const double tolerance = 1e-9 * sqrt(sp_box_square(low, low, high));
    SP_TRY(sp_transfer_new(context, mesh, &carrier));
    pointshell->modes = modes;
    pointshell->U = sp_pool_raw(&pointshell->pool, pointshell->count, 3 * (size_t)modes * sizeof(double));
    pointshell->dN = sp_pool_raw(&pointshell->pool, pointshell->count, 3 * (size_t)modes * sizeof(double));
    pointshell->dT =
        tangents ? sp_pool_raw(&pointshell->pool, pointshell->count, 6 * (size_t)modes * sizeof(double)) : NULL;
    if (pointshell->pool.failed) {
        status = sp_fail_memory(context);
        goto free_carrier;
    }
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : outside) reduction(max : gap) num_threads(context->threads)
    for (int64_t s = 0; s < pointshell->count; s++) {
        sp_transferred carried;
        double tangent[2][3];
        const double *normal = pointshell->normals + 3 * s;
        const int64_t at = 3 * modes * s;
        sp_transfer_find(&carrier, pointshell->points + 3 * s, &carried);
        sp_transferred_rows(&carried, height, modes, U, carried.weight, pointshell->U + at);
        carry_direction(&carried, height, modes, U, normal, pointshell->dN + at);
        sp_pointshell_tangents(normal, tangent);
        for (int i = 0; i < 2 && tangents; i++)
            carry_direction(&carried, height, modes, U, tangent[i], pointshell->dT + 2 * at + 3 * modes * i);
        outside += carried.gap > tolerance;
        gap = carried.gap > gap ? carried.gap : gap;
    }
    report->outside = outside;
    report->gap = gap;
    status = sp_pointshell_bounds(context, pointshell);
free_carrier:
    sp_transfer_free(&carrier);
done:
    return status;
}
