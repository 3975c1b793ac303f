/* The simulation mesh: hexahedra and tetrahedra with regions, materials, anchored vertices and an embedded surface. */
#ifndef SP_MESH_MESH_H
#define SP_MESH_MESH_H

#include "base/context.h"
#include "base/memory.h"
#include "material/material.h"

/* Corner signs of the hexahedron in VTK/Abaqus order: corner a sits at (ξ,η,ζ) = sp_hex_corner[a] in [−1,1]³. */
extern const signed char sp_hex_corner[8][3];

/* Outward faces: six quadrilaterals of a hexahedron, four triangles of a tetrahedron, as corner numbers. */
extern const signed char sp_hex_face[6][4];
extern const signed char sp_tet_face[4][3];

/* The triangles that are drawn, embedded in the elements. May be empty (vertex_count = 0). */
typedef struct sp_embedded_surface {
    int64_t vertex_count, triangle_count;
    double *vertices;   /* [vertex_count, 3] m, rest positions */
    int64_t *triangles; /* [triangle_count, 3] */
    int64_t *element;   /* [vertex_count] the element that carries the vertex */
    int width;          /* 8 where the mesh has hexahedra, else 4 */
    double *weights;    /* [vertex_count, width] of that element's corners, sum 1; the last 4 are 0 in a tetrahedron */
} sp_embedded_surface;

/* Element e < hex_count is hexahedron e, else tetrahedron e − hex_count. Everything below is owned by `pool`. */
typedef struct sp_mesh {
    sp_pool pool;
    int64_t vertex_count;
    double *vertices; /* [vertex_count, 3] m */
    int64_t hex_count, tet_count;
    int64_t *hex;    /* [hex_count, 8] corners in VTK/Abaqus order, det of the Jacobian > 0 */
    int64_t *tet;    /* [tet_count, 4], det(x1−x0, x2−x0, x3−x0) > 0 */
    int64_t *region; /* [hex_count + tet_count] index into materials */
    double *factor; /* [hex_count + tet_count, 2] on λ and μ of the element's law (material/material.h); NULL: all 1 */
    double *fibre;  /* [hex_count + tet_count, 3] unit direction of the element's fibres at rest in place of its
                     * region's, 0 where  the region has no fibres; NULL: the regions' directions */
    int64_t fixed_count;
    int64_t *fixed;      /* [fixed_count] anchored vertices, strictly increasing */
    uint8_t *fixed_axes; /* [fixed_count] which components are held: bit 0 x, bit 1 y, bit 2 z; 7 = all */
    sp_embedded_surface surface;
    int quadrature; /* Gauss points per axis of hexahedra: 2 or 3 */
    int64_t material_count;
    sp_material *materials; /* [material_count], one per region */
} sp_mesh;

static inline int64_t sp_mesh_element_count(const sp_mesh *mesh)
{
    return mesh->hex_count + mesh->tet_count;
}

/* Corner list of element e and its length (8 or 4). */
static inline const int64_t *sp_mesh_corners(const sp_mesh *mesh, int64_t element, int *count)
{
    *count = element < mesh->hex_count ? 8 : 4;
    return element < mesh->hex_count ? mesh->hex + 8 * element : mesh->tet + 4 * (element - mesh->hex_count);
}

/* The material of element e: its region's, or `own`, which receives that with the element's factors and direction of
 * fibres. */
const sp_material *sp_mesh_material(const sp_mesh *mesh, int64_t element, sp_material *own);

void sp_mesh_free(sp_mesh *mesh);

/* Everything the comments above promise: counts, indices in range, finite values, positive Jacobians at the corners and
 * the quadrature points of hexahedra, positive volumes of tetrahedra, no element with a corner twice, sorted fixed
 * list, weights that sum to 1 within 1e-9 and reproduce the surface vertices within `surface_tolerance` times the
 * diagonal of the box (imported weights are printed with few digits), materials, factors (equal where the law has not λ
 * and μ, and a material with them still one that can be), directions of fibres (of length 1 within 1e-6 where the
 * region has fibres, else 0); at least one element, no coordinate beyond 1e100 m, no name of a material twice.
 * SP_INPUT, naming the first offender. The arrays must be as long as their counts say; nothing else is taken for
 * granted. Every other function but sp_mesh_inverted takes a mesh that passes this check. */
int sp_mesh_check(sp_context *context, const sp_mesh *mesh, double surface_tolerance) SP_MUST_USE;

/* How many elements have a nonpositive Jacobian or volume (turn = false), or how many were turned by swapping corners
 * (turn = true: tetrahedra get positive volume, hexahedra are mirrored; those that stay bad are not counted and keep
 * their order). Surface weights follow their corners. The mesh need not be checked: elements that name vertices out of
 * range are passed over. */
