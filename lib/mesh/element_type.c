#include "mesh/element_type.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Numbers of cells: VTK file formats; Gmsh manual, "MSH file format"; names: manuals of Abaqus, CalculiX, Medit and
 * COMSOL. */
const sp_element_type sp_element_types[] = {
    [SP_HEX8] = {"hex", "8-node hexahedron", SP_HEXAHEDRON, 8, 8, 6, .linear = true, .stiffness = SP_RULE_GAUSS_2,
                 .mass = SP_RULE_GAUSS_2, .vtk = 12, .gmsh = 5, .abaqus = "C3D8", .medit = "Hexahedra",
                 .comsol = "hex"},
    [SP_TET4] = {"tet", "4-node tetrahedron", SP_TETRAHEDRON, 4, 4, 4, .linear = true, .stiffness = SP_RULE_TET_1,
                 .mass = SP_RULE_TET_4, .vtk = 10, .gmsh = 4, .abaqus = "C3D4", .medit = "Tetrahedra", .comsol = "tet"},
    [SP_TET10] = {"tet10", "10-node tetrahedron", SP_TETRAHEDRON, 10, 4, 4, .stiffness = SP_RULE_TET_4,
                  .mass = SP_RULE_TET_15, .vtk = 24, .gmsh = 11, .abaqus = "C3D10", .medit = "TetrahedraP2",
                  .comsol = "tet2"},
    [SP_HEX20] = {"hex20", "20-node hexahedron", SP_HEXAHEDRON, 20, 8, 6, .stiffness = SP_RULE_GAUSS_3,
                  .mass = SP_RULE_GAUSS_3, .vtk = 25, .gmsh = 17, .abaqus = "C3D20"},
    [SP_HEX20R] = {"hex20r", "20-node hexahedron with reduced integration", SP_HEXAHEDRON, 20, 8, 6,
                   .stiffness = SP_RULE_GAUSS_2, .mass = SP_RULE_GAUSS_3, .vtk = 25, .gmsh = 17, .abaqus = "C3D20R"},
    [SP_HEX27] = {"hex27", "27-node hexahedron", SP_HEXAHEDRON, 27, 8, 6, .stiffness = SP_RULE_GAUSS_3,
                  .mass = SP_RULE_GAUSS_3, .vtk = 29, .gmsh = 12, .abaqus = "C3D27", .comsol = "hex2"},
    [SP_WEDGE6] = {"wedge6", "6-node wedge", SP_WEDGE, 6, 6, 5, .stiffness = SP_RULE_WEDGE_2, .mass = SP_RULE_WEDGE_6,
                   .vtk = 13, .gmsh = 6, .abaqus = "C3D6", .medit = "Prisms", .comsol = "prism"},
    [SP_WEDGE15] = {"wedge15", "15-node wedge", SP_WEDGE, 15, 6, 5, .stiffness = SP_RULE_WEDGE_9,
                    .mass = SP_RULE_WEDGE_18, .vtk = 26, .gmsh = 18, .abaqus = "C3D15"},
    [SP_WEDGE18] = {"wedge18", "18-node wedge", SP_WEDGE, 18, 6, 5, .stiffness = SP_RULE_WEDGE_18,
                    .mass = SP_RULE_WEDGE_18, .vtk = 32, .gmsh = 13, .abaqus = NULL, .comsol = "prism2"},
    [SP_HEX8B] = {"hex8b", "8-node hexahedron with averaged dilatation", SP_HEXAHEDRON, 8, 8, 6,
                  .stiffness = SP_RULE_GAUSS_2, .mass = SP_RULE_GAUSS_2, .vtk = 12, .gmsh = 5, .abaqus = "C3D8"},
    [SP_HEX8I] = {"hex8i", "8-node hexahedron with incompatible modes", SP_HEXAHEDRON, 8, 8, 6,
                  .stiffness = SP_RULE_GAUSS_2, .mass = SP_RULE_GAUSS_2, .vtk = 12, .gmsh = 5, .abaqus = "C3D8I"},
};
static_assert(sizeof sp_element_types / sizeof *sp_element_types == SP_ELEMENT_TYPES, "an element type lacks its row");

/* What all types of a shape share. Node corners + k of a quadratic type is the middle of edge k; then follow the
 * middles of the faces of four corners, in the order of the faces, and the middle of the volume. */
