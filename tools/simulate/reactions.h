/* --reactions and --record-reactions: the reaction forces and moments of the fixed vertices in every recorded frame. */
#ifndef TOOLS_SIMULATE_REACTIONS_H
#define TOOLS_SIMULATE_REACTIONS_H

#include "integrate/integrate.h"
#include "tools/common/tool.h"

struct simulation;

/* One option for each, in a table that simulate and simfull share; its base is a simulate_choice. */
enum { SIMULATE_REACTION_COUNT = 2 };
extern const tool_option simulate_reaction_options[SIMULATE_REACTION_COUNT];

/* Finds the groups: "fixed", all fixed vertices, and every set of vertices or faces that has fixed vertices. With
 * --record-reactions they are added to what is recorded. Does nothing without the options. */
void reactions_begin(struct simulation *s);

/* The force [N] and the moment about the origin [N m] of each group [groups, 6] for the state of the integrator:
 *
 *     R = M a + (α M + β K) v + f(u) − f_ext  at the fixed components,
 *
 * with the forces f of all elements of the mesh. For a model in a basis, u = U q, the linear static
 * reactions to the forces that the basis leaves out of balance are added. Adds a line to the file of --reactions: the
 * time, and these numbers. The integrator must have accelerations or be static. NULL without the options. */
const double *reactions_record(struct simulation *s, const sp_integrator *integrator);

/* Saves or loads what reactions_write states of earlier frames. Does nothing without the options. */
void reactions_visit(struct simulation *s, sp_state *state);

/* Writes the file. Adds to the result the sum of the forces that a basis left out of balance, relative to the largest
 * reaction. */
void reactions_write(struct simulation *s, json_t *result);

#endif
