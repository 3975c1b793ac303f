/* Splits hexahedra into tetrahedra, without new vertices and with matching faces. */
#include "mesh/mesh.h"

#include "mesh/element_geometry.h"
#include "mesh/mesh_sets.h"

#include <math.h>
#include <string.h>

/* Six tetrahedra: the cone from the lowest vertex over the three faces that do not contain it, each of which is split
 * along the diagonal through its own lowest vertex. This also splits the three faces that contain the lowest vertex
 * along the diagonal through it, which is their lowest vertex too. If vertices are numbered by z, y, x this is Kuhn's
 * subdivision around the diagonal 0–6. */
static void split_hex(const int64_t hex[8], int64_t tet[6][4])
{
    int apex = 0;
    for (int a = 1; a < 8; a++)
        if (hex[a] < hex[apex])
            apex = a;

    int next = 0;
    for (int f = 0; f < 6; f++) {
        int64_t quad[4];
        signed char face[SP_FACE_NODES];
        int corners;
        bool touches = false;

        sp_element_face(SP_HEX8, f, face, &corners);
        for (int a = 0; a < 4; a++) {
            quad[a] = hex[face[a]];
            touches |= face[a] == apex;
        }

        if (touches)
            continue;

        /* The cone over both halves of the face. */
        int lowest = sp_quad_lowest(quad);
        for (int half = 1; half <= 2; half++, next++) {
            /* The face is outward. Seen from the apex its triangles are therefore clockwise, which means det > 0. */
            tet[next][0] = hex[apex];
            tet[next][1] = quad[lowest];
            tet[next][2] = quad[(lowest + half) % 4];
            tet[next][3] = quad[(lowest + half + 1) % 4];
        }
    }
}

static int64_t split_index(const sp_mesh *mesh, int64_t element)
{
    return element < mesh->block[SP_HEX8].count ? 6 * element : element + 5 * mesh->block[SP_HEX8].count;
}

static int split_elements(sp_context *context, const sp_mesh *mesh, sp_mesh *split)
{
    for (int64_t e = 0; e < mesh->block[SP_HEX8].count; e++) {
        int64_t tet[6][4];

        split_hex(mesh->block[SP_HEX8].node + 8 * e, tet);
        memcpy(split->block[SP_TET4].node + 24 * e, tet, sizeof tet);

        for (int t = 0; t < 6; t++) {
            double volume = sp_tet_volume(mesh->vertices, tet[t]);
            if (!(volume > 0))
                return sp_fail(
                    context, SP_INPUT,
                    "hex: element %lld is too distorted to be split: a tetrahedron would have the volume %g m3",
                    (long long)e, volume);

            split->region[6 * e + t] = mesh->region[e];
            if (mesh->factor)
                memcpy(split->factor + 2 * (6 * e + t), mesh->factor + 2 * e, 2 * sizeof *mesh->factor);
            if (mesh->fibre)
                memcpy(split->fibre + 3 * (6 * e + t), mesh->fibre + 3 * e, 3 * sizeof *mesh->fibre);
        }
    }

    /* The tetrahedra of the mesh follow those of the hexahedra. */
    int64_t first = 6 * mesh->block[SP_HEX8].count;
    if (mesh->block[SP_TET4].count > 0) {
        memcpy(split->block[SP_TET4].node + 4 * first, mesh->block[SP_TET4].node,
               (size_t)mesh->block[SP_TET4].count * 4 * sizeof *mesh->block[SP_TET4].node);
        if (mesh->factor)
            memcpy(split->factor + 2 * first, mesh->factor + 2 * mesh->block[SP_HEX8].count,
                   (size_t)mesh->block[SP_TET4].count * 2 * sizeof *mesh->factor);
        if (mesh->fibre)
            memcpy(split->fibre + 3 * first, mesh->fibre + 3 * mesh->block[SP_HEX8].count,
                   (size_t)mesh->block[SP_TET4].count * 3 * sizeof *mesh->fibre);
        memcpy(split->region + first, mesh->region + mesh->block[SP_HEX8].count,
               (size_t)mesh->block[SP_TET4].count * sizeof *mesh->region);
    }
    return SP_OK;
}

