/* How loads change the stiffness of a body that vibrates about an equilibrium under them. */
#ifndef SP_MODEL_LOAD_STIFFNESS_H
#define SP_MODEL_LOAD_STIFFNESS_H

#include "model/loads.h"

/* K −= share · ∂f/∂u over the free degrees of freedom (sp_fe_space_matrix) of the force f of a load. `share` is the
 * fraction of the load that acts.
 *
 * A spring adds its stiffness at its vertex. A rotation subtracts the centrifugal stiffness ρ ∫ N_a N_b dV (|ω|² I − ω
 * ωᵀ), by which a point that moves away from the axis is pulled outward (spin softening): the force is taken at the
 * displaced place, although sp_load_distribute evaluates it at rest. Coriolis forces, which are proportional to the
 * velocity, are no part of K. All other loads keep magnitude and direction, pressures too, and have no stiffness. */
void sp_load_add_stiffness(const sp_context *context, const sp_fe_space *body, const sp_load *load, double share,
                           sp_sparse *K);

/* The part of a load that acts at the end t of a static step of the length `step` [s], in which the static integrator
 * finds the equilibrium: the mean over the step of a constant load, the value at t of one with a course
 * (sp_load_set_at_ends); of a spring 1 if it acts in the middle of the step, else 0. */
double sp_load_static_share(const sp_load *load, double t, double step);

#endif