int64_t sp_mesh_inverted(sp_mesh *mesh, bool turn);

/* How many elements turning does not help: flat ones, and hexahedra whose Jacobian changes its sign. */
int64_t sp_mesh_folded(const sp_mesh *mesh);

/* Box of the vertices [m]; zeros for an empty mesh. */
void sp_mesh_box(const sp_mesh *mesh, double low[3], double high[3]);

/* Volume of an element [m³]: exact for tetrahedra, 2×2×2 Gauss points for hexahedra (exact for them too: det J is of
 * degree 2 in each coordinate). */
double sp_mesh_element_volume(const sp_mesh *mesh, int64_t element);

/* Every hexahedron becomes six tetrahedra: the cone from its lowest vertex over the faces that do not touch it, each
 * face cut through its own lowest vertex, so that neighbours agree on shared faces whatever their order of corners. In
 * a voxel grid numbered by z, y, x that is Kuhn's subdivision around the diagonal 0–6. Hexahedron e gives tetrahedra 6e
 * … 6e + 5, tetrahedra stay and follow; regions, factors, directions of fibres, fixed vertices, materials kept, surface
 * vertices re-embedded in the tetrahedron of their hexahedron that holds them (or is nearest to holding them: weights
 * may be negative on curved faces). The result is a new mesh; `mesh` is unchanged. SP_INPUT when a hexahedron is so
 * distorted that a tetrahedron would not have positive volume; `split` is then empty. */
int sp_mesh_split(sp_context *context, const sp_mesh *mesh, sp_mesh *split) SP_MUST_USE;

/* Anchors: adds all vertices with low ≤ x ≤ high (infinite bounds allowed); with n·x ≤ offset; or by list. The list of
 * fixed vertices stays sorted, bits of axes are joined. `added` counts the vertices met, whether they were fixed before
 * or not. SP_INPUT for a vertex out of range; SP_USAGE for axes outside 1 … 7, an empty box, a zero normal, NaN. After
 * an error the mesh is as it was. */
int sp_mesh_fix_box(sp_context *context, sp_mesh *mesh, const double low[3], const double high[3], int axes,
                    int64_t *added) SP_MUST_USE;
int sp_mesh_fix_half_space(sp_context *context, sp_mesh *mesh, const double normal[3], double offset, int axes,
                           int64_t *added) SP_MUST_USE;
int sp_mesh_fix_list(sp_context *context, sp_mesh *mesh, int64_t count, const int64_t *vertices, int axes) SP_MUST_USE;

/* Sets the rows of held components to 0 in displacements U [3·vertices, count, column major]; returns the largest
 * magnitude there was. */
double sp_mesh_fix(const sp_mesh *mesh, int64_t count, double *U);

/* Gives region `region` to all elements whose centre (the mean of the corners) lies in the box; returns how many. */
int64_t sp_mesh_region_box(sp_mesh *mesh, const double low[3], const double high[3], int64_t region);

/* Fibres wound around an axis. */
typedef struct sp_helix {
    double axis[3];   /* of any length but 0 */
    double centre[3]; /* m, a point of the axis */
    double angle;     /* degrees from the plane across the axis: 0 rings, 90 along the axis */
} sp_helix;

/* Gives the elements of a region the directions cos(angle) axis × radial + sin(angle) axis: unit vectors, radial from
 * the axis to the element's centre (the mean of the corners). Elements whose centre is on the axis, within 1e-9 of the
 * diagonal of the mesh's box, have the axis itself. Where the mesh has no directions by element yet, all others receive
 * those of their regions. SP_INPUT for a helix that is not finite or has no axis. */
int sp_mesh_wind(sp_context *context, sp_mesh *mesh, int64_t region, const sp_helix *helix) SP_MUST_USE;

/* The boundary of the volume as triangles [count, 3], outward: faces that belong to one element only (quadrilaterals
 * are cut in two as sp_mesh_split cuts them), with the element behind each [count], in the order of elements. Arrays
 * are allocated from `pool`. Used to draw a mesh without embedded surface. */
int sp_mesh_boundary(sp_context *context, const sp_mesh *mesh, sp_pool *pool, int64_t *count, int64_t **triangles,
                     int64_t **element) SP_MUST_USE;

/* Connected components of the elements (sharing a vertex): label [ne] from 0 in order of first element. */
int sp_mesh_components(sp_context *context, const sp_mesh *mesh, int64_t *label, int64_t *count) SP_MUST_USE;

#endif
