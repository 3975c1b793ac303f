/* Frames of edges (Müller et al. 2002 §3.1, eq. 16), the paper's method for rotations: a baseline for the polar
 * decomposition, which is the default (warp_rotations.c). */
#include "model/warp/warp_internal.h"

#include <string.h>

enum { CANDIDATES = 8 };

/* e₁ of three edges. Returns the length of their mean relative to that of the edges, 0 if there is no direction up to
 * rounding. */
static double mean_direction(const double *const edge[3], double e[3])
{
    double length = (sp_norm3(edge[0]) + sp_norm3(edge[1]) + sp_norm3(edge[2])) / 3;

    for (int c = 0; c < 3; c++)
        e[c] = (edge[0][c] + edge[1][c] + edge[2][c]) / 3;

    double size = sp_norm3(e);
    if (!(size > 1e-12 * length))
        return 0;
    for (int c = 0; c < 3; c++)
        e[c] /= size;
    return size / length;
}

/* B of four edges, with columns e₁, e₂, e₃; returns false if they have no directions up to rounding. */
static bool make_frame(const double *const edge[4], double B[9])
{
    double e[3][3];
    if (!(mean_direction(edge, e[0]) > 0))
        return false;

    /* e₂ is normal to e₁ and the fourth edge, e₃ to both. */
    sp_cross3(e[0], edge[3], e[1]);
    double size = sp_norm3(e[1]);
    if (!(size > 1e-12 * sp_norm3(edge[3])))
        return false;
    for (int c = 0; c < 3; c++)
        e[1][c] /= size;

    sp_cross3(e[0], e[1], e[2]);

    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            B[3 * c + k] = e[k][c];
    return true;
}

bool sp_warp_frame_rotation(const sp_warp_frame *frame, const double *x, double R[9])
{
    double edge[4][3], now[9];
    if (frame->from[0] < 0)
        return false;

    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            edge[k][c] = x[3 * frame->to[k] + c] - x[3 * frame->from[k] + c];
    if (!make_frame((const double *const[4]){edge[0], edge[1], edge[2], edge[3]}, now))
        return false;

    /* R = B' Bᵀ, which carries the frame at rest into the present one */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[3 * i + j] = now[3 * i] * frame->rest[3 * j] + now[3 * i + 1] * frame->rest[3 * j + 1] +
                           now[3 * i + 2] * frame->rest[3 * j + 2];
    return true;
}

/* Selects, of `count` edges, the three and the one that give the best conditioned frame at rest: the largest product of
 * |mean| and |e₁ × edge|, both relative to the edges' lengths; the first of several that are equal up to rounding. */
static void choose_frame(int count, const int32_t (*end)[2], const double *X, sp_warp_frame *frame)
{
    double edge[CANDIDATES][3], best = 1e-3; /* below this the directions of edges do not determine a rotation */
    int chosen[4] = {-1, -1, -1, -1};

    for (int k = 0; k < count; k++)
        for (int c = 0; c < 3; c++)
            edge[k][c] = X[3 * end[k][1] + c] - X[3 * end[k][0] + c];

    /* Every triple for e₁, and for each triple all edges as the fourth */
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            for (int k = j + 1; k < count; k++) {
                double e[3], first = mean_direction((const double *const[3]){edge[i], edge[j], edge[k]}, e);
                for (int l = 0; l < count && first > best; l++) {
                    double across[3];
                    sp_cross3(e, edge[l], across);
                    double quality = first * sp_norm3(across) / sp_norm3(edge[l]);
                    if (!(quality > best * (1 + 1e-9)))
                        continue;
                    best = quality;
                    memcpy(chosen, (const int[4]){i, j, k, l}, sizeof chosen);
                }
            }

    frame->from[0] = -1;
    if (chosen[0] < 0 ||
        !make_frame((const double *const[4]){edge[chosen[0]], edge[chosen[1]], edge[chosen[2]], edge[chosen[3]]},
                    frame->rest))
        return;

    for (int m = 0; m < 4; m++) {
        frame->from[m] = end[chosen[m]][0];
        frame->to[m] = end[chosen[m]][1];
    }
}

/* Selects among the shortest edges of a vertex; of equally long ones (up to rounding) those to lower vertices. */
static void choose_vertex(const sp_warp_system *w, int64_t vertex, sp_warp_frame *frame)
{
    int32_t end[CANDIDATES][2];
    double square[CANDIDATES];
    int count = 0;
    for (int64_t k = w->start[vertex]; k < w->start[vertex + 1]; k++) {
        const double *a = w->X + 3 * vertex, *b = w->X + 3 * w->column[k];
        double size = (b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) + (b[2] - a[2]) * (b[2] - a[2]);
        if (w->column[k] == vertex)
            continue;

        /* Insertion sort of the shortest edges so far */
        int at = count;
        while (at > 0 && size < square[at - 1] * (1 - 1e-9))
            at--;
        if (at == CANDIDATES)
            continue;

        count += count < CANDIDATES;
        for (int m = count - 1; m > at; m--) {
            square[m] = square[m - 1];
            memcpy(end[m], end[m - 1], sizeof end[m]);
        }

        square[at] = size;
        end[at][0] = (int32_t)vertex;
        end[at][1] = w->column[k];
    }
    choose_frame(count, (const int32_t(*)[2])end, w->X, frame);
}

/* Selects among the edges of a tetrahedron, or the diagonals of a hexahedron, which involve all nodes. */
static void choose_element(const sp_warp_system *w, int64_t class, sp_warp_frame *frame)
{
    static const int32_t edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}},
                         diagonals[4][2] = {{0, 6}, {1, 7}, {2, 4}, {3, 5}};
    int nodes;
    const int64_t *node = sp_mesh_nodes(&w->mesh, w->all.classes[class].element, &nodes);
    double X[24];

    for (int a = 0; a < nodes; a++)
        memcpy(X + 3 * a, w->X + 3 * node[a], 3 * sizeof *X);

    if (nodes == 8)
        choose_frame(4, diagonals, X, frame);
    else
        choose_frame(6, edges, X, frame);
}

void sp_warp_frames(sp_warp_system *w)
{
    if (w->vertex_frame)
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->many_rows)
        for (int64_t vertex = 0; vertex < w->vertices; vertex++)
            choose_vertex(w, vertex, &w->vertex_frame[vertex]);
    if (w->element_frame)
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->many_elements)
        for (int64_t k = 0; k < w->all.class_count; k++)
            choose_element(w, k, &w->element_frame[k]);
}
