/* The motion of one mesh: from its files to the trajectory. */
#ifndef TOOLS_SIMULATE_RUN_H
#define TOOLS_SIMULATE_RUN_H

#include "tools/simulate/simulation.h"

/* The whole of simulate for a mesh, which may be cut on the way. */
void simulate_mesh(sp_context *context, const simulate_choice *choice, const simulate_vertices_choice *vertices);

#endif
