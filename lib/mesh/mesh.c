#include "mesh/mesh.h"

#include "base/vec3.h"
#include "mesh/element_geometry.h"
#include "mesh/mesh_sets.h"

#include <math.h>
#include <string.h>

int sp_mesh_element_places(const sp_mesh *mesh, int64_t element, double X[SP_ELEMENT_NODES][3])
{
    int64_t within;
    const int type = sp_mesh_type(mesh, element, &within), nodes = sp_element_types[type].nodes;
    const int64_t *node = mesh->block[type].node + within * nodes;
    for (int a = 0; a < nodes; a++)
        memcpy(X[a], mesh->vertices + 3 * node[a], sizeof X[a]);
    return type;
}

int sp_mesh_width(const sp_mesh *mesh)
{
    int width = 0;
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (mesh->block[t].count > 0 && sp_element_types[t].nodes > width)
            width = sp_element_types[t].nodes;
    return width;
}

bool sp_mesh_linear(const sp_mesh *mesh)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (mesh->block[t].count > 0 && !sp_element_types[t].linear)
            return false;
    return true;
}

int sp_mesh_need_linear(sp_context *context, const sp_mesh *mesh, const char *what)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (mesh->block[t].count > 0 && !sp_element_types[t].linear)
            return sp_fail(context, SP_INPUT,
                           "%s is for 8-node hexahedra and 4-node tetrahedra; the mesh has elements of type %s (%s)",
                           what, sp_element_types[t].name, sp_element_types[t].title);
    return SP_OK;
}

const sp_material *sp_mesh_material(const sp_mesh *mesh, int64_t element, sp_material *own)
{
    const sp_material *shared = &mesh->materials[mesh->region[element]];
    const double *factor = mesh->factor ? mesh->factor + 2 * element : NULL;
    bool scaled = factor && !(factor[0] == 1 && factor[1] == 1),
         directed = mesh->fibre && shared->fibre != SP_FIBRE_NONE;

    if (!scaled && !directed)
        return shared;

    /* The element's own factors and direction of fibres replace those of the region. */
    if (scaled)
        sp_material_scale(shared, factor, own);
    else
        *own = *shared;

    if (directed)
        memcpy(own->fibre_direction, mesh->fibre + 3 * element, sizeof own->fibre_direction);
    return own;
}

void sp_mesh_free(sp_mesh *mesh)
{
    sp_pool_free(&mesh->pool);
    *mesh = (sp_mesh){0};
}

void sp_mesh_box(const sp_mesh *mesh, double low[3], double high[3])
{
    for (int c = 0; c < 3; c++)
        low[c] = high[c] = mesh->vertex_count > 0 ? mesh->vertices[c] : 0;

    for (int64_t v = 1; v < mesh->vertex_count; v++)
        for (int c = 0; c < 3; c++) {
            double x = mesh->vertices[3 * v + c];
            low[c] = x < low[c] ? x : low[c];
            high[c] = x > high[c] ? x : high[c];
        }
}

/* The edges of the hexahedron along ξ, η and ζ, in the order (−,−), (+,−), (−,+), (+,+) of the other two
 * coordinates. */
static const signed char hex_edge[3][4][2] = {
    {{0, 1}, {3, 2}, {4, 5}, {7, 6}},
    {{0, 3}, {1, 2}, {4, 7}, {5, 6}},
    {{0, 4}, {1, 5}, {3, 7}, {2, 6}},
};

/* Half edges, which are ∂x/∂ξ, ∂x/∂η, ∂x/∂ζ on the four edges along each coordinate. In between these are bilinear. */
static void half_edges(const double *vertices, const int64_t hex[8], double edge[3][4][3])
{
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 4; i++) {
            const double *from = vertices + 3 * hex[hex_edge[axis][i][0]],
                         *to = vertices + 3 * hex[hex_edge[axis][i][1]];
            for (int c = 0; c < 3; c++)
                edge[axis][i][c] = 0.5 * (to[c] - from[c]);
        }
}

static void bilinear(const double edge[4][3], double s, double t, double out[3])
{
    double w00 = 0.25 * (1 - s) * (1 - t), w10 = 0.25 * (1 + s) * (1 - t);
    double w01 = 0.25 * (1 - s) * (1 + t), w11 = 0.25 * (1 + s) * (1 + t);
    for (int c = 0; c < 3; c++)
        out[c] = w00 * edge[0][c] + w10 * edge[1][c] + w01 * edge[2][c] + w11 * edge[3][c];
}

