/* Readers for volumetric meshes of other programs. Materials, sets and fixed vertices are read if the file has them.
 * Elements of negative volume are kept; the caller decides what to do (sp_mesh_inverted). The result has no embedded
 * surface and quadrature 2, and is not yet checked with sp_mesh_check. */
#ifndef SP_FORMATS_IMPORT_VOLUME_H
#define SP_FORMATS_IMPORT_VOLUME_H

#include "mesh/mesh.h"

/* Opens another file that the first one includes (VegaFEM *INCLUDE, Abaqus *INCLUDE), by the name written there. The
 * bytes belong to the caller and must stay valid until parsing ends. */
typedef struct sp_includes {
    int (*open)(void *data, sp_context *context, const char *name, const char **bytes, int64_t *count);
    void *data;
} sp_includes;

/* Notes that are not errors, such as skipped boundary elements: one line each, none twice. If there are more than fit,
 * the last one says so. */
typedef struct sp_notes {
    char line[32][160];
    int count;
    char inverted[160]; /* the first element without positive volume, as named in the file: "element 17 (line 30)"; ""
                           if there is none */
    char folded[256];   /* the first element that reorientation does not repair (sp_mesh_folded), with the reason:
                           "element 17 (line 30): its Jacobian …" */
} sp_notes;

/* VegaFEM .veg: *VERTICES, *ELEMENTS (TET, CUBIC/HEX in VegaFEM's corner order = ours), 0- or 1-based numbering,
 * *MATERIAL (ENU, MOONEYRIVLIN, ORTHOTROPIC as law "linear"), *SET, *REGION, *INCLUDE. A set may not overlap another
 * one used by a region; a region of "allElements" has all remaining elements. Elements without region are an error.
 * Sets are kept as sets of elements. */
int sp_volume_parse_veg(sp_context *context, const char *bytes, int64_t count, const sp_includes *includes,
                        sp_mesh *mesh, sp_notes *notes) SP_MUST_USE;

/* Gmsh .msh 2.x and 4.x, ASCII and binary (either byte order): solids of first and second order; pyramids (of first
 * order) are split; other volume elements are an error. Physical volumes become regions by name, in the order of their
 * tags, with the constants of `material`; elements that belong to none form a region with the name of `material`.
 * Physical points and curves become sets of vertices and physical surfaces sets of faces, with their names or
 * "point-<tag>", "curve-<tag>", "surface-<tag>". Elements of fewer dimensions in no group are skipped with a note.
 * Nodes that no element uses are dropped. */
int sp_volume_parse_msh(sp_context *context, const char *bytes, int64_t count, const sp_material *material,
                        sp_mesh *mesh, sp_notes *notes) SP_MUST_USE;

/* Medit .mesh in text, versions 1 to 4: Vertices, Tetrahedra, TetrahedraP2, Hexahedra, Prisms, Pyramids (which are
 * split); other volume elements are an error, other sections are skipped with a note. References of elements become
 * regions "region-<reference>" in increasing order, with the constants of `material`; reference 0 is a region with its
 * name. References of faces become sets of faces "surface-<reference>", those of edges sets of vertices
 * "edge-<reference>", except 0. Nodes that no element uses are dropped. */
int sp_volume_parse_medit(sp_context *context, const char *bytes, int64_t count, const sp_material *material,
                          sp_mesh *mesh, sp_notes *notes) SP_MUST_USE;

/* TetGen: tetrahedra of 4 or 10 nodes in NAME.ele on the vertices in NAME.node, both numbered from 0 or from 1. `bytes`
 * are those of the file at the path `name`, and `includes` opens the other file, whose name is given without the
 * folder. The first attribute of the elements, an integer, gives regions like the references of Medit; other attributes
 * and markers are skipped. Vertices that no element uses are dropped. */
int sp_volume_parse_tetgen(sp_context *context, const char *name, const char *bytes, int64_t count,
                           const sp_includes *includes, const sp_material *material, sp_mesh *mesh,
                           sp_notes *notes) SP_MUST_USE;

/* Legacy VTK, versions 1.0 to 5.1, text and binary: an unstructured grid of solids of first and second order;
 * cells of fewer dimensions are skipped with a note, others are an error. Cell data named region or material, one
 * integer for each cell, give regions like the references of Medit. Points that no element uses are dropped. */
