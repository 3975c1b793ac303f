/* The elastic forces of up to eight elements in SIMD lanes, the building block of every sum over elements
 * (assembly/elastic.h, lib/cubature). There are two kinds of evaluation: squared edge lengths for hexahedra of linear
 * materials (pairs.c, assembly/element.h), and quadrature points for all others (points.c, material/law.h). */
#ifndef SP_ASSEMBLY_BATCH_H
#define SP_ASSEMBLY_BATCH_H

#include "assembly/element.h"
#include "assembly/fe_space.h"
#include "material/law.h"

enum {
    SP_PACKED_PAIRS = SP_HEX_PAIRS * (SP_HEX_PAIRS + 1) / 2,
    SP_ELEMENT_BLOCKS = SP_ELEMENT_NODES * (SP_ELEMENT_NODES + 1) / 2
};

/* to[k][l] = from[l][k]. */
SP_INLINE void sp_lanes_gather(int64_t count, const double *const from[SP_LANES], sp_lanes *to)
{
    int64_t k = 0;
    for (; k + SP_LANES <= count; k += SP_LANES) {
        sp_lanes part[SP_LANES];
        for (int l = 0; l < SP_LANES; l++)
            __builtin_memcpy(&part[l], from[l] + k, sizeof *part);
        sp_lanes_transpose(part);
        for (int l = 0; l < SP_LANES; l++)
            to[k + l] = part[l];
    }
    for (; k < count; k++)
        for (int l = 0; l < SP_LANES; l++)
            to[k][l] = from[l][k];
}

/* Constant data of the elements of a batch, in SIMD lanes. */
typedef struct sp_element_lanes {
    int nodes;
    bool by_pairs;
    int64_t class[SP_LANES]; /* the classes that are loaded; −1: none */
    /* by_pairs */
    sp_lanes gram[SP_PACKED_PAIRS];        /* G, packed upper triangle */
    sp_lanes edge[SP_HEX_PAIRS][3];        /* X_a − X_b */
    bool active;                           /* some tension is nonzero */
    sp_lanes tension, along[SP_HEX_PAIRS]; /* of fibres, Pa; 0 in lanes without fibres (assembly/fe_space.h) */
    /* at points */
    int64_t region[SP_LANES]; /* of the laws; −1: none */
    int points;
    sp_lanes weight[SP_QUADRATURE_MAX]; /* m³ */
    sp_lanes gradient[SP_QUADRATURE_MAX][SP_ELEMENT_NODES][3];
    sp_law_lanes law;
    bool assumed; /* elements with an assumed strain, all of one type (assembly/assumed.h) */
    int type;
    sp_lanes C[36];      /* Pa, of assumed: sp_material_stiffness */
    sp_lanes axis[3][3]; /* of SP_HEX8I, as the next: sp_condensed_strains */
    sp_lanes factor[SP_CONDENSATION];
    sp_lanes viscosity[2]; /* φ, ψ, Pa s; only assembly/viscous.c sets them */
} sp_element_lanes;

void sp_element_lanes_start(sp_element_lanes *data);

/* Loads the data of a batch that are not loaded already: for voxels this happens once for all batches. The tension of
 * fibres, which may change between calls, is always read from the mesh. */
void sp_element_lanes_load(const sp_fe_space *space, const sp_batch *batch, sp_element_lanes *data);

/* Weights and gradients of the classes data->class, which are evaluated at points. */
void sp_element_lanes_geometry(const sp_fe_space *space, sp_element_lanes *data);

/* Loads the tension only, for data that are kept from one evaluation to the next. */
void sp_element_lanes_tension(const sp_fe_space *space, sp_element_lanes *data);

/* Loads one element into all lanes, to evaluate it at several displacements at once. */
void sp_element_lanes_fill(const sp_fe_space *space, int64_t element, sp_element_lanes *data);

/* Gathers vectors of the batch's nodes from full vectors, and scatter-adds them; only the first `count` lanes are
 * added. */
void sp_batch_gather(const sp_fe_space *space, const sp_batch *batch, const double *u, sp_lanes to[][3]);
void sp_batch_add(const sp_fe_space *space, const sp_batch *batch, sp_lanes from[][3], double *f);

/* Adds scale · blocks a ≤ c to the values of a matrix over the body's pattern, for the first `count` lanes only. The
 * sum is symmetric to the last bit: of diagonal blocks a = c the upper triangle is used. */
void sp_batch_add_blocks(const sp_fe_space *space, const sp_batch *batch, double scale, sp_lanes block[][9],
                         double *value);

/* Force f [nodes, 3] N and energy [J] at the displacement u [nodes, 3] m. */
void sp_batch_force(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes f[][3], sp_lanes *energy);

/* The same with the tangent's blocks a ≤ c (packed by rows of the triangle) [blocks, 3 × 3 row major] N/m. definite:
 * positive semidefinite, see sp_elastic_tangent. */
void sp_batch_tangent(const sp_element_lanes *data, sp_lanes u[][3], bool definite, sp_lanes f[][3],
                      sp_lanes block[][9], sp_lanes *energy);

/* The blocks of the stress stiffness (assembly/elastic.h) of the stresses that linear elasticity has at u. */
void sp_batch_stress_stiffness(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes block[][9]);

/* y = K(u) v. */
void sp_batch_tangent_times(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes v[][3], sp_lanes y[][3]);

/* Position of entry (p, q) in the packed upper triangle of order n. */
SP_INLINE int sp_packed(int n, int p, int q)
{
    int low = p < q ? p : q, high = p < q ? q : p;
    return low * n - low * (low - 1) / 2 + high - low;
}

#endif
