/* Motion of the points of a point shell with a reduced basis of the mesh that they are embedded in (thesis §3.6). */
#include "pointshell/transfer.h"

#include <math.h>
#include <string.h>

#include "mesh/element_geometry.h"
#include "pointshell/pointshell.h"

enum { STEPS = 50 };

/* A position in an element: the one nearest to a point, as far as natural coordinates determine it. */
typedef struct place {
    int nodes;
    double shape[SP_ELEMENT_NODES], gradient[SP_ELEMENT_NODES][3]; /* N_a and ∂N_a/∂X [1/m] at the position */
    double gap[3];                                                 /* m, from the position to the point */
} place;

/* X(ξ) and the inverse of ∂X/∂ξ; returns false if it has none. */
static bool map(int nodes, const double X[][3], const double shape[], const double slope[][3], double x[3],
                double inverse[3][3])
{
    double J[3][3] = {{0}}; /* J[i][k] = ∂x_i/∂ξ_k */

    x[0] = x[1] = x[2] = 0;
    for (int a = 0; a < nodes; a++)
        for (int i = 0; i < 3; i++) {
            x[i] += shape[a] * X[a][i];
            for (int k = 0; k < 3; k++)
                J[i][k] += slope[a][k] * X[a][i];
        }

    const double det = sp_determinant(J[0], J[1], J[2]);
    if (!(det > 0))
        return false;

    /* J⁻¹ by cofactors */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;
            inverse[k][i] = (J[a][c] * J[b][d] - J[a][d] * J[b][c]) / det;
        }
    return true;
}

/* Clamps to the element: coordinates in −1 … 1 separately; negative coordinates of a simplex to 0, then their sum to
 * 1. */
static void clamp(sp_element_shape shape, double xi[3])
{
    const int of_simplex = shape == SP_HEXAHEDRON ? 0 : shape == SP_WEDGE ? 2 : 3;
    double sum = 0;

    for (int k = 0; k < of_simplex; k++) {
        xi[k] = fmax(xi[k], 0);
        sum += xi[k];
    }

    /* Sums above 1 are divided, by which the point moves towards the corner at the origin. */
    for (int k = 0; k < of_simplex && sum > 1; k++)
        xi[k] /= sum;

    for (int k = of_simplex; k < 3; k++)
        xi[k] = fmin(fmax(xi[k], -1), 1);
}

/* Newton's method for X(ξ) = point, from the centre (one step if X is linear). An iterate is accepted if the map is
 * invertible there. */
static void find_place(const sp_mesh *mesh, int64_t element, const double point[3], place *p)
{
    static const double centre[3][3] = {[SP_TETRAHEDRON] = {0.25, 0.25, 0.25}, [SP_WEDGE] = {1.0 / 3, 1.0 / 3, 0}};
    double X[SP_ELEMENT_NODES][3], x[3], xi[3], inverse[3][3] = {{0}}, slope[SP_ELEMENT_NODES][3];
    const int type = sp_mesh_element_places(mesh, element, X);
    const sp_element_type *of = &sp_element_types[type];
    p->nodes = of->nodes;

    memcpy(xi, centre[of->shape], sizeof xi);
    for (int step = 0; step < STEPS; step++) {
        double next[3] = {xi[0], xi[1], xi[2]}, change = 0;

        sp_element_shape_functions(type, xi, p->shape, slope);
        if (!map(p->nodes, (const double(*)[3])X, p->shape, (const double(*)[3])slope, x, inverse))
            break;

        /* ξ += J⁻¹ (X − x(ξ)); iterates may leave the element only a little, since the map can fold outside. */
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++)
                next[k] += inverse[k][i] * (point[i] - x[i]);
            next[k] = type == SP_TET4 ? next[k] : fmin(fmax(next[k], -1.5), 1.5);
            change = fmax(change, fabs(next[k] - xi[k]));
            xi[k] = next[k];
        }

        if (change < 1e-14)
            break;
    }

    clamp(of->shape, xi);
    sp_element_shape_functions(type, xi, p->shape, slope);
    if (!map(p->nodes, (const double(*)[3])X, p->shape, (const double(*)[3])slope, x, inverse))
        memset(inverse, 0, sizeof inverse);

    for (int k = 0; k < 3; k++)
        p->gap[k] = point[k] - x[k];

    /* ∂N_a/∂X = ∂N_a/∂ξ ∂ξ/∂X */
    for (int a = 0; a < p->nodes; a++)
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

