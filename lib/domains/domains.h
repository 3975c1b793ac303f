/* Bodies made of domains (substructures): the elements of a mesh are divided into domains, which meet at interfaces,
 * the sets of vertices that two domains share.
 *
 * Two elements are neighbours if they have three corners in common, that is a face, or a triangle of one and a
 * quadrilateral of the other. A domain is connected if a chain of neighbours joins any two of its elements. The graph
 * of the domains has an edge for each interface. If it is a tree, every domain but the root has a parent, the neighbour
 * that is nearer to the root. */
#ifndef SP_DOMAINS_DOMAINS_H
#define SP_DOMAINS_DOMAINS_H

#include "mesh/mesh.h"

typedef struct sp_domains {
    sp_pool pool;
    int64_t count, elements; /* domains; elements of the mesh */
    int64_t *domain;         /* [elements] the domain of each element */
    int64_t interface_count;
    int64_t *pair;          /* [interface_count, 2] the domains of each interface, the lower one first; increasing */
    int64_t *start;         /* [interface_count + 1] into vertices */
    int64_t vertex_entries; /* start[interface_count] */
    int64_t *vertices;      /* [vertex_entries] those of each interface, strictly increasing */
    int64_t parents;        /* `count` if the graph of the domains is a tree, else 0 */
    int64_t *parent;        /* [parents] the parent of each domain, −1 for the root */
    int64_t *same;          /* [count] the lowest domain with the same content (sp_domain_extract with `local`) */
    double *origin;         /* [count, 3] m, the lowest corner of the box of each domain */
} sp_domains;

/* The graph of the elements: neighbours of element e are index[start[e]] … index[start[e + 1] − 1], increasing. */
typedef struct sp_element_graph {
    sp_pool pool;
    int64_t *start, *index;
    int64_t *vertex_start, *vertex_element; /* the elements of each vertex, increasing */
} sp_element_graph;

int sp_element_graph_new(sp_context *context, const sp_mesh *mesh, sp_element_graph *graph) SP_MUST_USE;
void sp_element_graph_free(sp_element_graph *graph);

/* Divides the elements into `count` connected domains of about the same number of elements, with few vertices in the
 * interfaces: recursive bisection, each time by the best of METIS's division and of cuts across the long axis and by
 * the distance from an end. No step cuts through an interface: the elements around a vertex of an interface stay in one
 * domain. So no vertex is in three domains, and the graph of the domains is a tree unless the body has a loop. domain
 * [elements] receives numbers in the order of the lowest elements. The result does not depend on the number of threads.
 * SP_INPUT if the elements are not connected, or do not divide so into as many domains. */
int sp_domains_partition(sp_context *context, const sp_mesh *mesh, const sp_element_graph *graph, int64_t count,
                         int64_t *domain) SP_MUST_USE;

/* Replaces side [elements], any numbers from 0 to below `count`, by the connected pieces of the sides, numbered by
 * their side, and within it in the order of the lowest elements; `count` becomes their number. */
int sp_domains_pieces(sp_context *context, const sp_mesh *mesh, const sp_element_graph *graph, int64_t *side,
                      int64_t *count) SP_MUST_USE;

/* Completes the domains from domain [elements] (copied), numbers from 0 to below `count` that all occur: interfaces,
 * and parents if the graph is a tree. SP_INPUT if a domain is not connected, if an interface has fewer than three
 * vertices or all its vertices are on a line, if a domain has no interface or the domains fall into groups that do not
 * meet. After an error the domains are empty. */
int sp_domains_new(sp_context *context, const sp_mesh *mesh, const sp_element_graph *graph, int64_t count,
                   const int64_t *domain, sp_domains *domains) SP_MUST_USE;
void sp_domains_free(sp_domains *domains);

/* Makes `root` the root of the tree, and numbers the domains anew if `renumber`: breadth first from the root, so that
 * parents come before their children, and the children of one domain in the order of their lowest elements. Without a
 * tree only the numbers change. */
int sp_domains_root(sp_context *context, sp_domains *domains, int64_t root, bool renumber) SP_MUST_USE;

/* An interface whose vertices fall into several pieces, where two vertices of one element belong together, as they do
 * where a ring is divided in two: its number, and `pieces`; −1 if there is none. */
int sp_domains_loop(sp_context *context, const sp_mesh *mesh, const sp_domains *domains, int64_t *interface,
                    int64_t *pieces) SP_MUST_USE;

/* The interface of two domains, −1 if they have none. */
int64_t sp_domains_interface(const sp_domains *domains, int64_t one, int64_t other);

typedef struct sp_domain_choice {
    int64_t domain;
    bool fix_parent;  /* fix the vertices of the interface to the parent; the root has none */
    bool name_parent; /* the interface to the parent is called interface-parent */
    bool local; /* names and places that do not depend on the other domains: the interfaces are called interface-1,
                  interface-2, …, in the order of their lowest vertices, and the mesh is moved so that the lowest
                  corner of its box is at 0, with coordinates rounded to multiples of a power of two below 1e-12 of the
                  longest side of the box. Domains that differ by a translation only are then equal. */
} sp_domain_choice;

/* One domain as a mesh (sp_mesh_keep), with a set of vertices for each of its interfaces, named interface-K by its
 * neighbour K. Triangles of the surface come along if the domain's elements carry all corners. The vertices have the
 * order of the whole mesh, on both sides of an interface. origin as for sp_mesh_keep. SP_INPUT if the mesh has sets
 * with these names already. */
int sp_domain_extract(sp_context *context, const sp_mesh *mesh, const sp_domains *domains,
                      const sp_domain_choice *choice, sp_pool *pool, sp_mesh *part, int64_t **origin) SP_MUST_USE;

/* The domain that each triangle of the embedded surface belongs to, owner [triangles]: that of the elements of its
 * corners, and where these are in several domains, that of the element that is nearest to its centroid, of several the
 * first. `spanning` receives the number of such triangles. */
int sp_domains_owners(sp_context *context, const sp_mesh *mesh, const sp_domains *domains, int64_t *owner,
                      int64_t *spanning) SP_MUST_USE;

/* Adds to the mesh of a domain the triangles with corners in elements of several domains that it owns, which
 * sp_domain_extract leaves out, so that the surfaces of all domains are the surface of the whole. Corners that the
 * elements of other domains carry are embedded in the nearest element of this one, with weights that continue its shape
 * functions linearly (pointshell/transfer.h). They move as the domain does, where the whole body moves them with its
 * neighbour. gap: the largest distance [m] of such a corner from its element. Not for a mesh that was made with
 * `local`. */
int sp_domain_add_spanning(sp_context *context, const sp_mesh *mesh, const sp_domains *domains, int64_t domain,
                           const int64_t *owner, sp_mesh *part, double *gap) SP_MUST_USE;

/* Fills in `same` and `origin` by comparing the domains that have equal numbers of elements, vertices and interfaces.
 * A domain whose interface to its parent is another one, in the order of `local`, is not the same. */
int sp_domains_compare(sp_context *context, const sp_mesh *mesh, sp_domains *domains) SP_MUST_USE;

#endif