/* det J at the n³ points of the grid s × s × s, n ≤ 3, number (n k + j) n + i at (s_i, s_j, s_k). */
static void grid_jacobians(const double edge[3][4][3], int n, const double *s, double *jacobian)
{
    double tangent[3][9][3];
    for (int axis = 0; axis < 3; axis++)
        for (int b = 0; b < n; b++)
            for (int a = 0; a < n; a++)
                bilinear(edge[axis], s[a], s[b], tangent[axis][n * b + a]);

    /* The tangent along an axis varies with the other two coordinates. */
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                *jacobian++ = sp_determinant(tangent[0][n * k + j], tangent[1][n * k + i], tangent[2][n * j + i]);
}

static const double gauss2[2] = {-0.57735026918962576451, 0.57735026918962576451};    /* ±√(1/3) */
static const double gauss3[3] = {-0.77459666924148337704, 0, 0.77459666924148337704}; /* ±√(3/5) */

/* Returns true if det J > 0 everywhere for certain. At any point the columns of J are means of edges, so that they
 * differ from the columns at the centre by at most δ, the largest distance of an edge from the mean of its four, and
 * det J differs from its value at the centre by at most 3 δ m², with m the longest edge. This test is cheap, and
 * undistorted elements pass it. */
static bool surely_positive(const double edge[3][4][3])
{
    double mean[3][3], delta = 0, longest = 0;
    /* The mean edges, δ and m. */
    for (int axis = 0; axis < 3; axis++) {
        bilinear(edge[axis], 0, 0, mean[axis]);
        for (int i = 0; i < 4; i++) {
            const double *e = edge[axis][i];
            double off[3] = {e[0] - mean[axis][0], e[1] - mean[axis][1], e[2] - mean[axis][2]};
            delta = fmax(delta, sp_norm3(off));
            longest = fmax(longest, sp_norm3(e));
        }
    }

    double rounding = 1e-14 * longest;
    return sp_determinant(mean[0], mean[1], mean[2]) > 3 * (delta + rounding) * longest * longest;
}

/* The least det J at the corners, unless these may be folded, and the quadrature points; NaN if one is NaN. */
static double hex_worst(const sp_mesh *mesh, int n, const int64_t hex[8])
{
    const double ends[2] = {-1, 1};

    double edge[3][4][3], jacobian[8 + 27], worst = INFINITY;
    /* det J at the corners, then at the quadrature points. */
    half_edges(mesh->vertices, hex, edge);
    grid_jacobians(edge, 2, ends, jacobian);

    grid_jacobians(edge, n, n == 2 ? gauss2 : gauss3, jacobian + 8);
    /* A comparison with NaN is false: it is asked for. */
    for (int i = mesh->folded ? 8 : 0; i < 8 + n * n * n; i++)
        if (jacobian[i] < worst || isnan(jacobian[i]))
            worst = jacobian[i];
    return worst;
}

static int hex_points(const sp_mesh *mesh, int type)
{
    return type == SP_HEX8 && mesh->quadrature != 2 ? 3 : 2;
}