const signed char sp_corner_place[3][8][3] = {
    [SP_HEXAHEDRON] =
        {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}},
    [SP_TETRAHEDRON] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    [SP_WEDGE] = {{0, 0, -1}, {1, 0, -1}, {0, 1, -1}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}},
};

static const signed char edge[3][12][2] = {
    [SP_HEXAHEDRON] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}},
    [SP_TETRAHEDRON] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}},
    [SP_WEDGE] = {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}},
};
static const int edge_count[3] = {12, 6, 9};

static const signed char face[3][6][4] = {
    [SP_HEXAHEDRON] = {{0, 4, 7, 3}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 7, 6, 2}, {0, 3, 2, 1}, {4, 5, 6, 7}},
    [SP_TETRAHEDRON] = {{1, 2, 3, -1}, {0, 3, 2, -1}, {0, 1, 3, -1}, {0, 2, 1, -1}},
    [SP_WEDGE] = {{0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}, {0, 2, 1, -1}, {3, 4, 5, -1}},
};

static int edge_of(sp_element_shape shape, int a, int b)
{
    int k = 0;
    while (!(edge[shape][k][0] == a && edge[shape][k][1] == b) && !(edge[shape][k][0] == b && edge[shape][k][1] == a))
        k++;
    return k;
}

void sp_element_node(int type, int a, double xi[3])
{
    const sp_element_type *of = &sp_element_types[type];
    const int middle = a - of->corners, side = middle - edge_count[of->shape];

    /* A corner, the middle of an edge, the middle of a face of four corners, or that of the volume. */
    for (int j = 0; j < 3; j++) {
        xi[j] = 0;
        if (middle < 0)
            xi[j] = sp_corner_place[of->shape][a][j];
        else if (side < 0)
            for (int b = 0; b < 2; b++)
                xi[j] += 0.5 * sp_corner_place[of->shape][edge[of->shape][middle][b]][j];
        else if (side < of->faces && face[of->shape][side][3] >= 0)
            for (int b = 0; b < 4; b++)
                xi[j] += 0.25 * sp_corner_place[of->shape][face[of->shape][side][b]][j];
    }
}

/* ---- shape functions ---- */

/* The quadratic polynomial of ξ that is 1 at s and 0 at the other two of −1, 0, 1; and its derivative. */
static double line(double s, double x, double *slope)
{
    *slope = s == 0 ? -2 * x : x + 0.5 * s;
    return s == 0 ? 1 - x * x : 0.5 * x * (x + s);
}

static void hexahedron_27(const double xi[3], double shape[], double slope[][3])
{
    for (int a = 0; a < 27; a++) {
        double place[3], f[3], d[3];
        sp_element_node(SP_HEX27, a, place);

        /* N = Π f_i, ∂N/∂ξ_i = f_i′ Π_{j≠i} f_j */
        for (int i = 0; i < 3; i++)
            f[i] = line(place[i], xi[i], &d[i]);
        shape[a] = f[0] * f[1] * f[2];
        for (int i = 0; i < 3; i++)
            slope[a][i] = d[i] * f[(i + 1) % 3] * f[(i + 2) % 3];
    }
}

static void hexahedron_8(const double xi[3], double shape[], double slope[][3])
{
    for (int a = 0; a < 8; a++) {
        double s[3], f[3];
        for (int i = 0; i < 3; i++) {
            s[i] = sp_corner_place[SP_HEXAHEDRON][a][i];
            f[i] = 0.5 * (1 + s[i] * xi[i]);
        }

        shape[a] = f[0] * f[1] * f[2];
        for (int i = 0; i < 3; i++)
            slope[a][i] = 0.5 * s[i] * f[(i + 1) % 3] * f[(i + 2) % 3];
    }
}

/* Serendipity: corners (s·ξ − 2) Π ½(1 + s_i ξ_i), middles of edges along k (1 − ξ_k²) Π_{i≠k} ½(1 + s_i ξ_i). */
static void hexahedron_20(const double xi[3], double shape[], double slope[][3])
{
    for (int a = 0; a < 20; a++) {
        double s[3], f[3], d[3], sum = -2;

        sp_element_node(SP_HEX20, a, s);
        for (int i = 0; i < 3; i++) {
            f[i] = s[i] == 0 ? 1 - xi[i] * xi[i] : 0.5 * (1 + s[i] * xi[i]);
            d[i] = s[i] == 0 ? -2 * xi[i] : 0.5 * s[i];
            sum += s[i] * xi[i];
        }

        const double product = f[0] * f[1] * f[2];
        shape[a] = a < 8 ? product * sum : product;

        for (int i = 0; i < 3; i++) {
            const double along = d[i] * f[(i + 1) % 3] * f[(i + 2) % 3];
            slope[a][i] = a < 8 ? along * sum + product * s[i] : along;
        }
    }
}

