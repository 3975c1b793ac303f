/* The linear reduced force f = K q (linear modal analysis). */
#ifndef SP_REDUCED_LINEAR_H
#define SP_REDUCED_LINEAR_H

#include "reduced/force.h"

/* K [r, r] symmetric, copied. */
int sp_linear_force_new(sp_context *context, int64_t r, const double *K, sp_reduced_force *force) SP_MUST_USE;

#endif
