#include "mesh/mesh.h"

#include "base/vec3.h"
#include "mesh/element_geometry.h"

#include <math.h>
#include <string.h>

const signed char sp_hex_corner[8][3] = {
    {-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1},
};

const signed char sp_hex_face[6][4] = {
    {0, 4, 7, 3}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 7, 6, 2}, {0, 3, 2, 1}, {4, 5, 6, 7},
};

const signed char sp_tet_face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

const sp_material *sp_mesh_material(const sp_mesh *mesh, int64_t element, sp_material *own)
{
    const sp_material *shared = &mesh->materials[mesh->region[element]];
    const double *factor = mesh->factor ? mesh->factor + 2 * element : NULL;
    bool scaled = factor && !(factor[0] == 1 && factor[1] == 1),
         directed = mesh->fibre && shared->fibre != SP_FIBRE_NONE;
    if (!scaled && !directed)
        return shared;
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

/* ∂x/∂ξ, ∂x/∂η, ∂x/∂ζ on the four edges along each: half the edge. In between they are bilinear. */
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
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                *jacobian++ = sp_determinant(tangent[0][n * k + j], tangent[1][n * k + i], tangent[2][n * j + i]);
}

static const double gauss2[2] = {-0.57735026918962576451, 0.57735026918962576451};    /* ±√(1/3) */
static const double gauss3[3] = {-0.77459666924148337704, 0, 0.77459666924148337704}; /* ±√(3/5) */

/* True when det J > 0 everywhere for certain: at any point the columns of J are means of edges, so they differ from the
 * columns at the centre by at most δ, the largest distance of an edge from the mean of its four, and det J from its
 * value there by at most 3 δ m² with m the longest edge. Undistorted elements pass here, at a fraction of the cost. */
static bool surely_positive(const double edge[3][4][3])
{
    double mean[3][3], delta = 0, longest = 0;
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

/* The least det J at the corners and the quadrature points; NaN when one is. */
static double hex_worst(const sp_mesh *mesh, const int64_t hex[8])
{
    const double ends[2] = {-1, 1};
    double edge[3][4][3], jacobian[8 + 27], worst = INFINITY;
    half_edges(mesh->vertices, hex, edge);
    int n = mesh->quadrature == 2 ? 2 : 3;
    grid_jacobians(edge, 2, ends, jacobian);
    grid_jacobians(edge, n, n == 2 ? gauss2 : gauss3, jacobian + 8);
    for (int i = 0; i < 8 + n * n * n; i++)
        if (jacobian[i] < worst || isnan(jacobian[i]))
            worst = jacobian[i];
    return worst;
}

double sp_mesh_worst_jacobian(const sp_mesh *mesh, int64_t element)
{
    int count;
    const int64_t *corner = sp_mesh_corners(mesh, element, &count);
    return count == 8 ? hex_worst(mesh, corner) : 6 * sp_tet_volume(mesh->vertices, corner);
}

bool sp_mesh_element_positive(const sp_mesh *mesh, int64_t element)
{
    int count;
    const int64_t *corner = sp_mesh_corners(mesh, element, &count);
    if (count == 4)
        return sp_tet_volume(mesh->vertices, corner) > 0;
    double edge[3][4][3];
    half_edges(mesh->vertices, corner, edge);
    return surely_positive(edge) || hex_worst(mesh, corner) > 0;
}

double sp_mesh_element_volume(const sp_mesh *mesh, int64_t element)
{
    int count;
    const int64_t *corner = sp_mesh_corners(mesh, element, &count);
    if (count == 4)
        return sp_tet_volume(mesh->vertices, corner);
    double edge[3][4][3], jacobian[8], volume = 0;
    half_edges(mesh->vertices, corner, edge);
    grid_jacobians(edge, 2, gauss2, jacobian);
    for (int i = 0; i < 8; i++)
        volume += jacobian[i];
    return volume;
}

/* Corner a of the mirrored element is corner mirror[a] of the old one: ζ → −ζ, or the last two corners change places.
 * Each is its own inverse. */
static const signed char hex_mirror[8] = {4, 5, 6, 7, 0, 1, 2, 3};
static const signed char tet_mirror[4] = {0, 1, 3, 2};

static const signed char *mirror_of(int count)
{
    return count == 8 ? hex_mirror : tet_mirror;
}

static bool corners_in_range(const sp_mesh *mesh, int64_t element)
{
    int count;
    const int64_t *corner = sp_mesh_corners(mesh, element, &count);
    for (int a = 0; a < count; a++)
        if (corner[a] < 0 || corner[a] >= mesh->vertex_count)
            return false;
    return true;
}

bool sp_mesh_element_turnable(const sp_mesh *mesh, int64_t element)
{
    if (!corners_in_range(mesh, element) || sp_mesh_element_positive(mesh, element))
        return false;
    int count;
    const int64_t *corner = sp_mesh_corners(mesh, element, &count);
    int64_t mirrored[8];
    for (int a = 0; a < count; a++)
        mirrored[a] = corner[mirror_of(count)[a]];
    return count == 8 ? hex_worst(mesh, mirrored) > 0 : sp_tet_volume(mesh->vertices, mirrored) > 0;
}

/* Weights belong to corners, so they change places with them. */
static void turn_surface(sp_mesh *mesh)
{
    sp_embedded_surface *surface = &mesh->surface;
    for (int64_t v = 0; v < surface->vertex_count; v++) {
        int64_t element = surface->element[v];
        if (element < 0 || element >= sp_mesh_element_count(mesh) || !sp_mesh_element_turnable(mesh, element))
            continue;
        int count = element < mesh->hex_count ? 8 : 4;
        if (surface->width < count)
            continue;
        double *weight = surface->weights + surface->width * v, mirrored[8];
        for (int a = 0; a < count; a++)
            mirrored[a] = weight[mirror_of(count)[a]];
        for (int a = 0; a < count; a++)
            weight[a] = mirrored[a];
    }
}

static void turn_element(sp_mesh *mesh, int64_t element)
{
    int64_t *corner = element < mesh->hex_count ? mesh->hex + 8 * element : mesh->tet + 4 * (element - mesh->hex_count);
    int count = element < mesh->hex_count ? 8 : 4;
    for (int a = 0; a < count; a++) {
        int b = mirror_of(count)[a];
        int64_t swapped = corner[a];
        if (a < b) {
            corner[a] = corner[b];
            corner[b] = swapped;
        }
    }
}

int64_t sp_mesh_inverted(sp_mesh *mesh, bool turn)
{
    int64_t count = 0;
    if (turn)
        turn_surface(mesh);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        if (turn && sp_mesh_element_turnable(mesh, e)) {
            turn_element(mesh, e);
            count++;
        } else if (!turn && corners_in_range(mesh, e)) {
            count += !sp_mesh_element_positive(mesh, e);
        }
    }
    return count;
}

int64_t sp_mesh_folded(const sp_mesh *mesh)
{
    int64_t count = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
        count += corners_in_range(mesh, e) && !sp_mesh_element_positive(mesh, e) && !sp_mesh_element_turnable(mesh, e);
    return count;
}
