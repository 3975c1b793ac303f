/* Strain-rate damping of the full-order body (thesis eq. 2.34): the stress S_D = φ tr(Ė) I + 2ψ Ė in addition to that
 * of the material, with φ and ψ in Pa·s for every region, whatever its law.
 *
 * In squared edge lengths (assembly/element.h) the strain rate is given by ḋ_ab = x_ab·v_ab over the pairs of corners.
 * With G_D, the Gram matrix of φ and ψ instead of λ and μ (for elements at quadrature points: with the stress F S_D,
 * material/law.h), the damping force is f_a = Σ_b (G_D ḋ)_ab x_ab = (D(u) v)_a: linear in v, quadratic in u. D is
 * symmetric and positive semidefinite, and a rotation of the deformed body, v = ω × x, gives ḋ = 0 and no force.
 *
 * u, v, y are full vectors [3·vertices]. Elements are batched in SIMD lanes, elements of one color have no common
 * vertices, and sums have a fixed order. Nothing is allocated in a product. */
#ifndef SP_ASSEMBLY_VISCOUS_H
#define SP_ASSEMBLY_VISCOUS_H

#include "assembly/fe_space.h"

/* Damping of one region; 0, 0: none. */
typedef struct sp_viscosity {
    double phi, psi; /* Pa·s */
} sp_viscosity;

/* Checks that both are finite, ψ ≥ 0 and 3φ + 2ψ ≥ 0: the power S_D : Ė is then never negative. SP_USAGE with the
 * numbers. */
int sp_viscosity_check(sp_context *context, sp_viscosity viscosity) SP_MUST_USE;

typedef struct sp_viscous {
    sp_pool pool;
    const sp_fe_space *space; /* must outlive it */
    sp_viscosity *viscosity;  /* [regions] */
    double **gram; /* [classes] G_D as in sp_element_class, J·s/m⁴; NULL: does not damp, or is evaluated at points */
} sp_viscous;

/* viscosity [regions of the mesh], checked. */
int sp_viscous_new(sp_context *context, const sp_fe_space *space, const sp_viscosity *viscosity,
                   sp_viscous *viscous) SP_MUST_USE;
void sp_viscous_free(sp_viscous *viscous);

/* y = D(u) v [N], overwritten. */
void sp_viscous_times(const sp_context *context, const sp_viscous *viscous, const double *u, const double *v,
                      double *y);

/* D += scale · D(u) over the free degrees of freedom (sp_fe_space_matrix). */
void sp_viscous_matrix(const sp_context *context, const sp_viscous *viscous, const double *u, double scale,
                       sp_sparse *D);

#endif