int sp_transfer_new(sp_context *context, const sp_mesh *mesh, sp_transfer *transfer)
{
    const int64_t n = sp_mesh_element_count(mesh);
    sp_pool pool = {0};
    *transfer = (sp_transfer){.mesh = mesh};

    double *low = sp_pool_raw(&pool, 3 * n, sizeof *low), *high = sp_pool_raw(&pool, 3 * n, sizeof *high);
    if (pool.failed) {
        sp_pool_free(&pool);
        return sp_fail_memory(context);
    }

    for (int64_t i = 0; i < 3 * n; i++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, i / 3, &nodes);
        low[i] = INFINITY;
        high[i] = -INFINITY;
        for (int a = 0; a < nodes; a++) {
            low[i] = fmin(low[i], mesh->vertices[3 * node[a] + i % 3]);
            high[i] = fmax(high[i], mesh->vertices[3 * node[a] + i % 3]);
        }
    }

    const int status = sp_box_tree_new(context, n, low, high, &transfer->tree);
    sp_pool_free(&pool);
    return status;
}

void sp_transfer_free(sp_transfer *transfer)
{
    sp_box_tree_free(&transfer->tree);
    *transfer = (sp_transfer){0};
}

void sp_transfer_find(const sp_transfer *transfer, const double point[3], sp_transferred *transferred)
{
    place p;
    double square;

    const int64_t element =
        sp_box_tree_nearest(&transfer->tree, point, element_distance, (void *)transfer->mesh, &square);
    find_place(transfer->mesh, element, point, &p);
    transferred->element = element;
    transferred->corner = sp_mesh_nodes(transfer->mesh, element, &transferred->corners);
    transferred->gap = sqrt(square);

    memcpy(transferred->gradient, p.gradient, sizeof p.gradient);

    /* Outside the element the motion is continued linearly: N_a + ∇N_a · gap */
    for (int a = 0; a < p.nodes; a++) {
        transferred->weight[a] = p.shape[a];
        for (int i = 0; i < 3; i++)
            transferred->weight[a] += p.gradient[a][i] * p.gap[i];
    }
}

void sp_transferred_rows(const sp_transferred *transferred, int64_t height, int64_t modes, const double *U,
                         const double weight[], double *rows)
{
    for (int64_t j = 0; j < modes; j++)
        for (int k = 0; k < 3; k++) {
            double sum = 0;
            for (int a = 0; a < transferred->corners; a++)
                sum += weight[a] * U[j * height + 3 * transferred->corner[a] + k];
            rows[k * modes + j] = sum;
        }
}

/* The gradient of the motion times a direction. */
static void apply_gradient(const sp_transferred *transferred, int64_t height, int64_t modes, const double *U,
                           const double direction[3], double *rows)
{
    double weight[SP_ELEMENT_NODES];

    for (int a = 0; a < transferred->corners; a++) {
        weight[a] = 0;
        for (int i = 0; i < 3; i++)
            weight[a] += transferred->gradient[a][i] * direction[i];
    }
    sp_transferred_rows(transferred, height, modes, U, weight, rows);
}

int sp_pointshell_transfer(sp_context *context, const sp_mesh *mesh, int64_t modes, const double *U, bool tangents,
                           sp_pointshell *pointshell, sp_pointshell_motion_report *report)
{
    int status;
    sp_transfer transfer;
    double low[3], high[3], gap = 0;
    int64_t outside = 0;
    const int64_t height = 3 * mesh->vertex_count;
    *report = (sp_pointshell_motion_report){0};

    sp_mesh_box(mesh, low, high);

    /* Points count as outside from rounding of the size of the mesh on. */
    const double tolerance = 1e-9 * sqrt(sp_box_square(low, low, high));
    SP_TRY(sp_transfer_new(context, mesh, &transfer));

    pointshell->modes = modes;
    pointshell->U = sp_pool_raw(&pointshell->pool, pointshell->count, 3 * (size_t)modes * sizeof(double));
    pointshell->dN = sp_pool_raw(&pointshell->pool, pointshell->count, 3 * (size_t)modes * sizeof(double));
    pointshell->dT =
        tangents ? sp_pool_raw(&pointshell->pool, pointshell->count, 6 * (size_t)modes * sizeof(double)) : NULL;

    if (pointshell->pool.failed) {
        status = sp_fail_memory(context);
        goto free_transfer;
    }
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : outside) reduction(max : gap) num_threads(context->threads)
    for (int64_t s = 0; s < pointshell->count; s++) {
        sp_transferred transferred;
        double tangent[2][3];
        const double *normal = pointshell->normals + 3 * s;
        const int64_t at = 3 * modes * s;

        sp_transfer_find(&transfer, pointshell->points + 3 * s, &transferred);
        sp_transferred_rows(&transferred, height, modes, U, transferred.weight, pointshell->U + at);
        apply_gradient(&transferred, height, modes, U, normal, pointshell->dN + at);
        sp_pointshell_tangents(normal, tangent);
        if (tangents)
            for (int i = 0; i < 2; i++)
                apply_gradient(&transferred, height, modes, U, tangent[i], pointshell->dT + 2 * at + 3 * modes * i);

        outside += transferred.gap > tolerance;
        gap = transferred.gap > gap ? transferred.gap : gap;
    }

    report->outside = outside;
    report->gap = gap;
    status = sp_pointshell_bounds(context, pointshell);
free_transfer:
    sp_transfer_free(&transfer);
done:
    return status;
}