/* ∂L_a/∂ξ_j of the barycentric coordinates of a triangle (n = 2) or tetrahedron (n = 3). */
static double barycentric_slope(int a, int j)
{
    return a == 0 ? -1 : a == j + 1;
}

static void tetrahedron(int nodes, const double xi[3], double shape[], double slope[][3])
{
    const double L[4] = {1 - xi[0] - xi[1] - xi[2], xi[0], xi[1], xi[2]};

    /* Corners: L_a, or L_a (2 L_a − 1). */
    for (int a = 0; a < 4; a++) {
        shape[a] = nodes == 4 ? L[a] : L[a] * (2 * L[a] - 1);
        for (int j = 0; j < 3; j++)
            slope[a][j] = (nodes == 4 ? 1 : 4 * L[a] - 1) * barycentric_slope(a, j);
    }

    /* Middles of edges: 4 L_a L_b. */
    for (int k = 4; k < nodes; k++) {
        const int a = edge[SP_TETRAHEDRON][k - 4][0], b = edge[SP_TETRAHEDRON][k - 4][1];
        shape[k] = 4 * L[a] * L[b];
        for (int j = 0; j < 3; j++)
            slope[k][j] = 4 * (barycentric_slope(a, j) * L[b] + L[a] * barycentric_slope(b, j));
    }
}

/* A product of a function t of the triangle and one of ζ. */
static void wedge_product(double t, const double dt[2], double z, double dz, double *shape, double slope[3])
{
    *shape = t * z;
    slope[0] = dt[0] * z;
    slope[1] = dt[1] * z;
    slope[2] = t * dz;
}

/* L_a (a = b), the quadratic L_a (2 L_a − 1), or 4 L_a L_b. */
static double triangle(bool quadratic, int a, int b, const double L[3], double slope[2])
{
    for (int j = 0; j < 2; j++)
        slope[j] = a != b ? 4 * (barycentric_slope(a, j) * L[b] + L[a] * barycentric_slope(b, j))
                          : (quadratic ? 4 * L[a] - 1 : 1) * barycentric_slope(a, j);
    return a != b ? 4 * L[a] * L[b] : quadratic ? L[a] * (2 * L[a] - 1) : L[a];
}

/* The corners of the triangle between which node a lies (the same twice at a corner). */
static void wedge_columns(int a, int column[2])
{
    const signed char *ends = a < 15 ? edge[SP_WEDGE][a < 6 ? 0 : a - 6] : face[SP_WEDGE][a - 15];
    for (int b = 0; b < 2; b++)
        column[b] = a < 6 ? a % 3 : ends[b] % 3;
}

/* 15 nodes: N = ½ t (1 + sζ) with the quadratic t of the triangle at edges of the triangles; ½ L (1 + sζ)(2L + sζ − 2)
 * at corners, L (1 − ζ²) between them. */
static void wedge(int nodes, const double xi[3], double shape[], double slope[][3])
{
    const double L[3] = {1 - xi[0] - xi[1], xi[0], xi[1]}, zeta = xi[2];
    for (int a = 0; a < nodes; a++) {
        double place[3], t, dt[2], z, dz;
        int column[2];
        sp_element_node(nodes == 18 ? SP_WEDGE18 : nodes == 15 ? SP_WEDGE15 : SP_WEDGE6, a, place);
        wedge_columns(a, column);

        const double s = place[2];
        t = triangle(nodes == 18, column[0], column[1], L, dt);
        /* The function of ζ: quadratic in all nodes, or linear at corners and 1 − ζ² between them. */
        if (nodes == 18)
            z = line(s, zeta, &dz);
        else {
            z = s == 0 ? 1 - zeta * zeta : 0.5 * (1 + s * zeta);
            dz = s == 0 ? -2 * zeta : 0.5 * s;
        }

        wedge_product(t, dt, z, dz, &shape[a], slope[a]);

        /* Corners of the serendipity element: ½ L (1 + sζ)(2L + sζ − 2). */
        if (nodes == 15 && a < 6) {
            const double sum = 2 * t + s * zeta - 2, product = t * z;
            shape[a] = product * sum;
            slope[a][0] = slope[a][0] * sum + product * 2 * dt[0];
            slope[a][1] = slope[a][1] * sum + product * 2 * dt[1];
            slope[a][2] = slope[a][2] * sum + product * s;
        }
    }
}

