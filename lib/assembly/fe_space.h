/* The finite element space of a mesh: degrees of freedom, element matrices, an order of elements in which threads do
 * not write to the same vertex, and the pattern of the sparse matrices. */
#ifndef SP_ASSEMBLY_FE_SPACE_H
#define SP_ASSEMBLY_FE_SPACE_H

#include "base/lanes.h"
#include "linear/sparse.h"
#include "mesh/mesh.h"

/* Elements of the same shape, size, region, factors and fibre direction share one set of matrices: one for all voxels
 * of a region. The energy is evaluated in one of two ways (assembly/element.h): in squared edge lengths, for 8-node
 * hexahedra of linear materials that are not flat (gram is not NULL), else at quadrature points. */
typedef struct sp_element_class {
    int type, nodes; /* mesh/element_type.h */
    int64_t region;
    int64_t element; /* the first element of the class; all of them have its shape, factors and fibres */
    double stretch;  /* sp_element_stretch */
    double *gram;    /* [pairs (pairs+1)/2] packed upper triangle by rows of G, J/m⁴; NULL: evaluated at points */
    double *along; /* [pairs] m: with gram and fibres, −∫ (a·∇N_a)(a·∇N_b) dV, so that their tension T adds T Σ along_ab
                      d_ab to the energy; else NULL */
    int points;     /* number of quadrature points; 0 with gram */
    double *weight; /* [points] m³; NULL with gram */
    double
        *gradient; /* [points, nodes, 3] 1/m; NULL with gram, and for elements of second order (assembly/gradients.h) */
    double *C;     /* [36] Pa: sp_material_stiffness of elements with an assumed strain (SP_HEX8B, SP_HEX8I); else, and
                      with gram, NULL */
    struct sp_condensed_strains *condensation; /* of SP_HEX8I with C; else NULL */
    double *mass;                              /* [nodes, nodes] ρ ∫ N_a N_b dV, kg */
    double *edges; /* X_a − X_b, m: with gram [pairs, 3], else of the pairs with node 0 only [nodes − 1, 3] */
    double volume; /* m³ */
} sp_element_class;

/* Up to SP_LANES elements with the same block, type, kind of evaluation and, at quadrature points, law;
 * unused lanes repeat the first element. */
typedef struct sp_batch {
    int count, nodes;
    int64_t element[SP_LANES];
} sp_batch;

typedef struct sp_fe_space {
    sp_pool pool;
    const sp_mesh *mesh; /* must outlive the space */
    int64_t class_count;
    sp_element_class *classes;
    int64_t *element_class;   /* [elements] */
    sp_reference *references; /* [2 × types] of the stiffness and of the mass, of the types that the mesh has */
    bool fibres;              /* some element has fibres */
    int64_t dof_count;        /* number of free degrees of freedom */
    int64_t *dof;             /* [3·vertices] number among the free ones, −1 if fixed */
    int64_t *free;            /* [dof_count] 3·vertex + component */
    int64_t color_count;  /* blocks of one color share no vertex; the elements of a block are neighbours and belong to
                             one thread */
    int64_t *color_parts; /* [color_count + 1] into blocks */
    int64_t *part_start;  /* [blocks + 1] into batches */
    int64_t batch_count;
    sp_batch *batches;
    double
        *batch_energy; /* [batch_count] scratch of the energy sums: concurrent calls with one space are not allowed */
    /* Pattern of K and M over the free degrees of freedom; built by sp_fe_space_pattern. */
    sp_sparse pattern;     /* value = NULL; start, index and nodes are shared with every matrix of this body */
    int32_t *offset;       /* [elements' nodes²] entry of the first free component of node c in the rows of node a */
    int64_t *offset_start; /* [elements + 1] into offset */
} sp_fe_space;

/* Loops over all batches b of a space inside a parallel region, whose threads share the blocks of a color. They may add
 * to the vertices of their elements; each vertex receives its contributions in the same order for any number of
 * threads. */
#define SP_EACH_BATCH(space, b)                                                                                        \
    for (int64_t color_ = 0; color_ < (space)->color_count; color_++)                                                  \
    _Pragma("omp for schedule(static)") for (int64_t part_ = (space)->color_parts[color_];                             \
                                             part_ < (space)->color_parts[color_ + 1];                                 \
                                             part_++) for (int64_t b = (space)->part_start[part_];                     \
                                                           b < (space)->part_start[part_ + 1]; b++)

