/* The rotations of vertices and elements (Müller et al. 2002 §3.1). */
#include "model/warp/warp_internal.h"

#include "material/law.h"

#include <math.h>
#include <string.h>

/* ---- vertices ---- */

/* Σ_j x_ij X_ijᵀ / |X_ij|² (eq. 14, in which every edge counts by its direction and stretch). */
static void edge_products(const sp_warp_system *w, int64_t vertex, const double *x, double A[9])
{
    const double *rest = w->X + 3 * vertex, *now = x + 3 * vertex;

    memset(A, 0, 9 * sizeof *A);
    for (int64_t k = w->start[vertex]; k < w->start[vertex + 1]; k++) {
        const double *X = w->X + 3 * w->column[k], *y = x + 3 * w->column[k];
        const double D[3] = {X[0] - rest[0], X[1] - rest[1], X[2] - rest[2]},
                     d[3] = {y[0] - now[0], y[1] - now[1], y[2] - now[2]};
        double square = D[0] * D[0] + D[1] * D[1] + D[2] * D[2],
               weight = square > 0 ? 1 / square : 0; /* 0: the vertex itself */

        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                A[3 * i + j] += weight * d[i] * D[j];
    }
}

/* Up to eight vertices in SIMD lanes. */
static void rotate_group(const sp_warp_system *w, enum sp_warp_rotation kind, int64_t first, const double *x,
                         double *rotation)
{
    int64_t wanted[SP_LANES];
    int count = 0;

    for (int64_t vertex = first; vertex < first + SP_LANES && vertex < w->vertices; vertex++)
        if (kind == SP_ROTATION_POLAR || !sp_warp_frame_rotation(&w->vertex_frame[vertex], x, rotation + 9 * vertex))
            wanted[count++] = vertex;
    if (count == 0)
        return;

    /* Vertices without a frame, all of them with POLAR; the lanes that are left over repeat the first. */
    sp_lanes A[9], R[9];
    for (int l = 0; l < SP_LANES; l++) {
        double one[9];
        edge_products(w, wanted[l < count ? l : 0], x, one);
        for (int k = 0; k < 9; k++)
            A[k][l] = one[k];
    }

    sp_nearest_rotation(A, R);
    for (int l = 0; l < count; l++)
        for (int k = 0; k < 9; k++)
            rotation[9 * wanted[l] + k] = R[k][l];
}

void sp_warp_vertex_rotations(const sp_warp_system *w, enum sp_warp_rotation kind, const double *x, double *rotation)
{
    int64_t groups = (w->vertices + SP_LANES - 1) / SP_LANES;
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->many_rows)
    for (int64_t group = 0; group < groups; group++)
        rotate_group(w, kind, SP_LANES * group, x, rotation);
}

/* ---- elements ---- */

/* F at the centre, from differences of positions. */
SP_CLONES static void element_gradient(int corners, sp_lanes gradient[][3], sp_lanes x[8][3], sp_lanes F[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            F[3 * i + j] = x[1][i] * gradient[0][j];
            for (int a = 2; a < corners; a++)
                F[3 * i + j] += x[a][i] * gradient[a - 1][j];
        }
}

void sp_warp_element_rotations(const sp_warp_system *w, const sp_batch *batch, sp_lanes gradient[][3], sp_lanes x[8][3],
                               sp_lanes rotation[9])
{
    bool found[SP_LANES] = {false}, all = w->element_frame != NULL;

    /* An element whose frame has no direction gets the polar decomposition instead. */
    if (w->element_frame)
        for (int l = 0; l < SP_LANES; l++) {
            double y[24], R[9];
            for (int a = 0; a < batch->nodes; a++)
                for (int c = 0; c < 3; c++)
                    y[3 * a + c] = x[a][c][l];
            found[l] = sp_warp_frame_rotation(&w->element_frame[w->all.element_class[batch->element[l]]], y, R);
            if (found[l])
                for (int k = 0; k < 9; k++)
                    rotation[k][l] = R[k];
            all = all && found[l];
        }
    if (all)
        return;

    /* The rotation that is nearest to F = Σ x ∇Nᵀ */
    sp_lanes F[9], R[9];
    element_gradient(batch->nodes, gradient, x, F);
    sp_nearest_rotation(F, R);
    for (int k = 0; k < 9; k++)
        for (int l = 0; l < SP_LANES; l++)
            rotation[k][l] = found[l] ? rotation[k][l] : R[k][l];
}