void sp_element_shape_functions(int type, const double xi[3], double shape[], double slope[][3])
{
    const sp_element_type *of = &sp_element_types[type];
    if (of->shape == SP_TETRAHEDRON)
        tetrahedron(of->nodes, xi, shape, slope);
    else if (of->shape == SP_WEDGE)
        wedge(of->nodes, xi, shape, slope);
    else
        (of->nodes == 8 ? hexahedron_8 : of->nodes == 20 ? hexahedron_20 : hexahedron_27)(xi, shape, slope);
}

/* ---- integration points ---- */

static const double gauss_place[4][3] = {[2] = {-0.57735026918962576451, 0.57735026918962576451},
                                         [3] = {-0.77459666924148337704, 0, 0.77459666924148337704}};
static const double gauss_weight[4][3] = {[2] = {1, 1}, [3] = {5.0 / 9, 8.0 / 9, 5.0 / 9}};

static int cube_points(int n, double place[][3], double weight[])
{
    int at = 0;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++, at++) {
                const double xi[3] = {gauss_place[n][i], gauss_place[n][j], gauss_place[n][k]};
                memcpy(place[at], xi, sizeof xi);
                weight[at] = gauss_weight[n][i] * gauss_weight[n][j] * gauss_weight[n][k];
            }
    return at;
}

/* The n + 1 points of a triangle (n = 2) or tetrahedron (n = 3) with one barycentric coordinate 1 − n a and the others
 * a. `each` is the weight, a part of the whole. */
static int star(int n, double a, double each, int at, double place[][3], double weight[])
{
    for (int p = 0; p <= n; p++, at++) {
        for (int j = 0; j < n; j++)
            place[at][j] = p == j + 1 ? 1 - n * a : a;
        /* The reference triangle has the area 1/2, the tetrahedron the volume 1/6. */
        weight[at] = n == 3 ? each / 6 : each / 2;
    }
    return at;
}

/* The six points of a tetrahedron with two coordinates a and two ½ − a. */
static int tetrahedron_six(double a, double each, int at, double place[][3], double weight[])
{
    for (int p = 0; p < 6; p++, at++) {
        for (int j = 0; j < 3; j++)
            place[at][j] = edge[SP_TETRAHEDRON][p][0] == j + 1 || edge[SP_TETRAHEDRON][p][1] == j + 1 ? a : 0.5 - a;
        weight[at] = each / 6;
    }
    return at;
}

/* 15 points, degree 5: A. H. Stroud, Approximate Calculation of Multiple Integrals (1971), T3: 5-1. */
static int tetrahedron_points(int count, double place[][3], double weight[])
{
    if (count == 4)
        return star(3, (5 - sqrt(5)) / 20, 0.25, 0, place, weight);

    /* The centre, and in the rule of 15 points two stars and the six points of the edges. */
    place[0][0] = place[0][1] = place[0][2] = 0.25;
    weight[0] = (count == 1 ? 1 : 16.0 / 135) / 6;
    if (count == 1)
        return 1;

    const double root = sqrt(15);
    int at = star(3, (7 + root) / 34, (2665 - 14 * root) / 37800, 1, place, weight);
    at = star(3, (7 - root) / 34, (2665 + 14 * root) / 37800, at, place, weight);
    return tetrahedron_six((10 - 2 * root) / 40, 10.0 / 189, at, place, weight);
}

/* One point, three of degree 2, or six of degree 4: D. A. Dunavant, Int. J. Numer. Meth. Engng 21 (1985). */
static void triangle_points(int count, double place[6][3], double weight[6])
{
    place[0][0] = place[0][1] = 1.0 / 3;
    weight[0] = 0.5;
    if (count == 3)
        star(2, 1.0 / 6, 1.0 / 3, 0, place, weight);
    else if (count == 6)
        star(2, 0.09157621350977074345957146340220, 0.10995174365532186763832632490021,
             star(2, 0.44594849091596488631832925388305, 0.22338158967801146569500700843312, 0, place, weight), place,
             weight);
}