/* det J [m³] where the slopes of the shape functions are ∂N_a/∂ξ_j. */
static double jacobian_at(const sp_mesh *mesh, int nodes, const int64_t *node, const double slope[][3])
{
    double J[3][3] = {{0}};

    /* J = Σ_a (x_a − x_0) ∂N_a/∂ξ, since Σ_a ∂N_a/∂ξ = 0 */
    for (int a = 1; a < nodes; a++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                J[j][i] += slope[a][j] * (mesh->vertices[3 * node[a] + i] - mesh->vertices[3 * node[0] + i]);
    return sp_determinant(J[0], J[1], J[2]);
}

/* The least det J at the points of a rule; NaN if one is NaN. */
static double worst_at_points(const sp_mesh *mesh, const int64_t *node, const sp_reference *reference)
{
    double worst = INFINITY;
    for (int g = 0; g < reference->count; g++) {
        const double here =
            jacobian_at(mesh, sp_element_types[reference->type].nodes, node, (const double(*)[3])reference->slope[g]);
        if (here < worst || isnan(here))
            worst = here;
    }
    return worst;
}

/* Of both rules of a type that has more nodes than a hexahedron's corners, or is a wedge. */
static double worst_of_rules(const sp_mesh *mesh, int type, const int64_t *node, const sp_reference *references)
{
    const sp_element_type *of = &sp_element_types[type];
    sp_reference own;
    double worst = INFINITY;
    /* The points of the stiffness, and those of the mass if they are others. */
    for (int r = 0; r < (of->stiffness == of->mass ? 1 : 2); r++) {
        if (!references)
            sp_reference_at(type, r ? of->mass : of->stiffness, &own);
        const double here = worst_at_points(mesh, node, references ? &references[2 * type + r] : &own);
        if (here < worst || isnan(here))
            worst = here;
    }
    return worst;
}

/* True if the matrix ∫ N_a N_b dV by the points of the mass rule is positive definite: all pivots of its Cholesky
 * decomposition are positive beyond rounding. */
static bool mass_is_definite(const sp_mesh *mesh, const int64_t *node, const sp_reference *reference)
{
    const int nodes = sp_element_types[reference->type].nodes;
    double L[SP_ELEMENT_NODES][SP_ELEMENT_NODES] = {{0}}, largest = 0;

    for (int g = 0; g < reference->count; g++) {
        const double weight =
            reference->weight[g] * jacobian_at(mesh, nodes, node, (const double(*)[3])reference->slope[g]);
        for (int a = 0; a < nodes; a++)
            for (int b = 0; b <= a; b++)
                L[a][b] += weight * reference->shape[g][a] * reference->shape[g][b];
    }
    for (int a = 0; a < nodes; a++)
        largest = fmax(largest, fabs(L[a][a]));

    for (int a = 0; a < nodes; a++)
        for (int b = 0; b <= a; b++) {
            double rest = L[a][b];
            for (int c = 0; c < b; c++)
                rest -= L[a][c] * L[b][c];
            /* NaN is not positive either. */
            if (a == b && !(rest > 1e-12 * largest))
                return false;
            L[a][b] = a == b ? sqrt(rest) : rest / L[b][b];
        }
    return true;
}

/* True if the points of the mass are others than those of the stiffness: an element can be folded at the first only. */
static bool rules_differ(int type)
{
    return sp_element_types[type].nodes > 4 && sp_element_types[type].stiffness != sp_element_types[type].mass;
}

/* With rules that differ: positive at the points of the stiffness, with a mass that is positive definite. */
static bool positive_in_effect(const sp_mesh *mesh, int type, const int64_t *node, const sp_reference *references,
                               bool *stiffness_positive)
{
    sp_reference own;
    if (!references)
        sp_reference_at(type, sp_element_types[type].stiffness, &own);
    *stiffness_positive = worst_at_points(mesh, node, references ? &references[2 * type] : &own) > 0;
    if (!*stiffness_positive)
        return false;

    if (!references)
        sp_reference_at(type, sp_element_types[type].mass, &own);
    return mass_is_definite(mesh, node, references ? &references[2 * type + 1] : &own);
}

static double worst_of(const sp_mesh *mesh, int type, const int64_t *node, const sp_reference *references)
{
    const sp_element_type *of = &sp_element_types[type];
    return of->nodes == 8   ? hex_worst(mesh, hex_points(mesh, type), node)
           : of->nodes == 4 ? 6 * sp_tet_volume(mesh->vertices, node)
                            : worst_of_rules(mesh, type, node, references);
}

static bool is_positive(const sp_mesh *mesh, int type, const int64_t *node, const sp_reference *references)
{
    bool stiffness_positive;
    return worst_of(mesh, type, node, references) > 0 ||
           (mesh->folded && rules_differ(type) &&
            positive_in_effect(mesh, type, node, references, &stiffness_positive));
}

int sp_mesh_references(sp_context *context, const sp_mesh *mesh, sp_pool *pool, sp_reference **references)
{
    *references = sp_pool_new(pool, 2 * SP_ELEMENT_TYPES, sizeof **references);
    SP_PASS(sp_allocated(context, *references));

    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (mesh->block[t].count > 0) {
            sp_reference_at(t, sp_element_stiffness_rule(t, mesh->quadrature), &(*references)[2 * t]);
            sp_reference_at(t, sp_element_mass_rule(t, mesh->quadrature), &(*references)[2 * t + 1]);
        }
    return SP_OK;
}

double sp_mesh_worst_jacobian(const sp_mesh *mesh, int64_t element)
{
    int64_t within;
    const int type = sp_mesh_type(mesh, element, &within);
    return worst_of(mesh, type, mesh->block[type].node + within * sp_element_types[type].nodes, NULL);
}

bool sp_mesh_element_positive(const sp_mesh *mesh, int64_t element, const sp_reference *references)
{
    int64_t within;
    const int type = sp_mesh_type(mesh, element, &within), count = sp_element_types[type].nodes;
    const int64_t *node = mesh->block[type].node + within * count;
    double edge[3][4][3];

    if (count == 8) {
        half_edges(mesh->vertices, node, edge);
        if (surely_positive(edge))
            return true;
    }
    return is_positive(mesh, type, node, references);
}

bool sp_mesh_element_mass_indefinite(const sp_mesh *mesh, int64_t element)
{
    int64_t within;
    bool stiffness_positive;
    const int type = sp_mesh_type(mesh, element, &within);
    return rules_differ(type) &&
           !positive_in_effect(mesh, type, mesh->block[type].node + within * sp_element_types[type].nodes, NULL,
                               &stiffness_positive) &&
           stiffness_positive;
}

double sp_mesh_node_jacobian(const sp_mesh *mesh, int64_t element)
{
    int64_t within;
    const int type = sp_mesh_type(mesh, element, &within), nodes = sp_element_types[type].nodes;
    const int64_t *node = mesh->block[type].node + within * nodes;
    double worst = INFINITY, xi[3], shape[SP_ELEMENT_NODES], slope[SP_ELEMENT_NODES][3];

    for (int a = 0; a < nodes; a++) {
        sp_element_node(type, a, xi);
        sp_element_shape_functions(type, xi, shape, slope);
        const double here = jacobian_at(mesh, nodes, node, (const double(*)[3])slope);
        if (here < worst || isnan(here))
            worst = here;
    }
    return worst;
}

double sp_mesh_element_volume(const sp_mesh *mesh, int64_t element)
{
    int64_t within;
    const int type = sp_mesh_type(mesh, element, &within), nodes = sp_element_types[type].nodes;
    const int64_t *node = mesh->block[type].node + within * nodes;
    double volume = 0;

    if (nodes == 4)
        return sp_tet_volume(mesh->vertices, node);

    /* The 2³ Gauss points are exact for the volume of a trilinear hexahedron. */
    if (nodes == 8) {
        double edge[3][4][3], jacobian[8];
        half_edges(mesh->vertices, node, edge);
        grid_jacobians(edge, 2, gauss2, jacobian);
        for (int i = 0; i < 8; i++)
            volume += jacobian[i];
        return volume;
    }

    sp_reference reference;
    sp_reference_at(type, sp_element_types[type].mass, &reference);
    for (int g = 0; g < reference.count; g++)
        volume += reference.weight[g] * jacobian_at(mesh, nodes, node, (const double(*)[3])reference.slope[g]);
    return volume;
}

double sp_mesh_volume(const sp_mesh *mesh)
{
    double volume = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
        volume += sp_mesh_element_volume(mesh, e);
    return volume;
}

static bool nodes_in_range(const sp_mesh *mesh, int64_t element)
{
    int count;
    const int64_t *node = sp_mesh_nodes(mesh, element, &count);
    for (int a = 0; a < count; a++)
        if (node[a] < 0 || node[a] >= mesh->vertex_count)
            return false;
    return true;
}

bool sp_mesh_element_turnable(const sp_mesh *mesh, int64_t element)
{
    if (!nodes_in_range(mesh, element) || sp_mesh_element_positive(mesh, element, NULL))
        return false;

    int64_t within, mirrored[SP_ELEMENT_NODES];
    signed char mirror[SP_ELEMENT_NODES];
    const int type = sp_mesh_type(mesh, element, &within), nodes = sp_element_types[type].nodes;
    /* An element can be turned if its mirror image is positive. */
    sp_element_mirror(type, mirror);
    for (int a = 0; a < nodes; a++)
        mirrored[a] = mesh->block[type].node[within * nodes + mirror[a]];
    return is_positive(mesh, type, mirrored, NULL);
}

/* Weights belong to nodes, and are exchanged with them. */
static void turn_surface(sp_mesh *mesh)
{
    sp_embedded_surface *surface = &mesh->surface;
    for (int64_t v = 0; v < surface->vertex_count; v++) {
        int64_t element = surface->element[v], within;
        if (element < 0 || element >= sp_mesh_element_count(mesh) || !sp_mesh_element_turnable(mesh, element))
            continue;

        const int type = sp_mesh_type(mesh, element, &within), nodes = sp_element_types[type].nodes;
        /* Only the weights of elements that are turned change places. */
        if (surface->width < nodes)
            continue;

        double *weight = surface->weights + surface->width * v, mirrored[SP_ELEMENT_NODES];
        signed char mirror[SP_ELEMENT_NODES];
        sp_element_mirror(type, mirror);
        for (int a = 0; a < nodes; a++)
            mirrored[a] = weight[mirror[a]];
        memcpy(weight, mirrored, (size_t)nodes * sizeof *weight);
    }
}

/* The number that face f has after an element is mirrored. */
static int mirrored_face(int type, int f)
{
    signed char mirror[SP_ELEMENT_NODES], old[SP_FACE_NODES], now[SP_FACE_NODES];
    int corners, others, found = f;

    sp_element_mirror(type, mirror);
    sp_element_face(type, f, old, &corners);
    for (int g = 0; g < sp_element_types[type].faces; g++) {
        /* The face g of the mirrored element that has the corners of f. */
        int same = 0;
        sp_element_face(type, g, now, &others);
        for (int a = 0; a < others; a++)
            for (int b = 0; b < corners; b++)
                same += mirror[now[a]] == old[b];

        if (others == corners && same == corners)
            found = g;
    }
    return found;
}

/* Faces in sets keep their nodes and get other numbers. */
static void turn_faces(sp_mesh *mesh)
{
    for (int64_t i = 0; i < mesh->set_count; i++) {
        sp_mesh_set *set = &mesh->sets[i];

        if (set->kind != SP_SET_FACES)
            continue;
        for (int64_t k = 0; k < set->count; k++) {
            int64_t *entry = set->index + 2 * k, within;
            if (sp_mesh_element_turnable(mesh, entry[0]))
                entry[1] = mirrored_face(sp_mesh_type(mesh, entry[0], &within), (int)entry[1]);
        }

        sp_mesh_sort_set(set);
    }
}

static void turn_element(sp_mesh *mesh, int64_t element)
{
    int64_t within, mirrored[SP_ELEMENT_NODES];
    signed char mirror[SP_ELEMENT_NODES];
    const int type = sp_mesh_type(mesh, element, &within), nodes = sp_element_types[type].nodes;
    int64_t *node = mesh->block[type].node + within * nodes;

    sp_element_mirror(type, mirror);
    for (int a = 0; a < nodes; a++)
        mirrored[a] = node[mirror[a]];
    memcpy(node, mirrored, (size_t)nodes * sizeof *node);
}

int64_t sp_mesh_inverted(sp_mesh *mesh, bool turn)
{
    int64_t count = 0;
    /* Surfaces and sets ask which elements are turned, and come before the elements. */
    if (turn) {
        turn_surface(mesh);
        turn_faces(mesh);
    }

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        if (turn && sp_mesh_element_turnable(mesh, e)) {
            turn_element(mesh, e);
            count++;
        } else if (!turn && nodes_in_range(mesh, e)) {
            count += !sp_mesh_element_positive(mesh, e, NULL);
        }
    }
    return count;
}

