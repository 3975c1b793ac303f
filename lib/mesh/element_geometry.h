/* Volumes, centres and face diagonals, shared by the sources of this folder. */
#ifndef SP_MESH_ELEMENT_GEOMETRY_H
#define SP_MESH_ELEMENT_GEOMETRY_H

#include "base/vec3.h"
#include "mesh/mesh.h"

/* Signed volume [m³] of the tetrahedron with these corners. */
static inline double sp_tet_volume(const double *vertices, const int64_t tet[4])
{
    double edge[3][3];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            edge[a][c] = vertices[3 * tet[a + 1] + c] - vertices[3 * tet[0] + c];
    return sp_determinant(edge[0], edge[1], edge[2]) / 6;
}

/* Index of the lowest of the four. Faces are split along the diagonal through their lowest vertex, so that the two
 * elements on a face agree on it whatever their own order of corners. */
static inline int sp_quad_lowest(const int64_t quad[4])
{
    int lowest = 0;
    for (int a = 1; a < 4; a++)
        if (quad[a] < quad[lowest])
            lowest = a;
    return lowest;
}

/* The mean of the corners. */
static inline void sp_element_centre(const sp_mesh *mesh, int64_t element, double centre[3])
{
    int count;
    const int64_t *corner = sp_mesh_corner_nodes(mesh, element, &count);
    for (int c = 0; c < 3; c++) {
        centre[c] = 0;
        for (int a = 0; a < count; a++)
            centre[c] += mesh->vertices[3 * corner[a] + c];
        centre[c] /= count;
    }
}

/* Returns true if low ≤ x ≤ high. */
static inline bool sp_in_box(const double x[3], const double low[3], const double high[3])
{
    return x[0] >= low[0] && x[0] <= high[0] && x[1] >= low[1] && x[1] <= high[1] && x[2] >= low[2] && x[2] <= high[2];
}

/* The rules of the stiffness and of the mass [2 × types] of the types that the mesh has, from `pool`. */
int sp_mesh_references(sp_context *context, const sp_mesh *mesh, sp_pool *pool, sp_reference **references) SP_MUST_USE;

/* Returns true if all Jacobians of the element are positive at the points that sp_mesh_check tests, or, with
 * mesh->folded, if its mass matrix is positive definite where they are not. The corners must be in range. references:
 * as above, which is faster for many elements, or NULL. */
bool sp_mesh_element_positive(const sp_mesh *mesh, int64_t element, const sp_reference *references);

/* Returns true if the element is not positive as it is, but positive when mirrored. */
bool sp_mesh_element_turnable(const sp_mesh *mesh, int64_t element);

/* Returns true if the Jacobian is positive at the points of the stiffness, and the mass matrix is not positive
 * definite because of points of the mass. */
bool sp_mesh_element_mass_indefinite(const sp_mesh *mesh, int64_t element);

/* The least det J at the nodes [m³], NaN if one is NaN. */
double sp_mesh_node_jacobian(const sp_mesh *mesh, int64_t element);

/* The least det J at those points [m³] (for a tetrahedron six times its volume), NaN if one is NaN. */
double sp_mesh_worst_jacobian(const sp_mesh *mesh, int64_t element);

#endif
