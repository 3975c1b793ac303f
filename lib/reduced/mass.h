/* The mass of a body in reduced coordinates. */
#ifndef SP_REDUCED_MASS_H
#define SP_REDUCED_MASS_H

#include "assembly/fe_space.h"

/* mass [r, r] = UᵀMU and gravity [r, 3, row major] = UᵀM (e_x, e_y, e_z) with the consistent or the lumped mass (the
 * row sums of each element) of all degrees of freedom, fixed ones included, for U [3·vertices, r, column major].
 * gravity may be NULL. */
int sp_reduced_mass(sp_context *context, const sp_fe_space *space, bool lumped, int64_t r, const double *U,
                    double *mass, double *gravity) SP_MUST_USE;

/* The same for the elements of one region, or all elements for region = −1, and W from sp_reduced_rows. */
int sp_reduced_mass_of_region(sp_context *context, const sp_fe_space *space, bool lumped, int64_t region, int64_t r,
                              const double *U, const double *W, double *mass, double *gravity) SP_MUST_USE;

/* U by rows, [rows, r, row major] followed by SP_LANES zeros, from the pool; NULL: out of memory. */
double *sp_reduced_rows(sp_pool *pool, int64_t rows, int64_t r, const double *U);

#endif
