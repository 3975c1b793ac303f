/* Energy, stress and tangent of any material at quadrature points, eight points in SIMD lanes (material/material.h has
 * the energies).
 *
 * Everything is computed from the displacement gradient H = F − I, written so that nothing large cancels near rest:
 * with I_C − 3, II_C − 3, J − 1 and F:C-terms as polynomials in H, the first Piola–Kirchhoff stress is
 *
 *     P = (2W_a + 4W_b + W_J) I + 2W_a H + 2W_b (2H + (I_C − 3)F − F(C − I)) + W_J (cof F − I),
 *
 * with W_a, W_b, W_J the derivatives with respect to I_C, II_C, J; the bracket vanishes at rest, and each law gives it
 * in closed form. */
#ifndef SP_MATERIAL_LAW_H
#define SP_MATERIAL_LAW_H

#include "base/lanes.h"
#include "material/material.h"

/* A material in each lane, all with the same law and kind of fibres. */
typedef struct sp_law_lanes {
    enum sp_law law;
    enum sp_fibre fibre;
    sp_lanes constant[3]; /* Pa; λ, μ; l, m of STABLE_NEO_HOOKEAN; mu01, mu10, v1 of MOONEY_RIVLIN; unused by LINEAR */
    sp_lanes C[36];       /* Pa; LINEAR, as from sp_material_stiffness, without fibres */
    sp_lanes fibre_stiffness, fibre_exponent, fibre_direction[3], fibre_tension;
} sp_law_lanes;

enum { SP_TANGENT_ENTRIES = 45 }; /* upper triangle by rows of a symmetric 9 × 9 matrix */

/* Sets the material's constants in one lane; the law and kind of fibres of all lanes must agree. */
void sp_law_set(sp_law_lanes *law, int lane, const sp_material *material);

/* At H [9, row major]: energy density W [J/m³], P [9, row major] Pa and A = ∂P/∂F [45] Pa over the index 3i + j of
 * F_ij. P and A may be NULL. definite: A is projected to the nearest positive semidefinite matrix, with its negative
 * eigenvalues set to 0. Where the law is undefined (J ≤ 0) W is +∞ and P, A are NaN. */
void sp_law_evaluate(const sp_law_lanes *law, const sp_lanes H[9], bool definite, sp_lanes *W, sp_lanes P[9],
                     sp_lanes A[SP_TANGENT_ENTRIES]);

/* Returns true if the energy is quadratic in the strain (sp_material_quadratic), apart from active tension. */
bool sp_law_quadratic(const sp_law_lanes *law);

/* P [9] = ∂²P/∂F² [U, V] at rest for a law that is quadratic in the strain, whose stress for a strain E is S(E): U
 * S(sym V) + V S(sym U) + S(sym(UᵀV)), in Pa for U and V [9] without unit. */
void sp_law_second(const sp_law_lanes *law, const sp_lanes U[9], const sp_lanes V[9], sp_lanes P[9]);

/* The same for ∂³P/∂F³ [U, V, W]: U S(sym(VᵀW)) + V S(sym(WᵀU)) + W S(sym(UᵀV)). */
void sp_law_third(const sp_law_lanes *law, const sp_lanes U[9], const sp_lanes V[9], const sp_lanes W[9],
                  sp_lanes P[9]);

/* The damping stress (assembly/viscous.h) at H for the rate D of the displacement gradient, P [9] = F (φ tr(Ė) I + 2ψ
 * Ė), Ė = sym(FᵀD), viscosity φ, ψ [Pa s], and A [45] = ∂P/∂D. P (and then D) or A may be NULL. */
void sp_law_damping(const sp_lanes viscosity[2], const sp_lanes H[9], const sp_lanes D[9], sp_lanes P[9],
                    sp_lanes A[SP_TANGENT_ENTRIES]);

/* In each lane the rotation R (det = +1) with the largest tr(RᵀF), the polar one where det F > 0; [9, row major].
 * Defined for every F (F = 0: the identity); not unique where the two smaller singular values, the last with the sign
 * of det F, sum to 0. */
void sp_nearest_rotation(const sp_lanes F[9], sp_lanes R[9]);

#endif
