/* The simulation mesh: solid elements of any mixture of types, regions, materials, fixed vertices and an embedded
 * surface. */
#ifndef SP_MESH_MESH_H
#define SP_MESH_MESH_H

#include "base/context.h"
#include "base/memory.h"
#include "material/material.h"
#include "mesh/element_type.h"

/* The triangles for rendering, embedded in the elements. May be empty (vertex_count = 0). */
typedef struct sp_embedded_surface {
    int64_t vertex_count, triangle_count;
    double *vertices;   /* [vertex_count, 3] m, rest positions */
    int64_t *triangles; /* [triangle_count, 3] */
    int64_t *element;   /* [vertex_count] the element in which the vertex is embedded */
    int width;          /* the largest number of nodes of an element type of the mesh (sp_mesh_width) */
    double *weights;    /* [vertex_count, width] of that element's nodes, sum 1; weights beyond these nodes are 0 */
} sp_embedded_surface;

/* The elements of one type. */
typedef struct sp_element_block {
    int64_t count;
    int64_t *node; /* [count, nodes of the type], in the order of mesh/element_type.h */
} sp_element_block;

/* A named set of vertices, elements or faces (mesh/mesh_sets.h). */
typedef struct sp_mesh_set sp_mesh_set;

/* Elements are numbered block after block. All arrays are owned by `pool`. */
typedef struct sp_mesh {
    sp_pool pool;
    int64_t vertex_count;
    double *vertices; /* [vertex_count, 3] m; the vertices of the mesh are the nodes of its elements */
    sp_element_block block[SP_ELEMENT_TYPES]; /* the determinant of the Jacobian is positive */
    int64_t *region;                          /* [elements] index into materials */
    double *factor; /* [elements, 2] on λ and μ of the element's law (material/material.h); NULL: all 1 */
    double *fibre;  /* [elements, 3] unit direction of the element's fibres at rest, instead of that of its
                       region; 0 where the region has no fibres; NULL: the regions' directions */
    int64_t fixed_count;
    int64_t *fixed;      /* [fixed_count] fixed vertices, strictly increasing */
    uint8_t *fixed_axes; /* [fixed_count] fixed components: bit 0 x, bit 1 y, bit 2 z; 7 = all */
    sp_embedded_surface surface;
    int quadrature; /* Gauss points per axis of 8-node hexahedra (SP_HEX8): 2 or 3 */
    bool folded;    /* 8-node hexahedra may be folded at corners, off their integration points; elements whose points of
                       the mass are others than those of the stiffness may be folded at the first, if the mass matrix of
                       each stays positive definite */
    int up;         /* the coordinate axis that points up in pictures: 'x', 'y' or 'z'; 0 means 'z' */
    int64_t material_count;
    sp_material *materials; /* [material_count], one per region */
    int64_t set_count;
    sp_mesh_set *sets; /* [set_count] */
} sp_mesh;

static inline int64_t sp_mesh_element_count(const sp_mesh *mesh)
{
    int64_t count = 0;
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        count += mesh->block[t].count;
    return count;
}

/* The sum of the numbers of nodes of all elements. A shared node counts once for each of its elements. */
static inline int64_t sp_mesh_node_count(const sp_mesh *mesh)
{
    int64_t count = 0;
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        count += mesh->block[t].count * sp_element_types[t].nodes;
    return count;
}

/* The number of the first element of a type. */
static inline int64_t sp_mesh_first(const sp_mesh *mesh, int type)
{
    int64_t first = 0;
    for (int t = 0; t < type; t++)
        first += mesh->block[t].count;
    return first;
}

/* The type of element e, and its number within its block. */
static inline int sp_mesh_type(const sp_mesh *mesh, int64_t element, int64_t *within)
{
    int type = 0;
    while (element >= mesh->block[type].count)
        element -= mesh->block[type++].count;
    *within = element;
    return type;
}

/* The nodes of element e and their number. The corners are the first nodes. */
static inline const int64_t *sp_mesh_nodes(const sp_mesh *mesh, int64_t element, int *count)
{
    int64_t within;
    const int type = sp_mesh_type(mesh, element, &within);
    *count = sp_element_types[type].nodes;
    return mesh->block[type].node + within * *count;
}

/* The same, but `count` receives the number of corners. */
static inline const int64_t *sp_mesh_corner_nodes(const sp_mesh *mesh, int64_t element, int *count)
{
    int64_t within;
    const int type = sp_mesh_type(mesh, element, &within);
    *count = sp_element_types[type].corners;
    return mesh->block[type].node + within * sp_element_types[type].nodes;
}

/* The positions of the nodes of element e [nodes, 3] m; returns its type. */
int sp_mesh_element_places(const sp_mesh *mesh, int64_t element, double X[SP_ELEMENT_NODES][3]);

/* The largest number of nodes of an element type of the mesh; 0 without elements. */
int sp_mesh_width(const sp_mesh *mesh);

/* True if all elements are 8-node hexahedra (SP_HEX8) or 4-node tetrahedra, the types that all models accept. */
bool sp_mesh_linear(const sp_mesh *mesh);

