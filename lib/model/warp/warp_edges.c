/* Springs along the edges of elements: mass–spring networks and strain limiting (Müller et al. 2002 §2.2). */
#include "model/warp/warp_internal.h"

#include "assembly/element.h"

#include <math.h>
#include <string.h>

/* Young's modulus. Laws without one use 2μ(1 + ν) with ν = ¼ and their shear modulus; for LINEAR this is the mean over
 * all directions (Voigt's, which is independent of the frame). */
static double young(const sp_material *material)
{
    double C[36], mu = 0;

    switch (sp_law_constants(material->law)) {
    case SP_CONSTANTS_YOUNG:
        return material->young;
    case SP_CONSTANTS_MOONEY:
        mu = 2 * (material->mooney[0] + material->mooney[1]);
        break;
    case SP_CONSTANTS_STIFFNESS:
        sp_material_linear(material, C);
        mu = (C[0] + C[7] + C[14] - C[1] - C[2] - C[8] + 3 * (C[21] + C[28] + C[35])) / 15;
    }
    return 2.5 * mu;
}

static double rest_square(const sp_warp_system *w, int64_t a, int64_t b)
{
    double sum = 0;
    for (int c = 0; c < 3; c++)
        sum += (w->X[3 * a + c] - w->X[3 * b + c]) * (w->X[3 * a + c] - w->X[3 * b + c]);
    return sum;
}

/* k = E A / L with the cross section A = V / L of the edge's share of every element's volume. */
static void add_springs(sp_warp_system *w)
{
    for (int64_t e = 0; e < sp_mesh_element_count(&w->mesh); e++) {
        int nodes;
        sp_material own;
        const int64_t *node = sp_mesh_nodes(&w->mesh, e, &nodes);
        const int32_t *offset = w->all.offset + w->all.offset_start[e];
        double share = young(sp_mesh_material(&w->mesh, e, &own)) * w->all.classes[w->all.element_class[e]].volume /
                       sp_pair_count(nodes);

        for (int a = 0; a < nodes; a++)
            for (int b = 0; b < nodes; b++)
                if (a != b)
                    w->spring[w->start[node[a]] + offset[a * nodes + b] / 3] +=
                        share / rest_square(w, node[a], node[b]);
    }
}

/* K_ij = −k/L² X_ij X_ijᵀ; rows sum to zero. */
static void replace_stiffness(sp_warp_system *w)
{
    for (int64_t i = 0; i < w->vertices; i++) {
        if (w->diagonal[i] < 0)
            continue;
        double *own = w->K + 9 * w->diagonal[i];
        memset(own, 0, 9 * sizeof *own);

        for (int64_t k = w->start[i]; k < w->start[i + 1]; k++) {
            int64_t j = w->column[k];
            if (j == i)
                continue;
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++) {
                    double value = w->spring[k] * (w->X[3 * i + c] - w->X[3 * j + c]) *
                                   (w->X[3 * i + d] - w->X[3 * j + d]) / rest_square(w, i, j);
                    w->K[9 * k + 3 * c + d] = -value;
                    own[3 * c + d] += value;
                }
        }
    }
}

void sp_warp_edges(sp_warp_system *w)
{
    if (!w->spring)
        return;

    add_springs(w);
    if (w->p.network)
        replace_stiffness(w);
}

/* ---- strain limiting ---- */

/* The excess of the length of block k's edge over (1 + limit) L, and its direction from the other end to vertex i. If
 * it is ≤ 0 the edge is not in tension, and there is no direction. */
static double excess(const sp_warp_system *w, int64_t i, int64_t k, const double *x, double direction[3],
                     double *length)
{
    int64_t j = w->column[k];
    double most = (1 + w->p.limit) * sqrt(rest_square(w, i, j));

    for (int c = 0; c < 3; c++)
        direction[c] = x[3 * i + c] - x[3 * j + c];
    *length = sp_norm3(direction);

    if (j == i || !(*length > most))
        return 0;

    for (int c = 0; c < 3; c++)
        direction[c] /= *length;
    return *length - most;
}

double sp_warp_stretch_force(sp_warp_system *w, const double *x, double *f)
{
    double energy = 0;
    if (!(w->p.extra > 0))
        return 0;

#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->many_rows)
    for (int64_t i = 0; i < w->vertices; i++) {
        w->row_energy[i] = 0;
        for (int64_t k = w->start[i]; k < w->start[i + 1]; k++) {
            double direction[3], length, more = excess(w, i, k, x, direction, &length),
                                         stiffness = w->p.extra * w->spring[k];
            if (!(more > 0))
                continue;

            /* f = extra k (ℓ − (1 + limit) L) n */
            w->row_energy[i] += 0.25 * stiffness * more * more; /* the other end adds the other half */
            if (f)
                for (int c = 0; c < 3; c++)
                    f[3 * i + c] += stiffness * more * direction[c];
        }
    }

    for (int64_t i = 0; i < w->vertices; i++)
        energy += w->row_energy[i];
    return energy;
}

/* extra·k (n nᵀ + (1 − (1 + limit) L/ℓ) (I − n nᵀ)); returns false if the edge is not in tension. */
static bool edge_stiffness(const sp_warp_system *w, int64_t i, int64_t k, const double *x, double T[9])
{
    double n[3], length, more = excess(w, i, k, x, n, &length), stiffness = w->p.extra * w->spring[k];
    if (!(more > 0))
        return false;

    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++)
            T[3 * c + d] = stiffness * (n[c] * n[d] + more / length * ((c == d) - n[c] * n[d]));
    return true;
}

void sp_warp_stretch_times(const sp_warp_system *w, const double *x, const double *v, double *y)
{
    if (!(w->p.extra > 0))
        return;
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->many_rows)
    for (int64_t i = 0; i < w->vertices; i++)
        for (int64_t k = w->start[i]; k < w->start[i + 1]; k++) {
            const double *other = v + 3 * w->column[k],
                         difference[3] = {v[3 * i] - other[0], v[3 * i + 1] - other[1], v[3 * i + 2] - other[2]};
            double T[9], part[3];
            if (!edge_stiffness(w, i, k, x, T))
                continue;

            /* y += T (v_i − v_j) */
            sp_rotate(T, difference, part);
            for (int c = 0; c < 3; c++)
                y[3 * i + c] += part[c];
        }
}

void sp_warp_stretch_add(sp_warp_system *w, const double *x, double scale)
{
    if (!(w->p.extra > 0))
        return;
#pragma omp parallel for schedule(static) num_threads(w->context->threads) if (w->many_rows)
    for (int64_t i = 0; i < w->vertices; i++)
        for (int64_t k = w->start[i]; k < w->start[i + 1]; k++) {
            double T[9];

            if (!edge_stiffness(w, i, k, x, T))
                continue;

            /* Row i: −T for the other vertex, T on the diagonal */
            for (int m = 0; m < 9; m++) {
                w->S[9 * k + m] -= scale * T[m];
                w->S[9 * w->diagonal[i] + m] += scale * T[m];
            }
        }
}
