#include "assembly/element.h"

#include "base/twofold.h"
#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

static const double gauss_point[4][3] = {
    [2] = {-0.57735026918962576, 0.57735026918962576, 0}, [3] = {-0.77459666924148338, 0, 0.77459666924148338}};
static const double gauss_weight[4][3] = {[2] = {1, 1, 0}, [3] = {5.0 / 9, 8.0 / 9, 5.0 / 9}};

/* The corner across the edge along ξ_j from corner a. */
static const signed char across[8][3] = {{1, 3, 4}, {0, 2, 5}, {3, 1, 6}, {2, 0, 7},
                                         {5, 7, 0}, {4, 6, 1}, {7, 5, 2}, {6, 4, 3}};

/* J_ij = ∂X_i/∂ξ_j is summed over the edges along ξ_j, from the corner `before` to a: in flat elements differences of
 * other corners would cancel. */
static int before(int corners, int a, int j)
{
    return corners == 4 ? 0 : across[a][j];
}

/* In flat elements that lie oblique to their own axes det J is a small difference of large products. Below this part of
 * the product of the lengths of the columns of J, doubles have lost more than a digit. */
static const double flat = 0.1;

/* ∇ξ_j = row j of J⁻¹ in sums of two doubles: correct to a unit in the last place, however flat the element is. Returns
 * det J. */
