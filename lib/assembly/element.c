#include "assembly/element.h"

#include "base/twofold.h"
#include "base/vec3.h"
#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

/* The neighbour of corner a along the edge in direction ξ_j. */
static const signed char across[8][3] = {{1, 3, 4}, {0, 2, 5}, {3, 1, 6}, {2, 0, 7},
                                         {5, 7, 0}, {4, 6, 1}, {7, 5, 2}, {6, 4, 3}};

/* J_ij = ∂X_i/∂ξ_j is summed over differences from the node `before` to a, with its slope: in 8-node hexahedra over the
 * edges along ξ_j, since in flat elements differences of other corners would cancel; else from node 0. */
static int before(int nodes, int a, int j)
{
    return nodes == 8 ? across[a][j] : 0;
}

/* Returns true if the difference is in the sum: of each edge of an 8-node hexahedron only its end. */
static bool counts(int nodes, double slope)
{
    return nodes == 8 ? slope > 0 : slope != 0;
}

/* ∇ξ_j = row j of J⁻¹, computed in sums of two doubles, so that it is correct to a unit in the last place, however flat
 * the element is. Returns det J. */
static double invert_flat(int nodes, const double *X, const double reference[][3], double axis[3][3])
{
    sp_twofold J[3][3], c[3][3], det = {0, 0};

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            J[i][j] = (sp_twofold){0, 0};
            for (int a = 1; a < nodes; a++)
                if (counts(nodes, reference[a][j]))
                    J[i][j] = sp_twofold_add(J[i][j],
                                             sp_twofold_times(sp_two_sum(X[3 * a + i], -X[3 * before(nodes, a, j) + i]),
                                                              (sp_twofold){reference[a][j], 0}));
        }

    /* J⁻¹ = cᵀ / det J with the cofactors c */
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

/* ∇ξ_j as above, in doubles, or in sums of two doubles if necessary; reference [nodes]: ∇_ξ N_a. */
static double invert_jacobian(int nodes, const double *X, const double reference[][3], double axis[3][3])
{
    double J[3][3] = {{0}}, c[3][3];

    for (int a = 1; a < nodes; a++)
        for (int j = 0; j < 3; j++)
            if (counts(nodes, reference[a][j]))
                for (int i = 0; i < 3; i++)
                    J[i][j] += (X[3 * a + i] - X[3 * before(nodes, a, j) + i]) * reference[a][j];

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] = J[(i + 1) % 3][(j + 1) % 3] * J[(i + 2) % 3][(j + 2) % 3] -
                      J[(i + 1) % 3][(j + 2) % 3] * J[(i + 2) % 3][(j + 1) % 3];

    /* Where the columns of J are nearly dependent, the digits of their cofactors are lost in doubles. */
    const double det = J[0][0] * c[0][0] + J[0][1] * c[0][1] + J[0][2] * c[0][2];

    if (!(det > SP_ELEMENT_FLAT * column_length(J, 0) * column_length(J, 1) * column_length(J, 2)))
        return invert_flat(nodes, X, reference, axis);

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            axis[j][i] = c[i][j] / det;
    return det;
}

/* ∇N_a = Σ_j ∂N_a/∂ξ_j ∇ξ_j. Returns det J. */
static double map_gradients(int nodes, const double *X, const double reference[][3], double axis[3][3],
                            double gradient[][3])
{
    const double det = invert_jacobian(nodes, X, reference, axis);
    for (int a = 0; a < nodes; a++)
        for (int i = 0; i < 3; i++)
            gradient[a][i] = axis[0][i] * reference[a][0] + axis[1][i] * reference[a][1] + axis[2][i] * reference[a][2];
    return det;
}

double sp_element_gradients(int type, const double *X, const double slope[][3], double gradient[][3])
{
    double axis[3][3];
    return map_gradients(sp_element_types[type].nodes, X, slope, axis, gradient);
}

