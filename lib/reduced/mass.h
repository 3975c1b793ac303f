/* The mass of a body in reduced coordinates, and its stiffness at rest. */
#ifndef SP_REDUCED_MASS_H
#define SP_REDUCED_MASS_H

#include "assembly/body.h"

/* mass [r, r] = UᵀMU and gravity [r, 3, row major] = UᵀM (e_x, e_y, e_z) with the consistent mass of all degrees of freedom, held ones included, for
 * U [3·vertices, r, column major]. gravity may be NULL. */
int sp_reduced_mass(sp_context *context, const sp_body *body, int64_t r, const double *U, double *mass, double *gravity) SP_MUST_USE;

/* The same for U by rows, W [3·vertices, r, row major], and the elements of one region, or all where region is −1. */
int sp_reduced_mass_of_rows(sp_context *context, const sp_body *body, int64_t region, int64_t r, const double *W, double *mass, double *gravity) SP_MUST_USE;

/* K [r, r] = UᵀK(0)U, both triangles, for U [3·vertices, r, column major] whose held components are 0. */
int sp_reduced_stiffness(sp_context *context, const sp_body *body, int64_t r, const double *U, double *K) SP_MUST_USE;

#endif