static double invert_flat(int corners, const double *X, const double reference[8][3], double axis[3][3])
{
    sp_twofold J[3][3], c[3][3], det = {0, 0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            J[i][j] = (sp_twofold){0, 0};
            for (int a = 1; a < corners; a++)
                if (reference[a][j] > 0)
                    J[i][j] = sp_twofold_add(
                        J[i][j], sp_twofold_times(sp_two_sum(X[3 * a + i], -X[3 * before(corners, a, j) + i]),
                                                  (sp_twofold){reference[a][j], 0}));
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] = sp_twofold_add(
                sp_twofold_times(J[(i + 1) % 3][(j + 1) % 3], J[(i + 2) % 3][(j + 2) % 3]),
                sp_twofold_minus(sp_twofold_times(J[(i + 1) % 3][(j + 2) % 3], J[(i + 2) % 3][(j + 1) % 3])));
    for (int j = 0; j < 3; j++)
        det = sp_twofold_add(det, sp_twofold_times(J[0][j], c[0][j]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            axis[j][i] = c[i][j].high / det.high;
    return det.high;
}

static double column_length(const double J[3][3], int j)
{
    return sqrt(J[0][j] * J[0][j] + J[1][j] * J[1][j] + J[2][j] * J[2][j]);
}

/* ∇ξ_j as above in doubles, or in sums of two where that is necessary; reference [corners]: ∇_ξ N_a. */
static double invert_jacobian(int corners, const double *X, const double reference[8][3], double axis[3][3])
{
    double J[3][3] = {{0}}, c[3][3];
    for (int a = 1; a < corners; a++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3 && reference[a][j] > 0; i++)
                J[i][j] += (X[3 * a + i] - X[3 * before(corners, a, j) + i]) * reference[a][j];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] = J[(i + 1) % 3][(j + 1) % 3] * J[(i + 2) % 3][(j + 2) % 3] -
                      J[(i + 1) % 3][(j + 2) % 3] * J[(i + 2) % 3][(j + 1) % 3];
    const double det = J[0][0] * c[0][0] + J[0][1] * c[0][1] + J[0][2] * c[0][2];
    if (!(det > flat * column_length(J, 0) * column_length(J, 1) * column_length(J, 2)))
        return invert_flat(corners, X, reference, axis);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            axis[j][i] = c[i][j] / det;
    return det;
}

/* ∇N_a = Σ_j ∂N_a/∂ξ_j ∇ξ_j. Returns det J. */
static double map_gradients(int corners, const double *X, const double reference[8][3], double axis[3][3],
                            double gradient[8][3])
{
    const double det = invert_jacobian(corners, X, reference, axis);
    for (int a = 0; a < corners; a++)
        for (int i = 0; i < 3; i++)
            gradient[a][i] = axis[0][i] * reference[a][0] + axis[1][i] * reference[a][1] + axis[2][i] * reference[a][2];
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
    double reference[8][3], axis[3][3], shape[8], centre[3] = {0};
    if (corners == 4)
        return map_gradients(4, X, tet_reference, axis, gradient);
    hex_reference(centre, shape, reference);
    return map_gradients(8, X, reference, axis, gradient);
}

double sp_element_quadrature(int corners, const double *X, int points_per_axis, sp_quadrature *quadrature)
{
    double smallest = INFINITY;
    if (corners == 4) {
        quadrature->count = 1;
        smallest = map_gradients(4, X, tet_reference, quadrature->axis[0], quadrature->gradient[0]);
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
                double det = map_gradients(8, X, reference, quadrature->axis[point], quadrature->gradient[point]);
                memcpy(quadrature->place[point], xi, sizeof xi);
                smallest = fmin(smallest, det);
                quadrature->weight[point] = det * gauss_weight[n][i] * gauss_weight[n][j] * gauss_weight[n][k];
            }
    quadrature->count = point;
    return smallest;
}

double sp_element_stretch(int corners, const double *X, const sp_quadrature *quadrature)
{
    double longest = 0, steepest = 0;
    for (int a = 0; a < corners; a++)
        for (int b = a + 1; b < corners; b++) {
            const double d[3] = {X[3 * a] - X[3 * b], X[3 * a + 1] - X[3 * b + 1], X[3 * a + 2] - X[3 * b + 2]};
            longest = fmax(longest, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
    for (int g = 0; g < quadrature->count; g++)
        for (int a = 0; a < corners; a++) {
            const double *n = quadrature->gradient[g][a];
            steepest = fmax(steepest, n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        }
    return sqrt(longest * steepest);
}

void sp_element_product_gram(int count, const int product[][2], int points, const double *weight, int fields,
                             const double *vector, const double C[36], double *G)
{
    memset(G, 0, sizeof *G * (size_t)(count * count));
    for (int g = 0; g < points; g++) {
        double strain[SP_HEX_PAIRS][6], stress[SP_HEX_PAIRS][6];
        for (int p = 0; p < count; p++) {
            const double *m = vector + 3 * (g * fields + product[p][0]), *n = vector + 3 * (g * fields + product[p][1]);
            const double e[6] = {m[0] * n[0],
                                 m[1] * n[1],
                                 m[2] * n[2],
                                 m[1] * n[2] + m[2] * n[1],
                                 m[0] * n[2] + m[2] * n[0],
                                 m[0] * n[1] + m[1] * n[0]};
            memcpy(strain[p], e, sizeof e);
            for (int i = 0; i < 6; i++) {
                stress[p][i] = 0;
                for (int j = 0; j < 6; j++)
                    stress[p][i] += weight[g] * C[6 * i + j] * e[j];
            }
        }
        for (int p = 0; p < count; p++)
            for (int q = p; q < count; q++)
                for (int i = 0; i < 6; i++)
                    G[p * count + q] += strain[p][i] * stress[q][i];
    }
    for (int p = 0; p < count; p++)
        for (int q = 0; q < p; q++)
            G[p * count + q] = G[q * count + p];
}

void sp_element_gram(int corners, const sp_quadrature *quadrature, const double C[36], double *G)
{
    int pair[SP_HEX_PAIRS][2];
    for (int a = 0, p = 0; a < corners; a++)
        for (int b = a + 1; b < corners; b++, p++) {
            pair[p][0] = a;
            pair[p][1] = b;
        }
    sp_element_product_gram(sp_pair_count(corners), pair, quadrature->count, quadrature->weight, 8,
                            quadrature->gradient[0][0], C, G);
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