double sp_element_centre_gradients(int type, const double *X, double gradient[][3])
{
    static const double centre[3][3] = {[SP_TETRAHEDRON] = {0.25, 0.25, 0.25}, [SP_WEDGE] = {1.0 / 3, 1.0 / 3, 0}};
    const sp_element_type *of = &sp_element_types[type];
    double slope[SP_ELEMENT_NODES][3], axis[3][3], shape[SP_ELEMENT_NODES];

    sp_element_shape_functions(type, centre[of->shape], shape, slope);
    return map_gradients(of->nodes, X, slope, axis, gradient);
}

double sp_element_quadrature(const sp_reference *reference, const double *X, sp_quadrature *quadrature)
{
    double smallest = INFINITY;
    quadrature->count = reference->count;

    for (int g = 0; g < quadrature->count; g++) {
        /* The weights of the reference element become volumes by det J. */
        const double det = map_gradients(sp_element_types[reference->type].nodes, X, reference->slope[g],
                                         quadrature->axis[g], quadrature->gradient[g]);
        smallest = fmin(smallest, det);

        quadrature->weight[g] = det * reference->weight[g];
        memcpy(quadrature->place[g], reference->place[g], sizeof quadrature->place[g]);
    }
    return smallest;
}

double sp_element_regular_stretch(int type, int points_per_axis)
{
    const sp_element_type *of = &sp_element_types[type];
    double X[3 * SP_ELEMENT_NODES];
    sp_reference reference;
    sp_quadrature quadrature;
    sp_reference_at(type, sp_element_stiffness_rule(type, points_per_axis), &reference);
    for (int a = 0; a < of->nodes; a++) {
        double xi[3];
        sp_element_node(type, a, xi);
        /* The triangle with sides 1, and on it a point at the height of the regular tetrahedron. */
        if (of->shape != SP_HEXAHEDRON) {
            const double L[3] = {xi[0], xi[1], xi[2]};
            xi[0] = L[0] + 0.5 * L[1] + (of->shape == SP_TETRAHEDRON ? 0.5 * L[2] : 0);
            xi[1] = sqrt(0.75) * L[1] + (of->shape == SP_TETRAHEDRON ? sqrt(1.0 / 12) * L[2] : 0);
            xi[2] = of->shape == SP_TETRAHEDRON ? sqrt(2.0 / 3) * L[2] : 0.5 * L[2];
        }
        memcpy(X + 3 * a, xi, sizeof xi);
    }

    sp_element_quadrature(&reference, X, &quadrature);
    return sp_element_stretch(type, X, &quadrature);
}

