/* The motion of one mesh: from its files to the trajectory. */
#ifndef TOOLS_SIMULATE_RUN_H
#define TOOLS_SIMULATE_RUN_H

#include "tools/simulate/simulation.h"

/* Reads the model of the first argument, takes all steps and writes the trajectory. vertices: the options of simfull;
 * NULL for a reduced-order model. A full-order model may be cut during the run. False: the estimate of a certificate is
 * above --limit. */
bool simulate_mesh(sp_context *context, const simulate_choice *choice, const simulate_vertices_choice *vertices);

#endif
