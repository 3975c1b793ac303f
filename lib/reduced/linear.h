/* The linear reduced force f = K q (linear modal analysis). */
#ifndef SP_REDUCED_LINEAR_H
#define SP_REDUCED_LINEAR_H

#include "assembly/fe_space.h"
#include "reduced/force.h"

/* K [r, r] = UᵀK(0)U, both triangles, for U [3·vertices, r, column major] whose fixed components are 0. */
int sp_reduced_stiffness(sp_context *context, const sp_fe_space *space, int64_t r, const double *U,
                         double *K) SP_MUST_USE;

/* K [r, r] symmetric, copied. */
int sp_linear_force_new(sp_context *context, int64_t r, const double *K, sp_reduced_force *force) SP_MUST_USE;

#endif
