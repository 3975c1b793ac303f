/* Named sets of vertices, elements or faces of a mesh, which importers keep from other programs' files. Options, loads
 * and probes name them. */
#ifndef SP_MESH_MESH_SETS_H
#define SP_MESH_MESH_SETS_H

#include "mesh/mesh.h"

enum { SP_SETS_MAX = 10000 }; /* sets in a mesh */

typedef enum sp_set_kind { SP_SET_VERTICES, SP_SET_ELEMENTS, SP_SET_FACES, SP_SET_KINDS } sp_set_kind;

/* "vertices", "elements", "faces" */
extern const char *const sp_set_kind_names[SP_SET_KINDS];

struct sp_mesh_set {
    char name[SP_NAME_LENGTH]; /* no two sets of one kind have the same name */
    sp_set_kind kind;
    int64_t count;  /* ≥ 1 */
    int64_t *index; /* [count] vertices or elements, strictly increasing; of faces [count, 2], the element and the
                       number of the face in it (sp_element_face), strictly increasing by element, then by face */
};

/* The numbers of an entry: 2 for faces, else 1. */
static inline int sp_set_width(sp_set_kind kind)
{
    return kind == SP_SET_FACES ? 2 : 1;
}

/* The set with this name and kind, NULL if there is none. */
const sp_mesh_set *sp_mesh_find_set(const sp_mesh *mesh, const char *name, sp_set_kind kind);

/* The set that a name means where vertices are wanted: that of vertices, else that of faces, else that of elements.
 * NULL if there is none. */
const sp_mesh_set *sp_mesh_find_any_set(const sp_mesh *mesh, const char *name);

/* Adds entries [count, width] in any order, also repeated ones, to the set of this name and kind, which is created if
 * there is none. Without entries nothing happens. The name must be valid (sp_name_check). SP_INPUT beyond
 * SP_SETS_MAX. */
int sp_mesh_add_to_set(sp_context *context, sp_mesh *mesh, const char *name, sp_set_kind kind, int64_t count,
                       const int64_t *index) SP_MUST_USE;

/* Sorts the entries of a set after they were changed, and removes repeated ones. */
void sp_mesh_sort_set(sp_mesh_set *set);

/* The nodes of entry i of a set: itself, or those of the element or the face. Returns their number. */
int sp_mesh_set_nodes(const sp_mesh *mesh, const sp_mesh_set *set, int64_t i, int64_t node[SP_ELEMENT_NODES]);

/* The vertices of a set, increasing: also those of its elements or faces, with the middles of edges. Allocated from
 * `pool`. */
int sp_mesh_set_vertices(sp_context *context, const sp_mesh *mesh, const sp_mesh_set *set, sp_pool *pool,
                         int64_t *count, int64_t **vertices) SP_MUST_USE;

/* Gives `made` the sets of `mesh` with other numbers: vertex [mesh->vertex_count] and element [elements of mesh] are
 * the numbers in `made`, −1 for those that it does not have. Faces keep their numbers in the element. Sets without
 * entries are left out. */
int sp_mesh_keep_sets(sp_context *context, const sp_mesh *mesh, const int64_t *vertex, const int64_t *element,
                      sp_mesh *made) SP_MUST_USE;

/* The part of sp_mesh_check for sets: names of 1 to 63 bytes of UTF-8 without control characters, entries in range and
 * increasing, no set without entries, no name twice in a kind, at most SP_SETS_MAX. SP_INPUT. */
int sp_mesh_check_sets(sp_context *context, const sp_mesh *mesh) SP_MUST_USE;

/* The sets as text for people: 'vertices "left" (25), faces "top" (16)'. "" without sets. */
void sp_mesh_list_sets(const sp_mesh *mesh, char *text, size_t size);

#endif
