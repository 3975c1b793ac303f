/* simfull --reactions: the forces and moments by which the fixed vertices are held, in every recorded frame. */
#ifndef TOOLS_SIMULATE_REACTIONS_H
#define TOOLS_SIMULATE_REACTIONS_H

#include "integrate/integrate.h"

struct simulation;

/* Adds a line for the state of the integrator: its time, then for "fixed", all fixed vertices, and for every set of
 * vertices or faces that has fixed vertices, the force [N] and the moment about the origin [N m] by which they are
 * held:
 *
 *     R = M a + (α M + β K) v + f(u) − f_ext  at the fixed components.
 *
 * Does nothing without the option. The integrator must have accelerations or be static. */
void reactions_record(struct simulation *s, const sp_integrator *integrator);

/* Writes the file. */
void reactions_write(struct simulation *s);

#endif
