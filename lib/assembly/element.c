#include "assembly/element.h"

#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

static const double gauss_point[4][3] = {[2] = {-0.57735026918962576, 0.57735026918962576, 0}, [3] = {-0.77459666924148338, 0, 0.77459666924148338}};
static const double gauss_weight[4][3] = {[2] = {1, 1, 0}, [3] = {5.0 / 9, 8.0 / 9, 5.0 / 9}};

static double invert3(const double J[3][3], double inverse[3][3])
{
    double c[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] = J[(i + 1) % 3][(j + 1) % 3] * J[(i + 2) % 3][(j + 2) % 3] - J[(i + 1) % 3][(j + 2) % 3] * J[(i + 2) % 3][(j + 1) % 3];
    double det = J[0][0] * c[0][0] + J[0][1] * c[0][1] + J[0][2] * c[0][2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            inverse[i][j] = c[j][i] / det;
    return det;
}

/* Gradients in space from those in the reference element: J_ij = ∂X_i/∂ξ_j, ∇N = J⁻ᵀ ∇_ξ N. Returns det J. From the first corner, so that nothing cancels far from the origin. */
static double map_gradients(int corners, const double *X, const double reference[8][3], double gradient[8][3])
{
    double J[3][3] = {{0}}, inverse[3][3];
    for (int a = 0; a < corners; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                J[i][j] += (X[3 * a + i] - X[i]) * reference[a][j];
    double det = invert3(J, inverse);
    for (int a = 0; a < corners; a++)
        for (int i = 0; i < 3; i++) {
            gradient[a][i] = 0;
            for (int j = 0; j < 3; j++)
                gradient[a][i] += inverse[j][i] * reference[a][j];
        }
    return det;
}

static void hex_reference(const double xi[3], double shape[8], double reference[8][3])
{
    for (int a = 0; a < 8; a++) {
        double s[3], f[3];
        for (int i = 0; i < 3; i++) {
            s[i] = sp_hex_corner[a][i];
            f[i] = 0.5 * (1 + s[i] * xi[i]);
        }
        shape[a] = f[0] * f[1] * f[2];
        for (int i = 0; i < 3; i++)
            reference[a][i] = 0.5 * s[i] * f[(i + 1) % 3] * f[(i + 2) % 3];
    }
}

static const double tet_reference[8][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

double sp_element_centre_gradients(int corners, const double *X, double gradient[8][3])
{
    double reference[8][3], shape[8], centre[3] = {0};
    if (corners == 4)
        return map_gradients(4, X, tet_reference, gradient);
    hex_reference(centre, shape, reference);
    return map_gradients(8, X, reference, gradient);
}

double sp_element_quadrature(int corners, const double *X, int points_per_axis, sp_quadrature *quadrature)
{
    double smallest = INFINITY;
    if (corners == 4) {
        quadrature->count = 1;
        smallest = map_gradients(4, X, tet_reference, quadrature->gradient[0]);
        quadrature->weight[0] = smallest / 6;
        for (int a = 0; a < 4; a++)
            quadrature->shape[0][a] = 0.25;
        return smallest;
    }
    int n = points_per_axis, point = 0;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++, point++) {
                double reference[8][3], xi[3] = {gauss_point[n][i], gauss_point[n][j], gauss_point[n][k]};
                hex_reference(xi, quadrature->shape[point], reference);
                double det = map_gradients(8, X, reference, quadrature->gradient[point]);
                smallest = fmin(smallest, det);
                quadrature->weight[point] = det * gauss_weight[n][i] * gauss_weight[n][j] * gauss_weight[n][k];
            }
    quadrature->count = point;
    return smallest;
}

void sp_element_gram(int corners, const sp_quadrature *quadrature, const double C[36], double *G)
{
    int pairs = sp_pair_count(corners);
    memset(G, 0, sizeof *G * (size_t)(pairs * pairs));
    for (int g = 0; g < quadrature->count; g++) {
        double strain[SP_HEX_PAIRS][6], stress[SP_HEX_PAIRS][6];
        for (int a = 0, p = 0; a < corners; a++)
            for (int b = a + 1; b < corners; b++, p++) {
                const double *m = quadrature->gradient[g][a], *n = quadrature->gradient[g][b];
                double e[6] = {m[0] * n[0], m[1] * n[1], m[2] * n[2], m[1] * n[2] + m[2] * n[1], m[0] * n[2] + m[2] * n[0], m[0] * n[1] + m[1] * n[0]};
                memcpy(strain[p], e, sizeof e);
                for (int i = 0; i < 6; i++) {
                    stress[p][i] = 0;
                    for (int j = 0; j < 6; j++)
                        stress[p][i] += quadrature->weight[g] * C[6 * i + j] * e[j];
                }
            }
        for (int p = 0; p < pairs; p++)
            for (int q = 0; q < pairs; q++)
                for (int i = 0; i < 6; i++)
                    G[p * pairs + q] += strain[p][i] * stress[q][i];
    }
    for (int p = 0; p < pairs; p++) /* symmetric to the last bit */
        for (int q = 0; q < p; q++)
            G[p * pairs + q] = G[q * pairs + p];
}

void sp_element_along(int corners, const sp_quadrature *quadrature, const double direction[3], double *along)
{
    memset(along, 0, sizeof *along * (size_t)sp_pair_count(corners));
    for (int g = 0; g < quadrature->count; g++) {
        double slope[8]; /* a·∇N */
        for (int a = 0; a < corners; a++) {
            const double *m = quadrature->gradient[g][a];
            slope[a] = direction[0] * m[0] + direction[1] * m[1] + direction[2] * m[2];
        }
        for (int a = 0, p = 0; a < corners; a++)
            for (int b = a + 1; b < corners; b++, p++)
                along[p] -= quadrature->weight[g] * slope[a] * slope[b];
    }
}

void sp_element_volume_mass(int corners, const sp_quadrature *quadrature, double *mass)
{
    memset(mass, 0, sizeof *mass * (size_t)(corners * corners));
    if (corners == 4) {
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                mass[4 * a + b] = quadrature->weight[0] * (a == b ? 0.1 : 0.05);
        return;
    }
    for (int g = 0; g < quadrature->count; g++)
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++)
                mass[8 * a + b] += quadrature->weight[g] * quadrature->shape[g][a] * quadrature->shape[g][b];
}
