/* Small bodies for the tests of mechanics. */
#ifndef TESTS_UNIT_BODIES_H
#define TESTS_UNIT_BODIES_H

#include "assembly/fe_space.h"
#include "base/random.h"
#include "mesh/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline sp_material test_material(void)
{
    return (sp_material){.name = "body", .law = SP_LAW_STVK, .density = 1000, .young = 1e6, .poisson = 0.3};
}

enum { TEST_LAWS = SP_LAW_COUNT * SP_FIBRE_COUNT };

/* Every law with every kind of fibres. */
static inline sp_material test_law(int k)
{
    sp_material m = {.name = "gum",
                     .law = (enum sp_law)(k % SP_LAW_COUNT),
                     .fibre = (enum sp_fibre)(k / SP_LAW_COUNT),
                     .density = 1000,
                     .young = 2.5,
                     .poisson = 0.35};
    m.mooney[0] = 0.2;
    m.mooney[1] = 0.3;
    m.mooney[2] = 1.7;
    m.fibre_stiffness = 0.6;
    m.fibre_exponent = 0.8;
    m.fibre_direction[0] = 2.0 / 7;
    m.fibre_direction[1] = -3.0 / 7;
    m.fibre_direction[2] = 6.0 / 7;
    double C[6][6] = {{0}}, frame[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6};
    memcpy(m.frame, frame, sizeof frame);
    for (int i = 0; i < 6; i++)
        for (int j = i; j < 6; j++)
            C[i][j] = i == j ? 2 + 0.3 * i : 0.1 * (i + 1) - 0.07 * j;
    for (int i = 0, at = 0; i < 6; i++)
        for (int j = i; j < 6; j++)
            m.stiffness[at++] = C[i][j];
    return m;
}

/* nx × ny × nz hexahedra of edge h; inner and outer vertices moved by up to distort·h (seeded). */
static inline void make_box(int nx, int ny, int nz, double h, double distort, sp_mesh *mesh)
{
    *mesh = (sp_mesh){.quadrature = 3, .material_count = 1};
    mesh->vertex_count = (int64_t)(nx + 1) * (ny + 1) * (nz + 1);
    mesh->block[SP_HEX8].count = (int64_t)nx * ny * nz;
    mesh->vertices = sp_pool_new(&mesh->pool, 3 * mesh->vertex_count, sizeof(double));
    mesh->block[SP_HEX8].node = sp_pool_new(&mesh->pool, 8 * mesh->block[SP_HEX8].count, sizeof(int64_t));
    mesh->region = sp_pool_new(&mesh->pool, mesh->block[SP_HEX8].count, sizeof(int64_t));
    mesh->fixed = sp_pool_new(&mesh->pool, 1, sizeof(int64_t));
    mesh->fixed_axes = sp_pool_new(&mesh->pool, 1, 1);
    mesh->materials = sp_pool_new(&mesh->pool, 1, sizeof *mesh->materials);
    mesh->materials[0] = test_material();
    mesh->surface.width = 8;
    int64_t v = 0, e = 0;
    for (int k = 0; k <= nz; k++)
        for (int j = 0; j <= ny; j++)
            for (int i = 0; i <= nx; i++, v++) {
                double x[3] = {i * h, j * h, k * h};
                for (int c = 0; c < 3; c++)
                    mesh->vertices[3 * v + c] =
                        x[c] + distort * h * (2 * sp_random_uniform(7, 0, (uint64_t)(3 * v + c)) - 1);
            }
#define V(i, j, k) (((int64_t)(k) * (ny + 1) + (j)) * (nx + 1) + (i))
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++, e++) {
                int64_t corner[8] = {V(i, j, k),     V(i + 1, j, k),     V(i + 1, j + 1, k),     V(i, j + 1, k),
                                     V(i, j, k + 1), V(i + 1, j, k + 1), V(i + 1, j + 1, k + 1), V(i, j + 1, k + 1)};
                memcpy(mesh->block[SP_HEX8].node + 8 * e, corner, sizeof corner);
            }
#undef V
}

enum { BENDING_FIELDS = 8 };

/* Displacements fields [3·vertices, BENDING_FIELDS] of a bar along x, 0.2 m thick, that vanish at x = 0: bending with
 * the turn of its sections, and stretch. */
static inline void bending_fields(const sp_mesh *mesh, double *fields)
{
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * v, x2 = x[0] * x[0];
        const double field[BENDING_FIELDS][3] = {{0, 0, x2},
                                                 {0, x2, 0},
                                                 {-x[0] * (x[2] - 0.1), 0, 0},
                                                 {-x[0] * (x[1] - 0.1), 0, 0},
                                                 {x2 * x[0], 0, 0},
                                                 {0, 0, x2 * x[0]},
                                                 {0, x2 * x[0], 0},
                                                 {-x2 * (x[2] - 0.1), 0, 0}};
        for (int j = 0; j < BENDING_FIELDS; j++)
            for (int c = 0; c < 3; c++)
                fields[3 * (j * mesh->vertex_count + v) + c] = field[j][c];
    }
}

/* Random field of unit size. */
static inline void random_field(int64_t count, uint64_t stream, double *field)
{
    for (int64_t i = 0; i < count; i++)
        field[i] = 2 * sp_random_uniform(11, stream, (uint64_t)i) - 1;
}

/* Whole contents of a file, NUL-terminated; NULL where it cannot be read. */
static inline char *read_whole(const char *folder, const char *name, int64_t *count)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *count = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)*count + 1);
    if (fread(bytes, 1, (size_t)*count, file) != (size_t)*count) {
        free(bytes);
        bytes = NULL;
    } else
        bytes[*count] = 0;
    fclose(file);
    return bytes;
}

#endif