/* SP_INPUT if the mesh has an element of another type. The message names this type: "`what` is for 8-node hexahedra and
 * 4-node tetrahedra". */
int sp_mesh_need_linear(sp_context *context, const sp_mesh *mesh, const char *what) SP_MUST_USE;

/* The material of element e: that of its region, or `own`, which receives a copy with the element's factors and fibre
 * direction. */
const sp_material *sp_mesh_material(const sp_mesh *mesh, int64_t element, sp_material *own);

void sp_mesh_free(sp_mesh *mesh);

/* Checks everything that the comments above promise: counts, indices in range, finite values, positive Jacobians at the
 * corners (unless mesh->folded) of hexahedra and at the quadrature points of all elements (with mesh->folded as
 * sp_mesh_find_folds says), positive volumes of tetrahedra, no element with a corner twice, a sorted list of fixed
 * vertices, weights that sum to 1 within 1e-9 and reproduce the surface vertices within `surface_tolerance` times the
 * diagonal of the bounding box (imported weights are printed with few digits), materials, factors (equal if the law
 * does not have λ and μ, and giving a valid material), fibre directions (of length 1 within 1e-6 if the region has
 * fibres, else 0), at least one element, no coordinate beyond 1e100 m, no name of a material twice, sets
 * (sp_mesh_check_sets). SP_INPUT names the first violation. The arrays must be as long as their counts say; nothing
 * else is assumed. Every other function except sp_mesh_inverted takes a mesh that passes this check. */
int sp_mesh_check(sp_context *context, const sp_mesh *mesh, double surface_tolerance) SP_MUST_USE;

/* turn = false: returns the number of elements with a nonpositive Jacobian or volume. turn = true: reorients them by
 * swapping corners (tetrahedra get positive volume, hexahedra are mirrored) and returns the number of reoriented
 * elements; those that stay bad are not counted and keep their order. Surface weights follow their corners, and faces
 * in sets keep theirs. The mesh need not be checked: elements with vertices out of range are skipped. */
int64_t sp_mesh_inverted(sp_mesh *mesh, bool turn);

/* The number of elements that reorientation does not repair: flat ones, and hexahedra whose Jacobian changes its
 * sign. */
int64_t sp_mesh_folded(const sp_mesh *mesh);

/* Elements that are folded somewhere. */
typedef struct sp_mesh_folds {
    int64_t count, worst; /* worst: the one whose Jacobian falls lowest relative to its volume; −1: none */
    double jacobian;      /* of the worst, the least det J [m³] per unit of volume in natural coordinates */
    double relative;      /* the same over its volume */
} sp_mesh_folds;

/* The elements whose Jacobian is not positive somewhere and that can be used nevertheless, in three kinds. Only a mesh
 * with `folded` may have the first two; both are found whether or not it allows them:
 * corners  8-node hexahedra that are folded at a corner but at no integration point
 * masses   elements that are folded at a point of their mass but at none of their stiffness, and whose mass matrix
 *          ∫ N_a N_b dV is positive definite nevertheless. The mass matrix of every mesh of such elements is then
 *          positive definite, too. With a mass that is not, kinetic energies could be negative
 * nodes    wedges and elements of second order that are folded at a node but at no integration point; any mesh may
 *          have them, since the matrices do not depend on the Jacobian there */
void sp_mesh_find_folds(const sp_mesh *mesh, sp_mesh_folds *corners, sp_mesh_folds *masses, sp_mesh_folds *nodes);

/* Bounding box of the vertices [m]; zeros for an empty mesh. */
void sp_mesh_box(const sp_mesh *mesh, double low[3], double high[3]);

/* Volume of an element [m³]: exact for tetrahedra, by 2×2×2 Gauss points for hexahedra (which is also exact: det J is
 * of degree 2 in each coordinate). */
double sp_mesh_element_volume(const sp_mesh *mesh, int64_t element);

/* The sum of the volumes of all elements, in their order [m³]. Inverted elements count negative. */
double sp_mesh_volume(const sp_mesh *mesh);

/* Splits every hexahedron into six tetrahedra: the cone from its lowest vertex over the faces that do not contain it,
 * each face split through its own lowest vertex, so that neighbours agree on shared faces whatever their order of
 * corners. In a voxel grid numbered by z, y, x this is Kuhn's subdivision around the diagonal 0–6. Hexahedron e gives
 * tetrahedra 6e … 6e + 5, and the old tetrahedra follow; regions, factors, fibre directions, fixed vertices and
 * materials are kept. Surface vertices are embedded anew in the tetrahedron of their hexahedron that contains them (or
 * comes nearest to containing them: weights may be negative on curved faces). The result is a new mesh; `mesh` is
 * unchanged. SP_INPUT if a hexahedron is so distorted that a tetrahedron would not have positive volume; `split` is
 * then empty. */
int sp_mesh_split(sp_context *context, const sp_mesh *mesh, sp_mesh *split) SP_MUST_USE;