static int wedge_points(int of_triangle, int n, double place[][3], double weight[])
{
    double at[6][3], each[6];
    int count = 0;

    triangle_points(of_triangle, at, each);
    for (int k = 0; k < n; k++)
        for (int p = 0; p < of_triangle; p++, count++) {
            place[count][0] = at[p][0];
            place[count][1] = at[p][1];
            place[count][2] = gauss_place[n][k];
            weight[count] = each[p] * gauss_weight[n][k];
        }
    return count;
}

int sp_rule_points(sp_rule rule, double place[SP_QUADRATURE_MAX][3], double weight[SP_QUADRATURE_MAX])
{
    switch (rule) {
    case SP_RULE_GAUSS_2:
        return cube_points(2, place, weight);
    case SP_RULE_GAUSS_3:
        return cube_points(3, place, weight);
    case SP_RULE_TET_1:
        return tetrahedron_points(1, place, weight);
    case SP_RULE_TET_4:
        return tetrahedron_points(4, place, weight);
    case SP_RULE_TET_15:
        return tetrahedron_points(15, place, weight);
    case SP_RULE_WEDGE_2:
        return wedge_points(1, 2, place, weight);
    case SP_RULE_WEDGE_6:
        return wedge_points(3, 2, place, weight);
    case SP_RULE_WEDGE_9:
        return wedge_points(3, 3, place, weight);
    case SP_RULE_WEDGE_18:
        return wedge_points(6, 3, place, weight);
    }
    return 0;
}

sp_rule sp_element_stiffness_rule(int type, int points_per_axis)
{
    return type == SP_HEX8 && points_per_axis == 3 ? SP_RULE_GAUSS_3 : sp_element_types[type].stiffness;
}

sp_rule sp_element_mass_rule(int type, int points_per_axis)
{
    return type == SP_HEX8 ? sp_element_stiffness_rule(type, points_per_axis) : sp_element_types[type].mass;
}

void sp_reference_at(int type, sp_rule rule, sp_reference *reference)
{
    reference->type = type;
    reference->count = sp_rule_points(rule, reference->place, reference->weight);
    for (int g = 0; g < reference->count; g++)
        sp_element_shape_functions(type, reference->place[g], reference->shape[g], reference->slope[g]);
}

/* ---- faces ---- */

int sp_element_face(int type, int f, signed char node[SP_FACE_NODES], int *corners)
{
    const sp_element_type *of = &sp_element_types[type];
    const signed char *corner = face[of->shape][f];
    *corners = corner[3] < 0 ? 3 : 4;
    int count = 0;
    for (; count < *corners; count++)
        node[count] = corner[count];

    if (of->nodes == of->corners)
        return count;

    /* Middles of the edges around the face, then its own middle. */
    for (int a = 0; a < *corners; a++)
        node[count++] = (signed char)(of->corners + edge_of(of->shape, corner[a], corner[(a + 1) % *corners]));
    const int middles = of->corners + edge_count[of->shape];
    if (of->nodes > middles && *corners == 4)
        node[count++] = (signed char)(middles + f);
    return count;
}

int sp_face_points(int corners, double place[SP_FACE_NODES][2], double weight[SP_FACE_NODES])
{
    double at[6][3], each[6];

    /* Six points of degree 4 on a triangle, 3 × 3 Gauss points on a quadrilateral. */
    if (corners == 3) {
        triangle_points(6, at, each);
        for (int p = 0; p < 6; p++) {
            place[p][0] = at[p][0];
            place[p][1] = at[p][1];
            weight[p] = each[p];
        }
        return 6;
    }

    for (int p = 0; p < 9; p++) {
        place[p][0] = gauss_place[3][p % 3];
        place[p][1] = gauss_place[3][p / 3];
        weight[p] = gauss_weight[3][p % 3] * gauss_weight[3][p / 3];
    }
    return 9;
}

