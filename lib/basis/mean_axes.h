/* The deformation of a free body apart from its rigid motion. With positions x = X + u, the centres of mass c and C of
 * x and X, and the rotation R for which ∫ρ|d|² is least,
 *
 *     d = Rᵀ (x − c) − (X − C)
 *
 * is the deformation in the mean axes (Canavin and Likins, J. Spacecraft 14 (1977), 724). At the least value ∫ρ y X̃ᵀ is
 * symmetric, y = Rᵀ(x − c) and X̃ = X − C, so that d is orthogonal to all rigid displacements: ∫ρ d = 0, ∫ρ X̃ × d = 0.
 */
#ifndef SP_BASIS_MEAN_AXES_H
#define SP_BASIS_MEAN_AXES_H

#include "assembly/fe_space.h"
#include "linear/sparse.h"

typedef struct sp_mean_axes {
    sp_pool pool;
    int64_t vertex_count;
    double mass;     /* kg */
    double *mass_of; /* [vertices] ∫ρN, kg */
    double *arm;     /* [3·vertices] X̃, m */
    double *moment;  /* [3·vertices] M X̃ with the consistent mass M, kg m */
} sp_mean_axes;

/* M: the consistent mass of the space, whose vertices are all free; SP_INPUT where one is not. */
int sp_mean_axes_new(sp_context *context, const sp_fe_space *space, const sp_sparse *M, sp_mean_axes *axes) SP_MUST_USE;
void sp_mean_axes_free(sp_mean_axes *axes); /* a zeroed one is allowed */

/* Displacements u [3·vertices] become the deformation d. */
void sp_mean_axes_deformation(const sp_mean_axes *axes, double *u);

#endif