/* Barycentric coordinates of x by Cramer's rule on x − x0; the first one is 1 minus the others. */
static void barycentric(const double *vertices, const int64_t tet[4], const double x[3], double weight[4])
{
    double edge[3][3], to[3];

    for (int c = 0; c < 3; c++) {
        to[c] = x[c] - vertices[3 * tet[0] + c];
        for (int a = 0; a < 3; a++)
            edge[a][c] = vertices[3 * tet[a + 1] + c] - vertices[3 * tet[0] + c];
    }

    /* Cramer's rule: the column of the edge is replaced by x − x0. */
    double det = sp_determinant(edge[0], edge[1], edge[2]);
    weight[1] = sp_determinant(to, edge[1], edge[2]) / det;
    weight[2] = sp_determinant(edge[0], to, edge[2]) / det;
    weight[3] = sp_determinant(edge[0], edge[1], to) / det;
    weight[0] = 1 - weight[1] - weight[2] - weight[3];
}

/* The tetrahedron of the hexahedron that contains x most deeply, or is nearest to containing it (faces may be curved,
 * and imported surfaces may lie outside the mesh): the one whose least weight is largest, of equal ones the first. */
static int64_t deepest(const double *vertices, const int64_t *tet, const double x[3], double weight[4])
{
    double best = -INFINITY;
    int64_t found = 0;

    for (int t = 0; t < 6; t++) {
        double tried[4];
        barycentric(vertices, tet + 4 * t, x, tried);

        double least = fmin(fmin(tried[0], tried[1]), fmin(tried[2], tried[3]));
        if (t == 0 || least > best) {
            best = least;
            found = t;
            memcpy(weight, tried, sizeof tried);
        }
    }
    return found;
}

static void split_surface(const sp_mesh *mesh, sp_mesh *split)
{
    const sp_embedded_surface *from = &mesh->surface;
    sp_embedded_surface *to = &split->surface;
    for (int64_t v = 0; v < from->vertex_count; v++) {
        int64_t first = split_index(mesh, from->element[v]);

        to->element[v] = first;
        /* A vertex in a hexahedron gets the weights in one of its tetrahedra; others keep theirs. */
        if (from->element[v] < mesh->block[SP_HEX8].count)
            to->element[v] += deepest(mesh->vertices, split->block[SP_TET4].node + 4 * first, from->vertices + 3 * v,
                                      to->weights + 4 * v);
        else
            memcpy(to->weights + 4 * v, from->weights + from->width * v, 4 * sizeof *to->weights);
    }
}

/* Adds to `list` [int64_t] the two triangles, as faces of tetrahedra, that cover a face of a hexahedron. */
static bool split_face(const sp_mesh *mesh, const sp_mesh *split, int64_t element, int f, sp_list *list)
{
    signed char quad[SP_FACE_NODES], face[SP_FACE_NODES];
    int corners;
    const int64_t *hex = mesh->block[SP_HEX8].node + 8 * element;

    sp_element_face(SP_HEX8, f, quad, &corners);
    for (int64_t t = 6 * element; t < 6 * element + 6; t++)
        for (int g = 0; g < 4; g++) {
            int found = 0;

            sp_element_face(SP_TET4, g, face, &corners);
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 4; b++)
                    found += split->block[SP_TET4].node[4 * t + face[a]] == hex[quad[b]];

            /* A face of a tetrahedron covers a half if its three corners belong to the quadrilateral. */
            int64_t *to = found == 3 ? sp_list_add(list, 2, sizeof *to) : NULL;
            if (found == 3 && !to)
                return false;
            if (to)
                memcpy(to, (const int64_t[]){t, g}, 2 * sizeof *to);
        }
    return true;
}

/* One set of elements or faces; its entries are collected in `list` [int64_t]. */
static bool split_set(const sp_mesh *mesh, const sp_mesh *split, const sp_mesh_set *set, sp_list *list)
{
    const int width = sp_set_width(set->kind);
    bool done = true;

    list->count = 0;
    for (int64_t i = 0; i < set->count && done; i++) {
        const int64_t element = set->index[width * i], first = split_index(mesh, element);
        const int64_t pieces = element < mesh->block[SP_HEX8].count && set->kind == SP_SET_ELEMENTS ? 6 : 1;

        /* Faces of hexahedra become two triangles, hexahedra six tetrahedra, and the rest gets new numbers. */
        if (set->kind == SP_SET_FACES && element < mesh->block[SP_HEX8].count) {
            done = split_face(mesh, split, element, (int)set->index[2 * i + 1], list);
            continue;
        }

        int64_t *to = sp_list_add(list, pieces * width, sizeof *to);
        if (!to)
            return false;
        for (int64_t k = 0; k < pieces; k++)
            to[width * k] = first + k;
        if (width == 2)
            to[1] = set->index[2 * i + 1];
    }
    return done;
}

