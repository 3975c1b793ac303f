/* Simulation meshes in the formats of other programs. The readers of formats/import/volume.h restore them from these
 * files: vertices to the last bit (17 digits; .inp to at least 13), elements in their order, regions, and the data
 * named below. Each function requires a mesh that passes sp_mesh_check and writes to an open descriptor. SP_INPUT for a
 * mesh that the format cannot represent, before anything is written. */
#ifndef SP_FORMATS_EXPORT_VOLUME_WRITE_H
#define SP_FORMATS_EXPORT_VOLUME_WRITE_H

#include "mesh/mesh.h"

/* Gmsh in text, version 4.1 (major 4) or 2.2 (major 2): each region is a physical volume with its name, and named sets
 * are physical points, surfaces and, in version 4.1, volumes with theirs. A name with a quotation mark is SP_INPUT. */
int sp_msh_write(sp_context *context, int descriptor, int major, const sp_mesh *mesh) SP_MUST_USE;

/* Returns true if a set is the elements of the region of its name, which needs not be written then. */
bool sp_volume_is_region(const sp_mesh *mesh, const sp_mesh_set *set);

/* Medit .mesh in text: region r is reference r + 1, and a set of faces is the reference below of its faces. */
int64_t sp_medit_reference(const sp_mesh *mesh, int64_t set); /* from 1; 0: it is no set of faces */
int sp_medit_write(sp_context *context, int descriptor, const sp_mesh *mesh) SP_MUST_USE;

/* Legacy VTK 3.0 in text: region r is the value r of the cell data "region". Named sets are data "set_NAME" with plain
 * names, 1 in the set and 0 elsewhere: of elements at the cells, of vertices and of the vertices of faces at the
 * points. */
int sp_vtk_write(sp_context *context, int descriptor, const sp_mesh *mesh) SP_MUST_USE;

/* TetGen's two files, numbered from 1: region r is attribute r + 1. Hexahedra are SP_INPUT. */
int sp_tetgen_write_nodes(sp_context *context, int descriptor, const sp_mesh *mesh) SP_MUST_USE;
int sp_tetgen_write_elements(sp_context *context, int descriptor, const sp_mesh *mesh) SP_MUST_USE;

/* Names of the regions for programs that require plain ones: letters, digits, _ and -, a letter first, different from
 * each other regardless of case. names [material_count] are allocated from `pool`; names that are plain already are
 * unchanged. */
int sp_plain_names(sp_context *context, const sp_mesh *mesh, sp_pool *pool, char (**names)[SP_NAME_LENGTH]) SP_MUST_USE;

/* Likewise plain names of the sets [set_count], different within each kind; those of sets of elements differ from the
 * names of regions too. A set of the elements of the region of its name has the name "" and needs not be written. */
int sp_plain_set_names(sp_context *context, const sp_mesh *mesh, char (*regions)[SP_NAME_LENGTH], sp_pool *pool,
                       char (**names)[SP_NAME_LENGTH]) SP_MUST_USE;

/* Abaqus and CalculiX: *NODE, *ELEMENT C3D8 and C3D4 in an *ELSET for each region, named sets as *NSET, *ELSET and
 * *SURFACE, an *NSET with *BOUNDARY for each combination of fixed components, *SOLID SECTION, *MATERIAL with *DENSITY,
 * *DAMPING and *ELASTIC or *HYPERELASTIC. Numbers from 1, plain names. A field has 20 characters: longer numbers are
 * rounded, to at least 13 digits.
 */
int sp_inp_write(sp_context *context, int descriptor, const sp_mesh *mesh) SP_MUST_USE;

/* Returns true if CalculiX has the law: stvk is its *ELASTIC (the second Piola-Kirchhoff stress is linear in the
 * Green-Lagrange strain), linear is the same with type ANISO, mooney-rivlin is its *HYPERELASTIC, MOONEY-RIVLIN with
 * C10 = mu10, C01 = mu01, D1 = 1/v1. A neo-Hookean law in ln J is not its NEO HOOKE, whose volume term is (J - 1)²/D1.
 * For other laws sp_inp_write writes a comment instead. */
bool sp_inp_holds(const sp_material *material);

/* VegaFEM .veg, numbered from 1, plain names: ENU (stvk and neo-hookean: VegaFEM chooses between them when it runs),
 * MOONEYRIVLIN, ORTHOTROPIC (linear, if the stiffness is orthotropic in its frame; otherwise SP_INPUT). Damping is not
 * written. A mesh with both hexahedra and tetrahedra is SP_INPUT, since the file has one type of element. */
int sp_veg_write(sp_context *context, int descriptor, const sp_mesh *mesh) SP_MUST_USE;

/* Returns true if all hexahedra are equal cubes along the axes, within 1e-6 of an edge. VegaFEM computes with no
 * others. */
bool sp_veg_cubes(const sp_mesh *mesh);

/* VegaFEM .bou: the vertices that are fixed in all components, numbered from 1. SP_INPUT if there is none. */
int sp_bou_write(sp_context *context, int descriptor, const sp_mesh *mesh) SP_MUST_USE;

/* VegaFEM .interp: the weights of the embedded surface's vertices, numbered from 0. SP_INPUT if there is none. */
int sp_interp_write(sp_context *context, int descriptor, const sp_mesh *mesh) SP_MUST_USE;

#endif
