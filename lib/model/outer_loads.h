/* Loads that add to others: the inertial forces of a moving frame, of a skin, the turned loads of a warped body. */
#ifndef SP_MODEL_OUTER_LOADS_H
#define SP_MODEL_OUTER_LOADS_H

#include "model/system.h"

/* Loads with these callbacks, and the springs of the loads inside. `self` begins with those, a member sp_external_loads
 * inner, and must outlive the result. follow NULL: none that depends on the motion. */
sp_external_loads sp_outer_loads(void *self, void (*mean)(void *self, double t0, double t1, double *f),
                                 void (*follow)(void *self, double t0, double t1, const double *q, const double *v,
                                                double *f));

/* f [n] receives what the loads inside have that depends on the motion, for `follow`: 0 where they have nothing. */
void sp_inner_follow(const sp_external_loads *inner, int64_t n, double t0, double t1, const double *q, const double *v,
                     double *f);

#endif
