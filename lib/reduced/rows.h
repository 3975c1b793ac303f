/* The rows of the Gram matrix of polynomials that the elements contribute; shared by its files only.
 *
 * The strain is bilinear in the deformation x = X + u: with some vectors x̂_s that do not see translations, E is a sum
 * of products x̂_s·x̂_t with constant coefficients, and so the energy is ½ PᵀGP in the products P. Two choices of vectors
 * serve:
 *
 * Alternating sums over the corners of a hexahedron, û_s = Σ_a σ_s(a) u_a (σ_s the 8 products of the signs of its three
 * axes, σ_0 = 1 left out): 28 products, as many as pairs of corners. With u = Σ_s û_s h_s / 8, where h_s is σ_s as a
 * polynomial in the reference coordinates, and g_s = ∇h_s / 8 we have G = ∫ sym(g_s g_tᵀ):C:sym(g_v g_wᵀ). A reflection
 * of the element turns the sign of the products whose s xor t contains its axis. So where the energy does not change
 * under reflections, as in a voxel of an isotropic material, products of different s xor t do not meet: G falls into
 * one block of 7 and seven of 3, and multiplying by its factor costs 70 in place of 406.
 *
 * The displacement gradient at one quadrature point, û_s = ∂u/∂X_s for s = 1, 2, 3 (so X̂_s are the unit vectors): six
 * products, the strain itself, and G is C times the weight of the point. Tetrahedra have one point. Hexahedra so flat
 * and oblique that alternating sums would lose digits are summed point by point too. */
#ifndef SP_REDUCED_ROWS_H
#define SP_REDUCED_ROWS_H

#include "assembly/element.h"
#include "assembly/fe_space.h"
#include "reduced/polynomial.h"

/* Whether the elements of a class are summed by quadrature points. */
bool sp_row_by_points(const sp_fe_space *space, int64_t class);

/* How a class of elements turns its products P into rows S of the symmetric product: G = FᵀF, S = F P. */
typedef struct sp_row_factor {
    bool separable;  /* alternating sums: the blocks do not meet */
    bool triangular; /* upper; else (rank below the number of products) rows of a pivoted factor */
    bool box; /* separable, triangular, and X̂_s = 0 but for the axes s = 1, 2, 4: products with X fill 18 of the rows
                 (the linear strains of a hexahedron) */
    uint32_t rows;                         /* bit k: row k of F is not zero */
    double F[SP_HEX_PAIRS * SP_HEX_PAIRS]; /* [products, products, row major] √(J/m⁴); by points √Pa, to be multiplied
                                              by the root of the weight */
    double X[7][3];                        /* X̂_s, m; by points unused */
} sp_row_factor;

/* The factor of one class of elements, for its material or one Lamé constant of 1 Pa. */
int sp_row_factor_new(sp_context *context, const sp_fe_space *space, int64_t class, enum sp_constant constant,
                      sp_row_factor *factor) SP_MUST_USE;

/* Elements of one number of corners, or quadrature points of such, each in a lane; lanes without one have no
 * displacements, so their rows are zero. */
typedef struct sp_row_group {
    int corners, count;
    bool by_points;
    bool separable, triangular, box; /* in all lanes */
    uint32_t rows;                   /* bit k: row k is not zero in some lane */
    int64_t element[SP_LANES], class[SP_LANES];
    int point[SP_LANES];    /* by points: which one */
    int weighted[SP_LANES]; /* the point whose weight is in F; −1: F is not there */
    sp_lanes F[SP_HEX_PAIRS * SP_HEX_PAIRS];
} sp_row_group;

/* The factor of the group's class[lane] into its lane, times the root of the weight of its point; does nothing where it
 * is there already. */
void sp_row_group_factor(const sp_fe_space *space, sp_row_group *group, const sp_row_factor *factor, int lane);

/* û_s of the basis W (sp_reduced_rows) for the group's elements into hat [1 + r, 1 + vectors, 3], X̂_s first and the
 * vector 0 of each unused; factors [count]. hat has room for [1 + r, 8, 3]. */
void sp_row_group_load(const sp_fe_space *space, const sp_row_group *group,
                       const sp_row_factor *const factors[SP_LANES], int64_t r, const double *W, sp_lanes *hat);

/* Rows in columns of `stride` rows: linear columns i ↦ products of X and uⁱ, then those of pairs (i ≤ j, j fastest) ↦
 * of uⁱ and uʲ. */
typedef struct sp_row_block {
    int64_t stride;
    double *rows;   /* all columns */
    double *paired; /* rows whose linear columns are 0: columns of pairs only */
} sp_row_block;

/* The group's rows, each row of F in SP_LANES rows, one for each lane. `paired` gets SP_ROWS_PAIRED of them from boxes,
 * none from others. */
enum { SP_ROWS_PAIRED = 10 };
void sp_row_group_rows(const sp_row_group *group, int64_t r, const sp_lanes *hat, const sp_row_block *block);

#endif