/* The type of the same shape with corners only; a type without other nodes is its own. */
int sp_element_linear_type(int type);

/* Makes a mesh without embedded surface, in which elements of type t become elements of type to[t]. Type to[t] has the
 * first nodes of type t. Elements are renumbered, block after block. Vertices that no element uses any more are
 * dropped. `made` is a new mesh; after an error it is empty. */
int sp_mesh_retype(sp_context *context, const sp_mesh *mesh, const int to[SP_ELEMENT_TYPES], sp_mesh *made) SP_MUST_USE;

/* The numbers of elements as text: "20 hexahedra, 0 tetrahedra", or those of the types present, such as "346 wedge18,
 * 12 hexahedra". */
void sp_mesh_list_elements(const sp_mesh *mesh, char *text, size_t size);

/* Fixes the axes of all vertices with low ≤ x ≤ high (infinite bounds allowed), with n·x ≤ offset, or of a list. The
 * list of fixed vertices stays sorted, and bits of axes are combined. `added` counts the selected vertices, whether
 * they were fixed before or not. SP_INPUT for a vertex out of range; SP_USAGE for axes outside 1 … 7, an empty box, a
 * zero normal, NaN. After an error the mesh is as it was. */
int sp_mesh_fix_box(sp_context *context, sp_mesh *mesh, const double low[3], const double high[3], int axes,
                    int64_t *added) SP_MUST_USE;
int sp_mesh_fix_half_space(sp_context *context, sp_mesh *mesh, const double normal[3], double offset, int axes,
                           int64_t *added) SP_MUST_USE;
int sp_mesh_fix_list(sp_context *context, sp_mesh *mesh, int64_t count, const int64_t *vertices, int axes) SP_MUST_USE;

/* The vertex nearest to a point [m] at rest, and its distance [m]: among the vertices that elements use, or if
 * `surface` among those of the embedded surface. Of several at the same distance the lowest. SP_INPUT if there is none.
 */
int sp_mesh_nearest(sp_context *context, const sp_mesh *mesh, bool surface, const double point[3], int64_t *vertex,
                    double *distance) SP_MUST_USE;

/* Sets the rows of fixed components of the displacements U [3·vertices, count, column major] to 0; returns the largest
 * magnitude that they had. */
double sp_mesh_fix(const sp_mesh *mesh, int64_t count, double *U);

/* The region with this name; −1 if there is none. */
int64_t sp_mesh_region_find(const sp_mesh *mesh, const char *name);

/* Appends a region without elements and with this material. The array of materials is a new one afterwards. */
int sp_mesh_region_add(sp_context *context, sp_mesh *mesh, const sp_material *material) SP_MUST_USE;

/* Removes the regions without elements. The others keep their order and get consecutive numbers. */
int sp_mesh_region_drop_empty(sp_context *context, sp_mesh *mesh) SP_MUST_USE;

/* Assigns `region` to all elements whose centre (the mean of the corners) is in the box; returns their number. */
int64_t sp_mesh_region_box(sp_mesh *mesh, const double low[3], const double high[3], int64_t region);

/* Fibres wound around an axis. */
typedef struct sp_helix {
    double axis[3];   /* of any nonzero length */
    double centre[3]; /* m, a point of the axis */
    double angle;     /* degrees from the plane normal to the axis: 0 rings, 90 along the axis */
} sp_helix;

/* Gives the elements of a region the fibre directions cos(angle) axis × radial + sin(angle) axis: unit vectors, with
 * radial from the axis to the element's centre (the mean of the corners). Elements with the centre on the axis, within
 * 1e-9 of the diagonal of the mesh's box, get the axis itself. If the mesh has no directions by element yet, all other
 * elements get those of their regions. SP_INPUT for a helix that is not finite or has no axis. */
int sp_mesh_wind(sp_context *context, sp_mesh *mesh, int64_t region, const sp_helix *helix) SP_MUST_USE;

/* A face of an element, by its number there (sp_element_face). */
typedef struct sp_mesh_face {
    int64_t element;
    int face;
} sp_mesh_face;

/* The faces that belong to one element only [count], in the order of elements; allocated from `pool`. */
int sp_mesh_boundary_faces(sp_context *context, const sp_mesh *mesh, sp_pool *pool, int64_t *count,
                           sp_mesh_face **faces) SP_MUST_USE;

/* These faces as outward triangles [count, 3] (4-node faces are split as in sp_mesh_split, faces of second order by
 * sp_face_triangles), with the element behind each [count]. Arrays are allocated from `pool`. Used to render a mesh
 * without embedded surface. */
int sp_mesh_boundary(sp_context *context, const sp_mesh *mesh, sp_pool *pool, int64_t *count, int64_t **triangles,
                     int64_t **element) SP_MUST_USE;

/* Connected components of the elements (connected by a shared vertex): label [ne] from 0 in order of first element. */
int sp_mesh_components(sp_context *context, const sp_mesh *mesh, int64_t *label, int64_t *count) SP_MUST_USE;

#endif
