#include "assembly/nodal_stress.h"

#include "assembly/elastic.h"
#include "assembly/element.h"

#include <lapacke.h>
#include <string.h>

static const int voigt[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};

enum { TERMS = 8 };

/* The terms of the polynomial of a shape at ξ; returns their number. */
static int terms_at(sp_element_shape shape, const double xi[3], double term[TERMS])
{
    const double x = xi[0], y = xi[1], z = xi[2];
    const double all[3][TERMS] = {[SP_HEXAHEDRON] = {1, x, y, z, x * y, y * z, z * x, x * y * z},
                                  [SP_TETRAHEDRON] = {1, x, y, z},
                                  [SP_WEDGE] = {1, x, y, z, x * z, y * z}};
    static const int count[3] = {[SP_HEXAHEDRON] = 8, [SP_TETRAHEDRON] = 4, [SP_WEDGE] = 6};
    memcpy(term, all[shape], sizeof all[shape]);
    return count[shape];
}

/* weight [nodes][points]: the value at a node is the sum of these times the values at the points. With A the terms at
 * the points it is t(node) (AᵀA)⁻¹ Aᵀ. */
static int extrapolation(sp_context *context, int type, const sp_quadrature *quadrature,
                         double weight[SP_ELEMENT_NODES][SP_QUADRATURE_MAX])
{
    const sp_element_type *of = &sp_element_types[type];
    const int points = quadrature->count;
    double at_point[SP_QUADRATURE_MAX][TERMS], normal[TERMS * TERMS] = {0}, term[TERMS], xi[3];
    const int count = terms_at(of->shape, quadrature->place[0], term);

    /* AᵀA of the least-squares polynomial */
    for (int p = 0; p < points; p++) {
        terms_at(of->shape, quadrature->place[p], at_point[p]);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++)
                normal[count * i + j] += at_point[p][i] * at_point[p][j];
    }

    /* Too few points for the polynomial have their mean at every node. */
    for (int a = 0; a < of->nodes; a++)
        for (int p = 0; p < points; p++)
            weight[a][p] = 1.0 / points;
    if (points < count)
        return SP_OK;

    if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', count, normal, count) != 0)
        return sp_fail(context, SP_NUMERICAL, "the points of %s do not determine the stress", of->name);

    for (int a = 0; a < of->nodes; a++) {
        sp_element_node(type, a, xi);
        terms_at(of->shape, xi, term);
        LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', count, 1, normal, count, term, count);
        for (int p = 0; p < points; p++) {
            weight[a][p] = 0;
            for (int i = 0; i < count; i++)
                weight[a][p] += term[i] * at_point[p][i];
        }
    }
    return SP_OK;
}

/* σ [6] at a point with the gradients of the shape functions there. */
static int cauchy(sp_context *context, const sp_material *material, int nodes, const int64_t *node,
                  double gradient[][3], const double *u, double sigma[6])
{
    double H[9] = {0}, E[6], S[6], F[9], full[9], FS[9] = {0};

    /* H = ∂u/∂X, E = ½ (H + Hᵀ + HᵀH) */
    for (int a = 0; a < nodes; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                H[3 * i + j] += u[3 * node[a] + i] * gradient[a][j];
    for (int k = 0; k < 6; k++) {
        const int i = voigt[k][0], j = voigt[k][1];
        E[k] = 0.5 * (H[3 * i + j] + H[3 * j + i]);
        for (int m = 0; m < 3; m++)
            E[k] += 0.5 * H[3 * m + i] * H[3 * m + j];
    }

    SP_PASS(sp_elastic_point_stress(context, material, H, E, S));

    /* σ = F S Fᵀ / J */
    for (int k = 0; k < 6; k++)
        full[3 * voigt[k][0] + voigt[k][1]] = full[3 * voigt[k][1] + voigt[k][0]] = S[k];
    for (int k = 0; k < 9; k++)
        F[k] = H[k] + (k % 4 == 0);

    const double J =
        F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) + F[2] * (F[3] * F[7] - F[4] * F[6]);

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int m = 0; m < 3; m++)
                FS[3 * i + j] += F[3 * i + m] * full[3 * m + j];

    for (int k = 0; k < 6; k++) {
        sigma[k] = 0;
        for (int m = 0; m < 3; m++)
            sigma[k] += FS[3 * voigt[k][0] + m] * F[3 * voigt[k][1] + m] / J;
    }
    return SP_OK;
}

int sp_elastic_nodal_stress(sp_context *context, const sp_fe_space *space, const double *u, double *stress)
{
    const sp_mesh *mesh = space->mesh;
    sp_pool scratch = {0};
    double *volume = sp_pool_new(&scratch, mesh->vertex_count, sizeof *volume),
           weight[SP_ELEMENT_NODES][SP_QUADRATURE_MAX];
    int known = -1, status = sp_allocated(context, volume);

    memset(stress, 0, 6 * (size_t)mesh->vertex_count * sizeof *stress);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh) && status == SP_OK; e++) {
        double X[SP_ELEMENT_NODES][3], sigma[SP_QUADRATURE_MAX][6];
        sp_quadrature quadrature;
        sp_material own;
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        const int type = sp_mesh_element_places(mesh, e, X);

        if (!(sp_element_quadrature(&space->references[2 * type], X[0], &quadrature) > 0)) {
            status = sp_fail(context, SP_INPUT, "element %lld is inverted or flat", (long long)e);
            goto done;
        }

        /* The weights of extrapolation are those of the type. */
        if (type != known)
            SP_TRY(extrapolation(context, type, &quadrature, weight));
        known = type;

        /* The stress at the points, and the volume of the element. */
        double size = 0;
        for (int p = 0; p < quadrature.count; p++) {
            size += quadrature.weight[p];
            SP_TRY(cauchy(context, sp_mesh_material(mesh, e, &own), nodes, node, quadrature.gradient[p], u, sigma[p]));
        }

        /* Elements count by their volume where they meet. */
        for (int a = 0; a < nodes; a++) {
            volume[node[a]] += size;
            for (int p = 0; p < quadrature.count; p++)
                for (int k = 0; k < 6; k++)
                    stress[6 * node[a] + k] += size * weight[a][p] * sigma[p][k];
        }
    }

    for (int64_t v = 0; v < mesh->vertex_count && status == SP_OK; v++)
        if (volume[v] > 0)
            for (int k = 0; k < 6; k++)
                stress[6 * v + k] /= volume[v];
done:
    sp_pool_free(&scratch);
    return status;
}