double sp_element_stretch(int type, const double *X, const sp_quadrature *quadrature)
{
    const int nodes = sp_element_types[type].nodes, corners = sp_element_types[type].corners;
    double longest = 0, steepest = 0;

    /* The squares of the longest distance between corners and of the steepest gradient. */
    for (int a = 0; a < corners; a++)
        for (int b = a + 1; b < corners; b++) {
            const double d[3] = {X[3 * a] - X[3 * b], X[3 * a + 1] - X[3 * b + 1], X[3 * a + 2] - X[3 * b + 2]};
            longest = fmax(longest, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }

    for (int g = 0; g < quadrature->count; g++)
        for (int a = 0; a < nodes; a++) {
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

        /* strain m nᵀ + n mᵀ in Voigt notation, stress w C e */
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

        /* G_pq += w e_p : C e_q */
        for (int p = 0; p < count; p++)
            for (int q = p; q < count; q++)
                for (int i = 0; i < 6; i++)
                    G[p * count + q] += strain[p][i] * stress[q][i];
    }

    for (int p = 0; p < count; p++)
        for (int q = 0; q < p; q++)
            G[p * count + q] = G[q * count + p];
}

void sp_element_pairs(int nodes, int pair[][2])
{
    for (int a = 0, p = 0; a < nodes; a++)
        for (int b = a + 1; b < nodes; b++, p++) {
            pair[p][0] = a;
            pair[p][1] = b;
        }
}

void sp_element_gram(int nodes, const sp_quadrature *quadrature, const double C[36], double *G)
{
    int pair[SP_HEX_PAIRS][2];
    sp_element_pairs(nodes, pair);
    sp_element_product_gram(sp_pair_count(nodes), (const int(*)[2])pair, quadrature->count, quadrature->weight,
                            SP_ELEMENT_NODES, quadrature->gradient[0][0], C, G);
}

void sp_element_along(int nodes, const sp_quadrature *quadrature, const double direction[3], double *along)
{
    memset(along, 0, sizeof *along * (size_t)sp_pair_count(nodes));
    for (int g = 0; g < quadrature->count; g++) {
        double slope[8]; /* a·∇N */
        for (int a = 0; a < nodes; a++) {
            const double *m = quadrature->gradient[g][a];
            slope[a] = direction[0] * m[0] + direction[1] * m[1] + direction[2] * m[2];
        }

        /* ∫ aᵀ(−∇N_a ∇N_bᵀ) a dV for each pair */
        for (int a = 0, p = 0; a < nodes; a++)
            for (int b = a + 1; b < nodes; b++, p++)
                along[p] -= quadrature->weight[g] * slope[a] * slope[b];
    }
}

/* Symmetrizes strains of pairs: −sym(∇N_a ∇N_bᵀ) is the strain of d_ab; the sign cancels in G. */
static void pair_strain(const double m[3], const double n[3], double e[6])
{
    const double strain[6] = {m[0] * n[0],
                              m[1] * n[1],
                              m[2] * n[2],
                              m[1] * n[2] + m[2] * n[1],
                              m[0] * n[2] + m[2] * n[0],
                              m[0] * n[1] + m[1] * n[0]};
    memcpy(e, strain, sizeof strain);
}

/* Of all products at all points. */
static void product_strains(int count, const int product[][2], const sp_quadrature *quadrature, int fields,
                            const double *vector, double strain[][SP_HEX_PAIRS][6])
{
    for (int g = 0; g < quadrature->count; g++)
        for (int p = 0; p < count; p++)
            pair_strain(vector + 3 * (g * fields + product[p][0]), vector + 3 * (g * fields + product[p][1]),
                        strain[g][p]);
}

static void stress_of(const double C[36], double scale, const double e[6], double stress[6])
{
    for (int i = 0; i < 6; i++) {
        stress[i] = 0;
        for (int j = 0; j < 6; j++)
            stress[i] += scale * C[6 * i + j] * e[j];
    }
}

static void gram_of_strains(const sp_quadrature *quadrature, double strain[][SP_HEX_PAIRS][6], const double C[36],
                            double *G)
{
    memset(G, 0, sizeof *G * SP_HEX_PAIRS * SP_HEX_PAIRS);

    for (int g = 0; g < quadrature->count; g++)
        for (int q = 0; q < SP_HEX_PAIRS; q++) {
            double stress[6];
            stress_of(C, quadrature->weight[g], strain[g][q], stress);
            for (int p = 0; p <= q; p++)
                for (int i = 0; i < 6; i++)
                    G[p * SP_HEX_PAIRS + q] += strain[g][p][i] * stress[i];
        }

    for (int p = 0; p < SP_HEX_PAIRS; p++)
        for (int q = 0; q < p; q++)
            G[p * SP_HEX_PAIRS + q] = G[q * SP_HEX_PAIRS + p];
}

static void average_traces(const sp_quadrature *quadrature, double strain[][SP_HEX_PAIRS][6])
{
    double volume = 0;

    for (int g = 0; g < quadrature->count; g++)
        volume += quadrature->weight[g];
    for (int p = 0; p < SP_HEX_PAIRS; p++) {
        double mean = 0;
        for (int g = 0; g < quadrature->count; g++)
            mean += quadrature->weight[g] / volume * (strain[g][p][0] + strain[g][p][1] + strain[g][p][2]);

        /* Ē = E + (mean of tr E − tr E)/3 I */
        for (int g = 0; g < quadrature->count; g++) {
            const double trace = strain[g][p][0] + strain[g][p][1] + strain[g][p][2];
            for (int i = 0; i < 3; i++)
                strain[g][p][i] += (mean - trace) / 3;
        }
    }
}

bool sp_element_assumed(int type)
{
    return type == SP_HEX8B || type == SP_HEX8I;
}

/* The nine modes at point g. */
static void enhanced_modes(const sp_quadrature *quadrature, int g, const double axis[3][3], double mode[9][6])
{
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            const double unit[3] = {i == 0, i == 1, i == 2};
            pair_strain(unit, axis[j], mode[3 * j + i]);
            for (int k = 0; k < 6; k++)
                mode[3 * j + i][k] *= quadrature->place[g][j] / quadrature->weight[g];
        }
}

