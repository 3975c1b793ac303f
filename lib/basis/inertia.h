/* Loads from a body's own inertia when its frame accelerates and rotates. */
#ifndef SP_BASIS_INERTIA_H
#define SP_BASIS_INERTIA_H

#include "assembly/fe_space.h"

enum { SP_INERTIA_FIELDS = 12 };

/* Names of the fields, in order: x y z, accelerations e_c; rx ry rz, angular accelerations e_c × X; xx yy zz yz zx xy,
 * centrifugal accelerations of the angular velocity products ω_a ω_b: |ω|²X − ω(ω·X), that is X − X_a e_a for aa and
 * −(X_b e_a + X_a e_b) for ab. X is measured from the centre of mass. The six centrifugal fields span all symmetric
 * linear fields: the inertial accelerations of a free body in rotation (the first six fields only accelerate a free
 * body as a whole and cause no deformation). */
extern const char *const sp_inertia_names[SP_INERTIA_FIELDS];

/* Column c of force [dof_count, count] receives M a for field[c], with the consistent mass, including that of fixed
 * vertices: the load on the free degrees of freedom. */
int sp_inertia_forces(sp_context *context, const sp_fe_space *space, int64_t count, const int *field,
                      double *force) SP_MUST_USE;

#endif