int sp_volume_parse_vtk(sp_context *context, const char *bytes, int64_t count, const sp_material *material,
                        sp_mesh *mesh, sp_notes *notes) SP_MUST_USE;

/* VTK's XML format .vtu: one piece, either byte order, arrays as text, base64 or appended (raw or base64), uncompressed
 * or compressed with zlib; cells and regions as in legacy VTK. Points that no element uses are dropped. */
int sp_volume_parse_vtu(sp_context *context, const char *bytes, int64_t count, const sp_material *material,
                        sp_mesh *mesh, sp_notes *notes) SP_MUST_USE;

/* COMSOL's mesh in text, .mphtxt: the first object of class Mesh, versions 1 to 4, with tetrahedra, wedges and
 * hexahedra of first and second order, and pyramids. Domains become regions "domain-<number>" in increasing order, with
 * the constants of `material`. Faces become sets "boundary-<number>", edges and points sets of vertices "edge-<number>"
 * and "point-<number>", with the numbers of COMSOL's windows, which are larger by 1 than those in the file. Vertices
 * that no element uses are dropped. */
int sp_volume_parse_comsol(sp_context *context, const char *bytes, int64_t count, const sp_material *material,
                           sp_mesh *mesh, sp_notes *notes) SP_MUST_USE;

/* Concentrated forces of an .inp file; entries of the same vertex and component add up. */
typedef struct sp_nodal_loads {
    int64_t count;
    int64_t *vertex; /* [count] */
    int *component;  /* [count] 0 x, 1 y, 2 z */
    double *value;   /* [count] in the file's unit of force */
} sp_nodal_loads;

/* Abaqus/CalculiX .inp: *NODE, *ELEMENT (C3D4, C3D6, C3D8, C3D8I, C3D10, C3D15, C3D20, C3D20R, C3D27; C3D8R is read
 * as C3D8 with a note; other solids are an error, shells, beams and similar ones are skipped), *NSET, *ELSET with
 * GENERATE and named sets (those of the part and of the assembly apart: "instance.name" is that of the part), and
 * *SURFACE of faces or nodes, which are kept as sets, *MATERIAL with *ELASTIC (ISO as law "stvk", ORTHO, ANISO and
 * ENGINEERING CONSTANTS as "linear"), *HYPERELASTIC (NEO HOOKE, MOONEY-RIVLIN), *DAMPING and *DENSITY, *SOLID SECTION:
 * one region for each material used; `material` supplies missing data (density, damping; everything if there is no
 * *SOLID SECTION). *BOUNDARY before and in the first step gives fixed components, whatever the values are; *CLOAD of
 * the first step gives loads. Reading stops at the second step. Cards that do not affect the mesh are skipped. Nodes
 * that no element uses are dropped. Numbers are not converted: .inp files have no units. node_id [vertex_count], the
 * file's number of each vertex, and the arrays of loads are allocated in mesh->pool; both may be NULL. */
int sp_volume_parse_inp(sp_context *context, const char *bytes, int64_t count, const sp_includes *includes,
                        const sp_material *material, sp_mesh *mesh, int64_t **node_id, sp_nodal_loads *loads,
                        sp_notes *notes) SP_MUST_USE;

/* VegaFEM .bou: vertex numbers from 1, separated by blanks, commas or semicolons; result from 0, increasing, each once,
 * in pool. The caller compares them with the number of vertices. */
int sp_volume_parse_bou(sp_context *context, const char *bytes, int64_t count, sp_pool *pool, int64_t *fixed_count,
                        int64_t **fixed) SP_MUST_USE;

/* VegaFEM .interp: for each surface vertex its number, then pairs (vertex, weight), 4 or 8 of them, all numbers from 0.
 * Finds the element with these corners and replaces the embedded surface of the mesh by these vertices and triangles,
 * with elements and weights. The weights, printed with few digits, must sum to 1 within 1e-4 and are divided by their
 * sum. */
int sp_volume_parse_interp(sp_context *context, const char *bytes, int64_t count, int64_t surface_vertex_count,
                           const double *surface_vertices, int64_t triangle_count, const int64_t *triangles,
                           sp_mesh *mesh) SP_MUST_USE;

#endif
