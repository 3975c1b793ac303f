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
#include "mesh/element_type.h"

enum { SP_HEX_PAIRS = 28, SP_TET_PAIRS = 6 };

/* Pairs a < b of the nodes, b fastest. */
static inline int sp_pair_count(int nodes)
{
    return nodes * (nodes - 1) / 2;
}
static inline int sp_pair_index(int nodes, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    return low * nodes - low * (low + 1) / 2 + high - low - 1;
}

/* Integration points of an element with their weights det J · w [m³] and gradients [1/m]. */
typedef struct sp_quadrature {
    int count;
    double weight[SP_QUADRATURE_MAX];
    double gradient[SP_QUADRATURE_MAX][SP_ELEMENT_NODES][3];
    double axis[SP_QUADRATURE_MAX][3][3]; /* ∇ξ_j of the reference coordinates, 1/m */
    double place[SP_QUADRATURE_MAX][3];   /* ξ */
} sp_quadrature;

/* X [nodes, 3] m. Returns the smallest det J over the points (nonpositive: inverted; gradients are then not to be
 * used). */
double sp_element_quadrature(const sp_reference *reference, const double *X, sp_quadrature *quadrature);

/* In flat elements that are oblique to their own axes det J is a small difference of large products. If it is below
 * this fraction of the product of the column lengths of J, doubles have lost more than a digit, and J is inverted in
 * sums of two doubles. */
#define SP_ELEMENT_FLAT 0.1

/* ∇N_a [nodes, 3] 1/m at a place where the slopes are ∂N_a/∂ξ_j [nodes, 3]; returns det J there. */
double sp_element_gradients(int type, const double *X, const double slope[][3], double gradient[][3]);

/* The longest distance of two corners times the largest |∇N_a| at the quadrature points: 1.9 in a cube with 2³ points,
 * 2.4 with 3³, about the aspect ratio in flat elements. Compared to displacement gradients, squared edge lengths lose
 * digits by about this factor: they are of size 1, and the strain is a difference of size 1/stretch. */
double sp_element_stretch(int type, const double *X, const sp_quadrature *quadrature);

/* sp_element_stretch of a well-shaped element of this type: a cube, a regular tetrahedron or a regular wedge of height
 * 1. */
double sp_element_regular_stretch(int type, int points_per_axis);

/* Gradients [1/m] at the centre; returns det J there. */
double sp_element_centre_gradients(int type, const double *X, double gradient[][3]);

/* G_pq = ∫ sym(mnᵀ):C:sym(m'n'ᵀ) dV [count, count] for products of two vector fields, where product[p] names m and n,
 * and product[q] names m' and n'; vector [points][fields, 3]; C [6,6] in Voigt order xx,yy,zz,yz,zx,xy with engineering
 * shear. Symmetric to the last bit. At most SP_HEX_PAIRS products. */
void sp_element_product_gram(int count, const int product[][2], int points, const double *weight, int fields,
                             const double *vector, const double C[36], double *G);

/* The same for the pairs of at most 8 nodes, with the gradients of their shape functions: G [pairs, pairs] J/m⁴. */
void sp_element_gram(int nodes, const sp_quadrature *quadrature, const double C[36], double *G);

/* −∫ (a·∇N_a)(a·∇N_b) dV [pairs] m for a direction a: ∫ aᵀE a dV = Σ along_ab d_ab. */
void sp_element_along(int nodes, const sp_quadrature *quadrature, const double direction[3], double *along);

/* The pairs a < b of at most 8 nodes, b fastest. */
void sp_element_pairs(int nodes, int pair[][2]);

/* Returns true for the types with an assumed strain Ē in place of the strain E of the displacement, both at 2³ points
 * and Ē linear in E, so that the energy is ½ Σ w Ē:C:Ē.
 *
 * SP_HEX8B: the trace of the strain is replaced by its mean over the element, so that the element has one volumetric
 * strain only (Hughes, Int. J. Numer. Meth. Engng 15 (1980), here with the Green–Lagrange strain).
 *
 * SP_HEX8I: nine strains sym(e_i ⊗ ∇ξ_j⁰) ξ_j det J⁰/det J are added and condensed, where ⁰ denotes the centre. They
 * are the strains of the displacements ξ_j² e_i (Taylor, Beresford and Wilson, ibid. 10 (1976); Simo and Rifai, ibid.
 * 29 (1990)). With a_j = det J⁰ ∇ξ_j⁰ and the Gauss weights of 1, mode (j, i) at point g is ξ_j sym(e_i ⊗ a_j)/w_g, and
 *
 *     Ē_g = E_g − Σ_j ξ_j sym(α_j ⊗ a_j)/w_g,   B α = Σ_g ξ_j (C E_g) a_j,
 *
 * with the energies B of the modes. Strains are condensed, not stiffnesses: a flat element's parasitic shear is 1/h
 * times its bending strain, and its energy 1/h² times, so that a difference of energies would lose twice the digits. */
bool sp_element_assumed(int type);

enum { SP_CONDENSATION = 45 };
typedef struct sp_condensed_strains {
    double axis[3][3];              /* a_j, m² */
    double factor[SP_CONDENSATION]; /* lower Cholesky factor of B by rows, with the reciprocals of its diagonal */
} sp_condensed_strains;

/* X [8, 3] m; the quadrature has 2³ points. SP_NUMERICAL if B is not positive definite. */
int sp_element_condensation(sp_context *context, const double *X, const sp_quadrature *quadrature, const double C[36],
                            sp_condensed_strains *condensation) SP_MUST_USE;

/* G of the 28 products of an 8-node hexahedron with an assumed strain; the strain is linear in the products, so that
 * the energy is still ½ dᵀ G d. Fields and vector as in sp_element_product_gram. SP_NUMERICAL as above. */
int sp_element_assumed_gram(sp_context *context, int type, const double *X, const sp_quadrature *quadrature,
                            const int product[][2], int fields, const double *vector, const double C[36],
                            double *G) SP_MUST_USE;

/* ∫ N_a n dA over a face for each of its nodes in the order of sp_element_face, m²: times −p the consistent forces of a
 * pressure p. They sum to the area vector of the face. size: ∫ N_a dA, times a traction its consistent forces; may be
 * NULL. X [nodes, 3] m. */
void sp_element_face_areas(int type, int face, double X[][3], double area[SP_FACE_NODES][3],
                           double size[SP_FACE_NODES]);

/* ∫ N_a N_b dV [nodes, nodes] m³ by a rule; 4-node tetrahedra have an exact formula, by the weights of any rule. The
 * mass rule of the type is exact on elements with straight edges. weight: det J · w [m³] at the points if they are
 * known, else NULL. */
void sp_element_volume_mass(const sp_reference *reference, const double *X, const double *weight, double *mass);

#endif
