/* --reactions and --record-reactions: the reaction forces and moments of the fixed vertices in every recorded frame
 * (run/reactions.h). All functions end the process on failure; without the options they do nothing. */
#ifndef TOOLS_SIMULATE_REACTIONS_H
#define TOOLS_SIMULATE_REACTIONS_H

#include "run/reactions.h"
#include "tools/simulate/simulation.h"

/* One option for each, in a table that simulate and simfull share; its base is a simulate_choice. */
enum { SIMULATE_REACTION_COUNT = 2 };
extern const tool_option simulate_reaction_options[SIMULATE_REACTION_COUNT];

typedef struct simulate_reactions {
    sp_reactions *reactions;
    tool_output *output; /* NULL: no file of its own */
    FILE *text;
    char *bytes;
    size_t length;
} simulate_reactions;

/* Finds the groups; with --record-reactions they are added to what is recorded. NULL without the options. */
simulate_reactions *reactions_begin(simulation *s, const sp_run_body *body);

/* Adds a line to the file of --reactions: the time, and the force and moment of each group in the last frame. */
void reactions_write_line(simulate_reactions *r, double time);

/* Writes the file. Adds to the result the sum of the forces that a basis left out of balance, relative to the largest
 * reaction. */
void reactions_write(simulate_reactions *r, json_t *result);

void reactions_free(simulate_reactions *r);

#endif
