/* Bodies that several tests need, each made by one call; what fails is a failure of the test. */
#ifndef TESTS_UNIT_FIXTURE_H
#define TESTS_UNIT_FIXTURE_H

#include "base/context.h"
#include "bodies.h"
#include "test.h"

/* Divides the hexahedra of a mesh into six tetrahedra each. */
static inline void split_mesh(sp_mesh *mesh)
{
    OWNED(sp_mesh) hexahedra = *mesh;
    CHECK_OK(sp_mesh_split(&context, &hexahedra, mesh));
}

/* Fixes the vertices with x ≤ depth; returns how many. */
static inline int64_t fix_end(sp_mesh *mesh, double depth)
{
    int64_t count = 0;
    CHECK_OK(sp_mesh_fix_half_space(&context, mesh, (double[]){1, 0, 0}, depth, 7, &count));
    return count;
}

enum { TEST_VARIANTS = 4 };

/* Voxels, distorted hexahedra with 2×2×2 points, tetrahedra, two regions of which every third element is "stiff". */
static inline void make_variant(int variant, sp_mesh *mesh)
{
    make_box(4, 3, 2, 0.3, variant == 0 ? 0 : 0.15, mesh);
    if (variant == 2) {
        split_mesh(mesh);
        return;
    }
    CHECK(variant >= 0 && variant < TEST_VARIANTS, "no variant %d", variant);
    mesh->quadrature = variant == 1 ? 2 : 3;
    if (variant == 3) {
        mesh->materials = sp_pool_new(&mesh->pool, 2, sizeof *mesh->materials);
        mesh->material_count = 2;
        mesh->materials[0] = mesh->materials[1] = test_material();
        strcpy(mesh->materials[1].name, "stiff");
        mesh->materials[1].young = 7e6;
        mesh->materials[1].poisson = 0.1;
        for (int64_t e = 0; e < mesh->block[SP_HEX8].count; e += 3)
            mesh->region[e] = 1;
    }
}

/* A body that is fixed at x = 0, with smooth displacements that vanish there. */
typedef struct held_block {
    sp_mesh mesh;
    sp_fe_space body;
    double *U; /* [rows, r], of the mesh's pool */
    int64_t rows, elements;
} held_block;

/* Fixes b->mesh at x = 0 and makes the rest. */
static inline void hold_block(int r, held_block *b)
{
    int64_t count;
    CHECK(sp_mesh_fix_half_space(&context, &b->mesh, (double[]){1, 0, 0}, 0.05, 7, &count) == SP_OK &&
              sp_fe_space_new(&context, &b->mesh, &b->body) == SP_OK,
          "%s", context.message);
    b->rows = 3 * b->mesh.vertex_count;
    b->elements = sp_mesh_element_count(&b->mesh);
    b->U = sp_pool_new(&b->mesh.pool, b->rows * r, sizeof *b->U);
    for (int j = 0; j < r; j++)
        for (int64_t i = 0; i < b->rows; i++) {
            const double *x = b->mesh.vertices + i / 3 * 3,
                         phase = sp_random_uniform(5, (uint64_t)j, (uint64_t)(i % 3));
            if (b->body.dof[i] >= 0)
                b->U[j * b->rows + i] =
                    x[0] * sin(6 * phase + (1 + j) * x[0] + 2 * x[1] * phase - 3 * x[2] * (1 - phase));
        }
}

static inline void held_block_free(held_block *b)
{
    sp_fe_space_free(&b->body);
    sp_mesh_free(&b->mesh);
}

#endif
