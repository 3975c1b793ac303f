/* The element types: nodes, faces, shape functions, integration points and names, in one table. Assembly, embedding,
 * the boundary, importers, exporters and checks use this table.
 *
 * Nodes are numbered as in VTK and Abaqus: corners first, then the middles of edges, then the middles of faces, then
 * the middle of the volume. Natural coordinates ξ of a hexahedron are in [−1, 1]³. Those of a tetrahedron are the
 * barycentric coordinates ξ = (L₁, L₂, L₃) with L₀ = 1 − L₁ − L₂ − L₃. Those of a wedge are ξ = (L₁, L₂, ζ), with the
 * barycentric coordinates of the triangle and ζ in [−1, 1]. */
#ifndef SP_MESH_ELEMENT_TYPE_H
#define SP_MESH_ELEMENT_TYPE_H

#include <stdbool.h>
#include <stdint.h>

/* The elements of a mesh are numbered in this order of types. */
enum {
    SP_HEX8,
    SP_TET4,
    SP_TET10,
    SP_HEX20,  /* integrated at 3³ points */
    SP_HEX20R, /* integrated at 2³ points: softer, without locking, one more mode of no energy in a single element */
    SP_HEX27,
    SP_WEDGE6,
    SP_WEDGE15,
    SP_WEDGE18,
    SP_HEX8B, /* averaged dilatation, as C3D8 of Abaqus: no locking of nearly incompressible materials */
    SP_HEX8I, /* incompatible modes, as C3D8I: no locking in bending */
    SP_ELEMENT_TYPES
};

enum { SP_ELEMENT_NODES = 27, SP_ELEMENT_FACES = 6, SP_FACE_NODES = 9, SP_QUADRATURE_MAX = 27 };

typedef enum sp_element_shape { SP_HEXAHEDRON, SP_TETRAHEDRON, SP_WEDGE } sp_element_shape;

/* The sets of integration points. The product rules are exact to degree 2n − 1 in each direction. */
typedef enum sp_rule {
    SP_RULE_GAUSS_2, /* hexahedra: Gauss points n³ */
    SP_RULE_GAUSS_3,
    SP_RULE_TET_1, /* tetrahedra: exact to degree 1, 2 and 5 */
    SP_RULE_TET_4,
    SP_RULE_TET_15,
    SP_RULE_WEDGE_2, /* wedges: points of the triangle (1, 3 and 6: degree 1, 2 and 4) times Gauss points of ζ (2, 3) */
    SP_RULE_WEDGE_6,
    SP_RULE_WEDGE_9,
    SP_RULE_WEDGE_18
} sp_rule;

typedef struct sp_element_type {
    const char *name;  /* also the member of mesh files */
    const char *title; /* in messages: "10-node tetrahedron" */
    sp_element_shape shape;
    int nodes, corners, faces;
    bool linear; /* the two types that all models accept: SP_HEX8 and SP_TET4 */
    sp_rule stiffness, mass;
    int vtk, gmsh;              /* cell type of VTK, element type of Gmsh */
    const char *abaqus;         /* TYPE= of *ELEMENT */
    const char *medit, *comsol; /* section of Medit, type of COMSOL; NULL: none */
} sp_element_type;

extern const sp_element_type sp_element_types[]; /* [SP_ELEMENT_TYPES] */

/* Natural coordinates of the corners of a shape. */
extern const signed char sp_corner_place[3][8][3];

/* Natural coordinates of node a. */
void sp_element_node(int type, int a, double xi[3]);

/* N_a(ξ) and ∂N_a/∂ξ_j of all nodes. Up to rounding the N_a sum to 1 and the derivatives to 0. */
void sp_element_shape_functions(int type, const double xi[3], double shape[], double slope[][3]);

/* The points of a rule and their weights, which sum to the volume in natural coordinates: 8 in a hexahedron, 1/6 in a
 * tetrahedron, 1 in a wedge. Returns the number of points. */
int sp_rule_points(sp_rule rule, double place[SP_QUADRATURE_MAX][3], double weight[SP_QUADRATURE_MAX]);

/* The rules of the stiffness and of the mass of a type: those of the table, with points_per_axis³ Gauss points (2 or 3
 * per axis) in an 8-node hexahedron (SP_HEX8). */
sp_rule sp_element_stiffness_rule(int type, int points_per_axis);
sp_rule sp_element_mass_rule(int type, int points_per_axis);

/* The points of a rule with the shape functions of a type there. They are the same for all elements of the type. */
typedef struct sp_reference {
    int type, count;
    double weight[SP_QUADRATURE_MAX], place[SP_QUADRATURE_MAX][3]; /* as in sp_rule_points */
    double shape[SP_QUADRATURE_MAX][SP_ELEMENT_NODES], slope[SP_QUADRATURE_MAX][SP_ELEMENT_NODES][3];
} sp_reference;

void sp_reference_at(int type, sp_rule rule, sp_reference *reference);

/* The nodes of face f: corners first, counterclockwise as seen from outside, then the middles of the edges in the order
 * in which they follow the corners, then the middle of the face. Returns the number of nodes. corners: receives the
 * number of corners (3 or 4). */
int sp_element_face(int type, int f, signed char node[SP_FACE_NODES], int *corners);

/* Points of a face of 3 or 4 corners in its own coordinates, and their weights, which sum to 1/2 or 4: exact for the
 * pressure on a face of second order. Those of a triangle are L₁ and L₂, those of a quadrilateral in [−1, 1]². place
 * and weight have room for 9; returns the number. */
int sp_face_points(int corners, double place[SP_FACE_NODES][2], double weight[SP_FACE_NODES]);

/* Natural coordinates ξ of the point (s, t) of face f, and ∂ξ/∂s and ∂ξ/∂t. */
void sp_element_face_place(int type, int f, double s, double t, double xi[3], double along[2][3]);

/* Triangles that cover a face with `nodes` nodes and `corners` corners, as indices into the nodes of the face and with
 * the orientation of the face. Returns the number of triangles, 1 to 8. Faces of four corners without other nodes are
 * not supported: their diagonal depends on the mesh (sp_mesh_boundary). */
int sp_face_triangles(int nodes, int corners, const signed char (**triangle)[3]);

/* The position of node a in the list of nodes of an element in Gmsh files. */
int sp_element_gmsh_node(int type, int a);

/* The face that Abaqus and CalculiX call S<number>; −1 if the element has no such face. */
int sp_element_abaqus_face(int type, int number);

/* True if nodes a and b follow each other along an edge of the element. */
bool sp_element_on_edge(int type, int a, int b);

/* Node a of the mirrored element is node mirror[a] of the old element. The map is its own inverse. */
void sp_element_mirror(int type, signed char mirror[SP_ELEMENT_NODES]);

#endif
