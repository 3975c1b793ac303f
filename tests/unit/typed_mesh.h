/* Boxes of elements of any type. */
#ifndef TESTS_UNIT_TYPED_MESH_H
#define TESTS_UNIT_TYPED_MESH_H

#include "bodies.h"

/* The corners of the elements that a cell of a grid is divided into, in cell coordinates 0 or 1: one hexahedron, six
 * tetrahedra around the diagonal 0–6, two wedges. */
static const int typed_tets[6][4][3] = {
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 0}, {0, 1, 0}, {1, 1, 1}},
    {{0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {1, 1, 1}}, {{0, 0, 0}, {0, 1, 1}, {0, 0, 1}, {1, 1, 1}},
    {{0, 0, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}}, {{0, 0, 0}, {1, 0, 1}, {1, 0, 0}, {1, 1, 1}}};
static const int typed_wedges[2][6][3] = {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}},
                                          {{0, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {0, 1, 1}}};

static inline int typed_pieces(int type)
{
    return sp_element_types[type].shape == SP_HEXAHEDRON ? 1 : sp_element_types[type].shape == SP_WEDGE ? 2 : 6;
}

/* The place of node a of a piece, in half cells from the corner of its cell. */
static inline void typed_node(int type, int piece, int a, int half[3])
{
    const sp_element_type *of = &sp_element_types[type];
    double xi[3], shape[8], slope[8][3];
    sp_element_node(type, a, xi);
    sp_element_shape_functions(sp_element_linear_type(type), xi, shape, slope); /* straight edges */
    for (int i = 0; i < 3; i++) {
        double x = 0;
        for (int c = 0; c < of->corners; c++)
            x += shape[c] * (of->shape == SP_HEXAHEDRON ? (sp_corner_place[SP_HEXAHEDRON][c][i] + 1) / 2
                             : of->shape == SP_WEDGE    ? typed_wedges[piece][c][i]
                                                        : typed_tets[piece][c][i]);
        half[i] = (int)lround(2 * x);
    }
}

/* A box of nx × ny × nz cells of edge h. `bend` moves all nodes by a smooth field of that size relative to h, so that
 * elements of second order have curved edges; with `straight` only their corners, and the other nodes are in the middle
 * of these. */
static inline void make_typed(int type, int nx, int ny, int nz, double h, double bend, bool straight, sp_mesh *mesh)
{
    const int width = sp_element_types[type].nodes, mx = 2 * nx + 1, my = 2 * ny + 1, mz = 2 * nz + 1;
    *mesh = (sp_mesh){.quadrature = 2, .material_count = 1};
    sp_element_block *block = &mesh->block[type];
    block->count = (int64_t)nx * ny * nz * typed_pieces(type);
    block->node = sp_pool_new(&mesh->pool, block->count * width, sizeof(int64_t));
    mesh->vertices = sp_pool_new(&mesh->pool, 3 * (int64_t)mx * my * mz, sizeof(double));
    mesh->region = sp_pool_new(&mesh->pool, block->count, sizeof(int64_t));
    mesh->fixed = sp_pool_new(&mesh->pool, 1, sizeof(int64_t));
    mesh->fixed_axes = sp_pool_new(&mesh->pool, 1, 1);
    mesh->materials = sp_pool_new(&mesh->pool, 1, sizeof *mesh->materials);
    mesh->materials[0] = test_material();
    mesh->surface.width = width;
    int64_t *number = sp_pool_new(&mesh->pool, (int64_t)mx * my * mz, sizeof *number), e = 0;
    for (int64_t v = 0; v < (int64_t)mx * my * mz; v++)
        number[v] = -1;
    for (int cell = 0; cell < nx * ny * nz; cell++)
        for (int p = 0; p < typed_pieces(type); p++, e++)
            for (int a = 0; a < width; a++) {
                int half[3];
                typed_node(type, p, a, half);
                half[0] += 2 * (cell % nx);
                half[1] += 2 * (cell / nx % ny);
                half[2] += 2 * (cell / nx / ny);
                int64_t *at = &number[((int64_t)half[2] * my + half[1]) * mx + half[0]];
                if (*at < 0) {
                    *at = mesh->vertex_count++;
                    double *x = mesh->vertices + 3 * *at;
                    for (int i = 0; i < 3; i++)
                        x[i] = 0.5 * h * half[i];
                    for (int i = 0; i < 3; i++)
                        x[i] += bend * h * sin(1.1 * half[(i + 1) % 3] + 0.7 * half[(i + 2) % 3] + i);
                }
                block->node[e * width + a] = *at;
            }
    for (e = 0; e < block->count && straight; e++)
        for (int a = sp_element_types[type].corners; a < width; a++) {
            double xi[3], shape[8], slope[8][3], *x = mesh->vertices + 3 * block->node[e * width + a];
            sp_element_node(type, a, xi);
            sp_element_shape_functions(sp_element_linear_type(type), xi, shape, slope);
            for (int i = 0; i < 3; i++) {
                x[i] = 0;
                for (int c = 0; c < sp_element_types[type].corners; c++)
                    x[i] += shape[c] * mesh->vertices[3 * block->node[e * width + c] + i];
            }
        }
}

#endif
