/* The full-order elastic forces of any material: energy, internal force, tangent stiffness and their products, summed
 * over elements (assembly/batch.h).
 *
 * u, v, f are full vectors [3·vertices]; fixed vertices contribute with their prescribed displacement. The internal
 * force is the gradient of the energy, +∂W/∂u. Where a law is undefined (material/material.h: inverted elements) the
 * energy is +∞ and forces are NaN. Elements are batched in SIMD lanes, elements of one color have no common vertices,
 * so that threads do not conflict, and sums have a fixed order. Nothing is allocated. */
#ifndef SP_ASSEMBLY_ELASTIC_H
#define SP_ASSEMBLY_ELASTIC_H

#include "assembly/fe_space.h"

/* f (overwritten; NULL: energy only) [N] and the strain energy [J]. */
double sp_elastic_force(const sp_context *context, const sp_fe_space *space, const double *u, double *f);

/* The first element that is inverted at u under a law that is undefined there; −1 if there is none. */
int64_t sp_elastic_inverted(const sp_fe_space *space, const double *u);

/* The number of elements whose law is quadratic in the strain and no longer stable at u: at the centre a principal
 * Green–Lagrange strain is below −1/3, or the element is inverted. A bar of such a law, of stiffness E, carries the
 * force E λ (λ² − 1)/2 per area at rest, which falls in magnitude when it is compressed beyond λ² = 1/3, to 58 % of its
 * length. Equilibria are then not unique and depend on the mesh. first: the first of them, −1 if there is none. */
int64_t sp_elastic_softened(const sp_fe_space *space, const double *u, int64_t *first);

/* K += scale · ∂f/∂u over the free degrees of freedom (sp_fe_space_matrix). f as above (NULL: not wanted). Returns the
 * energy. definite: every element's matrix is made positive semidefinite, for Newton steps that failed with the exact
 * one. In squared edge lengths (assembly/fe_space.h) the geometric part of every pair under compression (t_ab < 0) is
 * left out; at quadrature points the negative eigenvalues of ∂P/∂F are set to 0. */
double sp_elastic_tangent(const sp_context *context, const sp_fe_space *space, const double *u, double scale,
                          bool definite, double *f, sp_sparse *K);

/* K at rest, with the pattern of the body, which is built if necessary: the stiffness of linear modes and
 * derivatives. */
int sp_elastic_stiffness(sp_context *context, sp_fe_space *space, sp_sparse *K) SP_MUST_USE;

/* K += scale · K_σ(u) with the stress stiffness (geometric stiffness) of linear buckling,
 *
 *     vᵀ K_σ v = ∫ σ : (∇vᵀ ∇v) dV,   σ = C : ε(u),
 *
 * with the stresses of linear elasticity at u, in elements with an assumed strain those of that strain; linear in u.
 * The change of the tangent ∂K/∂u [u] at rest has further terms, in the initial displacement, which classical buckling
 * neglects. Active tension of fibres has no part in it. */
void sp_elastic_stress_stiffness(const sp_context *context, const sp_fe_space *space, const double *u, double scale,
                                 sp_sparse *K);

/* y = K(u) v without a matrix; y [3·vertices] overwritten. */
void sp_elastic_tangent_times(const sp_context *context, const sp_fe_space *space, const double *u, const double *v,
                              double *y);

/* energy[c] = U_cᵀ K(0) U_c for U [3·vertices, count, column major]: the diagonal of a reduced stiffness at rest, for
 * less than the products K(0) U. The bytes do not depend on the number of threads. */
int sp_elastic_rest_energies(sp_context *context, const sp_fe_space *space, int64_t count, const double *U,
                             double *energy) SP_MUST_USE;

/* Column c of H [3·vertices, pair_count, column major] (overwritten) becomes (H:U_j)U_i = ∂²f/∂u² [U_i, U_j] at rest,
 * for i = pair[2c], j = pair[2c+1]; U [3·vertices, mode_count, column major]. Symmetric in i and j. Exact for energies
 * quadratic in the strain, to about 1e-12 for others (assembly/batch_kinds.h). (Barbič & James 2005 §5.2: minus this is
 * the right-hand side of the modal derivative.) */
int sp_elastic_second(sp_context *context, const sp_fe_space *space, int64_t mode_count, const double *U,
                      int64_t pair_count, const int64_t *pair, double *H) SP_MUST_USE;

/* The same for third derivatives: column c of H [3·vertices, count] becomes ∂³f/∂u³ [U_i, U_j, U_k] for the numbers i,
 * j, k = triple[3c], …; symmetric in them, and the same at every u. For energies quadratic in the strain only. */
int sp_elastic_third(sp_context *context, const sp_fe_space *space, int64_t mode_count, const double *U, int64_t count,
                     const int64_t *triple, double *H) SP_MUST_USE;

/* The second Piola–Kirchhoff stress S [6] Pa at the displacement gradient H [9, row major] and the Green–Lagrange
 * strain E [6] of it, in Voigt order with tensor components: C:E + T a aᵀ if the law is quadratic, else F⁻¹P. */
int sp_elastic_point_stress(sp_context *context, const sp_material *material, const double *H, const double *E,
                            double *S) SP_MUST_USE;

/* Green–Lagrange strain and second Piola–Kirchhoff stress at the centre of each element [elements, 6] in Voigt order
 * xx,yy,zz,yz,zx,xy, tensor components (no factor 2 on shear), and the energy density of each element [J/m³] (mean over
 * the element). Any output may be NULL. */
int sp_elastic_fields(sp_context *context, const sp_fe_space *space, const double *u, double *strain, double *stress,
                      double *density) SP_MUST_USE;

#endif
