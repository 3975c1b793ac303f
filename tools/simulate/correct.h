/* --static-correction: displacements with the quasi-static response to what the basis leaves out of balance
 * (run/static_correction.h). All functions end the process on failure. */
#ifndef TOOLS_SIMULATE_CORRECT_H
#define TOOLS_SIMULATE_CORRECT_H

#include "run/static_correction.h"
#include "tools/simulate/simulation.h"

/* NULL without the option. The model must have been made. */
sp_static_correction *correct_begin(simulation *s, const sp_run_body *body);

/* Adds the correction of the present state to u [3·vertices]. */
void correct_displacements(const simulation *s, sp_static_correction *correction, double *u);

/* Adds the largest energy of the corrections to the result, and prints it, also relative to `motion`, the largest
 * energy or work of the motion [J]. NULL: does nothing. */
void correct_report(const sp_static_correction *correction, double motion, json_t *result);

#endif