void sp_element_face_place(int type, int f, double s, double t, double xi[3], double along[2][3])
{
    static const signed char sign[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    const sp_element_shape shape = sp_element_types[type].shape;
    const signed char *corner = face[shape][f];
    const int corners = corner[3] < 0 ? 3 : 4;

    memset(xi, 0, 3 * sizeof *xi);
    memset(along, 0, 6 * sizeof **along);

    /* The linear shape functions N of the corners and their slopes, bilinear or barycentric. */
    const double L[3] = {1 - s - t, s, t};
    for (int a = 0; a < corners; a++) {
        const double u = 0.5 * (1 + sign[a][0] * s), v = 0.5 * (1 + sign[a][1] * t), N = corners == 4 ? u * v : L[a],
                     Ns = corners == 4 ? 0.5 * sign[a][0] * v : barycentric_slope(a, 0),
                     Nt = corners == 4 ? 0.5 * sign[a][1] * u : barycentric_slope(a, 1);

        for (int i = 0; i < 3; i++) {
            xi[i] += N * sp_corner_place[shape][corner[a]][i];
            along[0][i] += Ns * sp_corner_place[shape][corner[a]][i];
            along[1][i] += Nt * sp_corner_place[shape][corner[a]][i];
        }
    }
}

int sp_face_triangles(int nodes, int corners, const signed char (**triangle)[3])
{
    static const signed char three[1][3] = {{0, 1, 2}}, six[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}},
                             eight[6][3] = {{0, 4, 7}, {4, 1, 5}, {5, 2, 6}, {6, 3, 7}, {4, 5, 6}, {4, 6, 7}},
                             nine[8][3] = {{0, 4, 8}, {4, 1, 8}, {1, 5, 8}, {5, 2, 8},
                                           {2, 6, 8}, {6, 3, 8}, {3, 7, 8}, {7, 0, 8}};
    *triangle = corners == 3 ? (nodes == 3 ? three : six) : nodes == 8 ? eight : nine;
    return corners == 3 ? (nodes == 3 ? 1 : 4) : nodes == 8 ? 6 : 8;
}

/* Gmsh manual, "Node ordering". */
int sp_element_gmsh_node(int type, int a)
{
    static const signed char tet10[10] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 8},
                             hex27[27] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  11, 13, 9,  16, 18,
                                          19, 17, 10, 12, 14, 15, 22, 23, 21, 24, 20, 25, 26},
                             wedge18[18] = {0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11, 15, 17, 16};
    const sp_element_type *of = &sp_element_types[type];

    if (of->nodes == of->corners)
        return a;
    return of->shape == SP_TETRAHEDRON ? tet10[a] : of->shape == SP_WEDGE ? wedge18[a] : hex27[a];
}

int sp_element_abaqus_face(int type, int number)
{
    /* By S1, S2, … */
    static const signed char face_of[3][6] = {[SP_HEXAHEDRON] = {4, 5, 2, 1, 3, 0},
                                              [SP_TETRAHEDRON] = {3, 2, 0, 1, -1, -1},
                                              [SP_WEDGE] = {3, 4, 0, 1, 2, -1}};
    return number >= 1 && number <= 6 ? face_of[sp_element_types[type].shape][number - 1] : -1;
}

bool sp_element_on_edge(int type, int a, int b)
{
    const sp_element_type *of = &sp_element_types[type];
    for (int k = 0; k < edge_count[of->shape]; k++) {
        const int first = edge[of->shape][k][0], last = edge[of->shape][k][1], middle = of->corners + k;
        /* Ends of an edge in linear elements; in quadratic ones its middle and an end. */
        if (of->nodes == of->corners
                ? (a == first && b == last) || (a == last && b == first)
                : (a == middle && (b == first || b == last)) || (b == middle && (a == first || a == last)))
            return true;
    }
    return false;
}

void sp_element_mirror(int type, signed char mirror[SP_ELEMENT_NODES])
{
    const sp_element_type *of = &sp_element_types[type];

    for (int a = 0; a < of->nodes; a++) {
        double xi[3], other[3];
        sp_element_node(type, a, xi);

        /* Corners 2 and 3 of a tetrahedron are exchanged; other shapes are reflected in ζ. */
        if (of->shape == SP_TETRAHEDRON) {
            const double kept = xi[1];
            xi[1] = xi[2];
            xi[2] = kept;
        } else
            xi[2] = -xi[2];

        /* The node at the mirrored place takes the number. */
        for (int b = 0; b < of->nodes; b++) {
            sp_element_node(type, b, other);
            if (other[0] == xi[0] && other[1] == xi[1] && other[2] == xi[2])
                mirror[a] = (signed char)b;
        }
    }
}
