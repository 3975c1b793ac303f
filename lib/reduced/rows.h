/* The rows of the Gram matrix of polynomials that the elements contribute; shared by its files only.
 *
 * The pairs of vertices that the energy is made of may be replaced by any other basis of the translation-free products. With the alternating sums
 * û_s = Σ_a σ_s(a) u_a over the corners of a hexahedron (σ_s the 8 products of the signs of its three axes, σ_0 = 1 left out), the
 * products are û_s·ŵ_t + û_t·ŵ_s: as many as pairs, 28. A reflection of the element turns the sign of those whose s xor t
 * contains its axis. So where the energy does not change under reflections, as in a voxel of an isotropic material, products
 * of different s xor t do not meet: G falls into one block of 7 and seven of 3, and multiplying by its factor costs 70
 * in place of 406. Tetrahedra: û_s = u_s − u_0 for s = 1, 2, 3, six products. */
#ifndef SP_REDUCED_ROWS_H
#define SP_REDUCED_ROWS_H

#include "assembly/body.h"
#include "assembly/element.h"
#include "reduced/polynomial.h"

/* How a class of elements turns its products P into rows S of the symmetric product: G = FᵀF, S = F P. */
typedef struct sp_row_factor {
    bool separable;                         /* hexahedra: the blocks do not meet */
    bool triangular;                        /* upper; else (rank below the number of products) rows of a pivoted factor */
    bool box;                               /* separable, triangular, and X̂_s = 0 but for the axes s = 1, 2, 4: products with X fill 18 of the rows (the linear strains of a hexahedron) */
    uint32_t rows;                          /* bit k: row k of F is not zero */
    double F[SP_HEX_PAIRS * SP_HEX_PAIRS];  /* [products, products, row major] √(J/m⁴) */
    double edges[7][3];                     /* X̂_s, m */
} sp_row_factor;

/* The factor of one class of elements, for its material or one Lamé constant of 1 Pa. */
int sp_row_factor_new(sp_context *context, const sp_body *body, int64_t class, enum sp_constant constant, sp_row_factor *factor) SP_MUST_USE;

/* Elements of one number of corners, each in a lane; lanes without one have no displacements, so their rows are zero. */
typedef struct sp_row_group {
    int corners, count;
    bool separable, triangular, box; /* in all lanes */
    uint32_t rows;                   /* bit k: row k is not zero in some lane */
    int64_t element[SP_LANES], class[SP_LANES];
    sp_lanes F[SP_HEX_PAIRS * SP_HEX_PAIRS];
} sp_row_group;

/* û_s of the basis W (sp_reduced_rows) for the group's elements into hat [1 + r, corners, 3], X̂_s first; factors [count]. */
void sp_row_group_load(const sp_mesh *mesh, const sp_row_group *group, const sp_row_factor *const factors[SP_LANES], int64_t r, const double *W, sp_lanes *hat);

/* Rows in columns of `stride` rows: linear columns i ↦ products of X and uⁱ, then those of pairs (i ≤ j, j fastest) ↦ of uⁱ and uʲ. */
typedef struct sp_row_block {
    int64_t stride;
    double *rows;   /* all columns */
    double *paired; /* rows whose linear columns are 0: columns of pairs only */
} sp_row_block;

/* The group's rows, each row of F in SP_LANES rows, one for each lane. `paired` gets SP_ROWS_PAIRED of them from boxes, none from others. */
enum { SP_ROWS_PAIRED = 10 };
void sp_row_group_rows(const sp_row_group *group, int64_t r, const sp_lanes *hat, const sp_row_block *block);

#endif