int64_t sp_mesh_folded(const sp_mesh *mesh)
{
    int64_t count = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
        count +=
            nodes_in_range(mesh, e) && !sp_mesh_element_positive(mesh, e, NULL) && !sp_mesh_element_turnable(mesh, e);
    return count;
}

/* Counts elements, and keeps the one with the least Jacobian relative to its volume. */
static void note_fold(const sp_mesh *mesh, int64_t element, double jacobian, sp_mesh_folds *folds)
{
    const double relative = jacobian / sp_mesh_element_volume(mesh, element);
    if (folds->count++ == 0 || relative < folds->relative) {
        folds->worst = element;
        folds->jacobian = jacobian;
        folds->relative = relative;
    }
}

void sp_mesh_find_folds(const sp_mesh *mesh, sp_mesh_folds *corners, sp_mesh_folds *masses, sp_mesh_folds *nodes)
{
    sp_mesh strict = *mesh, lenient = *mesh;
    strict.folded = false;
    lenient.folded = true;
    *corners = *masses = *nodes = (sp_mesh_folds){.worst = -1};

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int64_t within;
        const int count = sp_element_types[sp_mesh_type(mesh, e, &within)].nodes;
        if (!nodes_in_range(mesh, e))
            continue;

        if (!sp_mesh_element_positive(&strict, e, NULL)) {
            if (sp_mesh_element_positive(&lenient, e, NULL))
                note_fold(mesh, e, sp_mesh_worst_jacobian(&strict, e), count == 8 ? corners : masses);
        } else if (count != 4 && count != 8) {
            const double jacobian = sp_mesh_node_jacobian(mesh, e);
            if (!(jacobian > 0))
                note_fold(mesh, e, jacobian, nodes);
        }
    }
}
