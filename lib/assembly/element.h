/* One element: quadrature, mass, and the energy of a linear material in squared edge lengths.
 *
 * An energy can be evaluated in two ways. The displacement gradient at quadrature points, H = Σ_a u_a ∇N_aᵀ, serves
 * every law and every element: rounding moves it by no more than a few ε Σ_a |u_a||∇N_a|, however flat the element is.
 * Squared edge lengths serve linear materials and are much cheaper in hexahedra, but they lose digits in flat elements
 * (sp_element_stretch). Because Σ_a ∇N_a = 0, the Green–Lagrange strain is E = −Σ_{a<b} d_ab sym(∇N_a ∇N_bᵀ) with d_ab
 * = ½(|x_ab|² − |X_ab|²) over the pairs of corners: 28 in a hexahedron, 6 in a tetrahedron. So the energy of any
 * material W = ½ E:C:E is ½ dᵀ G d with the constant matrix G_ab,cd = ∫ sym(∇N_a∇N_bᵀ):C:sym(∇N_c∇N_dᵀ) dV, and the
 * forces are f_a = Σ_b t_ab x_ab, t = G d. */
#ifndef SP_ASSEMBLY_ELEMENT_H
#define SP_ASSEMBLY_ELEMENT_H

#include "base/context.h"

enum { SP_HEX_PAIRS = 28, SP_TET_PAIRS = 6, SP_QUADRATURE_MAX = 27 };

/* Pairs a < b of `corners` (8 or 4) corners, b fastest. */
static inline int sp_pair_count(int corners)
{
    return corners * (corners - 1) / 2;
}
static inline int sp_pair_index(int corners, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    return low * corners - low * (low + 1) / 2 + high - low - 1;
}

/* Quadrature points of an element with their weights det J · w [m³], shape functions and gradients [1/m].
 * Hexahedra: Gauss points_per_axis³ (2 or 3); tetrahedra: one point, which is exact for the constant gradients. */
typedef struct sp_quadrature {
    int count;
    double weight[SP_QUADRATURE_MAX];
    double shape[SP_QUADRATURE_MAX][8];
    double gradient[SP_QUADRATURE_MAX][8][3];
    double axis[SP_QUADRATURE_MAX][3][3]; /* ∇ξ_j of the reference coordinates, 1/m */
    double place[SP_QUADRATURE_MAX][3];   /* ξ of hexahedra, in (−1, 1); not set for tetrahedra */
} sp_quadrature;

/* X [corners, 3] m. Returns the smallest det J over the points (nonpositive: inverted; gradients are then not to be
 * used). */
double sp_element_quadrature(int corners, const double *X, int points_per_axis, sp_quadrature *quadrature);

/* The longest distance of two corners times the largest |∇N_a| at the quadrature points: 1.9 in a cube with 2³ points,
 * 2.4 with 3³, about the aspect ratio in flat elements. Compared to displacement gradients, squared edge lengths lose
 * digits by about this factor: they are of size 1, and the strain is a difference of size 1/stretch. */
double sp_element_stretch(int corners, const double *X, const sp_quadrature *quadrature);

/* Gradients [1/m] at the centre; returns det J there. */
double sp_element_centre_gradients(int corners, const double *X, double gradient[8][3]);

/* G_pq = ∫ sym(mnᵀ):C:sym(m'n'ᵀ) dV [count, count] for products of two vector fields, where product[p] names m and n,
 * and product[q] names m' and n'; vector [points][fields, 3]; C [6,6] in Voigt order xx,yy,zz,yz,zx,xy with engineering
 * shear. Symmetric to the last bit. At most SP_HEX_PAIRS products. */
void sp_element_product_gram(int count, const int product[][2], int points, const double *weight, int fields,
                             const double *vector, const double C[36], double *G);

/* The same for the pairs of corners, with the gradients of their shape functions: G [pairs, pairs] J/m⁴. */
void sp_element_gram(int corners, const sp_quadrature *quadrature, const double C[36], double *G);

/* −∫ (a·∇N_a)(a·∇N_b) dV [pairs] m for a direction a: ∫ aᵀE a dV = Σ along_ab d_ab. */
void sp_element_along(int corners, const sp_quadrature *quadrature, const double direction[3], double *along);

/* ∫ N_a N_b dV [corners, corners] m³: by the same points for hexahedra (2³ are exact on boxes), exactly for
 * tetrahedra. */
void sp_element_volume_mass(int corners, const sp_quadrature *quadrature, double *mass);

#endif