/* Builds classes, degrees of freedom and batches. SP_INPUT for a mesh without a free degree of freedom. */
int sp_fe_space_new(sp_context *context, const sp_mesh *mesh, sp_fe_space *space) SP_MUST_USE;

/* The same for a mesh all of whose vertices may be fixed, so that dof_count may be 0: fixed vertices can have a
 * prescribed motion, and elements have forces and energy. */
int sp_fe_space_new_prescribed(sp_context *context, const sp_mesh *mesh, sp_fe_space *space) SP_MUST_USE;
void sp_fe_space_free(sp_fe_space *space);

/* The element of the worst shape, and its aspect ratio: for a 4-node tetrahedron the longest edge divided by the
 * smallest height, for all others sp_element_stretch divided by that of a well-shaped element. */
int64_t sp_fe_space_worst(const sp_fe_space *space, double *aspect);

/* SP_INPUT, naming the region, if the energy of some material is not quadratic in the strain, as polynomials
 * require. */
int sp_fe_space_quadratic(sp_context *context, const sp_fe_space *space) SP_MUST_USE;

/* Returns true if two elements can be in one batch. */
bool sp_fe_space_alike(const sp_fe_space *space, int64_t a, int64_t b);

/* Builds the sparse pattern, which assembly needs. Further calls do nothing. */
int sp_fe_space_pattern(sp_context *context, sp_fe_space *space) SP_MUST_USE;

/* A matrix over the pattern with zero values; it owns only its values, the rest belongs to the space. */
int sp_fe_space_matrix(sp_context *context, const sp_fe_space *space, sp_sparse *matrix) SP_MUST_USE;

/* Adds the mass matrix [kg] over the free degrees of freedom to matrix->value: consistent, or lumped: on the
 * diagonal its row sums, over all vertices, fixed ones included; in elements of second order, whose row sums at corners
 * are negative, its diagonal scaled to the mass of the element (Hinton, Rock and Zienkiewicz, Earthq. Engng Struct.
 * Dyn. 4 (1976)). */
int sp_fe_space_mass(sp_context *context, const sp_fe_space *space, bool lumped, sp_sparse *matrix) SP_MUST_USE;

/* The same as a separate matrix without the zeros between different components, for products. */
int sp_fe_space_mass_compressed(sp_context *context, sp_fe_space *space, bool lumped, sp_sparse *matrix) SP_MUST_USE;

/* product += M fields with the consistent mass of all vertices, fixed ones included; both [vertices, width, row major]:
 * width 3 for displacements, any width for other interpolated fields. The same bits for any number of threads. */
void sp_fe_space_mass_times(const sp_context *context, const sp_fe_space *space, int64_t width, const double *fields,
                            double *product);

/* The lumped mass of the nodes of an element of a class [nodes] kg, as above. */
void sp_element_class_lumped(const sp_element_class *class, double *mass);

/* The mass of every vertex [vertices] kg: lumped, or the row sums of the consistent mass, which times a constant field
 * is M times it. The two are equal but for elements of second order, where row sums can be negative. */
void sp_fe_space_vertex_mass(const sp_fe_space *space, bool lumped, double *mass);

/* node [dof_count]: the vertex of every free degree of freedom, for sp_cholesky_new. */
void sp_fe_space_nodes(const sp_fe_space *space, int64_t *node);

/* The vertices with a free degree of freedom in the order of a permutation of the free degrees of freedom
 * (sp_cholesky_permutation): vertex [their number] ≤ dof_count; returns the number. */
int64_t sp_fe_space_ordering(const sp_fe_space *space, const int64_t *permutation, int64_t *vertex);

/* The inverse: permutation [dof_count]. SP_INPUT if `vertex` [count] is not every vertex with a free degree of freedom
 * once. */
int sp_fe_space_permutation(sp_context *context, const sp_fe_space *space, int64_t count, const int64_t *vertex,
                            int64_t *permutation) SP_MUST_USE;

/* Gathers full vectors [3·vertices] to free ones [dof_count], and scatters them back; sp_fe_space_scatter leaves fixed
 * components as they are. */
void sp_fe_space_gather(const sp_fe_space *space, const double *full, double *reduced);
void sp_fe_space_scatter(const sp_fe_space *space, const double *reduced, double *full);

#endif
