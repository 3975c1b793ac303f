/* Cuts: elements of a mesh separated from each other, its vertices doubled where they would still hold together. */
#ifndef SP_MESH_CUT_H
#define SP_MESH_CUT_H

#include "mesh/mesh.h"

/* Separates elements that are on different sides: side [elements], any numbers, of which only equality counts.
 *
 * Definition. Two elements have a face in common when one has a face with the corners of a face of the other, or a
 * triangle whose corners are three of those of a quadrilateral of the other (hexahedra and tetrahedra side by side).
 * Take a vertex and the elements around it. If they are all of one side, the vertex stays as it is, also where the mesh
 * hangs together there by an edge or a corner only. Otherwise they fall into groups: two elements are in one group when
 * a chain of elements around the vertex, all of one side, leads from one to the other, each with a face in common with
 * the next that contains the vertex. Every group gets the vertex for itself. So afterwards no two elements of different
 * sides share a vertex; two of one side share those that they shared before, but for vertices on the cut where only an
 * edge, a corner or elements of other sides held them together.
 *
 * Cuts compose: a cut by one set of sides and then by another gives, but for the numbers of the copies, the cut by
 * their pairs.
 *
 * Numbers: the group with the lowest element keeps the vertex, the others get copies, which follow behind all old
 * vertices in the order of (vertex, lowest element of the group). origin [new vertices], not decreasing among the
 * copies: the vertex of the old mesh that each one is, or is a copy of.
 *
 * All else stays: elements with regions, factors, fibres; materials, quadrature. Each copy of a held vertex is held in
 * the same components. A vertex of the embedded surface stays with its element and its weights. A triangle of it goes
 * when the cut takes apart two of the elements that carry its vertices: they are on different sides, or in different
 * pieces (sp_mesh_components) that were one piece, or they shared a vertex and share none now; dropped receives the
 * number of those.
 *
 * The result passes sp_mesh_check where `mesh` does. `cut` owns its arrays (sp_mesh_free); origin is allocated from
 * `pool`. After an error `cut` is empty. */
int sp_mesh_cut(sp_context *context, const sp_mesh *mesh, const int64_t *side, sp_pool *pool, sp_mesh *cut,
                int64_t **origin, int64_t *dropped) SP_MUST_USE;

/* Is `cut` what sp_mesh_cut makes of `mesh` for some sides, as far as a state of `mesh` (displacements, loads, regions)
 * needs it to go on there? The same numbers of elements, materials and surface vertices, the same regions; all old
 * vertices keep their numbers, copies have the position of their origin, corners of elements are their old ones or
 * copies of them. Both meshes must be checked; origin [cut->vertex_count] may hold anything. SP_INPUT names the first
 * offender. */
int sp_mesh_check_cut(sp_context *context, const sp_mesh *mesh, const sp_mesh *cut, const int64_t *origin) SP_MUST_USE;

/* side [elements] += weight where the centroid of an element's corners (their mean) has n·x > d; where region ≥ 0 for
 * its elements alone. Start with zeros; several planes with weights 1, 2, 4, … give every combination a side of its
 * own. Finite normal and offset, no component beyond 1e100. */
void sp_mesh_sides_of_plane(const sp_mesh *mesh, const double normal[3], double offset, int64_t region, int64_t weight,
                            int64_t *side);

/* Connected components of the elements as sp_mesh_components finds them, numbered by size: label [elements] from 0,
 * more elements first; of equal ones the one with the lowest element. */
int sp_mesh_pieces_by_size(sp_context *context, const sp_mesh *mesh, int64_t *label, int64_t *count) SP_MUST_USE;

/* The elements with keep [elements] set, at least one, as a mesh of their own, with the vertices that they use, all in
 * their old order. Vertices stay held; surface vertices stay with their elements and weights, triangles where all their
 * vertices do; all materials stay, so that regions keep their numbers. origin [part's vertices], from `pool`: the
 * vertex of `mesh` that each one is. `part` owns its arrays; after an error it is empty. */
int sp_mesh_keep(sp_context *context, const sp_mesh *mesh, const bool *keep, sp_pool *pool, sp_mesh *part,
                 int64_t **origin) SP_MUST_USE;

#endif