int sp_element_condensation(sp_context *context, const double *X, const sp_quadrature *quadrature, const double C[36],
                            sp_condensed_strains *condensation)
{
    double B[9][9] = {{0}}, shape[8], slope[8][3], gradient[8][3];
    const double centre[3] = {0};
    sp_element_shape_functions(SP_HEX8, centre, shape, slope);
    const double det = map_gradients(8, X, slope, condensation->axis, gradient);
    for (int k = 0; k < 9; k++)
        condensation->axis[k / 3][k % 3] *= det;

    /* B_nm = Σ w m_nᵀ C m_m, the stiffness of the modes alone */
    for (int g = 0; g < quadrature->count; g++) {
        double mode[9][6], stress[6];
        enhanced_modes(quadrature, g, (const double(*)[3])condensation->axis, mode);
        for (int m = 0; m < 9; m++) {
            stress_of(C, quadrature->weight[g], mode[m], stress);
            for (int n = 0; n < 9; n++)
                for (int k = 0; k < 6; k++)
                    B[n][m] += mode[n][k] * stress[k];
        }
    }

    /* The Cholesky factor of B, with the reciprocals of its diagonal, by which solving multiplies. */
    for (int i = 0, at = 0; i < 9; i++)
        for (int j = 0; j <= i; j++, at++) {
            double sum = B[i][j];
            for (int k = 0; k < j; k++)
                sum -= B[i][k] * B[j][k];
            if (i == j && !(sum > 0))
                return sp_fail(
                    context, SP_NUMERICAL,
                    "the incompatible modes of an element cannot be condensed: its material is not positive definite");
            B[i][j] = i == j ? sqrt(sum) : sum / B[j][j];
            condensation->factor[at] = i == j ? 1 / B[i][j] : B[i][j];
        }
    return SP_OK;
}

/* x ← B⁻¹ x. */
static void solve_modes(const double *factor, double x[9])
{
    for (int i = 0, at = 0; i < 9; i++, at++) {
        for (int k = 0; k < i; k++)
            x[i] -= factor[at++] * x[k];
        x[i] *= factor[at];
    }
    for (int i = 8; i >= 0; i--) {
        x[i] *= factor[i * (i + 3) / 2];
        for (int k = 0; k < i; k++)
            x[k] -= factor[i * (i + 1) / 2 + k] * x[i];
    }
}

/* Subtracts the modes from the strains of each product. */
static void condense_strains(const sp_condensed_strains *condensation, const sp_quadrature *quadrature,
                             double strain[][SP_HEX_PAIRS][6], const double C[36])
{
    for (int p = 0; p < SP_HEX_PAIRS; p++) {
        double x[9] = {0}, mode[9][6], stress[6];

        /* B x = Σ w mᵀ C e for the modes m */
        for (int g = 0; g < quadrature->count; g++) {
            stress_of(C, quadrature->weight[g], strain[g][p], stress);
            enhanced_modes(quadrature, g, (const double(*)[3])condensation->axis, mode);
            for (int m = 0; m < 9; m++)
                for (int k = 0; k < 6; k++)
                    x[m] += mode[m][k] * stress[k];
        }

        solve_modes(condensation->factor, x);

        for (int g = 0; g < quadrature->count; g++) {
            enhanced_modes(quadrature, g, (const double(*)[3])condensation->axis, mode);
            for (int m = 0; m < 9; m++)
                for (int k = 0; k < 6; k++)
                    strain[g][p][k] -= x[m] * mode[m][k];
        }
    }
}

