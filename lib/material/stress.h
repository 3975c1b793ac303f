/* Scalars of strain and stress for drawing and for judging. Tensors are in Voigt order xx,yy,zz,yz,zx,xy with tensor
 * components (no factor 2 on shear). */
#ifndef SP_MATERIAL_STRESS_H
#define SP_MATERIAL_STRESS_H

/* Largest principal value. */
double sp_tensor_largest(const double tensor[6]);

/* Von Mises stress √(3/2 s:s), with the deviator s of Cauchy's stress σ = F S Fᵀ / J, and the largest principal value
 * of σ, in the unit of S: from the Green–Lagrange strain E and the second Piola–Kirchhoff stress S. F itself is not
 * needed: σ has the invariants of C S / J, with C = FᵀF = I + 2E and J = √det C. 0 where J is 0; not a number where a
 * component is not. */
double sp_stress_mises(const double strain[6], const double stress[6]);
double sp_stress_largest(const double strain[6], const double stress[6]);

/* The same of Cauchy's stress σ itself. */
double sp_cauchy_mises(const double sigma[6]);

#endif
