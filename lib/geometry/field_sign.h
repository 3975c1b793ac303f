/* Signs of a distance field. Internal to lib/geometry. */
#ifndef SP_GEOMETRY_FIELD_SIGN_H
#define SP_GEOMETRY_FIELD_SIGN_H

#include "geometry/distance_field.h"
#include "geometry/isosurface.h"

/* Sets the signs of an unsigned field of `surface` by AUTO, PSEUDONORMAL or WINDING; fills the report. */
int sp_field_set_signs(sp_context *context, const sp_surface *surface, enum sp_field_sign sign, sp_field *field,
                       sp_distance_report *report) SP_MUST_USE;

/* Sets the signs of an unsigned field of a closed manifold whose outside vertices are known; compares them with
 * pseudonormals near the surface. */
int sp_field_set_known(sp_context *context, const sp_surface *surface, const sp_closest *closest,
                       const uint64_t *outside, sp_field *field, sp_distance_report *report) SP_MUST_USE;

#endif