int sp_element_assumed_gram(sp_context *context, int type, const double *X, const sp_quadrature *quadrature,
                            const int product[][2], int fields, const double *vector, const double C[36], double *G)
{
    double strain[8][SP_HEX_PAIRS][6];
    sp_condensed_strains condensation;

    /* The strains of the products take the assumed form, then G = Σ w Ē : C Ē. */
    product_strains(SP_HEX_PAIRS, product, quadrature, fields, vector, strain);
    if (type == SP_HEX8B)
        average_traces(quadrature, strain);
    else {
        SP_PASS(sp_element_condensation(context, X, quadrature, C, &condensation));
        condense_strains(&condensation, quadrature, strain, C);
    }

    gram_of_strains(quadrature, strain, C, G);
    return SP_OK;
}

void sp_element_face_areas(int type, int face, double X[][3], double area[SP_FACE_NODES][3], double size[SP_FACE_NODES])
{
    signed char node[SP_FACE_NODES];
    double place[SP_FACE_NODES][2], weight[SP_FACE_NODES];
    int corners;
    const int nodes = sp_element_face(type, face, node, &corners), points = sp_face_points(corners, place, weight);

    memset(area, 0, (size_t)nodes * sizeof *area);
    if (size)
        memset(size, 0, (size_t)nodes * sizeof *size);
    for (int g = 0; g < points; g++) {
        double xi[3], along[2][3], shape[SP_ELEMENT_NODES], slope[SP_ELEMENT_NODES][3];
        double tangent[2][3] = {{0}}, normal[3];

        /* ∂x/∂s and ∂x/∂t on the face, from differences to node 0, as Σ_a ∇N_a = 0 */
        sp_element_face_place(type, face, place[g][0], place[g][1], xi, along);
        sp_element_shape_functions(type, xi, shape, slope);
        for (int a = 0; a < sp_element_types[type].nodes; a++)
            for (int s = 0; s < 2; s++) {
                const double rate = sp_dot3(slope[a], along[s]);
                for (int i = 0; i < 3; i++)
                    tangent[s][i] += rate * (X[a][i] - X[0][i]);
            }

        /* ∫ N_a n dA */
        sp_cross3(tangent[0], tangent[1], normal);
        for (int a = 0; a < nodes; a++) {
            for (int i = 0; i < 3; i++)
                area[a][i] += weight[g] * shape[node[a]] * normal[i];
            if (size)
                size[a] += weight[g] * shape[node[a]] * sp_norm3(normal);
        }
    }
}

void sp_element_volume_mass(const sp_reference *reference, const double *X, const double *weight, double *mass)
{
    const int type = reference->type, nodes = sp_element_types[type].nodes;

    memset(mass, 0, sizeof *mass * (size_t)(nodes * nodes));
    for (int g = 0; g < reference->count; g++) {
        const double *shape = reference->shape[g];

        double axis[3][3], here;
        here = weight ? weight[g] : reference->weight[g] * invert_jacobian(nodes, X, reference->slope[g], axis);

        /* 4-node tetrahedra have ∫ N_a N_b dV = V/10 and V/20, which their one point does not give. */
        for (int a = 0; a < nodes; a++)
            for (int b = a; b < nodes; b++)
                mass[nodes * a + b] += type == SP_TET4 ? here * (a == b ? 0.1 : 0.05) : here * shape[a] * shape[b];
    }

    for (int a = 0; a < nodes; a++)
        for (int b = 0; b < a; b++)
            mass[nodes * a + b] = mass[nodes * b + a];
}
