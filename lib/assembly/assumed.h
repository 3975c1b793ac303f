/* Flat 8-node hexahedra with an assumed strain (assembly/element.h), evaluated at their eight points: the functions of
 * batch_kinds.h that differ from those of elements whose strain is that of the displacement. With the linear map E ↦ Ē
 * of the strains at all points and its adjoint, the stress of the strains E is S(E) = adjoint(C Ē), and
 *
 *     W = ½ Σ w Ē:C:Ē,   f_a = Σ w F S(E) ∇N_a,   K v = Σ w (∇v S(E) + F S(sym(Fᵀ∇v))) ∇N_a. */
#ifndef SP_ASSEMBLY_ASSUMED_H
#define SP_ASSEMBLY_ASSUMED_H

#include "assembly/batch.h"

void sp_assumed_force(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes f[8][3], sp_lanes *energy);

/* definite: the stress of a point is left out of the geometric part where it is not positive semidefinite. */
void sp_assumed_tangent(const sp_element_lanes *data, sp_lanes u[8][3], bool definite, sp_lanes f[8][3],
                        sp_lanes block[][9], sp_lanes *energy);
void sp_assumed_tangent_times(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3], sp_lanes y[8][3]);
void sp_assumed_stress_stiffness(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes block[][9]);
void sp_assumed_rest_energy(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes *energy);
void sp_assumed_second(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3], sp_lanes h[8][3]);
void sp_assumed_third(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3], sp_lanes w[8][3],
                      sp_lanes h[8][3]);

#endif
