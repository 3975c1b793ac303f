/* Stress at the nodes of a mesh, as postprocessors of finite elements show it: in each element the stress at the
 * integration points of its stiffness is extrapolated to its nodes, and the values of the elements at a node are
 * averaged with the elements' volumes as weights. (E. Hinton, J. S. Campbell, Int. J. Numer. Meth. Engng 8 (1974) 461.)
 *
 * The extrapolation is the least-squares fit of a polynomial in natural coordinates to the values at the points:
 * products of linear functions of ξ, η and ζ in hexahedra, linear functions in tetrahedra, products of linear functions
 * of the triangle and of ζ in wedges. Elements with fewer points than the polynomial has terms have the mean of their
 * points. */
#ifndef SP_ASSEMBLY_NODAL_STRESS_H
#define SP_ASSEMBLY_NODAL_STRESS_H

#include "assembly/fe_space.h"

/* Cauchy's stress σ = F S Fᵀ / J [Pa] at every vertex, stress [vertices, 6] in Voigt order xx,yy,zz,yz,zx,xy, at the
 * displacements u [3·vertices]. Vertices without an element have 0. Across a boundary of regions the stress of both
 * sides is averaged too, although it jumps there. The strain is that of the displacement: those that SP_HEX8B and
 * SP_HEX8I average or add are left out. SP_INPUT for an element that is inverted at rest. */
int sp_elastic_nodal_stress(sp_context *context, const sp_fe_space *space, const double *u, double *stress) SP_MUST_USE;

#endif
