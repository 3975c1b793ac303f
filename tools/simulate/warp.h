/* Modal warping (--warp) of a simulation: its loads and its recorded points. All functions end the process on failure.
 */
#ifndef TOOLS_SIMULATE_WARP_H
#define TOOLS_SIMULATE_WARP_H

#include "model/modal_warp.h"
#include "tools/simulate/simulation.h"

typedef struct simulate_warp {
    sp_modal_warp shape;
    sp_warped_loads loads;
    double *u, *v, *work; /* [3·vertices] of a frame, [6·vertices] */
} simulate_warp;

/* The loads of the model, which has been made: turned with its vertices if it has --warp. */
sp_external_loads warp_loads(simulation *s);

/* Displacements and velocities of the recorded points for q and v. */
void warp_points(simulation *s, const double *q, const double *v);

void warp_free(simulation *s);

#endif
