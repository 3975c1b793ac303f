/* Cuts: separate elements of a mesh from each other by duplicating the vertices that would still connect them. */
#ifndef SP_MESH_CUT_H
#define SP_MESH_CUT_H

#include "mesh/mesh.h"

/* Separates elements that are on different sides: side [elements] are arbitrary numbers, compared only for equality.
 *
 * Definition. Two elements have a common face if one has a face with the corners of a face of the other, or a triangle
 * whose corners are three of those of a quadrilateral of the other (a hexahedron next to a tetrahedron). Consider a
 * vertex and the elements around it. If they are all on one side, the vertex stays as it is, even if the mesh is
 * connected there by an edge or a corner only. Otherwise they fall into groups: two elements are in one group if a
 * chain of elements around the vertex, all on one side, leads from one to the other, and each has a common face with
 * the next that contains the vertex. Every group gets a vertex of its own. Afterwards no two elements on different
 * sides share a vertex, and two on one side share those that they shared before, except for vertices on the cut at
 * which only an edge, a corner or elements of other sides connected them.
 *
 * Cuts compose: a cut by one set of sides and then by another gives, except for the numbers of the copies, the cut by
 * the pairs of sides.
 *
 * Numbers: the group with the lowest element keeps the vertex, the others get copies, which follow all old vertices in
 * the order of (vertex, lowest element of the group). origin [new vertices], not decreasing among the copies, is the
 * vertex of the old mesh that each vertex is, or is a copy of.
 *
 * Everything else is kept: elements with regions, factors and fibres; materials; quadrature. Each copy of a fixed
 * vertex is fixed in the same components. A vertex of the embedded surface stays with its element and its weights. A
 * triangle of the surface is dropped if the cut separates two of the elements that carry its vertices: they are on
 * different sides, or in different pieces (sp_mesh_components) that were one piece, or they shared a vertex and share
 * none now. dropped receives the number of dropped triangles.
 *
 * The result passes sp_mesh_check if `mesh` does. `cut` owns its arrays (sp_mesh_free); origin is allocated from
 * `pool`. After an error `cut` is empty. */
int sp_mesh_cut(sp_context *context, const sp_mesh *mesh, const int64_t *side, sp_pool *pool, sp_mesh *cut,
                int64_t **origin, int64_t *dropped) SP_MUST_USE;

/* Checks that `cut` can be the result of sp_mesh_cut on `mesh` for some sides, as far as is needed to transfer a state
 * of `mesh` (displacements, loads, regions): it has the same numbers of elements, materials and surface vertices and
 * the same regions; all old vertices keep their numbers, copies have the position of their origin, and corners of
 * elements are their old ones or copies of them. Both meshes must be checked; origin [cut->vertex_count] may contain
 * anything. SP_INPUT names the first violation. */
int sp_mesh_check_cut(sp_context *context, const sp_mesh *mesh, const sp_mesh *cut, const int64_t *origin) SP_MUST_USE;

typedef struct sp_cut_counts {
    int64_t pieces_before, pieces; /* connected components of the elements of the old and the new mesh */
    int64_t free_pieces;           /* of the new mesh: those without a fixed vertex */
    int64_t doubled, copies;       /* old vertices that have copies; the copies */
} sp_cut_counts;

/* Counts what a cut did: `cut` and origin are as sp_mesh_cut returned them for `mesh`. */
int sp_mesh_count_cut(sp_context *context, const sp_mesh *mesh, const sp_mesh *cut, const int64_t *origin,
                      sp_cut_counts *counts) SP_MUST_USE;

/* side [elements] += weight for elements whose centroid of corners (their mean) has n·x > d; if region ≥ 0, only for
 * elements of that region. Start with zeros; several planes with weights 1, 2, 4, … give every combination its own
 * side. Normal and offset are finite, with no component beyond 1e100. */
void sp_mesh_sides_of_plane(const sp_mesh *mesh, const double normal[3], double offset, int64_t region, int64_t weight,
                            int64_t *side);

/* Connected components of the elements as sp_mesh_components finds them, numbered by size: label [elements] from 0,
 * larger ones first, and among equal ones the one with the lowest element. */
int sp_mesh_pieces_by_size(sp_context *context, const sp_mesh *mesh, int64_t *label, int64_t *count) SP_MUST_USE;

/* Extracts the elements with keep [elements] set, at least one, as a mesh with the vertices that they use, all in their
 * old order. Fixed vertices stay fixed; surface vertices stay with their elements and weights, and triangles if all
 * their vertices do; all materials stay, so that regions keep their numbers. origin [part's vertices], from `pool`, is
 * the vertex of `mesh` that each one is. `part` owns its arrays; after an error it is empty. */
int sp_mesh_keep(sp_context *context, const sp_mesh *mesh, const bool *keep, sp_pool *pool, sp_mesh *part,
                 int64_t **origin) SP_MUST_USE;

#endif
