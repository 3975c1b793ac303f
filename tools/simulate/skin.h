/* The skeleton that a reduced-order body is on (--skin, --skeleton). All functions end the process on failure. */
#ifndef TOOLS_SIMULATE_SKIN_H
#define TOOLS_SIMULATE_SKIN_H

#include "skin/inertia.h"
#include "tools/common/rig.h"
#include "tools/simulate/simulation.h"

typedef struct simulate_skin {
    tool_rig rig;
    sp_skin_inertia inertia;
} simulate_skin;

/* Reads the files of both options into s->skin; does nothing without them. */
void skin_read(simulation *s);

/* The loads of the model, which has been made, with the inertial forces of its bones. */
sp_external_loads skin_loads(simulation *s);

void skin_free(simulation *s);

#endif
