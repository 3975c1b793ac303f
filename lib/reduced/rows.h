/* The rows that elements contribute to the Gram matrix of polynomials; shared by the sources of polynomials only.
 *
 * The strain is bilinear in the deformation x = X + u: with vectors x̂_s that do not depend on translations, E is a sum
 * of products x̂_s·x̂_t with constant coefficients, and so the energy is ½ PᵀGP in the products P. There are two
 * choices of vectors:
 *
 * Alternating sums over the corners of a hexahedron, û_s = Σ_a σ_s(a) u_a (σ_s the 8 products of the signs of its three
 * axes, without σ_0 = 1): 28 products, as many as pairs of corners. With u = Σ_s û_s h_s / 8, where h_s is σ_s as a
 * polynomial in the reference coordinates, and g_s = ∇h_s / 8 we have G = ∫ sym(g_s g_tᵀ):C:sym(g_v g_wᵀ). A reflection
 * of the element changes the sign of the products whose s xor t contains its axis. If the energy is invariant under
 * reflections, as for a voxel of an isotropic material, products of different s xor t are therefore uncoupled: G
 * decomposes into one block of 7 and seven of 3, and multiplication by its factor costs 70 instead of 406 operations.
 *
 * The displacement gradient at one integration point, û_s = ∂u/∂X_s for s = 1, 2, 3 (so that X̂_s are the unit vectors):
 * six products, the strain itself, and G is C times the weight of the point. All elements but 8-node hexahedra are
 * summed by integration points: a 4-node tetrahedron has one point, and elements of second order have less than a sixth
 * as many points as pairs of nodes. 8-node hexahedra so flat and oblique that alternating sums would lose digits are
 * also summed by integration points. */
#ifndef SP_REDUCED_ROWS_H
#define SP_REDUCED_ROWS_H

#include "assembly/element.h"
#include "assembly/fe_space.h"
#include "assembly/gradients.h"
#include "reduced/polynomial.h"

/* Returns true if the elements of a class are summed by quadrature points. */
bool sp_row_by_points(const sp_fe_space *space, int64_t class);

/* How a class of elements transforms its products P into rows S of the symmetric product: G = FᵀF, S = F P. */
typedef struct sp_row_factor {
    bool separable;  /* alternating sums with uncoupled blocks */
    bool triangular; /* upper; else (rank below the number of products) the rows of a pivoted factor */
    bool box; /* separable, triangular, and X̂_s = 0 except for the axes s = 1, 2, 4: products with X occupy 18 of the
                 rows (the linear strains of a hexahedron) */
    uint32_t rows;                         /* bit k: row k of F is not zero */
    double F[SP_HEX_PAIRS * SP_HEX_PAIRS]; /* [products, products, row major] √(J/m⁴); at quadrature points √Pa, to be
                                              multiplied by the square root of the weight */
    double X[7][3];                        /* X̂_s, m; unused at quadrature points */
} sp_row_factor;

/* The factor of one class of elements, for its material or one Lamé constant of 1 Pa. */
int sp_row_factor_new(sp_context *context, const sp_fe_space *space, int64_t class, enum sp_constant constant,
                      sp_row_factor *factor) SP_MUST_USE;

/* Elements of one type, one per SIMD lane; unused lanes have no displacements, so that their rows are zero. */
typedef struct sp_row_group {
    int type, count;
    int points; /* quadrature points, whose rows are computed one after another; 0: alternating sums */
    bool separable, triangular, box; /* in all lanes */
    uint32_t rows;                   /* bit k: row k is nonzero in some lane */
    int64_t element[SP_LANES], class[SP_LANES];
    sp_lanes factor[SP_HEX_PAIRS * SP_HEX_PAIRS]; /* F of the classes */
    sp_lanes F[6 * 6];                            /* at quadrature points: times the root of the weight */
    sp_lane_gradients geometry;
} sp_row_group;

/* Loads the factor of class[lane] into its lane. */
void sp_row_group_factor(sp_row_group *group, const sp_row_factor *factor, int lane);

/* Loads the basis W (sp_reduced_rows) at the nodes of the group's elements; factors [count]. Alternating sums are
 * complete then: hat [1 + r, 8, 3] has û_s of every column, with X̂_s first and vector 0 of each unused. At quadrature
 * points hat [1 + r, nodes, 3] has displacements. */
void sp_row_group_load(const sp_fe_space *space, sp_row_group *group, const sp_row_factor *const factors[SP_LANES],
                       int64_t r, const double *W, sp_lanes *hat);

/* û_s at a quadrature point from these displacements, into gradients [1 + r, 4, 3], as above. */
void sp_row_group_point(sp_row_group *group, int point, int64_t r, const sp_lanes *hat, sp_lanes *gradients);

/* Rows in columns of length `stride`: linear columns i with products of X and uⁱ, then columns of pairs (i ≤ j, j
 * fastest) with products of uⁱ and uʲ. */
typedef struct sp_row_block {
    int64_t stride;
    double *rows;   /* all columns */
    double *paired; /* rows whose linear columns are 0: columns of pairs only */
} sp_row_block;

/* Computes the group's rows: each row of F gives SP_LANES rows, one for each lane. Boxes write SP_ROWS_PAIRED of them
 * to `paired`, others none. */
enum { SP_ROWS_PAIRED = 10 };
void sp_row_group_rows(const sp_row_group *group, int64_t r, const sp_lanes *hat, const sp_row_block *block);

#endif