static int split_sets(sp_context *context, const sp_mesh *mesh, sp_mesh *split)
{
    sp_list list = {0};
    int status = SP_OK;
    for (int64_t i = 0; i < mesh->set_count; i++) {
        const sp_mesh_set *set = &mesh->sets[i];

        /* Vertices keep their numbers. */
        const bool vertices = set->kind == SP_SET_VERTICES;
        if (!vertices && !split_set(mesh, split, set, &list)) {
            status = sp_fail_memory(context);
            goto done;
        }

        SP_TRY(sp_mesh_add_to_set(context, split, set->name, set->kind,
                                  vertices ? set->count : list.count / sp_set_width(set->kind),
                                  vertices ? set->index : list.data));
    }
done:
    sp_list_free(&list);
    return status;
}

int sp_mesh_split(sp_context *context, const sp_mesh *mesh, sp_mesh *split)
{
    const sp_embedded_surface *surface = &mesh->surface;
    int64_t count;

    *split = (sp_mesh){0};
    int status = sp_mesh_need_linear(context, mesh, "splitting into tetrahedra");
    if (status != SP_OK)
        return status;

    if (__builtin_mul_overflow(mesh->block[SP_HEX8].count, 6, &count) ||
        __builtin_add_overflow(count, mesh->block[SP_TET4].count, &count) || count > INT64_MAX / 4)
        return sp_fail(context, SP_INPUT, "%lld hexahedra are too many to be split",
                       (long long)mesh->block[SP_HEX8].count);

    sp_pool *pool = &split->pool;
    split->vertex_count = mesh->vertex_count;
    split->vertices = sp_pool_copy(pool, mesh->vertices, mesh->vertex_count, 3 * sizeof *mesh->vertices);
    split->block[SP_TET4].count = count;
    split->block[SP_TET4].node = sp_pool_raw(pool, count, 4 * sizeof *split->block[SP_TET4].node);

    split->region = sp_pool_raw(pool, count, sizeof *split->region);
    split->factor = mesh->factor ? sp_pool_raw(pool, count, 2 * sizeof *split->factor) : NULL;
    split->fibre = mesh->fibre ? sp_pool_raw(pool, count, 3 * sizeof *split->fibre) : NULL;

    split->fixed_count = mesh->fixed_count;
    split->fixed = sp_pool_copy(pool, mesh->fixed, mesh->fixed_count, sizeof *mesh->fixed);
    split->fixed_axes = sp_pool_copy(pool, mesh->fixed_axes, mesh->fixed_count, sizeof *mesh->fixed_axes);
    split->quadrature = mesh->quadrature;
    split->up = mesh->up;

    split->material_count = mesh->material_count;
    split->materials = sp_pool_copy(pool, mesh->materials, mesh->material_count, sizeof *mesh->materials);

    split->surface.vertex_count = surface->vertex_count;
    split->surface.triangle_count = surface->triangle_count;
    split->surface.vertices =
        sp_pool_copy(pool, surface->vertices, surface->vertex_count, 3 * sizeof *surface->vertices);
    split->surface.triangles =
        sp_pool_copy(pool, surface->triangles, surface->triangle_count, 3 * sizeof *surface->triangles);
    split->surface.element = sp_pool_raw(pool, surface->vertex_count, sizeof *surface->element);
    split->surface.width = 4;
    split->surface.weights = sp_pool_raw(pool, surface->vertex_count, 4 * sizeof *surface->weights);

    status = pool->failed ? sp_fail_memory(context) : split_elements(context, mesh, split);
    if (status == SP_OK) {
        split_surface(mesh, split);
        status = split_sets(context, mesh, split);
    }

    if (status != SP_OK)
        sp_mesh_free(split);
    return status;
}
