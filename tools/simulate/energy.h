/* The energy of a motion against what was put into it. */
#ifndef TOOLS_SIMULATE_ENERGY_H
#define TOOLS_SIMULATE_ENERGY_H

#include "tools/simulate/simulation.h"

/* Over the recorded frames. What was put in until a time is the energy at the start and the most work that external
 * forces, moving supports and springs had done; with bones, also their most kinetic energy. */
typedef struct simulate_energy {
    double first[SP_WORK_COUNT], last[SP_WORK_COUNT]; /* J */
    double drift, largest;    /* J: most that the energy is from its balance; most energy or work */
    double balance;           /* drift by largest; 0 where nothing moved */
    double work, bones;       /* J, most so far: work; kinetic energy of bones, which the body exchanges energy with */
    double gained, put, time; /* J: most energy that nothing put in, where it is more than half of what was put in until
                                 then; when that was, s. 0: never */
} simulate_energy;

/* energy->first and then, frame by frame, energy->last hold the energies of simulation_record. */
void energy_begin(simulate_energy *energy);
void energy_watch(const simulation *s, simulate_energy *energy, double time);

/* Warns of energy that nothing put in, and of semi-implicit steps that are far from their balance. */
void energy_judge(const simulation *s, simulate_energy *energy);

#endif
